//! Channels that lose messages: a send to a full channel is executable, and its message is lost.
//!
//! Nobody who executes a program has to know of it: beside the edge of each send stands another one that does nothing and can be taken
//! exactly where the channel is full. So states, transitions and `else` are those of a program whose send does either.

use crate::{
    Action, BinaryOp, BlockOption, ChannelTest, Edge, EdgeId, Expr, ProcessKind, Program, Send, Statement, StatementId,
};
use fabius_base::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A program whose sends lose their messages where a channel is full.
#[derive(Clone, Debug)]
pub struct Lossy {
    /// The program.
    pub program: Program,
    /// The edges along which a message is lost.
    pub losses: BTreeSet<EdgeId>,
}

/// Why a program cannot lose messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLossy {
    /// A process is created inside a send: if the message is lost, there has to be one all the same.
    CreatesProcess(Span),
    /// An event trace follows the sends: a message that is lost is no event of it, or it is; nothing says which.
    HasTrace(Span),
}

/// The same program with channels that lose messages. `None` if it has no channel that can be full.
///
/// # Errors
/// If what it does cannot be told by edges beside those of the sends.
pub fn lossy(program: &Program) -> Result<Option<Lossy>, NotLossy> {
    let can_be_full = program.channel_types.iter().any(|channel| 0 < channel.capacity);
    let sends = |process: &crate::Process| process.statements.iter().any(|statement| sends(&statement.action));
    let runs = |process: &&crate::Process| process.kind == ProcessKind::Process;
    if !can_be_full || !program.processes.iter().filter(runs).any(sends) {
        return Ok(None);
    }
    let traces = |process: &&crate::Process| matches!(process.kind, ProcessKind::Trace | ProcessKind::NoTrace);
    if let Some(trace) = program.processes.iter().find(traces) {
        return Err(NotLossy::HasTrace(trace.span));
    }
    let mut made = Lossy { program: Program { edges: Vec::new(), ..program.clone() }, losses: BTreeSet::new() };
    for (index, process) in program.processes.iter().enumerate() {
        let mut lost: BTreeMap<StatementId, Option<StatementId>> = BTreeMap::new();
        for (place, location) in process.locations.iter().enumerate() {
            let first = made.program.edges.len() as u32;
            for (_, edge) in program.edges_of(location) {
                made.program.edges.push(edge.clone());
                if process.kind != ProcessKind::Process {
                    continue;
                }
                let statement = match lost.get(&edge.statement) {
                    Some(known) => *known,
                    None => {
                        let new = made.lose(index, edge.statement)?;
                        lost.insert(edge.statement, new);
                        new
                    }
                };
                if let Some(statement) = statement {
                    made.losses.insert(EdgeId(made.program.edges.len() as u32));
                    made.program.edges.push(Edge { statement, ..edge.clone() });
                }
            }
            made.program.processes[index].locations[place].edges = first..made.program.edges.len() as u32;
        }
    }
    Ok(Some(made))
}

impl Lossy {
    /// Makes what a statement does where its message is lost: a statement of its own, or, in one step with pieces of code, options of
    /// its own there.
    fn lose(&mut self, process: usize, id: StatementId) -> Result<Option<StatementId>, NotLossy> {
        let statements = &mut self.program.processes[process].statements;
        let statement = &mut statements[id.0 as usize];
        let span = statement.span;
        let action = match &mut statement.action {
            Action::Send(send) => Action::Guard(is_lost(send, span)?),
            Action::Merged(parts) => match parts.split_first() {
                Some((Action::Send(send), rest)) => Action::Merged(
                    std::iter::once(Action::Guard(is_lost(send, span)?)).chain(rest.iter().cloned()).collect(),
                ),
                _ => return Ok(None),
            },
            Action::Block(block) => {
                for node in &mut block.nodes {
                    lose_in_options(&mut node.options)?;
                }
                return Ok(None);
            }
            _ => return Ok(None),
        };
        let lost = Statement { action, ..statement.clone() };
        statements.push(lost);
        Ok(Some(StatementId(statements.len() as u32 - 1)))
    }
}

/// Adds an option after each send.
fn lose_in_options(options: &mut Vec<BlockOption>) -> Result<(), NotLossy> {
    let mut all = Vec::with_capacity(options.len());
    for option in std::mem::take(options) {
        let lost = match &option.action {
            Action::Send(send) => {
                Some(BlockOption { action: Action::Guard(is_lost(send, option.span)?), ..option.clone() })
            }
            _ => None,
        };
        all.push(option);
        all.extend(lost);
    }
    *options = all;
    Ok(())
}

/// Whether the message of a send is lost; its fields are computed as if it were not, so that the same faults are met.
fn is_lost(send: &Send, span: Span) -> Result<Expr, NotLossy> {
    let mut created = BTreeSet::new();
    crate::process::runs_in_action(&Action::Send(send.clone()), &mut created);
    if !created.is_empty() {
        return Err(NotLossy::CreatesProcess(span));
    }
    let test = |test| Expr::Test(test, Box::new(send.channel.clone()));
    // A rendezvous channel has room for no message, and so is never both.
    let full = Expr::binary(BinaryOp::And, test(ChannelTest::Full), test(ChannelTest::NotEmpty));
    let fields = send.fields.iter().filter(|field| can_fail(field));
    Ok(fields.fold(full, |lost, field| {
        let computed = Expr::binary(BinaryOp::Equal, field.clone(), field.clone());
        Expr::binary(BinaryOp::And, lost, computed)
    }))
}

/// Whether computing an expression may be a fault, as far as its form tells.
fn can_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last => false,
        Expr::Load(place) => !place.indices.is_empty(),
        _ => true,
    }
}

fn sends(action: &Action) -> bool {
    match action {
        Action::Send(_) => true,
        Action::Merged(parts) => parts.iter().any(sends),
        Action::Block(block) => block.nodes.iter().flat_map(|node| &node.options).any(|option| sends(&option.action)),
        _ => false,
    }
}

/// The send whose message is lost along an edge, if it is such an edge: the one before it has the same statement, and sends.
pub fn lost_send(program: &Program, edge: EdgeId) -> Option<&Send> {
    let before = EdgeId(edge.0.checked_sub(1)?);
    let (own, other) = (program.edges.get(edge.0 as usize)?, program.edge(before));
    let process = program.process(own.process);
    let [statement, sent] = [own, other].map(|edge| process.statements.get(edge.statement.0 as usize));
    let (statement, sent) = (statement?, sent?);
    let is_beside = (own.process, own.source, own.escape) == (other.process, other.source, other.escape)
        && (statement.number, statement.span) == (sent.number, sent.span);
    match (first(&statement.action), first(&sent.action)) {
        (Action::Guard(_), Action::Send(send)) if is_beside => Some(send),
        _ => None,
    }
}

/// The send whose message is lost in an option of a block, by its index.
pub fn lost_send_in(options: &[BlockOption], at: usize) -> Option<&Send> {
    let (own, before) = (options.get(at)?, options.get(at.checked_sub(1)?)?);
    match (&own.action, &before.action) {
        (Action::Guard(condition), Action::Send(send)) if own.span == before.span && asks_if_lost(condition, send) => {
            Some(send)
        }
        _ => None,
    }
}

fn asks_if_lost(condition: &Expr, send: &Send) -> bool {
    match condition {
        Expr::Binary(BinaryOp::And, left, right) => match (&**left, &**right) {
            (Expr::Test(ChannelTest::Full, full), Expr::Test(ChannelTest::NotEmpty, there)) => {
                **full == send.channel && **there == send.channel
            }
            _ => asks_if_lost(left, send),
        },
        _ => false,
    }
}

fn first(action: &Action) -> &Action {
    match action {
        Action::Merged(parts) => parts.first().unwrap_or(action),
        _ => action,
    }
}
