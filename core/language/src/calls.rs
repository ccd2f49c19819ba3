//! Who creates whom, who calls which inline, and who sends to and receives from which channel.
//!
//! A send is an edge from its process to the channel, a receive one from the channel to its process.

use crate::{Index, Occurrence, Role, Symbol, SymbolId, SymbolKind};
use std::collections::BTreeMap;

/// A process, claim, inline or channel, and where it calls or is called.
pub type Calls = Vec<(SymbolId, Vec<Occurrence>)>;

/// Whether it can call or be called.
pub fn is_callable(symbol: &Symbol) -> bool {
    has_steps(symbol.kind) || symbol.channel
}

fn has_steps(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Process | SymbolKind::Init | SymbolKind::Claim | SymbolKind::Inline)
}

/// Who creates, calls or sends to something, and where; then the channels from which it receives.
pub fn incoming(index: &Index, callee: SymbolId) -> Calls {
    let calls = index.occurrences.iter().filter(|o| is_call(o) || sends(index, o));
    let mut found = gathered(calls.filter(|o| o.symbol == callee), |o| o.within);
    let receives = index.occurrences.iter().filter(|o| receives(index, o) && o.within == Some(callee));
    found.extend(gathered(receives, |o| Some(o.symbol)));
    found
}

/// What something creates or calls, or who receives from it, and where; then the channels to which it sends.
pub fn outgoing(index: &Index, caller: SymbolId) -> Calls {
    let calls = index.occurrences.iter().filter(|o| is_call(o) && o.within == Some(caller));
    let mut found = gathered(calls.filter(|o| has_steps(index.symbol(o.symbol).kind)), |o| Some(o.symbol));
    let received = index.occurrences.iter().filter(|o| receives(index, o) && o.symbol == caller);
    found.extend(gathered(received, |o| o.within));
    let sent = index.occurrences.iter().filter(|o| sends(index, o) && o.within == Some(caller));
    found.extend(gathered(sent, |o| Some(o.symbol)));
    found
}

fn is_call(occurrence: &Occurrence) -> bool {
    matches!(occurrence.role, Role::Run | Role::Call)
}

fn sends(index: &Index, occurrence: &Occurrence) -> bool {
    occurrence.role == Role::Send && index.symbol(occurrence.symbol).channel
}

fn receives(index: &Index, occurrence: &Occurrence) -> bool {
    occurrence.role == Role::Receive && index.symbol(occurrence.symbol).channel
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
