//! Formulas that are not written in the model, as from a command line.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use fabius_base::{Cancel, Finding, SourceMap};
use fabius_language::{NoLoader, OutsideFormula, ReadRequest};
use fabius_program::print::print;
use fabius_program::{Program, PropertyKind};
use fabius_promela::{Options, lower, parse_with};

const MODEL: &str = "\
#define p x == 1
#define q (y > 2)
#define both p && q
#define same p
#define ever []
#define at(l) P[0]@l
#define proc P[0]
mtype = { red, green };
mtype light;
byte x, y, only_written;
active proctype P() { wait: x = 1; only_written = 3; light = red }
ltl inside { [] (x < 5) }
";

fn load(model: &str, formula: &str, options: Options) -> (SourceMap, Option<Program>, Vec<Finding>) {
    let mut map = SourceMap::new();
    let file = map.add_file("model.pml", model);
    let formulas = [OutsideFormula { name: "wanted".into(), file: map.add_file("<--ltl>", formula) }];
    let parsed = parse_with(
        &mut map,
        &ReadRequest { file, defines: &[], fixed: &[], formulas: &formulas },
        &mut NoLoader,
        &Cancel::new(),
    );
    let lowered = lower(&parsed.model, &map, "model.pml", options);
    let findings = parsed.findings.into_iter().chain(lowered.findings).collect();
    (map, lowered.program, findings)
}

/// The formula as it is understood.
fn read(formula: &str) -> String {
    let (_, program, findings) = load(MODEL, formula, Options::NONE);
    let program = program.unwrap_or_else(|| panic!("{formula}: {findings:?}"));
    assert!(findings.is_empty(), "{formula}: {findings:?}");
    let text = print(&program);
    text.lines().find_map(|line| line.strip_prefix("property wanted: ")).unwrap().to_owned()
}

/// Where the first error is, and its headline.
fn error(formula: &str) -> String {
    let (map, _, findings) = load(MODEL, formula, Options::NONE);
    let finding = findings.iter().find(|f| f.is_error()).unwrap_or_else(|| panic!("{formula} is accepted"));
    format!("{}: {}", map.position(finding.span().unwrap()), finding.headline)
}

#[test]
fn names_and_macros_mean_what_they_mean_in_the_model() {
    assert_eq!(read("<> (light == green)"), "<> (light == 1)");
    assert_eq!(read("<> q"), "<> (y > 2)");
    assert_eq!(read("<> P[0]@wait"), read("<> at(wait)"));
}

#[test]
fn a_macro_is_a_proposition() {
    assert_eq!(read("[] p"), "[] (x == 1)");
    assert_eq!(read("[] both"), read("[] (x == 1 && y > 2)"));
    assert_eq!(
        read("[] same U !same"),
        read("([] (x == 1)) U (x != 1 || x != 1)").replace("((x != 1) || (x != 1))", "!(x == 1)")
    );
    assert_eq!(read("ever p"), "[] (x == 1)");
    assert_eq!(read("<> proc@wait"), read("<> P[0]@wait"));
}

#[test]
fn a_macro_is_named_as_the_formula_names_it() {
    let (_, program, _) = load(MODEL, "[] (both -> <> q) && <> !p", Options::NONE);
    let properties = program.unwrap().properties;
    let wanted = properties.iter().find(|property| property.name == "wanted").unwrap();
    let mut names: Vec<&str> = wanted.names.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["both", "p", "q"]);
}

#[test]
fn the_spellings_of_spin_f_are_read() {
    assert_eq!(read(r"[] p /\ <> q"), read("[] p && <> q"));
    assert_eq!(read(r"p \/ not q"), read("p || !q"));
    assert_eq!(read("[] {p -> <> {q}}"), read("[] (p -> <> (q))"));
    assert_eq!(read("p V q"), read("p release q"));
}

#[test]
fn several_formulas_stand_side_by_side() {
    let mut map = SourceMap::new();
    let file = map.add_file("model.pml", MODEL);
    let mut outside =
        |name: &str, text: &str| OutsideFormula { name: name.into(), file: map.add_file("<--ltl>", text) };
    let formulas = [outside("one", "[] p"), outside("two", "<> q\n")];
    let parsed = parse_with(
        &mut map,
        &ReadRequest { file, defines: &[], fixed: &[], formulas: &formulas },
        &mut NoLoader,
        &Cancel::new(),
    );
    let program = lower(&parsed.model, &map, "model.pml", Options::ALL).program.unwrap();
    let temporal = program.properties.iter().filter(|p| matches!(p.kind, PropertyKind::Ltl(_)));
    let named: Vec<_> = temporal.map(|p| (p.name.as_str(), map.text(p.span.unwrap()))).collect();
    assert_eq!(named, [("inside", "ltl"), ("one", "[] p"), ("two", "<> q\n")]);
}

#[test]
fn what_a_formula_reads_is_part_of_the_state() {
    let hidden = |program: &Program| program.globals.iter().find(|v| v.name == "only_written").unwrap().hidden;
    let (_, without, _) = load(MODEL, "[] p", Options::ALL);
    let (_, with, _) = load(MODEL, "[] (only_written < 4)", Options::ALL);
    assert!(hidden(&without.unwrap()) && !hidden(&with.unwrap()));
}

#[test]
fn findings_have_their_place_in_the_formula() {
    assert_eq!(error("[] (x == 1 && zz)"), "<--ltl>:1:15: `zz` is not declared");
    assert_eq!(error("p && [] x == 1"), "<--ltl>:1:6: a temporal operator stands inside an expression");
    assert!(error("[] (p").starts_with("<--ltl>:1:"), "{}", error("[] (p"));
    assert!(error("").starts_with("<--ltl>:1:"), "{}", error(""));
    assert!(error("[] p } init { skip").starts_with("<--ltl>:1:6"), "{}", error("[] p } init { skip"));
    assert!(error("X p").starts_with("<--ltl>:1:1"), "{}", error("X p"));
    assert!(error("[] p; [] q").starts_with("<--ltl>:1:"), "{}", error("[] p; [] q"));
    assert!(error("run P() > 0").starts_with("<--ltl>:1:"), "{}", error("run P() > 0"));
}

#[test]
fn a_name_means_one_property() {
    let mut map = SourceMap::new();
    let file = map.add_file("model.pml", MODEL);
    let formulas = [OutsideFormula { name: "inside".into(), file: map.add_file("<--ltl>", "[] p") }];
    let parsed = parse_with(
        &mut map,
        &ReadRequest { file, defines: &[], fixed: &[], formulas: &formulas },
        &mut NoLoader,
        &Cancel::new(),
    );
    let lowered = lower(&parsed.model, &map, "model.pml", Options::NONE);
    assert!(lowered.findings.iter().any(|f| f.headline == "there are two properties `inside`"));
}

#[test]
fn no_text_makes_the_reader_fail() {
    for text in
        ["'", "\"", "/*", "//", "#", "#define", "#if 1\n[] p", "\\", "ä", "}}}", "((((", "p\\\n", "not", "'{'", "{'}"]
    {
        let _ = load(MODEL, text, Options::NONE);
        let _ = load("", text, Options::NONE);
        let _ = load("proctype P() {", text, Options::NONE);
    }
}
