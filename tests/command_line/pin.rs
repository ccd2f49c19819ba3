//! `fabius pin`: runs as regression tests.

use super::tool;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

const BUG: &str = "byte lock; byte inside;\n\
    active [2] proctype P() {\n  lock == 0;\n  lock = 1;\n  inside++;\n  assert(inside == 1);\n  inside--;\n  lock = 0\n}\n";

fn verify(file: &str) -> Run {
    tool::run(&["pin", "--verify", file])
}

#[test]
fn a_run_is_pinned_and_followed_in_edited_models() {
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.file("m.pml", BUG);
    tool::run(&["pin", &file, "--name", "race"]).expect(0).says("pinned race").says("assertion violated");
    tool::run(&["pin", &file, "--possible", "--name", "kept"]).expect(0);
    assert!(tool::run(&["pin", &file, "--name", "race"]).expect(3).err.contains("called race already"));
    // Nothing has changed: it is still there.
    verify(&file).expect(1).says("broken     pin race: possible").says("holds      pin kept: possible");
    // Other lines and comments do not matter.
    scratch.file("m.pml", format!("/* new */\n\nbyte other;\n{BUG}"));
    verify(&file).expect(1).says("broken     pin race: possible");
    // Mended: the same steps are no longer possible.
    scratch.file("m.pml", BUG.replace("lock == 0;\n  lock = 1;", "atomic { lock == 0;\n  lock = 1 };"));
    let mended = verify(&file).expect(1);
    mended.says("holds      pin race: impossible").says("broken     pin kept: impossible");
    // A guard that is new keeps a process back.
    scratch.file("m.pml", BUG.replace("lock == 0;", "_pid == 0 || lock == 2;\n lock == 0;"));
    verify(&file).expect(1).says("holds      pin race: impossible");
    // A statement is gone: nothing is claimed.
    scratch.file("m.pml", BUG.replace("lock = 1;", "lock = 7;"));
    let gone = verify(&file).expect(2);
    gone.says("not known  pin race: not known whether possible; there is no statement `lock = 1` in P any more");
    // A choice among new statements: nothing is claimed.
    scratch.file("m.pml", BUG.replace("lock == 0;", "if :: lock < 1 :: lock > 3 :: lock < 2 fi;\n lock == 0;"));
    verify(&file).expect(2).says("there is a choice among statements that are new");
    let document = tool::run(&["pin", "--verify", "--json", &file]);
    let document: Value = tool::json(&document, "pins.schema.json");
    assert_eq!(document["pins"][0]["found"], "unknown");
}

#[test]
fn a_deadlock_is_pinned_and_an_ending_that_is_mended_is_no_longer_it() {
    let scratch = Scratch::new().expect("a folder");
    let text = "byte x; active proctype P() { x = 1; x == 2 }";
    let file = scratch.file("m.pml", text);
    tool::run(&["pin", &file]).expect(0).says("pinned 1: 1 step, deadlock");
    verify(&file).expect(1).says("it can be followed to its end: deadlock");
    let other = "active proctype Q() { x == 1; x = 2 }";
    scratch.file("m.pml", format!("{text} {other}"));
    verify(&file).expect(2).says("it goes on with statements that are new");
    // The numbers of processes have changed: nothing is claimed.
    scratch.file("m.pml", text.replace("byte x;", &format!("byte x; {other}")));
    verify(&file).expect(2).says("process 0 is of type Q now, and was of type P");
    scratch.file("m.pml", text.replace("x == 2", "end: x == 2"));
    verify(&file).expect(0).says("it can be followed, and does not go wrong any more");
}

/// Two processes that give way to each other for ever, with a formula that this violates.
const POLITE: &str = "bool trying[2]; byte served;\n\
    active [2] proctype P() {\n  do\n  :: trying[_pid] = true;\n    if\n    :: trying[1 - _pid] -> trying[_pid] = false\n\
    :: else ->\nprogress:  served = 1 - served; trying[_pid] = false\n    fi\n  od\n}\n\
    ltl gets_on { []<> (served == 1) }\n";

#[test]
fn a_livelock_and_a_violated_formula_are_pinned_and_followed_in_edited_models() {
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.file("m.pml", POLITE);
    let pins = format!("{file}.pins.json");
    tool::run(&["pin", &file, "--name", "live"]).expect(0).says("pinned live: ").says("again and again, no progress");
    tool::run(&["pin", &file, "--name", "formula", "--property", "gets_on"]).expect(0).says("`gets_on` violated");
    assert!(std::fs::read_to_string(&pins).expect("pins").contains("\"version\": 2"));
    let possible = verify(&file).expect(1);
    let possible = possible.says("broken     pin live: possible; it can be followed for ever: no progress");
    possible.says("broken     pin formula: possible; it can be followed for ever: `gets_on` violated");
    // Other lines do not matter, and a statement that is new is executed in each turn.
    scratch
        .file("m.pml", format!("/* new */\n\n{}", POLITE.replace("trying[1 - _pid] ->", "trying[1 - _pid] -> skip;")));
    verify(&file).expect(1).says("pin live: possible").says("pin formula: possible");
    // A counter that a new statement increases comes back after all of its values.
    let counted =
        POLITE.replace("byte served;", "byte served, n;").replace("trying[1 - _pid] ->", "trying[1 - _pid] -> n++;");
    scratch.file("m.pml", &counted);
    verify(&file).expect(1).says("it returns to where its loop starts after ");
    // One with more values does not: it is not known whether the run goes on for ever.
    scratch.file("m.pml", counted.replace("byte served, n;", "byte served; int n;"));
    let open = verify(&file).expect(2);
    open.says("not known  pin live: not known whether possible; the run does not return to where its loop starts: after the loop `n` is");
    // Nobody can take its own request back any more.
    scratch.file("m.pml", POLITE.replace("trying[1 - _pid] ->", "trying[1 - _pid] -> trying[_pid] == false;"));
    verify(&file).expect(0).says("holds      pin live: impossible; P[").says("cannot execute `trying[_pid] = false`");
    // The loop may go on, but not for ever.
    let tired = POLITE
        .replace("byte served;", "byte served, n;")
        .replace("trying[1 - _pid] ->", "trying[1 - _pid] -> n < 3; n++;");
    scratch.file("m.pml", tired);
    verify(&file).expect(0).says("pin live: impossible; P[").says(" of its loop: ");
    // The property is another one.
    scratch.file("m.pml", POLITE.replace("[]<> (served == 1)", "[] (served < 2)"));
    let other = verify(&file).expect(1);
    let other = other.says("pin live: possible");
    other.says(
        "holds      pin formula: impossible; it can be followed for ever, and does not violate `gets_on` any more",
    );
    scratch.file("m.pml", POLITE.replace("ltl gets_on", "ltl renamed"));
    verify(&file)
        .expect(1)
        .says("not known  pin formula: not known whether possible; there is no formula or claim `gets_on` any more");
    // Taking a request back counts as progress.
    scratch.file("m.pml", POLITE.replace("trying[1 - _pid] ->", "trying[1 - _pid] ->\nprogress_2:"));
    verify(&file)
        .expect(1)
        .says("holds      pin live: impossible; it can be followed for ever, and makes progress in its loop");
}

#[test]
fn acceptance_claims_and_runs_that_stop_are_pinned() {
    let scratch = Scratch::new().expect("a folder");
    let cycle = "byte x; active proctype P() { do :: x = 1; x = 0; accept_here: x = 2; x = 0 od }";
    let file = scratch.file("cycle.pml", cycle);
    tool::run(&["pin", &file]).expect(0).says("pinned 1: 4 steps again and again, acceptance cycle");
    verify(&file).expect(1).says("it can be followed for ever: acceptance cycle");
    scratch.file("cycle.pml", cycle.replace("accept_here", "here"));
    verify(&file).expect(0).says("it can be followed for ever, and passes no acceptance label in its loop any more");
    let claim = "byte x; active proctype P() { x = 1; x = 2; x = 3 }\n\
        never { do :: x == 2 -> break :: else od }";
    let file = scratch.file("claim.pml", claim);
    tool::run(&["pin", &file]).expect(0).says("`never` violated");
    verify(&file).expect(1).says("it can be followed to its end: `never` violated");
    scratch.file("claim.pml", claim.replace("x == 2 ->", "x == 4 ->"));
    verify(&file).expect(0).says("it can be followed to its end, and does not violate `never` any more");
    let stops = "byte x; active proctype P() { x = 1; end: x == 2 }\nltl three { <> (x == 3) }";
    let file = scratch.file("stops.pml", stops);
    tool::run(&["pin", &file]).expect(0).says("pinned 1: 1 step, then nothing moves, `three` violated");
    verify(&file).expect(1).says("it can be followed to its end: `three` violated");
    scratch.file("stops.pml", format!("{stops}\nactive proctype Q() {{ x = 3 }}"));
    verify(&file).expect(2).says("statements that are new can be executed where it goes on");
    scratch.file("stops.pml", stops.replace("x == 3", "x == 1"));
    verify(&file).expect(0).says("it can be followed to its end, and does not violate `three` any more");
}

#[test]
fn what_cannot_be_pinned_or_read_is_told() {
    let scratch = Scratch::new().expect("a folder");
    let good = scratch.file("good.pml", "byte x; active proctype P() { x = 1 }");
    assert!(tool::run(&["pin", &good]).expect(2).err.contains("there is no run to pin"));
    assert!(verify(&good).expect(3).err.contains("cannot be read"));
    assert!(tool::run(&["pin", &good, "--property", "nothing"]).expect(3).err.contains("no property `nothing`"));
    scratch.file("good.pml.pins.json", "{\"version\": 3, \"pins\": []}");
    assert!(verify(&good).expect(3).err.contains("has format 3"));
    tool::run(&["pin", "--verify", "--possible", &good]).expect(3);
    tool::run(&["pin", "--json", &good]).expect(3);
}
