//! From a formula over expressions to a formula over numbered propositions.

use super::TooLarge;
use super::boolean::{Condition, FALSE, TRUE, VARIABLES_MAX};
use super::normal::{Formulas, Id, TOP};
use crate::{Action, BinaryOp, Expr, Formula, Initial, Pattern, Place, Program, Slot, UnaryOp, VariableId};
use std::collections::BTreeSet;

/// More operators than any formula that a person writes has.
const OPERATORS_MAX: usize = 2_000;

/// How finely expressions are taken apart into propositions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grain {
    /// `!`, `&&` and `||` inside expressions are seen through where the order of evaluation does not matter.
    Fine,
    /// An expression is one proposition.
    Coarse,
}

/// The distinct propositions of a formula, numbered in the order in which they first occur.
pub(super) struct Propositions {
    grain: Grain,
    pub(super) list: Vec<Expr>,
}

/// What is to be done to read a formula; a formula is read without recursion.
enum Task<'a> {
    Read(&'a Formula),
    Combine(&'a Formula),
}

/// Reads a formula into its negation normal form, simplified on the way.
pub(super) fn read(all: &mut Formulas, formula: &Formula, grain: Grain) -> Result<(Id, Vec<Expr>), TooLarge> {
    let mut propositions = Propositions { grain, list: Vec::new() };
    let mut tasks = vec![Task::Read(formula)];
    let mut results: Vec<Id> = Vec::new();
    let mut operators = 0;
    while let Some(task) = tasks.pop() {
        match task {
            Task::Read(Formula::Proposition(e)) => {
                let condition = propositions.condition(all, e)?;
                results.push(all.state(condition)?);
            }
            Task::Read(f) => {
                operators += 1;
                if operators > OPERATORS_MAX {
                    return Err(TooLarge::Formula);
                }
                tasks.push(Task::Combine(f));
                let (first, second) = f.operands();
                tasks.extend(second.into_iter().chain(first).map(Task::Read));
            }
            Task::Combine(f) => combine(all, f, &mut results)?,
        }
    }
    Ok((results.pop().unwrap_or(TOP), propositions.list))
}

/// Replaces the operands of an operator by its result.
fn combine(all: &mut Formulas, f: &Formula, results: &mut Vec<Id>) -> Result<(), TooLarge> {
    let mut take = || results.pop().unwrap_or(TOP);
    let result = match f {
        Formula::Proposition(_) => return Ok(()),
        Formula::Not(_) => all.not(take())?,
        Formula::Next(_) => all.next(take())?,
        Formula::Always(_) => all.release(super::normal::BOTTOM, take())?,
        Formula::Eventually(_) => all.until(TOP, take())?,
        _ => {
            let (b, a) = (take(), take());
            binary(all, f, a, b)?
        }
    };
    results.push(result);
    Ok(())
}

fn binary(all: &mut Formulas, operator: &Formula, a: Id, b: Id) -> Result<Id, TooLarge> {
    match operator {
        Formula::And(..) => all.and(vec![a, b]),
        Formula::Or(..) => all.or(vec![a, b]),
        Formula::Until(..) => all.until(a, b),
        Formula::Release(..) => all.release(a, b),
        // a W b = b R (a || b)
        Formula::WeakUntil(..) => {
            let either = all.or(vec![a, b])?;
            all.release(b, either)
        }
        Formula::Equivalent(..) => {
            let (not_a, not_b) = (all.not(a)?, all.not(b)?);
            let both = all.and(vec![a, b])?;
            let neither = all.and(vec![not_a, not_b])?;
            all.or(vec![both, neither])
        }
        // a -> b
        _ => {
            let not_a = all.not(a)?;
            all.or(vec![not_a, b])
        }
    }
}

impl Propositions {
    /// An expression as a function of propositions. (The depth of expressions is bounded by who makes them.)
    fn condition(&mut self, all: &mut Formulas, e: &Expr) -> Result<Condition, TooLarge> {
        let fine = self.grain == Grain::Fine && cannot_fail(e);
        match e {
            Expr::Constant(0) => Ok(FALSE),
            Expr::Constant(_) => Ok(TRUE),
            Expr::Unary(UnaryOp::Not, a) => {
                let inner = self.condition(all, a)?;
                all.conditions.not(inner)
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if fine => {
                let (a, b) = (self.condition(all, a)?, self.condition(all, b)?);
                if *op == BinaryOp::And { all.conditions.and(a, b) } else { all.conditions.or(a, b) }
            }
            // How `a <-> b` is computed: !a == !b.
            Expr::Binary(BinaryOp::Equal, a, b) if fine && is_negation(a) && is_negation(b) => {
                let (a, b) = (self.condition(all, a)?, self.condition(all, b)?);
                all.conditions.equivalent(a, b)
            }
            Expr::Binary(op, a, b) => match opposite(*op) {
                Some(other) => {
                    let positive = self.proposition(all, Expr::Binary(other, a.clone(), b.clone()))?;
                    all.conditions.not(positive)
                }
                None => self.proposition(all, e.clone()),
            },
            _ => self.proposition(all, e.clone()),
        }
    }

    fn proposition(&mut self, all: &mut Formulas, e: Expr) -> Result<Condition, TooLarge> {
        let known = self.list.iter().position(|other| *other == e);
        let number = known.unwrap_or(self.list.len());
        if number >= VARIABLES_MAX {
            return Err(TooLarge::Propositions);
        }
        if known.is_none() {
            self.list.push(e);
        }
        all.conditions.variable(number)
    }
}

fn is_negation(e: &Expr) -> bool {
    matches!(e, Expr::Unary(UnaryOp::Not, _))
}

/// Of a comparison and its opposite, one stands for both.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::NotEqual => Some(BinaryOp::Equal),
        BinaryOp::LessEqual => Some(BinaryOp::Greater),
        BinaryOp::GreaterEqual => Some(BinaryOp::Less),
        _ => None,
    }
}

/// Whether an expression has a value in every state, so that it may be evaluated where the text would not.
pub(super) fn cannot_fail(e: &Expr) -> bool {
    has_value(e, &|_, _| false)
}

/// The same; `names` tells whether an expression names the same channel in every state, one with a buffer if that is asked for.
pub(super) fn has_value(e: &Expr, names: &dyn Fn(&Expr, bool) -> bool) -> bool {
    let constant = |list: &[Expr]| list.iter().all(|e| e.constant().is_some());
    let has = |e: &Expr| has_value(e, names);
    match e {
        Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => true,
        Expr::Load(Place { indices, .. }) => constant(indices),
        Expr::Unary(_, a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => has(a),
        Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, a, b) => b.constant().is_some_and(|b| b != 0) && has(a),
        Expr::Binary(_, a, b) => has(a) && has(b),
        Expr::Conditional(a, b, c) => [a, b, c].into_iter().all(|e| has(e)),
        Expr::At { pid, .. } => pid.as_deref().is_none_or(has),
        Expr::Remote { pid, indices, .. } => pid.as_deref().is_none_or(has) && constant(indices),
        Expr::Length(channel) | Expr::Test(_, channel) => names(channel, false),
        Expr::Poll { channel, fields, .. } => {
            let matches = |field: &Pattern| match field {
                Pattern::Match(e) => has(e),
                Pattern::Store(place) => constant(&place.indices),
                Pattern::Ignore => true,
            };
            names(channel, true) && fields.iter().all(matches)
        }
        Expr::Run { .. } | Expr::Enabled(_) => false,
    }
}

/// The channels that have a name that means the same in every state: global variables to which nothing is assigned.
pub(super) struct NamedChannels<'p> {
    program: &'p Program,
    assigned: BTreeSet<VariableId>,
}

impl<'p> NamedChannels<'p> {
    pub(super) fn of(program: &'p Program) -> Self {
        let mut assigned = BTreeSet::new();
        let statements = program.processes.iter().flat_map(|process| &process.statements);
        let mut open: Vec<&Action> = statements.map(|statement| &statement.action).collect();
        let mut assign = |place: &Place| {
            if let Slot::Global(id) = place.slot {
                assigned.insert(id);
            }
        };
        while let Some(action) = open.pop() {
            match action {
                Action::Assign(place, _) => assign(place),
                Action::Receive(receive) => receive.fields.iter().for_each(|field| {
                    if let Pattern::Store(place) = field {
                        assign(place);
                    }
                }),
                Action::Merged(parts) => open.extend(parts),
                Action::Block(block) => {
                    open.extend(block.nodes.iter().flat_map(|node| &node.options).map(|option| &option.action));
                }
                Action::Skip
                | Action::Else
                | Action::Guard(_)
                | Action::Send(_)
                | Action::Assert(_)
                | Action::Print(_)
                | Action::SetPriority(..)
                | Action::End => {}
            }
        }
        Self { program, assigned }
    }

    /// Whether an expression of the program has a value in every state.
    pub(super) fn give_value(&self, e: &Expr) -> bool {
        has_value(e, &|channel, buffered| self.name(channel, buffered))
    }

    fn name(&self, channel: &Expr, buffered: bool) -> bool {
        let Expr::Load(Place { slot: Slot::Global(id), indices }) = channel else { return false };
        let initial = self.program.globals.get(id.0 as usize).map(|variable| &variable.initial);
        let Some(Initial::Channel(ty)) = initial else { return false };
        let has_buffer = 0 < self.program.channel_types[ty.0 as usize].capacity;
        (has_buffer || !buffered) && indices.iter().all(|e| e.constant().is_some()) && !self.assigned.contains(id)
    }
}
