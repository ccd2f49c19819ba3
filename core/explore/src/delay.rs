//! Delays under a scheduler: where a run needs them, and what becomes of it without one.

use crate::Exploration;
use crate::drive::Stop;
use crate::tree::NodeId;
use fabius_engine::{DelayPoint, RunEnd, SAFETY, ScheduledRun, Scheduling, delays_of, rerun};
use fabius_witness::{HeldBack, process_statuses};

/// A run under other delays may be so much longer than the one it is like.
const LONGER_MAX: usize = 10_000;

/// The line as a run under a scheduler.
#[derive(Clone, PartialEq, Debug)]
pub struct Delays {
    /// The scheduler's name.
    pub scheduler: String,
    /// Where it is delayed.
    pub points: Vec<DelayPoint>,
    /// For each of them, the number of the step before which the process is held back.
    pub steps: Vec<usize>,
    /// How the run ends.
    pub end: RunEnd,
}

/// What became of a run under other delays.
#[derive(Clone, PartialEq, Debug)]
pub struct Rerun {
    /// It leads here.
    pub tip: NodeId,
    /// It ends as the run before: goes wrong in the same way, or not at all.
    pub still: bool,
    /// It goes wrong, in the same way or in another one.
    pub wrong: bool,
    /// The delays that it took: some of those that were asked for may never have come to pass.
    pub points: Vec<DelayPoint>,
    /// What became of it, in a sentence.
    pub sentence: String,
}

/// Which delays an error needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Needed {
    /// These: with them and no others the error still happens, and without any of them it does not.
    pub points: Vec<DelayPoint>,
    /// These can be left out.
    pub others: Vec<DelayPoint>,
    /// All of it in a sentence.
    pub sentence: String,
}

impl Exploration {
    fn tip(&self) -> NodeId {
        self.line().last().copied().unwrap_or(NodeId::ROOT)
    }

    /// The line as a run under a scheduler: where that is delayed.
    ///
    /// # Errors
    /// If delays cannot be counted here, in a sentence.
    pub fn delays(&self, scheduling: &Scheduling) -> Result<Delays, String> {
        let run = delays_of(self.loaded(), self.target(), &self.path(self.tip()), scheduling)?;
        let step = |point: &DelayPoint| {
            let before = self.line().get(point.before).copied().unwrap_or(NodeId::ROOT);
            self.number(before) + 1
        };
        let steps = run.delays.iter().map(step).collect();
        Ok(Delays { scheduler: scheduling.name(self.target()), points: run.delays, steps, end: run.end })
    }

    /// Who is held back before which steps of the line: the node that the step leads to, and the process.
    pub fn held_back(&self, delays: &Delays) -> Vec<(NodeId, HeldBack)> {
        let held = |point: &DelayPoint| {
            let (before, after) = (*self.line().get(point.before)?, *self.line().get(point.before + 1)?);
            let process_statuses = process_statuses(&self.target().program, &self.state_at(before));
            let status = process_statuses.into_iter().find(|status| status.pid == point.process)?;
            Some((after, HeldBack { pid: point.process, name: status.name, span: status.span }))
        };
        delays.points.iter().filter_map(held).collect()
    }

    /// Runs the line again with these delays and no others, and puts what comes of it into the tree; one stays where one
    /// is.
    ///
    /// # Errors
    /// If that is not possible, in a sentence.
    pub fn with_delays(&mut self, scheduling: &Scheduling, points: &[DelayPoint]) -> Result<Rerun, String> {
        let like = self.path(self.tip());
        let before = delays_of(self.loaded(), self.target(), &like, scheduling)?;
        let run = self.again(&like, scheduling, points)?;
        let still = run.end.same(before.end);
        let (was_wrong, wrong) = (goes_wrong(before.end), goes_wrong(run.end));
        let any_more = if was_wrong { " any more" } else { "" };
        let what = if was_wrong { "something else goes wrong" } else { "now it goes wrong" };
        let sentence = match run.end {
            _ if still && wrong => "the error still happens".to_owned(),
            _ if still => "nothing goes wrong, as before".to_owned(),
            RunEnd::Done => format!("nothing goes wrong{any_more}: the run comes to its end"),
            RunEnd::Limit => format!("nothing goes wrong{any_more} in {} steps", run.path.len()),
            RunEnd::Deadlock => format!("{what}: {}", Stop::Deadlock.sentence()),
            RunEnd::Fault(fault) => format!("{what}: {fault}"),
        };
        let tip = self.acting(|this| {
            let tip = this.adopt(&run.path)?;
            // Of another property than safety, the end of a run is no violation.
            if wrong && this.target().property == SAFETY {
                this.mark_error(tip);
            }
            Ok::<_, String>(tip)
        })?;
        Ok(Rerun { tip, still, wrong, points: run.delays, sentence })
    }

    fn again(
        &self,
        like: &[fabius_program::Move],
        scheduling: &Scheduling,
        points: &[DelayPoint],
    ) -> Result<ScheduledRun, String> {
        let steps_max = like.len().saturating_mul(2).saturating_add(100).min(like.len() + LONGER_MAX);
        rerun(self.loaded(), self.target(), like, scheduling, points, steps_max)
    }

    /// Takes away the delay of a process before a step of the line (the number of the step), or puts one there, and runs
    /// the line again.
    ///
    /// # Errors
    /// If that is not possible, in a sentence.
    pub fn toggle_delay(&mut self, scheduling: &Scheduling, step: usize, process: u8) -> Result<Rerun, String> {
        let mut delays = self.delays(scheduling)?;
        let there = delays.points.iter().zip(&delays.steps).position(|(p, at)| p.process == process && *at == step);
        match there {
            Some(at) => drop(delays.points.remove(at)),
            None => {
                let before = self.line().iter().position(|node| self.number(*node) + 1 == step);
                let before = before.ok_or_else(|| format!("the run has no step {step}"))?;
                let to_here: Vec<_> = self.path(self.tip()).into_iter().take(before).collect();
                let macro_step = delays_of(self.loaded(), self.target(), &to_here, scheduling)?.macro_steps_of(process);
                delays.points.push(DelayPoint { process, macro_step, before });
            }
        }
        self.with_delays(scheduling, &delays.points)
    }

    /// Which delays the error at the end of the line needs: each is left out in turn, and stays out if the error still
    /// happens.
    ///
    /// # Errors
    /// If delays cannot be counted here, or if the line ends in no error, in a sentence.
    pub fn needed_delays(&self, scheduling: &Scheduling) -> Result<Needed, String> {
        let like = self.path(self.tip());
        let all = self.delays(scheduling)?;
        if !goes_wrong(all.end) {
            return Err(
                "this run does not end in an error, so there is none that a delay could be needed for".to_owned()
            );
        }
        let mut points = all.points.clone();
        let mut others = Vec::new();
        let mut at = 0;
        while at < points.len() {
            let mut fewer = points.clone();
            let left_out = fewer.remove(at);
            if self.again(&like, scheduling, &fewer)?.end.same(all.end) {
                points = fewer;
                others.push(left_out);
            } else {
                at += 1;
            }
        }
        let step_of = |point: &DelayPoint| {
            let at = all.points.iter().position(|known| known == point);
            at.and_then(|at| all.steps.get(at)).copied().unwrap_or(0)
        };
        let listed = |points: &[DelayPoint]| listed(&points.iter().map(step_of).collect::<Vec<_>>());
        let under = all.scheduler;
        let sentence = match (points.as_slice(), others.as_slice()) {
            ([], []) => format!("the error happens under {under} without any delay"),
            ([], _) => format!("under {under} no delay is needed"),
            (needed, []) => format!("under {under} the error needs {}", listed(needed)),
            (needed, [_]) => {
                format!("under {under} the error needs {}; {} is not needed", listed(needed), listed(&others))
            }
            (needed, _) => {
                format!("under {under} the error needs {}; {} are not needed", listed(needed), listed(&others))
            }
        };
        Ok(Needed { points, others, sentence })
    }

    /// Lets a scheduler choose from here on, for this many moves at most: the line goes on as it would. One stays where one
    /// is; [`Exploration::forward`] then follows it.
    ///
    /// # Errors
    /// If that is not possible, in a sentence.
    pub fn let_choose(&mut self, scheduling: &Scheduling, moves_max: usize) -> Result<NodeId, String> {
        let like = self.path(self.here());
        let before = delays_of(self.loaded(), self.target(), &like, scheduling)?;
        let steps_max = like.len().saturating_add(moves_max);
        let run = rerun(self.loaded(), self.target(), &like, scheduling, &before.delays, steps_max)?;
        self.acting(|this| {
            let tip = this.adopt(&run.path)?;
            this.follow(tip);
            Ok(tip)
        })
    }
}

/// Whether a run ends in an error.
fn goes_wrong(end: RunEnd) -> bool {
    matches!(end, RunEnd::Fault(_) | RunEnd::Deadlock)
}

/// `the delay at step 7`, `the delays at steps 1 (3 times) and 9`, by the numbers of their steps.
fn listed(steps: &[usize]) -> String {
    if let [one] = steps {
        return format!("the delay at step {one}");
    }
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    let told: Vec<String> = steps
        .chunk_by(|a, b| a == b)
        .map(|same| match same {
            [one] => one.to_string(),
            [one, _] => format!("{one} (twice)"),
            [one, ..] => format!("{one} ({} times)", same.len()),
            [] => String::new(),
        })
        .collect();
    match told.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("the delays at steps {} and {last}", others.join(", ")),
        _ => format!("the delays at step {}", told.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn delays_are_told_by_their_steps() {
        assert_eq!(listed(&[7]), "the delay at step 7");
        assert_eq!(listed(&[3, 3]), "the delays at step 3 (twice)");
        assert_eq!(listed(&[3, 1, 1, 1, 9]), "the delays at steps 1 (3 times), 3 and 9");
    }
}
