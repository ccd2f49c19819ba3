//! What an action does to a state.

use fabius_base::Span;
use fabius_program::lossy::lost_send_in;
use fabius_program::{
    Action, Block, BlockExit, BlockNode, Edge, Expr, Pattern, Place, PrintPiece, Program, Receive, Send, Slot,
    VariableId,
    meaning::{BLOCK_STEPS_MAX, Fault},
};

use crate::evaluate::{Evaluation, Overflow};
use crate::interpret::{Executable, StepEvaluator};
use crate::observe::{Kind, observe};
use crate::state::{Birth, CLAIM, NextMover, State};

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
    /// A value did not fit where it was stored; only the first hundred are told, as of the next two.
    Truncated {
        /// Where it was stored.
        place: StoredAt,
        /// The value.
        given: i32,
        /// What was stored of it.
        kept: i32,
        /// The part of a [`Block`] that stored it.
        inside: Option<Span>,
    },
    /// A result did not fit 32 bits.
    Overflowed {
        /// The operation.
        overflow: Overflow,
        /// The part of a [`Block`] that computed it.
        inside: Option<Span>,
    },
    /// Several options of a node of a [`Block`] were executable, and the first of them was taken.
    FirstOfSeveral {
        /// This many were executable.
        executable: usize,
        /// The one that was taken.
        taken: Span,
    },
    /// A part of a [`Block`] sent to a full channel, and its message was lost (see [`fabius_program::lossy`]).
    Lost {
        /// Identity of the channel.
        channel: i32,
        /// The part.
        inside: Span,
    },
}

/// Where a value was stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StoredAt {
    /// An element of a global variable.
    Global(VariableId, usize),
    /// An element of a variable of the process with this number.
    Local(u8, VariableId, usize),
    /// A field of a message, the first one being 0, on the channel with this identity.
    Field(i32, usize),
}

/// This many parts of a block are told.
const PARTS_TOLD_MAX: u32 = 1000;
/// This many of the surprises of a step are told.
const SURPRISES_MAX: usize = 100;

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
    /// How many surprises were told.
    surprises: usize,
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
            surprises: 0,
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
            surprises: 0,
        }
    }

    /// Executes an action that was found executable, `first` telling so of what it begins with; a [`Block`] begins with option `start`.
    pub(crate) fn perform(&mut self, action: &Action, start: usize, first: Executable) -> Result<(), Fault> {
        match action {
            Action::Skip | Action::Else => {}
            Action::Guard(_) if first == Executable::WithoutEffect => {}
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
            Action::Merged(actions) => self.perform_all(actions, start, first)?,
            Action::Block(block) => self.run_block(block, start, first)?,
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
        let (births, overflows) = (evaluation.births, evaluation.overflows);
        self.overflowed(&overflows);
        self.create(births)?;
        Ok(value)
    }

    fn create(&mut self, births: Vec<Birth>) -> Result<(), Fault> {
        for birth in births {
            let mut cuts = Vec::new();
            let pid = self.state.create_telling(self.program, &birth, &mut |cut| cuts.push(cut))? as u8;
            self.happened(Happening::Created(pid));
            for cut in cuts {
                let place = StoredAt::Local(pid, VariableId(cut.variable as u32), cut.element);
                self.truncated(place, cut.given, cut.kept);
            }
        }
        Ok(())
    }

    fn overflowed(&mut self, overflows: &[Overflow]) {
        for overflow in overflows {
            self.surprised(Happening::Overflowed { overflow: *overflow, inside: self.inside });
        }
    }

    /// Says that a value did not fit, if it did not.
    fn truncated(&mut self, place: StoredAt, given: i32, kept: i32) {
        if given != kept {
            self.surprised(Happening::Truncated { place, given, kept, inside: self.inside });
        }
    }

    fn surprised(&mut self, what: Happening) {
        self.surprises += 1;
        if self.surprises <= SURPRISES_MAX {
            self.happened(what);
        }
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
                let kept = self.program.globals[id.0 as usize].ty.truncate(value);
                self.state.globals[id.0 as usize].set(element, kept);
                self.truncated(StoredAt::Global(id, element), value, kept);
            }
            Slot::Local(id) => {
                let (process, _) = self.state.whereabouts(self.pid);
                let kept = self.program.process(process).locals[id.0 as usize].ty.truncate(value);
                let locals = match &mut self.state.claim {
                    Some(claim) if self.pid == CLAIM => &mut claim.locals,
                    _ => &mut self.state.processes[self.pid].locals,
                };
                locals[id.0 as usize].set(element, kept);
                self.truncated(StoredAt::Local(self.pid as u8, id, element), value, kept);
            }
        }
    }

    fn send(&mut self, send: &Send) -> Result<(), Fault> {
        let mut evaluation = self.evaluation();
        let channel = evaluation.channel(&send.channel)?;
        let given = evaluation.message(channel, &send.fields)?;
        let message = evaluation.truncated(channel, &given);
        let capacity = evaluation.channel_type(channel).capacity;
        let (births, overflows) = (evaluation.births, evaluation.overflows);
        self.overflowed(&overflows);
        self.create(births)?;
        let identity = channel as i32 + 1;
        self.happened(Happening::Sent { channel: identity, message: message.clone() });
        for (field, (given, kept)) in given.iter().zip(&message).enumerate() {
            self.truncated(StoredAt::Field(identity, field), *given, *kept);
        }
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

    fn perform_all(&mut self, actions: &[Action], start: usize, first: Executable) -> Result<(), Fault> {
        for (index, action) in actions.iter().enumerate() {
            let may_block = 0 < index && !matches!(action, Action::Guard(_) | Action::Else);
            if may_block && self.executable_inside(action, true)? == Executable::No {
                return Err(Fault::BlockedInside);
            }
            match index {
                0 => self.perform(action, start, first)?,
                _ => self.perform(action, 0, Executable::Yes)?,
            }
        }
        Ok(())
    }

    fn run_block(&mut self, block: &Block, start: usize, mut first: Executable) -> Result<(), Fault> {
        let mut option = &block.nodes[0].options[start];
        let (mut node, mut chosen_at) = (&block.nodes[0], start);
        for taken in 0..BLOCK_STEPS_MAX {
            // What a rendezvous offers decides by itself which option is taken.
            if self.incoming.is_none() {
                self.count_options(node, chosen_at);
            }
            if let Some(send) = lost_send_in(&node.options, chosen_at) {
                let channel = self.evaluation().channel(&send.channel)? as i32 + 1;
                self.surprised(Happening::Lost { channel, inside: option.span });
            }
            self.inside = Some(option.span);
            if taken < PARTS_TOLD_MAX {
                self.happened(Happening::Executed(option.span));
            }
            self.perform(&option.action, 0, first)?;
            let BlockExit::Node(next) = option.next else {
                self.inside = None;
                return Ok(());
            };
            node = &block.nodes[next as usize];
            self.inside = Some(node.span);
            let mut chosen = None;
            for (at, candidate) in node.options.iter().enumerate() {
                first = self.executable_inside(&candidate.action, true)?;
                if first != Executable::No {
                    chosen = Some((at, candidate));
                    break;
                }
            }
            (chosen_at, option) = chosen.ok_or(Fault::BlockedInside)?;
        }
        Err(Fault::EndlessBlock)
    }

    /// Says that options after the one that is taken are executable too, if any is.
    fn count_options(&mut self, node: &BlockNode, taken: usize) {
        if SURPRISES_MAX <= self.surprises {
            return;
        }
        let behind = node.options.iter().skip(taken + 1);
        let also = behind
            .filter(|option| !matches!(self.executable_inside(&option.action, false), Ok(Executable::No) | Err(_)))
            .count();
        if 0 < also {
            self.surprised(Happening::FirstOfSeveral { executable: also + 1, taken: node.options[taken].span });
        }
    }

    /// Whether an action is executable in the middle of a step, where there is no rendezvous.
    fn executable_inside(&self, action: &Action, else_holds: bool) -> Result<Executable, Fault> {
        let trial = StepEvaluator::asking(self.program, &self.state, self.timeout, &[]);
        let executable = trial.executable(self.pid, action, else_holds)?;
        let is_possible = executable != Executable::No && !trial.is_rendezvous(self.pid, action)?;
        Ok(if is_possible { executable } else { Executable::No })
    }
}
