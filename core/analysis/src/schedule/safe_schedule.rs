//! A schedule in a form that a walk can follow: whom it lets move in a state of the reference interpreter, and why somebody has to
//! wait.

use super::explored::Explored;
use super::places::{Places, shown};
use crate::as_state::as_state;
use crate::chart::fingerprint;
use fabius_machine::Machine;
use fabius_program::{Move, ProcessId, Program, Watch};
use fabius_search::restrict::{FixedOrder, Movers, Region, Wait, held, rank_of};
use fabius_witness::State;
use std::collections::HashMap;
use std::sync::Arc;

/// A schedule under which a model is safe; it was checked.
#[derive(Clone, Debug)]
pub struct SafeSchedule {
    program: Arc<Program>,
    rule: Rule,
    text: String,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Whoever has to wait does not move; each wait with its sentence.
    Waits(Places, Vec<(Wait, String)>),
    /// Only processes of the most important types of those that can move.
    Order(Places, FixedOrder),
    /// Of each state that is reached under it, by fingerprint: who may move.
    States(HashMap<u64, Vec<Movers>>),
}

/// Why a step has to wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MustWait {
    /// The process that waits.
    pub pid: u8,
    /// Why, in a sentence.
    pub why: String,
}

impl SafeSchedule {
    /// Waits; `None` if one cannot be told.
    pub(super) fn by_waits(program: &Arc<Program>, places: &Places, waits: &[Wait]) -> Option<Self> {
        let told = waits.iter().map(|wait| Some((*wait, places.wait(program, wait)?.text)));
        let told = told.collect::<Option<Vec<(Wait, String)>>>()?;
        let texts: Vec<&str> = told.iter().map(|(_, text)| text.as_str()).collect();
        let text = texts.join(", and ");
        Some(Self { program: Arc::clone(program), rule: Rule::Waits(places.clone(), told), text })
    }

    /// A fixed order of types.
    pub(super) fn by_order(program: &Arc<Program>, places: &Places, order: &FixedOrder) -> Self {
        let names: Vec<String> = order.kinds.iter().map(|&kind| places.who(kind)).collect();
        let text = format!("a process moves only where none of a more important type can: {}", names.join(", then "));
        Self { program: Arc::clone(program), rule: Rule::Order(places.clone(), order.clone()), text }
    }

    /// What a region allows, of the states that are reached so.
    pub(super) fn by_region(
        program: &Arc<Program>,
        (machine, watch): (&Machine, Watch),
        explored: &Explored,
        region: &Region,
    ) -> Self {
        let (mut allowed, mut words) = (HashMap::new(), Vec::new());
        for number in region.reached(&explored.graph) {
            explored.graph.recall(number, &mut words);
            let Some(view) = machine.view(&words) else { continue };
            let groups = explored.graph.groups_of(number).filter(|&group| region.allows(group));
            let movers: Vec<Movers> = groups.map(|group| explored.graph.group(group).movers).collect();
            let key = fingerprint(program, as_state(program, watch, &view));
            // Of two states with one fingerprint nothing is said.
            let known = allowed.entry(key).or_insert_with(|| movers.clone());
            known.retain(|one| movers.contains(one));
        }
        let text = "a scheduler that looks at the whole state".to_owned();
        Self { program: Arc::clone(program), rule: Rule::States(allowed), text }
    }

    /// It in words that go on after *under this schedule:*.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it speaks of the processes of a program: one may watch a claim beside them, but they have the same statements.
    pub fn fits(&self, program: &Program) -> bool {
        let same = |(own, other): (&fabius_program::Process, &fabius_program::Process)| {
            let spans = |process: &fabius_program::Process| -> Vec<_> {
                process.locations.iter().map(|location| location.span).collect()
            };
            own.name == other.name && spans(own) == spans(other)
        };
        let (own, other) = (&self.program.processes, &program.processes);
        own.len() <= other.len() && own.iter().zip(other).all(same)
    }

    /// Why a step has to wait in a state, if it has to; `possible` are the steps that the model allows there.
    ///
    /// Nothing is decided inside an atomic sequence, and of a state that is not reached under the schedule, one that looks at whole
    /// states says nothing.
    pub fn forbids(&self, state: &State, possible: &[Move], step: &Move) -> Option<MustWait> {
        if state.holder.is_some() {
            return None;
        }
        match &self.rule {
            Rule::Waits(places, waits) => self.has_to_wait(places, waits, state, step),
            Rule::Order(places, order) => self.is_less_important(places, order, state, possible, step),
            Rule::States(allowed) => {
                let system = State { claim: None, ..state.visible(&self.program) };
                let allowed = allowed.get(&fingerprint(&self.program, system))?;
                let why = "an error could follow that no scheduler can avoid, or nobody could go on";
                let is_allowed = allowed.contains(&movers(step));
                (!is_allowed)
                    .then(|| MustWait { pid: step.pid, why: format!("{} waits: {why}", self.name(state, step.pid)) })
            }
        }
    }

    fn has_to_wait(&self, places: &Places, waits: &[(Wait, String)], state: &State, step: &Move) -> Option<MustWait> {
        let sites = places.sites_of(state);
        let holds = |wait: &Wait, pid: u8| pid < 64 && held(&[*wait], &sites) & 1 << pid != 0;
        let each = waits.iter().flat_map(|wait| movers(step).into_iter().flatten().map(move |pid| (wait, pid)));
        let mut found = each.filter(|((wait, _), pid)| holds(wait, *pid));
        found.next().map(|((_, text), pid)| MustWait { pid, why: text.clone() })
    }

    fn is_less_important(
        &self,
        places: &Places,
        order: &FixedOrder,
        state: &State,
        possible: &[Move],
        step: &Move,
    ) -> Option<MustWait> {
        let sites = places.sites_of(state);
        let rank = |step: &Move| rank_of(movers(step), &sites, &order.kinds);
        let first = possible.iter().min_by_key(|step| rank(step)).filter(|first| rank(first) < rank(step))?;
        let (who, other) = (self.name(state, step.pid), self.name(state, first.pid));
        Some(MustWait { pid: step.pid, why: format!("{who} waits: {other} can move, and is more important") })
    }

    /// The name of the type of a process.
    fn name(&self, state: &State, pid: u8) -> String {
        let process = state.processes.get(usize::from(pid)).map_or(ProcessId(0), |process| process.process);
        format!("{}[{pid}]", shown(&self.program.process(process).name))
    }
}

/// Who takes part in a step of the system.
fn movers(step: &Move) -> Movers {
    [Some(step.pid), step.partner.map(|(partner, _)| partner)]
}
