//! What a front end for a modelling language offers, and the plain data in which it answers.
//!
//! A [`Language`] reads text to a [`Syntax`], which is lowered to a [`Program`] and answers the questions about the text that need
//! its tree; [`Editing`] is what an editor asks beside that. Whatever stands behind a front end asks these traits, so that no part
//! of the checker knows in which language a model was written.

mod annotation;
mod calls;
mod condition;
mod edit;
mod editing;
mod index;
mod outline;
mod piece;

pub use annotation::{Expectation, Parameter, SealKind, SealedStretch, WrittenSweep, expectation_complaint};
pub use calls::{Calls, incoming, is_callable, outgoing};
pub use condition::{Condition, ConditionOperator};
pub use edit::{During, Mutant, ProcessPlaces, TextEdit, ValueKind, ValueTest, ValueTexts, Wait, edited};
pub use editing::{
    Argument, Color, Colored, Description, Editing, FoldKind, Hover, Indent, Proposal, ProposalKind, Replacement,
    Rewrite, RewriteRequest, Signature, SourceFile, Style, Triggers, kind_words,
};
pub use index::{Index, Occurrence, Role, Stretch, Symbol, SymbolId, SymbolKind};
pub use outline::{Entry, outline};
pub use piece::{Piece, PieceKind};

use fabius_base::{Cancel, FileId, Finding, SourceMap, Span};
use fabius_program::Program;
use std::fmt::Debug;
use std::sync::Arc;

/// A modelling language.
pub trait Language: Debug + Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &'static str;

    /// Its name in editors and in Markdown.
    fn id(&self) -> &'static str;

    /// The endings of files that hold models, without a dot; the usual one first.
    fn model_endings(&self) -> &'static [&'static str];

    /// The endings of files that models include, beside those of models.
    fn included_endings(&self) -> &'static [&'static str];

    /// Reads a text of `map`; included files are found by `loader` and added to `map`. Once `cancel` asks for it, the rest is not
    /// read, and the result is not that of the text.
    fn read(
        &self,
        map: &mut SourceMap,
        request: &ReadRequest<'_>,
        loader: &mut dyn Loader,
        cancel: &Cancel,
    ) -> ReadText;

    /// The edits of the file `main` that make processes wait; `program` is what is written, step for step. They do not overlap,
    /// and are in the order of the text.
    ///
    /// # Errors
    /// Why the waits cannot be written into this text, as half a sentence.
    fn restrain(
        &self,
        program: &Program,
        map: &SourceMap,
        main: FileId,
        waits: &[Wait],
    ) -> Result<Vec<TextEdit>, String>;

    /// How a test of the values of a variable or channel is written.
    fn value_test(&self, test: &ValueTest<'_>) -> ValueTexts;

    /// The line that defines a macro.
    fn definition(&self, name: &str, value: &str) -> String;

    /// The statement that gives a variable a value.
    fn assignment(&self, variable: &str, value: &str) -> String;

    /// The statement that creates a process.
    fn creation(&self, process: &str, arguments: &[String]) -> String;

    /// The text of a process that executes these statements at once when a run begins, to be appended to a model that has no
    /// such process; of none, one that does nothing.
    fn initial_process(&self, statements: &[String]) -> String;

    /// What an editor asks.
    fn editing(&self) -> &dyn Editing;
}

/// What is to be read.
#[derive(Clone, Copy, Debug)]
pub struct ReadRequest<'a> {
    /// The main text.
    pub file: FileId,
    /// Names and values of macros that exist before the first line; an empty value means 1.
    pub defines: &'a [(String, String)],
    /// Those of them whose values count whatever the text defines.
    pub fixed: &'a [String],
    /// Formulas that are not written in the model, as if they stood at its end.
    pub formulas: &'a [OutsideFormula],
}

/// A formula that is not written in the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutsideFormula {
    /// The name of the property.
    pub name: String,
    /// Its text, which was added to the source map: the formula alone.
    pub file: FileId,
}

/// Finds the text of included files.
pub trait Loader {
    /// The shown name and the text of the file `name` that the file `includer` asks for.
    /// `name` keeps its quotes: `"file"` or `<file>`.
    fn load(&mut self, includer: &str, name: &str) -> Option<(String, String)>;
}

/// A loader that finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoader;

impl Loader for NoLoader {
    fn load(&mut self, _includer: &str, _name: &str) -> Option<(String, String)> {
        None
    }
}

/// What reading a text gives: always a tree, and what there is to say about the text.
#[derive(Clone, Debug)]
pub struct ReadText {
    /// The text as a tree, as far as it could be read.
    pub syntax: Arc<dyn Syntax>,
    /// Errors, warnings and notes.
    pub findings: Vec<Finding>,
}

/// A text that a front end has read. The source map that it is given is always the one that the text was read into.
pub trait Syntax: Debug + Send + Sync {
    /// The program that the text means; `name` is what it is called. It ends early if `cancel` asks for it, and then there is no
    /// program, and not all findings.
    fn lower(&self, map: &SourceMap, name: &str, form: Form, cancel: &Cancel) -> Lowered;

    /// The stretches in which a delaying scheduler may not interrupt, outer ones first, and what is wrong with them.
    fn seals(&self, map: &SourceMap) -> (Vec<SealedStretch>, Vec<Finding>);

    /// The verdicts that the text says to expect, and what is wrong with these annotations. `declared` are the properties that
    /// are written in the text, each with its place.
    fn expectations(&self, map: &SourceMap, declared: &[(&str, Span)]) -> (Vec<Expectation>, Vec<Finding>);

    /// The values of macros with which the text says to check it, and what is wrong with these annotations.
    fn sweeps(&self, map: &SourceMap) -> (Vec<WrittenSweep>, Vec<Finding>);

    /// The text with one small change each, as people make by mistake, in the order of the file `main`.
    fn mutants(&self, map: &SourceMap, main: FileId) -> Vec<Mutant>;

    /// The parts of the condition that is the statement at a place.
    fn condition(&self, statement: Span) -> Option<Condition>;

    /// The parts of the condition that has to hold for processes of a type to move.
    fn provided(&self, process: &str) -> Option<Condition>;

    /// What the names in the text mean.
    fn index(&self, map: &SourceMap) -> Index;
}

/// How far a program may differ from the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Step for step what is written.
    AsWritten,
    /// With the optimisations of the language's own verifier, so that numbers of states can be compared.
    Optimized,
}

/// A program, if there is one, and what there is to say about the model.
#[derive(Debug)]
pub struct Lowered {
    /// `None` if a finding is an error.
    pub program: Option<Program>,
    /// Errors and warnings, in the order of the text.
    pub findings: Vec<Finding>,
}
