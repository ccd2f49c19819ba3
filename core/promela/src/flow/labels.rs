//! Labels: where they stand, which one a `goto` means, and what may not be labelled or jumped to.

use super::{Closing, El, Flow, Label, LabelRef, Node, Seq};
use crate::names::{Names, SUGGESTIONS_MAX};
use fabius_base::{Code, Finding, Severity, Span, nearest};
use fabius_program::{Action, Expr};

/// Any label.
pub(super) const ANY: u8 = 0;
/// A label that says something about the state: `end`, `progress`, `accept`.
pub(super) const SPECIAL: u8 = 7;

/// Whether a label's name makes it one of some kinds (1 accept, 2 end, 4 progress).
fn of_kind(name: &str, kinds: u8) -> bool {
    kinds == ANY
        || kinds & 1 != 0 && name.starts_with("accept")
        || kinds & 2 != 0 && name.starts_with("end")
        || kinds & 4 != 0 && name.starts_with("progress")
}

/// Whether a step sends, receives or asks how full a channel is.
pub(super) fn touches_channel(node: &Node) -> bool {
    match node {
        Node::Action(Action::Send(_) | Action::Receive(_)) => true,
        Node::Action(Action::Guard(e) | Action::Assign(_, e) | Action::Assert(e)) => tests_channel(e),
        _ => false,
    }
}

/// Whether it is a send or a receive.
pub(super) fn moves_message(node: &Node) -> bool {
    matches!(node, Node::Action(Action::Send(_) | Action::Receive(_)))
}

fn tests_channel(expr: &Expr) -> bool {
    match expr {
        Expr::Test(..) => true,
        Expr::Unary(_, a) => tests_channel(a),
        Expr::Binary(_, a, b) => tests_channel(a) || tests_channel(b),
        Expr::Conditional(a, b, c) => tests_channel(a) || tests_channel(b) || tests_channel(c),
        _ => false,
    }
}

impl Flow {
    /// The label set last on an element, of some kinds: index into [`Flow::labels`].
    pub(super) fn label_on(&self, el: El, kinds: u8) -> Option<usize> {
        self.labels.on(el).find(|i| of_kind(&self.labels.get(*i).at.name, kinds))
    }

    /// Whether an element has any label.
    pub fn is_labelled(&self, el: El) -> bool {
        self.label_on(el, ANY).is_some()
    }

    /// Names of the special labels on an element.
    pub fn special_labels(&self, el: El) -> Vec<LabelRef> {
        [1, 2, 4].iter().filter_map(|kind| self.label_on(el, *kind)).map(|i| self.labels.get(i).at.clone()).collect()
    }

    /// Puts a label on an element.
    pub fn set_label(&mut self, at: LabelRef, el: El) {
        let inline = self.inlines.last().cloned();
        let process = self.process;
        let twins = self.labels.in_scope(process, &at.name, at.scope).iter().map(|i| self.labels.get(*i));
        let twin = twins.filter(|_| !at.name.starts_with(':')).find(|label| label.inline == inline);
        if let Some(twin) = twin {
            let finding = Finding::new(Code::Redeclared, format!("the label `{}` is set twice", at.name))
                .at(self.el(el).head.span, "here again")
                .at(self.el(twin.el).head.span, "the first one stands here")
                .help("give one of them another name");
            self.report(finding);
        }
        self.labels.push(Label { at, process, el, inline, moved: false });
    }

    /// The label a `goto` means: the one in its own scope, else in a scope around it, else anywhere in
    /// the same body.
    pub fn target_of(&self, goto: &LabelRef, names: &Names) -> Option<El> {
        let process = goto.context?;
        let last = || self.labels.named(process, &goto.name).last().copied();
        let found = self.labels.nearest(process, goto, names).or_else(last)?;
        Some(self.labels.get(found).el)
    }

    /// A remote reference `process@label`: its label must be a state of its own, so a labelled `goto`
    /// becomes a `skip` followed by the `goto`. Returns whether the label exists.
    pub fn watch_label(&mut self, process: u32, name: &str) -> bool {
        let Some(last) = self.labels.named(process, name).last() else { return false };
        let el = self.labels.get(*last).el;
        if matches!(self.el(el).node, Node::Goto(_)) {
            let mut copy = self.el(el).clone();
            copy.status = 0;
            copy.process = process;
            copy.escapes.clear();
            copy.state = match self.done_states.get_mut(process as usize) {
                Some(states) if *states > 0 && process != self.process => {
                    *states += 1;
                    *states - 1
                }
                _ => {
                    self.states += 1;
                    self.states - 1
                }
            };
            let goto = El(self.elements.len() as u32);
            self.elements.push(copy);
            let head = super::Head { text: "skip".into(), ..self.el(el).head.clone() };
            let original = self.el_mut(el);
            original.node = Node::Action(Action::Guard(Expr::Constant(1)));
            original.head = head;
            original.next = Some(goto);
        }
        self.el_mut(el).status |= super::WATCHED;
        true
    }

    /// State number of a label that a remote reference looks at.
    pub fn remote_state(&self, process: u32, at: &LabelRef, names: &Names) -> Option<u32> {
        let first = || self.labels.named(process, &at.name).first().copied();
        let label = self.labels.nearest(process, at, names).or_else(first)?;
        Some(self.el(self.labels.get(label).el).state)
    }

    /// Reports that a `goto` has no label.
    pub fn unknown_label(&mut self, goto: &LabelRef, span: Span) {
        let near = match goto.context {
            Some(process) if self.findings.len() < SUGGESTIONS_MAX => {
                nearest(&goto.name, self.labels.of(process).map(|label| &*label.at.name))
            }
            _ => None,
        };
        let help = near.map(|name| format!("did you mean `{name}`?"));
        let mut finding = Finding::new(Code::UnknownLabel, format!("there is no label `{}` here", goto.name))
            .at(span, "jumps to it")
            .note("a `goto` can only lead to a label in the same process body");
        finding.help.extend(help);
        self.report(finding);
    }

    pub(super) fn label_placed_badly(&mut self, closing: Closing, first: El, name: &str) {
        let (what, instead) = match closing {
            Closing::Escape => ("the guard of an escape", "jump to a step behind the guard"),
            Closing::Guarded => ("a step with `unless`", "write `Label: { step unless escape }`"),
            Closing::Atomic => ("the first step of an `atomic`", "write `Label: atomic { … }`"),
            Closing::DStep => ("the first step of a `d_step`", "write `Label: d_step { … }`"),
            Closing::Block => ("the first step of a block", "write `Label: { … }`"),
            Closing::Option => ("the first step of an option", "put the label before the `if` or `do`"),
            Closing::Other => return,
        };
        let mut finding = Finding::new(Code::LabelMisplaced, format!("the label `{name}` stands on {what}"))
            .at(self.el(first).head.span, "there is no state of its own before this step")
            .help(instead);
        if closing == Closing::Option {
            finding.severity = Severity::Warning;
        }
        self.report(finding);
    }

    /// A `goto` inside a `d_step` may not leave it.
    pub(super) fn check_local_jumps(&mut self, seq: Seq) {
        let Some(start) = self.dstep_start else { return };
        let (first, stop) = (self.seq(seq).first, self.seq(seq).last);
        let mut away = Vec::new();
        self.jumps_away(first, stop, start, &mut away);
        for span in away {
            let finding = Finding::new(Code::BadJump, "a `goto` leaves its `d_step`")
                .at(span, "leads to a place outside, or further down")
                .note("a `d_step` is one step: it runs from its first to its last statement")
                .help("use `atomic` instead of `d_step`");
            self.report(finding);
        }
    }

    fn jumps_away(&self, from: Option<El>, stop: Option<El>, start: u32, away: &mut Vec<Span>) {
        let mut at = from;
        while at.is_some() && at != stop {
            let Some(el) = at else { return };
            let element = self.el(el);
            if let Node::Goto(label) = &element.node {
                // Labels of loops are set when the loop ends; all other labels must be known by now.
                let named = label.context.and_then(|process| self.labels.named(process, &label.name).last());
                let known = named.is_some_and(|i| self.labels.get(*i).el.0 >= start);
                if !known {
                    away.push(element.head.span);
                }
            }
            for option in &element.sub {
                self.jumps_away(self.seq(*option).first, self.seq(*option).last, start, away);
            }
            at = element.next;
        }
    }
}
