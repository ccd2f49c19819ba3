//! Automatic runs, forward and back: until something is true, along the line, at random; always within a limit.

use crate::Exploration;
use crate::condition::Condition;
use crate::hold::Seal;
use crate::tree::NodeId;
use fabius_base::{Cancel, SourceMap, Span};
use fabius_engine::{SchedulerChoice, Scheduling};
use fabius_program::{CLAIM_PID, LocationId, Move, ProcessId, ProcessKind};
use fabius_witness::Ending;
use std::collections::BTreeSet;

/// In a sealed run, this many moves are worked out at once.
const SEALED_MOVES: usize = 500;

/// How an automatic run chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Along the line; where it ends, the first step that is possible.
    Line,
    /// Along the line; where it ends, the run ends.
    LineOnly,
    /// The first step that is possible, always.
    First,
    /// At random; the same seed gives the same run.
    Random(u64),
}

/// What bounds an automatic run.
#[derive(Clone, Debug)]
pub struct RunLimits<'a> {
    /// At most this many moves.
    pub steps_max: usize,
    /// Whoever raises this ends it.
    pub cancel: Option<&'a Cancel>,
}

impl Default for RunLimits<'_> {
    fn default() -> Self {
        Self { steps_max: 100_000, cancel: None }
    }
}

/// Why an automatic run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// What was waited for is the case.
    Reached,
    /// As many moves were made as were asked for.
    Steps,
    /// The limit of moves was reached before what was waited for.
    Limit,
    /// Somebody asked for it.
    Cancelled,
    /// The last step is faulty.
    Fault,
    /// Nothing can move, and that is no end.
    Deadlock,
    /// Nothing can move, and that is as it should be.
    End,
    /// The claim beside the system cannot move: this run does not match it, whatever comes.
    ClaimStops,
    /// Only processes that are held could move, or those that have to wait under the schedule that is followed.
    OnlyHeld,
    /// The line ends here.
    LineEnds,
    /// The loop at the end of the line was gone round once.
    LoopClosed,
    /// One is in the initial state.
    Beginning,
}

impl Stop {
    /// It in a sentence without its full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Steps => "done",
            Self::Limit => "stopped at the limit of steps",
            Self::Cancelled => "interrupted",
            Self::Fault => "the last step goes wrong",
            Self::Deadlock => "nothing can move, and not every process is where it may stop",
            Self::End => "nothing can move any more; every process is where it may stop",
            Self::ClaimStops => "the claim goes no further: whatever comes, this run does not violate the property",
            Self::OnlyHeld => "only processes could move that are held back",
            Self::LineEnds => "the run ends here",
            Self::LoopClosed => "the loop starts again",
            Self::Beginning => "this is the initial state",
        }
    }
}

/// A line of the text, as places of processes; made by [`Exploration::place`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1: the one that was asked for, or the next one at which a process can stop.
    pub line: u32,
    at: BTreeSet<(ProcessId, LocationId)>,
}

impl Exploration {
    /// Runs forward until `wanted` is true after a move (it is not asked before the first one), or something else ends it.
    /// Taken back as a whole.
    pub fn run(&mut self, way: Way, limits: &RunLimits<'_>, mut wanted: impl FnMut(&Self) -> bool) -> Stop {
        self.acting(|this| {
            let mut random = Random::new(way);
            for moved in 0..=limits.steps_max {
                if limits.cancel.is_some_and(|cancel| cancel.requested().is_some()) {
                    return Stop::Cancelled;
                }
                if moved == limits.steps_max {
                    break;
                }
                if 0 < moved && matches!(way, Way::Line | Way::LineOnly) && this.is_at_loop_end() {
                    return Stop::LoopClosed;
                }
                if let Some(stop) = this.one(way, &mut random) {
                    return stop;
                }
                if wanted(this) {
                    return Stop::Reached;
                }
                if this.fault(this.here()).is_some() {
                    return Stop::Fault;
                }
            }
            Stop::Limit
        })
    }

    fn is_at_loop_end(&self) -> bool {
        self.lasso().is_some_and(|lasso| lasso.end == self.here())
    }

    /// One move of an automatic run, or why there is none.
    fn one(&mut self, way: Way, random: &mut Random) -> Option<Stop> {
        if matches!(way, Way::Line | Way::LineOnly) {
            let next = match self.lasso().filter(|lasso| lasso.end == self.here()) {
                Some(lasso) => self.line().get(self.depth(lasso.start) + 1).copied(),
                None => self.next_on_line(),
            };
            let is_free = next.and_then(|node| self.tree.step(node)).is_some_and(|step| self.held_in(&step).is_none())
                && next.is_some_and(|node| self.had_to_wait(node).is_none());
            if is_free {
                self.forward_once();
                return None;
            }
            if way == Way::LineOnly {
                return Some(if next.is_some() {
                    Stop::OnlyHeld
                } else {
                    self.why_no_step().unwrap_or(Stop::LineEnds)
                });
            }
        }
        if let Some(seal) = self.sealed()
            && self.goes_on_sealed(seal)
        {
            self.forward_once();
            return None;
        }
        let free = self.free();
        let Some((chosen, outcome)) = random.pick(&free) else {
            return Some(self.why_no_step().unwrap_or(Stop::OnlyHeld));
        };
        self.take_known(*chosen, outcome);
        None
    }

    /// While delays are forbidden, the line goes on in the fixed order; false if it cannot.
    fn goes_on_sealed(&mut self, seal: Seal) -> bool {
        let scheduler = match seal {
            Seal::RoundRobin => SchedulerChoice::RoundRobin,
            Seal::RunToCompletion => SchedulerChoice::RunToCompletion,
        };
        let scheduling = Scheduling { scheduler, seed: 0 };
        self.let_choose(&scheduling, SEALED_MOVES).is_ok() && self.next_on_line().is_some()
    }

    /// Why nothing can move; `None` if something can.
    pub fn why_no_step(&self) -> Option<Stop> {
        if self.fault(self.here()).is_some() && self.tree.is_broken(self.here()) {
            return Some(Stop::Fault);
        }
        match self.ending() {
            Ending::Invalid => Some(Stop::Deadlock),
            Ending::Valid if self.is_claims_turn() => Some(Stop::ClaimStops),
            Ending::Valid => Some(Stop::End),
            _ => None,
        }
    }

    /// Goes back until `wanted` is true (it is not asked before the first step back), at most to the initial state.
    pub fn run_back(&mut self, limits: &RunLimits<'_>, mut wanted: impl FnMut(&Self) -> bool) -> Stop {
        self.acting(|this| {
            for _ in 0..limits.steps_max {
                if limits.cancel.is_some_and(|cancel| cancel.requested().is_some()) {
                    return Stop::Cancelled;
                }
                if !this.back_once() {
                    return Stop::Beginning;
                }
                if wanted(this) {
                    return Stop::Reached;
                }
            }
            Stop::Limit
        })
    }

    /// Runs until a condition is true after a move. A condition that has no value in a state is not true there.
    pub fn run_until(&mut self, condition: &Condition, way: Way, limits: &RunLimits<'_>) -> Stop {
        self.run(way, limits, |this| this.holds(condition).unwrap_or(false))
    }

    /// Runs until a process comes to a line.
    pub fn run_to(&mut self, place: &Place, way: Way, limits: &RunLimits<'_>) -> Stop {
        self.run(way, limits, |this| this.arrived_at(place).is_some())
    }

    /// Takes this many moves at random.
    pub fn run_randomly(&mut self, steps: usize, seed: u64, cancel: Option<&Cancel>) -> Stop {
        let limits = RunLimits { steps_max: steps, cancel };
        match self.run(Way::Random(seed), &limits, |_| false) {
            Stop::Limit => Stop::Steps,
            other => other,
        }
    }

    /// Goes round the loop at the end of the line once: to its end, from wherever one is. False if there is none.
    pub fn go_round(&mut self) -> bool {
        let Some(lasso) = self.lasso() else { return false };
        self.acting(|this| {
            if this.here() == lasso.end {
                this.go(lasso.start);
            }
            while this.here() != lasso.end && this.forward_once() {}
            true
        })
    }

    /// The places of a line, or of the next line after it at which a process can stop; `None` if there is none.
    pub fn place(&self, file: &str, line: u32) -> Option<Place> {
        let map = &self.loaded().map;
        let program = &self.target().program;
        let mut found: Option<Place> = None;
        for (at, process) in program.processes.iter().enumerate() {
            for (number, location) in process.locations.iter().enumerate() {
                for (id, _) in program.edges_of(location) {
                    let (name, stands) = line_of(map, program.span_of(id));
                    let better = found.as_ref().is_none_or(|found| stands <= found.line);
                    if name != file || stands < line || !better {
                        continue;
                    }
                    if found.as_ref().is_none_or(|found| stands < found.line) {
                        found = Some(Place { file: file.to_owned(), line: stands, at: BTreeSet::new() });
                    }
                    if let Some(found) = &mut found {
                        found.at.insert((ProcessId(at as u32), LocationId(number as u32)));
                    }
                }
            }
        }
        found
    }

    /// The process that has come to a place with the last move: it moved, or was created, and would execute something on
    /// the line next. In the initial state that may be any process.
    pub fn arrived_at(&self, place: &Place) -> Option<u8> {
        let state = &self.situation(self.here()).state;
        let is_there = |pid: &u8| {
            let process = state.processes.get(usize::from(*pid));
            process.is_some_and(|process| place.at.contains(&(process.process, process.location)))
        };
        self.concerned().into_iter().find(is_there)
    }

    /// The processes that the last move was about: who took part, and who was created; in the initial state, all.
    pub fn concerned(&self) -> Vec<u8> {
        let count = |node: NodeId| self.situation(node).state.processes.len();
        let now = count(self.here());
        let Some(Move { pid, partner, .. }) = self.tree.step(self.here()) else {
            return (0..now.min(usize::from(CLAIM_PID))).map(|pid| pid as u8).collect();
        };
        let before = self.parent(self.here()).map_or(now, count);
        let mut found: Vec<u8> = [Some(pid), partner.map(|(pid, _)| pid)].into_iter().flatten().collect();
        found.extend((before..now).map(|pid| pid as u8));
        found.retain(|pid| *pid != CLAIM_PID);
        found
    }
}

impl Exploration {
    /// The processes that begin in the present state: those that the last move created, in the initial state all; with
    /// the names of their types.
    pub fn begun(&self) -> Vec<(u8, String)> {
        let program = &self.target().program;
        let state = &self.situation(self.here()).state;
        let before = self.parent(self.here()).map_or(0, |parent| self.situation(parent).state.processes.len());
        let processes = state.processes.iter().enumerate().skip(before);
        processes.map(|(pid, process)| (pid as u8, program.process(process.process).name.clone())).collect()
    }

    /// The names of the process types.
    pub fn process_types(&self) -> impl Iterator<Item = &str> {
        let processes = self.target().program.processes.iter();
        processes.filter(|process| process.kind == ProcessKind::Process).map(|process| process.name.as_str())
    }

    /// The lines of a file at which a process can stop, in order.
    pub fn lines(&self, file: &str) -> BTreeSet<u32> {
        let map = &self.loaded().map;
        let program = &self.target().program;
        let edges =
            program.edges.iter().map(|edge| program.process(edge.process).statements[edge.statement.0 as usize].span);
        edges.map(|span| line_of(map, span)).filter(|(name, _)| *name == file).map(|(_, line)| line).collect()
    }
}

/// The file and the line on which something is shown.
fn line_of(map: &SourceMap, span: Span) -> (&str, u32) {
    let shown = map.user_span(span);
    (&map.file(shown.file).name, map.line_column(shown.file, shown.start).0)
}

/// Splitmix64, which is enough for walks.
struct Random(Option<u64>);

impl Random {
    fn new(way: Way) -> Self {
        match way {
            Way::Random(seed) => Self(Some(seed)),
            _ => Self(None),
        }
    }

    fn pick<'m, T>(&mut self, moves: &'m [T]) -> Option<&'m T> {
        let Some(seed) = &mut self.0 else { return moves.first() };
        *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        moves.get((z % moves.len().max(1) as u64) as usize)
    }
}
