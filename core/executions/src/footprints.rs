//! What steps of a machine touch, for searches that reverse races.

use super::conflicts::{EventFacts, Part, Tables};
use super::model::Interleaved;
use fabius_machine::Machine;
use fabius_program::Move;
use fabius_program::facts::Traffic as FactsTraffic;
use fabius_search::executions::{Dependence, Footprint, Message, Traffic};
use std::rc::Rc;

/// What a step touches.
#[derive(Debug)]
pub(super) struct Touched {
    /// Processes that take part, or are created.
    pids: Vec<u8>,
    parts: Vec<TouchedPart>,
}

/// A part of a step.
#[derive(Debug)]
struct TouchedPart {
    known: Known,
    event: EventFacts,
    /// What processes do that may receive control.
    joined: Vec<Known>,
}

/// An edge of a process of which the tables know the instance.
#[derive(Clone, Copy, Debug)]
struct Known {
    part: Part,
    instance: usize,
}

impl TouchedPart {
    /// Its own edge, or one of those that may receive control.
    fn edge(&self, at: usize) -> Known {
        at.checked_sub(1).map_or(self.known, |at| self.joined[at])
    }
}

impl Tables {
    fn touched(&mut self, machine: &mut Machine, state: &[u32], path: &[Move], pids: Vec<u8>) -> Option<Rc<Touched>> {
        let configuration = self.of(machine, state)?;
        let parts = self.parts_of(&configuration, state, path.first()?)?;
        let mut found = Vec::new();
        for part in parts {
            let known = |part: Part| Known { part, instance: configuration.instance_of(part.pid) };
            let event = self.event_of(&configuration, state, part);
            let joined = event.joined.iter().map(|part| known(*part)).collect();
            found.push(TouchedPart { known: known(part), event, joined });
        }
        Some(Rc::new(Touched { pids, parts: found }))
    }

    fn meet(&mut self, mine: &TouchedPart, theirs: &TouchedPart) -> bool {
        let (m, t) = (&mine.event.meetings, &theirs.event.meetings);
        if mine.event.ends || theirs.event.ends || m.absence.meets(t.readiness) || t.absence.meets(m.readiness) {
            return true;
        }
        let edges = |part: &TouchedPart| 0..=part.joined.len();
        edges(mine).any(|a| {
            let a = mine.edge(a);
            let mut others = edges(theirs).map(|b| theirs.edge(b)).filter(|b| a.part.pid != b.part.pid);
            others.any(|b| self.conflict_between((a.instance, a.part), (b.instance, b.part)))
        })
    }

    /// The message that a step begins with. Inside an atomic sequence it matters as well whether there is one.
    fn message(&mut self, machine: &mut Machine, state: &[u32], first: &Move) -> Option<Message> {
        let configuration = self.of(machine, state).filter(|_| first.partner.is_none())?;
        let instance = self.instance_at(configuration.instance_of(usize::from(first.pid)));
        let (channel, capacity, traffic) = self.facts().traffic(instance, first.edge)?;
        let traffic = match traffic {
            FactsTraffic::Send => Traffic::Send,
            FactsTraffic::Receive => Traffic::Receive,
            FactsTraffic::Peek => Traffic::Peek,
        };
        let shape = machine.shape_number(state)?;
        let level = machine.length_reader(shape, channel as usize)?.read(state) as u32;
        Some(Message { channel, capacity, level, traffic })
    }

    /// Whether a step may enable, and whether it may disable others, or a process that takes part has an alternative.
    fn influence_of(&mut self, path: &[Move], touched: &Touched) -> (bool, bool) {
        let mut found = (path.len() > 1, path.len() > 1);
        for TouchedPart { known, event, joined } in &touched.parts {
            let influence = self.influence(known.instance, known.part);
            let ends = event.ends || !joined.is_empty();
            found = (found.0 || influence.enables || ends, found.1 || influence.disables || ends);
        }
        found.1 |= touched.parts.iter().any(|part| self.has_alternatives(part.known.instance, part.known.part));
        found
    }
}

impl Dependence for Interleaved {
    type Touched = Rc<Touched>;

    fn footprint(&mut self, state: &[u32], path: &[Move], after: Option<&[u32]>) -> Option<Footprint<Rc<Touched>>> {
        let (machine, tables) = self.machine_and_tables();
        let mut pids: Vec<u8> = Vec::new();
        for label in path {
            pids.push(label.pid);
            pids.extend(label.partner.map(|(pid, _)| pid));
        }
        if let Some(after) = after {
            pids.extend((machine.process_count(state)..machine.process_count(after)).map(|pid| pid as u8));
        }
        pids.sort_unstable();
        pids.dedup();
        let touched = tables.touched(machine, state, path, pids)?;
        let message = tables.message(machine, state, path.first()?);
        let (may_enable, may_disable) = tables.influence_of(path, &touched);
        Some(Footprint { touched, message, may_enable, may_disable })
    }

    fn depend(&mut self, a: &Rc<Touched>, b: &Rc<Touched>) -> bool {
        if self.share_process(a, b) {
            return true;
        }
        let (_, tables) = self.machine_and_tables();
        a.parts.iter().any(|mine| b.parts.iter().any(|theirs| tables.meet(mine, theirs)))
    }

    fn share_process(&self, a: &Rc<Touched>, b: &Rc<Touched>) -> bool {
        a.pids.iter().any(|pid| b.pids.contains(pid))
    }

    fn settles(&mut self, state: &[u32]) -> bool {
        self.ends_quietly_now(state)
    }
}
