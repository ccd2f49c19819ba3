//! The scheduler of a search: the one that was asked for, or one that suits the model.

use crate::settings::SchedulerChoice;
use fabius_base::{Code, Finding};
use fabius_machine::Machine;
use fabius_program::{Action, ProcessKind, Program};
use fabius_search::schedule::Ranking;

/// The scheduler's name as people say it, and why it was chosen if nobody did.
pub(super) struct Chosen {
    pub(super) kind: SchedulerChoice,
    pub(super) why: Option<&'static str>,
}

/// Says so where a scheduler names types of processes that the model has not.
pub(super) fn unknown_types(program: &Program, chosen: &Chosen) -> Option<Finding> {
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
pub(super) fn choose(program: &Program, choice: &SchedulerChoice) -> Chosen {
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
pub(crate) fn scheduler_of(program: &Program, choice: &SchedulerChoice) -> SchedulerChoice {
    choose(program, choice).kind
}

impl SchedulerChoice {
    /// The scheduler's full name.
    pub(super) fn name(&self) -> String {
        let name = match self {
            Self::Auto | Self::RunToCompletion => "run-to-completion",
            Self::RoundRobin => "round-robin",
            Self::Random => "a random order",
            Self::Priority(_) => "priorities",
            Self::Own(own) => return format!("`{}`", own.name),
        };
        name.to_owned()
    }
}

/// Ranks processes by the place of their type in a list; those not in it come after, by the priorities of the model.
#[derive(Clone)]
pub(super) struct ByName {
    machine: Machine,
    names: Vec<String>,
    /// Those not in it are all equal.
    only: bool,
}

impl std::fmt::Debug for ByName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ByName").field(&self.names).finish()
    }
}

impl ByName {
    pub(super) fn new(machine: Machine, names: &[String]) -> Self {
        Self { machine, names: names.to_vec(), only: false }
    }

    /// The same, whatever the priorities of the model.
    pub(super) fn only(self) -> Self {
        Self { only: true, ..self }
    }
}

impl Ranking for ByName {
    fn rank(&self, state: &[u32], process: u8) -> u32 {
        let Some(view) = self.machine.view(state) else { return 0 };
        let pid = usize::from(process);
        let name = view.process_of(pid).map(|id| self.machine.program().process(id).name.as_str());
        match self.names.iter().position(|listed| Some(listed.as_str()) == name) {
            Some(place) => place as u32,
            None if self.only => self.names.len() as u32,
            None => self.names.len() as u32 + 255 - u32::from(view.priority_of(pid).unwrap_or(1)),
        }
    }
}
