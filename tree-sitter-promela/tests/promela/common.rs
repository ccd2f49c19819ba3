//! What the tests of the grammar share: its parser, and what it and the parser of Fabius find in a text.

use fabius_base::SourceMap;
use fabius_language::NoLoader;
use fabius_promela::ast::Unit;
use fabius_promela::parse;
use std::path::{Path, PathBuf};
use tree_sitter::{Node, Parser, Tree};

/// The folder of the grammar.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder with one of the extensions, sorted.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|one| e == *one)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The tree of a text.
pub fn tree(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_promela::LANGUAGE.into()).expect("the library reads the tables of the parser");
    parser.parse(text, None).expect("a text without a time limit has a tree")
}

/// The first place that the grammar could not read, as line and text.
pub fn first_error(tree: &Tree, text: &str) -> Option<String> {
    let mut pending = vec![tree.root_node()];
    while let Some(node) = pending.pop() {
        if node.is_error() || node.is_missing() {
            let line = node.start_position().row;
            return Some(format!("line {}: {}", line + 1, text.lines().nth(line).unwrap_or("").trim()));
        }
        let mut cursor = node.walk();
        let children: Vec<Node> = node.children(&mut cursor).filter(Node::has_error).collect();
        pending.extend(children.into_iter().rev());
    }
    None
}

/// What a text declares at its top level: kinds and names, sorted.
pub type Outline = Vec<(&'static str, String)>;

/// The outline in a tree; `None` if a name at the top level would have to be a macro.
pub fn outline(tree: &Tree, text: &str) -> Option<Outline> {
    let root = tree.root_node();
    let mut found = Vec::new();
    let word = |node: Node| text[node.byte_range()].to_owned();
    for unit in root.named_children(&mut root.walk()) {
        let name = unit.child_by_field_name("name").map_or(String::new(), word);
        let kind = match unit.kind() {
            "proctype_definition" => "proctype",
            "init_definition" => "init",
            "never_claim" => "never",
            "trace_definition" => "trace",
            "ltl_definition" => "ltl",
            "typedef_definition" => "typedef",
            "inline_definition" => "inline",
            "macro_invocation" => return None,
            "mtype_declaration" => {
                let mut cursor = unit.walk();
                let constants = unit.children_by_field_name("constant", &mut cursor).filter(Node::is_named);
                found.extend(constants.map(|constant| ("constant", word(constant))));
                continue;
            }
            "declaration" => {
                let mut cursor = unit.walk();
                let declarators = unit.children_by_field_name("declarator", &mut cursor).filter(Node::is_named);
                found.extend(declarators.filter_map(|d| Some(("variable", word(d.child_by_field_name("name")?)))));
                continue;
            }
            _ => continue,
        };
        found.push((kind, name));
    }
    found.sort();
    Some(found)
}

/// The outline that the parser of Fabius finds, or its first error if it refuses the text.
pub fn own_outline(text: &str) -> Result<Outline, String> {
    let mut map = SourceMap::default();
    let file = map.add_file("model", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    if let Some(error) = parsed.findings.iter().find(|finding| finding.is_error()) {
        return Err(format!("{:?}: {}", error.code, error.headline));
    }
    let mut found = Vec::new();
    let named = |name: &fabius_promela::ast::Name| name.text.to_string();
    for unit in &parsed.model.units {
        match unit {
            Unit::Proctype(proctype) => found.push(("proctype", named(&proctype.name))),
            Unit::Init(_) => found.push(("init", String::new())),
            Unit::Never(claim) => found.push(("never", claim.name.as_ref().map_or(String::new(), named))),
            Unit::Trace(_) => found.push(("trace", String::new())),
            Unit::Ltl(ltl) => found.push(("ltl", ltl.name.as_ref().map_or(String::new(), named))),
            Unit::Typedef(typedef) => found.push(("typedef", named(&typedef.name))),
            Unit::Inline(inline) => found.push(("inline", named(&inline.name))),
            Unit::Mtype(mtype) => found.extend(mtype.names.iter().map(|name| ("constant", named(name)))),
            Unit::Variables(variables) => {
                found.extend(variables.declarators.iter().map(|d| ("variable", named(&d.name))));
            }
            Unit::EmbeddedC(_) => {}
        }
    }
    found.sort();
    Ok(found)
}
