//! The arguments of what is being called at a place, while they are written.

use super::tokens::{Piece, PieceKind};
use super::{Index, SymbolId, SymbolKind};
use fabius_base::FileId;

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

/// The innermost call around a place.
pub fn signature(index: &Index, file: FileId, text: &str, at: usize) -> Option<Signature> {
    let code: Vec<&Piece> =
        index.pieces(file).iter().filter(|piece| piece.is_code() && piece.range.end <= at).collect();
    let mut depth = 0_usize;
    let mut commas = 0;
    for (position, piece) in code.iter().enumerate().rev() {
        match piece.text(text) {
            ")" | "]" => depth += 1,
            "[" | "(" if depth > 0 => depth -= 1,
            "(" => {
                let before = position.checked_sub(1).map(|before| code[before])?;
                if let Some(found) = called(index, file, text, before, commas) {
                    return Some(found);
                }
                // `q!(a, b` and a parenthesis that groups are part of what is around them.
                commas = 0;
            }
            "," if depth == 0 => commas += 1,
            "!" | "!!" | "?" | "??" if depth == 0 => {
                let channel = channel_before(&code[..position], text)?;
                return message(index, file, channel, text, piece.text(text), commas);
            }
            ";" | "{" | "}" | "::" | "->" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// A process, inline or macro whose name stands before `(`.
fn called(index: &Index, file: FileId, text: &str, name: &Piece, active: usize) -> Option<Signature> {
    if name.kind != PieceKind::Word {
        return None;
    }
    let meaning = index.meanings(file, name.range.start).first().copied();
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

fn message(index: &Index, file: FileId, name: &Piece, text: &str, mark: &str, active: usize) -> Option<Signature> {
    let word = name.text(text);
    let meaning = index.meanings(file, name.range.start).first().copied();
    let symbol = meaning.filter(|&id| index.symbol(id).channel).or_else(|| {
        let container = index.container_at(file, name.range.start);
        let channel = |id: &SymbolId| index.symbol(*id).channel && &*index.symbol(*id).name == word;
        index.members(container).find(channel).or_else(|| index.members(None).find(channel))
    })?;
    let parameters = index.symbol(symbol).parameters.clone();
    if parameters.is_empty() {
        return None;
    }
    let label = format!("{word} {mark} {}", parameters.join(", "));
    Some(Signature { symbol, label, parameters, active })
}
