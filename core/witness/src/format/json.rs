//! Steps as records for other tools.

use fabius_base::{SourceMap, Span};
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use crate::blocked::{ProcessStatus, Reason};
use crate::notes::Note;
use crate::trace::{Actor, Change, Changed, HeldBack, Step, Trace};

/// A step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StepRecord {
    /// Number, from 1.
    pub step: usize,
    /// Type of the process.
    pub process: String,
    /// Its number.
    pub pid: u8,
    /// The file that holds the statement.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in characters, from 1.
    pub column: u32,
    /// The statement.
    pub text: String,
    /// What changed.
    pub changes: Vec<ChangeRecord>,
    /// The receiver of a rendezvous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<ActorRecord>,
    /// Messages sent and received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageRecord>,
    /// What was printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printed: String,
    /// Processes created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<u8>,
    /// The process ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ended: bool,
    /// A process holds control after the step.
    #[serde(default, skip_serializing_if = "is_false")]
    pub atomic: bool,
    /// Several statements were executed as one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub d_step: bool,
    /// The step was possible only because nothing else was.
    #[serde(default, skip_serializing_if = "is_false")]
    pub timeout: bool,
    /// Processes that a scheduler would have let move before this step, and that were held back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBackRecord>,
    /// What surprises people about the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRecord>,
    /// What is wrong with the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Where the statement was generated from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<OriginalRecord>,
}

/// The place of an original text from which a generated model comes, as a `#line` directive says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OriginalRecord {
    /// The name of the file, as the directive writes it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What surprises people about a step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NoteRecord {
    /// What it is about, see [`crate::NoteKind::as_str`].
    pub kind: &'static str,
    /// A sentence without its full stop.
    pub text: String,
    /// The line of the part of a `d_step` that it is about, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A process that was held back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HeldBackRecord {
    /// Its number.
    pub pid: u8,
    /// The file in which it stands.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// A process and its statement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ActorRecord {
    /// Type of the process.
    pub process: String,
    /// Its number.
    pub pid: u8,
    /// The file that holds the statement.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in characters, from 1.
    pub column: u32,
    /// The statement.
    pub text: String,
}

/// A change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChangeRecord {
    /// Variable or channel, with index and process.
    pub name: String,
    /// Value before.
    pub old: String,
    /// Value after.
    pub new: String,
    /// `variable`, `channel` or `priority`.
    pub what: &'static str,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MessageRecord {
    /// `sent` or `received`.
    pub direction: &'static str,
    /// Who did it.
    pub pid: u8,
    /// The channel.
    pub channel: String,
    /// Its fields.
    pub fields: String,
}

/// A process that stands somewhere at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessStatusRecord {
    /// Type of the process.
    pub process: String,
    /// Its number.
    pub pid: u8,
    /// Whether it may stop there.
    pub end: bool,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The statements at which it waits, and why.
    pub waiting: Vec<WaitingRecord>,
}

/// A statement at which a process waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WaitingRecord {
    /// The statement.
    pub text: String,
    /// Its line, from 1.
    pub line: u32,
    /// Whether it could be executed, and was not: other processes moved, or the run ends before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub executable: bool,
    /// Why it is not executed, as a sentence.
    pub reason: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// The steps of a trace.
pub fn steps(trace: &Trace, source: &SourceMap) -> Vec<StepRecord> {
    trace.taken().map(|step| step_record(&step, source)).collect()
}

/// Longer traces are told by their two ends: as many records as this, half of them from each.
pub const RECORDS_MAX: usize = 20_000;

/// How many steps of a trace are left out between the two ends.
pub fn left_out(trace: &Trace) -> usize {
    trace.len().saturating_sub(RECORDS_MAX)
}

/// The steps of a trace, at most [`RECORDS_MAX`] of them; and how many were left out between the two ends.
pub fn steps_at_ends(trace: &Trace, source: &SourceMap) -> (Vec<StepRecord>, usize) {
    let left_out = left_out(trace);
    if left_out == 0 {
        return (steps(trace, source), 0);
    }
    let first = trace.taken_from(1, RECORDS_MAX / 2);
    let last = trace.taken_from(RECORDS_MAX / 2 + left_out + 1, trace.len());
    (first.chain(last).map(|step| step_record(&step, source)).collect(), left_out)
}

/// The steps of a trace, as [`steps_at_ends`] gives them, made when somebody looks at one: of a long run that takes longer than to
/// find it. Copies share them.
#[derive(Clone)]
pub struct StepRecords(Arc<LazyLock<Vec<StepRecord>, MakeRecords>>);

type MakeRecords = Box<dyn FnOnce() -> Vec<StepRecord> + Send>;

impl StepRecords {
    /// Those of a trace.
    pub fn of(trace: &Trace, source: &Arc<SourceMap>) -> Self {
        let (trace, source) = (trace.clone(), Arc::clone(source));
        Self(Arc::new(LazyLock::new(Box::new(move || steps_at_ends(&trace, &source).0))))
    }
}

impl Deref for StepRecords {
    type Target = [StepRecord];

    fn deref(&self) -> &[StepRecord] {
        &self.0
    }
}

impl PartialEq for StepRecords {
    fn eq(&self, other: &Self) -> bool {
        // Copies are the same without being made.
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Debug for StepRecords {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(&**self).finish()
    }
}

impl Serialize for StepRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// The processes that are stuck at the end of a trace; see [`Trace::stuck`].
pub fn stuck(trace: &Trace, source: &SourceMap) -> Vec<ProcessStatusRecord> {
    trace.stuck().map(|status| standing_record(status, source)).collect()
}

/// One step.
pub fn step_record(step: &Step, source: &SourceMap) -> StepRecord {
    let ActorRecord { process, pid, file, line, column, text } = actor(&step.actor, source);
    let messages = step.messages.iter().map(|message| MessageRecord {
        direction: if message.sent { "sent" } else { "received" },
        pid: message.pid,
        channel: message.channel.clone(),
        fields: message.fields.clone(),
    });
    StepRecord {
        step: step.number,
        process,
        pid,
        file,
        line,
        column,
        text,
        changes: step.changes.iter().map(change).collect(),
        partner: step.partner.as_ref().map(|partner| actor(partner, source)),
        messages: messages.collect(),
        printed: step.printed.clone(),
        created: step.created.iter().map(|created| created.pid).collect(),
        ended: step.ended,
        atomic: step.holds,
        d_step: step.block,
        timeout: step.timeout,
        held_back: step.held_back.iter().map(|delayed| held_back(delayed, source)).collect(),
        notes: step.notes.iter().map(|note| note_record(note, source)).collect(),
        fault: step.fault.map(|fault| fault.to_string()),
        original: original(source, step.actor.span),
    }
}

fn note_record(note: &Note, source: &SourceMap) -> NoteRecord {
    let line = note.span.map(|span| place(source, span).1).filter(|line| 0 < *line);
    NoteRecord { kind: note.kind.as_str(), text: note.text.clone(), line }
}

fn held_back(delayed: &HeldBack, source: &SourceMap) -> HeldBackRecord {
    let (file, line, column) = place(source, delayed.span);
    HeldBackRecord { pid: delayed.pid, file, line, column }
}

fn actor(actor: &Actor, source: &SourceMap) -> ActorRecord {
    let (file, line, column) = place(source, actor.span);
    ActorRecord { process: actor.process.clone(), pid: actor.pid, file, line, column, text: actor.text.clone() }
}

fn change(change: &Change) -> ChangeRecord {
    let what = match change.what {
        Changed::Variable => "variable",
        Changed::Channel => "channel",
        Changed::Priority => "priority",
    };
    ChangeRecord { name: change.name.clone(), old: change.old.clone(), new: change.new.clone(), what }
}

fn standing_record(status: &ProcessStatus, source: &SourceMap) -> ProcessStatusRecord {
    let (file, line, column) = place(source, status.span);
    let waiting = status.waiting.iter().map(|waiting| WaitingRecord {
        text: waiting.text.clone(),
        line: place(source, waiting.span).1,
        executable: waiting.reason == Reason::Executable,
        reason: waiting.reason.sentence(),
    });
    ProcessStatusRecord {
        process: status.process.clone(),
        pid: status.pid,
        end: status.end,
        file,
        line,
        column,
        waiting: waiting.collect(),
    }
}

fn original(source: &SourceMap, span: Span) -> Option<OriginalRecord> {
    let original = source.original(span)?;
    Some(OriginalRecord { file: original.file.to_string(), line: original.line })
}

fn place(source: &SourceMap, span: Span) -> (String, u32, u32) {
    let position = source.position(span);
    (position.file.to_string(), position.line, position.column)
}
