//! Bad input: whatever the bytes, the tool answers in bounded time with one of its verdicts, and never
//! crashes.
//!
//! `FABIUS_MODELS=n` says how many damaged models are tried, `FABIUS_SEED=n` where to begin.

use fabius_testkit::book;
use fabius_testkit::generate::Dice;
use fabius_testkit::parallel;
use fabius_testkit::scratch::Scratch;
use fabius_testkit::tool::{Report, Tool};
use std::time::Duration;

/// What the tool is told, and when it is killed.
const LIMITS: [&str; 6] = ["--timeout", "5s", "--max-memory", "1G", "--max-states", "20000"];
const KILLED_AFTER: Duration = Duration::from_secs(40);

fn tool() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_fabius")).within(KILLED_AFTER)
}

fn check(bytes: &[u8]) -> Result<Report, String> {
    let scratch = Scratch::new().expect("a scratch directory");
    let model = scratch.path().join("model.pml");
    std::fs::write(&model, bytes).expect("a scratch file");
    tool().check(&model, &LIMITS)
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Models of the book, each damaged once; the seed names the damage.
fn damaged(damage: fn(&mut Dice, Vec<u8>) -> Vec<u8>) -> Vec<(u64, Vec<u8>)> {
    let rules = book::load(&book::directory()).expect("the book can be read");
    let first = number("FABIUS_SEED", 1);
    let seeds = first..first + number("FABIUS_MODELS", 150);
    seeds
        .map(|seed| {
            let mut dice = Dice::new(seed);
            let model = rules[dice.below(rules.len())].model.clone().into_bytes();
            (seed, damage(&mut dice, model))
        })
        .collect()
}

fn all_are_answered(models: &[(u64, Vec<u8>)]) {
    let failures: Vec<String> = parallel::map(models, |(seed, bytes)| {
        let why = check(bytes).err()?;
        Some(format!("seed {seed}: {why}\n{}", String::from_utf8_lossy(bytes)))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn truncated_models_are_answered() {
    all_are_answered(&damaged(|dice, model| {
        let length = dice.below(model.len());
        model[..length].to_vec()
    }));
}

#[test]
fn models_with_bytes_changed_are_answered() {
    all_are_answered(&damaged(|dice, mut model| {
        for _ in 0..1 + dice.below(6) {
            let at = dice.below(model.len());
            model[at] = dice.below(256) as u8;
        }
        model
    }));
}

#[test]
fn models_with_words_moved_are_answered() {
    all_are_answered(&damaged(|dice, model| {
        let text = String::from_utf8_lossy(&model).into_owned();
        let mut words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for _ in 0..1 + dice.below(3) {
            let (from, to) = (dice.below(words.len()), dice.below(words.len()));
            match dice.below(3) {
                0 => words.swap(from, to),
                1 => words.insert(to, words[from]),
                _ => drop(words.remove(from)),
            }
            if words.is_empty() {
                words.push(";");
            }
        }
        words.concat().into_bytes()
    }));
}

#[test]
fn bytes_that_are_no_text_are_answered() {
    let models: Vec<(u64, Vec<u8>)> = (1..40)
        .map(|seed| {
            let mut dice = Dice::new(seed);
            let length = dice.below(3000);
            (seed, (0..length).map(|_| dice.below(256) as u8).collect())
        })
        .collect();
    all_are_answered(&models);
}

/// The verdict on an extreme model must be one of these.
#[track_caller]
fn verdict_is(model: &str, allowed: &[&str]) {
    let report = check(model.as_bytes()).expect("an answer");
    assert!(allowed.contains(&report.verdict.as_str()), "{}", report.verdict);
    if report.verdict == "faulty" {
        assert!(!report.findings.is_empty(), "a faulty model needs a finding");
    }
}

#[test]
fn nothing_at_all() {
    verdict_is("", &["faulty"]);
    verdict_is("\n\n  \t", &["faulty"]);
    verdict_is("/* only a comment */", &["faulty"]);
}

#[test]
fn ten_megabytes_of_parentheses() {
    verdict_is(&format!("init {{ {} }}", "(".repeat(10 << 20)), &["faulty"]);
    let deep = 100_000;
    verdict_is(&format!("init {{ assert({}1{}) }}", "(".repeat(deep), ")".repeat(deep)), &["faulty", "holds"]);
}

#[test]
fn ten_megabytes_of_braces_and_choices() {
    verdict_is(&format!("init {}", "{".repeat(10 << 20)), &["faulty"]);
    verdict_is(&format!("init {{ {} skip {} }}", "if :: ".repeat(50_000), " fi".repeat(50_000)), &["faulty", "holds"]);
    verdict_is(&format!("init {{ {}1 }}", "!".repeat(1 << 20)), &["faulty", "violated", "holds"]);
}

#[test]
fn long_lists() {
    let sum = "1 + ".repeat(100_000);
    verdict_is(&format!("int x; init {{ x = {sum} 1 }}"), &["faulty", "holds"]);
    verdict_is(&format!("byte x; init {{ {} }}", "x = 1 - x; ".repeat(50_000)), &["faulty", "holds", "undecided"]);
    verdict_is(&format!("int x; init {{ x = {} }}", "9".repeat(1 << 20)), &["faulty", "holds"]);
    verdict_is(&format!("byte {}; init {{ skip }}", "a".repeat(1 << 20)), &["faulty", "holds"]);
}

#[test]
fn macros_without_end() {
    verdict_is("#define A A A\ninit { A }", &["faulty"]);
    verdict_is("#define f(x) f(f(x))\ninit { f(1) }", &["faulty"]);
    let mut doubling = "#define A0 x = x;\n".to_owned();
    for n in 1..60 {
        doubling.push_str(&format!("#define A{n} A{} A{}\n", n - 1, n - 1));
    }
    verdict_is(&format!("{doubling}byte x;\ninit {{ A59 }}"), &["faulty"]);
}

#[test]
fn includes_that_are_not_there_or_have_no_end() {
    verdict_is("#include \"nowhere.h\"\ninit { skip }", &["faulty"]);
    verdict_is("#include \"model.pml\"\ninit { skip }", &["faulty"]);
    verdict_is("#include \"..\"\ninit { skip }", &["faulty"]);
    verdict_is("#include \"/dev/zero\"\ninit { skip }", &["faulty"]);
}

#[test]
fn inlines_without_end() {
    verdict_is("inline a() { a() }\ninit { a() }", &["faulty"]);
    let mut doubling = "byte x;\ninline a0() { x = 1 }\n".to_owned();
    for n in 1..60 {
        doubling.push_str(&format!("inline a{n}() {{ a{0}(); a{0}() }}\n", n - 1));
    }
    verdict_is(&format!("{doubling}init {{ a59() }}"), &["faulty"]);
}

#[test]
fn large_data() {
    verdict_is("byte a[1000000];\ninit { a[999999] = 1 }", &["faulty", "holds", "undecided"]);
    verdict_is("byte a[2000000000];\ninit { a[1] = 1 }", &["faulty", "undecided"]);
    verdict_is(
        "typedef T { int v[1000] }; typedef U { T t[1000] }; typedef V { U u[1000] };\nV v[1000];\ninit { skip }",
        &["faulty", "undecided"],
    );
    verdict_is("chan q = [1000000000] of { int };\ninit { do :: q!1 od }", &["faulty", "undecided", "violated"]);
    verdict_is("chan q[300] = [1] of { int };\ninit { skip }", &["faulty", "violated"]);
    verdict_is("byte a[0];\ninit { skip }", &["faulty"]);
    verdict_is("byte a[-1];\ninit { skip }", &["faulty"]);
}

#[test]
fn searches_without_end() {
    verdict_is("int x;\nactive proctype P() { do :: x++; assert(x != -5) od }", &["undecided"]);
    verdict_is(
        "int x, y;\nactive [9] proctype P() { do :: x++ :: y = y * 3 + x; assert(y != 5) od }",
        &["undecided", "violated"],
    );
    verdict_is("proctype P() { run P(); 0 }\ninit { run P() }", &["violated", "undecided"]);
    verdict_is("int x;\nactive proctype P() { d_step { do :: x++; assert(x != -5) od } }", &["violated", "undecided"]);
    verdict_is("int x;\nactive proctype P() { atomic { do :: x++; assert(x != -5) od } }", &["violated", "undecided"]);
    verdict_is("active proctype P() { atomic { do :: skip od } }", &["violated", "undecided", "holds"]);
    verdict_is("int x;\nactive proctype P() { for (x : 0 .. 2000000000) { skip } }", &["undecided", "holds"]);
}

#[test]
fn ten_thousand_copies() {
    verdict_is("active [10000] proctype P() { skip }", &["faulty", "violated"]);
    verdict_is("active [255] proctype P() { skip }", &["faulty", "undecided"]);
}
