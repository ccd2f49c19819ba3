//! What a formula that holds is worth, as plain data.

use fabius_base::{Code, Finding, Span};
use serde::{Deserialize, Serialize};

/// Which parts of a formula that holds the model never needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VacuityReport {
    /// How many literals of the formula could be left out; those below `<->` do not count.
    pub literals: u64,
    /// Of how many of them it is known whether they are needed.
    pub decided: u64,
    /// How it ended.
    pub end: VacuityEnd,
    /// What is not needed.
    pub notes: Vec<VacuityNote>,
}

/// How the look for parts that are not needed ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VacuityEnd {
    /// All is known.
    Complete,
    /// Its work was done before all was known.
    Budget,
    /// A limit or a person ended it, or the formula is too large.
    Stopped,
}

/// A part of a formula that is not needed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VacuityNote {
    /// What is so about it.
    pub kind: VacuityKind,
    /// The part, as text; of a formula that holds in every model, the formula.
    pub part: String,
    /// The formula without it, which holds as well and implies the formula; of a formula that holds in every model, `true`.
    pub also_holds: String,
    /// What is never true, where that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<String>,
    /// The same in plain words.
    pub message: String,
}

/// Why a part of a formula is not needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VacuityKind {
    /// The formula holds in every model.
    EveryModel,
    /// What it asks something of never happens.
    NeverTrue,
    /// The formula without the part holds, too.
    NotNeeded,
}

impl VacuityReport {
    /// The same as something to tell a person about a property; `None` if every part that was looked at is needed.
    pub fn finding(&self, property: &str, span: Option<Span>) -> Option<Finding> {
        let first = self.notes.first()?;
        let headline = match first.kind {
            VacuityKind::EveryModel => format!("`{property}` says nothing about this model: {}", first.message),
            VacuityKind::NeverTrue => format!("`{property}` holds, but {}", first.message),
            VacuityKind::NotNeeded => format!("`{property}` {}", first.message),
        };
        let mut finding = Finding::new(Code::Vacuous, headline);
        finding = span.into_iter().fold(finding, |finding, span| finding.at(span, ""));
        for (at, note) in self.notes.iter().enumerate() {
            if note.kind == VacuityKind::EveryModel {
                continue;
            }
            let again = match note.kind {
                _ if at == 0 => String::new(),
                VacuityKind::NotNeeded => format!("it {}: ", note.message),
                _ => format!("{}: ", note.message),
            };
            finding = finding.note(format!("{again}`{}` holds as well, and implies it", note.also_holds));
        }
        match (&first.never, first.kind) {
            (Some(never), _) => {
                finding.help(format!("if `{never}` should happen, look for what prevents it in the model")).into()
            }
            (None, VacuityKind::NotNeeded) => finding.help("see whether the formula says what it should").into(),
            (None, _) => finding.into(),
        }
    }
}
