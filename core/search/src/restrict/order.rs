//! Schedules by a fixed order of kinds: a process moves only where none of a more important kind can.
//!
//! ```text
//! for each order of the kinds:  walk from s₀ along the groups of the most important rank in each state;
//!   no error, no dead end, and nobody shut out: it is a schedule
//! ```

use super::graph::{Graph, Movers};
use super::region::add_movers_ahead;
use super::waits::{Site, Vocabulary};
use crate::model::Ending;
use fabius_base::Cancel;

/// More kinds have too many orders.
pub const KINDS_MAX: usize = 5;

/// A fixed order that is a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FixedOrder {
    /// The kinds, the most important first.
    pub kinds: Vec<u16>,
    /// States that are still reached.
    pub kept: usize,
}

/// The rank of those who take part in a macro step: that of the most important of them.
pub fn rank_of(movers: Movers, sites: &[Site], kinds: &[u16]) -> usize {
    let rank = |mover: u8| {
        let site = sites.get(usize::from(mover))?;
        kinds.iter().position(|&kind| kind == site.kind)
    };
    movers.into_iter().flatten().filter_map(rank).min().unwrap_or(kinds.len())
}

/// The fixed order that is a schedule and keeps the most states, if there is one; `free` says of each state who can move again,
/// see [`super::can_move_again`].
pub fn fixed_order(
    graph: &Graph,
    vocabulary: &Vocabulary,
    kinds: &[u16],
    free: &[u64],
    cancel: &Cancel,
) -> Option<FixedOrder> {
    if KINDS_MAX < kinds.len() || kinds.len() < 2 {
        return None;
    }
    let mut best: Option<FixedOrder> = None;
    for kinds in orders(kinds) {
        if cancel.requested().is_some() {
            break;
        }
        let Some(kept) = states_under(graph, vocabulary, &kinds, free, cancel) else { continue };
        if best.as_ref().is_none_or(|best| best.kept < kept) {
            best = Some(FixedOrder { kinds, kept });
        }
    }
    best
}

/// Number of states that are reached under an order, if it is a schedule.
fn states_under(graph: &Graph, vocabulary: &Vocabulary, kinds: &[u16], free: &[u64], cancel: &Cancel) -> Option<usize> {
    let mut allowed = vec![false; graph.group_count()];
    let mut seen = vec![false; graph.len()];
    let mut order = vec![0];
    seen[0] = true;
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        match graph.ending(state) {
            None | Some(Ending::InvalidEnd) => return None,
            Some(Ending::ValidEnd) => continue,
            Some(Ending::Moves) => {}
        }
        let sites = vocabulary.sites(state);
        let rank = |group: usize| rank_of(graph.group(group).movers, sites, kinds);
        let least = graph.groups_of(state).map(rank).min()?;
        for number in graph.groups_of(state).filter(|&group| rank(group) == least) {
            let group = graph.group(number);
            if group.fails {
                return None;
            }
            allowed[number] = true;
            for &target in graph.targets(group) {
                if !std::mem::replace(&mut seen[target as usize], true) {
                    order.push(target);
                }
            }
        }
    }
    let mut ahead = vec![0; graph.len()];
    add_movers_ahead(graph, &order, &mut ahead, |_, group| allowed[group], cancel).ok()?;
    let shut_out = order.iter().any(|&state| free[state as usize] & !ahead[state as usize] != 0);
    (!shut_out).then_some(order.len())
}

/// All orders of a few kinds.
fn orders(kinds: &[u16]) -> Vec<Vec<u16>> {
    let mut orders = vec![Vec::new()];
    for &kind in kinds {
        let with = |order: &Vec<u16>| -> Vec<Vec<u16>> {
            let at = |place: usize| {
                let mut order = order.clone();
                order.insert(place, kind);
                order
            };
            (0..=order.len()).map(at).collect()
        };
        orders = orders.iter().flat_map(with).collect();
    }
    orders
}
