//! The preprocessor and the lexer against GCC's preprocessor, the one that Spin runs.

use super::preprocess;
use super::scan::{PpKind, Scanner};

use crate::lex::lex;
use crate::token::{Interner, Tok, Token, spelling};
use fabius_base::{Cancel, Finding, SourceMap, Span};
use fabius_language::{Loader, NoLoader, ReadRequest};
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};

/// What GCC makes of a text; `None` if it refuses the text.
fn gcc(text: &str) -> Option<String> {
    let mut child = Command::new("gcc")
        .args(["-std=gnu99", "-E", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn gcc_is_here() -> bool {
    fabius_needs::Need::Gcc.met()
}

/// Tokens as text, each with a mark if a line begins with it.
fn shown(tokens: &[Token], names: &Interner) -> Vec<String> {
    let text = |t: &Token| match t.kind {
        Tok::Eof => "END".to_owned(),
        Tok::Number => t.value.to_string(),
        Tok::Ident | Tok::Str | Tok::Char | Tok::BadLiteral | Tok::Unknown => {
            names.text(t.symbol).trim_end().to_string()
        }
        kind => spelling(kind).unwrap_or("?").to_owned(),
    };
    tokens.iter().map(|t| if t.newline { format!("|{}", text(t)) } else { text(t) }).collect()
}

/// The tokens that Spin's lexer would see in GCC's output.
fn tokens_of(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output
        .lines()
        .map(|line| if line.starts_with("# ") || line.starts_with("#ident") { "" } else { line })
        .collect();
    let mut names = Interner::new();
    let mut findings = Vec::new();
    let mut map = SourceMap::new();
    let text = lines.join("\n");
    let file = map.add_file("gcc", text.as_str());
    let mut scanner = Scanner::new(text.as_str().into(), file, 1);
    let mut pieces = Vec::new();
    loop {
        let piece = scanner.next(&mut names, &mut findings);
        match piece.kind {
            PpKind::Eof => break,
            PpKind::Newline => {}
            _ => pieces.push(piece),
        }
    }
    let tokens = lex(&pieces, &mut names, &mut findings, Span::default());
    shown(&tokens, &names)
}

/// The tokens that Fabius makes of a text; `None` if it refuses the text.
fn ours(text: &str, loader: &mut dyn Loader) -> Option<Vec<String>> {
    let mut names = Interner::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut map = SourceMap::new();
    let file = map.add_file("test", text);
    let request = ReadRequest { file, defines: &[], fixed: &[], formulas: &[] };
    let pieces = preprocess(&mut map, &mut names, &mut findings, &request, loader, &Cancel::new()).tokens;
    if findings.iter().any(Finding::is_error) {
        return None;
    }
    let tokens = lex(&pieces, &mut names, &mut findings, Span::default());
    Some(shown(&tokens, &names))
}

#[track_caller]
fn compare(text: &str) {
    let gcc = gcc(text).map(|output| tokens_of(&output));
    let ours = ours(text, &mut NoLoader);
    assert_eq!(ours, gcc, "\n{text}");
}

#[test]
fn white_space_before_a_macro_that_comes_to_nothing_stays() {
    if !gcc_is_here() {
        return;
    }
    let definitions = "#define B\n#define E()\n#define A(p) p\n#define D B!\n#define F ! B\n";
    for text in [
        "! B!",
        "!B!",
        "!B !",
        "! E()!",
        "! E()B!",
        "!/**/B!",
        "! D",
        "!D",
        "F!",
        "! A()!",
        "! A(B)!",
        "! A( B)!",
        "A(! B!)",
        "A(!)! B!",
        "- B>",
        "-B>",
        "-B >",
        "x B[0]",
        ": B:",
        ":B:",
        "! B\n!",
        "E E B!",
        "! E B!",
        "! A(E)B()!",
        "! B A(!)",
    ] {
        compare(&format!("{definitions}{text}"));
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_compiler_and_the_system_are_known() {
    if !gcc_is_here() {
        return;
    }
    for (name, _) in super::builtin::TEXTS {
        compare(&format!("#ifdef {name}\nyes\n#else\nno\n#endif\n#if defined({name})\nyes\n#endif"));
        compare(&format!("#undef {name}\n#ifdef {name}\nyes\n#endif\n{name}"));
        compare(&format!("#undef {name}\n#define {name} 3\n{name}"));
    }
    for (name, text) in
        super::builtin::TEXTS.iter().filter(|(name, text)| !name.contains("GNUC") && !text.contains('"'))
    {
        let number = text.trim_end_matches('L');
        compare(&format!("#if {name} == {number}\nyes\n#else\nno\n#endif"));
    }
    compare("#if __GNUC__ >= 4 && __STDC__\nyes\n#endif\n#ifdef __DATE\nno\n#endif");
    compare("__COUNTER__ __COUNTER__ __INCLUDE_LEVEL__\n__LINE__ __COUNTER__");
}

#[test]
fn dollars_hold_strings() {
    assert_eq!(ours("p($a b$, $$);", &mut NoLoader), ours("p(\"a b\", \"\");", &mut NoLoader));
    assert_eq!(ours("p($a\\n$)", &mut NoLoader), ours("p(\"a\\n\")", &mut NoLoader));
    for lone in ["p($a)", "p($a\n$)", "p($a\"b$)", "p($a\\$)"] {
        assert!(
            ours(lone, &mut NoLoader).is_none_or(|tokens| tokens.iter().any(|token| token.contains('$'))),
            "{lone}"
        );
    }
}

#[test]
fn written_by_hand() {
    if !gcc_is_here() {
        return;
    }
    let texts = [
        "#define M(a,b) a b\nM(x +\n y, z) w\nfoo\nM\nbar M\n(1,2) q",
        "#define E\nE\nE x\n-E- a-E->\nE E E\nE",
        "#define C :\nC: :C C C\n#define S !\nq S!x S S",
        "x\\\ny\n0..E 0 .. E 1.e+3 .5 a.5 a.b 0...3 1.2.3",
        "#define F(x) x\nuu F(\n1\n)F(2)\nF(a) F\nF(b)\nvv F(\n(\n)\n)",
        "a /* b\n c */ d\n/* e\n*/ f /* g */h",
        "#define TWO aa \\\n bb\nTWO TWO\n",
        "#define f(x) x f\nf(1)(2) f(f)(3) f(f(f)(1))\n",
        "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)\n",
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n#define m(a) a(w)\n\
         #define w 0,1\n#define t(a) a\nf(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n",
        "#define str(s) # s\n#define xstr(s) str(s)\n#define INC(n) v ## n\nstr(a  b \"c\\n\" '\\'') xstr(INC(2)) str( ) str(INC(2))\n",
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n#define join(c, d) in_between(c hash_hash d)\njoin(x, y)\n",
        "#define t(x,y,z) x ## y ## z\nt(1,2,3) t(,4,5) t(6,,7) t(8,9,) t(10,,) t(,11,) t(,,12) t(,,)\n",
        "#define e(format, ...) p(format, ## __VA_ARGS__) [__VA_ARGS__]\ne(1) e(1,2) e(1,2,3) e(1,)\n",
        "#define v(...) x(1, ## __VA_ARGS__)\nv() v(2) v(2,3) v(,)\n",
        "#define v(a, rest...) a ## rest; rest\nv(1, 2) v(1) v(x, y, z)\n",
        "#define n() x\nn() n( ) n ()\nn\n()\n",
        "#define a b\n#define b c\n#define c a\na b c\n",
        "#define q(x, y) x y\nq((1, 2), [3) ) q(,) q( , ) q(a,\n#define inside 1\ninside)\n",
        "#if 1\n#define A\n#ifdef A\nyes\n#else\nno\n#endif\n#endif x\n#if 0 // c\nno\n#elif defined(A) /* d\n*/ && 1\nyes2\n#endif\n",
        "#define EMPTY\n#define LP (\n#define f(x) [x]\nf EMPTY (1) f LP 2) f\nEMPTY\n(3)\n",
        "#define OP(a) -a +a <a =a !a\nOP(-) OP(=) OP(<) OP(a) OP()\n-OP(>)>",
        "\"abc\n' foo E\n'ab' '\\'' \"a\\\"b\" '\n\"\\\n\"\n",
        "#define paste(a, b) a##b\npaste(<, =) paste(-, >) paste(x, 1) paste(1, x) paste(:, :)\n",
        "__LINE__ __LINE__\n#define L __LINE__\nL\nL +\nL\n#define I(x) x\nI(\nL\n__LINE__)\n",
        "# 33 \"a\"\nx\n#line 5\ny\n#ident \"x\"\n#\nz\n",
        "int a; \\\n b; c \\  \nd\n#define X \\\n\ny X z\n",
    ];
    for text in texts {
        compare(text);
    }
    for refused in [
        "#if\n#endif",
        "#if 1 +\n#endif",
        "#define F(x) x\nF(1, 2)",
        "#define F(x) x\nF(1",
        "#if 1\n",
        "#else\n",
        "#nonsense",
        "#error x",
        "#define F(x, x) x",
        "#define F(1) x",
        "#define A ## b",
        "#define F(x) #y",
        "#define 1",
        "#undef",
        "#include",
        "#ifdef\n#endif",
        "#if 1\n#else\n#else\n#endif",
        "#if 1/0\n#endif",
        "#define A(x) a ## + x\nA(1)",
        "#define A(x) x ## x\nA(!)",
        "#define A(x) x ## x\nA(/)",
        "#if (1\n#endif",
        "#if 1 2\n#endif",
        "#line x",
        "#define defined 1",
        "/* open",
    ] {
        // GCC goes on after `F(1, 2)` and the like, but Spin stops since GCC's exit code says so.
        assert_eq!(gcc(refused), None, "{refused}");
        assert_eq!(ours(refused, &mut NoLoader), None, "{refused}");
    }
}

/// A number right behind a macro call is left out: GCC glues it to a name that the macro ends with. So is `__LINE__`: within arguments on
/// several lines, GCC's answer depends on what it expanded before.
const PIECES: &[&str] = &[
    "A",
    "B",
    "F",
    "G",
    "F(",
    "G(",
    "(",
    ")",
    ",",
    "x",
    "y",
    " 1",
    " 0..",
    "..",
    ".",
    "-",
    ">",
    "->",
    "=",
    "!",
    "?",
    ":",
    "::",
    "<",
    "<>",
    "[]",
    "+",
    "&",
    "|",
    "\n",
    "\n",
    " ",
    " ",
    "/* c */",
    "/* c\n*/",
    "\\\n",
    "\"s\"",
    "'c'",
    "F(A)",
    "G(x, B)",
    "G(F(y), A)",
    "F(G(1,2))",
    " __COUNTER__",
];

const BODIES: &[&str] = &[
    "", "x", "A", "B", "F(1)", "F", "G(A, B)", "(", ")", "x y", "- >", "::", "-", ":", "0", "F(A) B", "1 +", "G", "G(",
];

const BODIES_OF_F: &[&str] = &[
    "", "p", "p p", "#p", "A p B", "F(p)", "p F", "G(p, 1)", "G(p", "- p >", "x##p", "p##x", "(p)", "p##p", "::p", "p(",
];

const BODIES_OF_G: &[&str] =
    &["p q", "q p", "p##q", "#p #q", "F(p) q", "F(q", "p(q)", "G(q, p)", "p, q", "p - q", "F(p##q)", "A##p q", ""];

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_at_random(
        a in 0..BODIES.len(), b in 0..BODIES.len(), f in 0..BODIES_OF_F.len(), g in 0..BODIES_OF_G.len(),
        picks in proptest::collection::vec((0..PIECES.len(), any::<bool>()), 0..25),
    ) {
        let mut text = format!(
            "#define A {}\n#define B {}\n#define F(p) {}\n#define G(p, q) {}\n", BODIES[a], BODIES[b], BODIES_OF_F[f], BODIES_OF_G[g]
        );
        for (pick, space) in picks {
            text.push_str(PIECES[pick]);
            if space { text.push(' '); }
        }
        // Without GCC there is nothing to compare with; the test by hand says so.
        if gcc("x").is_some() {
            compare(&text);
        }
    }
}
