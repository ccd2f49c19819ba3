//! Mutants of small models: the texts that are told, checked again by brute force.

use fabius_base::Cancel;
use fabius_engine::{Loaded, Settings, load};
use fabius_mutation::report::{MutantOutcome, MutantReport, MutationReport};
use fabius_mutation::{MutationContext, MutationRequest, mutation};
use fabius_program::Watch;
use fabius_testkit::generate::small;
use fabius_testkit::parallel;
use fabius_testkit::product::Product;
use fabius_testkit::referee::{self, Options};
use std::collections::BTreeSet;
use std::time::Duration;

/// Larger models are left out.
const STATES_MAX: usize = 3_000;

fn request(limit: usize, seed: u64) -> MutationRequest {
    MutationRequest { settings: Settings::default(), per_mutant: None, limit, seed }
}

fn read(text: &str) -> Loaded {
    load("model.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

fn mutated(text: &str, request: &MutationRequest, cancel: &Cancel) -> Option<MutationReport> {
    let mut observe = |_, _| {};
    let mut context = MutationContext { cancel, now: &|| Duration::ZERO, observe: &mut observe };
    mutation(&read(text), request, &mut context)
}

/// The text of a mutant, from what is told of it.
fn text_of(text: &str, mutant: &MutantReport) -> String {
    let offset = |line: u32, column: u32| {
        let before: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        before + column as usize - 1
    };
    let (start, end) = (offset(mutant.line, mutant.column), offset(mutant.end_line, mutant.end_column));
    assert_eq!(&text[start..end], mutant.old, "{mutant:?}");
    format!("{}{}{}", &text[..start], mutant.new, &text[end..])
}

/// Whether nothing goes wrong in a model, by brute force; `None` if that is too much.
fn is_safe(text: &str) -> Option<bool> {
    let program = referee::program(text, Options::NONE)?;
    let product = Product::of(&program, Watch::NOTHING, STATES_MAX).ok()?;
    Some(product.faults.is_empty() && !product.invalid_end)
}

/// Mutants that were compared: killed and survived.
fn compare(seed: u64) -> (usize, usize) {
    let text = small::model(seed);
    if is_safe(&text) != Some(true) {
        return (0, 0);
    }
    let mut request = request(25, seed);
    request.settings.properties = vec!["safety".to_owned()];
    let report = mutated(&text, &request, &Cancel::new()).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(report.internal_error, None, "{text}");
    assert!(report.properties.iter().all(|property| property.counts), "{text}");
    let (mut killed, mut survived) = (0, 0);
    let mut seen = BTreeSet::from([text.clone()]);
    for mutant in &report.mutants {
        let changed = text_of(&text, mutant);
        assert!(seen.insert(changed.clone()), "twice: {changed}");
        match (mutant.outcome, is_safe(&changed)) {
            (MutantOutcome::Killed, Some(false)) => killed += 1,
            (MutantOutcome::Survived, Some(true)) => survived += 1,
            (_, None) => {}
            (outcome, safe) => panic!("{outcome:?}, but safe: {safe:?}\n{changed}"),
        }
    }
    (killed, survived)
}

#[test]
fn what_becomes_of_a_mutant_is_what_brute_force_says_of_its_text() {
    let seeds: Vec<u64> = (0..600).collect();
    let found = parallel::map(&seeds, |seed| compare(*seed));
    let (killed, survived) = found.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(killed > 100 && survived > 100, "{killed} {survived}");
}

const LOCK: &str = "byte free = 1, inside, served;
active [2] proctype P() {
    do
    :: atomic { free > 0 -> free-- };
       inside++; assert(inside == 1); inside--; served = 1 - served;
       free++
    od
}
";

#[test]
fn a_change_that_no_property_notices_survives() {
    let report = mutated(LOCK, &request(100, 0), &Cancel::new()).unwrap_or_else(|| panic!("{LOCK}"));
    let told: Vec<(MutantOutcome, &str, u32)> =
        report.mutants.iter().map(|mutant| (mutant.outcome, mutant.old.as_str(), mutant.line)).collect();
    // Both get in without the `atomic`; nobody asks how many were served.
    assert!(told.contains(&(MutantOutcome::Killed, "atomic", 4)), "{told:?}");
    assert!(told.contains(&(MutantOutcome::Killed, "inside++", 5)), "{told:?}");
    assert!(told.contains(&(MutantOutcome::Killed, "free++", 6)), "{told:?}");
    assert!(told.contains(&(MutantOutcome::Survived, "served = 1 - served", 5)), "{told:?}");
    assert!(0 < report.survived && report.is_complete(), "{told:?}");
    let checked = report.mutants.len() as u64;
    assert_eq!(report.killed + report.survived, checked);
    assert_eq!(report.generated, report.unreadable + report.equal + report.not_checked + checked);
}

#[test]
fn limits_are_kept_and_told() {
    let report = mutated(LOCK, &request(3, 7), &Cancel::new()).unwrap_or_else(|| panic!("{LOCK}"));
    assert_eq!(report.mutants.len(), 3);
    assert!(0 < report.not_checked && !report.is_complete());
    // The same seed, the same mutants.
    let again = mutated(LOCK, &request(3, 7), &Cancel::new());
    assert_eq!(again.map(|again| again.mutants), Some(report.mutants.clone()));
    let other = mutated(LOCK, &request(3, 8), &Cancel::new());
    assert_ne!(other.map(|other| other.mutants), Some(report.mutants));
    // Whoever was asked to stop before the model was checked knows nothing.
    let cancel = Cancel::new();
    cancel.cancel();
    let report = mutated(LOCK, &request(3, 7), &cancel).unwrap_or_else(|| panic!("{LOCK}"));
    assert!(report.mutants.is_empty() && report.stopped.is_some());
    assert_eq!(mutated("active proctype P() { x = 1 }", &request(3, 7), &Cancel::new()), None);
}
