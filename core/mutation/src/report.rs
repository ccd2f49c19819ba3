//! What became of the mutants of a model, as plain data; `docs/schema/mutate.schema.json` describes it.

use fabius_base::{SourceMap, Span};
use fabius_engine::Verdict;
use fabius_task::mutants::TextMutant;
use serde::Serialize;

/// What became of the mutants of a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MutationReport {
    /// `fabius`.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model, as it was named.
    pub file: String,
    /// The properties of the model as it is.
    pub properties: Vec<BaselineReport>,
    /// Changes of the text that were thought of.
    pub generated: u64,
    /// Of these: texts that are no models.
    pub unreadable: u64,
    /// Models that do what the model, or another mutant, does.
    pub equal: u64,
    /// Mutants that some property notices.
    pub killed: u64,
    /// Mutants that no property notices.
    pub survived: u64,
    /// Mutants of which that is not known.
    pub undecided: u64,
    /// Mutants that were not checked: beyond the limit, or for want of time.
    pub not_checked: u64,
    /// Where the random numbers started that chose among them.
    pub seed: u64,
    /// Why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<MutationStop>,
    /// Time it took.
    pub seconds: f64,
    /// The mutants that were checked, in the order of the text.
    pub mutants: Vec<MutantReport>,
    /// Only if Fabius itself is wrong: what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_error: Option<String>,
}

/// A property of the model as it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BaselineReport {
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub verdict: Verdict,
    /// Whether it can notice a mutant: it was proved of the model.
    pub counts: bool,
}

/// Why not all was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MutationStop {
    /// Somebody asked for it.
    Cancelled,
    /// The time was over.
    Timeout,
    /// The memory was used up.
    Memory,
}

/// A mutant that was checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutantReport {
    /// What was done, such as `send_dropped`.
    pub kind: &'static str,
    /// What was changed, in the text of the model.
    #[serde(skip)]
    pub span: Span,
    /// The file.
    pub file: String,
    /// The first line that was changed, from 1.
    pub line: u32,
    /// The first column in characters, from 1.
    pub column: u32,
    /// The last line that was changed.
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
    /// The text there.
    pub old: String,
    /// The text that stood there instead.
    pub new: String,
    /// What became of it.
    pub outcome: MutantOutcome,
    /// The first property that noticed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
    /// What that property says is wrong, or why nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MutantOutcome {
    /// No property notices it.
    Survived,
    /// Not known.
    Undecided,
    /// A property notices it.
    Killed,
}

impl MutantReport {
    /// A mutant that nothing has noticed so far.
    pub(crate) fn new(map: &SourceMap, mutant: &TextMutant) -> Self {
        let span = mutant.span;
        let (line, column) = map.line_column(span.file, span.start);
        let (end_line, end_column) = map.line_column(span.file, span.end);
        Self {
            kind: mutant.kind,
            span,
            file: map.file(span.file).name.to_string(),
            line,
            column,
            end_line,
            end_column,
            old: mutant.old.clone(),
            new: mutant.new.clone(),
            outcome: MutantOutcome::Survived,
            killed_by: None,
            reason: None,
        }
    }
}

impl MutationReport {
    /// Whether every mutant was killed that was thought of.
    pub fn is_complete(&self) -> bool {
        self.not_checked == 0 && self.undecided == 0 && self.stopped.is_none()
    }
}

/// A piece of a model in one line, without its end if it has more characters than `most`.
pub fn in_one_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}
