//! `fabius graph`: state graphs and automata as pictures.

use super::tool;
use fabius_testkit::run::Run;
use serde_json::Value;

fn run(args: &[&str]) -> Run {
    tool::run(&[&["graph"], args].concat())
}

fn json(run: &Run) -> Value {
    tool::json(run, "graph.schema.json")
}

#[test]
fn as_many_states_as_a_check_visits() {
    let models = ["models/peterson.pml", "models/lost_wakeup.pml", "models/traffic.pml", "models/handshake.pml"];
    for model in models {
        let graph = json(&run(&[model, "--format", "json"]).expect(0));
        let flags = [
            "check",
            model,
            "--property",
            "safety",
            "--no-optimize",
            "--no-reduction",
            "--keep-going",
            "--no-schedule",
            "--json",
        ];
        let check: Value = serde_json::from_str(&tool::run(&flags).out).expect("a report");
        let safety = &check["properties"][0];
        assert_eq!((&graph["states"], &safety["exhaustive"]), (&safety["states"], &true.into()), "{model}");
        let nodes = graph["nodes"].as_array().expect("nodes");
        assert_eq!(nodes.iter().any(|node| node["error"].is_string()), safety["verdict"] == "violated", "{model}");
    }
}

#[test]
fn the_picture_of_the_documentation_is_what_is_drawn() {
    let drawn = run(&["models/lost_wakeup.pml", "--by", "locations"]).expect(0).out;
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tasks/lost_wakeup.svg");
    if std::env::var_os("FABIUS_BLESS").is_some() {
        std::fs::write(&path, &drawn).expect("the picture can be written");
    }
    let shown = std::fs::read_to_string(&path).expect("the picture can be read");
    assert!(drawn == shown, "FABIUS_BLESS=1 writes {} anew", path.display());
    assert!(shown.contains("deadlock in 1 of 2 states"));
}

#[test]
fn other_tools_read_it() {
    let dot = run(&["models/lost_wakeup.pml", "--by", "ready", "--format", "dot"]).expect(0).out;
    assert!(dot.starts_with("digraph states {") && dot.contains("ready = false") && dot.ends_with("}\n"), "{dot}");
    let mermaid = run(&["models/lost_wakeup.pml", "--by", "ready", "--format", "mermaid"]).expect(0).out;
    assert!(mermaid.starts_with("flowchart TD\n") && mermaid.contains("ready = true"), "{mermaid}");
    let automata = json(&run(&["models/peterson.pml", "--automata", "--format", "json"]).expect(0));
    let steps = automata["edges"].as_array().expect("edges").iter().flat_map(|edge| edge["steps"].as_array());
    assert!(steps.flatten().any(|step| step == "critical++"), "{automata}");
}

#[test]
fn limits_are_obeyed_and_told_and_nonsense_is_refused() {
    let part = run(&["models/leader.pml", "--max-states", "7", "--format", "json"]).expect(2);
    assert!(part.err.contains("the limit on states was reached"), "{}", part.err);
    assert!(json(&part)["nodes"].as_array().is_some_and(|nodes| nodes.len() == 7));
    let large = run(&["models/leader.pml"]).expect(3);
    assert!(large.err.contains("a picture of more than 300 cannot be read"), "{}", large.err);
    let unknown = run(&["models/peterson.pml", "--by", "nobody"]).expect(3);
    assert!(unknown.err.contains("no variable is called `nobody` in any state; there are"), "{}", unknown.err);
    run(&["models/peterson.pml", "--automata", "--by", "turn"]).expect(3);
    run(&["models/peterson.pml", "--timeout", "0"]).expect(2);
}

#[test]
fn a_stop_gives_what_was_found() {
    const COUNTERS: &str = "int a, b; active proctype A() { do :: a++ od } active proctype B() { do :: b++ od }";
    let within =
        |flags: &[&str]| tool::on("graph", COUNTERS, &[&["--max-states", "10M", "--max-memory", "2M"], flags].concat());
    let part = within(&["--format", "json"]).expect(2);
    assert!(part.err.contains("states): memory ran out"), "{}", part.err);
    let graph = json(&part);
    assert!(graph["nodes"].as_array().is_some_and(|nodes| (100..10_000).contains(&nodes.len())), "{}", part.err);
    // What is wrong with a picture of a part is not that the input is faulty.
    let picture = within(&[]).expect(2);
    assert!(
        picture.err.contains("states): memory ran out") && picture.err.contains("cannot be read"),
        "{}",
        picture.err
    );
}
