//! The arguments of calls with the names of their parameters, and where declarations end.

use fabius_language::{Argument, Piece, PieceKind, Role, SourceFile, SymbolId, SymbolKind};
use std::ops::Range;

/// The arguments of the processes that are created and the inlines that are called in a file.
pub(crate) fn arguments(file: SourceFile<'_>) -> Vec<Argument> {
    let (index, text) = (file.index, file.text());
    let pieces: Vec<&Piece> = index.pieces(file.id).iter().filter(|piece| piece.is_code()).collect();
    let mut found = Vec::new();
    for occurrence in index.occurrences_in(file.id).iter().filter(|o| matches!(o.role, Role::Run | Role::Call)) {
        let symbol = index.symbol(occurrence.symbol);
        if !matches!(symbol.kind, SymbolKind::Process | SymbolKind::Inline) {
            continue;
        }
        let from = pieces.partition_point(|piece| piece.range.end <= occurrence.end as usize);
        for (range, declaration) in given(&pieces[from..], text).into_iter().zip(&symbol.parameters) {
            let parameter = parameter_name(declaration).to_owned();
            found.push(Argument { range, parameter, declaration: declaration.clone() });
        }
    }
    found
}

/// `x` of `byte x[3]`, and of `x`.
fn parameter_name(declaration: &str) -> &str {
    let name = declaration.split(['[', ' ']).filter(|word| !word.is_empty()).nth(1).unwrap_or(declaration);
    name.split('[').next().unwrap_or(name)
}

/// The arguments of a call whose `(` comes first.
fn given(pieces: &[&Piece], text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut depth = 0_usize;
    let mut fresh = true;
    for piece in pieces {
        match piece.text(text) {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 1 => {
                fresh = true;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            return found;
        }
        if depth == 1 && piece.text(text) == "(" && found.is_empty() && fresh {
            continue;
        }
        match found.last_mut() {
            Some(last) if !fresh => last.end = piece.range.end,
            _ => found.push(piece.range.clone()),
        }
        fresh = false;
    }
    found
}

/// The end of a declarator, up to its `;` or `,`.
pub(crate) fn declaration_end(file: SourceFile<'_>, id: SymbolId) -> usize {
    let (index, text) = (file.index, file.text());
    let mut end = index.symbol(id).definition.end as usize;
    let mut depth = 0_usize;
    let pieces = index.pieces(file.id);
    let from = pieces.partition_point(|piece| piece.range.end <= end);
    for piece in pieces[from..].iter().filter(|piece| piece.is_code() || piece.kind == PieceKind::LineEnd) {
        match piece.text(text) {
            "[" | "{" | "(" => depth += 1,
            "]" | "}" | ")" if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            "=" | "of" => {}
            ";" | "," | ")" | "}" => break,
            _ if piece.kind == PieceKind::LineEnd => break,
            _ => {}
        }
        end = piece.range.end;
    }
    end
}
