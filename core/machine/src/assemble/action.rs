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
            return Ok(StatementCode { start, partner: NONE, channel: 0 });
        }
        self.offered_known = channel.is_some_and(|id| id > 0);
        self.action(action, BLOCKED, Entry::Partner)?;
        self.emit(Instr::Finish);
        Ok(StatementCode { start, partner, channel: channel.unwrap_or(0) })
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
        let mut code = BlockCode { labels: vec![None; block.nodes.len()], open: Vec::new(), exit: self.label() };
        let first_entry = match entry {
            Entry::Alone | Entry::First => Entry::Option,
            other => other,
        };
        self.node(block, 0, fail, first_entry, &mut code)?;
        while let Some(node) = code.open.pop() {
            if let Some(label) = code.labels[node] {
                self.bind(label);
            }
            self.node(block, node, BLOCKED_INSIDE, Entry::Inside, &mut code)?;
        }
        self.bind(code.exit);
        Ok(())
    }

    fn node(&mut self, block: &Block, node: usize, fail: Label, entry: Entry, code: &mut BlockCode) -> Done {
        let options = block.nodes.get(node).map_or(&[][..], |node| &node.options);
        for (index, option) in options.iter().enumerate() {
            let next = self.label();
            // With no option before it, an `Else` speaks of the edges before this one.
            let entry = if entry == Entry::Option && index == 0 { Entry::First } else { entry };
            self.action(&option.action, next, entry)?;
            match option.next {
                BlockExit::Leave => self.emit(Instr::Jump { to: code.exit }),
                BlockExit::Node(to) => {
                    let Some(slot) = code.labels.get(to as usize).copied() else {
                        return Err(Refusal::Malformed("a block leads to a node that does not exist"));
                    };
                    let label = match slot {
                        Some(label) => label,
                        None => {
                            code.open.push(to as usize);
                            *code.labels[to as usize].insert(self.label())
                        }
                    };
                    self.emit(Instr::Tick { to: label });
                }
            }
            self.bind(next);
        }
        self.emit(Instr::Jump { to: fail });
        Ok(())
    }
}

/// A block that is being written.
struct BlockCode {
    /// Where its nodes start, for those that something leads to.
    labels: Vec<Option<Label>>,
    /// Nodes that have a label but no code yet.
    open: Vec<usize>,
    exit: Label,
}
