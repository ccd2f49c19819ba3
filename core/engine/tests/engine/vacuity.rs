//! What proved formulas are worth, compared with brute force over all of their literals.

use fabius_base::{Cancel, Code, Limits};
use fabius_engine::report::vacuity::{VacuityEnd, VacuityKind, VacuityReport};
use fabius_engine::settings::VacuityExtent;
use fabius_engine::{CheckContext, Fairness, Outcome, Settings, Verdict, check, load};
use fabius_program::facts::atomic_sequences_terminate;
use fabius_program::ltl::strengthen::{Strengthening, is_valid};
use fabius_program::meaning::Fault;
use fabius_program::{Formula, Program, PropertyKind, Watch};
use fabius_testkit::generate::small;
use fabius_testkit::parallel;
use fabius_testkit::product::{Cycle, Product};
use fabius_testkit::referee::{self, Options};
use std::sync::Arc;
use std::time::Duration;

/// Larger products are left out.
const STATES_MAX: usize = 1_500;

fn run(text: &str, settings: &Settings) -> Outcome {
    let loaded = load("model.pml", text.to_owned(), &[], &mut |_, _| None, settings);
    let mut observe = |_| {};
    let now = &|| Duration::ZERO;
    let mut context = CheckContext { cancel: &Cancel::new(), now, observe: &mut observe, controls: None };
    let outcome = check(&loaded, settings, &mut context);
    assert_eq!(outcome.failure, None, "{text}");
    outcome
}

fn vacuity(text: &str, name: &str, settings: &Settings) -> (Outcome, Option<VacuityReport>) {
    let settings = Settings { properties: vec![name.to_owned()], ..settings.clone() };
    let outcome = run(text, &settings);
    let report = outcome.report.properties.iter().find(|property| property.name == name);
    let vacuity = report.and_then(|report| report.vacuity.as_deref().cloned());
    (outcome, vacuity)
}

/// The formula of a model.
fn formula_of(program: &Program) -> Option<Formula> {
    program.properties.iter().find_map(|property| match &property.kind {
        PropertyKind::Ltl(formula) if property.name == "p" => Some(formula.clone()),
        _ => None,
    })
}

/// Whether all runs of a model satisfy a formula, by brute force; `None` if that is too much, or something fails.
fn satisfies(program: &Program, formula: &Formula, fair: bool) -> Option<bool> {
    let mut program = program.clone();
    program.properties.iter_mut().filter(|property| property.name == "p").for_each(|property| {
        property.kind = PropertyKind::Ltl(formula.clone());
    });
    let (mut program, claim) = program.with_claim("p").ok()?;
    let system = program.processes.iter_mut().take(claim.0 as usize);
    system.flat_map(|process| &mut process.locations).for_each(|location| location.accept = false);
    let watch = Watch { claim: Some(claim), acceptance: true, ..Watch::NOTHING };
    let product = Product::of(&Arc::new(program), watch, STATES_MAX).ok()?;
    let known = |fault: &Fault| matches!(fault, Fault::AssertionFailed | Fault::ClaimCompleted);
    if !product.faults.iter().all(known) {
        return None;
    }
    Some(!product.faults.contains(&Fault::ClaimCompleted) && !product.has_cycle(Cycle::Accepting, fair))
}

/// What was compared.
#[derive(Default)]
struct Compared {
    formulas: usize,
    vacuous: usize,
    literals: usize,
    never: usize,
}

fn compare(seed: u64) -> Option<Compared> {
    let model = small::model(seed);
    let mut compared = Compared::default();
    for index in 0..4 {
        let text = format!("{model}\nltl p {{ {} }}\n", small::formula(4 * seed + index));
        let Some(program) = referee::program(&text, Options::NONE) else { continue };
        let Some(formula) = formula_of(&program) else { continue };
        let fairness = if index == 3 { Fairness::Weak } else { Fairness::None };
        let fair = fairness == Fairness::Weak;
        if satisfies(&program, &formula, fair) != Some(true) {
            continue;
        }
        let settings = Settings { fairness, vacuity: VacuityExtent::Full, ..Settings::default() };
        let (outcome, report) = vacuity(&text, "p", &settings);
        // By its definition the formula is satisfied by a run that stays in an atomic sequence, but that is not said.
        if outcome.report.properties.iter().any(|property| property.reason.contains("may never end")) {
            assert_eq!(outcome.report.verdict, Verdict::Undecided, "{text}");
            assert!(!atomic_sequences_terminate(&program), "{text}");
            continue;
        }
        assert_eq!(outcome.report.verdict, Verdict::Holds, "{text}");
        let report = report.unwrap_or_else(|| panic!("{text}"));
        let parts = Strengthening::of(&formula)?;
        let valid = is_valid(&formula) == Ok(Some(true));
        let mut vacuous = 0;
        for literal in parts.literals() {
            vacuous += usize::from(satisfies(&program, &parts.without(&literal), fair)?);
            compared.literals += 1;
        }
        let kinds: Vec<VacuityKind> = report.notes.iter().map(|note| note.kind).collect();
        assert_eq!(report.end, VacuityEnd::Complete, "{text}");
        assert_eq!(report.decided as usize, parts.literals().len(), "{text}");
        assert_eq!(valid, kinds == [VacuityKind::EveryModel], "{text}: {kinds:?}");
        assert_eq!(valid || vacuous > 0, !report.notes.is_empty(), "{text}: {report:?}");
        assert!(valid || report.notes.len() <= vacuous, "{text}: {report:?}");
        for note in report.notes.iter().filter(|note| note.kind != VacuityKind::EveryModel) {
            // What is said is true, and can be read again.
            let claims = note.never.iter().map(|never| format!("[] !({never})")).chain([note.also_holds.clone()]);
            for claim in claims {
                let said = format!("{model}\nltl p {{ {claim} }}\n");
                let program = referee::program(&said, Options::NONE).unwrap_or_else(|| panic!("{said}"));
                let formula = formula_of(&program).unwrap_or_else(|| panic!("{said}"));
                assert_eq!(satisfies(&program, &formula, fair), Some(true), "{text}\n{claim}");
            }
            compared.never += usize::from(note.never.is_some());
        }
        compared.formulas += 1;
        compared.vacuous += usize::from(!report.notes.is_empty());
    }
    Some(compared)
}

#[test]
fn formulas_hold_vacuously_exactly_if_brute_force_finds_a_part_that_is_not_needed() {
    let models = if std::env::var_os("FABIUS_FULL").is_some() { 4_000 } else { 300 };
    let seeds: Vec<u64> = (0..models).collect();
    let mut all = Compared::default();
    for compared in parallel::map(&seeds, |seed| compare(*seed)).into_iter().flatten() {
        all.formulas += compared.formulas;
        all.vacuous += compared.vacuous;
        all.literals += compared.literals;
        all.never += compared.never;
    }
    let Compared { formulas, vacuous, literals, never } = all;
    let told = format!(
        "{formulas} formulas, {literals} literals, {vacuous} vacuous, {never} with something that never happens"
    );
    assert!(formulas > 150 && vacuous > 50 && vacuous < formulas && never > 10, "{told}");
}

const ANSWERS: &str = "#define req (state == 2)
#define ack answered
byte state; bool answered, never_set;
active proctype P() { do :: state = 1 - state :: answered = !answered od }
ltl live { [] (req -> <> ack) }
ltl bounded { [] (state < 2 || never_set) }
ltl both { [] (state < 2) && [] (never_set -> <> ack) }
ltl trivial { [] (ack -> ack) }
ltl needed { [] (state < 2) }";

#[test]
fn the_reason_is_told_in_plain_words() {
    let told = |name: &str| {
        let (outcome, _) = vacuity(ANSWERS, name, &Settings::default());
        let found = outcome.findings.into_iter().find(|finding| finding.code == Code::Vacuous);
        found.map(|finding| (finding.headline, finding.notes))
    };
    let note = |text: &str| vec![text.to_owned()];
    let live = ("`live` holds, but `req` is never true".to_owned(), note("`[] !req` holds as well, and implies it"));
    assert_eq!(told("live"), Some(live));
    let bounded = note("`[] (state < 2)` holds as well, and implies it");
    assert_eq!(told("bounded"), Some(("`bounded` holds also without `never_set`".to_owned(), bounded)));
    let both = note("`[] (state < 2) && [] !never_set` holds as well, and implies it");
    assert_eq!(told("both"), Some(("`both` holds, but `never_set` is never true".to_owned(), both)));
    let trivial = "`trivial` says nothing about this model: it holds in every model".to_owned();
    assert_eq!(told("trivial"), Some((trivial, Vec::new())));
    assert_eq!(told("needed"), None);
}

#[test]
fn what_is_not_known_is_not_said() {
    let nothing = |settings: Settings| {
        let (outcome, report) = vacuity(ANSWERS, "live", &settings);
        assert!(outcome.findings.iter().all(|finding| finding.code != Code::Vacuous));
        report
    };
    assert_eq!(nothing(Settings { vacuity: VacuityExtent::Off, ..Settings::default() }), None);
    // Undecided properties have no such report.
    let limits = Limits { states_max: Some(2), ..Limits::default() };
    assert_eq!(nothing(Settings { limits, ..Settings::default() }), None);
    // A large model is too much for a small budget, and not for a large one.
    let large = "#define ack up
        byte a, b; bool up, req;
        active proctype A() { do :: a++ :: b++ :: a == 7 && b == 9 -> a = 0 :: up = !up od }
        ltl live { [] (req -> <> ack) }";
    let limits = Limits { states_max: Some(400_000), ..Limits::default() };
    let settings = Settings { limits, reduction: false, ..Settings::default() };
    let (outcome, report) = vacuity(large, "live", &settings);
    assert_eq!(outcome.report.verdict, Verdict::Holds);
    assert_eq!(report.map(|report| (report.end, report.notes)), Some((VacuityEnd::Budget, Vec::new())));
}
