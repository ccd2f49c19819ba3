//! What a formula says, in plain English. The outermost operators are put into words; what lies deeper is quoted as it is written where it
//! is not simple, so that a sentence says neither more nor less than its formula.

use super::parts::{apart, value_of};
use super::text::FormulaText;
use crate::Formula;

/// Longer sentences help nobody.
const SENTENCE_MAX: usize = 400;
/// This many parts joined by the same connective become a list.
const LIST_MAX: usize = 6;

/// What a formula says, as a sentence without its full stop; `None` where it would be no easier to read than the formula.
pub fn sentence(words: &FormulaText<'_>, formula: &Formula) -> Option<String> {
    let whole = apart(formula)?;
    if words.is_named(&whole) || value_of(&whole).is_some() {
        return None;
    }
    let told = Speaker { words }.whole(&whole);
    (told.len() <= SENTENCE_MAX).then_some(told)
}

struct Speaker<'a> {
    words: &'a FormulaText<'a>,
}

/// What a clause says of a part that is about one state: at which time it is true or false.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// In the initial state.
    Initially,
    Now,
    Always,
    Sometime,
    AgainAndAgain,
    FromThenOn,
    /// Now or later.
    ThenOrLater,
    OneStepLater,
}

impl Speaker<'_> {
    /// A formula, its outermost operator in words.
    fn whole(&self, formula: &Formula) -> String {
        if let Some(told) = self.at(formula, Time::Initially).or_else(|| self.simple(formula)) {
            return told;
        }
        let part = |part: &Formula| self.part(part);
        let at_first = |part: &Formula| self.part_at_first(part);
        match formula {
            Formula::Always(a) => {
                let implication = if let Formula::Implies(when, then) = &**a { Some((when, then)) } else { None };
                match implication.and_then(|(when, then)| Some((self.at(when, Time::Now)?, then))) {
                    Some((when, then)) => format!("whenever {when}: {}", part(then)),
                    None => format!("at every moment: {}", part(a)),
                }
            }
            Formula::Eventually(a) => format!("at some time: {}", part(a)),
            Formula::Next(a) => format!("one step later: {}", part(a)),
            Formula::Until(a, b) => match (self.at(a, Time::Now), self.at(b, Time::Sometime)) {
                (Some(a), Some(b)) => format!("{b}, and {a} at every moment before that"),
                _ => format!("at some time: {}; and at every moment before that: {}", part(b), part(a)),
            },
            Formula::WeakUntil(a, b) => match (self.at(a, Time::Now), self.at(b, Time::Now)) {
                (Some(a), Some(b)) => format!("{a} until {b}, or for ever"),
                _ => format!("up to the first moment, if any, at which {}: {}", part(b), part(a)),
            },
            Formula::Release(a, b) => match (self.at(a, Time::Now), self.at(b, Time::Now)) {
                (Some(a), Some(b)) => format!("{b} up to and including the first moment at which {a}, or for ever"),
                _ => format!("up to and including the first moment, if any, at which {}: {}", part(a), part(b)),
            },
            Formula::Implies(a, b) => format!("if {}, then {}", at_first(a), at_first(b)),
            Formula::Equivalent(a, b) => format!("{}, exactly if {}", at_first(a), at_first(b)),
            Formula::Not(a) => format!("it is not so that {}", part(a)),
            Formula::And(..) => self.list(formula, "; and ", |part| match part {
                Formula::And(a, b) => Some((a, b)),
                _ => None,
            }),
            Formula::Or(..) => self.list(formula, "; or ", |part| match part {
                Formula::Or(a, b) => Some((a, b)),
                _ => None,
            }),
            Formula::Proposition(_) => part(formula),
        }
    }

    /// As [`Self::part`], where no temporal operator is around it: then what is about one state is about the initial one.
    fn part_at_first(&self, formula: &Formula) -> String {
        self.at(formula, Time::Initially).unwrap_or_else(|| self.part(formula))
    }

    /// A part in words if it is simple, else as it is written.
    fn part(&self, formula: &Formula) -> String {
        self.simple(formula).unwrap_or_else(|| format!("`{}` holds", self.words.text(formula)))
    }

    /// A formula with one temporal operator or two over what is about one state.
    fn simple(&self, formula: &Formula) -> Option<String> {
        match formula {
            Formula::Always(a) => match &**a {
                Formula::Eventually(b) => self.at(b, Time::AgainAndAgain),
                Formula::Implies(when, then) => {
                    Some(format!("whenever {}, {}", self.at(when, Time::Now)?, self.then(then)?))
                }
                a => self.at(a, Time::Always),
            },
            Formula::Eventually(a) => match &**a {
                Formula::Always(b) => self.at(b, Time::FromThenOn),
                a => self.at(a, Time::Sometime),
            },
            Formula::Next(a) => self.at(a, Time::OneStepLater),
            one => self.at(one, Time::Now),
        }
    }

    /// What is so from a moment on at which something else is true.
    fn then(&self, formula: &Formula) -> Option<String> {
        match formula {
            Formula::Eventually(a) => self.at(a, Time::ThenOrLater),
            Formula::Next(a) => self.at(a, Time::OneStepLater),
            Formula::Always(a) => self.at(a, Time::Now).map(|told| format!("{told} from then on for ever")),
            _ => self.at(formula, Time::Now).map(|told| format!("{told}, too")),
        }
    }

    /// Parts joined by one connective.
    fn list<'f>(
        &self,
        formula: &'f Formula,
        joint: &str,
        split: impl Fn(&'f Formula) -> Option<(&'f Formula, &'f Formula)>,
    ) -> String {
        let (mut parts, mut open) = (Vec::new(), vec![formula]);
        while let Some(part) = open.pop() {
            match split(part).filter(|_| parts.len() + open.len() + 2 <= LIST_MAX) {
                Some((a, b)) => open.extend([b, a]),
                None => parts.push(self.part_at_first(part)),
            }
        }
        parts.join(joint)
    }

    /// A part that is about one state, at a time; `None` of what has temporal operators.
    fn at(&self, formula: &Formula, time: Time) -> Option<String> {
        if !is_of_one_state(formula) {
            return None;
        }
        let (stated, is_true) = match formula {
            Formula::Not(a) if !self.words.is_named(formula) => (&**a, false),
            _ => (formula, true),
        };
        let text = format!("`{}`", self.words.text(stated));
        let value = if is_true { "true" } else { "false" };
        Some(match time {
            Time::Initially => format!("{text} is {value} in the initial state"),
            Time::Now => format!("{text} is {value}"),
            Time::Always if is_true => format!("{text} is always true"),
            Time::Always => format!("{text} is never true"),
            Time::Sometime => format!("{text} is {value} at some time"),
            Time::AgainAndAgain => format!("{text} is {value} again and again"),
            Time::FromThenOn => format!("from some time on, {text} is {value} for ever"),
            Time::ThenOrLater => format!("{text} is {value} then or later"),
            Time::OneStepLater => format!("{text} is {value} one step later"),
        })
    }
}

/// Whether a formula has no temporal operator.
fn is_of_one_state(formula: &Formula) -> bool {
    let mut open = vec![formula];
    while let Some(part) = open.pop() {
        if matches!(
            part,
            Formula::Next(_)
                | Formula::Always(_)
                | Formula::Eventually(_)
                | Formula::Until(..)
                | Formula::WeakUntil(..)
                | Formula::Release(..)
        ) {
            return false;
        }
        let (a, b) = part.operands();
        open.extend(a.into_iter().chain(b));
    }
    true
}
