//! How long somebody in an editor waits, over the real protocol. The test asks that every question is answered, the bench how
//! fast.

use super::client::Editor;
use super::models::{ENDLESS, FAILING, MENDED, uri};
use fabius_testkit::corpus::{Corpus, Entry};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The model whose verdict somebody waits for is one with fewer states than this, as Spin counted them.
const SMALL_STATES: u64 = 100_000;
/// Nobody waits longer for a first verdict.
const VERDICT_PATIENCE: Duration = Duration::from_secs(5);
/// A search that has not begun so long after an edit does not begin.
const NO_SEARCH: Duration = Duration::from_millis(50);

/// A model that is opened.
pub struct Model {
    /// Its address.
    pub uri: String,
    /// The text of all its lines.
    pub text: String,
    /// It is known to have few states.
    pub small: bool,
}

/// Times of one kind, in milliseconds.
pub struct Row {
    /// What was waited for.
    pub what: &'static str,
    /// It should take no longer, nineteen times of twenty.
    pub goal: Option<f64>,
    /// How long it took.
    pub times: Vec<f64>,
}

impl Row {
    fn new(what: &'static str, goal: Option<f64>) -> Self {
        Self { what, goal, times: Vec::new() }
    }

    fn since(&mut self, began: Instant) {
        self.times.push(began.elapsed().as_secs_f64() * 1000.0);
    }

    /// The time that a share of the samples did not exceed.
    pub fn at(&self, share: f64) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get((sorted.len() as f64 * share) as usize).or(sorted.last()).copied().unwrap_or(0.0)
    }
}

/// All that is waited for while models are worked on.
pub struct Rows {
    keystroke: Row,
    long: Row,
    first: Row,
    all: Row,
    comment: Row,
    comment_long: Row,
    hover: Row,
    definition: Row,
    cancel: Row,
}

impl Rows {
    fn new() -> Self {
        Self {
            keystroke: Row::new("keystroke → diagnostics of the text", Some(20.0)),
            long: Row::new("the same, in a model of 2 000 lines", Some(20.0)),
            first: Row::new("save → first verdict (below 10⁵ states)", Some(300.0)),
            all: Row::new("save → a verdict for each property (below 10⁵ states)", None),
            comment: Row::new("edit of a comment → diagnostics moved, no search", Some(20.0)),
            comment_long: Row::new("the same, in a model of 2 000 lines", Some(20.0)),
            hover: Row::new("hover", Some(20.0)),
            definition: Row::new("definition", Some(20.0)),
            cancel: Row::new("edit → running search stopped", Some(50.0)),
        }
    }

    /// The rows, in the order in which they are told.
    pub fn into_rows(self) -> [Row; 9] {
        let Self { keystroke, long, first, all, comment, comment_long, hover, definition, cancel } = self;
        [keystroke, long, first, all, comment, comment_long, hover, definition, cancel]
    }
}

/// About this many models: one of ours, and real ones where the corpus is there.
pub fn models(wanted: usize) -> Vec<Model> {
    let own = include_str!("../../../models/peterson_broken.pml");
    let mut models = vec![Model { uri: uri("peterson"), text: own.to_owned(), small: true }];
    let Some(corpus) = Corpus::load() else { return models };
    let step = corpus.entries.len().div_ceil(wanted).max(1);
    let is_small = |entry: &Entry| entry.run("base").is_some_and(|run| run.complete && run.stored < SMALL_STATES);
    models.extend(corpus.entries.iter().step_by(step).filter_map(|entry| {
        let path = corpus.file(entry);
        let text = String::from_utf8_lossy(&std::fs::read(&path).ok()?).into_owned();
        Some(Model { uri: format!("file://{}", path.display()), text, small: is_small(entry) })
    }));
    models
}

/// Works on each of the models, on a long one, and on one whose check never ends.
pub fn measure(models: &[Model]) -> Rows {
    let mut rows = Rows::new();
    let editor = Editor::new();
    for model in models {
        work_on(&editor, model, &mut rows);
    }
    type_in_a_long_model(&editor, &mut rows);
    stop_searches(&editor, &mut rows.cancel);
    rows
}

fn is_of(params: &Value, version: i32) -> bool {
    params["version"] == version
}

/// Opens a model, waits for verdicts, types, and asks about names.
fn work_on(editor: &Editor, model: &Model, rows: &mut Rows) {
    let Model { uri, text, small } = model;
    let verdicts = |message: &Value| -> Option<Vec<bool>> {
        let ours = message["method"] == "fabius/status" && message["params"]["uri"] == uri.as_str();
        let properties = message["params"]["properties"].as_array().filter(|_| ours)?;
        Some(properties.iter().map(|property| !property["verdict"].is_null()).collect())
    };
    // A text that is no model has no properties, and no verdicts to wait for.
    let some = |message: &Value| verdicts(message).is_some_and(|known| known.is_empty() || known.contains(&true));
    let every = |message: &Value| verdicts(message).is_some_and(|known| !known.is_empty() && !known.contains(&false));
    let began = Instant::now();
    editor.open(uri, text);
    let first = editor.wait_until(VERDICT_PATIENCE, &some);
    if let Some(first) = first.filter(|first| *small && verdicts(first).is_some_and(|known| !known.is_empty())) {
        rows.first.since(began);
        if every(&first) || editor.wait_until(VERDICT_PATIENCE, &every).is_some() {
            rows.all.since(began);
        }
    }
    editor.request("fabius/stop", json!({ "uri": uri }));
    editor.forget();
    let began = Instant::now();
    editor.edit(uri, 2, (0, 0), (0, 0), "/* c */ ");
    editor.diagnostics(uri, "moved diagnostics", |params| is_of(params, 2));
    rows.comment.since(began);
    assert_no_search(editor, uri);
    // A letter too many in the middle, and away with it.
    let middle = text.lines().count() as u32 / 2;
    for (version, to, letter) in [(3, 0, "x"), (4, 1, "")] {
        let began = Instant::now();
        editor.edit(uri, version, (middle, 0), (middle, to), letter);
        editor.diagnostics(uri, "diagnostics", |params| is_of(params, version));
        rows.keystroke.since(began);
    }
    let place = json!({ "textDocument": { "uri": uri }, "position": a_name_from(text, middle) });
    let began = Instant::now();
    editor.request("textDocument/hover", place.clone());
    rows.hover.since(began);
    let began = Instant::now();
    editor.request("textDocument/definition", place);
    rows.definition.since(began);
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    editor.forget();
}

/// Nothing is searched after an edit that means nothing.
fn assert_no_search(editor: &Editor, uri: &str) {
    let searched = editor.wait_until(NO_SEARCH, &|message| {
        message["method"] == "fabius/status"
            && message["params"]["uri"] == uri
            && message["params"]["version"] == 2
            && !message["params"]["running"].is_null()
    });
    assert_eq!(searched, None, "{uri}: the edit of a comment started a search");
}

/// The place of the first name in a line or one of those after it.
fn a_name_from(text: &str, line: u32) -> Value {
    let lines = text.lines().enumerate().skip(line as usize);
    let mut names = lines.filter_map(|(line, text)| {
        // Behind `/* c */ ` in the first line.
        let shift = if line == 0 { 8 } else { 0 };
        let at = text.find(|letter: char| letter.is_ascii_alphabetic())?;
        Some(json!({ "line": line, "character": text[..at].encode_utf16().count() + shift }))
    });
    names.next().unwrap_or_else(|| json!({ "line": line, "character": 0 }))
}

/// A model of two thousand lines.
fn long_model() -> String {
    let process = |n: usize| {
        let round = "    do\n    :: x < 9 -> x++; y = x * 2\n    :: y > 3 -> atomic { y = 0; x = 0 }\n    od;\n";
        format!("proctype P{n}() {{\n    byte x, y;\n{}}}\n", round.repeat(4))
    };
    (0..105).map(process).collect::<String>() + "init { run P0() }\n"
}

fn type_in_a_long_model(editor: &Editor, rows: &mut Rows) {
    let (uri, text) = (uri("long"), long_model());
    editor.open(&uri, &text);
    editor.settled(&uri, 1);
    for version in 2..60 {
        editor.forget();
        let began = Instant::now();
        // In the middle of a process in the middle; each letter is taken away again.
        let (to, letter) = if version % 2 == 0 { (0, "x") } else { (1, "") };
        editor.edit(&uri, version, (1000, 0), (1000, to), letter);
        editor.diagnostics(&uri, "diagnostics", |params| is_of(params, version));
        rows.long.since(began);
    }
    for version in 60..80 {
        editor.forget();
        let began = Instant::now();
        editor.edit(&uri, version, (0, 0), (0, 0), "/* c */ ");
        editor.diagnostics(&uri, "moved diagnostics", |params| is_of(params, version));
        rows.comment_long.since(began);
    }
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    editor.forget();
}

fn stop_searches(editor: &Editor, row: &mut Row) {
    for number in 0..20 {
        let uri = uri(&format!("stop-{number}"));
        let ours = |message: &Value| message["method"] == "fabius/status" && message["params"]["uri"] == uri.as_str();
        editor.open(&uri, ENDLESS);
        editor.wait("a running check", |message| {
            ours(message) && message["params"]["running"]["progress"]["states"].as_u64() > Some(1000)
        });
        let began = Instant::now();
        editor.replace(&uri, 2, &ENDLESS.replace("30000", "30001"));
        editor.wait("the end of the check", |message| {
            ours(message) && message["params"]["version"] == 2 && message["params"]["running"].is_null()
        });
        row.since(began);
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        editor.forget();
    }
}

/// The memory of a server of its own after this many edits each, in KiB, where the system tells: an error comes and goes, checks run.
pub fn memory_after(counts: &[i32]) -> Vec<(i32, u64)> {
    let editor = Editor::new();
    let uri = uri("memory");
    editor.open(&uri, FAILING);
    let mut version = 1;
    let mut found = Vec::new();
    for &count in counts {
        while version <= count {
            version += 1;
            editor.replace(&uri, version, if version % 2 == 0 { MENDED } else { FAILING });
            editor.diagnostics(&uri, "diagnostics", |params| is_of(params, version));
            if version % 10 == 0 {
                editor.save(&uri);
                editor.settled(&uri, version);
            }
            editor.forget();
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", editor.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        found.extend(kibibytes.map(|kibibytes| (count, kibibytes)));
    }
    found
}
