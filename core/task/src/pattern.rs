//! Patterns over the past of a run, in the words of the model: `x > 1 after P[1]@line 20`.

use crate::condition::condition;
use crate::load::Loaded;
use fabius_base::Span;
use fabius_pattern::{Monitor, Operand, Past, Unary};
use fabius_program::{BinaryOp, Expr, LocationId, ProcessId, ProcessKind, Program, Slot, UnaryOp};
use std::collections::BTreeSet;

/// This many lines are named where there is no statement on the one asked for.
const LINES_NAMED_MAX: usize = 4;

/// A pattern over states of a program.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it was written.
    pub text: String,
    /// Over [`Pattern::propositions`], by their numbers.
    pub formula: Past<usize>,
    /// What it says of single states. One that has no value in a state counts as false there.
    pub propositions: Vec<Expr>,
    /// The words for each proposition.
    pub words: Vec<String>,
}

impl Pattern {
    /// What decides it along a run.
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.formula)
    }

    /// Whether it is about single states only.
    pub fn is_of_one_state(&self) -> bool {
        self.monitor().words() == 0
    }
}

/// Reads a pattern over the states of `program`, a form of the model that was loaded.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn pattern(loaded: &Loaded, program: &Program, text: &str) -> Result<Pattern, String> {
    let (mut propositions, mut words) = (Vec::new(), Vec::new());
    let formula = fabius_pattern::read(text)?.replaced(&mut |operand| {
        let expr = match operand {
            Operand::Expression(text) => condition(loaded, program, text)?,
            Operand::Line { process, number, line } => at_line(loaded, program, process, number.as_deref(), *line)?,
        };
        check_is_of_state(program, &expr)?;
        let number = propositions.iter().position(|known| *known == expr).unwrap_or_else(|| {
            propositions.push(expr);
            words.push(operand.to_string());
            propositions.len() - 1
        });
        Ok::<_, String>(Past::Proposition(number))
    })?;
    Ok(Pattern { text: text.trim().to_owned(), formula, propositions, words })
}

/// Reads a condition on single states of `program`: an expression of the model, or several with places by line.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn state_condition(loaded: &Loaded, program: &Program, text: &str) -> Result<Expr, String> {
    let pattern = pattern(loaded, program, text)?;
    as_expr(&pattern.formula, &pattern.propositions)
        .ok_or_else(|| format!("`{}` looks back along the run: a condition on single states is needed", pattern.text))
}

/// A pattern about one state as an expression.
fn as_expr(formula: &Past<usize>, propositions: &[Expr]) -> Option<Expr> {
    let of = |part: &Past<usize>| as_expr(part, propositions);
    Some(match formula {
        Past::Proposition(p) => propositions[*p].clone(),
        Past::Unary(Unary::Not, a) => Expr::unary(UnaryOp::Not, of(a)?),
        Past::And(a, b) => Expr::binary(BinaryOp::And, of(a)?, of(b)?),
        Past::Or(a, b) => Expr::binary(BinaryOp::Or, of(a)?, of(b)?),
        Past::Implies(a, b) => Expr::binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, of(a)?), of(b)?),
        Past::Unary(..) | Past::Since(..) | Past::After(..) => return None,
    })
}

/// Refuses an expression whose value does not follow from the variables, channels and places of a state.
fn check_is_of_state(program: &Program, expr: &Expr) -> Result<(), String> {
    let hidden = |name: &str| Err(format!("`{name}` is hidden, so it is no part of a state"));
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Timeout => return Err("`timeout` cannot be used: it is about a step, not about a state".to_owned()),
            Expr::NonProgress => return Err("`np_` cannot be used in a pattern".to_owned()),
            Expr::Run { .. } => return Err("a pattern cannot create processes".to_owned()),
            Expr::Last if !program.uses.last => {
                return Err("`_last` is no part of a state of this model, which does not use it".to_owned());
            }
            Expr::Load(place) => {
                if let Slot::Global(id) = place.slot
                    && let Some(variable) = program.globals.get(id.0 as usize).filter(|variable| variable.hidden)
                {
                    return hidden(&variable.name);
                }
            }
            Expr::Remote { process, variable, .. } => {
                let variable = program.process(*process).locals.get(variable.0 as usize);
                if let Some(variable) = variable.filter(|variable| variable.hidden) {
                    return hidden(&variable.name);
                }
            }
            _ => {}
        }
        open.extend(expr.operands());
    }
    Ok(())
}

/// That a process is about to execute a statement that begins on a line.
fn at_line(loaded: &Loaded, program: &Program, name: &str, number: Option<&str>, line: u32) -> Result<Expr, String> {
    let is_it =
        |(_, process): &(usize, &fabius_program::Process)| process.name == name && process.kind == ProcessKind::Process;
    let (id, process) = (program.processes.iter().enumerate().find(is_it))
        .ok_or_else(|| format!("there is no process type `{name}`"))?;
    let pid = number.map(|text| condition(loaded, program, text)).transpose()?.map(Box::new);
    let line_of = |span: Span| loaded.map.position(span).line;
    let (mut here, mut lines) = (Vec::new(), BTreeSet::new());
    for (number, location) in process.locations.iter().enumerate() {
        let begins: BTreeSet<u32> =
            program.edges_of(location).map(|(edge, _)| line_of(program.span_of(edge))).collect();
        if begins.contains(&line) {
            let process = ProcessId(id as u32);
            here.push(Expr::At { process, pid: pid.clone(), location: LocationId(number as u32) });
        }
        lines.extend(begins);
    }
    let either = |one, other| Expr::binary(BinaryOp::Or, one, other);
    here.into_iter().reduce(either).ok_or_else(|| {
        let mut near: Vec<u32> = lines.into_iter().filter(|line| 0 < *line).collect();
        near.sort_by_key(|other| other.abs_diff(line));
        near.truncate(LINES_NAMED_MAX);
        near.sort_unstable();
        let near: Vec<String> = near.iter().map(u32::to_string).collect();
        format!("no statement of `{name}` begins on line {line}; near it, statements begin on {}", near.join(", "))
    })
}
