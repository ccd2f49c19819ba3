//! The documents that `fabius check --format` writes: for code scanning, test reports, annotations and people.

use super::{array, check, folder};
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A model whose text means something in XML, HTML, and to GitHub.
const SHARP: &str = "/* </script><b> ]]> %0A */\nbyte x;\nactive proctype P() {\n  printf(\"::error::</script><b>\\n\u{1}\");\n  x++;\n  assert(x < 1 && x > 2)\n}\n";
/// One that says that it is violated.
const EXPECTED: &str = "/*@ expect safety: violated */\nactive proctype P() { assert(false) }\n";
/// One that says so and is not.
const UNEXPECTED: &str = "/*@ expect safety: violated */\nactive proctype P() { skip }\n";
/// One that is not finished within a few states.
const LARGE: &str = "int x; active proctype P() { do :: x < 200 -> x++ od }\n";
/// One that cannot be read.
const WRONG: &str = "active proctype P() { y = 1 }\n";
/// One that holds.
const GOOD: &str = "active proctype P() { skip }\n";

/// Checks one model of each kind, in this order.
fn all(scratch: &Scratch, format: &str) -> Run {
    let texts = [SHARP, EXPECTED, UNEXPECTED, LARGE, WRONG, GOOD];
    let names = ["sharp", "expected", "unexpected", "large", "wrong", "good"];
    let files: Vec<String> =
        names.iter().zip(texts).map(|(name, text)| scratch.file(&format!("{name}.pml"), text)).collect();
    let mut args = vec!["--max-states", "50", "--format", format];
    args.extend(files.iter().map(String::as_str));
    check(&args)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is a text in {value}"))
}

fn results(run: &Run) -> Vec<Value> {
    array(&run.json()["runs"][0], "results").clone()
}

/// Checks a place: a reference, and lines and columns from 1.
fn check_place(place: &Value) {
    let physical = &place["physicalLocation"];
    let uri = text(&physical["artifactLocation"], "uri");
    assert!(!uri.is_empty() && !uri.contains([' ', '<', '\\']), "{uri}");
    for key in ["startLine", "startColumn", "endLine", "endColumn"] {
        if let Some(number) = physical["region"].get(key) {
            assert!(1 <= number.as_u64().unwrap_or(0), "{key} in {place}");
        }
    }
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let scratch = Scratch::new().expect("a folder");
    let run = all(&scratch, "sarif").expect(3);
    let document = run.json();
    assert_eq!(document["version"], "2.1.0");
    assert!(text(&document, "$schema").ends_with("sarif-schema-2.1.0.json"));
    let sarif = &document["runs"][0];
    assert_eq!(sarif["columnKind"], "unicodeCodePoints");
    let driver = &sarif["tool"]["driver"];
    assert_eq!(driver["name"], "fabius");
    let rules: BTreeSet<&str> = array(driver, "rules").iter().map(|rule| text(rule, "id")).collect();
    for rule in array(driver, "rules") {
        assert!(!text(&rule["help"], "text").is_empty() && !text(&rule["shortDescription"], "text").is_empty());
    }
    let named: BTreeSet<String> = results(&run).iter().map(|result| text(result, "ruleId").to_owned()).collect();
    assert_eq!(named.iter().map(String::as_str).collect::<BTreeSet<_>>(), rules, "the rules are those of the results");
    for result in array(sarif, "results") {
        assert!(!text(&result["message"], "text").is_empty());
        let (kind, level) = (text(result, "kind"), text(result, "level"));
        assert!(matches!((kind, level), ("fail", "error" | "warning" | "note") | ("open", "none")), "{kind} {level}");
        let flows = result["codeFlows"].as_array().into_iter().flatten();
        let steps: Vec<&Value> = flows.flat_map(|flow| array(&flow["threadFlows"][0], "locations")).collect();
        let numbers: Vec<u64> = steps.iter().filter_map(|step| step["executionOrder"].as_u64()).collect();
        assert!(numbers.len() == steps.len() && numbers.is_sorted());
        let related = result["relatedLocations"].as_array().into_iter().flatten();
        array(result, "locations").iter().chain(related).for_each(check_place);
        steps.iter().for_each(|step| check_place(&step["location"]));
    }
    assert_eq!(sarif["invocations"][0]["executionSuccessful"], false, "a model cannot be checked");
}

#[test]
fn sarif_tells_violations_with_their_runs_and_no_doubt_as_a_pass() {
    let scratch = Scratch::new().expect("a folder");
    let run = all(&scratch, "sarif");
    let results = results(&run);
    let of = |file: &str| -> Vec<&Value> {
        let uri =
            |result: &Value| text(&result["locations"][0]["physicalLocation"]["artifactLocation"], "uri").to_owned();
        results.iter().filter(|result| uri(result).ends_with(&format!("/{file}.pml"))).collect()
    };
    let sharp = of("sharp")[0];
    assert_eq!((text(sharp, "ruleId"), text(sharp, "level")), ("F0601", "error"));
    assert_eq!(sharp["locations"][0]["physicalLocation"]["region"]["startLine"], 6);
    let steps = array(&sharp["codeFlows"][0]["threadFlows"][0], "locations");
    assert_eq!(steps.len(), 3);
    assert_eq!(steps[1]["state"]["x"]["text"], "1");
    assert_eq!(text(&steps[1]["location"]["message"], "text"), "P[0]: x++ (x: 0 → 1)");
    let expected = of("expected")[0];
    assert_eq!((text(expected, "level"), text(&expected["suppressions"][0], "kind")), ("note", "inSource"));
    let unexpected = of("unexpected")[0];
    assert_eq!((text(unexpected, "ruleId"), text(unexpected, "level")), ("unexpected-verdict", "error"));
    let large = of("large")[0];
    assert_eq!(large["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
    assert_eq!((text(large, "ruleId"), text(large, "kind")), ("undecided", "open"));
    let notifications = &run.json()["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert!(text(&notifications[0]["message"], "text").contains("large.pml: safety: undecided"), "{notifications}");
    assert_eq!(text(of("wrong")[0], "ruleId"), "F0301");
    assert!(of("good").is_empty());
}

/// The fingerprints of a model's violations, by rule.
fn fingerprints(file: &str) -> BTreeMap<String, String> {
    let run = check(&[file, "--format", "sarif", "--keep-going"]).expect(1);
    let of = |result: &Value| text(&result["partialFingerprints"], "fabiusViolation/v1").to_owned();
    let violated = results(&run);
    violated
        .iter()
        .filter(|result| text(result, "level") == "error")
        .map(|result| (text(result, "ruleId").to_owned(), of(result)))
        .collect()
}

#[test]
fn fingerprints_stay_the_same_when_lines_move() {
    let scratch = Scratch::new().expect("a folder");
    let model = std::fs::read_to_string(folder().join("stuck.pml")).expect("a model");
    let mut before = fingerprints(&scratch.file("a.pml", &model));
    assert_eq!(before, fingerprints(&scratch.file("a.pml", format!("/* one */\n\n\n{model}"))));
    let other = model.replace("fork[left] ? _;", "fork[left] ? 1;").replace("fork[right] ? _", "fork[right] ? 1");
    let changed = fingerprints(&scratch.file("a.pml", other));
    assert_eq!(changed.len(), 1);
    before.retain(|rule, fingerprint| changed.get(rule) == Some(fingerprint));
    assert!(before.is_empty(), "another deadlock has another fingerprint");
}

/// A test case: its name, then its problem with its type and its text.
#[derive(Debug, Default)]
struct Case {
    suite: String,
    name: String,
    problem: Option<(String, String)>,
    text: String,
}

/// The attributes and test cases of a JUnit document, read by another reader than the one that wrote it.
fn junit(document: &str) -> (BTreeMap<String, String>, Vec<Case>) {
    let mut reader = Reader::from_str(document);
    let (mut totals, mut cases, mut suite) = (BTreeMap::new(), Vec::<Case>::new(), String::new());
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(element) | Event::Empty(element) => {
                let attributes: BTreeMap<String, String> = element
                    .attributes()
                    .map(|attribute| attribute.expect("an attribute"))
                    .map(|attribute| {
                        let key = String::from_utf8_lossy(attribute.key.as_ref().as_ref()).into_owned();
                        (key, attribute.normalized_value(XmlVersion::Explicit1_0).expect("a value").into_owned())
                    })
                    .collect();
                let name = String::from_utf8_lossy(element.name().as_ref().as_ref()).into_owned();
                match name.as_str() {
                    "testsuites" => totals = attributes,
                    "testsuite" => suite = attributes["name"].clone(),
                    "testcase" => {
                        cases.push(Case { suite: suite.clone(), name: attributes["name"].clone(), ..Case::default() });
                    }
                    "failure" | "error" => {
                        let case = cases.last_mut().expect("a test case");
                        case.problem = Some((name, attributes["type"].clone()));
                    }
                    "system-out" => {}
                    other => panic!("the element {other}"),
                }
            }
            Event::Text(text) => {
                if let Some(case) = cases.last_mut() {
                    case.text.push_str(&text);
                }
            }
            Event::Eof => return (totals, cases),
            _ => {}
        }
    }
}

#[test]
fn junit_has_a_case_for_each_property_and_shows_what_is_undecided() {
    let scratch = Scratch::new().expect("a folder");
    let run = all(&scratch, "junit").expect(3);
    assert!(!run.out.contains('\u{1}'), "XML has no control characters");
    let (totals, cases) = junit(&run.out);
    assert_eq!([&totals["tests"], &totals["failures"], &totals["errors"]], ["6", "2", "2"]);
    let case = |file: &str| cases.iter().find(|case| case.suite.ends_with(&format!("/{file}.pml"))).expect("a case");
    let problem = |file: &str| case(file).problem.clone().map(|(element, kind)| format!("{element} {kind}"));
    assert_eq!(problem("sharp").as_deref(), Some("failure F0601"));
    assert!(case("sharp").text.contains("assertion violated"), "{}", case("sharp").text);
    assert_eq!((case("expected").name.as_str(), problem("expected")), ("safety", None));
    assert_eq!(problem("unexpected").as_deref(), Some("failure unexpected verdict"));
    assert_eq!(problem("large").as_deref(), Some("error undecided"));
    assert_eq!((case("wrong").name.as_str(), problem("wrong").as_deref()), ("model", Some("error faulty")));
    assert_eq!(problem("good"), None);
}

#[test]
fn github_gets_a_command_for_each_violation_and_finding_and_one_sum() {
    let scratch = Scratch::new().expect("a folder");
    let run = all(&scratch, "github").expect(3);
    let (last, commands) =
        run.out.lines().collect::<Vec<_>>().split_last().map(|(l, c)| (*l, c.to_vec())).expect("lines");
    assert_eq!(
        last,
        "fabius: 6 models, 5 properties: 2 hold or are as expected, 2 violated or not as expected, 1 undecided; 1 model not checked"
    );
    let kinds: Vec<(&str, bool)> =
        commands.iter().map(|line| (line.split(' ').next().unwrap_or_default(), line.contains(",line="))).collect();
    let notices = kinds.iter().filter(|(kind, _)| *kind == "::notice").count();
    let others: Vec<_> = kinds.iter().filter(|(kind, _)| *kind != "::notice").copied().collect();
    assert_eq!(others, [("::error", true), ("::error", false), ("::warning", false), ("::error", true)], "{}", run.out);
    assert_eq!(notices + others.len(), commands.len());
}

/// What stands between two texts, wherever they occur.
fn between<'a>(page: &'a str, before: &'a str, after: &'a str) -> Vec<&'a str> {
    page.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

#[test]
fn the_page_shows_what_a_model_says_as_text_and_needs_nothing_else() {
    let scratch = Scratch::new().expect("a folder");
    let page = all(&scratch, "html").expect(3).out;
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    let count = |what: &str| page.matches(what).count();
    assert_eq!([count("<script"), count("</script>"), count("<style>\n"), count("<b>b")], [1, 1, 1, 0]);
    assert!(page.contains("/* &lt;/script&gt;&lt;b&gt; ]]&gt; %0A */"), "the text is shown");
    for outside in ["<link", "<img", "src=", "@import", "url(h", "fetch(", "<iframe"] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
    let ids = between(&page, " id=\"", "\"");
    let targets: BTreeSet<&str> = ids.iter().copied().collect();
    for link in between(&page, "<a href=\"", "\"") {
        assert!(link.strip_prefix('#').is_some_and(|id| targets.contains(id)), "{link} leads nowhere");
    }
    // The markers of the pictures have names of one letter, and mean the same in each of them.
    let of_page = ids.iter().filter(|id| 1 < id.len());
    assert_eq!(of_page.clone().count(), of_page.collect::<BTreeSet<_>>().len(), "ids are unique");
    for verdict in [
        "violated",
        "violated, as expected",
        "holds, but was expected to be violated",
        "undecided",
        "not checked",
        "holds",
    ] {
        assert!(page.contains(&format!(">{verdict}</span>")), "{verdict}");
    }
    assert!(page.contains("<b>safety</b> is undecided: ") && page.contains("<svg "));
    assert!(page.contains("<b>unavoidable</b>: every run ends in an error or a deadlock"), "what a scheduler could do");
    assert!(page.contains("class=\"v-error\"") && page.contains("assertion violated"));
}

#[test]
fn a_document_goes_to_a_file_and_the_text_to_the_screen() {
    let scratch = Scratch::new().expect("a folder");
    let out = scratch.path().join("out.sarif").display().to_string();
    check(&["stuck.pml", "--format", "sarif", "--output", &out]).expect(1).says("violated: deadlock");
    let document: Value = serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("JSON");
    assert_eq!(array(&document["runs"][0], "results")[0]["ruleId"], "F0602");
    check(&["holds.pml", "--json", "--output", &out]).expect(0).says("holds");
    let report: Value = serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("JSON");
    assert_eq!(report["verdict"], "holds");
    let nowhere = scratch.path().join("no/such/folder.xml").display().to_string();
    let refused = check(&["holds.pml", "--format", "junit", "--output", &nowhere]).expect(3);
    assert!(refused.err.contains("cannot write") && refused.out.is_empty(), "{}", refused.err);
}

#[test]
fn formats_that_contradict_each_other_are_refused() {
    let same = check(&["holds.pml", "--json", "--format", "json"]).expect(0);
    assert_eq!(same.json()["verdict"], "holds");
    for (args, why) in [
        (&["--json", "--format", "sarif"][..], "contradict each other"),
        (&["--json", "--format", "text"], "contradict each other"),
        (&["--events", "--format", "sarif"], "cannot be used with"),
        (&["--events", "--json"], "cannot be used with"),
        (&["--output", "x"], "name its format"),
        (&["--format", "yaml"], "invalid value"),
    ] {
        let refused = check(&[&["holds.pml"], args].concat()).expect(3);
        assert!(refused.err.contains(why) && refused.out.is_empty(), "{args:?}: {}", refused.err);
    }
    assert!(!Path::new(&folder().join("x")).exists());
}
