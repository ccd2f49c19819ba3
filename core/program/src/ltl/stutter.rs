//! Whether a claim cannot tell how often a state is repeated, so that a reduction may leave out steps that change nothing it sees.
//!
//! A claim accepts words of letters, which say which of the propositions in its guards hold. What a finite word does to it is
//! a *profile*: from which location it can get to which, and whether it passes acceptance on the way. There are finitely many
//! profiles, and they tell everything (Büchi's congruence). The language is invariant under stuttering exactly if each letter `a` may
//! be replaced by `aa` in any place, which is tried with all profiles around it: in a word `u x v w^ω`, and in `u (x v)^ω` (the syntactic
//! congruence of Arnold, *A syntactic congruence for rational ω-languages*, 1985, which saturates every regular language).
//!
//! Where an atomic sequence may never end, a claim sees only finitely many letters of a run. Then those finite words count, too, after which the claim
//! has completed.
//!
//! Where a condition cannot be evaluated, or an assertion fails, the run violates the claim, whatever follows. Propositions that no model
//! makes true together are combined as well. So a claim may be refused that is invariant for the model at hand, but no other way round.

use super::read::NamedChannels;
use crate::facts::atomic_sequences_terminate;
use crate::{Action, BinaryOp, Expr, Formula, ProcessId, Program, UnaryOp};
use std::collections::HashSet;

/// Claims with more locations are not looked at, …
const LOCATIONS_MAX: usize = 16;
/// … nor with more propositions, of which each that can fail counts twice, …
const PROPOSITIONS_MAX: usize = 8;
/// … nor with more words and letters to be put together.
const PRODUCTS_MAX: usize = 20_000;
/// Guards that are nested deeper are not taken apart.
const DEPTH_MAX: u32 = 100;

/// A set of locations.
type Set = u16;

/// What a word does to a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Profile {
    /// For each location, where the word leads from it.
    reach: [Set; LOCATIONS_MAX],
    /// For each location, where the word leads from it on a way that enters an acceptance location.
    pass: [Set; LOCATIONS_MAX],
}

impl Profile {
    const NOTHING: Self = Self { reach: [0; LOCATIONS_MAX], pass: [0; LOCATIONS_MAX] };

    /// What this word and then another one does.
    fn then(&self, next: &Self) -> Self {
        let mut both = Self::NOTHING;
        for from in 0..LOCATIONS_MAX {
            for middle in members(self.reach[from]) {
                both.reach[from] |= next.reach[middle];
                both.pass[from] |= next.pass[middle];
            }
            for middle in members(self.pass[from]) {
                both.pass[from] |= next.reach[middle];
            }
        }
        both
    }

    /// From where the word leads into one of these locations.
    fn before(&self, to: Set) -> Set {
        (0..LOCATIONS_MAX).filter(|&from| self.reach[from] & to != 0).fold(0, |set, from| set | 1 << from)
    }

    /// From where the word, repeated for ever, is accepted.
    fn accepts_for_ever(&self) -> Set {
        let mut repeated = *self;
        loop {
            let further = repeated.then(&repeated);
            let mut all = repeated;
            for from in 0..LOCATIONS_MAX {
                all.reach[from] |= further.reach[from];
                all.pass[from] |= further.pass[from];
            }
            if all == repeated {
                break;
            }
            repeated = all;
        }
        let loops = (0..LOCATIONS_MAX).filter(|&at| repeated.pass[at] & 1 << at != 0).fold(0, |set, at| set | 1 << at);
        loops | repeated.before(loops)
    }
}

fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..LOCATIONS_MAX).filter(move |at| set & 1 << at != 0)
}

/// Whether a formula shows at once that it makes no difference how often a state is repeated: it has no next-time operator, and its
/// propositions have a value in every state. Where one has none, its claim may look there in the second of two equal states only.
pub fn is_plainly_invariant(program: &Program, formula: &Formula) -> bool {
    let (channels, mut open) = (NamedChannels::of(program), vec![formula]);
    while let Some(formula) = open.pop() {
        match formula {
            Formula::Next(_) => return false,
            Formula::Proposition(proposition) if !channels.give_value(proposition) => return false,
            _ => {}
        }
        let (left, right) = formula.operands();
        open.extend(left.into_iter().chain(right));
    }
    true
}

/// Whether it makes no difference to a claim how often a state is repeated; `false` where that was not found out.
pub fn is_stutter_invariant(program: &Program, claim: ProcessId) -> bool {
    letters(program, claim).is_some_and(|alphabet| is_invariant(&alphabet, !atomic_sequences_terminate(program)))
}

/// What the letters do to a claim, each once.
struct Alphabet {
    letters: Vec<Profile>,
    /// Where the claim starts.
    entry: usize,
    /// Where it has completed or failed.
    completed: Set,
}

/// What the letters do to a claim; `None` if it is more than an automaton with guards and assertions, or too large.
fn letters(program: &Program, claim: ProcessId) -> Option<Alphabet> {
    let process = program.process(claim);
    if LOCATIONS_MAX <= process.locations.len() || !process.locals.is_empty() || process.provided.is_some() {
        return None;
    }
    let (conditions, channels) = (process.conditions(), NamedChannels::of(program));
    let taken_apart = propositions(&conditions, literals, &channels);
    let (propositions, fallible) = taken_apart.or_else(|| propositions(&conditions, as_they_are, &channels))?;
    // Where it is once it could not be evaluated, or an assertion failed, whatever follows.
    let failed = process.locations.len();
    let mut letters = Vec::new();
    let bits = propositions.len() + fallible.len();
    for letter in 0..1_u32 << bits {
        let holds = |e: &Expr| {
            let fails = fallible.iter().position(|known| *known == e);
            if fails.is_some_and(|at| letter >> propositions.len() & 1 << at != 0) {
                return Some(Value::Fails);
            }
            let at = propositions.iter().position(|known| *known == e)?;
            Some(Value::of(letter & 1 << at != 0))
        };
        let mut profile = Profile::NOTHING;
        (profile.reach[failed], profile.pass[failed]) = (1 << failed, 1 << failed);
        for (from, location) in process.locations.iter().enumerate() {
            if location.end {
                // It completes there, whatever follows.
                (profile.reach[from], profile.pass[from]) = (1 << from, 1 << from);
                continue;
            }
            let mut any = false;
            for (_, edge) in program.edges_of(location) {
                let target = edge.target.0 as usize;
                let leads = match &process.statements.get(edge.statement.0 as usize)?.action {
                    Action::Skip => Some(target),
                    Action::Else => (!any).then_some(target),
                    Action::Guard(guard) => match value(guard, &holds) {
                        Value::True => Some(target),
                        Value::False => None,
                        Value::Fails => Some(failed),
                    },
                    Action::Assert(condition) => {
                        Some(if value(condition, &holds) == Value::True { target } else { failed })
                    }
                    _ => return None,
                };
                if edge.atomic || edge.escape != 0 {
                    return None;
                }
                let Some(target) = leads else { continue };
                any = true;
                let accepts = process.locations.get(target).is_none_or(|location| location.accept);
                profile.reach[from] |= 1 << target;
                profile.pass[from] |= Set::from(accepts) << target;
            }
        }
        if !letters.contains(&profile) {
            letters.push(profile);
        }
    }
    let ends = process.locations.iter().enumerate().filter(|(_, location)| location.end);
    let completed = ends.fold(1 << failed, |set, (at, _)| set | 1 << at);
    Some(Alphabet { letters, entry: process.entry.0 as usize, completed })
}

/// What these conditions are about, and what of that may have no value in some states; `None` if that is too much.
fn propositions<'e>(
    conditions: &'e [Expr],
    of: fn(&Expr, u32) -> Option<Vec<&Expr>>,
    channels: &NamedChannels<'_>,
) -> Option<(Vec<&'e Expr>, Vec<&'e Expr>)> {
    let mut found = Vec::new();
    for condition in conditions {
        for proposition in of(condition, DEPTH_MAX)? {
            if !found.contains(&proposition) {
                found.push(proposition);
            }
        }
    }
    let fallible: Vec<&Expr> = found.iter().copied().filter(|proposition| !channels.give_value(proposition)).collect();
    (found.len() + fallible.len() <= PROPOSITIONS_MAX).then_some((found, fallible))
}

/// The expressions that a condition combines; `None` if it is nested too deep.
fn literals(condition: &Expr, depth: u32) -> Option<Vec<&Expr>> {
    let depth = depth.checked_sub(1)?;
    match condition {
        constant if constant.constant().is_some() => Some(Vec::new()),
        Expr::Unary(UnaryOp::Not, a) => literals(a, depth),
        Expr::Binary(op, a, b) if combines(*op, a, b) => {
            let mut both = literals(a, depth)?;
            both.extend(literals(b, depth)?);
            Some(both)
        }
        other => Some(vec![other]),
    }
}

/// A condition as one proposition.
fn as_they_are(condition: &Expr, _: u32) -> Option<Vec<&Expr>> {
    Some(if condition.constant().is_some() { Vec::new() } else { vec![condition] })
}

/// Whether an operator combines truth values; `a <-> b` is written `!a == !b`.
fn combines(op: BinaryOp, a: &Expr, b: &Expr) -> bool {
    let is_not = |e: &Expr| matches!(e, Expr::Unary(UnaryOp::Not, _));
    matches!(op, BinaryOp::And | BinaryOp::Or) || op == BinaryOp::Equal && is_not(a) && is_not(b)
}

/// What comes of evaluating a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    False,
    True,
    Fails,
}

impl Value {
    fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// What comes of evaluating a condition from the left to the right, if these propositions have these values.
fn value(condition: &Expr, of: &impl Fn(&Expr) -> Option<Value>) -> Value {
    if let Some(value) = of(condition).or_else(|| condition.constant().map(|constant| Value::of(constant != 0))) {
        return value;
    }
    match condition {
        Expr::Unary(UnaryOp::Not, a) => match value(a, of) {
            Value::Fails => Value::Fails,
            decided => Value::of(decided == Value::False),
        },
        Expr::Binary(op, a, b) => match (op, value(a, of)) {
            (BinaryOp::And, Value::True) | (BinaryOp::Or, Value::False) => value(b, of),
            (BinaryOp::And | BinaryOp::Or, decided) => decided,
            (_, Value::Fails) => Value::Fails,
            // What does not combine truth values is a proposition.
            (_, left) => match value(b, of) {
                Value::Fails => Value::Fails,
                right => Value::of(left == right),
            },
        },
        _ => Value::Fails,
    }
}

/// Whether each letter may be doubled anywhere, if it is so asked also in finite words; `false` if that is too much work.
fn is_invariant(alphabet: &Alphabet, finite_too: bool) -> bool {
    let Alphabet { letters, entry, completed } = alphabet;
    let Some(words) = closure(letters.clone(), letters, Profile::then) else { return false };
    let rows: Vec<Set> = distinct(words.iter().map(|word| word.reach[*entry]).chain([1 << entry]));
    let accepted = distinct(words.iter().map(Profile::accepts_for_ever).chain(finite_too.then_some(*completed)));
    let Some(tails) = closure(accepted, letters, |&tail, letter| letter.before(tail)) else { return false };
    let same = |one: Set, other: Set| rows.iter().all(|row| (row & one != 0) == (row & other != 0));
    letters.iter().all(|once| {
        let twice = once.then(once);
        tails.iter().all(|&tail| same(once.before(tail), twice.before(tail)))
            && same(once.accepts_for_ever(), twice.accepts_for_ever())
            && words.iter().all(|rest| same(once.then(rest).accepts_for_ever(), twice.then(rest).accepts_for_ever()))
    })
}

/// Everything that comes from these with the letters, one after the other; `None` if that is too much.
fn closure<T: Clone + Eq + std::hash::Hash>(
    first: Vec<T>,
    letters: &[Profile],
    next: impl Fn(&T, &Profile) -> T,
) -> Option<Vec<T>> {
    let mut all = first;
    let mut known: HashSet<T> = all.iter().cloned().collect();
    let mut at = 0;
    while at < all.len() {
        if PRODUCTS_MAX < all.len() * letters.len() {
            return None;
        }
        for letter in letters {
            let other = next(&all[at], letter);
            if known.insert(other.clone()) {
                all.push(other);
            }
        }
        at += 1;
    }
    Some(all)
}

fn distinct(all: impl Iterator<Item = Set>) -> Vec<Set> {
    let mut all: Vec<Set> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}
