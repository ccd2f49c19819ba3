//! What every word of a file is, for colouring.

use super::tokens::pieces_inside;
use crate::token::{KEYWORDS, Tok};
use fabius_language::{Color, Colored, Index, Occurrence, Piece, PieceKind, Role, SourceFile, SymbolKind};
use std::ops::Range;

/// The words of a file, in the order of the text.
pub(crate) fn colors(file: SourceFile<'_>) -> Vec<Colored> {
    let (index, text) = (file.index, file.text());
    let occurrences = index.occurrences_in(file.id);
    let mut found = Vec::new();
    for piece in index.pieces(file.id) {
        if piece.kind == PieceKind::Directive {
            directive(index, occurrences, text, piece, &mut found);
        } else if let Some(colored) = color(index, occurrences, text, piece) {
            found.push(colored);
        }
    }
    found
}

fn directive(index: &Index, occurrences: &[Occurrence], text: &str, whole: &Piece, found: &mut Vec<Colored>) {
    let mut words = 0;
    for piece in pieces_inside(text, whole.range.clone()) {
        if piece.is_code() {
            words += 1;
        }
        let colored = match (words, piece.kind) {
            (1 | 2, _) if piece.is_code() => Some(plain(piece.range.clone(), Color::Keyword)),
            _ => color(index, occurrences, text, &piece),
        };
        found.extend(colored);
    }
}

fn plain(range: Range<usize>, color: Color) -> Colored {
    Colored { range, color, declaration: false, write: false, global: false, constant: false }
}

fn color(index: &Index, occurrences: &[Occurrence], text: &str, piece: &Piece) -> Option<Colored> {
    let fixed = match piece.kind {
        PieceKind::Word => return word(index, occurrences, text, piece),
        PieceKind::Number => Color::Number,
        PieceKind::Text | PieceKind::Character => Color::String,
        PieceKind::Comment => Color::Comment,
        PieceKind::Mark if !matches!(piece.text(text), "{" | "}" | "(" | ")" | "[" | "]" | "," | ";" | ".") => {
            Color::Operator
        }
        _ => return None,
    };
    Some(plain(piece.range.clone(), fixed))
}

fn word(index: &Index, occurrences: &[Occurrence], text: &str, piece: &Piece) -> Option<Colored> {
    let at = occurrences.partition_point(|occurrence| (occurrence.start as usize) < piece.range.start);
    if let Some(occurrence) = occurrences.get(at).filter(|occurrence| occurrence.start as usize == piece.range.start) {
        let symbol = index.symbol(occurrence.symbol);
        let color = match symbol.kind {
            SymbolKind::Process | SymbolKind::Init => Color::Process,
            SymbolKind::Claim | SymbolKind::Formula => Color::Property,
            SymbolKind::Inline => Color::Inline,
            SymbolKind::Macro => Color::Macro,
            SymbolKind::Structure | SymbolKind::ConstantSet => Color::Structure,
            SymbolKind::Field => Color::Field,
            SymbolKind::Global | SymbolKind::Local | SymbolKind::Predefined => Color::Variable,
            SymbolKind::Parameter | SymbolKind::InlineParameter => Color::Parameter,
            SymbolKind::Constant => Color::Constant,
            SymbolKind::Label => Color::Label,
        };
        return Some(Colored {
            range: piece.range.clone(),
            color,
            declaration: occurrence.role == Role::Definition,
            write: occurrence.role == Role::Write,
            global: symbol.kind == SymbolKind::Global,
            constant: symbol.kind == SymbolKind::Constant || symbol.kind == SymbolKind::Predefined,
        });
    }
    let spelled = piece.text(text);
    let (_, token) = KEYWORDS.iter().find(|(word, _)| *word == spelled)?;
    let color = match token {
        token if token.is_type() => Color::Type,
        Tok::True | Tok::False | Tok::Skip => Color::Constant,
        _ => Color::Keyword,
    };
    Some(plain(piece.range.clone(), color))
}
