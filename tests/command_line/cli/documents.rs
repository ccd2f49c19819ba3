//! Reports and events as a script reads them.

use super::*;

#[test]
fn reports_and_events_are_as_the_schemas_say() {
    let schemas = Schemas::read();
    let runs: &[&[&str]] = &[
        &["holds.pml"],
        &["broken.pml"],
        &["broken.pml", "--keep-going", "--no-optimize"],
        &["several.pml", "--keep-going", "--search", "bfs"],
        &["stuck.pml", "--search", "dfs"],
        &["divide.pml"],
        &["faulty.pml"],
        &["wishes.pml"],
        &["wishes.pml", "--property", "ltl"],
        &["wishes.pml", "--property", "nonsense"],
        &["circle.pml"],
        &["forced.pml"],
        &["no-such-file.pml"],
        &["endless.pml", "--max-depth", "100", "--store", "hash"],
        &["endless.pml", "--max-states", "1000", "--store", "bitstate"],
        &["holds.pml", "--store", "bitstate"],
        &["holds.pml", "broken.pml"],
    ];
    for args in runs {
        let report = check(&[args, &["--json"][..]].concat()).json();
        assert_eq!(schemas.errors("report.schema.json", &report), Vec::<String>::new(), "{args:?}");
        let events = check(&[args, &["--events"][..]].concat());
        let lines: Vec<Value> = events.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        for line in &lines {
            assert_eq!(schemas.errors("events.schema.json", line), Vec::<String>::new(), "{args:?}");
        }
        assert_eq!(lines.first().expect("an event")["event"], "started");
        let last = lines.last().expect("an event");
        assert_eq!(last["event"], "done");
        if report.is_object() {
            assert_eq!(last["report"]["verdict"], report["verdict"]);
            assert_eq!(last["report"]["properties"][0]["violations"], report["properties"][0]["violations"]);
        }
    }
}

#[test]
fn a_schema_error_is_an_error() {
    let schemas = Schemas::read();
    let good = check(&["broken.pml", "--json"]).json();
    for (pointer, value) in [
        ("/verdict", Value::from("maybe")),
        ("/exhaustive", Value::from("no")),
        ("/properties/0/states", Value::from(-1)),
        ("/properties/0/violations/0/trace/0/line", Value::from("3")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect("the key exists") = value;
        assert_ne!(schemas.errors("report.schema.json", &bad), Vec::<String>::new(), "{pointer}");
    }
    let mut bad = good;
    bad.as_object_mut().expect("object").remove("tool");
    assert_ne!(schemas.errors("report.schema.json", &bad), Vec::<String>::new());
}

#[test]
fn the_keys_of_the_contract_are_there() {
    let report = check(&["broken.pml", "--json"]).expect(1).json();
    assert_eq!(report["tool"], "fabius");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["file"], "broken.pml");
    assert_eq!(report["verdict"], "violated");
    let property = &report["properties"][0];
    assert_eq!((&property["name"], &property["kind"]), (&Value::from("safety"), &Value::from("safety")));
    let violation = &property["violations"][0];
    assert_eq!(violation["kind"], "assertion");
    assert_eq!(violation["line"], 10);
    let trace = array(violation, "trace");
    assert_eq!(violation["steps"], trace.len());
    let last = trace.last().expect("a step");
    assert_eq!((&last["process"], &last["line"]), (&Value::from("user"), &Value::from(10)));
    assert!(trace.iter().any(|step| !array(step, "changes").is_empty()));
}

#[test]
fn several_files_make_one_document() {
    let reports = check(&["holds.pml", "broken.pml", "--json"]).expect(1).json();
    let files: Vec<&str> = reports.as_array().expect("array").iter().filter_map(|r| r["file"].as_str()).collect();
    assert_eq!(files, ["holds.pml", "broken.pml"]);
}
