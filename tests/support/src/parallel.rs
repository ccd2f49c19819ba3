//! Does the same thing to every element of a list, a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many elements are worked on at once: `FABIUS_JOBS`, else 2.
pub fn jobs() -> usize {
    std::env::var("FABIUS_JOBS").ok().and_then(|text| text.parse().ok()).unwrap_or(2).max(1)
}

/// One list is worked on at a time: some answers have a limit of time, and several tests of one program run at once.
static ALONE: Mutex<()> = Mutex::new(());

/// Applies `work` to every element, [`jobs`] at a time; the results are in the order of the elements. Whoever calls it within a
/// call waits for ever.
pub fn map<Item: Sync, Result: Send>(items: &[Item], work: impl Fn(&Item) -> Result + Sync) -> Vec<Result> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..jobs() {
            scope.spawn(|| {
                while let Some((index, item)) = take(items, &next) {
                    let result = work(item);
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, Item>(items: &'a [Item], next: &AtomicUsize) -> Option<(usize, &'a Item)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    items.get(index).map(|item| (index, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_elements() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(map(&items, |n| n * 2), (0..200).step_by(2).collect::<Vec<_>>());
    }
}
