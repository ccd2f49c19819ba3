//! The objects of a SARIF 2.1.0 file that Fabius writes, by the names of the standard; what is `None` or empty is left out.

use serde::Serialize;
use std::collections::BTreeMap;

/// The file: `sarifLog`.
#[derive(Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: Vec<Run>,
}

/// What one invocation of the tool said.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub tool: Tool,
    pub column_kind: &'static str,
    pub invocations: Vec<Invocation>,
    pub results: Vec<SarifResult>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub driver: ToolComponent,
}

/// The tool, and the rules that results name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolComponent {
    pub name: &'static str,
    pub version: &'static str,
    pub semantic_version: &'static str,
    pub short_description: Message,
    pub rules: Vec<ReportingDescriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub information_uri: Option<String>,
}

/// A rule.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportingDescriptor {
    pub id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub short_description: Message,
    pub help: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_configuration: Option<ReportingConfiguration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help_uri: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ReportingConfiguration {
    pub level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Error,
    Warning,
    Note,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultKind {
    Fail,
    /// Evaluated without an answer.
    Open,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum BaselineState {
    New,
    Unchanged,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub execution_successful: bool,
    pub tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub level: Level,
    pub message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

#[derive(Serialize)]
pub(super) struct Message {
    pub text: String,
}

impl Message {
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

/// A violation, a finding, or a property without an answer: `result`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    pub rule_id: String,
    pub kind: ResultKind,
    pub level: Level,
    pub message: Message,
    pub locations: Vec<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<PropertyBag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_locations: Option<Vec<Location>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_state: Option<BaselineState>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressions: Vec<Suppression>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_fingerprints: Option<BTreeMap<&'static str, String>>,
}

impl SarifResult {
    /// A result with nothing beside what each has.
    pub(super) fn new(rule_id: impl Into<String>, kind: ResultKind, level: Level, text: String, at: Location) -> Self {
        Self {
            rule_id: rule_id.into(),
            kind,
            level,
            message: Message { text },
            locations: vec![at],
            properties: None,
            related_locations: None,
            code_flows: Vec::new(),
            baseline_state: None,
            suppressions: Vec::new(),
            partial_fingerprints: None,
        }
    }
}

/// What Fabius adds to a result.
#[derive(Serialize)]
pub(super) struct PropertyBag {
    /// The name of the property.
    pub property: String,
    /// Steps of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// No run to the violation is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct Suppression {
    pub kind: &'static str,
    pub justification: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub thread_flows: Vec<ThreadFlow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
}

#[derive(Serialize)]
pub(super) struct ThreadFlow {
    pub locations: Vec<ThreadFlowLocation>,
}

/// A step of a run, with the values that it changes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadFlowLocation {
    pub execution_order: u64,
    pub location: Location,
    pub state: BTreeMap<String, Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    /// Without one, the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

#[derive(Serialize)]
pub(super) struct ArtifactLocation {
    pub uri: String,
}

/// Lines and columns, from 1, in characters.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub start_line: u32,
    pub start_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u32>,
}
