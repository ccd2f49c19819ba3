//! Races of a run, and what is explored because of them.

use super::event::depend;
use super::explorer::Explorer;
use super::{Dependence, Event, Method};
use std::collections::HashSet;
use std::rc::Rc;

/// A branch of a wakeup tree: a step to be taken, and what is to be taken after it. A leaf stands for everything.
pub(super) struct Branch<M: Dependence> {
    pub event: Rc<Event<M>>,
    pub children: Vec<Self>,
}

impl<M: Dependence> Branch<M> {
    /// A branch behind which everything is to be explored.
    pub(super) fn leaf(event: &Rc<Event<M>>) -> Self {
        Self { event: Rc::clone(event), children: Vec::new() }
    }

    /// Steps in it.
    pub(super) fn len(&self) -> usize {
        let mut open = vec![self];
        let mut steps = 0;
        while let Some(branch) = open.pop() {
            steps += 1;
            open.extend(&branch.children);
        }
        steps
    }
}

/// Whether a step that is possible where a sequence begins can come first in it, or in one that goes on from it.
pub(super) fn weak_initial<M: Dependence>(model: &mut M, step: &Event<M>, sequence: &[Rc<Event<M>>]) -> bool {
    for event in sequence {
        if event.path == step.path {
            return true;
        }
        if depend(model, event, step) {
            return false;
        }
    }
    true
}

/// Adds a sequence to a wakeup tree unless what the tree has stands for it.
fn insert<M: Dependence>(model: &mut M, mut sequence: Vec<Rc<Event<M>>>, mut tree: &mut Vec<Branch<M>>) {
    while let Some(at) = tree.iter().position(|branch| weak_initial(model, &branch.event, &sequence)) {
        let branch = &mut tree[at];
        if let Some(at) = sequence.iter().position(|event| event.path == branch.event.path) {
            sequence.remove(at);
        }
        if branch.children.is_empty() || sequence.is_empty() {
            return;
        }
        tree = &mut branch.children;
    }
    for event in sequence {
        tree.push(Branch::leaf(&event));
        let last = tree.len() - 1;
        tree = &mut tree[last].children;
    }
}

/// An event of a run, and which events before it happen before it.
type Placed<M> = (Rc<Event<M>>, Vec<bool>);

/// A race of a run: an event, and what comes after it but does not happen after it.
struct Race<'r, M: Dependence> {
    run: &'r [Placed<M>],
    /// The event's place in the run.
    at: usize,
}

impl<M: Dependence> Race<'_, M> {
    fn event(&self) -> &Rc<Event<M>> {
        &self.run[self.at].0
    }

    fn happens_before(&self, earlier: usize, later: usize) -> bool {
        earlier < later && self.run[later].1[earlier]
    }

    fn concurrent(&self) -> Vec<usize> {
        (self.at + 1..self.run.len()).filter(|later| !self.happens_before(self.at, *later)).collect()
    }

    /// Whether nothing comes between the event and a later one that happens after it.
    fn immediate(&self, later: usize) -> bool {
        let between = |k: usize| self.happens_before(self.at, k) && self.happens_before(k, later);
        self.happens_before(self.at, later) && !(self.at + 1..later).any(between)
    }

    fn events(&self, cut: &[usize]) -> Vec<Rc<Event<M>>> {
        cut.iter().map(|at| Rc::clone(&self.run[*at].0)).collect()
    }
}

impl<M: Dependence> Explorer<'_, M> {
    /// Looks for races of the present run, with a last event if there is no node after it.
    pub(super) fn races(&mut self, last: Option<Placed<M>>) {
        if self.settings.method == Method::Sleep {
            return;
        }
        let placed = self.nodes.iter().filter_map(|node| Some((node.arrived.clone()?, node.before.clone())));
        let run: Vec<Placed<M>> = placed.chain(last).collect();
        for at in 0..run.len() {
            if self.must_stop() {
                return;
            }
            let race = Race { run: &run, at };
            let possible = match race.event().footprint.may_disable || self.model.varies() {
                true => self.cuts(&race),
                false => self.neighbours(&race),
            };
            // A step that was not listed because the search must stop is none.
            self.contradiction |= possible.is_none() && !self.must_stop();
        }
    }

    /// Events that could come right after one that prevents nothing: they are possible without it, unless it made them
    /// possible. `None` if what must be possible is not.
    fn neighbours(&mut self, race: &Race<'_, M>) -> Option<()> {
        let later: Vec<usize> = (race.at + 1..race.run.len()).filter(|later| race.immediate(*later)).collect();
        let cut = race.concurrent();
        let events = race.events(&cut);
        for later in later {
            if self.must_stop() {
                break;
            }
            let (event, other) = (race.event(), &race.run[later].0);
            if self.model.share_process(&event.footprint.touched, &other.footprint.touched) {
                continue;
            }
            // A message has another number where others went before.
            let moved = if event.footprint.may_enable || other.footprint.message.is_some() {
                let listed = self.steps_after(race.at, &events)?;
                listed.steps.iter().map(|step| &step.event).find(|step| step.path == other.path).cloned()
            } else {
                Some(Rc::clone(other))
            };
            if let Some(moved) = moved {
                self.reverse(race, &cut, &moved);
            }
        }
        Some(())
    }

    /// Steps that are possible after parts of what does not happen after an event which may prevent something. What may have kept
    /// a step from being possible, or comes before it though it need not, is left out in every way; so is, where footprints vary,
    /// what may have changed that of a step.
    fn cuts(&mut self, race: &Race<'_, M>) -> Option<()> {
        let mut open = vec![(race.concurrent(), Vec::new())];
        let mut seen: HashSet<Vec<usize>> = open.iter().map(|(cut, _)| cut.clone()).collect();
        while let Some((cut, dropped)) = open.pop() {
            if self.must_stop() {
                break;
            }
            let listed = self.steps_after(race.at, &race.events(&cut))?;
            let mut found = Vec::new();
            for step in listed.steps.iter().filter(|step| step.event.path != race.event().path) {
                let model = &mut *self.model;
                let mut all = std::iter::once(&race.at).chain(&dropped);
                if all.all(|at| depend(model, &race.run[*at].0, &step.event)) {
                    self.reverse(race, &cut, &step.event);
                    found.push(&step.event);
                }
            }
            for at in &cut {
                let event = &race.run[*at].0;
                let matters = event.footprint.may_disable
                    || found.iter().any(|step| depend(&mut *self.model, event, step))
                    || self.model.varies()
                        && listed.steps.iter().any(|step| depend(&mut *self.model, event, &step.event));
                let left = |k: &usize| k != at && !race.happens_before(*at, *k);
                let smaller: Vec<usize> = cut.iter().copied().filter(left).collect();
                if matters && seen.insert(smaller.clone()) {
                    let kept = dropped.iter().copied().filter(left);
                    open.push((smaller, kept.chain([*at]).collect()));
                }
            }
        }
        Some(())
    }

    /// Sees to it that a step is explored before an event on which it depends, after a part of what comes later.
    fn reverse(&mut self, race: &Race<'_, M>, cut: &[usize], step: &Rc<Event<M>>) {
        if self.settings.method == Method::Optimal {
            let mut sequence = race.events(cut);
            sequence.push(Rc::clone(step));
            if !self.sleeps(race.at, &sequence) {
                insert(&mut *self.model, sequence, &mut self.nodes[race.at].tree);
            }
            return;
        }
        let mut needed: Vec<usize> = Vec::new();
        for at in cut.iter().rev() {
            let before = needed.iter().any(|later| race.happens_before(*at, *later));
            if before || depend(&mut *self.model, &race.run[*at].0, step) {
                needed.push(*at);
            }
        }
        needed.reverse();
        let first = |at: &usize| !needed.iter().any(|earlier| race.happens_before(*earlier, *at));
        let mut initials: Vec<Rc<Event<M>>> = race.events(&needed.iter().copied().filter(first).collect::<Vec<_>>());
        if needed.is_empty() {
            initials.push(Rc::clone(step));
        }
        let node = &mut self.nodes[race.at];
        let known = |step: &Rc<Event<M>>| node.back.iter().chain(&node.sleep).any(|other| other.path == step.path);
        if !initials.iter().any(known) {
            node.back.extend(initials.into_iter().next());
        }
    }
}
