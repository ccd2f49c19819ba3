//! The scheduler of a search: the one that was asked for, or one that suits the model.

use crate::settings::SchedulerChoice;
use fabius_base::{Code, Finding};
use fabius_program::{Action, ProcessKind, Program};

/// The scheduler of a search.
pub struct Chosen {
    /// The scheduler.
    pub kind: SchedulerChoice,
    /// Why it was chosen, if nobody asked for it.
    pub why: Option<&'static str>,
}

/// Says so where a scheduler names types of processes that the model has not.
pub fn unknown_types(program: &Program, chosen: &Chosen) -> Option<Finding> {
    let (names, who) = match &chosen.kind {
        SchedulerChoice::Own(own) => (&own.order, format!("the scheduler `{}`", own.name)),
        SchedulerChoice::Priority(names) => (names, "the scheduler".to_owned()),
        _ => return None,
    };
    let processes = program.processes.iter().filter(|process| process.kind == ProcessKind::Process);
    let types: Vec<&str> = processes.map(|process| process.name.as_str()).collect();
    let unknown = names.iter().filter(|name| !types.contains(&name.as_str()));
    let unknown: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
    if unknown.is_empty() {
        return None;
    }
    let headline = format!("{who} names {}, but this model has no such processes", unknown.join(", "));
    let finding = Finding::new(Code::UnknownType, headline);
    Some(finding.help(format!("types of processes in this model: {}", types.join(", "))))
}

/// The scheduler to use: the one that was asked for, or one that suits the model.
pub fn choose(program: &Program, choice: &SchedulerChoice) -> Chosen {
    if *choice != SchedulerChoice::Auto {
        return Chosen { kind: choice.clone(), why: None };
    }
    let communicates = |action: &Action| matches!(action, Action::Send(_) | Action::Receive(_));
    let statements = program.processes.iter().flat_map(|process| &process.statements);
    let messages = statements.clone().any(|statement| match &statement.action {
        Action::Merged(actions) => actions.iter().any(communicates),
        action => communicates(action),
    });
    match messages {
        true => {
            Chosen { kind: SchedulerChoice::RunToCompletion, why: Some("which suits processes that exchange messages") }
        }
        false => {
            Chosen { kind: SchedulerChoice::RoundRobin, why: Some("which suits processes that only share variables") }
        }
    }
}

/// The scheduler to use.
pub fn scheduler_of(program: &Program, choice: &SchedulerChoice) -> SchedulerChoice {
    choose(program, choice).kind
}

impl SchedulerChoice {
    /// The scheduler's full name.
    pub fn name(&self) -> String {
        let name = match self {
            Self::Auto | Self::RunToCompletion => "run-to-completion",
            Self::RoundRobin => "round-robin",
            Self::Laps => "round-robin with laps",
            Self::Random => "a random order",
            Self::Priority(_) => "priorities",
            Self::Own(own) => return format!("`{}`", own.name),
        };
        name.to_owned()
    }
}
