//! Formulas against Spin: what they mean, and how large their automata are.

use crate::spin;
use crate::words::{Lasso, Random, accepts, automaton_of_claim, holds, value};
use fabius_base::{Finding, SourceMap};
use fabius_language::Loader;
use fabius_needs::spin::Spin;
use fabius_needs::{Need, command};
use fabius_program::ltl::{Automaton, violations};
use fabius_program::{Expr, Formula, Program, PropertyKind};
use fabius_promela::{Options, lower, parse};
use std::path::Path;
use std::time::Duration;

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
    violations(formula).expect("a formula of ordinary size")
}

/// What `spin -f` prints for the negation of a formula.
fn claim_of_spin(formula: &str) -> Option<String> {
    fabius_needs::spin::claim(&format!("!({formula})"), Duration::from_secs(1))
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
    if !Need::Spin.met() {
        return;
    }
    let (mut compared, mut exceptions) = (0, Vec::new());
    for text in CLASSIC {
        let program = model(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let formula = formula_of(&program, "f").expect("the formula is there");
        // `spin -f` does not know W.
        let printed = text.replace("!(p W q)", "!([] p || (p U q))").replace("q W r", "([] q || (q U r))");
        let printed = printed.replace("p W q", "[] p || (p U q)");
        compared += usize::from(compare(&mut exceptions, "classic", text, formula, &printed));
    }
    println!("{compared} formulas compared");
    assert!(exceptions.is_empty(), "{} are larger:\n{}", exceptions.len(), exceptions.join("\n"));
}

/// A formula over `p`, `q` and `r`, as text.
fn random_text(random: &mut Random, operators: u64) -> String {
    if operators == 0 {
        return ["p", "q", "r"][random.below(3) as usize].to_owned();
    }
    let choice = random.below(9) as usize;
    if choice < 4 {
        let operator = ["!", "[] ", "<> ", "[]<> "][choice];
        return format!("{operator}({})", random_text(random, operators - 1));
    }
    let left = random.below(operators);
    let (a, b) = (random_text(random, left), random_text(random, operators - 1 - left));
    format!("(({a}) {} ({b}))", ["&&", "||", "->", "U", "V"][choice - 4])
}

#[test]
fn random_formulas_are_at_most_as_large() {
    if !Need::Spin.met() {
        return;
    }
    let count = if std::env::var_os("FABIUS_FULL").is_some() { 3_000 } else { 100 };
    let (mut compared, mut exceptions) = (0, Vec::new());
    for seed in 1..=count {
        let mut random = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15) | 1);
        let operators = 2 + random.below(7);
        let text = random_text(&mut random, operators);
        let program = model(&text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let formula = formula_of(&program, "f").expect("the formula is there");
        compared += usize::from(compare(&mut exceptions, &format!("seed {seed}"), &text, formula, &text));
    }
    println!("{compared} formulas compared");
    assert!(exceptions.is_empty(), "{} are larger:\n{}", exceptions.len(), exceptions.join("\n"));
}

#[test]
fn the_formulas_of_the_corpus_are_at_most_as_large() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    if !Need::Spin.met() {
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
    let folder = Spin::on_file(path).expect("a model can be copied");
    let printed = command::run(&mut folder.generate(&[]), spin::LIMIT).expect("Spin runs").stdout;
    let pair = |line: &str| {
        let (name, formula) = line.strip_prefix("ltl ")?.split_once(": ")?;
        Some((name.to_owned(), formula.to_owned()))
    };
    printed.lines().filter_map(pair).collect()
}

/// Formulas in every spelling, most of which Spin accepts; what stands in them is in [`WITNESS`].
const SPELLINGS: &[&str] = &[
    "[] p",
    "[]p",
    "[ ] p",
    "<>p",
    "< > p",
    "always p",
    "eventually p",
    "p until q",
    "p stronguntil q",
    "p weakuntil q",
    "p W q",
    "p release q",
    "p V q",
    "p R q",
    "p implies q",
    "p -> q",
    "p => q",
    "p equivalent q",
    "p <-> q",
    "p <=> q",
    "not p",
    "! p",
    "~p",
    "p and q",
    "p or q",
    r"p /\ q",
    r"p \/ q",
    "p & q",
    "p | q",
    "X p",
    "next p",
    "true",
    "false",
    "1",
    "0",
    "skip",
    "!!p",
    "! ! p",
    "!(!p)",
    "p U q U r",
    "p U (q U r)",
    "p V q V r",
    "p W q W r",
    "p U q V r",
    "p W q U r",
    "p -> q -> r",
    "p <-> q <-> r",
    "p -> q <-> r",
    "p <-> q -> r",
    "p -> [] q -> r",
    "p || q && r",
    "p && q || r",
    "p || q -> r",
    "[] p -> q",
    "[] p U q",
    "[] p && q",
    "<> p U q",
    "<> p || q",
    "! p U q",
    "!p && q",
    "p U !q",
    "p U [] q",
    "p U <> q && r",
    "p -> q U r",
    "p U q -> r",
    "p U q || r",
    "p && q U r",
    "x == 1",
    "[] x == 1",
    "[] (x == 1)",
    "!x == 1",
    "<> x > 2 && p",
    "x == 1 U x == 2",
    "x U 3",
    "x + 1 U p",
    "p == q U r",
    "p == (q U r)",
    "([] p) == 1",
    "[][]p",
    "<>[]<>p",
    "[] P@lab",
    "P[0]@lab U q",
    "<> P@lab && q",
    "<> (P[0]:v == 1)",
    "[] (P:v == 1)",
    "[] ch?[1]",
    "[] !(ch??[1])",
    "[] (len(ch) > 0)",
    "full(ch)",
    "[] nfull(ch)",
    "<> empty(ch) && p",
    "<> timeout",
    "<> np_",
    "<> (_last == 1)",
    "[] enabled(0)",
    "[] (_nr_pr == 1)",
    "[] (p -> <> q);",
    "[] p -> ",
    "(p",
    "p)",
    "p q",
    "U p",
    "p U",
    "[]",
    "(p -> q : r)",
    "[] ((p -> q : r) -> s)",
    "(p -> [] q)",
    "(p -> q) U r",
    "[] (m == red) -> <> (m == green)",
    "[] red",
    "always eventually p",
    "always (p implies eventually q)",
    "always p until q",
    "eventually always p && q",
    "!<> p",
    "! p -> q",
    "- x == 1",
    "[] p <-> <> q",
    "[] (p && <> (q || [] r))",
    "run P()",
    "[] (run P() > 0)",
    "p ? q",
    "x = 1",
    "[] x++",
    "else",
    "[] (x<3)",
    "x<>1",
    "[]x<3&&p",
    "p->q",
    "p||<>q",
    "[] U",
    "X",
    "V",
    "xU q",
    "[] p /* c */",
    "[] p // c",
    "\"p\"",
    "[] (p == true)",
];

/// Formulas on which we differ from Spin, each with the reason.
const DIFFERENT: &[(&str, &str)] =
    &[("full(ch)", "Spin accepts the formula, and then rejects `!full(ch)` in the claim that it makes itself")];

const WITNESS: &str = "mtype = { red, green };
bool p, q, r, s; int x; mtype m; chan ch = [1] of { byte };
active proctype P() { byte v; lab: do :: p = !p :: ch!1 :: ch?v :: m = red :: x++ :: q = r :: s = q od }
";

#[test]
fn formulas_are_read_as_spin_reads_them() {
    if !Need::Spin.met() {
        return;
    }
    let (mut accepted, mut wrong) = (0, Vec::new());
    for text in SPELLINGS {
        let model = format!("{WITNESS}ltl f {{ {text}\n }}\n");
        let theirs = accepted_by_spin(&model);
        let own = program(&model);
        if DIFFERENT.iter().any(|(different, _)| different == text) {
            continue;
        }
        match (own, theirs) {
            (Ok(program), Ok(printed)) => {
                accepted += 1;
                let formula = formula_of(&program, "f").expect("the formula is there");
                if let Err(why) = means_the_same(formula, &printed) {
                    wrong.push(format!("{text}: {why}"));
                }
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(why)) => wrong.push(format!("{text}: Spin says {why}")),
            (Err(why), Ok(_)) => wrong.push(format!("{text}: we say {why}")),
        }
    }
    println!("{accepted} of {} formulas are accepted", SPELLINGS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The formula `f` as Spin prints it, or what Spin has against it.
fn accepted_by_spin(model: &str) -> Result<String, String> {
    let folder = Spin::on_text(model).expect("a model can be written");
    let output = command::run(&mut folder.generate(&[]), spin::LIMIT).expect("Spin runs");
    let accepted = folder.is_accepted(&output);
    let text = output.stdout;
    if !accepted {
        return Err(text);
    }
    let formula = text.lines().find_map(|line| line.strip_prefix("ltl f: "));
    formula.map(str::to_owned).ok_or(text)
}

/// Compares a formula with the claim that Spin makes of its negation, word by word.
fn means_the_same(formula: &Formula, printed: &str) -> Result<(), String> {
    let Some(claim) = claim_of_spin(printed) else { return Ok(()) };
    let program = program(&format!("{WITNESS}{claim}")).map_err(|why| format!("the claim: {why}\n{claim}"))?;
    let atoms = claim_of(formula).propositions;
    let id = program.properties.iter().find_map(|p| match p.kind {
        PropertyKind::Never(id) => Some(id),
        _ => None,
    });
    let theirs =
        id.and_then(|id| automaton_of_claim(&program, id, &atoms)).ok_or(format!("not a claim we know:\n{claim}"))?;
    let value = |e: &Expr, letter: u64| value(e, &atoms, letter).expect("a formula's own propositions");
    let lengths = if atoms.len() < 3 { 1..=4 } else { 1..=3 };
    for word in lengths.flat_map(|length| Lasso::all(atoms.len() as u32, length)) {
        if holds(formula, &word, &value)[0] == accepts(&theirs, &word) {
            return Err(format!("differs on {:?} from {}:\n{formula:?}\n{claim}", word.letters, word.back_to));
        }
    }
    Ok(())
}
