//! Coloured words, and what changed of them since the client asked before.

use super::context::Context;
use super::state::State;
use fabius_language::{Color, Colored};
use tower_lsp_server::ls_types as lsp;

/// The protocol counts numbers, of which a word has five.
const NUMBERS: usize = 5;

/// Coloured words as the protocol writes them, each relative to the word before. A word of several lines is one word per line.
fn encoded(context: &Context<'_>, colors: &[Colored]) -> Vec<lsp::SemanticToken> {
    let text = context.view().text();
    let mut data = Vec::with_capacity(colors.len());
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
            let delta_line = range.start.line - last.line;
            let delta_start = range.start.character - if delta_line == 0 { last.character } else { 0 };
            let (token_type, token_modifiers_bitset) = (kind, bits);
            data.push(lsp::SemanticToken { delta_line, delta_start, length, token_type, token_modifiers_bitset });
            last = range.start;
        }
    }
    data
}

pub fn tokens(server: &mut State, params: &lsp::SemanticTokensParams) -> Option<lsp::SemanticTokens> {
    let (name, data) = all_tokens(server, &params.text_document.uri)?;
    let result_id = Some(server.colored.remember(&name, &data));
    Some(lsp::SemanticTokens { result_id, data })
}

fn all_tokens(server: &mut State, uri: &lsp::Uri) -> Option<(String, Vec<lsp::SemanticToken>)> {
    let context = Context::of(server, uri)?;
    let view = context.view();
    let data = encoded(&context, &view.language().colors(view.source()));
    Some((context.name.clone(), data))
}

pub fn tokens_delta(
    server: &mut State,
    params: &lsp::SemanticTokensDeltaParams,
) -> Option<lsp::SemanticTokensFullDeltaResult> {
    let (name, data) = all_tokens(server, &params.text_document.uri)?;
    let before = server.colored.recall(&name, &params.previous_result_id);
    let result_id = Some(server.colored.remember(&name, &data));
    let Some(before) = before else { return Some(lsp::SemanticTokens { result_id, data }.into()) };
    // What is the same at both ends stays.
    let same = |a: &mut dyn Iterator<Item = (&lsp::SemanticToken, &lsp::SemanticToken)>| {
        a.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut before.iter().zip(&data));
    let end = same(&mut before[start..].iter().rev().zip(data[start..].iter().rev()));
    let (deleted, inserted) = (before.len() - start - end, data[start..data.len() - end].to_vec());
    let edit = lsp::SemanticTokensEdit {
        start: (start * NUMBERS) as u32,
        delete_count: (deleted * NUMBERS) as u32,
        data: Some(inserted),
    };
    let is_change = edit.delete_count != 0 || edit.data.as_ref().is_some_and(|data| !data.is_empty());
    let edits = if is_change { vec![edit] } else { Vec::new() };
    Some(lsp::SemanticTokensDelta { result_id, edits }.into())
}

pub fn tokens_range(server: &mut State, params: &lsp::SemanticTokensRangeParams) -> Option<lsp::SemanticTokens> {
    let context = Context::of(server, &params.text_document.uri)?;
    let view = context.view();
    let wanted = context.bytes(params.range);
    let mut colors = view.language().colors(view.source());
    colors.retain(|colored| wanted.start < colored.range.end && colored.range.start < wanted.end);
    Some(lsp::SemanticTokens { result_id: None, data: encoded(&context, &colors) })
}
