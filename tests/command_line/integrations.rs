//! The scripts in `integrations`, run by a shell in the example repository.
#![cfg(unix)]

use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn integrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations")
}

/// A copy of the example repository.
struct Example(Scratch);

impl Example {
    fn new() -> Self {
        let scratch = Scratch::new().expect("a folder");
        copy(&integrations().join("example"), scratch.path());
        Self(scratch)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).expect("a file can be written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs a script of the integrations in the repository, with these variables and arguments.
    fn run(&self, script: &str, variables: &[(&str, &str)], args: &[&str]) -> Run {
        let mut command = Command::new("sh");
        command.arg(integrations().join(script)).args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("FABIUS", env!("CARGO_BIN_EXE_fabius")).env("FABIUS_CACHE", "off");
        command.env_remove("CLICOLOR_FORCE").env_remove("GITHUB_OUTPUT").env_remove("GITHUB_STEP_SUMMARY");
        command.envs(variables.iter().copied()).output().expect("there is a shell").into()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

const ACTION: &str = "github-action/check.sh";
const HOOK: &str = "pre-commit/check.sh";
/// What the workflow of the example says.
const USUAL: [(&str, &str); 2] = [("MODELS", "models/*.pml"), ("BASELINE", "baseline.json")];

#[test]
fn the_action_annotates_and_sums_up() {
    let example = Example::new();
    let files = [("GITHUB_OUTPUT", "output.txt"), ("GITHUB_STEP_SUMMARY", "summary.md")];
    let checked = example.run(ACTION, &[&USUAL[..], &files].concat(), &[]).expect(0);
    let sum = "fabius: 2 models, 3 properties: 2 hold or are as expected, 1 known from the baseline\n";
    assert!(checked.out.ends_with(sum) && !checked.out.contains("::error"), "{}", checked.out);
    assert_eq!((example.read("output.txt"), example.read("summary.md")), ("exit-code=0\n".to_owned(), sum.to_owned()));
    example.write("models/new one.pml", "active proctype P() { assert(false) }\n");
    let new = example.run(ACTION, &USUAL, &[]).expect(1);
    new.says("::error file=models/new one.pml,line=1,col=23,");
}

#[test]
fn the_action_writes_documents_and_heeds_its_inputs() {
    let example = Example::new();
    let document = [("FORMAT", "sarif"), ("OUTPUT", "out.sarif"), ("ARGS", "--timeout 1m  --no-cache")];
    example.run(ACTION, &[&USUAL[..], &document].concat(), &[]).expect(0).says("holds, as expected");
    assert!(example.read("out.sarif").contains("\"2.1.0\""));
    let without = [("MODELS", "models/lock.pml\nmodels/hand*.pml")];
    example.run(ACTION, &without, &[]).expect(1).says("::error file=models/handover.pml");
    example.write("long.pml", "byte x; active proctype P() { do :: x < 200 -> x++ :: x > 3 -> x-- od }\n");
    let long = [("MODELS", "long.pml"), ("ARGS", "--max-states 9")];
    example.run(ACTION, &long, &[]).expect(2);
    example.run(ACTION, &[&long[..], &[("ALLOW_UNDECIDED", "true")]].concat(), &[]).expect(0);
    example.run(ACTION, &[("MODELS", "none/*.pml")], &[]).expect(3).says("title=no models");
    example.run(ACTION, &[&USUAL[..], &[("FABIUS", "./no-such-program")]].concat(), &[]).expect(3).says("missing");
    let hostile = [("MODELS", "$(touch broken)`touch broken`;touch broken"), ("ARGS", "; touch broken *")];
    example.run(ACTION, &hostile, &[]).expect(3);
    assert!(!example.0.path().join("broken").exists(), "inputs are no commands");
}

#[test]
fn the_hook_stops_what_is_violated_and_not_what_takes_long() {
    let example = Example::new();
    example.run(HOOK, &[], &["models/lock.pml"]).expect(0);
    example.run(HOOK, &[], &["models/lock.pml", "models/handover.pml"]).expect(1).says("deadlock");
    example.write("wrong.pml", "active proctype P() { y = 1 }\n");
    example.run(HOOK, &[], &["wrong.pml"]).expect(3);
    let endless = "int x, y; active proctype P() { do :: x++ :: y++ :: x > y -> x = 0 :: y > x -> y-- od }\n";
    example.write("endless.pml", endless);
    let long = example.run(HOOK, &[("FABIUS_TIMEOUT", "300ms")], &["endless.pml"]).expect(0);
    assert!(long.err.contains("not decided within 300ms"), "{}", long.err);
    example.run(HOOK, &[("FABIUS", "./no-such-program")], &["models/lock.pml"]).expect(3);
}

#[test]
fn what_names_the_scripts_names_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let hooks = read(".pre-commit-hooks.yaml");
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: ")).expect("an entry");
    assert!(root.join(entry).is_file(), "{entry}");
    // Each variable that the script reads is set by the action, and the other way round.
    let (action, script) = (read("integrations/github-action/action.yml"), read("integrations/github-action/check.sh"));
    for line in action.lines().filter(|line| line.contains(": ${{ inputs.")) {
        let (variable, input) = line.trim().split_once(": ${{ inputs.").expect("a variable");
        assert!(script.contains(&format!("${{{variable}:")), "the script reads {variable}");
        let input = input.trim_end_matches(" }}");
        assert!(action.contains(&format!("\n  {input}:\n")), "the input {input} is described");
    }
    assert_eq!(action.matches("run: ").count(), 1);
    assert!(!action.lines().any(|line| line.contains("run: ") && line.contains("${{")), "inputs are no commands");
}
