//! Searches that visit some states before others, as whoever watches says while they run, compared with searches in any order.

use fabius_base::Cancel;
use fabius_engine::settings::{Delaying, DepthBounding, Order, Settings, Storage, ThreadCount};
use fabius_engine::{CheckContext, Controls, Event, Loaded, PropertyReport, Verdict, check, check_visit_first, load};
use fabius_testkit::generate::{self, small};
use fabius_testkit::parallel;
use std::collections::BTreeSet;
use std::time::Duration;

/// Random models; each is searched in all ways.
const MODELS: u64 = 60;

/// One of eight ways is chosen, each of which is long.
const WAYS: &str = "\
byte m; short n;
active proctype A() {
  if :: m = 0 :: m = 1 :: m = 2 :: m = 3 :: m = 4 :: m = 5 :: m = 6 :: m = 7 fi;
  do :: n < 12000 -> n++ :: else -> break od;
  assert(m != WRONG)
}
";

fn loaded(text: &str, settings: &Settings) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings)
}

/// Checks safety, and changes what is visited first at the progress events with these numbers; number 0: before the check begins.
fn steered(loaded: &Loaded, settings: &Settings, changes: &[(u64, Option<&str>)]) -> PropertyReport {
    let (cancel, controls) = (Cancel::new(), Controls::new());
    let change = |heard: u64| {
        let now = changes.iter().filter(|(at, _)| *at == heard);
        now.for_each(|(_, condition)| controls.visit_first(*condition));
    };
    change(0);
    let mut heard = 0;
    let mut observe = |event: Event| {
        if matches!(event, Event::Progress { .. }) {
            heard += 1;
            change(heard);
        }
    };
    let mut context =
        CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
    let mut outcome = check(loaded, settings, &mut context);
    assert_eq!(outcome.failure, None);
    let is_named = outcome.report.properties.iter().any(|property| property.visited_first.is_some());
    assert!(!changes.is_empty() || !controls.is_steered());
    assert!(!is_named || controls.is_steered());
    outcome.report.properties.swap_remove(0)
}

fn safety(threads: ThreadCount) -> Settings {
    Settings { properties: vec!["safety".to_owned()], schedule: false, threads, ..Settings::default() }
}

fn violations(property: &PropertyReport) -> BTreeSet<String> {
    property.violations.iter().map(|violation| violation.message.clone()).collect()
}

/// Conditions on the states of a model.
fn conditions(model: &Loaded, text: &str) -> Vec<String> {
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let about = words.iter().flat_map(|word| [format!("{word} > 0"), format!("len({word}) > 0")]);
    let all = about.chain(["_nr_pr > 1".to_owned(), "_nr_pr % 2 == 0".to_owned()]);
    all.filter(|condition| check_visit_first(model, &Settings::default(), condition).is_ok()).collect()
}

/// Nothing is left out, whatever is visited first and however often that changes; how often some state had to wait.
fn compare(seed: u64) -> usize {
    let text = match seed % 3 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        _ => small::model(seed),
    };
    let mut waited = 0;
    let threads = [ThreadCount::default(), ThreadCount::Exactly(1), ThreadCount::Exactly(2), ThreadCount::Exactly(4)];
    for (threads, keep_going) in threads.into_iter().flat_map(|threads| [(threads, true), (threads, false)]) {
        for (reduction, whole_states_max) in [(false, 0), (true, 0), (true, 500)] {
            let settings = Settings { reduction, whole_states_max, keep_going, ..safety(threads) };
            let model = loaded(&text, &settings);
            if model.checkable().is_none() {
                continue;
            }
            let conditions = conditions(&model, &text);
            let condition = |number: u64| Some(conditions[(seed + number) as usize % conditions.len()].as_str());
            let any_order = steered(&model, &settings, &[]);
            for changes in [
                vec![(0, condition(0))],
                vec![(0, condition(1)), (1, condition(2)), (2, condition(3)), (3, None), (4, condition(4))],
                vec![(1, condition(5)), (2, None)],
            ] {
                let steered = steered(&model, &settings, &changes);
                let about = || format!("seed {seed}, {changes:?}, {settings:?}\n{text}");
                assert_eq!(steered.verdict, any_order.verdict, "{}", about());
                assert_eq!(steered.exhaustive, any_order.exhaustive, "{}", about());
                if !reduction && (keep_going || any_order.verdict == Verdict::Holds) {
                    assert_eq!(steered.states, any_order.states, "{}", about());
                    assert_eq!(steered.transitions, any_order.transitions, "{}", about());
                    assert_eq!(violations(&steered), violations(&any_order), "{}", about());
                }
                if let Some(first) = &steered.visited_first {
                    assert!(changes.iter().any(|(_, condition)| *condition == Some(first)), "{}", about());
                    waited += 1;
                }
            }
        }
    }
    waited
}

#[test]
fn nothing_is_left_out_whatever_is_visited_first() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let waited: usize = parallel::map(&seeds, |seed| compare(*seed)).into_iter().sum();
    assert!(200 < waited, "{waited}");
}

#[test]
fn what_is_to_be_visited_first_is() {
    for threads in [ThreadCount::Exactly(1), ThreadCount::default()] {
        let settings = safety(threads);
        let mut without = Vec::new();
        for wrong in 0..8 {
            let model = loaded(&WAYS.replace("WRONG", &wrong.to_string()), &settings);
            let condition = format!("m == {wrong}");
            for at in [0, 2] {
                let steered = steered(&model, &settings, &[(at, Some(&condition))]);
                assert_eq!(steered.verdict, Verdict::Violated);
                assert!(steered.states < 3 * 12_000, "{condition}: {} states", steered.states);
            }
            without.push(self::steered(&model, &settings, &[]).states);
        }
        assert!(without.iter().any(|states| 8 * 12_000 <= *states), "{without:?}");
    }
}

#[test]
fn who_watches_sees_how_many_states_wait() {
    // Where m is not 3, every state waits until all are visited in which it is.
    let text =
        "byte m, n; active proctype A() { do :: n < 250 -> n++ :: n > 0 -> n-- :: m < 250 -> m++ :: m > 0 -> m-- od }";
    for threads in [ThreadCount::Exactly(1), ThreadCount::Exactly(2)] {
        let settings = Settings { optimize: false, reduction: false, ..safety(threads) };
        let model = loaded(text, &settings);
        for condition in [None, Some("m == 3")] {
            let (cancel, controls) = (Cancel::new(), Controls::new());
            controls.visit_first(condition);
            let mut waiting = Vec::new();
            let mut observe = |event: Event| match event {
                Event::Progress { .. } => controls.ask(false),
                Event::Look { look, .. } if ["depth first", "several threads"].contains(&look.phase.as_str()) => {
                    waiting.push(look.frontier);
                }
                _ => {}
            };
            let mut context = CheckContext {
                cancel: &cancel,
                now: &|| Duration::ZERO,
                observe: &mut observe,
                controls: Some(&controls),
            };
            let outcome = check(&model, &settings, &mut context);
            // At the start of the loop, and between each of the guards and the statement after it.
            let states = 251 * 251 + 4 * 250 * 251;
            assert_eq!((outcome.report.verdict, outcome.report.properties[0].states), (Verdict::Holds, states));
            let most = waiting.iter().flatten().max().copied();
            assert_eq!((waiting.is_empty(), most.is_some()), (false, condition.is_some()), "{threads:?} {waiting:?}");
            assert!(most.is_none_or(|most| most < states), "{waiting:?}");
        }
    }
}

#[test]
fn a_verdict_names_what_was_visited_first() {
    let settings = safety(ThreadCount::Exactly(1));
    let model = loaded(&WAYS.replace("WRONG", "8"), &settings);
    let named = |changes: &[(u64, Option<&str>)]| {
        let property = steered(&model, &settings, changes);
        assert_eq!((property.verdict, property.exhaustive), (Verdict::Holds, true));
        let said = property.reason.contains("the search preferred states");
        assert_eq!(said, property.visited_first.is_some(), "{}", property.reason);
        property.visited_first
    };
    assert_eq!(named(&[(0, Some("m == 3"))]).as_deref(), Some("m == 3"));
    assert_eq!(named(&[(0, Some("m == 3")), (9, None)]).as_deref(), Some("m == 3"));
    assert_eq!(named(&[(0, Some("m == 3")), (9, Some("m == 5"))]).as_deref(), Some("m == 5"));
    // No state had to wait.
    assert_eq!(named(&[(0, Some("m < 8"))]), None);
    assert_eq!(named(&[(0, None)]), None);
}

#[test]
fn what_says_nothing_about_a_state_of_the_model_is_refused() {
    let model = loaded(WAYS.replace("WRONG", "8").as_str(), &Settings::default());
    for (condition, why) in [("k > 1", "k"), ("m >", ""), ("m > 1 after n > 3", "single states"), ("", "")] {
        let refused = check_visit_first(&model, &Settings::default(), condition).expect_err(condition);
        assert!(refused.contains(why), "{condition}: {refused}");
    }
    // The number of a process is kept where the model asks for it.
    let refused =
        check_visit_first(&model, &Settings::default(), "A[0]:_pid == 0").expect_err("it is no part of a state");
    assert_eq!(refused, "`_pid` of A is no part of a state of this model, which does not use it");
    let asking = WAYS.replace("m != WRONG", "m != 8 && A[0]:_pid == 0");
    let asking = loaded(&asking, &Settings::default());
    assert_eq!(check_visit_first(&asking, &Settings::default(), "m == 3 && A[0]:_pid == 0").err(), None);
}

#[test]
fn a_search_that_keeps_an_order_of_its_own_is_not_told_another() {
    let plain = Settings::default();
    let model = loaded(WAYS.replace("WRONG", "3").as_str(), &plain);
    let refused = |settings: &Settings| check_visit_first(&model, settings, "m == 3").err();
    let many = Settings { threads: ThreadCount::UpTo(4), ..plain.clone() };
    for free in [&plain, &many, &safety(ThreadCount::Exactly(1)), &safety(ThreadCount::Exactly(3))] {
        assert_eq!(refused(free), None, "{free:?}");
    }
    let orders = [
        Settings { search: Order::DepthFirst, ..plain.clone() },
        Settings { search: Order::BreadthFirst, ..plain.clone() },
        Settings { store: Some(Storage::Hash), ..plain.clone() },
        Settings { delaying: Some(Delaying::default()), ..plain.clone() },
        Settings { depth_bounding: Some(DepthBounding::default()), ..plain },
    ];
    for own in &orders {
        assert!(refused(own).is_some_and(|why| why.contains("only a depth-first search")), "{own:?}");
    }
}
