//! The search for infinite runs in the order of delays.

use super::{ChosenScheduler, Overlap, belonging_to, choose, scheduler, seed_of, unknown_types};
use crate::task::{Checked, Job, measured};
use crate::unconfirmed::{Runs, Unconfirmed};
use fabius_base::Finding;
use fabius_checkpoint::{CheckpointKey, Checkpointing, no_checkpoint};
use fabius_counterexample::Found;
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal};
use fabius_program::{Move, meaning::Fault};
use fabius_search::delay_bounded::IterativeDelayBounding;
use fabius_search::iterative_map::{ALONE_MAX, Ask, CycleRounds, iterative_cycles, iterative_map_together};
use fabius_search::{self as search, CycleOutcome, StopAt};
use fabius_strategy::DelayedCycleSearch;
use fabius_task::query::CycleSearch;
use fabius_task::report::PropertyReport;
use fabius_task::settings::{Delaying, Settings};
use fabius_verdict as verdict;

/// Looks for infinite runs that violate a property with ever more delays.
pub(crate) fn check(
    job: Job<'_>,
    delaying: &Delaying,
    search: DelayedCycleSearch,
    threads: usize,
    context: &mut CheckContext<'_>,
) -> Checked {
    let Job { loaded, program, planned, settings, .. } = job;
    let (query, mut machine) = match job.infinite(CycleSearch::Components) {
        Ok(prepared) => prepared,
        Err(checked) => return *checked,
    };
    let task = job.over(&query.program).task();
    let chosen = choose(program, &delaying.scheduler);
    let began = (context.now)();
    let engine_observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let ask = ask(search);
    let is_shared = 1 < threads;
    let kept = Checkpointing::as_asked(&settings.checkpoint_files, || {
        let kind = format!("{}{}", word(ask), if is_shared { " by several threads" } else { "" });
        let checkpoint_key = CheckpointKey::new(&kind, &query.program, &planned.name, settings)
            .with("what counts as progress", format!("{:?}", settings.progress));
        belonging_to(checkpoint_key, loaded, &machine, &chosen, delaying)
    })
    .cutting(machine.cut_runs());
    let rounds = Rounds { engine_observer, delaying, settings, goal: query.goal, ask, threads, kept: &kept };
    let overlap = Overlap::default();
    let scheduler = scheduler(loaded, machine.machine(), &chosen.kind, seed_of(delaying), &overlap);
    let found = match rounds.run(&mut machine, &scheduler) {
        Ok(found) => found,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let seconds = ((context.now)() - began).as_secs_f64();
    let report = PropertyReport { search: word(ask), ..measured(planned, &found, seconds) };
    let mut checked = Checked {
        findings: unknown_types(program, &chosen)
            .into_iter()
            .chain(overlap.finding(&query.program, &loaded.map))
            .chain(no_checkpoint(settings, found.coverage, found.first().is_some()))
            .collect(),
        ..Checked::of(report, verdict::cycles_by_delays(&query, &found, &chosen))
    };
    checked.qualify(machine.cut_runs(), &query.program, &loaded.map);
    checked.note_executed(&machine);
    match found.into_first() {
        Some(found) if loaded.is_sealed() => {
            // The shortest run might not keep to the seals.
            let found = Found::of_cycle(&query, found, query.as_written(loaded, planned, settings));
            checked.confirm(job.over(&query.program), found, context);
        }
        Some(run) => {
            let runs = Runs::Infinite { query, run, by_delays: true };
            checked.unconfirmed = Some(Box::new(Unconfirmed::new(settings, machine, runs)));
        }
        None => {}
    }
    checked
}

/// How to look for cycles in each round.
fn ask(search: DelayedCycleSearch) -> Ask {
    match search {
        DelayedCycleSearch::Map => Ask::Map,
        DelayedCycleSearch::Components => Ask::Components,
        DelayedCycleSearch::NestedDfs => Ask::NestedDfs,
    }
}

/// What is searched for under a scheduler.
struct Rounds<'a, 'b, 'c> {
    engine_observer: EngineObserver<'a, 'b>,
    delaying: &'c Delaying,
    settings: &'c Settings,
    goal: search::cycle::Goal,
    ask: Ask,
    /// This many threads may search.
    threads: usize,
    kept: &'c Checkpointing<'c>,
}

impl Rounds<'_, '_, '_> {
    fn run(
        self,
        machine: &mut SearchedMachine,
        scheduler: &ChosenScheduler,
    ) -> Result<CycleOutcome<Move, Fault>, Box<Finding>> {
        let Self { mut engine_observer, delaying, goal, ask, threads, kept, .. } = self;
        let limits = self.settings.limits;
        let cancel = engine_observer.context.cancel.clone();
        let settings = search::Settings { limits, stop_at: StopAt::First, cancel };
        let bounding = IterativeDelayBounding { last: delaying.delays_max, ..IterativeDelayBounding::default() };
        let rounds = CycleRounds { goal, bounding: &bounding };
        if 1 < threads {
            let mut machines = machine.clones(threads);
            let found = kept.run(|checkpoint| {
                let observer = &mut engine_observer;
                iterative_map_together(&mut machines, scheduler, observer, &settings, rounds, ALONE_MAX, checkpoint)
            });
            machines.iter().for_each(|member| machine.learn(member));
            if let Some(found) = found? {
                return Ok(found);
            }
        }
        kept.run(|checkpoint| {
            iterative_cycles(machine, scheduler, &mut engine_observer, &settings, rounds, ask, checkpoint)
        })
    }
}

/// The word for a search in reports.
fn word(ask: Ask) -> &'static str {
    match ask {
        Ask::Map => "map",
        Ask::NestedDfs => "iterative-ndfs",
        Ask::Components => "iterative-scc",
    }
}
