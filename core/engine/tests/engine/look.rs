//! Looks at searches while they run: what they show is what they do.

use fabius_base::Cancel;
use fabius_engine::settings::{DelayMode, Delaying, DepthBounding, Pauses, ThreadCount};
use fabius_engine::{CheckContext, Controls, Cycles, Event, Fairness, Look, Order, Outcome, Settings, check, load};
use fabius_program::CLAIM_PID;
use fabius_witness::states_along;
use std::time::Duration;

/// Three counters that count for a while; somebody makes progress now and then.
const COUNTERS: &str = "\
byte a, b, c;
active proctype A() { do :: a < 40 -> a++ :: else -> break od }
active proctype B() { do :: b < 40 -> b++ :: b == 7 -> skip; progress: b++ :: else -> break od }
active proctype C() { do :: c < 3 -> progress_again: c = (c + 1) % 3 :: a == 40 && b == 40 -> break od }
";

struct Seen {
    outcome: Outcome,
    looks: Vec<Look>,
    rejected: Vec<String>,
}

/// Checks while somebody asks for a look all the time.
fn watch(text: &str, settings: &Settings, whole: bool) -> Seen {
    let loaded = load("model.pml", text.to_owned(), &[], &mut |_, _| None, settings);
    let controls = Controls::new();
    let (mut looks, mut rejected) = (Vec::new(), Vec::new());
    controls.ask(whole);
    let mut observe = |event: Event| match event {
        Event::Look { look, .. } => {
            looks.push(look);
            controls.ask(whole);
        }
        Event::Rejected { cycle, .. } => rejected.push(cycle.reason),
        _ => {}
    };
    let cancel = Cancel::new();
    let mut context =
        CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
    let outcome = check(&loaded, settings, &mut context);
    for look in &looks {
        // A path beside a claim is no run of the system alone.
        let Some(moves) = look.moves.as_ref().filter(|moves| moves.iter().all(|step| step.pid != CLAIM_PID)) else {
            continue;
        };
        let program = loaded.program.as_ref().expect("the model is good");
        let walked = states_along(program, moves).len();
        assert_eq!(walked, moves.len() + 1, "the path shown is a run: {:?}", look.path);
    }
    assert!(!looks.is_empty(), "the search is long enough to be looked at");
    Seen { outcome, looks, rejected }
}

fn plain() -> Settings {
    Settings { reduction: false, optimize: false, properties: vec!["safety".to_owned()], ..Settings::default() }
}

#[test]
fn searches_for_safety_show_their_path() {
    let settings = [
        plain(),
        Settings { search: Order::BreadthFirst, ..plain() },
        Settings { delaying: Some(Delaying::default()), ..plain() },
        Settings {
            delaying: Some(Delaying { mode: DelayMode::Exact, delays_max: Some(3), ..Delaying::default() }),
            ..plain()
        },
        Settings { depth_bounding: Some(DepthBounding { increment: 20, cut_off: Some(120) }), ..plain() },
    ];
    for settings in settings {
        for whole in [false, true] {
            let seen = watch(COUNTERS, &settings, whole);
            assert!(seen.looks.iter().any(|look| !look.path.is_empty()), "{settings:?}: {:?}", seen.looks.first());
            if whole {
                assert!(seen.looks.iter().all(|look| look.moves.is_some()), "{settings:?}");
            }
        }
    }
}

#[test]
fn searches_for_livelocks_say_what_they_reject_and_why() {
    let progress = Settings { properties: vec!["progress".to_owned()], ..plain() };
    let seen = watch(COUNTERS, &progress, true);
    assert!(seen.looks.iter().all(|look| look.frontier.is_some() && look.moves.is_some()), "DFS-FIFO has a queue");
    assert!(seen.looks.iter().any(|look| look.rejected > 0));
    let named = |reason: &String| reason.contains("progress label `progress") && reason.contains("at line");
    assert!(seen.rejected.iter().any(named), "{:?}", seen.rejected);

    let fair = Settings { fairness: Fairness::Weak, ..progress.clone() };
    let seen = watch(COUNTERS, &fair, false);
    assert!(seen.looks.iter().all(|look| look.largest_component.is_some()));

    let delays = Settings { cycles: Cycles::Map, ..progress };
    let seen = watch(COUNTERS, &delays, false);
    assert!(seen.looks.iter().all(|look| look.partitions.is_some()));
}

#[test]
fn several_threads_show_the_path_of_one_of_them() {
    let accepting = format!("{COUNTERS}ltl ends {{ <> (a == 40 && b == 40) }}\n");
    for (text, property) in [(COUNTERS, "safety"), (COUNTERS, "progress"), (&accepting, "ends")] {
        let keep_going = property == "safety";
        let settings =
            Settings { threads: ThreadCount::Exactly(2), properties: vec![property.to_owned()], keep_going, ..plain() };
        for whole in [false, true] {
            let seen = watch(text, &settings, whole);
            assert!(seen.looks.iter().any(|look| !look.path.is_empty()), "{property}: {:?}", seen.looks.first());
            assert!(!whole || seen.looks.iter().all(|look| look.from_initial), "{property}");
        }
    }
}

#[test]
fn looking_changes_nothing() {
    let mut observe = |_| {};
    let loaded = load("model.pml", COUNTERS.to_owned(), &[], &mut |_, _| None, &plain());
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let alone = check(&loaded, &plain(), &mut context);
    let watched = watch(COUNTERS, &plain(), true);
    let figures = |outcome: &Outcome| {
        let property = &outcome.report.properties[0];
        (property.verdict, property.states, property.matched, property.depth)
    };
    assert_eq!(figures(&alone), figures(&watched.outcome));
}

#[test]
fn limits_can_be_raised_and_lowered_while_a_search_runs() {
    let controls = Controls::new();
    // The states of other searches would count, too.
    let settings = Settings { pauses: Pauses::NEVER, ..plain() };
    let mut stop = |event: Event| {
        if let Event::Progress { progress, .. } = event
            && progress.states > 5_000
        {
            controls.set_limits(fabius_base::Limits { states_max: Some(10_000), ..settings.limits });
        }
    };
    let loaded = load("model.pml", COUNTERS.to_owned(), &[], &mut |_, _| None, &settings);
    let cancel = Cancel::new();
    let mut context =
        CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut stop, controls: Some(&controls) };
    let outcome = check(&loaded, &settings, &mut context);
    assert_eq!(outcome.report.properties[0].states, 10_000);
}

#[test]
fn several_threads_may_be_allowed_more_while_they_run() {
    let states_max = Some(6_000);
    let limits = fabius_base::Limits { states_max, ..fabius_base::Limits::default() };
    let settings = Settings { threads: ThreadCount::Exactly(2), limits, ..plain() };
    let states = |raised: Option<u64>| {
        let controls = Controls::new();
        let mut raise = |event: Event| {
            if let (Event::Progress { .. }, Some(_)) = (event, raised) {
                controls.set_limits(fabius_base::Limits { states_max: raised, ..limits });
            }
        };
        let loaded = load("model.pml", COUNTERS.to_owned(), &[], &mut |_, _| None, &settings);
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut raise, controls: Some(&controls) };
        check(&loaded, &settings, &mut context).report.properties[0].states
    };
    assert_eq!(states(None), 6_000);
    assert_eq!(states(Some(9_000)), 9_000);
}

#[test]
fn a_paused_search_waits_and_can_be_cancelled() {
    let controls = Controls::new();
    let cancel = Cancel::new();
    controls.pause(true);
    let stop = cancel.clone();
    let settings = plain();
    let loaded = load("model.pml", COUNTERS.to_owned(), &[], &mut |_, _| None, &settings);
    let mut seen = 0;
    let outcome = std::thread::scope(|scope| {
        // It is told of progress once, and waits then until somebody else cancels it.
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            stop.cancel();
        });
        let mut observe = |event: Event| seen += u32::from(matches!(event, Event::Progress { .. }));
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
        check(&loaded, &settings, &mut context)
    });
    assert!(outcome.report.properties[0].reason.contains("interrupted"), "{}", outcome.report.reason);
    assert!(seen <= 2, "it went on {seen} times while paused");
}
