//! Promela for [tree-sitter](https://tree-sitter.github.io): the grammar's parser, and queries that colour, fold, indent and
//! list what it finds.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_promela() -> *const ();
}

/// The language.
// SAFETY: The generated parser defines this function, and what it returns lives as long as the program.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_promela) };

/// The kinds of nodes, as JSON.
pub const NODE_TYPES: &str = include_str!("../../src/node-types.json");

/// What is coloured how.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");

/// What can be folded.
pub const FOLDS_QUERY: &str = include_str!("../../queries/folds.scm");

/// What is indented.
pub const INDENTS_QUERY: &str = include_str!("../../queries/indents.scm");

/// Scopes, what they define, and what refers to it.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");

/// What a list of definitions shows.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");
