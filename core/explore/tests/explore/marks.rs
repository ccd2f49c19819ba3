//! Marks say nothing that is not true: on models made at random, against all that the reference interpreter can reach.

use fabius_analysis::LocalStateGraph;
use fabius_base::Limits;
use fabius_engine::{ExplorationTarget, Loaded, Settings, load};
use fabius_explore::{Exploration, SuccessorHint, is_of_claim};
use fabius_program::{Program, StepMarks, Watch};
use fabius_testkit::generate::claim::model_with_claim;
use fabius_testkit::generate::{Dice, model};
use fabius_witness::{Ending, State, ending, marks, moves, settled, stops_accepting};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Larger models are left out.
const STATES_MAX: usize = 1_500;
/// Models made at random, of each kind.
const MODELS: u64 = 40;
const STEPS: usize = 12;

fn read(text: &str) -> Option<Arc<Loaded>> {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
    loaded.checkable().is_some().then(|| Arc::new(loaded))
}

/// Everything that the reference interpreter can reach, and how far it is from there to an error.
struct Truth {
    numbers: HashMap<State, usize>,
    ways: Vec<Vec<Way>>,
    /// The fewest steps to an error.
    far: Vec<Option<u32>>,
    /// What a scheduler can let happen in a state, and to which states that may lead; `None` for an error.
    choices: Vec<BTreeMap<Movers, Vec<Option<usize>>>>,
    /// Whether a scheduler can avoid every error.
    avoidable: Vec<bool>,
}

/// Whom a scheduler lets move; nobody where an atomic sequence goes on.
type Movers = Option<(u8, Option<u8>)>;

struct Way {
    to: usize,
    /// 1 for a step of the system, 0 for one of the claim.
    own: u32,
    marks: StepMarks,
}

/// What follows without a step.
fn at_rest(program: &Program, state: &State) -> State {
    let mut here = state.clone();
    loop {
        let next = settled(program, &here);
        if next == here {
            return here.visible(program);
        }
        here = next;
    }
}

impl Truth {
    fn of(target: &ExplorationTarget) -> Option<Self> {
        let (program, watch) = (&*target.program, target.watch);
        let first = at_rest(program, &State::watching(program, watch).ok()?);
        let safety = target.property == "safety";
        let mut truth = Self {
            numbers: HashMap::from([(first.clone(), 0)]),
            ways: Vec::new(),
            far: Vec::new(),
            choices: Vec::new(),
            avoidable: Vec::new(),
        };
        let mut open = VecDeque::from([first]);
        while let Some(state) = open.pop_front() {
            let stuck = match safety {
                true => ending(program, &state) == Ending::Invalid,
                false => stops_accepting(program, watch, &state),
            };
            let mut far = stuck.then_some(0);
            let mut ways = Vec::new();
            let mut choices: BTreeMap<Movers, Vec<Option<usize>>> = BTreeMap::new();
            for (step, outcome) in moves(program, &state).successors {
                let own = u32::from(!is_of_claim(&step));
                let is_error = outcome.fault().is_some() && (safety || own == 0);
                far = far.min(is_error.then_some(own).or(far)).or(is_error.then_some(own));
                let movers = state.holder.is_none().then_some((step.pid, step.partner.map(|(partner, _)| partner)));
                let choice = choices.entry(movers).or_default();
                choice.extend(is_error.then_some(None));
                let Some(reached) = outcome.state() else { continue };
                let (mut told, mut reached) = (marks(program, watch, Some(step), reached), reached.clone());
                loop {
                    let next = settled(program, &reached);
                    if next == reached {
                        break;
                    }
                    told = told.with(marks(program, watch, None, &next));
                    reached = next;
                }
                let reached = reached.visible(program);
                let next = truth.numbers.len();
                let to = *truth.numbers.entry(reached.clone()).or_insert_with(|| {
                    open.push_back(reached);
                    next
                });
                choice.push(Some(to));
                ways.push(Way { to, own, marks: told });
            }
            truth.ways.push(ways);
            truth.far.push(far);
            truth.choices.push(choices);
            if STATES_MAX < truth.numbers.len() {
                return None;
            }
        }
        if !safety {
            truth.find_cycles(watch);
        }
        truth.avoid();
        truth.spread();
        Some(truth)
    }

    /// A state on a cycle that is looked for is an error, without a further step. By brute force: every such transition
    /// from whose end there is a way back, and every state on such a way.
    fn find_cycles(&mut self, watch: Watch) {
        let counts = |way: &&Way| watch.acceptance || !way.marks.progress;
        let mut on_cycle = vec![false; self.ways.len()];
        for from in 0..self.ways.len() {
            for way in self.ways[from].iter().filter(counts).filter(|way| !watch.acceptance || way.marks.accepting) {
                if on_cycle[from] && on_cycle[way.to] {
                    continue;
                }
                let ahead =
                    self.reach(way.to, |state| self.ways[state].iter().filter(counts).map(|way| way.to).collect());
                if !ahead[from] {
                    continue;
                }
                let before = |to: usize| {
                    let leads = |state: &usize| self.ways[*state].iter().filter(counts).any(|way| way.to == to);
                    (0..self.ways.len()).filter(|state| ahead[*state]).filter(leads).collect()
                };
                let behind = self.reach(from, before);
                (0..ahead.len())
                    .filter(|state| ahead[*state] && behind[*state])
                    .for_each(|state| on_cycle[state] = true);
            }
        }
        self.far.iter_mut().zip(on_cycle).filter(|(_, on_cycle)| *on_cycle).for_each(|(far, _)| *far = Some(0));
    }

    fn reach(&self, from: usize, next: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
        let mut seen = vec![false; self.ways.len()];
        let mut open = vec![from];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut seen[state], true) {
                open.extend(next(state));
            }
        }
        seen
    }

    /// The states from which a scheduler can avoid every error: the greatest set whose states are no invalid ends and have, if
    /// anything can happen in them, a choice that goes wrong nowhere and stays in the set.
    fn avoid(&mut self) {
        self.avoidable = self.far.iter().map(|far| *far != Some(0)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for state in 0..self.choices.len() {
                let stays =
                    |choice: &Vec<Option<usize>>| choice.iter().all(|to| to.is_some_and(|to| self.avoidable[to]));
                let choices = &self.choices[state];
                if self.avoidable[state] && !choices.is_empty() && !choices.values().any(stays) {
                    (self.avoidable[state], changed) = (false, true);
                }
            }
        }
    }

    /// The fewest steps to an error, from every state, until nothing changes.
    fn spread(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for from in 0..self.ways.len() {
                let best = self.ways[from].iter().filter_map(|way| Some(self.far[way.to]? + way.own)).min();
                if best.is_some_and(|best| self.far[from].is_none_or(|far| best < far)) {
                    (self.far[from], changed) = (best, true);
                }
            }
        }
    }
}

/// What was seen of marks.
#[derive(Default, Debug)]
struct Seen {
    can_fail: usize,
    cannot_fail: usize,
    avoidable: usize,
    unavoidable: usize,
    open: usize,
}

/// Walks at random, with charts of all sizes, and looks at every mark on the way.
fn walk(loaded: &Arc<Loaded>, property: &str, dice: &mut Dice, seen: &mut Seen) {
    let Ok(mut e) = Exploration::of_model(Arc::clone(loaded), Some(property)) else { return };
    let Some(truth) = Truth::of(e.target()) else { return };
    let program = Arc::clone(&e.target().program);
    let mut walked = HashSet::new();
    for _ in 0..STEPS {
        walked.insert(e.state());
        let states_max = [3, 10, 40, STATES_MAX * 10][dice.below(4)];
        if dice.one_in(2)
            && let Some(charting) = e.charting()
        {
            let limits = Limits { states_max: Some(states_max as u64), ..Limits::default() };
            let chart: LocalStateGraph = charting.run(&limits, false, &|| false).expect("a chart can be drawn");
            e.learn_chart(Arc::new(chart));
        }
        let choices = e.choices();
        for choice in &choices {
            let mut there = e.clone();
            there.choose(choice).expect("a choice is possible");
            let own = u32::from(!is_of_claim(&choice.step));
            let far = || truth.far[truth.numbers[&there.state().visible(&program)]];
            match choice.mark {
                SuccessorHint::CanFail { steps: Some(steps), avoidable } => {
                    seen.can_fail += 1;
                    if let Some(avoidable) = avoidable {
                        *if avoidable { &mut seen.avoidable } else { &mut seen.unavoidable } += 1;
                        let number = truth.numbers[&there.state().visible(&program)];
                        assert_eq!(avoidable, truth.avoidable[number], "{:?}", there.state());
                    }
                    let least = far().expect("an error can be reached") + own;
                    assert!(least.max(1) <= steps, "{property}: {least} steps are needed, and {steps} are said to do");
                }
                SuccessorHint::CannotFail => {
                    seen.cannot_fail += 1;
                    assert_eq!(far(), None, "{property}: an error can be reached from {:?}", there.state());
                }
                SuccessorHint::New => {
                    seen.open += 1;
                    assert!(!walked.contains(&there.state()), "{property}: {:?} is not new", there.state());
                }
                SuccessorHint::Known => seen.open += 1,
                SuccessorHint::Error
                | SuccessorHint::DeadlockNext
                | SuccessorHint::EntersCycle(_)
                | SuccessorHint::CanFail { steps: None, .. } => {}
            }
        }
        if choices.is_empty() {
            return;
        }
        e.choose(&choices[dice.below(choices.len())]).expect("a choice is possible");
    }
}

#[test]
fn marks_are_true() {
    let mut seen: HashMap<&str, Seen> = HashMap::new();
    for seed in 0..MODELS {
        let texts = [model(seed).text(), model_with_claim(seed).text()];
        for text in texts {
            let Some(loaded) = read(&text) else { continue };
            for property in ["safety", "progress", "acceptance", "ltl"] {
                walk(&loaded, property, &mut Dice::new(seed), seen.entry(property).or_default());
            }
        }
    }
    for (property, seen) in &seen {
        assert!(*property != "safety" || 5 < seen.avoidable && 5 < seen.unavoidable, "{property}: {seen:?}");
        assert!(seen.can_fail > 50 && seen.cannot_fail > 50 && seen.open > 50, "{property}: {seen:?}");
    }
}
