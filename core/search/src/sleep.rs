//! Processes that sleep: each state is visited, but not each transition to a known one is taken.
//!
//! ```text
//! visit(s, Z):  for each process p ∉ Z, the youngest first, for each step e of p in s, to t:
//!                 if t ∉ V:  V := V ∪ {t}
//!                            visit(t, {q : q younger than p, q has a step in s, and what q can do in s is what it can do in t,
//!                                          and independent of e})
//! ```
//!
//! What an older process does after a younger one is left out where the younger one could have gone first, if the steps are
//! independent. So it is with the *sleep sets* of Godefroid (*Partial-Order Methods for the Verification of Concurrent Systems*, LNCS
//! 1032, section 5.2). These hold whatever was explored before; a state that is reached once more with somebody awake who slept before
//! has to be visited again, and each state must keep who slept. In some models of the corpus, that happens about once for each state. Here a process
//! sleeps only after a step of an older one, and who sleeps is decided on the first arrival alone: nothing is kept, and nothing is visited
//! twice.
//!
//! That all states are visited: let e be a step of p in a visited state s; then the state t after it is visited. By induction on p, the
//! older ones first, and for each p on the number of steps from the initial state to s on first arrivals. If p is awake in s, e is
//! taken. Otherwise s was reached first from a state r by a step d of an older process o, and e is a step of p in r, too, to a
//! state u. So u is visited, since r has fewer steps; since d is independent of e, it is a step of o in u, and leads to t. So t is visited,
//! since o is older.
//!
//! In the same way, each step that is left out was taken somewhere, with the same effect: what is wrong with it is seen. In a state in
//! which somebody sleeps, somebody can move, so it is no end. None of this depends on the order in which states are visited, or on who visits
//! them. An atomic sequence counts as one step.

/// Processes by their numbers, as bits; those without a bit never sleep.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Asleep(u32);

impl Asleep {
    /// Nobody is.
    pub const NOBODY: Self = Self(0);
    /// Processes with smaller numbers may sleep.
    pub const COUNT: u32 = 31;

    /// This process alone, if it may sleep.
    #[inline]
    pub fn one(process: u8) -> Self {
        Self(if u32::from(process) < Self::COUNT { 1 << process } else { 0 })
    }

    /// Whether nobody is.
    #[inline]
    pub fn is_nobody(self) -> bool {
        self.0 == 0
    }

    /// Those of either.
    #[inline]
    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those of them who are younger than a process.
    #[inline]
    #[must_use]
    pub fn younger_than(self, process: u8) -> Self {
        let up_to = Self::one(process).0;
        Self(if up_to == 0 { 0 } else { self.0 & !(up_to | (up_to - 1)) })
    }

    /// Those of them whom somebody keeps asleep, who is asked with the number of each.
    #[inline]
    #[must_use]
    pub fn retain(self, mut keeps: impl FnMut(u8) -> bool) -> Self {
        let (mut kept, mut rest) = (0, self.0);
        while rest != 0 {
            let process = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            kept |= u32::from(keeps(process)) << process;
        }
        Self(kept)
    }

    /// As bits, by the numbers of the processes.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Those with these bits.
    #[inline]
    pub fn of_bits(bits: u32) -> Self {
        Self(bits)
    }
}
