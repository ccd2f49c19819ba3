//! `fabius watch` as somebody with any editor meets it: files are saved, lines come.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

use fabius_testkit::scratch::Scratch;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Longer than this nothing may take, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const FAILING: &str = "\
byte turn, critical;
active [2] proctype Worker() {
    turn = _pid;
    critical++;
    assert(critical == 1);
    critical--
}
ltl p2 { [] (critical < 2) }
ltl p3 { [] (turn < 2) }
";

/// The same, mended.
fn mended() -> String {
    FAILING.replace("    critical++;", "    atomic { critical == 0; critical++ };")
}

/// A watch in a folder.
struct Watched {
    process: Child,
    lines: Receiver<String>,
}

impl Watched {
    fn start(folder: &Path, what: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_fabius"))
            .args(["watch", what])
            .current_dir(folder)
            .env("FABIUS_CACHE", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        // What is said there ends with what is watched; from then on, saving is seen.
        let mut ready = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.contains("watching "), "{ready}");
        Self { process, lines }
    }

    /// The next lines, this many.
    fn next(&self, count: usize) -> Vec<String> {
        let next = |_| self.lines.recv_timeout(PATIENCE).expect("a line comes");
        (0..count).map(next).collect()
    }

    /// Lines up to one that says this; the same ones may come several times before.
    fn until(&self, what: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.contains(what)) {
            let line = self.lines.recv_timeout(PATIENCE);
            lines.push(line.unwrap_or_else(|_| panic!("nothing says {what}: {lines:?}")));
        }
        lines
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Saves as some editors do: a new file takes the place of the old one.
fn save_by_renaming(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, path).unwrap();
}

#[test]
fn each_save_has_a_line_for_each_property_that_says_what_changed() {
    let scratch = Scratch::new().unwrap();
    let model = scratch.path().join("m.pml");
    fs::write(&model, FAILING).unwrap();
    let watched = Watched::start(scratch.path(), "m.pml");
    let first = watched.next(7);
    assert_eq!(first[0], "m.pml");
    assert!(first[1].starts_with("  ✗ safety: violated, "), "{first:?}");
    assert!(first[2].starts_with("      m.pml:5:5, an assertion can fail, "), "{first:?}");
    assert!(first[3].starts_with("  ✗ p2: violated, ") && first[5].starts_with("  ✓ p3: holds, "), "{first:?}");
    assert!(first[6].starts_with("      safety avoidable: holds if a Worker at line "), "{first:?}");
    save_by_renaming(&model, &mended());
    let fixed = watched.until(" p3: ");
    assert!(fixed[1].starts_with("  ✓ safety: holds, ") && fixed[1].contains(" · fixed · +"), "{fixed:?}");
    let second = fixed.iter().find(|line| line.contains(" p2: ")).unwrap();
    assert!(second.contains(" p2: holds, ") && second.contains(" · fixed · +"), "{fixed:?}");
    // Of each of both, it is said what became of the run that violated it.
    let departs = |line: &&String| line.contains("followed in the new model, the old run comes to step ");
    assert_eq!(fixed.iter().filter(departs).count(), 2, "{fixed:?}");
    // Only the formula that changed is searched.
    fs::write(&model, mended().replace("turn < 2", "turn < 1")).unwrap();
    let broken = watched.until(" p2: ");
    assert!(broken[1].starts_with("  ✗ p3: violated, ") && broken[1].contains(" · broken · −"), "{broken:?}");
    assert!(
        broken.iter().any(|line| line.contains("the new run violates the property in the old model"))
            || broken.iter().any(|line| line.contains("in the old model, the new run")),
        "{broken:?}"
    );
    let unchanged = broken.iter().filter(|line| line.ends_with(" · unchanged"));
    assert_eq!(unchanged.count(), 2, "{broken:?}");
}

#[test]
fn a_faulty_text_and_a_file_that_goes_are_told_and_come_back() {
    let scratch = Scratch::new().unwrap();
    let model = scratch.path().join("m.pml");
    fs::write(&model, mended()).unwrap();
    let watched = Watched::start(scratch.path(), "m.pml");
    watched.next(4);
    fs::write(&model, mended().replace("turn, critical", "turn critical")).unwrap();
    let faulty = watched.next(2);
    assert!(faulty[1].starts_with("  ✗ m.pml:1:11: expected "), "{faulty:?}");
    fs::write(&model, mended()).unwrap();
    let repaired = watched.next(4);
    assert!(
        repaired[1..].iter().all(|line| line.starts_with("  ✓ ") && line.ends_with(" · unchanged")),
        "{repaired:?}"
    );
    fs::remove_file(&model).unwrap();
    assert_eq!(watched.next(2), ["m.pml", "  ? the file is gone"]);
    fs::write(&model, FAILING).unwrap();
    let back = watched.next(6);
    assert!(back[1].starts_with("  ✗ safety: violated, ") && back[1].contains(" · broken · −"), "{back:?}");
}

#[test]
fn the_same_fault_in_many_lines_is_told_once() {
    let scratch = Scratch::new().unwrap();
    fs::write(scratch.path().join("m.pml"), "init {\n    c_code { a };\n    c_code { b };\n    c_code { c }\n}\n")
        .unwrap();
    let watched = Watched::start(scratch.path(), "m.pml");
    let faulty = watched.next(2);
    assert!(faulty[1].starts_with("  ✗ m.pml:2:5: ") && faulty[1].ends_with(" · also lines 3, 4"), "{faulty:?}");
}

#[test]
fn an_included_file_that_goes_and_comes_back_is_noticed_without_a_save_of_the_model() {
    let scratch = Scratch::new().unwrap();
    let folder = |name: &str| {
        let folder = scratch.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    // Beside the folder that is watched, and not there at first.
    let (inner, outer) = (folder("models"), folder("parts"));
    let part = outer.join("part.h");
    let model = mended().replace("ltl p2", "#include \"../parts/part.h\"\nltl p2").replace("turn < 2", "turn < MOST");
    fs::write(inner.join("m.pml"), model).unwrap();
    let watched = Watched::start(&inner, "m.pml");
    let missing = watched.next(2);
    assert!(missing[1].starts_with("  ✗ m.pml:") && missing[1].contains("part.h"), "{missing:?}");
    fs::write(&part, "#define MOST 2\n").unwrap();
    watched.until(" p3: holds, ");
    fs::write(&part, "#define MOST 1\n").unwrap();
    let broken = watched.until(" · unchanged");
    assert!(broken.iter().any(|line| line.contains(" p3: violated, ") && line.contains(" · broken")), "{broken:?}");
    fs::remove_file(&part).unwrap();
    let gone = watched.until("part.h");
    assert!(gone.last().unwrap().starts_with("  ✗ m.pml:"), "{gone:?}");
    save_by_renaming(&part, "#define MOST 2\n");
    let back = watched.until(" p3: holds, ");
    assert!(back.last().unwrap().contains(" · fixed"), "{back:?}");
}

#[test]
fn a_part_in_a_folder_is_no_model_of_its_own() {
    let scratch = Scratch::new().unwrap();
    let (part, model) = (scratch.path().join("a_part.pml"), scratch.path().join("m.pml"));
    fs::write(&part, "inline set() { x = 1 }\n").unwrap();
    fs::write(model, "byte x;\n#include \"a_part.pml\"\nactive proctype P() { set(); assert(x == 1) }\n").unwrap();
    let watched = Watched::start(scratch.path(), ".");
    let first = watched.next(2);
    assert!(first[0] == "m.pml" && first[1].starts_with("  ✓ safety: holds, "), "{first:?}");
    fs::write(&part, "inline set() { x = 2 }\n").unwrap();
    let broken = watched.next(3);
    assert!(broken[0] == "m.pml" && broken[1].contains(" · broken"), "{broken:?}");
}

#[test]
fn the_last_of_many_quick_saves_is_told() {
    let scratch = Scratch::new().unwrap();
    let model = scratch.path().join("m.pml");
    fs::write(&model, mended()).unwrap();
    let watched = Watched::start(scratch.path(), "m.pml");
    watched.next(4);
    for round in 0..60 {
        match round % 4 {
            0 => fs::write(&model, FAILING).unwrap(),
            1 => fs::write(&model, mended().replace("turn, critical", "turn critical")).unwrap(),
            2 => save_by_renaming(&model, &mended()),
            _ => fs::remove_file(&model).unwrap(),
        }
    }
    fs::write(&model, mended().replace("ltl p3", "ltl the_end")).unwrap();
    watched.until(" the_end: holds, ");
}

#[test]
fn what_the_project_expects_is_read_again() {
    let scratch = Scratch::new().unwrap();
    let folder = scratch.path().join("models");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("m.pml"), mended()).unwrap();
    let config = scratch.path().join("fabius.toml");
    fs::write(&config, "[expect.\"m.pml\"]\np2 = \"violated\"\n").unwrap();
    // It is found above the folder of the model, whatever the model is called here.
    let watched = Watched::start(&folder, "m.pml");
    let surprised = watched.until("(violated was expected)");
    assert!(surprised.last().unwrap().starts_with("  ✗ p2: holds, "), "{surprised:?}");
    watched.until(" p3: ");
    fs::write(&config, "[expect.\"m.pml\"]\np2 = \"holds\"\n").unwrap();
    let fine = watched.until("(as expected)");
    assert!(fine.last().unwrap().starts_with("  ✓ p2: holds, "), "{fine:?}");
    fs::write(&config, "[expected]\n").unwrap();
    let wrong = watched.until("fabius.toml");
    assert!(wrong.last().unwrap().starts_with("  ✗ ") && wrong.last().unwrap().contains("`expected`"), "{wrong:?}");
}

#[test]
fn the_lines_of_several_models_do_not_mix() {
    let scratch = Scratch::new().unwrap();
    for name in ["a.pml", "b.pml", "c.pml"] {
        fs::write(scratch.path().join(name), mended()).unwrap();
    }
    let watched = Watched::start(scratch.path(), ".");
    let lines = watched.next(12);
    for model in lines.chunks(4) {
        assert!(model[0].ends_with(".pml"), "{lines:?}");
        for (line, property) in model[1..].iter().zip(["safety", "p2", "p3"]) {
            assert!(line.starts_with(&format!("  ✓ {property}: holds, ")), "{lines:?}");
        }
    }
}

/// What `fabius` prints about the models of a folder.
fn printed(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    let output = command.args(arguments).current_dir(folder).env("FABIUS_CACHE", "off").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_violation_of_safety_in_each_of_several_models_is_said_to_be_avoidable_or_not_as_check_says_it() {
    let scratch = Scratch::new().unwrap();
    let unavoidable = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; assert(x == 1) }\n";
    let models =
        [("a.pml", FAILING), ("b.pml", unavoidable), ("c.pml", &mended()), ("d.pml", &FAILING.replace("[2]", "[3]"))];
    for (name, text) in models {
        fs::write(scratch.path().join(name), text).unwrap();
    }
    let lines = printed(scratch.path(), &["watch", ".", "--once"]);
    let mut said: Vec<(String, String)> = Vec::new();
    let mut model = String::new();
    for line in &lines {
        match line.trim_start().strip_prefix("safety ") {
            Some(sentence) => said.push((model.clone(), sentence.to_owned())),
            None if !line.starts_with(' ') => model.clone_from(line),
            None => {}
        }
    }
    said.sort();
    let models: Vec<&str> = said.iter().map(|(model, _)| model.as_str()).collect();
    assert_eq!(models, ["a.pml", "b.pml", "d.pml"], "{lines:?}");
    assert!(said[0].1.starts_with("avoidable: ") && said[1].1.starts_with("unavoidable: "), "{said:?}");
    for (model, sentence) in &said {
        let check = printed(scratch.path(), &["check", model, "--property", "safety"]);
        assert!(check.contains(sentence), "{sentence} is not in {check:?}");
    }
    let without = printed(scratch.path(), &["watch", ".", "--once", "--no-schedule"]);
    assert!(without.iter().any(|line| line.contains(" safety: violated, ")), "{without:?}");
    assert!(!without.iter().any(|line| line.contains("avoidable")), "{without:?}");
}

#[test]
fn what_is_not_there_is_not_watched() {
    let output = Command::new(env!("CARGO_BIN_EXE_fabius")).args(["watch", "nowhere.pml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such file or folder: nowhere.pml"), "{output:?}");
}
