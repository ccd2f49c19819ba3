//! Single runs at random.

use super::{Chosen, Explored, Order, Outcome, Overlap, scheduler, seed_of};
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Action, Move, Program};
use fabius_search::delay_bounded::{Samples, Sampling, sample};
use fabius_search::{self as search, Completeness, SampleStatistics};
use fabius_task::meaning::meaning;
use fabius_task::report::SamplesReport;
use fabius_task::settings::{Delaying, SampleKind, SchedulerChoice};
use fabius_verdict::{self as verdict, Reason};

/// This many delays (or changes of priority) if nobody says.
const DELAYS_DEFAULT: u32 = 2;

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
    Order { delaying, limits, stop_at, .. }: Order<'_>,
    kind: SampleKind,
    overlap: &Overlap,
    context: &mut CheckContext<'_>,
) -> Explored {
    let settings = search::Settings { limits, stop_at, cancel: context.cancel.clone() };
    let seed = seed_of(delaying);
    let samples = Samples {
        sampling: sampling(kind, delaying.delays_max),
        seed,
        first: delaying.shard.number.saturating_sub(1),
        every: delaying.shard.count,
        runs_max: Some(delaying.runs_max()),
        length: limits.depth_max,
        of_interest: &|step: &Move| is_seen_by_others(task.program, step),
    };
    let scheduler = scheduler(task.loaded, machine.machine(), chosen, seed, overlap);
    let mut engine_observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let outcome = sample(machine, &scheduler, &mut engine_observer, &settings, &samples);
    Explored { outcome, store_bytes: 0, keys: engine_observer.keys }
}

/// About runs in which nothing was found.
pub(super) fn reason(
    drawn: (&SampleStatistics, Completeness),
    kind: SampleKind,
    delaying: &Delaying,
    chosen: &Chosen,
) -> Reason {
    let delays = delaying.delays_max.unwrap_or(DELAYS_DEFAULT);
    verdict::samples(drawn, kind, delaying, delays, chosen)
}

/// What was drawn, for a report.
pub(super) fn report(outcome: &Outcome, program: &Program) -> Option<Box<SamplesReport>> {
    let SampleStatistics { runs, length, probability } = outcome.samples?;
    Some(Box::new(SamplesReport { runs, length, probability, model: meaning(program).to_string() }))
}
