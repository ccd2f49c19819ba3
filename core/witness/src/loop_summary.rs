//! What is to be known of a loop to explain it, gathered state by state: a loop may be long, and its states are not kept.

use fabius_program::{Move, Program};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::blocked::{Reason, Waiting, reasons_to_wait, waiting_at};
use crate::interpret::{Outcome, enabled, step};
use crate::show::Names;
use crate::state::State;
use crate::trace::elements_in_order;

/// Where a process waits in all states of a loop, and why.
#[derive(Clone, Debug)]
struct WaitsThroughout {
    /// Why in each of them, with the values that matter, as long as these are the same.
    same: Option<Vec<String>>,
    /// The statements, …
    texts: Vec<String>,
    /// … all of which are conditions that are false.
    all_false: bool,
    /// Not even that is the same.
    varies: bool,
}

impl WaitsThroughout {
    fn of(waiting: &[Waiting]) -> Self {
        let told = reasons_to_wait(waiting);
        let is_false = |waiting: &Waiting| matches!(waiting.reason, Reason::ConditionFalse { .. });
        let texts = waiting.iter().map(|waiting| format!("`{}`", waiting.text)).collect();
        let all_false = !waiting.is_empty() && waiting.iter().all(is_false);
        Self { same: Some(told), texts, all_false, varies: false }
    }

    /// Takes into account where it waits in one more state.
    fn join(&mut self, other: &Self) {
        if self.same != other.same {
            self.same = None;
            self.all_false &= other.all_false && self.texts == other.texts;
            self.varies = !self.all_false;
        }
    }

    fn reasons(&self) -> Vec<String> {
        let texts = self.texts.join(" and ");
        match &self.same {
            Some(reasons) => reasons.clone(),
            None if self.texts.is_empty() => Vec::new(),
            None if self.all_false && self.texts.len() == 1 => {
                vec![format!("at {texts}, which is false in every state of the loop")]
            }
            None if self.all_false => vec![format!("at {texts}, which are false in every state of the loop")],
            None => vec![format!("at {texts}, for reasons that change within the loop")],
        }
    }
}

/// A loop, summed up.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopSummary {
    /// The state before its first step.
    pub(crate) first: Option<State>,
    /// Number of its steps.
    pub(crate) steps: usize,
    /// The processes that move in it.
    pub(crate) movers: BTreeSet<u8>,
    /// The processes that stand at a progress label in one of its states.
    pub(crate) at_progress: BTreeSet<u8>,
    /// The processes that are at an acceptance label in one of its states in which nobody holds control, with the labels there.
    pub(crate) at_acceptance: BTreeSet<(u8, Vec<String>)>,
    /// Of each process that has not moved yet: where it waits in every state, and why.
    waiting: BTreeMap<u8, WaitsThroughout>,
    /// In how many states nobody holds control.
    open: usize,
    /// In how many of these each process can move.
    able: BTreeMap<u8, usize>,
    /// Of each global variable, which elements change.
    changed: Vec<Vec<bool>>,
    /// Which channels are not the same all the time.
    changed_channels: Vec<bool>,
    /// The last state and the step that is taken there, if there are variables that are not part of the state.
    last: Option<(State, Move)>,
}

impl LoopSummary {
    /// Adds a state of the system, and the step that is taken there; the one state of a loop without steps has none.
    pub(crate) fn add(&mut self, program: &Program, state: &State, step: Option<Move>) {
        if state.holder.is_none() {
            self.open += 1;
            enabled(program, state).into_iter().for_each(|pid| *self.able.entry(pid).or_default() += 1);
        }
        if let Some(step) = step {
            if program.globals.iter().any(|variable| variable.hidden) {
                self.last = Some((state.clone(), step));
            }
            self.steps += 1;
            self.movers.insert(step.pid);
            self.movers.extend(step.partner.map(|(pid, _)| pid));
        }
        self.compare_reasons(program, state);
        for (pid, process) in state.processes.iter().enumerate() {
            let location = &program.process(process.process).locations[process.location.0 as usize];
            if location.progress {
                self.at_progress.insert(pid as u8);
            }
            if location.accept && state.holder.is_none() {
                self.at_acceptance.insert((pid as u8, location.labels.clone()));
            }
        }
        match self.first.take() {
            None => {
                self.changed = state.globals.iter().map(|values| vec![false; values.len()]).collect();
                self.changed_channels = vec![false; state.channels.len()];
                self.first = Some(state.clone());
            }
            Some(first) => {
                self.compare(program, &first, state);
                self.first = Some(first);
            }
        }
    }

    /// Finds out whether processes wait for the same reasons as before.
    fn compare_reasons(&mut self, program: &Program, state: &State) {
        let alive = state.processes.len() as u8;
        let open: Vec<u8> = match &self.first {
            None => (0..alive).collect(),
            Some(_) => self.waiting.iter().filter(|(_, known)| !known.varies).map(|(pid, _)| *pid).collect(),
        };
        for pid in open.into_iter().filter(|pid| !self.movers.contains(pid)) {
            let now = WaitsThroughout::of(&waiting_at(program, state, pid, false));
            match self.waiting.entry(pid) {
                Entry::Vacant(place) => _ = place.insert(now),
                Entry::Occupied(mut known) => known.get_mut().join(&now),
            }
        }
    }

    /// Where a process that never moves waits, and why, as far as that is the same in all states: in half a sentence each.
    pub(crate) fn reasons_throughout(&self, pid: u8) -> Vec<String> {
        self.waiting.get(&pid).map_or_else(Vec::new, WaitsThroughout::reasons)
    }

    fn compare(&mut self, program: &Program, first: &State, state: &State) {
        for (index, (old, new)) in first.globals.iter().zip(&state.globals).enumerate() {
            if old != new {
                let changed = self.changed[index].iter_mut().zip(old.iter().zip(new.iter()));
                changed.for_each(|(changed, (old, new))| *changed |= old != new);
            }
        }
        // Whose channel it is depends on which processes there are.
        let types = |state: &State| state.processes.iter().map(|process| process.process).collect::<Vec<_>>();
        let alike = state.processes.len() == first.processes.len() && types(state) == types(first);
        for (index, changed) in self.changed_channels.iter_mut().enumerate().filter(|(_, changed)| !**changed) {
            let name = |state: &State| Names::of(program, state).channel(index as i32 + 1);
            *changed = state.channels.get(index) != first.channels.get(index) || !(alike || name(state) == name(first));
        }
    }

    /// In how many of the states in which nobody holds control a process can move, and whether that is in all of them.
    pub(crate) fn able(&self, pid: u8) -> (usize, bool) {
        let able = self.able.get(&pid).copied().unwrap_or(0);
        (able, able == self.open)
    }

    /// The variables that have another value after a round than before it: none of them is part of the state.
    pub(crate) fn not_restored(&self, program: &Program) -> Vec<String> {
        let (Some(first), Some((last, wanted))) = (&self.first, &self.last) else { return Vec::new() };
        let Ok(Outcome::Reaches { state: after, .. }) = step(program, last, *wanted).map(|taken| taken.outcome) else {
            return Vec::new();
        };
        let hidden = |(index, at): &(usize, usize)| {
            program.globals[*index].hidden && after.globals[*index][*at] != first.globals[*index][*at]
        };
        let elements = elements_in_order(&program.globals, &first.globals).into_iter().filter(hidden);
        elements.map(|(index, at)| program.globals[index].element_name(at)).collect()
    }

    /// Values that are the same before every step: names and values.
    pub(crate) fn unchanged(&self, program: &Program) -> Vec<(String, String)> {
        let Some(first) = &self.first else { return Vec::new() };
        let names = Names::of(program, first);
        let mut unchanged = Vec::new();
        for (index, element) in elements_in_order(&program.globals, &first.globals) {
            let (variable, value) = (&program.globals[index], first.globals[index][element]);
            if !self.changed[index][element] {
                unchanged.push((variable.element_name(element), names.value(variable.ty.kind, value)));
            }
        }
        for (index, channel) in first.channels.iter().enumerate() {
            if !self.changed_channels[index] {
                unchanged.push((names.channel(index as i32 + 1), names.contents(channel)));
            }
        }
        unchanged
    }
}
