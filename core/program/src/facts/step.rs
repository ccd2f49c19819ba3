//! What a step needs and does, and when two steps of different processes leave each other alone.
//!
//! Two steps *accord* if, wherever both can be taken, neither prevents the other and both orders lead to
//! the same state. [`Step::accords`] may say no too often, never yes. The same holds for
//! [`Step::may_enable`] with the answers exchanged.

use super::bits::{Bits, Channels};
use crate::{BinaryOp, ProcessId, VariableId};

/// Which outcomes of a comparison count as true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relation(u8);

impl Relation {
    /// Not equal.
    pub const NOT_EQUAL: Self = Self(5);
    /// Equal.
    pub const EQUAL: Self = Self(2);
    /// Greater.
    pub const GREATER: Self = Self(4);

    /// The relation behind an operator, if it is a comparison.
    pub fn of(op: BinaryOp) -> Option<Self> {
        Some(Self(match op {
            BinaryOp::Less => 1,
            BinaryOp::LessEqual => 3,
            BinaryOp::Equal => 2,
            BinaryOp::NotEqual => 5,
            BinaryOp::GreaterEqual => 6,
            BinaryOp::Greater => 4,
            _ => return None,
        }))
    }

    /// True where `self` is false.
    #[must_use]
    pub fn negated(self) -> Self {
        Self(7 ^ self.0)
    }

    /// The same with the operands exchanged.
    #[must_use]
    pub fn flip(self) -> Self {
        Self(self.0 & 2 | self.0 << 2 & 4 | self.0 >> 2)
    }

    /// Whether `a` and `b` are in this relation.
    #[inline]
    pub fn holds(self, a: i32, b: i32) -> bool {
        let outcome = u8::from(a < b) | u8::from(a == b) << 1 | u8::from(a > b) << 2;
        self.0 & outcome != 0
    }

    /// Whether some number is in this relation to `a` and in another one to `b`.
    fn is_compatible(self, a: i32, other: Self, b: i32) -> bool {
        // The answer changes only at the two numbers.
        let near = |k: i32| [k.checked_sub(1), Some(k), k.checked_add(1)];
        near(a).into_iter().chain(near(b)).flatten().any(|x| self.holds(x, a) && other.holds(x, b))
    }

    /// Whether a growing number can make it true, and whether it can make it false.
    #[expect(clippy::nonminimal_bool, reason = "each case stands for itself: what grows goes from less to greater")]
    fn under_growth(self) -> (bool, bool) {
        let (less, equal, greater) = (self.0 & 1 != 0, self.0 & 2 != 0, self.0 & 4 != 0);
        (!less && (equal || greater) || !equal && greater, less && !(equal && greater) || equal && !greater)
    }
}

/// A number of a state that a condition looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// An element of a global variable.
    Global(VariableId, u32),
    /// An element of a variable of the process that takes the step.
    Local(VariableId, u32),
    /// The number of processes.
    ProcessCount,
    /// The number of messages in the channel with this identity.
    Length(usize),
}

/// A comparison that can be looked up in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Check {
    /// What is compared.
    pub subject: Subject,
    /// How.
    pub relation: Relation,
    /// With what.
    pub value: i32,
}

/// A part of a guard: the step can be taken where all parts hold.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// Does not hold in states in which anything else can move.
    Never,
    /// A comparison with a cell.
    Cell(u32, Check),
    /// A comparison with something that no other process changes.
    Private(Check),
    /// Something about the number of messages in one of these channels.
    Level {
        /// The channels.
        channels: Channels,
        /// A message more may make it true.
        on_rise: bool,
        /// A message less may make it true.
        on_fall: bool,
        /// How to look it up, if that is possible.
        check: Option<Check>,
    },
    /// There is a message to be received, unless there is none at all: a [`Condition::Level`] beside it says that.
    Message {
        /// In one of these channels.
        channels: Channels,
        /// Anywhere; else in front.
        any: bool,
        /// What the fields must be, as far as that is constant.
        fields: Vec<Option<i32>>,
    },
    /// The process is the youngest.
    Youngest,
    /// Somebody takes part in a rendezvous: [`Facts::partners`](super::Facts::partners) tells who may.
    Partner,
    /// Anything that depends on these.
    Vague(Bits, Channels),
}

/// How a cell is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Write {
    /// To a constant.
    Constant(i32),
    /// By a number that depends on nothing shared.
    Add,
    Any,
}

/// How a channel is used.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum UseKind {
    /// Puts a message behind all others; can be done only if there is room.
    Append(Vec<Option<i32>>),
    /// Puts a message where its order demands; can be done only if there is room.
    Insert,
    /// Takes a message; can be done only if there is one.
    Take { any: bool, fields: Vec<Option<i32>> },
    /// Reads a message without taking it; can be done only if there is one.
    Peek { any: bool, fields: Vec<Option<i32>> },
    /// Computes with what is in the channel.
    Look,
    /// Whatever else.
    Churn,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Use {
    pub channels: Channels,
    pub kind: UseKind,
}

/// What an edge of a process needs and does.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    /// When it can be taken.
    pub guard: Vec<Condition>,
    /// Cells whose values the effect depends on, or a guard that is not taken apart.
    pub(super) reads: Bits,
    pub(super) writes: Vec<(u32, Write)>,
    pub(super) written: Bits,
    pub(super) uses: Vec<Use>,
    pub(super) touched: Channels,
    /// Rendezvous channels on which it sends.
    pub offers: Channels,
    /// Rendezvous channels on which it receives.
    pub accepts: Channels,
    /// Channels of [`Step::offers`] for which it matters that nobody receives.
    pub depends_on_absence: Channels,
    /// Those of them for which it also shows in what can be reached: `facts/stops.rs` says why it need not.
    pub shown_absence: Channels,
    /// Types of the processes that it creates.
    pub spawns: Vec<ProcessId>,
    /// The process is gone afterwards.
    pub ends: bool,
    /// Taking it, or trying to, may be a fault after which there is no next state.
    pub breaks: bool,
    /// So may be finding out whether it can be taken, whether its guard holds or not.
    pub guard_breaks: bool,
    /// An assertion in it may fail; then there is a next state nevertheless.
    pub asserts: bool,
}

impl Step {
    pub(super) fn write(&mut self, cell: u32, write: Write) {
        self.written.insert(cell as usize);
        match self.writes.iter_mut().find(|(other, _)| *other == cell) {
            None => self.writes.push((cell, write)),
            // Twice in one step: only a second constant is sure to be what remains.
            Some((_, before)) => {
                *before = match (*before, write) {
                    (_, Write::Constant(k)) => Write::Constant(k),
                    (Write::Add, Write::Add) => Write::Add,
                    _ => Write::Any,
                }
            }
        }
    }

    pub(super) fn use_channels(&mut self, channels: Channels, kind: UseKind) {
        if !channels.is_empty() {
            self.touched = self.touched.with(channels);
            self.uses.push(Use { channels, kind });
        }
    }

    /// Whether it has nothing to do with any rendezvous.
    pub fn is_alone(&self) -> bool {
        self.offers.is_empty() && self.accepts.is_empty()
    }

    /// Whether it has to do with nothing but variables that only its process uses, and neither creates nor ends processes.
    pub(super) fn is_private(&self) -> bool {
        let is_private = |part: &Condition| match part {
            Condition::Never | Condition::Private(_) => true,
            Condition::Vague(cells, channels) => cells.is_empty() && channels.is_empty(),
            _ => false,
        };
        self.is_alone()
            && self.guard.iter().all(is_private)
            && self.reads.is_empty()
            && self.written.is_empty()
            && self.uses.is_empty()
            && self.depends_on_absence.is_empty()
            && self.spawns.is_empty()
            && !self.ends
    }

    /// Whether this step and one of another process leave each other alone.
    pub fn accords(&self, other: &Self) -> bool {
        let apart = !self.written.meets(&other.reads)
            && !other.written.meets(&self.reads)
            && !self.written.meets(&other.written)
            && !self.touched.meets(other.touched);
        let conditions_apart = |by: &Self, of: &Self| !of.guard.iter().any(|part| by.may_disable(part));
        if apart && conditions_apart(self, other) && conditions_apart(other, self) {
            return true;
        }
        self.excludes(other)
            || !self.written.meets(&other.reads)
                && !other.written.meets(&self.reads)
                && self.writes_agree(other)
                && conditions_apart(self, other)
                && conditions_apart(other, self)
                && !self.uses.iter().any(|mine| other.uses.iter().any(|theirs| mine.disturbs(theirs)))
    }

    /// Whether both orders of writing leave the same values.
    fn writes_agree(&self, other: &Self) -> bool {
        self.writes.iter().all(|(cell, mine)| {
            !other.written.contains(*cell as usize)
                || other.writes.iter().filter(|(theirs, _)| theirs == cell).all(|(_, theirs)| match (mine, theirs) {
                    (Write::Constant(a), Write::Constant(b)) => a == b,
                    (Write::Add, Write::Add) => true,
                    _ => false,
                })
        })
    }

    /// Whether this step and one of another process can never be taken in the same state.
    fn excludes(&self, other: &Self) -> bool {
        self.guard.iter().any(|mine| other.guard.iter().any(|theirs| mine.excludes(theirs)))
    }

    /// Whether this step and another one of the same process can never be taken in the same state.
    pub fn excludes_alternative(&self, other: &Self) -> bool {
        let private = |mine: &Condition, theirs: &Condition| match (mine, theirs) {
            (Condition::Private(mine), Condition::Private(theirs)) => mine.excludes(*theirs),
            _ => false,
        };
        self.excludes(other) || self.guard.iter().any(|mine| other.guard.iter().any(|theirs| private(mine, theirs)))
    }

    /// Whether this step may make a part of another process's guard true.
    pub fn may_enable(&self, part: &Condition) -> bool {
        self.changes(part).0
    }

    /// Whether this step may make a part of another process's guard false.
    pub fn may_disable(&self, part: &Condition) -> bool {
        self.changes(part).1
    }

    /// Whether it may make the condition true, and whether false.
    fn changes(&self, part: &Condition) -> (bool, bool) {
        match part {
            Condition::Never | Condition::Private(_) | Condition::Partner => (false, false),
            Condition::Cell(cell, check) if self.written.contains(*cell as usize) => {
                let writes = self.writes.iter().filter(|(written, _)| written == cell);
                writes.fold((false, false), |(enables, disables), (_, write)| match write {
                    Write::Constant(k) => {
                        let holds = check.relation.holds(*k, check.value);
                        (enables || holds, disables || !holds)
                    }
                    Write::Add | Write::Any => (true, true),
                })
            }
            Condition::Cell(..) => (false, false),
            Condition::Level { channels, on_rise, on_fall, .. } => {
                self.uses_of(*channels).fold((false, false), |(enables, disables), used| {
                    let (rises, falls) = used.changes_level();
                    let enables_now = rises && *on_rise || falls && *on_fall;
                    // What may make it true when it falls may make it false when it rises, and so on.
                    let disables_now = rises && *on_fall || falls && *on_rise;
                    (enables || enables_now, disables || disables_now)
                })
            }
            Condition::Message { channels, any, fields } => {
                self.uses_of(*channels).fold((false, false), |(enables, disables), used| {
                    let (enables_now, disables_now) = used.changes_message(*any, fields);
                    (enables || enables_now, disables || disables_now)
                })
            }
            Condition::Youngest => (self.ends, !self.spawns.is_empty()),
            Condition::Vague(cells, channels) => {
                let changes = self.written.meets(cells)
                    || self.uses_of(*channels).any(|used| !matches!(used.kind, UseKind::Look | UseKind::Peek { .. }));
                (changes, changes)
            }
        }
    }

    fn uses_of(&self, channels: Channels) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |used| used.channels.meets(channels))
    }
}

impl Condition {
    fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => true,
            (Self::Cell(a, mine), Self::Cell(b, theirs)) => a == b && mine.excludes(*theirs),
            (Self::Level { check: Some(mine), .. }, Self::Level { check: Some(theirs), .. }) => mine.excludes(*theirs),
            (
                Self::Message { channels: a, any: false, fields: mine },
                Self::Message { channels: b, any: false, fields: theirs },
            ) => a == b && a.single().is_some() && differ(mine, theirs),
            _ => false,
        }
    }
}

impl Use {
    /// Whether the order of two uses matters where both are possible.
    fn disturbs(&self, other: &Self) -> bool {
        use UseKind::{Append, Churn, Insert, Look, Peek, Take};
        if !self.channels.meets(other.channels) {
            return false;
        }
        match (&self.kind, &other.kind) {
            (Churn, _) | (_, Churn) | (Insert, _) | (_, Insert) => true,
            (Look | Peek { .. }, Look | Peek { .. }) => false,
            (Append(_), Take { .. } | Peek { .. }) | (Take { .. } | Peek { .. }, Append(_)) => false,
            (Append(_), Append(_) | Look) | (Look, Append(_) | Take { .. }) | (Take { .. }, Look) => true,
            (Take { .. }, Take { .. } | Peek { .. }) | (Peek { .. }, Take { .. }) => true,
        }
    }

    /// Whether it may make the number of messages greater, and whether smaller.
    fn changes_level(&self) -> (bool, bool) {
        match self.kind {
            UseKind::Append(_) | UseKind::Insert => (true, false),
            UseKind::Take { .. } => (false, true),
            UseKind::Peek { .. } | UseKind::Look => (false, false),
            UseKind::Churn => (true, true),
        }
    }

    /// Whether it may make a message be there, and whether not.
    fn changes_message(&self, any: bool, fields: &[Option<i32>]) -> (bool, bool) {
        match &self.kind {
            // What comes last does not come first, unless there was nothing.
            UseKind::Append(sent) => (any && !differ(sent, fields), false),
            UseKind::Insert => (true, !any),
            UseKind::Take { .. } => (!any, true),
            UseKind::Peek { .. } | UseKind::Look => (false, false),
            UseKind::Churn => (true, true),
        }
    }
}

/// Whether two messages differ in a field that is constant in both.
pub(super) fn differ(a: &[Option<i32>], b: &[Option<i32>]) -> bool {
    a.iter().zip(b).any(|(a, b)| matches!((a, b), (Some(a), Some(b)) if a != b))
}

impl Check {
    /// Whether this and another comparison with the same number never hold both.
    fn excludes(self, other: Self) -> bool {
        self.subject == other.subject && !self.relation.is_compatible(self.value, other.relation, other.value)
    }

    /// How a length compared with a constant changes with it: whether one more may make it true, whether one
    /// less may.
    pub(super) fn level(self) -> (bool, bool) {
        let (on_rise, off_rise) = self.relation.under_growth();
        (on_rise, off_rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_by_trying() {
        for mask in 0..8 {
            let relation = Relation(mask);
            let pairs = (-3..3).flat_map(|x| (x + 1..4).map(move |y| (x, y)));
            let changes: Vec<(bool, bool)> = pairs.map(|(x, y)| (relation.holds(x, 0), relation.holds(y, 0))).collect();
            let enables = changes.iter().any(|(before, after)| !before && *after);
            let disables = changes.iter().any(|(before, after)| *before && !after);
            assert_eq!(relation.under_growth(), (enables, disables), "{mask}");
            for other in 0..8 {
                for a in -3..3 {
                    for b in -3..3 {
                        let by_trying = (-9..9).any(|x| relation.holds(x, a) && Relation(other).holds(x, b));
                        assert_eq!(relation.is_compatible(a, Relation(other), b), by_trying);
                    }
                }
            }
        }
    }
}
