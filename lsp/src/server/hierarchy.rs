//! Who calls whom: process types, inlines and channels.

use super::answers::{at, symbol_kind};
use super::context::Context;
use super::names::uri_of;
use super::state::State;
use crate::ide::{Place, View};
use fabius_language::{self as language, Calls, Occurrence, SymbolId, SymbolKind};
use tower_lsp_server::ls_types as lsp;

fn item(context: &Context<'_>, id: SymbolId) -> Option<lsp::CallHierarchyItem> {
    let symbol = context.view().index().symbol(id);
    let place = Place::of(context.view().reading.map(), symbol.definition);
    let extent = Place::of(context.view().reading.map(), symbol.extent);
    let converter = context.converter();
    let name = if symbol.kind == SymbolKind::Init { "init" } else { &*symbol.name };
    Some(lsp::CallHierarchyItem {
        name: name.to_owned(),
        kind: symbol_kind(symbol.kind),
        tags: None,
        detail: Some(symbol.detail.to_string()),
        uri: uri_of(&place.file)?,
        range: converter.place(&extent),
        selection_range: converter.place(&place),
        data: None,
    })
}

pub fn prepare(server: &mut State, params: &lsp::CallHierarchyPrepareParams) -> Option<Vec<lsp::CallHierarchyItem>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let index = view.index();
        let callable = |id: &SymbolId| language::is_callable(index.symbol(*id));
        let mut found: Vec<SymbolId> = index.meanings(view.file, at).into_iter().filter(callable).collect();
        if found.is_empty() {
            found.extend(index.container_at(view.file, at).filter(callable));
        }
        found.into_iter().filter_map(|id| item(context, id)).collect()
    })
}

/// The calls of an item, on one side or the other.
fn calls<T>(
    server: &mut State,
    item: &lsp::CallHierarchyItem,
    find: impl Fn(View<'_>, SymbolId) -> Calls,
    call: impl Fn(lsp::CallHierarchyItem, Vec<lsp::Range>) -> T,
) -> Option<Vec<T>> {
    let context = Context::of(server, &item.uri)?;
    let view = context.view();
    let at = context.offset(item.selection_range.start);
    let callable = |id: &SymbolId| {
        let symbol = view.index().symbol(*id);
        language::is_callable(symbol) && symbol.definition.file == view.file && symbol.definition.start as usize == at
    };
    let id = view.index().ids().find(callable)?;
    let converter = context.converter();
    let one = |(other, places): (SymbolId, Vec<Occurrence>)| {
        let place = |occurrence| converter.place(&Place::of_occurrence(view.reading.map(), occurrence));
        Some(call(self::item(&context, other)?, places.iter().map(place).collect()))
    };
    Some(find(view, id).into_iter().filter_map(one).collect())
}

pub fn incoming(
    server: &mut State,
    params: &lsp::CallHierarchyIncomingCallsParams,
) -> Option<Vec<lsp::CallHierarchyIncomingCall>> {
    let call = |from, from_ranges| lsp::CallHierarchyIncomingCall { from, from_ranges };
    calls(server, &params.item, |view, id| language::incoming(view.index(), id), call)
}

pub fn outgoing(
    server: &mut State,
    params: &lsp::CallHierarchyOutgoingCallsParams,
) -> Option<Vec<lsp::CallHierarchyOutgoingCall>> {
    let call = |to, from_ranges| lsp::CallHierarchyOutgoingCall { to, from_ranges };
    calls(server, &params.item, |view, id| language::outgoing(view.index(), id), call)
}
