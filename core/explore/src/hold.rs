//! Holding processes back, and sealing: what automatic runs and searches respect.

use crate::condition::Condition;
use crate::session::Exploration;
use crate::tree::NodeId;
use fabius_program::{CLAIM_PID, Move};

/// A process is held back: automatic runs and searches do not let it move. By hand it can be moved all the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Hold {
    /// The process.
    pub pid: u8,
    /// Until when.
    pub until: Until,
}

/// Until when a process is held back.
#[derive(Clone, PartialEq, Debug)]
pub enum Until {
    /// Until somebody releases it.
    Released,
    /// Until a condition is true after a step forward.
    Condition(Condition),
    /// Until others have taken this many more steps: a delay.
    Others(u32),
}

/// Nobody is held back: who moves follows a fixed order, and delays are forbidden.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Seal {
    /// In the order of creation.
    RoundRobin,
    /// What a step causes happens next.
    RunToCompletion,
}

impl Exploration {
    /// The holds in force.
    pub fn all_holds(&self) -> &[Hold] {
        &self.view.holds
    }

    /// The hold on a process.
    pub fn hold_on(&self, pid: u8) -> Option<&Hold> {
        self.view.holds.iter().find(|hold| hold.pid == pid)
    }

    /// The processes that are held.
    pub fn held(&self) -> Vec<u8> {
        self.view.holds.iter().map(|hold| hold.pid).collect()
    }

    /// Whether a step needs a process that is held.
    pub(crate) fn held_in(&self, step: &Move) -> Option<u8> {
        let partner = step.partner.map(|(pid, _)| pid);
        [Some(step.pid), partner].into_iter().flatten().find(|pid| *pid != CLAIM_PID && self.hold_on(*pid).is_some())
    }

    /// Holds a process back.
    ///
    /// # Errors
    /// If there is no such process, or if delays are forbidden at present.
    pub fn hold(&mut self, pid: u8, until: Until) -> Result<(), String> {
        if self.state().processes.len() <= usize::from(pid) {
            return Err(format!("there is no process {pid}"));
        }
        if self.view.seal.is_some() {
            return Err("delays are forbidden while the run is sealed".to_owned());
        }
        self.acting(|this| {
            this.view.holds.retain(|hold| hold.pid != pid);
            if until != Until::Others(0) {
                this.view.holds.push(Hold { pid, until });
                this.view.holds.sort_by_key(|hold| hold.pid);
            }
            Ok(())
        })
    }

    /// Lets a process move again. False if it was not held.
    pub fn release(&mut self, pid: u8) -> bool {
        self.acting(|this| {
            let before = this.view.holds.len();
            this.view.holds.retain(|hold| hold.pid != pid);
            this.view.holds.len() < before
        })
    }

    /// Forbids delays (and releases everyone, and no longer follows a schedule), or allows them again.
    pub fn seal(&mut self, seal: Option<Seal>) {
        self.acting(|this| {
            this.view.seal = seal;
            if seal.is_some() {
                this.view.holds.clear();
                this.view.follows_schedule = false;
            }
        });
    }

    /// Whether delays are forbidden, and who moves then.
    pub fn sealed(&self) -> Option<Seal> {
        self.view.seal
    }

    /// Holds that end with a step forward end.
    pub(crate) fn pass_time(&mut self, node: NodeId) {
        if self.view.holds.is_empty() {
            return;
        }
        let movers = self.tree.step(node).map(|step| (step.pid, step.partner.map(|(pid, _)| pid)));
        let mut holds = std::mem::take(&mut self.view.holds);
        holds.retain_mut(|hold| match &mut hold.until {
            Until::Released => true,
            Until::Condition(condition) => !self.holds(condition).unwrap_or(false),
            Until::Others(left) => {
                let by_others = movers
                    .is_some_and(|(pid, partner)| pid != CLAIM_PID && pid != hold.pid && partner != Some(hold.pid));
                *left = left.saturating_sub(u32::from(by_others));
                0 < *left
            }
        });
        let alive = self.situation(node).state.processes.len();
        holds.retain(|hold| usize::from(hold.pid) < alive);
        self.view.holds = holds;
    }
}
