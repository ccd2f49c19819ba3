//! The whole product of a small program and what is watched beside it, and questions about its cycles, answered
//! by brute force.

use crate::Kind;
use crate::referee::{self, Options};
use crate::spin::InfiniteRun;
use fabius_machine::{Ending, Machine, Step};
use fabius_program::meaning::Fault;
use fabius_program::{CLAIM_PID, EdgeId, Move, ProcessId, ProcessKind, Program, ProgressOn, StepMarks, Watch};
use fabius_witness::{Claim, CycleClaim, RunFairness};
use std::collections::{HashMap, HashSet, VecDeque};
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
    /// Where a claim completes: a state, and the steps from there.
    completes: Option<(usize, Vec<Move>)>,
}

/// A way from one state to the next, through whatever is passed through.
#[derive(Clone, Debug)]
struct Way {
    to: usize,
    marks: StepMarks,
    /// The processes that take part.
    movers: u64,
    steps: Vec<Move>,
}

/// What a cycle is to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cycle {
    /// No step makes progress.
    NoProgress,
    /// A step is accepting.
    Accepting,
}

/// A run without end: the steps before the loop, and those in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// Before the loop.
    pub stem: Vec<Move>,
    /// In the loop.
    pub cycle: Vec<Move>,
}

/// A state on the way: its words, and what was collected.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Passing {
    state: Vec<u32>,
    marks: StepMarks,
    movers: u64,
}

/// What brute force says of a model.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The program.
    pub program: Arc<Program>,
    /// What was watched.
    pub watch: Watch,
    /// A run that violates what is asked, and what it shows.
    pub run: Option<(Vec<Move>, Claim)>,
    /// Spin may be asked the same and answers it rightly, as far as anybody knows.
    pub comparable: bool,
}

/// Whether a model violates what is asked: some run without end, or the end of a claim. `None` if it cannot be told,
/// or if Spin would stop at an error of evaluation.
pub fn verdict(model: &str, question: InfiniteRun<'_>, fair: bool, states_max: usize) -> Option<Verdict> {
    let program = referee::program(model, Options::NONE)?;
    let of_name = |name: &str| program.processes.iter().position(|process| process.name == name);
    let (watch, cycle) = match question {
        InfiniteRun::Progress => (Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING }, Cycle::NoProgress),
        InfiniteRun::Acceptance => (Watch { acceptance: true, ..Watch::NOTHING }, Cycle::Accepting),
        InfiniteRun::Claim(name) => {
            let claim = ProcessId(of_name(name)? as u32);
            (Watch { claim: Some(claim), acceptance: true, ..Watch::NOTHING }, Cycle::Accepting)
        }
    };
    let product = Product::of(&program, watch, states_max).ok()?;
    let known = |fault: &Fault| matches!(fault, Fault::AssertionFailed | Fault::ClaimCompleted);
    if !product.faults.iter().all(known) {
        return None;
    }
    let stops = product.states.iter().any(|(_, enabled)| *enabled == 0);
    let comparable = match watch.claim {
        // Spin takes a state that came by stuttering for the same state before; `np_` tells them apart.
        Some(_) if stops && program.uses.non_progress => false,
        // With `-f` it misses acceptance that comes by stuttering, …
        Some(_) => !(fair && product.only_stutters(cycle)),
        // … and takes the acceptance of another state for that of one in which everything stops.
        None => !(fair && stops && cycle == Cycle::Accepting),
    };
    let run = match product.completing() {
        Some(path) => Some((path, Claim::Fault(Fault::ClaimCompleted))),
        None => product.lasso(cycle, fair).map(|lasso| {
            let fairness = if fair { RunFairness::Weak } else { RunFairness::Unfair };
            let shows =
                CycleClaim { no_progress: cycle == Cycle::NoProgress, acceptance: cycle == Cycle::Accepting, fairness };
            ([&lasso.stem[..], &lasso.cycle].concat(), Claim::Cycle { start: lasso.stem.len(), shows })
        }),
    };
    Some(Verdict { program, watch, run, comparable })
}

/// The kinds of violation and the number of states of a model beside its event trace; `None` if it has none, or if
/// Spin's verifier would stop at an error.
pub fn beside_trace(model: &str, states_max: usize) -> Option<(Vec<Kind>, u64)> {
    let program = referee::program(model, Options::NONE)?;
    let kinds = [ProcessKind::Trace, ProcessKind::NoTrace];
    let trace = program.processes.iter().position(|process| kinds.contains(&process.kind))?;
    let watch = Watch { trace: Some(ProcessId(trace as u32)), ..Watch::NOTHING };
    let product = Product::of(&program, watch, states_max).ok()?;
    let mut found = Vec::new();
    for fault in &product.faults {
        found.push(match fault {
            Fault::AssertionFailed => Kind::Assertion,
            Fault::TraceViolated => Kind::Trace,
            _ => return None,
        });
    }
    found.extend(product.invalid_end.then_some(Kind::InvalidEndState));
    found.sort();
    Some((found, product.states() as u64))
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
            let ways = ways.into_iter().map(|(Passing { state, marks, movers }, steps)| {
                let number = known.len();
                let to = *known.entry(visible(&machine, &state)).or_insert_with(|| {
                    open.push(state);
                    number
                });
                Way { to, marks, movers, steps }
            });
            let ways: Vec<Way> = ways.collect();
            product.ways.push(ways);
            product.states.push(status(&mut machine, &state)?);
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

    /// Every state to which a way leads, and the steps on the way.
    fn ways_from(
        &mut self,
        machine: &mut Machine,
        from: &[u32],
        most: usize,
    ) -> Result<Vec<(Passing, Vec<Move>)>, String> {
        let mut found = Vec::new();
        let mut seen: HashSet<Passing> = HashSet::new();
        let mut open = vec![(Passing { state: from.to_vec(), marks: StepMarks::NONE, movers: 0 }, Vec::new())];
        while let Some((Passing { state, marks, movers }, steps)) = open.pop() {
            let mut cursor = machine.begin(&state);
            loop {
                let mut successor = Vec::new();
                match machine.next(&state, &mut cursor, &mut successor) {
                    Step::Successor { label, transient, fault, marks: new } => {
                        self.faults.extend(fault);
                        let movers = movers | label.map_or(0, |label| bits(&label));
                        let reached = Passing { state: successor, marks: marks.with(new), movers };
                        let steps: Vec<Move> = steps.iter().copied().chain(label).collect();
                        if !transient {
                            found.push((reached, steps));
                        } else if seen.insert(reached.clone()) {
                            open.push((reached, steps));
                        }
                    }
                    Step::Broken { fault, label } => {
                        self.faults.insert(fault);
                        if fault == Fault::ClaimCompleted && self.completes.is_none() {
                            let steps = steps.iter().copied().chain([label]).collect();
                            self.completes = Some((self.ways.len(), steps));
                        }
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

    /// A run with such a cycle, if there is one; a weakly fair one if `fair`.
    pub fn lasso(&self, cycle: Cycle, fair: bool) -> Option<Lasso> {
        let component = self.component_with(cycle, fair, |_| true)?;
        let inside: HashSet<usize> = component.iter().copied().collect();
        let counts = |way: &Way| inside.contains(&way.to) && (cycle == Cycle::Accepting || !way.marks.progress);
        let start = component[0];
        let stem = self.walk(0, |_| true, |state, _| state == start)?;
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut at = start;
        let mut go = |path: &mut Vec<(usize, usize)>, is_there: &dyn Fn(usize, Option<&Way>) -> bool| {
            let part = self.walk(at, counts, is_there)?;
            if let Some((state, way)) = part.last() {
                at = self.ways[*state][*way].to;
            }
            path.extend(part);
            Some(())
        };
        if cycle == Cycle::Accepting {
            go(&mut path, &|_, way| way.is_some_and(|way| way.marks.accepting))?;
        }
        for pid in (0..64).filter(|_| fair) {
            let is_content = |state: usize, way: Option<&Way>| {
                let (exist, enabled) = self.states[state];
                exist & enabled & (1 << pid) == 0 || way.is_some_and(|way| way.movers & (1 << pid) != 0)
            };
            go(&mut path, &is_content)?;
        }
        // Back to the start, by at least one way.
        if path.is_empty() {
            go(&mut path, &|_, way| way.is_some())?;
        }
        go(&mut path, &|state, _| state == start)?;
        Some(Lasso { stem: self.steps(&stem), cycle: self.steps(&path) })
    }

    /// The shortest sequence of ways, each as its state and number, to where something holds of a state and of the
    /// way that led there.
    fn walk(
        &self,
        from: usize,
        counts: impl Fn(&Way) -> bool,
        is_there: impl Fn(usize, Option<&Way>) -> bool,
    ) -> Option<Vec<(usize, usize)>> {
        if is_there(from, None) {
            return Some(Vec::new());
        }
        let mut known: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(state) = open.pop_front() {
            for (number, way) in self.ways[state].iter().enumerate().filter(|(_, way)| counts(way)) {
                if is_there(way.to, Some(way)) {
                    let mut path = vec![(state, number)];
                    let mut at = state;
                    while at != from {
                        let before = known[&at];
                        path.push(before);
                        at = before.0;
                    }
                    path.reverse();
                    return Some(path);
                }
                if way.to != from && !known.contains_key(&way.to) {
                    known.insert(way.to, (state, number));
                    open.push_back(way.to);
                }
            }
        }
        None
    }

    /// The part of it that is reached without steps of processes along some edges. What goes wrong on the way is not told.
    #[must_use]
    pub fn without_edges(&self, is_left_out: impl Fn(EdgeId) -> bool) -> Self {
        let is_taken = |step: &Move| {
            let partner = step.partner.map(|(_, edge)| edge);
            step.pid == CLAIM_PID || ![Some(step.edge), partner].into_iter().flatten().any(&is_left_out)
        };
        let mut part = Self { states: self.states.clone(), ways: vec![Vec::new(); self.ways.len()], ..Self::default() };
        let (mut open, mut seen) = (vec![0], HashSet::from([0]));
        while let Some(state) = open.pop().filter(|state| *state < self.ways.len()) {
            let ways = self.ways[state].iter().filter(|way| way.steps.iter().all(is_taken));
            part.ways[state] = ways.cloned().collect();
            open.extend(part.ways[state].iter().map(|way| way.to).filter(|to| seen.insert(*to)));
        }
        part
    }

    /// Whether there is such a cycle, if `fair` a weakly fair one.
    pub fn has_cycle(&self, cycle: Cycle, fair: bool) -> bool {
        self.component_with(cycle, fair, |_| true).is_some()
    }

    /// A run in which the claim completes.
    fn completing(&self) -> Option<Vec<Move>> {
        if self.ways.is_empty() && self.faults.contains(&Fault::ClaimCompleted) {
            return Some(Vec::new());
        }
        let (from, rest) = self.completes.as_ref()?;
        let ways = self.walk(0, |_| true, |state, _| state == *from)?;
        Some(self.steps(&ways).into_iter().chain(rest.iter().copied()).collect())
    }

    fn steps(&self, ways: &[(usize, usize)]) -> Vec<Move> {
        ways.iter().flat_map(|(state, way)| self.ways[*state][*way].steps.clone()).collect()
    }

    /// Whether there are such cycles, but only such in which no process moves.
    fn only_stutters(&self, cycle: Cycle) -> bool {
        self.component_with(cycle, true, |ways| ways.iter().any(|way| way.movers != 0)).is_none()
            && !self.faults.contains(&Fault::ClaimCompleted)
    }

    fn component_with(&self, cycle: Cycle, fair: bool, is_wanted: impl Fn(&[&Way]) -> bool) -> Option<Vec<usize>> {
        let counts = |way: &Way| cycle == Cycle::Accepting || !way.marks.progress;
        self.components(counts).into_iter().find(|component| {
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
fn status(machine: &mut Machine, state: &[u32]) -> Result<(u64, u64), String> {
    let count = machine.process_count(state);
    if count > 63 {
        return Err("too many processes".to_owned());
    }
    let mut enabled = 0;
    machine.enabled(state, &mut |pid| enabled |= 1 << pid);
    Ok(((1 << count) - 1, enabled))
}
