//! Macros, from the directives of each file and from the expansions that happened.

use super::named;
use super::tokens::{pieces, pieces_inside};
use crate::ast::Name;
use fabius_base::{ExpansionId, ExpansionKind, FileId, SourceMap, Span};
use fabius_language::{Index, Occurrence, Piece, PieceKind, Role, SymbolId, SymbolKind};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Finds macros and where they are used.
pub(super) fn read(index: &mut Index, map: &SourceMap) {
    let mut macros: HashMap<Arc<str>, SymbolId> = HashMap::new();
    let mut mentions: Vec<(FileId, Range<usize>)> = Vec::new();
    for (id, file) in map.files() {
        let directives: Vec<Range<usize>> =
            index.pieces(id).iter().filter(|p| p.kind == PieceKind::Directive).map(|p| p.range.clone()).collect();
        for range in directives {
            directive(index, &mut macros, &mut mentions, id, &file.text, range);
        }
    }
    for (file, range) in mentions {
        let word = &map.file(file).text[range.clone()];
        if let Some(&symbol) = macros.get(word) {
            index.occurrences.push(occurrence(file, &range, symbol, Role::Read));
        }
    }
    for number in 1..=map.expansion_count() as u32 {
        let Some(expansion) = map.expansion(ExpansionId(number)) else { continue };
        let start = expansion.call.start as usize;
        let range = start..start + expansion.name.len();
        let stands = map.file(expansion.call.file).text.get(range.clone()) == Some(&*expansion.name);
        if let (ExpansionKind::Macro, true, Some(&symbol)) = (expansion.kind, stands, macros.get(&expansion.name)) {
            index.occurrences.push(occurrence(expansion.call.file, &range, symbol, Role::Call));
        }
    }
}

fn occurrence(file: FileId, range: &Range<usize>, symbol: SymbolId, role: Role) -> Occurrence {
    Occurrence { file, start: range.start as u32, end: range.end as u32, symbol, role, within: None }
}

/// Reads one directive.
fn directive(
    index: &mut Index,
    macros: &mut HashMap<Arc<str>, SymbolId>,
    mentions: &mut Vec<(FileId, Range<usize>)>,
    file: FileId,
    text: &str,
    range: Range<usize>,
) {
    let pieces = pieces_inside(text, range.clone());
    let mut words = pieces.iter().filter(|piece| piece.is_code());
    words.next();
    let Some(word) = words.next() else { return };
    match word.text(text) {
        "define" => {
            let Some(name) = words.next().filter(|piece| piece.kind == PieceKind::Word) else { return };
            let extent = Span::new(file, range.start as u32, range.end as u32);
            let id = define(index, macros, file, text, name.range.clone(), extent);
            let own = parameters_of(index, file, text, (id, name.range.end), &pieces);
            let listed: Vec<u32> = own.values().map(|&id| index.symbol(id).definition.start).collect();
            let listed = |piece: &&Piece| listed.contains(&(piece.range.start as u32));
            for piece in words.filter(|piece| piece.kind == PieceKind::Word && !listed(piece)) {
                match own.get(piece.text(text)) {
                    Some(&parameter) => index.occurrences.push(occurrence(file, &piece.range, parameter, Role::Read)),
                    None => mentions.push((file, piece.range.clone())),
                }
            }
        }
        "include" => {
            if let Some(name) = included(text, word.range.end..range.end) {
                let span = Span::new(file, name.start as u32, name.end as u32);
                index.includes.push((span, text[name].to_owned()));
            }
        }
        "ifdef" | "ifndef" | "undef" | "if" | "elif" => {
            mentions
                .extend(words.filter(|piece| piece.kind == PieceKind::Word).map(|piece| (file, piece.range.clone())));
        }
        _ => {}
    }
}

/// The name of the file in what stands behind `#include`, without quotes.
fn included(text: &str, behind: Range<usize>) -> Option<Range<usize>> {
    let rest = text[behind.clone()].trim_start();
    let start = behind.end - rest.len() + 1;
    let close = match rest.chars().next() {
        Some('"') => '"',
        Some('<') => '>',
        _ => return None,
    };
    let length = rest[1..].find(close)?;
    Some(start..start + length)
}

/// The bytes of the names of files that a text includes, also in parts that are left out.
pub(crate) fn includes(text: &str) -> Vec<Range<usize>> {
    let directives = pieces(text).into_iter().filter(|piece| piece.kind == PieceKind::Directive);
    let one = |directive: Piece| {
        let inside = pieces_inside(text, directive.range.clone());
        let mut words = inside.iter().filter(|piece| piece.is_code()).skip(1);
        let word = words.next().filter(|word| word.text(text) == "include")?;
        included(text, word.range.end..directive.range.end)
    };
    directives.filter_map(one).collect()
}

/// A macro is defined; one with the same name that was defined before is the same to an editor.
fn define(
    index: &mut Index,
    macros: &mut HashMap<Arc<str>, SymbolId>,
    file: FileId,
    text: &str,
    name: Range<usize>,
    extent: Span,
) -> SymbolId {
    let word: Arc<str> = text[name.clone()].into();
    let span = Span::new(file, name.start as u32, name.end as u32);
    let id =
        *macros.entry(word.clone()).or_insert_with(|| index.add(named(&Name { text: word, span }, SymbolKind::Macro)));
    index.occurrences.push(occurrence(file, &name, id, Role::Definition));
    let symbol = &mut index.symbols[id.0 as usize];
    if symbol.detail.is_empty() {
        symbol.extent = extent;
        symbol.detail = text[extent.start as usize..extent.end as usize].trim().to_owned();
        symbol.parameters = parameters(&text[name.end..extent.end as usize]);
    }
    id
}

/// The parameters of one definition of a macro, whose name ends at a byte. They mean something in that definition only.
fn parameters_of<'a>(
    index: &mut Index,
    file: FileId,
    text: &'a str,
    (id, end): (SymbolId, usize),
    pieces: &[Piece],
) -> HashMap<&'a str, SymbolId> {
    let mut own = HashMap::new();
    if !text[end..].starts_with('(') {
        return own;
    }
    let list = pieces.iter().filter(|piece| end <= piece.range.start).take_while(|piece| piece.text(text) != ")");
    for piece in list.filter(|piece| piece.kind == PieceKind::Word) {
        let word = piece.text(text);
        let span = Span::new(file, piece.range.start as u32, piece.range.end as u32);
        let mut symbol = named(&Name { text: word.into(), span }, SymbolKind::InlineParameter);
        symbol.container = Some(id);
        symbol.detail = format!("{word} (parameter of macro {})", index.symbol(id).name);
        let parameter = index.add(symbol);
        index.occurrences.push(occurrence(file, &piece.range, parameter, Role::Definition));
        own.insert(word, parameter);
    }
    own
}

/// The parameters of a macro whose name ends right before `rest`.
fn parameters(rest: &str) -> Vec<String> {
    let Some(list) = rest.strip_prefix('(').and_then(|rest| rest.split(')').next()) else { return Vec::new() };
    list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}
