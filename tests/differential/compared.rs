//! Two runs beside one another: that what a comparison says of them is true, by counting on random runs and on edits whose effect is known.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

use fabius_base::Cancel;
use fabius_counterexample::comparison::{
    ComparedRun, FollowedRun, RunComparison, Version, VersionComparison, compare_runs, compare_versions,
};
use fabius_engine::{CheckContext, Counterexample, Loaded, SAFETY, Settings, check, load};
use fabius_program::{Move, Program, Watch};
use fabius_testkit::generate::{self, Dice};
use fabius_testkit::parallel;
use fabius_witness::format::json::steps;
use fabius_witness::{Claim, Outcome, State, Trace, confirm_watching, moves, settled};
use std::sync::Arc;
use std::time::Duration;

/// Random models.
const MODELS: u64 = 80;
/// Pairs of runs of each.
const PAIRS: u64 = 6;
/// Steps of each run at most.
const STEPS: usize = 30;

fn loaded(text: &str) -> Loaded {
    load("model.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

/// A random run that ends before the first step that goes wrong.
fn random_run(program: &Arc<Program>, seed: u64) -> Trace {
    let mut dice = Dice::new(seed);
    let mut state = State::watching(program, Watch::NOTHING).unwrap();
    let mut path: Vec<Move> = Vec::new();
    for _ in 0..STEPS {
        let reaches = |(step, outcome)| match outcome {
            Outcome::Reaches { state, assertion_failed: false, .. } => Some((step, state)),
            _ => None,
        };
        let mut next: Vec<(Move, State)> =
            moves(program, &settled(program, &state)).successors.into_iter().filter_map(reaches).collect();
        if next.is_empty() {
            break;
        }
        let (step, reached) = next.swap_remove(dice.below(next.len()));
        path.push(step);
        state = reached;
    }
    confirm_watching(program, Watch::NOTHING, &path, Claim::Reaches).unwrap()
}

/// What a step executes: process, statement, and the partner with its statement.
type Deed = (u8, String, u32, Option<(u8, u32)>);

fn deeds(program: &Program, trace: &Trace) -> Vec<Deed> {
    let number = |edge| program.statement(program.process_of(edge), edge).number;
    let deed = |step: fabius_witness::Step| {
        let partner = step.taken.partner.map(|(pid, edge)| (pid, number(edge)));
        (step.actor.pid, step.actor.process.clone(), number(step.taken.edge), partner)
    };
    trace.taken().map(deed).collect()
}

/// The length of a longest common subsequence.
fn longest<T: PartialEq>(one: &[T], other: &[T]) -> usize {
    let mut row = vec![0; other.len() + 1];
    for a in one {
        let mut diagonal = 0;
        for (at, b) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[other.len()]
}

/// Whether each run is there in its order, and what is called the same is the same.
fn is_faithful(found: &RunComparison, runs: [&Trace; 2], loaded: [&Loaded; 2]) -> Result<(), String> {
    let first: Vec<_> = found.rows.iter().filter_map(|row| row.first.clone()).collect();
    let second: Vec<_> = found.rows.iter().filter_map(|row| row.second.clone()).collect();
    for (shown, (run, loaded)) in [first, second].iter().zip(runs.into_iter().zip(loaded)) {
        if *shown != steps(run, &loaded.map) {
            return Err("a run is not shown as it is".to_owned());
        }
    }
    for row in &found.rows {
        let (Some(first), Some(second)) = (&row.first, &row.second) else {
            if row.same || row.first.is_none() && row.second.is_none() {
                return Err("a row is called the same that only one run has".to_owned());
            }
            continue;
        };
        if (&first.process, &first.text) != (&second.process, &second.text) {
            return Err(format!("`{}` is matched with `{}`", first.text, second.text));
        }
    }
    let alike = found.rows.iter().position(|row| !row.same).unwrap_or(found.rows.len());
    if alike == found.alike { Ok(()) } else { Err(format!("{alike} steps are alike, not {}", found.alike)) }
}

#[test]
fn random_runs_of_one_model_are_compared_as_counting_says() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let results = parallel::map(&seeds, |seed| {
        let text = generate::model(*seed).text();
        let loaded = loaded(&text);
        let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return Ok(0) };
        if State::watching(&program, Watch::NOTHING).is_err() {
            return Ok(0);
        }
        let mut differing = 0;
        for pair in 0..PAIRS {
            let runs = [2 * pair, 2 * pair + 1].map(|run| random_run(&program, seed * 1000 + run));
            let [one, other] =
                runs.each_ref().map(|trace| ComparedRun { program: &program, trace, map: &loaded.map, ends: "" });
            let found = compare_runs(&one, &other)?;
            is_faithful(&found, [&runs[0], &runs[1]], [&loaded, &loaded]).map_err(|why| format!("{why}\n{text}"))?;
            differing += usize::from(found.alike < found.rows.len());
            let creates = runs.iter().any(|run| run.taken().any(|step| !step.created.is_empty()));
            if creates {
                // The number of a process says nothing then.
                continue;
            }
            let [one, other] = runs.each_ref().map(|run| deeds(&program, run));
            let matched = found.rows.iter().filter(|row| row.first.is_some() && row.second.is_some()).count();
            let most = longest(&one, &other);
            if matched != most {
                return Err(format!("{matched} steps are matched, {most} could be\n{text}"));
            }
            for row in &found.rows {
                let (Some(first), Some(second)) = (&row.first, &row.second) else { continue };
                let values = |step: &fabius_witness::format::json::StepRecord| {
                    step.changes.iter().map(|change| (change.name.clone(), change.new.clone())).collect::<Vec<_>>()
                };
                let same = values(first) == values(second)
                    && (&first.messages, &first.printed) == (&second.messages, &second.printed)
                    && (&first.fault, first.ended) == (&second.fault, second.ended);
                if row.same != same {
                    return Err(format!("`{}` has the same effect: {same}\n{text}", first.text));
                }
            }
            let last = |run: &Trace| {
                let local = run.last.processes.iter().flat_map(|process| {
                    process.variables.iter().map(|(name, value)| (format!("{}:{name}", process.name), value.clone()))
                });
                run.last.variables.iter().chain(&run.last.channels).cloned().chain(local).collect::<Vec<_>>()
            };
            let (a, b) = (last(&runs[0]), last(&runs[1]));
            let differ: Vec<_> =
                a.iter().filter(|(name, value)| b.iter().any(|(known, now)| known == name && now != value)).collect();
            if found.last.iter().map(|value| &value.name).ne(differ.iter().map(|(name, _)| name)) {
                return Err(format!("other values differ in the end: {:?}\n{text}", found.last));
            }
        }
        Ok(differing)
    });
    let failures: Vec<&String> =
        results.iter().filter_map(|result: &Result<usize, String>| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} are wrong, the first: {}", failures.len(), failures[0]);
    let differing: usize = results.iter().flatten().sum();
    assert!(MODELS < differing as u64, "only {differing} pairs differ");
}

/// The first run that violates the safety of a model.
fn example(loaded: &Loaded) -> Option<Counterexample> {
    let mut observe = |_| {};
    let mut context =
        CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let settings = Settings { properties: vec![SAFETY.to_owned()], ..Settings::default() };
    check(loaded, &settings, &mut context).counterexamples.into_iter().next()
}

fn versions(old: &str, new: &str) -> Option<VersionComparison> {
    let (old, new) = (loaded(old), loaded(new));
    let examples = [example(&old), example(&new)];
    let found = compare_versions(
        &Version { loaded: &old, property: SAFETY, example: examples[0].as_ref() },
        &Version { loaded: &new, property: SAFETY, example: examples[1].as_ref() },
    )?;
    if let (Some(runs), [Some(one), Some(other)]) = (&found.runs, &examples) {
        is_faithful(runs, [&one.trace, &other.trace], [&old, &new]).unwrap();
    }
    Some(found)
}

const OLD: &str = "byte x; bool done;
active proctype P() { x = 1; x = x + 1; done = true }
active proctype Q() { do :: done -> break :: else -> skip od; assert(x == 3) }";

#[test]
fn a_run_is_followed_where_processes_have_other_numbers() {
    let new = format!("byte y;\nactive proctype R() {{ y = 1 }}\n{OLD}");
    let found = versions(OLD, &new).unwrap();
    assert!(found.both_violate);
    assert_eq!((found.followed.outcome, found.followed.departs), (FollowedRun::Violates, None));
    let matched = found.runs.unwrap().rows.into_iter().filter(|row| row.first.is_some() && row.second.is_some());
    let pids: Vec<(u8, u8)> = matched.filter_map(|row| Some((row.first?.pid, row.second?.pid))).collect();
    assert!(!pids.is_empty() && pids.iter().all(|(old, new)| old + 1 == *new), "{pids:?}");
}

#[test]
fn where_a_run_departs_is_the_first_step_that_does_something_else() {
    // The same statements, and another value from the second step on.
    let found =
        versions(&OLD.replace("byte x;", "byte x = 1, y;"), &OLD.replace("byte x;", "byte x = 1, y = 1;")).unwrap();
    assert_eq!(found.runs.as_ref().unwrap().initial.len(), 1);
    let old = "byte a = 1, x; active proctype P() { x = 2; x = x + a; x = 7; assert(x == 0) }";
    let found = versions(old, &old.replace("a = 1", "a = 2")).unwrap();
    assert_eq!((found.followed.departs, found.followed.outcome), (Some(2), FollowedRun::Violates));
    let runs = found.runs.unwrap();
    assert_eq!((runs.alike, runs.rows.len()), (1, 4));
    assert_eq!(runs.rows.iter().map(|row| row.same).collect::<Vec<_>>(), [true, false, true, true]);
}

#[test]
fn a_run_that_does_not_violate_or_cannot_go_on_says_where() {
    let old = "byte x; active proctype P() { x = 1; x = x + 1; assert(x == 3) }";
    let found = versions(old, &old.replace("x == 3", "x == 2")).unwrap();
    // The assertion is another statement, and is passed through.
    assert_eq!((found.followed.outcome, found.followed.departs), (FollowedRun::DoesNotViolate, Some(3)));
    assert_eq!((found.both_violate, found.followed.left_out.as_slice()), (false, [3].as_slice()));
    let old = "byte x; active proctype A() { x = 1; x = 2 } active proctype B() { x == 1; assert(x != 1) }";
    let new = old.replace("x = 1; x = 2", "atomic { x = 1; x = 2 }").replace("assert(x != 1)", "assert(x < 3)");
    let found = versions(old, &new).unwrap();
    assert_eq!(
        (found.followed.outcome, found.followed.steps, found.followed.departs),
        (FollowedRun::Blocked, 1, Some(2))
    );
    assert!(
        found.followed.sentences.iter().any(|text| text.contains("A[0] is inside an atomic sequence")),
        "{found:?}"
    );
    // The other way round, the new run is followed in the old model.
    let old = "byte x; active proctype P() { x = 1; x = 2; assert(x < 3) }";
    let found = versions(old, &old.replace("x = 2", "x = 3")).unwrap();
    assert!(!found.followed.of_old && !found.both_violate, "{found:?}");
    assert_eq!((found.followed.outcome, found.followed.departs), (FollowedRun::DoesNotViolate, Some(2)));
    assert!(versions("active proctype P() { skip }", "active proctype P() { skip }").is_none());
}

#[test]
fn a_model_that_is_the_same_has_the_same_run() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let results = parallel::map(&seeds, |seed| {
        let text = generate::model_with_faults(*seed).text();
        // What does not change what the model means changes nothing of the comparison.
        let found = versions(&text, &format!("/* a comment */\n{text}"))?;
        let runs = found.runs.as_ref()?;
        assert_eq!(runs.alike, runs.rows.len(), "{found:?}\n{text}");
        assert_eq!(
            (found.followed.outcome, found.followed.departs),
            (FollowedRun::Violates, None),
            "{found:?}\n{text}"
        );
        Some(())
    });
    assert!(results.iter().flatten().count() > 5);
}
