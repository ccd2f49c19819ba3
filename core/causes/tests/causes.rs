//! The causes that are found are compared with brute force: for violations of safety with the minimal sets of statements of all runs,
//! computed over the states of the reference interpreter; for infinite runs with searches for cycles in parts of the product.

use fabius_base::{Cancel, Limits};
use fabius_causes::report::{CausesVerdict, PropertyCauses};
use fabius_causes::{Causes, CausesContext, CausesRequest, NotAsked, Statements, causes};
use fabius_program::{EdgeId, Move, Program, ProgressOn, Watch};
use fabius_task::load::{Loaded, load};
use fabius_task::settings::Settings;
use fabius_testkit::generate::{self, Dice, small};
use fabius_testkit::parallel;
use fabius_testkit::product::{Cycle, Product};
use fabius_witness::{Ending, State, moves, settled};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Random models.
const MODELS: u64 = 400;
/// More states are not compared.
const STATES_MAX: usize = 1_500;
/// Models with more minimal sets for one state are not compared.
const SETS_MAX: usize = 60;
/// This many causes are asked for.
const CAUSES_MAX: usize = 40;
/// Infinite runs of models whose causes have more hitting sets than this are not compared.
const SELECTIONS_MAX: usize = 3_000;

fn loaded(text: &str) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

fn ask_at_most(loaded: &Loaded, property: &str, causes_max: usize) -> Result<Causes, NotAsked> {
    let settings = Settings { properties: vec![property.to_owned()], ..Settings::default() };
    let request = CausesRequest { settings, causes_max };
    let (cancel, mut observe) = (Cancel::new(), |_, _| {});
    causes(loaded, &request, &mut CausesContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe })
}

fn ask(loaded: &Loaded, property: &str) -> Causes {
    ask_at_most(loaded, property, CAUSES_MAX).expect("an answer")
}

fn only(causes: &Causes) -> &PropertyCauses {
    assert_eq!(causes.report.internal_error, None);
    &causes.report.properties[0]
}

fn edges(step: &Move) -> impl Iterator<Item = EdgeId> {
    [Some(step.edge), step.partner.map(|(_, edge)| edge)].into_iter().flatten()
}

/// Adds a set to sets of which none contains another; whether it was added.
fn add(sets: &mut Vec<Statements>, set: &Statements) -> bool {
    if sets.iter().any(|known| known.is_subset(set)) {
        return false;
    }
    sets.retain(|known| !set.is_subset(known));
    sets.push(set.clone());
    true
}

/// The minimal sets of statements of all runs to a violation of safety; `None` if there are too many states or sets.
fn by_definition(program: &Program) -> Option<Vec<Statements>> {
    let first = settled(program, &State::initial(program).ok()?);
    let mut reached: HashMap<State, Vec<Statements>> = HashMap::from([(first.clone(), vec![Statements::new()])]);
    let (mut open, mut violating) = (vec![first], Vec::new());
    while let Some(state) = open.pop() {
        let sets = reached[&state].clone();
        let next = moves(program, &state);
        if next.ending == Ending::Invalid {
            sets.iter().for_each(|set| _ = add(&mut violating, set));
        }
        for (step, outcome) in &next.successors {
            let with: Vec<Statements> =
                sets.iter().map(|set| set.iter().copied().chain(edges(step)).collect()).collect();
            if outcome.fault().is_some() {
                with.iter().for_each(|set| _ = add(&mut violating, set));
            }
            let Some(to) = outcome.state() else { continue };
            let to = settled(program, to);
            let known = reached.entry(to.clone()).or_default();
            let mut is_new = false;
            with.iter().for_each(|set| is_new |= add(known, set));
            if SETS_MAX < known.len() {
                return None;
            }
            if is_new {
                open.push(to);
            }
        }
        if STATES_MAX < reached.len() || SETS_MAX < violating.len() {
            return None;
        }
    }
    Some(violating)
}

#[derive(Default)]
struct Tally {
    compared: usize,
    several: usize,
    greatest: usize,
    none: usize,
}

impl Tally {
    fn count(&mut self, causes: usize) {
        self.compared += 1;
        self.several += usize::from(1 < causes);
        self.greatest = self.greatest.max(causes);
        self.none += usize::from(causes == 0);
    }

    fn sum(parts: Vec<Self>) -> Self {
        parts.into_iter().fold(Self::default(), |sum, part| Self {
            compared: sum.compared + part.compared,
            several: sum.several + part.several,
            greatest: sum.greatest.max(part.greatest),
            none: sum.none + part.none,
        })
    }
}

fn random(seed: u64) -> String {
    match seed % 3 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        _ => small::model(seed),
    }
}

#[test]
fn causes_of_violations_of_safety_are_those_of_the_definition() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let compare = |seed: &u64| {
        let mut tally = Tally::default();
        let model = random(*seed);
        let loaded = loaded(&model);
        let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return tally };
        let Some(expected) = by_definition(&program).filter(|sets| sets.len() <= CAUSES_MAX) else { return tally };
        let found = ask(&loaded, "safety");
        let report = only(&found);
        let expected: BTreeSet<Statements> = expected.into_iter().collect();
        let sets: BTreeSet<Statements> = found.causes.iter().map(|cause| cause.statements.clone()).collect();
        assert_eq!(sets, expected, "seed {seed}\n{model}");
        assert!(report.complete && found.causes.iter().all(|cause| cause.is_minimal), "seed {seed}\n{model}");
        let verdict = if expected.is_empty() { CausesVerdict::Holds } else { CausesVerdict::Violated };
        assert_eq!((report.verdict, report.causes.len()), (verdict, expected.len()), "seed {seed}\n{model}");
        for cause in &found.causes {
            let executed: Statements = cause.counterexample.path.iter().flat_map(edges).collect();
            assert_eq!(executed, cause.statements, "seed {seed}\n{model}");
        }
        tally.count(expected.len());
        tally
    };
    let Tally { compared, several, greatest, none } = Tally::sum(parallel::map(&seeds, compare));
    let told = format!("compared {compared}, several causes {several}, at most {greatest}, none {none}");
    assert!(100 < compared && 40 < several && 5 < greatest && 10 < none, "{told}");
}

/// Processes in loops, some at labels.
fn looping(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = "byte x, y;\nchan c = [0] of { byte };\n".to_owned();
    for process in ["A", "B"] {
        text += &format!("active proctype {process}() {{\n  do\n");
        for option in 0..2 + dice.below(2) {
            let (guard, other) = (dice.pick(&["x < 2", "x == y", "y != 1", "true", "c ! x", "c ? y"]), dice.below(3));
            let label = match dice.below(4) {
                0 => format!("progress{option}: "),
                1 => format!("accept{option}: "),
                _ => String::new(),
            };
            let set = dice.pick(&["x", "y"]);
            text += &format!("  :: {guard} -> {label}{set} = {other}\n");
        }
        if dice.one_in(2) {
            text += "  :: y == 2 -> break\n";
        }
        text += "  od\n}\n";
    }
    text
}

/// All ways to choose a statement of each cause.
fn selections(causes: &[Statements]) -> Vec<Statements> {
    causes.iter().fold(vec![Statements::new()], |chosen, cause| {
        let longer =
            chosen.iter().flat_map(|set| cause.iter().map(|edge| set.iter().copied().chain([*edge]).collect()));
        longer.collect::<BTreeSet<Statements>>().into_iter().take(SELECTIONS_MAX + 1).collect()
    })
}

#[test]
fn causes_of_cycles_are_minimal_and_all() {
    let questions = [
        ("progress", Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING }, Cycle::NoProgress),
        ("acceptance", Watch { acceptance: true, ..Watch::NOTHING }, Cycle::Accepting),
    ];
    let seeds: Vec<u64> = (0..MODELS).collect();
    let compare = |seed: &u64| {
        let mut tally = Tally::default();
        let model = looping(*seed);
        let loaded = loaded(&model);
        let program = loaded.as_written().unwrap_or_else(|| panic!("{:?}\n{model}", loaded.findings));
        for (property, watch, cycle) in questions {
            let Ok(product) = Product::of(&program, watch, STATES_MAX) else { continue };
            let Ok(found) = ask_at_most(&loaded, property, CAUSES_MAX) else { continue };
            if found.report.properties.is_empty() {
                continue;
            }
            let about = || format!("seed {seed}, {property}\n{model}");
            let report = only(&found);
            let sets: Vec<Statements> = found.causes.iter().map(|cause| cause.statements.clone()).collect();
            let violates = |left_out: &dyn Fn(EdgeId) -> bool| product.without_edges(left_out).has_cycle(cycle, false);
            for (set, cause) in sets.iter().zip(&found.causes) {
                assert!(violates(&|edge| !set.contains(&edge)), "{}", about());
                let needed = set.iter().all(|one| !violates(&|edge| edge == *one || !set.contains(&edge)));
                assert!(needed && cause.is_minimal, "{}", about());
            }
            let chosen = selections(&sets);
            if report.complete && chosen.len() <= SELECTIONS_MAX {
                assert!(chosen.iter().all(|left_out| !violates(&|edge| left_out.contains(&edge))), "{}", about());
                tally.count(sets.len());
            }
        }
        tally
    };
    let Tally { compared, several, greatest, none } = Tally::sum(parallel::map(&seeds, compare));
    let told = format!("compared {compared}, several causes {several}, at most {greatest}, none {none}");
    assert!(60 < compared && 20 < several && 3 < greatest && 5 < none, "{told}");
}

/// A lock that fails if it is taken without looking, and in another way if it is given back twice.
const TWO_WAYS: &str = "byte held, inside;
active proctype Polite() {
  held == 0; held = 1; inside++; assert(inside == 1); inside--; held = 0
}
active proctype Hasty() {
  inside++; assert(inside == 1); inside--
}
active proctype Vandal() {
  held = 3; assert(held == 3)
}
";

#[test]
fn the_causes_of_a_failing_lock_are_told_with_their_runs() {
    let loaded = loaded(TWO_WAYS);
    let found = ask(&loaded, "safety");
    let report = only(&found);
    assert!(report.complete);
    let told: Vec<(u64, Vec<u32>)> = (report.causes.iter())
        .map(|cause| (cause.run.steps, cause.statements.iter().map(|statement| statement.line).collect()))
        .collect();
    // Somebody else gives the lock back, or overwrites it, while it is looked at; or both are inside, and either notices.
    assert!(told.contains(&(4, vec![3, 3, 6, 6])) || told.contains(&(5, vec![3, 3, 3, 6, 6])), "{told:?}");
    assert_eq!(
        report.causes.iter().map(|cause| cause.number).collect::<Vec<_>>(),
        (1..=told.len()).collect::<Vec<_>>()
    );
    assert!(2 < told.len(), "{told:?}");
}

#[test]
fn a_limit_on_causes_or_states_is_told() {
    let loaded = loaded(TWO_WAYS);
    let first = ask_at_most(&loaded, "safety", 1).expect("an answer");
    let report = only(&first);
    assert_eq!((report.causes.len(), report.complete), (1, false));
    assert!(report.reason.as_ref().is_some_and(|why| why.contains("no more of them were asked for")));
    let limits = Limits { states_max: Some(2), ..Limits::default() };
    let request = CausesRequest { settings: Settings { limits, ..Settings::default() }, causes_max: 5 };
    let (cancel, mut observe) = (Cancel::new(), |_, _| {});
    let mut context = CausesContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe };
    let stopped = causes(&loaded, &request, &mut context).expect("an answer");
    let report = only(&stopped);
    assert_eq!((report.verdict, report.complete), (CausesVerdict::Unknown, false));
    assert!(report.reason.as_ref().is_some_and(|why| why.contains("the limit of 2 states")), "{:?}", report.reason);
}

#[test]
fn the_properties_share_the_time() {
    let loaded = loaded("byte x; active proctype P() { do :: x++ :: progress: x = 0 od }\nltl p { [] (x < 300) }");
    let clock = AtomicU64::new(1);
    let now = || Duration::from_millis(clock.fetch_add(1, Ordering::Relaxed));
    let until = Some(Duration::from_millis(6));
    let request = CausesRequest { settings: Settings { until, ..Settings::default() }, causes_max: 5 };
    let (cancel, mut observe) = (Cancel::new(), |_, _| {});
    let mut context = CausesContext { cancel: &cancel, now: &now, observe: &mut observe };
    let found = causes(&loaded, &request, &mut context).expect("an answer");
    assert_eq!(found.report.properties.len(), 3);
    let last = &found.report.properties[2];
    assert_eq!((last.verdict, last.complete), (CausesVerdict::Unknown, false));
    assert_eq!(last.reason.as_deref(), Some("the time allowed was used up"));
}

#[test]
fn a_formula_has_causes_and_an_unknown_property_is_refused() {
    let text = "byte x;
active proctype A() { do :: x = 1 :: x = 0 od }
active proctype B() { x = 2 }
ltl low { [] (x < 2) }
ltl settles { <> [] (x == 1) }
";
    let loaded = loaded(text);
    let low = ask(&loaded, "low");
    let lines = |causes: &Causes| -> Vec<Vec<u32>> {
        let causes = only(causes).causes.iter();
        causes.map(|cause| cause.statements.iter().map(|statement| statement.line).collect()).collect()
    };
    assert_eq!((lines(&low), only(&low).complete), (vec![vec![3]], true));
    // Either A never sets it to 1, or it sets it to 0 again and again.
    let settles = ask(&loaded, "settles");
    assert!(only(&settles).complete);
    assert!(lines(&settles).contains(&vec![2]), "{:?}", lines(&settles));
    assert!(matches!(ask_at_most(&loaded, "high", 5), Err(NotAsked::Refused(why)) if why.contains("high")));
}

#[test]
fn nothing_is_said_of_runs_that_stay_in_an_atomic_sequence() {
    let text = "byte x;
active proctype A() { atomic { do :: x = 1 - x od } }
active proctype B() { progress: (x == 7) }";
    let found = ask(&loaded(text), "progress");
    let report = only(&found);
    assert_eq!((report.verdict, report.complete), (CausesVerdict::Unknown, false));
    assert!(report.reason.as_ref().is_some_and(|why| why.contains("may never end")), "{:?}", report.reason);
}

#[test]
fn a_deadlock_at_the_start_needs_no_statement() {
    let loaded = loaded("byte x; active proctype P() { x == 1 }");
    let found = ask(&loaded, "safety");
    assert_eq!((only(&found).complete, only(&found).causes.len()), (true, 1));
    assert!(found.causes[0].statements.is_empty());
}

#[test]
fn who_stopped_it_is_told() {
    let loaded = loaded("byte x; active proctype P() { do :: x++; assert(x < 200) od }");
    let reason = |stop: fn(&Cancel)| {
        let (cancel, mut observe) = (Cancel::new(), |_, _| {});
        stop(&cancel);
        let mut context = CausesContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe };
        let request = CausesRequest { settings: Settings::default(), causes_max: 5 };
        only(&causes(&loaded, &request, &mut context).expect("an answer")).reason.clone()
    };
    assert_eq!(reason(Cancel::time_out).as_deref(), Some("the time allowed was used up"));
    assert_eq!(reason(Cancel::cancel).as_deref(), Some("it was interrupted"));
    assert_eq!(reason(Cancel::exhaust).as_deref(), Some("the system gave no more memory"));
}
