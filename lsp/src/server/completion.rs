//! Completion: what may be written at a place, and more about each proposal once somebody looks at it.

use super::answers::at;
use super::context::Context;
use super::state::State;
use crate::ide::{View, hover};
use fabius_language::{Proposal, ProposalKind, SymbolId, SymbolKind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tower_lsp_server::ls_types as lsp;

/// What a proposal carries, to be asked about later.
#[derive(Serialize, Deserialize)]
struct Proposed {
    /// The document.
    uri: lsp::Uri,
    /// The name that is proposed, as the text was read then; none for a keyword and for a snippet that is called like one.
    symbol: Option<u32>,
}

pub fn completion(server: &mut State, params: &lsp::CompletionParams) -> Option<lsp::CompletionList> {
    let snippets = server.able.snippets;
    let uri = &params.text_document_position.text_document.uri;
    at(server, &params.text_document_position, |context, view, at| {
        let (replaced, proposals) = view.language().complete(view.source(), at);
        let range = context.range(&replaced);
        let items = proposals.iter().filter_map(|proposal| {
            let filled = proposal.text.contains('$');
            if filled && !snippets && proposal.kind == ProposalKind::Snippet {
                return None;
            }
            let text = if filled && !snippets { &proposal.label } else { &proposal.text };
            let format = match filled && snippets {
                true => lsp::InsertTextFormat::SNIPPET,
                false => lsp::InsertTextFormat::PLAIN_TEXT,
            };
            Some(lsp::CompletionItem {
                label: proposal.label.clone(),
                kind: Some(completion_kind(view, proposal.kind)),
                detail: Some(proposal.detail.clone()),
                sort_text: Some(format!("{}{}", proposal.rank, proposal.label)),
                insert_text_format: Some(format),
                text_edit: Some(lsp::TextEdit { range, new_text: text.clone() }.into()),
                data: proposed(uri, proposal).map(|proposed| json!(proposed)),
                ..lsp::CompletionItem::default()
            })
        });
        lsp::CompletionList { is_incomplete: false, items: items.collect() }
    })
}

/// What there is to ask about a proposal; nothing about a directive, since the keyword of the same name is another thing.
fn proposed(uri: &lsp::Uri, proposal: &Proposal) -> Option<Proposed> {
    let symbol = match proposal.kind {
        ProposalKind::Name(SymbolId(symbol)) => Some(symbol),
        ProposalKind::Keyword | ProposalKind::Snippet => None,
        ProposalKind::Directive => return None,
    };
    Some(Proposed { uri: uri.clone(), symbol })
}

fn completion_kind(view: View<'_>, proposal: ProposalKind) -> lsp::CompletionItemKind {
    let id = match proposal {
        ProposalKind::Name(id) => id,
        ProposalKind::Keyword | ProposalKind::Directive => return lsp::CompletionItemKind::KEYWORD,
        ProposalKind::Snippet => return lsp::CompletionItemKind::SNIPPET,
    };
    match view.index().symbol(id).kind {
        SymbolKind::Process | SymbolKind::Init => lsp::CompletionItemKind::CLASS,
        SymbolKind::Inline | SymbolKind::Macro => lsp::CompletionItemKind::FUNCTION,
        SymbolKind::Structure => lsp::CompletionItemKind::STRUCT,
        SymbolKind::Field => lsp::CompletionItemKind::FIELD,
        SymbolKind::Constant => lsp::CompletionItemKind::ENUM_MEMBER,
        SymbolKind::ConstantSet => lsp::CompletionItemKind::ENUM,
        SymbolKind::Label => lsp::CompletionItemKind::REFERENCE,
        _ => lsp::CompletionItemKind::VARIABLE,
    }
}

/// A proposal with what there is to say about it; if the text changed so that it is not known any more, as it was.
pub fn resolve(server: &mut State, mut item: lsp::CompletionItem) -> lsp::CompletionItem {
    let proposed = item.data.clone().and_then(|data| serde_json::from_value::<Proposed>(data).ok());
    let description = proposed.and_then(|proposed| {
        let context = Context::of(server, &proposed.uri)?;
        let view = context.view();
        let is_same = |id: SymbolId| view.index().symbols.get(id.0 as usize).is_some_and(|s| *s.name == *item.label);
        let name = proposed.symbol.map(SymbolId);
        if !name.is_none_or(is_same) {
            return None;
        }
        let found = view.language().describe(view.source(), &item.label, name)?;
        Some(hover::markdown(view, &found.code, &found.prose))
    });
    item.documentation = description
        .map(|value| lsp::Documentation::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value }));
    item
}
