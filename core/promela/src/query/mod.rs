//! The questions that an editor asks about the text of a Promela model: what does this name mean, where else
//! is it used, what may be written here.
//!
//! Answers are the plain data of [`fabius_language`]. They hold for faulty texts too, as far as those can be read, and
//! they see through macros and inlines: a name in the body of an inline belongs to every declaration that
//! some call gives it.

pub(crate) mod arguments;
pub(crate) mod complete;
mod condition;
pub(crate) mod directives;
pub(crate) mod hover;
pub(crate) mod implementations;
pub(crate) mod rewrite;
pub(crate) mod semantic;
pub(crate) mod shape;
pub(crate) mod signature;
pub(crate) mod tokens;
pub(crate) mod types;

mod keywords;
mod leftover;
mod walk;

pub(crate) use condition::{condition, provided};
pub(crate) use keywords::keyword_help;

use crate::ast;
use fabius_base::SourceMap;
use fabius_language::{Index, Symbol, SymbolKind};

/// Finds out what the names of a model mean. `model` is the tree of the text in `map`.
pub(crate) fn index(map: &SourceMap, model: &ast::Model) -> Index {
    let mut index = Index::of_pieces(map.files().map(|(id, file)| (id, tokens::pieces(&file.text))).collect());
    directives::read(&mut index, map);
    walk::walk(&mut index, map, model);
    leftover::read(&mut index, map);
    index.sort();
    index
}

/// A symbol about which no more is known than its name.
fn named(name: &ast::Name, kind: SymbolKind) -> Symbol {
    Symbol::new(name.text.clone(), name.span, kind)
}
