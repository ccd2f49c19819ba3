//! The grammar itself: its examples, its queries, and that the generated parser is the grammar's.

use crate::common::{files, folder, tree};
use std::fs;
use tree_sitter::{Query, QueryCursor, StreamingIterator};

/// The texts of `test/corpus`, in the format of the tree-sitter command line: title, text, tree.
fn examples(text: &str) -> Vec<(String, String, String)> {
    let mut examples = Vec::new();
    for part in text.split("==================\n").filter(|part| !part.is_empty()).collect::<Vec<_>>().chunks(2) {
        let [title, rest] = part else { panic!("a title has no text: {part:?}") };
        let (model, tree) = rest.split_once("\n---\n").unwrap_or_else(|| panic!("{title} has no `---`"));
        let tree = tree.split_whitespace().collect::<Vec<_>>().join(" ").replace(" )", ")");
        examples.push((title.trim().to_owned(), model.to_owned(), tree));
    }
    examples
}

#[test]
fn the_examples_have_the_trees_that_they_show() {
    let mut count = 0;
    for file in files(&folder().join("test/corpus"), &["txt"]) {
        for (title, model, expected) in examples(&fs::read_to_string(&file).expect("an example can be read")) {
            count += 1;
            assert_eq!(tree(&model).root_node().to_sexp(), expected, "{title} in {}", file.display());
        }
    }
    assert!(count >= 10, "only {count} examples were found");
}

#[test]
fn the_parser_was_generated_from_this_grammar() {
    let grammar = fs::read(folder().join("grammar.js")).expect("the grammar can be read");
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let digest = grammar.iter().fold(0xcbf2_9ce4_8422_2325_u64, fnv);
    let recorded = fs::read_to_string(folder().join("src/grammar.digest")).expect("the digest can be read");
    let help = "grammar.js has changed: run `cargo run` in tree-sitter-promela/generate";
    assert_eq!(format!("{digest:016x}"), recorded.trim(), "{help}");
}

#[test]
fn the_queries_know_the_nodes_of_the_grammar() {
    let language = tree_sitter_promela::LANGUAGE.into();
    let model = fs::read_to_string(folder().join("test/every_construct.pml")).expect("the model can be read");
    let tree = tree(&model);
    for file in files(&folder().join("queries"), &["scm"]) {
        let text = fs::read_to_string(&file).expect("a query can be read");
        let query = Query::new(&language, &text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut cursor = QueryCursor::new();
        let found = cursor.matches(&query, tree.root_node(), model.as_bytes()).count();
        assert!(found > 0, "{} finds nothing in the example", file.display());
    }
}

/// What the highlights call the first place at which `word` stands behind `after`; later patterns count.
fn colour(model: &str, after: &str, word: &str) -> String {
    let language = tree_sitter_promela::LANGUAGE.into();
    let query = Query::new(&language, tree_sitter_promela::HIGHLIGHTS_QUERY).expect("the highlights are a query");
    let from = model.find(after).unwrap_or_else(|| panic!("`{after}` is not in the model"));
    let place = from + model[from..].find(word).unwrap_or_else(|| panic!("`{word}` is not behind `{after}`"));
    let tree = tree(model);
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), model.as_bytes());
    let mut last: Option<(usize, String)> = None;
    while let Some(found) = matches.next() {
        for capture in found.captures {
            let here = capture.node.byte_range() == (place..place + word.len());
            if here && last.as_ref().is_none_or(|(pattern, _)| *pattern <= found.pattern_index) {
                last = Some((found.pattern_index, query.capture_names()[capture.index as usize].to_owned()));
            }
        }
    }
    last.map_or("nothing".to_owned(), |(_, name)| name)
}

#[test]
fn words_have_the_colours_of_what_they_are() {
    let model = fs::read_to_string(folder().join("test/every_construct.pml")).expect("the model can be read");
    let expected = [
        ("#define", "#define", "keyword.directive"),
        ("#define", "SIZE", "constant.macro"),
        ("mtype =", "ping", "constant"),
        ("typedef", "Pair", "type"),
        ("hidden", "hidden", "keyword.modifier"),
        ("hidden", "byte", "type.builtin"),
        ("inline", "step", "function"),
        ("inline", "by", "variable.parameter"),
        ("proctype Worker", "proctype", "keyword"),
        ("proctype Worker", "Worker", "function"),
        ("byte id", "id", "variable.parameter"),
        ("len(q)", "len", "function.builtin"),
        ("goto", "done", "label"),
        ("\ndone", "done", "label"),
        ("q!ping", "!", "operator"),
        ("run Worker", "Worker", "function.call"),
        ("pair.x", "x", "property"),
        (":: else", "else", "keyword.conditional"),
        ("printf", "printf", "function.builtin"),
        ("timeout", "timeout", "constant.builtin"),
        ("ltl", "p", "property"),
        ("ltl", "[]", "operator"),
    ];
    for (after, word, name) in expected {
        assert_eq!(colour(&model, after, word), name, "`{word}` behind `{after}`");
    }
}

#[test]
fn definitions_are_listed() {
    let language = tree_sitter_promela::LANGUAGE.into();
    let query = Query::new(&language, tree_sitter_promela::TAGS_QUERY).expect("the tags are a query");
    let model = fs::read_to_string(folder().join("test/every_construct.pml")).expect("the model can be read");
    let tree = tree(&model);
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), model.as_bytes());
    let mut found = Vec::new();
    while let Some(one) = matches.next() {
        let name = |index: u32| query.capture_names()[index as usize];
        if one.captures.iter().any(|capture| name(capture.index).starts_with("definition")) {
            let named = one.captures.iter().filter(|capture| name(capture.index) == "name");
            found.extend(named.map(|capture| model[capture.node.byte_range()].to_owned()));
        }
    }
    for name in ["SIZE", "ping", "red", "Pair", "q", "pair", "p", "step", "Worker", "Main", "init"] {
        assert!(found.iter().any(|one| one == name), "{name} is not among {found:?}");
    }
    assert!(!found.iter().any(|one| one == "w"), "a local variable is listed: {found:?}");
}
