//! From a variable to the declaration of its type, and from a channel to those of its messages.

use fabius_base::Span;
use fabius_language::{SourceFile, Stretch, Symbol, SymbolId, SymbolKind};
use std::collections::BTreeSet;

/// Where the types are declared of what a name stands for: `typedef`s, and the declarations of the symbolic constants that an
/// `mtype` takes. Nothing for types that are built in.
pub(crate) fn type_definition(file: SourceFile<'_>, id: SymbolId) -> Vec<Span> {
    types_of(file.index.symbol(id)).iter().flat_map(|ty| declarations(file, ty)).collect()
}

/// The types of a variable, of the messages of a channel, or of a constant, as they are written.
fn types_of(symbol: &Symbol) -> Vec<String> {
    match symbol.kind {
        SymbolKind::Structure => vec![symbol.name.to_string()],
        SymbolKind::ConstantSet => vec![format!("mtype:{}", symbol.name)],
        SymbolKind::Constant => symbol.parameters.iter().map(|set| format!("mtype{set}")).collect(),
        _ if symbol.channel => symbol.parameters.clone(),
        _ if !symbol.is_variable() => Vec::new(),
        _ => {
            let words = symbol.detail.split_whitespace();
            let ty = words.into_iter().find(|word| !["hidden", "show", "local"].contains(word));
            ty.map(str::to_owned).into_iter().collect()
        }
    }
}

/// The declarations of a type: one of a `typedef`; of an `mtype`, the first constant of each declaration of it.
fn declarations(file: SourceFile<'_>, ty: &str) -> Vec<Span> {
    let index = file.index;
    let Some(set) = ty.strip_prefix("mtype").filter(|set| set.is_empty() || set.starts_with(':')) else {
        let structure = index.named(ty, &[SymbolKind::Structure]).map(|id| index.symbol(id));
        return structure.filter(|symbol| symbol.is_declared()).map(|symbol| symbol.definition).into_iter().collect();
    };
    let constants = index.ids().map(|id| index.symbol(id)).filter(|symbol| {
        symbol.kind == SymbolKind::Constant && symbol.parameters.first().is_some_and(|own| own == set)
    });
    let mut declared = BTreeSet::new();
    let first_of_each = constants.filter(|symbol| {
        let span = symbol.definition;
        let holds = |s: &&Stretch| s.file == span.file && s.start <= span.start && span.end <= s.end;
        let innermost = index.stretches.iter().filter(holds).min_by_key(|s| s.end - s.start);
        innermost.is_none_or(|stretch| declared.insert((stretch.file, stretch.start)))
    });
    first_of_each.map(|symbol| symbol.definition).collect()
}
