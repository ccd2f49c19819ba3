//! The flags of `fabius check` that say what is read, written and shown: in every combination of two and three of them, and of one
//! with a flag that says how to check, each is in effect or the combination is refused with a sentence that names flags.
//!
//! `src/strategies.rs` does the same for the flags that say what is checked and how. Of `--hosts` and `--key`, which need other machines,
//! nothing is tried here: to the searches they are what `--processes` is, and `hosts.rs` says what they do.

use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::thread;

const MODEL: &str = "
#ifndef N
#define N 2
#endif
byte n; bit x;
ltl p { [] (n < 9) }
active [N] proctype P() { n++; assert(n == 1); x = 1 - x; n-- }
";

/// What a check left behind.
struct Seen {
    run: Run,
    scratch: Scratch,
}

impl Seen {
    /// A file that it wrote, if that has anything in it.
    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.scratch.path().join(name)).ok().filter(|text| !text.is_empty())
    }

    /// The document for other programs: in a file, or printed.
    fn document(&self) -> String {
        self.file("document").unwrap_or_else(|| self.run.out.clone())
    }

    fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.document()).ok()
    }

    /// Whether standard output is for people.
    fn is_text(&self) -> bool {
        !self.run.out.is_empty() && !self.run.out.starts_with(['{', '<', ':']) && !self.run.out.starts_with("[\n")
    }
}

/// A flag with what it needs, and whether it is in effect.
struct Flag {
    words: &'static [&'static str],
    is_heeded: fn(&Seen) -> bool,
}

/// The check runs in a folder with a baseline and a checkpoint.
const FLAGS: &[Flag] = &[
    Flag { words: &["--baseline", "known.json"], is_heeded: |seen| seen.run.code != 1 },
    Flag { words: &["--write-baseline", "new.json"], is_heeded: |seen| seen.file("new.json").is_some() },
    // A document has no colours.
    Flag { words: &["--color", "always"], is_heeded: |seen| seen.run.out.contains('\x1b') || !seen.is_text() },
    Flag { words: &["--diagram"], is_heeded: |seen| seen.run.out.contains('│') },
    Flag {
        words: &["--diagram=run.svg"],
        is_heeded: |seen| seen.file("run.svg").is_some_and(|svg| svg.contains("<svg")),
    },
    Flag { words: &["--trail=run.trail"], is_heeded: |seen| seen.file("run.trail").is_some() },
    Flag { words: &["--events"], is_heeded: |seen| seen.run.out.lines().all(|line| line.starts_with("{\"event\":")) },
    Flag { words: &["--json"], is_heeded: |seen| seen.json().is_some() },
    Flag { words: &["--format", "json"], is_heeded: |seen| seen.json().is_some() },
    Flag { words: &["--format", "html"], is_heeded: |seen| seen.document().starts_with("<!") },
    Flag { words: &["--format", "text"], is_heeded: Seen::is_text },
    Flag { words: &["--output", "document"], is_heeded: |seen| seen.file("document").is_some() && seen.is_text() },
    // A violated model is not remembered in any case.
    Flag { words: &["--no-cache"], is_heeded: |_| true },
    Flag {
        words: &["--property", "safety"],
        is_heeded: |seen| seen.json().is_none_or(|told| !told.to_string().contains("\"name\":\"p\"")),
    },
    Flag { words: &["--resume", "kept", "--delay", "rr"], is_heeded: |_| true },
    Flag {
        words: &["--sweep", "N=1..2"],
        is_heeded: |seen| seen.document().contains("parameters") || seen.run.out.contains("N = 1..2"),
    },
    Flag { words: &["--sweep-timeout", "100", "--sweep", "N=1..2"], is_heeded: |_| true },
];

/// The flags that say how to check, one value of each.
const SEARCHES: &[&[&str]] = &[
    &["--search", "bfs"],
    &["--store", "hash"],
    &["--threads", "2"],
    &["--audit", "full"],
    &["--fairness", "weak"],
    &["--cycles", "scc"],
    &["--delay", "rr"],
    &["--delay", "rr", "--delay-mode", "exact"],
    &["--delay", "rr", "--delay-mode", "sample", "--sampler", "pct", "--runs", "50", "--seed", "3"],
    &["--delay", "rr", "--delay-mode", "sample", "--runs", "50", "--shard", "1/2"],
    &["--delay", "rr", "--max-delays", "3"],
    &["--delay", "rr", "--choice-bound", "1"],
    &["--delay", "rr", "--checkpoint", "made"],
    &["--depth-bound", "20", "--depth-increment", "5"],
    &["--max-depth", "50"],
    &["--keep-going"],
    &["--prune", "n > 5"],
    &["--cut-ranges"],
    &["--no-reduction"],
    &["--no-optimize"],
    &["--vacuity", "off"],
    &["--hints"],
    &["--no-schedule"],
    &["--ltl", "[] (x < 2)"],
    &["-D", "M=1"],
    &["--progress", "transitions"],
    &["--max-states", "1000"],
    &["--max-memory", "1G"],
    &["--timeout", "100"],
];

/// What lies in each folder: the model, a baseline and a checkpoint, by their names.
fn made() -> Vec<(&'static str, Vec<u8>)> {
    let scratch = Scratch::new().expect("a folder can be made");
    scratch.file("m.pml", MODEL);
    run_in(&scratch, &["--write-baseline", "known.json"]).expect(1);
    run_in(&scratch, &["--delay", "rr", "--checkpoint", "kept"]).expect(1);
    let read = |name| (name, std::fs::read(scratch.path().join(name)).expect("it was written"));
    ["m.pml", "known.json", "kept"].map(read).into()
}

fn run_in(scratch: &Scratch, words: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.args(["check", "m.pml"]).args(words).current_dir(scratch.path());
    command.env("FABIUS_CACHE", "off").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    Run::from(command.output().expect("the binary runs"))
}

/// Runs a check in a folder of its own.
fn check(words: &[&'static str], made: &[(&'static str, Vec<u8>)]) -> Seen {
    let scratch = Scratch::new().expect("a folder can be made");
    made.iter().for_each(|(name, bytes)| drop(scratch.file(name, bytes)));
    let mut line: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(flag) = words.get(at) {
        let value = words.get(at + 1).filter(|value| !value.starts_with('-'));
        // Two flags may need the same third one.
        if !matches!(*flag, "--delay" | "--sweep") || !line.contains(flag) {
            line.extend([flag].into_iter().chain(value));
        }
        at += 1 + usize::from(value.is_some());
    }
    Seen { run: run_in(&scratch, &line), scratch }
}

/// Whether a check was refused with a sentence that names a flag.
fn is_refused(seen: &Seen, words: &[&str]) -> bool {
    let told = [&seen.run.err, &seen.run.out, &seen.document()].map(String::as_str).join("\n");
    let mut flags = words.iter().filter(|word| word.starts_with('-')).filter_map(|word| word.split('=').next());
    let says = |flag: &str| told.contains(&format!("{flag} ")) || told.contains(&format!("{flag}`"));
    let by_itself = ["cannot resume from", "cannot be used multiple times"].iter().any(|why| told.contains(why));
    seen.run.code == 3 && told.contains("error") && (by_itself || flags.any(says))
}

/// Tries combinations of flags, on two threads; says which are neither in effect nor refused.
fn wrong(combinations: &[(Vec<&Flag>, &[&'static str])]) -> Vec<String> {
    let made = &made();
    let examine = |(flags, search): &(Vec<&Flag>, &[&'static str])| {
        let words: Vec<&'static str> = flags.iter().flat_map(|flag| flag.words).chain(*search).copied().collect();
        let seen = check(&words, made);
        if is_refused(&seen, &words) {
            return None;
        }
        let unheeded: Vec<_> = flags.iter().filter(|flag| !(flag.is_heeded)(&seen)).map(|flag| flag.words).collect();
        let is_over = (0..3).contains(&seen.run.code);
        let wrong = || format!("{words:?}: code {}, without {unheeded:?}: {}", seen.run.code, seen.run.err);
        (!is_over || !unheeded.is_empty()).then(wrong)
    };
    let halves = combinations.split_at(combinations.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| halves.1.iter().filter_map(examine).collect::<Vec<String>>());
        let mut found: Vec<String> = halves.0.iter().filter_map(examine).collect();
        found.extend(other.join().expect("the other half is examined"));
        found
    })
}

fn check_all(combinations: &[(Vec<&Flag>, &[&'static str])]) {
    let wrong = wrong(combinations);
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        combinations.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

#[test]
fn each_flag_is_in_effect_or_refused_beside_each_way_to_check() {
    let alone = FLAGS.iter().map(|flag| (vec![flag], &[][..]));
    let beside = FLAGS.iter().flat_map(|flag| SEARCHES.iter().map(move |search| (vec![flag], *search)));
    check_all(&alone.chain(beside).collect::<Vec<_>>());
}

#[test]
fn two_and_three_flags_are_in_effect_or_refused_together() {
    let mut combinations = Vec::new();
    for (i, one) in FLAGS.iter().enumerate() {
        for (j, other) in FLAGS.iter().enumerate().skip(i + 1) {
            combinations.push((vec![one, other], &[][..]));
            combinations.extend(FLAGS[j + 1..].iter().map(|third| (vec![one, other, third], &[][..])));
        }
    }
    check_all(&combinations);
}

#[test]
fn a_formula_that_would_not_be_checked_is_refused() {
    let made = &made();
    let refused = check(&["--ltl", "[] (x < 2)", "--property", "safety"], made).run.expect(3);
    assert!(refused.err.contains("is not checked, because of --property safety"), "{}", refused.err);
    for (chosen, count) in [("formula", 1), ("ltl", 2)] {
        let report = check(&["--ltl", "[] (x < 2)", "--property", chosen, "--json"], made).run.expect(0).json();
        assert_eq!(report["properties"].as_array().map(Vec::len), Some(count), "{chosen}: {report}");
    }
    // The command that repeats a violation of something else leaves the formula out.
    let found = check(&["--ltl", "[] (x < 2)"], made).run.expect(1);
    let again = found.out.lines().find_map(|line| line.strip_prefix("reproduce with: fabius check "));
    assert_eq!(again, Some("--search bfs --property safety m.pml"), "{}", found.out);
    let again = check(&["--search", "bfs", "--property", "safety"], made).run.expect(1);
    assert!(again.out.contains("assertion violated"), "{}", again.out);
}
