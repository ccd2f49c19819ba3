//! From text to a program that can be checked, with all that there is to say about the text.

use crate::settings::Settings;
use fabius_base::{Code, Finding, SourceMap};
use fabius_program::Program;
use fabius_promela::ast::Model;
use fabius_promela::{Loader, Options, OutsideFormula, Parsed, SealedStretch, lower, parse_with, sealed_stretches};
use std::sync::Arc;

/// Finds included files: gets the name of the including file and the name as it is written, and
/// returns the name to show and the text.
pub type Include<'a> = &'a mut dyn FnMut(&str, &str) -> Option<(String, String)>;

/// A model as far as its text goes.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name of the file.
    pub name: String,
    /// Its text and that of the files it includes.
    pub map: SourceMap,
    /// What it means; `None` if the text is too wrong to say.
    pub program: Option<Arc<Program>>,
    /// What there is to say about the text.
    pub findings: Vec<Finding>,
    /// Where a delaying scheduler may not interrupt.
    pub(crate) seals: Vec<SealedStretch>,
    /// The syntax tree, from which the program as written can be made again; also of a faulty text.
    tree: Option<Arc<Model>>,
    /// What it takes to read the same text again.
    pub(crate) source: Arc<Source>,
}

/// What a model was read from, beside its main text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// Names and values of macros that exist before the first line.
    pub defines: Vec<(String, String)>,
    /// What was included: who asked for what, its name and its text.
    pub included: Vec<Included>,
}

/// Who asked for which file, its name and its text.
pub(crate) type Included = ((String, String), (String, String));

impl Loaded {
    /// The program without any optimisation.
    pub(crate) fn as_written(&self) -> Option<Program> {
        let tree = self.tree.as_ref().filter(|_| self.program.is_some())?;
        lower(tree, &self.map, &self.name, Options::NONE).program
    }

    /// The syntax tree, as far as the text can be read; `None` if there is no text.
    pub fn tree(&self) -> Option<&Arc<Model>> {
        self.tree.as_ref()
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
    let Parsed { model, mut findings } = parse_with(&mut map, file, defines, &formulas, &mut includer);
    let source = Arc::new(Source { defines: defines.to_vec(), included: includer.included });
    let mut program = None;
    if !findings.iter().any(Finding::is_error) {
        let options = if settings.optimize { Options::ALL } else { Options::NONE };
        let lowered = lower(&model, &map, name, options);
        program = lowered.program.map(Arc::new);
        findings.extend(lowered.findings);
    }
    let tree = Some(Arc::new(model));
    let (seals, complaints) = sealed_stretches(&map);
    findings.extend(complaints);
    Loaded { name: name.to_owned(), map, program, findings, seals, tree, source }
}

/// The name of a formula that is not written in the model, by its place among them.
fn formula_name(index: usize) -> String {
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
        self.included.push(((includer.to_owned(), name.to_owned()), found.clone()));
        Some(found)
    }
}

/// A model whose text could not be read; `why` is half a sentence.
pub fn unreadable(name: &str, why: &str) -> Loaded {
    let headline = format!("`{name}` cannot be read: {why}");
    let finding = Finding::new(Code::FileUnreadable, headline);
    Loaded {
        name: name.to_owned(),
        map: SourceMap::new(),
        program: None,
        findings: vec![finding],
        seals: Vec::new(),
        tree: None,
        source: Arc::default(),
    }
}
