//! The book of the semantics runs: the tool gives the answers that the pages promise, and so does Spin,
//! where it is installed.
//!
//! `FABIUS_BLESS=1` asks Spin about every model that has no expectation yet and writes its answer into
//! the page; an expectation that is there is never changed.

use fabius_testkit::Kind;
use fabius_testkit::book::{self, Asked, Expect, Rule};
use fabius_testkit::compare::{Said, compare};
use fabius_testkit::scratch::Scratch;
use fabius_testkit::spin::{Answer, Question, Spin, is_infinite};
use fabius_testkit::tool::Tool;
use fabius_testkit::{parallel, product};
use std::path::Path;

/// A model of the book has fewer states.
const STATES_MAX: usize = 10_000;

fn rules() -> Vec<Rule> {
    book::load(&book::directory()).expect("the book can be read")
}

fn place(rule: &Rule) -> String {
    format!("tests/book/{}:{} ({})", rule.page, rule.line, rule.title)
}

#[test]
fn the_tool_gives_the_answers_of_the_book() {
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius"));
    let rules = rules();
    let failures: Vec<String> = parallel::map(&rules, |rule| wrong_answers(&tool, rule)).concat();
    println!("{} rules, {} wrong answers", rules.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn wrong_answers(tool: &Tool, rule: &Rule) -> Vec<String> {
    let Some(expect) = &rule.expect else { return vec![format!("{}: nothing is expected", place(rule))] };
    let scratch = Scratch::new().expect("a scratch directory");
    let model = scratch.write("model.pml", &rule.model).expect("a scratch file");
    let mut wrong: Vec<String> = compare(&expect.expected(), &Said::by(tool, &model, &[]))
        .iter()
        .map(|d| format!("{}: {}, expected {}", place(rule), d.tool, d.spin))
        .collect();
    wrong.extend(expect.infinite.iter().filter_map(|(asked, holds)| wrong_answer(tool, &model, rule, asked, *holds)));
    wrong
}

fn wrong_answer(tool: &Tool, model: &Path, rule: &Rule, asked: &Asked, holds: bool) -> Option<String> {
    let fairness = if asked.fair { "weak" } else { "none" };
    let said = tool.check_all(model, &["--property", asked.property(), "--fairness", fairness]);
    let expected = if holds { "holds" } else { "violated" };
    let verdict = match said {
        Ok(report) => match report.properties.iter().find(|property| property.name == asked.property()) {
            Some(property) => property.verdict.clone(),
            None => "not checked".to_owned(),
        },
        Err(why) => why,
    };
    (verdict != expected).then(|| format!("{}: {asked:?}: {verdict}, expected {expected}", place(rule)))
}

/// The answers of brute force over the product of machine and claim.
fn wrong_products(rule: &Rule) -> Vec<String> {
    let asked = rule.expect.iter().flat_map(|expect| &expect.infinite);
    let judged = asked.filter_map(|(asked, holds)| {
        let found = product::verdict(&rule.model, asked.infinite(), asked.fair, STATES_MAX)?.run.is_none();
        (found != *holds).then(|| format!("{}: {asked:?}: the product says {found}", place(rule)))
    });
    let mut wrong: Vec<String> = judged.collect();
    let expected = rule.expect.as_ref().filter(|expect| expect.safe.is_some());
    if let (Some(expect), Some((kinds, states))) = (expected, product::beside_trace(&rule.model, STATES_MAX)) {
        let comparable = expect.states.filter(|_| !kinds.contains(&Kind::Trace));
        if kinds != expect.kinds || comparable.is_some_and(|expected| expected != states) {
            wrong.push(format!("{}: the product has {kinds:?} and {states} states", place(rule)));
        }
    }
    wrong
}

#[test]
fn brute_force_gives_the_answers_of_the_book() {
    let rules = rules();
    let asked: usize = rules.iter().filter_map(|rule| rule.expect.as_ref()).map(|expect| expect.infinite.len()).sum();
    let failures: Vec<String> = parallel::map(&rules, wrong_products).concat();
    println!("{asked} questions about infinite runs, {} wrong answers", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn spin_gives_the_answers_of_the_book() {
    let Some(spin) = Spin::find() else { return };
    if std::env::var_os("FABIUS_BLESS").is_some() {
        fill_in(&spin);
    }
    let rules: Vec<Rule> = rules().into_iter().filter(|rule| !told_apart(rule)).collect();
    let failures: Vec<String> = parallel::map(&rules, |rule| other_answer(&spin, rule)).into_iter().flatten().collect();
    println!("{} rules asked of Spin, {} other answers", rules.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether the page itself says that Spin answers otherwise.
fn told_apart(rule: &Rule) -> bool {
    rule.expect.as_ref().is_some_and(|expect| expect.spin.is_some())
}

fn other_answer(spin: &Spin, rule: &Rule) -> Option<String> {
    let expect = rule.expect.as_ref()?;
    let answer = answer(spin, rule)?;
    // A count may be left out of the page, and so may what is said of infinite runs; the rest may not.
    let infinite = expect.infinite.iter().filter_map(|(asked, _)| infinite(spin, rule, asked)).collect();
    let answer = Expect { states: answer.states.filter(|_| expect.states.is_some()), infinite, ..answer };
    (answer != *expect).then(|| format!("{}: Spin answers\n{}", place(rule), answer.text()))
}

fn answer(spin: &Spin, rule: &Rule) -> Option<Expect> {
    match spin.ask(&rule.model, Question::ALL_STATES) {
        Answer::Rejected { .. } => Some(Expect::default()),
        Answer::Run(run) => Some(Expect {
            safe: Some(run.errors == 0),
            kinds: run.kinds(),
            states: run.comparable().then_some(run.stored),
            infinite: Vec::new(),
            spin: None,
        }),
        Answer::Unknown { reason } => {
            println!("{}: {reason}", place(rule));
            None
        }
    }
}

/// What Spin says of infinite runs.
fn infinite(spin: &Spin, rule: &Rule, asked: &Asked) -> Option<(Asked, bool)> {
    match spin.ask_infinite(&rule.model, asked.infinite(), asked.fair) {
        Answer::Run(run) => Some((asked.clone(), !run.messages.iter().any(|message| is_infinite(message)))),
        Answer::Rejected { .. } => None,
        Answer::Unknown { reason } => {
            println!("{}: {asked:?}: {reason}", place(rule));
            None
        }
    }
}

fn fill_in(spin: &Spin) {
    let mut pages: Vec<String> = rules().into_iter().map(|rule| rule.page).collect();
    pages.dedup();
    for page in pages {
        let file = book::directory().join(&page);
        let text = std::fs::read_to_string(&file).expect("a page");
        let suggest = |rule: &Rule| {
            let answer = answer(spin, rule)?;
            let suggested = rule.suggested().into_iter().filter(|_| answer.safe.is_some());
            Some(Expect { infinite: suggested.filter_map(|asked| infinite(spin, rule, &asked)).collect(), ..answer })
        };
        let filled = book::fill_in(&page, &text, suggest).expect("a page that can be read");
        if filled != text {
            std::fs::write(&file, filled).expect("a page that can be written");
        }
    }
}
