//! What the parser makes of each construct, and what it says about mistakes.
//!
//! Each refusal and acceptance here was tried with Spin 6.5.2.

use super::syntax_shown;
use fabius_base::{Code, ExpansionKind, SourceMap, Span};
use fabius_language::{Loader, NoLoader};
use fabius_promela::ast::{ExprKind, Sequence, StepKind, Unit};
use fabius_promela::{Parsed, parse};

fn read(text: &str) -> (SourceMap, Parsed) {
    let mut map = SourceMap::new();
    let file = map.add_file("t", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    (map, parsed)
}

/// The units of a text without findings, in short.
fn units(text: &str) -> Vec<String> {
    let (_, parsed) = read(text);
    assert!(parsed.findings.is_empty(), "{text}\n{:#?}", parsed.findings);
    parsed.model.units.iter().map(syntax_shown::unit).collect()
}

/// The statements of a process, in short, after the usual declarations.
fn body(text: &str) -> String {
    let prelude = "mtype = { red, green }; byte x, y, a[3]; chan q = [2] of { byte, byte };\n\
                   inline put(v, w) { v = w }\ninline twice(v) { return v * 2 }\nproctype P(byte b) { skip }\n";
    let units = units(&format!("{prelude}init {{ {text} }}"));
    let last = units.last().expect("there is an init");
    last.strip_prefix("init {").and_then(|t| t.strip_suffix('}')).expect("the last unit is init").to_owned()
}

fn value(text: &str) -> String {
    body(&format!("x = {text}")).strip_prefix("x := ").expect("it is an assignment").to_owned()
}

/// Codes and places of all findings.
fn findings(text: &str) -> Vec<(&'static str, String)> {
    let (map, parsed) = read(text);
    let place = |span: Option<Span>| span.map_or(String::new(), |s| map.position(s).to_string().replace("t:", ""));
    parsed.findings.iter().map(|f| (f.code.as_str(), place(f.span()))).collect()
}

/// Asserts that there is exactly one finding, an error, at this place, and that it says this.
#[track_caller]
fn refused(text: &str, place: &str, says: &str) {
    let (_, parsed) = read(text);
    let places: Vec<String> = findings(text).into_iter().map(|(_, place)| place).collect();
    assert_eq!(places, [place], "{text}\n{:#?}", parsed.findings);
    let finding = &parsed.findings[0];
    assert!(finding.is_error(), "{finding:?}");
    let all = [vec![finding.headline.clone()], finding.help.clone(), finding.notes.clone()].concat().join("\n");
    assert!(all.contains(says), "{text}\n{all}");
}

#[test]
fn precedence_is_spins() {
    let cases = [
        ("1 + 2 * 3", "(Add 1 (Mul 2 3))"),
        ("1 - 2 - 3", "(Sub (Sub 1 2) 3)"),
        ("x == 1 & y", "(BitAnd (Eq x 1) y)"),
        ("x | y ^ x & y == 1 < 2 << 3 + 4", "(BitOr x (BitXor y (BitAnd x (Eq y (Lt 1 (Shl 2 (Add 3 4)))))))"),
        ("!x == 1", "(Eq (Not x) 1)"),
        ("- x * ~y", "(Mul (Neg x) (BitNot y))"),
        ("x && y || x", "(Or (And x y) x)"),
        ("x || y && x", "(Or x (And y x))"),
        ("(x -> y : 2)", "(? x y 2)"),
        ("(x > 1 -> (y -> 1 : 2) : x + 1)", "(? (Gt x 1) (? y 1 2) (Add x 1))"),
        ("a[x + 1] % 2", "(Rem a[(Add x 1)] 2)"),
        ("red", "red#2"),
        ("'a' + '\\n' + '\\0'", "(Add (Add 97 10) 48)"),
        ("true + skip + false", "(Add (Add 1 1) 0)"),
        ("x --> y = 1", "x; y := 1"),
    ];
    for (text, shown) in cases {
        assert_eq!(value(text), shown, "{text}");
    }
}

#[test]
fn operands() {
    let cases = [
        ("len(q) + 1", "(Add (len q) 1)"),
        ("run P(1) priority 3", "(run P 1 @3)"),
        ("run Later(x, y + 1)", "(run Later x (Add y 1))"),
        ("enabled(1) && pc_value(x) == get_priority(_pid)", "(And (enabled 1) (Eq (pc_value x) (get_priority _pid)))"),
        ("q?[red, _] && q??[eval(x), -3]", "(And (poll q red#2 _) (poll* q (eval x) -3))"),
        ("P[1]@l || P@l || P[x]:b == P:b", "(Or (Or P[1]@l P[]@l) (Eq P[x]:b P[]:b))"),
        ("timeout || np_", "(Or timeout np_)"),
        ("full(q) && x", "(And (full q) x)"),
        ("(x || (nempty(q) && nfull(q)))", "(Or x (And (nempty q) (nfull q)))"),
        ("c_expr { x } + 1", "(Add <x> 1)"),
    ];
    for (text, shown) in cases {
        assert_eq!(value(text), shown, "{text}");
    }
}

#[test]
fn statements() {
    let cases = [
        ("x++; y--; a[1] = 2", "x++; y--; a[1] := 2"),
        ("q!x, y; q!x(y); q!!1, 2", "q! x y; q! x y; q!! 1 2"),
        ("q?x, y; q?x(y); q??x, 1; q?<x, y>; q??<_, eval(y)>", "q? x y; q? x y; q?? x 1; q?<> x y; q??<> _ (eval y)"),
        ("q?(x, y); q?-1, red", "q? x y; q? -1 red#2"),
        ("q?[x, y] && x -> skip", "(And (poll q x y) x); 1"),
        ("if :: x -> skip :: else fi", "if [x; 1] [else]"),
        ("do :: x == 1 -> break :: else -> x++ od", "do [(Eq x 1); break] [else; x++]"),
        ("for (x : 0 .. 3) { skip }", "for x 0 3 {1}"),
        ("for (x : 0..3); { skip }", "for x 0 3 {1}"),
        ("for (x in a) { skip }", "for x in a {1}"),
        ("select (x : 0 .. y)", "select x 0 y"),
        ("atomic { x = 1; d_step { y = 1 } }", "atomic {x := 1; d_step {y := 1}}"),
        ("{ x = 1 } unless { y }", "<{x := 1} unless {y}>"),
        ("l: m: skip; goto l; end:", "l: m: 1; goto l; end: -"),
        ("l: x == 1 unless m: skip", "<l: (Eq x 1) unless m: 1>"),
        ("assert(x) && y; assert x == 1", "assert (And x y); assert (Eq x 1)"),
        (
            "printf(\"%d\\n\", x, y + 1); printm(red); printm(x)",
            "printf \"%d\\\\n\" x (Add y 1); printm red#2; printm x",
        ),
        ("set_priority(0, x + 1)", "priority 0 (Add x 1)"),
        ("xr q; xs q, q; skip", "xr q; xs q q; 1"),
        ("int i = 1, k[2] = { 1, 2 }; hidden bit b", "int i=1, k[2]={1 2}; hidden bit b"),
        ("c_code { x = '}'; }; c_code [x > 1] { y; }", "<Code x = '}';>; <Code [x > 1] y;>"),
        ("put(x, y + 1)", "put(){x := (Add y 1)}"),
        ("put(a[1], 2 + 1); x = twice(y)", "put(){a[1] := (Add 2 1)}; x := twice(){return (Mul y 2)}"),
        ("skip;", "1"),
        ("skip; -> skip ->", "1; 1"),
    ];
    for (text, shown) in cases {
        assert_eq!(body(text), shown, "{text}");
    }
}

#[test]
fn units_of_all_kinds() {
    let text = "mtype { a b, c }; mtype:k = { d }; mtype:k e = d\n\
                typedef T { byte f[3]; unsigned u : 3, v : 4\n T2 g }; T t; hidden int h; show bool s = true\n\
                chan q = [1 + 2 * 3] of { mtype:k, T, byte, chan };\n\
                active [2] proctype A(byte x, y; T z) priority 3 provided (h > 0) { skip };\n\
                D_proctype B() { skip } active proctype C() { skip }\n\
                init priority 2 { skip } never n { skip } never { skip } trace { q!1 } notrace { q?1 }\n\
                c_decl { int x; } c_state \"int y\" \"Global\" \"1\" c_track \"x\" \"4\" c_code { f(); }\n";
    let text = format!("typedef T2 {{ bit b }}\n{text}");
    let shown = [
        "typedef T2 {bit b}",
        "mtype: a b c",
        "mtype:k d",
        "mtype:k e=d#1",
        "typedef T {byte f[3]; unsigned u:3, v:4; T2 g}",
        "T t",
        "hidden int h",
        "show bool s=1",
        "chan q=chan (Add 1 (Mul 2 3)) mtype:k T byte chan",
        "active[2] proctype A(byte x, y; T z) priority 3 provided (Gt h 0) {1}",
        "D_proctype B() {1}",
        "active proctype C() {1}",
        "init2 {1}",
        "never n {1}",
        "never  {1}",
        "trace {q! 1}",
        "notrace {q? 1}",
        "<Decl int x;>",
        "<State \"int y\" \"Global\" \"1\">",
        "<Track \"x\" \"4\">",
        "<Code f();>",
    ];
    assert_eq!(units(&text), shown);
}

#[test]
fn mtype_constants_count_from_the_last_of_each_list() {
    let text = "mtype = { a, b, c }; mtype = { d, e }; mtype:k = { f }; init { a + c == d + e + f }";
    assert_eq!(units(text)[3], "init {(Eq (Add a#3 c#1) (Add (Add d#5 e#4) f#1))}");
}

#[test]
fn formulas() {
    let cases = [
        ("[] p -> <> q", "(Implies (Always p) (Eventually q))"),
        ("p U q U r", "(Until (Until p q) r)"),
        ("! p U q V r W s", "(WeakUntil (Release (Until (Not p) q) r) s)"),
        ("X p && q <-> r", "(Equiv (And (Next p) q) r)"),
        ("always (p implies eventually q)", "(Always (Implies p (Eventually q)))"),
        ("p until q || p release q || p weakuntil q", "(Or (Or (Until p q) (Release p q)) (WeakUntil p q))"),
        ("[](x == 1)\n  && !<>y\n", "(And (Always (Eq x 1)) (Not (Eventually y)))"),
        ("[]<>[]p", "(Always (Eventually (Always p)))"),
        ("full(q) && [] p", "(And (full q) (Always p))"),
        ("x < 3 && y<-1", "(And (Lt x 3) (Lt y (Neg 1)))"),
        ("p;", "p"),
    ];
    for (text, shown) in cases {
        assert_eq!(units(&format!("ltl {{ {text} }} init {{ skip }}"))[1], format!("ltl  {shown}"), "{text}");
    }
    // Outside of formulas their words are names, and formulas are read after everything else.
    let text = "int U, next; ltl f { a == later } init { U = next; ltl { [] p } skip } mtype = { later }";
    let shown = ["int U, next", "init {U := next; 1}", "mtype: later", "ltl f (Eq a later#1)", "ltl  (Always p)"];
    assert_eq!(units(text), shown);
}

#[test]
fn line_ends_separate_as_in_spin() {
    assert_eq!(body("x = 1\ny = 2\n\nskip\n"), "x := 1; y := 2; 1");
    assert_eq!(body("if\n:: x\n-> skip\n:: else\n skip\nfi\nskip"), "if [x; 1] [else; 1]; 1");
    assert_eq!(body("(x\n&& y)\nx =\n1"), "(And x y); x := 1");
    assert_eq!(body("{ skip }\nunless { x }\n{ skip } skip"), "<{1} unless {x}>; {1}; 1");
    assert_eq!(body("timeout\nskip"), "timeout; 1");
    assert_eq!(body("put(x,\ny)\nskip"), "put(){x := y}; 1");
    assert_eq!(body("x = 1 /* a\n b */ y = 2"), "x := 1; y := 2");
    assert_eq!(units("proctype\nP\n(\n)\n{ skip\n}\nltl\n{ p\n&& q }"), ["proctype P() {1}", "ltl  (And p q)"]);
    refused("int x; init { x = 3\n + 2 }", "2:2", "Spin ends a statement where a line ends");
    refused("init { do :: x\n || y od }", "2:2", "parentheses around the whole");
    refused("int a[3]; init { a[1\n+1] = 3 }", "1:21", "found the end of the line");
    refused("inline t() { timeout\nskip } init { t() }", "2:1", "expected `;`");
    refused("init { c_code { x } c_expr { x } }", "1:21", "expected `;`");
}

#[test]
fn macros_make_parts_of_statements() {
    assert_eq!(units("#define N 3 /* three */\nint a[N+1];"), ["int a[(Add 3 1)]"]);
    let text = "#define O(x) :: x -> skip\n#define BEGIN {\n#define END }\ninit BEGIN do O(1) O((y || z)) od END";
    assert_eq!(units(text), ["init {do [1; 1] [(Or y z); 1]}"]);
    let text = "#define V(n) v##n\n#define S(x) #x\ninit { V(1) = 2; printf(S(a  \"b\" + 'c')) }";
    assert_eq!(units(text), ["init {v1 := 2; printf \"a \\\\\\\"b\\\\\\\" + 'c'\"}"]);
    let text = "#define X Y\n#define Y X\nint X;\n#undef X\nint Y;";
    assert_eq!(units(text), ["int X", "int X"]);
    let text =
        "#define W for\n#define LOOP(i, n, body) W (i : 0 .. n - 1) { body }\nint i; init { LOOP(i, 3, skip; skip) }";
    assert_eq!(units(text)[1], "init {for i 0 (Sub 3 1) {1; 1}}");
    assert_eq!(units("int a = __LINE__,\n b = __LINE__;"), ["int a=1, b=2"]);
    assert_eq!(units("init { printf(__FILE__) }"), ["init {printf \"t\"}"]);
}

#[test]
fn the_command_line_defines_macros() {
    let mut map = SourceMap::new();
    let file = map.add_file("t", "#if N == 3 && defined M\nint a[F(M)];\n#endif\n");
    let defines = [("N", "3"), ("M", ""), ("F(x)", "x+x")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    let parsed = parse(&mut map, file, &defines, &mut NoLoader);
    assert_eq!(parsed.model.units.iter().map(syntax_shown::unit).collect::<Vec<_>>(), ["int a[(Add 1 1)]"]);
}

#[test]
fn conditions() {
    let cases = [
        ("1", true),
        ("0", false),
        ("N", true),
        ("N == 3 && !defined(M)", true),
        ("defined N + defined M == 1", true),
        ("M", false),
        ("(1 ? 2 : 0) << 3 == 16", true),
        ("-1 < 0 && ~0 == -1", true),
        ("0 && 1 / 0", false),
        ("'a' == 97 && 0x10 == 16 && 010 == 8", true),
        ("F(2) == 4", true),
    ];
    for (condition, holds) in cases {
        let text = format!("#define N 3\n#define F(x) x + x\n#if {condition}\nint yes;\n#else\nint no;\n#endif");
        assert_eq!(units(&text), [if holds { "int yes" } else { "int no" }], "{condition}");
    }
    let text = "#ifndef A\n#ifdef B\nerror\n#elif 0\nerror '\n#else\nint x;\n#endif\n#else\n#include \"no\"\n#foo\n#endif x\nint y;";
    assert_eq!(units(text), ["int x", "int y"]);
    refused("#if 1 / 0\n#endif", "1:2", "cannot be evaluated");
    refused("#if 1 +\n#endif", "1:7", "cannot be evaluated");
    refused("#if\n#endif", "1:2", "cannot be evaluated");
    refused("#ifdef X\nint x;", "1:2", "never closed");
    refused("#else\nint x;", "1:2", "without `#if`");
    refused("#error do not use\nint x;", "1:2", "do not use");
    refused("#pragma pack\nint x;", "1:2", "Spin refuses it");
    refused("#define F(x) x\nint a[F(1, 2)];", "2:7", "takes 1 argument, not 2");
    refused("#include \"no.h\"\nint x;", "1:10", "cannot be found");
    assert_eq!(
        findings("#define A 1\n#define A 2\n#define A 2\n#warning hm\n"),
        [("F0109", "2:9".into()), ("F0110", "4:2".into())]
    );
    assert!(read("#define A 1\n#define A 2\nint x;").1.is_ok());
    assert_eq!(findings("#define N 3\nint i; init { for (i : 0..N) { skip } }"), [("F0112", "2:24".into())]);
}

struct Two;

impl Loader for Two {
    fn load(&mut self, includer: &str, name: &str) -> Option<(String, String)> {
        let text = match (includer, name) {
            ("t", "\"a.h\"") => "#include <b.h>\n#ifndef A\n#define A 7\n#endif\nint in_a",
            ("a.h", "<b.h>") => "#pragma once\n/* b */ int in_b;\n",
            _ => return None,
        };
        Some((name[1..name.len() - 1].to_owned(), text.to_owned()))
    }
}

#[test]
fn included_files_keep_their_places() {
    let mut map = SourceMap::new();
    let file = map.add_file("t", "#include \"a.h\"\n;int x = A;\n#include \"a.h\"\n");
    let parsed = parse(&mut map, file, &[], &mut Two);
    assert!(parsed.findings.is_empty(), "{:#?}", parsed.findings);
    let places: Vec<String> = parsed
        .model
        .units
        .iter()
        .map(|unit| match unit {
            Unit::Variables(d) => format!("{} {}", syntax_shown::unit(unit), map.position(d.span)),
            _ => unreachable!("only variables are declared"),
        })
        .collect();
    assert_eq!(places, ["int in_b b.h:2:9", "int in_a a.h:5:1", "int x=7 t:2:2", "int in_a a.h:5:1"]);
    assert_eq!(map.files().count(), 3, "a file that is included twice is kept once");
}

fn only_process(parsed: &Parsed) -> &Sequence {
    let body = parsed.model.units.iter().find_map(|unit| match unit {
        Unit::Init(init) => Some(&init.body),
        _ => None,
    });
    body.expect("there is an init")
}

#[test]
fn places_lead_through_macros_and_inlines_to_the_call() {
    let text = "#define ADD(v, n) v = v + n\n#define TWICE(v) ADD(v, 2)\nint x;\n\
                inline twice(w) { TWICE(w); skip }\ninit { TWICE(x); twice(x) }\n";
    let (map, parsed) = read(text);
    assert!(parsed.findings.is_empty());
    let body = only_process(&parsed);
    let StepKind::Assign { target, value } = &body.steps[0].kind else { panic!("{:?}", body.steps[0]) };
    let ExprKind::Binary(_, left, right) = &value.kind else { panic!("{value:?}") };
    // Arguments stay where they were written, even through two macros.
    assert_eq!((map.text(target.span), map.position(target.span).to_string()), ("x", "t:5:14".into()));
    assert_eq!(map.position(left.span).to_string(), "t:5:14");
    // The 2 was written in TWICE, which was called in line 5, and handed on by ADD.
    assert_eq!(map.text(right.span), "2");
    assert_eq!(map.line_column(right.span.file, right.span.start), (2, 25));
    assert_eq!(map.position(right.span).to_string(), "t:5:8");
    let chain: Vec<&str> = map.expansion_chain(right.span).iter().map(|e| &*e.name).collect();
    assert_eq!(chain, ["TWICE"]);
    // The plus comes from ADD, called in TWICE, called in line 5.
    let chain: Vec<String> =
        map.expansion_chain(body.steps[0].span).iter().map(|e| format!("{} {}", e.name, map.text(e.call))).collect();
    assert!(chain.is_empty() || chain == ["ADD ADD(v, 2)", "TWICE TWICE(x)"], "{chain:?}");

    let StepKind::Inlined { body: inlined, .. } = &body.steps[1].kind else { panic!("{:?}", body.steps[1]) };
    assert_eq!(map.text(body.steps[1].span), "twice(x)");
    let StepKind::Assign { target, value } = &inlined.steps[0].kind else { panic!("{:?}", inlined.steps[0]) };
    let ExprKind::Binary(_, _, two) = &value.kind else { panic!("{value:?}") };
    assert_eq!(map.position(target.span).to_string(), "t:5:24", "the argument of the call");
    let chain: Vec<(ExpansionKind, &str)> = map.expansion_chain(two.span).iter().map(|e| (e.kind, &*e.name)).collect();
    assert_eq!(chain, [(ExpansionKind::Macro, "TWICE"), (ExpansionKind::Inline, "twice")]);
    assert_eq!(map.position(two.span).to_string(), "t:4:19", "where the macro is used in the inline");
    let skip = &inlined.steps[1];
    assert_eq!(map.position(skip.span).to_string(), "t:4:29");
    assert_eq!(map.expansion_chain(skip.span).len(), 1);
}

#[test]
fn inlines_are_replaced_as_text() {
    let units =
        units("int x, y; inline f(a) { x = 2 * a } inline g(a, b) { f(a + b); y = b } init { g(1, x); g(y - 1, 2) }");
    let expected = "init {g(){f(){x := (Add (Mul 2 1) x)}; y := x}; g(){f(){x := (Add (Sub (Mul 2 y) 1) 2)}; y := 2}}";
    assert_eq!(units[3], expected);
    refused("inline f(a) { f(a) } int x; init { f(x) }", "1:15", "calls itself");
    refused("inline f(a) { x = a } int x; init { f(1, 2) }", "1:37", "takes 1 argument, not 2");
    refused("inline f(a, b) { a = b } int x, b; init { f(b, x) }", "1:45", "Spin puts arguments into the text");
    refused("inline f() { return 1 } init { f() }", "1:14", "call it as `x = name(…)`");
    refused("inline f() { } init { f() }", "1:14", "at least one statement");
    refused("init { return 1 }", "1:8", "outside of an inline");
    refused("inline f() { skip } init { f }", "1:30", "expected `(`");
    refused("inline f(int a) { skip } init { skip }", "1:10", "have no types");
    refused("init { g(1) } inline g(a) { skip }", "1:8", "`g` cannot be called");
}

#[test]
fn usual_mistakes_get_the_usual_advice() {
    let cases = [
        ("init { skip skip }", "1:13", "expected `;` or `->`"),
        ("init { x := 1 }", "1:10", "write `=`"),
        ("init { int x := 1 }", "1:14", "write `=`"),
        ("init { x = !full(q) }", "1:13", "nfull"),
        ("init { !empty(q) -> skip }", "1:9", "nempty"),
        ("init { full(q) + 1 }", "1:8", "joined by `&&` and `||`"),
        ("init { if (x) { skip } else { skip } skip }", "1:8", "written as in C"),
        ("init { while (x) { skip } }", "1:8", "do :: condition"),
        ("init { for (i = 0; i < 3; i++) { skip } }", "1:15", "from .. to"),
        ("init { assert(x = 3) }", "1:17", "write `==`"),
        ("init { x = y? z : 1 }", "1:13", "q?[…]"),
        ("init { if :: x -> skip od }", "1:24", "close it with `fi`"),
        ("init { do :: x -> skip }", "1:24", "close it with `od`"),
        ("init { do x -> skip od }", "1:11", "first option"),
        ("init { skip", "1:12", "close it with `}`"),
        ("init { skip } }", "1:15", "closes nothing"),
        ("init { skip; fi }", "1:14", "without an `if`"),
        ("init { :: skip }", "1:8", "outside of `if` and `do`"),
        ("init { }", "1:8", "write `skip`"),
        ("init { ; skip }", "1:8", "found a separator"),
        ("init { l: int x; skip }", "1:11", "cannot stand before a declaration"),
        ("init { skip unless skip unless skip }", "1:25", "cannot follow"),
        ("init { x = 0x10 }", "1:13", "no hexadecimal"),
        ("init { q?x(y), z }", "1:14", "expected `;`"),
        ("init { goto 3 }", "1:13", "the name of a label"),
        ("init { run p }", "1:14", "expected `(`"),
        ("proctype p() { skip } init { p() }", "1:30", "run p(…)"),
        ("proctype p(int a, byte b) { skip }", "1:19", "separate declarations of different types by `;`"),
        ("proctype p(int a; byte b;) { skip }", "1:26", "after the last parameter"),
        ("proctype p(int a = 1) { skip }", "1:16", "cannot have an initial value"),
        ("proctype p() { skip } proctype p() { skip }", "1:32", "already"),
        ("active proctype p() provided (x) priority 1 { skip }", "1:34", "stands before"),
        ("init() { skip }", "1:5", "no parameters"),
        ("chan a = [1] of { byte }, b = [1] of { byte };", "1:25", "begin a new one"),
        ("chan a = [n] of { byte };", "1:11", "must be a constant"),
        ("chan a = [1] of { byte; bit };", "1:23", "between commas"),
        ("chan a = [1] of { unsigned };", "1:19", "cannot be the type"),
        ("byte a[1 << 2];", "1:8", "must be a constant"),
        ("mtype = { a }; mtype = { a };", "1:26", "already"),
        ("typedef T { int a }; int T;", "1:26", "is a typedef already"),
        ("init { mtype = { a }; skip }", "1:8", "top level"),
        ("init { 'ab' == x }", "1:8", "one character"),
        ("init { printf(\"a\" \"b\") }", "1:19", "not joined"),
        ("init { ++x }", "1:8", "cannot begin"),
        ("init { x = 1 $ }", "1:14", "no meaning"),
        ("init { \u{e9} = 1 }", "1:8", "no meaning"),
        ("trace { do :: x = 1 od }", "1:17", "not an event"),
        ("struct s { int a }", "1:1", "typedef Name"),
        ("ltl { !!p }", "1:7", "write `! !`"),
        ("ltl { (p) <> (q) }", "1:11", "expected an operator"),
        ("init { skip } /* open", "1:15", "close it with `*/`"),
    ];
    for (text, place, says) in cases {
        let (_, parsed) = read(text);
        let errors: Vec<_> = parsed.findings.iter().filter(|f| f.code != Code::UnterminatedLiteral).collect();
        assert!(!parsed.is_ok() && !parsed.findings.is_empty() && errors.len() <= 2, "{text}\n{:#?}", parsed.findings);
        let first = &parsed.findings[0];
        let all = [vec![first.headline.clone()], first.help.clone(), first.notes.clone()].concat().join("\n");
        assert!(all.contains(says), "{text}\n{all}");
        assert_eq!(findings(text)[0].1, place, "{text}\n{all}");
    }
}

#[test]
fn every_mistake_of_a_text_is_told_once() {
    let text = "int x y;\nproctype p() {\n  x = ;\n  if :: x -> ) :: else -> skip fi;\n  x = 1\n}\nproctype q() {\n  do :: skip\n}\n\
                init { x ! ; skip; x = 3 3 }\nfoo bar;\nint z;\nltl { x U }";
    let places: Vec<String> = findings(text).into_iter().map(|(_, place)| place).collect();
    assert_eq!(places, ["1:7", "3:7", "4:14", "9:1", "10:12", "10:26", "11:1", "13:11"]);
    let (_, parsed) = read(text);
    assert_eq!(parsed.model.units.iter().filter(|u| matches!(u, Unit::Proctype(_) | Unit::Init(_))).count(), 3);
    assert!(parsed.model.units.iter().any(|u| syntax_shown::unit(u) == "int z"));
}

#[test]
fn odd_texts_that_spin_reads() {
    assert_eq!(units("\u{feff}int x;\r\ninit\r\n{\r\n\tx = 1\r\n\tx = 2\r\n}\r\n"), ["int x", "init {x := 1; x := 2}"]);
    assert_eq!(units("int x;\0\x0c\x0b init { skip }\0"), ["int x", "init {1}"]);
    assert_eq!(units(""), Vec::<String>::new());
    assert_eq!(units("/* a // b */ // c \\\n still c\nint /* d */ x /**/;;"), ["int x"]);
    assert_eq!(units("in\\\nt x\\\n;"), ["int x"]);
    assert_eq!(units("byte in; init { in = 3 } ;;"), ["byte in", "init {in := 3}"]);
    assert_eq!(
        units("init { if :: skip fi; do :: break od } byte x byte y"),
        ["init {if [1]; do [break]}", "byte x", "byte y"]
    );
    let (_, parsed) = read("init { skip } ltl { [] x");
    assert!(parsed.is_ok() && parsed.findings.len() == 1, "{:#?}", parsed.findings);
    assert_eq!(findings("int x = 99999999999;"), [("F0111", "1:9".into())]);
    assert_eq!(findings("init { do :: skip;;; :: break od }"), [("F0203", "1:20".into())]);
    assert_eq!(findings("int x; /* a /* b */ */"), [("F0101", "1:21".into())]);
}

#[test]
fn a_parameter_may_not_occur_beside_a_dot_in_its_argument() {
    let model = |declared: &str, parameter: &str, argument: &str| {
        format!(
            "typedef S {{ byte a; byte ab }}; S {declared}; inline f({parameter}) {{ {parameter} = 1 }} init {{ f({argument}) }}"
        )
    };
    for (declared, argument, offset) in [("s", "s.a", 2), ("s", "s.ab", 2), ("s", "s . a", 4), ("xa", "xa.ab", 0)] {
        let text = model(declared, "a", argument);
        let call = text.rfind("f(").expect("it is called") + 2;
        refused(&text, &format!("1:{}", call + offset + 1), "occurs in a structure name");
    }
    for (declared, parameter, argument) in [("s", "q", "s.a"), ("xab", "a", "xab.b"), ("s", "b", "s.ab")] {
        assert_eq!(findings(&model(declared, parameter, argument)), []);
    }
    // Spin replaces a parameter only where it is used.
    assert_eq!(findings("typedef S { byte a }; S s; inline f(a) { skip } init { f(s.a) }"), []);
}
