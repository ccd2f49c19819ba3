//! Random models: what is learnt is what the definition says, it contains what the text tells, and executions are counted
//! exactly with it.

use super::learned::Commuting;
use super::tests::{Event, classes, events, interleavings, load, seeds, settled};
use super::*;
use fabius_search::Model;
use fabius_search::executions::Independence;
use fabius_testkit::generate::{self, births, messages, small};
use std::collections::{HashMap, HashSet};

const STATES_MAX: u64 = 1_500;

/// Two events one after the other, and the state after both.
type Both = (Vec<Move>, bool, Vec<Move>, bool, Vec<u32>);

fn pids(moves: &[Move]) -> HashSet<u8> {
    moves.iter().flat_map(|step| [Some(step.pid), step.partner.map(|(pid, _)| pid)]).flatten().collect()
}

/// What happens with the one, then with the other; `None` if a step makes the other impossible, or ends executions.
fn both(model: &mut Interleaved, first: &[&Event], then: Move) -> Option<Vec<Both>> {
    let mut found = Vec::new();
    for x in first {
        let after = events(model, x.next.as_ref()?)?;
        let second: Vec<&Event> = after.iter().filter(|y| y.moves[0] == then).collect();
        if second.is_empty() {
            return None;
        }
        for y in second {
            found.push((x.moves.clone(), x.fails, y.moves.clone(), y.fails, y.next.clone()?));
        }
    }
    Some(found)
}

fn commute(model: &mut Interleaved, all: &[Event], a: Move, b: Move) -> bool {
    let of = |step: Move| all.iter().filter(|event| event.moves[0] == step).collect::<Vec<_>>();
    let (mine, theirs) = (of(a), of(b));
    let apart = mine.iter().all(|x| theirs.iter().all(|y| pids(&x.moves).is_disjoint(&pids(&y.moves))));
    let (Some(one), Some(other)) = (both(model, &mine, b), both(model, &theirs, a)) else { return false };
    let swapped = other.into_iter().map(|(y, fails, x, x_fails, end)| (x, x_fails, y, fails, end));
    let (one, other): (HashSet<Both>, HashSet<Both>) = (one.into_iter().collect(), swapped.collect());
    apart && one == other && one.len() == mine.len() * theirs.len()
}

/// The relation by its definition. Steps that are independent by the text are found to commute.
fn by_definition(model: &mut Interleaved, told_by_text: bool) -> Option<Commuting> {
    let mut initial = Vec::new();
    model.initial(&mut initial).ok()?;
    let initial = settled(model, initial);
    let (mut met, mut open) = (HashSet::from([initial.clone()]), vec![initial]);
    let mut found = Commuting::new();
    while let Some(state) = open.pop() {
        let all = events(model, &state)?;
        let mut names: HashMap<Move, u32> = HashMap::new();
        all.iter().filter(|event| !event.last_resort).for_each(|event| {
            names.insert(event.moves[0], event.name);
        });
        for (a, name) in &names {
            for (b, other) in &names {
                if !pids(&[*a]).is_disjoint(&pids(&[*b])) {
                    continue;
                }
                let commutes = commute(model, &all, *a, *b);
                *found.entry((*a, *b)).or_insert(true) &= commutes;
                let mut kept = vec![*other];
                model.retain_independent(&state, *name, &mut kept);
                assert!(!told_by_text || kept.is_empty() || commutes, "the text is wrong about {a:?} and {b:?}");
            }
        }
        for next in all.into_iter().filter_map(|event| event.next) {
            if met.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Some(found)
}

#[derive(Default, Debug)]
struct Tally {
    learnt: u64,
    unknown: u64,
    enumerated: u64,
    coarser: u64,
    /// The text does not tell what is independent.
    untold: u64,
    /// Processes are told apart by their births.
    by_birth: u64,
}

/// What is compared of a model.
#[derive(Clone, Copy)]
struct Case {
    laps_max: Option<u32>,
    /// Processes are told apart by their numbers.
    numbered: bool,
}

const BY_NUMBERS: Case = Case { laps_max: None, numbered: true };

impl Case {
    fn request(self, relation: Relation, reduction: bool) -> ExecutionsRequest {
        let Self { laps_max, numbered } = self;
        let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
        ExecutionsRequest { reduction, relation, laps_max, count: 20, limits, numbered, ..ExecutionsRequest::default() }
    }
}

fn numbers(loaded: &Loaded, request: &ExecutionsRequest) -> Option<(Numbers, Option<OrderReport>)> {
    let found = executions(loaded, request, &Cancel::new(), &|| Duration::ZERO).ok()?;
    assert_eq!(found.failure, None);
    let report = found.report;
    let number = |text: &Option<String>| text.as_ref().map_or(0, |text| text.parse().expect("a number"));
    let [all, failing, stuck] = [&report.executions, &report.failing, &report.stuck].map(number);
    let [waiting, cut, ok] = [&report.waiting, &report.cut, &report.ok].map(number);
    (report.exhaustive && !report.overflow).then_some((Numbers { all, failing, stuck, waiting, cut, ok }, report.order))
}

fn compare(text: &str, case: Case, tally: &mut Tally) -> Option<()> {
    let loaded = load(text);
    let program = loaded.checkable().and_then(|_| loaded.as_written())?;
    let (cancel, wanted) = (Cancel::new(), case.request(Relation::Learned, false));
    let mut question = Question::new(&program, &wanted, &cancel).ok()?;
    // By the text first: then it is known which steps end executions.
    let (_, counted) = question.count();
    if counted.ended != Ended::Complete {
        return None;
    }
    let order = match question.learn_if_asked(&loaded)? {
        Ok(order) => order,
        Err(NotLearnt::Unknown(_)) => {
            tally.unknown += 1;
            return None;
        }
        Err(NotLearnt::Failed(why)) => panic!("{why}"),
    };
    let untold = order.pairs.iter().all(|pair| pair.learnt == (pair.differing == 0));
    assert!(question.why_not.is_none() || untold, "the text tells of no pair: {order:?}");
    let mut by_text = question.model_by(Relation::Accords, false);
    let expected = by_definition(&mut by_text, question.why_not.is_none())?;
    assert_eq!(question.commuting.as_deref(), Some(&expected), "what commutes");
    tally.by_birth += u64::from(question.naming.word() == Some("births"));
    (tally.learnt, tally.untold) = (tally.learnt + 1, tally.untold + u64::from(question.why_not.is_some()));
    let (counted, told) = numbers(&loaded, &wanted)?;
    assert_eq!(told.map(|told| (told.states, told.pairs.len())), Some((order.states, order.pairs.len())));
    let (reduced, _) = numbers(&loaded, &case.request(Relation::Learned, true))?;
    assert_eq!(counted, reduced, "with reduction");
    if let Some((finer, _)) = numbers(&loaded, &case.request(Relation::Accords, true)) {
        let some = |numbers: &Numbers| [numbers.failing, numbers.stuck, numbers.cut].map(|number| number > 0);
        assert!(counted.all <= finer.all && some(&counted) == some(&finer), "{counted:?}, {finer:?}");
        tally.coarser += u64::from(counted.all < finer.all);
    }
    let mut plain = question.model(false);
    let all = interleavings(&mut plain, case.laps_max)?;
    let class = classes(&mut plain, &all).expect("they can be exchanged");
    let count =
        |wanted: &dyn Fn(usize) -> bool| class.iter().enumerate().filter(|(at, c)| at == *c && wanted(*at)).count();
    let failing = |at: usize| all[at].0.iter().any(|event| event.fails);
    assert_eq!((counted.all, counted.failing), (count(&|_| true) as u128, count(&failing) as u128));
    tally.enumerated += 1;
    Some(())
}

fn compare_all(seeds: std::ops::Range<u64>, case: Case, text: impl Fn(u64) -> String) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = text(seed);
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compare(&text, case, &mut tally)));
        assert!(told.is_ok(), "seed {seed}\n{text}");
    }
    tally
}

#[test]
fn what_is_learnt_is_the_definition_and_counts_exactly() {
    let tally = compare_all(0..seeds(100), BY_NUMBERS, small::model);
    assert!(tally.enumerated > 20 && tally.coarser > 2, "{tally:?}");
}

#[test]
fn so_it_is_where_processes_talk_and_where_loops_are_bounded() {
    let tally = compare_all(0..seeds(40), BY_NUMBERS, messages::model);
    assert!(tally.enumerated > 10, "{tally:?}");
    let tally = compare_all(0..seeds(40), Case { laps_max: Some(1), ..BY_NUMBERS }, small::model);
    assert!(tally.enumerated > 5, "{tally:?}");
}

#[test]
fn so_it_is_with_everything_that_a_model_can_have() {
    let tally = compare_all(0..seeds(40), BY_NUMBERS, |seed| match seed % 2 {
        0 => generate::model(seed).text(),
        _ => generate::model_with_faults(seed).text(),
    });
    assert!(tally.learnt > 3, "{tally:?}");
}

#[test]
fn so_it_is_where_processes_are_told_apart_by_their_births() {
    let by_birth = Case { numbered: false, ..BY_NUMBERS };
    let tally = compare_all(0..seeds(200), by_birth, births::model);
    assert!(tally.by_birth > 20 && tally.enumerated > 10 && tally.coarser > 2, "{tally:?}");
}

/// In 574, 581 and 587, a process with one number has other arguments in other executions: then the text tells of steps that they
/// are independent in some executions, although they do not commute in all states.
#[test]
fn so_it_is_where_processes_are_created_and_told_apart_by_their_numbers() {
    let tally = compare_all(570..570 + seeds(20), BY_NUMBERS, births::model);
    assert!(tally.learnt > 10 && tally.by_birth == 0, "{tally:?}");
}

#[test]
fn so_it_is_where_the_text_tells_nothing() {
    let texts = [
        "byte x, y; active proctype P() provided (y < 2) { x = 1; x = 2 }\nactive proctype Q() { y = 1; y = 2 }",
        "byte x, y; active proctype P() { x = 1; y = _last }\nactive proctype Q() { skip; x = 1 }",
        "hidden byte h; byte x; active proctype P() { h = 1; x = h }\nactive proctype Q() { byte l; l = 1; l = 2 }",
        "chan c = [2] of { byte }; byte x; trace { c!1; c!2 }\n\
         active proctype P() { c!1; c!2 }\nactive proctype Q() { x = 1; x = 2 }",
    ];
    let mut tally = Tally::default();
    for text in texts {
        compare(text, BY_NUMBERS, &mut tally).unwrap_or_else(|| panic!("{text}"));
    }
    assert!(tally.untold == 4 && tally.coarser >= 3, "{tally:?}");
}

const ADD: &str = "byte x, y; active proctype P() { x = x + 1; y = 1 }\nactive proctype Q() { x = x + 2; y = 2 }";

#[test]
fn statements_are_told_with_states_and_an_example() {
    let loaded = load(ADD);
    let order = order_of_statements(&loaded, Limits::default(), &Cancel::new()).expect("learnt");
    let pair = |a: &str, b: &str| {
        let texts = |pair: &PairReport| pair.statements.each_ref().map(|statement| statement.text.clone());
        let found = order.pairs.iter().find(|pair| texts(pair) == [a, b]);
        found.unwrap_or_else(|| panic!("{a}, {b}: {order:?}"))
    };
    let adding = pair("x = x + 1", "x = x + 2");
    assert_eq!((adding.states, adding.differing, adding.example.clone()), (1, 0, None));
    let writing = pair("y = 1", "y = 2");
    assert_eq!((writing.states, writing.differing, writing.disabling), (1, 1, 0));
    let example = writing.example.as_ref().expect("a state");
    assert_eq!(example.steps, 2);
    assert!(example.values.contains(&("x".to_owned(), "3".to_owned())), "{example:?}");
}

#[test]
fn where_not_all_states_are_known_the_text_tells() {
    let loaded = load(ADD);
    let limits = Limits { states_max: Some(2), ..Limits::default() };
    let wanted = ExecutionsRequest { limits, ..BY_NUMBERS.request(Relation::Learned, true) };
    assert!(matches!(order_of_statements(&loaded, limits, &Cancel::new()), Err(NotLearnt::Unknown(_))));
    let report = executions(&loaded, &wanted, &Cancel::new(), &|| Duration::ZERO).expect("counted").report;
    assert_eq!((report.independence, report.order), ("accords", None));
    assert!(report.not_learnt.is_some());
}
