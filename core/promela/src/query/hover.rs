//! What there is to say about a name or a keyword.

use super::keywords::keyword_help;
use fabius_language::{Description, Hover, PieceKind, SourceFile, SymbolId, SymbolKind, kind_words};

/// What there is to say about the word at a byte of a file.
pub(crate) fn hover(file: SourceFile<'_>, at: usize) -> Option<Hover> {
    let (index, text) = (file.index, file.text());
    let occurrences = index.at(file.id, at);
    let Some(first) = occurrences.first() else {
        let piece = index.piece_at(file.id, at).filter(|piece| piece.kind == PieceKind::Word)?;
        let help = keyword_help(piece.text(text))?;
        let range = piece.range.clone();
        return Some(Hover {
            range,
            meanings: Vec::new(),
            code: vec![help.0.to_owned()],
            prose: vec![help.1.to_owned()],
        });
    };
    let range = first.start as usize..first.end as usize;
    let meanings: Vec<SymbolId> = occurrences.iter().map(|occurrence| occurrence.symbol).collect();
    let mut hover = Hover { range, meanings, code: Vec::new(), prose: Vec::new() };
    for &id in &hover.meanings {
        let (code, prose) = declared(file, id);
        hover.code.extend(code);
        hover.prose.extend(prose);
    }
    hover.code.dedup();
    hover.prose.dedup();
    Some(hover)
}

/// The declaration of a name, as code, and sentences about it.
fn declared(file: SourceFile<'_>, id: SymbolId) -> (Option<String>, Vec<String>) {
    let symbol = file.index.symbol(id);
    if symbol.kind == SymbolKind::Predefined {
        let help = keyword_help(&symbol.name);
        return (help.map(|(code, _)| code.to_owned()), help.map(|(_, prose)| prose.to_owned()).into_iter().collect());
    }
    let owner = symbol.container.map(|owner| file.index.symbol(owner));
    let whose = owner.map(|owner| format!(" of `{}`", owner.name)).unwrap_or_default();
    let mut prose = vec![format!("{}{whose}", kind_words(symbol.kind))];
    prose.extend(comment_at(file, id));
    (Some(symbol.detail.clone()), prose)
}

/// What there is to say about a name, or about a keyword.
pub(crate) fn describe(file: SourceFile<'_>, word: &str, name: Option<SymbolId>) -> Option<Description> {
    let (code, prose) = match name {
        Some(id) => declared(file, id),
        None => keyword_help(word).map(|(code, prose)| (Some(code.to_owned()), vec![prose.to_owned()]))?,
    };
    Some(Description { code: code.into_iter().collect(), prose })
}

/// The comment that belongs to a declaration: on its line behind it, or on the lines right before it.
fn comment_at(file: SourceFile<'_>, id: SymbolId) -> Option<String> {
    let symbol = file.index.symbol(id);
    let text = &file.map.file(symbol.definition.file).text;
    let pieces = file.index.pieces(symbol.definition.file);
    let at = pieces.partition_point(|piece| piece.range.end <= symbol.definition.start as usize);
    let line = pieces[at..].iter().take_while(|piece| piece.kind != PieceKind::LineEnd);
    let behind = line.filter(|piece| piece.kind == PieceKind::Comment).last();
    if let Some(comment) = behind {
        return plain(comment.text(text));
    }
    let begin = pieces[..at].iter().rposition(|piece| piece.kind == PieceKind::LineEnd)?;
    let mut before = pieces[..begin].iter().rev().filter(|piece| piece.kind != PieceKind::Blank);
    let comment = before.next().filter(|piece| piece.kind == PieceKind::Comment)?;
    // A comment that stands behind code on its own line belongs to that code.
    let own_line = before.next().is_none_or(|piece| piece.kind == PieceKind::LineEnd);
    own_line.then(|| plain(comment.text(text))).flatten()
}

/// The words of a comment.
fn plain(comment: &str) -> Option<String> {
    let inner = comment.trim_start_matches("//").trim_start_matches("/*").trim_end_matches("*/");
    let lines = inner.lines().map(|line| line.trim().trim_start_matches('*').trim());
    let words = lines.collect::<Vec<_>>().join("\n");
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}
