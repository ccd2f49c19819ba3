//! A property as a claim: an automaton of the runs that violate it, which steps in lock step with the system.
//!
//! For a formula `f` the claim is the automaton of `!f`: its first location is where the first state of a run is
//! read, `accept` locations are those that a violating run visits again and again.
//!
//! A run of which already a finite beginning violates `f` leads to a state that accepts whatever follows. That
//! state becomes the claim's closing brace: a location with `end` set and without edges. A claim that comes
//! there has found a violation, in whatever way the run may go on; that is how Spin reads its `never` claims,
//! and it makes such violations visible to a search that only looks for reachable states. (Only the location that a
//! claim starts from is never of this kind: a claim always takes a step first.) A location without edges that is
//! not marked `end` is one where the claim is stuck, so that no continuation violates the property.

use super::{Automaton, Cube, TooLarge, Transition, violations};
use crate::print::print_expr;
use crate::{
    Action, BinaryOp, Edge, Expr, Kind, Location, LocationId, Place, Process, ProcessId, ProcessKind, Program,
    PropertyKind, Slot, Statement, StatementId, UnaryOp,
};
use fabius_base::{Code, Finding, Span};
use std::fmt;

/// Why a property has no claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoClaim {
    /// There is no property with this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// It is not about infinite runs: neither a formula nor a `never` claim.
    NotTemporal {
        /// The name.
        name: String,
    },
    /// The formula leads to something too large.
    TooLarge {
        /// The name.
        name: String,
        /// What is too large.
        why: TooLarge,
        /// Where the formula stands.
        span: Option<Span>,
    },
}

impl fmt::Display for NoClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "unknown property `{name}`"),
            Self::NotTemporal { name } => write!(f, "`{name}` is neither a formula nor a `never` claim"),
            Self::TooLarge { name, why, .. } => write!(f, "`{name}` cannot be checked: {why}"),
        }
    }
}

impl std::error::Error for NoClaim {}

impl NoClaim {
    /// The same as something to tell a person.
    pub fn finding(&self) -> Finding {
        match self {
            Self::Unknown { .. } | Self::NotTemporal { .. } => Finding::new(Code::UnknownProperty, self.to_string()),
            Self::TooLarge { span, .. } => {
                let finding = Finding::new(Code::TooMany, self.to_string());
                let finding = span.iter().fold(finding, |finding, span| finding.at(*span, ""));
                finding.help("split the formula into several, or write the `never` claim by hand")
            }
        }
    }
}

impl Program {
    /// The program with a claim for a property, and which of its processes that is: for a formula a process that is
    /// added at the end, for a `never` claim the claim itself. See [`crate::ltl::claim`].
    ///
    /// # Errors
    /// The property does not exist, is not of this kind, or is too large.
    pub fn with_claim(&self, property: &str) -> Result<(Program, ProcessId), NoClaim> {
        let name = property.to_owned();
        let Some(property) = self.properties.iter().find(|p| p.name == property) else {
            return Err(NoClaim::Unknown { name });
        };
        match &property.kind {
            PropertyKind::Never(id) => Ok((self.clone(), *id)),
            PropertyKind::Ltl(formula) => {
                let span = property.span;
                let automaton =
                    violations(formula).map_err(|why| NoClaim::TooLarge { name: name.clone(), why, span })?;
                let mut program = self.clone();
                let id = append(&mut program, name, &automaton, span.unwrap_or_default());
                Ok((program, id))
            }
            _ => Err(NoClaim::NotTemporal { name }),
        }
    }

    /// Whether it is another program with claims added that change nothing; what counts as acceptance may differ, too. Everything is
    /// compared that a step depends on: processes, locations and edges have the same numbers in both.
    pub fn adds_claims_to(&self, other: &Program) -> bool {
        let (count, edges) = (other.processes.len(), other.edges.len());
        let (Some(kept), Some(kept_edges)) = (self.processes.get(..count), self.edges.get(..edges)) else {
            return false;
        };
        let only_looks = |s: &Statement| matches!(s.action, Action::Skip | Action::Guard(_) | Action::Assert(_));
        let is_added = |p: &Process| p.kind == ProcessKind::Claim && p.statements.iter().all(only_looks);
        self.globals == other.globals
            && self.channel_types == other.channel_types
            && self.initial == other.initial
            && kept_edges == other.edges
            && kept.iter().zip(&other.processes).all(|(kept, process)| is_but_for_acceptance(kept, process))
            && self.processes[count..].iter().all(is_added)
    }
}

/// Whether two process types are the same but for what counts as acceptance.
fn is_but_for_acceptance(one: &Process, other: &Process) -> bool {
    let is_same = |one: &Location, other: &Location| {
        one.edges == other.edges && one.end == other.end && one.progress == other.progress
    };
    one.kind == other.kind
        && one.parameter_count == other.parameter_count
        && one.locals == other.locals
        && one.entry == other.entry
        && one.provided == other.provided
        && one.deterministic == other.deterministic
        && one.statements.iter().map(|s| &s.action).eq(other.statements.iter().map(|s| &s.action))
        && one.locations.len() == other.locations.len()
        && one.locations.iter().zip(&other.locations).all(|(one, other)| is_same(one, other))
}

/// Adds an automaton to a program, as a claim.
pub fn append(program: &mut Program, name: String, automaton: &Automaton, span: Span) -> ProcessId {
    let id = ProcessId(program.processes.len() as u32);
    let statement = |s: &Statement| s.number;
    let used = program.processes.iter().flat_map(|p| &p.statements).map(statement).max();
    let mut claim = Claim {
        id,
        span,
        next_statement: used.map_or(0, |n| n.saturating_add(1)),
        locations: Vec::new(),
        statements: Vec::new(),
        edges: Vec::new(),
        first_edge: program.edges.len() as u32,
    };
    let whole_from_start = automaton.accepts_all_from(0);
    if whole_from_start {
        claim.location(Mark::Plain);
        claim.edge(Action::Skip, "true".into(), 1);
        claim.location(Mark::Brace);
    } else {
        for (index, state) in automaton.states.iter().enumerate() {
            let brace = automaton.accepts_all_from(index);
            claim.location(if brace {
                Mark::Brace
            } else if state.accepting {
                Mark::Accept
            } else {
                Mark::Plain
            });
            for transition in state.transitions.iter().filter(|_| !brace) {
                let (action, text) = guard(program, automaton, transition);
                claim.edge(action, text, transition.target);
            }
        }
    }
    program.edges.append(&mut claim.edges);
    program.processes.push(Process {
        name,
        kind: ProcessKind::Claim,
        parameter_count: 0,
        locals: Vec::new(),
        locations: claim.locations,
        entry: LocationId(0),
        statements: claim.statements,
        provided: None,
        deterministic: false,
        span,
    });
    id
}

/// What a location of a claim is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Plain,
    Accept,
    /// The closing brace: whatever follows, the run violates the property.
    Brace,
}

/// A claim on its way into a program.
struct Claim {
    id: ProcessId,
    span: Span,
    next_statement: u32,
    locations: Vec<Location>,
    statements: Vec<Statement>,
    edges: Vec<Edge>,
    first_edge: u32,
}

impl Claim {
    /// The next location, so far without edges.
    fn location(&mut self, mark: Mark) {
        let end = self.first_edge + self.edges.len() as u32;
        self.locations.push(Location {
            number: self.locations.len() as u32 + 1,
            edges: end..end,
            end: mark == Mark::Brace,
            progress: false,
            accept: mark != Mark::Plain,
            labels: Vec::new(),
            span: self.span,
        });
    }

    /// An edge that leaves the youngest location.
    fn edge(&mut self, action: Action, text: String, target: usize) {
        let statement = StatementId(self.statements.len() as u32);
        self.statements.push(Statement { number: self.next_statement, action, text, span: self.span });
        self.next_statement = self.next_statement.saturating_add(1);
        let source = LocationId(self.locations.len() as u32 - 1);
        let target = LocationId(target as u32);
        self.edges.push(Edge { process: self.id, source, statement, target, atomic: false, escape: 0 });
        if let Some(location) = self.locations.last_mut() {
            location.edges.end += 1;
        }
    }
}

/// The guard of a transition as an action, and as a person would write it.
fn guard(program: &Program, automaton: &Automaton, transition: &Transition) -> (Action, String) {
    if transition.is_free() {
        return (Action::Skip, "true".into());
    }
    let mut whole: Option<Expr> = None;
    let mut texts = Vec::new();
    for cube in &transition.guard {
        let (expr, text) = conjunction(program, automaton, *cube);
        texts.push(text);
        whole = Some(match whole {
            None => expr,
            Some(before) => Expr::binary(BinaryOp::Or, before, expr),
        });
    }
    (Action::Guard(whole.unwrap_or(Expr::Constant(0))), texts.join(" || "))
}

fn conjunction(program: &Program, automaton: &Automaton, cube: Cube) -> (Expr, String) {
    let mut whole: Option<Expr> = None;
    let mut texts = Vec::new();
    for (index, proposition) in automaton.propositions.iter().enumerate() {
        let bit = 1 << index;
        if (cube.positive | cube.negative) & bit == 0 {
            continue;
        }
        let literal = if cube.negative & bit == 0 { proposition.clone() } else { negation(proposition) };
        texts.push(text(program, &literal));
        whole = Some(match whole {
            None => literal,
            Some(before) => Expr::binary(BinaryOp::And, before, literal),
        });
    }
    (whole.unwrap_or(Expr::Constant(1)), texts.join(" && "))
}

/// The opposite, of a comparison by the opposite operator.
fn negation(e: &Expr) -> Expr {
    let Expr::Binary(op, a, b) = e else { return Expr::unary(UnaryOp::Not, e.clone()) };
    let opposite = match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::LessEqual,
        _ => return Expr::unary(UnaryOp::Not, e.clone()),
    };
    Expr::Binary(opposite, a.clone(), b.clone())
}

/// A literal as a person would write it: symbolic constants and labels by their names.
pub(super) fn text(program: &Program, literal: &Expr) -> String {
    match literal {
        Expr::Unary(UnaryOp::Not, a) => {
            let inner = text(program, a);
            let simple = inner.starts_with('(') || !inner.contains(' ');
            if simple { format!("!{inner}") } else { format!("!({inner})") }
        }
        Expr::Binary(op, a, b) => {
            let whole = print_expr(program, None, literal);
            let whole = whole.strip_prefix('(').and_then(|w| w.strip_suffix(')')).unwrap_or(&whole).to_owned();
            if matches!(op, BinaryOp::And | BinaryOp::Or) {
                return format!("({whole})");
            }
            match (name_of_constant(program, a, b), whole.rsplit_once(' ')) {
                (Some(name), Some((left, _))) => format!("{left} {name}"),
                _ => whole,
            }
        }
        Expr::At { process, location, .. } => {
            let process = program.processes.get(process.0 as usize);
            let label = process.and_then(|p| p.locations.get(location.0 as usize)).and_then(|l| l.labels.first());
            let whole = print_expr(program, None, literal);
            match (label, whole.rsplit_once('@')) {
                (Some(label), Some((process, _))) => format!("{process}@{label}"),
                _ => whole,
            }
        }
        _ => print_expr(program, None, literal),
    }
}

/// The name of a symbolic constant that a variable is compared with.
fn name_of_constant<'a>(program: &'a Program, variable: &Expr, constant: &Expr) -> Option<&'a str> {
    let Expr::Load(Place { slot: Slot::Global(id), .. }) = variable else { return None };
    let Kind::Enum(enumeration) = program.globals.get(id.0 as usize)?.ty.kind else { return None };
    program.enumerations.get(enumeration.0 as usize)?.name_of(constant.constant()?)
}
