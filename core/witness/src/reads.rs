//! What a step looks at: the variables and channels that its statement reads, by the names under which changes are told.

use fabius_program::{Action, EdgeId, Expr, Move, Pattern, Place, PrintPiece, Program, Receive, Send, Slot};

use crate::evaluate::Evaluation;
use crate::show::{Names, Writer};
use crate::state::{CLAIM, State};

/// The names of the variables and channels that a step from a state reads, each once.
pub fn reads(program: &Program, state: &State, step: Move) -> Vec<String> {
    let pid = usize::from(step.pid);
    if pid != CLAIM && state.processes.len() <= pid || pid == CLAIM && state.claim.is_none() {
        return Vec::new();
    }
    let mut reader = Reader::new(program, state, pid);
    reader.action(&program.statement(program.process_of(step.edge), step.edge).action);
    let mut seen = std::collections::HashSet::new();
    reader.found.retain(|name| seen.insert(name.clone()));
    reader.found
}

/// What decides which of its options a process can take, and what they would read.
#[derive(Default)]
pub(crate) struct Options {
    /// Names of variables and channels.
    pub(crate) read: Vec<String>,
    /// Names of the channels on which it offers a rendezvous.
    pub(crate) rendezvous: Vec<String>,
    /// Something else, such as where other processes are.
    pub(crate) beyond: bool,
}

/// What the options of a process depend on in a state.
pub(crate) fn options(program: &Program, state: &State, pid: u8) -> Options {
    let Some(process) = state.processes.get(usize::from(pid)) else { return Options::default() };
    let data = program.process(process.process);
    let mut reader = Reader::new(program, state, usize::from(pid));
    let mut rendezvous = Vec::new();
    data.provided.iter().for_each(|condition| reader.expr(condition));
    for (id, _) in program.edges_of(&data.locations[process.location.0 as usize]) {
        let action = &program.statement(process.process, id).action;
        reader.action(action);
        let channel = match action {
            Action::Send(Send { channel, .. }) | Action::Receive(Receive { channel, .. }) => channel,
            Action::End | Action::SetPriority(..) => {
                reader.beyond = true;
                continue;
            }
            _ => continue,
        };
        match reader.evaluation().channel(channel) {
            Ok(index) if reader.evaluation().channel_type(index).capacity == 0 => {
                rendezvous.push(reader.names.channel(index as i32 + 1));
            }
            Ok(index) => reader.found.push(reader.names.channel(index as i32 + 1)),
            Err(_) => reader.beyond = true,
        }
    }
    Options { read: reader.found, rendezvous, beyond: reader.beyond }
}

/// What a step writes: names of variables, each whether or not its value changes; `None` if they are not all known before.
pub(crate) fn written(program: &Program, state: &State, pid: u8, edge: EdgeId) -> Option<Vec<String>> {
    let process = state.processes.get(usize::from(pid))?;
    let mut reader = Reader::new(program, state, usize::from(pid));
    reader.writes(&program.statement(process.process, edge).action);
    (!reader.beyond).then_some(reader.found)
}

struct Reader<'a> {
    program: &'a Program,
    state: &'a State,
    pid: usize,
    names: Names<'a>,
    found: Vec<String>,
    /// It looks at something that has no name here.
    beyond: bool,
    /// In the middle of a step.
    is_within: bool,
}

impl<'a> Reader<'a> {
    fn new(program: &'a Program, state: &'a State, pid: usize) -> Self {
        Self {
            program,
            state,
            pid,
            names: Names::of(program, state),
            found: Vec::new(),
            beyond: false,
            is_within: false,
        }
    }
}

impl Reader<'_> {
    fn action(&mut self, action: &Action) {
        match action {
            Action::Guard(expr) | Action::Assert(expr) => self.expr(expr),
            Action::Assign(place, expr) => {
                place.indices.iter().for_each(|index| self.expr(index));
                self.expr(expr);
            }
            Action::Send(Send { channel, fields, .. }) => {
                self.expr(channel);
                fields.iter().for_each(|field| self.expr(field));
            }
            Action::Receive(Receive { channel, fields, .. }) => {
                self.expr(channel);
                self.patterns(fields);
            }
            Action::SetPriority(process, priority) => {
                self.expr(process);
                self.expr(priority);
            }
            Action::Print(pieces) => pieces.iter().for_each(|piece| match piece {
                PrintPiece::Text(_) => {}
                PrintPiece::Decimal(e) | PrintPiece::Unsigned(e) | PrintPiece::Hex(e) => self.expr(e),
                PrintPiece::Octal(e) | PrintPiece::Character(e) | PrintPiece::Name(e, _) => self.expr(e),
            }),
            Action::Merged(actions) => self.within(|inner| actions.iter().for_each(|action| inner.action(action))),
            Action::Block(block) => self.within(|inner| {
                block.nodes.iter().flat_map(|node| &node.options).for_each(|option| inner.action(&option.action));
            }),
            Action::Skip | Action::Else | Action::End => {}
        }
    }

    fn writes(&mut self, action: &Action) {
        match action {
            Action::Assign(place, _) => self.writes_place(place),
            Action::Receive(Receive { fields, .. }) => {
                for field in fields {
                    if let Pattern::Store(place) = field {
                        self.writes_place(place);
                    }
                }
            }
            Action::Merged(actions) => self.within(|inner| actions.iter().for_each(|action| inner.writes(action))),
            Action::Block(block) => self.within(|inner| {
                let options = block.nodes.iter().flat_map(|node| &node.options);
                options.for_each(|option| inner.writes(&option.action));
            }),
            _ => {}
        }
    }

    fn writes_place(&mut self, place: &Place) {
        self.looks_up(&place.indices);
        self.place(place);
    }

    /// Something that happens in the middle of a step.
    fn within(&mut self, look: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_within, true);
        look(self);
        self.is_within = before;
    }

    /// What an index is in the middle of a step is not known before.
    fn looks_up(&mut self, indices: &[Expr]) {
        self.beyond |= self.is_within && indices.iter().any(|index| index.constant().is_none());
    }

    fn patterns(&mut self, fields: &[Pattern]) {
        for field in fields {
            match field {
                Pattern::Match(expr) => self.expr(expr),
                Pattern::Store(place) => place.indices.iter().for_each(|index| self.expr(index)),
                Pattern::Ignore => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Load(place) => {
                self.looks_up(&place.indices);
                place.indices.iter().for_each(|index| self.expr(index));
                self.place(place);
            }
            Expr::Unary(_, a) => self.expr(a),
            Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => {
                self.beyond = true;
                self.expr(a);
            }
            Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.expr(part)),
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            Expr::Length(channel) | Expr::Test(_, channel) => self.channel(channel),
            Expr::Poll { channel, fields, .. } => {
                self.channel(channel);
                self.patterns(fields);
            }
            Expr::Run { arguments, .. } => {
                self.beyond = true;
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            Expr::Remote { process, pid, variable, indices } => {
                self.beyond = true;
                indices.iter().for_each(|index| self.expr(index));
                let number = pid.as_deref().map(|pid| self.evaluation().value(pid));
                let number = match number {
                    Some(number) => number.ok().and_then(|number| usize::try_from(number).ok()),
                    None => self.state.processes.iter().position(|other| other.process == *process),
                };
                let data = self.program.process(*process);
                if let (Some(number), Some(variable)) = (number, data.locals.get(variable.0 as usize))
                    && indices.is_empty()
                {
                    let owner = crate::show::process_name(&data.name, number);
                    self.found.push(format!("{owner}:{}", variable.element_name(0)));
                }
            }
            Expr::Constant(_) | Expr::Pid => {}
            Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress | Expr::At { .. } => self.beyond = true,
        }
    }

    fn channel(&mut self, channel: &Expr) {
        if let Ok(identity) = self.evaluation().value(channel) {
            self.found.push(self.names.channel(identity));
        }
    }

    fn evaluation(&self) -> Evaluation<'_> {
        Evaluation::new(self.program, self.state, self.pid)
    }

    fn place(&mut self, place: &Place) {
        let Ok(element) = self.evaluation().element(place) else { return };
        let name = Writer::new(self.program, self.state.whereabouts(self.pid).0).element(place, element);
        self.found.push(match place.slot {
            Slot::Global(_) => name,
            Slot::Local(_) if self.pid == CLAIM => name,
            Slot::Local(_) => format!("{}:{name}", self.names.process(self.pid as u8)),
        });
    }
}
