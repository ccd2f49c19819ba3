//! `fabius executions` as a person and as a script meet it: the real binary, on files.

use super::tool;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

const ONCE: &str = "models/philosophers_once.pml";

fn run(args: &[&str]) -> Run {
    tool::run(&[&["executions"], args].concat())
}

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("executions", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "executions.schema.json")
}

#[test]
fn philosophers_who_eat_once() {
    let text = run(&[ONCE]).expect(1);
    text.says("15 essentially different executions, of 104 704 interleavings: 14 end well, 1 gets stuck.");
    for n in 2..7_u32 {
        let report = json(&run(&["-D", &format!("N={n}"), ONCE, "--json"]).expect(1));
        assert_eq!(report["executions"], (2_u32.pow(n) - 1).to_string(), "{n} philosophers");
        assert_eq!((&report["stuck"], &report["outcomes"]), (&"1".into(), &"2".into()));
        assert_eq!(report["exhaustive"], true);
    }
}

/// The rows of docs/experiments/executions.md: a program, its executions, those that fail, interleavings, final states.
const ROWS: [(&str, [&str; 4]); 9] = [
    (
        "byte x, y, z; active proctype P() { y = 1; x = 5 } active proctype Q() { z = 2; x = 4 }
         active proctype R() { assert(x >= 1) }",
        ["6", "2", "30", "2"],
    ),
    (
        "byte x; active proctype P() { x = 1 } active proctype Q() { x = 2 } active proctype R() { assert(x < 3) }",
        ["6", "0", "6", "2"],
    ),
    ("byte x; active [2] proctype P() { x = 5 } active proctype R() { assert(x >= 1) }", ["4", "1", "6", "1"]),
    (
        "byte x, y; active [2] proctype T() { y = 1 } active proctype P() { x = 1 } active proctype Q() { x = 2 }",
        ["2", "0", "24", "2"],
    ),
    (
        "byte x, o; active [2] proctype T() { x = 1 } active proctype Q() { x = 2 } active proctype R() { o = x }",
        ["18", "0", "24", "6"],
    ),
    (
        "byte x, o; active [7] proctype W() { x = _pid + 1 } active proctype R() { o = x }",
        ["40320", "0", "40320", "56"],
    ),
    (
        "byte x, n, o; active [5] proctype W() { d_step { x = _pid + 1; n++ } } active proctype R() { n == 5; o = x }",
        ["120", "0", "120", "5"],
    ),
    ("byte x; active [7] proctype W() { x++ }", ["1", "0", "5040", "1"]),
    (
        "bit l; active [4] proctype P() { atomic { !l -> l = 1 }; l = 0; atomic { !l -> l = 1 }; l = 0 }",
        ["2520", "0", "2520", "1"],
    ),
];

#[test]
fn programs_of_the_literature_have_as_many_executions_as_the_docs_say() {
    for (text, expected) in ROWS {
        let run = on(text, &["--json"]);
        let report = json(&run);
        let found = ["executions", "failing", "interleavings", "outcomes"].map(|key| report[key].as_str());
        assert_eq!(found, expected.map(Some), "{text}");
    }
}

/// The classes that the docs give for the rows.
const CLASSES: [&str; 9] = ["6", "6", "6", "4", "24", "40320", "120", "5040", "2520"];

#[test]
fn the_classes_of_the_docs_are_counted_by_footprints_with_and_without_a_table() {
    for ((text, _), classes) in ROWS.iter().zip(CLASSES) {
        let graph = json(&on(text, &["--json", "--independence", "footprints"]));
        assert_eq!((&graph["executions"], &graph["by"]), (&classes.into(), &"graph".into()), "{text}");
        if classes.len() > 3 {
            continue;
        }
        for by in ["sleep", "source", "optimal"] {
            // No index changes: what is touched is what the text allows.
            for (flags, independence) in [(&["--independence", "footprints"][..], "footprints"), (&[], "recorded")] {
                let report = json(&on(text, &[&["--json", "--by", by], flags].concat()));
                assert_eq!((&report["executions"], &report["by"]), (&classes.into(), &by.into()), "{text}");
                assert_eq!(report["independence"], independence);
                assert!(by != "optimal" || report["redundant_runs"] == 0, "{text}");
            }
        }
    }
}

/// Forks are elements of an array, and variables say which ones a philosopher takes.
#[test]
fn recorded_footprints_tell_elements_of_arrays_apart() {
    let slots = "byte a[2], i; active proctype P() { byte k; k = i; a[k] = 1 } active proctype Q() { byte k; k = 1 - i; a[k] = 2 }";
    let count = |flags: &[&str]| json(&on(slots, &[&["--json"], flags].concat()))["executions"].clone();
    assert_eq!(count(&["--by", "optimal", "--independence", "footprints"]), "2");
    assert_eq!([count(&["--by", "optimal"]), count(&["--by", "source"]), count(&["--by", "sleep"])], ["1", "1", "1"]);
    let refused = on(slots, &["--independence", "recorded"]).expect(3);
    assert!(refused.err.contains("needs --by sleep, source or optimal"), "{}", refused.err);
}

/// The rows about actors: a macro, executions, those that fail, those that get stuck, interleavings, final states, classes.
const ACTORS: [(&str, &str, [&str; 5], Option<&str>); 7] = [
    ("worker", "N=1", ["3", "0", "1", "6", "3"], Some("3")),
    ("barber", "N=1", ["7", "0", "2", "42", "2"], Some("7")),
    ("philosophers", "N=3", ["7", "0", "1", "114", "2"], None),
    ("philosophers", "N=4", ["15", "0", "1", "10584", "2"], None),
    ("philosophers", "N=5", ["31", "0", "1", "1911120", "2"], None),
    ("load_balancer", "BARRIER=0", ["8", "5", "0", "208", "8"], Some("8")),
    ("load_balancer", "BARRIER=1", ["1", "0", "0", "2", "1"], Some("2")),
];

#[test]
fn models_of_actors_have_as_many_executions_as_the_docs_say() {
    for (model, define, expected, classes) in ACTORS {
        let file = format!("models/actors/{model}.pml");
        let report = json(&run(&["-D", define, &file, "--json"]));
        let found = ["executions", "failing", "stuck", "interleavings", "outcomes"].map(|key| report[key].as_str());
        assert_eq!(found, expected.map(Some), "{model} {define}");
        for by in ["graph", "optimal"].iter().filter(|_| classes.is_some()) {
            let report = json(&run(&["-D", define, &file, "--by", by, "--independence", "footprints", "--json"]));
            assert_eq!(report["executions"].as_str(), classes, "{model} {define} by {by}");
        }
    }
}

#[test]
fn what_needs_a_table_is_refused_without_one() {
    let complains = |run: Run, why: &str| assert!(run.expect(3).err.contains(why), "no complaint: {why}");
    let refused = |args: &[&str], why: &str| complains(run(&[&[ONCE], args].concat()), why);
    refused(&["--by", "optimal", "--list", "3"], "listing and showing executions needs `--by graph`");
    refused(&["--by", "source", "--within", "3"], "a bound on steps needs `--by graph`");
    refused(&["--by", "sleep", "--independence", "accords"], "--independence accords needs --by graph");
    let timeout = "byte x; active proctype P() { timeout; x = 1 }";
    complains(on(timeout, &["--by", "optimal"]), "the model uses `timeout`");
    let endless = "byte x; active proctype P() { do :: x = 1 - x od }";
    for by in ["sleep", "source", "optimal"] {
        on(endless, &["--by", by]).expect(2).says("infinitely many executions").says("an infinite execution:");
    }
    for n in 2..5_u32 {
        let report = json(&run(&["-D", &format!("N={n}"), ONCE, "--by", "optimal", "--json"]).expect(1));
        assert_eq!(report["executions"], (2_u32.pow(n) - 1).to_string(), "{n} philosophers");
        assert_eq!((&report["stuck"], &report["redundant_runs"]), (&"1".into(), &0.into()));
    }
}

#[test]
fn the_picture_in_the_docs_is_that_of_the_execution() {
    let picture = include_str!("../../docs/tasks/philosophers.svg");
    assert_eq!(run(&[ONCE, "--show", "5", "--format", "svg"]).expect(1).out, picture);
}

#[test]
fn the_tour_in_the_docs_prints_what_the_program_prints() {
    let page = include_str!("../../docs/tasks/executions-tour.md");
    let mut commands = 0;
    for block in page.split("```\n$ fabius executions models/philosophers_once.pml").skip(1) {
        let (command, lines) = block.split_once('\n').expect("a command and its output");
        let args: Vec<&str> = std::iter::once(ONCE).chain(command.split_whitespace()).collect();
        let out = run(&args).expect(1).out;
        let mut printed = out.lines();
        for line in lines.lines().take_while(|line| *line != "```").filter(|line| *line != "…") {
            assert!(printed.any(|other| other == line), "{command} does not print, or not there: {line}\n{out}");
        }
        commands += 1;
    }
    assert_eq!(commands, 3);
}

#[test]
fn one_execution_in_every_format() {
    let report = json(&run(&[ONCE, "--list", "5", "--only", "stuck", "--json"]).expect(1));
    let [only] = report["list"].as_array().expect("a list").as_slice() else { panic!("one is stuck: {report}") };
    assert_eq!(only["stuck"].as_array().map(Vec::len), Some(4), "all four wait");
    let rank = only["rank"].as_str().expect("a number");
    run(&[ONCE, "--show", rank]).expect(1).says(&format!("execution {rank} of 15 gets stuck")).says("in the end:");
    run(&[ONCE, "--show", rank, "--format", "mermaid"]).expect(1).says("sequenceDiagram").says("waits for");
    run(&[ONCE, "--show", rank, "--format", "svg"]).expect(1).says("<svg ").says("class=\"circle\"");
    let lanes = run(&[ONCE, "--show", rank, "--format", "diagram"]).expect(1);
    assert!(lanes.out.lines().all(|line| line.chars().count() <= 80), "{}", lanes.out);
    lanes.says("8  ▒    │    ●    ▒").says("   ▒    ▒    ▒    ▒").says("They wait for each other:");
    let shown: Value =
        serde_json::from_str(&run(&[ONCE, "--show", rank, "--format", "json"]).expect(1).out).expect("JSON");
    assert_eq!(shown, *only);
    assert!(run(&[ONCE, "--show", rank, "--format", "trail"]).expect(1).out.lines().count() == 8);
    run(&[ONCE, "--show", "16"]).expect(3);
    run(&[ONCE, "--show", "0"]).expect(3);
}

#[test]
fn pages_and_samples_are_parts_of_the_whole() {
    let ranks = |args: &[&str]| -> Vec<u64> {
        let report = json(&run(&[&[ONCE, "--json"], args].concat()).expect(1));
        let list = report["list"].as_array().expect("a list");
        list.iter().map(|one| one["rank"].as_str().expect("a number").parse().expect("a number")).collect()
    };
    assert_eq!(ranks(&["--list", "100"]), (1..=15).collect::<Vec<_>>());
    assert_eq!(ranks(&["--list", "4", "--from", "13"]), [13, 14, 15]);
    let drawn = ranks(&["--sample", "50", "--seed", "3"]);
    assert_eq!(drawn, ranks(&["--sample", "50", "--seed", "3"]));
    assert!(drawn.len() == 50 && drawn.iter().any(|rank| *rank != drawn[0]));
    assert_eq!(ranks(&["--list", "100", "--only", "ok"]).len(), 14);
}

#[test]
fn models_that_go_on_for_ever_are_told_apart_and_can_be_cut_off() {
    let forever =
        "byte x, y;\nactive proctype P() { do :: x = 1 - x od }\nactive proctype Q() { do :: y = 1 - y od }\n";
    on(forever, &[]).expect(2).says("infinitely many executions").says("--within");
    let report = json(&on(forever, &["--json"]).expect(2));
    assert!(report["executions"].is_null() && report["cycle"]["steps"].is_array() && report["exhaustive"] == false);
    // Of each length, as many classes as there are ways to share the steps among the two.
    let report = json(&on(forever, &["--within", "4", "--json"]).expect(2));
    assert_eq!((&report["executions"], &report["cut"]), (&"5".into(), &"5".into()));
    let waiting =
        "byte x;\nactive proctype P() { x = 2 }\nactive proctype Q() { do :: x == 2 -> break :: x != 2 od }\n";
    on(waiting, &[]).expect(0).says("essentially one execution");
    on("bit b;\nactive proctype P() { do :: b == 0 od }\n", &[]).expect(0).says("waits in a loop for ever");
}

#[test]
fn what_fails_and_what_cannot_be_computed() {
    let both = "byte x;\nactive proctype P() { x = 1 }\nactive proctype Q() { assert(x == 0) }\n";
    on(both, &[]).expect(1).says("2 essentially different executions").says("1 ends well").says("1 fails");
    let divides = "byte x, y;\nactive proctype P() { x = 1 }\nactive proctype Q() { y = 1 / x }\n";
    let report = json(&on(divides, &["--list", "9", "--json"]).expect(1));
    assert_eq!((&report["executions"], &report["failing"]), (&"2".into(), &"1".into()));
    let ends: Vec<&Value> = report["list"].as_array().expect("a list").iter().map(|one| &one["ends"]).collect();
    assert!(ends.contains(&&"failed".into()) && ends.contains(&&"well".into()), "{ends:?}");
    let ranked = "byte x, y;\nactive proctype P() priority 2 { x = 1 }\nactive proctype Q() { y = 1 }\n";
    on(ranked, &[]).expect(0).says("note: every interleaving counts, because the model uses priorities");
}

#[test]
fn a_limit_gives_a_lower_bound_and_wrong_flags_are_refused() {
    let report = json(&run(&[ONCE, "-D", "N=6", "--max-states", "300", "--list", "3", "--json"]));
    assert!(report["exhaustive"] == false && report["reason"].is_string(), "{report}");
    assert!(report["list"].as_array().is_some_and(Vec::is_empty));
    run(&[ONCE, "-D", "N=6", "--max-states", "300"]).says("at least").says("not everything was explored");
    for wrong in [&["--laps", "-1"][..], &["--seed", "1"], &["--from", "2"], &["--list", "2", "--show", "1"]] {
        run(&[&[ONCE], wrong].concat()).expect(3);
    }
    run(&[ONCE, "--list", "20000"]).expect(3);
}

#[test]
fn the_tree_of_choices_adds_up() {
    let report = json(&run(&[ONCE, "--tree=10000", "--json"]).expect(1));
    let tree = report["tree"].as_array().expect("a tree");
    let number =
        |branch: &Value, key: &str| -> u64 { branch[key].as_str().expect("a number").parse().expect("a number") };
    for (at, branch) in tree.iter().enumerate() {
        let ways: Vec<&Value> = tree.iter().filter(|way| way["parent"] == at).collect();
        assert_eq!(ways.is_empty(), branch["ends"].is_string(), "an end or a choice: {branch}");
        for key in ["executions", "stuck", "ok"] {
            let sum: u64 = ways.iter().map(|way| number(way, key)).sum();
            assert!(ways.is_empty() || sum == number(branch, key), "{key} of {branch}");
        }
    }
    let ends = tree.iter().filter(|branch| branch["ends"].is_string());
    assert_eq!(ends.map(|branch| number(branch, "first")).collect::<Vec<_>>(), (1..=15).collect::<Vec<_>>());
    let shown = run(&[ONCE, "--tree"]).expect(1).says("the first choice:").says("8 executions, 1 gets stuck");
    assert_eq!(shown.out.matches('#').count(), 15, "{}", shown.out);
    run(&[ONCE, "--tree=10"]).expect(1).says("#15 ends well").says("…");
    run(&[ONCE, "--tree", "--only", "stuck"]).expect(1).says("no choice: only #");
    run(&[ONCE, "--tree", "--format", "dot"]).expect(1).says("digraph executions {").says("b0 -> b1");
    for wrong in [&["--tree", "--show", "1"][..], &["--tree", "--format", "trail"], &["--show", "1", "--format", "dot"]]
    {
        run(&[&[ONCE], wrong].concat()).expect(3);
    }
    on("byte x;\nactive proctype P() { do :: x = 1 - x od }\n", &["--tree"]).expect(2);
}

#[test]
fn a_counterexample_is_shown_as_a_diagram() {
    let check = |args: &[&str]| tool::run(&[&["check"], args].concat());
    let shown = check(&["models/handshake.pml", "--diagram"]).expect(1);
    shown.says("●───▶●").says("Client[0] (line 17) waits at `answer?done`").says("A rendezvous needs two");
    let scratch = Scratch::new().expect("a folder can be made");
    for (name, begins) in [("run.svg", "<svg "), ("run.mmd", "sequenceDiagram\n"), ("run.txt", "   Client[0]\n")] {
        let path = scratch.path().join(name);
        check(&["models/handshake.pml", &format!("--diagram={}", path.display())]).expect(1).says("diagram written to");
        let written = std::fs::read_to_string(&path).expect("it was written");
        assert!(written.starts_with(begins), "{written}");
    }
    check(&["models/handshake.pml", "--diagram=run.gif"]).expect(3);
}

#[test]
fn what_makes_the_difference_is_told() {
    let told = run(&["models/lost_wakeup.pml", "--difference"]).expect(1);
    told.says(
        "the difference: in the execution that gets stuck, and in none of the 2 that end well, all of this is true:",
    )
    .says("Sleeper[0] line 10 !ready\n      before Waker[1] line 17 ready = true  (ready)");
    let reads_late = "byte x;\nactive proctype P() { x = 1 }\nactive proctype Q() { byte t; t = x; assert(t == 0) }\n";
    on(reads_late, &["--difference"]).expect(1).says("P[0] line 2 x = 1\n      before Q[1] line 3 t = x  (x)");
    let report = json(&on(reads_late, &["--difference", "--json"]).expect(1));
    assert_eq!((&report["difference"][0]["kind"], &report["difference"][0]["all"]), (&"failing".into(), &true.into()));
    on("byte x;\nactive proctype P() { x = 1 }\n", &["--difference"])
        .expect(0)
        .says("no execution fails or gets stuck");
    on("active proctype P() { assert(false) }\n", &["--difference"]).expect(1).says("no execution ends well");
}

#[test]
fn two_executions_are_compared() {
    let text = run(&[ONCE, "--compare", "5", "6"]).expect(1);
    text.says("#5 gets stuck after 8 steps\n#6 ends well").says("they begin with the same 6 steps, then:");
    let report = json(&run(&[ONCE, "--compare", "5", "6", "--json"]).expect(1));
    let comparison = &report["comparison"];
    assert_eq!((&comparison["alike"], &comparison["orders"][0]["touches"]), (&6.into(), &"taken[2]".into()));
    run(&[ONCE, "--compare", "5", "5"]).expect(1).says("they are the same");
    run(&[ONCE, "--compare", "5", "16"]).expect(3);
    run(&[ONCE, "--compare", "5"]).expect(3);
}

#[test]
fn loops_that_are_passed_a_few_times() {
    let forever =
        "byte x, y;\nactive proctype P() { do :: x = 1 - x od }\nactive proctype Q() { do :: y = 1 - y od }\n";
    on(forever, &[]).expect(2).says("--laps K");
    for (laps, interleavings) in [("0", "1"), ("1", "2"), ("2", "6"), ("3", "20")] {
        let report = json(&on(forever, &["--laps", laps, "--json", "--list", "9"]).expect(2));
        assert_eq!((&report["executions"], &report["cut"]), (&"1".into(), &"1".into()), "they do not meet");
        assert_eq!((&report["interleavings"], &report["outcomes"]), (&interleavings.into(), &Value::Null));
        assert_eq!(report["list"][0]["steps"].as_array().map(Vec::len), laps.parse().ok().map(|laps: usize| 2 * laps));
    }
    // The loop is closed within an atomic sequence, and by the receiver of a rendezvous.
    let atomic = "byte x;\nactive proctype P() { do :: atomic { x = 1 - x; x = 1 - x } od }\n";
    let report = json(&on(atomic, &["--laps", "3", "--json", "--list", "1"]).expect(2));
    assert_eq!((&report["cut"], report["list"][0]["steps"].as_array().map(Vec::len)), (&"1".into(), Some(6)));
    let meeting = "chan c = [0] of { bit };\nactive proctype P() { do :: c ! 1 od }\nactive proctype Q() { bit b; do :: c ? b od }\n";
    on(meeting, &["--laps", "2"]).expect(2).says("essentially one execution").says("1 is cut off");
    // Who leaves the loop in time ends.
    let counts = "byte n;\nactive proctype P() { do :: n < 2 -> n++ :: n == 2 -> break od }\n";
    on(counts, &["--laps", "2"]).expect(0).says("1 ends well");
    on(counts, &["--laps", "1"]).expect(2).says("1 is cut off");
    run(&["models/philosophers.pml", "--laps", "1"]).expect(1).says("get stuck");
}

#[test]
fn independence_is_learnt_from_the_reachable_states() {
    let slots = "byte slot[2], i = 0, j = 1;\nactive proctype Left() { slot[i] = 1; i = 0 }\n\
                 active proctype Right() { slot[j] = 2; j = 1 }\n";
    on(slots, &[]).expect(0).says("2 essentially different executions");
    let learnt = on(slots, &["--independence", "learned"]).expect(0);
    let learnt = learnt.says("essentially one execution").says("independence learnt from all 9 reachable states");
    learnt.says("both orders lead to the same state in the one state where both are possible");
    let report = json(&on(slots, &["--independence", "learned", "--json"]).expect(0));
    assert_eq!((&report["executions"], &report["independence"]), (&"1".into(), &"learned".into()));
    assert_eq!((&report["order"]["states"], &report["modulo"]), (&9.into(), &"order".into()));
    let limited = on(slots, &["--independence", "learned", "--max-states", "2"]).expect(2);
    limited.says("independence follows from the text alone: not all reachable states are known");
    let refused = on(slots, &["--independence", "learned", "--by", "sleep"]).expect(3);
    assert!(refused.err.contains("--independence learned needs --by graph"), "{}", refused.err);
    let endless = "byte x;\nactive proctype P() { do :: x = 1 - x od }\nactive proctype Q() { x = 2 }\n";
    on(endless, &["--independence", "learned"]).expect(2).says("infinitely many").says("the order matters");
}

/// Two processes that each create one.
const TWO_PARENTS: &str = "byte x, y; proctype C() { x++ } proctype D() { y++ }
    active proctype A() { run C() } active proctype B() { run D() }";

#[test]
fn processes_are_told_apart_by_who_created_them_where_numbers_cannot_be_observed() {
    on(TWO_PARENTS, &[])
        .expect(0)
        .says("essentially one execution, of 6 interleavings: 1 ends well.")
        .says("processes are told apart by who created them");
    let report = json(&on(TWO_PARENTS, &["--json"]).expect(0));
    assert_eq!((&report["executions"], &report["processes"]), (&"1".into(), &"births".into()));
    assert_eq!(report["modulo"], "order-and-numbers");
    let report = json(&on(TWO_PARENTS, &["--json", "--process-numbers"]).expect(0));
    assert_eq!((&report["executions"], &report["processes"]), (&"5".into(), &"numbers".into()));
    assert_eq!((&report["modulo"], report.get("numbers_because")), (&"order".into(), None));
    for (observes, why) in [
        ("_nr_pr > 0", "`_nr_pr`"),
        ("A[0]@here", "looks into other processes"),
        ("x = run C(); assert(x < 9)", "the number that `run` returns"),
    ] {
        let text = TWO_PARENTS.replace("run D()", &format!("{observes}; run D()")).replace("{ run C", "{ here: run C");
        on(&text, &[]).says("processes are told apart by their numbers").says(why);
        assert_eq!(json(&on(&text, &["--json"]))["modulo"], "order", "{observes}");
    }
    let text = TWO_PARENTS.replace("y++", "y = _pid");
    on(&text, &[]).says("a process that is created uses its `_pid`");
    on(&TWO_PARENTS.replace("y++", "printf(\"%d\", _pid)"), &[]).says("told apart by who created them");
    on(&TWO_PARENTS.replace("y++", "chan c = [1] of { bit }"), &[]).says("has channels of its own");
    for asked in [["--by", "optimal"], ["--by", "source"], ["--by", "sleep"], ["--independence", "learned"]] {
        on(TWO_PARENTS, &asked).says("essentially one execution").says("processes are told apart by who created them");
    }
    let report = json(&on(TWO_PARENTS, &["--json", "--by", "optimal", "--process-numbers"]).expect(0));
    assert_eq!((&report["executions"], &report["processes"]), (&"5".into(), &"numbers".into()));
}

/// Tasks that create others, as the literature has them.
#[test]
fn tasks_that_create_tasks() {
    let text = "short nr, r;
        proctype res(short v) {
            atomic { if :: nr > 0 -> nr = 0; r = v :: else -> run res(r + v); r = 0; nr = 1 fi }
        }
        proctype fib(short v) { atomic { if :: v <= 1 -> run res(v) :: else -> run fib(v - 1); run fib(v - 2) fi } }
        init { nr = 1; run fib(N) }";
    for (n, expected) in [(2, "2"), (3, "12"), (4, "2880"), (5, "203212800")] {
        let report = json(&on(&text.replace('N', &n.to_string()), &["--json"]).expect(0));
        assert_eq!([&report["executions"], &report["outcomes"]], [expected, "1"], "fib({n})");
        if n < 5 {
            let report = json(&on(&text.replace('N', &n.to_string()), &["--json", "--by", "optimal"]).expect(0));
            assert_eq!(report["executions"], expected, "fib({n}) without a table");
        }
    }
}

/// A process that is created may be the one that receives.
#[test]
fn creating_a_receiver_matters_to_who_sends_if_somebody_receives() {
    let text = "chan c = [0] of { byte }; byte x; proctype R() { byte v; c ? v }
        active proctype S() { if :: c ! 1 :: else -> x = 1 fi } init { run R() }";
    for flags in [&[][..], &["--process-numbers"], &["--no-reduction"], &["--by", "sleep"]] {
        on(text, flags).says("1 ends well, 1 gets stuck");
    }
}
