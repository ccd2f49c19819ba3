//! A long session: hundreds of edits, faulty texts, and files that change on the disk. What is shown of the present text at
//! the end of each stretch is what a server shows that was just started.

use super::client::{Editor, PATIENCE};
use super::settings::Folder;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// This many edits are made, …
const EDITS: usize = 220;
/// … and after this many of them the session is compared with a fresh one.
const STRETCH: usize = 20;
/// Nothing comes any more if nothing came for so long.
const QUIET: Duration = Duration::from_millis(400);

const PART: &str = "#define LIMIT 2\n";
const MODEL: &str = "\
#include \"part.h\"
byte turn, critical;
chan ready = [1] of { byte };
active [2] proctype Worker() {
    turn = _pid;
    critical++;
    assert(critical < LIMIT);
    critical--;
    ready!turn
}
active proctype Reader() {
    byte who;
    ready?who;
    skip
}
";

/// What somebody does to the text, by lines.
struct Typist {
    seed: u64,
    lines: Vec<String>,
    /// Lines that are no Promela.
    faulty: usize,
}

impl Typist {
    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Changes some line.
    fn type_something(&mut self) {
        let number = self.random(1000);
        let inside = |line: &&String| line.starts_with("    ") && line.ends_with(';');
        match self.random(9) {
            0 => self.lines.insert(1, format!("/* note {number} */")),
            1 => self.lines.insert(1, format!("byte extra{number};")),
            2 => {
                let at = self.lines.iter().position(|line| inside(&line)).unwrap_or(1);
                self.lines.insert(at, "    skip;".to_owned());
            }
            3 => self.lines.retain(|line| line != "    skip;"),
            4 => self.lines.retain(|line| !line.starts_with("byte extra") && !line.starts_with("/* note")),
            5 if self.faulty == 0 => {
                let at = self.random(self.lines.len());
                self.lines.insert(at, "@@ {".to_owned());
                self.faulty = 1;
            }
            5 | 6 => {
                self.lines.retain(|line| line != "@@ {");
                self.faulty = 0;
            }
            7 => {
                let wrong = self.lines.iter().any(|line| line.contains("critical < LIMIT)"));
                let (from, to) = if wrong { ("< LIMIT)", "<= LIMIT)") } else { ("<= LIMIT)", "< LIMIT)") };
                self.lines.iter_mut().for_each(|line| *line = line.replace(from, to));
            }
            _ => self.lines.iter_mut().for_each(|line| {
                if line.starts_with("chan ready") {
                    *line = format!("chan ready = [{}] of {{ byte }};", number % 3);
                }
            }),
        }
    }
}

fn opened(uri: &str, text: &str) -> Editor {
    let editor = Editor::new();
    // However busy the machine is, the first look is the last.
    let settings = json!({ "fabius": { "quickMilliseconds": 30_000, "hints": false } });
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    editor.open(uri, text);
    editor
}

/// What is shown of the present text once everything about it is known.
fn shown(editor: &Editor, uri: &str) -> Vec<Value> {
    let end = Instant::now() + PATIENCE;
    loop {
        let status = editor.request("fabius/properties", json!({ "uri": uri }));
        let known = |property: &Value| property["verdict"] != Value::Null && property["stale"] == false;
        let all = status["properties"].as_array().unwrap().iter().all(known);
        if status["running"].is_null() && (all || !status["faulty"].is_null()) {
            break;
        }
        assert!(Instant::now() < end, "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut found = editor.last_diagnostics(uri, QUIET);
    // What was found out about an earlier text is no concern of a fresh server.
    found.retain(|one| !one["message"].as_str().unwrap().starts_with("before the last edits: "));
    found
}

#[test]
fn a_long_session_shows_what_a_fresh_server_shows() {
    let folder = Folder::new("session");
    let part = folder.write("part.h", PART);
    let uri = folder.write("m.pml", MODEL);
    let editor = opened(&uri, MODEL);
    let mut typist = Typist { seed: 11, lines: MODEL.lines().map(str::to_owned).collect(), faulty: 0 };
    let mut limit = 2;
    let tell = |file: &str| {
        let changes = json!([{ "uri": file, "type": 2 }]);
        editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    };
    for edit in 1..=EDITS {
        typist.type_something();
        let text = typist.text();
        let version = edit as i32 + 1;
        match typist.random(6) {
            // Another program writes the file, and the editor reads it again.
            0 => {
                folder.write("m.pml", &text);
                editor.replace(&uri, version, &text);
                tell(&uri);
            }
            1 => {
                limit = 5 - limit;
                folder.write("part.h", &format!("#define LIMIT {limit}\n"));
                editor.replace(&uri, version, &text);
                tell(&part);
            }
            2 => {
                editor.replace(&uri, version, &text);
                editor.save(&uri);
            }
            _ => editor.replace(&uri, version, &text),
        }
        if edit % STRETCH == 0 {
            folder.write("m.pml", &text);
            editor.save(&uri);
            let (long, fresh) = (shown(&editor, &uri), shown(&opened(&uri, &text), &uri));
            assert_eq!(long, fresh, "after {edit} edits, of\n{text}");
            editor.forget();
        }
    }
}
