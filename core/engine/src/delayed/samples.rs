//! Single runs at random.

use super::{Chosen, Explored, Overlap, SharedScheduler, UnderScheduler, seed_of, with_scheduler};
use crate::engine_observer::EngineObserver;
use crate::event::Goal;
use crate::run::CheckContext;
use crate::task::Task;
use crate::verdict::{self, Reason};
use fabius_model::SearchedMachine;
use fabius_program::{Action, Move, Program};
use fabius_search::delay_bounded::{Samples, Sampling, sample};
use fabius_search::{self as search, SampleStatistics, StopAt};
use fabius_task::settings::{Delaying, SampleKind, SchedulerChoice};

/// This many delays (or changes of priority) if nobody says.
const DELAYS_DEFAULT: u32 = 2;

/// What is drawn under a scheduler.
struct Draw<'a, 'b, 'c> {
    engine_observer: EngineObserver<'a, 'b>,
    task: &'c Task<'a>,
    delaying: &'c Delaying,
    kind: SampleKind,
    runs: u64,
    stop_at: StopAt,
}

impl UnderScheduler for Draw<'_, '_, '_> {
    type Result = Explored;

    fn run<D: SharedScheduler>(mut self, machine: &mut SearchedMachine, scheduler: &D) -> Explored {
        let cancel = self.engine_observer.context.cancel.clone();
        let limits = self.task.settings.limits;
        let settings = search::Settings { limits, stop_at: self.stop_at, cancel };
        let program = self.task.program;
        let samples = Samples {
            sampling: sampling(self.kind, self.delaying.delays_max),
            seed: seed_of(self.delaying),
            runs_max: Some(self.runs),
            length: limits.depth_max,
            of_interest: &|step: &Move| is_seen_by_others(program, step),
        };
        let outcome = sample(machine, scheduler, &mut self.engine_observer, &settings, &samples);
        Explored { outcome, store_bytes: 0, keys: self.engine_observer.keys }
    }
}

fn sampling(kind: SampleKind, delays_max: Option<u32>) -> Sampling {
    let delays = delays_max.unwrap_or(DELAYS_DEFAULT);
    match kind {
        SampleKind::Delays => Sampling::Delays(delays),
        SampleKind::Walk => Sampling::Walk,
        SampleKind::Pct => Sampling::Pct { depth: delays.saturating_add(1) },
        SampleKind::Pos => Sampling::Pos,
        SampleKind::Surw => Sampling::Surw,
    }
}

/// Whether a step may matter to other processes: it sends, receives, or does more than to go on by itself.
fn is_seen_by_others(program: &Program, step: &Move) -> bool {
    let statement = program.statement(program.process_of(step.edge), step.edge);
    !matches!(statement.action, Action::Skip | Action::Else | Action::Print(_) | Action::End | Action::Assert(_))
}

/// Draws runs.
pub(super) fn draw(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    chosen: &SchedulerChoice,
    delaying: &Delaying,
    kind: SampleKind,
    (overlap, context): (&Overlap, &mut CheckContext<'_>),
) -> Explored {
    let stop_at = if task.settings.keep_going { StopAt::Never } else { StopAt::First };
    let engine_observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let draw = Draw { engine_observer, task, delaying, kind, runs: delaying.runs_max(), stop_at };
    with_scheduler(task.loaded, machine, chosen, seed_of(delaying), overlap, draw)
}

/// About runs in which nothing was found.
pub(super) fn reason(samples: &SampleStatistics, kind: SampleKind, delaying: &Delaying, chosen: &Chosen) -> Reason {
    let delays = delaying.delays_max.unwrap_or(DELAYS_DEFAULT);
    verdict::samples(samples, kind, (delaying, delays), chosen)
}
