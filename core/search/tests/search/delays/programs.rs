//! Small random programs: processes with guarded steps over shared variables, some of them atomic, some in
//! rendezvous, some creating and ending processes.

use fabius_search::toy::Random;
use fabius_search::{Ending, Marks, Model, Next, ProcessSet, Processes};

/// A step of a process: from a place, if a variable has a value, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub from: u32,
    pub to: u32,
    /// Executable only if this variable has this value.
    pub guard: Option<(usize, u32)>,
    /// Sets this variable to this value.
    pub effect: Option<(usize, u32)>,
    /// The process keeps control afterwards.
    pub atomic: bool,
    /// It takes another process that stands at a place of this number, and moves it to the next one.
    pub meets: Option<u32>,
    /// Creates a process.
    pub spawns: bool,
    pub fault: bool,
    pub marks: Marks,
}

/// All processes run the same automaton, each from its own place.
#[derive(Clone, Debug)]
pub struct Toys {
    pub rules: Vec<Rule>,
    pub places: u32,
    pub variables: usize,
    pub start: Vec<u32>,
    pub processes_max: usize,
}

/// Process and rule, with the partner.
pub type Label = (u8, u32, Option<u8>);

const HOLDER: usize = 0;

impl Toys {
    /// A random program; `marked` ones have marks.
    pub fn random(seed: u64, marked: bool) -> Self {
        let mut random = Random::new(seed.wrapping_mul(77) + 5);
        let (places, variables) = (2 + random.below(3) as u32, 1 + random.below(2));
        let processes = 2 + random.below(3);
        let mut chance = {
            let mut random = Random::new(seed + 1000);
            move |out_of: usize| random.below(out_of) == 0
        };
        let rules = (0..2 + random.below(6)).map(|_| Rule {
            from: random.below(places as usize) as u32,
            to: random.below(places as usize) as u32,
            guard: chance(2).then(|| (random.below(variables), random.below(2) as u32)),
            effect: (!chance(3)).then(|| (random.below(variables), random.below(2) as u32)),
            atomic: chance(5),
            meets: chance(8).then(|| random.below(places as usize) as u32),
            spawns: chance(12),
            fault: chance(12),
            marks: match marked {
                true if chance(4) => Marks::ACCEPTING,
                true if chance(3) => Marks::PROGRESS,
                _ => Marks::NONE,
            },
        });
        let rules = rules.collect();
        let start = (0..processes).map(|_| random.below(places as usize) as u32).collect();
        Self { rules, places, variables, start, processes_max: processes + random.below(2) }
    }

    /// `processes` processes that each take `steps` steps one after the other, alone.
    pub fn counters(processes: usize, steps: u32) -> Self {
        let rule = |from| Rule {
            from,
            to: from + 1,
            guard: None,
            effect: None,
            atomic: false,
            meets: None,
            spawns: false,
            fault: false,
            marks: Marks::NONE,
        };
        let rules = (0..steps).map(rule).collect();
        Self { rules, places: steps + 1, variables: 0, start: vec![0; processes], processes_max: processes }
    }

    fn places_at(&self) -> usize {
        1 + self.variables
    }

    fn apply(&self, state: &[u32], (process, rule, partner): Label, successor: &mut Vec<u32>) -> bool {
        let rule = &self.rules[rule as usize];
        successor.clear();
        successor.extend_from_slice(state);
        successor[HOLDER] = if rule.atomic { u32::from(process) + 1 } else { 0 };
        successor[self.places_at() + usize::from(process)] = rule.to;
        if let Some(partner) = partner {
            let place = &mut successor[self.places_at() + usize::from(partner)];
            *place = (*place + 1) % self.places;
        }
        if let Some((variable, value)) = rule.effect {
            successor[1 + variable] = value;
        }
        if rule.spawns {
            successor.push(0);
        }
        rule.atomic
    }

    /// The steps of a state, those of the process that holds control or of all.
    fn steps(&self, state: &[u32]) -> Vec<Label> {
        let count = state.len() - self.places_at();
        let place = |process: usize| state[self.places_at() + process];
        let mut steps = Vec::new();
        for process in (0..count).rev() {
            if state[HOLDER] != 0 && state[HOLDER] as usize != process + 1 {
                continue;
            }
            for (i, rule) in self.rules.iter().enumerate() {
                let open = rule.guard.is_none_or(|(variable, value)| state[1 + variable] == value);
                let room = !rule.spawns || count < self.processes_max;
                if rule.from != place(process) || !open || !room {
                    continue;
                }
                let step = |partner| (process as u8, i as u32, partner);
                match rule.meets {
                    None => steps.push(step(None)),
                    Some(meets) => {
                        let partners = (0..count).filter(|&other| other != process && place(other) == meets);
                        steps.extend(partners.map(|other| step(Some(other as u8))));
                    }
                }
            }
        }
        steps
    }
}

impl Model for Toys {
    type Label = Label;
    type Fault = u32;
    type Cursor = u32;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        state.clear();
        state.resize(1 + self.variables, 0);
        state.extend_from_slice(&self.start);
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> u32 {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<Label, u32> {
        let steps = self.steps(state);
        let held = state[HOLDER] != 0;
        if held && steps.is_empty() && *cursor == 0 {
            *cursor = 1;
            successor.clear();
            successor.extend_from_slice(state);
            successor[HOLDER] = 0;
            return Next::Successor { label: None, transient: false, fault: None, marks: Marks::NONE };
        }
        let Some(&label) = steps.get(*cursor as usize) else {
            return Next::Done(if steps.is_empty() && !held { Ending::InvalidEnd } else { Ending::Moves });
        };
        *cursor += 1;
        let rule = self.rules[label.1 as usize];
        let transient = self.apply(state, label, successor);
        Next::Successor { label: Some(label), transient, fault: rule.fault.then_some(label.1), marks: rule.marks }
    }
}

impl Processes for Toys {
    fn process_count(&self, state: &[u32]) -> usize {
        state.len() - self.places_at()
    }

    fn movers(&self, label: &Label) -> [Option<u8>; 2] {
        [Some(label.0), label.2]
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::EMPTY;
        for step in self.steps(state) {
            enabled.insert(step.0);
            step.2.into_iter().for_each(|partner| enabled.insert(partner));
        }
    }
}
