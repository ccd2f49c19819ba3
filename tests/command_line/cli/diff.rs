//! `fabius diff`: two versions of a model.

use super::run;
use crate::schema::Schemas;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

const OLD: &str = "byte x;\nactive proctype P() { x = 1; assert(x == 1) }\nactive proctype Q() { if :: x > 5 -> skip :: else fi }\nltl small { [] (x < 3) }\nltl gone { [] (x < 4) }\n";
const NEW: &str = "byte x;\nactive proctype P() { x = 1; assert(x == 1) }\nactive proctype Q() { x = 2 }\nltl small { [] (x < 3) }\nltl fresh { [] (x < 5) }\n";

#[test]
fn what_broke_is_shown_with_its_run() {
    let scratch = Scratch::new().expect("a folder");
    let (old, new) = (scratch.file("old.pml", OLD), scratch.file("new.pml", NEW));
    let broke = run(&["diff", &old, &new]).expect(1);
    for line in ["this assertion can fail", "a run of 3 steps leads there"] {
        assert!(broke.out.contains(line), "{line}: {}", broke.out);
    }
    for (name, change) in [("safety", "broke"), ("small", "same"), ("fresh", "added"), ("gone", "removed")] {
        let row = broke.out.lines().find(|line| line.trim_start().starts_with(name) && line.starts_with("  "));
        assert!(row.is_some_and(|row| row.contains(change)), "{name} {change}: {}", broke.out);
    }
    assert!(broke.out.contains("in the old model, the new run"), "{}", broke.out);
    run(&["diff", &new, &old]).expect(0).says("mended");
    run(&["diff", &old, &old]).expect(0).says("never executed: 1 → 1 statement");
}

#[test]
fn the_document_is_as_its_schema_says() {
    let scratch = Scratch::new().expect("a folder");
    let (old, new) = (scratch.file("old.pml", OLD), scratch.file("new.pml", NEW));
    let document = run(&["diff", &old, &new, "--json"]).expect(1).json();
    assert_eq!(Schemas::read().errors("diff.schema.json", &document), Vec::<String>::new());
    let row = |name: &str| -> Value {
        let rows = document["properties"].as_array().expect("properties");
        rows.iter().find(|row| row["name"] == name).cloned().expect("a row")
    };
    assert_eq!(
        (&row("safety")["change"], &row("safety")["violations"][0]["kind"]),
        (&"broke".into(), &"assertion".into())
    );
    assert_eq!((&row("fresh")["change"], row("fresh").get("old")), (&"added".into(), None));
    let runs = &row("safety")["runs"];
    assert_eq!((&runs["both_violate"], &runs["followed"]["of_old"]), (&false.into(), &false.into()));
    assert!(runs["followed"]["departs"].is_u64() && runs["runs"]["rows"].is_array(), "{runs}");
    assert_eq!(document["old"]["never_executed"], 1);
    assert_eq!(document["new"].get("never_executed"), None, "not everything was explored");
}

#[test]
fn what_is_not_known_did_not_hold() {
    let scratch = Scratch::new().expect("a folder");
    let old = scratch.file("old.pml", "active proctype P() { skip }\n");
    let new = scratch.file("new.pml", "byte x; active proctype P() { do :: x < 200 -> x++ :: x > 3 -> x-- od }\n");
    run(&["diff", &old, &new, "--max-states", "50"]).expect(2).says("holds → undecided");
    let wrong = scratch.file("wrong.pml", "active proctype P() { y = 1 }\n");
    let refused = run(&["diff", &old, &wrong]).expect(3);
    assert!(refused.err.contains("`y` is not declared") && refused.out.is_empty(), "{}", refused.err);
}

#[test]
fn a_formula_with_another_name_is_the_same_property() {
    let scratch = Scratch::new().expect("a folder");
    let violated = OLD.replace("ltl gone { [] (x < 4) }", "ltl gone { [] (x < 1) }");
    let old = scratch.file("old.pml", &violated);
    let renamed = scratch.file("renamed.pml", violated.replace("ltl gone", "ltl fresh"));
    let same = run(&["diff", &old, &renamed]).expect(0).says("fresh (was gone)");
    assert!(!same.out.contains("broke") && !same.out.contains("added"), "{}", same.out);
    let document = run(&["diff", &old, &renamed, "--json"]).expect(0).json();
    assert_eq!(Schemas::read().errors("diff.schema.json", &document), Vec::<String>::new());
    // What was not there cannot break, but somebody has to look at it.
    let added = scratch.file("added.pml", format!("{violated}ltl late {{ <> (x == 7) }}\n"));
    let added = run(&["diff", &old, &added]).expect(1).says("`late` is violated");
    assert!(
        added.out.lines().any(|line| line.contains("late  added  ") || line.contains("late    added ")),
        "{}",
        added.out
    );
}
