//! A state of a program, in plain structures.

use fabius_program::{
    CHANNELS_MAX, CLAIM_PID, ChannelTypeId, Expr, Initial, Instance, LocationId, PROCESSES_MAX, Process, ProcessId,
    Program, Variable, Watch, meaning::Fault,
};
use std::collections::VecDeque;

use crate::evaluate::Evaluation;
use crate::values::{Shared, Values};

/// A state, see [`fabius_program::meaning`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Values of each global variable, element by element.
    pub globals: Vec<Values>,
    /// The processes alive; a process's number is its place in here.
    pub processes: Vec<Shared<ProcessState>>,
    /// The channels that exist; a channel's identity is its place in here plus 1.
    pub channels: Vec<Shared<ChannelState>>,
    /// The process that holds control.
    pub holder: Option<u8>,
    /// The process that moved last, if the program looks at it; else 0.
    pub last: u8,
    /// The claim that is watched.
    pub claim: Option<ClaimState>,
    /// The event trace that is watched.
    pub trace: Option<TraceState>,
}

/// A claim within a [`State`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClaimState {
    /// Its type.
    pub process: ProcessId,
    /// Where it is.
    pub location: LocationId,
    /// Values of each local variable, element by element.
    pub locals: Vec<Values>,
    /// Who moves next.
    pub turn: NextMover,
}

/// Who moves next in a state with a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NextMover {
    /// The system.
    System,
    /// The claim.
    Claim,
    /// The claim, because the system has stopped; only told apart if the program asks for `NonProgress`.
    Stuttered,
}

/// An event trace within a [`State`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TraceState {
    /// Its type.
    pub process: ProcessId,
    /// Where it is.
    pub location: LocationId,
}

impl TraceState {
    /// An event trace that is about to start; one with variables is none.
    fn initial(program: &Program, process: ProcessId) -> Option<Self> {
        let declared = program.process(process);
        declared.locals.is_empty().then_some(Self { process, location: declared.entry })
    }
}

/// The number that stands for the claim where the number of a process does.
pub(crate) const CLAIM: usize = CLAIM_PID as usize;
/// The number that stands for nobody, where the event trace evaluates.
pub(crate) const NOBODY: usize = usize::MAX;

/// A process within a [`State`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ProcessState {
    /// Its type.
    pub process: ProcessId,
    /// Where it is.
    pub location: LocationId,
    /// Its priority.
    pub priority: u8,
    /// Values of each parameter and local variable, element by element.
    pub locals: Vec<Values>,
}

/// A channel within a [`State`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ChannelState {
    /// Its type.
    pub channel_type: ChannelTypeId,
    /// Its messages, the oldest first.
    pub messages: VecDeque<Vec<i32>>,
}

/// A process about to be created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Birth {
    pub(crate) process: ProcessId,
    pub(crate) arguments: Vec<i32>,
    pub(crate) priority: u8,
}

/// A first value of a variable of a new process that did not fit it.
pub(crate) struct FirstCut {
    /// Index into the locals of its type.
    pub(crate) variable: usize,
    pub(crate) element: usize,
    pub(crate) given: i32,
    pub(crate) kept: i32,
}

impl State {
    /// The initial state.
    ///
    /// # Errors
    /// A fault in an initial value.
    pub fn initial(program: &Program) -> Result<Self, Fault> {
        Self::watching(program, Watch::NOTHING)
    }

    /// The initial state of a program and of what is watched beside it.
    ///
    /// # Errors
    /// A fault in an initial value, or a claim that is complete before anything happened.
    pub fn watching(program: &Program, watch: Watch) -> Result<Self, Fault> {
        let mut state = Self {
            globals: program.globals.iter().map(zeros).collect(),
            processes: Vec::new(),
            channels: Vec::new(),
            holder: None,
            last: 0,
            claim: None,
            trace: watch.trace.and_then(|process| TraceState::initial(program, process)),
        };
        for (index, variable) in program.globals.iter().enumerate() {
            state.globals[index] = state.initial_values(program, variable, 0)?;
        }
        for Instance { process, priority } in &program.initial {
            state.create(program, &Birth { process: *process, arguments: Vec::new(), priority: *priority })?;
        }
        match watch.claim {
            Some(claim) => state.with_claim(program, claim),
            None => Ok(state),
        }
    }

    /// The same state with a claim that is about to start.
    fn with_claim(mut self, program: &Program, claim: ProcessId) -> Result<Self, Fault> {
        let process = program.process(claim);
        let locals = process.locals.iter().map(zeros).collect();
        self.claim = Some(ClaimState { process: claim, location: process.entry, locals, turn: NextMover::Claim });
        for (index, variable) in process.locals.iter().enumerate() {
            let values = self.initial_values(program, variable, CLAIM)?;
            if let Some(claim) = &mut self.claim {
                claim.locals[index] = values;
            }
        }
        if process.locations[process.entry.0 as usize].end { Err(Fault::ClaimCompleted) } else { Ok(self) }
    }

    /// Whether it is the turn of a claim.
    pub fn is_claims_turn(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.turn != NextMover::System)
    }

    /// About how much memory it takes, as if it shared nothing with other states.
    pub fn bytes(&self) -> usize {
        let block = |elements: usize| size_of::<Values>() + 2 * size_of::<usize>() + 4 * elements;
        let values = |all: &[Values]| all.iter().map(|values| block(values.len())).sum::<usize>();
        let process = |process: &Shared<ProcessState>| size_of::<ProcessState>() + values(&process.locals);
        let messages =
            |channel: &ChannelState| channel.messages.iter().map(|fields| block(fields.len())).sum::<usize>();
        let channel = |channel: &Shared<ChannelState>| size_of::<ChannelState>() + messages(channel);
        size_of::<Self>()
            + values(&self.globals)
            + self.processes.iter().map(process).sum::<usize>()
            + self.channels.iter().map(channel).sum::<usize>()
            + self.claim.as_ref().map_or(0, |claim| values(&claim.locals))
    }

    /// Whose variables and location a number stands for: a process, or the claim.
    pub(crate) fn whereabouts(&self, pid: usize) -> (ProcessId, LocationId) {
        match &self.claim {
            Some(claim) if pid == CLAIM => (claim.process, claim.location),
            _ => (self.processes[pid].process, self.processes[pid].location),
        }
    }

    /// The variables of a process, or of the claim.
    pub(crate) fn locals_of(&self, pid: usize) -> &[Values] {
        match &self.claim {
            Some(claim) if pid == CLAIM => &claim.locals,
            _ => &self.processes[pid].locals,
        }
    }

    /// The same state with every hidden variable at 0: two states are the same if these are.
    #[must_use]
    pub fn visible(&self, program: &Program) -> Self {
        self.clone().into_visible(program)
    }

    /// [`Self::visible`] of a state that nobody needs as it is.
    #[must_use]
    pub fn into_visible(mut self, program: &Program) -> Self {
        let hide_all = |all: &mut [Values], variables: &[Variable]| {
            all.iter_mut().zip(variables).for_each(|(values, variable)| hide(values, variable));
        };
        hide_all(&mut self.globals, &program.globals);
        for process in &mut self.processes {
            let variables = &program.process(process.process).locals;
            // Whoever has nothing to hide stays shared with other states.
            if variables.iter().any(|variable| variable.hidden) {
                hide_all(&mut process.locals, variables);
            }
        }
        if let Some(claim) = &mut self.claim {
            hide_all(&mut claim.locals, &program.process(claim.process).locals);
        }
        self
    }

    /// Creates a process and returns its number.
    pub(crate) fn create(&mut self, program: &Program, birth: &Birth) -> Result<usize, Fault> {
        self.create_telling(program, birth, &mut |_| {})
    }

    /// Creates a process and returns its number; `cut` hears of the parameters and first values that did not fit.
    pub(crate) fn create_telling(
        &mut self,
        program: &Program,
        birth: &Birth,
        cut: &mut dyn FnMut(FirstCut),
    ) -> Result<usize, Fault> {
        if self.processes.len() >= PROCESSES_MAX {
            return Err(Fault::TooManyProcesses);
        }
        let process = program.process(birth.process);
        let pid = self.processes.len();
        let created = ProcessState {
            process: birth.process,
            location: process.entry,
            priority: birth.priority,
            locals: process.locals.iter().map(zeros).collect(),
        };
        self.processes.push(created.into());
        for (index, variable) in process.locals.iter().enumerate() {
            self.processes[pid].locals[index] = if index < process.parameter_count as usize {
                let given = birth.arguments.get(index).copied().unwrap_or(0);
                let kept = variable.ty.truncate(given);
                if kept != given {
                    cut(FirstCut { variable: index, element: 0, given, kept });
                }
                Values::repeated(kept, variable.element_count() as usize)
            } else {
                let mut told = |element, given, kept| cut(FirstCut { variable: index, element, given, kept });
                self.first_values(program, variable, pid, &mut told)?
            };
        }
        Ok(pid)
    }

    /// Ends the youngest process; its channels go with it.
    pub(crate) fn end_youngest(&mut self, program: &Program) {
        if let Some(ended) = self.processes.pop() {
            let own = channel_count(program.process(ended.process));
            self.channels.truncate(self.channels.len().saturating_sub(own));
        }
    }

    /// The first values of a variable of process `pid` (or of a global one); creates its channels.
    fn initial_values(&mut self, program: &Program, variable: &Variable, pid: usize) -> Result<Values, Fault> {
        self.first_values(program, variable, pid, &mut |_, _, _| {})
    }

    /// The same; `cut` hears of the elements whose values did not fit: what was given, and what is kept.
    fn first_values(
        &mut self,
        program: &Program,
        variable: &Variable,
        pid: usize,
        cut: &mut dyn FnMut(usize, i32, i32),
    ) -> Result<Values, Fault> {
        let count = variable.element_count() as usize;
        let mut value = |state: &Self, element: usize, expr: &Expr| -> Result<i32, Fault> {
            let given = Evaluation::new(program, state, pid).value(expr)?;
            let kept = variable.ty.truncate(given);
            if kept != given {
                cut(element, given, kept);
            }
            Ok(kept)
        };
        match &variable.initial {
            Initial::Zero => Ok(Values::repeated(0, count)),
            Initial::Value(expr) => Ok(Values::repeated(value(self, 0, expr)?, count)),
            Initial::List(exprs) => {
                let given = exprs.iter().take(count).enumerate();
                let mut values = given.map(|(at, e)| value(self, at, e)).collect::<Result<Vec<_>, _>>()?;
                values.resize(count, values.last().copied().unwrap_or(0));
                Ok(values.into())
            }
            Initial::Channel(channel_type) => (0..count)
                .map(|_| {
                    if self.channels.len() >= CHANNELS_MAX {
                        return Err(Fault::TooManyChannels);
                    }
                    let created = ChannelState { channel_type: *channel_type, messages: VecDeque::new() };
                    self.channels.push(created.into());
                    Ok(self.channels.len() as i32)
                })
                .collect::<Result<Vec<_>, _>>()
                .map(Values::from),
        }
    }
}

/// How many channels come and go with a process of this type.
pub(crate) fn channel_count(process: &Process) -> usize {
    let own = process.locals.iter().skip(process.parameter_count as usize);
    own.filter(|v| matches!(v.initial, Initial::Channel(_))).map(|v| v.element_count() as usize).sum()
}

fn zeros(variable: &Variable) -> Values {
    Values::repeated(0, variable.element_count() as usize)
}

fn hide(values: &mut Values, variable: &Variable) {
    if variable.hidden {
        *values = zeros(variable);
    }
}
