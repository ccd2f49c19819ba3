//! What statements touch, and what a process that waits depends on.

use fabius_program::{Action, ChannelTest, Expr, Pattern, Place, Program, Receive, Slot, VariableId};
use std::collections::BTreeSet;

use crate::evaluate::Evaluation;
use crate::state::State;

/// Global variables and channels that a statement touches or that a condition depends on.
#[derive(Default)]
pub(crate) struct Effects {
    /// Variables, with the element if it is always the same one.
    globals: BTreeSet<(u32, Option<usize>)>,
    sends: BTreeSet<usize>,
    receives: BTreeSet<usize>,
    /// It depends on something that is not among these, such as where another process stands.
    pub(crate) beyond: bool,
}

impl Effects {
    /// Whether nothing but what is a process's own is among these.
    pub(crate) fn is_own(&self) -> bool {
        self.globals.is_empty() && self.sends.is_empty() && self.receives.is_empty() && !self.beyond
    }

    /// Whether a statement that does this may matter to a condition that depends on that.
    pub(crate) fn touch(&self, read: &Self) -> bool {
        let same = |one: &(u32, Option<usize>), other: &(u32, Option<usize>)| {
            one.0 == other.0 && (one.1.is_none() || other.1.is_none() || one.1 == other.1)
        };
        self.globals.iter().any(|written| read.globals.iter().any(|read| same(written, read)))
            || !read.sends.is_disjoint(&self.sends)
            || !read.receives.is_disjoint(&self.receives)
    }
}

/// A process that does or reads something in a state.
pub(crate) struct Doer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: &'a State,
    pub(crate) pid: usize,
}

impl Doer<'_> {
    /// What an action touches.
    pub(crate) fn effects(&self, action: &Action) -> Effects {
        let mut effects = Effects::default();
        self.add_effects(action, &mut effects);
        effects
    }

    /// What decides whether an action is executable.
    pub(crate) fn reads(&self, action: &Action) -> Effects {
        let mut read = Effects::default();
        let process = self.program.process(self.state.processes[self.pid].process);
        process.provided.iter().for_each(|condition| self.add_reads(condition, &mut read));
        match action {
            Action::Guard(condition) => self.add_reads(condition, &mut read),
            Action::Send(send) => {
                self.add_reads(&send.channel, &mut read);
                read.receives.extend(self.channel(&send.channel));
            }
            Action::Receive(receive) => self.add_reads_of_receive(receive, &mut read),
            _ => {}
        }
        read
    }

    /// The channel that an expression stands for now.
    pub(crate) fn channel(&self, expr: &Expr) -> Option<usize> {
        self.evaluation().channel(expr).ok()
    }

    /// Whether a channel is one of rendezvous.
    pub(crate) fn is_rendezvous(&self, channel: usize) -> bool {
        let types = self.state.channels.get(channel).map(|channel| channel.channel_type);
        types.is_some_and(|ty| self.program.channel_types[ty.0 as usize].capacity == 0)
    }

    fn evaluation(&self) -> Evaluation<'_> {
        Evaluation::new(self.program, self.state, self.pid)
    }

    fn add_effects(&self, action: &Action, effects: &mut Effects) {
        match action {
            Action::Assign(place, _) => self.add_global(place, effects),
            Action::Send(send) => effects.sends.extend(self.channel(&send.channel)),
            Action::Receive(receive) => {
                effects.receives.extend(self.channel(&receive.channel));
                for field in &receive.fields {
                    if let Pattern::Store(place) = field {
                        self.add_global(place, effects);
                    }
                }
            }
            Action::Merged(actions) => actions.iter().for_each(|action| self.add_effects(action, effects)),
            Action::Block(block) => {
                let options = block.nodes.iter().flat_map(|node| &node.options);
                options.for_each(|option| self.add_effects(&option.action, effects));
            }
            _ => {}
        }
    }

    fn add_reads_of_receive(&self, receive: &Receive, read: &mut Effects) {
        self.add_reads(&receive.channel, read);
        let channel = self.channel(&receive.channel);
        read.sends.extend(channel);
        // Another process may take a message away that stands before the wanted one.
        read.receives.extend(channel.filter(|channel| !self.is_rendezvous(*channel)));
        self.add_reads_of_patterns(&receive.fields, read);
    }

    fn add_reads_of_patterns(&self, fields: &[Pattern], read: &mut Effects) {
        for field in fields {
            if let Pattern::Match(expr) = field {
                self.add_reads(expr, read);
            }
        }
    }

    fn add_reads(&self, expr: &Expr, read: &mut Effects) {
        match expr {
            Expr::Load(place) => {
                self.add_global(place, read);
                place.indices.iter().for_each(|index| self.add_reads(index, read));
            }
            Expr::Unary(_, operand) => self.add_reads(operand, read),
            Expr::Binary(_, left, right) => [left, right].into_iter().for_each(|part| self.add_reads(part, read)),
            Expr::Conditional(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| self.add_reads(part, read));
            }
            Expr::Test(ChannelTest::Full | ChannelTest::NotEmpty, channel) => {
                self.add_reads(channel, read);
                read.sends.extend(self.channel(channel));
            }
            Expr::Test(ChannelTest::Empty | ChannelTest::NotFull, channel) => {
                self.add_reads(channel, read);
                read.receives.extend(self.channel(channel));
            }
            Expr::Length(channel) | Expr::Poll { channel, .. } => {
                self.add_reads(channel, read);
                let contents = self.channel(channel);
                read.sends.extend(contents);
                read.receives.extend(contents);
                if let Expr::Poll { fields, .. } = expr {
                    self.add_reads_of_patterns(fields, read);
                }
            }
            Expr::Constant(_) | Expr::Pid => {}
            _ => read.beyond = true,
        }
    }

    fn add_global(&self, place: &Place, effects: &mut Effects) {
        if let Slot::Global(VariableId(id)) = place.slot {
            let fixed = place.indices.iter().all(is_fixed);
            let element = fixed.then(|| self.evaluation().element(place).ok()).flatten();
            effects.globals.insert((id, element));
        }
    }
}

/// Whether an expression has the same value for one process all the time.
fn is_fixed(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Pid => true,
        Expr::Unary(_, operand) => is_fixed(operand),
        Expr::Binary(_, left, right) => is_fixed(left) && is_fixed(right),
        _ => false,
    }
}
