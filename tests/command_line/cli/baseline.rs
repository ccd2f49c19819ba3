//! `fabius check --baseline`: only what is new fails.

use super::check;
use crate::schema::Schemas;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

/// Two assertions of which the first can fail.
const OLD: &str =
    "byte x;\nactive proctype P() {\n  if\n  :: x = 1; assert(x == 2)\n  :: x = 2; assert(x == 2)\n  fi\n}\n";
/// The same, further down, with a second one that can fail.
const NEW: &str = "/* a comment */\n\nbyte x;\nactive proctype P() {\n  if\n  :: x = 1; assert(x == 2)\n  :: x = 2; assert(x == 3)\n  fi\n}\n";
/// Neither can fail.
const MENDED: &str =
    "byte x;\nactive proctype P() {\n  if\n  :: x = 1; assert(x == 1)\n  :: x = 2; assert(x == 2)\n  fi\n}\n";

/// A model in a folder, and a baseline of its first version.
struct Known {
    scratch: Scratch,
    model: String,
    baseline: String,
}

impl Known {
    fn of(text: &str, how: &[&str]) -> Self {
        let scratch = Scratch::new().expect("a folder");
        let model = scratch.file("a.pml", text);
        let baseline = scratch.path().join("baseline.json").display().to_string();
        let _ = check(&[&[model.as_str(), "--write-baseline", &baseline], how].concat());
        Self { scratch, model, baseline }
    }

    fn check(&self, text: &str, how: &[&str]) -> Run {
        self.scratch.file("a.pml", text);
        check(&[&[self.model.as_str(), "--baseline", &self.baseline], how].concat())
    }
}

#[test]
fn what_is_known_does_not_fail_and_what_is_new_does() {
    let known = Known::of(OLD, &[]);
    let moved = format!("\n\n/* moved */ {OLD}");
    known.check(&moved, &[]).expect(0).says("1 known, 0 new, 0 no longer found");
    let new = known.check(NEW, &[]).expect(1).says("1 known, 1 new, 0 no longer found");
    assert!(new.out.contains("  new   ") && new.out.contains("assert(x == 3)"), "{}", new.out);
    let gone = known.check(MENDED, &[]).expect(0).says("0 known, 0 new, 1 no longer found");
    assert!(gone.out.contains("  gone  ") && gone.out.contains("assert(x == 2)"), "{}", gone.out);
    let wrong = known.check("active proctype P() { y = 1 }", &[]).expect(3);
    assert!(wrong.out.contains("  open  "), "a model that cannot be checked has lost nothing: {}", wrong.out);
}

#[test]
fn nothing_new_is_said_only_if_everything_was_looked_at() {
    let known = Known::of(OLD, &[]);
    let long = OLD.replace(
        "fi\n}",
        "fi\n}\nactive proctype Q() { byte i; do :: i < 200 -> i++ :: i > 3 -> i-- :: i == 7 -> skip od }",
    );
    known.check(&long, &["--max-states", "40", "--search", "bfs"]).expect(2);
    known.check(&long, &[]).expect(0).says("1 known, 0 new");
}

#[test]
fn a_report_of_an_earlier_check_is_a_baseline() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("a.pml", NEW);
    let first = check(&[&model, "--json"]).expect(1);
    let short = scratch.file("short.json", &first.out);
    // It stopped at the first violation, and that is said.
    check(&[&model, "--baseline", &short]).expect(1).says("stopped at the first violation");
    let all = scratch.file("all.json", &check(&[&model, "--json", "--keep-going"]).expect(1).out);
    check(&[&model, "--baseline", &all]).expect(0).says("2 known, 0 new, 0 no longer found");
}

#[test]
fn loops_and_formulas_are_known_by_their_property() {
    let model = "bool a, b;\nactive proctype P() {\n  if\n  :: do :: a = !a od\n  :: do :: b = !b od\n  fi\n}\nltl never_a { [] !a }\n";
    let known = Known::of(model, &[]);
    let same = known.check(&format!("\n\n{model}"), &[]).expect(0);
    assert!(!same.out.contains("no effect"), "nobody asked for --keep-going: {}", same.out);
    let more = known.check(&format!("{model}ltl never_b {{ [] !b }}\n"), &[]).expect(1);
    more.says("1 known, 1 new, 0 no longer found");
}

#[test]
fn formats_show_what_is_known() {
    let known = Known::of(OLD, &[]);
    let junit = known.check(OLD, &["--format", "junit"]).expect(0).says("failures=\"0\"");
    assert!(junit.out.contains("known from the baseline") && junit.err.contains("1 known"), "{}", junit.err);
    let sarif = known.check(NEW, &["--format", "sarif"]).expect(1).json();
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let told: Vec<(&str, bool)> = results
        .iter()
        .map(|result| (result["level"].as_str().unwrap_or_default(), result.get("suppressions").is_some()))
        .collect();
    assert_eq!(told, [("note", true), ("error", false)]);
    let github = known.check(OLD, &["--format", "github"]).expect(0);
    assert!(github.out.starts_with("::notice ") && !github.out.contains("::error"), "{}", github.out);
    github.says("1 property: 0 hold or are as expected, 1 known from the baseline");
}

/// The marks of all violations, in the order of the document; `None` where there is none.
fn marks(violations: &Value, key: &str) -> Vec<Option<String>> {
    let all = violations.as_array().expect("a list").iter();
    all.map(|violation| violation.get(key).map(|mark| mark.as_str().expect("a word").to_owned())).collect()
}

#[test]
fn documents_mark_each_violation_as_known_or_new() {
    let known = Known::of(OLD, &[]);
    let sarif = known.check(NEW, &["--format", "sarif"]).expect(1).json();
    let states = marks(&sarif["runs"][0]["results"], "baselineState");
    assert_eq!(states, ["unchanged", "new"].map(|state| Some(state.to_owned())));
    let report = known.check(NEW, &["--json"]).expect(1).json();
    assert_eq!(Schemas::read().errors("report.schema.json", &report), [""; 0]);
    let told = marks(&report["properties"][0]["violations"], "baseline");
    assert_eq!(told, ["known", "new"].map(|mark| Some(mark.to_owned())));
    // What is expected is in no baseline, so neither word would be true of it.
    let expected = format!("/*@ expect safety: violated */\n{NEW}");
    let report = known.check(&expected, &["--json"]).json();
    assert_eq!(report["properties"][0]["expected"], "violated");
    assert_eq!(marks(&report["properties"][0]["violations"], "baseline"), [Some("known".to_owned()), None]);
    let without = check(&[&known.model, "--json", "--keep-going"]).json();
    assert_eq!(marks(&without["properties"][0]["violations"], "baseline"), [None, None]);
}

#[test]
fn what_a_baseline_that_stopped_early_lacks_is_not_called_new() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("model.pml", NEW);
    let first = check(&[&model, "--json"]).expect(1);
    let baseline = scratch.file("first.json", &first.out);
    let known = check(&[&model, "--baseline", &baseline]).expect(1);
    assert!(known.out.contains("may be as old"), "{}", known.out);
    let sarif = check(&[&model, "--baseline", &baseline, "--format", "sarif"]).expect(1).json();
    let states = marks(&sarif["runs"][0]["results"], "baselineState");
    assert_eq!(states, [Some("unchanged".to_owned()), None]);
    let report = check(&[&model, "--baseline", &baseline, "--json"]).expect(1).json();
    assert_eq!(marks(&report["properties"][0]["violations"], "baseline"), [Some("known".to_owned()), None]);
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let scratch = Scratch::new().expect("a folder");
    let none = scratch.file("none.json", "{}");
    let refused = check(&["holds.pml", "--baseline", &none]).expect(3);
    assert!(refused.err.contains("is no baseline") && refused.err.contains("--write-baseline"), "{}", refused.err);
    let missing = check(&["holds.pml", "--baseline", "no-such-file.json"]).expect(3);
    assert!(missing.err.contains("cannot read the baseline"), "{}", missing.err);
    let out = scratch.path().join("out.json").display().to_string();
    check(&["faulty.pml", "--write-baseline", &out]).expect(3).says("the baseline was not written");
    assert!(!std::path::Path::new(&out).exists());
}
