//! Closed sets of alternatives.
//!
//! In a state each process is somewhere, and has alternatives there: steps that it can take now, and steps that it
//! cannot take yet. What must come along with an alternative is for the model to say.
//!
//! ```text
//! close(T):  while something required by some alternative in T is not in T: add it
//!            where T has an alternative that can be taken, it has all alternatives of the same process that can be taken in
//!            some state in which this one can be taken, too
//!
//! best := everything
//! for each process p that can move, the youngest first:
//!   T := close(alternatives of p that can be taken)
//!   if fewer steps can be taken in T than in best: best := T
//! ```

/// What the alternatives of the processes of one state require of each other.
///
/// The same question may be asked several times in one state: whoever answers keeps the answers.
pub trait Requirements {
    /// The alternatives of a process, as bits.
    fn alternatives(&mut self, process: usize) -> u64;

    /// Those of them that can be taken.
    fn executable(&mut self, process: usize) -> u64;

    /// The alternatives that can be taken, and those that may be in a state where one of these can be taken, too. The process
    /// has to take one of these before it can take any other: no step of another process that accords with them changes that.
    fn with_executable(&mut self, process: usize) -> u64;

    /// Adds to `set`, which has the alternatives of each process, whatever must come along with these
    /// alternatives of a process.
    fn require(&mut self, process: usize, alternatives: u64, set: &mut [u64]);

    /// Whether a set that leaves out anything may not contain these alternatives of a process. Asked when what they
    /// require has been added.
    fn demands_all(&mut self, process: usize, alternatives: u64) -> bool;

    /// Whether a closed set without such processes is enough.
    fn suffices(&mut self, set: &[u64]) -> bool;
}

/// Memory for closing sets.
#[derive(Clone, Debug, Default)]
pub struct Closer {
    set: Vec<u64>,
    done: Vec<u64>,
    best: Vec<u64>,
    /// The processes that were tried in vain: a set in which they can move is as large as theirs.
    hopeless: Vec<bool>,
}

/// How a set turned out.
enum Closed {
    /// This many steps can be taken.
    Steps(u32),
    /// It is of no use.
    Useless,
}

impl Closer {
    /// The closed set in which the fewest steps can be taken, but at least one, that is enough although it leaves
    /// something out; among equals the one that starts with the youngest process. For each process its
    /// alternatives. `None` if there is none.
    #[inline]
    pub fn smallest(&mut self, count: usize, requirements: &mut impl Requirements) -> Option<&[u64]> {
        // A set with all steps leaves nothing out.
        let all = (0..count).map(|process| requirements.executable(process).count_ones()).sum();
        let mut steps_min = all;
        self.hopeless.clear();
        self.hopeless.resize(count, false);
        for start in (0..count).rev() {
            if requirements.executable(start) == 0 {
                continue;
            }
            self.set.clear();
            self.set.resize(count, 0);
            self.set[start] = requirements.with_executable(start);
            let Closed::Steps(steps) = self.close(steps_min, true, requirements) else {
                self.hopeless[start] = true;
                continue;
            };
            if requirements.suffices(&self.set) {
                steps_min = steps;
                std::mem::swap(&mut self.set, &mut self.best);
                if steps == 1 {
                    break;
                }
            }
        }
        (steps_min < all).then_some(&self.best[..])
    }

    /// The closed set with the fewest steps that contains all alternatives of some processes, and in which another
    /// process can do something. `None` if no other process can.
    pub fn larger(&mut self, count: usize, chosen: u64, requirements: &mut impl Requirements) -> Option<&[u64]> {
        let mut steps_min = u32::MAX;
        self.hopeless.clear();
        self.hopeless.resize(count, false);
        for start in (0..count).rev() {
            if chosen >> start & 1 != 0 || requirements.executable(start) == 0 {
                continue;
            }
            self.set.clear();
            let is_in = |process: usize| process == start || chosen >> process & 1 != 0;
            self.set
                .extend((0..count).map(|process| if is_in(process) { requirements.alternatives(process) } else { 0 }));
            let Closed::Steps(steps) = self.close(steps_min, false, requirements) else { continue };
            steps_min = steps;
            std::mem::swap(&mut self.set, &mut self.best);
        }
        (steps_min < u32::MAX).then_some(&self.best[..])
    }

    fn close(&mut self, limit: u32, demands: bool, requirements: &mut impl Requirements) -> Closed {
        self.done.clear();
        self.done.resize(self.set.len(), 0);
        let mut steps = 0;
        while let Some((process, new)) = self.next_open() {
            let first = self.done[process] & requirements.executable(process) == 0;
            self.expand(process, new, requirements);
            let executable = self.done[process] & requirements.executable(process);
            if first && executable != 0 {
                if self.hopeless[process] {
                    return Closed::Useless;
                }
                steps += executable.count_ones();
                if limit <= steps {
                    return Closed::Useless;
                }
            }
            if demands && requirements.demands_all(process, self.done[process]) {
                return Closed::Useless;
            }
        }
        Closed::Steps(steps)
    }

    /// A process with alternatives in the set that were not looked at.
    #[inline]
    fn next_open(&self) -> Option<(usize, u64)> {
        let mut both = self.set.iter().zip(&self.done).enumerate();
        both.find(|(_, (set, done))| **set & !**done != 0).map(|(process, (set, done))| (process, set & !done))
    }

    /// Adds what alternatives require.
    #[inline]
    fn expand(&mut self, process: usize, new: u64, requirements: &mut impl Requirements) {
        let mut new = new;
        if new & requirements.executable(process) != 0 {
            self.set[process] |= requirements.with_executable(process);
            new = self.set[process] & !self.done[process];
        }
        self.done[process] |= new;
        requirements.require(process, new, &mut self.set);
    }
}
