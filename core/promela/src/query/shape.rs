//! The shape of a text: what can be folded, and what a selection grows to.

use super::tokens::pieces_inside;
use fabius_language::{FoldKind, Piece, PieceKind, SourceFile};
use std::ops::Range;

/// Stretches of several lines that can be folded, in the order of the text.
pub(crate) fn folds(file: SourceFile<'_>) -> Vec<(Range<usize>, FoldKind)> {
    let (index, text) = (file.index, file.text());
    let several_lines =
        |range: &Range<usize>| text.get(range.clone()).is_some_and(|text| text.trim_end().contains('\n'));
    let own = index.stretches.iter().filter(|stretch| stretch.file == file.id && stretch.folds);
    let mut found: Vec<(Range<usize>, FoldKind)> =
        own.map(|s| (s.start as usize..s.end as usize, FoldKind::Code)).collect();
    let mut directives: Option<Range<usize>> = None;
    for piece in index.pieces(file.id) {
        match piece.kind {
            PieceKind::Comment => found.push((piece.range.clone(), FoldKind::Comment)),
            PieceKind::Directive => {
                let start = directives.map_or(piece.range.start, |before| before.start);
                directives = Some(start..piece.range.end);
                continue;
            }
            PieceKind::Blank | PieceKind::LineEnd => continue,
            _ => {}
        }
        found.extend(directives.take().map(|range| (range, FoldKind::Directives)));
    }
    found.extend(directives.map(|range| (range, FoldKind::Directives)));
    found.retain(|(range, _)| several_lines(range));
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    // One fold per line is enough.
    let line = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    found.dedup_by_key(|(range, _)| line(range.start));
    found
}

/// What a selection at a byte grows to: the piece, the expression, the step, the block, the unit, the text.
pub(crate) fn selections(file: SourceFile<'_>, at: usize) -> Vec<Range<usize>> {
    let (index, text) = (file.index, file.text());
    let holds = |range: &Range<usize>| range.start <= at && at <= range.end;
    let mut found: Vec<Range<usize>> =
        index.piece_at(file.id, at).map(|piece| piece.range.clone()).into_iter().collect();
    let own = index.stretches.iter().filter(|stretch| stretch.file == file.id);
    found.extend(own.map(|stretch| stretch.start as usize..stretch.end as usize).filter(holds));
    found.extend(in_directive(file, at));
    found.push(0..text.len());
    found.sort_by_key(|range| (range.len(), range.start));
    found.dedup();
    // Each must hold the one before.
    let mut nested: Vec<Range<usize>> = Vec::new();
    for range in found {
        if nested.last().is_none_or(|inner| range.start <= inner.start && inner.end <= range.end) {
            nested.push(range);
        }
    }
    nested
}

/// What a selection in a directive grows to: the piece, what stands in parentheses around it, with them and without, and
/// what a macro stands for.
fn in_directive(file: SourceFile<'_>, at: usize) -> Vec<Range<usize>> {
    let (index, text) = (file.index, file.text());
    let is_around =
        |piece: &&Piece| piece.kind == PieceKind::Directive && piece.range.start <= at && at <= piece.range.end;
    let Some(directive) = index.pieces(file.id).iter().find(is_around) else { return Vec::new() };
    let pieces = pieces_inside(text, directive.range.clone());
    let code: Vec<&Piece> = pieces.iter().filter(|piece| piece.is_code()).collect();
    let touches = |piece: &&&Piece| piece.range.start <= at && at <= piece.range.end;
    let is_word = |piece: &&&Piece| piece.kind == PieceKind::Word;
    let here = code.iter().filter(touches).find(is_word).or_else(|| code.iter().find(touches));
    let mut found: Vec<Range<usize>> = here.map(|piece| piece.range.clone()).into_iter().collect();
    let mut open: Vec<&Piece> = Vec::new();
    for piece in &code {
        match piece.text(text) {
            "(" | "{" | "[" => open.push(piece),
            ")" | "}" | "]" => {
                let around = open
                    .pop()
                    .map(|first| first.range.clone())
                    .filter(|first| first.start <= at && at <= piece.range.end);
                if let Some(first) = around {
                    found.push(first.start..piece.range.end);
                    if first.end <= at && at <= piece.range.start {
                        found.push(first.end..piece.range.start);
                    }
                }
            }
            _ => {}
        }
    }
    let spelled = |at: usize| code.get(at).map(|piece| piece.text(text));
    if spelled(1) == Some("define") {
        let has_list = code.get(2).is_some_and(|name| text[name.range.end..].starts_with('('));
        let list_end = has_list.then(|| code.iter().position(|piece| piece.text(text) == ")")).flatten();
        let body = code.get(list_end.unwrap_or(2) + 1).zip(code.last());
        found.extend(
            body.map(|(first, last)| first.range.start..last.range.end)
                .filter(|body| body.contains(&at) || body.end == at),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Model;
    use fabius_base::SourceMap;

    #[test]
    fn a_selection_grows_in_a_macro() {
        let text = "#define SUM(a, b) ((a + b) % 3)\n";
        let mut map = SourceMap::new();
        let id = map.add_file("m.pml", text.to_owned());
        let index = crate::query::index(&map, &Model::default());
        let file = SourceFile { map: &map, index: &index, id };
        let at = text.find("b)").unwrap_or(0);
        let at = text[at + 1..].find("b)").map_or(0, |next| at + 1 + next);
        let grown: Vec<&str> = selections(file, at).into_iter().map(|range| &text[range]).collect();
        assert_eq!(grown, ["b", "a + b", "(a + b)", "(a + b) % 3", "((a + b) % 3)", text.trim_end(), text]);
    }
}
