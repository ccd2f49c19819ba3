//! Under which scheduling random models are safe: the answer fits the verdict of a check, and each schedule that is found
//! passes the search of the model under it.
//!
//! `FABIUS_MODELS=n` says how many models, `FABIUS_SEED=n` where to begin.

use fabius_analysis::schedule::{ScheduleRequest, ScheduleVerdict, Stops, schedule};
use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, Settings, Verdict, check, load};
use fabius_testkit::generate;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many models are looked at unless someone asks for more.
const MODELS: u64 = 100;
/// States of a model that is looked at.
const STATES_MAX: u64 = 3_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn the_answer_fits_the_verdict() {
    let first = number("FABIUS_SEED", 1);
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + number("FABIUS_MODELS", MODELS) {
        let text = generate::model(seed).text();
        let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
        let settings =
            Settings { limits, optimize: false, properties: vec!["safety".to_owned()], ..Settings::default() };
        let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &settings);
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let checked = check(&loaded, &settings, &mut context);
        let request = ScheduleRequest { states_max: STATES_MAX, work_max: 200_000, ..ScheduleRequest::default() };
        let scheduled = schedule(&loaded, &request, &Stops::all(&cancel), &mut |_| {});
        assert_eq!(scheduled.failure, None, "seed {seed}:\n{text}");
        let verdict = scheduled.report.verdict;
        let fits = match (checked.report.verdict, verdict) {
            (_, ScheduleVerdict::Unknown | ScheduleVerdict::SafeIfScheduled) => true,
            (Verdict::Holds, answer) => answer == ScheduleVerdict::Holds,
            (Verdict::Violated, answer) => answer != ScheduleVerdict::Holds,
            (Verdict::Undecided | Verdict::Faulty, _) => true,
        };
        assert!(fits, "seed {seed}: {:?} and {verdict:?}\n{text}", checked.report.verdict);
        let waits = scheduled.report.waits.len();
        *answers.entry(format!("{verdict:?} with {waits}")).or_default() += 1;
    }
    println!("{answers:?}");
    assert!(
        ["Avoidable with 1", "Unavoidable with 0", "Holds with 0"].iter().all(|answer| answers.contains_key(*answer))
    );
}
