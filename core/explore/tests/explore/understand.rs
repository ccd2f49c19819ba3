//! What a run depends on: delays under a scheduler, essential steps, writers, other runs; and runs as files.

use fabius_base::{Cancel, Limits};
use fabius_engine::{
    CheckContext, Counterexample, DelayMode, Delaying, Loaded, Outcome, RunEnd, SchedulerChoice, Scheduling, Settings,
    check, load,
};
use fabius_explore::{Alternative, Exploration, NodeId, OtherRun, RunLimits, Seal, Stop, TraceFile, Until, Way};
use fabius_witness::{Claim, confirm_watching};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

const PETERSON: &str = include_str!("../../../../models/peterson_broken.pml");
const LOST_WAKEUP: &str = include_str!("../../../../models/lost_wakeup.pml");
const HANDSHAKE: &str = include_str!("../../../../models/handshake.pml");
const BUFFER: &str = include_str!("../../../../models/bounded_buffer.pml");
const RETRY: &str = include_str!("../../../../models/retry_forever.pml");

fn read(text: &str) -> Arc<Loaded> {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    assert!(loaded.checkable().is_some(), "{:?}", loaded.findings);
    Arc::new(loaded)
}

fn checked(loaded: &Loaded, settings: &Settings) -> Outcome {
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    check(loaded, settings, &mut context)
}

fn safety() -> Settings {
    Settings { properties: vec!["safety".to_owned()], ..Settings::default() }
}

/// A run to the error that is longer than need be.
fn deep_example() -> (Arc<Loaded>, Counterexample) {
    let loaded = read(PETERSON);
    let deep = Settings { search: fabius_engine::Order::DepthFirst, ..safety() };
    let example = checked(&loaded, &deep).counterexamples.into_iter().next().expect("the model is broken");
    (loaded, example)
}

fn broken(text: &str, settings: &Settings) -> Exploration {
    let loaded = read(text);
    let outcome = checked(&loaded, settings);
    let example = outcome.counterexamples.first().expect("the model is broken");
    Exploration::of_counterexample(Arc::clone(&loaded), example, "safety").expect("it can be walked")
}

fn round_robin() -> Scheduling {
    Scheduling { scheduler: SchedulerChoice::RoundRobin, seed: 0 }
}

fn tip(e: &Exploration) -> NodeId {
    *e.line().last().expect("a line has a node")
}

#[test]
fn an_error_needs_some_delays_and_not_others() {
    let delaying = Delaying { scheduler: SchedulerChoice::RoundRobin, mode: DelayMode::Exact, ..Delaying::default() };
    let mut e = broken(LOST_WAKEUP, &Settings { delaying: Some(delaying), ..safety() });
    let delays = e.delays(&round_robin()).expect("they can be counted");
    assert_eq!((delays.points.len(), delays.end, delays.scheduler.as_str()), (1, RunEnd::Deadlock, "round-robin"));
    let same = e.with_delays(&round_robin(), &delays.points).expect("it can be run again");
    assert!(same.still && same.tip == tip(&e), "{same:?}");
    let (step, process) = (delays.steps[0], delays.points[0].process);
    let without = e.toggle_delay(&round_robin(), step, process).expect("it can be run again");
    assert!(!without.still && without.points.is_empty(), "{without:?}");
    assert!(without.sentence.contains("nothing goes wrong any more"), "{}", without.sentence);
    let needed = e.needed_delays(&round_robin()).expect("they can be counted");
    assert_eq!(needed.sentence, format!("under round-robin the error needs the delay at step {step}"));
}

#[test]
fn a_delay_that_does_not_matter_is_told() {
    let text = format!("{LOST_WAKEUP}\nbyte i;\nactive proctype Idler() {{ i++; i++ }}\n");
    let mut e = broken(&text, &safety());
    let before = e.delays(&round_robin()).expect("they can be counted").points.len();
    let steps = e.number(tip(&e));
    let wishes: Vec<(usize, u8)> = (1..=steps).flat_map(|step| (0..3).map(move |process| (step, process))).collect();
    // One process is held back once more: that changes nothing.
    let more = wishes.into_iter().find_map(|(step, process)| {
        let rerun = e.toggle_delay(&round_robin(), step, process).ok()?;
        (rerun.still && before < rerun.points.len()).then_some(rerun)
    });
    let more = more.expect("there is a delay that does not matter");
    e.follow(more.tip);
    let needed = e.needed_delays(&round_robin()).expect("they can be counted");
    assert!(!needed.others.is_empty() && needed.sentence.contains("not needed"), "{}", needed.sentence);
    assert!(needed.points.len() < more.points.len());
}

#[test]
fn a_scheduler_can_be_watched() {
    let mut e =
        Exploration::of_model(read("byte x;\nactive [2] proctype P() { x++; x++ }\n"), None).expect("it can be opened");
    e.let_choose(&round_robin(), 100).expect("it can choose");
    assert_eq!(e.here(), NodeId::ROOT);
    let pids: Vec<u8> = e.path(tip(&e)).iter().map(|step| step.pid).collect();
    assert_eq!(pids, [0, 0, 1, 1, 1, 0]);
    let mut e =
        Exploration::of_model(read("byte x;\nactive [2] proctype P() { x++; x++ }\n"), None).expect("it can be opened");
    e.seal(Some(Seal::RoundRobin));
    assert!(e.hold(0, Until::Released).is_err());
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::End);
    assert_eq!(e.path(e.here()).iter().map(|step| step.pid).collect::<Vec<_>>(), pids);
}

#[test]
fn the_essential_steps_show_the_same() {
    let text = format!("{LOST_WAKEUP}\nbyte i;\nactive proctype Idler() {{ end: do :: i < 20 -> i++ od }}\n");
    let mut e = Exploration::of_model(read(&text), None).expect("it can be opened");
    assert_eq!(e.run_randomly(12, 4, None), Stop::Steps);
    let all = e.essential();
    assert_eq!(all.of, 12);
    let mut e = Exploration::of_model(
        read(
            "byte x, y;\nactive proctype A() { x = 1; assert(x == 0) }\nactive proctype B() { y = 1; y = 2; y = 3 }\n",
        ),
        None,
    )
    .expect("it can be opened");
    for pid in [1, 1, 0, 1, 0] {
        let choice = e.choices().into_iter().find(|choice| choice.step.pid == pid).expect("it can move");
        e.choose(&choice).expect("it is possible");
    }
    let essential = e.essential();
    assert_eq!((essential.nodes.len(), essential.of), (2, 5));
    let path: Vec<_> = essential.nodes.iter().filter_map(|node| e.path(*node).last().copied()).collect();
    let fault = e.fault(e.here()).expect("the assertion fails");
    assert!(confirm_watching(&e.target().program, e.target().watch, &path, Claim::Fault(fault)).is_ok());
}

#[test]
fn a_value_is_followed_back_to_who_wrote_it() {
    let text = "byte a, b;\nchan q = [2] of { byte };\nactive proctype A() { a = 3; q!a + 1 }\nactive proctype B() { byte m; q?m; b = m }\n";
    let mut e = Exploration::of_model(read(text), None).expect("it can be opened");
    for pid in [0, 0, 1, 1] {
        let choice = e.choices().into_iter().find(|choice| choice.step.pid == pid).expect("it can move");
        e.choose(&choice).expect("it is possible");
    }
    let told: Vec<String> = e
        .writers("b")
        .iter()
        .map(|write| format!("{} {} {} {}", write.depth, write.name, write.value, e.number(write.node)))
        .collect();
    assert_eq!(told, ["0 b 4 4", "1 B[1]:m 4 3", "2 q (4) 2", "3 a 3 1"]);
    assert_eq!(e.writers("nobody"), []);
}

#[test]
fn other_runs_to_the_same_error_are_found() {
    let (loaded, example) = deep_example();
    let example = &example;
    let mut e = Exploration::of_counterexample(Arc::clone(&loaded), example, "safety").expect("it can be walked");
    let (steps, switches) = (e.number(tip(&e)), e.switches());
    let limits = Limits { states_max: Some(100_000), ..Limits::default() };
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    for which in [Alternative::Shortest, Alternative::FewestSwitches, Alternative::FewestDelays] {
        let settings = Settings { limits, ..Settings::default() };
        let other =
            e.alternative(which).and_then(|search| search.run(&settings, &mut context)).expect("it can be searched");
        let OtherRun::Found(other) = other else { panic!("{other:?}") };
        assert_eq!(other.finding.span(), example.finding.span());
        let path: Vec<_> = other.trace.steps.iter().map(|step| step.taken).collect();
        let end = e.adopt(&path).expect("it is a run of the same program");
        let kept = tip(&e);
        e.follow(end);
        match which {
            Alternative::Shortest => assert!(e.number(end) <= steps),
            Alternative::FewestSwitches => assert!(e.switches() <= switches.min(2), "{}", e.switches()),
            Alternative::FewestDelays => assert!(other.report.delays.is_some()),
            Alternative::AnotherCause => unreachable!("it is not asked"),
        }
        e.follow(kept);
    }
}

#[test]
fn other_runs_are_found_to_an_error_that_was_reached_by_hand() {
    let (loaded, example) = deep_example();
    let example = &example;
    let mut e = Exploration::of_model(loaded, None).expect("it can be walked");
    assert!(e.alternative(Alternative::Shortest).is_err_and(|why| why.contains("does not end in an error")));
    for step in &example.trace.steps {
        e.take(step.taken).expect("it is a step of this model");
    }
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let search = e.alternative(Alternative::Shortest).expect("it ends in an error");
    let other = search.run(&Settings::default(), &mut context).expect("it can be searched");
    let OtherRun::Found(other) = other else { panic!("{other:?}") };
    let end = e.adopt_counterexample(&other).expect("it is told of the same program");
    assert!(e.number(end) <= e.number(e.here()) && e.leads_to_error(end));
}

#[test]
fn a_shorter_run_is_found_where_one_never_ends() {
    let loaded = read(RETRY);
    for property in ["progress", "gets_on"] {
        let deep = Settings {
            properties: vec![property.to_owned()],
            search: fabius_engine::Order::DepthFirst,
            ..Settings::default()
        };
        let example = checked(&loaded, &deep).counterexamples.into_iter().next().expect("it is violated");
        let mut e = Exploration::of_counterexample(Arc::clone(&loaded), &example, property).expect("it can be walked");
        assert!(e.alternative(Alternative::FewestSwitches).is_err_and(|why| why.contains("safety only")));
        let search = e.alternative(Alternative::Shortest).expect("it violates the property");
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let other = search.run(&Settings::default(), &mut context).expect("it can be searched");
        let OtherRun::Found(other) = other else { panic!("{other:?}") };
        assert!(other.report.shortest && other.report.steps <= example.report.steps, "{property}");
        let end = e.adopt_counterexample(&other).expect("it is told of the same program");
        e.follow(end);
        assert!(e.lasso().is_some(), "{property}");
    }
}

/// Each takes the seat after a look; or nobody pays.
const SEAT: &str = "byte seats = 1, sold; bool paid;
active proctype Desk() {
  if :: seats > 0 -> sold++; assert(sold < 2); seats-- :: else fi;
  paid
}
active proctype Telephone() {
  if :: seats > 0 -> sold++; assert(sold < 2); seats--; paid = true :: else -> paid = true :: skip fi
}
";

#[test]
fn runs_with_other_causes_are_found_until_there_are_no_more() {
    let loaded = read(SEAT);
    let example = checked(&loaded, &Settings::default()).counterexamples.into_iter().next().expect("it is violated");
    let mut e = Exploration::of_counterexample(Arc::clone(&loaded), &example, "safety").expect("it can be walked");
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let (mut known, mut ends) = (vec![e.path(tip(&e))], Vec::new());
    let said = loop {
        let search = e.alternative(Alternative::AnotherCause).expect("it ends in an error").beside(&known);
        match search.run(&Settings::default(), &mut context).expect("it can be searched") {
            OtherRun::NotFound(said) => break said,
            OtherRun::Found(other) => {
                let end = e.adopt_counterexample(&other).expect("it is told of the same program");
                e.follow(end);
                assert!(!known.contains(&e.path(end)));
                known.push(e.path(end));
                ends.push(e.error_of_line());
            }
        }
    };
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert!(
        ends.iter().flatten().any(|end| end.contains("assert"))
            || ends.iter().flatten().any(|end| end.contains("dead"))
    );
    assert_eq!(said, "there is none: each run that violates safety has one of the 3 shown");
}

#[test]
fn what_else_was_tried_is_saved_too() {
    let loaded = read(PETERSON);
    let mut e = Exploration::of_model(Arc::clone(&loaded), None).expect("it can be walked");
    for seed in 0..6 {
        e.go(NodeId((seed * 3 % e.size() as u64) as u32));
        e.run_randomly(5, seed, None);
        e.set_name(e.here(), &format!("way {seed}"));
    }
    let file = TraceFile::read(&e.save().text()).expect("it can be read");
    let (again, told) = Exploration::reopen(loaded, &file).expect("it can be opened");
    assert_eq!(told.remarks, Vec::<String>::new());
    assert_eq!(again.size(), e.size());
    assert!(e.line().len() < e.size(), "there is more than the line");
    let named = |e: &Exploration| {
        let mut names: Vec<_> = e.names().map(|(node, name)| (name.to_owned(), e.path(node))).collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names
    };
    assert_eq!(named(&again), named(&e));
    assert_eq!((again.path(again.here()), again.path(tip(&again))), (e.path(e.here()), e.path(tip(&e))));
    assert_eq!(again.save().text().len(), file.text().len(), "it is saved alike");
    let bad = file.text().replacen("\"from\": ", "\"from\": 9999", 1);
    let bad = TraceFile::read(&bad).expect("it can be read");
    assert!(Exploration::reopen(read(PETERSON), &bad).is_err_and(|why| why.contains("nowhere")));
}

#[test]
fn a_saved_run_comes_back_as_it_was() {
    let loaded = read(LOST_WAKEUP);
    let mut e = broken(LOST_WAKEUP, &safety());
    e.go_to_depth(2);
    e.set_name(e.here(), "before the switch");
    let condition = e.condition("signalled").expect("it can be read");
    e.hold(0, Until::Condition(condition)).expect("there is such a process");
    let text = e.save().text();
    let file = TraceFile::read(&text).expect("it can be read");
    let (again, told) = Exploration::reopen(loaded, &file).expect("it can be opened");
    assert_eq!((told.steps, told.remarks), (told.of, Vec::<String>::new()));
    assert_eq!((again.here(), again.path(tip(&again))), (e.here(), e.path(tip(&e))));
    assert_eq!(again.name(again.here()), Some("before the switch"));
    assert_eq!(again.all_holds(), e.all_holds());
    assert_eq!(again.save(), file);
    for bad in ["", "{}", "[1]", &text.replacen("\"fabius_trace\": 2", "\"fabius_trace\": 7", 1)] {
        assert!(TraceFile::read(bad).is_err(), "{bad}");
    }

    let mut lasso = Exploration::of_counterexample(
        read(RETRY),
        checked(&read(RETRY), &Settings { properties: vec!["progress".to_owned()], ..Settings::default() })
            .counterexamples
            .first()
            .expect("a livelock"),
        "progress",
    )
    .expect("it can be walked");
    lasso.set_name(NodeId::ROOT, "start");
    let (again, _) = Exploration::reopen(read(RETRY), &lasso.save()).expect("it can be opened");
    assert_eq!(again.lasso(), lasso.lasso());
}

#[test]
fn a_saved_run_is_walked_in_an_edited_model_as_far_as_it_goes() {
    let text = "byte x, y;\nactive proctype P() { x = 1; y = 2; x = 3 }\n";
    let mut e = Exploration::of_model(read(text), None).expect("it can be opened");
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::End);
    let file = e.save();
    let reopen = |text: &str| {
        let (again, told) = Exploration::reopen(read(text), &file).expect("it can be opened");
        (again.number(tip(&again)), told.steps, told.remarks)
    };
    assert_eq!(reopen(&text.replace("y = 2", "y = 2; y = 7")), (5, 4, Vec::new()));
    let (steps, came, remarks) = reopen(&text.replace("y = 2; ", ""));
    assert_eq!((steps, came), (3, 4));
    assert_eq!(remarks, ["step 2 is left out: `y = 2` is gone"]);
    let (steps, came, remarks) = reopen(&text.replace("y = 2", "y == 1; y = 2"));
    assert_eq!((steps, came), (1, 1));
    assert_eq!(remarks, ["stopped before step 2: P[0] cannot take `y = 2`: P[0] is at `y == 1` instead"]);
}

#[test]
fn a_run_without_an_error_needs_no_delay() {
    let text = "byte x;\nactive [2] proctype P() { x = x + 1 }\n";
    let mut e = Exploration::of_model(read(text), None).expect("it can be walked");
    e.run_randomly(9, 1, None);
    let scheduling = Scheduling { scheduler: SchedulerChoice::RoundRobin, seed: 0 };
    let told = e.needed_delays(&scheduling);
    assert!(told.as_ref().is_err_and(|why| why.contains("does not end in an error")), "{told:?}");
    let rerun = e.toggle_delay(&scheduling, 1, 0).expect("it can be run again");
    assert!(!rerun.wrong && rerun.sentence == "nothing goes wrong, as before", "{rerun:?}");
}

#[test]
fn branches_are_tried_again_from_where_they_start() {
    let text = "byte x;\nactive proctype P() { do :: x = 1 - x :: x = x; assert(true) od }\nactive proctype Q() { x == 1; false }\n";
    let mut e = Exploration::of_model(read(text), None).expect("it can be walked");
    e.run_randomly(2_000, 1, None);
    let line = e.line().to_vec();
    for start in line.iter().skip(1_000).step_by(4) {
        e.go(*start);
        e.run_randomly(3, u64::from(start.0), None);
        e.set_name(e.here(), &format!("from {}", start.0));
    }
    let file = e.save();
    let (again, told) = Exploration::reopen(read(text), &file).expect("it can be walked");
    assert_eq!((told.remarks, again.size()), (Vec::new(), e.size()));
    assert_eq!(again.names().count(), e.names().count());
    assert_eq!(again.save().text().len(), file.text().len(), "it is saved alike");
    // In a model that was edited, the steps that are still there are tried from where their branch starts now.
    let edited = text.replace("; assert(true)", "; assert(true); skip");
    let (edited, told) = Exploration::reopen(read(&edited), &file).expect("it can be walked");
    assert_eq!((told.remarks, edited.names().count()), (Vec::new(), e.names().count()));
    assert!(e.size() < edited.size());
}

#[test]
fn a_dead_end_is_known_again() {
    let text = "byte x;\nactive proctype P() { if :: x = 1 :: x = 2; false fi }\n";
    let mut e = Exploration::of_model(read(text), None).expect("it can be walked");
    let wrong = e.choices()[1].clone();
    e.choose(&wrong).expect("it is possible");
    let end = e.here();
    e.mark_error(end);
    e.go(NodeId::ROOT);
    let fine = e.choices()[0].clone();
    e.choose(&fine).expect("it is possible");
    let (again, _) = Exploration::reopen(read(text), &e.save()).expect("it can be walked");
    let leads: Vec<bool> = again.children(NodeId::ROOT).iter().map(|node| again.leads_to_error(*node)).collect();
    assert_eq!(leads.iter().filter(|leads| **leads).count(), 1, "{leads:?}");
    assert!(again.leads_to_error(NodeId::ROOT) && !again.leads_to_error(tip(&again)));
}

/// A trail that Spin 6.5.2 wrote for this model (`spin -a`, `pan -a`): merged statements, a claim, rendezvous, a cycle.
const CLAIMED: &str = "byte x; chan q = [0] of { byte };
active proctype A() { do :: x = 1; q!x; x = 2; x = 0 od }
active proctype B() { byte m; do :: q?m -> m = m + 1; skip od }
never { do :: x == 2 -> break :: else od; accept: do :: true od }
";
const SPINS_TRAIL: &str = "-2:2:-2 -4:-4:-4 1:0:17 2:1:0 3:0:17 4:1:1 5:2:8 6:0:17 7:2:9 8:0:17 9:2:10 10:0:17 11:1:2 12:0:15 13:1:3 -1:-1:-1 14:0:21 15:1:0 16:0:21 17:1:1 18:2:8 19:0:21 20:2:9 21:0:21 22:2:10 23:0:21 24:1:2 25:0:21 26:1:3";

#[test]
fn a_trail_that_spin_wrote_is_walked() {
    let trail = SPINS_TRAIL.replace(' ', "\n");
    let mut e = Exploration::of_trail(read(CLAIMED), None, &trail).expect("it can be walked");
    let lasso = e.lasso().expect("it runs into a cycle");
    assert_eq!((e.number(lasso.start), e.number(lasso.end)), (6, 12));
    assert_eq!(e.run(Way::Line, &RunLimits::default(), |_| false), Stop::LoopClosed);
    for (bad, part) in [
        ("1:0:99", "line 1"),
        ("x", "line 1 of the trail is not a step"),
        ("1:7:0", "process 7"),
        ("-1:-1:-1\n1:0", "line 2"),
    ] {
        let why = Exploration::of_trail(read(CLAIMED), None, bad).expect_err(bad);
        assert!(why.contains(part), "{bad}: {why}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Any run is what the scheduler does when it is delayed where the run says; and a saved run comes back.
    #[test]
    fn a_run_and_its_delays_are_the_same(which in 0..4_usize, kind in 0..3_usize, seed in any::<u64>(), steps in 0..40_usize) {
        let text = [PETERSON, LOST_WAKEUP, HANDSHAKE, BUFFER][which];
        let scheduler = [SchedulerChoice::RoundRobin, SchedulerChoice::RunToCompletion, SchedulerChoice::Random][kind].clone();
        let scheduling = Scheduling { scheduler, seed };
        let loaded = read(text);
        let mut e = Exploration::of_model(Arc::clone(&loaded), None).expect("it can be opened");
        let _ = e.run(Way::Random(seed), &RunLimits { steps_max: steps, cancel: None }, |_| false);
        let path = e.path(tip(&e));
        let delays = e.delays(&scheduling).expect("they can be counted");
        let again = e.with_delays(&scheduling, &delays.points).expect("it can be run again");
        prop_assert!(e.path(again.tip).starts_with(&path), "{delays:?}\n{:?}\n{path:?}", e.path(again.tip));
        let (reopened, told) = Exploration::reopen(loaded, &e.save()).expect("it can be opened");
        prop_assert_eq!(told.remarks, Vec::<String>::new());
        prop_assert_eq!(reopened.path(tip(&reopened)), path);
    }
}

#[test]
fn a_statement_inserted_before_others_with_its_wording_does_not_take_the_place_of_one_in_a_saved_run() {
    let text = "byte x; active proctype P() { do :: x == 0; skip; x = 2 :: x == 2; break od }\n";
    let mut e = Exploration::of_model(read(text), None).expect("it can be opened");
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::End);
    let file = e.save();
    // By how many stand before it, the known `skip` would be the new one, and the branch with it not the one that was taken.
    let new = text.replace("do ::", "do :: x == 5; skip ::");
    let (again, told) = Exploration::reopen(read(&new), &file).expect("it can be opened");
    assert_eq!((again.number(tip(&again)), told.steps, told.remarks), (e.number(tip(&e)), told.of, Vec::new()));
    let old = TraceFile::read(&file.text().replacen("\"fabius_trace\": 2", "\"fabius_trace\": 1", 1));
    assert!(
        Exploration::reopen(read(text), &old.expect("it can be read")).is_ok_and(|(_, told)| told.steps == told.of)
    );
}
