//! From a run of the optimised program to the same run of the program as it is written.
//!
//! The optimisations merge statements and reset variables that are not needed any more. That is good
//! for a search and bad for a reader, who would see one step where the text has three, and values
//! disappear that the text never changes. Merged statements are invisible to other processes, so
//! executing them one after the other, as soon as their process may move, gives a run of the program
//! as written; the numbers of statements and locations are the same in both.

mod claim_product;

use claim_product::claim_product;
use fabius_program::{CLAIM_PID, EdgeId, Location, Move, Program, Watch, meaning::Fault};
use fabius_witness::{Claim, Outcome, State, settled, step};

/// A process that takes more steps than this to complete one merged step is not followed.
const STEPS_PER_MERGED_MAX: usize = 1_000;
/// A loop that does not close after this many rounds in the program as written is not followed.
const ROUNDS_MAX: usize = 8;

/// A run, and what it is said to show.
pub struct Elaborated {
    /// Its moves.
    pub path: Vec<Move>,
    /// What it shows.
    pub claim: Claim,
}

/// The run of the program as written that corresponds to a run of the optimised one; `None` if it cannot be found.
/// Whether it shows the same is for the reference interpreter to say.
///
/// What watches the run sees more steps than before, and moves anew.
pub fn elaborate(
    optimised: &Program,
    written: &Program,
    watch: Watch,
    path: &[Move],
    claim: Claim,
) -> Option<Elaborated> {
    let start = match claim {
        Claim::Cycle { start, .. } => start,
        _ => path.len(),
    };
    let (stem, cycle) = path.split_at_checked(start)?;
    let mut run = Run::new(written)?;
    let fails = claim == Claim::Fault(Fault::AssertionFailed) && watch.claim.is_none();
    run.follow_all(optimised, stem, fails)?;
    let (path, from) = run.go_round(optimised, cycle)?;
    let Some(_) = watch.claim else { return Some(elaborated(path, from, claim)) };
    let (path, from) = claim_product(written, watch, &path, from, claim)?;
    Some(elaborated(path, from, claim))
}

fn elaborated(path: Vec<Move>, start: usize, claim: Claim) -> Elaborated {
    let claim = match claim {
        Claim::Cycle { shows, .. } => Claim::Cycle { start, shows },
        claim => claim,
    };
    Elaborated { path, claim }
}

/// A run of the program as written.
struct Run<'a> {
    written: &'a Program,
    state: State,
    path: Vec<Move>,
    /// Processes that have not yet come to where their merged step leads: their number, and the
    /// number of that location.
    owed: Vec<(u8, u32)>,
    /// The last step is faulty; nothing follows it.
    broken: bool,
    /// An assertion that fails now is such a step.
    ends_at_assertion: bool,
}

impl<'a> Run<'a> {
    /// At the beginning.
    fn new(written: &'a Program) -> Option<Self> {
        let state = State::initial(written).ok()?;
        Some(Self { written, state, path: Vec::new(), owed: Vec::new(), broken: false, ends_at_assertion: false })
    }

    /// Takes the steps of the processes that a run of the optimised program consists of. `fails`: an assertion fails in the last
    /// one, and the run ends there.
    fn follow_all(&mut self, optimised: &Program, path: &[Move], fails: bool) -> Option<()> {
        for (at, &wanted) in path.iter().enumerate().filter(|(_, wanted)| wanted.pid != CLAIM_PID) {
            if self.broken {
                break;
            }
            self.complete(wanted.pid)?;
            if let Some((partner, _)) = wanted.partner {
                self.complete(partner)?;
            }
            self.ends_at_assertion = fails && at + 1 == path.len();
            self.follow(optimised, wanted)?;
        }
        self.complete_all();
        Some(())
    }

    /// Goes round a cycle until it closes: variables that the optimisation does not follow may take some rounds to
    /// come back to their values. Returns all moves, and how many of them come before the cycle.
    fn go_round(mut self, optimised: &Program, cycle: &[Move]) -> Option<(Vec<Move>, usize)> {
        if cycle.iter().all(|step| step.pid == CLAIM_PID) {
            let from = self.path.len();
            return Some((self.path, from));
        }
        let mut turns: Vec<(State, usize)> = Vec::new();
        for _ in 0..=ROUNDS_MAX {
            let here = settled(self.written, &self.state).visible(self.written);
            if let Some((_, from)) = turns.iter().find(|(there, _)| *there == here) {
                return Some((self.path, *from));
            }
            turns.push((here, self.path.len()));
            self.follow_all(optimised, cycle, false)?;
        }
        None
    }

    /// Takes the step that a step of the optimised program begins with, and what is merged with it.
    fn follow(&mut self, optimised: &Program, wanted: Move) -> Option<()> {
        let number = |edge: EdgeId| optimised.statement(optimised.process_of(edge), edge).number;
        let own = self.edges(wanted.pid, number(wanted.edge));
        let moves: Vec<Move> = match wanted.partner {
            None => own.iter().map(|&edge| Move { edge, ..wanted }).collect(),
            Some((pid, edge)) => {
                let others = self.edges(pid, number(edge));
                let pair = |edge: EdgeId| others.iter().map(move |&other| (edge, other));
                let pairs = own.iter().flat_map(|&edge| pair(edge));
                pairs.map(|(edge, other)| Move { edge, partner: Some((pid, other)), ..wanted }).collect()
            }
        };
        moves.into_iter().find_map(|candidate| self.take(candidate))?;
        let target = |edge: EdgeId| {
            let edge = optimised.edge(edge);
            optimised.process(edge.process).locations[edge.target.0 as usize].number
        };
        self.owed.push((wanted.pid, target(wanted.edge)));
        self.owed.extend(wanted.partner.map(|(pid, edge)| (pid, target(edge))));
        self.complete_all();
        Some(())
    }

    /// Lets every process complete its merged step, if it may move now.
    fn complete_all(&mut self) {
        let owed: Vec<u8> = self.owed.iter().map(|(pid, _)| *pid).collect();
        for pid in owed {
            // A process that may not move now does so before its next step.
            let _ = self.complete(pid);
        }
    }

    /// Lets a process complete its merged step.
    fn complete(&mut self, pid: u8) -> Option<()> {
        let Some(at) = self.owed.iter().position(|(owing, _)| *owing == pid) else { return Some(()) };
        let target = self.owed[at].1;
        for _ in 0..STEPS_PER_MERGED_MAX {
            if self.broken || self.location(pid).is_none_or(|location| location.number == target) {
                self.owed.remove(at);
                return Some(());
            }
            let edges = self.location(pid)?.edges.clone();
            let mut moves = edges.map(|edge| Move { pid, edge: EdgeId(edge), partner: None });
            moves.find_map(|candidate| self.take(candidate))?;
        }
        None
    }

    /// Takes a step if it is possible.
    fn take(&mut self, candidate: Move) -> Option<()> {
        let taken = step(self.written, &self.state, candidate).ok()?;
        self.path.push(candidate);
        match taken.outcome {
            Outcome::Reaches { state, assertion_failed, .. } => {
                self.state = state;
                self.broken = self.ends_at_assertion && assertion_failed;
            }
            Outcome::Broken { .. } => self.broken = true,
        }
        Some(())
    }

    /// The edges with a statement number that leave the location of a process.
    fn edges(&self, pid: u8, number: u32) -> Vec<EdgeId> {
        let Some(location) = self.location(pid) else { return Vec::new() };
        let edges = self.written.edges_of(location).map(|(id, _)| id);
        edges.filter(|&id| self.written.statement(self.written.process_of(id), id).number == number).collect()
    }

    /// Where a process is; `None` if it has ended.
    fn location(&self, pid: u8) -> Option<&Location> {
        let process = self.state.processes.get(usize::from(pid))?;
        self.written.process(process.process).locations.get(process.location.0 as usize)
    }
}
