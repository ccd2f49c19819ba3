//! Models that an editor opens here.

/// A model whose check takes longer than any test waits: four counters that everyone looks at.
pub const ENDLESS: &str = "\
int a, b, c, d;
#define COUNT(x) do :: x < 30000 -> x++ :: x > 0 -> x-- :: a + b + c + d > 120000 -> assert(false) od
active proctype A() { COUNT(a) }
active proctype B() { COUNT(b) }
active proctype C() { COUNT(c) }
active proctype D() { COUNT(d) }
";

/// A small model with an assertion that can fail, in line 4 (from 0).
pub const FAILING: &str = "\
byte turn, critical;
active [2] proctype Worker() {
    turn = _pid;
    critical++;
    assert(critical == 1);
    critical--
}
";

/// The same, mended.
pub const MENDED: &str = "\
byte turn, critical;
active [2] proctype Worker() {
    turn = _pid;
    atomic { critical == 0; critical++ };
    assert(critical == 1);
    critical--
}
";

/// The address of a document that is on no disk.
pub fn uri(name: &str) -> String {
    format!("file:///nowhere/{name}.pml")
}
