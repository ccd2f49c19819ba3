//! Text to syntax tree.

use crate::ast;
use crate::preprocess::{Preprocessed, preprocess};
use crate::token::Interner;
use fabius_base::{Cancel, FileId, Finding, SourceMap, Span};
use fabius_language::{Loader, ReadRequest};

/// What reading a model gives: always a tree, and what is to be said about the text.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The syntax tree; what could not be read is missing or an error node.
    pub model: ast::Model,
    /// Errors, warnings and notes about the text.
    pub findings: Vec<Finding>,
    /// Text whose preprocessor condition does not hold, by file and place.
    pub inactive: Vec<Span>,
}

impl Parsed {
    /// Whether the text has no errors.
    pub fn is_ok(&self) -> bool {
        !self.findings.iter().any(Finding::is_error)
    }
}

/// Reads the model in `file`. `defines` are macros as from a command line (an empty value means 1);
/// `loader` finds the text of included files, which are added to `map`.
pub fn parse(map: &mut SourceMap, file: FileId, defines: &[(String, String)], loader: &mut dyn Loader) -> Parsed {
    parse_with(map, &ReadRequest { file, defines, fixed: &[], formulas: &[] }, loader, &Cancel::new())
}

/// Reads a model with formulas that are not written in it, as if each stood in an `ltl` block at its end: names
/// and macros of the model mean in them what they mean there, and what is to be said about them has its place
/// in their own text. (They have to be there when the model is read, since they decide which variables matter.)
/// Once `cancel` asks for it, the rest of the text is not read: then the result is not that of the model.
pub fn parse_with(map: &mut SourceMap, request: &ReadRequest<'_>, loader: &mut dyn Loader, cancel: &Cancel) -> Parsed {
    let mut findings = Vec::new();
    let mut names = Interner::new();
    let file = request.file;
    let end = map.file(file).text.len() as u32;
    let Preprocessed { tokens: pieces, mut inactive } =
        preprocess(map, &mut names, &mut findings, request, loader, cancel);
    inactive.sort_by_key(|span| (span.file.0, span.start));
    if pieces.is_empty() && findings.iter().any(Finding::is_error) {
        return Parsed { model: ast::Model::default(), findings, inactive };
    }
    let tokens = crate::lex::lex(&pieces, &mut names, &mut findings, Span::new(file, end, end));
    drop(pieces);
    let model = crate::parse::parse(map, &mut names, &mut findings, tokens, cancel);
    Parsed { model, findings, inactive }
}
