//! What all reductions of a program rest on: what each step of a process does, and what others that it has to do with.
//!
//! None of that depends on what is asked. So it is found out once for all searches of a check: those for other properties, whose
//! programs have other claims, those that preserve something else, and those of other threads.

use super::{Plan, Preserve, WhyNot, table_entries, unsuited};
use fabius_program::facts::{Condition, Facts, Instance, InstanceKey, Leads, Rendezvous};
use fabius_program::{Expr, Program};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Nobody sleeps in a program for which each thread might have to write down more than this: it takes up to 32 bytes each.
const SLEEP_ENTRIES_MAX: u64 = 1 << 20;

/// A program, and what is known of its processes: found out when it is asked for the first time, and kept, for all clones.
#[derive(Clone, Debug)]
pub struct Basis {
    program: Arc<Program>,
    /// Where processes are told apart by their numbers.
    numbered: Arc<OnceLock<Arc<Relations>>>,
    /// Where they are told apart by their births; `None` if the program can observe their numbers.
    by_birth: Arc<OnceLock<Option<Arc<Relations>>>>,
}

impl Basis {
    /// Nothing is known of the program yet.
    pub fn of(program: &Arc<Program>) -> Self {
        Self { program: Arc::clone(program), numbered: Arc::default(), by_birth: Arc::default() }
    }

    /// Whether a program has the same processes: it is the same one, or has other claims.
    pub fn suits(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(program, &self.program) || program.adds_claims_to(&self.program)
    }

    /// Finds out whether a program that it [suits](Self::suits) can be reduced such that an answer stays the same. What is known is not
    /// used for others.
    ///
    /// # Errors
    /// The reason if it cannot.
    pub fn prepare(&self, program: &Arc<Program>, preserve: Preserve) -> Result<Plan, WhyNot> {
        if let Some(why) = unsuited(program) {
            return Err(why);
        }
        let propositions: Vec<&Expr> = match &preserve {
            Preserve::Formula(propositions) => propositions.iter().collect(),
            _ => Vec::new(),
        };
        let relations = self.relations(program, &propositions);
        let facts = &relations.facts;
        if propositions.iter().any(|e| facts.asks_for_everything(e)) {
            return Err(WhyNot::Claim);
        }
        let observer = matches!(preserve, Preserve::Formula(_)).then(|| facts.observer(&propositions));
        Ok(Plan {
            preserve,
            program: Arc::clone(program),
            relations,
            observer,
            goals: Arc::default(),
            for_executions: false,
        })
    }

    /// What sleep sets for a program that it [suits](Self::suits) rest on; `None` if there can be none. Processes are told apart by their
    /// numbers.
    pub fn facts_for_sleep(&self, program: &Arc<Program>) -> Option<Arc<Facts>> {
        let is_large = SLEEP_ENTRIES_MAX < table_entries(program);
        let is_suited = self.suits(program) && unsuited(program).is_none() && !is_large;
        is_suited.then(|| Arc::clone(&self.numbered().facts))
    }

    fn numbered(&self) -> &Arc<Relations> {
        self.numbered.get_or_init(|| Arc::new(Relations::new(Arc::new(Facts::of(Arc::clone(&self.program), &[])))))
    }

    fn relations(&self, program: &Arc<Program>, propositions: &[&Expr]) -> Arc<Relations> {
        if !self.suits(program) {
            return Arc::new(Relations::anew(program, propositions));
        }
        let numbered = self.numbered();
        let facts = &numbered.facts;
        if !facts.are_enough_for(propositions) {
            return Arc::new(Relations::anew(program, propositions));
        }
        let blind = || facts.is_blind_to_numbers(&[]).then(|| Facts::clone(facts).by_birth());
        let by_birth = self.by_birth.get_or_init(|| Some(Arc::new(Relations::new(Arc::new(blind()?)))));
        let by_birth = by_birth.as_ref().filter(|_| !facts.shows_creations(propositions));
        Arc::clone(by_birth.unwrap_or(numbered))
    }
}

/// The facts of a program, and what they tell of those of its processes that were met.
#[derive(Debug)]
pub(super) struct Relations {
    pub facts: Arc<Facts>,
    met: Mutex<Met>,
}

/// The processes that were met.
#[derive(Default, Debug)]
struct Met {
    processes: HashMap<InstanceKey, Arc<Known>>,
    /// By the numbers of both.
    pairs: HashMap<(usize, usize), Arc<Pair>>,
}

/// A process, and what follows from its steps alone.
#[derive(Debug)]
pub(super) struct Known {
    /// Those that were met are numbered in this order.
    pub number: usize,
    pub instance: Instance,
    pub rendezvous: Rendezvous,
    /// What leads it to its end.
    pub ends: Leads,
}

/// What concerns two processes: for each edge of the one, what leads the other one to something.
#[derive(Debug)]
pub(super) struct Pair {
    /// To what does not accord.
    pub danger: Vec<Leads>,
    /// To being its partner, later or now.
    pub partners: Vec<Leads>,
    /// To being its partner before anybody else moves.
    pub direct: Vec<Leads>,
    /// For each part of its guard, to making that true.
    pub enablers: Vec<Vec<Leads>>,
}

impl Relations {
    pub fn new(facts: Arc<Facts>) -> Self {
        Self { facts, met: Mutex::default() }
    }

    /// For a program whose states are also looked at by these expressions.
    fn anew(program: &Arc<Program>, propositions: &[&Expr]) -> Self {
        let facts = Facts::of(Arc::clone(program), propositions);
        let facts = if facts.is_blind_to_numbers(propositions) { facts.by_birth() } else { facts };
        Self::new(Arc::new(facts))
    }

    /// A process. Whoever asks for it while another thread finds out waits.
    pub fn process(&self, key: &InstanceKey) -> Arc<Known> {
        let mut met = self.met();
        if let Some(known) = met.processes.get(key) {
            return Arc::clone(known);
        }
        let instance = self.facts.instance(key.clone());
        let known = Arc::new(Known {
            number: met.processes.len(),
            rendezvous: self.facts.rendezvous(&instance),
            ends: self.facts.leads(&instance, |_, step| step.ends),
            instance,
        });
        met.processes.insert(key.clone(), Arc::clone(&known));
        known
    }

    /// What concerns two processes. Whoever asks for it while another thread finds out waits.
    pub fn pair(&self, of: &Known, other: &Known) -> Arc<Pair> {
        let mut met = self.met();
        let numbers = (of.number, other.number);
        if let Some(pair) = met.pairs.get(&numbers) {
            return Arc::clone(pair);
        }
        let (facts, mine, theirs) = (&self.facts, &of.instance, &other.instance);
        let parts = |guard: &[Condition]| guard.iter().map(|part| facts.enablers(part, theirs)).collect();
        let pair = Arc::new(Pair {
            danger: facts.danger(mine, theirs),
            partners: facts.partners(mine, theirs),
            direct: facts.direct_partners(mine, theirs),
            enablers: mine.steps.iter().map(|step| parts(&step.guard)).collect(),
        });
        met.pairs.insert(numbers, Arc::clone(&pair));
        pair
    }

    fn met(&self) -> MutexGuard<'_, Met> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
