//! Guards, taken apart into conditions that must all hold.

use super::bits::{Bits, Channels};
use super::channels::Target;
use super::extract::Context;
use super::step::{Check, Condition, Relation, Step, Subject};
use super::walk::any_within;
use crate::{BinaryOp, ChannelTest, Expr, Pattern, Slot, UnaryOp};

impl Context<'_> {
    /// Splits a guard into the parts that must all hold. A part that may be a fault or not depending on what others do, and whatever is
    /// evaluated after it, are one part: where it is a fault, the later ones need not hold.
    pub(super) fn conditions(&self, e: &Expr, guard: &mut Vec<Condition>) {
        let mut open = vec![(e, true)];
        while let Some((e, wanted)) = open.pop() {
            match e {
                Expr::Unary(UnaryOp::Not, a) => open.push((a, !wanted)),
                Expr::Binary(BinaryOp::And, a, b) if wanted => open.extend([(&**b, true), (&**a, true)]),
                Expr::Binary(BinaryOp::Or, a, b) if !wanted => open.extend([(&**b, false), (&**a, false)]),
                e if self.may_fault(e) && !self.is_settled(e) => {
                    let later = open.iter().map(|(part, _)| self.vague(part));
                    let all: Vec<Condition> = std::iter::once(self.vague(e)).chain(later).collect();
                    guard.push(vague(&all));
                    return;
                }
                e => {
                    if let (Expr::Poll { channel, .. }, true) = (e, wanted) {
                        guard.push(self.level(ChannelTest::NotEmpty, channel, true));
                    }
                    guard.extend(self.condition(e, wanted));
                }
            }
        }
    }

    /// One part of a guard; `None` if it always holds.
    pub(super) fn condition(&self, e: &Expr, wanted: bool) -> Option<Condition> {
        if let Some(value) = self.constant(e, 0) {
            return ((value != 0) != wanted).then_some(Condition::Never);
        }
        let sided = |relation: Relation| if wanted { relation } else { relation.negated() };
        match e {
            Expr::Timeout => return wanted.then_some(Condition::Never),
            Expr::Binary(op, a, b) => {
                if let Some(relation) = Relation::of(*op) {
                    if let Some(k) = self.constant(b, 0) {
                        return Some(self.comparison(a, sided(relation), k));
                    }
                    if let Some(k) = self.constant(a, 0) {
                        return Some(self.comparison(b, sided(relation.flip()), k));
                    }
                }
            }
            Expr::Load(_) | Expr::Length(_) | Expr::ProcessCount => {
                return Some(self.comparison(e, sided(Relation::NOT_EQUAL), 0));
            }
            Expr::Test(test, channel) => return Some(self.level(*test, channel, wanted)),
            Expr::Poll { channel, any, fields } if wanted && !has_load(fields) => {
                let target = self.target(channel);
                if self.is_settled(channel) {
                    let fields = fields.iter().map(|field| match field {
                        Pattern::Match(e) => self.constant(e, 0),
                        _ => None,
                    });
                    let fields = fields.collect();
                    return Some(Condition::Message { channels: target.channels, any: *any, fields });
                }
            }
            _ => {}
        }
        Some(self.vague(e))
    }

    /// Whether others cannot change the value of an expression.
    pub(super) fn is_settled(&self, e: &Expr) -> bool {
        let mut step = Step::default();
        self.read(e, &mut step);
        step.reads.is_empty() && step.uses.is_empty()
    }

    /// Depends on which channel an expression names, and on what is in it.
    pub(super) fn choice(&self, channel: &Expr, target: &Target) -> Condition {
        let mut step = Step::default();
        self.read(channel, &mut step);
        Condition::Vague(step.reads, step.touched.with(target.channels))
    }

    pub(super) fn vague(&self, e: &Expr) -> Condition {
        let mut step = Step::default();
        self.read(e, &mut step);
        Condition::Vague(step.reads, step.touched)
    }

    pub(super) fn vague_all(&self, expressions: &[Expr]) -> Condition {
        let mut step = Step::default();
        expressions.iter().for_each(|e| self.read(e, &mut step));
        Condition::Vague(step.reads, step.touched)
    }

    pub(super) fn comparison(&self, e: &Expr, relation: Relation, value: i32) -> Condition {
        match e {
            Expr::Load(place) if self.is_within(place) => {
                let (cells, alone) = self.cells_of(place);
                let check = self.element_of(place).map(|element| {
                    let subject = match place.slot {
                        Slot::Global(v) => Subject::Global(v, element),
                        Slot::Local(v) => Subject::Local(v, element),
                    };
                    Check { subject, relation, value }
                });
                match (check, place.slot) {
                    (Some(check), Slot::Local(_)) if cells.is_empty() => Condition::Private(check),
                    (Some(check), Slot::Global(_)) if alone => Condition::Cell(cells.start, check),
                    _ => self.vague(e),
                }
            }
            Expr::ProcessCount => {
                Condition::Cell(self.facts.cells.roster, Check { subject: Subject::ProcessCount, relation, value })
            }
            Expr::Length(channel) if self.is_settled(channel) => {
                let target = self.target(channel);
                let single = target.channels.single().filter(|_| !target.rendezvous);
                let (on_rise, on_fall) = Check { subject: Subject::ProcessCount, relation, value }.level();
                Condition::Level {
                    channels: target.channels,
                    on_rise,
                    on_fall,
                    check: single.map(|channel| Check { subject: Subject::Length(channel), relation, value }),
                }
            }
            e => self.vague(e),
        }
    }

    pub(super) fn level(&self, test: ChannelTest, channel: &Expr, wanted: bool) -> Condition {
        let target = self.target(channel);
        if !self.is_settled(channel) {
            return self.choice(channel, &target);
        }
        let (about_full, positive) = match test {
            ChannelTest::Full => (true, wanted),
            ChannelTest::NotFull => (true, !wanted),
            ChannelTest::Empty => (false, wanted),
            ChannelTest::NotEmpty => (false, !wanted),
        };
        let check = if about_full {
            self.fullness(&target, positive)
        } else {
            let relation = if positive { Relation::EQUAL } else { Relation::NOT_EQUAL };
            let single = target.channels.single().filter(|_| !target.rendezvous);
            single.map(|channel| Check { subject: Subject::Length(channel), relation, value: 0 })
        };
        // Full and not-empty become true as messages come, the others as they go.
        let on_rise = about_full == positive;
        Condition::Level { channels: target.channels, on_rise, on_fall: !on_rise, check }
    }
}

/// All that these conditions depend on.
pub(super) fn vague<'c>(conditions: impl IntoIterator<Item = &'c Condition>) -> Condition {
    let (mut all_cells, mut all_channels) = (Bits::default(), Channels::NONE);
    for condition in conditions {
        match condition {
            Condition::Never | Condition::Private(_) | Condition::Partner => {}
            Condition::Cell(cell, _) => all_cells.insert(*cell as usize),
            Condition::Level { channels, .. } | Condition::Message { channels, .. } => {
                all_channels = all_channels.with(*channels);
            }
            // The first cell says which processes there are.
            Condition::Youngest => all_cells.insert(0),
            Condition::Vague(cells, channels) => {
                all_cells.extend(cells);
                all_channels = all_channels.with(*channels);
            }
        }
    }
    Condition::Vague(all_cells, all_channels)
}

/// That a guard does not hold, as parts that must all hold.
pub(super) fn otherwise(guard: &[Condition]) -> Vec<Condition> {
    let not = |check: Check| Check { relation: check.relation.negated(), ..check };
    match guard {
        [] => vec![Condition::Never],
        [Condition::Never] => Vec::new(),
        [Condition::Cell(cell, check)] => vec![Condition::Cell(*cell, not(*check))],
        [Condition::Private(check)] => vec![Condition::Private(not(*check))],
        [Condition::Level { channels, on_rise, on_fall, check }] => {
            vec![Condition::Level { channels: *channels, on_rise: *on_fall, on_fall: *on_rise, check: check.map(not) }]
        }
        guard if guard.contains(&Condition::Never) => Vec::new(),
        // Whether somebody is there to receive is another question; a receive alone is never executable.
        guard => vec![vague(guard)],
    }
}

/// Whether a match looks at a variable.
pub(super) fn has_load(fields: &[Pattern]) -> bool {
    fields
        .iter()
        .any(|field| matches!(field, Pattern::Match(e) if any_within(e, |part| !matches!(part, Expr::Constant(_)))))
}
