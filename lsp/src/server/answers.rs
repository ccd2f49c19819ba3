//! The answers to the protocol's requests: each asks `ide` and says the same in the protocol's words.

use super::context::Context;
use super::convert::original_location;
use super::names::uri_of;
use super::service::error;
use super::state::State;
use crate::ide::inline_values::{self, InlineValue};
use crate::ide::originals::{self, OriginalPlace};
use crate::ide::{Place, View, hints as inlays, hover as hovers, implementations, linked, names, types};
use fabius_language::{self as language, Entry, FoldKind, Indent, Replacement, Style, SymbolKind};
use std::collections::HashMap;
use std::ops::Range;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// The outcome of a symbol search is cut here.
const SYMBOLS_MAX: usize = 500;

/// Asks about the place of a request.
pub fn at<T>(
    server: &mut State,
    place: &lsp::TextDocumentPositionParams,
    ask: impl FnOnce(&Context<'_>, View<'_>, usize) -> T,
) -> Option<T> {
    let context = Context::of(server, &place.text_document.uri)?;
    let offset = context.offset(place.position);
    Some(ask(&context, context.view(), offset))
}

pub fn hover(server: &mut State, params: &lsp::HoverParams) -> Option<lsp::Hover> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let hover = hovers::hover(view, context.document(), at)?;
        let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: hover.markdown };
        let range = Some(context.range(&hover.range));
        Some(lsp::Hover { contents: lsp::HoverContents::Markup(contents), range })
    })?
}

fn locations(context: &Context<'_>, places: &[Place]) -> Vec<lsp::Location> {
    let converter = context.converter();
    places.iter().filter_map(|place| converter.location(place)).collect()
}

pub fn definition(server: &mut State, params: &lsp::GotoDefinitionParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let found = locations(context, &names::definition(view, at));
        match originals::links(view).into_iter().find(|(range, _)| range.start <= at && at <= range.end) {
            Some((_, place)) if found.is_empty() => original_location(&place).into_iter().collect(),
            _ => found,
        }
    })
}

pub fn type_definition(server: &mut State, params: &lsp::GotoDefinitionParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        locations(context, &types::type_definition(view, at))
    })
}

pub fn implementation(server: &mut State, params: &lsp::GotoDefinitionParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        locations(context, &implementations::implementations(view, at))
    })
}

/// The declaration at a place with its uses, which change while it is typed.
pub fn linked_ranges(server: &mut State, params: &lsp::LinkedEditingRangeParams) -> Option<lsp::LinkedEditingRanges> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let ranges: Vec<lsp::Range> = linked::linked(view, at).iter().map(|range| context.range(range)).collect();
        (!ranges.is_empty()).then_some(lsp::LinkedEditingRanges { ranges, word_pattern: None })
    })?
}

pub fn references(server: &mut State, params: &lsp::ReferenceParams) -> Option<Vec<lsp::Location>> {
    at(server, &params.text_document_position, |context, view, at| {
        locations(context, &names::references(view, at, params.context.include_declaration))
    })
}

pub fn highlights(server: &mut State, params: &lsp::DocumentHighlightParams) -> Option<Vec<lsp::DocumentHighlight>> {
    at(server, &params.text_document_position_params, |context, view, at| {
        let found = names::highlights(view, at);
        let one = |(range, writes): &(Range<usize>, bool)| {
            let kind = if *writes { lsp::DocumentHighlightKind::WRITE } else { lsp::DocumentHighlightKind::READ };
            lsp::DocumentHighlight { range: context.range(range), kind: Some(kind) }
        };
        found.iter().map(one).collect()
    })
}

pub fn prepare_rename(
    server: &mut State,
    params: &lsp::TextDocumentPositionParams,
) -> Result<Option<lsp::PrepareRenameResponse>> {
    let found = at(server, params, |context, view, at| {
        names::renamable(view, at).map(|range| {
            let placeholder = view.text().get(range.clone()).unwrap_or("").to_owned();
            lsp::PrepareRenameResponse::RangeWithPlaceholder { range: context.range(&range), placeholder }
        })
    });
    found.transpose().map_err(|why| error(ErrorCode::InvalidRequest, why))
}

pub fn rename(server: &mut State, params: &lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
    let renamed = at(server, &params.text_document_position, |context, view, at| {
        let places = names::rename(view, at, &params.new_name)?;
        let mut changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = HashMap::new();
        for location in locations(context, &places) {
            let edit = lsp::TextEdit { range: location.range, new_text: params.new_name.clone() };
            changes.entry(location.uri).or_default().push(edit);
        }
        Ok(lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() })
    });
    renamed.transpose().map_err(|why: String| error(ErrorCode::InvalidRequest, why))
}

pub fn symbol_kind(kind: SymbolKind) -> lsp::SymbolKind {
    match kind {
        SymbolKind::Process | SymbolKind::Init => lsp::SymbolKind::CLASS,
        SymbolKind::Claim | SymbolKind::Formula => lsp::SymbolKind::PROPERTY,
        SymbolKind::Inline | SymbolKind::Macro => lsp::SymbolKind::FUNCTION,
        SymbolKind::Structure => lsp::SymbolKind::STRUCT,
        SymbolKind::Field => lsp::SymbolKind::FIELD,
        SymbolKind::Constant => lsp::SymbolKind::ENUM_MEMBER,
        SymbolKind::ConstantSet => lsp::SymbolKind::ENUM,
        SymbolKind::Label => lsp::SymbolKind::KEY,
        SymbolKind::Global | SymbolKind::Local | SymbolKind::Parameter => lsp::SymbolKind::VARIABLE,
        SymbolKind::InlineParameter | SymbolKind::Predefined => lsp::SymbolKind::VARIABLE,
    }
}

pub fn symbols(server: &mut State, params: &lsp::DocumentSymbolParams) -> Option<Vec<lsp::DocumentSymbol>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let entries = language::outline(context.view().index(), context.view().file);
    Some(entries.iter().map(|entry| symbol(&context, entry)).collect())
}

#[expect(deprecated, reason = "the type has a field that is not to be used any more")]
fn symbol(context: &Context<'_>, entry: &Entry) -> lsp::DocumentSymbol {
    let symbol = context.view().index().symbol(entry.symbol);
    let own = symbol.definition.start as usize..symbol.definition.end as usize;
    let extent = (symbol.extent.start as usize).min(own.start)..(symbol.extent.end as usize).max(own.end);
    // Only what is declared outside holds something, so this goes one level down and no further.
    let inside = entry.inside.iter().map(|inner| self::symbol(context, inner)).collect();
    lsp::DocumentSymbol {
        name: symbol.name.to_string(),
        detail: Some(symbol.detail.lines().next().unwrap_or("").to_owned()),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: context.range(&extent),
        selection_range: context.range(&own),
        children: Some(inside),
    }
}

#[expect(deprecated, reason = "the type has a field that is not to be used any more")]
pub fn all_symbols(server: &mut State, params: &lsp::WorkspaceSymbolParams) -> Vec<lsp::SymbolInformation> {
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
            let Some(location) = context.converter().location(&place) else { continue };
            found.push(lsp::SymbolInformation {
                name: symbol.name.to_string(),
                kind: symbol_kind(symbol.kind),
                tags: None,
                deprecated: None,
                location,
                container_name: symbol.container.map(|owner| index.symbol(owner).name.to_string()),
            });
        }
    }
    found.dedup();
    found.truncate(SYMBOLS_MAX);
    found
}

pub fn signature(server: &mut State, params: &lsp::SignatureHelpParams) -> Option<lsp::SignatureHelp> {
    at(server, &params.text_document_position_params, |_, view, at| {
        let found = view.language().signature(view.source(), at)?;
        let active = found.active.min(found.parameters.len());
        let parameter =
            |label| lsp::ParameterInformation { label: lsp::ParameterLabel::Simple(label), documentation: None };
        let signature = lsp::SignatureInformation {
            label: found.label,
            documentation: None,
            parameters: Some(found.parameters.into_iter().map(parameter).collect()),
            active_parameter: None,
        };
        Some(lsp::SignatureHelp {
            signatures: vec![signature],
            active_signature: Some(0),
            active_parameter: Some(active as u32),
        })
    })?
}

pub fn folds(server: &mut State, params: &lsp::FoldingRangeParams) -> Option<Vec<lsp::FoldingRange>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let one = |(bytes, kind): &(Range<usize>, FoldKind)| {
        let range = context.range(bytes);
        let kind = match kind {
            FoldKind::Code => lsp::FoldingRangeKind::Region,
            FoldKind::Comment => lsp::FoldingRangeKind::Comment,
            FoldKind::Directives => lsp::FoldingRangeKind::Imports,
        };
        let is_code = kind == lsp::FoldingRangeKind::Region;
        // The last line, with its brace, stays to be seen.
        let end_line = if is_code { range.end.line.saturating_sub(1) } else { range.end.line };
        (range.start.line < end_line).then(|| lsp::FoldingRange {
            start_line: range.start.line,
            end_line,
            kind: Some(kind),
            ..lsp::FoldingRange::default()
        })
    };
    Some(view.language().folds(view.source()).iter().filter_map(one).collect())
}

pub fn selections(server: &mut State, params: &lsp::SelectionRangeParams) -> Option<Vec<lsp::SelectionRange>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let grow = |position: &lsp::Position| {
        let ranges = view.language().selections(view.source(), context.offset(*position));
        let outermost_first = ranges.iter().rev().take(100);
        let around = outermost_first.fold(None, |parent, bytes| {
            Some(lsp::SelectionRange { range: context.range(bytes), parent: parent.map(Box::new) })
        });
        // There is an answer to each position; around one with nothing to select it is empty.
        let here = lsp::Range { start: *position, end: *position };
        around.unwrap_or(lsp::SelectionRange { range: here, parent: None })
    };
    Some(params.positions.iter().map(grow).collect())
}

pub fn format(server: &mut State, params: &lsp::DocumentFormattingParams) -> Option<Vec<lsp::TextEdit>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let all = 0..usize::MAX;
    Some(formatted(&context, &params.options, &[all]))
}

pub fn format_range(server: &mut State, params: &lsp::DocumentRangeFormattingParams) -> Option<Vec<lsp::TextEdit>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    Some(formatted(&context, &params.options, &[range]))
}

pub fn format_ranges(
    server: &mut State,
    params: &lsp::DocumentFormattingParams,
    ranges: &[lsp::Range],
) -> Option<Vec<lsp::TextEdit>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let ranges: Vec<Range<usize>> = ranges.iter().map(|range| context.bytes(*range)).collect();
    Some(formatted(&context, &params.options, &ranges))
}

pub fn format_typed(server: &mut State, params: &lsp::DocumentOnTypeFormattingParams) -> Option<Vec<lsp::TextEdit>> {
    let context = Context::of(server, &params.text_document_position.text_document.uri)?;
    let at = context.offset(params.text_document_position.position);
    let edit = context.view().language().align(context.view().text(), at, style(&params.options));
    Some(edit.iter().map(|edit| replacement(&context, edit)).collect())
}

fn formatted(context: &Context<'_>, options: &lsp::FormattingOptions, within: &[Range<usize>]) -> Vec<lsp::TextEdit> {
    let found = context.view().language().format(context.view().text(), style(options));
    let wanted = found.iter().filter(|edit| within.iter().any(|one| holds(context.view().text(), one, &edit.range)));
    wanted.map(|edit| replacement(context, edit)).collect()
}

/// Whether an edit is one of a stretch of text. The line at whose very beginning the stretch ends is no part of it.
fn holds(text: &str, stretch: &Range<usize>, edit: &Range<usize>) -> bool {
    let before_end = || text.get(..stretch.end).is_some_and(|before| before.ends_with(['\n', '\r']));
    let ends_before_line = !stretch.is_empty() && edit.start == stretch.end && before_end();
    stretch.start <= edit.start && edit.end <= stretch.end && !ends_before_line
}

fn style(options: &lsp::FormattingOptions) -> Style {
    let indent = match options.insert_spaces {
        true => Indent::Spaces(options.tab_size.clamp(1, 16) as usize),
        false => Indent::Tab,
    };
    Style { indent }
}

fn replacement(context: &Context<'_>, edit: &Replacement) -> lsp::TextEdit {
    lsp::TextEdit { range: context.range(&edit.range), new_text: edit.text.clone() }
}

pub fn links(server: &mut State, params: &lsp::DocumentLinkParams) -> Option<Vec<lsp::DocumentLink>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let own = view.index().includes.iter().filter(|(span, _)| span.file == view.file);
    let one = |(span, name): &(fabius_base::Span, String)| {
        let target = names::included(view, name).and_then(|place| uri_of(&place.file))?;
        let range = context.range(&(span.start as usize..span.end as usize));
        Some(lsp::DocumentLink { range, target: Some(target), tooltip: Some(name.clone()), data: None })
    };
    let original = |(range, place): (Range<usize>, OriginalPlace)| {
        // Editors take such an end of an address for a line.
        let target = format!("{}#L{}", uri_of(&place.file)?.as_str(), place.line.max(1)).parse().ok();
        let tooltip = Some(place.words);
        target.is_some().then(|| lsp::DocumentLink { range: context.range(&range), target, tooltip, data: None })
    };
    Some(own.filter_map(one).chain(originals::links(view).into_iter().filter_map(original)).collect())
}

pub fn hints(server: &mut State, params: &lsp::InlayHintParams) -> Option<Vec<lsp::InlayHint>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    let one = |hint: &inlays::Hint| {
        let position = context.range(&(hint.at..hint.at)).start;
        let label = if hint.parameter { hint.label.clone() } else { format!(" {}", hint.label) };
        let kind = if hint.parameter { lsp::InlayHintKind::PARAMETER } else { lsp::InlayHintKind::TYPE };
        lsp::InlayHint {
            position,
            label: lsp::InlayHintLabel::String(label),
            kind: Some(kind),
            text_edits: None,
            tooltip: Some(lsp::InlayHintTooltip::String(hint.tooltip.clone())),
            padding_left: None,
            padding_right: Some(hint.parameter),
            data: None,
        }
    };
    Some(inlays::hints(context.view(), context.document(), &range).iter().map(one).collect())
}

/// The names that a debugger is to look up in the frame that is stopped, from the beginning of the range to the line of the stop.
pub fn inline_values(
    server: &mut State,
    params: &lsp::InlineValueParams,
) -> Option<Vec<lsp::InlineValueVariableLookup>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let stop = params.context.stopped_location;
    let after = lsp::Position { line: stop.end.line.saturating_add(1), character: 0 };
    let range = context.bytes(lsp::Range { end: params.range.end.min(after), ..params.range });
    let found = inline_values::inline_values(context.view(), &range, context.offset(stop.start));
    let one = |(bytes, name): &InlineValue| lsp::InlineValueVariableLookup {
        range: context.range(bytes),
        variable_name: Some(name.clone()),
        case_sensitive_lookup: true,
    };
    Some(found.iter().map(one).collect())
}
