//! Whether a claim cannot tell how often a state is repeated, so that a reduction may leave out steps that change nothing it sees.
//!
//! A claim accepts words of letters, which say which of the propositions in its guards hold. What a finite word does to it is
//! a *profile*: from which location it can get to which, and whether it passes acceptance on the way. There are finitely many
//! profiles, and they tell everything (Büchi's congruence). The language is invariant under stuttering exactly if each letter `a` may
//! be replaced by `aa` in any place, which is tried with all profiles around it: in a word `u x v w^ω`, and in `u (x v)^ω` (the syntactic
//! congruence of Arnold, *A syntactic congruence for rational ω-languages*, 1985, which saturates every regular language).
//!
//! Propositions that no model makes true together are combined as well. So a claim may be refused that is invariant for the model
//! at hand, but no other way round.

use crate::{Action, BinaryOp, Expr, ProcessId, Program, UnaryOp};
use std::collections::HashSet;

/// Claims with more locations are not looked at, …
const LOCATIONS_MAX: usize = 16;
/// … nor with more propositions, …
const PROPOSITIONS_MAX: usize = 8;
/// … nor with more profiles.
const PROFILES_MAX: usize = 2_000;
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

/// Whether it makes no difference to a claim how often a state is repeated; `false` where that was not found out.
pub fn is_stutter_invariant(program: &Program, claim: ProcessId) -> bool {
    letters(program, claim).is_some_and(|(letters, entry)| is_invariant(&letters, entry))
}

/// What each letter does to a claim, each once, and where it starts; `None` if it is more than an automaton with guards and
/// assertions, or too large.
fn letters(program: &Program, claim: ProcessId) -> Option<(Vec<Profile>, usize)> {
    let process = program.process(claim);
    if LOCATIONS_MAX <= process.locations.len() || !process.locals.is_empty() || process.provided.is_some() {
        return None;
    }
    let conditions = process.conditions();
    let propositions = propositions(&conditions, literals).or_else(|| propositions(&conditions, as_they_are))?;
    let mut letters = Vec::new();
    for letter in 0..1_u32 << propositions.len() {
        let holds = |e: &Expr| propositions.iter().position(|known| *known == e).map(|at| letter & 1 << at != 0);
        let mut profile = Profile::NOTHING;
        // Where it is once an assertion failed, whatever follows.
        let failed = process.locations.len();
        (profile.reach[failed], profile.pass[failed]) = (1 << failed, 1 << failed);
        for (from, location) in process.locations.iter().enumerate() {
            if location.end {
                // It completes there, whatever follows.
                (profile.reach[from], profile.pass[from]) = (1 << from, 1 << from);
                continue;
            }
            let mut any = false;
            for (_, edge) in program.edges_of(location) {
                let (is_executable, fails) = match &process.statements.get(edge.statement.0 as usize)?.action {
                    Action::Skip => (true, false),
                    Action::Else => (!any, false),
                    Action::Guard(guard) => (value(guard, &holds), false),
                    Action::Assert(condition) => (true, !value(condition, &holds)),
                    _ => return None,
                };
                if edge.atomic || edge.escape != 0 {
                    return None;
                }
                any |= is_executable;
                let target = if fails { failed } else { edge.target.0 as usize };
                let accepts = process.locations.get(target).is_none_or(|location| location.accept);
                profile.reach[from] |= Set::from(is_executable) << target;
                profile.pass[from] |= Set::from(is_executable && accepts) << target;
            }
        }
        if !letters.contains(&profile) {
            letters.push(profile);
        }
    }
    Some((letters, process.entry.0 as usize))
}

/// What these conditions are about; `None` if that is too much.
fn propositions(conditions: &[Expr], of: fn(&Expr, u32) -> Option<Vec<&Expr>>) -> Option<Vec<&Expr>> {
    let mut found = Vec::new();
    for condition in conditions {
        for proposition in of(condition, DEPTH_MAX)? {
            if !found.contains(&proposition) {
                found.push(proposition);
            }
        }
    }
    (found.len() <= PROPOSITIONS_MAX).then_some(found)
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

/// Whether a condition holds, if these propositions have these values.
fn value(condition: &Expr, of: &impl Fn(&Expr) -> Option<bool>) -> bool {
    if let Some(value) = of(condition).or_else(|| condition.constant().map(|constant| constant != 0)) {
        return value;
    }
    match condition {
        Expr::Unary(UnaryOp::Not, a) => !value(a, of),
        Expr::Binary(BinaryOp::And, a, b) => value(a, of) && value(b, of),
        Expr::Binary(BinaryOp::Or, a, b) => value(a, of) || value(b, of),
        // What does not combine truth values is a proposition.
        Expr::Binary(_, a, b) => value(a, of) == value(b, of),
        _ => false,
    }
}

/// Whether each letter may be doubled anywhere.
fn is_invariant(letters: &[Profile], entry: usize) -> bool {
    let Some(words) = closure(letters.to_vec(), |word| letters.iter().map(|letter| word.then(letter)).collect()) else {
        return false;
    };
    let rows: Vec<Set> = distinct(words.iter().map(|word| word.reach[entry]).chain([1 << entry]));
    let accepted = distinct(words.iter().map(Profile::accepts_for_ever));
    let Some(tails) = closure(accepted, |&tail| letters.iter().map(|letter| letter.before(tail)).collect()) else {
        return false;
    };
    let same = |one: Set, other: Set| rows.iter().all(|row| (row & one != 0) == (row & other != 0));
    letters.iter().all(|once| {
        let twice = once.then(once);
        tails.iter().all(|&tail| same(once.before(tail), twice.before(tail)))
            && same(once.accepts_for_ever(), twice.accepts_for_ever())
            && words.iter().all(|rest| same(once.then(rest).accepts_for_ever(), twice.then(rest).accepts_for_ever()))
    })
}

/// Everything that comes from these; `None` if that is too much.
fn closure<T: Clone + Eq + std::hash::Hash>(first: Vec<T>, next: impl Fn(&T) -> Vec<T>) -> Option<Vec<T>> {
    let mut all = first;
    let mut known: HashSet<T> = all.iter().cloned().collect();
    let mut at = 0;
    while let Some(one) = all.get(at) {
        for other in next(one) {
            if known.insert(other.clone()) {
                all.push(other);
            }
        }
        if PROFILES_MAX < all.len() {
            return None;
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
