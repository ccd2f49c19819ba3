//! A pool whose processes are threads: searches in partitions, without any process.

use fabius_base::Cancel;
use fabius_engine::partitioned::{PartFound, search_part};
use fabius_engine::pool::{Observe, Part, PoolOutcome, Processes, WorkerPool};
use fabius_engine::settings::Order;
use fabius_engine::{CheckContext, Loaded, Outcome, Settings, check};
use fabius_search::partition::Local;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Partitions on threads of this process.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl WorkerPool for Threads {
    fn search(&self, part: &Part, processes: usize, _: &mut Observe<'_>) -> PoolOutcome {
        let search = |mut exchange: Local| {
            search_part(part, &mut exchange, &mut Vec::new(), &Cancel::new(), &mut |_| ControlFlow::Continue(()))
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
        PoolOutcome::Done { reached, edges, memory_limit: None }
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
    let processes = processes.unwrap_or_default();
    let settings =
        Settings { search: Order::BreadthFirst, properties: vec!["safety".to_owned()], processes, ..settings.clone() };
    let cancel = Cancel::new();
    check(
        loaded,
        &settings,
        &mut CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None },
    )
}
