//! A pattern decided step by step, after K. Havelund and G. Roşu, *Synthesizing Monitors for Safety Properties* (2002): each part of
//! the pattern is decided from its operands now and from one bit of the position before.
//!
//! ```text
//! memory := the bits before the first position
//! at each position, for each part, operands first:
//!   now[part]    := from now[operands] and memory[part]
//!   memory[part] := what the part needs at the next position
//! the pattern is true here if now[the whole] is
//! ```

use crate::past::{Past, Unary};

/// What decides a pattern along a run. Its memory is kept by whoever walks the run: [`Monitor::words`] words.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Operands come before what they are operands of; the last part is the whole.
    parts: Vec<Part>,
    /// Number of bits of memory.
    bits: usize,
    /// Of each part, whether it is true now.
    now: Vec<bool>,
}

/// A part of a pattern; operands are named by their numbers, bits of memory as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Proposition(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    /// The bit: the operand at the position before.
    Previously(usize, usize),
    /// The bit: the part itself at the position before, false before the first.
    Once(usize, usize),
    /// The bit: whether it was false at some position before.
    Historically(usize, usize),
    /// The bit: the part itself at the position before.
    Since(usize, usize, usize),
    /// The bit: whether the second was true at some position before.
    After(usize, usize, usize),
    /// The bit: the operand at the position before, or true before the first.
    Start(usize, usize),
    /// The bit: the operand at the position before.
    End(usize, usize),
}

impl Monitor {
    /// The monitor of a pattern over numbered propositions. Equal parts are decided once.
    pub fn new(pattern: &Past<usize>) -> Self {
        let mut monitor = Self { parts: Vec::new(), bits: 0, now: Vec::new() };
        monitor.add(pattern);
        monitor.now = vec![false; monitor.parts.len()];
        monitor
    }

    fn add(&mut self, pattern: &Past<usize>) -> usize {
        let mut operand = |of: &Past<usize>| self.add(of);
        // The bit is chosen once it is known that the part is new.
        let part = match pattern {
            Past::Proposition(p) => Part::Proposition(*p),
            Past::Unary(operator, a) => {
                let a = operand(a);
                match operator {
                    Unary::Not => Part::Not(a),
                    Unary::Previously => Part::Previously(a, 0),
                    Unary::Once => Part::Once(a, 0),
                    Unary::Historically => Part::Historically(a, 0),
                    Unary::Start => Part::Start(a, 0),
                    Unary::End => Part::End(a, 0),
                }
            }
            Past::And(a, b) => Part::And(operand(a), operand(b)),
            Past::Or(a, b) => Part::Or(operand(a), operand(b)),
            Past::Implies(a, b) => {
                let a = operand(a);
                let not = self.part(Part::Not(a));
                Part::Or(not, self.add(b))
            }
            Past::Since(a, b) => Part::Since(operand(a), operand(b), 0),
            Past::After(a, b) => Part::After(operand(a), operand(b), 0),
        };
        self.part(part)
    }

    /// The number of a part, which is added if it is new.
    fn part(&mut self, part: Part) -> usize {
        if let Some(known) = self.parts.iter().position(|known| known.without_bit() == part) {
            return known;
        }
        let with_bit = part.with_bit(self.bits);
        self.bits += usize::from(with_bit.bit().is_some());
        self.parts.push(with_bit);
        self.parts.len() - 1
    }

    /// Words of memory that it needs. It is all 0 before the first position.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(32)
    }

    /// Goes on to the next position of a run, the first one if the memory is all 0: whether the pattern is true there. `is_true`
    /// tells a proposition there. `memory` has [`Monitor::words`] words.
    #[inline]
    pub fn step(&mut self, memory: &mut [u32], mut is_true: impl FnMut(usize) -> bool) -> bool {
        for (number, part) in self.parts.iter().enumerate() {
            let (value, bit) = {
                let now = |operand: usize| self.now[operand];
                let before = |bit: usize| memory[bit / 32] >> (bit % 32) & 1 != 0;
                match *part {
                    Part::Proposition(p) => (is_true(p), None),
                    Part::Not(a) => (!now(a), None),
                    Part::And(a, b) => (now(a) && now(b), None),
                    Part::Or(a, b) => (now(a) || now(b), None),
                    Part::Previously(a, bit) => (before(bit), Some((bit, now(a)))),
                    Part::Once(a, bit) => {
                        let once = now(a) || before(bit);
                        (once, Some((bit, once)))
                    }
                    Part::Historically(a, bit) => {
                        let failed = !now(a) || before(bit);
                        (!failed, Some((bit, failed)))
                    }
                    Part::Since(a, b, bit) => {
                        let since = now(b) || now(a) && before(bit);
                        (since, Some((bit, since)))
                    }
                    Part::After(a, b, bit) => (now(a) && before(bit), Some((bit, before(bit) || now(b)))),
                    // Before the first position the bit is 0, which stands for true: a pattern starts only where it was false.
                    Part::Start(a, bit) => (now(a) && before(bit), Some((bit, !now(a)))),
                    Part::End(a, bit) => (!now(a) && before(bit), Some((bit, now(a)))),
                }
            };
            self.now[number] = value;
            if let Some((bit, after)) = bit {
                let mask = 1 << (bit % 32);
                memory[bit / 32] = if after { memory[bit / 32] | mask } else { memory[bit / 32] & !mask };
            }
        }
        self.now.last().is_some_and(|whole| *whole)
    }
}

impl Part {
    fn bit(self) -> Option<usize> {
        match self {
            Self::Proposition(_) | Self::Not(_) | Self::And(..) | Self::Or(..) => None,
            Self::Previously(_, bit) | Self::Once(_, bit) | Self::Historically(_, bit) => Some(bit),
            Self::Start(_, bit) | Self::End(_, bit) | Self::Since(_, _, bit) | Self::After(_, _, bit) => Some(bit),
        }
    }

    fn with_bit(mut self, number: usize) -> Self {
        match &mut self {
            Self::Proposition(_) | Self::Not(_) | Self::And(..) | Self::Or(..) => {}
            Self::Previously(_, bit) | Self::Once(_, bit) | Self::Historically(_, bit) => *bit = number,
            Self::Start(_, bit) | Self::End(_, bit) | Self::Since(_, _, bit) | Self::After(_, _, bit) => *bit = number,
        }
        self
    }

    fn without_bit(self) -> Self {
        self.with_bit(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }

        fn pattern(&mut self, depth: u32) -> Past<usize> {
            if depth == 0 || self.below(6) == 0 {
                return Past::Proposition(self.below(3) as usize);
            }
            let choice = self.below(11);
            let a = Box::new(self.pattern(depth - 1));
            let unary = |operator| Past::Unary(operator, a.clone());
            match choice {
                0 => return unary(Unary::Not),
                1 => return unary(Unary::Previously),
                2 => return unary(Unary::Once),
                3 => return unary(Unary::Historically),
                4 => return unary(Unary::Start),
                5 => return unary(Unary::End),
                _ => {}
            }
            let b = Box::new(self.pattern(depth - 1));
            match choice {
                6 => Past::And(a, b),
                7 => Past::Or(a, b),
                8 => Past::Implies(a, b),
                9 => Past::Since(a, b),
                _ => Past::After(a, b),
            }
        }
    }

    /// Whether a pattern is true at a position of a run: the definitions, word for word.
    fn defined(pattern: &Past<usize>, run: &[[bool; 3]], now: usize) -> bool {
        let at = |part: &Past<usize>, then: usize| defined(part, run, then);
        match pattern {
            Past::Proposition(p) => run[now][*p],
            Past::Unary(Unary::Not, a) => !at(a, now),
            Past::Unary(Unary::Previously, a) => 0 < now && at(a, now - 1),
            Past::Unary(Unary::Once, a) => (0..=now).any(|then| at(a, then)),
            Past::Unary(Unary::Historically, a) => (0..=now).all(|then| at(a, then)),
            Past::Unary(Unary::Start, a) => 0 < now && at(a, now) && !at(a, now - 1),
            Past::Unary(Unary::End, a) => 0 < now && !at(a, now) && at(a, now - 1),
            Past::And(a, b) => at(a, now) && at(b, now),
            Past::Or(a, b) => at(a, now) || at(b, now),
            Past::Implies(a, b) => !at(a, now) || at(b, now),
            Past::Since(a, b) => (0..=now).any(|then| at(b, then) && (then + 1..=now).all(|later| at(a, later))),
            Past::After(a, b) => at(a, now) && (0..now).any(|then| at(b, then)),
        }
    }

    #[test]
    fn a_monitor_is_true_where_the_definition_is() {
        let mut dice = Dice(1);
        let (mut held, mut failed, mut wide) = (0, 0, 0);
        for round in 0..20_000 {
            let pattern = dice.pattern(1 + round % 10);
            let run: Vec<[bool; 3]> =
                (0..1 + dice.below(9)).map(|_| std::array::from_fn(|_| dice.below(2) == 0)).collect();
            let positions = pattern.positions(run.len(), &mut |p, now| run[now][*p]);
            if round % 10 < 4 {
                let defined: Vec<bool> = (0..run.len()).map(|now| defined(&pattern, &run, now)).collect();
                assert_eq!(positions, defined, "{pattern:?} on {run:?}");
            }
            let mut monitor = Monitor::new(&pattern);
            let mut memory = vec![0; monitor.words()];
            let watched: Vec<bool> = run.iter().map(|values| monitor.step(&mut memory, |p| values[p])).collect();
            assert_eq!(watched, positions, "{pattern:?} on {run:?}");
            held += watched.iter().filter(|now| **now).count();
            failed += watched.iter().filter(|now| !**now).count();
            wide += usize::from(1 < monitor.words());
        }
        assert!(10_000 < held && 10_000 < failed && 10 < wide, "{held} {failed} {wide}");
    }

    #[test]
    fn equal_parts_are_decided_once() {
        let p = || Box::new(Past::Proposition(0));
        let once = || Box::new(Past::Unary(Unary::Once, p()));
        let monitor = Monitor::new(&Past::And(once(), Box::new(Past::Unary(Unary::Not, once()))));
        assert_eq!((monitor.parts.len(), monitor.bits), (4, 1));
        assert_eq!(Monitor::new(&p()).words(), 0);
    }
}
