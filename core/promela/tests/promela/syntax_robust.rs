//! Whatever the text says, reading it ends soon, without panic, with a bounded number of findings.

#![expect(clippy::disallowed_methods, reason = "a test looks at the clock")]

use fabius_base::{Code, SourceMap};
use fabius_language::{Loader, NoLoader};
use fabius_promela::{Parsed, parse};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Generous: tests run beside others, on slow machines, without optimisation.
const TIME_MAX: Duration = Duration::from_secs(30);

fn read(text: &str) -> Parsed {
    let mut map = SourceMap::new();
    let file = map.add_file("test.pml", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    for finding in &parsed.findings {
        for label in &finding.labels {
            let source = &map.file(label.span.file).text;
            assert!(label.span.start <= label.span.end && label.span.end as usize <= source.len(), "{finding:?}");
            map.position(label.span);
        }
    }
    parsed
}

/// Reads in a thread with the small stack that tests and editors have, and drops the tree there.
fn read_in_time(text: &str) -> Vec<Code> {
    let start = Instant::now();
    let codes = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, || {
            let parsed = read(text);
            assert!(parsed.findings.len() < 1000, "{} findings", parsed.findings.len());
            parsed.findings.iter().map(|f| f.code).collect::<Vec<_>>()
        });
        reader.expect("a thread can be started").join().expect("reading does not panic")
    });
    assert!(start.elapsed() < TIME_MAX, "took {:?}", start.elapsed());
    codes
}

#[test]
fn megabytes_of_one_mark() {
    for mark in ["(", "{"] {
        assert!(!read_in_time(&mark.repeat(10 << 20)).is_empty(), "{mark}");
    }
    let marks = [
        "(", "{", "[", "!", "-", "::", "x.", "a[", "if ::", "do ::", ";", "\n", "}", "*/", "0..", "'", "\"", "#", "a+",
        "l:",
    ];
    for mark in marks {
        for before in ["", "int x; init { x = ", "init {"] {
            let text = format!("{before}{}", mark.repeat((256 << 10) / mark.len()));
            assert!(!read_in_time(&text).is_empty() || matches!(mark, "\n" | ";" | "*/"), "{before}{mark}");
        }
    }
}

#[test]
fn expressions_and_statements_as_deep_as_is_allowed() {
    let nested_parens = |n: usize| format!("int x; init {{ x = {}1{} }}", "(".repeat(n), ")".repeat(n));
    assert_eq!(read_in_time(&nested_parens(240)), []);
    assert_eq!(read_in_time(&nested_parens(260)), [Code::NestedTooDeep]);
    let sum = |n: usize| format!("int x; init {{ x = {}1 }}", "x+".repeat(n));
    assert_eq!(read_in_time(&sum(900)), []);
    assert_eq!(read_in_time(&sum(100_000)), [Code::NestedTooDeep]);
    let signs = |n: usize| format!("int x; init {{ x = {}1 }}", "- ".repeat(n));
    assert_eq!(read_in_time(&signs(900)), []);
    assert_eq!(read_in_time(&signs(100_000)), [Code::NestedTooDeep]);
    let indexed = |n: usize, m: usize| {
        let chain = "+x".repeat(m);
        format!("int x; int a[2]; init {{ x = {}1{} }}", "a[".repeat(n), format!("{chain}]").repeat(n))
    };
    assert_eq!(read_in_time(&indexed(200, 1)), []);
    assert_eq!(read_in_time(&indexed(200, 900)), [Code::NestedTooDeep]);
    let ifs = |n: usize| format!("init {{ {} skip {} }}", "if :: ".repeat(n), " fi".repeat(n));
    assert_eq!(read_in_time(&ifs(190)), []);
    assert!(read_in_time(&ifs(250)).contains(&Code::NestedTooDeep));
    let blocks = |n: usize| format!("init {} skip {}", "{".repeat(n), "}".repeat(n));
    assert_eq!(read_in_time(&blocks(190)), []);
    assert!(read_in_time(&blocks(250)).contains(&Code::NestedTooDeep));
    let deep_in_deep = format!(
        "int x; int a[2]; init {{ {} x = {}1{} {} }}",
        "if :: ".repeat(190),
        "a[(".repeat(120),
        ")]".repeat(120),
        " fi".repeat(190)
    );
    assert_eq!(read_in_time(&deep_in_deep), []);
}

#[test]
fn macros_that_explode() {
    let mut doubling = String::from("#define M0 x x\n");
    let mut calling = String::from("#define C0(a) a a a a\n");
    for i in 1..60 {
        doubling.push_str(&format!("#define M{i} M{} M{}\n", i - 1, i - 1));
        calling.push_str(&format!("#define C{i}(a) C{}(a a a a)\n", i - 1));
    }
    doubling.push_str("init { M59 }");
    calling.push_str("init { C59(x) }");
    assert_eq!(read_in_time(&doubling), [Code::ExpansionTooLarge]);
    assert_eq!(read_in_time(&calling), [Code::ExpansionTooLarge]);
    let nested = format!("#define F(a) a\ninit {{ {}skip{} }}", "F(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(read_in_time(&nested), [Code::ExpansionTooLarge]);
    let chain: String = (1..5000).map(|i| format!("#define D{i} D{}\n", i - 1)).collect();
    assert_eq!(read_in_time(&format!("#define D0 skip\n{chain}init {{ D4999 }}")), []);
    assert_eq!(read_in_time("#define f(x) x f\ninit { f(skip;)(skip) }\n#define A B\n#define B A\nint A;").len(), 1);
}

#[test]
fn inlines_that_explode() {
    let mut text = String::from("inline f0() { skip }\n");
    for i in 1..40 {
        text.push_str(&format!("inline f{i}() {{ f{}(); f{}() }}\n", i - 1, i - 1));
    }
    text.push_str("init { f39() }");
    // The braces of what was not read are not missing.
    assert_eq!(read_in_time(&text), [Code::ExpansionTooLarge]);
    let mut text = String::from("int x; inline f0(a) { x = a }\n");
    for i in 1..60 {
        text.push_str(&format!("inline f{i}(a) {{ f{}((a) + (a)) }}\n", i - 1));
    }
    text.push_str("init { f59(1) }");
    assert_eq!(read_in_time(&text), [Code::ExpansionTooLarge]);
    assert!(read_in_time("inline f() { g() } inline g() { f() } init { g() }").contains(&Code::BadInlineCall));
}

#[test]
fn files_that_include_each_other() {
    struct Again(&'static str, u32);
    impl Loader for Again {
        fn load(&mut self, _includer: &str, name: &str) -> Option<(String, String)> {
            self.1 += 1;
            Some((name.to_owned(), self.0.to_owned()))
        }
    }
    for body in ["#include \"a\"\n", "#include \"a\"\n#include \"b\"\n", "#include \"a\"\nint x;\n#include \"a\"\n"] {
        let start = Instant::now();
        let mut map = SourceMap::new();
        let file = map.add_file("test.pml", "#include \"a\"\ninit { skip }");
        let mut loader = Again(body, 0);
        let parsed = parse(&mut map, file, &[], &mut loader);
        assert_eq!(parsed.findings.iter().map(|f| f.code).collect::<Vec<_>>(), [Code::ExpansionTooLarge]);
        assert!(loader.1 <= 2_000, "{} files loaded", loader.1);
        assert!(start.elapsed() < TIME_MAX);
    }
}

#[test]
fn many_errors_are_cut_off() {
    let text = format!("init {{ {} skip }}", "x y;\n".repeat(5_000));
    let codes = read_in_time(&text);
    assert_eq!(codes.len(), 101);
    assert_eq!(codes[100], Code::TooManyFindings);
}

/// Small models that use everything, as raw material for mutations.
const MODELS: &[&str] = &[
    "#define N 2\n#define MAX(a, b) (a > b -> a : b)\nmtype = { red, green }; mtype:k = { one }\nchan q = [N] of { mtype, byte };\n\
     typedef P { byte a[3]; int b }\nP p; unsigned u : 3; hidden byte h = 'a';\n\
     inline send(m, v) { q!m(v); p.b = MAX(v, 1) }\ninline get() { return 3 }\n\
     active [2] proctype A(byte x) priority 2 provided (x < 3) {\n int i, k[2] = { 1, 2 };\n again: do\n :: q?red, i -> break\n :: q??eval(i), _ \
     -> skip\n :: q?[red, i] && nempty(q) -> send(green, i)\n :: else -> i = get()\n od unless { timeout };\n \
     for (i : 0 .. 2) { k[i]++ }\n for (i in k) { select (i : 1..3) }\n atomic { d_step { assert(i == 1); goto again } }\n printf(\"%d\\n\", i)\n}\n",
    "never n { do :: !np_ od }\ntrace { do :: q!red od }\nchan q = [1] of { byte };\nltl a { [](x == 1 -> <> (y U z)) }\nltl { always eventually x }\n\
     init { xr q; xs q; run P(1, 2) priority 3; P[1]@l; P:y == 1; set_priority(1, 2); c_code { int x = '}' ; } c_expr { x } ; \
     skip unless { q!!3; q?<x>; q??<x>; printm(x) } }\n#if defined(X) && N > 2\n#include \"y\"\n#else\nc_decl { \\#include <x> }\n#endif\n\
     #define S(x) #x\n#define C(a, ...) a ## _1 __VA_ARGS__\nc_state \"int y\" \"Global\"\nc_track \"x\" \"4\"\n/* a */ // b\n",
];

const PIECES: &[&str] = &[
    "if",
    "fi",
    "do",
    "od",
    "::",
    ";",
    "->",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "x",
    "p",
    "q",
    "!",
    "?",
    "??",
    "!!",
    "=",
    "==",
    ":",
    "..",
    "1",
    "atomic",
    "d_step",
    "unless",
    "goto",
    "break",
    "else",
    "init",
    "proctype",
    "active",
    "inline",
    "typedef",
    "ltl",
    "never",
    "trace",
    "mtype",
    "byte",
    "chan",
    "of",
    "for",
    "in",
    "select",
    "run",
    "len",
    "full",
    "eval",
    "timeout",
    "skip",
    "return",
    "c_code",
    "c_expr",
    "printf",
    "\"a\"",
    "'a'",
    "'",
    "\"",
    "\n",
    "#define x x x\n",
    "#define p(a, b) a ## b #a\n",
    "\n#if 1\n",
    "\n#endif\n",
    "\n#else\n",
    "/*",
    "*/",
    "//",
    "\\\n",
    "@",
    ",",
    ".",
    "-",
    "+",
    "++",
    "<",
    ">",
    "[]",
    "<>",
    "U",
    "X",
    "é",
    "\0",
    "priority",
    "provided",
    "hidden",
    "show",
    "xr",
    "_pid",
    "np_",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_pieces(picks in proptest::collection::vec(0..PIECES.len(), 0..300), glue in any::<bool>()) {
        let pieces: Vec<&str> = picks.into_iter().map(|i| PIECES[i]).collect();
        read(&pieces.join(if glue { "" } else { " " }));
    }

    #[test]
    fn pieces_inside_a_body(picks in proptest::collection::vec(0..PIECES.len(), 0..100)) {
        let pieces: Vec<&str> = picks.into_iter().map(|i| PIECES[i]).collect();
        read(&format!("byte x; chan q = [1] of {{ byte }}; inline p(a) {{ x = a }} init {{ {} }}", pieces.join(" ")));
    }

    #[test]
    fn models_cut_and_mutated(model in 0..MODELS.len(), from in any::<prop::sample::Index>(), length in 0_usize..40, pick in 0..PIECES.len()) {
        let text = MODELS[model];
        let mut start = from.index(text.len());
        while !text.is_char_boundary(start) { start -= 1; }
        let mut end = (start + length).min(text.len());
        while !text.is_char_boundary(end) { end -= 1; }
        let end = end.max(start);
        read(&text[..start]);
        read(&text[start..]);
        read(&format!("{}{}", &text[..start], &text[end..]));
        read(&format!("{}{}{}", &text[..start], PIECES[pick], &text[end..]));
        read(&format!("{}{}{}", &text[..end], &text[start..end], &text[end..]));
    }
}

#[test]
fn the_models_themselves_are_read() {
    let parsed = read(MODELS[0]);
    assert!(parsed.findings.is_empty(), "{:#?}", parsed.findings);
    assert_eq!(parsed.model.units.len(), 10);
}
