//! Instructions for actions: what must hold, then what changes.

use super::expr::after;
use super::{Assembler, Done, Label, StatementCode, facts};
use crate::Refusal;
use crate::code::{BLOCKED, BLOCKED_INSIDE, Instr, NONE};
use fabius_program::{Action, Block, BlockExit, Expr, PrintPiece};

/// Where in an edge an action stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// It is the whole edge.
    Alone,
    /// It is the first of several.
    First,
    /// It is an option of the first node of a block.
    Option,
    /// It comes later: the state has been copied.
    Inside,
    /// It is, or begins, the part of a partner in a rendezvous.
    Partner,
}

impl Assembler<'_> {
    /// Code of a statement as an edge of its own, and as a partner's part of a rendezvous.
    pub(super) fn statement(&mut self, action: &Action) -> Result<StatementCode, Refusal> {
        self.offers = 0;
        let start = self.here();
        self.action(action, BLOCKED, Entry::Alone)?;
        self.emit(Instr::Finish);
        let partner = self.here();
        let channel = self.partner_channel(action);
        if channel.is_none() {
            return Ok(StatementCode { start, partner: NONE, channel: 0, offers: self.offered_channel(action) });
        }
        self.offered_known = channel.is_some_and(|id| id > 0);
        self.action(action, BLOCKED, Entry::Partner)?;
        self.emit(Instr::Finish);
        Ok(StatementCode { start, partner, channel: channel.unwrap_or(0), offers: 0 })
    }

    /// Whether an action can be a partner's part, and on which channel: 0 if that is not known.
    fn partner_channel(&self, action: &Action) -> Option<u16> {
        match action {
            Action::Receive(receive) => match self.static_channel(&receive.channel) {
                Some(channel) if self.code.layouts[channel.layout as usize].capacity > 0 => None,
                Some(channel) => Some(channel.id.unwrap_or(0) as u16),
                None => Some(0),
            },
            Action::Merged(actions) => self.partner_channel(actions.first()?),
            Action::Block(block) => {
                let mut options = block.nodes.first()?.options.iter();
                options.any(|option| self.partner_channel(&option.action).is_some()).then_some(0)
            }
            _ => None,
        }
    }

    /// The channel on which an action is nothing but an offer that may find nobody, and does no harm then.
    fn offered_channel(&self, action: &Action) -> u16 {
        let Action::Send(send) = action else { return 0 };
        let Some(channel) = self.static_channel(&send.channel) else { return 0 };
        let layout = &self.code.layouts[channel.layout as usize];
        let harmless = layout.capacity == 0
            && layout.fields.len() == send.fields.len()
            && !send.fields.iter().any(facts::may_fault);
        if harmless { channel.id.unwrap_or(0) as u16 } else { 0 }
    }

    /// From here on the copy is changed, not the state.
    pub(super) fn commit(&mut self, entry: Entry) {
        match entry {
            Entry::Alone | Entry::First | Entry::Option => self.emit(Instr::Commit),
            Entry::Inside => {}
            Entry::Partner => self.emit(Instr::Partner),
        }
    }

    /// Code of an action; it goes to `fail` where it is not executable.
    pub(super) fn action(&mut self, action: &Action, fail: Label, entry: Entry) -> Done {
        match action {
            Action::Receive(receive) if entry == Entry::Partner => return self.receive_offer(receive, fail),
            Action::Merged(actions) => return self.merged(actions, fail, entry),
            Action::Block(block) => return self.block(block, fail, entry),
            _ if entry == Entry::Partner => {
                self.emit(Instr::Jump { to: fail });
                return Ok(());
            }
            Action::Guard(e) => return self.guard(e, fail, entry),
            Action::Send(send) => return self.send(send, fail, entry),
            Action::Receive(receive) => return self.receive(receive, fail, entry),
            Action::Else if matches!(entry, Entry::Alone | Entry::First) => self.emit(Instr::ElseGuard { to: fail }),
            Action::End => self.emit(Instr::EndGuard { to: fail }),
            _ => {}
        }
        self.commit(entry);
        match action {
            Action::Assign(place, e) => self.assign(place, e, 0)?,
            Action::Assert(e) => {
                let holds = self.label();
                self.branch(e, holds, true, 0)?;
                self.emit(Instr::AssertFailed);
                self.bind(holds);
            }
            Action::Print(pieces) => self.print(pieces)?,
            Action::SetPriority(pid, priority) => {
                self.value(pid, 0)?;
                let next = after(0)?;
                self.value(priority, next)?;
                self.emit(Instr::SetPriority { a: 0, b: next });
            }
            Action::End => self.emit(Instr::End),
            _ => {}
        }
        Ok(())
    }

    fn guard(&mut self, e: &Expr, fail: Label, entry: Entry) -> Done {
        if entry == Entry::Inside || !facts::has_run(e) {
            self.branch(e, fail, false, 0)?;
            self.commit(entry);
            return Ok(());
        }
        self.emit(Instr::Copy);
        self.branch(e, fail, false, 0)?;
        self.emit(Instr::Passed);
        Ok(())
    }

    /// Printing changes nothing; only what may go wrong on the way matters.
    fn print(&mut self, pieces: &[PrintPiece]) -> Done {
        for e in pieces.iter().filter_map(facts::piece_expr) {
            self.evaluate(e)?;
        }
        Ok(())
    }

    /// Evaluates an expression for what it does beside having a value.
    fn evaluate(&mut self, e: &Expr) -> Done {
        if facts::may_fault(e) { self.value(e, 0) } else { Ok(()) }
    }

    fn merged(&mut self, actions: &[Action], fail: Label, entry: Entry) -> Done {
        let Some((first, rest)) = actions.split_first() else {
            self.commit(entry);
            return Ok(());
        };
        let first_entry = if entry == Entry::Alone { Entry::First } else { entry };
        self.action(first, fail, first_entry)?;
        for action in rest {
            match action {
                Action::Guard(e) => self.evaluate(e)?,
                _ => self.action(action, BLOCKED_INSIDE, Entry::Inside)?,
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, fail: Label, entry: Entry) -> Done {
        let nodes = block.nodes.len();
        let mut code = BlockCode {
            labels: vec![None; nodes],
            placed: vec![false; nodes],
            open: Vec::new(),
            exit: self.label(),
            counts: may_repeat(block),
        };
        let first_entry = match entry {
            Entry::Alone | Entry::First => Entry::Option,
            other => other,
        };
        self.nodes_from(block, 0, fail, first_entry, &mut code)?;
        while let Some(node) = code.open.pop() {
            if !std::mem::replace(&mut code.placed[node], true) {
                let label = self.node_label(node, &mut code);
                self.bind(label);
                self.nodes_from(block, node, BLOCKED_INSIDE, Entry::Inside, &mut code)?;
            }
        }
        self.bind_exit(code.exit);
        Ok(())
    }

    /// Code of a node, and of those that its last option leads to, as long as they have no code yet.
    fn nodes_from(
        &mut self,
        block: &Block,
        mut node: usize,
        mut fail: Label,
        mut entry: Entry,
        code: &mut BlockCode,
    ) -> Done {
        loop {
            let options = block.nodes.get(node).map_or(&[][..], |node| &node.options);
            let Some((last, others)) = options.split_last() else {
                self.emit(Instr::Jump { to: fail });
                return Ok(());
            };
            for (index, option) in others.iter().enumerate() {
                let next = self.label();
                self.option(&option.action, index, next, entry)?;
                self.leave(option.next, code)?;
                self.bind(next);
            }
            self.option(&last.action, others.len(), fail, entry)?;
            match last.next {
                BlockExit::Node(to) if code.placed.get(to as usize) == Some(&false) => {
                    node = to as usize;
                    code.placed[node] = true;
                    let label = self.node_label(node, code);
                    if code.counts {
                        self.emit(Instr::Tick { to: label });
                    }
                    self.bind(label);
                    (fail, entry) = (BLOCKED_INSIDE, Entry::Inside);
                }
                next => return self.leave(next, code),
            }
        }
    }

    fn option(&mut self, action: &Action, index: usize, fail: Label, entry: Entry) -> Done {
        // With no option before it, an `Else` speaks of the edges before this one.
        let entry = if entry == Entry::Option && index == 0 { Entry::First } else { entry };
        self.action(action, fail, entry)
    }

    /// Goes where an option leads.
    fn leave(&mut self, next: BlockExit, code: &mut BlockCode) -> Done {
        let BlockExit::Node(node) = next else {
            self.emit(Instr::Jump { to: code.exit });
            return Ok(());
        };
        let node = node as usize;
        if node >= code.labels.len() {
            return Err(Refusal::Malformed("a block leads to a node that does not exist"));
        }
        let to = self.node_label(node, code);
        code.open.push(node);
        self.emit(if code.counts { Instr::Tick { to } } else { Instr::Jump { to } });
        Ok(())
    }

    fn node_label(&mut self, node: usize, code: &mut BlockCode) -> Label {
        match code.labels[node] {
            Some(label) => label,
            None => *code.labels[node].insert(self.label()),
        }
    }
}

/// A block that is being written.
struct BlockCode {
    /// Where its nodes start, for those that something leads to.
    labels: Vec<Option<Label>>,
    /// Whether a node has its code, or is getting it.
    placed: Vec<bool>,
    /// Nodes that may have no code yet.
    open: Vec<usize>,
    exit: Label,
    /// Whether steps are counted: only where some may repeat can there be too many.
    counts: bool,
}

/// Whether a block may come to a node a second time.
fn may_repeat(block: &Block) -> bool {
    let successors = |node: usize| {
        let options = block.nodes.get(node).map_or(&[][..], |node| &node.options);
        options.iter().filter_map(|option| match option.next {
            BlockExit::Node(to) => Some(to as usize),
            BlockExit::Leave => None,
        })
    };
    // Depth first; a node that is met again while its own successors are being looked at repeats.
    let (mut begun, mut done) = (vec![false; block.nodes.len()], vec![false; block.nodes.len()]);
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    if let Some(first) = begun.first_mut() {
        *first = true;
        path.push((0, successors(0).collect()));
    }
    while let Some((node, rest)) = path.last_mut() {
        let Some(next) = rest.pop() else {
            done[*node] = true;
            path.pop();
            continue;
        };
        match begun.get(next) {
            Some(true) if !done[next] => return true,
            Some(false) => {
                begun[next] = true;
                path.push((next, successors(next).collect()));
            }
            _ => {}
        }
    }
    false
}
