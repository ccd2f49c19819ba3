//! Where a scheduler may not interrupt: the sealed stretches of the text, as places of processes.

use fabius_base::{Code, Finding, SourceMap};
use fabius_language::{SealKind as WrittenSeal, SealedStretch};
use fabius_machine::Machine;
use fabius_program::{EdgeId, LocationId, ProcessId, Program};
use fabius_search::schedule::{SealKind, Seals};
use std::sync::{Arc, OnceLock};

/// Which locations lie inside sealed stretches: those that one statement of a stretch leads to and another one of the
/// same stretch leaves.
#[derive(Clone)]
pub struct SealedPlaces {
    machine: Machine,
    /// The first time that stretches of different kinds met.
    overlap: Overlap,
    /// By type of process and location.
    inside: Vec<Vec<Option<SealKind>>>,
}

impl std::fmt::Debug for SealedPlaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SealedPlaces").field(&self.inside).finish()
    }
}

impl SealedPlaces {
    /// The same; says in `overlap` where stretches of different kinds meet.
    pub fn telling(self, overlap: &Overlap) -> Self {
        Self { overlap: overlap.clone(), ..self }
    }

    /// The places inside these stretches; `None` if there are none.
    pub fn new(machine: &Machine, map: &SourceMap, stretches: &[SealedStretch]) -> Option<Self> {
        let program = machine.program();
        let inside: Vec<Vec<Option<SealKind>>> =
            program.processes.iter().map(|process| vec![None; process.locations.len()]).collect();
        let mut places = Self { machine: machine.clone(), overlap: Overlap::default(), inside };
        let of_edge: Vec<Option<usize>> =
            (0..program.edges.len()).map(|edge| stretch_of(program, map, stretches, EdgeId(edge as u32))).collect();
        for (edge, stretch) in program.edges.iter().zip(&of_edge) {
            let Some(stretch) = *stretch else { continue };
            let process = edge.process.0 as usize;
            let target = edge.target.0 as usize;
            let leaving = program.processes[process].locations[target].edges.clone();
            if leaving.into_iter().any(|next| of_edge[next as usize] == Some(stretch)) {
                places.inside[process][target] = Some(match stretches[stretch].kind {
                    WrittenSeal::RoundRobin => SealKind::RoundRobin,
                    WrittenSeal::RunToCompletion => SealKind::RunToCompletion,
                });
            }
        }
        let any = places.inside.iter().flatten().any(Option::is_some);
        any.then_some(places)
    }
}

/// Where, in some run, one process stood inside a sealed stretch and another one inside a stretch of a different kind: the first
/// time that happened. Copies know of it together.
#[derive(Clone, Default)]
pub struct Overlap(Arc<OnceLock<[Stander; 2]>>);

/// A process inside a stretch.
struct Stander {
    process: ProcessId,
    pid: u8,
    location: LocationId,
    kind: SealKind,
}

impl Overlap {
    /// Says so, if it happened.
    pub fn finding(&self, program: &Program, map: &SourceMap) -> Option<Finding> {
        let [first, other] = self.0.get()?;
        let told = |stander: &Stander| {
            let process = program.process(stander.process);
            let span = map.user_span(process.locations[stander.location.0 as usize].span);
            let kind = match stander.kind {
                SealKind::RoundRobin => "rr",
                SealKind::RunToCompletion => "rtc",
            };
            (format!("{}[{}]", process.name, stander.pid), kind, span)
        };
        let ((first, first_kind, first_span), (other, other_kind, other_span)) = (told(first), told(other));
        let headline = format!(
            "{other} stands inside a stretch sealed by `{other_kind}` while {first} stands inside one sealed by `{first_kind}`"
        );
        let finding = Finding::new(Code::SealsMeet, headline)
            .at(other_span, format!("{other} comes to stand here"))
            .at(first_span, format!("while {first} stands here"))
            .note(format!("scheduled by `{first_kind}`, as long as somebody stands inside such a stretch"));
        Some(finding.help("seal both in the same way, or see to it that they cannot meet"))
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

    fn meet(&self, state: &[u32], first: u8, other: u8) {
        if self.overlap.0.get().is_some() {
            return;
        }
        let stander = |pid: u8| {
            let (process, location) =
                (self.machine.process_of(state, usize::from(pid))?, self.machine.location_of(state, usize::from(pid))?);
            Some(Stander { process, pid, location, kind: self.inside(state, pid)? })
        };
        if let (Some(first), Some(other)) = (stander(first), stander(other)) {
            let _ = self.overlap.0.set([first, other]);
        }
    }
}
