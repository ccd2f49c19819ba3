//! Executions in an editor: how many there are, the tree of choices on demand, single ones as traces.

use super::client::Editor;
use super::models::uri;
use serde_json::{Value, json};

/// Each takes its left fork first, once.
const FORKS: &str = "byte fork[2];
active [2] proctype Philosopher() {
    fork[_pid] == 0 -> fork[_pid] = 1;
    fork[1 - _pid] == 0 -> fork[1 - _pid] = 1;
    fork[1 - _pid] = 0;
    fork[_pid] = 0
}
";

const SPINNING: &str = "byte x;
active proctype P() { do :: x = 1 - x od }
";

fn number(value: &Value) -> u64 {
    value.as_str().and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("no number: {value}"))
}

/// The ends of all executions below a branch, by asking for alternatives until there is nothing more.
fn ends(editor: &Editor, uri: &str, branch: &Value) -> Vec<(u64, String)> {
    if let Some(end) = branch["ends"].as_str() {
        return vec![(number(&branch["first"]), end.to_owned())];
    }
    let about = json!({ "uri": uri, "first": branch["first"], "executions": branch["executions"] });
    let told = editor.request("fabius/executionTree", about);
    assert_eq!(told["branch"]["executions"], branch["executions"], "{told}");
    let below: Vec<_> =
        told["alternatives"].as_array().unwrap().iter().flat_map(|way| ends(editor, uri, way)).collect();
    assert_eq!(below.len() as u64, number(&branch["executions"]), "{told}");
    below
}

#[test]
fn the_tree_of_choices_is_opened_on_demand_and_leads_to_every_execution() {
    let editor = Editor::new();
    let uri = uri("executions");
    editor.open(&uri, FORKS);
    let none = editor.answer(editor.ask("fabius/executionTree", json!({ "uri": uri })));
    assert!(none["error"]["message"].as_str().unwrap().contains("ask fabius/executions first"), "{none}");
    let counted = editor.request("fabius/executions", json!({ "uri": uri }));
    assert_eq!((&counted["exhaustive"], &counted["stale"]), (&json!(true), &json!(false)), "{counted}");
    let (all, stuck) = (number(&counted["executions"]), number(&counted["stuck"]));
    assert!(counted["sentence"].as_str().unwrap().starts_with(&format!("{all} essentially different executions, of ")));
    assert!(counted["sentence"].as_str().unwrap().contains(&format!("{stuck} gets stuck")), "{counted}");
    let root = editor.request("fabius/executionTree", json!({ "uri": uri }));
    assert_eq!(number(&root["branch"]["executions"]), all, "{root}");
    let way = &root["alternatives"][0];
    assert_eq!((&way["step"]["uri"], way["step"]["range"].is_object()), (&json!(uri), true), "{way}");
    let ends = ends(&editor, &uri, &root["branch"]);
    assert!(ends.iter().map(|(first, _)| *first).eq(1..=all), "{ends:?}");
    assert_eq!(ends.iter().filter(|(_, end)| end == "stuck").count() as u64, stuck);
    // One of them as a trace, by page and by step, and as text.
    let (rank, _) = ends.iter().find(|(_, end)| end == "stuck").unwrap();
    let page = editor.request("fabius/execution", json!({ "uri": uri, "number": rank.to_string(), "count": 2 }));
    let run = page["run"].as_str().unwrap().to_owned();
    assert_eq!((run.as_str(), &page["kind"]), (format!("execution {rank}").as_str(), &json!("stuck")), "{page}");
    assert_eq!((page["page"].as_array().unwrap().len(), page["blocked"].as_array().unwrap().len()), (2, 2), "{page}");
    let steps = page["steps"].as_u64().unwrap();
    let rest = editor.request("fabius/trace", json!({ "uri": uri, "run": run, "from": 3 }));
    assert_eq!(rest["page"].as_array().unwrap().len() as u64, steps - 2, "{rest}");
    let last = editor.request("fabius/step", json!({ "uri": uri, "run": run, "step": steps }));
    assert!(last["variables"].as_array().unwrap().contains(&json!({ "name": "fork[0]", "value": "1" })), "{last}");
    let text = editor.request("fabius/export", json!({ "uri": uri, "run": run, "format": "text" }));
    assert!(text["text"].as_str().unwrap().starts_with(&format!("execution {rank}: gets stuck\n")), "{text}");
    let beyond = editor.answer(editor.ask("fabius/execution", json!({ "uri": uri, "number": (all + 1).to_string() })));
    assert!(beyond["error"]["message"].as_str().unwrap().contains("no such execution"), "{beyond}");
}

#[test]
fn after_an_edit_executions_are_old_and_their_places_move() {
    let editor = Editor::new();
    let uri = uri("old");
    editor.open(&uri, FORKS);
    editor.request("fabius/executions", json!({ "uri": uri }));
    let line = |page: &Value| page["page"][0]["range"]["start"]["line"].as_u64().unwrap();
    let ask = |version: i32, text: &str| {
        editor.replace(&uri, version, text);
        editor.request("fabius/execution", json!({ "uri": uri, "number": "1" }))
    };
    let first = editor.request("fabius/execution", json!({ "uri": uri, "number": "1" }));
    assert_eq!((line(&first), &first["stale"]), (2, &json!(false)));
    let commented = ask(2, &format!("/* a comment */\n{FORKS}"));
    assert_eq!((line(&commented), &commented["stale"]), (3, &json!(false)), "a comment changes no meaning");
    let changed = ask(3, &format!("/* a comment */\n{}", FORKS.replace("fork[_pid] = 0", "fork[_pid] = 2")));
    assert_eq!((line(&changed), &changed["stale"]), (3, &json!(true)), "{changed}");
    let tree = editor.request("fabius/executionTree", json!({ "uri": uri }));
    assert_eq!(tree["stale"], true, "{tree}");
    let again = editor.request("fabius/executions", json!({ "uri": uri }));
    assert_eq!(again["stale"], false, "{again}");
}

#[test]
fn a_model_that_does_not_end_says_what_to_do() {
    let editor = Editor::new();
    let uri = uri("spinning");
    editor.open(&uri, SPINNING);
    let told = editor.request("fabius/executions", json!({ "uri": uri }));
    assert_eq!((&told["executions"], &told["exhaustive"]), (&Value::Null, &json!(false)), "{told}");
    assert!(told["sentence"].as_str().unwrap().starts_with("infinitely many executions"), "{told}");
    assert!(told["advice"].as_str().unwrap().contains("`laps`"), "{told}");
    let none = editor.answer(editor.ask("fabius/executionTree", json!({ "uri": uri })));
    assert!(none["error"].is_object(), "{none}");
    let told = editor.request("fabius/executions", json!({ "uri": uri, "laps": 2 }));
    assert_eq!((&told["executions"], &told["cut"], &told["exhaustive"]), (&json!("1"), &json!("1"), &json!(true)));
    assert_eq!(
        told["sentence"],
        "1 essentially different execution, of 1 interleaving with at most 2 laps of each loop: 1 is cut off"
    );
    let tree = editor.request("fabius/executionTree", json!({ "uri": uri }));
    assert_eq!((&tree["branch"]["ends"], tree["alternatives"].as_array().map(Vec::len)), (&json!("cut"), Some(0)));
}

/// The command of an action with a title.
fn command(editor: &Editor, uri: &str, line: u32, title: &str) -> Option<Value> {
    let at = json!({ "line": line, "character": 12 });
    let params = json!({ "textDocument": { "uri": uri }, "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let actions = editor.request("textDocument/codeAction", params);
    let found = actions.as_array().unwrap().iter().find(|action| action["title"] == title)?;
    Some(found["command"].clone())
}

#[test]
fn a_process_type_and_a_statement_offer_questions() {
    let editor = Editor::new();
    let uri = uri("asked");
    editor.open(&uri, "chan c = [0] of { byte };\nproctype Sender() {\n    c!1;\n    skip\n}\n");
    let contexts = "Which contexts lead `Sender` to a deadlock or a failure?";
    let asked = command(&editor, &uri, 1, contexts).expect("a question at the type");
    let answer = editor.request("workspace/executeCommand", asked);
    assert!(answer["model"].as_str().unwrap().contains("run Sender()"), "{answer}");
    let message = editor.wait("the answer is shown", |message| message["method"] == "window/showMessage");
    assert_eq!(message["params"]["message"], answer["sentence"]);
    assert!(command(&editor, &uri, 2, contexts).is_none(), "not at a statement");
    // Without processes that run there is nothing to get stuck.
    editor.replace(&uri, 2, "chan c = [0] of { byte };\nactive proctype Sender() {\n    c!1;\n    skip\n}\n");
    assert!(command(&editor, &uri, 1, contexts).is_none(), "it is there in each context");
    let asked = command(&editor, &uri, 2, "Can this get stuck here?").expect("a question at the statement");
    let answer = editor.request("workspace/executeCommand", asked);
    assert_eq!(answer["verdict"], "deadlock", "{answer}");
    assert!(command(&editor, &uri, 0, "Can this get stuck here?").is_none(), "not at a declaration");
}

#[test]
fn contexts_that_lead_to_a_deadlock_come_as_a_model() {
    let editor = Editor::new();
    let uri = uri("contexts");
    // Two that send to each other without anybody who receives.
    editor.open(&uri, "chan c = [0] of { byte };\nproctype Sender() { c!1 }\nproctype Receiver() { byte x; c?x }\n");
    let told = editor.request("fabius/contexts", json!({ "uri": uri, "process": "Sender" }));
    assert_eq!(told["complete"], true, "{told}");
    let contexts = told["contexts"].as_array().unwrap();
    let runs = |context: &Value| context["statements"].as_array().unwrap().contains(&json!("run Sender()"));
    assert!(contexts.iter().all(runs), "{told}");
    let wrong = contexts.iter().filter(|context| context["verdict"] == "violated").count();
    assert!(0 < wrong && wrong < contexts.len(), "{told}");
    let sentence = told["sentence"].as_str().unwrap();
    assert!(sentence.starts_with(&format!("{wrong} of {} contexts with `Sender` ", contexts.len())), "{sentence}");
    // What is shown is a model that deadlocks.
    let shown = super::models::uri("shown");
    editor.open(&shown, told["model"].as_str().unwrap());
    let status = editor.settled(&shown, 1);
    assert_eq!(status["properties"][0]["verdict"], "violated", "{status}\n{}", told["model"]);
    let none = editor.answer(editor.ask("fabius/contexts", json!({ "uri": uri, "process": "Nobody" })));
    assert!(none["error"]["message"].as_str().unwrap().contains("Nobody"), "{none}");
}

#[test]
fn a_line_is_asked_whether_the_model_can_get_stuck_there() {
    let editor = Editor::new();
    let uri = uri("stuck");
    editor.open(&uri, FORKS);
    let at = |line: u32| editor.request("fabius/stuck", json!({ "uri": uri, "lines": [line] }));
    let second = at(3);
    assert_eq!((&second["verdict"], &second["run"]), (&json!("deadlock"), &json!("deadlock at line 4")), "{second}");
    assert!(second["sentence"].as_str().unwrap().starts_with("Yes: a run of "), "{second}");
    let page = editor.request("fabius/trace", json!({ "uri": uri, "run": second["run"] }));
    assert_eq!(page["blocked"].as_array().map(Vec::len), Some(2), "{page}");
    let first = at(2);
    assert_eq!((&first["verdict"], first.get("run")), (&json!("no_deadlock"), None), "{first}");
    let nothing = editor.answer(editor.ask("fabius/stuck", json!({ "uri": uri, "lines": [0] })));
    assert!(nothing["error"]["message"].as_str().unwrap().contains("no process can wait at line 1"), "{nothing}");
}

/// The code lenses of a model once its states were looked at: titles and commands.
fn lenses_when_surveyed(editor: &Editor, uri: &str) -> Vec<(String, Value)> {
    let end = std::time::Instant::now() + super::client::PATIENCE;
    loop {
        let found = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        let lens = |lens: &Value| (lens["command"]["title"].as_str().unwrap_or("").to_owned(), lens["command"].clone());
        let lenses: Vec<_> = found.as_array().unwrap().iter().map(lens).collect();
        if lenses.iter().any(|(title, _)| title.ends_with("places reached")) {
            return lenses;
        }
        assert!(std::time::Instant::now() < end, "{found}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_code_lens_says_how_many_executions_there_are_where_all_were_counted() {
    let editor = Editor::new();
    let uri = uri("counted");
    editor.open(&uri, FORKS);
    let lenses = lenses_when_surveyed(&editor, &uri);
    let (title, command) = lenses.iter().find(|(title, _)| title.contains("execution")).expect("a lens");
    assert_eq!(title, "7 executions, 1 gets stuck");
    let told = editor.request("workspace/executeCommand", command.clone());
    assert_eq!((&told["executions"], &told["stuck"]), (&"7".into(), &"1".into()));
    editor.wait("the answer is shown", |message| message["method"] == "window/showMessage");
    // Of an infinite number, and of what is not counted yet, nothing is said.
    let spinning = super::models::uri("uncounted");
    editor.open(&spinning, SPINNING);
    let lenses = lenses_when_surveyed(&editor, &spinning);
    assert!(lenses.iter().all(|(title, _)| !title.contains("execution")), "{lenses:?}");
}
