//! Under which scheduling models are safe, on small models whose answers can be worked out by hand.

use fabius_analysis::schedule::{
    ScheduleProgress, ScheduleReport, ScheduleRequest, ScheduleVerdict, Stage, Stops, WhileReport, schedule,
};
use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, Loaded, Settings, Verdict, check, load};
use fabius_testkit::models::LOCKS;
use std::time::Duration;

fn loaded(text: &str) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

fn answer_within(text: &str, request: &ScheduleRequest) -> ScheduleReport {
    let scheduled = schedule(&loaded(text), request, &Stops::all(&Cancel::new()), &mut |_| {});
    assert_eq!(scheduled.failure, None, "{text}");
    scheduled.report
}

fn answer(text: &str) -> ScheduleReport {
    answer_within(text, &ScheduleRequest::default())
}

fn waits(report: &ScheduleReport) -> Vec<&str> {
    report.waits.iter().map(|wait| wait.text.as_str()).collect()
}

#[test]
fn two_locks_in_the_wrong_order_need_two_waits() {
    let report = answer(LOCKS);
    assert_eq!(report.verdict, ScheduleVerdict::Avoidable);
    let expected = ["P at line 4 waits while Q is at line 13", "Q at line 12 waits while P is at line 5"];
    assert_eq!(waits(&report), expected);
    assert_eq!(report.kept.as_ref().map(|kept| (kept.states, kept.of)), Some((9, Some(10))));
    assert_eq!(report.checked.as_ref().map(|checked| checked.states), Some(9));
    assert!(report.fewest && report.shuts_out.is_empty() && report.gives_up.is_empty(), "{report:?}");
}

#[test]
fn producers_and_consumers_that_look_without_the_lock_need_one_wait_each() {
    let process = |name: &str, guard: &str, step: &str| {
        format!(
            "active [2] proctype {name}() {{\ndo\n:: {guard};\natomic {{ !lock -> lock = true }};\n\
             assert({guard});\n{step};\nlock = false\nod }}\n"
        )
    };
    let producer = process("Producer", "count < 1", "count++");
    let consumer = process("Consumer", "count > 0", "count--");
    let report = answer(&format!("byte count;\nbool lock;\n{producer}{consumer}"));
    assert_eq!(report.waits.len(), 2, "{report:?}");
    assert_eq!(report.waits[0].who, "Producer");
    assert!(report.waits[0].text.contains("another Producer"), "{report:?}");
    assert_eq!(report.waits[1].who, "Consumer");
}

#[test]
fn waits_are_told_as_what_does_the_same_in_a_program() {
    let mutex = answer(LOCKS).hints;
    let expected = "a mutex does the same: P locks it before it goes on from line 4 and unlocks it when it is no longer at line 5; \
                    Q locks it before it goes on from line 12 and unlocks it when it is no longer at line 13";
    assert_eq!(mutex, [expected]);
    // And so it does.
    let lock = |text: &str, before: &str, after: &str| {
        let locked = text.replace(before, &format!("atomic {{ !m -> m = true }}; {before}"));
        locked.replace(after, &format!("atomic {{ {after}; m = false }}"))
    };
    let (first, second) = ("atomic { !a -> a = true }", "atomic { !b -> b = true }");
    let (p, q) = LOCKS.split_once("active proctype Q").expect("two processes");
    let locked = format!("bool m; {}active proctype Q{}", lock(p, first, second), lock(q, second, first));
    assert_eq!(answer(&locked).verdict, ScheduleVerdict::Holds, "{locked}");

    let act = answer("byte n = 1;\nactive [3] proctype W() {\ndo\n:: n > 0 ->\nn--;\nassert(n == 0);\nn++\nod }\n");
    let [hint] = act.hints.as_slice() else { panic!("{act:?}") };
    assert!(hint.starts_with("a mutex does the same: a W locks it before it goes on from line 5"), "{hint}");

    let elsewhere = answer(&LOCKS.replace("  od", "  :: true -> skip\n  od"));
    assert!(elsewhere.hints[0].contains("(at once, if it does not get there)"), "{elsewhere:?}");

    let barrier =
        answer("byte n;\nbool r[2];\nactive [2] proctype Phase() {\nn++;\nr[_pid] = true;\nassert(n == 2)\n}\n");
    assert_eq!(waits(&barrier), ["a Phase at line 6 waits while another Phase is at line 4"]);
    let barrier = barrier.hints;
    assert!(
        !barrier.is_empty() && barrier.iter().all(|hint| hint.contains("each Phase counts it down")),
        "{barrier:?}"
    );

    // Whoever is about to look comes back there, and need not come from where the wait is.
    let look = "byte n;\nactive [2] proctype W() {\ndo\n:: n < 1;\nassert(n < 1);\nn++;\nn = 0\nod }\n";
    let look = answer(look);
    let condition = look.hints.iter().all(|hint| hint.starts_with("a condition variable does the same: a W goes on"));
    assert!(condition && !look.hints.is_empty(), "{look:?}");
}

#[test]
fn choices_inside_processes_are_given() {
    let forced = answer("byte x;\nactive proctype P() {\nif\n:: x = 1\n:: x = 2\nfi;\nassert(x == 1) }\n");
    assert_eq!(forced.verdict, ScheduleVerdict::Unavoidable);
    assert_eq!(forced.forced.len(), 1);
    assert_eq!(forced.forced[0].statement, "x = 2");
    let error = forced.forced[0].then[0].error.as_deref();
    assert_eq!(error, Some("assertion violated"));
    // Somebody else can go on for ever; then the one who would fail has to be held back, and that is said.
    let beside = answer(
        "byte x;\nactive proctype P() {\nif\n:: x = 1\n:: x = 2\nfi;\nassert(x == 1)\n}\n\
         active proctype Q() { do :: x < 9 -> x = x od }\n",
    );
    assert_eq!(beside.verdict, ScheduleVerdict::Avoidable);
    assert_eq!(waits(&beside), ["P at line 7 waits while x is 2"]);
    assert_eq!(beside.shuts_out, ["P at line 7"]);
    assert!(beside.reason.contains("it must hold back for ever: P at line 7"), "{}", beside.reason);
}

#[test]
fn where_no_few_waits_do_an_order_of_types_may() {
    let text = "byte n;\nactive proctype Clock() {\ndo\n:: atomic { assert(n < 2); n++ }\nod }\n\
        active proctype Watcher() {\ndo\n:: atomic { n > 0 -> n = 0 }\nod }\n";
    let by_value = answer(text);
    assert_eq!(waits(&by_value), ["Clock at line 4 waits while n is 2"]);
    assert_eq!(by_value.kept.as_ref().map(|kept| (kept.states, kept.of)), Some((3, Some(3))));
    let hint = "a condition variable does the same: Clock goes on at line 4 only in one step with the test whether n is 2, \
                waits as long as that is so, and is woken when it is not";
    assert_eq!(by_value.hints, [hint]);
    let WhileReport::Value(value) = &by_value.waits[0].while_ else { panic!("{by_value:?}") };
    assert_eq!((value.cell.as_str(), value.condition.as_str(), value.values), ("n", "n == 2", [2, 2]));
    // Waits do not speak of elements of arrays as large as this one.
    let report = answer(
        &text
            .replace("byte n", "byte n[9]")
            .replace("n < 2", "n[0] < 2")
            .replace("n++", "n[0]++")
            .replace("n > 0 -> n = 0", "n[0] > 0 -> n[0] = 0"),
    );
    assert_eq!((report.verdict, report.waits.len()), (ScheduleVerdict::Avoidable, 0), "{report:?}");
    assert_eq!(report.priorities, ["Watcher", "Clock"]);
    assert!(report.reason.contains("none of a more important type can: Watcher, then Clock"), "{}", report.reason);
    assert_eq!(report.checked.as_ref().map(|checked| checked.states), Some(2));
}

#[test]
fn nothing_is_said_where_there_is_nothing_to_avoid() {
    let report = answer("active proctype P() { skip }");
    assert_eq!((report.verdict, report.checked.map(|checked| checked.states)), (ScheduleVerdict::Holds, Some(3)));
    // Nor where there are too many processes to say who waits where.
    let many = answer("byte x;\nactive [65] proctype P() { end: x == 1; assert(false) }\n");
    assert_eq!(
        (many.verdict, many.reason.as_str()),
        (ScheduleVerdict::Holds, "no error under any schedule (1 state, exhaustive)")
    );
}

#[test]
fn whoever_waits_makes_no_timeout_executable() {
    // If P were held at its first statement, Q's timeout would not become executable: the model would be at a dead end.
    let text = "bool done;\nactive proctype P() { done = true; assert(false) }\nactive proctype Q() { timeout }\n";
    let report = answer(text);
    assert_eq!(report.verdict, ScheduleVerdict::Unavoidable, "{report:?}");
}

#[test]
fn both_sides_of_a_rendezvous_wait() {
    let text = "chan c = [0] of { bit };\nbool first;\n\
        active proctype Sender() { c!1 }\n\
        active proctype Setter() {\nskip;\nfirst = true }\n\
        active proctype Receiver() {\nc?_;\nassert(first) }\n";
    let report = answer(text);
    assert_eq!((report.verdict, report.waits.len()), (ScheduleVerdict::Avoidable, 1), "{report:?}");
}

#[test]
fn what_is_not_supported_is_said() {
    let priority = answer("active proctype P() priority 2 { assert(false) }\nactive proctype Q() { skip }");
    assert_eq!(priority.verdict, ScheduleVerdict::Unknown);
    assert!(priority.reason.contains("priorities"), "{}", priority.reason);
    let enabled = answer("active proctype P() { assert(enabled(1)) }\nactive proctype Q() { skip }");
    assert_eq!(enabled.verdict, ScheduleVerdict::Unknown);
    let hidden = answer("hidden byte h;\nactive proctype P() { h = 1; assert(false) }");
    assert_eq!(hidden.verdict, ScheduleVerdict::Unknown);
}

#[test]
fn a_limit_never_makes_a_schedule_of_an_unavoidable_error() {
    let text = "byte x;\nactive proctype P() { do :: x < 200 -> x++ :: x == 200 -> assert(false) od }\n\
        active proctype Q() { byte y; do :: y < 9 -> y++ :: y == 9 -> break od }\n";
    assert_eq!(answer(text).verdict, ScheduleVerdict::Unavoidable);
    for states_max in [1, 10, 100, 500, 1_000] {
        let request = ScheduleRequest { states_max, ..ScheduleRequest::default() };
        let report = answer_within(text, &request);
        assert_eq!(report.verdict, ScheduleVerdict::Unknown, "{states_max}");
        assert!(report.reason.contains("limit"), "{}", report.reason);
    }
}

#[test]
fn an_unavoidable_error_is_known_before_everything_is_explored() {
    // There is nobody else to let move; what the counter does meanwhile need not be known.
    let text = "int n;\nactive proctype P() { do :: n++ :: n > 3 -> assert(false) od }\n";
    let report = answer(text);
    assert_eq!(report.verdict, ScheduleVerdict::Unavoidable, "{}", report.reason);
    assert!(!report.explored.exhaustive && report.explored.states < 1_000, "{:?}", report.explored);
    assert!(report.reason.contains("were enough to show this"), "{}", report.reason);
    assert_eq!(report.forced.len(), 1, "{report:?}");
}

#[test]
fn what_is_chosen_is_named_as_it_stands_in_the_text() {
    let said = |text: &str| {
        let report = answer(text);
        assert_eq!(report.verdict, ScheduleVerdict::Unavoidable, "{}", report.reason);
        report.reason
    };
    // The bounds are an expression, so this is a loop that counts: nothing in the text says `break`.
    let select = "#define N 4\nbyte x;\nactive proctype P() {\n  select (x : 1 .. N - 1);\n  assert(x != 2)\n}\n";
    let reason = said(select);
    assert!(reason.contains("if P[0] at line 4 chooses `x = 2`: assertion"), "{reason}");
    // At the last value there is one way on only, but it was chosen to get there.
    let reason = said(&select.replace("x != 2", "x != 3"));
    assert!(reason.contains("if P[0] at line 4 chooses `x = 3`: assertion"), "{reason}");
    // A local variable, in an atomic sequence that begins and ends in the same way whatever is chosen.
    let atomic = "#define N 4\nbyte y;\nactive proctype P() {\n  byte x;\n  atomic {\n    y = 1;\n    \
        select (x : 1 .. N - 1);\n    if\n    :: y = 5\n    :: y = 6\n    fi;\n    y = x + y\n  }\n  assert(y != 8)\n}\n";
    let reason = said(atomic);
    let expected = "if P[0] at line 7 chooses `x = 2`, P[0] at line 10 chooses `y = 6`: assertion";
    assert!(reason.contains(expected) || reason.contains("`x = 3`, P[0] at line 9 chooses `y = 5`"), "{reason}");
}

#[test]
fn after_a_check_no_more_states_are_explored_than_the_check_may_store() {
    let loaded = loaded("byte x; active proctype P() { do :: x < 200 -> x++ od }");
    let limits = Limits { states_max: Some(50), ..Limits::default() };
    let settings = Settings { limits, schedule: true, properties: vec!["safety".to_owned()], ..Settings::default() };
    let mut context =
        CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let safety = check(&loaded, &settings, &mut context).report.properties.remove(0);
    // That the end is a deadlock lies behind the limit.
    assert_eq!((safety.verdict, safety.schedule), (Verdict::Undecided, None), "{}", safety.reason);
}

#[test]
fn a_part_that_a_scheduler_can_stay_in_is_enough() {
    // The other process alone would make a large graph; whoever lets it rest is safe.
    let text = "byte x, y, z;\nactive proctype P() { do :: x = 1 - x od }\n\
        active proctype Q() { do :: y++ :: z++ :: y == 255 && z == 255 -> assert(false) od }\n";
    let request = ScheduleRequest { states_max: 2_000, ..ScheduleRequest::default() };
    let report = answer_within(text, &request);
    assert_eq!(report.verdict, ScheduleVerdict::SafeIfScheduled, "{report:?}");
    assert_eq!(report.shuts_out, ["Q[1]"]);
    assert!(report.reason.contains("without a turn: Q[1]"), "{}", report.reason);
    // Once an error was met, there is something to avoid, though not everything was explored.
    let met = answer_within(&text.replace(":: y == 255", ":: y == 1 -> assert(false) :: y == 255"), &request);
    assert_eq!((met.verdict, met.explored.exhaustive), (ScheduleVerdict::Avoidable, false), "{met:?}");
    assert_eq!(met.shuts_out, report.shuts_out);
}

#[test]
fn who_is_shut_out_is_not_said_of_what_was_not_explored() {
    // Last goes on once Large is done, which is far behind what is explored; a schedule that lets Setter move first is safe.
    let text = "bool ready, done;\nbyte x, y, z;\nactive proctype P() { assert(ready); do :: x = 1 - x od }\n\
        active proctype Setter() { ready = true }\n\
        active proctype Large() { do :: y++ :: z++ :: y == 255 && z == 255 -> break od; done = true }\n\
        active proctype Last() { done; skip }\n";
    let request = ScheduleRequest { waits_max: 0, states_max: 2_000, ..ScheduleRequest::default() };
    let report = answer_within(text, &request);
    assert_eq!((report.verdict, report.explored.exhaustive), (ScheduleVerdict::Avoidable, false), "{report:?}");
    assert!(report.reason.contains("can stay among"), "{}", report.reason);
    assert!(report.shuts_out.iter().all(|who| !who.starts_with("Last")), "{report:?}");
    assert!(report.reason.contains("as far as is known: Large at line 5"), "{}", report.reason);
}

#[test]
fn a_mutex_that_blocks_where_the_waits_do_not_is_none() {
    // Q goes on from line 12 only once P was in its stretch: with a lock, Q can take it first, and then nobody moves.
    let text = "bool filled;\nbyte y;\nactive proctype P() {\ndo\n:: y++;\nfilled = true;\nassert(y == 1);\ny--\nod }\n\
        active proctype Q() {\ndo\n:: atomic { filled -> y++ };\nfilled = false;\nassert(y == 1);\ny--\nod }\n";
    let report = answer(text);
    assert_eq!(report.waits.len(), 2, "{report:?}");
    let (p, q) = text.split_once("active proctype Q").expect("two processes");
    let locked = |part: &str, first: &str| {
        let begins = part.replace(first, &format!("atomic {{ !m -> m = true }}; {first}"));
        begins.replace("y--", "atomic { y--; m = false }")
    };
    let locked = format!("bool m; {}active proctype Q{}", locked(p, "y++"), locked(q, "atomic { filled -> y++ }"));
    assert_ne!(answer(&locked).verdict, ScheduleVerdict::Holds, "{locked}");
    let is_condition = |hint: &String| hint.starts_with("a condition variable does the same");
    assert!(report.hints.len() == 2 && report.hints.iter().all(is_condition), "{report:?}");
}

#[test]
fn any_scheduler_may_be_the_one_that_is_delayed() {
    // Each can go on for ever: round-robin gives nobody but the first a turn, laps does.
    let text = "byte x, y, z;\nactive proctype P() { do :: x = 1 - x od }\n\
        active proctype Q() { do :: y = (y + 1) % 100 od }\nactive proctype R() { do :: z = (z + 1) % 100 od }\n";
    let under = |word: &str| {
        let scheduler = word.parse().expect("a scheduler");
        let request = ScheduleRequest { scheduler, states_max: 5_000, ..ScheduleRequest::default() };
        answer_within(text, &request)
    };
    let (rr, laps) = (under("rr"), under("laps"));
    assert_eq!(rr.shuts_out, ["Q[1]", "R[2]"], "{rr:?}");
    assert!(rr.reason.starts_with("round-robin without any delay: no error and no deadlock"), "{}", rr.reason);
    assert!(
        laps.reason.starts_with("round-robin with laps without any delay: no error and no deadlock in its 300 states"),
        "{laps:?}"
    );
    assert_eq!((laps.shuts_out.len(), laps.explored.scheduler.as_str()), (0, "round-robin with laps"), "{laps:?}");
    assert_eq!(under("auto"), laps);
    let named = ScheduleRequest { scheduler: "priority:Boss".parse().expect("a scheduler"), ..Default::default() };
    let found = schedule(&loaded(LOCKS), &named, &Stops::all(&Cancel::new()), &mut |_| {});
    assert_eq!(found.warning.as_deref(), Some("the scheduler names `Boss`, but this model has no such processes"));
}

#[test]
fn a_schedule_that_looks_at_the_whole_state_says_where_it_holds_processes_back() {
    let text = "bit fork[2];
active [2] proctype P() {
    atomic { !fork[_pid] -> fork[_pid] = 1 };
    atomic { !fork[1 - _pid] -> fork[1 - _pid] = 1 };
    fork[_pid] = 0;
    fork[1 - _pid] = 0
}";
    let report = answer_within(text, &ScheduleRequest { waits_max: 0, ..ScheduleRequest::default() });
    assert_eq!(report.verdict, ScheduleVerdict::Avoidable, "{}", report.reason);
    let told: Vec<_> = report.held_back.iter().map(|at| (at.place.line, at.held, at.states)).collect();
    // One of them may not take its first fork while the other holds just one. It could in the initial state, too, and once the
    // other is at its end; the younger one also goes away then.
    assert_eq!(told, [(3, 2, 6)]);
    assert!(answer(text).held_back.is_empty(), "a wait says it better");
}

#[test]
fn after_a_check_as_much_is_explored_as_goes_with_what_the_check_did() {
    let open = "byte a, b, c, d;\nactive [2] proctype P() {\n\
        do :: a++ :: b++ :: c++ :: d++ :: a == 200 && b == 200 && c == 200 && d == 200 -> break od;\nassert(false) }";
    for (listed, at_most) in [(0, "100 000"), (300_000, "150 000"), (1_000_000, "400 000")] {
        let report = answer_within(open, &ScheduleRequest::after_check(listed));
        assert_eq!(report.verdict, ScheduleVerdict::Unknown);
        assert!(report.reason.ends_with(&format!("the limit of {at_most} transitions was reached")), "{report:?}");
    }
}

/// What a look at length says if it is ended when it tells this part of its progress (counted from 0), and what it told.
fn ended_at(text: &str, event: usize) -> (ScheduleReport, Vec<ScheduleProgress>) {
    let cancel = Cancel::new();
    let mut events = Vec::new();
    let request = ScheduleRequest { states_max: 1_000, ..ScheduleRequest::unhurried() };
    let scheduled = schedule(&loaded(text), &request, &Stops::all(&cancel), &mut |progress| {
        if events.len() == event {
            cancel.cancel();
        }
        events.push(progress);
    });
    assert_eq!(scheduled.failure, None, "{text}");
    (scheduled.report, events)
}

#[test]
fn a_longer_look_says_no_less_wherever_it_is_ended() {
    let unfinished = LOCKS.replace("bool a, b;", "bool a, b;\nint n;").replace("b = false;", "b = false; n++;");
    for (text, waits) in [(LOCKS, 2), (&unfinished, 0)] {
        let (whole, events) = ended_at(text, usize::MAX);
        let brief = events
            .iter()
            .position(|event| matches!(event, ScheduleProgress::Begins(Stage::Telling)))
            .expect("the brief look tells what it found");
        assert!(brief + 1 < events.len(), "a longer look follows: {events:?}");
        for event in brief + 1..events.len() {
            let (report, _) = ended_at(text, event);
            assert_eq!((report.verdict, report.waits.len()), (whole.verdict, waits), "{event}: {report:?}");
            assert!(report.checked.is_some(), "{event}: {report:?}");
        }
    }
}
