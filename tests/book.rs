//! The book of the semantics runs: the tool gives the answers that the pages promise, and so does Spin,
//! where it is installed.
//!
//! `FABIUS_BLESS=1` asks Spin about every model that has no expectation yet and writes its answer into
//! the page; an expectation that is there is never changed.

use fabius_testkit::book::{self, Expect, Rule};
use fabius_testkit::compare::{Said, compare};
use fabius_testkit::parallel;
use fabius_testkit::scratch::Scratch;
use fabius_testkit::spin::{Answer, Question, Spin};
use fabius_testkit::tool::Tool;

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
    compare(&expect.expected(), &Said::by(tool, &model, &[]))
        .iter()
        .map(|d| format!("{}: {}, expected {}", place(rule), d.tool, d.spin))
        .collect()
}

#[test]
fn spin_gives_the_answers_of_the_book() {
    let spin = match Spin::find() {
        Ok(spin) => spin,
        Err(missing) => return println!("skipped: {missing}"),
    };
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
    // A count may be left out of the page; the rest may not.
    let answer = Expect { states: answer.states.filter(|_| expect.states.is_some()), ..answer };
    (answer != *expect).then(|| format!("{}: Spin answers\n{}", place(rule), answer.text()))
}

fn answer(spin: &Spin, rule: &Rule) -> Option<Expect> {
    match spin.ask(&rule.model, Question::ALL_STATES) {
        Answer::Rejected { .. } => Some(Expect::default()),
        Answer::Run(run) => Some(Expect {
            safe: Some(run.errors == 0),
            kinds: run.kinds(),
            states: run.comparable().then_some(run.stored),
            spin: None,
        }),
        Answer::Unknown { reason } => {
            println!("{}: {reason}", place(rule));
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
        let filled = book::fill_in(&page, &text, |rule| answer(spin, rule)).expect("a page that can be read");
        if filled != text {
            std::fs::write(&file, filled).expect("a page that can be written");
        }
    }
}
