//! `fabius init` and `fabius examples`: how a person begins.

use super::command;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use std::path::Path;

/// A run in a folder.
fn run_in(folder: &Path, args: &[&str]) -> Run {
    Run::from(command(args).current_dir(folder).output().expect("the binary runs"))
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_new_folder_holds_and_fails_as_it_says() {
    let scratch = Scratch::new().expect("a folder");
    let folder = scratch.path().join("new");
    let made = run_in(scratch.path(), &["init", "new"]).expect(0);
    for command in made.out.lines().filter_map(|line| line.trim().strip_prefix("fabius check ")) {
        let (flags, what) = command.split_once("    ").expect("a command and what it does");
        let args: Vec<&str> = ["check"].into_iter().chain(flags.split_whitespace()).collect();
        let holds = what.contains("holds");
        let checked = run_in(&folder, &args).expect(i32::from(!holds));
        checked.says(if holds { "holds, as expected" } else { "assert(counter == " });
    }
    run_in(&folder, &["check", "counter.pml", "-D", "N=3"]).expect(0);
    for name in [".vscode/settings.json", ".vscode/extensions.json"] {
        let _: serde_json::Value = serde_json::from_str(&read(&folder, name)).expect("JSON");
    }
    assert!(read(&folder, ".vscode/extensions.json").contains("\"fabius.fabius\""));
}

#[test]
fn what_exists_is_left_as_it_is() {
    let scratch = Scratch::new().expect("a folder");
    scratch.file("mine.pml", "active proctype P() { skip }\n");
    run_in(scratch.path(), &["init"]).expect(0).says("there are models here");
    assert!(!scratch.path().join("counter.pml").exists());
    assert!(!read(scratch.path(), "fabius.toml").contains("[expect"), "nothing is expected of other models");
    run_in(scratch.path(), &["check", "mine.pml"]).expect(0);
    let settings = "# mine\n";
    scratch.file("fabius.toml", settings);
    run_in(scratch.path(), &["init"]).expect(0).says("fabius.toml as it is");
    assert_eq!(read(scratch.path(), "fabius.toml"), settings);
    let file = scratch.file("file", "");
    let refused = run_in(scratch.path(), &["init", &file]).expect(3);
    assert!(refused.err.contains("cannot write"), "{}", refused.err);
}

#[test]
fn examples_are_listed_printed_and_written_once() {
    let scratch = Scratch::new().expect("a folder");
    let list = run_in(scratch.path(), &["examples"]).expect(0).out;
    assert!(
        list.lines().any(|line| line.starts_with("philosophers  ") && line.ends_with("left fork first.")),
        "{list}"
    );
    let printed = run_in(scratch.path(), &["examples", "peterson_broken"]).expect(0).out;
    run_in(scratch.path(), &["examples", "peterson_broken.pml", "--write"]).expect(0);
    assert_eq!(read(scratch.path(), "peterson_broken.pml"), printed);
    run_in(scratch.path(), &["check", "peterson_broken.pml"]).expect(1);
    let again = run_in(scratch.path(), &["examples", "peterson_broken", "--write"]).expect(3);
    assert!(again.err.contains("exists already"), "{}", again.err);
    let nothing = run_in(scratch.path(), &["examples", "--write"]).expect(3);
    assert!(nothing.err.contains("needs the name"), "{}", nothing.err);
    let meant = run_in(scratch.path(), &["examples", "petersen"]).expect(3);
    assert!(meant.err.contains("did you mean `peterson`"), "{}", meant.err);
}

#[test]
fn the_tour_can_be_followed_with_what_the_program_has_inside() {
    let scratch = Scratch::new().expect("a folder");
    let tour = run_in(scratch.path(), &["examples", "--tour"]).expect(0).says("fabius check transfer.pml").out;
    assert!(!tour.contains("](") && !tour.contains("```"), "{tour}");
    run_in(scratch.path(), &["examples", "--tour", "--write"]).expect(0).says("wrote fixed.pml");
    run_in(scratch.path(), &["check", "transfer.pml"]).expect(1).says("They wait for each other");
    run_in(scratch.path(), &["check", "fixed.pml"]).expect(0);
    let again = run_in(scratch.path(), &["examples", "--tour", "--write"]).expect(3);
    assert!(again.err.contains("exists already"), "{}", again.err);
    run_in(scratch.path(), &["examples", "--tour", "peterson"]).expect(3);
}
