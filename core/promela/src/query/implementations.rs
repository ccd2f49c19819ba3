//! From a message, a channel or a process type to what handles, empties or creates it.

use super::tokens::pieces_inside;
use fabius_base::Span;
use fabius_language::{Occurrence, Piece, PieceKind, Role, SourceFile, Symbol, SymbolId, SymbolKind};

/// Where what a name stands for is put to work: a symbolic constant, where a message with it is received; a channel, where it
/// is received from; a process type, where its processes are created.
pub(crate) fn implementations(file: SourceFile<'_>, id: SymbolId) -> Vec<Span> {
    let symbol = file.index.symbol(id);
    let works = |occurrence: &&Occurrence| match symbol.kind {
        SymbolKind::Constant => is_received(file, occurrence),
        SymbolKind::Process => {
            occurrence.role == Role::Run || occurrence.role == Role::Definition && is_active(file, symbol)
        }
        _ => symbol.channel && occurrence.role == Role::Receive,
    };
    let found = file.index.references(&[id]);
    found.iter().filter(works).map(|place| Span::new(place.file, place.start, place.end)).collect()
}

/// Whether processes of a type are there from the start.
fn is_active(file: SourceFile<'_>, process: &Symbol) -> bool {
    let (extent, name) = (process.extent, process.definition);
    let text = file.map.file(extent.file).text.get(extent.start as usize..name.start as usize);
    text.is_some_and(|text| text.trim_start().starts_with("active"))
}

/// Whether a word stands among what a statement receives: `?` comes before it, and nothing that ends a statement in between. A
/// poll, `q?[m]`, receives nothing.
fn is_received(file: SourceFile<'_>, word: &Occurrence) -> bool {
    let text = &*file.map.file(word.file).text;
    let pieces = file.index.pieces(word.file);
    let at = word.start as usize;
    let around = pieces.iter().find(|piece| piece.range.contains(&at));
    let inside = around.filter(|piece| piece.kind == PieceKind::Directive);
    let inside = inside.map(|directive| pieces_inside(text, directive.range.clone()));
    let pieces: &[Piece] = inside.as_deref().unwrap_or(pieces);
    let end = pieces.partition_point(|piece| piece.range.end <= at);
    let mut brackets = 0_i32;
    for piece in pieces[..end].iter().rev().filter(|piece| piece.is_code()) {
        match piece.text(text) {
            "]" => brackets += 1,
            "[" => brackets -= 1,
            "?" | "??" => return brackets == 0,
            ";" | "->" | "::" | "{" | "}" | "!" | "!!" | "=" => return false,
            _ => {}
        }
    }
    false
}
