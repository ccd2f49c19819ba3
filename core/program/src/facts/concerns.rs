//! Which steps of a process a step of another one can have to do with: those that share something with it. To compare all pairs of steps of
//! two large processes takes minutes; few of them share anything.

use super::bits::{Bits, Channels};
use super::{Condition, Step};
use rustc_hash::FxHashMap;

/// The steps of a process, by what they read, change or ask.
#[derive(Clone, Debug)]
pub(super) struct Concerns {
    by_cell: FxHashMap<usize, Bits>,
    /// By the identity of a channel.
    by_channel: Vec<Bits>,
    /// Those that create processes, end one, or ask whether one is the youngest.
    births: Bits,
}

impl Concerns {
    pub fn of(steps: &[Step]) -> Self {
        let mut concerns =
            Self { by_cell: FxHashMap::default(), by_channel: vec![Bits::default(); 256], births: Bits::default() };
        for (at, step) in steps.iter().enumerate() {
            for cell in step.reads.iter().chain(step.written.iter()) {
                concerns.by_cell.entry(cell).or_default().insert(at);
            }
            for channel in step.channels().iter() {
                concerns.by_channel[channel].insert(at);
            }
            if !step.spawns.is_empty() || step.ends {
                concerns.births.insert(at);
            }
            step.guard.iter().for_each(|part| concerns.add(at, part));
        }
        concerns
    }

    fn add(&mut self, at: usize, part: &Condition) {
        let Asked { cells, channels, births } = Asked::by(part);
        for cell in cells {
            self.by_cell.entry(cell).or_default().insert(at);
        }
        for channel in channels.iter() {
            self.by_channel[channel].insert(at);
        }
        if births {
            self.births.insert(at);
        }
    }

    /// The steps with which a step shares something. All others accord with it, and none of them is its partner in a rendezvous, or can
    /// change whether a part of its guard holds.
    pub fn shared_with(&self, step: &Step) -> Bits {
        let mut shared = Bits::default();
        for cell in step.reads.iter().chain(step.written.iter()) {
            self.extend_by_cell(cell, &mut shared);
        }
        for channel in step.channels().iter() {
            shared.extend(&self.by_channel[channel]);
        }
        if !step.spawns.is_empty() || step.ends {
            shared.extend(&self.births);
        }
        for part in &step.guard {
            shared.extend(&self.asked_by(part));
        }
        shared
    }

    /// The steps that read or change something that a part of a guard asks. No other one can change whether it holds.
    pub fn asked_by(&self, part: &Condition) -> Bits {
        let Asked { cells, channels, births } = Asked::by(part);
        let mut asked = if births { self.births.clone() } else { Bits::default() };
        cells.into_iter().for_each(|cell| self.extend_by_cell(cell, &mut asked));
        channels.iter().for_each(|channel| asked.extend(&self.by_channel[channel]));
        asked
    }

    fn extend_by_cell(&self, cell: usize, steps: &mut Bits) {
        if let Some(of_cell) = self.by_cell.get(&cell) {
            steps.extend(of_cell);
        }
    }
}

/// What a part of a guard asks.
struct Asked {
    cells: Vec<usize>,
    channels: Channels,
    births: bool,
}

impl Asked {
    fn by(part: &Condition) -> Self {
        let (cells, channels) = match part {
            Condition::Never | Condition::Private(_) | Condition::Partner | Condition::Youngest => {
                (Vec::new(), Channels::NONE)
            }
            Condition::Cell(cell, _) => (vec![*cell as usize], Channels::NONE),
            Condition::Level { channels, .. } | Condition::Message { channels, .. } => (Vec::new(), *channels),
            Condition::Vague(cells, channels) => (cells.iter().collect(), *channels),
        };
        Self { cells, channels, births: *part == Condition::Youngest }
    }
}

impl Step {
    /// The channels that it has to do with, but for those that only its guard asks.
    fn channels(&self) -> Channels {
        self.touched.with(self.offers).with(self.accepts).with(self.depends_on_absence)
    }
}
