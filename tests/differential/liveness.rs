//! Differential test against Spin's answers about infinite runs, on real models: non-progress cycles with and
//! without weak fairness, claims and formulas with weak fairness.
//!
//! As in `corpus.rs`, `FABIUS_FULL=1` takes away the limit on states and `FABIUS_ONLY=text` chooses
//! entries; `tests/corpus/explained_liveness.toml` holds the reasons of what differs.

use fabius_testkit::corpus::{Corpus, Entry, RecordedRun};
use fabius_testkit::tool::Tool;
use fabius_testkit::{explained, parallel, workspace};
use std::fmt::Write;
use std::time::Duration;

/// Runs in which Spin stored more states are only repeated in full runs.
const STATES_MAX: u64 = 400_000;
const KILLED_AFTER: Duration = Duration::from_secs(150);
const LIMITS: [&str; 4] = ["--timeout", "100s", "--max-memory", "6G"];

/// A question that Spin has answered.
struct Asked<'a> {
    entry: &'a Entry,
    /// What is asked: `progress`, `progress fair`, or the name of a claim.
    question: String,
    flags: Vec<String>,
    /// The name of the property in the tool's report.
    property: String,
    /// Whether Spin found a violation.
    violated: bool,
    /// States that Spin stored.
    stored: u64,
}

/// What the tool says to it.
struct Answered<'a> {
    asked: &'a Asked<'a>,
    said: Result<(String, u64), String>,
}

#[test]
fn endless_runs_are_found_where_spin_finds_them() {
    let Some(corpus) = Corpus::load() else { return };
    let full = std::env::var_os("FABIUS_FULL").is_some();
    let only = std::env::var("FABIUS_ONLY").unwrap_or_default();
    let all: Vec<Asked> =
        corpus.entries.iter().filter(|entry| entry.path.contains(&only)).flat_map(questions).collect();
    let chosen: Vec<&Asked> = all.iter().filter(|asked| full || asked.stored <= STATES_MAX).collect();
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(KILLED_AFTER);
    let answered = parallel::map(&chosen, |asked| ask(&tool, &corpus, asked));
    println!("{}", table(&answered));
    println!("{} questions compared, {} left out because they are large", chosen.len(), all.len() - chosen.len());
    let reasons = explained::reasons(&workspace().join("tests/corpus/explained_liveness.toml")).expect("explanations");
    let mut complaints = Vec::new();
    for Answered { asked, said } in &answered {
        let name = format!("{} {}", asked.entry.path, asked.question);
        let agrees = matches!(said, Ok((verdict, _)) if verdict == word(asked.violated));
        match (agrees, reasons.contains_key(&name)) {
            (false, false) => complaints.push(format!("{name}: Spin says {}, the tool {said:?}", word(asked.violated))),
            (true, true) => complaints.push(format!("{name}: does not differ any more; remove the explanation")),
            _ => {}
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn word(violated: bool) -> &'static str {
    if violated { "violated" } else { "holds" }
}

/// Everything that Spin has answered about an entry and that can be compared: it saw everything, or found
/// a cycle or the end of a claim (and not, say, a failed assertion of the model).
fn questions(entry: &Entry) -> Vec<Asked<'_>> {
    let mut questions = Vec::new();
    let mut add = |run: Option<RecordedRun>, question: &str, property: &str, fairness: &str| {
        let Some(run) = run else { return };
        let about_runs = |message: &str| {
            message.contains("cycle") || message.contains("claim") || message.starts_with("assertion violated  !( !(")
        };
        let violated = run.error_msgs.iter().any(|message| about_runs(&message.msg));
        if !violated && (!run.complete || run.errors > 0) {
            return;
        }
        questions.push(Asked {
            entry,
            question: question.to_owned(),
            flags: ["--property", property, "--fairness", fairness].map(str::to_owned).to_vec(),
            property: property.to_owned(),
            violated,
            stored: run.stored,
        });
    };
    add(entry.run("np"), "progress", "progress", "none");
    add(entry.run("np_fair"), "progress fair", "progress", "weak");
    for claim in entry.claims() {
        let property = if claim == "-" { "acceptance" } else { claim.as_str() };
        add(entry.claim_run(&claim, "fair"), &claim, property, "weak");
        add(entry.claim_run(&claim, "nofair"), &format!("{claim} unfair"), property, "none");
    }
    questions
}

fn ask<'a>(tool: &Tool, corpus: &Corpus, asked: &'a Asked<'a>) -> Answered<'a> {
    let flags: Vec<&str> = LIMITS.iter().copied().chain(asked.flags.iter().map(String::as_str)).collect();
    let said = tool.check_all(&corpus.file(asked.entry), &flags).and_then(|report| {
        let property = report.properties.iter().find(|property| property.name == asked.property);
        property
            .map(|property| (property.verdict.clone(), property.states))
            .ok_or_else(|| format!("no property `{}`: {} ({:?})", asked.property, report.verdict, report.findings))
    });
    Answered { asked, said }
}

fn table(answered: &[Answered]) -> String {
    let mut table = String::new();
    let _ = writeln!(
        table,
        "{:<60} {:<24} {:>9} {:>9} {:>10} {:>10}",
        "model", "question", "Spin", "Fabius", "Spin", "Fabius"
    );
    for Answered { asked, said } in answered {
        let (verdict, states) = said.clone().unwrap_or_else(|why| (why, 0));
        let verdict: String = verdict.chars().take(40).collect();
        let mark = if verdict == word(asked.violated) { "" } else { "  differs" };
        let _ = writeln!(
            table,
            "{:<60} {:<24} {:>9} {verdict:>9} {:>10} {states:>10}{mark}",
            asked.entry.path,
            asked.question,
            word(asked.violated),
            asked.stored
        );
    }
    table
}
