//! How long an editor waits. As a test it asks that every question is answered and that a thousand edits leave no memory
//! behind, never how long it took; `FABIUS_FULL=1 cargo test --release --test editor -- --nocapture latency` looks at many
//! more models and prints the table of `docs/benchmarks.md`.

use super::client::Editor;
use super::{ENDLESS, uri};
use fabius_testkit::corpus::Corpus;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Times in milliseconds, and what they are of.
struct Row(&'static str, Vec<f64>);

impl Row {
    fn add(&mut self, time: Duration) {
        self.1.push(time.as_secs_f64() * 1000.0);
    }

    fn print(&mut self) {
        self.1.sort_by(f64::total_cmp);
        let at =
            |share: f64| self.1.get((self.1.len() as f64 * share) as usize).or(self.1.last()).copied().unwrap_or(0.0);
        println!("| {} | {} | {:.1} | {:.1} |", self.0, self.1.len(), at(0.5), at(0.95));
    }
}

/// So many models of the corpus are opened, …
const MODELS: usize = 6;
/// … or so many, where there is time.
const MODELS_FULL: usize = 150;
/// A thousand edits may leave so much memory more than twenty did; text and results of one model take far less.
const GROWTH_KIB_MAX: u64 = 32 << 10;

/// Models, each with the text of all its lines: one of ours, and real ones where the corpus is there.
fn models() -> Vec<String> {
    let mut models = vec![include_str!("../../models/peterson_broken.pml").to_owned()];
    let Ok(corpus) = Corpus::load() else {
        println!("The corpus is not there: the times are those of one small model.");
        return models;
    };
    let wanted = if std::env::var_os("FABIUS_FULL").is_some() { MODELS_FULL } else { MODELS };
    let step = (corpus.entries.len() / wanted).max(1);
    let texts = corpus.entries.iter().step_by(step).filter_map(|entry| std::fs::read(corpus.file(entry)).ok());
    let texts = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    models.extend(texts.filter(|text| !text.contains("#include")));
    models
}

fn version(params: &Value, version: i32) -> bool {
    params["version"] == version
}

#[test]
fn latency() {
    let mut keystroke = Row("keystroke → diagnostics of the text", Vec::new());
    let mut long = Row("the same, 2 000 lines", Vec::new());
    let mut first = Row("save → first verdict (below 10⁵ states)", Vec::new());
    let mut comment = Row("comment edit → diagnostics moved, no search", Vec::new());
    let mut hover = Row("hover", Vec::new());
    let mut definition = Row("definition", Vec::new());
    let mut cancel = Row("edit → running search stopped", Vec::new());
    let editor = Editor::new();
    for (number, text) in models().into_iter().enumerate() {
        let uri = uri(&format!("latency-{number}"));
        let began = Instant::now();
        editor.open(&uri, &text);
        editor.diagnostics(&uri, "diagnostics", |params| version(params, 1));
        let verdict = editor.wait_until(Duration::from_secs(5), &|message| {
            message["method"] == "fabius/status"
                && message["params"]["uri"] == uri
                && message["params"]["properties"]
                    .as_array()
                    .is_some_and(|all| !all.is_empty() && all.iter().all(|property| property["verdict"] != Value::Null))
        });
        let states = verdict.as_ref().and_then(|message| {
            message["params"]["properties"].as_array()?.iter().filter_map(|property| property["states"].as_u64()).max()
        });
        if states.is_some_and(|states| states < 100_000) {
            first.add(began.elapsed());
        }
        editor.request("fabius/stop", json!({ "uri": uri }));
        editor.forget();
        let began = Instant::now();
        editor.edit(&uri, 2, (0, 0), (0, 0), "/* c */ ");
        editor.diagnostics(&uri, "moved diagnostics", |params| version(params, 2));
        comment.add(began.elapsed());
        let began = Instant::now();
        editor.edit(&uri, 3, (0, 0), (0, 0), "x");
        editor.diagnostics(&uri, "diagnostics", |params| version(params, 3));
        keystroke.add(began.elapsed());
        let place =
            json!({ "textDocument": { "uri": uri }, "position": { "line": text.lines().count() / 2, "character": 6 } });
        let began = Instant::now();
        editor.request("textDocument/hover", place.clone());
        hover.add(began.elapsed());
        let began = Instant::now();
        editor.request("textDocument/definition", place);
        definition.add(began.elapsed());
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        editor.forget();
    }
    typing_in_a_long_model(&editor, &mut long);
    stopping(&editor, &mut cancel);
    println!("\n| what | samples | p50 ms | p95 ms |\n|---|--:|--:|--:|");
    for row in [&mut keystroke, &mut long, &mut first, &mut comment, &mut hover, &mut definition, &mut cancel] {
        row.print();
        assert!(!row.1.is_empty(), "nobody waited for: {}", row.0);
    }
    let (few, many) = (memory_after(&editor, 20), memory_after(&editor, 1000));
    println!("\nmemory: {few:?} KiB after the start of typing, {many:?} KiB after 1 000 edits");
    if let (Some(few), Some(many)) = (few, many) {
        assert!(many < few + GROWTH_KIB_MAX, "a thousand edits took memory: {few} KiB before, {many} KiB after");
    }
}

/// Types into a model of two thousand lines.
fn typing_in_a_long_model(editor: &Editor, row: &mut Row) {
    let uri = uri("long");
    let process = |n: usize| {
        let lines =
            "    do\n    :: x < 9 -> x++; y = x * 2\n    :: y > 3 -> atomic { y = 0; x = 0 }\n    od;\n".repeat(4);
        format!("proctype P{n}() {{\n    byte x, y;\n{lines}}}\n")
    };
    let text: String = (0..105).map(process).collect::<String>() + "init { run P0() }\n";
    editor.open(&uri, &text);
    for number in 2..60 {
        editor.forget();
        let began = Instant::now();
        editor.edit(&uri, number, (3, 0), (3, 0), if number % 2 == 0 { "x" } else { " " });
        editor.diagnostics(&uri, "diagnostics", |params| version(params, number));
        row.add(began.elapsed());
    }
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
}

fn stopping(editor: &Editor, row: &mut Row) {
    for number in 0..10 {
        let uri = uri(&format!("stop-{number}"));
        editor.open(&uri, ENDLESS);
        editor.wait("a running check", |message| {
            message["method"] == "fabius/status"
                && message["params"]["uri"] == uri
                && message["params"]["running"]["progress"]["states"].as_u64() > Some(1000)
        });
        let began = Instant::now();
        editor.replace(&uri, 2, &ENDLESS.replace("30000", "30001"));
        editor.wait("the end of the check", |message| {
            message["method"] == "fabius/status"
                && message["params"]["version"] == 2
                && message["params"]["running"].is_null()
        });
        row.add(began.elapsed());
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
}

/// The memory of the server after so many edits, in KiB, where the system tells.
fn memory_after(editor: &Editor, edits: i32) -> Option<u64> {
    let uri = uri("memory");
    editor.open(&uri, "byte x;\ninit { x = 1 }\n");
    for number in 2..edits {
        editor.edit(&uri, number, (0, 0), (0, 0), if number % 2 == 0 { "/**/" } else { " " });
    }
    editor.diagnostics(&uri, "diagnostics", |params| version(params, edits - 1));
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    editor.forget();
    let status = std::fs::read_to_string(format!("/proc/{}/status", editor.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
