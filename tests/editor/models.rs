//! Models that an editor opens here.

/// A model whose check takes longer than any test waits: four counters that count apart.
pub const ENDLESS: &str = "\
#define COUNT do :: x < 30000 -> x++ :: x > 0 -> x-- od
active proctype A() { int x; COUNT }
active proctype B() { int x; COUNT }
active proctype C() { int x; COUNT }
active proctype D() { int x; COUNT }
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
