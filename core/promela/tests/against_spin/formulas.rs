//! Formulas against Spin: what they mean, and how large their automata are.

use crate::spin;
use fabius_base::{Finding, SourceMap};
use fabius_program::ltl::{Automaton, automaton};
use fabius_program::{Formula, Program, PropertyKind};
use fabius_promela::{Loader, Options, lower, parse};
use std::path::Path;
use std::process::Command;

struct NoFiles;

impl Loader for NoFiles {
    fn load(&mut self, _includer: &str, _name: &str) -> Option<(String, String)> {
        None
    }
}

/// A model with a formula over the variables `a` to `z`.
fn model(formula: &str) -> Result<Program, String> {
    let letters: Vec<String> = ('a'..='z').map(String::from).collect();
    let text = format!("bool {}; active proctype P() {{ skip }}\nltl f {{ {formula} }}\n", letters.join(", "));
    program(&text)
}

fn program(text: &str) -> Result<Program, String> {
    let mut map = SourceMap::new();
    let file = map.add_file("model.pml", text.to_owned());
    let parsed = parse(&mut map, file, &[], &mut NoFiles);
    let lowered = lower(&parsed.model, &map, "model.pml", Options::NONE);
    let errors = parsed.findings.iter().chain(&lowered.findings).filter(|f: &&Finding| f.is_error());
    match (errors.map(|f| f.headline.clone()).next(), lowered.program) {
        (None, Some(program)) => Ok(program),
        (Some(why), _) => Err(why),
        (None, None) => Err("no program".into()),
    }
}

fn formula_of<'a>(program: &'a Program, name: &str) -> Option<&'a Formula> {
    program.properties.iter().find(|p| p.name == name).and_then(|p| match &p.kind {
        PropertyKind::Ltl(formula) => Some(formula),
        _ => None,
    })
}

/// The automaton of the negation, which is what runs beside the system.
fn claim_of(formula: &Formula) -> Automaton {
    automaton(&Formula::Not(Box::new(formula.clone()))).expect("a formula of ordinary size")
}

/// What `spin -f` prints for the negation of a formula.
fn claim_of_spin(formula: &str) -> Option<String> {
    let output = Command::new("timeout").args(["3", "spin", "-f", &format!("!({formula})")]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && text.starts_with("never")).then_some(text)
}

fn size_of_spin(claim: &str) -> usize {
    let loops = claim.lines().filter(|line| line.trim() == "do").count();
    let all = claim.lines().filter(|line| line.starts_with("accept_all:")).count();
    (loops + all).max(1)
}

/// Formulas that people write: the patterns of Dwyer, Avrunin and Corbett (ICSE 1999), fairness, and others.
const CLASSIC: &[&str] = &[
    "[] !p",
    "<> r -> (!p U r)",
    "[] (q -> [] !p)",
    "[] ((q && !r && <> r) -> (!p U r))",
    "[] (q && !r -> ((!p U r) || [] !p))",
    "<> p",
    "(!r U (p && !r)) || [] !r",
    "[] !q || <> (q && <> p)",
    "[] (q && !r -> ((!r U (p && !r)) || [] !r))",
    "[] (q && !r -> (!r U (p && !r)))",
    "(!p U (p U (!p U (p U [] !p))))",
    "<> r -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U r)))))",
    "<> q -> (!q U (q && (!p U (p U (!p U [] !p)))))",
    "[] p",
    "<> r -> (p U r)",
    "[] (q -> [] p)",
    "[] ((q && !r && <> r) -> (p U r))",
    "[] (q && !r -> ((p U r) || [] p))",
    "(!p U s) || [] !p",
    "<> r -> (!p U (s || r))",
    "[] !q || <> (q && ((!p U s) || [] !p))",
    "[] ((q && !r && <> r) -> (!p U (s || r)))",
    "[] (q && !r -> ((!p U (s || r)) || [] !p))",
    "[] (p -> <> s)",
    "<> r -> ((p -> (!r U (s && !r))) U r)",
    "[] (q -> [] (p -> <> s))",
    "[] ((q && !r && <> r) -> ((p -> (!r U (s && !r))) U r))",
    "[] (q && !r -> (((p -> (!r U (s && !r))) U r) || [] (p -> (!r U (s && !r)))))",
    "<> p -> (!p U (s && !p && (!p U t)))",
    "<> r -> (!p U (r || (s && !p && (!p U t))))",
    "([] !q) || (!q U (q && <> p -> (!p U (s && !p && (!p U t)))))",
    "[] ((s && <> t) -> (<> (t && <> p)))",
    "[] (p -> <> (s && <> t))",
    "[] (p -> (<> s && !z U s))",
    "[]<> p",
    "<>[] p",
    "[]<> p -> []<> q",
    "[]<> p && []<> q -> []<> r",
    "[]<> p && []<> q && []<> r -> []<> s",
    "([]<> p -> []<> q) && ([]<> r -> []<> s)",
    "([]<> p -> []<> q) -> []<> r",
    "(<>[] p -> []<> q) -> [] (r -> <> s)",
    "(<>[] p -> []<> q) && (<>[] r -> []<> s) -> [] (a -> <> b)",
    "[]<> p && []<> q -> [] (r -> <> s)",
    "[] (p -> <> q) && [] (r -> <> s)",
    "[] (p -> <> q) -> [] (r -> <> s)",
    "p U q",
    "p U (q U r)",
    "(p U q) U r",
    "p V q",
    "!(p U q)",
    "!(p U (q U r))",
    "!(p U (q U (r U s)))",
    "p W q",
    "!(p W q)",
    "[] (p -> q W r)",
    "[] (p -> (q U r))",
    "[] (p -> !q U r)",
    "<> p && <> q",
    "<> p && <> q && <> r",
    "<> p || [] q",
    "[] p || [] q",
    "[] p -> <> q",
    "[] (p || <> q)",
    "<> (p && [] q)",
    "<>[] (p -> q)",
    "[]<> (p U q)",
    "<> (p U q)",
    "[] (p U q)",
    "(p U q) || (q U p)",
    "(p U q) && (q U p)",
    "(p U q) -> (r U s)",
    "p <-> q",
    "<> p <-> <> q",
    "[] p <-> [] q",
    "[]<> p <-> []<> q",
    "(p U q) <-> (r U s)",
    "([] p) U ([] q)",
    "(<> p) U (<> q)",
    "[] ((p U q) || (r U s))",
    "<> (p && <> (q && <> r))",
    "[] (p -> <> (q || r))",
    "[] (p -> [] (q -> <> r))",
    "[] (p && q -> <> (r && s))",
    "([] p) -> ([] q)",
    "true U p",
    "p && !p",
    "p || !p",
    "<> true",
    "[] false",
    "[] (p -> p)",
];

/// A line of the table of those that are larger.
fn compare(exceptions: &mut Vec<String>, name: &str, shown: &str, formula: &Formula, printed: &str) -> bool {
    let Some(claim) = claim_of_spin(printed) else { return false };
    let (own, theirs) = (claim_of(formula).states.len(), size_of_spin(&claim));
    if own > theirs {
        exceptions.push(format!("{own:3} instead of {theirs:3}  {name}: {shown}"));
    }
    true
}

#[test]
fn classic_formulas_are_at_most_as_large() {
    if Command::new("spin").arg("-V").output().is_err() {
        println!("Spin is not here: nothing was checked");
        return;
    }
    let (mut compared, mut exceptions) = (0, Vec::new());
    for text in CLASSIC {
        let program = model(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let formula = formula_of(&program, "f").expect("the formula is there");
        // `spin -f` does not know W.
        compared += usize::from(compare(&mut exceptions, "classic", text, formula, text));
    }
    println!("{compared} formulas compared");
    assert!(exceptions.is_empty(), "{} are larger:\n{}", exceptions.len(), exceptions.join("\n"));
}

#[test]
fn the_formulas_of_the_corpus_are_at_most_as_large() {
    let Some(corpus) = spin::corpus() else { return };
    if Command::new("spin").arg("-V").output().is_err() {
        println!("Spin is not here: nothing was checked");
        return;
    }
    let (mut compared, mut exceptions) = (0, Vec::new());
    for entry in spin::manifest(&corpus) {
        let path = corpus.join("models").join(entry["path"].as_str().expect("a model has a path"));
        if entry["syntax"]["ok"] != true {
            continue;
        }
        let (_, _, lowered) = spin::lower_file(&path, Options::NONE);
        let Some(program) = lowered.program else { continue };
        if !program.properties.iter().any(|p| matches!(p.kind, PropertyKind::Ltl(_))) {
            continue;
        }
        for (name, printed) in formulas_of_spin(&path) {
            let Some(formula) = formula_of(&program, &name) else { continue };
            let shown = format!("{name}: {printed}");
            compared += usize::from(compare(&mut exceptions, &path.to_string_lossy(), &shown, formula, &printed));
        }
    }
    println!("{compared} formulas compared");
    assert!(exceptions.is_empty(), "{} are larger:\n{}", exceptions.len(), exceptions.join("\n"));
}

/// The formulas of a model as `spin -a` prints them.
fn formulas_of_spin(path: &Path) -> Vec<(String, String)> {
    let Ok(path) = path.canonicalize() else { return Vec::new() };
    let scratch = spin::Scratch::new("formulas");
    let output = Command::new("timeout").args(["60", "spin", "-a"]).arg(&path).current_dir(&scratch.0).output();
    let Ok(output) = output else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pair = |line: &str| {
        let (name, formula) = line.strip_prefix("ltl ")?.split_once(": ")?;
        Some((name.to_owned(), formula.to_owned()))
    };
    text.lines().filter_map(pair).collect()
}
