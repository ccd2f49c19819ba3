//! What an event trace says of a send or a receive.

use fabius_program::{Action, Expr, Pattern, ProcessKind, Program, Statement, meaning::Fault};

use crate::evaluate::Evaluation;
use crate::state::{NOBODY, State};

/// What happens to a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Send,
    Receive,
}

/// Tells the event trace, if one is watched, that a message was sent or is received; it moves.
pub(crate) fn observe(
    program: &Program,
    state: &mut State,
    kind: Kind,
    channel: usize,
    message: &[i32],
) -> Result<(), Fault> {
    let Some(trace) = state.trace.clone() else { return Ok(()) };
    let process = program.process(trace.process);
    let event = Event { program, state, kind, channel, message };
    if !process.statements.iter().any(|statement| event.is_in_scope_of(statement)) {
        return Ok(());
    }
    let location = &process.locations[trace.location.0 as usize];
    let matching: Vec<_> =
        program.edges_of(location).filter(|(id, _)| event.matches(program.statement(trace.process, *id))).collect();
    let negated = process.kind == ProcessKind::NoTrace;
    let closing = process.locations.iter().position(|location| is_closing(program, location));
    let target = match matching.as_slice() {
        [] if negated => closing.map(|at| fabius_program::LocationId(at as u32)),
        [] => return Err(Fault::TraceViolated),
        [(_, edge), ..] if negated && Some(edge.target.0 as usize) == closing => return Err(Fault::TraceViolated),
        [(_, edge)] => Some(edge.target),
        _ => return Err(Fault::TraceAmbiguous),
    };
    if let (Some(trace), Some(target)) = (&mut state.trace, target) {
        trace.location = target;
    }
    Ok(())
}

/// Whether a location is behind the last event.
fn is_closing(program: &Program, location: &fabius_program::Location) -> bool {
    let statement = |edge: &fabius_program::Edge| &program.process(edge.process).statements[edge.statement.0 as usize];
    program.edges_of(location).any(|(_, edge)| statement(edge).action == Action::End)
}

struct Event<'a> {
    program: &'a Program,
    state: &'a State,
    kind: Kind,
    /// Index into [`State::channels`].
    channel: usize,
    message: &'a [i32],
}

impl Event<'_> {
    fn is_in_scope_of(&self, statement: &Statement) -> bool {
        match (&statement.action, self.kind) {
            (Action::Send(send), Kind::Send) => self.is_on(&send.channel),
            (Action::Receive(receive), Kind::Receive) => self.is_on(&receive.channel),
            _ => false,
        }
    }

    fn matches(&self, statement: &Statement) -> bool {
        match (&statement.action, self.kind) {
            (Action::Send(send), Kind::Send) => {
                let mut fields = send.fields.iter().zip(self.message);
                self.is_on(&send.channel)
                    && fields.all(|(field, value)| field.constant().is_none_or(|constant| constant == *value))
            }
            (Action::Receive(receive), Kind::Receive) => {
                let mut fields = receive.fields.iter().zip(self.message);
                self.is_on(&receive.channel)
                    && fields.all(|(field, value)| match field {
                        Pattern::Match(expr) => self.value(expr) == Ok(*value),
                        Pattern::Store(_) | Pattern::Ignore => true,
                    })
            }
            (Action::Skip, _) => true,
            (Action::Guard(expr), _) => self.value(expr).is_ok_and(|value| value != 0),
            _ => false,
        }
    }

    fn is_on(&self, channel: &Expr) -> bool {
        self.value(channel) == Ok(self.channel as i32 + 1)
    }

    fn value(&self, expr: &Expr) -> Result<i32, Fault> {
        Evaluation::new(self.program, self.state, NOBODY).value(expr)
    }
}
