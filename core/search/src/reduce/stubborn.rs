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

    /// Adds to `set` whatever must come along with these alternatives of a process.
    fn require(&mut self, process: usize, alternatives: u64, set: &mut Alternatives);

    /// Whether a set that leaves out anything may not contain these alternatives of a process. Asked when what they
    /// require has been added.
    fn demands_all(&mut self, process: usize, alternatives: u64) -> bool;

    /// Whether a closed set without such processes is enough.
    fn suffices(&mut self, set: &Alternatives) -> bool;
}

/// Number of processes of a state whose alternatives can be closed.
pub const PROCESSES_MAX: usize = 64;

/// Alternatives of each process of a state.
#[derive(Clone, Debug, Default)]
pub struct Alternatives {
    /// For each process its alternatives, as bits.
    sets: Vec<u64>,
    /// Processes with alternatives that were added since [they were looked at](Self::next_new), as bits.
    open: u64,
    /// For each process the alternatives that were looked at.
    done: Vec<u64>,
}

impl Alternatives {
    /// No alternatives of this many processes.
    fn clear(&mut self, count: usize) {
        for sets in [&mut self.sets, &mut self.done] {
            sets.resize(count, 0);
            sets.fill(0);
        }
        self.open = 0;
    }

    /// Alternatives of a process.
    #[inline(always)]
    pub fn of(&self, process: usize) -> u64 {
        self.sets[process]
    }

    /// Adds alternatives of a process.
    #[inline(always)]
    pub fn add(&mut self, process: usize, alternatives: u64) {
        let set = &mut self.sets[process];
        self.open |= u64::from(alternatives & !*set != 0) << process;
        *set |= alternatives;
    }

    /// A process with alternatives that were not looked at.
    #[inline(always)]
    fn next_open(&self) -> Option<usize> {
        (self.open != 0).then(|| self.open.trailing_zeros() as usize)
    }

    /// The alternatives of a process that were not looked at; they are now.
    #[inline(always)]
    fn take_new(&mut self, process: usize) -> u64 {
        self.open &= !(1 << process);
        let new = self.sets[process] & !self.done[process];
        self.done[process] = self.sets[process];
        new
    }
}

/// Memory for closing sets.
#[derive(Clone, Debug, Default)]
pub struct Closer {
    set: Alternatives,
    best: Alternatives,
    /// The processes that were tried in vain, as bits: a set in which they can move is as large as theirs.
    hopeless: u64,
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
    /// something out; among equals the one that starts with the youngest process. `None` if there is none.
    ///
    /// # Panics
    /// If there are more than [`PROCESSES_MAX`] processes.
    #[inline]
    pub fn smallest(&mut self, count: usize, requirements: &mut impl Requirements) -> Option<&Alternatives> {
        // A set with all steps leaves nothing out.
        let all = (0..count).map(|process| requirements.executable(process).count_ones()).sum();
        let mut steps_min = all;
        self.hopeless = 0;
        for start in (0..count).rev() {
            if requirements.executable(start) == 0 {
                continue;
            }
            self.set.clear(count);
            self.set.add(start, requirements.with_executable(start));
            let Closed::Steps(steps) = self.close(steps_min, true, requirements) else {
                self.hopeless |= 1 << start;
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
        (steps_min < all).then_some(&self.best)
    }

    /// The closed set with the fewest steps that contains all alternatives of some processes, and in which another
    /// process can do something. `None` if no other process can.
    ///
    /// # Panics
    /// If there are more than [`PROCESSES_MAX`] processes.
    pub fn larger(&mut self, count: usize, chosen: u64, requirements: &mut impl Requirements) -> Option<&Alternatives> {
        let mut steps_min = u32::MAX;
        self.hopeless = 0;
        for start in (0..count).rev() {
            if chosen >> start & 1 != 0 || requirements.executable(start) == 0 {
                continue;
            }
            self.set.clear(count);
            for process in (0..count).filter(|process| *process == start || chosen >> process & 1 != 0) {
                self.set.add(process, requirements.alternatives(process));
            }
            let Closed::Steps(steps) = self.close(steps_min, false, requirements) else { continue };
            steps_min = steps;
            std::mem::swap(&mut self.set, &mut self.best);
        }
        (steps_min < u32::MAX).then_some(&self.best)
    }

    fn close(&mut self, limit: u32, demands: bool, requirements: &mut impl Requirements) -> Closed {
        let mut steps = 0;
        // Processes that can move in the set.
        let mut movers: u64 = 0;
        while let Some(process) = self.set.next_open() {
            let executable = requirements.executable(process);
            if self.set.of(process) & executable != 0 && movers >> process & 1 == 0 {
                self.set.add(process, requirements.with_executable(process));
                movers |= 1 << process;
                steps += executable.count_ones();
                if movers & self.hopeless != 0 || limit <= steps {
                    return Closed::Useless;
                }
            }
            let new = self.set.take_new(process);
            requirements.require(process, new, &mut self.set);
            if demands && requirements.demands_all(process, self.set.done[process]) {
                return Closed::Useless;
            }
        }
        Closed::Steps(steps)
    }
}
