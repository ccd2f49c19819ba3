//! Checkpoints as they lie in a file: to which search they belong, where it stands, and a sum over both.
//!
//! The first lines are text, one thing per line that must be the same for a search to go on from there: what the model
//! *means* (its comments and its layout may change), and the settings on which the order of the search depends. Then follow the
//! bytes of the [`Snapshot`], and eight bytes by which damage is noticed.
//!
//! A file holds one search. Where several properties are checked, it is the first search that can be kept; safety comes first.

use fabius_base::{Code, Finding, Severity};
use fabius_model::CutRuns;
use fabius_program::{EdgeId, Program};
use fabius_search::checkpoint::{CheckpointPolicy, Snapshot, Unusable};
use fabius_search::delay_bounded::Coverage;
use fabius_strategy::Choice;
use fabius_task::meaning::{SemanticDigest, meaning};
use fabius_task::plan::Planned;
use fabius_task::settings::{CheckpointFiles, Settings};
use std::fmt::{Display, Write};
use std::sync::Arc;

mod summary;

pub use summary::{CheckpointSummary, DEPTH_FIRST, is_checkpoint};

/// How a file begins; another number means another format.
const MAGIC: &str = "fabius checkpoint 7";
/// How a file of any version begins.
const ANY_VERSION: &str = "fabius checkpoint ";
/// Begins the line that names the property.
const PROPERTY: &str = "the property";
/// Begins the line that names the kind of search.
const KIND: &str = "the kind of search";
/// Ends the lines of text.
const BLANK: &str = "\n\n";
const SUM_BYTES: usize = 8;
/// Begins the line that says at which edge a runtime error ended a run, if one did.
const CUT: &str = "runtime error at";

/// How a search is kept, if at all.
pub struct Checkpointing<'a> {
    asked: Option<(CheckpointKey, &'a CheckpointFiles)>,
    /// Where a runtime error ended a run: what was found out before must be known afterwards.
    cut: Arc<CutRuns>,
}

impl<'a> Checkpointing<'a> {
    /// A search that is not kept.
    pub fn not() -> Self {
        Self { asked: None, cut: Arc::default() }
    }

    /// As it was asked for; what the search is, is told only then.
    pub fn as_asked(checkpoint_files: &'a CheckpointFiles, checkpoint_key: impl FnOnce() -> CheckpointKey) -> Self {
        Self {
            asked: checkpoint_files.is_asked_for().then(|| (checkpoint_key(), checkpoint_files)),
            cut: Arc::default(),
        }
    }

    /// The same, of a search that does not follow runs behind runtime errors.
    pub fn cutting(self, cut: &Arc<CutRuns>) -> Self {
        Self { cut: Arc::clone(cut), ..self }
    }

    /// Runs a search, from where it was kept if it was.
    ///
    /// # Errors
    /// If it cannot go on from there.
    pub fn run<S: Snapshot, R>(
        &self,
        search: impl FnOnce(CheckpointPolicy<'_, S>) -> Result<R, Unusable>,
    ) -> Result<R, Box<Finding>> {
        let Some((checkpoint_key, checkpoint_files)) = &self.asked else {
            return search(CheckpointPolicy::none()).map_err(|Unusable| Box::new(foreign(&CheckpointFiles::default())));
        };
        let from = checkpoint_files.resume.as_ref().map(|(_, bytes)| checkpoint_key.read::<S>(bytes, &self.cut));
        let from = from.transpose().map_err(|why| Box::new(unusable(checkpoint_files, &why)))?;
        let write = |snapshot: S| checkpoint_key.write(snapshot, &self.cut);
        let mut keep = checkpoint_files.save.as_ref().map(|save| move |snapshot: S| _ = save(&write(snapshot)));
        let keep = keep.as_mut().map(|keep| keep as &mut dyn FnMut(S));
        search(CheckpointPolicy { from, keep }).map_err(|Unusable| Box::new(foreign(checkpoint_files)))
    }
}

/// What must be the same, in the words of those who read of it. What a person is most likely to have changed comes first:
/// it is told, and what follows from it is not.
pub struct CheckpointKey(Vec<Same>);

/// One thing that must be the same.
struct Same {
    what: &'static str,
    value: String,
    /// Its value says something to a person.
    is_told: bool,
}

impl CheckpointKey {
    /// Of a search of a certain kind for what violates a property.
    pub fn new(kind: &str, program: &Program, property: &str, settings: &Settings) -> Self {
        Self(Vec::new())
            .with(PROPERTY, property)
            .with(KIND, kind)
            .with_untold("the model", searched(program))
            .with("the limit on depth", settings.limits.depth_max.map_or("none".to_owned(), |depth| depth.to_string()))
    }

    /// One thing more.
    pub fn with(self, what: &'static str, value: impl Display) -> Self {
        self.and(what, value, true)
    }

    /// One thing more, of which only a sum is kept.
    pub fn with_sum_of(self, what: &'static str, value: &str) -> Self {
        self.with_untold(what, format!("{:016x}", sum(value.as_bytes())))
    }

    /// One thing more, whose value says nothing to a person.
    fn with_untold(self, what: &'static str, value: impl Display) -> Self {
        self.and(what, value, false)
    }

    /// What stands on several lines is put on one.
    fn and(mut self, what: &'static str, value: impl Display, is_told: bool) -> Self {
        self.0.push(Same { what, value: value.to_string().replace('\n', " "), is_told });
        self
    }

    fn text(&self) -> String {
        let mut text = MAGIC.to_owned();
        for Same { what, value, .. } in &self.0 {
            let _ = write!(text, "\n{what}: {value}");
        }
        text
    }

    /// The whole file.
    fn write(&self, snapshot: impl Snapshot, cut: &CutRuns) -> Vec<u8> {
        let mut text = self.text();
        if let Some(edge) = cut.edge() {
            let _ = write!(text, "\n{CUT}: {}", edge.0);
        }
        let mut bytes = snapshot.into_bytes();
        bytes.splice(0..0, (text + BLANK).into_bytes());
        let sum = sum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Reads a file, and takes note of a runtime error that ended a run.
    ///
    /// # Errors
    /// A sentence that says why there is nothing to go on from.
    fn read<S: Snapshot>(&self, bytes: &[u8], cut: &CutRuns) -> Result<S, String> {
        let Parts { lines, snapshot } = Parts::of(bytes)?;
        let mut other = lines.iter().copied();
        for Same { what, value, is_told } in &self.0 {
            match other.next() {
                Some((_, theirs)) if theirs == value => {}
                Some((same, theirs)) if same == *what && *is_told => {
                    return Err(format!(
                        "it was written by a search in which {what} was another: {theirs}, not {value}"
                    ));
                }
                _ => return Err(format!("it was written by a search in which {what} was another")),
            }
        }
        if let Some((CUT, edge)) = other.next() {
            cut.note(EdgeId(edge.parse().map_err(|_| DAMAGED)?), None);
        }
        S::from_bytes(snapshot).ok_or_else(|| DAMAGED.to_owned())
    }
}

/// Why a file that is not whole cannot be used.
const DAMAGED: &str = "it is damaged: it was cut short, or changed after it was written";

/// A file that is whole.
struct Parts<'b> {
    /// What must be the same, by its name.
    lines: Vec<(&'b str, &'b str)>,
    /// The bytes of the snapshot.
    snapshot: &'b [u8],
}

impl<'b> Parts<'b> {
    /// Takes a file apart.
    ///
    /// # Errors
    /// Half a sentence that says why that cannot be done.
    fn of(bytes: &'b [u8]) -> Result<Self, String> {
        let blank = bytes.windows(BLANK.len()).position(|window| window == BLANK.as_bytes());
        let text = blank.and_then(|end| std::str::from_utf8(&bytes[..end]).ok()).unwrap_or_default();
        let mut lines = text.lines();
        match lines.next() {
            Some(MAGIC) => {}
            Some(line) if line.starts_with(ANY_VERSION) => return Err("another version of fabius wrote it".to_owned()),
            _ => return Err("it is not a checkpoint of fabius".to_owned()),
        }
        let end = bytes.len().checked_sub(SUM_BYTES).ok_or(DAMAGED)?;
        if bytes[end..] != sum(&bytes[..end]).to_le_bytes() {
            return Err(DAMAGED.to_owned());
        }
        let start = blank.map_or(end, |blank| blank + BLANK.len());
        let snapshot = bytes.get(start..end).ok_or(DAMAGED)?;
        Ok(Self { lines: lines.filter_map(|line| line.split_once(": ")).collect(), snapshot })
    }
}

/// FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Says why the search for what violates a property is not kept, if that was asked for; `kept` names the property whose search
/// is.
pub fn not_kept(settings: &Settings, choice: &Choice, planned: &Planned, kept: Option<&str>) -> Option<Finding> {
    let name = &planned.name;
    let why = match kept {
        _ if !settings.checkpoint_files.is_asked_for() => return None,
        _ if !choice.is_kept() => {
            "a checkpoint can hold the depth-first search for violations of safety by one thread, and searches with --delay, \
             --depth-bound or --processes, without fairness"
                .to_owned()
        }
        Some(kept) if kept != name => {
            format!("a checkpoint holds one search, here the one for `{kept}`; `--property {name}` saves this one")
        }
        _ => return None,
    };
    let finding = Finding::new(Code::Checkpoint, format!("the checkpoint does not hold the search for `{name}`"));
    Some(Finding { severity: Severity::Note, ..finding }.help(why))
}

/// Says that there is no file to go on from, where one was asked for: the search ended in its first round.
pub fn no_checkpoint(settings: &Settings, reach: Coverage, is_found: bool) -> Option<Finding> {
    let CheckpointFiles { resume, save, .. } = &settings.checkpoint_files;
    if save.is_none() || resume.is_some() || is_found || reach != Coverage::Ended(None) {
        return None;
    }
    let finding = Finding::new(Code::Checkpoint, "no checkpoint was written: the first round did not end");
    let finding = Finding { severity: Severity::Note, ..finding };
    Some(finding.help("a search for infinite runs is saved between rounds: allow more time, or smaller rounds"))
}

/// A checkpoint that cannot be used; half a sentence says why.
pub fn unusable(checkpoint_files: &CheckpointFiles, why: &str) -> Finding {
    let name = checkpoint_files.resume.as_ref().map_or("the checkpoint", |(name, _)| name.as_str());
    Finding::new(Code::Checkpoint, format!("cannot resume from {name}: {why}"))
        .help("check the same file with the same flags, or leave out `--resume` to start anew")
}

/// What a program means to a search: how the text names parts of formulas does not matter.
fn searched(program: &Program) -> SemanticDigest {
    let mut nameless = program.clone();
    nameless.properties.iter_mut().for_each(|property| property.names.clear());
    meaning(&nameless)
}

/// A checkpoint whose states are not those of this model.
fn foreign(checkpoint_files: &CheckpointFiles) -> Finding {
    unusable(checkpoint_files, "its states are not those of this model")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_search::delay_bounded::FastSnapshot;

    fn checkpoint_key(model: &str) -> CheckpointKey {
        CheckpointKey(Vec::new()).with_untold("the model", model).with("the seed", 0)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let bytes = checkpoint_key("a").write(FastSnapshot::default(), &CutRuns::default());
        assert_eq!(
            checkpoint_key("a").read(&bytes, &CutRuns::default()),
            Ok::<FastSnapshot, _>(FastSnapshot::default())
        );
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let bytes = checkpoint_key("a").write(FastSnapshot::default(), &CutRuns::default());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(checkpoint_key("a").read::<FastSnapshot>(&damaged, &CutRuns::default()).is_err(), "{at}");
            assert!(checkpoint_key("a").read::<FastSnapshot>(&bytes[..at], &CutRuns::default()).is_err(), "{at}");
        }
    }

    #[test]
    fn what_belongs_elsewhere_is_refused_and_it_says_why() {
        let bytes = checkpoint_key("a").write(FastSnapshot::default(), &CutRuns::default());
        let refusal = checkpoint_key("b").read::<FastSnapshot>(&bytes, &CutRuns::default()).expect_err("another model");
        assert!(refusal.contains("the model"), "{refusal}");
        let refusal = checkpoint_key("a")
            .read::<FastSnapshot>(b"active proctype p() { skip }\n\n", &CutRuns::default())
            .expect_err("no checkpoint");
        assert!(refusal.contains("not a checkpoint"), "{refusal}");
    }
}
