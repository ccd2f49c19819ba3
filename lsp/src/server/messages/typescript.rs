//! The types of our own messages for the VS Code extension, and a check of the page about them.

use super::super::settings::Settings;
use super::{Request, STATUS, Status, TraceSource, visit_requests};
use fabius_engine::contexts::ContextReport;
use fabius_executions::{EventRecord, ExecutionsReport, FactRecord};
use fabius_witness::format::json::{
    ActorRecord, ChangeRecord, MessageRecord, ProcessStatusRecord, StepRecord, WaitingRecord,
};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use ts_rs::{Config, TS, TypeVisitor};

/// Sees all requests, one after the other.
pub trait Visitor {
    /// A request.
    fn request<R: Request<Params: TS + 'static, Answer: TS + 'static> + 'static>(&mut self);
}

/// Declarations of types, by name, each once.
struct Declarations {
    config: Config,
    seen: HashSet<TypeId>,
    by_name: BTreeMap<String, String>,
    requests: Vec<(&'static str, String, String)>,
}

impl Declarations {
    fn all() -> Self {
        // Numbers are at most as large as states and steps are many, which a double holds exactly.
        let config = Config::new().with_large_int("number");
        let mut all = Self { config, seen: HashSet::new(), by_name: BTreeMap::new(), requests: Vec::new() };
        visit_requests(&mut all);
        all.visit::<Status>();
        all.visit::<TraceSource>();
        all.visit::<Settings>();
        all
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        text.push_str(&format!(
            "\n/** The number that a claim has as a process. */\nexport const CLAIM_PID = {};\n",
            fabius_program::CLAIM_PID
        ));
        self.by_name.values().for_each(|declaration| text.push_str(&format!("\n{declaration}\n")));
        text.push_str("\n/** The parameters and answers of requests, by method. */\nexport interface Requests {\n");
        for (method, params, answer) in &self.requests {
            text.push_str(&format!("  \"{method}\": {{ params: {params}; answer: {answer} }};\n"));
        }
        text.push_str(&format!("}}\n\n/** The parameters of notifications, by method. */\nexport interface Notifications {{\n  \"{STATUS}\": Status;\n}}\n"));
        text
    }
}

const HEAD: &str = "\
// Generated from the types in lsp/src/server/messages; do not edit. After a change of those:
// FABIUS_GENERATE=1 cargo test -p fabius-lsp typescript

/** A position in a text, as in the Language Server Protocol. */
export type Position = { line: number; character: number };

/** A range in a text, as in the Language Server Protocol. */
export type Range = { start: Position; end: Position };
";

/// A declaration with each field on a line of its own, and with short comments on one line.
fn laid_out(declaration: &str) -> String {
    let declaration = declaration.replace(", }", ",\n}").replace("/**\n * ", "/** ");
    let mut text = String::new();
    let mut is_inside = false;
    for line in declaration.lines().map(str::trim) {
        match line {
            "*/" => text.push_str(" */"),
            line => {
                let indent = if is_inside && !line.starts_with('}') { "\n  " } else { "\n" };
                text.push_str(indent);
                text.push_str(if line.starts_with('*') { " " } else { "" });
                text.push_str(line);
            }
        }
        is_inside = !line.starts_with('}') && (is_inside || line.ends_with('{'));
    }
    text.trim_start().to_owned()
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let declaration = laid_out(&format!("{docs}export {}", T::decl(&self.config)));
            let before = self.by_name.insert(T::ident(&self.config), declaration);
            assert_eq!(before, None, "two types are named {}", T::ident(&self.config));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

impl Visitor for Declarations {
    fn request<R: Request<Params: TS + 'static, Answer: TS + 'static> + 'static>(&mut self) {
        self.visit::<R::Params>();
        self.visit::<R::Answer>();
        let (params, answer) = (R::Params::name(&self.config), R::Answer::name(&self.config));
        self.requests.push((R::METHOD, params, answer));
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn typescript_types_are_those_of_the_server() {
    let path = root().join("vscode-extension/src/messages.ts");
    let text = Declarations::all().text();
    if std::env::var_os("FABIUS_GENERATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "{} is not up to date: run this test with FABIUS_GENERATE=1", path.display());
}

/// The names of the fields that the declaration of a type begins with, with `?` where one may be left out.
fn fields(declaration: &str) -> Vec<String> {
    let lines = declaration.lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.filter(|line| !line.starts_with('/') && !line.starts_with(' '));
    names.filter_map(|line| line.split_once(": ")).map(|(name, _)| name.to_owned()).collect()
}

/// The parts of the page about our own messages, by method: what the heading says after it, and the text below.
fn sections(page: &str) -> BTreeMap<&str, (&str, &str)> {
    let mut sections = BTreeMap::new();
    for part in page.split("\n### ").skip(1) {
        let (heading, below) = part.split_once('\n').unwrap_or((part, ""));
        let pieces: Vec<&str> = heading.split('`').collect();
        for methods in pieces.chunks(4).filter(|chunk| chunk.len() > 1) {
            let params = methods.get(3).copied().unwrap_or_default();
            sections.insert(methods[1], (params, below));
        }
    }
    sections
}

#[test]
fn fields_of_a_declaration_are_found() {
    let declaration = "/** A. */\nexport type A = {\n  /** B: */\n  b: number,\n  c?: { d: string; },\n};";
    assert_eq!(fields(declaration), ["b", "c?"]);
}

#[test]
fn the_page_about_the_protocol_names_all_parameters_and_fields() {
    let page = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let page = page.split("\n# The debug adapter").next().unwrap();
    let (sections, all) = (sections(page), Declarations::all());
    let mut wrong = Vec::new();
    for (method, params, answer) in &all.requests {
        let Some((documented, _)) = sections.get(method) else {
            wrong.push(format!("{method} has no section"));
            continue;
        };
        let known: BTreeSet<String> = fields(&all.by_name[params]).into_iter().collect();
        let named = documented.trim_matches(['{', '}', ' ']).split(", ");
        let named: BTreeSet<String> = named.map(str::to_owned).collect();
        if known != named {
            wrong.push(format!("the heading of {method} names {named:?}, its parameters are {known:?}"));
        }
        let in_schemas = fields(&laid_out(&ExecutionsReport::decl(&all.config)));
        if answer == "null" {
            continue;
        }
        for field in fields(&all.by_name[answer.trim_end_matches(" | null")]) {
            let name = field.trim_end_matches('?');
            let mut words = page.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            if !in_schemas.contains(&field) && !words.any(|word| word == name) {
                wrong.push(format!("`{name}` in the answer to {method} is not described"));
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn the_page_about_the_protocol_has_a_row_for_each_setting() {
    let page = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let settings = page.split("\n## ").find(|part| part.starts_with("Settings\n")).unwrap();
    let rows = settings.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let rows: BTreeSet<&str> = rows.map(|(name, _)| name).collect();
    let fields = fields(&Declarations::all().by_name["Settings"]);
    let fields: BTreeSet<&str> = fields.iter().map(|name| name.trim_end_matches('?')).collect();
    assert_eq!(rows, fields);
}

/// Compares the fields of a type with the properties in a part of a schema.
fn compare_with_schema<T: TS + 'static>(schema: &str, pointer: &str) {
    let text = fs::read_to_string(root().join(format!("docs/schema/{schema}.schema.json"))).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let described = schema.pointer(pointer).and_then(|part| part["properties"].as_object());
    let described: BTreeSet<&str> = described.unwrap().keys().map(String::as_str).collect();
    let fields = fields(&laid_out(&T::decl(&Config::new())));
    let fields: BTreeSet<&str> = fields.iter().map(|name| name.trim_end_matches('?')).collect();
    assert_eq!(fields, described, "{pointer} of {text:.200}");
}

#[test]
fn schemas_describe_the_fields_of_the_types_that_messages_share_with_reports() {
    compare_with_schema::<StepRecord>("report", "/$defs/step");
    compare_with_schema::<ActorRecord>("report", "/$defs/actor");
    compare_with_schema::<ChangeRecord>("report", "/$defs/change");
    compare_with_schema::<MessageRecord>("report", "/$defs/message");
    compare_with_schema::<ProcessStatusRecord>("report", "/$defs/blocked");
    compare_with_schema::<WaitingRecord>("report", "/$defs/waiting");
    compare_with_schema::<ExecutionsReport>("executions", "");
    compare_with_schema::<EventRecord>("executions", "/$defs/event");
    compare_with_schema::<FactRecord>("executions", "/$defs/fact");
    compare_with_schema::<ContextReport>("contexts", "/$defs/context");
}
