//! A schedule as sections: stretches of a run, each with the order of its steps that has to be kept.
//!
//! A deterministic scheduler stays in the region: each process goes on until one of its loops is closed or until it may not
//! move, then it is the next one's turn; or it is a fair schedule that was found. What a process may choose stays open, so the
//! run branches there.
//!
//! ```text
//! from the initial state, and from each way on at an open choice:
//!   follow the scheduler until an open choice, the end, or a state in which a section begins
//!   steps i < j are in order if they share a process, or one of them changes what the other one looks at
//!   told is the transitive reduction, between different processes
//! ```
//!
//! Before a section is told, the reference interpreter takes its steps in other orders that keep what was told: each has to be
//! possible, without another way on, and all have to lead to the same state.
//!
//! The order also does what locks do, so the program under it can do without them: if that is asked for, steps do nothing to the
//! variables and channels that serve nothing but waiting ([`fabius_program::facts::waiting`]), and those that would do nothing else are not
//! told. The order is then worked out, and tried, in the program without these variables; each section has to lead to
//! the same state as in the program with them, but for these variables.
//!
//! After Metzler, Suri, Weissenbacher, *Extracting safe thread schedules from incomplete model checking results*, sections 4
//! and 5. There, a schedule is made for each section of the runs of a program; to do without locks is *Opt1*.

mod follow;
mod order;

use super::places::{call_of, shortened, shown};
use fabius_base::{Cancel, SourceMap};
use fabius_model::SearchedMachine;
use fabius_program::facts::Facts;
use fabius_program::facts::waiting::{is_only_about, only_waited_for, stored_from, without};
use fabius_program::{Action, Initial, Move, Program, VariableId};
use fabius_search::restrict::Graph;
use fabius_task::report::schedule::{SectionEventReport, SectionReport};
use fabius_witness::State;
use fabius_witness::footprint::Footprint;
pub(super) use follow::Rule;
use follow::{Following, Start, loops, stretch};
use order::{longest_chain, reduced};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// At most this many sections are told, …
const SECTIONS_MAX: usize = 100;
/// … each with at most this many steps, …
const EVENTS_MAX: usize = 200;
/// … the last of which is at most this many steps of the run from its beginning.
const DEPTH_MAX: usize = 5_000;

/// Why there are no sections.
pub(super) enum NoSections {
    /// There are too many, or they are too long; as half a sentence.
    TooLarge(String),
    /// Somebody stopped it.
    Stopped,
    /// What was found is not true.
    Wrong(String),
}

/// How sections are told.
#[derive(Clone, Copy)]
pub(super) struct Telling<'r> {
    /// Whose sections.
    pub(super) rule: Rule<'r>,
    /// One that follows itself is taken this many times in a row, or as often as fits, before its order is worked out: between two
    /// laps only what has to stay in order is kept.
    pub(super) unroll: usize,
    /// Whether they do without what serves nothing but waiting.
    pub(super) without_locks: bool,
}

/// Sections, and the variables that they do without.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) sections: Vec<SectionReport>,
    pub(super) without: Vec<String>,
}

/// The sections of a schedule that stays in the region.
pub(super) fn sections(
    machine: &mut SearchedMachine,
    map: &SourceMap,
    graph: &mut Graph,
    Telling { rule, unroll, without_locks }: Telling<'_>,
    cancel: &Cancel,
) -> Result<Told, NoSections> {
    let written = machine.shared_program().clone();
    let facts = Facts::of(Arc::clone(&written), &[]);
    let locks = if without_locks { only_waited_for(&written) } else { BTreeSet::new() };
    let program = if locks.is_empty() { Arc::clone(&written) } else { Arc::new(without(&written, &locks)) };
    let nodes = Following { machine, graph, rule, facts: &facts, cancel }.follow()?;
    let starts = loops(&nodes);
    let first = Start::At((0, 0));
    let mut numbers: BTreeMap<Start, usize> = BTreeMap::from([(first, 0)]);
    let mut waiting = VecDeque::from([(first, Vec::new())]);
    let mut told = Vec::new();
    while let Some((start, before)) = waiting.pop_front() {
        if cancel.requested().is_some() {
            return Err(NoSections::Stopped);
        }
        let stretch = stretch(&nodes, &starts, start)?;
        let mut path: Vec<Move> = before.clone();
        path.extend(stretch.events.iter().flatten());
        if DEPTH_MAX < path.len() {
            return Err(too_large("a section begins after too many steps"));
        }
        for next in &stretch.then {
            let number = numbers.len();
            if *numbers.entry(*next).or_insert(number) == number {
                waiting.push_back((*next, path.clone()));
            }
        }
        if SECTIONS_MAX < numbers.len() {
            return Err(too_large(&format!("there are more than {SECTIONS_MAX}")));
        }
        let then = stretch.then.iter().map(|start| numbers[start] + 1).collect();
        let laps = match stretch.then.as_slice() {
            [next] if *next == start => unroll.min(EVENTS_MAX / stretch.events.len().max(1)).max(1),
            _ => 1,
        };
        let events: Vec<Vec<Move>> = std::iter::repeat_n(&stretch.events, laps).flatten().cloned().collect();
        let (program, written, locks) = (&program, &written, &locks);
        let section = Section { program, written, locks, map, before: &before, events: &events, laps };
        told.push(section.report(told.len() + 1, then).map_err(NoSections::Wrong)?);
    }
    let name = |variable: &VariableId| written.globals[variable.0 as usize].name.clone();
    Ok(Told { sections: told, without: locks.iter().map(name).collect() })
}

fn too_large(why: &str) -> NoSections {
    NoSections::TooLarge(why.to_owned())
}

/// A section, and the run before it.
struct Section<'a> {
    /// The program, which does nothing to the variables that are left out.
    program: &'a Arc<Program>,
    /// The program as it is written, …
    written: &'a Arc<Program>,
    /// … and the variables that are left out.
    locks: &'a BTreeSet<VariableId>,
    map: &'a SourceMap,
    before: &'a [Move],
    events: &'a [Vec<Move>],
    /// How often the steps of one lap are in there.
    laps: usize,
}

impl Section<'_> {
    fn report(&self, number: usize, then: Vec<usize>) -> Result<SectionReport, String> {
        let mut state = self.state_before()?;
        let order = self.order()?;
        self.takes_other_orders(&state, &order, number as u64)?;
        self.leads_where_the_written_one_leads()?;
        let footprints = self.footprints()?;
        let kept: Vec<usize> = (0..self.events.len()).filter(|&event| self.is_told(event, &footprints)).collect();
        let number_of = |event: &usize| kept.binary_search(event).ok();
        let order: Vec<Vec<usize>> =
            kept.iter().map(|&event| order[event].iter().filter_map(number_of).collect()).collect();
        let reduced = reduced(&order);
        let mut events = Vec::new();
        for (index, labels) in self.events.iter().enumerate() {
            if let Some(at) = number_of(&index) {
                let same = |earlier: usize| footprints[kept[earlier]].shares_a_process(&footprints[index]);
                let after = reduced[at].iter().filter(|&&earlier| !same(earlier)).map(|&earlier| earlier + 1).collect();
                events.push(self.event(&state, labels, after).ok_or("a section has a step without a place")?);
            }
            state = self.after(state, labels)?;
        }
        let orders = events.iter().map(|event| event.after.len() as u64).sum();
        let (laps, longest_chain) = (self.laps as u64, longest_chain(&order));
        let left_out = (self.events.len() - kept.len()) as u64;
        Ok(SectionReport { number, laps, events, left_out, orders, longest_chain, then })
    }

    /// Whether a step does anything, or has to keep an order with steps of other processes.
    fn is_told(&self, event: usize, footprints: &[Footprint]) -> bool {
        let is_left_out = |label: &Move| {
            let statement = self.written.statement(self.written.process_of(label.edge), label.edge);
            label.partner.is_none() && is_only_about(&statement.action, self.locks)
        };
        let this = &footprints[event];
        let mut others = footprints.iter().filter(|other| !other.shares_a_process(this));
        !self.events[event].iter().all(is_left_out) || others.any(|other| this.depends_on(other))
    }

    /// Checks that the section ends, without what is left out, as it does in the program as it is written, with as many ways on.
    fn leads_where_the_written_one_leads(&self) -> Result<(), String> {
        if self.locks.is_empty() {
            return Ok(());
        }
        let as_written = Section { program: self.written, ..*self };
        let sequence: Vec<usize> = (0..self.events.len()).collect();
        let (mut end, ways) = self.taken_in_order(&self.state_before()?, &sequence)?;
        let (written_end, written_ways) = as_written.taken_in_order(&as_written.state_before()?, &sequence)?;
        self.adopt(&mut end, &written_end);
        match end.visible(self.program) == written_end.visible(self.program) && ways == written_ways {
            true => Ok(()),
            false => Err("without its locks a section leads elsewhere".to_owned()),
        }
    }

    /// Takes over what is left out from a state of the program as it is written: variables, channels with what they hold, and what
    /// was received from them.
    fn adopt(&self, state: &mut State, written: &State) {
        for variable in self.locks {
            let number = variable.0 as usize;
            state.globals[number].clone_from(&written.globals[number]);
            if matches!(self.written.globals[number].initial, Initial::Channel(_)) {
                for &channel in written.globals[number].iter() {
                    let place = usize::try_from(channel).ok().and_then(|channel| channel.checked_sub(1));
                    let both = place.and_then(|place| state.channels.get_mut(place).zip(written.channels.get(place)));
                    both.into_iter().for_each(|(ours, theirs)| ours.clone_from(theirs));
                }
            }
        }
        let stored = stored_from(self.written, self.locks);
        for (ours, theirs) in state.processes.iter_mut().zip(&written.processes) {
            let process = ours.process;
            let received = stored.iter().filter(|(receiver, _)| *receiver == process);
            for local in received.map(|(_, local)| local.0 as usize) {
                ours.locals[local].clone_from(&theirs.locals[local]);
            }
        }
    }

    fn event(&self, state: &State, labels: &[Move], after: Vec<usize>) -> Option<SectionEventReport> {
        let (first, last) = (labels.first()?, labels.last()?);
        let name = |pid: u8| {
            let process = state.processes.get(usize::from(pid))?;
            Some(format!("{}[{pid}]", shown(&self.program.process(process.process).name)))
        };
        let text = |label: &Move| {
            let statement = self.program.statement(self.program.process_of(label.edge), label.edge);
            if statement.action == Action::End { "ends".to_owned() } else { shortened(&statement.text) }
        };
        let at = self.map.position(call_of(self.map, self.program.span_of(first.edge)));
        let statement = if labels.len() == 1 { text(first) } else { format!("{} … {}", text(first), text(last)) };
        let partner = first.partner.and_then(|(partner, _)| name(partner));
        Some(SectionEventReport {
            process: name(first.pid)?,
            partner,
            file: at.file.to_string(),
            line: at.line,
            statement,
            after,
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
