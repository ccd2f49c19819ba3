//! From text to a program that can be checked, with all that there is to say about the text.

use crate::languages::language_of;
use crate::plan::{SAFETY, plan};
use crate::report::{ProjectReport, Verdict};
use crate::settings::Settings;
use crate::words::grouped;
use fabius_base::{Cancel, Code, Finding, SourceMap, Span, StopReason};
use fabius_language::{
    Expectation, Form, Language, Loader, OutsideFormula, ReadRequest, ReadText, SealedStretch, Syntax, WrittenSweep,
    expectation_complaint,
};
use fabius_program::facts::ranges::{CutRange, cut_ranges};
use fabius_program::{EdgeId, Program};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Finds included files: gets the name of the including file and the name as it is written, and
/// returns the name to show and the text.
pub type Include<'a> = &'a mut dyn FnMut(&str, &str) -> Option<(String, String)>;

/// A model as far as its text goes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name of the file.
    pub name: String,
    /// Its text and that of the files it includes.
    pub map: Arc<SourceMap>,
    /// What it means; `None` if the text is too wrong to say.
    pub program: Option<Arc<Program>>,
    /// Whether the program is not what is written, step for step.
    optimized: bool,
    /// Edges that are never taken, since another one does what they do.
    passed_over: BTreeSet<EdgeId>,
    /// What there is to say about the text.
    pub findings: Vec<Finding>,
    /// Where a delaying scheduler may not interrupt.
    pub seals: Vec<SealedStretch>,
    /// The values of macros with which the text says to check it.
    pub sweeps: Vec<WrittenSweep>,
    /// The verdicts that the text says to expect.
    expectations: Vec<Expectation>,
    /// The language that it is written in.
    language: &'static dyn Language,
    /// The text as its front end read it, from which the program as written can be made again; also of a faulty text.
    syntax: Option<Arc<dyn Syntax>>,
    /// The program without any optimisation, once somebody asked for it; one for all copies.
    written: Arc<OnceLock<Option<Arc<Program>>>>,
    /// What it takes to read the same text again.
    pub source: Arc<Source>,
    /// What its project says about it.
    pub project: Option<Arc<Project>>,
}

/// What the file of a project says about a model.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The file, and what of it counts.
    pub report: ProjectReport,
    /// By property, the verdict that is expected where the text says nothing.
    pub expected: BTreeMap<String, Verdict>,
}

/// What a model was read from, beside its main text.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Source {
    /// Names and values of macros that exist before the first line.
    pub defines: Vec<(String, String)>,
    /// Those of them whose values count whatever the text defines.
    pub fixed: Vec<String>,
    /// What was included.
    pub included: Vec<Included>,
}

/// A file that was included.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Included {
    /// The name of the file that asked for it.
    pub includer: String,
    /// How it is named there.
    pub written: String,
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// What a file includes under a name, as it was when the model was read.
    pub fn include(&self, includer: &str, written: &str) -> Option<(String, String)> {
        let is_asked = |known: &&Included| known.includer == includer && known.written == written;
        self.included.iter().find(is_asked).map(|known| (known.name.clone(), known.text.clone()))
    }
}

/// The main text of a model, and the name of its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelText<'a> {
    /// The name.
    pub name: &'a str,
    /// The text.
    pub text: String,
}

impl Loaded {
    /// The program without any optimisation.
    pub fn as_written(&self) -> Option<Arc<Program>> {
        let program = self.program.as_ref()?;
        if !self.optimized {
            return Some(Arc::clone(program));
        }
        let lower = |syntax: &dyn Syntax| syntax.lower(&self.map, &self.name, Form::AsWritten, &Cancel::new()).program;
        self.written.get_or_init(|| self.syntax().and_then(lower).map(Arc::new)).clone()
    }

    /// The same model with all optimisations, from the same texts; no file is read again.
    ///
    /// # Errors
    /// Why it stopped before it was done.
    pub fn optimized(&self, cancel: &Cancel) -> Result<Self, StopReason> {
        let syntax = self.syntax.as_ref().filter(|_| self.program.is_some() && !self.optimized);
        let Some(syntax) = syntax else { return Ok(self.clone()) };
        let program = syntax.lower(&self.map, &self.name, Form::Optimized, cancel).program.map(Arc::new);
        cancel.requested().map_or(Ok(Self { program, optimized: true, ..self.clone() }), Err)
    }

    /// Whether an edge is never taken only because another one does what it does.
    pub fn is_passed_over(&self, edge: EdgeId) -> bool {
        self.passed_over.contains(&edge)
    }

    /// The line in which something is written, in its file; `None` if it is not written anywhere.
    pub fn line_of(&self, span: Span) -> Option<u32> {
        let span = self.map.user_span(span);
        (span.start != span.end).then(|| self.map.position(span).line)
    }

    /// Whether the program is not what is written, step for step.
    pub fn is_optimized(&self) -> bool {
        self.optimized
    }

    /// Whether the text says where a delaying scheduler may not interrupt. A search in the order of delays keeps to
    /// that, so it does not see every run.
    pub fn is_sealed(&self) -> bool {
        !self.seals.is_empty()
    }

    /// The verdict that the text says to expect of a property; where it says nothing, the project.
    pub fn expected(&self, property: &str) -> Option<Verdict> {
        let written = self.expectation(property);
        let written = written.map(|expectation| if expectation.holds { Verdict::Holds } else { Verdict::Violated });
        written.or_else(|| self.project.as_ref()?.expected.get(property).copied())
    }

    /// Where the text says what to expect of a property.
    pub fn expectation(&self, property: &str) -> Option<&Expectation> {
        self.expectations.iter().find(|expectation| expectation.property.as_deref().unwrap_or(SAFETY) == property)
    }

    /// The text as its front end read it; `None` if there is no text.
    pub fn syntax(&self) -> Option<&dyn Syntax> {
        self.syntax.as_deref()
    }

    /// The language that it is written in.
    pub fn language(&self) -> &'static dyn Language {
        self.language
    }

    /// Another main text in the place of this one, read as it was: with the same macros and the same other files.
    ///
    /// # Errors
    /// Why it stopped before it was done.
    pub fn with_main_text(&self, text: String, settings: &Settings, cancel: &Cancel) -> Result<Self, StopReason> {
        let mut include = |includer: &str, written: &str| self.source.include(includer, written);
        load_until(cancel, ModelText { name: &self.name, text }, &self.source.defines, &mut include, settings)
    }

    /// The program, if nothing in the text keeps it from being checked.
    pub fn checkable(&self) -> Option<&Arc<Program>> {
        let faulty = self.findings.iter().any(Finding::is_error);
        self.program.as_ref().filter(|_| !faulty)
    }
}

/// Reads a model: preprocessor, parser, names and types, lowering, and the optimisations that were
/// asked for. `defines` are names and values of macros that exist before the first line.
pub fn load(
    name: &str,
    text: String,
    defines: &[(String, String)],
    include: Include<'_>,
    settings: &Settings,
) -> Loaded {
    read(ModelText { name, text }, defines, include, settings, &Cancel::new())
}

/// As [`load`], for as long as nobody asks to stop.
///
/// # Errors
/// Why it stopped before it was done.
pub fn load_until(
    cancel: &Cancel,
    text: ModelText<'_>,
    defines: &[(String, String)],
    include: Include<'_>,
    settings: &Settings,
) -> Result<Loaded, StopReason> {
    let loaded = read(text, defines, include, settings, cancel);
    // What was read until then is not the model.
    cancel.requested().map_or(Ok(loaded), Err)
}

/// Reads a model; not to its end if `cancel` asks to stop.
fn read(
    ModelText { name, text }: ModelText<'_>,
    defines: &[(String, String)],
    include: Include<'_>,
    settings: &Settings,
    cancel: &Cancel,
) -> Loaded {
    let mut map = SourceMap::new();
    let file = map.add_file(name, text);
    let formulas: Vec<OutsideFormula> = settings
        .formulas
        .iter()
        .enumerate()
        .map(|(index, formula)| OutsideFormula {
            name: formula_name(index),
            file: map.add_file(format!("<{}>", formula_name(index)), formula.clone()),
        })
        .collect();
    let mut includer = Includer { include, included: Vec::new() };
    let language = language_of(name);
    let request = ReadRequest { file, defines, fixed: &settings.fixed_macros, formulas: &formulas };
    let ReadText { syntax, mut findings } = language.read(&mut map, &request, &mut includer, cancel);
    let fixed = settings.fixed_macros.clone();
    let source = Arc::new(Source { defines: defines.to_vec(), fixed, included: includer.included });
    let mut program = None;
    if !findings.iter().any(Finding::is_error) {
        let form = if settings.optimize { Form::Optimized } else { Form::AsWritten };
        let lowered = syntax.lower(&map, name, form, cancel);
        program = lowered.program.map(Arc::new);
        findings.extend(lowered.findings);
    }
    let cut = program.as_ref().filter(|_| settings.cut_ranges).and_then(|program| cut_ranges(program));
    let is_cut = cut.is_some();
    let mut passed_over = BTreeSet::new();
    if let Some(cut) = cut {
        findings.extend(cut.ranges.iter().map(range_finding));
        (program, passed_over) = (Some(Arc::new(cut.program)), cut.passed_over);
    }
    let (seals, complaints) = syntax.seals(&map);
    findings.extend(complaints);
    let (sweeps, complaints) = syntax.sweeps(&map);
    findings.extend(complaints);
    let (expectations, complaints) = expected_verdicts(&*syntax, &map, program.as_deref());
    findings.extend(complaints);
    Loaded {
        name: name.to_owned(),
        map: Arc::new(map),
        program,
        optimized: settings.optimize || is_cut,
        passed_over,
        findings,
        seals,
        sweeps,
        expectations,
        language,
        syntax: Some(syntax),
        written: Arc::default(),
        source,
        project: None,
    }
}

/// The verdicts that the text says to expect, and what is wrong with these expectations.
fn expected_verdicts(
    syntax: &dyn Syntax,
    map: &SourceMap,
    program: Option<&Program>,
) -> (Vec<Expectation>, Vec<Finding>) {
    let properties = program.map_or(&[][..], |program| &program.properties);
    let declared = properties.iter().filter_map(|property| Some((property.name.as_str(), property.span?)));
    let (expected, mut complaints) = syntax.expectations(map, &declared.collect::<Vec<_>>());
    let plan = program.and_then(|program| plan(program, &[]).ok());
    for expectation in &expected {
        let (Some(name), Some(plan)) = (&expectation.property, &plan) else { continue };
        let planned = &plan.properties;
        if !planned.iter().any(|property| property.name == *name) {
            let names: Vec<&str> = planned.iter().map(|property| property.name.as_str()).collect();
            let complaint = expectation_complaint(expectation.span, &format!("this model has no property `{name}`"));
            complaints.push(complaint.help(format!("the properties of this model: {}", names.join(", "))));
        }
    }
    (expected, complaints)
}

/// What was left out of a range of values, and why.
fn range_finding(range: &CutRange) -> Finding {
    /// No more values than this are listed.
    const SHOWN_MAX: usize = 12;
    let CutRange { variable, process, span, values, kept } = range;
    let shown: Vec<String> = kept.iter().take(SHOWN_MAX).map(i32::to_string).collect();
    let more = if SHOWN_MAX < kept.len() { ", …" } else { "" };
    let headline = format!(
        "{} of {} values of `{variable}` are explored: {}{more}",
        kept.len(),
        grouped(*values),
        shown.join(", ")
    );
    let reason = format!("`{process}` chooses here");
    Finding::new(Code::RangeCut, headline)
        .at(*span, reason)
        .note("each value left out has the same outcome as one of these in every comparison of the model")
}

/// The name of the property for a formula that is not written in the model, by its place among them, from 0.
pub fn formula_name(index: usize) -> String {
    if index == 0 { "formula".to_owned() } else { format!("formula_{}", index + 1) }
}

/// Asks for included files on behalf of the preprocessor.
struct Includer<'a> {
    include: Include<'a>,
    included: Vec<Included>,
}

impl Loader for Includer<'_> {
    fn load(&mut self, includer: &str, name: &str) -> Option<(String, String)> {
        let name = name.trim_matches(['"', '<', '>']);
        let found = (self.include)(includer, name)?;
        self.included.push(Included {
            includer: includer.to_owned(),
            written: name.to_owned(),
            name: found.0.clone(),
            text: found.1.clone(),
        });
        Some(found)
    }
}

/// A model whose text could not be read; `why` is half a sentence.
pub fn unreadable(name: &str, why: &str) -> Loaded {
    let headline = format!("`{name}` cannot be read: {why}");
    let finding = Finding::new(Code::FileUnreadable, headline);
    Loaded {
        name: name.to_owned(),
        map: Arc::default(),
        program: None,
        optimized: false,
        passed_over: BTreeSet::new(),
        findings: vec![finding],
        seals: Vec::new(),
        sweeps: Vec::new(),
        expectations: Vec::new(),
        language: language_of(name),
        syntax: None,
        written: Arc::default(),
        source: Arc::default(),
        project: None,
    }
}

/// A model that is not read, because the file of its project (name and text) says something wrong there.
pub fn misconfigured(name: &str, (file, text): (&str, &str), place: Option<Range<usize>>, why: &str) -> Loaded {
    let mut map = SourceMap::new();
    let id = map.add_file(file, text.to_owned());
    let place = place.unwrap_or(0..0);
    let span = Span::new(id, place.start as u32, place.end as u32);
    let finding = Finding::new(Code::BadProject, format!("the settings in `{file}` cannot be read")).at(span, why);
    Loaded { map: Arc::new(map), findings: vec![finding], ..unreadable(name, "") }
}
