//! How long an editor waits for the language server: `cargo bench --bench latency`.
//!
//! The server is the real binary, the editor a scripted one; some 200 models of the corpus are opened one after the other,
//! edited and asked about. `-- --write` writes `docs/benchmarks.md`; `-- --models N` opens about this many.

#[path = "../tests/interfaces/editor/client.rs"]
#[expect(dead_code, reason = "the tests ask for more")]
mod client;
#[path = "../tests/interfaces/editor/models.rs"]
mod models;
#[path = "../tests/interfaces/editor/waits.rs"]
mod waits;

use std::fmt::Write as _;
use std::path::PathBuf;
use waits::Row;

/// About this many models of the corpus are opened, unless somebody says otherwise.
const MODELS: usize = 200;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = words.iter().position(|word| word == "--models").and_then(|at| words.get(at + 1)?.parse().ok());
    let models = waits::models(number.unwrap_or(MODELS));
    let mut text = table(&waits::measure(&models).into_rows());
    for (edits, kibibytes) in waits::memory_after(&[100, 500, 1000]) {
        let _ = write!(text, "\nMemory of a server after {edits} edits: {:.1} MiB.", kibibytes as f64 / 1024.0);
    }
    println!("{text}");
    if words.iter().any(|word| word == "--write") {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "waits", &text).expect("docs/benchmarks.md can be written");
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = "| what | samples | p50, ms | p95, ms | goal for p95, ms |\n|---|--:|--:|--:|---|\n".to_owned();
    for row in rows {
        let (middle, high) = (row.at(0.5), row.at(0.95));
        let goal = match row.goal {
            None => String::new(),
            Some(goal) if high < goal => format!("{goal:.0}: met"),
            Some(goal) => format!("{goal:.0}: missed by {:.1}", high - goal),
        };
        let _ = writeln!(text, "| {} | {} | {middle:.1} | {high:.1} | {goal} |", row.what, row.times.len());
    }
    text
}
