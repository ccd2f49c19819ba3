//! `fabius mcp`: the real program, spoken to by a client of our own.

use super::known_violations::{COUNTERS, Model, files};
use super::schema::Schemas;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A model with more states than can be looked at.
const LARGE: &str = "int x, y, z; active [3] proctype P() { do :: x++ :: y++ :: z++ :: assert(x + y + z != -5) od }";

/// What the server answers to these messages, after which its input ends.
fn answers(messages: &[Value]) -> Vec<Value> {
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    answers_to(lines.as_bytes())
}

fn answers_to(bytes: &[u8]) -> Vec<Value> {
    answers_remembering(bytes, None)
}

/// The same; `cache` is where results are remembered.
fn answers_remembering(bytes: &[u8], cache: Option<&Path>) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.arg("mcp").current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::piped()).stdout(Stdio::piped());
    match cache {
        Some(folder) => command.env("XDG_CACHE_HOME", folder).env_remove("FABIUS_CACHE"),
        None => command.env("FABIUS_CACHE", "off"),
    };
    let mut server = command.spawn().expect("the server starts");
    let mut input = server.stdin.take().expect("it has an input");
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes).expect("the server reads its input"));
    let output = server.wait_with_output().expect("the server ends");
    writer.join().expect("all is written");
    assert!(output.status.success(), "{:?}", output.status);
    let text = String::from_utf8(output.stdout).expect("answers are texts");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// The document that a tool answers with.
fn document(tool: &str, arguments: Value) -> Value {
    let answers = answers(&[call(1, tool, arguments)]);
    assert_eq!(answers[0]["result"]["isError"], false, "{answers:?}");
    answers[0]["result"]["structuredContent"].clone()
}

/// Why a tool does not answer.
fn refusal(tool: &str, arguments: Value) -> String {
    let answers = answers(&[call(1, tool, arguments)]);
    assert_eq!(answers[0]["result"]["isError"], true, "{answers:?}");
    answers[0]["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
}

#[test]
fn the_server_says_what_it_is_and_lists_its_tools() {
    let initialize = |version: &str| {
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
        json!({ "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params })
    };
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answers = answers(&[initialize("2024-11-05"), initialize("1999-01-01"), ready, list]);
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(answers[0]["id"], "a");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(answers[1]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "fabius");
    let tools = answers[2]["result"]["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["check", "explore", "causes", "schedule", "explain"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
}

#[test]
fn a_check_answers_with_a_report() {
    let report = document("check", json!({ "path": "models/peterson_broken.pml" }));
    assert_eq!(report["verdict"], "violated");
    let errors = Schemas::read().errors("report.schema.json", &report);
    assert!(errors.is_empty(), "{errors:?}");
    let text = "byte x; active proctype P() { do :: x < N -> x++ :: else -> break od }";
    let arguments = json!({ "text": text, "defines": { "N": 3 }, "ltl": ["<> (x == 3)"], "fairness": "weak" });
    assert_eq!(document("check", arguments)["verdict"], "holds");
    assert_eq!(document("check", json!({ "text": "active proctype P() { x = }" }))["verdict"], "faulty");
}

#[test]
fn what_a_check_found_is_known_and_nothing_is_written() {
    let model = Model::new(COUNTERS);
    let cached = |more: Value| {
        let mut arguments = json!({ "path": model.path, "properties": ["safety"] });
        arguments.as_object_mut().expect("arguments").extend(more.as_object().expect("arguments").clone());
        let message = format!("{}\n", call(1, "check", arguments));
        let answers = answers_remembering(message.as_bytes(), Some(&model.cache()));
        let report = &answers[0]["result"]["structuredContent"];
        assert_eq!(report["verdict"], "violated", "{answers:?}");
        report["properties"][0]["cached"].is_string()
    };
    assert!(!cached(json!({})) && !cached(json!({})));
    assert!(files(&model.cache()).is_empty());
    model.check(&["--property", "safety"]).expect(1);
    assert!(cached(json!({})));
    assert!(!cached(json!({ "no_cache": true })));
}

#[test]
fn a_long_run_is_told_by_its_ends() {
    let text = "int n; active proctype P() { do :: n < 400 -> n++ :: else -> break od; assert(n == 0) }";
    let report = document("check", json!({ "text": text }));
    assert_eq!(Schemas::read().errors("report.schema.json", &report), Vec::<String>::new());
    let violation = &report["properties"][0]["violations"][0];
    let numbers: Vec<u64> =
        violation["trace"].as_array().expect("a run").iter().filter_map(|step| step["step"].as_u64()).collect();
    let steps = violation["steps"].as_u64().expect("a number");
    assert_eq!((numbers.len(), numbers[0], numbers[199]), (200, 1, steps), "{violation}");
    assert_eq!(violation["steps_left_out"], steps - 200);
}

#[test]
fn a_check_ends_after_its_time() {
    let report = document("check", json!({ "text": LARGE, "timeout_seconds": 0.3 }));
    assert_eq!(report["verdict"], "undecided", "{report}");
    let report = document("check", json!({ "text": LARGE, "max_states": 100 }));
    assert_eq!(report["verdict"], "undecided", "{report}");
}

#[test]
fn a_walk_goes_where_the_steps_lead() {
    let text = "byte x; active proctype P() { x = 1; x == 2; x = 3 } active proctype Q() { x = 2 }";
    let start = document("explore", json!({ "text": text }));
    assert_eq!(start["steps"], json!([]));
    assert_eq!(start["choices"].as_array().map(Vec::len), Some(2));
    let of = |document: &Value, process: &str| {
        let choices = document["choices"].as_array().expect("a list").clone();
        choices
            .into_iter()
            .find(|choice| choice["process"].as_str().is_some_and(|name| name.starts_with(process)))
            .expect("it can move")["number"]
            .clone()
    };
    let first = of(&start, "P");
    let then = document("explore", json!({ "text": text, "steps": [first] }));
    assert_eq!(then["variables"][0]["value"], "1");
    assert_eq!(then["variables"][0]["before"], "0");
    let waiting = then["processes"].as_array().expect("a list").iter().find(|process| process["pid"] == 0).expect("P");
    assert_eq!(waiting["state"], "waits");
    assert!(waiting["why"][0].as_str().is_some_and(|why| why.contains("x == 2")), "{waiting}");
    let second = of(&then, "Q");
    let end = document("explore", json!({ "text": text, "steps": [first, second], "random_steps": 50, "seed": 1 }));
    assert_eq!(end["choices"], json!([]));
    assert!(end["variables"][0]["value"] == "3" && end["ends"].is_string(), "{end}");
    assert!(
        refusal("explore", json!({ "text": text, "steps": [9] }))
            .contains("the choices there are numbered from 1 to 2")
    );
}

#[test]
fn causes_are_those_of_the_command() {
    let model = "models/last_seat.pml";
    let run = super::tool::run(&["causes", model, "--json"]);
    let mut told = super::tool::json(&run, "causes.schema.json");
    let mut answered = document("causes", json!({ "path": model }));
    for report in [&mut told, &mut answered] {
        report["seconds"] = json!(0);
    }
    assert_eq!(answered, told);
    let first = document("causes", json!({ "path": model, "limit": 1 }));
    assert_eq!(first["properties"][0]["complete"], false, "{first}");
}

#[test]
fn a_schedule_is_found_and_a_code_explained() {
    let report = document("schedule", json!({ "path": "models/peterson_broken.pml" }));
    assert_eq!(report["verdict"], "avoidable");
    let answers = answers(&[call(7, "explain", json!({ "code": "F0602" }))]);
    assert!(answers[0]["result"]["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("F0602 Deadlock")));
}

/// The tool is to look as long, and at as many waits, as the command does: it says the same of a model.
#[test]
fn a_schedule_is_the_one_of_the_command() {
    let model = "models/peterson_broken.pml";
    let run = super::tool::run(&["schedule", model, "--json"]);
    let mut told = super::tool::json(&run, "schedule.schema.json");
    let mut answered = document("schedule", json!({ "path": model }));
    for report in [&mut told, &mut answered] {
        report["elapsed_seconds"] = Value::Null;
    }
    assert_eq!(answered, told);

    let list = &answers(&[json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })])[0]["result"]["tools"];
    let tools = list.as_array().expect("a list of tools");
    let schedule = tools.iter().find(|tool| tool["name"] == "schedule").expect("there is a tool for schedules");
    let waits = &schedule["inputSchema"]["properties"]["waits"];
    let help = super::tool::run(&["help", "schedule"]).out;
    assert!(help.contains(&format!("[default: {}]", waits["default"])), "{waits}: {help}");
    let refused = refusal("schedule", json!({ "path": model, "waits": 10 }));
    assert!(refused.contains(&format!("from 1 to {}", waits["maximum"])), "{waits}: {refused}");
}

#[test]
fn what_is_wrong_is_said() {
    assert!(refusal("check", json!({})).contains("either `path` or `text`"));
    assert!(refusal("check", json!({ "text": "", "timeout": 3 })).contains("unknown argument `timeout`"));
    assert!(refusal("check", json!({ "text": "", "timeout_seconds": -1 })).contains("timeout_seconds"));
    assert!(refusal("check", json!([])).contains("object"));
    assert!(refusal("explain", json!({ "code": "F9999" })).contains("no code"));
    assert!(refusal("schedule", json!({ "path": "no_such_model.pml" })).contains("no_such_model.pml"));
    assert!(refusal("explore", json!({ "text": "#include \"other.pml\"\ninit { skip }" })).contains("other.pml"));
    let requests =
        ["nonsense", "", "[1]", r#"{"id":1}"#, r#"{"id":2,"method":"x"}"#, r#"{"id":3,"method":"tools/call"}"#];
    let answers = answers_to(requests.join("\n").as_bytes());
    let codes: Vec<i64> = answers.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [-32700, -32600, -32600, -32601, -32602]);
}

#[test]
fn a_cancelled_call_is_not_answered() {
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let explain = call(3, "explain", json!({ "code": "F0602" }));
    let answers = answers(&[call(1, "check", json!({ "text": LARGE })), cancelled, ping, explain]);
    let mut ids: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [2, 3]);
}
