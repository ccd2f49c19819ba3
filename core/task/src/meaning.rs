//! What a model means, as a number: two texts that differ only in comments, white space, unused macros
//! or where things stand mean the same, and what was found out about one holds for the other.
//!
//! Everything in a program but places in the text goes into the number, names and the wording of
//! statements included, since traces show them. A part of [`Program`] that somebody adds goes in without
//! being asked: what is forgotten here makes texts differ that mean the same, never the other way round.

use crate::load::Loaded;
use fabius_base::Span;
use fabius_program::process::runs_in_action;
use fabius_program::{Action, Process, ProcessId, ProcessKind, Program, PropertyKind};
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Display};
use std::hash::Hash;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// What a model or a property means, as a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SemanticDigest(pub u128);

impl Display for SemanticDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A model as it is written, before any optimisation: the same statements whatever else asks for them.
#[derive(Clone, Debug)]
pub struct SourceProgram {
    program: Arc<Program>,
    base: SemanticDigest,
}

impl SourceProgram {
    /// The model as it is written; `None` if the text is faulty.
    pub fn of(loaded: &Loaded) -> Option<Self> {
        loaded.checkable()?;
        let program = loaded.as_written()?;
        let base = base(&program);
        Some(Self { program, base })
    }

    /// Where the assertions stand.
    pub fn assertions(&self) -> Vec<Span> {
        let statements = self.program.processes.iter().flat_map(|process| &process.statements);
        statements.flat_map(|statement| assertions(&statement.action, statement.span)).collect()
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What everything but the formulas means. The body of a process type that nobody creates does not matter.
    pub fn base(&self) -> SemanticDigest {
        self.base
    }

    /// What a property means, asked of this model.
    pub fn property(&self, name: &str) -> SemanticDigest {
        let property = self.program.properties.iter().find(|property| property.name == name);
        let formula = property.filter(|property| matches!(property.kind, PropertyKind::Ltl(_)));
        digest(&(self.base, formula.map(|property| &property.kind)))
    }

    /// The number of a place of this model; it is the same in every model that means the same.
    pub fn anchor(&self, place: Span) -> Option<usize> {
        self.all_places().iter().position(|known| *known == place)
    }

    /// The place with a number.
    pub fn place(&self, anchor: usize) -> Option<Span> {
        self.all_places().get(anchor).copied()
    }

    fn all_places(&self) -> Vec<Span> {
        let own = self.program.processes.iter().flat_map(process_places);
        places(&self.program).into_iter().chain(own).collect()
    }

    /// For each place of this model, the place in a model that means the same.
    pub fn places_in(&self, other: &Self) -> HashMap<Span, Span> {
        let ours = places(&self.program).into_iter();
        let named = |program: &Program| -> HashMap<String, Vec<Span>> {
            program.processes.iter().map(|process| (process.name.clone(), process_places(process))).collect()
        };
        let mut theirs = named(&other.program);
        let mut map: HashMap<Span, Span> = ours.zip(places(&other.program)).collect();
        for (name, places) in named(&self.program) {
            map.extend(places.into_iter().zip(theirs.remove(&name).unwrap_or_default()));
        }
        map
    }
}

/// Where the assertions of a step stand.
fn assertions(action: &Action, span: Span) -> Vec<Span> {
    match action {
        Action::Assert(_) => vec![span],
        Action::Block(block) => {
            let options = block.nodes.iter().flat_map(|node| &node.options);
            options.flat_map(|option| assertions(&option.action, option.span)).collect()
        }
        _ => Vec::new(),
    }
}

/// The meaning of a program as it is searched, with all its properties and optimisations.
pub fn meaning(program: &Program) -> SemanticDigest {
    let mut placeless = program.clone();
    remove_places(&mut placeless);
    digest(&placeless)
}

/// The meaning of a property of such a program. What other formulas ask does not count, unless the program has another form since they are
/// there.
pub fn meaning_of_property(program: &Program, name: &str) -> SemanticDigest {
    let mut asked = program.clone();
    asked.properties.retain(|property| property.name == name || !matches!(property.kind, PropertyKind::Ltl(_)));
    meaning(&asked)
}

fn base(program: &Program) -> SemanticDigest {
    let mut placeless = program.clone();
    placeless.properties.retain(|property| !matches!(property.kind, PropertyKind::Ltl(_)));
    remove_places(&mut placeless);
    let created = created(program);
    let edges = std::mem::take(&mut placeless.edges);
    let processes = std::mem::take(&mut placeless.processes);
    let bodies = processes.into_iter().enumerate().map(|(at, mut process)| {
        if process.kind == ProcessKind::Process && !created.contains(&ProcessId(at as u32)) {
            return digest(&(process.name, "never created"));
        }
        // Numbers that depend on the processes before this one count from this one.
        let first_statement = process.statements.iter().map(|statement| statement.number).min().unwrap_or(0);
        process.statements.iter_mut().for_each(|statement| statement.number -= first_statement);
        let leaving: Vec<_> = process
            .locations
            .iter()
            .map(|location| &edges[location.edges.start as usize..location.edges.end as usize])
            .collect();
        let leaving = digest(&leaving);
        process.locations.iter_mut().for_each(|location| location.edges = 0..0);
        digest(&(process, leaving))
    });
    let bodies: Vec<SemanticDigest> = bodies.collect();
    digest(&(placeless, bodies))
}

/// The process types of which a process may be created at all.
fn created(program: &Program) -> BTreeSet<ProcessId> {
    let mut created: BTreeSet<ProcessId> = BTreeSet::new();
    let mut waiting: Vec<ProcessId> = program.initial.iter().map(|instance| instance.process).collect();
    let others = program.processes.iter().enumerate().filter(|(_, process)| process.kind != ProcessKind::Process);
    waiting.extend(others.map(|(at, _)| ProcessId(at as u32)));
    while let Some(process) = waiting.pop() {
        if created.insert(process) {
            let mut runs = BTreeSet::new();
            let statements = &program.process(process).statements;
            statements.iter().for_each(|statement| runs_in_action(&statement.action, &mut runs));
            waiting.extend(runs);
        }
    }
    created
}

/// The places of what belongs to no process, in a fixed order.
fn places(program: &Program) -> Vec<Span> {
    let mut places: Vec<Span> = program.globals.iter().map(|variable| variable.span).collect();
    places.extend(program.channel_types.iter().map(|channel| channel.span));
    places
}

/// The places of a process, in a fixed order.
fn process_places(process: &Process) -> Vec<Span> {
    let mut places = vec![process.span];
    places.extend(process.locals.iter().map(|variable| variable.span));
    places.extend(process.locations.iter().map(|location| location.span));
    for statement in &process.statements {
        places.push(statement.span);
        let Action::Block(block) = &statement.action else { continue };
        for node in &block.nodes {
            places.push(node.span);
            places.extend(node.options.iter().map(|option| option.span));
        }
    }
    places
}

fn digest(value: &impl Hash) -> SemanticDigest {
    let mut hasher = Xxh3::new();
    value.hash(&mut hasher);
    SemanticDigest(hasher.digest128())
}

fn remove_places(program: &mut Program) {
    let nowhere = Span::default();
    program.name.clear();
    for variable in &mut program.globals {
        variable.span = nowhere;
    }
    for channel in &mut program.channel_types {
        channel.span = nowhere;
    }
    for property in &mut program.properties {
        property.span = None;
    }
    for process in &mut program.processes {
        process.span = nowhere;
        process.locals.iter_mut().for_each(|variable| variable.span = nowhere);
        process.locations.iter_mut().for_each(|location| location.span = nowhere);
        for statement in &mut process.statements {
            statement.span = nowhere;
            let Action::Block(block) = &mut statement.action else { continue };
            for node in &mut block.nodes {
                node.span = nowhere;
                node.options.iter_mut().for_each(|option| option.span = nowhere);
            }
        }
    }
}
