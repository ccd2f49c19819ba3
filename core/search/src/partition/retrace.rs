//! Paths to states of several partitions, put together from what each of them knows of its own: all paths go back one step in a round.

use super::exchange::{Exchange, ExchangeError};
use super::way::{Origin, Ways};

/// Numbers that a partition tells of each path: whether it knows the next step back, and that.
const WORDS: usize = 2;
const NOT_MINE: [u64; WORDS] = [0, 0];

/// Which ordinary successor comes next, from the beginning on, on the path to each of these states, each named by its partition and its
/// number there. All partitions ask for the same states.
pub(super) fn retrace<X: Exchange, W: Ways>(
    exchange: &mut X,
    ways: &mut W,
    places: &[(usize, u64)],
) -> Result<Vec<Vec<u32>>, ExchangeError> {
    let me = exchange.me();
    let mut paths: Vec<Vec<u32>> = vec![Vec::new(); places.len()];
    let mut at: Vec<Option<(usize, u64)>> = places.iter().copied().map(Some).collect();
    while at.iter().any(Option::is_some) {
        let mut known = |place: &Option<(usize, u64)>| match place {
            // A violation of the initial state has no entry.
            Some((partition, number)) if *partition == me => [1, ways.get(*number).unwrap_or_default()],
            _ => NOT_MINE,
        };
        let summary: Vec<u64> = at.iter().flat_map(&mut known).collect();
        let summaries = exchange.end_round(&summary)?.summaries;
        for (index, (place, path)) in at.iter_mut().zip(&mut paths).enumerate() {
            let Some((partition, _)) = *place else { continue };
            let answer = summaries.get(partition).and_then(|summary| summary.chunks(WORDS).nth(index));
            let Some([1, packed]) = answer else { return Err(ExchangeError::Damaged) };
            let origin = Origin::unpack(*packed);
            *place = (origin.ordinal != 0).then_some((origin.partition, origin.number));
            path.extend(place.map(|_| origin.ordinal));
        }
    }
    paths.iter_mut().for_each(|path| path.reverse());
    Ok(paths)
}
