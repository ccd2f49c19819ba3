//! The arguments of what is being called at a place, while they are written.

use fabius_language::{Piece, PieceKind, Role, Signature, SourceFile, SymbolId, SymbolKind};
use std::collections::BTreeSet;

/// The innermost call around a place.
pub(crate) fn signature(file: SourceFile<'_>, at: usize) -> Option<Signature> {
    let (index, text) = (file.index, file.text());
    let code: Vec<&Piece> =
        index.pieces(file.id).iter().filter(|piece| piece.is_code() && piece.range.end <= at).collect();
    let mut depth = 0_usize;
    let mut commas = 0;
    for (position, piece) in code.iter().enumerate().rev() {
        match piece.text(text) {
            ")" | "]" => depth += 1,
            "[" | "(" if depth > 0 => depth -= 1,
            "(" => {
                let before = position.checked_sub(1).map(|before| code[before])?;
                if let Some(found) = called(file, before, commas) {
                    return Some(found);
                }
                // `q!(a, b` and a parenthesis that groups are part of what is around them.
                commas = 0;
            }
            "," if depth == 0 => commas += 1,
            "!" | "!!" | "?" | "??" if depth == 0 => {
                let channel = channel_before(&code[..position], text)?;
                return message(file, channel, piece.text(text), commas);
            }
            ";" | "{" | "}" | "::" | "->" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// A process, inline or macro whose name stands before `(`.
fn called(file: SourceFile<'_>, name: &Piece, active: usize) -> Option<Signature> {
    let (index, text) = (file.index, file.text());
    if name.kind != PieceKind::Word {
        return None;
    }
    let meaning = index.meanings(file.id, name.range.start).first().copied();
    let kinds = [SymbolKind::Process, SymbolKind::Inline, SymbolKind::Macro];
    let fits = |id: &SymbolId| kinds.contains(&index.symbol(*id).kind);
    let symbol = meaning.filter(fits).or_else(|| index.named(name.text(text), &kinds))?;
    let parameters = index.symbol(symbol).parameters.clone();
    let label = format!("{}({})", index.symbol(symbol).name, parameters.join(", "));
    Some(Signature { symbol, label, parameters, active })
}

/// The name of the channel that ends a piece of code: `q`, or `q[i]`.
fn channel_before<'a>(code: &[&'a Piece], text: &str) -> Option<&'a Piece> {
    let mut depth = 0_usize;
    for piece in code.iter().rev() {
        match piece.text(text) {
            "]" => depth += 1,
            "[" if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            _ => return (piece.kind == PieceKind::Word).then_some(*piece),
        }
    }
    None
}

/// A message whose channel has this name, and is followed by this mark.
fn message(file: SourceFile<'_>, name: &Piece, mark: &str, active: usize) -> Option<Signature> {
    let (index, text) = (file.index, file.text());
    let word = name.text(text);
    let meaning = index.meanings(file.id, name.range.start).first().copied();
    let may_be_one = |id: &SymbolId| index.symbol(*id).channel || index.symbol(*id).kind == SymbolKind::InlineParameter;
    let symbol = meaning.filter(may_be_one).or_else(|| {
        let container = index.container_at(file.id, name.range.start);
        let channel = |id: &SymbolId| index.symbol(*id).channel && &*index.symbol(*id).name == word;
        index.members(container).find(channel).or_else(|| index.members(None).find(channel))
    })?;
    let known = |id: &SymbolId| !index.symbol(*id).parameters.is_empty();
    let channel = Some(symbol).filter(known).or_else(|| passed(file, symbol).into_iter().find(known))?;
    let parameters = index.symbol(channel).parameters.clone();
    let label = format!("{word} {mark} {}", parameters.join(", "));
    Some(Signature { symbol, label, parameters, active })
}

/// What calls in this file give to a parameter, also through parameters of others.
fn passed(file: SourceFile<'_>, parameter: SymbolId) -> Vec<SymbolId> {
    let index = file.index;
    let (mut found, mut seen, mut waiting) = (Vec::new(), BTreeSet::new(), vec![parameter]);
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let symbol = index.symbol(id);
        let is_parameter = matches!(symbol.kind, SymbolKind::Parameter | SymbolKind::InlineParameter);
        let Some(owner) = symbol.container.filter(|_| is_parameter) else {
            found.push(id);
            continue;
        };
        let mut alike = index.members(Some(owner)).filter(|other| index.symbol(*other).kind == symbol.kind);
        let Some(position) = alike.position(|other| other == id) else { continue };
        let calls = index
            .occurrences_in(file.id)
            .iter()
            .filter(|occurrence| occurrence.symbol == owner && matches!(occurrence.role, Role::Run | Role::Call));
        let arguments = calls.filter_map(|call| argument(file, call.end as usize, position));
        waiting.extend(arguments.flat_map(|argument| index.meanings(file.id, argument.range.start)));
    }
    found
}

/// The first word of an argument of a call, by its number; the name of what is called ends at a byte.
fn argument<'a>(file: SourceFile<'a>, end: usize, position: usize) -> Option<&'a Piece> {
    let (pieces, text) = (file.index.pieces(file.id), file.text());
    let from = pieces.partition_point(|piece| piece.range.end <= end);
    let (mut depth, mut number) = (0_usize, 0);
    for piece in pieces[from..].iter().filter(|piece| piece.is_code()) {
        match piece.text(text) {
            "(" | "[" => depth += 1,
            ")" | "]" if depth <= 1 => return None,
            ")" | "]" => depth -= 1,
            "," if depth == 1 => number += 1,
            _ if depth == 1 && number == position => return (piece.kind == PieceKind::Word).then_some(piece),
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
