//! A run as a sequence diagram: a lane for each process, messages from the step that sent them, where processes wait,
//! why, and which step lets them go on. Plain data; a file for each way to draw it.
//!
//! A process *waits* in a state if it takes part in no step that is possible there and has not ended. States within an
//! atomic sequence, in which it may not move anyway, are passed over. A message that is received was sent by the step that put it into the channel: of equal messages the oldest
//! one is taken, as a receive takes the first that matches.

mod lanes;
mod mermaid;
mod plot;
mod svg;

pub use lanes::lanes;
pub use mermaid::mermaid;
pub use plot::{Plot, PlotPoint, plot_line, plots, plots_svg};
pub use svg::svg;

use fabius_base::Span;
use fabius_program::Program;
use std::collections::{BTreeSet, HashMap};

use crate::blocked::{ProcessStatus, Waiting, process_statuses};
use crate::execute::Happening;
use crate::interpret::{Outcome, StepEvaluator};
use crate::state::State;
use crate::trace::{Step, Trace};

/// Of longer runs, this many steps are drawn at the beginning and at the end.
const DRAWN_AT_ENDS: usize = 500;
/// In longer runs, it is not worked out who waits.
const WAITS_STEPS_MAX: usize = 5_000;
/// This many of the statements at which a process waits are told.
const REASONS_MAX: usize = 2;

/// A run as a sequence diagram. Steps are meant by their numbers, from 1; 0 is the beginning.
#[derive(Clone, Debug)]
pub struct Diagram {
    /// A lane for each process, in the order of creation.
    pub lanes: Vec<Lane>,
    /// The steps that are drawn.
    pub rows: Vec<Row>,
    /// Steps left out in the middle: how many, and after which one.
    pub left_out: Option<(usize, usize)>,
    /// Where processes wait.
    pub waits: Vec<Wait>,
    /// Whether it was worked out where processes wait.
    pub waits_known: bool,
    /// How many steps the run has.
    pub steps: usize,
    /// The first step of the loop in which the run ends; one more than there are steps if nothing moves in it.
    pub cycle_start: Option<usize>,
    /// Lanes of processes that wait for each other in the end, in order.
    pub circle: Vec<usize>,
    /// Who waits for whom in the end, in sentences.
    pub relations: Vec<String>,
}

/// The lane of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The number of the process.
    pub pid: u8,
    /// How it is shown.
    pub name: String,
    /// The step that creates it; 0 if it is there from the beginning.
    pub created: usize,
    /// The step with which it ends.
    pub ended: Option<usize>,
}

/// A step in its lane.
#[derive(Clone, Debug)]
pub struct Row {
    /// The step.
    pub step: Step,
    /// The lane of the process that takes it.
    pub lane: usize,
    /// The lane of the receiver of a rendezvous.
    pub partner: Option<usize>,
    /// The lanes that begin with it.
    pub created: Vec<usize>,
    /// Messages taken from channels, and by whom they were sent.
    pub received: Vec<Delivery>,
}

/// A message that is received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The step that sent it.
    pub sent_in: usize,
    /// The lane of its sender.
    pub from: usize,
    /// The channel.
    pub channel: String,
    /// Its fields.
    pub fields: String,
    /// It stays in the channel.
    pub kept: bool,
}

/// A time in which a process waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Its lane.
    pub lane: usize,
    /// The step after which it waits.
    pub after: usize,
    /// The step with which that ends; `None` if it waits in the end.
    pub until: Option<usize>,
    /// Whether that step, of others, lets it go on; else it takes part in the step.
    pub released: bool,
    /// It may stop there.
    pub may_stop: bool,
    /// Where it waits and why, following on *waits*.
    pub reason: String,
    /// Where in the text.
    pub span: Span,
}

impl Diagram {
    /// The diagram of a run.
    pub fn of(trace: &Trace) -> Self {
        let lanes: Vec<Lane> = trace.start.processes.iter().map(|status| lane(status.pid, &status.name, 0)).collect();
        let mut drawing = Drawing {
            lane_of: lanes.iter().enumerate().map(|(at, lane)| (lane.pid, at)).collect(),
            lanes,
            rows: Vec::new(),
            waits: Vec::new(),
            waiting: HashMap::new(),
            channels: Vec::new(),
            total: trace.len(),
        };
        match trace.steps.is_empty() {
            true => drawing.add_stuck(trace),
            false => drawing.add_steps(trace),
        }
        let of_pid = drawing.lane_of;
        let circle = trace.explanation.iter().flat_map(|explanation| &explanation.circle);
        let left_out = trace.len().saturating_sub(2 * DRAWN_AT_ENDS);
        Self {
            circle: circle.filter_map(|pid| of_pid.get(pid).copied()).collect(),
            relations: trace.explanation.as_ref().map(|known| known.relations.clone()).unwrap_or_default(),
            lanes: drawing.lanes,
            rows: drawing.rows,
            waits: drawing.waits,
            waits_known: trace.len() <= WAITS_STEPS_MAX,
            left_out: (left_out > 0).then_some((left_out, DRAWN_AT_ENDS)),
            steps: trace.len(),
            cycle_start: trace.cycle_start,
        }
    }

    /// Whether a process is there after a step, before the next one.
    pub fn is_alive(&self, lane: usize, after: usize) -> bool {
        let lane = &self.lanes[lane];
        lane.created <= after && lane.ended.is_none_or(|ended| after < ended)
    }

    /// The wait of a process in the state after a step.
    pub fn wait(&self, lane: usize, after: usize) -> Option<&Wait> {
        let here = |wait: &&Wait| wait.after <= after && wait.until.is_none_or(|until| after < until);
        self.waits.iter().filter(|wait| wait.lane == lane).find(here)
    }

    /// The waits that begin after a step.
    pub fn waits_from(&self, after: usize) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(move |wait| wait.after == after)
    }

    /// The processes that a step lets go on.
    pub fn released_by(&self, step: usize) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(move |wait| wait.released && wait.until == Some(step))
    }
}

fn lane(pid: u8, name: &str, created: usize) -> Lane {
    Lane { pid, name: name.to_owned(), created, ended: None }
}

/// A diagram while it is drawn.
struct Drawing {
    lanes: Vec<Lane>,
    /// The lanes of the processes that are there.
    lane_of: HashMap<u8, usize>,
    rows: Vec<Row>,
    waits: Vec<Wait>,
    /// By lanes, the waits that have not ended.
    waiting: HashMap<usize, usize>,
    /// For each channel, its messages with the step that sent each, and the lane of the sender.
    channels: Vec<Vec<(Vec<i32>, usize, usize)>>,
    total: usize,
}

impl Drawing {
    /// A run without steps: who is stuck in the initial state.
    fn add_stuck(&mut self, trace: &Trace) {
        for status in trace.stuck() {
            self.begin_wait(status, 0);
        }
    }

    fn add_steps(&mut self, trace: &Trace) {
        let program = trace.steps.program();
        let waits_known = trace.len() <= WAITS_STEPS_MAX;
        trace.steps.visit(&mut |step, before, outcome| {
            if step.claim.is_some() {
                return;
            }
            if step.number == 1 && waits_known {
                self.look(program, before, 0);
            }
            self.add_step(step, outcome);
            if let Some(after) = outcome.state().filter(|_| waits_known) {
                self.look(program, after, step.number);
            }
        });
    }

    fn add_step(&mut self, step: &Step, outcome: &Outcome) {
        let Some(mover) = self.lane_of.get(&step.actor.pid).copied() else { return };
        let partner = step.partner.as_ref().and_then(|partner| self.lane_of.get(&partner.pid).copied());
        let received = self.messages(step, outcome);
        for lane in [Some(mover), partner].into_iter().flatten() {
            if let Some(wait) = self.waiting.remove(&lane) {
                self.waits[wait].until = Some(step.number);
            }
        }
        let created = step.created.iter().map(|created| {
            self.lanes.push(lane(created.pid, &created.name, step.number));
            self.lane_of.insert(created.pid, self.lanes.len() - 1);
            self.lanes.len() - 1
        });
        let created = created.collect();
        if step.ended {
            self.lane_of.remove(&step.actor.pid);
            self.lanes[mover].ended = Some(step.number);
        }
        if step.number <= DRAWN_AT_ENDS || self.total < step.number + DRAWN_AT_ENDS {
            self.rows.push(Row { step: step.clone(), lane: mover, partner, created, received });
        }
    }

    /// Follows messages through channels: those that the step takes, with who sent them.
    fn messages(&mut self, step: &Step, outcome: &Outcome) -> Vec<Delivery> {
        let Outcome::Reaches { state, events, .. } = outcome else { return Vec::new() };
        let mut received = Vec::new();
        let told = events.iter().filter_map(|event| match &event.what {
            Happening::Sent { channel, message } => Some((event.pid, *channel, message, None)),
            Happening::Received { channel, message, kept } => Some((event.pid, *channel, message, Some(*kept))),
            _ => None,
        });
        for ((pid, channel, fields, kept), shown) in told.zip(&step.messages) {
            if step.partner.is_some() {
                continue;
            }
            let at = usize::try_from(channel - 1).unwrap_or(usize::MAX);
            let Some(sender) = self.lane_of.get(&pid).copied() else { continue };
            let Some(queue) = self.queue(at, state.channels.len()) else { continue };
            match kept {
                None => queue.push((fields.clone(), step.number, sender)),
                Some(kept) => {
                    let Some(first) = queue.iter().position(|(message, ..)| message == fields) else { continue };
                    let (_, sent_in, from) = if kept { queue[first].clone() } else { queue.remove(first) };
                    let (channel, fields) = (shown.channel.clone(), shown.fields.clone());
                    received.push(Delivery { sent_in, from, channel, fields, kept });
                }
            }
        }
        self.rearrange(state);
        received
    }

    /// The messages of a channel, if there are that many channels before or after the step.
    fn queue(&mut self, at: usize, count: usize) -> Option<&mut Vec<(Vec<i32>, usize, usize)>> {
        if self.channels.len() <= at && at < count {
            self.channels.resize_with(at + 1, Vec::new);
        }
        self.channels.get_mut(at)
    }

    /// Puts the messages into the order that they have in a state: not every send appends.
    fn rearrange(&mut self, state: &State) {
        self.channels.truncate(state.channels.len());
        for (queue, channel) in self.channels.iter_mut().zip(&state.channels) {
            if queue.iter().map(|(message, ..)| message).eq(&channel.messages) {
                continue;
            }
            let mut left = std::mem::take(queue);
            for message in &channel.messages {
                if let Some(at) = left.iter().position(|(sent, ..)| sent == message) {
                    queue.push(left.remove(at));
                }
            }
        }
    }

    /// Finds out who waits in the state after a step, unless others may not move there.
    fn look(&mut self, program: &Program, state: &State, after: usize) {
        let state = State { claim: None, trace: None, ..state.clone() };
        let holder = state.holder.map(usize::from);
        if holder.is_some_and(|holder| !StepEvaluator::ordinary(program, &state).steps_of(holder).is_empty()) {
            return;
        }
        let can = participants(program, &state);
        let mut statuses: Option<Vec<ProcessStatus>> = None;
        for pid in 0..state.processes.len() {
            let Some(lane) = self.lane_of.get(&(pid as u8)).copied() else { continue };
            if can.contains(&(pid as u8)) {
                if let Some(wait) = self.waiting.remove(&lane) {
                    self.waits[wait].until = Some(after);
                    self.waits[wait].released = true;
                }
            } else if !self.waiting.contains_key(&lane) {
                let statuses = statuses.get_or_insert_with(|| process_statuses(program, &state));
                if let Some(status) = statuses.get(pid).filter(|status| !status.has_ended()) {
                    self.begin_wait(status, after);
                }
            }
        }
    }

    fn begin_wait(&mut self, status: &ProcessStatus, after: usize) {
        let Some(lane) = self.lane_of.get(&status.pid).copied() else { return };
        let told = status.waiting.iter().take(REASONS_MAX).map(Waiting::sentence);
        let mut reason = told.collect::<Vec<_>>().join(", and ");
        if REASONS_MAX < status.waiting.len() {
            reason.push_str(", and for other alternatives");
        }
        if reason.is_empty() {
            "where no statement follows".clone_into(&mut reason);
        }
        self.waiting.insert(lane, self.waits.len());
        let span = status.waiting.first().map_or(status.span, |waiting| waiting.span);
        let may_stop = status.end;
        self.waits.push(Wait { lane, after, until: None, released: false, may_stop, reason, span });
    }
}

/// The processes that take part in some step, whoever holds control.
fn participants(program: &Program, state: &State) -> BTreeSet<u8> {
    let trial = StepEvaluator::ordinary(program, state);
    let steps = (0..state.processes.len()).flat_map(|pid| trial.steps_of(pid));
    steps.flat_map(|(step, _)| std::iter::once(step.pid).chain(step.partner.map(|(pid, _)| pid))).collect()
}

/// Text of at most this many characters.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
