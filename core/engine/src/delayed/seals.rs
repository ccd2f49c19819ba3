//! Where a scheduler may not interrupt: the sealed stretches of the text, as places of processes.

use fabius_base::SourceMap;
use fabius_machine::Machine;
use fabius_program::{EdgeId, Program};
use fabius_promela::{SealKind as Written, SealedStretch};
use fabius_search::schedule::{SealKind, Seals};

/// Which locations lie inside sealed stretches: those that one statement of a stretch leads to and another one of the
/// same stretch leaves.
#[derive(Clone)]
pub(super) struct SealedPlaces {
    machine: Machine,
    /// By type of process and location.
    inside: Vec<Vec<Option<SealKind>>>,
}

impl std::fmt::Debug for SealedPlaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SealedPlaces").field(&self.inside).finish()
    }
}

impl SealedPlaces {
    /// The places inside these stretches; `None` if there are none.
    pub(super) fn new(machine: &Machine, map: &SourceMap, stretches: &[SealedStretch]) -> Option<Self> {
        let program = machine.program();
        let inside: Vec<Vec<Option<SealKind>>> =
            program.processes.iter().map(|process| vec![None; process.locations.len()]).collect();
        let mut places = Self { machine: machine.clone(), inside };
        let of_edge: Vec<Option<usize>> =
            (0..program.edges.len()).map(|edge| stretch_of(program, map, stretches, EdgeId(edge as u32))).collect();
        for (edge, stretch) in program.edges.iter().zip(&of_edge) {
            let Some(stretch) = *stretch else { continue };
            let process = edge.process.0 as usize;
            let target = edge.target.0 as usize;
            let leaving = program.processes[process].locations[target].edges.clone();
            if leaving.into_iter().any(|next| of_edge[next as usize] == Some(stretch)) {
                places.inside[process][target] = Some(match stretches[stretch].kind {
                    Written::RoundRobin => SealKind::RoundRobin,
                    Written::RunToCompletion => SealKind::RunToCompletion,
                });
            }
        }
        let any = places.inside.iter().flatten().any(Option::is_some);
        any.then_some(places)
    }
}

/// The innermost stretch in which the statement of an edge stands.
fn stretch_of(program: &Program, map: &SourceMap, stretches: &[SealedStretch], edge: EdgeId) -> Option<usize> {
    let place = map.user_span(program.span_of(edge));
    let holds = |stretch: &SealedStretch| {
        let span = stretch.span;
        span.file == place.file && span.start <= place.start && place.start < span.end
    };
    stretches.iter().rposition(holds)
}

impl Seals for SealedPlaces {
    fn inside(&self, state: &[u32], process: u8) -> Option<SealKind> {
        let view = self.machine.view(state)?;
        let pid = usize::from(process);
        let (ty, location) = (view.process_of(pid)?, view.location_of(pid)?);
        *self.inside.get(ty.0 as usize)?.get(location.0 as usize)?
    }

    fn process_count(&self, state: &[u32]) -> usize {
        self.machine.process_count(state)
    }
}
