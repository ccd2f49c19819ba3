//! Walks through models: the tree, taking back, holds, conditions, searches from here.

use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, Loaded, Outcome, Settings, check, load};
use fabius_explore::{
    Exploration, Hold, Local, LocalAnswer, NodeId, Role, RunLimits, SearchRequest, Stop, SuccessorHint, Until, Way,
    sentence,
};
use fabius_program::Watch;
use fabius_testkit::models::LOCKS;
use fabius_witness::{Claim, confirm_watching};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

fn read(text: &str) -> Arc<Loaded> {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    assert!(loaded.checkable().is_some(), "{:?}", loaded.findings);
    Arc::new(loaded)
}

fn model(name: &str) -> String {
    let text = match name {
        "peterson_broken" => include_str!("../../../../models/peterson_broken.pml"),
        "retry_forever" => include_str!("../../../../models/retry_forever.pml"),
        "lost_wakeup" => include_str!("../../../../models/lost_wakeup.pml"),
        "handshake" => include_str!("../../../../models/handshake.pml"),
        "bounded_buffer" => include_str!("../../../../models/bounded_buffer.pml"),
        other => panic!("{other} is not among the models of this test"),
    };
    text.to_owned()
}

fn open(text: &str) -> Exploration {
    Exploration::of_model(read(text), None).expect("it can be opened")
}

fn checked(loaded: &Loaded, property: &str) -> Outcome {
    let settings = Settings { properties: vec![property.to_owned()], ..Settings::default() };
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    check(loaded, &settings, &mut context)
}

fn search(request: &SearchRequest) -> LocalAnswer {
    let cancel = Cancel::new();
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let limits = Limits { states_max: Some(100_000), ..Limits::default() };
    request.run(&Settings { limits, ..Settings::default() }, &mut context).expect("it can be searched")
}

/// Takes the first choice of a process.
fn step_of(e: &mut Exploration, pid: u8) -> NodeId {
    let choice = e.choices().into_iter().find(|choice| choice.step.pid == pid).expect("it can move");
    e.choose(&choice).expect("it is possible")
}

/// Everything that can be seen of a session.
fn seen(e: &Exploration) -> impl PartialEq + std::fmt::Debug + use<> {
    let tree: Vec<_> =
        (0..e.size()).map(|node| (e.children(NodeId(node as u32)), e.path(NodeId(node as u32)))).collect();
    let names: Vec<(NodeId, String)> = e.names().map(|(node, name)| (node, name.to_owned())).collect();
    let marks: Vec<SuccessorHint> = e.choices().iter().map(|choice| choice.mark).collect();
    (e.here(), e.line().to_vec(), e.state(), e.all_holds().to_vec(), (e.sealed(), e.lasso()), names, tree, marks)
}

const RACE: &str = "byte x;\nactive [2] proctype P() {\n  byte t;\n  t = x;\n  t = t + 1;\n  x = t;\n  done: skip\n}\n";

#[test]
fn the_effect_of_a_choice_is_what_happens() {
    let mut e = open(RACE);
    let choices = e.choices();
    assert_eq!(choices.len(), 2);
    assert!(
        choices
            .iter()
            .all(|choice| choice.mark == SuccessorHint::New && choice.held.is_none() && choice.node.is_none())
    );
    step_of(&mut e, 0);
    step_of(&mut e, 0);
    let next = e.choices().into_iter().find(|choice| choice.step.pid == 0).expect("it can move");
    let told: Vec<String> = next.effect.changes.iter().map(|c| format!("{} {} {}", c.name, c.old, c.new)).collect();
    assert_eq!(told, ["x 0 1"]);
    let node = e.choose(&next).expect("it is possible");
    assert_eq!(e.step_to(node).map(|step| step.changes), Some(next.effect.changes));
    assert_eq!(e.step_to(node).as_ref().map(sentence).as_deref(), Some("P[0] sets x to 1 (was 0)"));
    let x = e.variables().into_iter().find(|value| value.name == "x").expect("there is x");
    assert_eq!((x.value.as_str(), x.before.as_deref()), ("1", Some("0")));
}

#[test]
fn going_back_and_choosing_otherwise_makes_a_branch() {
    let mut e = open(RACE);
    let first = step_of(&mut e, 0);
    let second = step_of(&mut e, 0);
    assert!(e.back() && e.here() == first);
    let other = step_of(&mut e, 1);
    assert_eq!(e.children(first), [second, other]);
    assert_eq!(e.line(), [NodeId::ROOT, first, other]);
    assert!(e.go(second) && e.line() == [NodeId::ROOT, first, second]);
    assert!(e.back() && e.forward() && e.here() == second && !e.forward());
    assert_eq!(step_of(&mut e, 1), e.here());
    let known = e.choices();
    assert!(e.go(other));
    // P[0]'s step after P[1]'s leads to the same state as the other order.
    let choice = e.choices().into_iter().find(|choice| choice.step.pid == 0).expect("it can move");
    assert!(choice.mark == SuccessorHint::Known, "{:?} {known:?}", choice.mark);
}

#[test]
fn what_is_taken_back_is_gone_and_comes_back() {
    let mut e = open(RACE);
    let states: Vec<_> = [0_u8, 1, 1, 0]
        .iter()
        .map(|pid| {
            let before = format!("{:?}", seen(&e));
            step_of(&mut e, *pid);
            before
        })
        .collect();
    let last = format!("{:?}", seen(&e));
    for before in states.iter().rev() {
        assert!(e.undo());
        assert_eq!(format!("{:?}", seen(&e)), *before);
    }
    assert!(!e.undo());
    while e.redo() {}
    assert_eq!(format!("{:?}", seen(&e)), last);
}

#[test]
fn conditions_speak_the_language_of_the_model() {
    let mut e = open(&format!("#define BOTH (x == 2)\n{RACE}"));
    for (text, truth) in
        [("x == 0", true), ("BOTH", false), ("P[1]:t > 0", false), ("P[0]@done", false), ("x == 0 && !BOTH", true)]
    {
        let condition = e.condition(text).expect(text);
        assert_eq!(e.holds(&condition), Ok(truth), "{text}");
    }
    for (text, part) in
        [("y > 0", "y"), ("[] x == 0", "temporal"), ("x ==", ""), ("", "missing"), ("run P()", ""), ("x/0 == 1", "")]
    {
        let why = e.condition(text).and_then(|condition| e.holds(&condition).map(|_| condition)).expect_err(text);
        assert!(why.contains(part), "{text}: {why}");
    }
    let at_done = e.condition("P[0]@done").expect("it can be read");
    assert_eq!(e.run_until(&at_done, Way::First, &RunLimits::default()), Stop::Reached);
    assert_eq!(e.holds(&at_done), Ok(true));
    assert_eq!(e.evaluate("t", Some(0)).as_deref(), Ok("2"));
    assert_eq!(e.evaluate("t == x", Some(0)).as_deref(), Ok("true"));
    assert_eq!(e.evaluate("x * 3", None).as_deref(), Ok("6"));
    assert!(e.undo() && e.here() == NodeId::ROOT, "a run is taken back as a whole");
}

#[test]
fn a_process_that_is_held_does_not_move_by_itself() {
    let mut e = open(RACE);
    e.hold(1, Until::Released).expect("there is such a process");
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::OnlyHeld);
    assert_eq!(e.evaluate("x", None).as_deref(), Ok("1"));
    assert!(e.choices().iter().all(|choice| choice.held == Some(1)));
    assert!(e.release(1) && !e.release(1));
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::End);
    assert!(e.hold(7, Until::Released).is_err());

    let mut e = open(RACE);
    e.hold(1, Until::Others(2)).expect("there is such a process");
    assert_eq!(e.run_randomly(2, 5, None), Stop::Steps);
    assert!(e.path(e.here()).iter().all(|step| step.pid == 0));
    assert_eq!(e.all_holds(), []);
    let written = e.condition("x > 0").expect("it can be read");
    e.hold(0, Until::Condition(written)).expect("there is such a process");
    assert_eq!(e.run_randomly(3, 5, None), Stop::Steps);
    assert_eq!(e.all_holds(), []);
    assert_eq!(e.evaluate("x", None).as_deref(), Ok("1"));
    let left = Hold { pid: 1, until: Until::Others(9) };
    e.hold(1, left.until.clone()).expect("there is such a process");
    assert_eq!(e.hold_on(1), Some(&left));
}

#[test]
fn whoever_has_to_wait_under_a_safe_schedule_does_not_move_by_itself() {
    let loaded = read(LOCKS);
    let outcome = checked(&loaded, "safety");
    let example = outcome.counterexamples.first().expect("it can deadlock");
    let mut e = Exploration::of_counterexample(loaded, example, "safety").expect("it can be walked");
    assert!(!e.follow_schedule(true), "none is known yet");
    let found = e.schedule_search().run(&Cancel::new());
    assert_eq!(e.learn_schedule(&found), Ok(()));
    assert!(e.line().iter().all(|node| e.had_to_wait(*node).is_none()), "it is not followed yet");
    assert!(e.follow_schedule(true) && e.follows_schedule());

    // One step of the run has to wait: the one after which each process has a lock.
    let line = e.line().to_vec();
    let waits: Vec<_> = line.iter().filter_map(|node| Some((*node, e.had_to_wait(*node)?))).collect();
    let [(wrong, waits)] = waits.as_slice() else { panic!("{waits:?}") };
    let expected =
        ["P at line 4 waits while Q is at line 13", "Q at line 12 waits while P is at line 5"].map(str::to_owned);
    assert!(expected.contains(&waits.why), "{waits:?}");

    // A run along it leaves it there, and never ends.
    assert_eq!(e.run(Way::Line, &RunLimits { steps_max: 2_000, cancel: None }, |_| false), Stop::Limit);
    assert!(!e.line().contains(wrong));
    assert_eq!(e.run_randomly(2_000, 7, None), Stop::Steps);

    // By hand, everything is possible still, and what it leads to is the deadlock.
    e.follow(line[line.len() - 1]);
    e.go(e.parent(*wrong).expect("there is a state before"));
    let choice = e.choices().into_iter().find(|choice| choice.must_wait.is_some()).expect("somebody has to wait");
    let process = e.processes().into_iter().find(|process| process.status.pid == choice.step.pid).expect("it is there");
    assert_eq!(process.must_wait, choice.must_wait);
    e.choose(&choice).expect("it is possible");
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::Deadlock);

    assert!(e.follow_schedule(false) && e.undo() && e.follows_schedule(), "it is taken back like anything else");
    e.seal(Some(fabius_explore::Seal::RoundRobin));
    assert!(!e.follows_schedule(), "somebody else decides who moves");
}

#[test]
fn where_there_is_no_schedule_to_follow_it_is_said_why() {
    let why = |text: &str| {
        let mut e = open(text);
        let found = e.schedule_search().run(&Cancel::new());
        e.learn_schedule(&found).expect_err(text)
    };
    assert!(why("active proctype P() { skip }").starts_with("there is nothing to avoid: "));
    assert!(why("active proctype P() { assert(false) }").starts_with("no schedule avoids every error: "));
    let mut e = open(LOCKS);
    let other = open(LOCKS).schedule_search().run(&Cancel::new());
    assert!(e.learn_schedule(&other).is_err(), "it is about another text");
}

#[test]
fn processes_say_why_they_wait_and_for_whom() {
    let e = open(
        "bool ready;\nchan q = [1] of { byte };\nactive proctype A() { ready -> skip }\nactive proctype B() { byte m; q?m; ready = true }\nactive proctype C() { q!1 }\n",
    );
    let processes = e.processes();
    assert_eq!(processes.iter().map(|p| p.role).collect::<Vec<_>>(), [Role::Blocked, Role::Blocked, Role::Enabled]);
    let names = |pid| e.process_name(pid);
    assert_eq!(
        processes[0].sentences(&names),
        ["at `ready`, which is false; `ready = true` of B[1] would change that"]
    );
    assert_eq!(
        processes[1].sentences(&names),
        ["at `q?m` because channel q is empty; `q!1` of C[2] would change that"]
    );
}

#[test]
fn fields_in_arrays_of_structures_are_asked_for_as_the_model_spells_them() {
    let text = "typedef S { byte role; bit up }\nS srv[2];\nactive proctype P() { srv[1].role = 2; srv[0].up = 1 }\n";
    let mut e = open(text);
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::End);
    assert_eq!(e.evaluate("srv[1].role", None).as_deref(), Ok("2"));
    assert_eq!(e.evaluate("srv[1].role + srv[0].up == 3", Some(0)).as_deref(), Ok("true"));
    let values = e.variables();
    let told: Vec<(&str, &str)> = values.iter().map(|value| (value.name.as_str(), value.ty.as_str())).collect();
    let wanted = [("srv[0].role", "byte"), ("srv[0].up", "bit"), ("srv[1].role", "byte"), ("srv[1].up", "bit")];
    assert_eq!(told, wanted);
}

#[test]
fn a_message_is_traced_to_the_step_that_sent_it() {
    let mut e =
        open("chan q = [2] of { byte };\nactive proctype A() { q!1; q!2 }\nactive proctype B() { byte m; q?m; q?m }\n");
    let sent = [step_of(&mut e, 0), step_of(&mut e, 0)];
    for from in sent {
        let to = step_of(&mut e, 1);
        let arrows = e.arrows(to);
        assert_eq!(
            arrows.iter().map(|arrow| (arrow.from, arrow.to, arrow.channel.as_str())).collect::<Vec<_>>(),
            [(from, to, "q")]
        );
    }
}

#[test]
fn marks_tell_what_is_ahead() {
    let mut e = open(
        "bool a, b;\nactive proctype P() { do :: a = !a :: b -> break od; false }\nactive proctype Q() { end: b }\n",
    );
    step_of(&mut e, 0);
    let choice = e.choices().into_iter().find(|choice| choice.step.pid == 0).expect("it can move");
    assert_eq!(choice.mark, SuccessorHint::EntersCycle(NodeId::ROOT));
    let e = open("active proctype P() { assert(false) }");
    assert_eq!(e.choices()[0].mark, SuccessorHint::Error);
    let e = open("active proctype P() { skip; false }");
    assert_eq!(e.choices()[0].mark, SuccessorHint::DeadlockNext);
}

#[test]
fn a_counterexample_is_a_line_that_leads_to_the_error() {
    let loaded = read(&model("peterson_broken"));
    let outcome = checked(&loaded, "safety");
    let example = outcome.counterexamples.first().expect("the model is broken");
    let mut e = Exploration::of_counterexample(Arc::clone(&loaded), example, "safety").expect("it can be walked");
    assert_eq!((e.here(), e.line().len()), (NodeId::ROOT, example.trace.steps.len() + 1));
    assert!(e.choices().iter().any(|choice| choice.node == e.next_on_line()
        && choice.mark == SuccessorHint::CanFail { steps: None, avoidable: None }));
    assert_eq!(e.run(Way::Line, &RunLimits::default(), |_| false), Stop::Fault);
    assert_eq!(e.number(e.here()), example.trace.len());
    assert_eq!(e.run_back(&RunLimits::default(), |_| false), Stop::Beginning);
    let place = e.place("m.pml", 19).expect("somebody stops there");
    assert_eq!((e.run_to(&place, Way::Line, &RunLimits::default()), place.line), (Stop::Reached, 19));
    assert!(e.go_to_number(3) && e.number(e.here()) == 3 && !e.go_to_number(1000));
}

#[test]
fn a_livelock_is_a_ring() {
    let loaded = read(&model("retry_forever"));
    let outcome = checked(&loaded, "progress");
    let example = outcome.counterexamples.first().expect("the model has a livelock");
    let mut e = Exploration::of_counterexample(Arc::clone(&loaded), example, "progress").expect("it can be walked");
    let lasso = e.lasso().expect("it runs into a loop");
    assert_eq!(
        e.state_at(lasso.start).visible(&e.target().program),
        e.state_at(lasso.end).visible(&e.target().program)
    );
    assert_eq!(e.run(Way::Line, &RunLimits::default(), |_| false), Stop::LoopClosed);
    assert!(e.here() == lasso.end && e.forward());
    assert_eq!(e.parent(e.here()), Some(lasso.start));
    assert!(e.go_round() && e.here() == lasso.end);
    assert_eq!(e.run(Way::Line, &RunLimits::default(), |_| false), Stop::LoopClosed);
}

/// Between the beginning and the livelock a counter may go up and down; no depth-first search goes straight.
const DETOURS: &str = "byte x, y; bool spin;
active proctype P() { do :: !spin -> spin = true :: spin -> spin = false od }
active proctype Q() { do :: y == 40 -> progress: y = 0 od }
active proctype Noise() { do :: x < 40 -> x++ :: y < 40 -> y++ :: x == 40 -> x = 0 od }
ltl p { <> (y == 40) }";

#[test]
fn an_infinite_run_from_here_is_shortened_as_one_of_a_check_is() {
    let loaded = read(DETOURS);
    for property in ["p", "progress"] {
        let mut e = Exploration::of_model(Arc::clone(&loaded), Some(property)).expect("it can be opened");
        if !e.is_claims_turn() {
            step_of(&mut e, 0);
        }
        let found = search(&e.search_request());
        let steps = found.found().expect("there is one").trace.len();
        // One step to here, and the four of the loop.
        assert!(steps <= 5, "{property}: {steps} steps");
    }
}

#[test]
fn a_search_from_here_respects_the_holds() {
    let mut e = open(&format!("{RACE}active proctype Judge() {{ P[0]@done && P[1]@done; assert(x == 2) }}\n"));
    let free = search(&e.search_request());
    let path = free.found().expect("the race is found").path.clone();
    let end = e.learn_answer(free).expect("it is about this model").expect("the race is found");
    assert!(e.leads_to_error(NodeId::ROOT) && e.path(end) == path);
    // With P[1] held nobody interferes, and the Judge waits for P[1]: no error.
    e.hold(1, Until::Released).expect("there is such a process");
    let held = search(&e.search_request());
    assert_eq!(held.local(), Local::NoViolation, "{}", held.sentence());
    // After P[0] has read x, P[1] alone suffices.
    e.release(1);
    step_of(&mut e, 0);
    e.hold(0, Until::Condition(e.condition("x == 1").expect("it can be read"))).expect("there is such a process");
    let from_here = search(&e.search_request());
    assert!(from_here.found().is_none(), "P[0] is held all the time of a search");
    e.release(0);
    let from_here = search(&e.search_request());
    let found = from_here.found().expect("the race is still possible");
    assert!(found.path.starts_with(&e.path(e.here())));
}

/// Whether it is violated depends on which way is taken first.
const FORK: &str = "byte x; active proctype P() { if :: x = 1; assert(x == 2) :: x = 3 fi; x = 4 }\n";

#[test]
fn an_answer_belongs_to_its_state_and_its_holds() {
    let mut e = open(FORK);
    let good = e.choices().into_iter().find(|choice| choice.effect.actor.text == "x = 3").expect("it is possible");
    e.choose(&good).expect("it is possible");
    let answer = search(&e.search_request());
    let said = answer.sentence();
    assert_eq!(answer.local(), Local::NoViolation, "{said}");
    assert!(said.starts_with("from step 1: no violation is reachable (") && said.contains("exhaustive"), "{said}");
    e.learn_answer(answer).expect("it is about this model");
    let known = |e: &Exploration| e.answer_here().map(|answer| answer.sentence());
    assert_eq!(known(&e), Some(said.clone()));
    assert!(e.hold(0, Until::Released).is_ok() && known(&e).is_none(), "nothing was asked with P held");
    let held = search(&e.search_request());
    assert!(held.sentence().starts_with("from step 1, with P[0] held: "), "{}", held.sentence());
    e.learn_answer(held).expect("it is about this model");
    assert!(known(&e).is_some_and(|sentence| sentence.contains("P[0] held")));
    assert!(e.undo() && known(&e) == Some(said.clone()), "released again");
    assert!(e.undo() && known(&e).is_none(), "in the initial state nothing was asked");
    assert!(e.redo() && known(&e) == Some(said), "the place is the same, and so is the answer");
    let mut other = open(FORK);
    let answer = search(&e.search_request());
    assert!(other.learn_answer(answer).is_err(), "another reading of the model is another model");
}

#[test]
fn an_endless_run_is_found_from_here() {
    let mut e = Exploration::of_model(read(&model("retry_forever")), Some("progress")).expect("it can be opened");
    assert_eq!(e.run_randomly(3, 1, None), Stop::Steps);
    let end =
        e.learn_answer(search(&e.search_request())).expect("it is about this model").expect("there is a livelock");
    e.follow(end);
    assert!(e.lasso().is_some_and(|lasso| lasso.end == end));
}

#[test]
fn a_formula_is_watched_step_by_step() {
    let text = "bool x;\nactive proctype P() { do :: x = 1 :: x = 0 od }\nltl never_set { [] !x }\n";
    let mut e = Exploration::of_model(read(text), Some("never_set")).expect("it can be opened");
    assert!(e.is_claims_turn());
    assert!(matches!(e.run_randomly(20, 3, None), Stop::Steps | Stop::Fault | Stop::End));
    let ends = "bool x;\nactive proctype P() { x = 1 }\nnever { x -> accept: do :: x od }\n";
    let mut e = Exploration::of_model(read(ends), Some("ltl")).expect("it can be opened");
    assert_eq!(e.run(Way::First, &RunLimits::default(), |_| false), Stop::ClaimStops, "x is not true at first");
    let mut e = Exploration::of_model(read(text), Some("never_set")).expect("it can be opened");
    let found = e.learn_answer(search(&e.search_request())).expect("it is about this ground");
    assert!(found.is_some(), "it is violated");
}

#[test]
fn long_runs_cost_little_and_every_state_can_be_seen() {
    let mut e = open("byte x;\nactive [2] proctype P() { do :: x = x + 1 :: x = x - 1 od }\n");
    assert_eq!(e.run_randomly(3_000, 7, None), Stop::Steps);
    let line = e.line().to_vec();
    assert_eq!(line.len(), 3_001);
    let mut x = 0_u8;
    for node in &line[1..] {
        let step = e.step_to(*node).expect("a step leads there");
        x = if step.actor.text.contains('+') { x.wrapping_add(1) } else { x.wrapping_sub(1) };
        assert_eq!(step.changes[0].new, x.to_string());
    }
}

#[derive(Clone, Debug)]
enum Act {
    Take(usize),
    Back,
    Forward,
    Go(usize),
    Follow(usize),
    Hold(u8, u32),
    Release(u8),
    Name(usize),
    Random(usize, u64),
    Undo,
    Redo,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0..6_usize).prop_map(Act::Take),
        2 => Just(Act::Back),
        1 => Just(Act::Forward),
        1 => (0..40_usize).prop_map(Act::Go),
        1 => (0..40_usize).prop_map(Act::Follow),
        1 => ((0..4_u8), (0..4_u32)).prop_map(|(pid, others)| Act::Hold(pid, others)),
        1 => (0..4_u8).prop_map(Act::Release),
        1 => (0..40_usize).prop_map(Act::Name),
        1 => ((0..12_usize), any::<u64>()).prop_map(|(steps, seed)| Act::Random(steps, seed)),
        2 => Just(Act::Undo),
        1 => Just(Act::Redo),
    ];
    prop::collection::vec(act, 0..40)
}

/// Does something; true if it can be taken back.
fn act(e: &mut Exploration, act: &Act) {
    let node = |number: &usize, e: &Exploration| NodeId((number % e.size()) as u32);
    match act {
        Act::Take(number) => {
            let choices = e.choices();
            if let Some(choice) = choices.get(number % choices.len().max(1)) {
                e.choose(choice).expect("a choice is possible");
            }
        }
        Act::Back => drop(e.back()),
        Act::Forward => drop(e.forward()),
        Act::Go(number) => drop(e.go(node(number, e))),
        Act::Follow(number) => drop(e.follow(node(number, e))),
        Act::Hold(pid, 0) => drop(e.hold(*pid, Until::Released)),
        Act::Hold(pid, others) => drop(e.hold(*pid, Until::Others(*others))),
        Act::Release(pid) => drop(e.release(*pid)),
        Act::Name(number) => drop(e.set_name(node(number, e), "here")),
        Act::Random(steps, seed) => drop(e.run_randomly(*steps, *seed, None)),
        Act::Undo => drop(e.undo()),
        Act::Redo => drop(e.redo()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Taking back is the identity, and so is taking back and doing again; every run in the tree is one that the
    /// reference interpreter accepts.
    #[test]
    fn undo_after_do_changes_nothing(acts in acts(), which in 0..4_usize) {
        let texts = [model("lost_wakeup"), model("handshake"), model("bounded_buffer"), RACE.to_owned()];
        let mut e = open(&texts[which]);
        for next in &acts {
            let before = format!("{:?}", seen(&e));
            act(&mut e, next);
            let after = format!("{:?}", seen(&e));
            if matches!(next, Act::Undo | Act::Redo) || before == after {
                continue;
            }
            prop_assert!(e.undo());
            prop_assert_eq!(&format!("{:?}", seen(&e)), &before);
            prop_assert!(e.redo());
            prop_assert_eq!(&format!("{:?}", seen(&e)), &after);
        }
        for node in (0..e.size()).map(|node| NodeId(node as u32)) {
            let claim = e.fault(node).map_or(Claim::Reaches, Claim::Fault);
            let told = confirm_watching(&e.target().program, Watch::NOTHING, &e.path(node), claim);
            prop_assert!(told.is_ok(), "{:?}", told.err());
        }
    }
}

#[test]
fn patterns_are_true_where_their_definition_is_wherever_one_goes() {
    let patterns = [
        "stored > 1 after stored == 0",
        "stored == 1 since start (stored == 3)",
        "previously historically stored < 3",
        "end (stored == 2) && once Consumer@line 31",
    ];
    let mut seen = [0, 0];
    for (number, text) in patterns.iter().enumerate() {
        let mut e = open(&model("bounded_buffer"));
        let mut pattern = e.pattern(text).expect("it can be read");
        let read = fabius_task::pattern::pattern(e.loaded(), &e.target().program, text).expect("it can be read");
        let mut dice = number as u64;
        for _ in 0..300 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match (dice >> 33) % 8 {
                0 => drop(e.back()),
                1 => drop(e.undo()),
                2 => drop(e.go(NodeId(((dice >> 40) % e.size() as u64) as u32))),
                3 => drop(e.redo()),
                choice => {
                    let choices = e.choices();
                    let _ = choices.get(choice as usize % choices.len().max(1)).map(|choice| e.choose(choice));
                }
            }
            let way: Vec<_> = std::iter::successors(Some(e.here()), |node| e.parent(*node)).collect();
            let states: Vec<_> = way.iter().rev().map(|node| e.state_at(*node)).collect();
            let is_true = &mut |p: &usize, now: usize| {
                fabius_witness::value_of(&e.target().program, &states[now], &read.propositions[*p])
                    .is_ok_and(|v| v != 0)
            };
            let defined = read.formula.positions(states.len(), is_true);
            assert_eq!(Some(&pattern.holds(&e)), defined.last(), "{text} {states:?}");
            seen[usize::from(pattern.holds(&e))] += 1;
        }
    }
    assert!(100 < seen[0] && 100 < seen[1], "{seen:?}");
}

#[test]
fn a_run_at_random_stops_where_a_pattern_comes_true() {
    let mut e = open(&model("bounded_buffer"));
    let mut pattern = e.pattern("stored == 0 after stored == 2").expect("it can be read").coming_true();
    let stop = e.run(Way::Random(8), &RunLimits::default(), |e| pattern.holds(e));
    assert_eq!(stop, Stop::Reached);
    assert_eq!(e.evaluate("stored", None).as_deref(), Ok("0"));
    let before = e.parent(e.here()).expect("a step");
    assert!(!pattern.holds_at(&e, before));
    assert!(e.pattern("stored == 0 after").is_err());
}
