//! From a run of the optimised program to the same run of the program as it is written.
//!
//! The optimisations merge statements and reset variables that are not needed any more. That is good
//! for a search and bad for a reader, who would see one step where the text has three, and values
//! disappear that the text never changes. Merged statements are invisible to other processes, so
//! executing them one after the other, as soon as their process may move, gives a run of the program
//! as written; the numbers of statements and locations are the same in both.

use fabius_program::{EdgeId, Location, Move, Program};
use fabius_witness::{Outcome, State, step};

/// A process that takes more steps than this to complete one merged step is not followed.
const STEPS_PER_MERGED_MAX: usize = 1_000;

/// The moves of the program as written that correspond to a run of the optimised one; `None` if they
/// cannot be found. Whether they show the same is for the reference interpreter to say.
pub(crate) fn elaborate(optimised: &Program, written: &Program, path: &[Move]) -> Option<Vec<Move>> {
    let state = State::initial(written).ok()?;
    let mut run = Run { written, state, path: Vec::new(), owed: Vec::new(), broken: false };
    for &wanted in path {
        run.complete(wanted.pid)?;
        if let Some((partner, _)) = wanted.partner {
            run.complete(partner)?;
        }
        run.follow(optimised, wanted)?;
        if run.broken {
            break;
        }
    }
    run.complete_all();
    Some(run.path)
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
}

impl Run<'_> {
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
            Outcome::Reaches { state, .. } => self.state = state,
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
