//! What an action does to a state.

use fabius_base::Span;
use fabius_program::{
    Action, Block, BlockExit, Edge, Expr, Pattern, Place, PrintPiece, Program, Receive, Send, Slot,
    meaning::{BLOCK_STEPS_MAX, Fault},
};

use crate::evaluate::Evaluation;
use crate::interpret::StepEvaluator;
use crate::observe::{Kind, observe};
use crate::state::{CLAIM, NextMover, State};

/// Something that happened in a step, beside changes of variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The process that did it.
    pub pid: u8,
    /// What it did.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A message was sent.
    Sent {
        /// Identity of the channel.
        channel: i32,
        /// Its fields.
        message: Vec<i32>,
    },
    /// A message was received.
    Received {
        /// Identity of the channel.
        channel: i32,
        /// Its fields.
        message: Vec<i32>,
        /// The message is still in the channel.
        kept: bool,
    },
    /// Text was printed.
    Printed(String),
    /// A process was created.
    Created(u8),
    /// The process ended.
    Ended,
    /// An assertion did not hold.
    AssertionFailed {
        /// The part of a [`Block`] that it is.
        inside: Option<Span>,
    },
    /// A part of a [`Block`] was executed; only the first thousand are told.
    Executed(Span),
}

/// This many parts of a block are told.
const PARTS_TOLD_MAX: u32 = 1000;

/// A message on its way in a rendezvous.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// Index into [`State::channels`].
    pub(crate) channel: usize,
    pub(crate) message: Vec<i32>,
}

/// A step being taken by one process.
pub(crate) struct Execution<'a> {
    program: &'a Program,
    pub(crate) state: State,
    pid: usize,
    timeout: bool,
    pub(crate) events: Vec<Event>,
    /// What the process sends in a rendezvous.
    pub(crate) offered: Option<Offer>,
    /// What the process is to receive in a rendezvous.
    incoming: Option<Offer>,
    ended: bool,
    /// The part of a block that is being executed.
    pub(crate) inside: Option<Span>,
}

impl<'a> Execution<'a> {
    /// A step of process `pid` from `state`.
    pub(crate) fn new(program: &'a Program, state: &State, pid: usize, timeout: bool) -> Self {
        Self {
            program,
            state: state.clone(),
            pid,
            timeout,
            events: Vec::new(),
            offered: None,
            incoming: None,
            ended: false,
            inside: None,
        }
    }

    /// The second half of a rendezvous: process `pid` takes the message that `sender` offers.
    pub(crate) fn receiving(sender: &Execution<'a>, pid: usize, offer: &Offer) -> Self {
        Self {
            program: sender.program,
            state: sender.state.clone(),
            pid,
            timeout: sender.timeout,
            events: sender.events.clone(),
            offered: None,
            incoming: Some(offer.clone()),
            ended: false,
            inside: None,
        }
    }

    /// Executes an action that was found executable; a [`Block`] begins with option `start`.
    pub(crate) fn perform(&mut self, action: &Action, start: usize) -> Result<(), Fault> {
        match action {
            Action::Skip | Action::Else => {}
            Action::Guard(expr) => {
                self.value(expr)?;
            }
            Action::Assign(place, expr) => self.assign(place, expr)?,
            Action::Send(send) => self.send(send)?,
            Action::Receive(receive) => self.receive(receive)?,
            Action::Assert(expr) => {
                if self.value(expr)? == 0 {
                    self.happened(Happening::AssertionFailed { inside: self.inside });
                }
            }
            Action::Print(pieces) => self.print(pieces)?,
            Action::SetPriority(process, priority) => self.set_priority(process, priority)?,
            Action::End => self.end(),
            Action::Merged(actions) => self.perform_all(actions, start)?,
            Action::Block(block) => self.run_block(block, start)?,
        }
        Ok(())
    }

    /// Moves the process to the target of its edge. `holds`: it holds control afterwards.
    pub(crate) fn arrive(&mut self, edge: &Edge, holds: bool) {
        if !self.ended {
            self.state.processes[self.pid].location = edge.target;
        }
        self.state.holder = (holds && !self.ended).then_some(self.pid as u8);
        if self.program.uses.last {
            self.state.last = self.pid as u8;
        }
        if let Some(claim) = &mut self.state.claim {
            claim.turn = if self.state.holder.is_some() { NextMover::System } else { NextMover::Claim };
        }
    }

    /// Moves the claim to the target of its edge.
    pub(crate) fn arrive_as_claim(&mut self, edge: &Edge) {
        if let Some(claim) = &mut self.state.claim {
            claim.location = edge.target;
            claim.turn = if edge.atomic { NextMover::Claim } else { NextMover::System };
        }
    }

    /// Whether an assertion failed on the way.
    pub(crate) fn assertion_failed(&self) -> bool {
        self.events.iter().any(|event| matches!(event.what, Happening::AssertionFailed { .. }))
    }

    fn happened(&mut self, what: Happening) {
        self.events.push(Event { pid: self.pid as u8, what });
    }

    fn evaluation(&self) -> Evaluation<'_> {
        Evaluation::within(self.program, &self.state, self.pid, self.timeout, &[])
    }

    /// The value of an expression; processes that it runs are created.
    fn value(&mut self, expr: &Expr) -> Result<i32, Fault> {
        let mut evaluation = self.evaluation();
        let value = evaluation.value(expr)?;
        for birth in std::mem::take(&mut evaluation.births) {
            let pid = self.state.create(self.program, &birth)?;
            self.happened(Happening::Created(pid as u8));
        }
        Ok(value)
    }

    fn assign(&mut self, place: &Place, expr: &Expr) -> Result<(), Fault> {
        let element = self.evaluation().element(place)?;
        let value = self.value(expr)?;
        self.store(place.slot, element, value);
        Ok(())
    }

    fn store(&mut self, slot: Slot, element: usize, value: i32) {
        match slot {
            Slot::Global(id) => {
                let ty = self.program.globals[id.0 as usize].ty;
                self.state.globals[id.0 as usize].set(element, ty.truncate(value));
            }
            Slot::Local(id) => {
                let (process, _) = self.state.whereabouts(self.pid);
                let ty = self.program.process(process).locals[id.0 as usize].ty;
                let locals = match &mut self.state.claim {
                    Some(claim) if self.pid == CLAIM => &mut claim.locals,
                    _ => &mut self.state.processes[self.pid].locals,
                };
                locals[id.0 as usize].set(element, ty.truncate(value));
            }
        }
    }

    fn send(&mut self, send: &Send) -> Result<(), Fault> {
        let mut evaluation = self.evaluation();
        let channel = evaluation.channel(&send.channel)?;
        let given = evaluation.message(channel, &send.fields)?;
        let message = evaluation.truncated(channel, &given);
        let capacity = evaluation.channel_type(channel).capacity;
        for birth in std::mem::take(&mut evaluation.births) {
            let pid = self.state.create(self.program, &birth)?;
            self.happened(Happening::Created(pid as u8));
        }
        self.happened(Happening::Sent { channel: channel as i32 + 1, message: message.clone() });
        if capacity == 0 {
            self.offered = Some(Offer { channel, message });
            return Ok(());
        }
        let queue = &mut self.state.channels[channel].messages;
        let greater = queue.iter().position(|queued| send.sorted && given < *queued);
        queue.insert(greater.unwrap_or(queue.len()), message);
        if self.state.trace.is_some() {
            let youngest = self.state.channels[channel].messages.back().cloned().unwrap_or_default();
            observe(self.program, &mut self.state, Kind::Send, channel, &youngest)?;
        }
        Ok(())
    }

    fn receive(&mut self, receive: &Receive) -> Result<(), Fault> {
        if let Some(offer) = self.incoming.take() {
            observe(self.program, &mut self.state, Kind::Send, offer.channel, &offer.message)?;
            observe(self.program, &mut self.state, Kind::Receive, offer.channel, &offer.message)?;
            return self.take_values(receive, offer.channel, offer.message);
        }
        let mut evaluation = self.evaluation();
        let channel = evaluation.channel(&receive.channel)?;
        let found = evaluation.find_to_receive(channel, receive)?.ok_or(Fault::BlockedInside)?;
        let message = self.state.channels[channel].messages[found].clone();
        if !receive.keep && self.state.trace.is_some() {
            let oldest = self.state.channels[channel].messages[0].clone();
            observe(self.program, &mut self.state, Kind::Receive, channel, &oldest)?;
        }
        self.take_values(receive, channel, message)?;
        if !receive.keep {
            self.state.channels[channel].messages.remove(found);
        }
        Ok(())
    }

    /// Stores the fields of a message where the receive wants them.
    fn take_values(&mut self, receive: &Receive, channel: usize, message: Vec<i32>) -> Result<(), Fault> {
        for (pattern, &value) in receive.fields.iter().zip(&message) {
            if let Pattern::Store(place) = pattern {
                let element = self.evaluation().element(place)?;
                self.store(place.slot, element, value);
            }
        }
        self.happened(Happening::Received { channel: channel as i32 + 1, message, kept: receive.keep });
        Ok(())
    }

    fn print(&mut self, pieces: &[PrintPiece]) -> Result<(), Fault> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                PrintPiece::Text(piece) => text.push_str(piece),
                PrintPiece::Decimal(expr) => text.push_str(&self.value(expr)?.to_string()),
                PrintPiece::Unsigned(expr) => text.push_str(&(self.value(expr)? as u32).to_string()),
                PrintPiece::Hex(expr) => text.push_str(&format!("{:x}", self.value(expr)?)),
                PrintPiece::Octal(expr) => text.push_str(&format!("{:o}", self.value(expr)?)),
                PrintPiece::Character(expr) => text.push(char::from(self.value(expr)? as u8)),
                PrintPiece::Name(expr, enumeration) => {
                    let value = self.value(expr)?;
                    text.push_str(&crate::show::enum_name(self.program, *enumeration, value));
                }
            }
        }
        self.happened(Happening::Printed(text));
        Ok(())
    }

    fn set_priority(&mut self, process: &Expr, priority: &Expr) -> Result<(), Fault> {
        let process = self.value(process)?;
        let priority = self.value(priority)?;
        let Some(found) = usize::try_from(process).ok().and_then(|pid| self.state.processes.get_mut(pid)) else {
            return Ok(());
        };
        found.priority = match u8::try_from(priority) {
            Ok(priority) if 0 < priority => priority,
            _ => return Err(Fault::PriorityOutOfRange(priority)),
        };
        Ok(())
    }

    fn end(&mut self) {
        self.state.end_youngest(self.program);
        self.ended = true;
        self.happened(Happening::Ended);
    }

    fn perform_all(&mut self, actions: &[Action], start: usize) -> Result<(), Fault> {
        for (index, action) in actions.iter().enumerate() {
            let may_block = 0 < index && !matches!(action, Action::Guard(_) | Action::Else);
            if may_block && !self.executable_inside(action, true)? {
                return Err(Fault::BlockedInside);
            }
            self.perform(action, if index == 0 { start } else { 0 })?;
        }
        Ok(())
    }

    fn run_block(&mut self, block: &Block, start: usize) -> Result<(), Fault> {
        let mut option = &block.nodes[0].options[start];
        for taken in 0..BLOCK_STEPS_MAX {
            self.inside = Some(option.span);
            if taken < PARTS_TOLD_MAX {
                self.happened(Happening::Executed(option.span));
            }
            self.perform(&option.action, 0)?;
            let BlockExit::Node(next) = option.next else {
                self.inside = None;
                return Ok(());
            };
            self.inside = Some(block.nodes[next as usize].span);
            let mut chosen = None;
            for candidate in &block.nodes[next as usize].options {
                if self.executable_inside(&candidate.action, true)? {
                    chosen = Some(candidate);
                    break;
                }
            }
            option = chosen.ok_or(Fault::BlockedInside)?;
        }
        Err(Fault::EndlessBlock)
    }

    /// Whether an action is executable in the middle of a step, where there is no rendezvous.
    fn executable_inside(&self, action: &Action, else_holds: bool) -> Result<bool, Fault> {
        let trial = StepEvaluator::asking(self.program, &self.state, self.timeout, &[]);
        Ok(trial.executable(self.pid, action, else_holds)? && !trial.is_rendezvous(self.pid, action)?)
    }
}
