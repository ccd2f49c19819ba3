//! Finding the state behind a link: jumps and joins are passed over, they have no step of their own.

use super::{ATOM, El, Flow, LAST_ATOM, Node, Seq};
use crate::names::Names;
use fabius_base::{Code, Finding};

/// Links that are followed before a chain of jumps is taken for a loop.
const LINKS_MAX: u32 = 500;

impl Flow {
    /// Follows joins and jumps from `from` to the element whose state comes next. Inside an atomic chain
    /// (`status`), a link out of it is not followed. Stops at the state `stop_at`.
    pub fn find_start(&mut self, from: El, status: u16, stop_at: Option<u32>, names: &Names) -> El {
        let mut el = from;
        for _ in 0..LINKS_MAX {
            if Some(self.el(el).state) == stop_at {
                return el;
            }
            let next = match &self.el(el).node {
                Node::Goto(label) => {
                    let label = label.clone();
                    let span = self.el(el).head.span;
                    match self.target_of(&label, names) {
                        None => return self.no_target(el, &label, span),
                        Some(target) if target == el => break,
                        Some(target) => {
                            self.check_crossing(el, target);
                            target
                        }
                    }
                }
                Node::Dot | Node::Break => match self.el(el).next {
                    Some(next) => next,
                    None => return el,
                },
                Node::Unless => self.find_start(self.first(self.el(el).sub[0]), status, stop_at, names),
                _ => return el,
            };
            if status & ATOM != 0 && self.el(next).status & ATOM == 0 {
                return el;
            }
            el = next;
        }
        let finding = Finding::new(Code::BadJump, "jumps lead in a circle without a step between them")
            .at(self.el(from).head.span, "starting here")
            .help("put a `skip` into the circle");
        self.report_once(finding);
        el
    }

    fn no_target(&mut self, el: El, label: &super::LabelRef, span: fabius_base::Span) -> El {
        let seen = self.findings.has_at(Code::UnknownLabel, span);
        if !seen {
            self.unknown_label(label, span);
        }
        el
    }

    pub(crate) fn report_once(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            self.report(finding);
        }
    }

    /// A jump may not lead into or out of a `d_step`.
    pub fn check_crossing(&mut self, from: El, to: El) {
        if self.el(from).head.dstep != self.el(to).head.dstep {
            let finding = Finding::new(Code::BadJump, "a jump crosses the border of a `d_step`")
                .at(self.el(from).head.span, "from here")
                .at(self.el(to).head.span, "to here")
                .help("use `atomic` instead of `d_step`");
            self.report_once(finding);
        }
    }

    /// The first element of an option that has a state of its own.
    pub fn hunt_start(&mut self, from: El) -> El {
        let mut el = from;
        for _ in 0..200 {
            let next = match self.el(el).node {
                Node::Dot => self.el(el).next.unwrap_or(el),
                Node::Unless => self.first(self.el(el).sub[0]),
                _ => el,
            };
            if next == el {
                return el;
            }
            el = next;
        }
        el
    }

    /// Jumps out of an atomic sequence end the chain; jumps into another one keep it.
    pub fn patch_atomic(&mut self, seq: Seq, names: &Names) {
        let extent = self.seq(seq).extent;
        let mut at = self.seq(seq).first;
        while let Some(el) = at {
            if let Node::Goto(label) = self.el(el).node.clone() {
                if let Some(target) = self.target_of(&label, names) {
                    self.check_crossing(el, target);
                    let inside = self.el(target).status & (ATOM | LAST_ATOM) != 0;
                    let status = &mut self.el_mut(el).status;
                    if *status & (ATOM | LAST_ATOM) != 0 && !inside {
                        *status = *status & !ATOM | LAST_ATOM;
                    }
                    if *status & LAST_ATOM != 0 && inside {
                        *status = *status & !LAST_ATOM | ATOM;
                    }
                }
            } else {
                for option in self.el(el).sub.clone() {
                    self.patch_atomic(option, names);
                }
            }
            if Some(el) == extent {
                break;
            }
            at = self.el(el).next;
        }
    }
}
