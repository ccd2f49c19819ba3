//! Processes told apart by who created them, instead of by their numbers.
//!
//! The number of a process depends on how many there are when it is created, and so on the order of steps that have nothing
//! else to do with each other. Where a program cannot observe numbers, a process may be identified by its *birth*: the
//! process that created it, and how many that one had created before. Then it is also all the same when a process ends
//! that has nothing left to do: it may as well stay, or go at once. [`of`] tells whether that is so, and gives the program whose
//! processes stay; who runs it may leave them out of its states.
//!
//! A program may observe numbers by `_nr_pr`, by `_pid` in a process that is created, by the value of `run`, and by
//! looking into processes. With the end of a process its channels go, which others may still know; only the oldest
//! process ends after all others. The limit on the number of processes ([`crate::PROCESSES_MAX`]) is left to whoever runs the program:
//! as long as it is not reached by processes that stay, it is not reached by those that end.

use super::walk::{any_within, each_within, initial_values, operands, parts, shown};
use crate::process::runs_in_action;
use crate::{Action, Expr, Initial, PrintPiece, Process, ProcessId, ProcessKind, Program, Slot};
use std::collections::BTreeSet;

/// A program that cannot observe the numbers of the processes that it creates.
#[derive(Clone, Debug)]
pub struct Births {
    /// The same program, but no process ends, and no result of a `run` is kept. Its edges are those of the program.
    pub program: Program,
    /// For each edge, how many processes it creates.
    pub created: Vec<usize>,
}

/// Why processes are told apart by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhyNumbered {
    /// No process is created after the start: numbers are names already.
    NothingCreated,
    /// It looks at how many processes there are.
    Count,
    /// It looks at locations, variables, priorities or last steps of processes by their numbers.
    LooksInside,
    /// A process that is created knows its number.
    Pid,
    /// The number of a new process is used.
    Result,
    /// Channels go with a process that ends, or are numbered in the order in which processes are created.
    Channels,
}

impl WhyNumbered {
    /// The reason, as half a sentence.
    pub fn because(self) -> &'static str {
        match self {
            Self::NothingCreated => "no process is created after the start",
            Self::Count => "the model looks at `_nr_pr`",
            Self::LooksInside => "the model looks into other processes",
            Self::Pid => "a process that is created uses its `_pid`",
            Self::Result => "the model uses the number that `run` returns",
            Self::Channels => "a process that is created, or that can end before others, has channels of its own",
        }
    }
}

/// Whether a program cannot observe the numbers of the processes that it creates. Claims are not looked at.
///
/// # Errors
/// Why it may.
pub fn of(program: &Program) -> Result<Births, WhyNumbered> {
    let mut types = BTreeSet::new();
    each_expression(program, |_, e| {
        if let Expr::Run { process, .. } = e {
            types.insert(*process);
        }
    });
    if types.is_empty() {
        return Err(WhyNumbered::NothingCreated);
    }
    observes(program, &types)?;
    has_lasting_channels(program, &types)?;
    let mut unread = Unread::of(program);
    let mut changed = program.clone();
    for (at, process) in changed.processes.iter_mut().enumerate() {
        if process.kind == ProcessKind::Process {
            unread.process = ProcessId(at as u32);
            for statement in &mut process.statements {
                statement.action = unread.without_result(&statement.action);
            }
        }
    }
    let mut created = Vec::with_capacity(changed.edges.len());
    for edge in &changed.edges {
        let action = &changed.process(edge.process).statements[edge.statement.0 as usize].action;
        created.push(created_by(action).ok_or(WhyNumbered::Result)?);
    }
    // What an initial value creates comes with the process, and its number is kept.
    let locals = program.processes.iter().flat_map(|process| &process.locals);
    let kept = locals.flat_map(|local| initial_values(&local.initial)).any(creates);
    if kept { Err(WhyNumbered::Result) } else { Ok(Births { program: changed, created }) }
}

/// Whether evaluating an expression creates a process.
fn creates(e: &Expr) -> bool {
    any_within(e, |part| matches!(part, Expr::Run { .. }))
}

/// Calls a function with each expression that processes evaluate and all its parts, and the type of the process. Where
/// a process prints its own number, that is not meant.
fn each_expression<'p>(program: &'p Program, mut visit: impl FnMut(ProcessId, &'p Expr)) {
    for (at, process) in program.processes.iter().enumerate() {
        if process.kind != ProcessKind::Process {
            continue;
        }
        let mut within = |e: &'p Expr| each_within(e, |part| visit(ProcessId(at as u32), part));
        for action in process.statements.iter().flat_map(|statement| parts(&statement.action)) {
            if let Action::Print(pieces) = action {
                pieces.iter().filter(|piece| !is_own_number(piece)).filter_map(shown).for_each(&mut within);
                continue;
            }
            let (values, places) = operands(action);
            values.into_iter().for_each(&mut within);
            places.into_iter().flat_map(|place| &place.indices).for_each(&mut within);
        }
        process.provided.iter().for_each(&mut within);
        process.locals.iter().flat_map(|local| initial_values(&local.initial)).for_each(&mut within);
    }
}

/// Whether nothing depends on numbers of processes.
fn observes(program: &Program, types: &BTreeSet<ProcessId>) -> Result<(), WhyNumbered> {
    let mut found = None;
    each_expression(program, |process, e| {
        let why = match e {
            Expr::ProcessCount => WhyNumbered::Count,
            Expr::Pid if types.contains(&process) => WhyNumbered::Pid,
            Expr::LocationOf(_)
            | Expr::At { .. }
            | Expr::Remote { .. }
            | Expr::Enabled(_)
            | Expr::PriorityOf(_)
            | Expr::Last
            | Expr::NonProgress => WhyNumbered::LooksInside,
            _ => return,
        };
        found = found.or(Some(why));
    });
    found.map_or(Ok(()), Err)
}

/// Whether the channels of processes stay as they are, and have the same numbers whoever is created first.
fn has_lasting_channels(program: &Program, types: &BTreeSet<ProcessId>) -> Result<(), WhyNumbered> {
    for (at, process) in program.processes.iter().enumerate() {
        let id = ProcessId(at as u32);
        let has_channels = process.locals.iter().any(|local| matches!(local.initial, Initial::Channel(_)));
        if process.kind != ProcessKind::Process || !has_channels {
            continue;
        }
        let is_later = program.initial.iter().skip(1).any(|instance| instance.process == id);
        let ends = process.statements.iter().any(|statement| statement.action == Action::End);
        if types.contains(&id) || is_later && ends {
            return Err(WhyNumbered::Channels);
        }
    }
    Ok(())
}

/// Variables that nobody reads.
struct Unread {
    /// For each global, whether somebody does.
    globals: Vec<bool>,
    /// For each type and local.
    locals: Vec<Vec<bool>>,
    /// The type whose statements are looked at.
    process: ProcessId,
}

impl Unread {
    fn of(program: &Program) -> Self {
        let locals = |process: &Process| vec![false; process.locals.len()];
        let mut found = Self {
            globals: vec![false; program.globals.len()],
            locals: program.processes.iter().map(locals).collect(),
            process: ProcessId(0),
        };
        each_expression(program, |process, e| {
            let Expr::Load(place) = e else { return };
            let read = match place.slot {
                Slot::Global(v) => found.globals.get_mut(v.0 as usize),
                Slot::Local(v) => found.locals[process.0 as usize].get_mut(v.0 as usize),
            };
            read.into_iter().for_each(|read| *read = true);
        });
        found
    }

    /// An action that does the same, but does not end its process, nor keeps the number of a new one where nobody reads it.
    fn without_result(&self, action: &Action) -> Action {
        match action {
            Action::End => Action::Guard(Expr::Constant(0)),
            Action::Assign(place, e @ Expr::Run { .. }) if place.indices.is_empty() => {
                let is_read = match place.slot {
                    Slot::Global(v) => self.globals[v.0 as usize],
                    Slot::Local(v) => self.locals[self.process.0 as usize][v.0 as usize],
                };
                if is_read { action.clone() } else { Action::Guard(e.clone()) }
            }
            Action::Merged(parts) => Action::Merged(parts.iter().map(|part| self.without_result(part)).collect()),
            action => action.clone(),
        }
    }
}

/// How many processes an action creates; `None` if that depends on the state, or if their numbers are used.
fn created_by(action: &Action) -> Option<usize> {
    let mut types = BTreeSet::new();
    runs_in_action(action, &mut types);
    match action {
        _ if types.is_empty() => Some(0),
        Action::Guard(Expr::Run { arguments, .. }) => (!arguments.iter().any(creates)).then_some(1),
        Action::Merged(parts) => parts.iter().try_fold(0, |all, part| Some(all + created_by(part)?)),
        _ => None,
    }
}

/// Whether a piece of what is printed is nothing but the number of the process.
fn is_own_number(piece: &PrintPiece) -> bool {
    matches!(
        piece,
        PrintPiece::Decimal(Expr::Pid)
            | PrintPiece::Unsigned(Expr::Pid)
            | PrintPiece::Hex(Expr::Pid)
            | PrintPiece::Octal(Expr::Pid)
    )
}
