//! What the names of a text mean: symbols, the places where they stand, and the pieces and stretches of the text.
//!
//! A front end fills it; answers are plain data with spans. They hold for faulty texts too, as far as those can be read.

use crate::piece::{Piece, PieceKind};
use fabius_base::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A name with one meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub u32);

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SymbolKind {
    Process,
    Init,
    Claim,
    Formula,
    Inline,
    InlineParameter,
    Macro,
    Structure,
    Field,
    Global,
    Local,
    Parameter,
    Constant,
    ConstantSet,
    Label,
    Predefined,
}

/// A name with one meaning, and what is known about it.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name.
    pub name: Arc<str>,
    /// What it stands for.
    pub kind: SymbolKind,
    /// Where it is declared; an empty span at the beginning of nothing for what is predefined.
    pub definition: Span,
    /// The whole declaration.
    pub extent: Span,
    /// The process, structure or inline that it belongs to.
    pub container: Option<SymbolId>,
    /// The declaration in one line.
    pub detail: String,
    /// The structure that it is a variable of.
    pub structure: Option<Arc<str>>,
    /// It is a channel.
    pub channel: bool,
    /// It is a process type of which there are processes from the start.
    pub active: bool,
    /// The value of a symbolic constant.
    pub value: Option<i32>,
    /// Types of the fields of the messages of a channel, or parameters of a process, inline or macro.
    pub parameters: Vec<String>,
}

/// What happens to a name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Role {
    Definition,
    Read,
    Write,
    Call,
    Run,
    Send,
    Receive,
    Goto,
}

/// A place where a name stands in a text, as it is written there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Occurrence {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// What it means there, or one of the things that it means there.
    pub symbol: SymbolId,
    /// What happens to it.
    pub role: Role,
    /// The process, inline or claim in whose text it stands.
    pub within: Option<SymbolId>,
}

/// What the names of a model mean.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// All names.
    pub symbols: Vec<Symbol>,
    /// Where they stand, in the order of the text; a place may have several meanings.
    pub occurrences: Vec<Occurrence>,
    /// Stretches of text that belong together: steps, expressions, blocks, declarations.
    pub stretches: Vec<Stretch>,
    /// Directives that include files: the place of the name, quotes excluded, and the name.
    pub includes: Vec<(Span, String)>,
    /// The pieces of each file.
    pieces: BTreeMap<FileId, Vec<Piece>>,
}

/// A stretch of text that belongs together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stretch {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// It has braces, or is an `if`, `do` or a whole declaration: it can be folded.
    pub folds: bool,
}

impl Index {
    /// An index of texts that were cut into these pieces, without any names yet.
    pub fn of_pieces(pieces: BTreeMap<FileId, Vec<Piece>>) -> Self {
        Self { pieces, ..Self::default() }
    }

    /// Puts occurrences and stretches in order, and leaves out what is there twice.
    pub fn sort(&mut self) {
        self.occurrences.sort_unstable();
        self.occurrences.dedup();
        self.stretches.sort_unstable();
        self.stretches.dedup_by_key(|stretch| (stretch.file, stretch.start, stretch.end));
    }

    /// The symbol behind an id.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// The ids of all symbols.
    pub fn ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    /// The pieces of a file.
    pub fn pieces(&self, file: FileId) -> &[Piece] {
        self.pieces.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The piece of a file in which a byte is; between two pieces, the word of the two.
    pub fn piece_at(&self, file: FileId, at: usize) -> Option<&Piece> {
        let pieces = self.pieces(file);
        let next = pieces.partition_point(|piece| piece.range.end <= at);
        let right = pieces.get(next);
        let left = next.checked_sub(1).and_then(|before| pieces.get(before)).filter(|piece| piece.range.end == at);
        let is_word = |piece: &&Piece| piece.kind == PieceKind::Word;
        right.filter(is_word).or(left.filter(is_word)).or(right).or(left)
    }

    /// The occurrences of names in a file, in order.
    pub fn occurrences_in(&self, file: FileId) -> &[Occurrence] {
        let from = self.occurrences.partition_point(|occurrence| occurrence.file < file);
        let to = self.occurrences.partition_point(|occurrence| occurrence.file <= file);
        &self.occurrences[from..to]
    }

    /// The occurrences at a byte of a file; one for each meaning.
    pub fn at(&self, file: FileId, at: usize) -> Vec<Occurrence> {
        let all = self.occurrences_in(file);
        let near = |occurrence: &&Occurrence| occurrence.start as usize <= at && at <= occurrence.end as usize;
        let mut found: Vec<Occurrence> = all.iter().filter(near).copied().collect();
        // Between two names, the right one counts.
        if let Some(right) = found.iter().map(|occurrence| occurrence.start).max() {
            found.retain(|occurrence| occurrence.start == right);
        }
        let mut seen = BTreeSet::new();
        found.retain(|occurrence| seen.insert(occurrence.symbol));
        found
    }

    /// What the name at a byte of a file means: one thing, or in the body of an inline perhaps several.
    pub fn meanings(&self, file: FileId, at: usize) -> Vec<SymbolId> {
        self.at(file, at).into_iter().map(|occurrence| occurrence.symbol).collect()
    }

    /// Every place where a name with one of these meanings stands.
    pub fn references(&self, meanings: &[SymbolId]) -> Vec<Occurrence> {
        let mut found: Vec<Occurrence> =
            self.occurrences.iter().filter(|occurrence| meanings.contains(&occurrence.symbol)).copied().collect();
        found.dedup_by_key(|occurrence| (occurrence.file, occurrence.start));
        found
    }

    /// Everything that must be renamed together with some names: a word in an inline that means one of
    /// them and another name as well ties the two together.
    pub fn tied(&self, meanings: &[SymbolId]) -> Vec<SymbolId> {
        let mut tied: BTreeSet<SymbolId> = meanings.iter().copied().collect();
        let mut by_place: BTreeMap<(FileId, u32), Vec<SymbolId>> = BTreeMap::new();
        for occurrence in &self.occurrences {
            by_place.entry((occurrence.file, occurrence.start)).or_default().push(occurrence.symbol);
        }
        let shared: Vec<Vec<SymbolId>> = by_place.into_values().filter(|symbols| symbols.len() > 1).collect();
        loop {
            let before = tied.len();
            for symbols in &shared {
                if symbols.iter().any(|symbol| tied.contains(symbol)) {
                    tied.extend(symbols);
                }
            }
            if tied.len() == before {
                return tied.into_iter().collect();
            }
        }
    }

    /// The innermost process, claim, inline or structure whose text holds a byte.
    pub fn container_at(&self, file: FileId, at: usize) -> Option<SymbolId> {
        let holds = |symbol: &Symbol| {
            let extent = symbol.extent;
            extent.file == file && extent.start as usize <= at && at <= extent.end as usize
        };
        let contains = |kind: SymbolKind| {
            use SymbolKind::{Claim, Formula, Init, Inline, Process, Structure};
            matches!(kind, Process | Init | Claim | Formula | Inline | Structure)
        };
        let all = self.ids().filter(|&id| contains(self.symbol(id).kind) && holds(self.symbol(id)));
        all.min_by_key(|&id| self.symbol(id).extent.end - self.symbol(id).extent.start)
    }

    /// The names declared in a container, or outside of all.
    pub fn members(&self, container: Option<SymbolId>) -> impl Iterator<Item = SymbolId> + '_ {
        self.ids().filter(move |&id| self.symbol(id).container == container)
    }

    /// The symbol of a kind with a name that is declared outside of all processes.
    pub fn named(&self, name: &str, kinds: &[SymbolKind]) -> Option<SymbolId> {
        self.ids().find(|&id| {
            let symbol = self.symbol(id);
            &*symbol.name == name && symbol.container.is_none() && kinds.contains(&symbol.kind)
        })
    }

    /// Adds a symbol, and returns its id.
    pub fn add(&mut self, symbol: Symbol) -> SymbolId {
        self.symbols.push(symbol);
        SymbolId(self.symbols.len() as u32 - 1)
    }
}

impl Symbol {
    /// A name about which nothing more is known.
    pub fn new(name: Arc<str>, definition: Span, kind: SymbolKind) -> Self {
        Self {
            name,
            kind,
            definition,
            extent: definition,
            container: None,
            detail: String::new(),
            structure: None,
            channel: false,
            active: false,
            value: None,
            parameters: Vec::new(),
        }
    }

    /// Whether it is declared in the text at all.
    pub fn is_declared(&self) -> bool {
        self.kind != SymbolKind::Predefined && self.kind != SymbolKind::Init
    }

    /// Whether it can be read or written like a variable.
    pub fn is_variable(&self) -> bool {
        use SymbolKind::{Field, Global, Local, Parameter};
        matches!(self.kind, Field | Global | Local | Parameter)
    }
}
