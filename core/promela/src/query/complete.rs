//! What may be written at a place.

use super::keywords::{KEYWORD_HELP, SNIPPETS};
use super::tokens::{Piece, PieceKind, pieces_inside};
use super::{Index, SymbolId, SymbolKind};
use fabius_base::FileId;
use std::collections::HashSet;
use std::ops::Range;

/// What a proposal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProposalKind {
    /// A name.
    Name(SymbolId),
    /// A keyword.
    Keyword,
    /// A piece of text with places to fill in.
    Snippet,
    /// A directive of the preprocessor.
    Directive,
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
}

/// Proposals for a place, and the bytes of the word that they replace.
pub fn complete(index: &Index, file: FileId, text: &str, at: usize) -> (Range<usize>, Vec<Proposal>) {
    let pieces = index.pieces(file);
    let here = pieces.iter().find(|piece| piece.range.start < at && at <= piece.range.end);
    if here.is_some_and(|piece| matches!(piece.kind, PieceKind::Comment | PieceKind::Text)) {
        return (at..at, Vec::new());
    }
    let word = here.filter(|piece| piece.kind == PieceKind::Word);
    let replaced = word.map_or(at..at, |piece| piece.range.clone());
    if let Some(directive) = here.filter(|piece| piece.kind == PieceKind::Directive) {
        return in_directive(index, file, text, directive, at);
    }
    let code: Vec<&Piece> =
        pieces.iter().filter(|piece| piece.is_code() && piece.range.end <= replaced.start).collect();
    let found = proposals(index, file, &code, text, index.container_at(file, at));
    (replaced, found)
}

/// What may follow some code, in a process or inline.
fn proposals(index: &Index, file: FileId, code: &[&Piece], text: &str, container: Option<SymbolId>) -> Vec<Proposal> {
    match code.last().map_or("", |piece| piece.text(text)) {
        "goto" => goals(index, container),
        "@" => {
            let process = process_before(index, code, text);
            names(index, index.members(process), |kind| kind == SymbolKind::Label)
        }
        "." => fields(index, file, code, text),
        "run" => names(index, index.members(None), |kind| kind == SymbolKind::Process),
        _ => anything(index, container),
    }
}

fn names(index: &Index, ids: impl Iterator<Item = SymbolId>, wanted: impl Fn(SymbolKind) -> bool) -> Vec<Proposal> {
    let mut seen = HashSet::new();
    let ids = ids.filter(|id| wanted(index.symbol(*id).kind) && seen.insert(index.symbol(*id).name.clone()));
    let proposal = |id: SymbolId| {
        let symbol = index.symbol(id);
        let text = match symbol.kind {
            SymbolKind::Process | SymbolKind::Inline if !symbol.parameters.is_empty() => format!("{}($1)", symbol.name),
            SymbolKind::Process | SymbolKind::Inline => format!("{}()", symbol.name),
            _ => symbol.name.to_string(),
        };
        Proposal { label: symbol.name.to_string(), kind: ProposalKind::Name(id), detail: symbol.detail.clone(), text }
    };
    ids.map(proposal).collect()
}

/// The labels to which a `goto` may lead: those of the process, from an inline those of any.
fn goals(index: &Index, container: Option<SymbolId>) -> Vec<Proposal> {
    let is_inline = container.is_some_and(|id| index.symbol(id).kind == SymbolKind::Inline);
    let labels = |kind| kind == SymbolKind::Label;
    if is_inline { names(index, index.ids(), labels) } else { names(index, index.members(container), labels) }
}

/// Names that can be seen at a place, keywords and snippets.
fn anything(index: &Index, container: Option<SymbolId>) -> Vec<Proposal> {
    let visible = |kind: SymbolKind| !matches!(kind, SymbolKind::Label | SymbolKind::Init | SymbolKind::Claim);
    let own = container.into_iter().flat_map(|container| index.members(Some(container)));
    let mut found = names(index, own.chain(index.members(None)), visible);
    found.extend(SNIPPETS.iter().map(|(label, detail, text)| Proposal {
        label: (*label).to_owned(),
        kind: ProposalKind::Snippet,
        detail: (*detail).to_owned(),
        text: (*text).to_owned(),
    }));
    let known: HashSet<String> = found.iter().map(|proposal| proposal.label.clone()).collect();
    let keywords = KEYWORD_HELP.iter().filter(|(word, ..)| !known.contains(*word));
    found.extend(keywords.map(|(word, code, _)| Proposal {
        label: (*word).to_owned(),
        kind: ProposalKind::Keyword,
        detail: (*code).to_owned(),
        text: (*word).to_owned(),
    }));
    found
}

/// The process whose name stands before `@`, with which some code ends: `P@`, or `P[1]@`.
pub(super) fn process_before(index: &Index, code: &[&Piece], text: &str) -> Option<SymbolId> {
    let mut depth = 0_usize;
    for piece in code.iter().rev().skip(1) {
        match piece.text(text) {
            "]" => depth += 1,
            "[" if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            name => return index.named(name, &[SymbolKind::Process]),
        }
    }
    None
}

/// The fields of the variable that stands before `.`.
fn fields(index: &Index, file: FileId, code: &[&Piece], text: &str) -> Vec<Proposal> {
    let mut depth = 0_usize;
    for piece in code.iter().rev().skip(1) {
        match piece.text(text) {
            "]" => depth += 1,
            "[" if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            name => {
                let meant = index.meanings(file, piece.range.start).into_iter().next();
                let named =
                    || index.ids().find(|&id| &*index.symbol(id).name == name && index.symbol(id).structure.is_some());
                let Some(id) = meant.filter(|&id| index.symbol(id).structure.is_some()).or_else(named) else { break };
                let structure = index.symbol(id).structure.as_deref().unwrap_or("");
                let Some(structure) = index.named(structure, &[SymbolKind::Structure]) else { break };
                return names(index, index.members(Some(structure)), |kind| kind == SymbolKind::Field);
            }
        }
    }
    Vec::new()
}

/// Proposals inside of a directive: its first word, the names of macros where it asks for them, and whatever a macro may
/// stand for.
fn in_directive(
    index: &Index,
    file: FileId,
    text: &str,
    directive: &Piece,
    at: usize,
) -> (Range<usize>, Vec<Proposal>) {
    let pieces = pieces_inside(text, directive.range.clone());
    if pieces.iter().any(|piece| {
        matches!(piece.kind, PieceKind::Comment | PieceKind::Text) && piece.range.start < at && at <= piece.range.end
    }) {
        return (at..at, Vec::new());
    }
    let code: Vec<&Piece> = pieces.iter().filter(|piece| piece.is_code()).collect();
    let here =
        code.iter().find(|piece| piece.kind == PieceKind::Word && piece.range.start < at && at <= piece.range.end);
    let replaced = here.map_or(at..at, |piece| piece.range.clone());
    let before: Vec<&Piece> = code.iter().copied().filter(|piece| piece.range.end <= replaced.start).collect();
    let found = match *before.iter().map(|piece| piece.text(text)).collect::<Vec<_>>() {
        [] | ["#"] => directive_words(),
        ["#", "define"] | ["#", "include" | "error", ..] => Vec::new(),
        ["#", "define", name, ..] => {
            let own = index.named(name, &[SymbolKind::Macro]);
            let is_free =
                text[before[2].range.end..].starts_with('(') && before.iter().all(|piece| piece.text(text) != ")");
            if is_free { Vec::new() } else { proposals(index, file, &before, text, own) }
        }
        _ => names(index, index.members(None), |kind| kind == SymbolKind::Macro),
    };
    (replaced, found)
}

/// The words that may stand behind `#`.
fn directive_words() -> Vec<Proposal> {
    let words = ["define", "include", "ifdef", "ifndef", "if", "elif", "else", "endif", "undef", "error"];
    let proposal = |word: &&str| Proposal {
        label: (*word).to_owned(),
        kind: ProposalKind::Directive,
        detail: format!("#{word}"),
        text: (*word).to_owned(),
    };
    words.iter().map(proposal).collect()
}
