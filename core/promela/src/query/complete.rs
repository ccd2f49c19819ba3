//! What may be written at a place.

use super::keywords::{KEYWORD_HELP, SNIPPETS};
use super::signature::signature;
use super::tokens::pieces_inside;
use fabius_language::{Index, Piece, PieceKind, Proposal, ProposalKind, SourceFile, SymbolId, SymbolKind};
use std::collections::HashSet;
use std::ops::Range;

/// Proposals for a place, and the bytes of the word that they replace.
pub(crate) fn complete(file: SourceFile<'_>, at: usize) -> (Range<usize>, Vec<Proposal>) {
    let (replaced, mut found) = unranked(file, at);
    let carried = carried(file, replaced.start);
    for proposal in &mut found {
        proposal.rank = rank(file.index, proposal, carried.as_deref());
    }
    (replaced, found)
}

/// The type of the field that is being sent or received at a byte, if one is.
fn carried(file: SourceFile<'_>, at: usize) -> Option<String> {
    let found = signature(file, at)?;
    let channel = file.index.symbol(found.symbol);
    let is_call = matches!(channel.kind, SymbolKind::Process | SymbolKind::Inline | SymbolKind::Macro);
    let field = found.parameters.get(found.active).filter(|_| !is_call)?;
    Some(field.clone())
}

/// The place of a proposal in the list, the first ones first: what has the type that a channel carries, names, snippets,
/// other words.
fn rank(index: &Index, proposal: &Proposal, carried: Option<&str>) -> u8 {
    match proposal.kind {
        ProposalKind::Name(id) => {
            let symbol = index.symbol(id);
            let fits = |ty: &str| match symbol.kind {
                SymbolKind::Constant => ty.starts_with("mtype"),
                _ if symbol.is_variable() => symbol.detail.split_whitespace().next() == Some(ty),
                _ => false,
            };
            u8::from(!carried.is_some_and(fits))
        }
        ProposalKind::Snippet => 2,
        ProposalKind::Keyword | ProposalKind::Directive => {
            let is_truth = matches!(proposal.label.as_str(), "true" | "false");
            if is_truth && matches!(carried, Some("bool" | "bit")) { 0 } else { 3 }
        }
    }
}

fn unranked(file: SourceFile<'_>, at: usize) -> (Range<usize>, Vec<Proposal>) {
    let index = file.index;
    let pieces = index.pieces(file.id);
    let here = pieces.iter().find(|piece| piece.range.start < at && at <= piece.range.end);
    if here.is_some_and(|piece| matches!(piece.kind, PieceKind::Comment | PieceKind::Text)) {
        return (at..at, Vec::new());
    }
    let word = here.filter(|piece| piece.kind == PieceKind::Word);
    let replaced = word.map_or(at..at, |piece| piece.range.clone());
    if let Some(directive) = here.filter(|piece| piece.kind == PieceKind::Directive) {
        return in_directive(file, directive, at);
    }
    let code: Vec<&Piece> =
        pieces.iter().filter(|piece| piece.is_code() && piece.range.end <= replaced.start).collect();
    let found = proposals(file, &code, index.container_at(file.id, at));
    (replaced, found)
}

/// What may follow some code, in a process or inline.
fn proposals(file: SourceFile<'_>, code: &[&Piece], container: Option<SymbolId>) -> Vec<Proposal> {
    let (index, text) = (file.index, file.text());
    match code.last().map_or("", |piece| piece.text(text)) {
        "goto" => goals(index, container),
        "@" => {
            let process = process_before(index, code, text);
            names(index, index.members(process), |kind| kind == SymbolKind::Label)
        }
        "." => fields(file, code),
        "run" => names(index, index.members(None), |kind| kind == SymbolKind::Process),
        _ => anything(index, container),
    }
}

fn names(index: &Index, ids: impl Iterator<Item = SymbolId>, wanted: impl Fn(SymbolKind) -> bool) -> Vec<Proposal> {
    let mut seen = HashSet::new();
    let ids = ids.filter(|id| wanted(index.symbol(*id).kind) && seen.insert(index.symbol(*id).name.clone()));
    let proposal = |id: SymbolId| {
        let symbol = index.symbol(id);
        let text = match symbol.kind {
            SymbolKind::Process | SymbolKind::Inline if !symbol.parameters.is_empty() => {
                format!("{}({})", symbol.name, to_fill_in(&symbol.parameters))
            }
            SymbolKind::Process | SymbolKind::Inline => format!("{}()", symbol.name),
            _ => symbol.name.to_string(),
        };
        Proposal {
            label: symbol.name.to_string(),
            kind: ProposalKind::Name(id),
            detail: symbol.detail.clone(),
            text,
            rank: 0,
        }
    };
    ids.map(proposal).collect()
}

/// Places to fill in, each with the name of the parameter in it.
fn to_fill_in(parameters: &[String]) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let one = |(at, parameter): (usize, &String)| {
        let name = parameter.split(|c| !is_name(c)).rfind(|word| !word.is_empty()).unwrap_or("");
        format!("${{{}:{name}}}", at + 1)
    };
    parameters.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// The labels to which a `goto` may lead: those of the process, from an inline those of any.
fn goals(index: &Index, container: Option<SymbolId>) -> Vec<Proposal> {
    let is_inline = container.is_some_and(|id| index.symbol(id).kind == SymbolKind::Inline);
    let labels = |kind| kind == SymbolKind::Label;
    if is_inline { names(index, index.ids(), labels) } else { names(index, index.members(container), labels) }
}

/// Names that can be seen at a place, keywords and snippets.
fn anything(index: &Index, container: Option<SymbolId>) -> Vec<Proposal> {
    let visible = |kind: SymbolKind| !matches!(kind, SymbolKind::Label | SymbolKind::Init | SymbolKind::Claim);
    let own = container.into_iter().flat_map(|container| index.members(Some(container)));
    let mut found = names(index, own.chain(index.members(None)), visible);
    found.extend(SNIPPETS.iter().map(|(label, detail, text)| Proposal {
        label: (*label).to_owned(),
        kind: ProposalKind::Snippet,
        detail: (*detail).to_owned(),
        text: (*text).to_owned(),
        rank: 0,
    }));
    let known: HashSet<String> = found.iter().map(|proposal| proposal.label.clone()).collect();
    let keywords = KEYWORD_HELP.iter().filter(|(word, ..)| !known.contains(*word));
    found.extend(keywords.map(|(word, code, _)| Proposal {
        label: (*word).to_owned(),
        kind: ProposalKind::Keyword,
        detail: (*code).to_owned(),
        text: (*word).to_owned(),
        rank: 0,
    }));
    found
}

/// The process whose name stands before `@`, with which some code ends: `P@`, or `P[1]@`.
pub(super) fn process_before(index: &Index, code: &[&Piece], text: &str) -> Option<SymbolId> {
    let mut depth = 0_usize;
    for piece in code.iter().rev().skip(1) {
        match piece.text(text) {
            "]" => depth += 1,
            "[" if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            name => return index.named(name, &[SymbolKind::Process]),
        }
    }
    None
}

/// The fields of the variable that stands before `.`.
fn fields(file: SourceFile<'_>, code: &[&Piece]) -> Vec<Proposal> {
    let (index, text) = (file.index, file.text());
    let mut depth = 0_usize;
    for piece in code.iter().rev().skip(1) {
        match piece.text(text) {
            "]" => depth += 1,
            "[" if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            name => {
                let meant = index.meanings(file.id, piece.range.start).into_iter().next();
                let named =
                    || index.ids().find(|&id| &*index.symbol(id).name == name && index.symbol(id).structure.is_some());
                let Some(id) = meant.filter(|&id| index.symbol(id).structure.is_some()).or_else(named) else { break };
                let structure = index.symbol(id).structure.as_deref().unwrap_or("");
                let Some(structure) = index.named(structure, &[SymbolKind::Structure]) else { break };
                return names(index, index.members(Some(structure)), |kind| kind == SymbolKind::Field);
            }
        }
    }
    Vec::new()
}

/// Proposals inside of a directive: its first word, the names of macros where it asks for them, and whatever a macro may
/// stand for.
fn in_directive(file: SourceFile<'_>, directive: &Piece, at: usize) -> (Range<usize>, Vec<Proposal>) {
    let (index, text) = (file.index, file.text());
    let pieces = pieces_inside(text, directive.range.clone());
    if pieces.iter().any(|piece| {
        matches!(piece.kind, PieceKind::Comment | PieceKind::Text) && piece.range.start < at && at <= piece.range.end
    }) {
        return (at..at, Vec::new());
    }
    let code: Vec<&Piece> = pieces.iter().filter(|piece| piece.is_code()).collect();
    let here =
        code.iter().find(|piece| piece.kind == PieceKind::Word && piece.range.start < at && at <= piece.range.end);
    let replaced = here.map_or(at..at, |piece| piece.range.clone());
    let before: Vec<&Piece> = code.iter().copied().filter(|piece| piece.range.end <= replaced.start).collect();
    let found = match *before.iter().map(|piece| piece.text(text)).collect::<Vec<_>>() {
        [] | ["#"] => directive_words(),
        ["#", "define"] | ["#", "include" | "error", ..] => Vec::new(),
        ["#", "define", name, ..] => {
            let own = index.named(name, &[SymbolKind::Macro]);
            let is_free =
                text[before[2].range.end..].starts_with('(') && before.iter().all(|piece| piece.text(text) != ")");
            if is_free { Vec::new() } else { proposals(file, &before, own) }
        }
        _ => names(index, index.members(None), |kind| kind == SymbolKind::Macro),
    };
    (replaced, found)
}

/// The words that may stand behind `#`.
fn directive_words() -> Vec<Proposal> {
    let words = ["define", "include", "ifdef", "ifndef", "if", "elif", "else", "endif", "undef", "error"];
    let proposal = |word: &&str| Proposal {
        label: (*word).to_owned(),
        kind: ProposalKind::Directive,
        detail: format!("#{word}"),
        text: (*word).to_owned(),
        rank: 0,
    };
    words.iter().map(proposal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use fabius_base::SourceMap;
    use fabius_language::NoLoader;

    /// What comes first inside of the word behind a mark, which is a comment.
    fn first(text: &str, mark: &str) -> Vec<String> {
        let mark = format!("/*{mark}*/");
        let at = text.find(&mark).expect("the mark is in the text") + mark.len() + 1;
        let mut map = SourceMap::new();
        let id = map.add_file("m.pml", text);
        let parsed = parse(&mut map, id, &[], &mut NoLoader);
        let index = crate::query::index(&map, &parsed.model);
        let (_, proposals) = complete(SourceFile { map: &map, index: &index, id }, at);
        let ranked = proposals.into_iter().filter(|proposal| proposal.rank == 0);
        let mut found: Vec<String> = ranked.map(|proposal| proposal.label).collect();
        found.sort();
        found
    }

    #[test]
    fn what_a_channel_carries_comes_first() {
        let text = "mtype = { ask, tell }; chan line = [1] of { mtype, byte, bool }; byte total; bool on; int other;\n\
             active proctype P() { byte mine; line ! /*~kind*/ask, /*~number*/total, /*~truth*/on; /*~*/skip }\n";
        assert_eq!(first(text, "~kind"), ["ask", "tell"]);
        assert_eq!(first(text, "~number"), ["mine", "total"]);
        assert_eq!(first(text, "~truth"), ["false", "on", "true"]);
        assert!(first(text, "~").is_empty());
    }
}
