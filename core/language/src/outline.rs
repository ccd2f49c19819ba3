//! What a file declares, as a tree.

use crate::{Index, SymbolId, SymbolKind};
use fabius_base::FileId;

/// A declaration and what it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What is declared.
    pub symbol: SymbolId,
    /// What is declared inside, in the order of the text.
    pub inside: Vec<Entry>,
}

/// The declarations of a file, in the order of the text.
pub fn outline(index: &Index, file: FileId) -> Vec<Entry> {
    let wanted = |id: &SymbolId| {
        let symbol = index.symbol(*id);
        let shown = !matches!(symbol.kind, SymbolKind::Predefined | SymbolKind::InlineParameter);
        shown && symbol.definition.file == file && symbol.definition.start < symbol.definition.end
    };
    let ordered = |mut ids: Vec<SymbolId>| {
        ids.sort_by_key(|id| index.symbol(*id).definition.start);
        ids.dedup_by_key(|id| (index.symbol(*id).definition.start, index.symbol(*id).name.clone()));
        ids
    };
    let outside = ordered(index.members(None).filter(wanted).collect());
    let entry = |symbol: SymbolId| {
        let holds = |id: &SymbolId| {
            let (inner, outer) = (index.symbol(*id).definition, index.symbol(symbol).extent);
            outer.start <= inner.start && inner.end <= outer.end
        };
        let inside = ordered(index.members(Some(symbol)).filter(wanted).filter(holds).collect());
        Entry { symbol, inside: inside.into_iter().map(|symbol| Entry { symbol, inside: Vec::new() }).collect() }
    };
    outside.into_iter().map(entry).collect()
}
