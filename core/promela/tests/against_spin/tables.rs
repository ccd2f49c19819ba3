//! Our automata against the transition tables of Spin's verifier (`pan -d`): states, statements,
//! targets, order, atomicity, escapes and labels must be the same, number for number.

use crate::spin;

use fabius_needs::scratch::Scratch;
use fabius_needs::spin::Compiler;
use fabius_promela::Options;
use std::path::Path;

/// Models that Spin's own tables cannot be had for (their verifiers do not compile).
const FEW: usize = 10;

/// Small models, each about one corner of the construction.
const SMALL: &[(&str, &str)] = &[
    ("loop", "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od; x = 0 }"),
    ("else first", "byte x; active proctype P() { if :: else -> x = 1 :: x == 2 -> x = 3 :: x == 4 fi }"),
    ("empty choice", "byte x; active proctype P() { if :: false -> x = 1 :: 0 fi; x = 2 }"),
    (
        "nested choices",
        "byte x; active proctype P() { do :: if :: x == 1 :: x == 2 -> x = 3 fi :: do :: x == 4 :: break od :: x = 5 od }",
    ),
    ("goto", "byte x; active proctype P() { a: x = 1; goto b; c: x = 2; goto a; b: if :: goto c :: x = 3; goto a fi }"),
    (
        "labelled goto",
        "byte x; active proctype P() { x = 1; end: goto b; progress_1: goto end; b: x = 2; accept: goto progress_1 }",
    ),
    (
        "labels",
        "byte x; active proctype P() { end: do :: x < 2 -> progress: x++ :: x == 2 -> accept_a: end_b: x = 0 od }",
    ),
    (
        "atomic",
        "byte x; active proctype P() { atomic { x = 1; x = 2; if :: x == 1 -> goto out :: x == 2 -> x = 3 fi; x = 4 }; out: x = 5; atomic { x = 6; goto in }; atomic { x = 7; in: x = 8; x = 9 } }",
    ),
    (
        "atomic in atomic",
        "byte x; active proctype P() { atomic { x = 1; atomic { x = 2; d_step { x = 3; x = 4 }; x = 5 }; { x = 6; x = 7 } } }",
    ),
    ("atomic loop", "byte x; active proctype P() { atomic { do :: x < 3 -> x++ :: x == 3 -> break od }; x = 1 }"),
    (
        "d_step",
        "byte x; active proctype P() { d_step { if :: x == 0 -> x = 1 :: else -> x = 2 fi; do :: x < 5 -> x++ :: else -> break od }; x = 7 }",
    ),
    (
        "unless",
        "byte x; active proctype P() { { x = 1; x = 2; do :: x == 1 :: x = 3 -> break od } unless { x == 5 -> x = 6 }; x = 7 }",
    ),
    (
        "unless in unless",
        "byte x; active proctype P() { { { x = 1; atomic { x = 2; x = 3 } } unless { x == 4; x = 5 }; x = 6 } unless { if :: x == 7 :: x == 8 -> x = 9 fi } }",
    ),
    ("unless on a loop", "byte x; active proctype P() { do :: do :: x = 1 :: x = 2 od unless { x == 3 -> break } od }"),
    (
        "unless with label",
        "byte x; active proctype P() { l: { x = 1; x = 2 } unless { x == 3 }; m: atomic { x = 4; x = 5 } unless { x == 6 }; goto l; goto m }",
    ),
    (
        "for",
        "byte x, a[4]; active proctype P() { byte i; for (i : 1 .. 3) { x = i; if :: x == 2 -> break :: else fi } for (i in a) { a[i] = i } }",
    ),
    (
        "for over a channel",
        "typedef M { byte a, b }; chan c = [3] of { M }; active proctype P() { M m; c!m; for (m in c) { m.a = 1; m.b++ } }",
    ),
    (
        "select",
        "byte x; active proctype P() { byte i; select (i : 1 .. 3); x = i; select (i : 0 .. 50); select (i : x .. 9) }",
    ),
    (
        "inline",
        "byte x; inline f(v, w) { v = w; if :: w > 1 -> skip :: else -> goto out fi; out: skip }; active proctype P() { f(x, 1); byte y; f(y, x); x = y }",
    ),
    (
        "late declarations",
        "byte x; active proctype P() { x = 1; byte a; byte b = 2, c[3]; if :: x == 1 -> byte d = 3; x = d :: else fi; x = a + b + c[0] }",
    ),
    (
        "skips",
        "byte x; active proctype P() { if :: skip; skip; skip; x = 1; skip; skip :: printf(\"a\"); skip; skip; x = 2 fi; skip; skip }",
    ),
    (
        "rendezvous",
        "chan c = [0] of { byte }; byte x; active proctype P() { atomic { c!1; x = 1; x = 2 } } active proctype Q() { do :: c?x -> x = 0 :: atomic { c?_; x = 3 } od }",
    ),
    (
        "claim",
        "byte x; active proctype P() { x = 1; here: x = 2; goto here } never { do :: x == 3 -> break :: P@here && x > 1 :: else od; accept: do :: skip od }",
    ),
    (
        "remote goto",
        "byte x; active proctype P() { x = 1; a: goto b; x = 2; b: goto a } active proctype Q() { P@a; P[0]@b; P@b }",
    ),
    (
        "trace",
        "chan c = [1] of { byte, byte }; active proctype P() { c!1,2; c?_,_ } trace { do :: c!1,_; c?_,2 :: c!3,4 od }",
    ),
    (
        "merging",
        "byte g; active proctype P() { byte i, j, k; i = 1; j = i; k = j + 1; if :: k == 2 -> i = 0; j = 0 :: g == 1 -> k = 3; g = k fi; do :: i < 3 -> i++; j = i :: else -> break od; g = j }",
    ),
    (
        "merging out of atomic",
        "byte g; chan c = [2] of { byte }; active proctype P() { byte i, j; atomic { c?i; j = i; g = j; i = 0 }; do :: atomic { i < 2; i++ } :: c!i -> j = 2; j = 3 :: printf(\"%d\", i) od }",
    ),
    (
        "own priority",
        "byte x; active proctype P() priority 3 { byte i; i = 1; _priority = 4; i = 2; set_priority(_pid, i); x = get_priority(_pid) }",
    ),
    ("provided", "byte x; active proctype P() provided (x < 3) { byte i; i = 1; i = 2; x = i }"),
];

fn compare(path: &Path, options: Options, compilers: &[Compiler]) -> Option<Option<String>> {
    let (map, parsed, lowered) = spin::lower_file(path, options);
    let errors = parsed.findings.iter().chain(&lowered.findings).filter(|f| f.is_error());
    let place = |f: &fabius_base::Finding| f.span().map_or(String::new(), |s| map.position(s).to_string());
    let errors: Vec<String> = errors.map(|f| format!("{}: {}", place(f), f.headline)).collect();
    let Some(program) = lowered.program else { return Some(Some(errors.join("; "))) };
    if let Err(broken) = fabius_program::validate::validate(&program) {
        return Some(Some(format!("not valid: {broken}")));
    }
    let verifier = spin::verifier_tables(path, options.merge, compilers)?;
    Some(spin::difference(&verifier, &spin::own_tables(&program), options.merge))
}

#[test]
fn small_models_have_the_tables_of_the_verifier() {
    let Some(compilers) = Compiler::all() else { return };
    let mut wrong = Vec::new();
    for (name, text) in SMALL {
        let folder = Scratch::new().expect("a folder");
        let path = folder.write("model.pml", text).expect("a model can be written");
        for options in [Options::NONE, Options::ALL] {
            match compare(&path, options, &compilers) {
                Some(None) => {}
                Some(Some(why)) => wrong.push(format!("{name} (merge {}): {why}", options.merge)),
                None => wrong.push(format!("{name}: Spin's verifier does not compile")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn real_models_have_the_tables_of_the_verifier() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let Some(compilers) = Compiler::all() else { return };
    let every = if std::env::var_os("FABIUS_FULL").is_some() { 1 } else { 7 };
    let (mut same, mut silent, mut wrong) = (0, 0, Vec::new());
    let accepted = spin::manifest(&corpus).into_iter().filter(|m| m["syntax"]["ok"] == true);
    for (index, model) in accepted.enumerate() {
        let path = model["path"].as_str().expect("a model has a path");
        let file = corpus.join("models").join(path);
        let code = model["features"].as_array().into_iter().flatten().any(|f| f == "c_code" || f == "embedded_c");
        if index % every != 0 || code || has_embedded_code(&file) {
            continue;
        }
        let options = if index / every % 2 == 0 || every == 1 { Options::NONE } else { Options::ALL };
        let modes = if every == 1 { vec![Options::NONE, Options::ALL] } else { vec![options] };
        for options in modes {
            match compare(&file, options, &compilers) {
                Some(None) => same += 1,
                Some(Some(why)) => wrong.push(format!("{path} (merge {}): {why}", options.merge)),
                None => silent += 1,
            }
        }
    }
    println!("{same} tables are the same, for {silent} Spin has none");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(silent < same && FEW < same, "only {same} tables could be compared");
}

fn has_embedded_code(file: &Path) -> bool {
    let text = String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
    ["c_code", "c_expr", "c_decl", "c_state", "c_track"].iter().any(|word| text.contains(word))
}
