//! Differential test against Spin on real models: every entry of the corpus gets the answers that Spin
//! gave, or the difference is explained in `tests/corpus/explained.toml`.
//!
//! Models with more than [`STATES_MAX`] states are left out unless `FABIUS_FULL=1`; `FABIUS_ONLY=text` keeps
//! the entries whose path contains the text. Without a corpus the test says so and passes.

use fabius_testkit::compare::{Aspect, Disagreement, Expected, Said, compare};
use fabius_testkit::corpus::{Corpus, Entry};
use fabius_testkit::explained::Explained;
use fabius_testkit::tool::Tool;
use fabius_testkit::{parallel, workspace};
use std::fmt::Write;
use std::time::Duration;

/// Models that have more states are only looked at in full runs.
const STATES_MAX: u64 = 300_000;

/// What is passed to every run, so that it ends by itself; a run that does not is killed a little later.
const LIMITS: [&str; 4] = ["--timeout", "120s", "--max-memory", "6G"];
const KILLED_AFTER: Duration = Duration::from_secs(150);
/// What is passed instead where Spin did not see everything: only the first violation can be compared.
const FIRST_ONLY: [&str; 2] = ["--timeout", "15s"];
/// Where Spin's count means nothing, since a statement cannot be evaluated, this many times as many states are enough.
const STATES_FACTOR: u64 = 4;
/// What is passed instead where Spin's verifier gave no answer: only the syntax can be compared.
const SYNTAX_ONLY: [&str; 4] = ["--timeout", "20s", "--max-states", "100"];

/// An entry that was looked at.
struct Checked<'a> {
    entry: &'a Entry,
    said: Said,
    disagreements: Vec<Disagreement>,
}

#[test]
fn every_model_of_the_corpus_gets_spins_answers() {
    let Some(corpus) = Corpus::load() else { return };
    let explained = Explained::load(&workspace().join("tests/corpus/explained.toml")).expect("explanations");
    let (chosen, left_out) = choose(&corpus);
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(KILLED_AFTER);
    let checked = parallel::map(&chosen, |entry| check(&tool, &corpus, entry));
    println!("{}", table(&checked));
    println!("{} models compared, {left_out} left out because they are large (FABIUS_FULL=1 runs them)", chosen.len());
    let complaints = complaints(&explained, &checked);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn choose(corpus: &Corpus) -> (Vec<&Entry>, usize) {
    let full = std::env::var_os("FABIUS_FULL").is_some();
    let only = std::env::var("FABIUS_ONLY").unwrap_or_default();
    let asked: Vec<&Entry> = corpus.entries.iter().filter(|entry| entry.path.contains(&only)).collect();
    let chosen: Vec<&Entry> = asked.iter().copied().filter(|entry| full || !is_large(entry)).collect();
    let left_out = asked.len() - chosen.len();
    (chosen, left_out)
}

fn is_large(entry: &Entry) -> bool {
    entry.run("base").is_some_and(|base| base.stored > STATES_MAX || !base.complete)
}

fn check<'a>(tool: &Tool, corpus: &Corpus, entry: &'a Entry) -> Checked<'a> {
    let expected = Expected::recorded(entry);
    let base = entry.run("base").filter(|_| expected.states.is_none());
    let states_max = base.map(|base| (STATES_FACTOR * base.stored.max(10_000)).to_string());
    let limits = match (expected.safe, &expected.kinds, &states_max) {
        (None, ..) => SYNTAX_ONLY.to_vec(),
        (Some(_), None, _) => FIRST_ONLY.to_vec(),
        (Some(_), Some(_), None) => LIMITS.to_vec(),
        (Some(_), Some(_), Some(max)) => [&LIMITS[..], &["--max-states", max]].concat(),
    };
    let said = Said::by(tool, &corpus.file(entry), &limits);
    let disagreements = compare(&expected, &said);
    Checked { entry, said, disagreements }
}

/// One line per model: what Spin counted, what the tool counted, where they differ.
fn table(checked: &[Checked]) -> String {
    let mut table = String::new();
    let _ = writeln!(table, "{:<60} {:>9} {:>10} {:>10}  differs in", "model", "verdict", "Spin", "Fabius");
    for Checked { entry, said, disagreements } in checked {
        let verdict = said.default.as_ref().map_or("-", |report| report.verdict.as_str());
        let spin =
            entry.run("base").filter(|base| base.complete).map_or("-".to_owned(), |base| base.stored.to_string());
        let plain = said.plain.as_ref().ok().and_then(|report| report.safety());
        let counted = plain.map_or("-".to_owned(), |safety| safety.states.to_string());
        let aspects: Vec<&str> = disagreements.iter().map(|d| d.aspect.as_str()).collect();
        let _ = writeln!(table, "{:<60} {verdict:>9} {spin:>10} {counted:>10}  {}", entry.path, aspects.join(" "));
    }
    table
}

/// What has to be mended: differences without a reason, and reasons without a difference.
fn complaints(explained: &Explained, checked: &[Checked]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut happened: Vec<(&str, Aspect)> = Vec::new();
    for Checked { entry, disagreements, .. } in checked {
        for disagreement in disagreements {
            happened.push((&entry.path, disagreement.aspect));
            if !explained.covers(&entry.path, disagreement.aspect) {
                complaints.push(format!("{}: {disagreement}", entry.path));
            }
        }
    }
    let ran: Vec<&str> = checked.iter().map(|checked| checked.entry.path.as_str()).collect();
    for stale in explained.stale(&ran, &happened) {
        complaints
            .push(format!("{}: does not differ in {} any more; remove the explanation", stale.path, stale.aspect));
    }
    complaints
}
