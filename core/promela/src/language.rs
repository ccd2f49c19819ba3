//! Promela as one of the languages that models may be written in.

use crate::ast::Model;
use crate::lossy::with_losses;
use crate::query::{
    self, arguments, complete, directives, hover, implementations, keyword_help, rewrite, semantic, shape, signature,
    types,
};
use crate::{Options, expectations, format, lower_with, mutants, parse_with, restrain, sealed_stretches, sweeps};
use fabius_base::{Cancel, FileId, Finding, SourceMap, Span};
use fabius_language::{
    Argument, Colored, Condition, Description, Editing, Expectation, FoldKind, Form, Hover, Index, Language, Loader,
    Lowered, Mutant, Proposal, ReadRequest, ReadText, Replacement, Rewrite, RewriteRequest, SealedStretch, Signature,
    SourceFile, Style, SymbolId, Syntax, TextEdit, Triggers, ValueKind, ValueTest, ValueTexts, Wait, WrittenSweep,
};
use fabius_program::Program;
use std::ops::Range;
use std::sync::Arc;

/// Promela, the language of Spin.
#[derive(Clone, Copy, Debug)]
pub struct Promela;

/// A text in Promela that was read.
#[derive(Debug)]
struct PromelaText {
    tree: Model,
    /// Text whose preprocessor condition does not hold.
    inactive: Vec<Span>,
}

impl Language for Promela {
    fn name(&self) -> &'static str {
        "Promela"
    }

    fn id(&self) -> &'static str {
        "promela"
    }

    fn model_endings(&self) -> &'static [&'static str] {
        &["pml", "prom", "promela", "pr", "spin", "pmlx"]
    }

    fn included_endings(&self) -> &'static [&'static str] {
        &["h", "inc"]
    }

    fn read(
        &self,
        map: &mut SourceMap,
        request: &ReadRequest<'_>,
        loader: &mut dyn Loader,
        cancel: &Cancel,
    ) -> ReadText {
        let parsed = parse_with(map, request, loader, cancel);
        let syntax = PromelaText { tree: parsed.model, inactive: parsed.inactive };
        ReadText { syntax: Arc::new(syntax), findings: parsed.findings }
    }

    fn restrain(
        &self,
        program: &Program,
        map: &SourceMap,
        main: FileId,
        waits: &[Wait],
    ) -> Result<Vec<TextEdit>, String> {
        restrain::restrain(program, map, main, waits)
    }

    fn value_test(&self, test: &ValueTest<'_>) -> ValueTexts {
        let ValueTest { name, kind, first, last, before, after } = *test;
        let tested = if let ValueKind::Messages { .. } = kind { format!("len({name})") } else { name.to_owned() };
        let is_one = first == last;
        let (holds, fails) = match kind {
            ValueKind::Boolean if is_one && first == 0 => (format!("!{name}"), name.to_owned()),
            ValueKind::Boolean if is_one => (name.to_owned(), format!("!{name}")),
            ValueKind::Constant(constant) => (format!("{name} == {constant}"), format!("{name} != {constant}")),
            ValueKind::Messages { .. } if is_one && first == 0 => (format!("empty({name})"), format!("nempty({name})")),
            ValueKind::Messages { capacity } if is_one && u32::try_from(first) == Ok(capacity) => {
                (format!("full({name})"), format!("nfull({name})"))
            }
            _ if is_one => (format!("{tested} == {first}"), format!("{tested} != {first}")),
            _ => match (before, after) {
                (None, Some(above)) => (format!("{tested} < {above}"), format!("{tested} >= {above}")),
                (Some(below), None) => (format!("{tested} > {below}"), format!("{tested} <= {below}")),
                _ => (
                    format!("{tested} >= {first} && {tested} <= {last}"),
                    format!("({tested} < {first} || {tested} > {last})"),
                ),
            },
        };
        ValueTexts { tested, holds, fails }
    }

    fn definition(&self, name: &str, value: &str) -> String {
        format!("#define {name} {}", if value.is_empty() { "1" } else { value })
    }

    fn assignment(&self, variable: &str, value: &str) -> String {
        format!("{variable} = {value}")
    }

    fn creation(&self, process: &str, arguments: &[String]) -> String {
        format!("run {process}({})", arguments.join(", "))
    }

    fn initial_process(&self, statements: &[String]) -> String {
        match statements {
            [] => "\n\ninit { skip }\n".to_owned(),
            _ => format!("\n\ninit {{\n  atomic {{\n    {}\n  }}\n}}\n", statements.join(";\n    ")),
        }
    }

    fn editing(&self) -> &dyn Editing {
        self
    }
}

impl Syntax for PromelaText {
    fn lower(&self, map: &SourceMap, name: &str, form: Form, cancel: &Cancel) -> Lowered {
        let options = match form {
            Form::AsWritten => Options::NONE,
            Form::Optimized => Options::ALL,
        };
        with_losses(lower_with(&self.tree, map, name, options, cancel), map, &self.inactive)
    }

    fn seals(&self, map: &SourceMap) -> (Vec<SealedStretch>, Vec<Finding>) {
        sealed_stretches(map, &self.inactive)
    }

    fn expectations(&self, map: &SourceMap, declared: &[(&str, Span)]) -> (Vec<Expectation>, Vec<Finding>) {
        expectations(map, &self.inactive, declared)
    }

    fn sweeps(&self, map: &SourceMap) -> (Vec<WrittenSweep>, Vec<Finding>) {
        sweeps(map, &self.inactive)
    }

    fn mutants(&self, map: &SourceMap, main: FileId) -> Vec<Mutant> {
        mutants(&self.tree, map, main)
    }

    fn condition(&self, statement: Span) -> Option<Condition> {
        query::condition(&self.tree, statement)
    }

    fn provided(&self, process: &str) -> Option<Condition> {
        query::provided(&self.tree, process)
    }

    fn index(&self, map: &SourceMap) -> Index {
        query::index(map, &self.tree)
    }
}

impl Editing for Promela {
    fn triggers(&self) -> Triggers {
        Triggers { completion: &[".", "@", "#"], signature: &["(", ",", "!", "?"], format: &[":", "d", "i", "}"] }
    }

    fn complete(&self, file: SourceFile<'_>, at: usize) -> (Range<usize>, Vec<Proposal>) {
        complete::complete(file, at)
    }

    fn describe(&self, file: SourceFile<'_>, word: &str, name: Option<SymbolId>) -> Option<Description> {
        hover::describe(file, word, name)
    }

    fn signature(&self, file: SourceFile<'_>, at: usize) -> Option<Signature> {
        signature::signature(file, at)
    }

    fn hover(&self, file: SourceFile<'_>, at: usize) -> Option<Hover> {
        hover::hover(file, at)
    }

    fn type_definition(&self, file: SourceFile<'_>, id: SymbolId) -> Vec<Span> {
        types::type_definition(file, id)
    }

    fn implementations(&self, file: SourceFile<'_>, id: SymbolId) -> Vec<Span> {
        implementations::implementations(file, id)
    }

    fn includes(&self, text: &str) -> Vec<Range<usize>> {
        directives::includes(text)
    }

    fn arguments(&self, file: SourceFile<'_>) -> Vec<Argument> {
        arguments::arguments(file)
    }

    fn declaration_end(&self, file: SourceFile<'_>, id: SymbolId) -> usize {
        arguments::declaration_end(file, id)
    }

    fn check_name(&self, name: &str) -> Result<(), String> {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match (is_name, keyword_help(name)) {
            (false, _) => Err(format!("`{name}` is not a name")),
            (true, Some(_)) => Err(format!("`{name}` is a keyword")),
            (true, None) => Ok(()),
        }
    }

    fn colors(&self, file: SourceFile<'_>) -> Vec<Colored> {
        semantic::colors(file)
    }

    fn folds(&self, file: SourceFile<'_>) -> Vec<(Range<usize>, FoldKind)> {
        shape::folds(file)
    }

    fn selections(&self, file: SourceFile<'_>, at: usize) -> Vec<Range<usize>> {
        shape::selections(file, at)
    }

    fn format(&self, text: &str, style: Style) -> Vec<Replacement> {
        format::format(text, style)
    }

    fn align(&self, text: &str, at: usize, style: Style) -> Option<Replacement> {
        format::align(text, at, style)
    }

    fn rewrite(&self, file: SourceFile<'_>, request: &RewriteRequest<'_>) -> Option<Rewrite> {
        rewrite::rewrite(file, request)
    }
}
