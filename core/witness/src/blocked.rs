//! Why a process cannot go on: the false condition with its operands, the full or empty channel, the
//! message that does not match, the partner that is missing.

use fabius_base::Span;
use fabius_program::lossy::{lost_send, lost_send_in};
use fabius_program::{Action, BinaryOp, BlockOption, Edge, EdgeId, Expr, Program, Receive, Send, meaning::Fault};

use crate::deciding::{DecidingPart, Part, deciding};
use crate::evaluate::Evaluation;
use crate::interpret::{StepEvaluator, ending};
use crate::show::{Names, Writer, statement_text};
use crate::state::State;
use crate::{Ending, Outcome};

/// Where a process stands in a state, and what it waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessStatus {
    /// Number of the process.
    pub pid: u8,
    /// Name of its type.
    pub process: String,
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// Number of its location.
    pub location: u32,
    /// Labels of its location.
    pub labels: Vec<String>,
    /// Its location in the text.
    pub span: Span,
    /// It may stop here.
    pub end: bool,
    /// What could happen next, and why it does not.
    pub waiting: Vec<Waiting>,
    /// Its own variables.
    pub variables: Vec<(String, String)>,
}

impl ProcessStatus {
    /// It is past its last statement and only waits for younger processes to end.
    pub fn has_ended(&self) -> bool {
        let waits_to_end = |waiting: &Waiting| matches!(waiting.reason, Reason::NotYoungest { .. });
        self.end && !self.waiting.is_empty() && self.waiting.iter().all(waits_to_end)
    }
}

/// A statement at which a process stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The edge that would execute it.
    pub edge: EdgeId,
    /// The statement in the text.
    pub span: Span,
    /// The statement.
    pub text: String,
    /// Why it is not executed.
    pub reason: Reason,
}

impl Waiting {
    /// Where the process waits and why, such as ``at `x > 0`, which is false: x is 0``; it follows on *waits*.
    pub fn sentence(&self) -> String {
        match &self.reason {
            Reason::ConditionFalse { condition, operands, .. } if is_same_text(condition, &self.text) => {
                let values = values(condition, operands).map_or_else(String::new, |values| format!(": {values}"));
                format!("at `{}`, which is false{values}", self.text)
            }
            reason => format!("at `{}` because {}", self.text, reason.sentence()),
        }
    }
}

/// Why a statement is not executable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It is executable.
    Executable,
    /// It cannot be computed.
    Faulty(Fault),
    /// A condition is false.
    ConditionFalse {
        /// The part of the statement that decides.
        condition: String,
        /// What it is made of: names and values.
        operands: Vec<(String, String)>,
        /// All the parts of the whole condition that make it false, from left to right.
        parts: Vec<DecidingPart>,
    },
    /// There is no room in the channel.
    ChannelFull {
        /// The channel.
        channel: String,
        /// How many messages it holds.
        capacity: u32,
    },
    /// There is no message in the channel.
    ChannelEmpty {
        /// The channel.
        channel: String,
    },
    /// No message that may be taken is the wanted one.
    NoMatch {
        /// The channel.
        channel: String,
        /// The fields wanted.
        wanted: String,
        /// The contents of the channel.
        contents: String,
        /// Every message was looked at, not only the oldest.
        any: bool,
    },
    /// No process is at a matching receive.
    NoReceiver {
        /// The channel.
        channel: String,
    },
    /// No process is at a matching send.
    NoSender {
        /// The channel.
        channel: String,
    },
    /// A process is ready to send such a message to this one, and may.
    SenderChooses {
        /// The channel, as it is shown.
        channel: String,
        /// Who is ready.
        senders: Vec<String>,
    },
    /// Younger processes have to end first.
    NotYoungest {
        /// They.
        younger: Vec<String>,
    },
    /// Another option is executable.
    NotElse,
    /// The `provided` of the process is false.
    NotProvided {
        /// The process type.
        process: String,
        /// The part of the condition that decides.
        condition: String,
        /// What it is made of: names and values.
        operands: Vec<(String, String)>,
        /// All the parts of the whole condition that make it false, from left to right.
        parts: Vec<DecidingPart>,
    },
    /// A process of higher priority can move.
    Outranked,
}

impl Reason {
    /// The reason as a sentence without its full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::Executable => "it can be executed".to_owned(),
            Self::Faulty(fault) => format!("it cannot be computed: {fault}"),
            Self::ConditionFalse { condition, operands, .. } => is_false(condition, operands),
            Self::ChannelFull { channel, capacity: 1 } => format!("channel {channel} is full (it holds 1 message)"),
            Self::ChannelFull { channel, capacity } => {
                format!("channel {channel} is full (it holds {capacity} messages)")
            }
            Self::ChannelEmpty { channel } => format!("channel {channel} is empty"),
            Self::NoMatch { channel, wanted, contents, any: false } => {
                format!("the oldest message in {channel} is not ({wanted}); the channel holds {contents}")
            }
            Self::NoMatch { channel, wanted, contents, any: true } => {
                format!("no message in {channel} is ({wanted}); the channel holds {contents}")
            }
            Self::NoReceiver { channel } => {
                format!("no other process is ready to receive this message from {channel}")
            }
            Self::NoSender { channel } => format!("no other process is ready to send such a message to {channel}"),
            Self::SenderChooses { channel, senders } => {
                let are = if senders.len() == 1 { "is" } else { "are" };
                format!(
                    "the sender chooses who receives from {channel}, and {} {are} ready to send",
                    senders.join(", ")
                )
            }
            Self::NotYoungest { younger } => {
                format!("it can only go after the processes created later: {}", younger.join(", "))
            }
            Self::NotElse => "another option is executable".to_owned(),
            Self::NotProvided { condition, operands, .. } => {
                format!("its `provided` does not hold: {}", is_false(condition, operands))
            }
            Self::Outranked => "a process of higher priority can move".to_owned(),
        }
    }
}

fn is_false(condition: &str, operands: &[(String, String)]) -> String {
    match values(condition, operands) {
        // Whoever reads the statement may have written `false`.
        None if condition.parse::<i64>().is_ok() => "it is false in every state".to_owned(),
        None => format!("`{condition}` is false"),
        Some(values) => format!("`{condition}` is false: {values}"),
    }
}

/// What a condition is made of; `None` if that says nothing more.
fn values(condition: &str, operands: &[(String, String)]) -> Option<String> {
    let says_nothing = matches!(operands, [(name, _)] if name == condition);
    let values: Vec<_> = operands.iter().map(|(name, value)| format!("{name} is {value}")).collect();
    (!says_nothing && !values.is_empty()).then(|| values.join(", "))
}

/// Whether two texts differ in white space and enclosing parentheses at most.
fn is_same_text(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        inside.filter(|inside| !inside.contains(['(', ')'])).map_or(text.clone(), str::to_owned)
    };
    bare(one) == bare(other)
}

/// Where every process stands in a state, and why it does not move.
pub fn process_statuses(program: &Program, state: &State) -> Vec<ProcessStatus> {
    let timed_out = matches!(ending(program, state), Ending::Valid | Ending::Invalid);
    let names = Names::of(program, state);
    (0..state.processes.len())
        .map(|pid| StatusQuery { program, state, names: &names, pid, timed_out }.status())
        .collect()
}

/// At which statements a process waits, and why, in half a sentence each.
pub(crate) fn reasons_to_wait(waiting: &[Waiting]) -> Vec<String> {
    let told = |waiting: &&Waiting| !matches!(waiting.reason, Reason::Executable | Reason::NotElse);
    waiting.iter().filter(told).map(Waiting::sentence).collect()
}

/// The statements at which a process stands, and why each is not executed. `timed_out`: nothing can move, so `timeout` is
/// true.
pub(crate) fn waiting_at(program: &Program, state: &State, pid: u8, timed_out: bool) -> Vec<Waiting> {
    let names = Names::of(program, state);
    match state.processes.get(usize::from(pid)) {
        Some(_) => StatusQuery { program, state, names: &names, pid: pid.into(), timed_out }.status().waiting,
        None => Vec::new(),
    }
}

/// Whether the part of a false condition that makes it false asks what is in a channel.
pub(crate) fn asks_a_channel(program: &Program, state: &State, pid: u8, timed_out: bool, condition: &Expr) -> bool {
    let names = Names::of(program, state);
    let query = StatusQuery { program, state, names: &names, pid: pid.into(), timed_out };
    let mut leaves = Vec::new();
    collect_leaves(query.deciding(condition), &mut leaves);
    leaves.iter().any(|leaf| matches!(leaf, Expr::Test(..) | Expr::Length(_) | Expr::Poll { .. }))
}

/// The identity of a channel that an expression of a process names; `None` if it names none.
pub(crate) fn channel_of(program: &Program, state: &State, pid: u8, timed_out: bool, channel: &Expr) -> Option<i32> {
    let mut evaluation = Evaluation::within(program, state, pid.into(), timed_out, &[]);
    evaluation.channel(channel).ok().map(|index| index as i32 + 1)
}

/// The question why one process does not move.
struct StatusQuery<'a> {
    program: &'a Program,
    state: &'a State,
    names: &'a Names<'a>,
    pid: usize,
    /// Nothing can move, so `timeout` is true.
    timed_out: bool,
}

impl<'a> StatusQuery<'a> {
    fn status(&self) -> ProcessStatus {
        let process = &self.state.processes[self.pid];
        let data = self.program.process(process.process);
        let location = &data.locations[process.location.0 as usize];
        let edges: Vec<_> = self.program.edges_of(location).collect();
        ProcessStatus {
            pid: self.pid as u8,
            process: data.name.clone(),
            name: self.names.process(self.pid as u8),
            location: location.number,
            labels: location.labels.clone(),
            span: location.span,
            end: location.end,
            waiting: edges.into_iter().flat_map(|(id, edge)| self.waiting(id, edge)).collect(),
            variables: crate::trace::variables_of(self.names, &data.locals, &process.locals, ""),
        }
    }

    fn trial(&self) -> StepEvaluator<'a> {
        StepEvaluator::asking(self.program, self.state, self.timed_out, &[])
    }

    fn evaluation(&self) -> Evaluation<'a> {
        Evaluation::within(self.program, self.state, self.pid, self.timed_out, &[])
    }

    fn writer(&self) -> Writer<'a> {
        Writer::new(self.program, self.state.processes[self.pid].process)
    }

    fn waiting(&self, id: EdgeId, edge: &Edge) -> Vec<Waiting> {
        let statement = self.program.statement(edge.process, id);
        let waiting = |text: String, span, reason| Waiting { edge: id, span, text, reason };
        match &statement.action {
            // Where a message is lost instead, its send is told of, which can be executed.
            _ if lost_send(self.program, id).is_some() => Vec::new(),
            Action::Block(block) if block.nodes.first().is_some_and(|node| 1 < node.options.len()) => {
                let options = &block.nodes[0].options;
                let reason = |at: usize, action| match self.reason(id, action) {
                    Reason::ChannelFull { .. } if lost_send_in(options, at + 1).is_some() => Reason::Executable,
                    reason => reason,
                };
                let told = options.iter().enumerate().filter(|(at, _)| lost_send_in(options, *at).is_none());
                told.map(|(at, BlockOption { action, span, .. })| {
                    waiting(self.option_text(action), *span, reason(at, action))
                })
                .collect()
            }
            Action::Block(block) => {
                let first = block.nodes.first().and_then(|node| node.options.first()).map(|option| &option.action);
                let reason = first.map_or(Reason::Executable, |action| self.reason(id, action));
                vec![waiting(statement_text(statement).to_owned(), statement.span, reason)]
            }
            Action::Merged(actions) => {
                let reason = actions.first().map_or(Reason::Executable, |action| self.reason(id, action));
                vec![waiting(statement_text(statement).to_owned(), statement.span, reason)]
            }
            action => vec![waiting(statement_text(statement).to_owned(), statement.span, self.reason(id, action))],
        }
    }

    fn option_text(&self, action: &Action) -> String {
        let writer = self.writer();
        match action {
            Action::Guard(expr) => writer.expr(expr),
            Action::Receive(receive) => {
                format!("{}?{}", writer.expr(&receive.channel), writer.patterns(&receive.channel, &receive.fields))
            }
            Action::Send(send) => format!("{}!", writer.expr(&send.channel)),
            Action::Else => "else".to_owned(),
            _ => "…".to_owned(),
        }
    }

    fn reason(&self, edge: EdgeId, action: &Action) -> Reason {
        let data = self.program.process(self.state.processes[self.pid].process);
        if let Some(provided) = &data.provided
            && self.trial().provided(self.pid) == Ok(false)
        {
            let (condition, operands) = self.why_false(provided);
            let (process, parts) = (data.name.clone(), self.deciding_parts(provided));
            return Reason::NotProvided { process, condition, operands, parts };
        }
        if self.trial().outranked(self.pid) {
            return Reason::Outranked;
        }
        self.reason_of(edge, action).unwrap_or_else(Reason::Faulty)
    }

    fn reason_of(&self, edge: EdgeId, action: &Action) -> Result<Reason, Fault> {
        Ok(match action {
            Action::Guard(expr) if self.evaluation().value(expr)? == 0 => {
                let (condition, operands) = self.why_false(expr);
                Reason::ConditionFalse { condition, operands, parts: self.deciding_parts(expr) }
            }
            Action::Send(send) => self.send_reason(edge, send)?,
            Action::Receive(receive) => self.receive_reason(edge, receive)?,
            Action::End if self.pid + 1 < self.state.processes.len() => {
                let younger = self.pid + 1..self.state.processes.len();
                Reason::NotYoungest { younger: younger.map(|pid| self.names.process(pid as u8)).collect() }
            }
            Action::Else => {
                let steps = self.trial().steps_of(self.pid);
                if steps.iter().any(|(step, _)| step.edge == edge) { Reason::Executable } else { Reason::NotElse }
            }
            _ => Reason::Executable,
        })
    }

    fn send_reason(&self, edge: EdgeId, send: &Send) -> Result<Reason, Fault> {
        let mut evaluation = self.evaluation();
        let index = evaluation.channel(&send.channel)?;
        evaluation.check_field_count(index, send.fields.len())?;
        let channel = self.names.channel(index as i32 + 1);
        let capacity = evaluation.channel_type(index).capacity;
        if capacity == 0 {
            let steps = self.trial().steps_of(self.pid);
            return Ok(match steps.iter().find(|(step, _)| step.edge == edge) {
                Some((_, Outcome::Broken { fault, .. })) => Reason::Faulty(*fault),
                Some(_) => Reason::Executable,
                None => Reason::NoReceiver { channel },
            });
        }
        let loses = lost_send(self.program, EdgeId(edge.0 + 1)).is_some();
        let full = capacity as usize <= self.state.channels[index].messages.len() && !loses;
        Ok(if full { Reason::ChannelFull { channel, capacity } } else { Reason::Executable })
    }

    /// The processes that could execute a send now with this edge as the receiver's part.
    fn senders_to(&self, edge: EdgeId) -> Vec<String> {
        let partner = Some((self.pid as u8, edge));
        let trial = self.trial();
        let sends = |pid: &usize| {
            trial.provided(*pid) == Ok(true) && trial.steps_of(*pid).iter().any(|(step, _)| step.partner == partner)
        };
        let others = (0..self.state.processes.len()).filter(|pid| *pid != self.pid);
        others.filter(sends).map(|pid| self.names.process(pid as u8)).collect()
    }

    fn receive_reason(&self, edge: EdgeId, receive: &Receive) -> Result<Reason, Fault> {
        let mut evaluation = self.evaluation();
        let index = evaluation.channel(&receive.channel)?;
        let channel = self.names.channel(index as i32 + 1);
        if evaluation.channel_type(index).capacity == 0 {
            if receive.keep {
                return Err(Fault::PollOnRendezvous);
            }
            let senders = self.senders_to(edge);
            return Ok(match senders.is_empty() {
                true => Reason::NoSender { channel },
                false => Reason::SenderChooses { channel, senders },
            });
        }
        if evaluation.find_to_receive(index, receive)?.is_some() {
            return Ok(Reason::Executable);
        }
        let queue = &self.state.channels[index];
        if queue.messages.is_empty() {
            return Ok(Reason::ChannelEmpty { channel });
        }
        let wanted = self.wanted(receive, &mut evaluation)?;
        Ok(Reason::NoMatch { channel, wanted, contents: self.names.contents(queue), any: receive.any })
    }

    /// The fields a receive wants, with values where it wants certain ones.
    fn wanted(&self, receive: &Receive, evaluation: &mut Evaluation<'_>) -> Result<String, Fault> {
        let index = evaluation.channel(&receive.channel)?;
        let types = &evaluation.channel_type(index).fields;
        let mut shown = Vec::new();
        for (pattern, ty) in receive.fields.iter().zip(types) {
            shown.push(match pattern {
                fabius_program::Pattern::Match(expr) => self.names.value(ty.kind, evaluation.value(expr)?),
                _ => "any".to_owned(),
            });
        }
        Ok(shown.join(", "))
    }

    /// The part of a false condition that makes it false, and the values it is made of.
    fn why_false(&self, expr: &Expr) -> (String, Vec<(String, String)>) {
        let expr = self.deciding(expr);
        (self.writer().expr(expr), self.operands(expr))
    }

    /// All parts that make a false condition false.
    fn deciding_parts(&self, condition: &Expr) -> Vec<DecidingPart> {
        let truth = |part: &Expr| self.evaluation().value(part).map(|value| value != 0).ok();
        let part = |(path, part, holds): Part<'_>| {
            let (text, operands) = (self.writer().expr(part), self.operands(part));
            DecidingPart { path, text, holds, operands }
        };
        deciding(condition, false, &truth).into_iter().map(part).collect()
    }

    /// The values that an expression is made of.
    fn operands(&self, expr: &Expr) -> Vec<(String, String)> {
        let mut leaves = Vec::new();
        collect_leaves(expr, &mut leaves);
        let writer = self.writer();
        let mut operands: Vec<(String, String)> = Vec::new();
        for leaf in leaves {
            let (name, value) = self.leaf(leaf, &writer);
            if let Some(value) = value
                && operands.iter().all(|(known, _)| *known != name)
            {
                operands.push((name, value));
            }
        }
        operands
    }

    /// The part of a false condition that makes it false.
    fn deciding<'e>(&self, mut expr: &'e Expr) -> &'e Expr {
        while let Expr::Binary(BinaryOp::And, left, right) = expr {
            let left_is_false = self.evaluation().value(left) == Ok(0);
            expr = if left_is_false { left } else { right };
        }
        expr
    }

    /// A part of a condition and its value: an element with its index, of a test of a channel the
    /// channel and its contents.
    fn leaf(&self, leaf: &Expr, writer: &Writer<'_>) -> (String, Option<String>) {
        match leaf {
            Expr::Poll { channel, .. } | Expr::Test(_, channel) => {
                let index = self.evaluation().channel(channel);
                let contents = index.map(|index| self.names.contents(&self.state.channels[index]));
                (writer.expr(channel), contents.ok())
            }
            Expr::Enabled(_) | Expr::At { .. } | Expr::Timeout | Expr::NonProgress => {
                (writer.expr(leaf), self.evaluation().value(leaf).map(|value| (value != 0).to_string()).ok())
            }
            _ => {
                let kind = writer.kind(leaf);
                let name = match leaf {
                    Expr::Load(place) => self.evaluation().element(place).ok().map(|e| writer.element(place, e)),
                    _ => None,
                };
                let value = self.evaluation().value(leaf).map(|value| self.names.value(kind, value)).ok();
                (name.unwrap_or_else(|| writer.expr(leaf)), value)
            }
        }
    }
}

/// The parts of an expression whose values are worth showing, from left to right.
fn collect_leaves<'e>(expr: &'e Expr, leaves: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Constant(_) | Expr::Run { .. } => {}
        Expr::Unary(_, operand) => collect_leaves(operand, leaves),
        Expr::Binary(_, left, right) => {
            collect_leaves(left, leaves);
            collect_leaves(right, leaves);
        }
        Expr::Conditional(condition, yes, no) => {
            for part in [condition, yes, no] {
                collect_leaves(part, leaves);
            }
        }
        Expr::Load(place) => {
            for index in &place.indices {
                collect_leaves(index, leaves);
            }
            leaves.push(expr);
        }
        _ => leaves.push(expr),
    }
}
