//! Under which scheduling random models are safe: the answer fits the verdict of a check, and each schedule that is found
//! passes the search of the model under it.
//!
//! `FABIUS_MODELS=n` says how many models, `FABIUS_SEED=n` where to begin.

use fabius_analysis::schedule::{
    By, SafeSchedule, ScheduleRequest, ScheduleVerdict, Scheduled, Stops, WhileReport, schedule,
};
use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, ExplorationTarget, Settings, Verdict, check, load};
use fabius_testkit::corpus::Corpus;
use fabius_testkit::generate;
use fabius_testkit::spin::{Answer, Question, Spin};
use fabius_witness::{Ending, State, ending, moves, settled};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// How many models are looked at unless someone asks for more.
const MODELS: u64 = 100;
/// How many random models that wait by themselves are checked by Spin.
const WRITTEN: u64 = 8;
/// States of a model that is looked at.
const STATES_MAX: u64 = 3_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn the_answer_fits_the_verdict() {
    let first = number("FABIUS_SEED", 1);
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + number("FABIUS_MODELS", MODELS) {
        let text = generate::model(seed).text();
        let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
        let settings =
            Settings { limits, optimize: false, properties: vec!["safety".to_owned()], ..Settings::default() };
        let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &settings);
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let checked = check(&loaded, &settings, &mut context);
        let request = ScheduleRequest {
            states_max: STATES_MAX,
            work_max: 200_000,
            // Each section is taken in other orders before it is told.
            sections: true,
            values: seed % 2 == 0,
            ..ScheduleRequest::default()
        };
        let scheduled = schedule(&loaded, &request, &Stops::all(&cancel), &mut |_| {});
        assert_eq!(scheduled.failure, None, "seed {seed}:\n{text}");
        let verdict = scheduled.report.verdict;
        let fits = match (checked.report.verdict, verdict) {
            (_, ScheduleVerdict::Unknown | ScheduleVerdict::SafeIfScheduled) => true,
            (Verdict::Holds, answer) => answer == ScheduleVerdict::Holds,
            (Verdict::Violated, answer) => answer != ScheduleVerdict::Holds,
            (Verdict::Undecided | Verdict::Faulty, _) => true,
        };
        assert!(fits, "seed {seed}: {:?} and {verdict:?}\n{text}", checked.report.verdict);
        let waits = scheduled.report.waits.len();
        *answers.entry(format!("{verdict:?} with {waits}")).or_default() += 1;
    }
    println!("{answers:?}");
    assert!(
        ["Avoidable with 1", "Unavoidable with 0", "Holds with 0"].iter().all(|answer| answers.contains_key(*answer))
    );
}

/// Models that can go wrong, each with another thing to write: expressions, choices with `else`, channels, `inline`, macros,
/// `d_step`, jumps, processes that are created, statements that end where a line does.
const WRITABLE: [&str; 9] = [
    include_str!("../../models/philosophers.pml"),
    include_str!("../../models/lost_wakeup.pml"),
    include_str!("../../models/peterson_broken.pml"),
    "byte x; bool busy;
proctype P() { do :: busy -> skip :: else -> x++; assert(x == 1); x--; break od }
init { atomic { run P(); run P() } }",
    "#define IDLE (x == 0)
chan c = [2] of { mtype, byte }; mtype = { one, two }; byte x;
active [2] proctype P() { byte y; if :: IDLE -> c ! one, 1; c ? one, y; d_step { x = x + y; y = 0 }; assert(x == 1); x-- fi }",
    "#define ROOM 1
byte count; bool lock;
active [2] proctype Producer() { do :: count < ROOM; atomic { !lock -> lock = true }; assert(count < ROOM); count++; lock = false od }
active [2] proctype Consumer() { do :: count > 0; atomic { !lock -> lock = true }; assert(ROOM - 1 < count); count--; lock = false od }",
    "byte x; inline enter() { x++; assert(x == 1) }
active proctype P() { L: enter(); goto M; skip; M: x--; goto L }
active proctype Q() { do :: atomic { x < 9 -> x++ }; assert(x == 1); x-- od }",
    "byte fork[3];
proctype P(byte i) { end: do :: fork[i] == 0 -> fork[i] = 1; if :: i == 2 -> fork[0] == 0; fork[0] = 1; fork[0] = 0
   :: else -> fork[i + 1] == 0; fork[i + 1] = 1; fork[i + 1] = 0 fi; fork[i] = 0 od }
init { atomic { run P(0); run P(1); run P(2) } }",
    "bool one, two
active proctype P() {
  do
  :: one = true
     (!two) // and only then
     enter: skip
     one = false
  od
}
active proctype Q() {
  do
  :: two = true
     (!one) /* and only
     then */
     enter: skip
     two = false
  od
}",
];

/// Models that a wait for the values of a variable or channel mends, and its condition: numbers, truth values, names, elements of
/// arrays, fields of structures, channels.
const WRITABLE_WITH_VALUES: [(&str, &str); 7] = [
    ("byte count;
active [2] proctype Producer() { do :: true -> count++; assert(count <= 2) od }
active proctype Consumer() { do :: atomic { count > 0 -> count-- } od }", "count > 2"),
    ("chan q = [3] of { byte };
active [2] proctype Sender() { do :: assert(len(q) < 2); q ! 1 od }
active proctype Receiver() { byte x; do :: q ? x od }", "len(q) > 1"),
    ("chan q = [2] of { byte };
active proctype Sender() { do :: assert(nfull(q)); q ! 1 od }
active proctype Receiver() { byte x; do :: q ? x od }", "full(q)"),
    ("bool on;
active proctype User() { do :: assert(on) od }
active proctype Switch() { do :: on = !on od }", "!on"),
    ("mtype = { red, amber, green }; mtype light = red;
active proctype Car() { do :: assert(light != amber) od }
active proctype Light() { do :: light == red -> light = green :: light == green -> light = amber :: light == amber -> light = red od }",
     "light == amber"),
    ("byte cell[3]; byte at;
active proctype Reader() { do :: assert(cell[1] < 2) od }
active proctype Writer() { do :: cell[at] = (cell[at] + 1) % 4; at = (at + 1) % 3 od }", "cell[1] > 1"),
    ("typedef pair { byte low; byte high }; pair p; byte clock;
active proctype Reader() { do :: clock == 0 -> assert(p.high < 2); clock = 1 :: clock == 1 -> clock = 0 od }
active proctype Writer() { do :: p.high = (p.high + 1) % 4 od }", "p.high > 1"),
];

/// The number of states of a program in which only those steps are taken that a schedule allows, by the reference interpreter; every
/// step has to be right, and somebody able to move until a run may end.
fn states_under(schedule: &SafeSchedule, target: &ExplorationTarget) -> Result<u64, String> {
    let program = &target.program;
    let initial = State::watching(program, target.watch).map_err(|fault| fault.to_string())?;
    let (mut seen, mut open, mut ordinary) = (HashSet::from([initial.clone()]), vec![initial], 0);
    while let Some(state) = open.pop() {
        ordinary += u64::from(state.holder.is_none());
        let here = settled(program, &state);
        if here != state {
            open.extend(seen.insert(here.clone()).then_some(here));
            continue;
        }
        let steps = moves(program, &state).successors;
        let possible: Vec<_> = steps.iter().map(|(step, _)| *step).collect();
        let is_allowed = |step: &_| schedule.forbids(&state, &possible, step).is_none();
        let mut allowed = steps.iter().filter(|(step, _)| is_allowed(step)).peekable();
        if allowed.peek().is_none() && ending(program, &state) != Ending::Valid {
            return Err(format!("nobody may move in {state:?}"));
        }
        for (step, outcome) in allowed {
            let next = outcome.state().filter(|_| outcome.fault().is_none());
            let next = next.ok_or_else(|| format!("{step:?} goes wrong in {state:?}"))?;
            open.extend(seen.insert(next.clone()).then(|| next.clone()));
        }
    }
    Ok(ordinary)
}

/// Which kind of schedule was found in a model, if one was; whoever follows it on a walk meets as many states as the check of it did.
fn kind_of_walk(text: &str, request: &ScheduleRequest) -> Option<&'static str> {
    let settings = Settings { optimize: false, ..Settings::default() };
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
    let target = ExplorationTarget::of(&loaded, None, &settings).ok()?;
    let request = ScheduleRequest { walk: true, ..request.clone() };
    let Scheduled { report, safe_schedule, failure, .. } =
        schedule(&loaded, &request, &Stops::all(&Cancel::new()), &mut |_| {});
    assert_eq!(failure, None, "{text}");
    let (safe, checked) = (safe_schedule?, report.checked?);
    assert!(safe.fits(&target.program), "{text}");
    let states = states_under(&safe, &target);
    assert_eq!(states, Ok(checked.states), "{}\n{text}", report.reason);
    Some(match () {
        () if !report.waits.is_empty() => "waits",
        () if !report.priorities.is_empty() => "order",
        () => "whole states",
    })
}

#[test]
fn whoever_follows_a_schedule_meets_what_the_check_of_it_did() {
    let brief = ScheduleRequest { states_max: STATES_MAX, work_max: 100_000, ..ScheduleRequest::default() };
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let first = number("FABIUS_SEED", 1);
    let random = (first..first + number("FABIUS_MODELS", MODELS)).map(|seed| generate::model(seed).text());
    let own = WRITABLE.into_iter().chain(WRITABLE_WITH_VALUES.iter().map(|(text, _)| *text)).map(str::to_owned);
    for text in own.chain(random) {
        for request in [
            brief.clone(),
            ScheduleRequest { waits_max: 0, ..brief.clone() },
            ScheduleRequest { by: Some(By::Process), ..brief.clone() },
            ScheduleRequest { values: true, ..brief.clone() },
        ] {
            kind_of_walk(&text, &request).into_iter().for_each(|kind| *kinds.entry(kind).or_default() += 1);
        }
    }
    println!("{kinds:?}");
    assert!(["waits", "order", "whole states"].iter().all(|kind| kinds.contains_key(kind)), "{kinds:?}");
}

/// The model that waits by itself, where that was found; the number of its states, and whether it waits for values.
fn waiting(text: &str, by: Option<By>, values: bool) -> Result<(String, u64, bool), String> {
    let settings = Settings { optimize: false, ..Settings::default() };
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
    let _ = loaded.checkable().ok_or("it is faulty")?;
    let request = ScheduleRequest {
        by,
        values,
        export: true,
        states_max: STATES_MAX,
        work_max: 100_000,
        ..ScheduleRequest::default()
    };
    let scheduled = schedule(&loaded, &request, &Stops::all(&Cancel::new()), &mut |_| {});
    assert_eq!(scheduled.failure, None, "{text}");
    let export = scheduled.export.unwrap_or_else(|| Err(format!("no waits: {}", scheduled.report.reason)))?;
    let others = scheduled.report.alternatives.iter().flat_map(|other| &other.waits);
    let of_values = scheduled
        .report
        .waits
        .iter()
        .chain(others)
        .any(|wait| matches!(wait.while_, WhileReport::Value(_)) && export.waits.contains(&wait.text));
    Ok((export.text, export.states, of_values))
}

/// Asks Spin about models that wait by themselves; it has to find no error, and as many states.
fn of_spin(spin: &Spin, text: &str, states: u64) {
    match spin.ask(text, Question::ALL_STATES) {
        Answer::Run(run) => assert_eq!((run.complete, run.errors, run.stored), (true, 0, states), "{text}"),
        other => panic!("{other:?}\n{text}"),
    }
}

/// The same for random models, until as many were written as are wanted.
fn random_models_of_spin(spin: &Spin, values: bool, wanted: u64) {
    let mut written = 0;
    for seed in number("FABIUS_SEED", 1).. {
        let text = generate::model(seed).text();
        let by = if seed % 2 == 0 { By::Type } else { By::Process };
        let Ok((waits, states, of_values)) = waiting(&text, Some(by), values) else { continue };
        if values && !of_values {
            continue;
        }
        // Its verifier refuses some random models, whoever waits.
        if matches!(spin.ask(&text, Question::ALL_STATES), Answer::Run(run) if run.complete) {
            of_spin(spin, &waits, states);
            written += 1;
        }
        if written == wanted {
            break;
        }
    }
}

#[test]
fn spin_finds_as_many_states_and_no_error_in_a_model_that_waits_by_itself() {
    let Some(spin) = Spin::find() else { return };
    for text in WRITABLE {
        let (waits, states, _) = waiting(text, None, false).unwrap_or_else(|why| panic!("{why}\n{text}"));
        of_spin(&spin, &waits, states);
    }
    random_models_of_spin(&spin, false, number("FABIUS_MODELS", WRITTEN));
}

#[test]
fn spin_finds_as_many_states_and_no_error_in_a_model_that_waits_for_values() {
    for (text, condition) in WRITABLE_WITH_VALUES {
        let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
        let request = ScheduleRequest { values: true, ..ScheduleRequest::default() };
        let report = schedule(&loaded, &request, &Stops::all(&Cancel::new()), &mut |_| {}).report;
        let all = report.waits.iter().chain(report.alternatives.iter().flat_map(|other| &other.waits));
        let conditions: Vec<&str> = all
            .filter_map(|wait| match &wait.while_ {
                WhileReport::Value(value) => Some(value.condition.as_str()),
                WhileReport::Stretch(_) => None,
            })
            .collect();
        assert!(conditions.contains(&condition), "{conditions:?}\n{text}");
    }
    let Some(spin) = Spin::find() else { return };
    for (text, _) in WRITABLE_WITH_VALUES {
        let (waits, states, of_values) = waiting(text, None, true).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert!(of_values, "{waits}");
        of_spin(&spin, &waits, states);
    }
    random_models_of_spin(&spin, true, number("FABIUS_MODELS", WRITTEN));
}

/// States of a model of the corpus that is written with waits.
const CORPUS_STATES_MAX: u64 = 5_000;

#[test]
fn spin_finds_as_many_states_and_no_error_in_models_of_others_that_wait_by_themselves() {
    let (Some(spin), Some(corpus)) = (Spin::find(), Corpus::load()) else { return };
    let (mut written, mut refused): (u64, BTreeMap<String, u64>) = (0, BTreeMap::new());
    for entry in &corpus.entries {
        let is_small = |states: u64| states <= CORPUS_STATES_MAX;
        if !entry.run("base").is_some_and(|run| run.complete && run.errors != 0 && is_small(run.stored)) {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(corpus.file(entry)).expect("a model")).into_owned();
        for (by, values) in [(None, false), (Some(By::Process), false), (None, true)] {
            match waiting(&text, by, values) {
                Ok((waits, states, _)) => {
                    println!("{}: {by:?} {values}", entry.path);
                    of_spin(&spin, &waits, states);
                    written += 1;
                }
                Err(why) => *refused.entry(format!("{}: {why}", entry.path)).or_default() += 1,
            }
        }
    }
    println!("{written} written; {refused:#?}");
    assert!(10 < written, "{written}");
}

/// The models of the experiments, and what is said of each: waits, states that they keep, states of the model.
fn experiments() -> Vec<(String, [u64; 3])> {
    let text = include_str!("../../docs/experiments/schedules.md");
    let said = |line: &str| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        <[u64; 3]>::try_from(numbers).expect("three numbers")
    };
    let blocks =
        text.split("```promela\n").skip(1).map(|rest| rest.split_once("```\n<!-- remade: ").expect("a remark"));
    blocks.map(|(model, rest)| (model.to_owned(), said(rest.lines().next().unwrap_or("")))).collect()
}

#[test]
fn the_experiments_come_out_as_they_are_told() {
    let experiments = experiments();
    assert!(5 <= experiments.len());
    for (text, said) in experiments {
        let settings = Settings { optimize: false, ..Settings::default() };
        let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &settings);
        let request = ScheduleRequest { export: true, ..ScheduleRequest::default() };
        let scheduled = schedule(&loaded, &request, &Stops::all(&Cancel::new()), &mut |_| {});
        let kept = scheduled.report.kept.expect("there is a schedule");
        let found = [scheduled.report.waits.len() as u64, kept.states, kept.of.expect("everything is explored")];
        assert_eq!(found, said, "{text}");
        let export = scheduled.export.expect("there are waits").expect("they can be written");
        assert_eq!(export.states, kept.states, "{text}");
    }
}

#[test]
fn the_sections_of_the_experiments_come_out_as_they_are_told() {
    let text = include_str!("../../docs/experiments/schedules.md");
    let models =
        text.split("~~~promela\n").skip(1).map(|rest| rest.split_once("~~~\n<!-- sections: ").expect("a remark"));
    let mut count = 0;
    for (model, rest) in models {
        count += 1;
        let loaded = load("m.pml", model.to_owned(), &[], &mut |_, _| None, &Settings::default());
        let size = |unroll: usize, without_locks: bool| {
            let request = ScheduleRequest { sections: true, unroll, without_locks, ..ScheduleRequest::default() };
            let scheduled = schedule(&loaded, &request, &Stops::all(&Cancel::new()), &mut |_| {});
            assert_eq!(scheduled.failure, None);
            let section = scheduled.report.sections.last().expect("a section");
            format!("{} of {}", section.longest_chain, section.events.len())
        };
        let found = [false, true].map(|without| [1, 8].map(|unroll| size(unroll, without)).join(", ")).join("; ");
        assert_eq!(Some(found.as_str()), rest.split(" -->").next(), "{model}");
        for size in found.split([',', ';']).map(str::trim) {
            let (chain, steps) = size.split_once(" of ").expect("two numbers");
            let fits = |line: &str| line.contains(&format!(" {steps} |")) && line.ends_with(&format!(" {chain} |"));
            assert!(text.lines().any(fits), "no row for {size}");
        }
    }
    assert_eq!(count, 2);
}
