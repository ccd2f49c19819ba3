//! The present state as a person looks at it: processes, variables, channels, and what just changed.

use crate::Exploration;
use crate::drive::Stop;
use crate::hold::Hold;
use crate::tree::NodeId;
use fabius_analysis::schedule::MustWait;
use fabius_base::Span;
use fabius_program::{CLAIM_PID, Kind, Move, ProcessKind, Variable};
use fabius_witness::deciding::DecidingPart;
use fabius_witness::explain::{WaitsFor, waits_for};
use fabius_witness::{
    Changed, Explanation, InfiniteRun, Outcome, ProcessStatus, Reason, State, Step, Waiting, explain, explain_loop,
    moves, process_statuses, snapshot,
};
use std::ops::Range;

/// A longer loop is not explained.
const LOOP_STEPS_MAX: usize = 5_000;
/// This many steps before a deadlock are looked at for who brought it about.
const BLAMED_STEPS_MAX: usize = 1_000;

/// A process.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessView {
    /// Where it stands; at which statements, and for each why it is not executable; its variables.
    pub status: ProcessStatus,
    /// Whether it can move.
    pub role: Role,
    /// What it waits for, and who could bring it about.
    pub waits: Vec<WaitsFor>,
    /// It is held back.
    pub held: Option<Hold>,
    /// All its steps have to wait under the schedule that is followed.
    pub must_wait: Option<MustWait>,
    /// It holds control: it is inside an atomic sequence.
    pub in_control: bool,
    /// It took part in the last step.
    pub moved: bool,
}

/// Whether a process can move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// It can.
    Enabled,
    /// It could, but this process is inside an atomic sequence.
    Excluded(u8),
    /// It cannot.
    Blocked,
    /// It is past its last statement.
    Ended,
}

impl Role {
    /// One sign for it, and one that needs no more than ASCII.
    pub fn sign(self) -> (&'static str, char) {
        match self {
            Self::Enabled => ("▶", '>'),
            Self::Excluded(_) => ("▷", ')'),
            Self::Blocked => ("■", '#'),
            Self::Ended => ("✓", '='),
        }
    }
}

/// A variable or a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// Name; of a process's variable without the process.
    pub name: String,
    /// Its value, or what the channel holds.
    pub value: String,
    /// Its type in the words of the language, such as `byte` or `chan`.
    pub ty: String,
    /// The process it belongs to.
    pub pid: Option<u8>,
    /// It is a channel.
    pub is_channel: bool,
    /// The value before the last step, if that changed it.
    pub before: Option<String>,
}

impl ProcessView {
    /// Why it cannot move, and who could change that, in a sentence each.
    pub fn sentences(&self, names: &dyn Fn(u8) -> String) -> Vec<String> {
        let who = |waiting: &Waiting| -> String {
            let waits = self.waits.iter().filter(|wait| wait.edge == waiting.edge && wait.text == waiting.text);
            waits.filter_map(|wait| Some(format!("; {}", wait.forecast(names)?))).collect()
        };
        if let [first, others @ ..] = self.status.waiting.as_slice()
            && matches!(first.reason, Reason::NotProvided { .. })
            && others.iter().all(|other| other.reason == first.reason)
        {
            // It keeps the process from every statement, so it is told once.
            let at: Vec<String> = self.status.waiting.iter().map(|waiting| format!("`{}`", waiting.text)).collect();
            return vec![format!("at {} because {}{}", at.join(" or "), first.reason.sentence(), who(first))];
        }
        let reasons = self.status.waiting.iter().map(|waiting| match waiting.reason {
            Reason::Executable => format!("at `{}`, which can be executed", waiting.text),
            _ => format!("{}{}", waiting.sentence(), who(waiting)),
        });
        reasons.collect()
    }
}

/// Why a process has to wait whatever it would do, if it could move; `waiting` says it of each step.
fn process_must_wait(pid: u8, possible: &[(Move, Outcome)], waiting: &[Option<MustWait>]) -> Option<MustWait> {
    let takes_part = |step: &Move| step.pid == pid || step.partner.is_some_and(|(partner, _)| partner == pid);
    let own = possible.iter().zip(waiting).filter(|((step, _), _)| takes_part(step));
    let waits: Option<Vec<&MustWait>> = own.map(|(_, waits)| waits.as_ref()).collect();
    waits?.into_iter().find(|waits| waits.pid == pid).cloned()
}

impl Exploration {
    /// The parts that make the condition false at which a process waits, each with its place in the text where that is known.
    pub fn deciding_parts(&self, waiting: &Waiting) -> Vec<(DecidingPart, Option<Span>)> {
        fabius_analysis::deciding_parts(self.loaded(), waiting)
    }

    /// The statement as it is written, if that is in one line, and where in it these parts are.
    pub fn deciding_in_line(&self, waiting: &Waiting) -> Option<(String, Vec<Range<usize>>)> {
        fabius_analysis::deciding_in_line(self.loaded(), waiting)
    }

    /// Every process: where it stands, whether it can move, and if not, why.
    pub fn processes(&self) -> Vec<ProcessView> {
        let program = &self.target().program;
        let state = self.state();
        let can: Vec<u8> = movers(self, &state);
        let free = State { holder: None, ..state.clone() };
        let could = if state.holder.is_some() { movers(self, &free) } else { Vec::new() };
        let last = self.tree.step(self.here());
        let possible = if self.follows_schedule() { self.possible() } else { Vec::new() };
        let waiting = self.waiting(&state, &possible);
        let view = |status: ProcessStatus| {
            let pid = status.pid;
            let role = match state.holder {
                _ if can.contains(&pid) => Role::Enabled,
                Some(holder) if could.contains(&pid) => Role::Excluded(holder),
                _ if status.has_ended() => Role::Ended,
                _ => Role::Blocked,
            };
            let waits = if role == Role::Blocked { waits_for(program, &state, &status) } else { Vec::new() };
            ProcessView {
                role,
                waits,
                held: self.hold_on(pid).cloned(),
                must_wait: process_must_wait(pid, &possible, &waiting),
                in_control: state.holder == Some(pid),
                moved: last.is_some_and(|step| step.pid == pid || step.partner.is_some_and(|(other, _)| other == pid)),
                status,
            }
        };
        process_statuses(program, &state).into_iter().map(view).collect()
    }

    /// All variables and channels: global ones, then those of each process, then the channels.
    pub fn variables(&self) -> Vec<Value> {
        let snapshot = snapshot(&self.target().program, &self.state());
        let changes = self.step_to(self.here()).map(|step| step.changes).unwrap_or_default();
        let before = |name: &str, what: Changed| {
            let change = changes.iter().find(|change| change.name == name && change.what == what);
            change.map(|change| change.old.clone())
        };
        let program = &self.target().program;
        let mut found = Vec::new();
        for (name, value) in snapshot.variables {
            let (before, ty) = (before(&name, Changed::Variable), type_of(&program.globals, &name));
            found.push(Value { name, value, ty, pid: None, is_channel: false, before });
        }
        for status in snapshot.processes {
            let locals = program.processes.iter().find(|process| process.name == status.process);
            let locals = locals.map_or(&[][..], |process| &process.locals);
            for (name, value) in status.variables {
                let before = before(&format!("{}:{name}", status.name), Changed::Variable);
                let ty = type_of(locals, &name);
                found.push(Value { name, value, ty, pid: Some(status.pid), is_channel: false, before });
            }
        }
        for (name, value) in snapshot.channels {
            let before = before(&name, Changed::Channel);
            found.push(Value { name, value, ty: "chan".to_owned(), pid: None, is_channel: true, before });
        }
        found
    }

    /// What happens in the loop at the end of the line: who moves, who waits for whom, what never changes, and which
    /// fairness would prevent it. `None` if there is no loop, or if it is too long to say.
    pub fn explain_loop(&self) -> Option<InfiniteRun> {
        let lasso = self.lasso()?;
        let nodes: Vec<NodeId> =
            self.line().iter().copied().skip(self.depth(lasso.start)).take(LOOP_STEPS_MAX + 1).collect();
        if LOOP_STEPS_MAX < nodes.len() {
            return None;
        }
        let steps = nodes.windows(2).filter_map(|pair| Some((pair[0], self.tree.step(pair[1])?)));
        let steps: Vec<(NodeId, Move)> = steps.filter(|(_, step)| step.pid != CLAIM_PID).collect();
        let bare = |node: NodeId| State { claim: None, trace: None, ..self.situation(node).state.clone() };
        let mut states: Vec<State> = steps.iter().map(|(node, _)| bare(*node)).collect();
        if states.is_empty() {
            states.push(bare(lasso.end));
        }
        let moves: Vec<Move> = steps.into_iter().map(|(_, step)| step).collect();
        Some(explain_loop(&self.target().program, self.target().watch, &states, &moves))
    }

    /// What happens in the loop at the end of the line, in sentences; none if there is no loop.
    pub fn loop_sentences(&self) -> Vec<String> {
        self.explain_loop().map(|infinite| infinite.sentences).unwrap_or_default()
    }

    /// Why nothing can move, if it is so and no end: who waits for whom, and what may be done.
    pub fn explain_deadlock(&self) -> Option<Explanation> {
        if self.why_no_step() != Some(Stop::Deadlock) {
            return None;
        }
        let way = self.tree.way_to(self.here());
        let last = way.len().saturating_sub(BLAMED_STEPS_MAX);
        let steps: Vec<Step> = way[last..].iter().filter_map(|node| self.step_to(*node)).collect();
        Some(explain(&self.target().program, &self.state(), steps.into_iter().rev()))
    }

    /// How a process is shown, such as `P[1]`.
    pub fn process_name(&self, pid: u8) -> String {
        if pid == CLAIM_PID {
            let claim = self.target().program.processes.iter().find(|process| process.kind == ProcessKind::Claim);
            return claim.map_or_else(|| "claim".to_owned(), |claim| claim.name.clone());
        }
        fabius_witness::show::Names::of(&self.target().program, &self.state()).process(pid)
    }

    /// The steps that lead to these nodes: a page of a trace.
    pub fn steps(&self, nodes: &[NodeId]) -> Vec<(NodeId, Step)> {
        nodes.iter().filter_map(|node| Some((*node, self.step_to(*node)?))).collect()
    }

    /// The messages that the step to a node received, as the nodes whose steps sent them: the arrows of a chart.
    pub fn arrows(&self, node: NodeId) -> Vec<Arrow> {
        if !self.has(node) {
            return Vec::new();
        }
        let situation = self.situation(node);
        let names = fabius_witness::show::Names::of(&self.target().program, &situation.state);
        let arrow = |(channel, from): &(i32, NodeId)| Arrow { from: *from, to: node, channel: names.channel(*channel) };
        situation.received.iter().map(arrow).collect()
    }
}

/// A message on its way from one step to another (to the same one, if it is a rendezvous).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// The step that sent it leads here.
    pub from: NodeId,
    /// The step that received it leads here.
    pub to: NodeId,
    /// The channel.
    pub channel: String,
}

/// The type of the variable that an element belongs to.
fn type_of(variables: &[Variable], element: &str) -> String {
    let mut name = String::new();
    let mut inside = false;
    for c in element.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            c if !inside => name.push(c),
            _ => {}
        }
    }
    let found = variables.iter().find(|variable| variable.name.replace("[]", "") == name);
    found.map_or_else(String::new, |variable| {
        let ty = variable.ty;
        match (ty.kind, ty.bits, ty.signed) {
            (Kind::Boolean, ..) => "bool".to_owned(),
            (Kind::Enum(_), ..) => "mtype".to_owned(),
            (Kind::Channel, ..) => "chan".to_owned(),
            (Kind::Process, ..) => "pid".to_owned(),
            (Kind::Number, 1, false) => "bit".to_owned(),
            (Kind::Number, 8, false) => "byte".to_owned(),
            (Kind::Number, 16, true) => "short".to_owned(),
            (Kind::Number, 32, true) => "int".to_owned(),
            (Kind::Number, bits, _) => format!("unsigned : {bits}"),
        }
    })
}

/// The processes that can take part in a step.
fn movers(exploration: &Exploration, state: &State) -> Vec<u8> {
    let successors = moves(&exploration.target().program, state).successors;
    let both = successors.into_iter().flat_map(|(step, _)| [Some(step.pid), step.partner.map(|(pid, _)| pid)]);
    let mut movers: Vec<u8> = both.flatten().filter(|pid| *pid != CLAIM_PID).collect();
    movers.sort_unstable();
    movers.dedup();
    movers
}
