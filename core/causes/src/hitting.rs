//! Smallest hitting sets, by iterative deepening.

use crate::Statements;

/// A smallest set that has an element of each set of `hit`, and all elements of no set of `avoid`; `None` if there is none.
///
/// # Errors
/// If it was stopped: there can be many sets to try.
pub(crate) fn smallest_hitting_set(
    hit: &[Statements],
    avoid: &[Statements],
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<Statements>, Stopped> {
    let mut search = Search { hit, avoid, is_stopped, chosen: Statements::new() };
    // More elements than one for each set to be hit are never needed.
    for size in 0..=hit.len() {
        if let Some(found) = search.extended(size)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Nobody waits for the result any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stopped;

struct Search<'a> {
    hit: &'a [Statements],
    avoid: &'a [Statements],
    is_stopped: &'a dyn Fn() -> bool,
    chosen: Statements,
}

impl Search<'_> {
    /// What was chosen with at most `more` elements more, so that it hits every set.
    fn extended(&mut self, more: usize) -> Result<Option<Statements>, Stopped> {
        if (self.is_stopped)() {
            return Err(Stopped);
        }
        if self.avoid.iter().any(|set| set.is_subset(&self.chosen)) {
            return Ok(None);
        }
        let missed = self.hit.iter().filter(|set| set.is_disjoint(&self.chosen));
        let Some(narrowest) = missed.min_by_key(|set| set.len()) else { return Ok(Some(self.chosen.clone())) };
        if more == 0 {
            return Ok(None);
        }
        for element in narrowest.iter().copied() {
            self.chosen.insert(element);
            let found = self.extended(more - 1);
            self.chosen.remove(&element);
            if !matches!(found, Ok(None)) {
                return found;
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_program::EdgeId;

    fn set(elements: u32) -> Statements {
        (0..6).filter(|bit| elements & (1 << bit) != 0).map(EdgeId).collect()
    }

    /// Compared with all subsets of six elements.
    #[test]
    fn it_is_a_smallest_one_by_definition() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..5_000 {
            let hit: Vec<Statements> = (0..random(5)).map(|_| set(random(64) as u32)).collect();
            let avoid: Vec<Statements> = (0..random(5)).map(|_| set(random(64) as u32)).collect();
            let fits = |one: &Statements| {
                hit.iter().all(|set| !set.is_disjoint(one)) && !avoid.iter().any(|set| set.is_subset(one))
            };
            let smallest = (0..64).map(set).filter(fits).map(|one| one.len()).min();
            let found = smallest_hitting_set(&hit, &avoid, &|| false).expect("nobody stops it");
            assert_eq!(found.as_ref().map(Statements::len), smallest, "{hit:?} {avoid:?}");
            assert!(found.iter().all(fits), "{hit:?} {avoid:?}");
        }
        assert_eq!(smallest_hitting_set(&[set(7)], &[], &|| true), Err(Stopped));
    }
}
