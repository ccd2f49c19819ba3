//! Models that a program wrote: many of everything. Each phase from text to program takes time in proportion to the
//! text; here they are only read and begun, at a size at which a pass that compares all with all would be noticed.

use fabius_base::{Cancel, Limits, StopReason};
use fabius_engine::{CheckContext, Loaded, ModelText, Settings, check, load, load_until};
use std::cell::Cell;
use std::fmt::Write;
use std::time::Duration;

const MANY: usize = 3000;

/// `one` for each number, between `before` and `after`.
fn many(before: &str, count: usize, one: impl Fn(usize) -> String, after: &str) -> String {
    let mut text = before.to_owned();
    for number in 0..count {
        let _ = writeln!(text, "{}", one(number));
    }
    text + after
}

fn models() -> Vec<(&'static str, String)> {
    let body = |one: fn(usize) -> String| many("byte g; active proctype P() { byte x;\n", MANY, one, " g = x }");
    let proctype = |i| format!("proctype P{i}() {{ byte x; x = g; L: g = x + 1; if :: x > 2 -> goto L :: else fi }}");
    vec![
        ("proctypes", many("byte g;", MANY, proctype, "init { run P0() }")),
        (
            "options",
            body(|i| format!("{} :: g == {i} -> x = g", if i == 0 { "do" } else { "" })).replace(" g = x }", "od }"),
        ),
        ("statements", body(|i| format!("g = {}; x = g;", i % 200))),
        ("locals", body(|i| format!("byte x{i}; x{i} = g; g = x{i};"))),
        ("labels", body(|i| format!("L{i}: if :: g == 1 -> goto L{} :: else fi;", (i * 7 + 1) % MANY))),
        ("loops", body(|_| "do :: x < 3 -> x++ :: else -> break od;".to_owned())),
        ("loops over a range", body(|_| "for (x : 1 .. 3) { g = x }".to_owned())),
        (
            "escapes",
            many("byte g; active proctype P() { {", MANY, |i| format!("g = {};", i % 200), "} unless { g == 7 } }"),
        ),
        ("one step", many("byte g; active proctype P() { d_step {", MANY, |_| "g = 1;".to_owned(), "} }")),
        ("globals", many("", MANY, |i| format!("byte g{i};"), "active proctype P() { g0 = g1 }")),
        ("structures", many("", MANY, |i| format!("typedef T{i} {{ byte a }} T{i} t{i};"), "init { t1.a = 1 }")),
        ("fields", many("typedef T {", MANY, |i| format!("byte f{i};"), "} T t; init { t.f1 = t.f2 }")),
        (
            "sets of constants",
            many("", MANY, |i| format!("mtype:s{i} = {{ a{i}, b{i} }};"), "init { printf(\"%e\", a1) }"),
        ),
        ("macros", many("#define M0 1\n", MANY, |i| format!("#define M{} M{i}", i + 1), "init { assert(M100) }")),
        ("inlines", many("byte g;", MANY, |i| format!("inline f{i}(a) {{ byte t; t = a; g = t }}"), "init { f1(2) }")),
        ("calls", many("byte g; inline f(a) { byte t; t = a; g = t } init {", MANY, |i| format!("f({});", i % 9), "}")),
        ("formulas", many("byte g;", MANY, |i| format!("ltl p{i} {{ [] (g < {}) }}", i + 1), "init { g = 1 }")),
        ("remote references", body(|i| format!("L{i}: g = 1;")) + &many("init {", MANY, |i| format!("P@L{i};"), "}")),
        ("runs", many("proctype Q(byte a) { skip } init {", MANY, |i| format!("run Q({});", i % 200), "}")),
    ]
}

fn read(text: &str) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

#[test]
fn models_with_many_of_everything_are_read_and_begun() {
    let limits = Limits { states_max: Some(10), ..Limits::default() };
    let settings = Settings { limits, properties: vec!["safety".to_owned()], ..Settings::default() };
    for (what, text) in models() {
        let loaded = read(&text);
        assert!(loaded.checkable().is_some(), "{what}: {:?}", loaded.findings.first());
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let outcome = check(&loaded, &settings, &mut context);
        assert!(outcome.failure.is_none() && !outcome.report.properties.is_empty(), "{what}: {:?}", outcome.report);
    }
}

#[test]
fn many_errors_are_all_told() {
    let text = many("init {", MANY, |i| format!("u{i} = 1; goto M{i};"), "}");
    assert!(read(&text).findings.len() > MANY);
}

#[test]
fn reading_ends_when_it_is_asked_to() {
    for (what, text) in models() {
        let cancel = Cancel::new();
        cancel.time_out();
        let read = load_until(&cancel, ModelText { name: "m.pml", text }, &[], &mut |_, _| None, &Settings::default());
        assert_eq!(read.err(), Some(StopReason::Timeout), "{what}");
    }
}

#[test]
fn what_was_not_read_to_its_end_is_no_model() {
    let (cancel, asked) = (Cancel::new(), Cell::new(0));
    let mut include = |_: &str, name: &str| {
        asked.set(asked.get() + 1);
        cancel.cancel();
        Some((name.to_owned(), "byte x;\n".to_owned()))
    };
    let text = "#include \"a\"\n#include \"b\"\ninit { x = 1 }".to_owned();
    let read = load_until(&cancel, ModelText { name: "m.pml", text }, &[], &mut include, &Settings::default());
    assert_eq!((read.err(), asked.get()), (Some(StopReason::Cancelled), 1), "the second file is not asked for");
}
