//! Checks of infinite runs through the front door: verdicts, loops, fairness, hints.

use fabius_base::{Cancel, Code, Limits};
use fabius_engine::report::{PropertyReport, Stopped, ViolationClass};
use fabius_engine::settings::{ALONE_BEFORE_ANEW_TRANSITIONS, DepthBounding, Progress, ThreadCount};
use fabius_engine::{CheckContext, Cycles, Delaying, Fairness, Order, Outcome, Settings, Verdict, check, load};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) fn run(text: &str, settings: &Settings) -> Outcome {
    run_by(text, settings, &|| Duration::ZERO)
}

fn run_by(text: &str, settings: &Settings, now: &(dyn Fn() -> Duration + Sync)) -> Outcome {
    let loaded = load("model.pml", text.to_owned(), &[], &mut |_, _| None, settings);
    let mut observe = |_| {};
    let mut context = CheckContext { cancel: &Cancel::new(), now, observe: &mut observe, controls: None };
    let outcome = check(&loaded, settings, &mut context);
    assert_eq!(outcome.failure, None);
    outcome
}

pub(crate) fn property(text: &str, name: &str, settings: &Settings) -> PropertyReport {
    let settings = Settings { properties: vec![name.to_owned()], ..settings.clone() };
    let outcome = run(text, &settings);
    let found = outcome.report.properties.into_iter().find(|property| property.name == name);
    found.unwrap_or_else(|| panic!("no property {name}: {:?}", outcome.report.findings))
}

/// All ways in which infinite runs are looked for.
pub(crate) fn ways() -> Vec<Settings> {
    let mut ways = Vec::new();
    for cycles in [Cycles::Suitable, Cycles::NestedDfs, Cycles::Components] {
        for (threads, reduction, optimize) in [(1, true, true), (1, false, true), (1, false, false), (2, false, true)] {
            // Components are found by one thread.
            let threads = if cycles == Cycles::Components { 1 } else { threads };
            ways.push(Settings {
                cycles,
                threads: ThreadCount::Exactly(threads),
                reduction,
                optimize,
                ..Settings::default()
            });
        }
    }
    ways
}

const PETERSON: &str = "bool wants[2], inside[2]; byte turn;
active [2] proctype P() {
    do
    :: wants[_pid] = true; turn = 1 - _pid;
       (!wants[1 - _pid] || turn == _pid);
       inside[_pid] = true; inside[_pid] = false;
       wants[_pid] = false
    od
}
ltl exclusive { [] !(inside[0] && inside[1]) }
ltl often { [] <> inside[0] }";

const SEMAPHORE: &str = "byte free = 1; bool working[2];
active [2] proctype Worker() {
    do :: atomic { free > 0 -> free-- }; working[_pid] = true; working[_pid] = false; free++ od
}
ltl gets_it { [] <> working[0] }";

#[test]
fn every_search_gives_the_same_verdict() {
    for settings in ways() {
        assert_eq!(property(PETERSON, "exclusive", &settings).verdict, Verdict::Holds, "{settings:?}");
        let often = property(PETERSON, "often", &settings);
        assert_eq!(often.verdict, Verdict::Violated, "{settings:?}");
        let violation = &often.violations[0];
        assert_eq!(violation.kind, ViolationClass::AcceptanceCycle);
        let infinite = violation.infinite.as_ref().expect("a run that never ends has a loop");
        assert!(violation.loop_start.is_some_and(|start| start + infinite.steps == violation.steps + 1));
    }
}

#[test]
fn fairness_leaves_out_runs_that_neglect_a_process() {
    let verdict = |text, name, fairness| property(text, name, &Settings { fairness, ..Settings::default() }).verdict;
    assert_eq!(verdict(PETERSON, "often", Fairness::None), Verdict::Violated);
    assert_eq!(verdict(PETERSON, "often", Fairness::Weak), Verdict::Holds);
    assert_eq!(verdict(SEMAPHORE, "gets_it", Fairness::Weak), Verdict::Violated);
    assert_eq!(verdict(SEMAPHORE, "gets_it", Fairness::Strong), Verdict::Holds);
    let told = property(PETERSON, "often", &Settings::default()).violations[0].explanation.join(" ");
    assert!(told.contains("No weakly fair run violates it"), "{told}");
}

#[test]
fn a_livelock_is_a_loop_without_progress() {
    let text = "bool trying[2];
active [2] proctype Polite() {
    do
    :: trying[_pid] = true;
       if :: trying[1 - _pid] -> trying[_pid] = false :: else -> progress: trying[_pid] = false fi
    od
}";
    for settings in ways() {
        let found = property(text, "progress", &settings);
        assert_eq!(found.verdict, Verdict::Violated, "{settings:?}");
        assert_eq!(found.violations[0].kind, ViolationClass::NonProgressCycle);
    }
}

#[test]
fn a_process_that_stands_at_its_label_is_no_progress_of_the_others() {
    // `idle` stands at its progress label for ever; only the notion of states is deceived.
    let text = "byte x; active proctype idle() { progress: x > 9 } active proctype busy() { do :: x = 1 - x od }";
    let verdict = |progress| property(text, "progress", &Settings { progress, ..Settings::default() }).verdict;
    assert_eq!(verdict(Progress::States), Verdict::Holds);
    assert_eq!(verdict(Progress::Transitions), Verdict::Violated);
    let settings = Settings { progress: Progress::Transitions, ..Settings::default() };
    let told = property(text, "progress", &settings).violations[0].explanation.join(" ");
    assert!(told.contains("idle[0] stands at a progress label"), "{told}");
    assert!(told.contains("waits all the time at `x > 9`, which is false in every state of the loop"), "{told}");
    // Where nobody stands at one, both notions agree, and nothing is said.
    let text = "byte x; active proctype busy() { do :: x = 1 - x :: x = 0; progress: x = 1 od }";
    let told = property(text, "progress", &settings).violations[0].explanation.join(" ");
    assert!(!told.contains("progress label"), "{told}");
}

#[test]
fn a_beginning_can_decide_and_an_end_goes_on_for_ever() {
    let text = "byte x; active proctype p() { x = 1; x = 2 } ltl small { [] (x < 2) } ltl three { <> (x == 3) }";
    let small = property(text, "small", &Settings::default());
    assert_eq!(small.violations[0].kind, ViolationClass::ClaimCompleted);
    assert_eq!(small.violations[0].steps, 2);
    let three = property(text, "three", &Settings::default());
    assert_eq!((three.verdict, three.violations[0].kind), (Verdict::Violated, ViolationClass::AcceptanceCycle));
    let infinite = three.violations[0].infinite.as_ref().expect("the last state lasts for ever");
    assert_eq!((infinite.steps, three.violations[0].loop_start), (0, Some(three.violations[0].steps + 1)));
}

#[test]
fn a_run_that_ends_is_explained_as_one() {
    let stuck = "byte x; active proctype p() { x = 1; x == 5; x = 3 } ltl three { <> (x == 3) }";
    let violation = &property(stuck, "three", &Settings::default()).violations[0];
    let told = [
        "In the last state, `x == 3` is false.",
        "Nothing can move any more; the last state lasts for ever.",
        "p[0] waits at `x == 5`, which is false: x is 1.",
    ];
    assert_eq!(violation.explanation, told);
    assert_eq!(violation.blocked.len(), 1);
    let advice = "Check who should have made the condition true, and whether it was true too early.";
    assert_eq!(violation.advice.as_deref(), Some(advice));
    let ended = "byte x; active proctype p() { x = 1; x = 2 } ltl three { <> (x == 3) }";
    let violation = &property(ended, "three", &Settings::default()).violations[0];
    assert_eq!(violation.explanation[1], "Every process has ended; the last state lasts for ever.");
    assert!(violation.advice.as_ref().is_some_and(|advice| advice.starts_with("The run ends where it may")));
}

#[test]
fn a_formula_is_explained_by_its_propositions_and_by_the_fairness_of_its_loop() {
    let text = "byte n, q; active proctype a() { do :: n = 1 - n od } active proctype b() { q = 7 }\n\
                ltl served { <> (q == 7) } ltl calm { <> [] (n == 0) }";
    let served = &property(text, "served", &Settings::default()).violations[0];
    assert_eq!(served.explanation[0], "Throughout the loop, `q == 7` is false.");
    let last: Vec<&str> = served.explanation.iter().rev().take(2).rev().map(String::as_str).collect();
    assert_eq!(last, ["Unfair run: excluded under weak fairness.", "No weakly fair run violates it."]);
    let calm = &property(text, "calm", &Settings::default()).violations[0];
    assert!(calm.explanation[0].starts_with("In the loop, `n == 0` is "), "{:?}", calm.explanation);
    assert!(calm.advice.as_ref().is_some_and(|advice| !advice.contains("progress")), "{:?}", calm.advice);
    let bad = "byte x; active proctype p() { x = 1; x = 2 } ltl small { [] (x < 2) }";
    let small = &property(bad, "small", &Settings::default()).violations[0];
    assert_eq!(small.explanation, ["In the last state, `x < 2` is false (since step 2)."]);
}

#[test]
fn an_acceptance_cycle_names_the_labels_in_it() {
    let text = "byte x;
active proctype P() { accept_busy: do :: x = 1 - x od }
active proctype Q() { x == 7; accept_never: x = 0 }";
    let found = property(text, "acceptance", &Settings::default());
    let told = &found.violations[0].explanation;
    assert_eq!(told[..2], ["In the loop, P[0] moves.", "In the loop, P[0] is at acceptance label `accept_busy`."]);
}

#[test]
fn a_formula_speaks_for_itself_and_a_claim_for_the_labels_too() {
    let labelled = "byte x; active proctype p() { accept: do :: x = 1 - x od }";
    assert_eq!(property(labelled, "acceptance", &Settings::default()).verdict, Verdict::Violated);
    let formula = format!("{labelled} ltl small {{ [] (x < 2) }}");
    assert_eq!(property(&formula, "small", &Settings::default()).verdict, Verdict::Holds);
    let claim = format!("{labelled} never {{ do :: true od }}");
    assert_eq!(property(&claim, "never", &Settings::default()).verdict, Verdict::Violated);
}

#[test]
fn a_formula_may_come_from_outside() {
    let text = "#define done (x == 2)\nbyte x; active proctype p() { x = 1; x = 2 }";
    let verdict = |formula: &str| {
        property(text, "formula", &Settings { formulas: vec![formula.to_owned()], ..Settings::default() }).verdict
    };
    assert_eq!(verdict("<> done"), Verdict::Holds);
    assert_eq!(verdict("[] !done"), Verdict::Violated);
}

#[test]
fn an_event_trace_is_part_of_safety() {
    let text = |second: &str| {
        format!("chan c = [2] of {{ byte }}; trace {{ do :: c!1; c?1 od }} active proctype p() {{ c!1; {second} }}")
    };
    assert_eq!(property(&text("c?_"), "safety", &Settings::default()).verdict, Verdict::Holds);
    let broken = property(&text("c!1; c?_; c?_"), "safety", &Settings::default());
    assert_eq!(broken.violations[0].kind, ViolationClass::Trace);
}

#[test]
fn starvation_is_hinted_at_only_on_request() {
    let text = "byte free = 1;
active proctype greedy() { do :: free > 0 -> free-- ; free++ od }
active proctype patient() { free > 1; skip }";
    let hints = |hints| {
        let outcome = run(text, &Settings { hints, ..Settings::default() });
        let found = outcome.report.findings.iter().filter(|finding| finding.code == Code::Starvation.as_str());
        found.map(|finding| finding.line).collect::<Vec<_>>()
    };
    assert!(hints(false).is_empty());
    assert_eq!(hints(true), [3]);
}

#[test]
fn hints_depend_on_work_and_say_when_it_was_too_little() {
    // A waits for ever; before that is known, the others' steps are far too many.
    let text = "byte free = 1; byte x[6];
active proctype A() { free > 1; skip }
active [6] proctype N() { do :: x[_pid - 1] < 30 -> x[_pid - 1]++ :: x[_pid - 1] > 20 -> x[_pid - 1] = 0 od }
active proctype B() { x[0] == 31 -> skip; x[1] == 31 -> skip }";
    let hints = |now: &(dyn Fn() -> Duration + Sync)| {
        let settings = Settings { hints: true, properties: vec!["acceptance".to_owned()], ..Settings::default() };
        let found = run_by(text, &settings, now).report.findings.into_iter();
        found.filter(|finding| finding.code == Code::Starvation.as_str()).map(|f| f.message).collect::<Vec<_>>()
    };
    let hours = AtomicU64::new(0);
    let busy = || Duration::from_secs(3600 * hours.fetch_add(1, Ordering::Relaxed));
    let told = hints(&busy);
    assert_eq!(told, hints(&|| Duration::ZERO));
    assert_eq!(told.iter().filter(|told| told.contains("was cut short")).count(), 1, "{told:?}");
}

#[test]
fn why_a_model_is_not_reduced_is_said() {
    let of = |text: &str, name: &str| property(text, name, &Settings::default()).reduction;
    assert_eq!(of(PETERSON, "often"), "on");
    // What a channel holds is known in every state, unless the variable may name another channel.
    let asking = |more: &str| {
        let send = format!("do :: q ! 1 :: q ? _ {more} od");
        let text = format!(
            "chan q = [2] of {{ byte }}; chan r = [1] of {{ byte }};\nactive proctype P() {{ {send} }}\n\
             active proctype Q() {{ byte x; do :: x = 1 - x od }}\n\
             ltl p {{ []<>(q ? [1] -> <>[] (len(q) > 0 && len(q) < 2)) }}"
        );
        of(&text, "p")
    };
    assert_eq!(asking(""), "on");
    assert!(asking(":: q = r").contains("single steps"));
    let with_claim = |claim: &str| of(&format!("{PETERSON} never {{ {claim} }}"), "never");
    assert_eq!(with_claim("accept: do :: inside[0] od"), "on");
    assert_eq!(with_claim("do :: assert(!inside[0] || !inside[1]) od"), "on");
    // The second state and all after it.
    let counting = with_claim("skip; accept: do :: inside[0] od");
    assert!(counting.starts_with("Reduction off: ") && counting.contains("single steps"), "{counting}");
    // It accepts nothing, but cannot be evaluated where the second state is one with `turn == 1`.
    let failing = with_claim("skip; inside[turn + 1] || true; false");
    assert!(failing.contains("single steps"), "{failing}");
}

#[test]
fn a_claim_that_wants_one_more_step_gets_it_before_an_atomic_sequence_without_end() {
    // Once `ready` is set, the claim wants to see one more state. Where Q moves before P sets it, there is none.
    let text = "byte ready, closed, kept[3];
proctype P(byte at) {
    if :: closed == 0; d_step { ready = 1 } fi;
    atomic { do :: kept[at] < 1 od }
}
proctype Q() { closed = 1 }
init { atomic { run Q(); run P(2) } }
never { wait: if :: ready == 0 -> goto wait :: else -> goto seen fi; seen: skip }";
    for reduction in [true, false] {
        let report = property(text, "never", &Settings { reduction, ..Settings::default() });
        assert_eq!(report.verdict, Verdict::Violated, "{reduction}: {}", report.reduction);
    }
}

/// Statements that a search executes as one step. In the words of the text, claims see every single one.
const MERGED: &str = "byte round; bool on;
active proctype P() {
    byte a, b, idle;
    do
    :: round = (round + 1) % 2; a = round; b = a + 1; idle = (idle + 1) % 3; on = b > 1
    od
}
never { do :: !on :: on -> break od; accept: do :: true od }
ltl settles { <> [] on }";

#[test]
fn a_run_is_told_in_the_statements_of_the_text_whatever_watches_it() {
    let written = ["round = (round+1)%2", "a = round", "b = a+1", "idle = (idle+1)%3", "on = b > 1"];
    let same = |shown: &str, written: &str| shown.replace(' ', "") == written.replace(' ', "").as_str();
    for name in ["never", "settles"] {
        for optimize in [true, false] {
            let found = property(MERGED, name, &Settings { optimize, ..Settings::default() });
            let violation = &found.violations[0];
            assert_eq!(violation.kind, ViolationClass::AcceptanceCycle);
            for (at, step) in violation.trace.iter().enumerate() {
                assert!(same(&step.text, written[at % written.len()]), "{name}: step {}: {}", at + 1, step.text);
            }
            let length = violation.infinite.as_ref().map_or(0, |infinite| infinite.steps);
            assert_eq!(length, 30, "{name}: idle and round are the same again after six times five steps");
        }
    }
}

/// The second process is looked at first, and has a long way to go round.
const LONG_WAY_ROUND: &str = "byte x[2]; byte turn; bool done;
active proctype P() {
    do :: turn == 0 -> turn = 1 :: turn == 1 -> turn = 0 :: turn == 1 -> progress: done = true; turn = 0 od
}
active proctype Noise() {
    do :: x[0] < 40 -> x[0]++ :: x[1] < 40 -> x[1]++ :: x[0] == 40 -> x[0] = 0 od
}
ltl never_one { [] (turn != 1) }
ltl done_at_last { <> done }
ltl always_again { [] <> (turn == 5) }";

#[test]
fn what_never_ends_is_shown_by_a_shortest_run() {
    // Two steps each: a test and what follows it.
    for (name, fairness, steps) in [
        ("progress", Fairness::None, 4),
        ("never_one", Fairness::None, 2),
        ("done_at_last", Fairness::None, 4),
        ("always_again", Fairness::None, 4),
        // With fairness both have to go round.
        ("always_again", Fairness::Weak, 14),
        ("always_again", Fairness::Strong, 14),
    ] {
        let threads_max = if fairness == Fairness::None { 2 } else { 1 };
        for threads in 1..=threads_max {
            let settings =
                Settings { fairness, threads: ThreadCount::Exactly(threads), optimize: false, ..Settings::default() };
            let text = if fairness == Fairness::None { LONG_WAY_ROUND } else { &LONG_WAY_ROUND.replace("40", "4") };
            let found = property(text, name, &settings);
            let [violation] = found.violations.as_slice() else { panic!("{name}: {found:?}") };
            assert_eq!((violation.steps, violation.shortest), (steps, true), "{name} {fairness:?}");
        }
    }
}

#[test]
fn a_run_is_shortened_only_where_that_is_wanted_and_fits() {
    let as_found = Settings { search: Order::DepthFirst, ..Settings::default() };
    let found = property(LONG_WAY_ROUND, "progress", &as_found);
    assert!(4 < found.violations[0].steps && !found.violations[0].shortest, "{found:?}");
    let limits = Limits { states_max: Some(90), ..Limits::default() };
    let limited = property(LONG_WAY_ROUND, "progress", &Settings { limits, ..Settings::default() });
    assert!(limited.violations.iter().all(|violation| violation.steps <= found.violations[0].steps), "{limited:?}");
}

#[test]
fn a_short_run_is_found_where_others_would_rest() {
    // All together have far more states than are looked at; one alone has few.
    let text = "byte t;
active proctype P() { do :: t < 12 -> t++ :: t == 12 -> t = 0 od }
active [6] proctype Noise() { byte x; do :: x < 200 -> x++ :: x == 200 -> x = 0 od }
active proctype Q() { t == 100; progress: skip }";
    let settings = Settings { optimize: false, clarify_transitions_max: 400_000, ..Settings::default() };
    let found = property(text, "progress", &settings);
    let violation = &found.violations[0];
    assert_eq!((violation.steps, violation.shortest), (26, false), "nothing proves that there is none shorter");
}

#[test]
fn a_loop_of_many_similar_rounds_becomes_a_few_rounds() {
    // A depth-first search goes round with `s` hundreds of times before its loop closes. Among the states near its run, and among the
    // loops from each of its states in turn, nothing shorter is found within the budget.
    let text = "byte s, j, c, t;
active proctype P() {
    do ::
        s = (s + 1) % 256;
        c = 0;
        do :: c < 10 -> c++ :: break od;
        t = j;
        if :: j = (j + 1) % 11 :: j = (j + 10) % 11 fi;
        skip;
        (c != t || c == t)
    od
}
ltl reached { <> (s == 7 && j == 13) }";
    let one_thread = Settings { threads: ThreadCount::Exactly(1), ..Settings::default() };
    let as_found = property(text, "reached", &Settings { search: Order::DepthFirst, ..one_thread.clone() });
    let shortened = property(text, "reached", &one_thread);
    let (long, short) = (as_found.violations[0].steps, shortened.violations[0].steps);
    assert!(3 * short < long, "{long} {short}");
}

#[test]
fn every_search_shows_the_same_run_that_never_ends() {
    let text = &LONG_WAY_ROUND.replace("40", "4");
    for name in ["progress", "never_one", "done_at_last", "always_again"] {
        let plain = property(text, name, &Settings::default());
        let others = [
            Settings { threads: ThreadCount::Exactly(2), ..Settings::default() },
            Settings { cycles: Cycles::Components, ..Settings::default() },
            Settings { reduction: false, ..Settings::default() },
            Settings { delaying: Some(Delaying::default()), ..Settings::default() },
            Settings { depth_bounding: Some(DepthBounding { increment: 5, cut_off: None }), ..Settings::default() },
        ];
        for settings in others {
            let found = property(text, name, &settings);
            let (shown, plain) = (&found.violations[0], &plain.violations[0]);
            assert_eq!((&shown.trace, shown.loop_start), (&plain.trace, plain.loop_start), "{name}: {settings:?}");
            assert_eq!((shown.shortest, &shown.explanation), (true, &plain.explanation), "{name}: {settings:?}");
        }
    }
}

#[test]
fn what_is_shown_depends_on_work_and_not_on_time() {
    let shown = |settings: &Settings, now: &(dyn Fn() -> Duration + Sync)| {
        let outcome = run_by(LONG_WAY_ROUND, settings, now);
        let properties = outcome.report.properties.into_iter();
        properties.map(|property| (property.name, property.violations)).collect::<Vec<_>>()
    };
    for clarify_transitions_max in [0, 1_000, 20_000, 100_000] {
        let settings = Settings { clarify_transitions_max, ..Settings::default() };
        let hours = AtomicU64::new(0);
        let busy = || Duration::from_secs(3600 * hours.fetch_add(1, Ordering::Relaxed));
        assert_eq!(shown(&settings, &busy), shown(&settings, &|| Duration::ZERO), "{clarify_transitions_max}");
    }
}

#[test]
fn what_was_cut_short_is_said() {
    let settings = Settings { clarify_transitions_max: 0, ..Settings::default() };
    let violation = &property(LONG_WAY_ROUND, "always_again", &settings).violations[0];
    assert!(!violation.shortest);
    for sentence in [
        "Whether a fair run violates it too is not known: the search for one was cut short.",
        "A shorter run may exist: the search for one was cut short.",
    ] {
        assert!(violation.explanation.iter().any(|told| told == sentence), "{:?}", violation.explanation);
    }
}

/// A claim, a formula and progress behind which something is hidden by a runtime error.
const BEHIND_AN_ERROR: &str = "byte a[2], i = 2, x;
active proctype A() {
    if :: a[i] == 0 -> x = 1 :: x = 2 fi;
    progress: skip
}
ltl never_one { [] (x != 1) }";

#[test]
fn nothing_holds_behind_a_runtime_error() {
    let depth = DepthBounding { increment: 5, cut_off: None };
    let others = [
        Settings { fairness: Fairness::Weak, ..Settings::default() },
        Settings { delaying: Some(Delaying::default()), ..Settings::default() },
        Settings { depth_bounding: Some(depth), ..Settings::default() },
    ];
    for settings in ways().into_iter().chain(others) {
        for name in ["never_one", "progress"] {
            let report = property(BEHIND_AN_ERROR, name, &settings);
            assert_eq!(report.verdict, Verdict::Undecided, "{name}: {settings:?}");
            assert_eq!((report.stopped, report.exhaustive), (Some(Stopped::RuntimeErrors), false), "{settings:?}");
            assert!(report.reason.contains("line 3: index 2 is outside the array"), "{}", report.reason);
        }
    }
}

#[test]
fn a_violation_beside_a_runtime_error_is_one() {
    let text = BEHIND_AN_ERROR.replace("x != 1", "x != 2");
    for settings in ways() {
        assert_eq!(property(&text, "never_one", &settings).verdict, Verdict::Violated, "{settings:?}");
    }
}

#[test]
fn a_runtime_error_that_cannot_happen_does_not_matter() {
    let text = BEHIND_AN_ERROR.replace("i = 2", "i = 1").replace("x = 1 ::", "x = 3 ::");
    for settings in ways() {
        assert_eq!(property(&text, "never_one", &settings).verdict, Verdict::Holds, "{settings:?}");
    }
}

/// Many states; what happens for ever is what `LAST` does in the end.
const COUNTERS: &str = "byte a, b, c;
proctype Count() {
    do
    :: a < 32 -> a++
    :: b < 32 -> b++
    :: c < 32 -> c++
    :: a == 32 && b == 32 && c == 32 -> progress: skip; LAST
    od
}
init { run Count() }
ltl grows { [] <> (a == 32) }
ltl ends { <> [] (a == 32) }";

#[test]
fn threads_that_join_find_what_one_thread_finds() {
    for (last, hold) in [("a = 0", ["progress", "grows"]), ("do :: b = 1 - b od", ["grows", "ends"])] {
        let text = COUNTERS.replace("LAST", last);
        for name in ["progress", "grows", "ends"] {
            let with = |threads| {
                let settings = Settings { threads, reduction: false, ..Settings::default() };
                property(&text, name, &settings)
            };
            let alone = with(ThreadCount::Exactly(1));
            assert_eq!((alone.states_before, alone.threads), (0, 0), "{name}: {last}");
            for (threads, begins_alone) in [(ThreadCount::UpTo(2), true), (ThreadCount::Exactly(2), false)] {
                let several = with(threads);
                let strategy = several.strategy.as_ref().expect("a search");
                // A violation that one thread finds soon needs no other.
                let is_soon = begins_alone && alone.transitions < ALONE_BEFORE_ANEW_TRANSITIONS;
                let threads = if is_soon { 1 } else { 2 };
                assert_eq!((several.verdict, strategy.threads), (alone.verdict, threads), "{name}: {last}");
                // A nested search is joined.
                let is_anew = begins_alone && !is_soon && name == "progress";
                assert_eq!(0 < several.states_before, is_anew, "{name}: {last}");
                if alone.verdict == Verdict::Holds {
                    assert!(several.audited.is_some() && alone.audited.is_some(), "{name}: {last}");
                    assert_eq!((several.states, several.exhaustive), (alone.states, true), "{name}: {last}");
                }
                let shortest = |report: &PropertyReport| {
                    let violation = report.violations.first().filter(|violation| violation.shortest);
                    violation.map(|violation| violation.trace.clone())
                };
                if let (Some(theirs), Some(its)) = (shortest(&several), shortest(&alone)) {
                    assert!(theirs == its, "{name}: {last}");
                }
            }
            assert_eq!(alone.verdict == Verdict::Holds, hold.contains(&name), "{name}: {last}");
        }
    }
}

/// A process that chooses bits, beside one that counts; neither sees the other.
pub(crate) fn apart(bits: usize) -> String {
    let choose: String = (0..bits).map(|at| format!("if :: b[{at}] = 0 :: b[{at}] = 1 fi; ")).collect();
    let all: String = (1..bits).map(|at| format!(" + b[{at}]")).collect();
    let count: String = (1..=20).map(|n| format!("n = {n}; ")).collect();
    format!(
        "bit b[{bits}]; byte n, seen; active proctype A() {{ {choose} b[0]{all} <= {bits} }}
        active proctype B() {{ {count} n == 20 }} ltl p {{ [] (seen == 0) }}"
    )
}

#[test]
fn a_reduction_that_leaves_out_nothing_is_given_up() {
    for threads in [ThreadCount::Exactly(1), ThreadCount::Exactly(2), ThreadCount::UpTo(2)] {
        let with = |text: &str, name: &str, reduction| {
            property(text, name, &Settings { threads, reduction, ..Settings::default() })
        };
        let counters = COUNTERS.replace("LAST", "do :: b = 1 - b od");
        for name in ["grows", "ends"] {
            let (tried, whole) = (with(&counters, name, true), with(&counters, name, false));
            assert_eq!(
                (tried.verdict, tried.states, &*tried.reduction),
                (whole.verdict, whole.states, "off"),
                "{name}"
            );
            assert!(whole.states_before < tried.states_before, "{name}: the first states were for nothing");
        }
        let (tried, whole) = (with(&apart(13), "p", true), with(&apart(13), "p", false));
        assert_eq!((tried.verdict, &*tried.reduction), (Verdict::Holds, "on"));
        assert!(5_000 < tried.states && tried.states * 10 < whole.states, "{} {}", tried.states, whole.states);
    }
}
