//! Small models, one for each rule of the meaning, and the number of states that Spin 6.5.2 stores for them
//! (`spin -o1 -o2 -o3 -a`, `-DSAFETY -DNOREDUCE`, `-c0`).

use super::support::{machine, walk};

/// Name, model, states that Spin stores, invalid end states, failed assertions (0 or some).
const MODELS: &[(&str, &str, u64, u64, bool)] = &[
    (
        "numbers wrap to their type",
        "byte b = 250; short s = 32760; bit z; unsigned u : 3 = 6; int i = 2147483640;
active proctype P() { do :: b < 5 || b >= 250 -> b = b + 3; s = s + 3; z = z + 1; u = u + 3; i = i + 5 :: else -> break od; assert(i < 0) }",
        28,
        0,
        false,
    ),
    (
        "arrays of bits and bytes",
        "bit f[40]; byte n[3]; short m[5];
active proctype P() { byte i; do :: i < 40 -> f[i] = i % 3 == 0; n[i % 3] = n[i % 3] + i; m[i % 5] = m[i % 5] - i; i++ :: else -> break od; assert(f[39] && !f[38] && m[4] == -(4+9+14+19+24+29+34+39)) }",
        204,
        0,
        false,
    ),
    (
        "interleaving of two",
        "byte x; active [2] proctype P() { byte t; t = x; x = t + 1; t = 0 }",
        37,
        0,
        false,
    ),
    (
        "else and choice",
        "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: x > 1 -> x-- :: else -> x = 2 :: skip -> break od }",
        87,
        0,
        false,
    ),
    (
        "buffered channel",
        "chan c = [3] of { byte, bit }; active proctype S() { byte i; do :: i < 5 -> c!i,i; i++ :: else -> break od }
active proctype R() { byte v; bit w; do :: c?v,w -> assert(w == (v & 1)) od }",
        95,
        1,
        false,
    ),
    (
        "wide messages",
        "chan c = [3] of { int, byte, short, int }; active proctype S() { int i; do :: i < 4 -> c!i * 100000,i,-i,-i * 7; i++ :: else -> break od }
active proctype R() { int a, d; byte b; short e; end: do :: c?a,b,e,d -> assert(a == b * 100000 && e == -b && d == -7 * b) od }",
        71,
        0,
        false,
    ),
    (
        "matching by constants and eval",
        "mtype = { req, ack }; chan c = [2] of { mtype, byte }; byte got;
active proctype S() { c!req,1; c!ack,2; c!req,3 } active proctype R() { byte k = 2; end: do :: c?req,got :: c?ack,eval(k) -> got = 9 od }",
        11,
        0,
        false,
    ),
    (
        "random and sorted",
        "chan c = [4] of { byte, byte }; byte sum;
active proctype S() { c!!3,1; c!!1,2; c!!2,9; c!!2,4 } active proctype R() { byte a, b; do :: c??2,a -> sum = sum + a :: c?a,b -> sum = sum + 10 * b od }",
        151,
        16,
        false,
    ),
    (
        "sorted order",
        "chan c = [5] of { byte }; active proctype P() { byte a; c!!5; c!!3; c!!9; c!!4; c!!3; c?a; assert(a == 3); c?a; assert(a == 3); c?a; assert(a == 4); c?a; c?a; assert(a == 9 && empty(c)) }",
        16,
        0,
        false,
    ),
    (
        "copying and polling",
        "chan c = [3] of { byte, byte }; byte seen;
active proctype S() { c!1,7; c!2,8; c!1,9 } active proctype R() { byte a; end: do :: c?[1,_] && seen < 3 -> seen++ :: c?<1,a> -> c?_,_ :: c??<2,a> -> seen = a :: c??[1,9] -> c??1,9 od }",
        114,
        0,
        false,
    ),
    (
        "len full empty",
        "chan c = [2] of { bit }; byte n;
active proctype S() { do :: nfull(c) -> c!1 :: full(c) -> break od } active proctype R() { do :: nempty(c) && len(c) == 2 -> c?_; n++ :: n == 3 -> break od }",
        3086,
        255,
        false,
    ),
    (
        "rendezvous",
        "chan c = [0] of { byte, byte }; active [2] proctype S() { c!_pid,1; c!_pid,2 } active [2] proctype R() { byte a, b; end: do :: c?a,b -> if :: b == 2 -> c?_,b :: else fi od }",
        151,
        10,
        false,
    ),
    (
        "rendezvous with matching",
        "mtype = { a, b }; chan c = [0] of { mtype, byte }; byte x;
active proctype S() { do :: c!a,1 :: c!b,2 :: x > 2 -> break od } active proctype R() { do :: c?a,x :: x < 9 -> c?b,eval(x + 1) -> x = 9 :: x == 9 -> x = 0 od }",
        11,
        2,
        false,
    ),
    (
        "rendezvous into atomic and out of it",
        "chan c = [0] of { byte }; byte x; active proctype S() { atomic { x = 1; c!1; x = 2; c!2; x = 3 } }
active proctype R() { byte a; atomic { c?a; x = 10; x = 11 }; atomic { c?a; x = 20 } } active proctype O() { x = 100 }",
        24,
        0,
        false,
    ),
    (
        "channels as values",
        "chan a = [1] of { byte }; chan b = [1] of { byte }; chan r = [2] of { chan };
active proctype S() { r!a; r!b; a?_; b?_ } active proctype R() { chan q; do :: r?q -> q!5 :: empty(r) && len(a) + len(b) == 0 -> break od }",
        22,
        1,
        false,
    ),
    (
        "channels in arrays and parameters",
        "chan q[3] = [1] of { byte }; proctype P(byte me; chan i; chan o) { byte v; do :: i?v -> if :: v < 6 -> o!v + me :: else -> break fi od }
init { atomic { byte k; k = 0; do :: k < 3 -> run P(k + 1, q[k], q[(k + 1) % 3]); k++ :: else -> break od; q[0]!1 } }",
        13,
        1,
        false,
    ),
    (
        "local channels",
        "chan up = [1] of { chan }; proctype P() { chan mine = [1] of { byte }; byte v; up!mine; mine?v; assert(v == 42) }
init { chan c; run P(); run P(); up?c; c!42; up?c; c!42 }",
        58,
        0,
        false,
    ),
    (
        "atomic that blocks",
        "byte x, y; active proctype P() { atomic { x = 1; y == 1; x = 2; x = 3 } } active proctype Q() { atomic { x == 1; y = 1; y = 2; y = 1 } x = 7 }",
        12,
        0,
        false,
    ),
    (
        "atomic jump",
        "byte x; active [2] proctype P() { atomic { x++; if :: x > 1 -> goto out :: else fi; x = x + 10 }; x = 0; out: x = 5 }",
        28,
        0,
        false,
    ),
    (
        "d_step",
        "byte x, y; active [2] proctype P() { byte i; d_step { x == 0 -> x = 1; i = 0; do :: i < 5 -> i++; y = y + i :: else -> break od; x = 0 } ; y = y % 7 }",
        16,
        0,
        false,
    ),
    (
        "d_step that picks the first",
        "byte x; active proctype P() { do :: d_step { if :: x < 2 -> x++ :: x < 4 -> x = x + 2 :: else -> x = 0 fi; skip } :: x == 3 -> break od }",
        4,
        0,
        false,
    ),
    (
        "d_step with else at the start",
        "byte x; active proctype P() { do :: x == 0 -> x = 1 :: d_step { else -> x = 2 } :: x == 2 -> break od }",
        6,
        0,
        false,
    ),
    (
        "d_step that receives",
        "chan c = [0] of { byte }; chan d = [2] of { byte }; byte x; active proctype S() { c!1; c!2; d!3 } active proctype R() { byte v; do :: d_step { c?v; x = x + v; v = 0 } :: d_step { d?v; x = x * v } :: x > 8 -> break od }",
        8,
        0,
        false,
    ),
    (
        "run and die",
        "byte n; proctype C(byte d) { if :: d > 0 && n < 5 -> n++; run C(d - 1) :: else fi } init { run C(2); n = 0; run C(1) }",
        237,
        0,
        false,
    ),
    (
        "pids come back",
        "byte k, p; proctype C() { k++ } init { do :: k < 3 -> p = run C(); (_nr_pr == 1) :: else -> break od; assert(p == 1) }",
        19,
        0,
        false,
    ),
    (
        "two kinds in any order",
        "byte n; proctype A() { n = n + 1 } proctype B(byte v) { byte w = v + 1; chan c = [1] of { byte }; c!w; n = n + 2 }
init { do :: _nr_pr < 3 && n < 6 -> run A() :: _nr_pr < 3 && n < 6 -> run B(n) :: n >= 6 -> break od }",
        975,
        0,
        false,
    ),
    (
        "death waits for the youngest",
        "byte x; active proctype A() { x = 1 } active proctype B() { x = 2; x = 3 }",
        13,
        0,
        false,
    ),
    (
        "timeout",
        "byte x; chan c = [1] of { byte }; active proctype A() { do :: timeout -> if :: x < 3 -> x++; c!x :: else -> break fi od } active proctype B() { byte v; end: do :: c?v od }",
        18,
        0,
        false,
    ),
    (
        "timeout is not else",
        "byte x; active proctype A() { do :: x == 1 -> x = 2 :: timeout -> x = 1 :: x == 2 -> break od } active proctype B() { (x == 1) -> skip; timeout -> x = 5 }",
        18,
        1,
        false,
    ),
    (
        "unless",
        "byte x; active proctype P() { { do :: x < 4 -> x++ :: x = 0 od } unless { x == 3 -> x = 9 } ; x = 7 } active proctype Q() { x == 2 -> x = 3 }",
        36,
        1,
        false,
    ),
    (
        "nested unless",
        "byte x; active proctype P() { { { do :: x < 6 -> x++ od } unless { x == 3 -> x = 8; x = 5 } } unless { x == 5 -> x = 20 } }",
        11,
        0,
        false,
    ),
    (
        "provided",
        "byte x; bool go; active proctype P() provided (go) { x = 1; x = 2 } active proctype Q() { do :: go = !go :: x == 2 -> break od }",
        11,
        0,
        false,
    ),
    (
        "hidden",
        "hidden byte h; byte x; active proctype P() { do :: x < 3 -> h = h + x; x++ :: else -> break od; assert(h == 3) }",
        13,
        0,
        false,
    ),
    (
        "last",
        "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: _last == 1 && x == 2 -> break od }",
        44,
        7,
        false,
    ),
    (
        "remote references",
        "byte y; active proctype A() { byte v = 3; byte w[2]; w[1] = 7; L: v = 4; v = 5 } active proctype B() { A@L -> y = A:v + A[0]:w[1]; assert(y == 10 || y == 11 || y == 12) ; (A:v == 5) -> y = pc_value(0) }",
        25,
        1,
        false,
    ),
    (
        "conditional expressions",
        "int x = 5; active proctype P() { do :: x > -20 -> x = (x > 0 -> -x * 3 : x - 1 - (x & 3)) :: else -> break od; x = x >> 1; x = x << 3; x = ~x; x = x ^ 5; x = x % 7; x = -x / 2; x = (x | 8) }",
        16,
        0,
        false,
    ),
    (
        "short circuits",
        "byte a[2]; byte i = 5; active proctype P() { (i < 2 && a[i]) || i == 5 -> i = 1; (i >= 2 || !a[i]) -> skip }",
        6,
        0,
        false,
    ),
    (
        "printing changes nothing",
        r#"byte x; active proctype P() { printf("%d %e\n", x, x); x = 1; printf("done") }"#,
        5,
        0,
        false,
    ),
    (
        "typedefs",
        "typedef In { byte k[3]; bit b } typedef Out { In in[2]; short s } Out o[2];
active proctype P() { byte i; do :: i < 2 -> o[i].in[1].k[2] = i + 5; o[1].in[i].b = 1; o[i].s = -i; i++ :: else -> break od; assert(o[1].in[1].k[2] == 6 && o[0].in[1].b == 0) }",
        14,
        0,
        false,
    ),
    (
        "initial values",
        "byte n = 3; byte a[4] = 7; byte m = n + 1; active proctype P() { byte l = n + a[2]; byte k = l * 2; assert(k == 20 && m == 4) ; n = 0 }",
        4,
        0,
        false,
    ),
    (
        "a failing assertion goes on",
        "byte x; active proctype P() { x = 1; assert(x == 2); x = 3 }",
        5,
        0,
        true,
    ),
];

#[test]
fn as_many_states_as_spin_stores() {
    for (name, model, stored, invalid_ends, fails) in MODELS {
        let counts = walk(&mut machine(model), 100_000);
        assert!(counts.complete, "{name}");
        assert_eq!(counts.stored, *stored, "{name}: {counts:?}");
        assert_eq!(counts.invalid_ends, *invalid_ends, "{name}: {counts:?}");
        assert_eq!(counts.assertions > 0, *fails, "{name}: {counts:?}");
        assert_eq!(counts.faults, 0, "{name}");
    }
}
