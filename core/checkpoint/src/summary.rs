//! What a checkpoint holds, for a person who saves it or resumes from it.

use crate::{ANY_VERSION, DAMAGED, KIND, PROPERTY, Parts};
use fabius_search::DepthFirstSnapshot;
use fabius_search::checkpoint::Snapshot;
use fabius_search::delay_bounded::{ExactSnapshot, FastSnapshot, Round};
use fabius_search::depth_bounded::DepthSnapshot;
use fabius_search::iterative_map::CycleSnapshot;
use fabius_task::settings::DelayMode;
use fabius_task::words::counted;

/// The kind of the depth-first search, which goes by no rounds.
pub const DEPTH_FIRST: &str = "dfs";
/// How the kinds of search by increasing depth begin.
const BY_DEPTH: &str = "depth-bounded";
/// How the kinds of search by several processes end.
const BY_PROCESSES: &str = "by processes";

/// What a checkpoint holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointSummary {
    /// The property that is checked.
    pub property: String,
    /// How far the search was; `None` if the file does not say so, as with several processes.
    pub progress: Option<CheckpointProgress>,
}

/// How far a search was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointProgress {
    /// The search goes by rounds.
    pub has_rounds: bool,
    /// The bound of the last round that was complete, if one was.
    pub bound: Option<u32>,
    /// It is a number of steps; else one of delays.
    pub is_depth: bool,
    /// States found.
    pub states: u64,
}

impl CheckpointSummary {
    /// What a file holds, given its bytes.
    ///
    /// # Errors
    /// Half a sentence that says why nobody can resume from it.
    pub fn of(bytes: &[u8]) -> Result<Self, String> {
        let Parts { lines, snapshot } = Parts::of(bytes)?;
        let value = |name| lines.iter().find(|(what, _)| *what == name).map(|(_, value)| *value).ok_or(DAMAGED);
        let (property, kind) = (value(PROPERTY)?.to_owned(), value(KIND)?);
        let progress = match kind {
            kind if kind.ends_with(BY_PROCESSES) => None,
            kind => Some(CheckpointProgress::of(kind, snapshot).ok_or(DAMAGED)?),
        };
        Ok(Self { property, progress })
    }

    /// Whether it is a depth-first search, which goes by no rounds.
    pub fn is_depth_first(&self) -> bool {
        self.progress.is_some_and(|progress| !progress.has_rounds)
    }

    /// How far the search was, as in `complete up to 3 delays, 4 567 states`.
    pub fn words(&self) -> Option<String> {
        let CheckpointProgress { has_rounds, bound, is_depth, states } = self.progress?;
        if !has_rounds {
            return Some(counted(states, "state"));
        }
        let unit = if is_depth { "step" } else { "delay" };
        let round = bound.map_or("first round not complete".to_owned(), |bound| {
            format!("complete up to {}", counted(bound.into(), unit))
        });
        Some(format!("{round}, {}", counted(states, "state")))
    }
}

impl CheckpointProgress {
    fn of(kind: &str, snapshot: &[u8]) -> Option<Self> {
        let of = |rounds: &[Round], states: u64| Self {
            has_rounds: true,
            bound: rounds.last().map(|round| round.bound),
            is_depth: kind.starts_with(BY_DEPTH),
            states,
        };
        Some(match kind {
            DEPTH_FIRST => {
                let states = DepthFirstSnapshot::from_bytes(snapshot)?.states();
                Self { has_rounds: false, bound: None, is_depth: false, states }
            }
            kind if kind == DelayMode::Fast.as_str() => {
                let snapshot = FastSnapshot::from_bytes(snapshot)?;
                of(&snapshot.rounds, snapshot.states())
            }
            kind if kind == DelayMode::Exact.as_str() => {
                let snapshot = ExactSnapshot::from_bytes(snapshot)?;
                of(&snapshot.rounds, snapshot.states())
            }
            BY_DEPTH => {
                let snapshot = DepthSnapshot::from_bytes(snapshot)?;
                of(&snapshot.rounds, snapshot.states())
            }
            _ => {
                let snapshot = CycleSnapshot::from_bytes(snapshot)?;
                of(&snapshot.rounds, snapshot.rounds.last()?.states)
            }
        })
    }
}

/// Whether a file begins as a checkpoint of any version does.
pub fn is_checkpoint(bytes: &[u8]) -> bool {
    bytes.starts_with(ANY_VERSION.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_search_was_is_said_in_its_unit() {
        let words = |bound, is_depth, states| {
            let progress = Some(CheckpointProgress { has_rounds: true, bound, is_depth, states });
            CheckpointSummary { property: "safety".to_owned(), progress }.words().expect("it is known")
        };
        assert_eq!(words(Some(1), false, 4_567), "complete up to 1 delay, 4 567 states");
        assert_eq!(words(Some(20), true, 1), "complete up to 20 steps, 1 state");
        assert_eq!(words(None, false, 12), "first round not complete, 12 states");
    }

    #[test]
    fn what_is_no_checkpoint_has_no_summary() {
        assert!(
            CheckpointSummary::of(b"active proctype P() { skip }").is_err_and(|why| why.contains("not a checkpoint"))
        );
        assert!(CheckpointSummary::of(b"fabius checkpoint 1\n\n").is_err_and(|why| why.contains("another version")));
        assert!(is_checkpoint(b"fabius checkpoint 1\n") && !is_checkpoint(b"fabius"));
    }
}
