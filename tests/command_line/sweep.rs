//! `fabius check --sweep`: a model with several values of its parameters.

use super::tool;
use fabius_testkit::run::Run;
use serde_json::Value;

fn run(args: &[&str]) -> Run {
    tool::run(&[&["check"], args].concat())
}

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("check", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "sweep.schema.json")
}

/// A ring in which numbers go round: larger with N, and M says how far they go.
const RING: &str = "
#ifndef N
#define N 2
#endif
#ifndef M
#define M 1
#endif
byte at[N];
active [N] proctype P() { do :: at[_pid] < M -> at[_pid]++ :: at[_pid] > 0 && at[(_pid + 1) % N] == 0 -> at[_pid]-- od }
ltl low { [] (at[0] < 3) }
";

#[test]
fn each_cell_is_what_a_check_of_its_own_says() {
    let table = json(&on(RING, &["--sweep", "N=2..4", "--sweep", "M=1..3", "--json"]).expect(1));
    let cells = table["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 9);
    for cell in cells {
        let define = |name: &str| format!("{name}={}", cell["values"][name]);
        let alone = on(RING, &["-D", &define("N"), "-D", &define("M"), "--no-schedule", "--json"]);
        let alone = tool::json(&alone, "report.schema.json");
        assert_eq!(cell["verdict"], alone["verdict"], "{cell}");
        let (measured, expected) = (cell["properties"].as_array(), alone["properties"].as_array());
        let figures = |property: &Value| {
            ["name", "verdict", "exhaustive", "states", "transitions", "depth"].map(|key| property[key].clone())
        };
        let of = |all: Option<&Vec<Value>>| all.expect("properties").iter().map(figures).collect::<Vec<_>>();
        assert_eq!(of(measured), of(expected));
        let fails = cell["values"]["M"] == 3;
        assert_eq!(cell["properties"][1]["verdict"], if fails { "violated" } else { "holds" });
    }
}

#[test]
fn the_next_value_is_foretold_by_the_last_factor() {
    let model = "models/leader.pml";
    let table = json(&run(&[model, "--sweep", "N=2..4", "--json"]).expect(0));
    let states: Vec<f64> = (0..3).filter_map(|at| table["cells"][at]["properties"][0]["states"].as_f64()).collect();
    let prediction = &table["predictions"][0];
    assert_eq!((&prediction["property"], &prediction["values"]["N"]), (&"safety".into(), &5.into()));
    let expected = states[2] * states[2] / states[1];
    let told = prediction["states"].as_f64().expect("a number");
    assert!((told / expected - 1.0).abs() < 0.05, "{told} is {expected} rounded to two digits");
    let past = prediction["past"][0].as_f64().expect("a number");
    assert!((past - states[1] * states[1] / states[0] / states[2]).abs() < 1e-9, "{past}");
    // Two values tell nothing, nor do those that were not explored to their end.
    for values in ["N=2..3", "N=3..3"] {
        assert_eq!(
            json(&run(&[model, "--sweep", values, "--json"]).expect(0))["predictions"],
            Value::Array(Vec::new())
        );
    }
    // Beyond 10 000 states orders of independent steps are left out: that is said, and those values are compared with each other only.
    let reduced = run(&[model, "--sweep", "N=2..7"]).expect(0);
    let figures = |n: &str| {
        reduced.out.lines().find(|line| line.trim_start().starts_with(n)).unwrap_or_default().contains("reduced")
    };
    assert_eq!(
        ["2 ", "3 ", "4 ", "5 ", "6 ", "7 "].map(figures),
        [false, false, false, true, true, true],
        "{}",
        reduced.out
    );
    reduced.says("N = 8: about ").says("the one earlier prediction was ");
    // What took long enough says how long the next one takes, if a state takes as long; what did not says nothing.
    let long = json(&run(&[model, "--sweep", "N=2..6", "--no-reduction", "--json"]).expect(0));
    let (last, next) = (&long["cells"][4]["properties"][0], &long["predictions"][0]);
    let figure = |of: &Value, key: &str| of[key].as_f64().expect("a number");
    match next.get("seconds") {
        Some(_) => {
            let expected = figure(last, "seconds") * figure(next, "states") / figure(last, "states");
            assert!((figure(next, "seconds") - expected).abs() < 1e-9, "{next}");
        }
        None => assert!(figure(last, "seconds") < 0.1, "{last}"),
    }
    let two = json(&run(&[model, "--sweep", "N=2..6", "--json"]).expect(0));
    assert_eq!(two["predictions"], Value::Array(Vec::new()), "{two}");
    let violated = run(&["models/philosophers_once.pml", "--sweep", "N=2..5", "--json"]).expect(1);
    assert_eq!(json(&violated)["predictions"], Value::Array(Vec::new()));
}

#[test]
fn where_a_limit_was_reached_larger_values_are_not_checked_and_named() {
    let limited = run(&["models/leader.pml", "--sweep", "N=2..6", "--max-states", "1000"]).expect(2);
    let limited = limited.says("≥ 1 000").says("5  not checked: N = 4 was undecided").says("6  not checked");
    assert!(limited.out.lines().any(|line| line.contains("3  safety") && line.contains("357")), "{}", limited.out);
    let table = json(&run(&["models/leader.pml", "--sweep", "N=2..6", "--sweep-timeout", "0", "--json"]).expect(2));
    let cells = table["cells"].as_array().expect("cells");
    assert!(cells.iter().all(|cell| cell["not_checked"] == "the time allowed for all was used up"), "{table}");
}

#[test]
fn a_value_that_the_model_itself_defines_is_replaced() {
    let states = |text: &str| {
        let table = json(&on(text, &["--sweep", "N=2..4", "--json"]).expect(0));
        let cells = table["cells"].as_array().expect("cells").clone();
        cells.into_iter().map(|cell| cell["properties"][0]["states"].as_u64()).collect::<Vec<_>>()
    };
    let counts = "byte x; active proctype P() { do :: x < N -> x++ :: else -> break od }";
    let guarded = states(&format!("#ifndef N\n#define N 9\n#endif\n{counts}"));
    assert!(guarded[0].is_some() && guarded[0] < guarded[1] && guarded[1] < guarded[2], "{guarded:?}");
    assert_eq!(states(&format!("#define N 9\n{counts}")), guarded);
    assert_eq!(states(&format!("#define N 9\n#undef N\n#define N (4 + 5)\n{counts}")), guarded);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |text: &str, args: &[&str], why: &str| {
        let run = on(text, args).expect(3);
        assert!(run.err.contains(why), "{args:?}: {}", run.err);
    };
    let twice = ["--sweep", "N=2..3", "--sweep", "N=4..5"];
    refused(RING, &["--sweep", "N=2..3", "-D", "N=4"], "-D N and --sweep N contradict each other");
    refused(RING, &twice, "--sweep N is given twice");
    refused(RING, &["--sweep", "N=3..2"], "3..2 has no value");
    refused(RING, &["--sweep", "N=1..100", "--sweep", "M=1..101"], "at most 10 000 are checked");
    refused(RING, &["--sweep", "K=1..2"], "the model does not use K");
    refused(
        "#define N(x) x\nbyte x; active proctype P() { x = N(1) }",
        &["--sweep", "N=2..3"],
        "defines N with arguments",
    );
    refused(RING, &["--sweep-timeout", "3"], "--sweep");
    for flag in [
        "--trail",
        "--diagram",
        "--events",
        "--hints",
        "--format=sarif",
        "--baseline=x",
        "--checkpoint=x",
        "--output=x",
    ] {
        refused(RING, &["--sweep", "N=2..3", flag], "--sweep");
    }
}

#[test]
fn a_comment_names_the_values() {
    let text = format!("/*@ sweep N = 2..3, M = 1..2 */{RING}");
    let (written, told) =
        (on(&text, &["--sweep", "annotated"]), on(&text, &["--sweep", "N=2..3", "--sweep", "M=1..2"]));
    let rows = |run: &Run| run.out.lines().filter(|line| line.contains("low")).count();
    assert_eq!((rows(&written), rows(&told)), (4, 4), "{}", written.out);
    for (text, why) in [
        (RING.to_owned(), "has no comment `/*@ sweep N = 2..5 */`"),
        (format!("{text}\n/*@ sweep N = 4 */"), "has several comments about a sweep"),
        ("/*@ sweep K = 1..2 */ init { skip }".to_owned(), "the model does not use K"),
    ] {
        let run = on(&text, &["--sweep", "annotated"]).expect(3);
        assert!(run.err.contains(why), "{}", run.err);
    }
    let bad = tool::on("check", "/*@ sweep N = 5..2 */ init { skip }", &[]).expect(0);
    bad.says("F0117").says("the first one is larger than the last");
}

#[test]
fn a_value_with_which_the_model_is_faulty_takes_nothing_from_the_others() {
    let text = "byte x; active proctype P() { x = 1 }\n#if N == 3\nbyte }\n#endif";
    let broken = on(text, &["--sweep", "N=2..4"]).expect(3);
    assert!(broken.err.contains("N = 3"), "{}", broken.err);
    broken.says("2  safety").says("3  not checked: faulty: ").says("4  safety");
    let table = json(&on(text, &["--sweep", "N=2..4", "--json"]).expect(3));
    let checked = |at: usize| table["cells"][at]["verdict"] == "holds";
    assert!(checked(0) && checked(2) && table["cells"][1]["not_checked"].is_string(), "{table}");
}
