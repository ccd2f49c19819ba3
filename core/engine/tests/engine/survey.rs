//! How often statements are executed in the reachable states, compared with what the reference interpreter lists.

use fabius_analysis::survey;
use fabius_base::{Cancel, Limits, Span};
use fabius_engine::settings::Settings;
use fabius_engine::{Loaded, load};
use fabius_program::Program;
use fabius_testkit::generate::{self, guarded};
use fabius_witness::{Outcome, State, moves, settled};
use std::collections::{BTreeMap, HashSet};

const STATES_MAX: usize = 3_000;

type Counts = BTreeMap<(u32, u32), u64>;

/// In how many steps from reachable states the statements are executed, by where they stand; `None` if there are too many states.
fn by_definition(loaded: &Loaded, program: &Program) -> Option<Counts> {
    let first = settled(program, &State::initial(program).ok()?);
    let mut known = HashSet::from([first.visible(program)]);
    let mut open = vec![first];
    let mut counts = Counts::new();
    while let Some(state) = open.pop() {
        for (step, outcome) in moves(program, &state).successors {
            let partner = step.partner.map(|(_, edge)| edge);
            for edge in std::iter::once(step.edge).chain(partner) {
                let span = loaded.map.user_span(program.statement(program.process_of(edge), edge).span);
                *counts.entry((span.start, span.end)).or_default() += 1;
            }
            let Outcome::Reaches { state, .. } = outcome else { continue };
            let state = settled(program, &state);
            if known.insert(state.visible(program)) {
                open.push(state);
            }
        }
        if STATES_MAX < known.len() {
            return None;
        }
    }
    Some(counts)
}

#[test]
fn statements_are_executed_as_often_as_the_reference_interpreter_says() {
    let (mut exact, mut never) = (0, 0);
    for seed in 0..200_u64 {
        let text = if seed % 2 == 0 { generate::model(seed / 2).text() } else { guarded::model(seed) };
        let loaded = load("m.pml", text.clone(), &[], &mut |_, _| None, &Settings::default());
        let Some(program) = loaded.as_written() else { continue };
        let Some(counts) = by_definition(&loaded, &program) else { continue };
        let Some(survey) = survey(&loaded, Limits::default(), &Cancel::new()) else { continue };
        // States within an atomic sequence are not stored: one that several steps lead to is passed through several times.
        let is_exact = !program.edges.iter().any(|edge| edge.atomic);
        for (&(file, start, end), count) in &survey.statements {
            let expected = counts.get(&(start, end)).copied().unwrap_or(0);
            assert_eq!(0 < expected, 0 < *count, "seed {seed}\n{text}");
            let statement = loaded.map.text(Span::new(file, start, end));
            assert!(
                *count == expected || !is_exact && expected < *count,
                "seed {seed}, `{statement}`: {count}, not {expected}\n{text}"
            );
            assert!(*count <= survey.transitions);
            exact += u32::from(is_exact && 0 < expected);
            never += u32::from(expected == 0);
        }
    }
    assert!(200 < exact && 20 < never, "{exact} {never}");
}
