//! Steps that share nothing, against what is asked of two steps one by one.

use crate::{load, seeds, text};
use fabius_program::ProcessId;
use fabius_program::facts::{Facts, Instance, InstanceKey, Step};

/// The processes of a program, of which nothing is known, and those of which the number is.
fn instances(facts: &Facts) -> Vec<Instance> {
    let kinds = 0..facts.program().processes.len() as u32;
    let key = |process: ProcessId, pid: Option<u8>| InstanceKey {
        process,
        pid,
        channels_before: None,
        constants: vec![None; facts.constant_locals(process).len()],
    };
    kinds.flat_map(|kind| [None, Some(0), Some(2)].map(|pid| facts.instance(key(ProcessId(kind), pid)))).collect()
}

fn are_partners(mine: &Step, theirs: &Step) -> bool {
    mine.offers.meets(theirs.accepts)
        || mine.accepts.meets(theirs.offers)
        || mine.depends_on_absence.meets(theirs.accepts)
}

#[test]
fn steps_that_share_nothing_leave_each_other_alone() {
    let (mut related, mut apart) = (0_u64, 0_u64);
    for seed in seeds(2000) {
        let text = text(seed);
        let Some(program) = load(&text, seed) else { continue };
        let facts = Facts::of(program, &[]);
        for facts in [facts.clone().by_birth(), facts] {
            let instances = instances(&facts);
            for (mine, other) in instances.iter().flat_map(|mine| instances.iter().map(move |other| (mine, other))) {
                for step in &mine.steps {
                    let shared = other.shared_with(step);
                    for (at, theirs) in other.steps.iter().enumerate() {
                        let is_related = !step.accords(theirs) || are_partners(step, theirs);
                        assert!(!is_related || shared.contains(at), "seed {seed}: {step:?} {theirs:?}\n{text}");
                        related += u64::from(is_related);
                        apart += u64::from(!shared.contains(at));
                    }
                    for part in &step.guard {
                        let asked = other.asked_by(part);
                        for (at, theirs) in other.steps.iter().enumerate() {
                            let changes = theirs.may_enable(part) || theirs.may_disable(part);
                            assert!(!changes || asked.contains(at), "seed {seed}: {part:?} {theirs:?}\n{text}");
                        }
                    }
                }
            }
        }
    }
    println!("concerns: {related} pairs of steps are related, {apart} share nothing");
    assert!(100_000 < related && 100_000 < apart, "{related} {apart}");
}
