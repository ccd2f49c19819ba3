//! Snapshots of searches by partitions: what is needed to go on from each of them in turn.

use fabius_search::partition::{ExchangeError, Local, PartKeeper, PartSnapshot, Reached};
use std::thread;

/// A snapshot of a partition, and where its states came from.
pub type Kept = (PartSnapshot, Vec<u64>);

/// Keeps all snapshots that it is given.
pub struct Keeper {
    /// Whether each layer is due.
    pub each_layer: bool,
    kept: Vec<Kept>,
}

impl<M> PartKeeper<M, Vec<u64>> for Keeper {
    fn is_due(&mut self) -> bool {
        self.each_layer
    }

    fn keep(&mut self, _: &M, ways: &mut Vec<u64>, snapshot: PartSnapshot) {
        let states = snapshot.states() as usize;
        self.kept.push((snapshot, ways[..states].to_vec()));
    }
}

/// Runs a search by so many partitions, perhaps from snapshots, one for each: what all report, and the snapshots of all partitions that
/// they kept, the first ones first.
pub fn kept(
    partitions: usize,
    from: Option<&[Kept]>,
    each_layer: bool,
    search: impl Fn(Local, Option<(&PartSnapshot, &mut Vec<u64>)>, &mut Keeper) -> Result<Reached, ExchangeError> + Sync,
) -> (Result<Reached, ExchangeError>, Vec<Vec<Kept>>) {
    let partition = |me: usize, exchange: Local| {
        let mut keeper = Keeper { each_layer, kept: Vec::new() };
        let mut from = from.map(|from| from[me].clone());
        let from = from.as_mut().map(|(snapshot, ways)| (&*snapshot, ways));
        let reached = search(exchange, from, &mut keeper);
        (reached, keeper.kept)
    };
    let (mut reached, kept): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let exchanges = Local::connect(partitions).into_iter().enumerate();
        let partition = &partition;
        let threads: Vec<_> = exchanges.map(|(me, exchange)| scope.spawn(move || partition(me, exchange))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).unzip()
    });
    if let Some(unusable) = reached.iter().position(|one| *one == Err(ExchangeError::Unusable)) {
        return (reached.swap_remove(unusable), Vec::new());
    }
    assert!(reached.iter().all(|one| *one == reached[0]), "the partitions disagree");
    assert!(kept.iter().all(|parts| parts.len() == kept[0].len()), "not all partitions keep the same layers");
    let all = (0..kept[0].len()).map(|place| kept.iter().map(|parts| parts[place].clone()).collect()).collect();
    (reached.swap_remove(0), all)
}

/// States of all partitions.
pub fn states(kept: &[Kept]) -> u64 {
    kept.iter().map(|(snapshot, _)| snapshot.states()).sum()
}

/// Without the most memory in use, which depends on where a search began.
pub fn without_memory(reached: &Reached) -> Reached {
    let mut reached = reached.clone();
    reached.statistics.memory_bytes = 0;
    reached.partitions.iter_mut().for_each(|part| part.memory_bytes = 0);
    reached
}
