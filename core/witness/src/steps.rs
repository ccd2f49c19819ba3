//! The steps of a confirmed path. Only the moves are kept, and a state here and there; what a person reads of a step is
//! worked out again when it is asked for, so a path of a million steps takes some megabytes.

use fabius_base::Span;
use fabius_program::{CLAIM_PID, Move, Program};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::interpret::{Outcome, Taken as Walked, step as take};
use crate::notes::{Note, NoteKind, lost_control, number_reused};
use crate::show::Names;
use crate::state::State;
use crate::trace::{Actor, HeldBack, Snapshot, Step, Taken, actor, snapshot};

/// At first, the state before every this many steps is kept; …
const SPACING: usize = 64;
/// … if more states than this are kept, every other one is dropped, …
const KEPT_MAX: usize = 1_024;
/// … and so it is if they take more memory than this.
const KEPT_BYTES_MAX: usize = 64 << 20;
/// This many moves that a claim makes in a row are looked back at.
const CLAIM_MOVES_MAX: usize = 64;

/// The steps of a confirmed path, in order: [`Step`]s are made when they are asked for.
#[derive(Clone)]
pub struct Steps {
    path: Arc<Path>,
    /// Who was held back before which step.
    held_back: BTreeMap<usize, Vec<HeldBack>>,
    /// Places of the program that have become others, because the text changed around them.
    places: HashMap<Span, Span>,
}

struct Path {
    program: Arc<Program>,
    moves: Vec<Move>,
    /// How many of the moves are the system's.
    taken: usize,
    /// The steps in which something is wrong.
    faults: Vec<usize>,
    /// A process holds control after some step.
    holds: bool,
    /// The states before the steps `0`, `spacing`, `2 * spacing` and so on, with the number of the step.
    kept: Vec<(usize, State)>,
    spacing: usize,
}

/// What is known of a step without walking there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outline {
    /// Its place among the steps, from 0.
    pub index: usize,
    /// Its number, see [`Step::number`].
    pub number: usize,
    /// The transition.
    pub taken: Move,
    /// The statement in the text.
    pub span: Span,
    /// The number by which a trail knows the statement.
    pub statement: u32,
    /// It is a move of the claim.
    pub is_claims: bool,
}

impl Default for Steps {
    fn default() -> Self {
        Recorder::new(&Arc::default()).finish()
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.path.moves).finish()
    }
}

impl Steps {
    /// How many there are, the moves of a claim among them.
    pub fn len(&self) -> usize {
        self.path.moves.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.path.moves.is_empty()
    }

    /// How many of them are the system's.
    pub fn taken(&self) -> usize {
        self.path.taken
    }

    /// The processes that take them.
    pub fn movers(&self) -> BTreeSet<u8> {
        self.path.moves.iter().map(|step| step.pid).filter(|pid| *pid != CLAIM_PID).collect()
    }

    /// Whether moves of a claim are among them.
    pub fn has_claim(&self) -> bool {
        self.path.taken < self.path.moves.len()
    }

    /// The transitions.
    pub fn moves(&self) -> &[Move] {
        &self.path.moves
    }

    /// The places of the steps in which something is wrong.
    pub fn faults(&self) -> &[usize] {
        &self.path.faults
    }

    /// Whether a process holds control after some step.
    pub fn holds(&self) -> bool {
        self.path.holds
    }

    /// All steps.
    pub fn iter(&self) -> Iter<'_> {
        self.from(0)
    }

    /// The steps from a place on.
    pub fn from(&self, index: usize) -> Iter<'_> {
        let walk = if index < self.len() { self.walk_to(index) } else { None };
        Iter { steps: self, end: self.len(), walk }
    }

    /// The step at a place.
    pub fn get(&self, index: usize) -> Option<Step> {
        self.from(index).next()
    }

    /// The last step.
    pub fn last(&self) -> Option<Step> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The steps with these numbers, the moves of a claim before each of them included.
    pub fn numbered(&self, first: usize, last: usize) -> Iter<'_> {
        let mut outline = self.outline();
        let start = outline.find(|step| first <= step.number).map_or(self.len(), |step| step.index);
        let end = self.outline().skip(start).find(|step| last < step.number).map_or(self.len(), |step| step.index);
        Iter { end, ..self.from(start) }
    }

    /// All steps, the last one first.
    pub fn backwards(&self) -> impl Iterator<Item = Step> + '_ {
        let spacing = self.path.spacing;
        let blocks = (0..self.path.kept.len()).rev();
        blocks.flat_map(move |block| {
            let start = block * spacing;
            let steps: Vec<Step> = self.from(start).take(spacing.min(self.len() - start)).collect();
            steps.into_iter().rev()
        })
    }

    /// What is known of all steps without walking.
    pub fn outline(&self) -> impl Iterator<Item = Outline> + '_ {
        let program = &self.path.program;
        let mut number = 1;
        self.path.moves.iter().enumerate().map(move |(index, taken)| {
            let statement = program.statement(program.process_of(taken.edge), taken.edge);
            let is_claims = taken.pid == CLAIM_PID;
            let (span, statement) = (self.place(statement.span), statement.number);
            let outline = Outline { index, number, taken: *taken, span, statement, is_claims };
            number += usize::from(!is_claims);
            outline
        })
    }

    /// Who takes a step, and the receiver of a rendezvous.
    pub fn actors(&self, index: usize) -> Option<(Actor, Option<Actor>)> {
        let step = self.path.moves.get(index)?;
        let moved = |(pid, edge)| {
            let actor = actor(&self.path.program, pid, edge);
            Actor { span: self.place(actor.span), ..actor }
        };
        Some((moved((step.pid, step.edge)), step.partner.map(moved)))
    }

    /// Walks along all steps: each with the state before it and what it does.
    pub(crate) fn visit(&self, visitor: &mut dyn FnMut(&Step, &State, &Outcome)) {
        let Some(mut walk) = self.walk_to(0) else { return };
        while let Some(taken) = walk.take(self) {
            visitor(&self.describe(&walk, &taken), &walk.state, &taken.outcome);
            walk.pass(self, taken);
        }
    }

    /// The program that takes them.
    pub(crate) fn program(&self) -> &Program {
        &self.path.program
    }

    /// The state after this many steps, as a person reads it; if a step leads nowhere, the state before it. Neither a claim
    /// nor an event trace is part of it.
    pub fn snapshot_after(&self, steps: usize) -> Option<Snapshot> {
        let mut walk = self.walk_to(steps.min(self.len()))?;
        walk.state = State { claim: None, trace: None, ..walk.state };
        let mut shown = snapshot(&self.path.program, &walk.state);
        shown.move_places(&|span| *span = self.place(*span));
        Some(shown)
    }

    /// Says that a process was held back before a step.
    pub fn hold_back(&mut self, index: usize, held_back: HeldBack) {
        self.held_back.entry(index).or_default().push(held_back);
    }

    /// Every place becomes the corresponding one of another text; what has none there stays as it is.
    pub fn move_places(&mut self, map: &HashMap<Span, Span>) {
        let moved = |span: &Span| map.get(span).copied().unwrap_or(*span);
        self.places.values_mut().for_each(|place| *place = moved(place));
        for (old, new) in map {
            self.places.entry(*old).or_insert(*new);
        }
        self.held_back.values_mut().flatten().for_each(|held| held.span = moved(&held.span));
    }

    fn place(&self, span: Span) -> Span {
        self.places.get(&span).copied().unwrap_or(span)
    }

    /// Walks to the state before a step, from the nearest one that is kept.
    fn walk_to(&self, index: usize) -> Option<Walk> {
        // Control may have been lost before the moves of a claim that lead here.
        let claims = self.path.moves[..index].iter().rev().take(CLAIM_MOVES_MAX);
        let from = index - claims.take_while(|step| step.pid == CLAIM_PID).count();
        let block = (from / self.path.spacing).min(self.path.kept.len().checked_sub(1)?);
        let (number, state) = self.path.kept[block].clone();
        let mut walk = Walk { index: block * self.path.spacing, number, state, lost: None };
        while walk.index < index {
            let taken = walk.take(self)?;
            walk.pass(self, taken);
        }
        Some(walk)
    }

    fn describe(&self, walk: &Walk, taken: &Walked) -> Step {
        let Walked { outcome, lost_control, stuttered, timeout } = taken;
        let (lost_control, stuttered, timeout) = (*lost_control, *stuttered, *timeout);
        let (number, step, before) = (walk.number, self.path.moves[walk.index], &walk.state);
        let known = Taken { number, step, before, outcome, lost_control, stuttered, timeout };
        let mut step = known.describe(&self.path.program);
        step.held_back = self.held_back.get(&walk.index).cloned().unwrap_or_default();
        if step.claim.is_some() {
            // The step of the system that follows says it.
            step.lost_control = None;
            step.notes.retain(|note| note.kind != NoteKind::AtomicityLost);
        } else if let Some((loser, text)) = &walk.lost {
            step.lost_control = Some(loser.clone());
            step.notes.insert(0, Note { kind: NoteKind::AtomicityLost, text: text.clone(), span: None });
        }
        for created in &step.created {
            let reused = number_reused(
                &self.path.program,
                created.pid,
                &created.name,
                self.moves_before(walk.index, walk.number),
            );
            step.notes.extend(reused);
        }
        if !self.places.is_empty() {
            step.actor.span = self.place(step.actor.span);
            step.partner.iter_mut().for_each(|partner| partner.span = self.place(partner.span));
            step.fault_span = self.place(step.fault_span);
            step.parts.iter_mut().for_each(|part| *part = self.place(*part));
            step.notes.iter_mut().for_each(|note| note.span = note.span.map(|span| self.place(span)));
        }
        step
    }

    /// The moves of the system before a place, the last one first, with their numbers; `number` is that of the step there.
    fn moves_before(&self, index: usize, number: usize) -> impl Iterator<Item = (Move, usize)> + '_ {
        let moves = self.path.moves[..index].iter().rev().filter(|step| step.pid != CLAIM_PID);
        moves.copied().zip((1..number).rev())
    }
}

/// A place on the path: the state before a step.
struct Walk {
    index: usize,
    number: usize,
    state: State,
    /// Who lost control before the moves of a claim that lead here, and why.
    lost: Option<(String, String)>,
}

impl Walk {
    /// What the next step does. The path was walked before, so it is possible.
    fn take(&self, steps: &Steps) -> Option<Walked> {
        let wanted = *steps.path.moves.get(self.index)?;
        let taken = take(&steps.path.program, &self.state, wanted);
        assert!(taken.is_ok(), "step {} was possible when it was confirmed: {wanted:?}", self.number);
        taken.ok()
    }

    fn pass(&mut self, steps: &Steps, taken: Walked) {
        let is_claims = steps.path.moves[self.index].pid == CLAIM_PID;
        let program = &steps.path.program;
        match taken.lost_control {
            _ if !is_claims => self.lost = None,
            Some(loser) => {
                let name = Names::of(program, &self.state).process(loser);
                self.lost = Some((name, lost_control(program, &self.state, loser)));
            }
            None => {}
        }
        self.number += usize::from(!is_claims);
        self.index += 1;
        if let Outcome::Reaches { state, .. } = taken.outcome {
            self.state = state;
        }
    }
}

/// Goes along the steps.
pub struct Iter<'a> {
    steps: &'a Steps,
    end: usize,
    walk: Option<Walk>,
}

impl Iterator for Iter<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let walk = self.walk.as_mut().filter(|walk| walk.index < self.end)?;
        let taken = walk.take(self.steps)?;
        let step = self.steps.describe(walk, &taken);
        walk.pass(self.steps, taken);
        Some(step)
    }
}

impl<'a> IntoIterator for &'a Steps {
    type Item = Step;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Keeps the steps of a path while it is walked.
pub(crate) struct Recorder {
    path: Path,
    bytes: usize,
}

impl Recorder {
    pub(crate) fn new(program: &Arc<Program>) -> Self {
        let program = Arc::clone(program);
        let (moves, faults, kept) = (Vec::new(), Vec::new(), Vec::new());
        Self { path: Path { program, moves, taken: 0, faults, holds: false, kept, spacing: SPACING }, bytes: 0 }
    }

    /// How many steps of the system there are so far.
    pub(crate) fn taken(&self) -> usize {
        self.path.taken
    }

    /// How many steps there are so far.
    pub(crate) fn len(&self) -> usize {
        self.path.moves.len()
    }

    /// Adds a step from a state.
    pub(crate) fn add(&mut self, before: &State, step: Move, outcome: &Outcome) {
        let index = self.len();
        if index.is_multiple_of(self.path.spacing) {
            self.path.kept.push((self.path.taken + 1, before.clone()));
            self.bytes += before.bytes();
            if KEPT_MAX < self.path.kept.len() || KEPT_BYTES_MAX < self.bytes {
                self.thin_out();
            }
        }
        if outcome.fault().is_some() {
            self.path.faults.push(index);
        }
        self.path.holds |= outcome.state().is_some_and(|state| state.holder.is_some());
        self.path.taken += usize::from(step.pid != CLAIM_PID);
        self.path.moves.push(step);
    }

    /// Drops every other state; the first one stays.
    fn thin_out(&mut self) {
        let mut index = 0;
        self.path.kept.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.path.spacing *= 2;
        self.bytes = self.path.kept.iter().map(|(_, state)| state.bytes()).sum();
    }

    pub(crate) fn finish(mut self) -> Steps {
        self.path.moves.shrink_to_fit();
        Steps { path: Arc::new(self.path), held_back: BTreeMap::new(), places: HashMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Values;

    #[test]
    fn few_states_are_kept_of_a_long_path_and_fewer_of_large_ones() {
        let step = Move { pid: 0, edge: fabius_program::EdgeId(0), partner: None };
        let walked = |steps: usize, elements: usize| {
            let mut state = State::initial(&Program::default()).expect("nothing can fail in it");
            state.globals = vec![Values::repeated(0, elements)];
            let outcome = Outcome::Reaches { state: state.clone(), events: Vec::new(), assertion_failed: false };
            let mut recorder = Recorder::new(&Arc::default());
            (0..steps).for_each(|_| recorder.add(&state, step, &outcome));
            (recorder.finish().path, state.bytes())
        };
        let (small, _) = walked(1_000_000, 1);
        assert!((KEPT_MAX / 4..=KEPT_MAX).contains(&small.kept.len()), "{}", small.kept.len());
        assert!(small.kept.iter().enumerate().all(|(index, (number, _))| *number == index * small.spacing + 1));
        let (large, bytes) = walked(100_000, 1 << 20);
        assert!(large.kept.len() * bytes <= KEPT_BYTES_MAX && 4 < large.kept.len(), "{}", large.kept.len());
        assert!(size_of::<Move>() <= 24, "what every step costs");
    }
}
