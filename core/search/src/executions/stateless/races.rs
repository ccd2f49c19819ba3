//! Races of a run, and what is explored because of them.

use super::event::{ByAddress, depend};
use super::event_set::EventSet;
use super::explorer::Explorer;
use super::{Dependence, Event, Method};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;

/// So many races of an event are remembered of which parts were looked at.
const RACED_MAX: usize = 1 << 6;

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
pub(super) fn weak_initial<'e, M: Dependence + 'e>(
    model: &mut M,
    step: &Event<M>,
    sequence: impl Iterator<Item = &'e Rc<Event<M>>>,
) -> bool {
    for event in sequence {
        if event.is(step) {
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
    while let Some(at) = tree.iter().position(|branch| weak_initial(model, &branch.event, sequence.iter())) {
        let branch = &mut tree[at];
        if let Some(at) = sequence.iter().position(|event| event.is(&branch.event)) {
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
type Placed<M> = (Rc<Event<M>>, EventSet);

/// A run, as races see it.
struct Run<M: Dependence> {
    events: Vec<Placed<M>>,
    /// For each event, which events after it happen after it.
    after: Vec<EventSet>,
}

impl<M: Dependence> Run<M> {
    fn new(events: Vec<Placed<M>>) -> Self {
        let mut after = vec![EventSet::new(events.len()); events.len()];
        for (later, (_, before)) in events.iter().enumerate() {
            before.iter().for_each(|earlier| after[earlier].insert(later));
        }
        Self { events, after }
    }
}

/// A race of a run: an event, and what comes after it but does not happen after it.
struct Race<'r, M: Dependence> {
    run: &'r Run<M>,
    /// The event's place in the run.
    at: usize,
}

impl<'r, M: Dependence> Race<'r, M> {
    fn event(&self) -> &'r Rc<Event<M>> {
        self.event_at(self.at)
    }

    fn event_at(&self, place: usize) -> &'r Rc<Event<M>> {
        &self.run.events[place].0
    }

    fn concurrent(&self) -> EventSet {
        let mut later = EventSet::new(self.run.events.len());
        (self.at + 1..self.run.events.len()).for_each(|place| later.insert(place));
        later.without(&self.run.after[self.at])
    }

    /// Whether nothing comes between the event and a later one that happens after it.
    fn immediate(&self, later: usize) -> bool {
        let after = &self.run.after[self.at];
        after.contains(later) && !after.meets(&self.run.events[later].1)
    }

    fn events<'c>(&self, cut: &'c EventSet) -> impl Iterator<Item = &'r Rc<Event<M>>> + Clone + use<'c, 'r, M> {
        let run = self.run;
        cut.iter().map(|place| &run.events[place].0)
    }

    /// A part without an event and all that happens after it.
    fn smaller(&self, part: &EventSet, place: usize) -> EventSet {
        let mut smaller = part.without(&self.run.after[place]);
        smaller.remove(place);
        smaller
    }
}

impl<M: Dependence> Explorer<'_, M> {
    /// Looks for races of the present run, with a last event if there is no node after it.
    pub(super) fn races(&mut self, last: Option<Placed<M>>) {
        if self.settings.method == Method::Sleep {
            return;
        }
        let placed = self.nodes.iter().filter_map(|node| Some((node.arrived.clone()?, node.before.clone())));
        let run = Run::new(placed.chain(last).collect());
        for at in 0..run.events.len() {
            if self.must_stop() {
                return;
            }
            let race = Race { run: &run, at };
            let possible = match race.event().footprint.may_disable || self.model.varies() {
                true if !self.is_new(&race) => Some(()),
                true => self.cuts(&race),
                false => self.neighbours(&race),
            };
            // A step that was not listed because the search must stop is none.
            self.contradiction |= possible.is_none() && !self.must_stop();
        }
    }

    /// Whether the parts of a race were not looked at before. What is done about them depends on the node where it begins, the event,
    /// and what comes later and does not happen after the event; to do it again would change nothing.
    fn is_new(&mut self, race: &Race<'_, M>) -> bool {
        let concurrent = race.concurrent();
        let events = race.events(&concurrent).map(|event| ByAddress(Rc::clone(event))).collect();
        let raced = &mut self.nodes[race.at].raced;
        if RACED_MAX <= raced.len() {
            raced.clear();
        }
        raced.insert(events)
    }

    /// Events that could come right after one that prevents nothing: they are possible without it, unless it made them
    /// possible. `None` if what must be possible is not.
    fn neighbours(&mut self, race: &Race<'_, M>) -> Option<()> {
        let cut = race.concurrent();
        for later in (race.at + 1..race.run.events.len()).filter(|later| race.immediate(*later)) {
            if self.must_stop() {
                break;
            }
            let (event, other) = (race.event(), race.event_at(later));
            if self.model.share_process(&event.footprint.touched, &other.footprint.touched) {
                continue;
            }
            // A message has another number where others went before.
            let moved = if event.footprint.may_enable || other.footprint.message.is_some() {
                let listed = self.steps_after(race.at, race.events(&cut))?;
                listed.steps.iter().map(|step| &step.event).find(|step| step.is(other)).cloned()
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
        let mut open = vec![(race.concurrent(), EventSet::new(race.run.events.len()))];
        let mut seen: FxHashSet<EventSet> = open.iter().map(|(cut, _)| cut.clone()).collect();
        while let Some((cut, dropped)) = open.pop() {
            if self.must_stop() {
                break;
            }
            let listed = self.steps_after(race.at, race.events(&cut))?;
            let mut found: SmallVec<[&Rc<Event<M>>; 4]> = SmallVec::new();
            for step in listed.steps.iter().filter(|step| !step.event.is(race.event())) {
                let model = &mut *self.model;
                let mut all = std::iter::once(race.at).chain(dropped.iter());
                if all.all(|place| depend(model, race.event_at(place), &step.event)) {
                    self.reverse(race, &cut, &step.event);
                    found.push(&step.event);
                }
            }
            for place in cut.iter() {
                let event = race.event_at(place);
                let matters = event.footprint.may_disable
                    || found.iter().any(|step| depend(&mut *self.model, event, step))
                    || self.model.varies()
                        && listed.steps.iter().any(|step| depend(&mut *self.model, event, &step.event));
                if !matters {
                    continue;
                }
                let smaller = race.smaller(&cut, place);
                if !seen.contains(&smaller) {
                    let mut kept = race.smaller(&dropped, place);
                    kept.insert(place);
                    seen.insert(smaller.clone());
                    open.push((smaller, kept));
                }
            }
        }
        Some(())
    }

    /// Sees to it that a step is explored before an event on which it depends, after a part of what comes later.
    fn reverse(&mut self, race: &Race<'_, M>, cut: &EventSet, step: &Rc<Event<M>>) {
        if self.settings.method == Method::Optimal {
            let sequence = race.events(cut).chain([step]);
            if !self.sleeps(race.at, sequence.clone()) {
                insert(&mut *self.model, sequence.cloned().collect(), &mut self.nodes[race.at].tree);
            }
            return;
        }
        let mut needed = EventSet::new(race.run.events.len());
        let places: Vec<usize> = cut.iter().collect();
        for place in places.into_iter().rev() {
            let before = needed.meets(&race.run.after[place]);
            if before || depend(&mut *self.model, race.event_at(place), step) {
                needed.insert(place);
            }
        }
        let first = |place: &usize| !needed.meets(&race.run.events[*place].1);
        let mut initials: Vec<&Rc<Event<M>>> = needed.iter().filter(first).map(|place| race.event_at(place)).collect();
        if initials.is_empty() {
            initials.push(step);
        }
        let node = &mut self.nodes[race.at];
        let known = |step: &Rc<Event<M>>| node.back.iter().chain(&node.sleep).any(|other| other.is(step));
        if !initials.iter().any(|step| known(step)) {
            node.back.extend(initials.first().map(|step| Rc::clone(step)));
        }
    }
}
