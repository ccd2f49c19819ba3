//! Waits: who does not move from where while another process is in a stretch.
//!
//! A *wait* is (who, where, while): a process of one kind does not move from a place, neither by itself nor as the receiver
//! of a rendezvous, while another process is in a stretch of the places of its kind.

/// Of a kind with at most this many places, all stretches are tried; …
const PLACES_MAX: u16 = 12;
/// … of one with more, those of at most this many places.
const STRETCH_MAX: u16 = 6;
/// More processes are not supported.
pub const PROCESSES_MAX: usize = 64;

/// Where a process is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// Its kind: processes of one kind are treated alike.
    pub kind: u16,
    /// Its place, by number in its kind; numbers that follow one another are neighbours.
    pub place: u16,
}

/// A process of a kind does not move from a place while another process is in a stretch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Wait {
    /// Who waits where.
    pub at: Site,
    /// The kind of the other process.
    pub other: u16,
    /// The first place of the stretch.
    pub first: u16,
    /// The last place of the stretch.
    pub last: u16,
}

/// The places that waits can speak of.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Number of places of each kind.
    sizes: Vec<u16>,
    /// Of each state: where its processes end in `sites`.
    ends: Vec<u32>,
    sites: Vec<Site>,
}

impl Vocabulary {
    /// The sites of the processes of all states, one state after the other; `ends` says where those of each state end.
    /// `sizes` is the number of places of each kind.
    pub fn new(sizes: Vec<u16>, ends: Vec<u32>, sites: Vec<Site>) -> Self {
        Self { sizes, ends, sites }
    }

    /// Where the processes are in a state.
    pub fn sites(&self, state: u32) -> &[Site] {
        let start = (state as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sites[start as usize..self.ends[state as usize] as usize]
    }

    /// The stretches of a kind that contain a place.
    pub fn stretches(&self, site: Site) -> impl Iterator<Item = (u16, u16)> + use<> {
        let size = self.sizes.get(usize::from(site.kind)).copied().unwrap_or(0);
        let longest = if size <= PLACES_MAX { size } else { STRETCH_MAX };
        let place = site.place;
        (0..longest).flat_map(move |more| {
            let firsts = place.saturating_sub(more)..=place;
            firsts.map(move |first| (first, first + more)).filter(move |&(_, last)| last < size)
        })
    }

    /// The waits that hold back a process in a state.
    pub fn waits_for(&self, state: u32, process: u8) -> Vec<Wait> {
        let sites = self.sites(state);
        let Some(&at) = sites.get(usize::from(process)) else { return Vec::new() };
        let others = sites.iter().enumerate().filter(|(other, _)| *other != usize::from(process));
        let waits = others.flat_map(|(_, other)| {
            self.stretches(*other).map(move |(first, last)| Wait { at, other: other.kind, first, last })
        });
        waits.collect()
    }

    /// The processes that waits hold back in a state, as bits.
    pub fn held(&self, waits: &[Wait], state: u32) -> u64 {
        held(waits, self.sites(state))
    }
}

/// The processes that waits hold back where the processes are at these sites, as bits.
pub fn held(waits: &[Wait], sites: &[Site]) -> u64 {
    let mut held = 0;
    for wait in waits {
        let inside = |site: &Site| site.kind == wait.other && (wait.first..=wait.last).contains(&site.place);
        let mut there = sites.iter().enumerate().filter(|(_, site)| inside(site)).map(|(process, _)| process);
        let (first, second) = (there.next(), there.next());
        for (process, _) in sites.iter().enumerate().filter(|(_, site)| **site == wait.at) {
            let other = if first == Some(process) { second } else { first };
            held |= u64::from(other.is_some()) << process;
        }
    }
    held
}
