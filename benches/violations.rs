//! How long until each violation is found, by the check that people ask for and by single searches: `cargo bench --bench violations`.
//!
//! Every model of the corpus is checked once as a whole (`fabius check`). For each property that is violated, single searches are asked
//! for it alone, each for as long as the check took, since only one that is faster counts. Times are those on the wall from the start
//! of the program to the moment at which it has found the violation, so several properties of a model wait for each other. The check
//! then looks for a shorter run, which most single searches do not: when it reports the violation is told apart.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --limit N` changes the seconds that a check may take; other words select models.

use fabius_testkit::corpus::Corpus;
use fabius_testkit::measure::Options;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds that a check may take, if nothing else is said.
const LIMIT: f64 = 10.0;
/// The goal: no violation is found later than after this many times what the best single search takes.
const GOAL: f64 = 3.0;
/// Whatever is twice as slow as the best is measured again, this many times.
const AGAIN: u32 = 3;
/// A single search may take this many seconds more than what is to be beaten, since its own limit counts from a moment after its start.
const GRACE: f64 = 0.02;
/// Single searches for violations of safety, …
const SAFETY: &[&[&str]] =
    &[&["--search", "dfs", "--threads", "1"], &["--search", "bfs"], &["--delay", "auto"], &["--depth-bound", "50"]];
/// … and for infinite runs.
const INFINITE: &[&[&str]] = &[
    &["--cycles", "ndfs", "--threads", "1"],
    &["--cycles", "scc"],
    &["--cycles", "dfs-fifo", "--threads", "1"],
    &["--cycles", "map", "--delay", "auto"],
];

/// A property that is violated.
struct Row {
    model: String,
    property: String,
    check: Moments,
    /// The single search that finds it first, if one is faster, and its seconds.
    best: Option<(String, f64)>,
}

/// Seconds from the start of the program on.
#[derive(Clone, Copy)]
struct Moments {
    /// A violation is found.
    found: f64,
    /// It is reported, with a run that was shortened.
    reported: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.best.as_ref().map_or(1.0, |(_, seconds)| self.check.found / seconds)
    }
}

fn main() {
    let options = Options::read(1);
    let limit = options.limit.unwrap_or(LIMIT);
    let Some(corpus) = Corpus::load() else {
        println!("The corpus is not there (set FABIUS_CORPUS): nothing to measure.");
        return;
    };
    let mut rows = Vec::new();
    for entry in corpus.entries.iter().filter(|entry| entry.syntax.ok) {
        if !options.wants(&entry.path) {
            continue;
        }
        let model = corpus.file(entry);
        for (property, (kind, check)) in violations(&model, &[], limit) {
            let row = compare(&model, &entry.path, (property, &kind), check, limit);
            println!("{}", render_row(&row));
            rows.push(row);
        }
    }
    let text = render(rows, limit);
    println!("\n{text}");
    if options.write {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "violations", &text).expect("docs/benchmarks.md can be written");
    }
}

/// Compares the check with the single searches for a property that it found violated.
fn compare(model: &Path, name: &str, (property, kind): (String, &str), mut check: Moments, limit: f64) -> Row {
    let singles = if kind == "safety" { SAFETY } else { INFINITE };
    let alone = |flags: &[&str], limit: f64| {
        let flags = [&["--property", &property], flags].concat();
        violations(model, &flags, limit).remove(&property).map(|(_, moments)| moments.found)
    };
    let mut best: Option<(&[&str], f64)> = None;
    for &flags in singles {
        let fastest = best.map_or(check.found, |(_, seconds)| seconds);
        if let Some(seconds) = alone(flags, fastest + GRACE).filter(|&seconds| seconds < fastest) {
            best = Some((flags, seconds));
        }
    }
    if let Some((flags, seconds)) = &mut best
        && 2.0 * *seconds < check.found
    {
        for _ in 0..AGAIN {
            if let Some((_, again)) = violations(model, &[], limit).remove(&property)
                && again.found < check.found
            {
                check = again;
            }
            *seconds = seconds.min(alone(flags, limit).unwrap_or(limit));
        }
    }
    let best = best.filter(|&(_, seconds)| seconds < check.found).map(|(flags, seconds)| (flags.join(" "), seconds));
    Row { model: name.to_owned(), property, check, best }
}

/// The properties of a model that `fabius check` with these flags reports violated, each with its kind.
fn violations(model: &Path, flags: &[&str], limit: f64) -> BTreeMap<String, (String, Moments)> {
    let begun = Instant::now();
    let mut check = Command::new(env!("CARGO_BIN_EXE_fabius"));
    check.args(["check", "--no-schedule", "--events", "--timeout", &format!("{limit:.4}s")]).args(flags).arg(model);
    check.env("FABIUS_CACHE", "off").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = check.spawn().expect("fabius can be started");
    let (mut known, mut violated) = (BTreeMap::<String, Moments>::new(), BTreeMap::new());
    let output = child.stdout.take().expect("the output is piped");
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
        let told = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let now = begun.elapsed().as_secs_f64();
        let found = Moments { found: now, reported: f64::INFINITY };
        match event["event"].as_str() {
            // What is looked for once there is a violation: shorter runs, and what fair ones do.
            Some("searching") if event["goal"] != "violation" => {
                known.entry(told(&event["property"])).or_insert(found);
            }
            Some("violation") => {
                let first = known.entry(told(&event["property"])).or_insert(found);
                first.reported = first.reported.min(now);
            }
            Some("property_done") if event["property"]["verdict"] == "violated" => {
                let (property, kind) = (told(&event["property"]["name"]), told(&event["property"]["kind"]));
                if let Some(&moments) = known.get(&property) {
                    violated.insert(property, (kind, moments));
                }
            }
            _ => {}
        }
    }
    child.wait().expect("fabius ends");
    violated
}

fn render_row(row: &Row) -> String {
    let best =
        row.best.as_ref().map_or("–".to_owned(), |(flags, seconds)| format!("{:.0} (`{flags}`)", seconds * 1e3));
    let Moments { found, reported } = row.check;
    let (model, property) = (&row.model, &row.property);
    format!("| {model} | {property} | {:.0} | {:.0} | {best} | {:.1} |", reported * 1e3, found * 1e3, row.ratio())
}

fn render(mut rows: Vec<Row>, limit: f64) -> String {
    rows.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    let models = rows.iter().map(|row| &row.model).collect::<std::collections::BTreeSet<_>>().len();
    let mut text = format!(
        "{} violated properties of {models} models, in checks that may take {limit} s. The check found it in the time of the best single search or \
         less for {}; in the median {:.1} times as long, at the 95th percentile {:.1}, at worst {:.1}; more than {GOAL} times as long for {}.\n",
        rows.len(),
        rows.iter().filter(|row| row.best.is_none()).count(),
        percentile(&rows, 50),
        percentile(&rows, 5),
        percentile(&rows, 0),
        rows.iter().filter(|row| GOAL < row.ratio()).count(),
    );
    text.push_str("\nThose for which it took more than three times as long:\n\n");
    text.push_str(
        "| model | property | reported, ms | found, ms | best single search, ms | ratio |\n|---|---|--:|--:|--:|--:|\n",
    );
    for row in rows.iter().filter(|row| GOAL < row.ratio()) {
        let _ = writeln!(text, "{}", render_row(row));
    }
    text
}

/// The ratio that this many of a hundred rows exceed; the rows are sorted, the greatest ratio first.
fn percentile(rows: &[Row], exceeding: usize) -> f64 {
    rows.get(rows.len() * exceeding / 100).map_or(1.0, Row::ratio)
}
