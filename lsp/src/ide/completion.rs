//! Completion: what fits at a place comes first.

use super::place::View;
use fabius_promela::query::complete::{Proposal, ProposalKind};
use fabius_promela::query::{SymbolKind, signature};

/// The type of the field that is being sent or received at a byte, if one is.
pub fn carried(view: View<'_>, at: usize) -> Option<String> {
    let found = signature::signature(view.index(), view.file, view.text(), at)?;
    let channel = view.index().symbol(found.symbol);
    let is_call = matches!(channel.kind, SymbolKind::Process | SymbolKind::Inline | SymbolKind::Macro);
    let field = found.parameters.get(found.active).filter(|_| !is_call)?;
    Some(field.clone())
}

/// The place of a proposal in the list, the first ones first: what has the type that a channel carries, names, snippets,
/// other words.
pub fn rank(view: View<'_>, proposal: &Proposal, carried: Option<&str>) -> u8 {
    match proposal.kind {
        ProposalKind::Name(id) => {
            let symbol = view.index().symbol(id);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::fixture::Fixture;
    use fabius_promela::query::complete::complete;

    /// What comes first at a mark.
    fn first(fixture: &Fixture, mark: &str) -> Vec<String> {
        // Inside of the word behind the mark, which is a comment.
        let (view, at) = (fixture.view(), fixture.mark(mark) + 1);
        let carried = carried(view, at - 1);
        let (_, proposals) = complete(view.index(), view.file, view.text(), at);
        let mut found: Vec<String> = proposals
            .iter()
            .filter(|proposal| rank(view, proposal, carried.as_deref()) == 0)
            .map(|proposal| proposal.label.clone())
            .collect();
        found.sort();
        found
    }

    #[test]
    fn what_a_channel_carries_comes_first() {
        let fixture = Fixture::new(
            "mtype = { ask, tell }; chan line = [1] of { mtype, byte, bool }; byte total; bool on; int other;\n\
             active proctype P() { byte mine; line ! /*~kind*/ask, /*~number*/total, /*~truth*/on; /*~*/skip }\n",
        );
        assert_eq!(first(&fixture, "~kind"), ["ask", "tell"]);
        assert_eq!(first(&fixture, "~number"), ["mine", "total"]);
        assert_eq!(first(&fixture, "~truth"), ["false", "on", "true"]);
        assert!(first(&fixture, "~").is_empty());
    }
}
