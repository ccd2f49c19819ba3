//! The shape of a text: what can be folded, and what a selection grows to.

use super::Index;
use super::tokens::PieceKind;
use fabius_base::FileId;
use std::ops::Range;

/// What a stretch that can be folded is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FoldKind {
    Code,
    Comment,
    Directives,
}

/// Stretches of several lines that can be folded, in the order of the text.
pub fn folds(index: &Index, file: FileId, text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let several_lines =
        |range: &Range<usize>| text.get(range.clone()).is_some_and(|text| text.trim_end().contains('\n'));
    let own = index.stretches.iter().filter(|stretch| stretch.file == file && stretch.folds);
    let mut found: Vec<(Range<usize>, FoldKind)> =
        own.map(|s| (s.start as usize..s.end as usize, FoldKind::Code)).collect();
    let mut directives: Option<Range<usize>> = None;
    for piece in index.pieces(file) {
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
pub fn selections(index: &Index, file: FileId, text: &str, at: usize) -> Vec<Range<usize>> {
    let holds = |range: &Range<usize>| range.start <= at && at <= range.end;
    let mut found: Vec<Range<usize>> = index.piece_at(file, at).map(|piece| piece.range.clone()).into_iter().collect();
    let own = index.stretches.iter().filter(|stretch| stretch.file == file);
    found.extend(own.map(|stretch| stretch.start as usize..stretch.end as usize).filter(holds));
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
