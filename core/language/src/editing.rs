//! What an editor asks about a text beside what the index of its names tells.
//!
//! A front end need not answer: each question has an answer that offers nothing.

use crate::index::{Index, SymbolId, SymbolKind};
use fabius_base::{FileId, SourceMap, Span};
use std::fmt::Debug;
use std::ops::Range;

/// A file of a text that was read, in which something is asked.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// The texts.
    pub map: &'a SourceMap,
    /// What the names in them mean.
    pub index: &'a Index,
    /// The file.
    pub id: FileId,
}

impl<'a> SourceFile<'a> {
    /// The text of the file.
    pub fn text(&self) -> &'a str {
        &self.map.file(self.id).text
    }
}

/// What an editor asks; bytes are those of the file that is asked about.
#[expect(unused_variables, reason = "the answers that offer nothing")]
pub trait Editing: Debug + Send + Sync {
    /// After which characters an editor asks by itself.
    fn triggers(&self) -> Triggers {
        Triggers::default()
    }

    /// What may be written at a byte, and the bytes of the word that it replaces.
    fn complete(&self, file: SourceFile<'_>, at: usize) -> (Range<usize>, Vec<Proposal>) {
        (at..at, Vec::new())
    }

    /// What there is to say about a word that may be written: a name, or a keyword.
    fn describe(&self, file: SourceFile<'_>, word: &str, name: Option<SymbolId>) -> Option<Description> {
        None
    }

    /// The innermost call around a byte.
    fn signature(&self, file: SourceFile<'_>, at: usize) -> Option<Signature> {
        None
    }

    /// What there is to say about the word at a byte.
    fn hover(&self, file: SourceFile<'_>, at: usize) -> Option<Hover> {
        None
    }

    /// Where the types are declared of what a name stands for; nothing for types that are built in.
    fn type_definition(&self, file: SourceFile<'_>, id: SymbolId) -> Vec<Span> {
        Vec::new()
    }

    /// Where what a name stands for is put to work: a message is received, a channel is received from, a process is created.
    fn implementations(&self, file: SourceFile<'_>, id: SymbolId) -> Vec<Span> {
        Vec::new()
    }

    /// The bytes of the names of files that a text includes, also in parts that are left out.
    fn includes(&self, text: &str) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// The arguments of calls, with the names of the parameters that they are given to.
    fn arguments(&self, file: SourceFile<'_>) -> Vec<Argument> {
        Vec::new()
    }

    /// The end of the declaration of a variable, with everything that belongs to it alone.
    fn declaration_end(&self, file: SourceFile<'_>, id: SymbolId) -> usize {
        file.index.symbol(id).definition.end as usize
    }

    /// Whether a word can be the name of something.
    ///
    /// # Errors
    /// Why it cannot, in a sentence.
    fn check_name(&self, name: &str) -> Result<(), String> {
        Ok(())
    }

    /// The coloured words of a file, in the order of the text.
    fn colors(&self, file: SourceFile<'_>) -> Vec<Colored> {
        Vec::new()
    }

    /// Stretches of several lines that can be folded, in the order of the text.
    fn folds(&self, file: SourceFile<'_>) -> Vec<(Range<usize>, FoldKind)> {
        Vec::new()
    }

    /// What a selection at a byte grows to, the smallest first.
    fn selections(&self, file: SourceFile<'_>, at: usize) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// The replacements that format a text; they do not overlap and are in order.
    fn format(&self, text: &str, style: Style) -> Vec<Replacement> {
        Vec::new()
    }

    /// The replacement that indents a line whose first word was just typed, up to a byte.
    fn align(&self, text: &str, at: usize, style: Style) -> Option<Replacement> {
        None
    }

    /// How something is done that would change what a check says.
    fn rewrite(&self, file: SourceFile<'_>, request: &RewriteRequest<'_>) -> Option<Rewrite> {
        None
    }
}

/// Characters after which an editor asks by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Triggers {
    /// What may be written.
    pub completion: &'static [&'static str],
    /// What is being called.
    pub signature: &'static [&'static str],
    /// How the line is indented.
    pub format: &'static [&'static str],
}

/// Something that may be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// What it is called.
    pub label: String,
    /// What it is.
    pub kind: ProposalKind,
    /// More about it, on one line.
    pub detail: String,
    /// What is written; of a snippet, with `$1`, `${2:word}` and `$0` for the places to fill in.
    pub text: String,
    /// Its place in the list: those with the least come first.
    pub rank: u8,
}

/// What a proposal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProposalKind {
    /// A name.
    Name(SymbolId),
    /// A keyword.
    Keyword,
    /// A piece of text with places to fill in.
    Snippet,
    /// A directive of a preprocessor.
    Directive,
}

/// A call that is being written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// What is called, created, or sent to.
    pub symbol: SymbolId,
    /// How it is shown, arguments included.
    pub label: String,
    /// The arguments as they are shown in the label.
    pub parameters: Vec<String>,
    /// The number of the argument being written, from 0.
    pub active: usize,
}

/// What there is to say about a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The bytes of the word.
    pub range: Range<usize>,
    /// What it means: one thing, in an inline perhaps several; nothing for a keyword.
    pub meanings: Vec<SymbolId>,
    /// Declarations, as code.
    pub code: Vec<String>,
    /// Sentences.
    pub prose: Vec<String>,
}

/// What there is to say about something that may be written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Description {
    /// Declarations, as code.
    pub code: Vec<String>,
    /// Sentences.
    pub prose: Vec<String>,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Its bytes.
    pub range: Range<usize>,
    /// The name of the parameter that it is given to.
    pub parameter: String,
    /// The declaration of that parameter.
    pub declaration: String,
}

/// What a word is, for colouring.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Color {
    Keyword,
    Type,
    Number,
    String,
    Comment,
    Operator,
    Macro,
    Process,
    Inline,
    Structure,
    Field,
    Variable,
    Parameter,
    Constant,
    Label,
    Property,
}

impl Color {
    /// All of them, in order.
    pub const ALL: [Self; 16] = [
        Self::Keyword,
        Self::Type,
        Self::Number,
        Self::String,
        Self::Comment,
        Self::Operator,
        Self::Macro,
        Self::Process,
        Self::Inline,
        Self::Structure,
        Self::Field,
        Self::Variable,
        Self::Parameter,
        Self::Constant,
        Self::Label,
        Self::Property,
    ];
}

/// A coloured word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Colored {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is.
    pub color: Color,
    /// It is declared here.
    pub declaration: bool,
    /// Its value changes here.
    pub write: bool,
    /// It belongs to no process.
    pub global: bool,
    /// It never changes.
    pub constant: bool,
}

/// What a stretch that can be folded is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FoldKind {
    Code,
    Comment,
    Directives,
}

/// How a text is indented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Spaces for one step, or a tab.
    pub indent: Indent,
}

/// One step of indentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indent {
    /// This many spaces.
    Spaces(usize),
    /// A tab.
    Tab,
}

impl Style {
    /// The margin of a line at a depth.
    pub fn margin(self, depth: usize) -> String {
        match self.indent {
            Indent::Spaces(width) => " ".repeat(width * depth),
            Indent::Tab => "\t".repeat(depth),
        }
    }
}

impl Default for Style {
    fn default() -> Self {
        Self { indent: Indent::Spaces(4) }
    }
}

/// Replaces some bytes of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The bytes.
    pub range: Range<usize>,
    /// What is there instead.
    pub text: String,
}

/// Something that could be done about a text so that a check says something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RewriteRequest<'a> {
    /// Processes may wait at these bytes for ever: that is no deadlock then.
    AllowWaiting {
        /// Who waits.
        who: &'a str,
        /// Where.
        at: &'a [usize],
    },
    /// The statement at a byte counts as progress.
    CountProgress {
        /// The statement.
        statement: &'a str,
        /// Where it is.
        at: usize,
    },
    /// A channel holds one message more.
    EnlargeChannel {
        /// Its name.
        name: &'a str,
    },
    /// Where none of the alternatives at a byte is possible, the process goes on.
    AddElse {
        /// The first statement of one of them.
        at: usize,
    },
    /// No other process moves between the first byte and the last.
    MakeAtomic {
        /// What is executed at once.
        range: Range<usize>,
        /// The lines of its first and last statement, if the title is to name them.
        lines: Option<[u32; 2]>,
    },
    /// A variable gets the smallest type that has room for its values.
    NarrowType {
        /// The variable.
        symbol: SymbolId,
        /// The bits of its present type.
        bits: u8,
        /// Its least and its greatest value.
        values: [i32; 2],
    },
}

/// How something is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewrite {
    /// What is done, in a few words.
    pub title: String,
    /// The edits.
    pub edits: Vec<Replacement>,
}

/// A kind of symbol in words.
pub fn kind_words(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Process => "process type",
        SymbolKind::Init => "initial process",
        SymbolKind::Claim => "claim",
        SymbolKind::Formula => "formula",
        SymbolKind::Inline => "inline",
        SymbolKind::InlineParameter => "parameter",
        SymbolKind::Macro => "macro",
        SymbolKind::Structure => "structure",
        SymbolKind::Field => "field",
        SymbolKind::Global => "global variable",
        SymbolKind::Local => "local variable",
        SymbolKind::Parameter => "parameter",
        SymbolKind::Constant => "symbolic constant",
        SymbolKind::ConstantSet => "set of symbolic constants",
        SymbolKind::Label => "label",
        SymbolKind::Predefined => "predefined",
    }
}
