//! A pool whose processes are threads: searches in partitions, without any process.

use fabius_base::Cancel;
use fabius_engine::partitioned::{PartFound, search_part};
use fabius_engine::pool::{Observe, Part, PartCheckpoints, PoolCheckpoints, PoolOutcome, Processes, WorkerPool};
use fabius_engine::settings::{Cycles, Order};
use fabius_engine::{CheckContext, Loaded, Outcome, Settings, check};
use fabius_search::partition::{CycleWays, Local};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Partitions on threads of this process.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl WorkerPool for Threads {
    fn search(&self, part: &Part, processes: usize, _: PoolCheckpoints<'_>, _: &mut Observe<'_>) -> PoolOutcome {
        let search = |mut exchange: Local| {
            let ways = CycleWays { stem: &mut Vec::new(), cycle: &mut Vec::new() };
            search_part(part, &mut exchange, ways, PartCheckpoints::none(), &Cancel::new(), &mut |_| {
                ControlFlow::Continue(())
            })
        };
        let found: Result<Vec<PartFound>, _> = thread::scope(|scope| {
            let exchanges = Local::connect(processes).into_iter();
            let threads: Vec<_> = exchanges.map(|exchange| scope.spawn(|| search(exchange))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let found = match found {
            Ok(found) => found,
            Err(error) => return PoolOutcome::Failed(error.sentence().to_owned()),
        };
        let reached = found[0].reached.clone();
        assert!(found.iter().all(|found| found.reached == reached), "the partitions tell different things");
        let mut edges = found[0].edges.clone();
        for part in &found {
            edges.iter_mut().zip(&part.edges).for_each(|(known, taken)| *known |= taken);
        }
        let cut = found.iter().find_map(|found| found.cut);
        PoolOutcome::Done { reached, edges, cut, memory_limit: None }
    }
}

/// The processes of settings that ask for this many.
pub fn threads(count: usize) -> Processes {
    Processes { count, pool: Some(Arc::new(Threads)), elsewhere: None }
}

/// The same of another pool, also if one process is asked for.
pub fn of_pool(pool: Arc<dyn WorkerPool>, count: usize) -> Processes {
    Processes { count, pool: Some(pool), elsewhere: Some(None) }
}

/// What a check for violations of safety says: breadth-first by one thread, or by these processes.
pub fn safety(loaded: &Loaded, processes: Option<Processes>, settings: &Settings) -> Outcome {
    by(loaded, processes, &Settings { search: Order::BreadthFirst, ..settings.clone() }, "safety")
}

/// What a check of a property of infinite runs says: by components, or by these processes.
pub fn infinite(loaded: &Loaded, processes: Option<Processes>, settings: &Settings, property: &str) -> Outcome {
    let cycles = if processes.is_none() { Cycles::Components } else { Cycles::Suitable };
    by(loaded, processes, &Settings { cycles, ..settings.clone() }, property)
}

/// What a check for violations of safety by number of delays says: by one thread, or by these processes.
pub fn by_delays(loaded: &Loaded, processes: Option<Processes>, settings: &Settings) -> Outcome {
    by(loaded, processes, settings, "safety")
}

fn by(loaded: &Loaded, processes: Option<Processes>, settings: &Settings, property: &str) -> Outcome {
    let processes = processes.unwrap_or_default();
    let settings = Settings { properties: vec![property.to_owned()], processes, ..settings.clone() };
    let cancel = Cancel::new();
    check(
        loaded,
        &settings,
        &mut CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None },
    )
}
