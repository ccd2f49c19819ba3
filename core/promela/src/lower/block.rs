//! `d_step`: a piece of code that runs as one step.

use crate::flow::{D_ATOM, El, Flow, Node, Seq};
use crate::names::Names;
use crate::optimise::facts;
use fabius_base::{Code, Finding, Span};
use fabius_program::{Action, Block, BlockExit, BlockNode, BlockOption, Expr};
use rustc_hash::FxHashMap;

/// Jumps in a row that are followed before they are taken for a circle.
const JUMPS_MAX: u32 = 500;

/// Builds the code of one `d_step` from its elements.
pub(super) struct Builder<'a> {
    flow: &'a mut Flow,
    names: &'a Names,
    nodes: Vec<BlockNode>,
    by_element: FxHashMap<El, u32>,
    waiting: Vec<(El, u32)>,
}

impl<'a> Builder<'a> {
    pub fn build(flow: &'a mut Flow, names: &'a Names, body: Seq) -> Block {
        let mut builder =
            Self { flow, names, nodes: Vec::new(), by_element: FxHashMap::default(), waiting: Vec::new() };
        let first = builder.flow.first(body);
        builder.entry(first);
        while let Some((el, index)) = builder.waiting.pop() {
            let options = builder.options(el);
            builder.nodes[index as usize].options = options;
        }
        Block { nodes: builder.nodes }
    }

    /// The first node: what decides whether the step can be taken. Selections that come first inside a
    /// selection are unfolded, because their guards count.
    fn entry(&mut self, first: El) {
        let Some(el) = self.resolve(Some(first)) else {
            self.new_node(first);
            let span = self.flow.el(first).head.span;
            self.nodes[0].options.push(BlockOption { action: Action::Skip, next: BlockExit::Leave, span });
            return;
        };
        let index = self.new_node(el);
        if !matches!(self.flow.el(el).node, Node::If | Node::Do) {
            self.by_element.insert(el, index);
            self.waiting.push((el, index));
            return;
        }
        let mut options = Vec::new();
        self.unfold(el, &mut options, 0);
        options = self.only_guards_count(el, options);
        self.nodes[index as usize].options = options;
    }

    /// If some options of the first selection begin with conditions and others with steps that are always
    /// executable, only the conditions decide whether the `d_step` can be taken.
    fn only_guards_count(&mut self, el: El, options: Vec<BlockOption>) -> Vec<BlockOption> {
        let counts = |o: &BlockOption| {
            matches!(o.action, Action::Guard(_) | Action::Send(_) | Action::Receive(_) | Action::Else)
        };
        let plain = |o: &BlockOption| matches!(o.action, Action::Guard(_));
        let mixed = options.iter().any(counts) && !options.iter().all(counts);
        if !mixed || !options.iter().filter(|o| counts(o)).all(plain) {
            return options;
        }
        let span = self.flow.el(el).head.span;
        let inner = self.nodes.len() as u32;
        let guards = options
            .iter()
            .filter(|o| counts(o))
            .map(|o| BlockOption { action: o.action.clone(), next: BlockExit::Node(inner), span: o.span })
            .collect();
        self.nodes.push(BlockNode { options, span });
        guards
    }

    fn unfold(&mut self, el: El, options: &mut Vec<BlockOption>, depth: u32) {
        for option in self.flow.el(el).sub.clone() {
            let first = self.flow.first(option);
            let start = self.flow.hunt_start(first);
            if matches!(self.flow.el(start).node, Node::If) && depth < JUMPS_MAX {
                self.unfold(start, options, depth + 1);
            } else {
                options.push(self.option(first));
            }
        }
    }

    /// What an element does, node by node.
    fn options(&mut self, el: El) -> Vec<BlockOption> {
        match self.flow.el(el).node {
            Node::If | Node::Do | Node::Unless => {
                let sub = self.flow.el(el).sub.clone();
                sub.into_iter().map(|option| self.option(self.flow.first(option))).collect()
            }
            _ => vec![self.option(el)],
        }
    }

    /// One option, which begins with `first`.
    fn option(&mut self, first: El) -> BlockOption {
        let element = self.flow.el(first).clone();
        let span = element.head.span;
        self.check_allowed(&element.node, span);
        let (action, follow) = match element.node {
            Node::Action(Action::Guard(Expr::Constant(1))) => (Action::Skip, element.next),
            Node::Action(action) => (action, element.next),
            Node::Prioritise(e) => (Action::SetPriority(Expr::Pid, e), element.next),
            Node::Else => (Action::Else, element.next),
            _ => (Action::Skip, Some(first)),
        };
        let next = match self.resolve(follow) {
            Some(el) => BlockExit::Node(self.node(el)),
            None => BlockExit::Leave,
        };
        BlockOption { action, next, span }
    }

    /// Neither a new process nor a look into another one fits into a single step.
    fn check_allowed(&mut self, node: &Node, span: Span) {
        let Node::Action(action) = node else { return };
        let what = if facts::creates_process(action) {
            "`run`"
        } else if facts::looks_into_process(action) {
            "a remote reference"
        } else {
            return;
        };
        let headline = format!("{what} cannot be used inside a `d_step`");
        self.flow.report_once(Finding::new(Code::NotAllowedHere, headline).at(span, "").help("use `atomic` instead"));
    }

    /// The element that is executed next, past jumps and joins; `None` if it is outside.
    fn resolve(&mut self, from: Option<El>) -> Option<El> {
        let mut el = from?;
        for _ in 0..JUMPS_MAX {
            let element = self.flow.el(el);
            if element.status & D_ATOM == 0 {
                return None;
            }
            el = match &element.node {
                Node::Goto(label) => self.flow.target_of(label, self.names)?,
                Node::Dot | Node::Break => element.next?,
                Node::Block(body) => self.flow.first(*body),
                Node::DStep(_) | Node::Atomic(_) | Node::End => return None,
                _ => return Some(el),
            };
        }
        let span = self.flow.el(el).head.span;
        let finding = Finding::new(Code::BadJump, "jumps lead in a circle without a step between them").at(span, "");
        self.flow.report_once(finding);
        None
    }

    fn new_node(&mut self, el: El) -> u32 {
        let span = self.flow.el(el).head.span;
        self.nodes.push(BlockNode { options: Vec::new(), span });
        self.nodes.len() as u32 - 1
    }

    fn node(&mut self, el: El) -> u32 {
        if let Some(&index) = self.by_element.get(&el) {
            return index;
        }
        let index = self.new_node(el);
        self.by_element.insert(el, index);
        self.waiting.push((el, index));
        index
    }
}
