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

#[test]
fn what_cannot_be_pinned_or_read_is_told() {
    let scratch = Scratch::new().expect("a folder");
    let good = scratch.file("good.pml", "byte x; active proctype P() { x = 1 }");
    assert!(tool::run(&["pin", &good]).expect(2).err.contains("there is no run to pin"));
    assert!(verify(&good).expect(3).err.contains("cannot be read"));
    scratch.file("good.pml.pins.json", "{\"version\": 2, \"pins\": []}");
    assert!(verify(&good).expect(3).err.contains("has format 2"));
    tool::run(&["pin", "--verify", "--possible", &good]).expect(3);
    tool::run(&["pin", "--json", &good]).expect(3);
}
