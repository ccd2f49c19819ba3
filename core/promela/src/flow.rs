//! The element graph: what stands between the syntax tree and the automata.
//!
//! Spin builds its automata from a chain of *elements*, one per step, whose numbers become the numbers
//! of states and transitions. To reach the same automata with the same numbers, elements are made here
//! in the order in which Spin's parser reduces, and linked by its rules: [`Flow::add`] is the end of a
//! step, [`Flow::open`] and [`Flow::close`] are the ends of a sequence.

pub(crate) mod find_start;
mod label_table;
mod labels;
mod reports;

use crate::names::{Context, ScopeId};
use fabius_base::{Code, Finding, Span};
use fabius_program::{Action, Expr};
use label_table::Labels;
use reports::Reports;
use std::sync::Arc;

/// Index into [`Flow::elements`]; also the number that Spin gives the element within the system.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct El(pub u32);

/// Index into [`Flow::sequences`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seq(pub u32);

/// Part of an atomic chain.
pub(crate) const ATOM: u16 = 2;
/// The last element of an atomic chain.
pub(crate) const LAST_ATOM: u16 = 4;
/// Part of a `d_step`.
pub(crate) const D_ATOM: u16 = 32;
/// A remote reference looks at it.
pub(crate) const WATCHED: u16 = 128;

/// A name of a label as seen from some place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LabelRef {
    pub name: Arc<str>,
    pub scope: ScopeId,
    pub context: Context,
}

/// A label that stands somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub at: LabelRef,
    /// Process type that holds it.
    pub process: u32,
    pub el: El,
    /// Which inline's body it stands in.
    pub inline: Option<Arc<str>>,
    /// It was copied from a state that was merged away.
    pub moved: bool,
}

/// What a step is, with the sequences inside it already built.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Action(Action),
    Else,
    /// `_priority = e`
    Prioritise(Expr),
    Goto(LabelRef),
    Dot,
    Break,
    If,
    Do,
    Unless,
    Atomic(Seq),
    DStep(Seq),
    Block(Seq),
    End,
}

/// Where a step stands and how it reads.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub span: Span,
    pub text: String,
    /// Number of the first element of the `d_step` around it.
    pub dstep: Option<u32>,
    /// Values that are computed, but used for nothing: more arguments of a print than its format shows.
    pub unused: Vec<Expr>,
}

/// A step that has not been added to its sequence yet.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Labels, innermost last.
    pub labels: Vec<LabelRef>,
    pub body: Body,
    pub head: Head,
}

/// What a [`Pending`] step is.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Plain(Node),
    If(Vec<Seq>),
    /// With the label that `break` leads to.
    Do(Vec<Seq>),
    Unless(Seq, Seq),
}

/// One element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub node: Node,
    pub head: Head,
    /// Process type it belongs to.
    pub process: u32,
    /// Number of the state before it, within its process type.
    pub state: u32,
    pub status: u16,
    pub sub: Vec<Seq>,
    /// Escapes, the one attached last first.
    pub escapes: Vec<Seq>,
    pub next: Option<El>,
    pub merge: Merge,
    /// It is an `else` beside sends or receives.
    pub beside_io: bool,
}

/// What the optimiser found about an element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merge {
    /// Steps from here are merged up to this state (0: none).
    pub until: u32,
    /// The same for a step that may block, and starts a merge.
    pub start_until: u32,
    /// A step that may be merged into the one before it.
    pub single: u32,
    /// Number of edges that lead to it.
    pub entered: u32,
    /// It was swallowed by a merge.
    pub swallowed: bool,
    /// Locals to reset after it.
    pub dead: Vec<fabius_program::VariableId>,
}

/// A chain of elements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    pub first: Option<El>,
    /// Links onto what follows.
    pub last: Option<El>,
    /// The last element as it was when the sequence was closed.
    pub extent: Option<El>,
}

/// Why a sequence is closed; decides what a label on its first step means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    Escape,
    Guarded,
    Atomic,
    DStep,
    Block,
    Option,
    Other,
}

/// All elements of a model, and the sequences that are open.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    pub labels: Labels,
    pub findings: Reports,
    /// Process type that is being read.
    pub process: u32,
    /// Next state number within it.
    pub states: u32,
    /// Bodies that are done: number of states by process type.
    pub done_states: Vec<u32>,
    /// Declarations with a value still run when the process is created.
    pub at_start: bool,
    /// First element of the `d_step` that is open.
    pub dstep_start: Option<u32>,
    /// Reading a claim: nothing is simplified.
    pub in_claim: bool,
    /// Names of the inlines that are being expanded.
    pub inlines: Vec<Arc<str>>,
    /// `xr` or `xs` occurred.
    pub exclusive: bool,
    open: Vec<Seq>,
    breaks: Vec<LabelRef>,
    break_count: u32,
}

impl Flow {
    pub fn new() -> Self {
        Self { at_start: true, ..Self::default() }
    }

    pub fn el(&self, el: El) -> &Element {
        &self.elements[el.0 as usize]
    }

    pub fn el_mut(&mut self, el: El) -> &mut Element {
        &mut self.elements[el.0 as usize]
    }

    pub fn seq(&self, seq: Seq) -> Sequence {
        self.sequences[seq.0 as usize]
    }

    pub fn seq_mut(&mut self, seq: Seq) -> &mut Sequence {
        &mut self.sequences[seq.0 as usize]
    }

    /// The first element of a sequence that was closed.
    pub fn first(&self, seq: Seq) -> El {
        self.seq(seq).first.unwrap_or(El(0))
    }

    pub fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub fn head(&self, span: Span, text: impl Into<String>) -> Head {
        Head { span, text: text.into(), dstep: self.dstep_start, unused: Vec::new() }
    }

    pub fn plain(&self, node: Node, span: Span, text: impl Into<String>) -> Pending {
        Pending { labels: Vec::new(), body: Body::Plain(node), head: self.head(span, text) }
    }

    /// The elements of each of `count` process types, in order.
    pub fn by_process(&self, count: usize) -> Vec<Vec<El>> {
        let mut elements = vec![Vec::new(); count];
        for (number, element) in self.elements.iter().enumerate() {
            if let Some(list) = elements.get_mut(element.process as usize) {
                list.push(El(number as u32));
            }
        }
        elements
    }

    /// Opens the body of a process type.
    pub fn open_body(&mut self, process: u32) {
        self.process = process;
        self.states = 1;
        self.open.clear();
        self.breaks.clear();
        self.push_sequence();
        self.at_start = true;
    }

    /// Opens a sequence inside a body.
    pub fn open(&mut self) {
        self.push_sequence();
        self.at_start = false;
    }

    fn push_sequence(&mut self) {
        self.sequences.push(Sequence::default());
        self.open.push(Seq(self.sequences.len() as u32 - 1));
    }

    /// Closes the body of a process type.
    pub fn close_body(&mut self, span: Span) -> Seq {
        self.at_start = true;
        while self.done_states.len() <= self.process as usize {
            self.done_states.push(0);
        }
        self.done_states[self.process as usize] = self.states;
        self.pop_sequence(span)
    }

    /// Closes a sequence inside a body.
    pub fn close(&mut self, closing: Closing, span: Span) -> Seq {
        let seq = self.current();
        if let Some(first) = self.seq(seq).first
            && let Some(name) = self.label_on(first, labels::ANY).map(|l| self.labels.get(l).at.name.clone())
        {
            self.label_placed_badly(closing, first, &name);
        }
        if closing == Closing::DStep {
            self.check_local_jumps(seq);
        }
        self.pop_sequence(span)
    }

    fn pop_sequence(&mut self, span: Span) -> Seq {
        let seq = self.current();
        if self.seq(seq).last.is_none() {
            let finding = Finding::new(Code::EmptySequence, "a sequence must have at least one statement")
                .at(span, "nothing happens here")
                .help("write `skip` if nothing is to happen");
            self.report(finding);
            let skip = self.plain(Node::Action(Action::Guard(Expr::Constant(1))), span, "skip");
            self.add(skip);
        }
        self.seq_mut(seq).extent = self.seq(seq).last;
        self.open.pop();
        seq
    }

    fn current(&self) -> Seq {
        self.open.last().copied().unwrap_or(Seq(0))
    }

    /// Makes an element; its number is the number of elements made before.
    fn new_element(&mut self, node: Node, head: Head) -> El {
        let el = El(self.elements.len() as u32);
        self.elements.push(Element {
            node,
            head,
            process: self.process,
            state: self.states,
            status: 0,
            sub: Vec::new(),
            escapes: Vec::new(),
            next: None,
            merge: Merge::default(),
            beside_io: false,
        });
        self.states += 1;
        el
    }

    /// Ends a step: makes its element, links it to the open sequence, and sets its labels.
    pub fn add(&mut self, step: Pending) {
        let compound = !matches!(step.body, Body::Plain(_));
        let el = match step.body {
            Body::Plain(node) => self.new_element(node, step.head),
            Body::If(options) => self.selection(Node::If, options, step.head),
            Body::Do(options) => self.selection(Node::Do, options, step.head),
            Body::Unless(main, escape) => self.unless(main, escape, step.head),
        };
        for label in step.labels.into_iter().rev() {
            self.set_label(label, el);
        }
        if !compound {
            self.link_current(el);
        }
    }

    fn link_current(&mut self, el: El) {
        let seq = self.current();
        self.link(el, seq);
    }

    /// Appends an element to a sequence. A labelled `goto` gets a `skip` before it, if its label says
    /// something about the state, because a jump has no state of its own.
    fn link(&mut self, el: El, seq: Seq) {
        if matches!(self.el(el).node, Node::Goto(_))
            && self.label_on(el, labels::SPECIAL).is_some()
            && let Some(label) = self.label_on(el, labels::ANY)
        {
            let head = self.head(self.el(el).head.span, "skip");
            let skip = self.new_element(Node::Action(Action::Guard(Expr::Constant(1))), head);
            self.labels.move_to(label, skip);
            self.link(skip, seq);
        }
        match self.seq(seq).last {
            Some(last) => self.el_mut(last).next = Some(el),
            None => self.seq_mut(seq).first = Some(el),
        }
        self.seq_mut(seq).last = Some(el);
    }

    /// `if` or `do`: the element itself, a join after it, and for a loop the place where `break` leads.
    fn selection(&mut self, node: Node, mut options: Vec<Seq>, head: Head) -> El {
        let is_loop = matches!(node, Node::Do);
        let join_head = self.head(head.span, "");
        let el = self.new_element(node, head);
        let mut join = self.new_element(Node::Dot, join_head.clone());
        self.order_else(&mut options);
        self.el_mut(el).sub.clone_from(&options);
        for option in options {
            self.link(join, option);
        }
        if is_loop {
            self.link_current(join);
            join = self.new_element(Node::Break, join_head);
            if let Some(label) = self.breaks.last().cloned() {
                self.set_label(label, join);
            }
            self.breaks.pop();
        }
        self.link_current(el);
        self.link_current(join);
        el
    }

    /// `else` comes last, whatever its place in the text, and there is at most one.
    fn order_else(&mut self, options: &mut Vec<Seq>) {
        let is_else = |flow: &Self, option: &Seq| matches!(flow.el(flow.first(*option)).node, Node::Else);
        let found: Vec<usize> = (0..options.len()).filter(|&i| is_else(self, &options[i])).collect();
        if let [first, second, ..] = found[..] {
            let (first, second) = (self.first(options[first]), self.first(options[second]));
            let finding = Finding::new(Code::BadElse, "there is a second `else`")
                .at(self.el(second).head.span, "this one")
                .at(self.el(first).head.span, "the first one")
                .help("remove one of them");
            self.report(finding);
        }
        let Some(&index) = found.first() else { return };
        if index + 1 < options.len() {
            let option = options.remove(index);
            options.push(option);
        }
        let firsts: Vec<El> = options.iter().map(|option| self.first(*option)).collect();
        let io = firsts.iter().any(|first| labels::touches_channel(&self.el(*first).node));
        let last = self.first(options[options.len() - 1]);
        if io && matches!(self.el(last).node, Node::Else) {
            self.el_mut(last).beside_io = true;
            let moves = firsts.iter().any(|first| labels::moves_message(&self.el(*first).node));
            let mut finding = reports::dubious_else(self.el(last).head.span, moves);
            if self.exclusive {
                finding.severity = fabius_base::Severity::Error;
                finding = finding.note("it cannot be combined with `xr` or `xs`");
            }
            self.report(finding);
        }
    }

    fn unless(&mut self, main: Seq, escape: Seq, head: Head) -> El {
        let join_head = self.head(head.span, "");
        let el = self.new_element(Node::Unless, head);
        let join = self.new_element(Node::Dot, join_head);
        self.el_mut(el).sub = vec![main, escape];
        self.link(join, main);
        self.link(join, escape);
        self.attach_escape(main, escape);
        self.link_current(el);
        self.link_current(join);
        el
    }

    /// Lets an escape leave every step of a sequence.
    fn attach_escape(&mut self, seq: Seq, escape: Seq) {
        let extent = self.seq(seq).extent;
        let mut at = self.seq(seq).first;
        while let Some(el) = at {
            self.escape_element(el, escape);
            if Some(el) == extent {
                break;
            }
            at = self.el(el).next;
        }
    }

    fn escape_element(&mut self, el: El, escape: Seq) {
        if self.el(el).escapes.contains(&escape) {
            return;
        }
        for lower in self.el(el).escapes.clone() {
            self.attach_escape(lower, escape);
        }
        self.el_mut(el).escapes.insert(0, escape);
        match self.el(el).node.clone() {
            Node::Unless => self.attach_escape(self.el(el).sub[0], escape),
            Node::If | Node::Do => {
                for option in self.el(el).sub.clone() {
                    self.attach_escape(option, escape);
                }
            }
            Node::DStep(body) => self.escape_element(self.first(body), escape),
            Node::Atomic(body) | Node::Block(body) => self.attach_escape(body, escape),
            _ => {}
        }
    }

    /// Enters a loop: `break` will lead behind it.
    pub fn push_break(&mut self, scope: ScopeId, context: Context) {
        let name = format!(":b{}", self.break_count).into();
        self.break_count += 1;
        self.breaks.push(LabelRef { name, scope, context });
    }

    /// Where `break` leads.
    pub fn break_label(&self) -> Option<LabelRef> {
        self.breaks.last().cloned()
    }

    /// Hides the innermost loop: its `unless` belongs to the loop around it.
    pub fn hide_break(&mut self) -> Option<LabelRef> {
        self.breaks.pop()
    }

    pub fn restore_break(&mut self, label: Option<LabelRef>) {
        self.breaks.extend(label);
    }

    /// Takes `skip`s without a label out of options where another `skip` or a `printf` is before them.
    pub fn prune(&mut self, options: &[Seq]) {
        if self.in_claim {
            return;
        }
        for option in options {
            self.prune_sequence(*option);
        }
    }

    fn prune_sequence(&mut self, seq: Seq) {
        let Sequence { first, last, extent } = self.seq(seq);
        let (mut at, mut before, mut skips) = (first, None, 0);
        while let Some(el) = at {
            let (skip, print) = match &self.el(el).node {
                Node::Action(Action::Guard(Expr::Constant(1))) => (true, false),
                Node::Action(Action::Print(_)) => (false, true),
                _ => (false, false),
            };
            let next = self.el(el).next;
            let mut kept = Some(el);
            if (skip || print) && self.label_on(el, labels::ANY).is_none() {
                skips += 1;
                let inner = at != first && at != last && at != extent;
                if skips > 1 && skip && inner {
                    if let Some(before) = before {
                        self.el_mut(before).next = next;
                    }
                    kept = before;
                }
            } else {
                skips = 0;
            }
            before = kept;
            at = next;
        }
    }

    /// Marks a sequence as an atomic chain; `added` is [`D_ATOM`] for a `d_step`.
    pub fn make_atomic(&mut self, seq: Seq, added: u16) {
        let Sequence { first: Some(first), last: Some(last), .. } = self.seq(seq) else { return };
        self.walk_atomic(first, last, added);
        match self.el(last).node.clone() {
            Node::Block(body) | Node::Atomic(body) => self.make_atomic(body, added),
            Node::Unless => self.make_atomic(self.el(last).sub[0], added),
            _ => {
                let status = &mut self.el_mut(last).status;
                *status = *status & !ATOM | LAST_ATOM;
            }
        }
    }

    fn walk_atomic(&mut self, from: El, to: El, added: u16) {
        let mut el = from;
        loop {
            self.el_mut(el).status |= ATOM | added;
            let inner = match self.el(el).node {
                Node::Atomic(body) | Node::Block(body) => Some(body),
                Node::DStep(body) if added != 0 => Some(body),
                _ => None,
            };
            if let Some(body) = inner {
                self.el_mut(el).node = Node::Block(body);
                self.walk_sequence(body, added);
            }
            if matches!(self.el(el).node, Node::Unless) && added != 0 {
                let finding = Finding::new(Code::NotInDStep, "`unless` has no meaning inside a `d_step`")
                    .at(self.el(el).head.span, "nothing can interrupt a `d_step`");
                self.report(finding);
            }
            for option in self.el(el).sub.clone() {
                self.walk_sequence(option, added);
            }
            match self.el(el).next {
                Some(next) if el != to => el = next,
                _ => break,
            }
        }
    }

    fn walk_sequence(&mut self, seq: Seq, added: u16) {
        if let Sequence { first: Some(first), last: Some(last), .. } = self.seq(seq) {
            self.walk_atomic(first, last, added);
        }
    }

    /// Links the ends of inner sequences to what follows them, once everything has been read.
    pub fn tie_loose_ends(&mut self) {
        for index in (0..self.elements.len()).rev() {
            let el = El(index as u32);
            let (Node::Atomic(body) | Node::Block(body) | Node::DStep(body)) = self.el(el).node else { continue };
            let Some(mut follow) = self.el(el).next else { continue };
            while matches!(self.el(follow).node, Node::Dot) {
                match self.el(follow).next {
                    Some(next) => follow = next,
                    None => break,
                }
            }
            let Some(last) = self.seq(body).last else { continue };
            match self.el(last).next {
                None => self.el_mut(last).next = Some(follow),
                Some(next) if matches!(self.el(next).node, Node::Goto(_)) => self.seq_mut(body).last = Some(next),
                Some(_) => {}
            }
        }
    }
}
