//! In what executions differ: two of them, or those that fail or get stuck from those that end well.
//!
//! A *fact* is that a step comes, or that it comes before another one that touches the same variable or channel, where
//! one of them changes it. What is said to make the difference was tried on each of the executions that were looked at.

use super::births::{Naming, Registry};
use super::{GraphOf, Kind, ListedExecution, Question, model::Interleaved};
use fabius_search::toy::Random;
use fabius_witness::accesses::{Access, EventId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Of each kind, at most this many executions are looked at.
const LOOKED_AT_MAX: usize = 300;
/// In longer executions, no difference is looked for.
const STEPS_MAX: usize = 400;
/// This many facts are told that make the difference alone.
const TOLD_MAX: usize = 3;

/// A step, as a person reads it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EventRecord {
    /// The process, such as `P[1]`.
    pub process: String,
    /// Its number.
    pub pid: u8,
    /// The statement.
    pub text: String,
    /// Its line, from 1.
    pub line: u32,
    /// How often the process took this step before.
    pub before: usize,
}

/// Something that is true of an execution or not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FactRecord {
    /// This step comes …
    pub event: EventRecord,
    /// … before this one; if absent, it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<EventRecord>,
    /// What both touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touches: Option<String>,
    /// The later step never comes.
    pub never: bool,
}

/// What distinguishes the executions of a kind from those that end well.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Difference {
    /// `failing` or `stuck`.
    pub kind: &'static str,
    /// How many of the kind were looked at.
    pub looked_at: usize,
    /// How many of those that end well were looked at.
    pub ok_looked_at: usize,
    /// Whether these are all.
    pub all: bool,
    /// True of all that were looked at, and of none that ends well: each of these alone.
    pub each: Vec<FactRecord>,
    /// If there is no such fact: facts that are true together, and not all of them in any that ends well.
    pub together: Vec<FactRecord>,
}

/// Two steps that come in one order in the first execution, and not in this order in the second one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OrderRecord {
    /// What both touch.
    pub touches: String,
    /// The step that comes earlier in the first execution, …
    pub earlier: EventRecord,
    /// … and the one that comes later there, or never; in the second execution it comes earlier.
    pub later: EventRecord,
    /// The later step never comes in the first execution.
    pub later_never_comes: bool,
    /// The earlier step never comes in the second execution.
    pub earlier_never_comes: bool,
}

/// In what two executions differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Comparison {
    /// Their numbers, from 1.
    pub ranks: [String; 2],
    /// Steps with which both begin.
    pub alike: usize,
    /// The step that each takes then.
    pub then: [Option<EventRecord>; 2],
    /// Steps that come in different orders, a pair for each variable or channel that they touch.
    pub orders: Vec<OrderRecord>,
    /// Variables and channels with different values in the end: name, and both values.
    pub values: Vec<(String, String, String)>,
}

/// A fact, by the steps that it is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Fact {
    Order(EventId, EventId),
    Comes(EventId),
}

/// An execution: at which place each step comes.
type Places = HashMap<EventId, usize>;

impl Fact {
    fn holds(&self, places: &Places) -> bool {
        match self {
            Self::Comes(event) => places.contains_key(event),
            Self::Order(event, later) => {
                places.get(event).is_some_and(|place| places.get(later).is_none_or(|after| place < after))
            }
        }
    }

    fn event(&self) -> &EventId {
        match self {
            Self::Comes(event) | Self::Order(event, _) => event,
        }
    }
}

/// What is known of steps from all executions that were looked at.
#[derive(Default)]
struct Known {
    events: HashMap<EventId, EventRecord>,
    /// Steps of different processes that touch the same, with its name.
    conflicts: BTreeMap<(EventId, EventId), String>,
}

impl Known {
    /// Adds the steps of an execution; `line` tells the lines of places.
    fn add(&mut self, steps: &[Access], line: &dyn Fn(&Access) -> u32) -> Places {
        for (at, step) in steps.iter().enumerate() {
            self.events.entry(step.id).or_insert_with(|| EventRecord {
                process: step.actor.name.clone(),
                pid: step.actor.pid,
                text: step.actor.text.clone(),
                line: line(step),
                before: step.id.before,
            });
            for other in steps[..at].iter().filter(|other| other.id.pid != step.id.pid && other.step != step.step) {
                let shared = step.touched.iter().find(|(name, changes)| {
                    other.touched.get(*name).is_some_and(|other_changes| **changes || *other_changes)
                });
                if let Some((name, _)) = shared {
                    self.conflicts
                        .entry((other.id.min(step.id), other.id.max(step.id)))
                        .or_insert_with(|| name.clone());
                }
            }
        }
        steps.iter().map(|step| (step.id, step.step)).collect()
    }

    fn record(&self, fact: &Fact, never: bool) -> Option<FactRecord> {
        let (event, before) = match fact {
            Fact::Comes(event) => (event, None),
            Fact::Order(event, later) => (event, Some(later)),
        };
        let touches = before.and_then(|later| self.conflicts.get(&(*event.min(later), *event.max(later)))).cloned();
        let before = before.and_then(|later| self.events.get(later)).cloned();
        Some(FactRecord { event: self.events.get(event)?.clone(), before, touches, never })
    }

    /// The orders of steps that touch the same, in both directions.
    fn orders(&self) -> impl Iterator<Item = Fact> + '_ {
        self.conflicts.keys().flat_map(|(a, b)| [Fact::Order(*a, *b), Fact::Order(*b, *a)])
    }
}

/// What distinguishes the executions of a kind from those that end well; `None` if there are none of the one or of the
/// other, or if they are too long.
pub(super) fn difference(
    question: &Question<'_>,
    model: &mut Interleaved,
    graph: &mut GraphOf,
    kind: Kind,
    line: &dyn Fn(&Access) -> u32,
) -> Result<Option<Difference>, String> {
    let (mut known, mut registry) = (Known::default(), Registry::default());
    let mut places = |kind: Kind| -> Result<Vec<Places>, String> {
        let found = some_of(question, model, graph, kind)?;
        let short = found.iter().all(|execution| execution.trace.len() <= STEPS_MAX);
        let of = |execution: &ListedExecution| {
            let steps = question.naming.accesses(execution, &mut registry)?;
            Some(known.add(&steps, line))
        };
        // With too many processes it is not told either.
        Ok(if short { found.iter().map(of).collect::<Option<_>>().unwrap_or_default() } else { Vec::new() })
    };
    let (bad, ok) = (places(kind)?, places(Kind::Ok)?);
    if bad.is_empty() || ok.is_empty() {
        return Ok(None);
    }
    let (each, together) = distinguishing(&known, &bad, &ok);
    let record = |fact: &Fact| {
        let never = matches!(fact, Fact::Order(_, later) if bad.iter().all(|run| !run.contains_key(later)));
        known.record(fact, never)
    };
    let numbers = graph.numbers();
    Ok(Some(Difference {
        kind: if kind == Kind::Failing { "failing" } else { "stuck" },
        looked_at: bad.len(),
        ok_looked_at: ok.len(),
        all: bad.len() as u128 == numbers.of(kind) && ok.len() as u128 == numbers.ok,
        each: each.iter().filter_map(record).collect(),
        together: together.iter().filter_map(record).collect(),
    }))
}

/// Facts that are true of all runs of one kind, and each of them of none of the other kind; else facts that are true
/// of all runs of the one kind, and not all of them of any of the other kind. Orders are preferred to steps that come.
fn distinguishing(known: &Known, bad: &[Places], ok: &[Places]) -> (Vec<Fact>, Vec<Fact>) {
    let Some(first) = bad.first() else { return (Vec::new(), Vec::new()) };
    let alone = |fact: &Fact| ok.iter().all(|run| !fact.holds(run));
    let mut orders: Vec<Fact> = known.orders().filter(|fact| bad.iter().all(|run| fact.holds(run))).collect();
    orders.sort_by_key(|fact| (first.get(fact.event()).copied(), *fact));
    let each: Vec<Fact> = orders.iter().copied().filter(alone).take(TOLD_MAX).collect();
    if !each.is_empty() {
        return (each, Vec::new());
    }
    let together = least_together(orders, ok);
    if !together.is_empty() {
        return (Vec::new(), together);
    }
    let comes = first.keys().map(|event| Fact::Comes(*event));
    let comes = comes.filter(|fact| bad.iter().all(|run| fact.holds(run)) && alone(fact));
    (comes.min_by_key(|fact| (first.get(fact.event()).copied(), *fact)).into_iter().collect(), Vec::new())
}

/// Facts of which no run has all, none of which can be left out; empty if a run has all facts.
fn least_together(facts: Vec<Fact>, runs: &[Places]) -> Vec<Fact> {
    let excludes = |facts: &[Fact]| runs.iter().all(|run| facts.iter().any(|fact| !fact.holds(run)));
    let mut left = facts;
    if !excludes(&left) {
        return Vec::new();
    }
    let mut at = left.len();
    while at > 0 {
        at -= 1;
        let fact = left.remove(at);
        if !excludes(&left) {
            left.insert(at, fact);
        }
    }
    left
}

/// All executions of a kind, or some that are drawn.
fn some_of(
    question: &Question<'_>,
    model: &mut Interleaved,
    graph: &mut GraphOf,
    kind: Kind,
) -> Result<Vec<ListedExecution>, String> {
    let total = graph.numbers().of(kind);
    if total <= LOOKED_AT_MAX as u128 {
        return graph.executions(model, kind, 0).map(|execution| question.walk(execution)).collect();
    }
    let mut random = Random::new(question.request.seed);
    let mut found = Vec::new();
    let numbers: BTreeSet<u128> = (0..LOOKED_AT_MAX).map(|_| super::below(&mut random, total)).collect();
    for number in numbers {
        let drawn = graph.executions(model, kind, number).next();
        found.push(question.walk(drawn.ok_or("an execution that was drawn does not exist")?)?);
    }
    Ok(found)
}

/// In what two executions differ.
pub(super) fn compare(
    naming: &Naming,
    (one, other): (&ListedExecution, &ListedExecution),
    line: &dyn Fn(&Access) -> u32,
) -> Comparison {
    let mut registry = Registry::default();
    let mut steps = |execution| naming.accesses(execution, &mut registry).unwrap_or_default();
    let steps = [steps(one), steps(other)];
    let mut known = Known::default();
    let short = steps.iter().all(|steps| steps.len() <= 2 * STEPS_MAX);
    let places: Vec<Places> =
        if short { steps.iter().map(|steps| known.add(steps, line)).collect() } else { Vec::new() };
    let alike = one.path.iter().zip(&other.path).take_while(|(a, b)| a == b).count();
    let then = [0, 1].map(|which: usize| {
        let step = steps[which].iter().find(|step| step.step == alike + 1)?;
        known.events.get(&step.id).cloned()
    });
    Comparison {
        ranks: [one, other].map(|execution| execution.number.saturating_add(1).to_string()),
        alike,
        then,
        orders: orders(&known, &places),
        values: values(one, other),
    }
}

/// For each variable or channel, the first order in which two executions differ.
fn orders(known: &Known, places: &[Places]) -> Vec<OrderRecord> {
    let [one, other] = places else { return Vec::new() };
    let mut pairs: Vec<(usize, EventId, EventId)> = Vec::new();
    for fact in known.orders() {
        let Fact::Order(earlier, later) = fact else { continue };
        let comes = |run: &Places| run.contains_key(&earlier) && run.contains_key(&later);
        let reversed = Fact::Order(later, earlier).holds(other);
        if fact.holds(one) && reversed && (comes(one) || comes(other)) {
            pairs.push((one[&earlier], earlier, later));
        }
    }
    pairs.sort_unstable();
    let mut told = BTreeSet::new();
    let records = pairs.iter().filter_map(|(_, earlier, later)| {
        let touches = known.conflicts.get(&(*earlier.min(later), *earlier.max(later)))?;
        told.insert(touches.clone()).then_some(())?;
        Some(OrderRecord {
            touches: touches.clone(),
            earlier: known.events.get(earlier)?.clone(),
            later: known.events.get(later)?.clone(),
            later_never_comes: !one.contains_key(later),
            earlier_never_comes: !other.contains_key(earlier),
        })
    });
    records.collect()
}

/// Variables and channels that have different values in the end.
fn values(one: &ListedExecution, other: &ListedExecution) -> Vec<(String, String, String)> {
    let all = |execution: &ListedExecution| {
        let last = &execution.trace.last;
        last.variables.iter().chain(&last.channels).cloned().collect::<Vec<_>>()
    };
    let others: HashMap<String, String> = all(other).into_iter().collect();
    let differing = all(one).into_iter().filter_map(|(name, value)| {
        let found = others.get(&name)?.clone();
        (found != value).then_some((name, value, found))
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_program::{EdgeId, Move};
    use fabius_witness::accesses::accesses;

    /// At which step a path takes a transition for the n-th time, found by counting.
    fn place(path: &[Move], event: &EventId) -> Option<usize> {
        let takes = |step: &&(usize, &Move)| {
            (step.1.pid, step.1.edge) == (event.pid, event.edge) || step.1.partner == Some((event.pid, event.edge))
        };
        let steps: Vec<(usize, &Move)> = path.iter().enumerate().collect();
        steps.iter().filter(takes).nth(event.before).map(|(at, _)| *at)
    }

    fn is_true(path: &[Move], fact: &Fact) -> bool {
        match fact {
            Fact::Comes(event) => place(path, event).is_some(),
            Fact::Order(event, later) => match (place(path, event), place(path, later)) {
                (Some(place), Some(later)) => place < later,
                (place, _) => place.is_some(),
            },
        }
    }

    /// A random model whose processes have no loops.
    fn straight(seed: u64) -> String {
        let mut random = Random::new(seed);
        let mut text = "byte x, y; bit held; chan c = [1] of { byte };\n".to_owned();
        for name in ["P", "Q", "R"] {
            let steps: Vec<String> = (0..2 + random.below(2))
                .map(|_| match (random.below(9), random.below(3)) {
                    (0 | 1, value) => format!("x = {value}"),
                    (2, value) => format!("y = x + {value}"),
                    (3, value) => format!("assert(x != {value} || y != {value})"),
                    (4, value) => format!("x >= {value}"),
                    (5 | 6, _) => "atomic { held == 0 -> held = 1 }".to_owned(),
                    (7, _) => "held = 0".to_owned(),
                    (_, value) => format!("if :: c ! {value} :: nempty(c) -> c ? x fi"),
                })
                .collect();
            text += &format!("active proctype {name}() {{ {} }}\n", steps.join("; "));
        }
        text
    }

    #[test]
    fn what_makes_the_difference_is_true_of_all_of_one_kind_and_of_none_of_the_other() {
        let mut tried = 0;
        for seed in 0..200 {
            let text = straight(seed);
            let Some(all) = super::super::tests::all_executions(&text, 40) else { continue };
            for kind in [Kind::Failing, Kind::Stuck] {
                let of = |execution: &&ListedExecution| match kind {
                    Kind::Failing => execution.failed,
                    _ => execution.end == super::super::End::Stuck,
                };
                let ok = |execution: &&ListedExecution| !execution.failed && execution.end == super::super::End::Valid;
                let mut known = Known::default();
                let mut places = |runs: &[&ListedExecution]| -> Vec<Places> {
                    runs.iter().map(|run| known.add(&accesses(&run.trace), &|_| 1)).collect()
                };
                let (bad, ok): (Vec<_>, Vec<_>) = (all.iter().filter(of).collect(), all.iter().filter(ok).collect());
                let (bad_places, ok_places) = (places(&bad), places(&ok));
                let (each, together) = distinguishing(&known, &bad_places, &ok_places);
                for fact in each.iter().chain(&together) {
                    assert!(bad.iter().all(|run| is_true(&run.path, fact)), "seed {seed}: {fact:?}\n{text}");
                }
                assert!(each.iter().all(|fact| ok.iter().all(|run| !is_true(&run.path, fact))), "seed {seed}\n{text}");
                let excluded = |run: &&ListedExecution| together.iter().any(|fact| !is_true(&run.path, fact));
                assert!(together.is_empty() || ok.iter().all(excluded), "seed {seed}\n{text}");
                let found = !each.is_empty() || !together.is_empty();
                tried += usize::from(found && !ok.is_empty());
            }
        }
        assert!(tried > 30, "{tried}");
        assert!(!is_true(&[], &Fact::Comes(EventId { pid: 0, edge: EdgeId(0), before: 0 })));
    }
}
