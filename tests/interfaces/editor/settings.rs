//! `fabius.toml` beside a model, and what earlier runs proved.

use super::client::Editor;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// A folder that goes away again.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("fabius-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// The address of the folder.
    pub fn uri(&self) -> String {
        format!("file://{}", self.0.display())
    }

    /// Writes a file; returns its address.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        format!("file://{}", self.0.join(name).display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_project_says_what_it_expects() {
    let folder = Folder::new("expect");
    let text = "#ifndef N\n#define N 1\n#endif\ninit { assert(N == 3) }\n";
    folder.write("fabius.toml", "defines = [\"N=2\"]\n[expect.\"m.pml\"]\nsafety = \"violated\"\n");
    let uri = folder.write("m.pml", text);
    let editor = Editor::new();
    editor.open(&uri, text);
    let found =
        editor.diagnostics(&uri, "the violation", |params| !params["diagnostics"].as_array().unwrap().is_empty());
    let one = &found["diagnostics"][0];
    assert_eq!(one["severity"], 3, "{one}");
    assert!(one["message"].as_str().unwrap().starts_with("as expected: "), "{one}");
    // The file changes: the model holds, which nobody expects.
    folder.write("fabius.toml", "defines = [\"N=3\"]\n[expect.\"m.pml\"]\nsafety = \"violated\"\n");
    let changed = format!("file://{}", folder.0.join("fabius.toml").display());
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": changed, "type": 2 }] }));
    editor.diagnostics(&uri, "the surprise", |params| {
        params["diagnostics"][0]["message"]
            .as_str()
            .is_some_and(|message| message.contains("expects that it is violated"))
    });
    folder.write("fabius.toml", "defines = [\"N=3\"]\n[expect.\"n.pml\"]\nsafety = \"violated\"\n");
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": changed, "type": 2 }] }));
    let found = editor.diagnostics(&uri, "a warning", |params| params["diagnostics"][0]["code"] == "F0116");
    assert_eq!(found["diagnostics"][0]["severity"], 2, "{found}");
}

#[test]
fn an_editor_may_choose_a_scheduler_that_the_project_defines() {
    let folder = Folder::new("scheduler");
    // Whoever runs first fails first.
    let text = "byte x, y;\n\
                active proctype A() { x = 1; x = 2; assert(y != 0) }\n\
                active proctype B() { y = 1; y = 2; assert(x != 0) }\n";
    folder.write("fabius.toml", "[schedulers.late]\nbase = \"rtc\"\norder = [\"B\", \"A\"]\n");
    let uri = folder.write("m.pml", text);
    let choose = |scheduler: &str| {
        let editor = Editor::new();
        let settings = json!({ "fabius": { "scheduler": scheduler } });
        editor.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
        editor.open(&uri, text);
        editor
    };
    let line = |editor: &Editor| {
        let found = editor.diagnostics(&uri, "the violation", |params| {
            params["diagnostics"].as_array().unwrap().iter().any(|one| one["severity"] == 1)
        });
        found["diagnostics"][0]["range"]["start"]["line"].as_u64()
    };
    assert_eq!(line(&choose("rtc")), Some(1));
    assert_eq!(line(&choose("late")), Some(2));
    // One that nobody defines is told, and the usual one is taken.
    let editor = choose("early");
    let said = editor.wait("a warning", |message| message["method"] == "window/showMessage");
    assert!(said["params"]["message"].as_str().unwrap().contains("early"), "{said}");
    assert_eq!(line(&editor), Some(1));
}

#[test]
fn a_file_that_changes_on_the_disk_while_it_is_open_is_checked() {
    for told_first in [true, false] {
        let folder = Folder::new(&format!("open-{told_first}"));
        let text = |bound: u8| format!("byte x;\ninit {{ x = 3; assert(x == {bound}) }}\n");
        let uri = folder.write("m.pml", &text(3));
        let editor = Editor::new();
        editor.open(&uri, &text(3));
        editor.settled(&uri, 1);
        // Somebody else writes the file; the editor reads it again, and tells of both.
        folder.write("m.pml", &text(4));
        let tell = || {
            let changes = json!([{ "uri": uri, "type": 2 }]);
            editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
        };
        if told_first {
            tell();
        }
        editor.replace(&uri, 2, &text(4));
        if !told_first {
            tell();
        }
        editor.diagnostics(&uri, "the violation", |params| {
            params["version"] == 2 && params["diagnostics"].to_string().contains("this assertion can fail")
        });
    }
}

#[test]
fn what_changes_on_the_disk_is_read_and_checked() {
    let folder = Folder::new("files");
    let text = "#include \"part.h\"\ninit { assert(LIMIT == 3) }\n";
    let uri = folder.write("m.pml", text);
    let able = json!({
        "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
        "textDocument": { "publishDiagnostics": { "relatedInformation": true } },
    });
    let editor = Editor::with(able);
    let asked = editor.wait("a wish to hear of files", |message| message["method"] == "client/registerCapability");
    let registration = &asked["params"]["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles", "{asked}");
    assert!(registration["registerOptions"]["watchers"][0]["globPattern"].as_str().unwrap().contains("fabius.toml"));
    editor.open(&uri, text);
    let first = |wanted: &str| {
        editor.diagnostics(&uri, wanted, |params| {
            params["diagnostics"][0]["message"].as_str().is_some_and(|message| message.contains(wanted))
        });
    };
    first("cannot be found");
    // A part that was not there comes, is changed, and goes.
    let part = folder.write("part.h", "#define LIMIT 2\n");
    let changed = |kind: u8| json!({ "changes": [{ "uri": part, "type": kind }] });
    editor.notify("workspace/didChangeWatchedFiles", changed(1));
    first("this assertion can fail");
    folder.write("part.h", "#define LIMIT 3\n");
    editor.notify("workspace/didChangeWatchedFiles", changed(2));
    editor.diagnostics(&uri, "no complaint", |params| params["diagnostics"].as_array().unwrap().is_empty());
    std::fs::remove_file(folder.0.join("part.h")).unwrap();
    editor.notify("workspace/didChangeWatchedFiles", changed(3));
    first("cannot be found");
}

#[test]
fn a_model_says_what_it_expects() {
    let uri = super::uri("expected");
    let text = "byte x;\n/*@ expect: violated */\ninit { assert(x == 1) }\n";
    let editor = Editor::new();
    editor.open(&uri, text);
    let found =
        editor.diagnostics(&uri, "the violation", |params| !params["diagnostics"].as_array().unwrap().is_empty());
    let one = &found["diagnostics"][0];
    assert_eq!(one["severity"], 3, "{one}");
    assert!(one["message"].as_str().unwrap().starts_with("as expected: "), "{one}");
    let status = editor.settled(&uri, 1);
    assert_eq!(status["properties"][0]["expected"], "violated", "{status}");
    // The comment changes, the model does not: nothing is searched, and the violation is an error.
    editor.replace(&uri, 2, &text.replace("violated", "holds"));
    editor.diagnostics(&uri, "an error", |params| params["diagnostics"][0]["severity"] == 1);
    // It holds although the comment says otherwise, which the comment is told.
    editor.replace(&uri, 3, &text.replace("x == 1", "x == 0"));
    editor.save(&uri);
    let surprise = editor.diagnostics(&uri, "the surprise", |params| {
        params["diagnostics"][0]["message"]
            .as_str()
            .is_some_and(|message| message.contains("this comment expects that it is violated"))
    });
    assert_eq!(surprise["diagnostics"][0]["range"]["start"]["line"], 1, "{surprise}");
}

/// More than a hundred thousand states, of which no reduction leaves out any.
const LARGE: &str = "\
byte a, b, c;
active proctype A() { do :: a < 30 && b + c < 99 -> a++ :: a == 30 -> a = 0 od }
active proctype B() { do :: b < 30 && c + a < 99 -> b++ :: b == 30 -> b = 0 od }
active proctype C() { do :: c < 30 && a + b < 99 -> c++ :: c == 30 -> c = 0 od }
ltl small { [] (a <= 30) }
";

fn check(folder: &Folder, flags: &[&str]) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fabius"))
        .args(["check", "m.pml", "--json"])
        .args(flags)
        .current_dir(&folder.0)
        .env("XDG_CACHE_HOME", folder.0.join("cache"))
        .env_remove("FABIUS_CACHE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (serde_json::from_str(&text).unwrap_or_else(|wrong| panic!("{wrong}: {text}")), text)
}

#[test]
fn what_was_proved_is_remembered() {
    let folder = Folder::new("cache");
    folder.write("m.pml", LARGE);
    let (first, text) = check(&folder, &[]);
    assert_eq!(first["verdict"], "holds", "{first}");
    let entries = walk(&folder.0.join("cache"));
    assert!(!entries.is_empty(), "a search of {} seconds is not remembered", first["properties"][0]["seconds"]);
    // The very same answer, figures included: only a remembered one takes exactly as long.
    let (again, same) = check(&folder, &[]);
    let cached = |report: &Value| report["properties"][0]["cached"].as_str().map(str::to_owned);
    assert_eq!((cached(&first), cached(&again).map(|time| time.len())), (None, Some(16)), "{again}");
    let figures = |report: &Value| {
        let mut report = report.clone();
        let properties = report["properties"].as_array_mut().unwrap();
        properties.iter_mut().for_each(|property| drop(property.as_object_mut().unwrap().remove("cached")));
        report
    };
    assert_eq!(figures(&again), first, "{text} {same}");
    // Comments do not matter, places are told anew.
    folder.write("m.pml", &format!("/* a comment */\n{LARGE}"));
    assert_eq!(figures(&check(&folder, &[]).0)["properties"], first["properties"]);
    // A search that may use less is no such search.
    let (short, _) = check(&folder, &["--max-depth", "20"]);
    assert_eq!((&short["verdict"], cached(&short)), (&json!("undecided"), None), "{short}");
    // Another model, another question, or `--no-cache`: searched.
    let seconds = |report: &Value| report["properties"][0]["seconds"].as_f64().unwrap();
    assert_ne!(seconds(&check(&folder, &["--no-cache"]).0), seconds(&first));
    folder.write("m.pml", &LARGE.replace("a <= 30", "a < 30"));
    assert_eq!(check(&folder, &[]).0["verdict"], "violated");
    // Entries that are damaged, edited or in another's place are no entries.
    folder.write("m.pml", LARGE);
    let texts: Vec<String> = entries.iter().map(|entry| std::fs::read_to_string(entry).unwrap()).collect();
    let damages: [&dyn Fn(usize) -> String; 4] = [
        &|_| "{".to_owned(),
        &|at| texts[at].replace("\"depth\":", "\"depth\":1"),
        &|at| texts[(at + 1) % texts.len()].clone(),
        &|at| texts[at][..texts[at].len() / 2].to_owned(),
    ];
    assert!(1 < texts.len());
    for damage in damages {
        for (at, entry) in entries.iter().enumerate() {
            std::fs::write(entry, damage(at)).unwrap();
        }
        let (report, _) = check(&folder, &["--property", "safety"]);
        assert_eq!((&report["verdict"], cached(&report)), (&json!("holds"), None), "{report}");
    }
    assert!(cached(&check(&folder, &["--property", "safety"]).0).is_some());
}

#[test]
fn a_file_of_settings_that_cannot_be_read_is_an_error_in_the_model() {
    let folder = Folder::new("misconfigured");
    let text = "byte x;\ninit { assert(x == 1) }\n";
    let config = folder.write("fabius.toml", "define = [\"N=2\"]\n");
    let uri = folder.write("m.pml", text);
    let editor = Editor::new();
    editor.open(&uri, text);
    let found = editor.diagnostics(&uri, "the error", |params| params["diagnostics"].to_string().contains("F0115"));
    assert_eq!(found["diagnostics"].as_array().unwrap().len(), 1, "{found}");
    let status = editor.request("fabius/properties", json!({ "uri": uri }));
    assert!(status["faulty"]["message"].as_str().unwrap().contains("settings of the project"), "{status}");
    folder.write("fabius.toml", "defines = [\"N=2\"]\n");
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": config, "type": 2 }] }));
    editor.diagnostics(&uri, "the violation", |params| params["diagnostics"].to_string().contains("F0601"));
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(walk(&path)),
            path => found.push(path),
        }
    }
    found
}

/// Takes a while to check, whatever is asked: steps are long, and shorter runs are looked for.
const VIOLATED: &str = "\
#define T (a * b + b * c + c * a)
#define U (T + T + T + T + T + T + T + T)
#define LONG (U + U + U + U + U + U + U + U >= 0)
byte a, b, c;
inline count(x) { d_step { x < 20 && LONG; x++ } }
active proctype P() { do :: count(a) :: count(b) :: count(c) :: else -> assert(a + b + c < 60); a = 0 od }
ltl p { []<> (a + b + c == 0) }
";

#[test]
fn a_violation_that_one_interface_found_is_known_to_the_others() {
    let folder = Folder::new("known-violation");
    // What a short look does not find out about a violation is not kept.
    folder.write("fabius.toml", "[check]\nquick-milliseconds = 60000\n");
    let uri = folder.write("m.pml", VIOLATED);
    let cached = |report: &Value| {
        let properties = report["properties"].as_array().unwrap().iter();
        properties.map(|property| !property["cached"].is_null()).collect::<Vec<_>>()
    };
    let in_editor = || {
        let editor = Editor::remembering(&folder.0.join("cache"));
        editor.open(&uri, VIOLATED);
        editor.settled(&uri, 1)
    };
    let steps = |report: &Value| report["properties"][0]["violations"][0]["steps"].clone();
    // From the command line to the editor.
    let (first, _) = check(&folder, &[]);
    assert_eq!(cached(&first), [false, false]);
    let status = in_editor();
    assert_eq!(cached(&status), [true, true], "{status}");
    let words = format!("✗ an assertion can fail: {} steps", steps(&first));
    let summary = status["properties"][0]["summary"].as_str().unwrap();
    assert!(summary.starts_with(&words) && summary.contains("(cached result from "), "{summary}");
    // From the editor to the command line.
    std::fs::remove_dir_all(folder.0.join("cache")).unwrap();
    assert_eq!(cached(&in_editor()), [false, false]);
    let (again, text) = check(&folder, &[]);
    assert_eq!(cached(&again), [true, true], "{text}");
    assert_eq!(steps(&again), steps(&first));
    assert!(!again["properties"][0]["schedule"].is_null(), "{text}");
    assert_eq!(again["properties"][0]["schedule"], first["properties"][0]["schedule"]);
}
