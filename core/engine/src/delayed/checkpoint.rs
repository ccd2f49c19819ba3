//! Checkpoints as they lie in a file: to which search they belong, where it stands, and a sum over both.
//!
//! The first lines are text, one thing per line that must be the same for a search to go on from there: what the model
//! *means* (its comments and its layout may change), and the settings on which the order of the search depends. Then follow the
//! bytes of the [`Snapshot`], and eight bytes by which damage is noticed.

use super::Chosen;
use super::seals::SealedPlaces;
use crate::meaning::meaning;
use crate::settings::{Delaying, Keeper, Settings};
use fabius_base::{Code, Finding, Severity};
use fabius_program::Program;
use fabius_search::delay_bounded::Snapshot;
use std::fmt::Write;

/// How a file begins; another number means another format.
const MAGIC: &str = "fabius checkpoint 2";
/// Ends the lines of text.
const BLANK: &str = "\n\n";
const SUM_BYTES: usize = 8;

/// What must be the same, in the words of those who read of it, and its value.
pub(super) struct Belonging(Vec<(&'static str, String)>);

impl Belonging {
    pub(super) fn new(
        program: &Program,
        property: &str,
        chosen: &Chosen,
        seals: Option<&SealedPlaces>,
        settings: &Settings,
        delaying: &Delaying,
    ) -> Self {
        let seals = format!("{:016x}", sum(format!("{seals:?}").as_bytes()));
        let depth = settings.limits.depth_max.map_or("none".to_owned(), |depth| depth.to_string());
        Self(vec![
            ("the model", meaning(program).to_string()),
            ("the property", property.to_owned()),
            ("the scheduler", format!("{:?}", chosen.kind).replace('\n', " ")),
            ("the seed", delaying.seed.to_string()),
            ("the bound on choices", delaying.choices_max.map_or("none".to_owned(), |most| most.to_string())),
            ("the sealed stretches", seals),
            ("the limit on depth", depth),
        ])
    }

    fn text(&self) -> String {
        let mut text = MAGIC.to_owned();
        for (what, value) in &self.0 {
            let _ = write!(text, "\n{what}: {value}");
        }
        text + BLANK
    }

    /// The whole file.
    pub(super) fn write(&self, snapshot: &Snapshot) -> Vec<u8> {
        let mut bytes = self.text().into_bytes();
        bytes.extend(snapshot.to_bytes());
        let sum = sum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A sentence that says why there is nothing to go on from.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Snapshot, String> {
        let damaged = || "it is damaged: it was cut short, or changed after it was written".to_owned();
        let blank = bytes.windows(BLANK.len()).position(|window| window == BLANK.as_bytes());
        let text = blank.and_then(|end| std::str::from_utf8(&bytes[..end]).ok()).unwrap_or_default();
        let mut lines = text.lines();
        match lines.next() {
            Some(MAGIC) => {}
            Some(line) if line.starts_with("fabius checkpoint ") => {
                return Err("another version of fabius wrote it".to_owned());
            }
            _ => return Err("it is not a checkpoint of fabius".to_owned()),
        }
        let end = bytes.len().checked_sub(SUM_BYTES).ok_or_else(damaged)?;
        if bytes[end..] != sum(&bytes[..end]).to_le_bytes() {
            return Err(damaged());
        }
        let mut other = lines.filter_map(|line| line.split_once(": "));
        let differs = |(what, value): &&(&str, String)| other.next() != Some((what, value.as_str()));
        if let Some((what, _)) = self.0.iter().find(differs) {
            return Err(format!("it was written by a search in which {what} was another"));
        }
        let start = blank.map_or(end, |blank| blank + BLANK.len());
        bytes.get(start..end).and_then(Snapshot::from_bytes).ok_or_else(damaged)
    }
}

/// FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Why a search cannot be kept or resumed, if it cannot.
pub(super) fn unsuited(delaying: &Delaying, keep_going: bool) -> Option<Finding> {
    if !delaying.keeper.is_asked_for() {
        return None;
    }
    let what = match (delaying.mode, keep_going) {
        (crate::settings::DelayMode::Fast, false) => return None,
        (crate::settings::DelayMode::Fast, true) => "a search that goes on after violations",
        (crate::settings::DelayMode::Exact, _) => "a search that remembers the scheduler (`--delay-mode exact`)",
        (crate::settings::DelayMode::Sample(..), _) => "drawing runs (`--delay-mode sample`)",
    };
    let finding = Finding::new(Code::Checkpoint, format!("{what} cannot be kept in a checkpoint"));
    Some(finding.help("leave out `--checkpoint` and `--resume`, or search with `--delay-mode fast`"))
}

/// Says that a search for endless runs is not kept, where keeping was asked for.
pub(super) fn not_kept(delaying: &Delaying, property: &str) -> Option<Finding> {
    let headline = format!("the search for endless runs that violate `{property}` is not kept in a checkpoint");
    let finding = Finding { severity: Severity::Note, ..Finding::new(Code::Checkpoint, headline) };
    let asked = delaying.keeper.is_asked_for();
    asked
        .then(|| finding.help("only the search for violations of safety is; `--property safety` leaves out the others"))
}

/// A checkpoint that cannot be used.
pub(super) fn unusable(keeper: &Keeper, why: &str) -> Finding {
    let name = keeper.resume.as_ref().map_or("the checkpoint", |(name, _)| name.as_str());
    Finding::new(Code::Checkpoint, format!("cannot go on from {name}: {why}"))
        .help("check the same file with the same flags, or leave out `--resume` to start anew")
}

/// A checkpoint whose states are not those of this model.
pub(super) fn foreign(keeper: &Keeper) -> Finding {
    unusable(keeper, "the states it speaks of are not those of this model")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belonging(model: &str) -> Belonging {
        Belonging(vec![("the model", model.to_owned()), ("the seed", "0".to_owned())])
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let bytes = belonging("a").write(&Snapshot::default());
        assert_eq!(belonging("a").read(&bytes), Ok(Snapshot::default()));
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let bytes = belonging("a").write(&Snapshot::default());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(belonging("a").read(&damaged).is_err(), "{at}");
            assert!(belonging("a").read(&bytes[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn what_belongs_elsewhere_is_refused_and_it_says_why() {
        let bytes = belonging("a").write(&Snapshot::default());
        let refusal = belonging("b").read(&bytes).expect_err("another model");
        assert!(refusal.contains("the model"), "{refusal}");
        let refusal = belonging("a").read(b"active proctype p() { skip }\n\n").expect_err("no checkpoint");
        assert!(refusal.contains("not a checkpoint"), "{refusal}");
    }
}
