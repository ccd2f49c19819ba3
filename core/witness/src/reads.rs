//! What a step looks at: the variables and channels that its statement reads, by the names under which changes are told.

use fabius_program::{Action, Expr, Move, Pattern, Place, PrintPiece, Program, Receive, Send, Slot};

use crate::evaluate::Evaluation;
use crate::show::{Names, Writer};
use crate::state::{CLAIM, State};

/// The names of the variables and channels that a step from a state reads, each once.
pub fn reads(program: &Program, state: &State, step: Move) -> Vec<String> {
    let pid = usize::from(step.pid);
    if pid != CLAIM && state.processes.len() <= pid || pid == CLAIM && state.claim.is_none() {
        return Vec::new();
    }
    let names = Names::of(program, state);
    let mut reader = Reader { program, state, pid, names, found: Vec::new() };
    reader.action(&program.statement(program.process_of(step.edge), step.edge).action);
    let mut seen = std::collections::HashSet::new();
    reader.found.retain(|name| seen.insert(name.clone()));
    reader.found
}

struct Reader<'a> {
    program: &'a Program,
    state: &'a State,
    pid: usize,
    names: Names<'a>,
    found: Vec<String>,
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
            Action::Merged(actions) => actions.iter().for_each(|action| self.action(action)),
            Action::Block(block) => {
                block.nodes.iter().flat_map(|node| &node.options).for_each(|option| self.action(&option.action));
            }
            Action::Skip | Action::Else | Action::End => {}
        }
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
                place.indices.iter().for_each(|index| self.expr(index));
                self.place(place);
            }
            Expr::Unary(_, a) | Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => self.expr(a),
            Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.expr(part)),
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            Expr::Length(channel) | Expr::Test(_, channel) => self.channel(channel),
            Expr::Poll { channel, fields, .. } => {
                self.channel(channel);
                self.patterns(fields);
            }
            Expr::Run { arguments, .. } => arguments.iter().for_each(|argument| self.expr(argument)),
            Expr::Remote { process, pid, variable, indices } => {
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
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout => {}
            Expr::NonProgress | Expr::At { .. } => {}
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
