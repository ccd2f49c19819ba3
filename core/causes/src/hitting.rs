//! Smallest hitting sets, by iterative deepening.

use crate::Statements;
use fabius_program::EdgeId;

/// A smallest set that has an element of each set of `hit`, and all elements of no set of `avoid`; `None` if there is none.
pub(crate) fn smallest_hitting_set(hit: &[Statements], avoid: &[Statements]) -> Option<Statements> {
    // More elements than one for each set to be hit are never needed.
    (0..=hit.len()).find_map(|size| extended(&mut Statements::new(), size, hit, avoid))
}

/// The set with at most `more` elements more that hits every set.
fn extended(chosen: &mut Statements, more: usize, hit: &[Statements], avoid: &[Statements]) -> Option<Statements> {
    if avoid.iter().any(|set| set.is_subset(chosen)) {
        return None;
    }
    let missed = hit.iter().filter(|set| set.is_disjoint(chosen));
    let Some(narrowest) = missed.min_by_key(|set| set.len()) else { return Some(chosen.clone()) };
    if more == 0 {
        return None;
    }
    let elements: Vec<EdgeId> = narrowest.iter().copied().collect();
    elements.into_iter().find_map(|element| {
        chosen.insert(element);
        let found = extended(chosen, more - 1, hit, avoid);
        chosen.remove(&element);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let found = smallest_hitting_set(&hit, &avoid);
            assert_eq!(found.as_ref().map(Statements::len), smallest, "{hit:?} {avoid:?}");
            assert!(found.iter().all(fits), "{hit:?} {avoid:?}");
        }
    }
}
