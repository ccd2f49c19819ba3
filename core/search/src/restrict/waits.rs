//! Waits: who does not move from where while another process is in a stretch.
//!
//! A *wait* is (who, where, while): a process of one kind does not move from a place, neither by itself nor as the receiver
//! of a rendezvous, while another process is in a stretch of the places of its kind.
//!
//! A shared variable, or what else can be observed in a state, stands beside the processes as one more that never waits: its
//! places are its values, in their order. So *while another process is in a stretch* also says *while `count` is above 2*.

use super::numbering::Numbering;

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

/// The values of something that can be observed, of which waits can speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Values {
    /// How many there are.
    pub count: u16,
    /// Whether it means something that one is above another; else waits speak of single values.
    pub ordered: bool,
}

impl Values {
    /// The stretches of values with this one in it: intervals, but not all values; of many, those from the first one or up to the
    /// last one, or of one value.
    fn stretches(self, value: u16) -> Vec<(u16, u16)> {
        let Some(last) = self.count.checked_sub(1).filter(|last| value <= *last) else { return Vec::new() };
        let single = (value, value);
        let mut stretches: Vec<(u16, u16)> = match () {
            () if !self.ordered => vec![single],
            () if self.count <= PLACES_MAX => {
                (0..=value).flat_map(|first| (value..=last).map(move |end| (first, end))).collect()
            }
            () => {
                let (up_to, from) = ((value..=last).map(|end| (0, end)), (0..=value).map(|first| (first, last)));
                up_to.chain(from).chain([single]).collect()
            }
        };
        stretches.retain(|stretch| *stretch != (0, last));
        stretches.sort_unstable();
        stretches.dedup();
        stretches
    }
}

/// The places that waits can speak of.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Number of places of each kind of process.
    sizes: Vec<u16>,
    /// The kinds after those: what is observed beside the processes.
    values: Vec<Values>,
    /// Kinds of processes that never wait.
    never_wait: Vec<u16>,
    arrangements: Arrangements,
}

/// Where the processes of each state are, and what is observed beside them: states that agree in that have one arrangement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrangements {
    /// Of each state, the number of its arrangement.
    of: Vec<u32>,
    /// Of each arrangement, where its sites end in `sites`.
    ends: Vec<u32>,
    sites: Vec<Site>,
}

impl Arrangements {
    /// Adds the next state. `words` tell arrangements apart; `add_sites` adds the sites of a new one: of its processes, by number,
    /// then of what is observed beside them.
    pub fn add_state(&mut self, numbering: &mut Numbering, words: &[u32], add_sites: impl FnOnce(&mut Vec<Site>)) {
        let (number, is_new) = numbering.number(words);
        if is_new {
            add_sites(&mut self.sites);
            self.ends.push(self.sites.len() as u32);
        }
        self.of.push(number);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// That of a state, by number.
    pub fn of(&self, state: u32) -> u32 {
        self.of[state as usize]
    }

    /// The sites of one.
    pub fn sites(&self, arrangement: u32) -> &[Site] {
        let start = (arrangement as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sites[start as usize..self.ends[arrangement as usize] as usize]
    }
}

impl Vocabulary {
    /// `sizes` is the number of places of each kind.
    pub fn new(sizes: Vec<u16>, arrangements: Arrangements) -> Self {
        Self { sizes, values: Vec::new(), never_wait: Vec::new(), arrangements }
    }

    /// The same with more kinds, numbered on after those of processes: what is observed beside the processes. The sites of each
    /// arrangement have to tell them, after those of its processes.
    #[must_use]
    pub fn with_values(self, values: Vec<Values>) -> Self {
        Self { values, ..self }
    }

    /// The same where processes of some kinds never wait.
    #[must_use]
    pub fn without_waits_of(self, never_wait: Vec<u16>) -> Self {
        Self { never_wait, ..self }
    }

    /// The arrangements of the states.
    pub fn arrangements(&self) -> &Arrangements {
        &self.arrangements
    }

    /// Whether a kind is not one of processes, but of what is observed beside them.
    pub fn is_value(&self, kind: u16) -> bool {
        self.sizes.len() <= usize::from(kind)
    }

    /// Where the processes are in a state.
    pub fn sites(&self, state: u32) -> &[Site] {
        self.arrangements.sites(self.arrangements.of(state))
    }

    /// The stretches of a kind that contain a place.
    pub fn stretches(&self, site: Site) -> Vec<(u16, u16)> {
        if let Some(values) = usize::from(site.kind).checked_sub(self.sizes.len()) {
            return self.values.get(values).map_or(Vec::new(), |values| values.stretches(site.place));
        }
        let size = self.sizes.get(usize::from(site.kind)).copied().unwrap_or(0);
        let longest = if size <= PLACES_MAX { size } else { STRETCH_MAX };
        let place = site.place;
        let of_length = (0..longest).flat_map(|more| {
            let firsts = place.saturating_sub(more)..=place;
            firsts.map(move |first| (first, first + more)).filter(move |&(_, last)| last < size)
        });
        of_length.collect()
    }

    /// The waits that hold back a process in an arrangement.
    pub fn waits_for(&self, arrangement: u32, process: u8) -> Vec<Wait> {
        let sites = self.arrangements.sites(arrangement);
        let Some(&at) = sites.get(usize::from(process)).filter(|at| !self.never_wait.contains(&at.kind)) else {
            return Vec::new();
        };
        let others = sites.iter().enumerate().filter(|(other, _)| *other != usize::from(process));
        let waits = others.flat_map(|(_, other)| {
            self.stretches(*other).into_iter().map(move |(first, last)| Wait { at, other: other.kind, first, last })
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
