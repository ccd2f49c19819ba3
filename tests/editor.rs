//! The language server as an editor meets it: the real binary over standard input and output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

#[path = "editor/client.rs"]
mod client;
#[path = "editor/conversation.rs"]
mod conversation;
#[path = "editor/damage.rs"]
mod damage;
#[path = "editor/features.rs"]
mod features;
#[path = "editor/latency.rs"]
mod latency;
#[path = "editor/neovim.rs"]
mod neovim;
#[path = "editor/settings.rs"]
mod settings;
#[path = "editor/verdicts.rs"]
mod verdicts;

/// A model whose check takes longer than any test waits: four counters that count apart.
const ENDLESS: &str = "\
#define COUNT do :: x < 30000 -> x++ :: x > 0 -> x-- od
active proctype A() { int x; COUNT }
active proctype B() { int x; COUNT }
active proctype C() { int x; COUNT }
active proctype D() { int x; COUNT }
";

/// A small model with an assertion that can fail, in line 4 (from 0).
const FAILING: &str = "\
byte turn, critical;
active [2] proctype Worker() {
    turn = _pid;
    critical++;
    assert(critical == 1);
    critical--
}
";

/// The same, mended.
const MENDED: &str = "\
byte turn, critical;
active [2] proctype Worker() {
    turn = _pid;
    atomic { critical == 0; critical++ };
    assert(critical == 1);
    critical--
}
";

/// The address of a document that is on no disk.
fn uri(name: &str) -> String {
    format!("file:///nowhere/{name}.pml")
}
