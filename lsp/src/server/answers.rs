//! The answers to the protocol's requests: each asks `ide` and says the same in the protocol's words.

use super::context::Context;
use super::main_loop::MainLoop;
use super::names::uri_of;
use super::service::error;
use crate::ide::diagnostics::diagnostics;
use crate::ide::inline_values::{self, InlineValue};
use crate::ide::{Place, View, actions as fixes, hints as inlays, hover as hovers, lenses as lines, names, types};
use fabius_language::{
    self as language, Calls, Color, Colored, Entry, FoldKind, Indent, Occurrence, ProposalKind, Replacement, Style,
    SymbolId, SymbolKind,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;
use xxhash_rust::xxh3::xxh3_128;

/// The modifiers of coloured words, in the order of their bits.
pub const MODIFIERS: [&str; 4] = ["declaration", "modification", "static", "readonly"];
/// The outcome of a symbol search is cut here.
const SYMBOLS_MAX: usize = 500;

/// What the text of a document says, for a client that asks.
pub fn diagnostic(server: &mut MainLoop, params: &lsp::DocumentDiagnosticParams) -> Value {
    let items = Context::of(server, &params.text_document.uri).and_then(|context| {
        let converter = context.converter();
        let all = diagnostics(&context.model, context.document()?, context.view().reading);
        let own = all.iter().filter(|diagnostic| !diagnostic.of_check && diagnostic.place.file == context.name);
        Some(own.map(|diagnostic| converter.diagnostic(diagnostic, true)).collect::<Vec<_>>())
    });
    let items = json!(items.unwrap_or_default());
    let id = format!("{:032x}", xxh3_128(items.to_string().as_bytes()));
    if params.previous_result_id.as_ref() == Some(&id) {
        return json!({ "kind": "unchanged", "resultId": id });
    }
    json!({ "kind": "full", "resultId": id, "items": items })
}

/// Asks about the place of a request.
fn at<T>(
    server: &mut MainLoop,
    place: &lsp::TextDocumentPositionParams,
    ask: impl FnOnce(&Context<'_>, View<'_>, usize) -> T,
) -> Option<T> {
    let context = Context::of(server, &place.text_document.uri)?;
    let offset = context.offset(place.position);
    Some(ask(&context, context.view(), offset))
}

pub fn hover(server: &mut MainLoop, params: &lsp::HoverParams) -> Option<Value> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let hover = hovers::hover(view, context.document(), at)?;
        let contents = json!({ "kind": "markdown", "value": hover.markdown });
        Some(json!({ "contents": contents, "range": context.range(&hover.range) }))
    })?
}

fn locations(context: &Context<'_>, places: &[Place]) -> Vec<lsp::Location> {
    let converter = context.converter();
    places.iter().filter_map(|place| converter.location(place)).collect()
}

pub fn definition(server: &mut MainLoop, params: &lsp::GotoDefinitionParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        locations(context, &names::definition(view, at))
    })
}

pub fn type_definition(server: &mut MainLoop, params: &lsp::GotoDefinitionParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        locations(context, &types::type_definition(view, at))
    })
}

pub fn references(server: &mut MainLoop, params: &lsp::ReferenceParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position, |context, view, at| {
        locations(context, &names::references(view, at, params.context.include_declaration))
    })
}

pub fn highlights(server: &mut MainLoop, params: &lsp::DocumentHighlightParams) -> Option<Vec<Value>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let found = names::highlights(view, at);
        let one = |(range, writes): &(Range<usize>, bool)| json!({ "range": context.range(range), "kind": if *writes { 3 } else { 2 } });
        found.iter().map(one).collect()
    })
}

pub fn prepare_rename(server: &mut MainLoop, params: &lsp::TextDocumentPositionParams) -> Result<Value> {
    let found = at(server, params, |context, view, at| {
        names::renamable(view, at).map(|range| {
            let placeholder = view.text().get(range.clone()).unwrap_or("").to_owned();
            json!({ "range": context.range(&range), "placeholder": placeholder })
        })
    });
    found.unwrap_or(Ok(Value::Null)).map_err(|why| error(ErrorCode::InvalidRequest, why))
}

pub fn rename(server: &mut MainLoop, params: &lsp::RenameParams) -> Result<Value> {
    let renamed = at(server, &params.text_document_position, |context, view, at| {
        let places = names::rename(view, at, &params.new_name)?;
        let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for location in locations(context, &places) {
            let edit = json!({ "range": location.range, "newText": params.new_name });
            changes.entry(location.uri.as_str().to_owned()).or_default().push(edit);
        }
        Ok(json!({ "changes": changes }))
    });
    renamed.unwrap_or(Ok(Value::Null)).map_err(|why: String| error(ErrorCode::InvalidRequest, why))
}

fn symbol_kind(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Process | SymbolKind::Init => 5,
        SymbolKind::Claim | SymbolKind::Formula => 7,
        SymbolKind::Inline | SymbolKind::Macro => 12,
        SymbolKind::Structure => 23,
        SymbolKind::Field => 8,
        SymbolKind::Constant => 22,
        SymbolKind::ConstantSet => 10,
        SymbolKind::Label => 20,
        SymbolKind::Global | SymbolKind::Local | SymbolKind::Parameter => 13,
        SymbolKind::InlineParameter | SymbolKind::Predefined => 13,
    }
}

pub fn symbols(server: &mut MainLoop, params: &lsp::DocumentSymbolParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let entries = language::outline(context.view().index(), context.view().file);
    Some(entries.iter().map(|entry| symbol(&context, entry)).collect())
}

fn symbol(context: &Context<'_>, entry: &Entry) -> Value {
    let symbol = context.view().index().symbol(entry.symbol);
    let own = symbol.definition.start as usize..symbol.definition.end as usize;
    let extent = (symbol.extent.start as usize).min(own.start)..(symbol.extent.end as usize).max(own.end);
    // Only what is declared outside holds something, so this goes one level down and no further.
    let inside: Vec<Value> = entry.inside.iter().map(|inner| self::symbol(context, inner)).collect();
    json!({
        "name": symbol.name,
        "detail": symbol.detail.lines().next().unwrap_or(""),
        "kind": symbol_kind(symbol.kind),
        "range": context.range(&extent),
        "selectionRange": context.range(&own),
        "children": inside,
    })
}

pub fn all_symbols(server: &mut MainLoop, params: &lsp::WorkspaceSymbolParams) -> Vec<Value> {
    let models: Vec<String> = server.session.documents().map(|(name, _)| name.to_owned()).collect();
    let query = params.query.to_lowercase();
    let mut found = Vec::new();
    for model in models {
        let Some(context) = uri_of(&model).and_then(|uri| Context::of(server, &uri)) else { continue };
        let index = context.view().index();
        let wanted = index.ids().filter(|&id| {
            let symbol = index.symbol(id);
            symbol.is_declared()
                && symbol.kind != SymbolKind::InlineParameter
                && symbol.name.to_lowercase().contains(&query)
        });
        for id in wanted {
            let symbol = index.symbol(id);
            let Some(place) = context.view().declaration(symbol).filter(|place| place.start < place.end) else {
                continue;
            };
            let container = symbol.container.map(|owner| index.symbol(owner).name.to_string());
            found.push(json!({
                "name": symbol.name,
                "kind": symbol_kind(symbol.kind),
                "containerName": container,
                "location": context.converter().location(&place),
            }));
        }
    }
    found.dedup();
    found.truncate(SYMBOLS_MAX);
    found
}

pub fn completion(server: &mut MainLoop, params: &lsp::CompletionParams) -> Option<Value> {
    let snippets = server.able.snippets;
    at(server, &params.text_document_position, |context, view, at| {
        let (replaced, proposals) = view.language().complete(view.source(), at);
        let range = context.range(&replaced);
        let items = proposals.iter().filter_map(|proposal| {
            let filled = proposal.text.contains('$');
            let snippet = proposal.kind == ProposalKind::Snippet;
            if filled && !snippets && snippet {
                return None;
            }
            let text = if filled && !snippets { &proposal.label } else { &proposal.text };
            let kind = match proposal.kind {
                ProposalKind::Name(id) => completion_kind(view, id),
                ProposalKind::Keyword | ProposalKind::Directive => 14,
                ProposalKind::Snippet => 15,
            };
            Some(json!({
                "label": proposal.label,
                "kind": kind,
                "detail": proposal.detail,
                "sortText": format!("{}{}", proposal.rank, proposal.label),
                "insertTextFormat": if filled && snippets { 2 } else { 1 },
                "textEdit": { "range": range, "newText": text },
            }))
        });
        json!({ "isIncomplete": false, "items": items.collect::<Vec<_>>() })
    })
}

fn completion_kind(view: View<'_>, id: SymbolId) -> u32 {
    match view.index().symbol(id).kind {
        SymbolKind::Process | SymbolKind::Init => 7,
        SymbolKind::Inline | SymbolKind::Macro => 3,
        SymbolKind::Structure => 22,
        SymbolKind::Field => 5,
        SymbolKind::Constant => 20,
        SymbolKind::ConstantSet => 13,
        SymbolKind::Label => 18,
        _ => 6,
    }
}

pub fn signature(server: &mut MainLoop, params: &lsp::SignatureHelpParams) -> Option<Value> {
    at(server, &params.text_document_position_params, |_, view, at| {
        let found = view.language().signature(view.source(), at)?;
        let parameters: Vec<Value> = found.parameters.iter().map(|label| json!({ "label": label })).collect();
        let active = found.active.min(found.parameters.len());
        Some(json!({
            "signatures": [{ "label": found.label, "parameters": parameters }],
            "activeSignature": 0,
            "activeParameter": active,
        }))
    })?
}

pub fn folds(server: &mut MainLoop, params: &lsp::FoldingRangeParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let one = |(bytes, kind): &(Range<usize>, FoldKind)| {
        let range = context.range(bytes);
        let kind = match kind {
            FoldKind::Code => "region",
            FoldKind::Comment => "comment",
            FoldKind::Directives => "imports",
        };
        // The last line, with its brace, stays to be seen.
        let last = if kind == "region" { range.end.line.saturating_sub(1) } else { range.end.line };
        (range.start.line < last).then(|| json!({ "startLine": range.start.line, "endLine": last, "kind": kind }))
    };
    Some(view.language().folds(view.source()).iter().filter_map(one).collect())
}

pub fn selections(server: &mut MainLoop, params: &lsp::SelectionRangeParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let grow = |position: &lsp::Position| {
        let ranges = view.language().selections(view.source(), context.offset(*position));
        let outermost_first = ranges.iter().rev().take(100);
        outermost_first.fold(Value::Null, |parent, bytes| {
            let range = context.range(bytes);
            if parent.is_null() { json!({ "range": range }) } else { json!({ "range": range, "parent": parent }) }
        })
    };
    Some(params.positions.iter().map(grow).collect())
}

pub fn format(server: &mut MainLoop, params: &lsp::DocumentFormattingParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let all = 0..usize::MAX;
    Some(formatted(&context, &params.options, &[all]))
}

pub fn format_range(server: &mut MainLoop, params: &lsp::DocumentRangeFormattingParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    Some(formatted(&context, &params.options, &[range]))
}

pub fn format_ranges(
    server: &mut MainLoop,
    params: &lsp::DocumentFormattingParams,
    ranges: &[lsp::Range],
) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let ranges: Vec<Range<usize>> = ranges.iter().map(|range| context.bytes(*range)).collect();
    Some(formatted(&context, &params.options, &ranges))
}

pub fn format_typed(server: &mut MainLoop, params: &lsp::DocumentOnTypeFormattingParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document_position.text_document.uri)?;
    let at = context.offset(params.text_document_position.position);
    let edit = context.view().language().align(context.view().text(), at, style(&params.options));
    Some(edit.iter().map(|edit| replacement(&context, edit)).collect())
}

fn formatted(context: &Context<'_>, options: &lsp::FormattingOptions, within: &[Range<usize>]) -> Vec<Value> {
    let found = context.view().language().format(context.view().text(), style(options));
    let is_wanted = |edit: &Range<usize>| within.iter().any(|one| one.start <= edit.start && edit.end <= one.end);
    let wanted = found.iter().filter(|edit| is_wanted(&edit.range));
    wanted.map(|edit| replacement(context, edit)).collect()
}

fn style(options: &lsp::FormattingOptions) -> Style {
    let indent = match options.insert_spaces {
        true => Indent::Spaces(options.tab_size.clamp(1, 16) as usize),
        false => Indent::Tab,
    };
    Style { indent }
}

fn replacement(context: &Context<'_>, edit: &Replacement) -> Value {
    json!({ "range": context.range(&edit.range), "newText": edit.text })
}

/// The protocol's word for a colour.
pub fn token_type(color: Color) -> &'static str {
    match color {
        Color::Keyword => "keyword",
        Color::Type => "type",
        Color::Number => "number",
        Color::String => "string",
        Color::Comment => "comment",
        Color::Operator => "operator",
        Color::Macro => "macro",
        Color::Process => "class",
        Color::Inline => "function",
        Color::Structure => "struct",
        Color::Field => "property",
        Color::Variable => "variable",
        Color::Parameter => "parameter",
        Color::Constant => "enumMember",
        Color::Label => "label",
        Color::Property => "event",
    }
}

/// Coloured words as the protocol writes them: five numbers each, relative to the word before. A word of
/// several lines is one word per line.
fn encoded(context: &Context<'_>, colors: &[Colored]) -> Vec<u32> {
    let text = context.view().text();
    let mut data = Vec::with_capacity(colors.len() * 5);
    let mut last = lsp::Position::default();
    for colored in colors {
        let kind = Color::ALL.iter().position(|color| *color == colored.color).unwrap_or(0) as u32;
        let flags = [colored.declaration, colored.write, colored.global, colored.constant];
        let bits = flags.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum::<u32>();
        let mut start = colored.range.start;
        for line in text.get(colored.range.clone()).unwrap_or("").split_inclusive(['\n', '\r']) {
            let shown = line.trim_end_matches(['\n', '\r']).len();
            let range = context.range(&(start..start + shown));
            start += line.len();
            let length = range.end.character.saturating_sub(range.start.character);
            if length == 0 || range.start < last {
                continue;
            }
            let lines = range.start.line - last.line;
            let columns = if lines == 0 { range.start.character - last.character } else { range.start.character };
            data.extend([lines, columns, length, kind, bits]);
            last = range.start;
        }
    }
    data
}

pub fn tokens(server: &mut MainLoop, params: &lsp::SemanticTokensParams) -> Option<Value> {
    let (name, data) = all_tokens(server, &params.text_document.uri)?;
    let id = server.colored.remember(&name, &data);
    Some(json!({ "resultId": id, "data": data }))
}

fn all_tokens(server: &mut MainLoop, uri: &lsp::Uri) -> Option<(String, Vec<u32>)> {
    let context = Context::of(server, uri)?;
    let view = context.view();
    let data = encoded(&context, &view.language().colors(view.source()));
    Some((context.name.clone(), data))
}

pub fn tokens_delta(server: &mut MainLoop, params: &lsp::SemanticTokensDeltaParams) -> Option<Value> {
    let (name, data) = all_tokens(server, &params.text_document.uri)?;
    let before = server.colored.recall(&name, &params.previous_result_id);
    let id = server.colored.remember(&name, &data);
    let Some(before) = before else { return Some(json!({ "resultId": id, "data": data })) };
    // The words are five numbers each; what is the same at both ends stays.
    let same = |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(a, b)| a == b).count() / 5 * 5;
    let start = same(&before, &data);
    let backwards = |data: &[u32]| data[start..].iter().rev().copied().collect::<Vec<u32>>();
    let end = same(&backwards(&before), &backwards(&data));
    let deleted = before.len() - start - end;
    let inserted = &data[start..data.len() - end];
    let edits = match (deleted, inserted.is_empty()) {
        (0, true) => json!([]),
        _ => json!([{ "start": start, "deleteCount": deleted, "data": inserted }]),
    };
    Some(json!({ "resultId": id, "edits": edits }))
}

pub fn tokens_range(server: &mut MainLoop, params: &lsp::SemanticTokensRangeParams) -> Option<Value> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let wanted = context.bytes(params.range);
    let mut colors = view.language().colors(view.source());
    colors.retain(|colored| wanted.start < colored.range.end && colored.range.start < wanted.end);
    Some(json!({ "data": encoded(&context, &colors) }))
}

pub fn links(server: &mut MainLoop, params: &lsp::DocumentLinkParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let own = view.index().includes.iter().filter(|(span, _)| span.file == view.file);
    let one = |(span, name): &(fabius_base::Span, String)| {
        let target = names::included(view, name).and_then(|place| uri_of(&place.file))?;
        let range = context.range(&(span.start as usize..span.end as usize));
        Some(json!({ "range": range, "target": target, "tooltip": name }))
    };
    Some(own.filter_map(one).collect())
}

fn hierarchy_item(context: &Context<'_>, id: SymbolId) -> Option<Value> {
    let symbol = context.view().index().symbol(id);
    let place = Place::of(context.view().reading.map(), symbol.definition);
    let extent = Place::of(context.view().reading.map(), symbol.extent);
    let converter = context.converter();
    let name = if symbol.kind == SymbolKind::Init { "init" } else { &symbol.name };
    Some(json!({
        "name": name,
        "kind": symbol_kind(symbol.kind),
        "detail": symbol.detail,
        "uri": uri_of(&place.file)?,
        "range": converter.place(&extent),
        "selectionRange": converter.place(&place),
    }))
}

pub fn hierarchy(server: &mut MainLoop, params: &lsp::CallHierarchyPrepareParams) -> Option<Vec<Value>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let index = view.index();
        let callable = |id: &SymbolId| language::is_callable(index.symbol(*id));
        let mut found: Vec<SymbolId> = index.meanings(view.file, at).into_iter().filter(callable).collect();
        if found.is_empty() {
            found.extend(index.container_at(view.file, at).filter(callable));
        }
        found.into_iter().filter_map(|id| hierarchy_item(context, id)).collect()
    })
}

/// The calls of an item, from one side or the other.
fn hierarchy_calls(
    server: &mut MainLoop,
    item: &lsp::CallHierarchyItem,
    side: &str,
    find: impl Fn(View<'_>, SymbolId) -> Calls,
) -> Option<Vec<Value>> {
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
        let ranges: Vec<lsp::Range> = places
            .iter()
            .map(|occurrence| converter.place(&Place::of_occurrence(view.reading.map(), occurrence)))
            .collect();
        Some(json!({ side: hierarchy_item(&context, other)?, "fromRanges": ranges }))
    };
    Some(find(view, id).into_iter().filter_map(one).collect())
}

pub fn incoming(server: &mut MainLoop, params: &lsp::CallHierarchyIncomingCallsParams) -> Option<Vec<Value>> {
    hierarchy_calls(server, &params.item, "from", |view, id| language::incoming(view.index(), id))
}

pub fn outgoing(server: &mut MainLoop, params: &lsp::CallHierarchyOutgoingCallsParams) -> Option<Vec<Value>> {
    hierarchy_calls(server, &params.item, "to", |view, id| language::outgoing(view.index(), id))
}

pub fn hints(server: &mut MainLoop, params: &lsp::InlayHintParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    let one = |hint: &inlays::Hint| {
        let position = context.range(&(hint.at..hint.at)).start;
        let label = if hint.parameter { hint.label.clone() } else { format!(" {}", hint.label) };
        json!({
            "position": position,
            "label": label,
            "kind": if hint.parameter { 2 } else { 1 },
            "tooltip": hint.tooltip,
            "paddingRight": hint.parameter,
        })
    };
    Some(inlays::hints(context.view(), context.document(), &range).iter().map(one).collect())
}

/// The names that a debugger is to look up in the frame that is stopped, from the beginning of the range to the line of the stop.
pub fn inline_values(server: &mut MainLoop, params: &lsp::InlineValueParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let stop = params.context.stopped_location;
    let after = lsp::Position { line: stop.end.line.saturating_add(1), character: 0 };
    let range = context.bytes(lsp::Range { end: params.range.end.min(after), ..params.range });
    let found = inline_values::inline_values(context.view(), &range, context.offset(stop.start));
    let one = |(bytes, name): &InlineValue| json!({ "range": context.range(bytes), "variableName": name, "caseSensitiveLookup": true });
    Some(found.iter().map(one).collect())
}

pub fn lenses(server: &mut MainLoop, params: &lsp::CodeLensParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let uri = uri_of(&context.model)?;
    let one = |lens: &lines::Lens| {
        let (command, arguments) = match &lens.click {
            lines::Click::Check(property) => ("fabius.check", json!([{ "uri": uri, "property": property }])),
            lines::Click::Stop => ("fabius.stop", json!([{ "uri": uri }])),
            lines::Click::Show(property, index) => {
                ("fabius.trace", json!([{ "uri": uri, "property": property, "counterexample": index }]))
            }
            lines::Click::Executions => ("fabius.executions", json!([{ "uri": uri }])),
            lines::Click::Nothing => ("", json!([])),
        };
        let command = json!({ "title": lens.title, "command": command, "arguments": arguments });
        json!({ "range": context.range(&lens.range), "command": command })
    };
    Some(lines::lenses(context.view(), context.document()?).iter().map(one).collect())
}

pub fn actions(server: &mut MainLoop, params: &lsp::CodeActionParams) -> Option<Vec<Value>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    let found = fixes::actions(&context.name, context.document()?, context.view().reading, &range);
    let wanted = |action: &&fixes::Action| {
        let kind = action_kind(action.kind);
        params.context.only.as_ref().is_none_or(|only| only.iter().any(|wanted| kind.starts_with(wanted.as_str())))
    };
    let uri = params.text_document.uri.as_str().to_owned();
    let mut answers = Vec::new();
    let mut untried = Vec::new();
    for action in found.iter().filter(wanted) {
        let edits: Vec<Value> = action
            .edits
            .iter()
            .map(|(bytes, text)| json!({ "range": context.range(bytes), "newText": text }))
            .collect();
        let mut answer = json!({
            "title": action.title,
            "kind": action_kind(action.kind),
            "isPreferred": action.preferred,
        });
        let command =
            |name: &str, about: Value| json!({ "title": action.title, "command": name, "arguments": [about] });
        match &action.command {
            Some(fixes::Command::Explain(property, index)) => {
                let about = json!({ "uri": uri, "property": property, "counterexample": index });
                answer["command"] = command("fabius.explain", about);
            }
            Some(fixes::Command::Check(property, fairness)) => {
                let about = json!({ "uri": uri, "property": property, "fairness": fairness.as_str() });
                answer["command"] = command("fabius.check", about);
            }
            Some(fixes::Command::Contexts(process)) => {
                answer["command"] = command("fabius.contexts", json!({ "uri": uri, "process": process }));
            }
            Some(fixes::Command::Stuck(line)) => {
                answer["command"] = command("fabius.stuck", json!({ "uri": uri, "lines": [line - 1] }));
            }
            None => answer["edit"] = json!({ "changes": { uri.clone(): edits } }),
        }
        if action.tried {
            untried.push(fixes::edited(context.view().text(), &action.edits));
        }
        answers.push(answer);
    }
    let model = context.model.clone();
    if model == context.name {
        untried.into_iter().for_each(|text| server.session.try_text(&model, text));
    }
    Some(answers)
}

fn action_kind(kind: fixes::ActionKind) -> &'static str {
    match kind {
        fixes::ActionKind::Fix | fixes::ActionKind::Explain => "quickfix",
        fixes::ActionKind::Rewrite => "refactor.rewrite",
        fixes::ActionKind::Ask => "refactor.ask",
    }
}
