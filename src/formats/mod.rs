//! Documents about all models of a run, for other programs and for people: code scanning, test reports, annotations, a page.
//!
//! Each is made of the reports and findings that the text and `--json` are made of; a file for each format.

pub mod baseline;
mod github;
mod html;
pub mod identity;
mod junit;
pub mod picture;
mod ribbon;
mod sarif;

use crate::args::Check;
use crate::render::text;
use crate::{diagram, exit, output};
use anstream::adapter::strip_str;
use clap::{Args, ValueEnum};
use fabius_analysis::picture::MovingPicture;
use fabius_base::Code;
use fabius_engine::report::{FindingReport, PropertyClass, PropertyReport, ViolationClass, ViolationReport};
use fabius_engine::{Loaded, Outcome, Report, Verdict};
use fabius_witness::Trace;
use identity::{Identity, KnownReport};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

// The flags that choose what a check prints.
#[derive(Args, Debug, Clone, Default)]
pub struct FormatFlags {
    /// Format of the output (default: text).
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "events", help_heading = "Output")]
    pub format: Option<Format>,

    /// Print one JSON document (an array of them for several files), as --format json does; docs/schema describes it.
    #[arg(long, conflicts_with = "events", help_heading = "Output")]
    pub json: bool,

    /// Write the document that --format chooses to this file, and the text for people to standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "events", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// What a check prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document, an array for several models.
    Json,
    /// SARIF 2.1.0, for code scanning: violations with their runs, findings, what is undecided.
    Sarif,
    /// JUnit XML, for test reports: a test case for each property; undecided is an error.
    Junit,
    /// Annotations of GitHub (workflow commands), and a line that sums up.
    Github,
    /// One page for a browser, complete in itself: verdicts, runs with diagrams, texts with marks.
    Html,
}

impl FormatFlags {
    /// The format of standard output, and what else to write.
    pub fn format(&self) -> Format {
        self.format.unwrap_or(if self.json { Format::Json } else { Format::Text })
    }

    /// Whether standard output is for people; a document may go to a file beside it.
    pub fn is_text(&self) -> bool {
        self.format() == Format::Text || self.output.is_some()
    }

    /// Refuses flags that contradict each other, and a file that cannot be written.
    ///
    /// # Errors
    /// Why they are refused.
    pub fn check(&self) -> Result<(), String> {
        let name = |format: Format| format.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
        match (self.format, &self.output) {
            (Some(format), _) if self.json && format != Format::Json => {
                Err(format!("--json and --format {} contradict each other: name one of them", name(format)))
            }
            (_, Some(path)) if self.format() == Format::Text => {
                Err(format!("--output {} writes a document: name its format, as in --format html", path.display()))
            }
            // A check may take long: what cannot be written is said before it begins.
            (_, Some(path)) => OpenOptions::new().create(true).append(true).open(path).map(drop).map_err(|error| {
                format!("cannot write {}: {error}\nhelp: name a file in a writable folder", path.display())
            }),
            _ => Ok(()),
        }
    }
}

/// A model that was checked, with what the formats need besides its report.
#[derive(Clone)]
pub struct Checked {
    /// What the check found out.
    pub report: Report,
    /// The same, as far as it says what makes a violation the one that it is.
    known: KnownReport,
    /// What a baseline has of this model, if there is one.
    accepted: Option<HashSet<Identity>>,
    /// The baseline is of a check of this model that stopped at its first violation.
    baseline_is_short: bool,
    /// The counterexamples, one for each violation of the report; none if nothing but the report is known.
    examples: Vec<Example>,
    /// The texts of the model, for the page only.
    sources: Vec<Source>,
}

/// A text.
#[derive(Clone)]
struct Source {
    name: String,
    text: String,
}

/// A counterexample.
#[derive(Clone)]
struct Example {
    /// What goes wrong and where.
    finding: FindingReport,
    /// The same with the run, as text for people.
    text: String,
    /// The run as a picture (SVG), for the page only.
    picture: Option<String>,
    /// The run itself, for the page only.
    run: Option<Trace>,
    /// The model's own picture along it, or why it cannot be shown, for the page only.
    own_picture: Option<Result<MovingPicture, String>>,
}

/// A violation with its property, and what is known of it besides.
#[derive(Clone)]
struct Violation<'a> {
    property: &'a PropertyReport,
    report: &'a ViolationReport,
    identity: Identity,
    /// Whether the baseline has it; `None` without one.
    is_accepted: Option<bool>,
    /// What the baseline does not have may be as old as what it has.
    baseline_is_short: bool,
    example: Option<&'a Example>,
}

impl Checked {
    /// A model whose check is over; `picture` is the drawing that was named for it.
    pub fn new(loaded: &Loaded, outcome: &Outcome, format: Format, picture: Option<&Path>) -> Self {
        let page = format == Format::Html;
        let map = &loaded.map;
        let examples = outcome.counterexamples.iter().map(|example| Example {
            finding: FindingReport::new(map, &example.finding),
            text: plain(&text::counterexample(map, example, true, false)),
            picture: page.then(|| diagram::svg(&example.trace, map)),
            run: page.then(|| example.trace.clone()),
            own_picture: page.then(|| picture::of(loaded, example, picture)).flatten(),
        });
        let texts = map.files().filter(|(_, file)| page && !file.text.is_empty());
        let sources = texts.map(|(_, file)| Source { name: file.name.to_string(), text: file.text.to_string() });
        let (examples, sources) = (examples.collect(), sources.collect());
        Self { examples, sources, ..Self::from_report(outcome.report.clone()) }
    }

    /// A model of which only the report is known.
    pub fn from_report(report: Report) -> Self {
        let known = KnownReport::of(&report);
        Self { known, report, accepted: None, baseline_is_short: false, examples: Vec::new(), sources: Vec::new() }
    }

    fn violations(&self) -> impl Iterator<Item = Violation<'_>> {
        let reports = self.report.properties.iter();
        let reports = reports.flat_map(|property| property.violations.iter().map(move |report| (property, report)));
        let known = reports.clone().count() == self.examples.len();
        let identified = reports.zip(self.known.identities());
        identified.enumerate().map(move |(at, ((property, report), identity))| Violation {
            property,
            report,
            is_accepted: self.accepted.as_ref().map(|accepted| accepted.contains(&identity)),
            baseline_is_short: self.baseline_is_short,
            identity,
            example: self.examples.get(at).filter(|_| known),
        })
    }

    /// The report as JSON; each violation says whether the baseline has it, where that is known.
    fn marked(&self) -> serde_json::Result<Value> {
        let mut report = serde_json::to_value(&self.report)?;
        let properties = report["properties"].as_array_mut().into_iter().flatten();
        let told = properties.flat_map(|property| property["violations"].as_array_mut().into_iter().flatten());
        for (told, violation) in told.zip(self.violations()) {
            if let Some(is_known) = violation.is_known() {
                told["baseline"] = json!(if is_known { "known" } else { "new" });
            }
        }
        Ok(report)
    }

    /// The exit code of a model: as without a baseline, but only what is new fails.
    pub fn code(&self) -> u8 {
        match exit::of_report(&self.report) {
            1 => self.report.properties.iter().map(|property| self.code_of(property)).fold(0, exit::worse),
            code => code,
        }
    }

    /// The verdict of a property, and whether it is the expected one, or known.
    fn judged(&self, property: &PropertyReport) -> String {
        let known = if self.is_known(property) { ", known from the baseline" } else { "" };
        format!("{}{known}", plain(&text::judged(property)))
    }

    /// Whether the baseline has all that is wrong with a property.
    fn is_known(&self, property: &PropertyReport) -> bool {
        exit::of_property(property) == 1 && self.code_of(property) != 1
    }

    /// The exit code of a property.
    fn code_of(&self, property: &PropertyReport) -> u8 {
        let code = exit::of_property(property);
        let Some(accepted) = self.accepted.as_ref().filter(|_| code == 1) else { return code };
        let name = &property.name;
        let mut violations = self.violations().filter(|violation| violation.property.name == *name);
        match (violations.all(|violation| violation.is_accepted == Some(true)), property.verdict) {
            (_, Verdict::Holds) if accepted.contains(&self.known.unexpected(name)) => 0,
            (_, Verdict::Holds) | (false, _) => 1,
            // Something new may be where nobody looked.
            (true, _) if property.kind == PropertyClass::Safety && !property.exhaustive => exit::UNDECIDED,
            (true, _) => 0,
        }
    }
}

/// Writes the document about all models of a run where the flags say.
///
/// # Errors
/// If that is not possible.
pub fn write(args: &Check, checked: &[Checked], standard_output: impl Write) -> io::Result<()> {
    let text = document(args, checked)?;
    match &args.formats.output {
        Some(path) => named(path, File::create(path).and_then(|mut file| file.write_all(text.as_bytes()))),
        None => {
            let mut out = BufWriter::new(standard_output);
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
    }
}

fn named(path: &Path, written: io::Result<()>) -> io::Result<()> {
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn document(args: &Check, checked: &[Checked]) -> io::Result<String> {
    // A check that is interrupted does not come to all of them.
    let missing = args.files.len().saturating_sub(checked.len());
    match args.formats.format() {
        Format::Text => Ok(String::new()),
        Format::Json if checked.iter().any(|model| model.accepted.is_some()) => {
            let reports: Vec<Value> = checked.iter().map(Checked::marked).collect::<Result<_, _>>()?;
            output::document(reports.iter(), args.files.len() == 1)
        }
        Format::Json => output::document(checked.iter().map(|checked| &checked.report), args.files.len() == 1),
        Format::Sarif => sarif::document(checked, missing),
        Format::Junit => junit::document(checked),
        Format::Github => Ok(github::document(checked, missing)),
        Format::Html => Ok(html::document(checked, missing)),
    }
}

impl Violation<'_> {
    /// Whether it is known from the baseline; `None` without one, for what is expected, which baselines leave out, and for what
    /// the check that made the baseline may not have come to.
    fn is_known(&self) -> Option<bool> {
        let is_left_out = self.property.is_as_expected() == Some(true) || self.baseline_is_short;
        self.is_accepted.filter(|accepted| *accepted || !is_left_out)
    }

    /// What goes wrong, as a sentence.
    fn headline(&self) -> &str {
        self.example.map_or(&self.report.message, |example| &example.finding.message)
    }

    /// What goes wrong with the run that leads there, as text for people; as much of it as is known.
    fn text(&self) -> String {
        if let Some(example) = self.example {
            return example.text.clone();
        }
        let told = self.report;
        let headline = format!("{}:{}:{}: {}", told.file, told.line, told.column, told.message);
        let lines: Vec<String> = [headline].into_iter().chain(told.explanation.iter().cloned()).collect();
        lines.join("\n")
    }

    /// The row of the table of codes.
    fn code(&self) -> &'static str {
        let of_formula = self.property.kind == PropertyClass::Ltl;
        self.example.map_or_else(|| code(self.report.kind, of_formula).as_str(), |example| example.finding.code)
    }
}

/// The code that the finding about a violation has.
fn code(kind: ViolationClass, of_formula: bool) -> Code {
    match kind {
        ViolationClass::Assertion => Code::AssertionViolated,
        ViolationClass::InvalidEndState => Code::InvalidEndState,
        ViolationClass::Evaluation => Code::EvaluationFailed,
        ViolationClass::NonProgressCycle => Code::NonProgressCycle,
        ViolationClass::AcceptanceCycle if !of_formula => Code::AcceptanceCycle,
        ViolationClass::AcceptanceCycle | ViolationClass::ClaimCompleted => Code::PropertyViolated,
        ViolationClass::Trace => Code::TraceViolated,
    }
}

/// A finding in lines, without the text that it is about.
fn finding_text(finding: &FindingReport) -> String {
    let place = if finding.line == 0 {
        finding.file.clone()
    } else {
        format!("{}:{}:{}", finding.file, finding.line, finding.column)
    };
    let colon = if place.is_empty() { "" } else { ": " };
    let mut text = format!("{place}{colon}{}[{}]: {}\n", finding.severity, finding.code, finding.message);
    finding.notes.iter().for_each(|note| text.push_str(&format!("  = note: {note}\n")));
    finding.help.iter().for_each(|help| text.push_str(&format!("  = help: {help}\n")));
    text
}

/// Text without colours.
fn plain(text: &str) -> String {
    strip_str(text).to_string()
}
