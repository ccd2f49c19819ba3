//! From elements to transitions: for every state the list of steps that leave it.
//!
//! First every element writes what it does at its own state ([`Table::put_sequence`]); selections,
//! atomic sequences and blocks only write a head and links to the states of their options. Then the links
//! are replaced by copies of what they lead to ([`Table::flatten`]), and escapes are put in front.

use crate::flow::{ATOM, D_ATOM, El, Flow, LAST_ATOM, Label, LabelRef, Node, Seq};
use crate::names::Names;
use fabius_program::{Action, Expr};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a transition does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Forward {
    /// Never executable: the head of a selection without options, or a step that was merged away.
    Nothing,
    /// A jump, a join or a `skip`.
    Skip,
    Else,
    /// What the element says.
    Step,
}

/// A transition.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub el: El,
    pub forward: Forward,
    /// Bits [`ATOM`], [`LAST_ATOM`], [`D_ATOM`].
    pub atom: u16,
    pub to: u32,
    /// The state of the escape it came from, or 0.
    pub escape: u32,
    /// States of the escapes that may interrupt it.
    escapes: Vec<u32>,
}

/// What the labels on a state say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Marks {
    pub end: bool,
    pub progress: bool,
    pub accept: bool,
}

/// The transitions of one process type.
pub(crate) struct Table<'a> {
    flow: &'a mut Flow,
    names: &'a Names,
    process: u32,
    merging: bool,
    done: FxHashSet<El>,
    /// By state.
    pub transitions: Vec<Vec<Transition>>,
    /// By state.
    pub marks: Vec<Marks>,
    /// Steps that are executed together: the ones after the first, by the first.
    pub merged: FxHashMap<El, Vec<El>>,
    moved_labels: u32,
}

impl<'a> Table<'a> {
    /// Builds the table of a process type.
    pub fn build(flow: &'a mut Flow, names: &'a Names, process: u32, body: Seq, merging: bool) -> Self {
        let states = flow.done_states[process as usize].max(1) as usize;
        let mut table = Self {
            flow,
            names,
            process,
            merging,
            done: FxHashSet::default(),
            transitions: vec![Vec::new(); states],
            marks: Vec::new(),
            merged: FxHashMap::default(),
            moved_labels: 1,
        };
        table.put_sequence(body);
        table.mark_states(body);
        table.flatten();
        table.replace_links();
        table.add_escapes();
        table.pass_end_on();
        table
    }

    /// The state in which a new process starts.
    pub fn entry(&mut self, body: Seq) -> u32 {
        let first = self.flow.first(body);
        let el = self.flow.find_start(first, self.flow.el(first).status, None, self.names);
        self.flow.el(el).state
    }

    fn put_sequence(&mut self, seq: Seq) {
        let mut at = self.flow.seq(seq).first;
        while let Some(el) = at {
            if self.done.insert(el) {
                self.put(el);
            }
            if Some(el) == self.flow.seq(seq).last {
                break;
            }
            at = self.flow.el(el).next;
        }
    }

    fn put(&mut self, el: El) {
        let sub = self.flow.el(el).sub.clone();
        match self.flow.el(el).node {
            Node::Unless => self.put_sequence(sub[0]),
            Node::If | Node::Do => self.put_selection(el, &sub),
            Node::Atomic(body) | Node::Block(body) => self.put_inner(el, body),
            Node::DStep(body) => self.put_d_step(el, body),
            _ => self.put_element(el),
        }
    }

    fn link_to(&self, el: El, atom: u16, to: u32) -> Transition {
        Transition { el, forward: Forward::Nothing, atom, to, escape: 0, escapes: Vec::new() }
    }

    fn put_selection(&mut self, el: El, options: &[Seq]) {
        let atom = self.flow.el(el).status & ATOM;
        let mut list = vec![self.link_to(el, atom, 0)];
        for option in options {
            let first = self.flow.first(*option);
            let start = self.flow.hunt_start(first);
            let element = self.flow.el(start);
            let never = matches!(element.node, Node::Action(Action::Guard(Expr::Constant(0))));
            if !(never && element.escapes.is_empty()) {
                list.push(self.link_to(el, atom, element.state));
            }
        }
        self.set(el, list);
        for option in options {
            self.put_sequence(*option);
        }
    }

    /// Links the end of an inner sequence to what follows it, and returns the state it starts with.
    fn enter(&mut self, el: El, body: Seq) -> u32 {
        self.flow.patch_atomic(body, self.names);
        let start = self.flow.hunt_start(self.flow.first(body));
        if let Some(last) = self.flow.seq(body).last {
            self.flow.el_mut(last).next = self.flow.el(el).next;
        }
        self.flow.el(start).state
    }

    fn put_inner(&mut self, el: El, body: Seq) {
        let start = self.enter(el, body);
        let atom = if matches!(self.flow.el(el).node, Node::Atomic(_)) { ATOM } else { 0 };
        self.set(el, vec![self.link_to(el, atom, 0), self.link_to(el, atom, start)]);
        self.put_sequence(body);
    }

    fn put_d_step(&mut self, el: El, body: Seq) {
        self.enter(el, body);
        let status = self.flow.el(el).status;
        let to = self.state_after(el);
        let atom = D_ATOM | status & (ATOM | LAST_ATOM);
        self.set(el, vec![Transition { forward: Forward::Step, ..self.link_to(el, atom, to) }]);
        self.put_escapes(el);
    }

    /// The state that comes next; 0 behind the last one.
    fn state_after(&mut self, el: El) -> u32 {
        let (status, next) = (self.flow.el(el).status, self.flow.el(el).next);
        let follow = match self.flow.el(el).node.clone() {
            Node::Goto(label) => match self.flow.target_of(&label, self.names) {
                Some(target) => Some(target),
                None => {
                    // Reports that the label is missing.
                    self.flow.find_start(el, 0, None, self.names);
                    next
                }
            },
            _ => next,
        };
        let Some(follow) = follow else { return 0 };
        let target = self.flow.find_start(follow, status, None, self.names);
        if matches!(self.flow.el(el).node, Node::Goto(_)) {
            self.flow.check_crossing(el, target);
        }
        self.flow.el(target).state
    }

    fn put_element(&mut self, el: El) {
        let to = self.state_after(el);
        let element = self.flow.el(el);
        let merges = element.merge.until != 0 || element.merge.start_until != 0;
        let forward = match element.node {
            _ if merges => Forward::Step,
            Node::Else => Forward::Else,
            Node::Dot | Node::Goto(_) | Node::Break => Forward::Skip,
            Node::Action(Action::Guard(Expr::Constant(1))) => Forward::Skip,
            _ => Forward::Step,
        };
        let transition = if forward == Forward::Step {
            match self.step(el, to) {
                Some(transition) => transition,
                None => return,
            }
        } else {
            Transition { forward, ..self.link_to(el, element.status & ATOM, to) }
        };
        self.set(el, vec![transition]);
        self.put_escapes(el);
    }

    /// A step with the steps that are merged into it; `None` if it was itself merged away.
    fn step(&mut self, el: El, to: u32) -> Option<Transition> {
        let element = self.flow.el(el);
        let jump = matches!(element.node, Node::Dot | Node::Goto(_));
        let mut atom = element.status & ATOM;
        if element.merge.swallowed || self.merging && element.merge.entered == 0 {
            if jump {
                return Some(Transition { forward: Forward::Skip, ..self.link_to(el, atom, to) });
            }
            self.set(el, vec![self.link_to(el, 0, 0)]);
            return None;
        }
        let until = if element.merge.start_until != 0 { element.merge.start_until } else { element.merge.until };
        if until == 0 {
            return Some(Transition { forward: Forward::Step, ..self.link_to(el, atom, to) });
        }
        let mut swallowed = Vec::new();
        let mut at = el;
        while let Some(next) = self.merge_hop(at, until) {
            let element = self.flow.el(next);
            let mergeable = element.merge.until != 0 || element.merge.single != 0;
            if element.state == until || !mergeable || swallowed.len() > self.flow.elements.len() {
                break;
            }
            atom = element.status & (ATOM | LAST_ATOM);
            self.move_labels(next, el);
            let merge = &mut self.flow.el_mut(next).merge;
            merge.swallowed |= merge.entered == 1;
            swallowed.push(next);
            at = next;
        }
        self.merged.insert(el, swallowed);
        Some(Transition { forward: Forward::Step, ..self.link_to(el, atom, until) })
    }

    fn merge_hop(&mut self, el: El, until: u32) -> Option<El> {
        let Node::Goto(label) = self.flow.el(el).node.clone() else { return self.flow.el(el).next };
        let target = self.flow.target_of(&label, self.names)?;
        if self.flow.el(target).state == until {
            return Some(target);
        }
        let status = self.flow.el(el).status;
        Some(self.flow.find_start(target, status, Some(until), self.names))
    }

    /// Labels that say something about a state move with it when it is merged away.
    fn move_labels(&mut self, from: El, to: El) {
        let labels = self.flow.special_labels(from);
        for at in &labels {
            let name = format!("{}{}", at.name, self.moved_labels).into();
            let at = LabelRef { name, ..at.clone() };
            let label = Label { at, process: self.process, el: to, inline: None, moved: true };
            self.flow.labels.push(label);
        }
        self.moved_labels += u32::from(!labels.is_empty());
    }

    fn put_escapes(&mut self, el: El) {
        if self.flow.el(el).escapes.is_empty() || matches!(self.flow.el(el).node, Node::Dot) {
            return;
        }
        let (status, state) = (self.flow.el(el).status, self.flow.el(el).state);
        let escapes = self.flow.el(el).escapes.clone();
        for escape in &escapes {
            let target = self.flow.find_start(self.flow.first(*escape), status, None, self.names);
            let target = self.flow.el(target).state;
            if let Some(head) = self.transitions[state as usize].first_mut() {
                head.escapes.push(target);
            }
        }
        for escape in escapes {
            self.put_sequence(escape);
        }
    }

    fn set(&mut self, el: El, list: Vec<Transition>) {
        let state = self.flow.el(el).state as usize;
        if state >= self.transitions.len() {
            self.transitions.resize(state + 1, Vec::new());
        }
        self.transitions[state] = list;
    }

    fn list(&self, state: u32) -> &[Transition] {
        self.transitions.get(state as usize).map_or(&[], Vec::as_slice)
    }

    fn mark_states(&mut self, body: Seq) {
        self.marks = vec![Marks::default(); self.transitions.len()];
        if let Some(last) = self.flow.seq(body).last {
            let state = self.flow.el(last).state;
            self.mark(state, Marks { end: true, ..Marks::default() });
        }
        for label in self.flow.labels.of(self.process).cloned().collect::<Vec<_>>() {
            let name = &label.at.name;
            let marks = Marks {
                end: name.starts_with("end"),
                progress: name.starts_with("progress"),
                accept: name.starts_with("accept"),
            };
            self.mark(self.flow.el(label.el).state, marks);
        }
    }

    fn mark(&mut self, state: u32, marks: Marks) {
        if let Some(there) = self.marks.get_mut(state as usize) {
            there.end |= marks.end;
            there.progress |= marks.progress;
            there.accept |= marks.accept;
        }
    }

    fn marks_of(&self, state: u32) -> Marks {
        self.marks.get(state as usize).copied().unwrap_or_default()
    }

    /// Options that lead to selections are replaced by those selections' options.
    fn flatten(&mut self) {
        for _ in 0..self.transitions.len() + 1 {
            let mut changed = false;
            for state in 1..self.transitions.len() {
                let list = &self.transitions[state];
                if !list.iter().skip(1).any(|t| t.to != 0 && self.list(t.to).len() > 1) {
                    continue;
                }
                changed = true;
                let mut flat = vec![list[0].clone()];
                let options = self.transitions[state][1..].to_vec();
                for option in options {
                    let marks = self.marks_of(option.to);
                    let inner: Vec<_> = self.list(option.to).iter().skip(1).cloned().collect();
                    if inner.is_empty() {
                        flat.push(option);
                    }
                    for link in inner {
                        self.mark(link.to, marks);
                        flat.push(link);
                    }
                }
                self.transitions[state] = flat;
            }
            if !changed {
                return;
            }
        }
    }

    /// Links are replaced by what the states they lead to do first.
    fn replace_links(&mut self) {
        for state in 1..self.transitions.len() {
            if self.transitions[state].len() < 2 || self.list(self.transitions[state][1].to).is_empty() {
                continue;
            }
            let mut list = Vec::new();
            let links = self.transitions[state][1..].to_vec();
            for link in links {
                if let Some(first) = self.list(link.to).first().cloned() {
                    self.mark(first.to, self.marks_of(link.to));
                    list.push(first);
                }
            }
            self.transitions[state] = list;
        }
    }

    /// What an escape does first is put in front of what it may interrupt.
    fn add_escapes(&mut self) {
        for state in 1..self.transitions.len() {
            if self.transitions[state].iter().all(|t| t.escapes.is_empty()) {
                continue;
            }
            let own = self.transitions[state].clone();
            let mut front: Vec<Transition> = Vec::new();
            let mut there: FxHashSet<El> = own.iter().map(|t| t.el).collect();
            let mut met = FxHashSet::default();
            for escape in own.iter().flat_map(|t| t.escapes.iter().rev()).filter(|escape| met.insert(**escape)) {
                let new = self.list(*escape).iter().filter(|transition| there.insert(transition.el));
                front.extend(new.map(|transition| Transition { escape: *escape, ..transition.clone() }));
            }
            front.reverse();
            front.extend(own);
            self.transitions[state] = front;
        }
    }

    /// A state that does nothing but lead on passes `end` on.
    fn pass_end_on(&mut self) {
        for state in 1..self.transitions.len() as u32 {
            if let [only] = self.list(state)
                && matches!(self.flow.el(only.el).node, Node::Dot)
                && self.marks_of(state).end
            {
                self.mark(only.to, Marks { end: true, ..Marks::default() });
            }
        }
    }
}
