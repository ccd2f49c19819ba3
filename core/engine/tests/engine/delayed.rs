//! Searches in the order of delays and of depth, from the text to the report.

#![expect(clippy::disallowed_methods, reason = "a test reads the corpus")]

use fabius_base::Cancel;
use fabius_engine::settings::{
    DelayMode, Delaying, DepthBounding, OwnScheduler, SampleKind, SchedulerBase, SchedulerChoice, ThreadCount,
};
use fabius_engine::{CheckContext, Cycles, Event, Outcome, Settings, Verdict, check, load};
use fabius_testkit::corpus::Corpus;
use std::sync::Arc;
use std::time::Duration;

/// Models with more states take too long without optimisation.
const STATES_MAX: u64 = 2000;

/// Two workers look whether a lock is free, and take it in a second step.
const RACE: &str = "byte inside; bool locked;
active [2] proctype Worker() {
  !locked;
  locked = true;
  inside++;
  assert(inside == 1);
  inside--;
  locked = false
}";

/// The same with a stretch from looking to taking that nobody interrupts.
const SEALED: &str = "byte inside; bool locked;
active [2] proctype Worker() {
  /*@ seal rr */ !locked;
  locked = true /*@ unseal */;
  inside++;
  assert(inside == 1);
  inside--;
  locked = false
}";

/// One process works for ever without progress, if it is left alone for ever.
const LAZY: &str = "byte x;
active proctype Worker() { do :: x = 1 - x od }
active proctype Boss() { do :: skip; progress: x = 0 od }";

fn run(text: &str, settings: &Settings) -> (Outcome, Vec<Event>) {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings);
    let mut events = Vec::new();
    let mut observe = |event| events.push(event);
    let (cancel, now) = (Cancel::new(), || Duration::ZERO);
    let outcome = check(
        &loaded,
        settings,
        &mut CheckContext { cancel: &cancel, now: &now, observe: &mut observe, controls: None },
    );
    assert_eq!(outcome.failure, None);
    (outcome, events)
}

fn delaying(scheduler: SchedulerChoice, mode: DelayMode, delays_max: Option<u32>) -> Settings {
    let properties = vec!["safety".to_owned()];
    let seeded = mode == DelayMode::Sample || scheduler == SchedulerChoice::Random;
    let seed = seeded.then_some(7);
    let delaying = Delaying { scheduler, mode, delays_max, seed, ..Delaying::default() };
    Settings { delaying: Some(delaying), properties, ..Settings::default() }
}

/// A scheduler that a project defines.
fn own(base: &str, order: &[&str]) -> SchedulerChoice {
    let (name, base) = ("mine".to_owned(), base.parse().expect("a base"));
    let order = order.iter().map(|&name| name.to_owned()).collect();
    SchedulerChoice::Own(Arc::new(OwnScheduler { name, base, order, seed: Some(3) }))
}

/// Two that count; who is first is for the scheduler to say.
const FIRST: &str = "byte first;
active proctype Old() { if :: first == 0 -> first = 1 :: else fi }
active proctype Young() { if :: first == 0 -> first = 2; assert(false) :: else fi }";

#[test]
fn the_order_of_a_scheduler_decides_who_is_first() {
    for base in ["rtc", "rr", "random", "priority"] {
        for (order, delays) in [(["Young", "Old"], 0), (["Old", "Young"], 1)] {
            let (outcome, _) = run(FIRST, &delaying(own(base, &order), DelayMode::Exact, None));
            let property = &outcome.report.properties[0];
            assert_eq!(property.verdict, Verdict::Violated);
            let told = property.violations[0].delays.as_ref().map(Vec::len);
            assert_eq!(told, Some(delays), "{base}, {order:?}: {}", property.reason);
            assert!(property.reason.contains("under `mine`"), "{}", property.reason);
        }
    }
    let (outcome, _) = run(FIRST, &delaying(own("rr", &["Yuong"]), DelayMode::Fast, None));
    let finding = &outcome.report.findings[0];
    assert_eq!((finding.code, finding.message.contains("`Yuong`")), ("F0504", true));
}

#[test]
fn a_scheduler_that_is_not_there_says_what_is() {
    let lazy = OwnScheduler { name: "lazy".to_owned(), base: SchedulerBase::RoundRobin, order: Vec::new(), seed: None };
    assert!(matches!(SchedulerChoice::named("lazy", std::slice::from_ref(&lazy)), Ok(SchedulerChoice::Own(_))));
    assert_eq!(SchedulerChoice::named("rr", std::slice::from_ref(&lazy)), Ok(SchedulerChoice::RoundRobin));
    let why = SchedulerChoice::named("lzay", &[lazy]).expect_err("none");
    for part in ["`lzay`", "rtc", "priority:TYPE", "defines lazy", "[schedulers.lzay]", "base = ", "order = "] {
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn laps_pass_on_where_round_robin_lets_a_process_spin() {
    let spinning = "byte x; byte rounds;
        active proctype Spinner() { do :: x = 1 - x od }
        active proctype Counter() { do :: rounds < 3 -> rounds++ :: else -> assert(false) od }";
    for mode in [DelayMode::Fast, DelayMode::Exact] {
        let verdict = |scheduler| {
            let settings = Settings { clarify_transitions_max: 0, ..delaying(scheduler, mode, Some(0)) };
            run(spinning, &settings).0.report.properties.remove(0)
        };
        let found = verdict(SchedulerChoice::Laps);
        assert_eq!((found.verdict, found.violations[0].delays.as_ref().map(Vec::len)), (Verdict::Violated, Some(0)));
        assert!(found.reason.contains("under round-robin with laps"), "{}", found.reason);
        let found = verdict(SchedulerChoice::RoundRobin);
        assert_eq!(found.verdict, Verdict::Undecided, "{}", found.reason);
    }
}

fn schedulers() -> Vec<SchedulerChoice> {
    vec![
        SchedulerChoice::Auto,
        SchedulerChoice::RunToCompletion,
        SchedulerChoice::RoundRobin,
        SchedulerChoice::Laps,
        SchedulerChoice::Random,
        SchedulerChoice::Priority(Vec::new()),
        SchedulerChoice::Priority(vec!["Worker".to_owned()]),
        own("rtc", &["Boss", "Worker"]),
        own("rr", &["Boss"]),
        own("laps", &["Boss"]),
        own("random", &["Worker"]),
        own("priority", &[]),
    ]
}

#[test]
fn a_violation_tells_its_delays() {
    for scheduler in schedulers() {
        for mode in [DelayMode::Fast, DelayMode::Exact] {
            let (outcome, events) = run(RACE, &delaying(scheduler.clone(), mode, None));
            let property = &outcome.report.properties[0];
            let context = format!("{scheduler:?}, {mode:?}: {}", property.reason);
            assert_eq!(property.verdict, Verdict::Violated, "{context}");
            let violation = &property.violations[0];
            let delays = violation.delays.as_ref().expect("delays");
            assert_eq!(violation.fewest_delays, Some(true), "{context}");
            assert!(delays.len() <= 2, "{context}");
            assert!(property.reason.contains(&format!("{} delay", delays.len())), "{context}");
            // Each delay is told in the trace, too, where the process stands.
            let marked: Vec<(usize, u8, u32)> = violation
                .trace
                .iter()
                .flat_map(|step| step.held_back.iter().map(move |held| (step.step, held.pid, held.line)))
                .collect();
            let told: Vec<_> = delays.iter().map(|delay| (delay.step as usize, delay.pid, delay.line)).collect();
            assert_eq!(marked, told, "{context}");
            for delay in delays {
                let step = &violation.trace[delay.step as usize - 1];
                assert_ne!(step.pid, delay.pid, "who is held back does not move: {context}");
                assert_eq!(delay.process, "Worker");
                assert!((3..=8).contains(&delay.line), "{context}");
            }
            assert!(events.iter().any(|event| matches!(event, Event::Round { .. })) || delays.is_empty(), "{context}");
        }
    }
}

#[test]
fn the_verdict_claims_no_more_than_was_searched() {
    let safe = RACE.replace("assert(inside == 1);", "");
    let sentence = |mode, delays_max| {
        let (outcome, _) = run(&safe, &delaying(SchedulerChoice::RoundRobin, mode, delays_max));
        let property = &outcome.report.properties[0];
        (property.verdict, property.reason.clone())
    };
    let (verdict, reason) = sentence(DelayMode::Fast, None);
    assert_eq!(verdict, Verdict::Holds);
    assert!(reason.starts_with("safe under every schedule"), "{reason}");
    let (verdict, reason) = sentence(DelayMode::Fast, Some(1));
    assert_eq!(verdict, Verdict::Undecided);
    assert!(reason.starts_with("no error found up to 1 delay under round-robin (searched"), "{reason}");
    let (verdict, reason) = sentence(DelayMode::Exact, Some(1));
    assert_eq!(verdict, Verdict::Undecided);
    assert!(reason.starts_with("safe with at most 1 delay under round-robin"), "{reason}");
    let (verdict, reason) = sentence(DelayMode::Sample, Some(2));
    assert_eq!(verdict, Verdict::Undecided);
    assert!(
        reason.starts_with("no error found in 1 000 runs with 2 delays each under round-robin (seed 7)"),
        "{reason}"
    );
}

#[test]
fn samples_find_the_race_and_repeat() {
    for kind in [SampleKind::Delays, SampleKind::Walk, SampleKind::Pct, SampleKind::Pos, SampleKind::Surw] {
        let scheduler =
            if kind == SampleKind::Delays { SchedulerChoice::RunToCompletion } else { SchedulerChoice::Auto };
        let mut settings = delaying(scheduler, DelayMode::Sample, None);
        settings.delaying.iter_mut().for_each(|delaying| delaying.sampler = Some(kind));
        let (first, _) = run(RACE, &settings);
        let (second, _) = run(RACE, &settings);
        assert_eq!(first.report.verdict, Verdict::Violated, "{kind:?}");
        assert_eq!(first.counterexamples[0].path, second.counterexamples[0].path, "{kind:?}");
        let delays = &first.report.properties[0].violations[0].delays;
        assert_eq!(delays.is_some(), kind == SampleKind::Delays, "{kind:?}");
    }
}

#[test]
fn a_seal_forbids_the_delay_that_makes_the_race() {
    for mode in [DelayMode::Fast, DelayMode::Exact] {
        let (outcome, _) = run(SEALED, &delaying(SchedulerChoice::RoundRobin, mode, Some(5)));
        assert_ne!(outcome.report.verdict, Verdict::Violated, "{}", outcome.report.reason);
    }
    let (outcome, _) = run(SEALED, &delaying(SchedulerChoice::RoundRobin, DelayMode::Fast, None));
    let reason = &outcome.report.reason;
    assert!(reason.starts_with("safe under every schedule that keeps to the seals: "), "{reason}");
    // Nobody else pays heed to the comment.
    let (outcome, _) = run(SEALED, &Settings::default());
    assert_eq!(outcome.report.verdict, Verdict::Violated);
    let (outcome, _) = run("/*@ seal */ active proctype P() { skip }", &Settings::default());
    assert_eq!(outcome.report.findings[0].code, "F0113");
}

#[test]
fn seals_that_meet_are_told_with_both_places() {
    let text = "chan c = [0] of { byte };
active proctype First() {
  /*@ seal rtc */ c!1;
  c!2 /*@ unseal */
}
active proctype Second() {
  c?_;
  /*@ seal rr */ skip;
  c?_ /*@ unseal */
}";
    for mode in [DelayMode::Fast, DelayMode::Exact, DelayMode::Sample] {
        let settings = Settings { optimize: false, ..delaying(SchedulerChoice::RoundRobin, mode, Some(3)) };
        let (outcome, _) = run(text, &settings);
        let finding = outcome.report.findings.iter().find(|finding| finding.code == "F0505").expect("they meet");
        assert!(finding.message.contains("Second[1] stands inside a stretch sealed by `rr`"), "{}", finding.message);
        assert!(finding.message.contains("First[0] stands inside one sealed by `rtc`"), "{}", finding.message);
        // Sealed in the same way they may meet.
        let (outcome, _) = run(&text.replace("seal rr", "seal rtc"), &settings);
        assert!(outcome.report.findings.iter().all(|finding| finding.code != "F0505"));
    }
}

#[test]
fn a_loop_says_what_it_costs() {
    for cycles in [Cycles::Map, Cycles::IterativeNestedDfs, Cycles::Components] {
        let settings = Settings {
            properties: vec!["progress".to_owned()],
            cycles,
            ..delaying(SchedulerChoice::RoundRobin, DelayMode::Fast, None)
        };
        let settings = Settings { properties: vec!["progress".to_owned()], ..settings };
        let (outcome, _) = run(LAZY, &settings);
        let property = &outcome.report.properties[0];
        assert_eq!(property.verdict, Verdict::Violated, "{cycles:?}: {}", property.reason);
        assert!(
            property.reason.contains("found without a delay under round-robin; the loop goes on without any"),
            "{}",
            property.reason
        );
    }
}

#[test]
fn depth_bounds_are_steps_and_the_verdict_says_so() {
    let depth = |increment, cut_off| Settings {
        depth_bounding: Some(DepthBounding { increment, cut_off }),
        properties: vec!["safety".to_owned()],
        ..Settings::default()
    };
    assert_eq!(run(RACE, &depth(1, None)).0.report.verdict, Verdict::Violated);
    let (outcome, _) = run(RACE, &depth(2, Some(3)));
    assert_eq!(outcome.report.verdict, Verdict::Undecided);
    assert!(outcome.report.reason.starts_with("safe within 3 steps (searched"), "{}", outcome.report.reason);
    let (outcome, _) = run(&RACE.replace("assert(inside == 1);", ""), &depth(3, None));
    assert_eq!(outcome.report.verdict, Verdict::Holds);
}

/// What a model says under a bound on choices, without a bound on delays.
fn with_choices(text: &str, mode: DelayMode, choices_max: u32) -> (Verdict, String) {
    let settings = delaying(SchedulerChoice::RoundRobin, mode, None);
    let delaying = settings.delaying.clone().map(|delaying| Delaying { choices_max: Some(choices_max), ..delaying });
    let (outcome, _) = run(text, &Settings { delaying, optimize: false, ..settings });
    (outcome.report.verdict, outcome.report.properties[0].reason.clone())
}

#[test]
fn the_first_enabled_option_is_free_and_others_cost() {
    let option = |wrong: usize| {
        let test = |option| if option == wrong { "assert(false)" } else { "skip" };
        format!(
            "byte x; active proctype P() {{ if :: x == 1 -> assert(false) :: true; {} :: true; {} :: true; {} fi }}",
            test(1),
            test(2),
            test(3)
        )
    };
    for mode in [DelayMode::Fast, DelayMode::Exact] {
        for (wrong, needed) in [(1, 0), (2, 1), (3, 1)] {
            for choices in 0..=2 {
                let (verdict, reason) = with_choices(&option(wrong), mode, choices);
                let violated = needed <= choices;
                assert_eq!(verdict == Verdict::Violated, violated, "{mode:?}, {wrong}, {choices}: {reason}");
                if !violated {
                    assert_eq!(verdict, Verdict::Undecided, "{reason}");
                    assert!(!reason.contains("every schedule"), "{reason}");
                    assert!(reason.contains("0 choices"), "{reason}");
                }
            }
        }
        let (verdict, reason) = with_choices(&option(9), mode, 1);
        assert_eq!(verdict, Verdict::Holds, "{reason}");
        assert!(reason.starts_with("safe under every schedule"), "{reason}");
        let (verdict, reason) = with_choices(&option(9), mode, 0);
        assert_eq!(verdict, Verdict::Undecided, "{reason}");
    }
}

/// A sender meets the youngest receiver that is ready, by itself.
#[test]
fn the_youngest_partner_is_free() {
    for (wrong, needed) in [(1, 1), (2, 0)] {
        let text = format!(
            "chan c = [0] of {{ byte }};
active proctype Sender() {{ c!1 }}
active [2] proctype Receiver() {{ end: c?_; assert(_pid != {wrong}) }}"
        );
        for choices in 0..=1 {
            let (verdict, reason) = with_choices(&text, DelayMode::Exact, choices);
            assert_eq!(verdict == Verdict::Violated, needed <= choices, "{wrong}, {choices}: {reason}");
        }
    }
}

#[test]
fn several_threads_look_for_loops_under_every_scheduler() {
    for scheduler in schedulers() {
        for threads in [1, 2, 3] {
            let settings = Settings {
                properties: vec!["progress".to_owned()],
                threads: ThreadCount::Exactly(threads),
                ..delaying(scheduler.clone(), DelayMode::Fast, None)
            };
            let (outcome, _) = run(LAZY, &settings);
            let property = &outcome.report.properties[0];
            assert_eq!(property.verdict, Verdict::Violated, "{scheduler:?}, {threads}: {}", property.reason);
            assert_eq!(property.search, "map");
            let busy = LAZY.replace("x = 1 - x", "progress0: x = 1 - x").replace(":: skip", ":: progress1: skip");
            let (outcome, _) = run(&busy, &settings);
            assert_eq!(outcome.report.verdict, Verdict::Holds, "{scheduler:?}, {threads}: {}", outcome.report.reason);
        }
    }
}

#[test]
fn endless_runs_within_a_depth() {
    let depth = |cut_off, property: &str| Settings {
        depth_bounding: Some(DepthBounding { increment: 1, cut_off }),
        properties: vec![property.to_owned()],
        ..Settings::default()
    };
    // The loop begins after seven steps; its states lie within nine.
    let text = "byte x;
active proctype P() {
  do :: x < 7 -> progress: x++ :: else -> break od;
accept: do :: x = 8 :: x = 9 od
}
ltl stays { [] (x < 8) }
ltl small { [] (x < 10) }";
    for property in ["progress", "acceptance", "stays"] {
        let (outcome, _) = run(text, &depth(Some(3), property));
        let reason = &outcome.report.properties[0].reason;
        if property == "progress" {
            assert_eq!(outcome.report.verdict, Verdict::Undecided, "{reason}");
            assert!(
                reason.starts_with("no run goes on for ever without progress and stays within 3 steps"),
                "{reason}"
            );
        }
        let (outcome, _) = run(text, &depth(None, property));
        let reason = &outcome.report.properties[0].reason;
        assert_eq!(outcome.report.verdict, Verdict::Violated, "{property}: {reason}");
        assert!(reason.contains("stays within"), "{reason}");
    }
    let (outcome, _) = run(text, &depth(None, "small"));
    assert_eq!(outcome.report.verdict, Verdict::Holds, "{}", outcome.report.reason);
    let (outcome, _) = run(text, &depth(Some(4), "small"));
    assert_eq!(outcome.report.verdict, Verdict::Undecided, "{}", outcome.report.reason);
    assert_eq!(outcome.report.properties[0].search, "depth-bounded-scc");
}

/// On real models: once nothing is left, as many states are stored as Spin stores.
#[test]
fn what_is_left_in_the_end_is_what_spin_knows() {
    let Some(corpus) = Corpus::load() else { return };
    let mut compared = 0;
    for entry in &corpus.entries {
        let Some(spin) = entry.run("base").filter(|run| run.complete && run.stored < STATES_MAX) else { continue };
        let Ok(text) = std::fs::read_to_string(corpus.file(entry)) else { continue };
        let scheduler = schedulers()[compared % 9].clone();
        let depth = Settings {
            depth_bounding: Some(DepthBounding { increment: 7, cut_off: None }),
            properties: vec!["safety".to_owned()],
            ..Settings::default()
        };
        for settings in [delaying(scheduler.clone(), DelayMode::Fast, None), depth] {
            let settings = Settings { optimize: false, keep_going: true, ..settings };
            let (outcome, _) = run(&text, &settings);
            let stored = outcome.report.properties.first().filter(|property| property.stopped.is_none());
            let Some(stored) = stored.map(|property| property.states) else { continue };
            // Where a run-time error ends Spin's search, it has seen less.
            if spin.errors == 0 {
                assert_eq!(stored, spin.stored, "{}, {scheduler:?}", entry.path);
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "only {compared} models");
}
