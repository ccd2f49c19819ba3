//! Where the most permissive schedule holds processes back, and how often: what a person can be told of a schedule that looks at
//! the whole state.

use super::places::{Places, Whereabouts};
use fabius_search::restrict::{Graph, Region};
use fabius_task::report::schedule::HeldBackReport;
use std::collections::{BTreeMap, BTreeSet};

/// In how many states a macro step of a process at a place is possible, and in how many one is not allowed.
type Tally = BTreeMap<(u16, u16), (u64, u64)>;

/// The places where processes are held back, those first where that happens most often; locations that a person sees as one
/// place count together.
pub(super) fn held_back(
    (graph, region): (&Graph, &Region),
    seen: &Whereabouts,
    places: &Places,
) -> Vec<HeldBackReport> {
    let tally = tally(graph, region, &|state, pid| {
        let &(of, location) = seen.of(state).get(usize::from(pid))?;
        let site = places.site(of, location, usize::from(pid));
        Some((site.kind, site.place))
    });
    let told = tally.into_iter().filter(|(_, (_, held))| *held > 0).filter_map(|((kind, place), (states, held))| {
        let place = places.report(fabius_search::restrict::Site { kind, place })?;
        Some(HeldBackReport { place, states, held })
    });
    let mut told: Vec<HeldBackReport> = told.collect();
    told.sort_by_key(|place| std::cmp::Reverse(place.held));
    told
}

/// Counts states that a scheduler can meet who allows all that the region allows; `place` tells where a process is in a state.
fn tally(graph: &Graph, region: &Region, place: &dyn Fn(u32, u8) -> Option<(u16, u16)>) -> Tally {
    let mut tally = Tally::new();
    for state in region.reached(graph) {
        let (mut possible, mut held) = (BTreeSet::new(), BTreeSet::new());
        for group in graph.groups_of(state) {
            let there = graph.group(group).movers.into_iter().flatten().filter_map(|pid| place(state, pid));
            for at in there {
                possible.insert(at);
                if !region.allows(group) {
                    held.insert(at);
                }
            }
        }
        for at in possible {
            let counts = tally.entry(at).or_default();
            counts.0 += 1;
            counts.1 += u64::from(held.contains(&at));
        }
    }
    tally
}
