//! What is said about the elements, found by code and place without a look at all of it.

use fabius_base::{Code, Finding, Span};
use std::collections::{HashMap, HashSet};

/// Findings in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    list: Vec<Finding>,
    codes: HashSet<Code>,
    by_place: HashMap<(Code, Option<Span>), Vec<usize>>,
}

impl Reports {
    pub fn push(&mut self, finding: Finding) {
        self.codes.insert(finding.code);
        self.by_place.entry((finding.code, finding.span())).or_default().push(self.list.len());
        self.list.push(finding);
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is any finding with this code.
    pub fn has(&self, code: Code) -> bool {
        self.codes.contains(&code)
    }

    /// Whether there is a finding with this code at this place.
    pub fn has_at(&self, code: Code, span: Span) -> bool {
        self.by_place.contains_key(&(code, Some(span)))
    }

    pub fn contains(&self, finding: &Finding) -> bool {
        let there = self.by_place.get(&(finding.code, finding.span()));
        there.into_iter().flatten().any(|index| self.list[*index] == *finding)
    }

    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(self).list
    }
}

/// Says that `else` depends on channels: on a send or a receive beside it, or only on tests of channels.
pub(super) fn dubious_else(span: Span, beside_message: bool) -> Finding {
    if beside_message {
        return Finding::new(Code::DubiousElse, "`else` stands beside a send or a receive")
            .at(span, "taken when no option beside it can be executed: none of their messages can be sent or received right now")
            .note("whether a send or a receive can be executed may change at any moment")
            .help("write `timeout`, or a test such as `full(…)` or `empty(…)`, in place of `else` if you mean something else");
    }
    Finding::new(Code::DubiousElse, "`else` stands beside a test of a channel")
        .at(span, "taken when no option beside it can be executed, with the messages that are in the channels right now")
        .note("what `full`, `nfull`, `empty` and `nempty` say may change at any moment")
        .note("Spin warns of these as of sends and receives; it lets `len(…)` and `…?[…]` pass")
        .help("leave it if that is what you mean; write `timeout` in place of `else` to wait until nothing else can happen")
}
