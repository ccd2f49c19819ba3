//! The way to a cycle and once round it, from the edge that closes it.
//!
//! If the edge s → t was met while values were raised, t reaches s through states of its own part. The path is looked for by one more
//! wave that begins in t; each state that it gets to is numbered, and a log says from which one, by which edge.

use super::super::batch::Notes;
use super::super::exchange::{Exchange, ExchangeError};
use super::super::retrace::retrace;
use super::super::way::{CycleWay, Origin, Ways};
use super::spread::{Closing, End, Spread};
use super::waves::{Arrival, Parts, Wave};
use crate::model::Model;
use crate::observer::Observer;
use fabius_base::StopReason;
use std::collections::VecDeque;

/// Goes from one state to another one of the same part.
struct Path<'w, W> {
    ways: &'w mut W,
    /// States that the wave got to and that have not handed it on.
    waiting: VecDeque<u32>,
    /// States that it got to.
    reached: u32,
    /// The state looked for, if it is one of this partition's.
    end: Option<u32>,
}

impl<W: Ways> Path<'_, W> {
    /// Gets to a state; its number in the log, from 1, is kept with it.
    fn reach(&mut self, parts: &mut Parts, state: u32, origin: Origin) -> Result<(), ExchangeError> {
        let is_kept = origin.pack().is_some_and(|packed| self.ways.push(packed));
        self.reached += 1;
        parts.entering[state as usize] = self.reached;
        self.waiting.push_back(state);
        if is_kept { Ok(()) } else { Err(ExchangeError::Damaged) }
    }
}

impl<W: Ways> Wave for Path<'_, W> {
    fn next(&mut self, parts: &mut Parts) -> Option<(u32, u64, Notes)> {
        let state = self.waiting.pop_front()?;
        let place = state as usize;
        Some((state, u64::from(parts.entering[place]) - 1, [parts.part[place], 0]))
    }

    fn arrive(&mut self, parts: &mut Parts, arrival: &Arrival) -> Result<bool, ExchangeError> {
        let to = arrival.to as usize;
        if parts.part[to] != arrival.notes[0] || parts.entering[to] != 0 {
            return Ok(false);
        }
        let (partition, number, ordinal) = arrival.from;
        self.reach(parts, arrival.to, Origin { partition, number, ordinal })?;
        Ok(self.end == Some(arrival.to))
    }

    fn due(&self) -> u64 {
        self.waiting.len() as u64
    }

    fn memory_bytes(&self) -> u64 {
        size_of_val::<[u32]>(self.waiting.as_slices().0) as u64 + self.ways.memory_bytes()
    }
}

impl<M: Model, W: Ways, X: Exchange, O: Observer<M::Label, M::Fault>> Spread<'_, '_, M, W, X, O> {
    /// The way to the cycle that an edge closes, and once round it; or why it was not looked for to the end.
    pub fn way_of(&mut self, closing: Closing, ways: &mut W) -> Result<Result<CycleWay, StopReason>, ExchangeError> {
        let cycle = match closing.ordinal {
            0 => Vec::new(),
            last => match self.path(closing.to, closing.from, ways)? {
                Ok(path) => path.into_iter().chain([last]).collect(),
                Err(reason) => return Ok(Err(reason)),
            },
        };
        let mut stems = retrace(self.partition.exchange, self.partition.ways, &[closing.to])?;
        let stem = stems.pop().ok_or(ExchangeError::Damaged)?;
        Ok(Ok(CycleWay { stem, cycle }))
    }

    /// The edges from a state to another one of its part.
    fn path(
        &mut self,
        start: (usize, u64),
        end: (usize, u64),
        ways: &mut W,
    ) -> Result<Result<Vec<u32>, StopReason>, ExchangeError> {
        let me = self.partition.exchange.me();
        let mine = |(partition, number): (usize, u64)| u32::try_from(number).ok().filter(|_| partition == me);
        self.go_on();
        self.parts.entering.fill(0);
        let mut wave = Path { ways, waiting: VecDeque::new(), reached: 0, end: mine(end) };
        if let Some(start) = mine(start) {
            wave.reach(&mut self.parts, start, Origin::INITIAL)?;
        }
        if start != end {
            match self.send(&mut wave)? {
                End::Closing(_) => {}
                End::Stopped(reason) => return Ok(Err(reason)),
                End::Done => return Err(ExchangeError::Damaged),
            }
        }
        let number = mine(end).map_or(0, |end| u64::from(self.parts.entering[end as usize]));
        let (agreed, _) = self.partition.end_round(0, &[number])?;
        let number = agreed.notices.get(end.0).and_then(|told| told.first()?.checked_sub(1));
        let number = number.ok_or(ExchangeError::Damaged)?;
        let mut paths = retrace(self.partition.exchange, ways, &[(end.0, number)])?;
        paths.pop().map(Ok).ok_or(ExchangeError::Damaged)
    }
}
