//! A schedule in a form that a walk can follow: whom it lets move in a state of the reference interpreter, and why somebody has to
//! wait.

use super::explored::Explored;
use super::places::{Places, shown};
use crate::as_state::as_state;
use crate::chart::fingerprint;
use fabius_machine::Machine;
use fabius_program::{Move, Process, ProcessId, Program, Watch};
use fabius_search::restrict::{FixedOrder, Movers, PROCESSES_MAX, Region, Wait, held, rank_of};
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
    /// Of each state that is reached under it, by fingerprint: who may move; nothing if two states have the same one.
    States(HashMap<u64, Option<Vec<Movers>>>),
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
        let (mut allowed, mut words) = (HashMap::<u64, Option<Vec<Movers>>>::new(), Vec::new());
        for number in region.reached(&explored.graph) {
            explored.graph.recall(number, &mut words);
            let Some(view) = machine.view(&words) else { continue };
            let groups = explored.graph.groups_of(number).filter(|&group| region.allows(group));
            let movers: Vec<Movers> = groups.map(|group| explored.graph.group(group).movers).collect();
            let key = fingerprint(program, as_state(program, watch, &view));
            allowed.entry(key).and_modify(|known| *known = None).or_insert(Some(movers));
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
        let same = |(own, other): (&Process, &Process)| {
            let spans =
                |process: &Process| -> Vec<_> { process.locations.iter().map(|location| location.span).collect() };
            own.name == other.name && spans(own) == spans(other)
        };
        let (own, other) = (&self.program.processes, &program.processes);
        own.len() <= other.len() && own.iter().zip(other).all(same)
    }

    /// Why a step has to wait in a state, if it has to; `possible` are the steps that the model allows there.
    ///
    /// Nothing is decided inside an atomic sequence, and where there are more processes than schedules are about. Of a state that is not
    /// reached under it, a schedule that looks at whole states says nothing.
    pub fn forbids(&self, state: &State, possible: &[Move], step: &Move) -> Option<MustWait> {
        if state.holder.is_some() || PROCESSES_MAX < state.processes.len() {
            return None;
        }
        match &self.rule {
            Rule::Waits(places, waits) => self.has_to_wait(places, waits, state, step),
            Rule::Order(places, order) => self.is_less_important(places, order, state, possible, step),
            Rule::States(allowed) => {
                let system = State { claim: None, ..state.visible(&self.program) };
                let allowed = allowed.get(&fingerprint(&self.program, system))?.as_ref()?;
                let why = "after this step it is not known that every error can be avoided";
                let is_allowed = allowed.contains(&movers(step));
                (!is_allowed)
                    .then(|| MustWait { pid: step.pid, why: format!("{} waits: {why}", self.name(state, step.pid)) })
            }
        }
    }

    fn has_to_wait(&self, places: &Places, waits: &[(Wait, String)], state: &State, step: &Move) -> Option<MustWait> {
        let sites = places.sites_of(state);
        let holds = |wait: &Wait, pid: u8| held(&[*wait], &sites) & 1 << pid != 0;
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
        let rank = |movers: Movers| rank_of(movers, &sites, &order.kinds);
        let able = possible.iter().flat_map(movers).flatten();
        let first = able
            .min_by_key(|pid| rank([Some(*pid), None]))
            .filter(|pid| rank([Some(*pid), None]) < rank(movers(step)))?;
        let (who, other) = (self.name(state, step.pid), self.name(state, first));
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
