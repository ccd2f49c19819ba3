//! Potentials: values that are sums of numbers of locations.
//!
//! A variable or the number of messages in a channel has a *potential* if each process contributes to it an amount that
//! depends on its location only: value = start + Σ φ(location of p), in every state. So it is with locks, semaphores,
//! flags of one process, tokens and levels of channels. φ is found by walking the automaton of each process:
//!
//! * `x = x + k`, a send and a receive change the value by a known amount.
//! * `x = k` does so where it is known what was there before: from the guard, within an atomic sequence that cannot be
//!   interrupted. Elsewhere it is *assumed* that nobody else contributes to `x` then, which is checked afterwards: wherever
//!   the assignment may happen, the sum must allow no other value.
//!
//! The check is an induction over steps: where the sum is right before a step, it is right after it.

use super::extract::Context;
use super::participants::Participant;
use super::step::{Condition, Relation, Step, Subject, UseKind};
use super::value::type_bounds;
use super::walk::operands;
use super::{Facts, WhyNotTold};
use crate::{Action, BinaryOp, BlockExit, EdgeId, Expr, Pattern, Slot, VariableId};

/// More different values are not told apart.
const VALUES_MAX: i64 = 16;

/// A number of the state whose values are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// A cell that stands for one element of a global variable.
    Cell(u32),
    /// The number of messages in the channel with this identity.
    Level(usize),
}

/// What is known of a quantity.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub quantity: Quantity,
    pub start: i64,
    /// The least and the greatest value that it can have.
    pub range: (i64, i64),
    /// The values that it can have; `None` if too many or not known.
    pub values: Option<Vec<i64>>,
    /// For each participant, the contribution of each location; empty if there is no potential.
    pub potential: Vec<Vec<i64>>,
}

impl Known {
    /// The least and the greatest value between two others that it can have.
    fn within(&self, low: i64, high: i64) -> Option<(i64, i64)> {
        let (low, high) = (low.max(self.range.0), high.min(self.range.1));
        match &self.values {
            None => (low <= high).then_some((low, high)),
            Some(values) => {
                let mut possible = values.iter().copied().filter(|value| (low..=high).contains(value));
                let first = possible.next()?;
                Some((first, possible.next_back().unwrap_or(first)))
            }
        }
    }

    /// The only value between two others that it can have; whether there is one at all.
    pub(super) fn between(&self, low: i64, high: i64) -> (Option<i64>, bool) {
        let within = self.within(low, high);
        (within.and_then(single), within.is_some())
    }
}

/// Values in the state with which runs begin.
pub trait StartValues {
    /// The value of an element of a global variable, if it is known.
    fn global(&self, variable: VariableId, element: u32) -> Option<i32>;
    /// The number of messages in the channel with this identity, which belongs to a global variable.
    fn level(&self, channel: usize) -> Option<u32>;
}

/// How a step changes a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    Same,
    Add(i64),
    Set(i64),
    Unknown,
}

impl Change {
    fn then(self, next: Self) -> Self {
        match (self, next) {
            (change, Self::Same) | (Self::Same, change) => change,
            (_, Self::Set(k)) => Self::Set(k),
            (Self::Add(a), Self::Add(b)) => Self::Add(a + b),
            _ => Self::Unknown,
        }
    }
}

/// A step of a participant, as far as a quantity is concerned.
struct Moving {
    id: EdgeId,
    source: usize,
    target: usize,
    change: Change,
}

/// A step of which it is assumed what was there before.
struct Assumed {
    participant: usize,
    edge: EdgeId,
    source: usize,
    before: i64,
}

/// Finds what is known of quantities.
pub(super) struct Finder<'f> {
    pub facts: &'f Facts,
    pub participants: &'f [Participant],
    pub contexts: Vec<Context<'f>>,
    /// For each participant and location, whether the process can always go on there.
    open: Vec<Vec<bool>>,
}

impl<'f> Finder<'f> {
    pub(super) fn new(facts: &'f Facts, participants: &'f [Participant]) -> Self {
        let contexts: Vec<Context<'f>> = participants.iter().map(|it| facts.context(&it.instance.key)).collect();
        let open = contexts.iter().map(|context| open_locations(facts, context)).collect();
        Self { facts, participants, contexts, open }
    }

    /// Whether a participant can always go on at a location.
    pub(super) fn is_open(&self, participant: usize, location: usize) -> bool {
        self.open[participant][location]
    }

    /// The actions of a location.
    pub(super) fn actions(&self, participant: usize, location: usize) -> Vec<&'f Action> {
        let process = self.facts.program.process(self.participants[participant].process());
        let edges = self.facts.program.edges_of(&process.locations[location]);
        edges.map(|(_, edge)| &process.statements[edge.statement.0 as usize].action).collect()
    }

    /// Whether which edges are tried at a location depends on others of its edges.
    pub(super) fn has_escapes(&self, participant: usize, location: usize) -> bool {
        let process = self.facts.program.process(self.participants[participant].process());
        self.facts.program.edges_of(&process.locations[location]).any(|(_, edge)| edge.escape != 0)
    }

    /// What is known of all quantities on which it depends whether a step can be taken.
    pub(super) fn find(&self, values: &dyn StartValues, stop: &dyn Fn() -> bool) -> Result<Vec<Known>, WhyNotTold> {
        let mut found = Vec::new();
        for (quantity, start, range) in self.quantities(values) {
            if stop() {
                return Err(WhyNotTold::Stopped);
            }
            found.push(self.known(quantity, start, range));
        }
        Ok(found)
    }

    /// The quantities on which guards depend, with their values at the start and the bounds of their types.
    fn quantities(&self, values: &dyn StartValues) -> Vec<(Quantity, i64, (i64, i64))> {
        let (mut cells, mut channels) = (super::Bits::default(), super::Channels::NONE);
        let steps = self.participants.iter().flat_map(|it| {
            self.facts.edges_of_participant(it).map(|(id, _)| &it.instance.steps[self.facts.index_of(id)])
        });
        for step in steps {
            if let Condition::Vague(more, of) = super::guard::vague(&step.guard) {
                cells.extend(&more);
                channels = channels.with(of);
            }
        }
        let mut found = Vec::new();
        for (at, global) in self.facts.program.globals.iter().enumerate() {
            let variable = VariableId(at as u32);
            for element in 0..global.element_count().min(super::cells::ELEMENTS_MAX) {
                let (range, alone) =
                    self.facts.cells.of_slot(None, Slot::Global(variable), Some(element), global.element_count());
                if alone
                    && cells.contains(range.start as usize)
                    && let Some(start) = values.global(variable, element)
                {
                    found.push((Quantity::Cell(range.start), start.into(), type_bounds(global.ty)));
                }
            }
        }
        for channel in 1..=self.facts.global_channels() {
            if channels.meets(super::Channels::one(channel as i32))
                && let Some(level) = values.level(channel)
                && let Some(capacity) = self.facts.channels.capacity(&self.facts.program, channel)
            {
                found.push((Quantity::Level(channel), level.into(), (0, capacity.into())));
            }
        }
        found
    }

    fn known(&self, quantity: Quantity, start: i64, range: (i64, i64)) -> Known {
        let changes: Vec<Vec<Moving>> =
            (0..self.participants.len()).map(|participant| self.changes(participant, quantity)).collect();
        let values = values_of(&changes, start, range);
        let mut known = Known { quantity, start, range, values, potential: Vec::new() };
        let held: Vec<Vec<Option<(i64, i64)>>> =
            changes.iter().enumerate().map(|(participant, changes)| self.held(participant, changes, &known)).collect();
        let (mut potential, mut assumed) = (Vec::new(), Vec::new());
        for (participant, changes) in changes.iter().enumerate() {
            let Some(phi) = self.walk(participant, &held[participant], changes, &known, &mut assumed) else {
                return known;
            };
            potential.push(phi);
        }
        // The values that a quantity can have where an edge is taken, if it has been the sum up to there.
        let possible = |participant: usize, edge: EdgeId, source: usize| {
            let (low, high) = self.before(participant, edge, &known, held[participant][source]);
            let here = start + potential[participant][source];
            let others = potential.iter().enumerate().filter(|(other, _)| *other != participant);
            let (least, greatest) = others.fold((here, here), |(low, high), (_, phi): (_, &Vec<i64>)| {
                (low + phi.iter().min().unwrap_or(&0), high + phi.iter().max().unwrap_or(&0))
            });
            known.within(low.max(least), high.min(greatest))
        };
        let is_right = |it: &Assumed| {
            possible(it.participant, it.edge, it.source).is_none_or(|values| values == (it.before, it.before))
        };
        // Nothing is added beyond what the type can hold.
        let fits = |participant: usize, it: &Moving| match it.change {
            Change::Add(by) => possible(participant, it.id, it.source)
                .is_none_or(|(low, high)| range.0 <= low + by && high + by <= range.1),
            _ => true,
        };
        let counted = matches!(quantity, Quantity::Level(_));
        let mut all = changes.iter().enumerate().flat_map(|(at, changes)| changes.iter().map(move |it| (at, it)));
        if assumed.iter().all(is_right) && (counted || all.all(|(participant, it)| fits(participant, it))) {
            known.potential = potential;
        }
        known
    }

    /// How the steps of a participant change a quantity.
    fn changes(&self, participant: usize, quantity: Quantity) -> Vec<Moving> {
        let it = &self.participants[participant];
        let context = &self.contexts[participant];
        let statements = &self.facts.program.process(it.process()).statements;
        let moving = |(id, edge): (EdgeId, &crate::Edge)| {
            let step = &it.instance.steps[self.facts.index_of(id)];
            let action = &statements[edge.statement.0 as usize].action;
            let change = match quantity {
                Quantity::Cell(cell) if !step.written.contains(cell as usize) => Change::Same,
                Quantity::Cell(cell) => change_of_cell(context, action, cell),
                Quantity::Level(channel) => change_of_level(step, channel),
            };
            // In a rendezvous both sides change values, so that what was there before is not what the guard says.
            let change = if step.is_alone() || !matches!(change, Change::Set(_)) { change } else { Change::Unknown };
            Moving { id, source: edge.source.0 as usize, target: edge.target.0 as usize, change }
        };
        self.facts.edges_of_participant(it).map(moving).collect()
    }

    /// The least and the greatest value that a quantity can have where an edge is taken, by what was seen before and by
    /// the edge's guard.
    fn before(&self, participant: usize, edge: EdgeId, known: &Known, held: Option<(i64, i64)>) -> (i64, i64) {
        let step = &self.participants[participant].instance.steps[self.facts.index_of(edge)];
        let (mut low, mut high) = held.unwrap_or(known.range);
        // A second round, since a value that is not equal to another one matters at the ends only.
        for _ in 0..2 {
            for part in &step.guard {
                if let (Condition::Cell(cell, check), Quantity::Cell(quantity)) = (part, known.quantity)
                    && *cell == quantity
                    && let Subject::Global(..) = check.subject
                {
                    (low, high) = narrowed((low, high), check.relation, check.value.into());
                }
            }
            if let Some(values) = &known.values {
                low = values.iter().copied().find(|value| low <= *value).unwrap_or(high + 1);
                high = values.iter().copied().rfind(|value| *value <= high).unwrap_or(low - 1);
            }
        }
        (low, high)
    }

    /// What each location contributes, if that depends on the location only; notes what is assumed.
    fn walk(
        &self,
        participant: usize,
        held: &[Option<(i64, i64)>],
        changes: &[Moving],
        known: &Known,
        assumed: &mut Vec<Assumed>,
    ) -> Option<Vec<i64>> {
        let it = &self.participants[participant];
        let mut phi: Vec<Option<i64>> = vec![None; it.reachable.len()];
        phi[it.start.0 as usize] = Some(0);
        let before = |moving: &Moving| single(self.before(participant, moving.id, known, held[moving.source]));
        // What is known for sure comes first, what is assumed where there is nothing else.
        let mut later: Vec<&Moving> = changes.iter().collect();
        while !later.is_empty() {
            let count = later.len();
            let mut sure = Vec::new();
            for moving in std::mem::take(&mut later) {
                let by = match moving.change {
                    Change::Unknown => return None,
                    Change::Same => Some(0),
                    Change::Add(by) => Some(by),
                    Change::Set(to) => before(moving).map(|before| to - before),
                };
                match (phi[moving.source], by) {
                    (Some(here), Some(by)) => sure.push((moving.target, here + by)),
                    _ => later.push(moving),
                }
            }
            for (target, value) in sure {
                if *phi[target].get_or_insert(value) != value {
                    return None;
                }
            }
            if later.len() == count {
                let next = later.iter().position(|moving| phi[moving.source].is_some())?;
                let moving = later.swap_remove(next);
                let (here, Change::Set(to)) = (phi[moving.source]?, moving.change) else { return None };
                let after = *phi[moving.target].get_or_insert(to - known.start);
                let (edge, source) = (moving.id, moving.source);
                assumed.push(Assumed { participant, edge, source, before: to - (after - here) });
            }
        }
        // A location that cannot be reached contributes nothing.
        Some(phi.into_iter().map(|phi| phi.unwrap_or(0)).collect())
    }

    /// For each location, the least and the greatest value of a quantity there, if the process has held control since it
    /// saw it.
    fn held(&self, participant: usize, changes: &[Moving], known: &Known) -> Vec<Option<(i64, i64)>> {
        let it = &self.participants[participant];
        let program = &self.facts.program;
        let mut held: Vec<Option<(i64, i64)>> = vec![None; it.reachable.len()];
        let keeps = |moving: &Moving| {
            program.edge(moving.id).atomic && it.instance.steps[self.facts.index_of(moving.id)].offers.is_empty()
        };
        let mut entered = vec![Vec::new(); it.reachable.len()];
        changes.iter().for_each(|moving| entered[moving.target].push(moving));
        loop {
            let mut changed = false;
            for (at, entered) in entered.iter().enumerate() {
                let through = self.open[participant][at] && at != it.start.0 as usize;
                if held[at].is_some() || !through || !entered.iter().all(|moving| keeps(moving)) {
                    continue;
                }
                let after = |moving: &&Moving| {
                    let (low, high) = self.before(participant, moving.id, known, held[moving.source]);
                    match moving.change {
                        Change::Set(to) => Some((to, to)),
                        Change::Same => Some((low, high)),
                        Change::Add(by) if known.range.0 <= low + by && high + by <= known.range.1 => {
                            Some((low + by, high + by))
                        }
                        Change::Add(_) | Change::Unknown => None,
                    }
                };
                let joined = entered.iter().map(after).reduce(|a, b| {
                    let ((a_low, a_high), (b_low, b_high)) = (a?, b?);
                    Some((a_low.min(b_low), a_high.max(b_high)))
                });
                held[at] = joined.flatten().filter(|(low, high)| low <= high);
                changed |= held[at].is_some();
            }
            if !changed {
                return held;
            }
        }
    }
}

fn single((low, high): (i64, i64)) -> Option<i64> {
    (low == high).then_some(low)
}

/// The bounds of the numbers between two others that are in a relation to a third.
fn narrowed((mut low, mut high): (i64, i64), relation: Relation, to: i64) -> (i64, i64) {
    let (less, equal, greater) = (relation.holds(0, 1), relation.holds(0, 0), relation.holds(1, 0));
    if !less {
        low = low.max(if equal { to } else { to + 1 });
    }
    if !greater {
        high = high.min(if equal { to } else { to - 1 });
    }
    if !equal {
        low += i64::from(low == to);
        high -= i64::from(high == to);
    }
    (low, high)
}

/// For each location of a process, whether it can always go on there.
fn open_locations(facts: &Facts, context: &Context<'_>) -> Vec<bool> {
    let Some((_, process)) = context.process else { return Vec::new() };
    let is_open = |location: &crate::Location| {
        let mut edges = facts.program.edges_of(location);
        edges.any(|(_, edge)| context.is_always_possible(&process.statements[edge.statement.0 as usize].action))
    };
    process.locations.iter().map(is_open).collect()
}

/// The values that a quantity can have, if they are few.
fn values_of(changes: &[Vec<Moving>], start: i64, range: (i64, i64)) -> Option<Vec<i64>> {
    let mut values = vec![start];
    for moving in changes.iter().flatten() {
        match moving.change {
            Change::Same => {}
            Change::Set(to) if values.len() as i64 <= VALUES_MAX => values.push(to),
            Change::Set(_) | Change::Add(_) | Change::Unknown => {
                return (range.1 - range.0 < VALUES_MAX).then(|| (range.0..=range.1).collect());
            }
        }
    }
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// How an action changes a cell that it may write to.
fn change_of_cell(context: &Context<'_>, action: &Action, cell: u32) -> Change {
    let of = |action: &Action| change_of_cell(context, action, cell);
    match action {
        Action::Assign(place, e) => {
            let (cells, alone) = context.cells_of(place);
            if !cells.contains(&cell) {
                return Change::Same;
            }
            let Some(variable) = context.variable(place.slot).filter(|_| alone) else { return Change::Unknown };
            if let Some(value) = context.constant(e, 0) {
                return Change::Set(variable.ty.truncate(value).into());
            }
            let Some(by) = context.change_of(place, e).and_then(|by| context.constant(by, 0)) else {
                return Change::Unknown;
            };
            let falls = matches!(e, Expr::Binary(BinaryOp::Subtract, ..));
            Change::Add(if falls { -i64::from(by) } else { by.into() })
        }
        Action::Merged(actions) => actions.iter().fold(Change::Same, |change, action| change.then(of(action))),
        Action::Block(block) => {
            let last = block.nodes.len().wrapping_sub(1);
            let straight = block.nodes.iter().enumerate().all(|(at, node)| match &node.options[..] {
                [only] if at == last => only.next == BlockExit::Leave,
                [only] => only.next == BlockExit::Node(at as u32 + 1),
                _ => false,
            });
            let options = || block.nodes.iter().flat_map(|node| &node.options);
            if straight {
                options().fold(Change::Same, |change, option| change.then(of(&option.action)))
            } else if options().all(|option| of(&option.action) == Change::Same) {
                Change::Same
            } else {
                Change::Unknown
            }
        }
        Action::Receive(receive) => {
            let stored = receive.fields.iter().filter_map(|field| match field {
                Pattern::Store(place) => Some(place),
                _ => None,
            });
            let mut cells = stored.flat_map(|place| context.cells_of(place).0);
            if cells.any(|stored| stored == cell) { Change::Unknown } else { Change::Same }
        }
        action if operands(action).1.is_empty() => Change::Same,
        _ => Change::Unknown,
    }
}

/// How a step changes the number of messages in a channel.
fn change_of_level(step: &Step, channel: usize) -> Change {
    let channels = super::Channels::one(channel as i32);
    let uses = step.uses.iter().filter(|used| used.channels.meets(channels));
    uses.fold(Change::Same, |change, used| {
        let surely = used.channels == channels;
        change.then(match used.kind {
            UseKind::Look | UseKind::Peek { .. } => Change::Same,
            UseKind::Append(_) | UseKind::Insert if surely => Change::Add(1),
            UseKind::Take { .. } if surely => Change::Add(-1),
            _ => Change::Unknown,
        })
    })
}
