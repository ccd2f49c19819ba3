//! Who creates whom, and who calls which inline.

use super::{Index, Occurrence, Role, SymbolId, SymbolKind};
use std::collections::BTreeMap;

/// A process, claim or inline, and where it calls or is called.
pub type Calls = Vec<(SymbolId, Vec<Occurrence>)>;

/// Whether it can call or be called.
pub fn is_callable(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Process | SymbolKind::Init | SymbolKind::Claim | SymbolKind::Inline)
}

/// Who creates or calls something, and where.
pub fn incoming(index: &Index, callee: SymbolId) -> Calls {
    gathered(index.occurrences.iter().filter(|o| is_call(o) && o.symbol == callee), |o| o.within)
}

/// What something creates or calls, and where.
pub fn outgoing(index: &Index, caller: SymbolId) -> Calls {
    let calls = index.occurrences.iter().filter(|o| is_call(o) && o.within == Some(caller));
    gathered(calls.filter(|o| is_callable(index.symbol(o.symbol).kind)), |o| Some(o.symbol))
}

fn is_call(occurrence: &Occurrence) -> bool {
    matches!(occurrence.role, Role::Run | Role::Call)
}

fn gathered<'a>(calls: impl Iterator<Item = &'a Occurrence>, key: impl Fn(&Occurrence) -> Option<SymbolId>) -> Calls {
    let mut found: BTreeMap<SymbolId, Vec<Occurrence>> = BTreeMap::new();
    for call in calls {
        if let Some(key) = key(call) {
            found.entry(key).or_default().push(*call);
        }
    }
    found.into_iter().collect()
}
