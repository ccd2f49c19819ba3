//! Which statements searches executed, by where they stand in the text.
//!
//! In the optimised program one step may consist of several statements of the text. Statements other than the first have edges of their
//! own, which may never be taken although the statements are executed. The program as written has the same numbers of statements and
//! locations, and what is merged there has no alternatives: the statements of a step are those on the one path from the edge with
//! its number to the location to which it leads.

use fabius_analysis::worth_telling;
use fabius_base::Span;
use fabius_program::{Action, BinaryOp, Edge, EdgeId, Expr, LocationId, ProcessId, ProcessKind, Program, Statement};
use fabius_task::load::Loaded;
use std::collections::{BTreeMap, HashSet};

/// The steps that searches took.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Executed {
    steps: HashSet<Step>,
}

/// A step of processes of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step {
    process: ProcessId,
    /// The numbers of the locations from which and to which it leads.
    from: u32,
    to: u32,
    /// The number of its (first) statement, and where that stands.
    statement: u32,
    span: Span,
    is_merged: bool,
}

/// Where statements of the text stand that searches executed.
#[derive(Default)]
struct Places {
    certain: HashSet<Span>,
    /// Those of which it cannot be told.
    possible: HashSet<Span>,
}

impl Executed {
    /// The steps along edges that were taken.
    pub(crate) fn of(program: &Program, is_taken: impl Fn(EdgeId) -> bool) -> Self {
        let step = |edge: &Edge| {
            let process = program.process(edge.process);
            let number = |location: LocationId| process.locations[location.0 as usize].number;
            let Statement { number: statement, span, ref action, .. } = *statement(program, edge);
            let is_merged = matches!(action, Action::Merged(_));
            let (from, to) = (number(edge.source), number(edge.target));
            Step { process: edge.process, from, to, statement, span, is_merged }
        };
        Self { steps: edges(program).filter(|(id, _)| is_taken(*id)).map(|(_, edge)| step(edge)).collect() }
    }

    /// Adds the steps that other searches took.
    pub(crate) fn extend(&mut self, other: Self) {
        self.steps.extend(other.steps);
    }

    /// The statements of processes, by where a person sees them, and whether some search executed them; `None` where that cannot be
    /// told. One that stands in the text once counts once; one of which nobody wants to know does not count.
    pub fn statements(&self, loaded: &Loaded) -> Vec<(Span, Option<bool>)> {
        let (Some(program), Some(written)) = (&loaded.program, loaded.as_written()) else { return Vec::new() };
        let shown = |span: Span| {
            let Span { file, start, end, .. } = loaded.map.user_span(span);
            (file, start, end)
        };
        let Places { certain, possible } = self.places(&written);
        let certain: HashSet<_> = certain.into_iter().map(shown).collect();
        let possible: HashSet<_> = possible.into_iter().map(shown).collect();
        let passed_over = edges(program).filter(|(id, _)| loaded.is_passed_over(*id));
        let passed_over: HashSet<_> = passed_over.map(|(_, edge)| shown(statement(program, edge).span)).collect();
        let mut found = BTreeMap::new();
        for edge in &written.edges {
            let Statement { action, span, .. } = statement(&written, edge);
            let place = shown(*span);
            let is_executed = certain.contains(&place);
            let is_known = is_executed || !possible.contains(&place) && !passed_over.contains(&place);
            if written.process(edge.process).kind == ProcessKind::Process && worth_telling(action) {
                found.insert(place, is_known.then_some(is_executed));
            }
        }
        found.into_iter().map(|((file, start, end), executed)| (Span::new(file, start, end), executed)).collect()
    }

    fn places(&self, written: &Program) -> Places {
        let mut places = Places { certain: self.steps.iter().map(|step| step.span).collect(), ..Places::default() };
        for step in self.steps.iter().filter(|step| step.is_merged) {
            match path(written, step) {
                Some(path) => places.add_path(written, &path),
                None => {
                    let process = written.processes.get(step.process.0 as usize);
                    let statements = process.into_iter().flat_map(|process| &process.statements);
                    places.possible.extend(statements.map(|statement| statement.span));
                }
            }
        }
        places
    }
}

impl Places {
    /// Adds the statements of a path that was taken, as far as it surely was: before the first one at which a run may have ended.
    fn add_path(&mut self, written: &Program, path: &[&Edge]) {
        let safe = path.iter().take_while(|edge| cannot_fail(&statement(written, edge).action)).count();
        for (at, edge) in path.iter().enumerate() {
            let known = if at <= safe { &mut self.certain } else { &mut self.possible };
            known.insert(statement(written, edge).span);
        }
    }
}

/// The edges of the program as written along which a merged step of the optimised one goes; `None` if they cannot be told.
fn path<'w>(written: &'w Program, step: &Step) -> Option<Vec<&'w Edge>> {
    let process = written.processes.get(step.process.0 as usize)?;
    let mut here = process.locations.iter().find(|location| location.number == step.from)?;
    let mut next = written.edges_of(here).find(|(_, edge)| statement(written, edge).number == step.statement);
    let mut path = Vec::new();
    while path.len() <= process.locations.len() {
        let (_, edge) = next?;
        path.push(edge);
        here = &process.locations[edge.target.0 as usize];
        if here.number == step.to {
            return Some(path);
        }
        let mut edges = written.edges_of(here);
        next = edges.next();
        if edges.next().is_some() {
            return None;
        }
    }
    None
}

fn edges(program: &Program) -> impl Iterator<Item = (EdgeId, &Edge)> {
    program.edges.iter().enumerate().map(|(at, edge)| (EdgeId(at as u32), edge))
}

fn statement<'p>(program: &'p Program, edge: &Edge) -> &'p Statement {
    &program.process(edge.process).statements[edge.statement.0 as usize]
}

/// Whether a step is never a fault; may say no too often.
fn cannot_fail(action: &Action) -> bool {
    match action {
        Action::Skip | Action::Else => true,
        Action::Guard(e) => has_value(e),
        Action::Assign(place, e) => place.indices.is_empty() && has_value(e),
        _ => false,
    }
}

/// Whether an expression always has a value; may say no too often.
fn has_value(e: &Expr) -> bool {
    match e {
        Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => true,
        Expr::Load(place) => place.indices.is_empty(),
        Expr::Unary(_, a) => has_value(a),
        Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => false,
        Expr::Binary(_, a, b) => has_value(a) && has_value(b),
        _ => false,
    }
}
