//! The whole product of a small program and what is watched beside it, and questions about its cycles, answered
//! by brute force.

use crate::referee::{self, Options};
use crate::spin::Endless;
use fabius_machine::{Ending, Machine, Step};
use fabius_program::meaning::Fault;
use fabius_program::{CLAIM_PID, Move, ProcessId, Program, ProgressOn, StepMarks, Watch};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The states that are not passed through, and the ways from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Product {
    /// For each state, the processes that exist, and those that are enabled, as sets of bits.
    states: Vec<(u64, u64)>,
    ways: Vec<Vec<Way>>,
    /// What went wrong on the way, each once.
    pub faults: HashSet<Fault>,
    /// Some state may not stop where it does.
    pub invalid_end: bool,
}

/// A way from one state to the next, through whatever is passed through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Way {
    to: usize,
    marks: StepMarks,
    /// The processes that take part.
    movers: u64,
}

/// What a cycle is to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cycle {
    /// No step makes progress.
    NoProgress,
    /// A step is accepting.
    Accepting,
}

/// A state on the way: its words, and what was collected.
type Passing = (Vec<u32>, StepMarks, u64);

/// Whether a model violates what is asked, by brute force: some run without end, or the end of a claim. `None` if
/// it cannot be told, if Spin would stop at an error of evaluation, or if the only fair runs are those that a claim
/// goes through when everything has stopped: Spin's `-f` misses some of them.
pub fn violated(model: &str, question: Endless<'_>, fair: bool, states_max: usize) -> Option<bool> {
    let program = referee::program(model, Options::NONE)?;
    let of_name = |name: &str| program.processes.iter().position(|process| process.name == name);
    let (watch, cycle) = match question {
        Endless::Progress => (Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING }, Cycle::NoProgress),
        Endless::Acceptance => (Watch { acceptance: true, ..Watch::NOTHING }, Cycle::Accepting),
        Endless::Claim(name) => {
            let claim = ProcessId(of_name(name)? as u32);
            (Watch { claim: Some(claim), acceptance: true, ..Watch::NOTHING }, Cycle::Accepting)
        }
    };
    let product = Product::of(&program, watch, states_max).ok()?;
    let comparable = |fault: &Fault| matches!(fault, Fault::AssertionFailed | Fault::ClaimCompleted);
    if !product.faults.iter().all(comparable) {
        return None;
    }
    match product.faults.contains(&Fault::ClaimCompleted) || product.has_cycle(cycle, fair) {
        true if fair && product.only_stutters(cycle) => None,
        answer => Some(answer),
    }
}

impl Product {
    /// All of it, unless there is more than `states_max` or a process with a number above 63.
    ///
    /// # Errors
    /// Why not.
    pub fn of(program: &Arc<Program>, watch: Watch, states_max: usize) -> Result<Self, String> {
        let mut machine = Machine::watching(program.clone(), watch).map_err(|refusal| refusal.to_string())?;
        let mut product = Self::default();
        let mut first = Vec::new();
        if let Err(fault) = machine.initial(&mut first) {
            product.faults.insert(fault);
            return Ok(product);
        }
        let mut known: HashMap<Vec<u32>, usize> = HashMap::from([(visible(&machine, &first), 0)]);
        let mut open = vec![first];
        let mut next = 0;
        while let Some(state) = open.get(next).cloned() {
            next += 1;
            let ways = product.ways_from(&mut machine, &state, states_max)?;
            let ways = ways.into_iter().map(|(state, marks, movers)| {
                let number = known.len();
                let to = *known.entry(visible(&machine, &state)).or_insert_with(|| {
                    open.push(state);
                    number
                });
                Way { to, marks, movers }
            });
            let ways: Vec<Way> = ways.collect();
            product.ways.push(ways);
            product.states.push(standing(&mut machine, &state)?);
            if known.len() > states_max {
                return Err("too many states".to_owned());
            }
        }
        Ok(product)
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Every state to which a way leads, with marks and movers.
    fn ways_from(&mut self, machine: &mut Machine, from: &[u32], most: usize) -> Result<Vec<Passing>, String> {
        let mut found = Vec::new();
        let mut seen: HashSet<Passing> = HashSet::new();
        let mut open = vec![(from.to_vec(), StepMarks::NONE, 0)];
        while let Some((state, marks, movers)) = open.pop() {
            let mut cursor = machine.begin(&state);
            loop {
                let mut successor = Vec::new();
                match machine.next(&state, &mut cursor, &mut successor) {
                    Step::Successor { label, transient, fault, marks: new } => {
                        self.faults.extend(fault);
                        let reached = (successor, marks.with(new), movers | label.map_or(0, |label| bits(&label)));
                        if !transient {
                            found.push(reached);
                        } else if seen.insert(reached.clone()) {
                            open.push(reached);
                        }
                    }
                    Step::Broken { fault, .. } => {
                        self.faults.insert(fault);
                    }
                    Step::Done(ending) => {
                        self.invalid_end |= ending == Ending::InvalidEnd;
                        break;
                    }
                }
            }
            if seen.len() > most {
                return Err("too many states on the way".to_owned());
            }
        }
        Ok(found)
    }

    /// Whether there is such a cycle, if `fair` a weakly fair one.
    pub fn has_cycle(&self, cycle: Cycle, fair: bool) -> bool {
        self.has_cycle_where(cycle, fair, |_| true)
    }

    /// Whether there are such cycles, but only such in which no process moves.
    fn only_stutters(&self, cycle: Cycle) -> bool {
        !self.has_cycle_where(cycle, true, |ways| ways.iter().any(|way| way.movers != 0))
            && !self.faults.contains(&Fault::ClaimCompleted)
    }

    fn has_cycle_where(&self, cycle: Cycle, fair: bool, is_wanted: impl Fn(&[&Way]) -> bool) -> bool {
        let counts = |way: &Way| cycle == Cycle::Accepting || !way.marks.progress;
        self.components(counts).iter().any(|component| {
            let inside: HashSet<usize> = component.iter().copied().collect();
            let ways = component.iter().flat_map(|state| &self.ways[*state]);
            let ways: Vec<&Way> = ways.filter(|way| counts(way) && inside.contains(&way.to)).collect();
            let shows = cycle == Cycle::NoProgress || ways.iter().any(|way| way.marks.accepting);
            let excused = component.iter().fold(0, |all, state| {
                let (exist, enabled) = self.states[*state];
                all | !(exist & enabled)
            });
            let content = ways.iter().fold(excused, |all, way| all | way.movers);
            !ways.is_empty() && is_wanted(&ways) && shows && (!fair || content == u64::MAX)
        })
    }

    /// Strongly connected components of the graph of the ways that count.
    fn components(&self, counts: impl Fn(&Way) -> bool) -> Vec<Vec<usize>> {
        // Tarjan, with the stack of calls kept by hand: a state, and how many of its ways were followed.
        let mut index = vec![usize::MAX; self.states.len()];
        let mut low = index.clone();
        let mut on_stack = vec![false; self.states.len()];
        let (mut stack, mut count, mut components) = (Vec::new(), 0, Vec::new());
        for root in 0..self.states.len() {
            let mut calls = if index[root] == usize::MAX { vec![(root, 0)] } else { Vec::new() };
            while let Some((state, followed)) = calls.last_mut() {
                let state = *state;
                if *followed == 0 {
                    (index[state], low[state]) = (count, count);
                    count += 1;
                    stack.push(state);
                    on_stack[state] = true;
                }
                let way = self.ways[state].iter().skip(*followed).position(&counts).map(|at| at + *followed);
                let Some(at) = way else {
                    calls.pop();
                    if let Some((caller, _)) = calls.last() {
                        low[*caller] = low[*caller].min(low[state]);
                    }
                    if low[state] == index[state] {
                        let at = stack.iter().position(|member| *member == state).unwrap_or(0);
                        let component = stack.split_off(at);
                        component.iter().for_each(|member| on_stack[*member] = false);
                        components.push(component);
                    }
                    continue;
                };
                *followed = at + 1;
                let to = self.ways[state][at].to;
                if index[to] == usize::MAX {
                    calls.push((to, 0));
                } else if on_stack[to] {
                    low[state] = low[state].min(index[to]);
                }
            }
        }
        components
    }
}

fn visible(machine: &Machine, state: &[u32]) -> Vec<u32> {
    state[..state.len() - machine.hidden_words()].to_vec()
}

fn bits(label: &Move) -> u64 {
    let bit = |pid: u8| if pid == CLAIM_PID { 0 } else { 1 << (pid & 63) };
    bit(label.pid) | label.partner.map_or(0, |(pid, _)| bit(pid))
}

/// The processes that exist in a state, and those that are enabled.
fn standing(machine: &mut Machine, state: &[u32]) -> Result<(u64, u64), String> {
    let count = machine.process_count(state);
    if count > 63 {
        return Err("too many processes".to_owned());
    }
    let mut enabled = 0;
    machine.enabled(state, &mut |pid| enabled |= 1 << pid);
    Ok(((1 << count) - 1, enabled))
}
