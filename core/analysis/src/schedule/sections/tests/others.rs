//! Sections of models that others wrote: their steps in all orders that are told.

use super::*;
use crate::schedule::Aim;
use fabius_testkit::corpus::{Corpus, Entry};

/// States of a model that is looked at.
const STATES_MAX: u64 = 2_000;
/// States in which a part of a section is done; sections that have more are left out.
const PARTS_MAX: usize = 2_000;

/// Models of the corpus of which Spin reports an error of safety, and that have few states.
#[expect(clippy::disallowed_methods, reason = "the models are files")]
fn models() -> Option<Vec<(String, Loaded)>> {
    let corpus = Corpus::load()?;
    let is_small = |entry: &&Entry| {
        entry.run("base").is_some_and(|run| run.complete && run.errors != 0 && run.stored <= STATES_MAX)
    };
    let read = |entry: &Entry| {
        let text = String::from_utf8_lossy(&std::fs::read(corpus.file(entry)).expect("a model")).into_owned();
        (entry.path.clone(), loaded(&text))
    };
    Some(corpus.entries.iter().filter(is_small).map(read).collect())
}

/// The walk through sections in all their orders, and the number of those that have too many.
fn walk(loaded: &Loaded, report: &crate::schedule::ScheduleReport) -> Bare {
    let written = loaded.as_written().expect("a program");
    let locks = if report.without.is_empty() { BTreeSet::new() } else { only_waited_for(&written) };
    let program = Arc::new(without(&written, &locks));
    let start = State::watching(&program, Watch::NOTHING).expect("an initial state");
    let mut walk = Bare {
        program,
        locks,
        written,
        sections: report.sections.clone(),
        met: HashSet::new(),
        taken: (0, 0),
        parts_max: PARTS_MAX,
        left_out: 0,
    };
    let start = walk.advanced(start);
    walk.go(1, None, start);
    walk
}

#[test]
fn sections_can_be_taken_in_all_orders_that_are_told() {
    let Some(models) = models() else { return };
    let (mut looked_at, mut bare, mut sections, mut left_out) = (0, 0, 0, 0);
    for (name, loaded) in models {
        for (aim, without_locks) in [(Aim::Safe, false), (Aim::Fair, false), (Aim::Safe, true)] {
            let request =
                ScheduleRequest { sections: true, aim, without_locks, waits_max: 0, ..ScheduleRequest::default() };
            let found = schedule(&loaded, &request, &Stops::all(&Cancel::new()), &mut |_| {});
            assert_eq!(found.failure, None, "{name}");
            let report = found.report;
            if report.sections.is_empty() || without_locks && report.without.is_empty() {
                continue;
            }
            let written = loaded.as_written().expect("a program");
            if without_locks && goes_round_doing_nothing(&written, &only_waited_for(&written)) {
                continue;
            }
            let walk = walk(&loaded, &report);
            looked_at += 1;
            bare += u64::from(without_locks);
            sections += walk.taken.0;
            left_out += walk.left_out;
        }
    }
    assert!(20 < looked_at && 0 < bare && left_out < sections, "{looked_at} {bare} {sections} {left_out}");
}
