//! A long search, and whether its pace and its memory stay what they are: `cargo bench --bench soak -- MODEL`.
//!
//! A model with more states than an hour is enough for is searched depth-first, all reachable states, without reduction. Now and
//! then the states, the memory that the search says it needs, the memory that the system says the program has (resident), and the processor
//! time are read. Pace is states for each second of *processor* time, so that other work on the machine matters less. Only on Linux.
//!
//! `-- --write` writes `docs/benchmarks.md` and `docs/pictures/soak.svg`; `--minutes N` (60), `--threads N` (1), `--memory SIZE` (8G) and
//! `-DNAME=VALUE` change the search; the other word is the model. `FABIUS_PROGRAM` names another build of Fabius.

use fabius_testkit::page;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often figures are read.
const EVERY: Duration = Duration::from_secs(5);
/// Seconds of a tick in `/proc/PID/stat`: Linux tells programs of 100 in a second, whatever it counts itself.
const TICK: f64 = 0.01;
const MIB: f64 = (1 << 20) as f64;
/// The picture, in points: from the left edge to the curves, their width, from one to the next, and how much of that a curve takes.
const LEFT: f64 = 16.0;
const WIDTH: f64 = 720.0;
const ROW: f64 = 128.0;
const HEIGHT: f64 = 84.0;
const STYLE: &str = "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}.small{font-size:11px;fill:#59636e}\
    .axis{stroke:#d1d9e0}.curve{fill:none;stroke:#1f6feb;stroke-width:2}.other{fill:none;stroke:#8250df;stroke-width:2}\
    @media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.axis{stroke:#3d444d}.curve{stroke:#4493f8}.other{stroke:#ab7df8}}";

struct Options {
    write: bool,
    minutes: f64,
    threads: String,
    memory: String,
    defines: Vec<String>,
    model: Option<String>,
}

/// What was read at a moment of the search.
#[derive(Clone, Copy, Default)]
struct Sample {
    /// On the wall, since the search began.
    seconds: f64,
    /// Processor time of all threads, in seconds.
    cpu: f64,
    states: f64,
    transitions: f64,
    /// What the search says that it needs.
    memory: f64,
    /// What the system says that the program has.
    resident: f64,
}

fn main() {
    let options = options();
    let Some(model) = &options.model else {
        println!("Which model? `cargo bench --bench soak -- MODEL`");
        return;
    };
    let Some((samples, ended)) = search(model, &options) else {
        println!("{model} could not be searched.");
        return;
    };
    let text = words(model, &options, &samples, &ended);
    println!("{text}");
    if options.write {
        let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs");
        std::fs::write(docs.join("pictures/soak.svg"), picture(&samples)).expect("docs/pictures can be written");
        page::put(&docs.join("benchmarks.md"), "soak", &text).expect("docs/benchmarks.md can be written");
    }
}

fn options() -> Options {
    let (threads, memory) = ("1".to_owned(), "8G".to_owned());
    let mut options = Options { write: false, minutes: 60.0, threads, memory, defines: Vec::new(), model: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => options.write = true,
            "--minutes" => options.minutes = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(60.0),
            "--threads" => options.threads = arguments.next().unwrap_or(options.threads),
            "--memory" => options.memory = arguments.next().unwrap_or(options.memory),
            "--bench" => {}
            define if define.starts_with("-D") => options.defines.push(define.to_owned()),
            word => options.model = Some(word.to_owned()),
        }
    }
    options
}

/// Searches, and reads figures meanwhile; with the sentence that the check ends with.
fn search(model: &str, options: &Options) -> Option<(Vec<Sample>, String)> {
    let program = std::env::var("FABIUS_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_fabius").to_owned());
    let mut child = Command::new(program)
        .args(["check", "--property", "safety", "--search", "dfs", "--no-reduction", "--no-schedule", "--keep-going"])
        .args(["--audit", "off", "--no-cache", "--events", "--threads", &options.threads])
        .args(["--max-memory", &options.memory, "--timeout", &format!("{}s", options.minutes * 60.0)])
        .args(&options.defines)
        .arg(model)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let (begun, pid) = (Instant::now(), child.id());
    let (mut samples, mut next, mut ended) = (vec![Sample::default()], EVERY, String::new());
    for line in BufReader::new(child.stdout.take()?).lines() {
        let Ok(event) = serde_json::from_str::<Value>(&line.ok()?) else { continue };
        if event["event"] == "property_done" {
            ended = event["property"]["reason"].as_str().unwrap_or_default().to_owned();
        }
        let progress = &event["progress"];
        if begun.elapsed() < next || !progress.is_object() {
            continue;
        }
        next = begun.elapsed() + EVERY;
        let number = |name: &str| progress[name].as_f64().unwrap_or_default();
        let Some((cpu, resident)) = usage(pid) else { continue };
        samples.push(Sample {
            seconds: begun.elapsed().as_secs_f64(),
            cpu,
            states: number("states"),
            transitions: number("transitions"),
            memory: number("memory_bytes"),
            resident,
        });
    }
    child.wait().ok()?;
    (2 < samples.len()).then_some((samples, ended))
}

/// Processor time in seconds and resident memory in bytes of a program that runs.
fn usage(pid: u32) -> Option<(f64, f64)> {
    let of = |file: &str| std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join(file)).ok();
    // The name of the program, in parentheses, may hold anything.
    let stat = of("stat")?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    let status = of("status")?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = resident.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(((ticks(11)? + ticks(12)?) * TICK, kib * 1024.0))
}

/// States for each second of processor time between two moments.
fn pace(from: Sample, to: Sample) -> f64 {
    (to.states - from.states) / (to.cpu - from.cpu).max(TICK)
}

fn words(model: &str, options: &Options, samples: &[Sample], ended: &str) -> String {
    let last = samples[samples.len() - 1];
    let quarter = (samples.len() / 4).max(1);
    let [first_end, last_begin] = [samples[quarter.min(samples.len() - 1)], samples[samples.len() - 1 - quarter]];
    let largest = samples.iter().map(|sample| sample.resident).fold(0.0, f64::max);
    let name = Path::new(model).components().rev().take(2).map(|part| part.as_os_str().to_string_lossy());
    let name = name.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("/");
    let mut text = String::from("![Pace and memory over the time of a long search](pictures/soak.svg)\n\n");
    let _ = write!(
        text,
        "{name}{}, --threads {}: {:.0} million states and {:.0} million transitions in {:.0} minutes ({:.0} of processor time). \
         States for each second of processor time: {:.0} thousand in the first quarter, {:.0} thousand in the last. Memory: {:.1} bytes for each state \
         by the search's own account, {:.1} by the system's (resident, at most {:.0} MiB). It ended so: {ended}.",
        options.defines.iter().map(|define| format!(" {define}")).collect::<String>(),
        options.threads,
        last.states / 1e6,
        last.transitions / 1e6,
        last.seconds / 60.0,
        last.cpu / 60.0,
        pace(samples[0], first_end) / 1e3,
        pace(last_begin, last) / 1e3,
        last.memory / last.states.max(1.0),
        last.resident / last.states.max(1.0),
        largest / MIB,
    );
    text
}

/// Pace and memory over time, one below the other.
fn picture(samples: &[Sample]) -> String {
    let seconds = samples[samples.len() - 1].seconds.max(1.0);
    let paces: Vec<(f64, f64)> =
        samples.windows(2).map(|pair| (pair[1].seconds, pace(pair[0], pair[1]) / 1e3)).collect();
    let of = |value: fn(&Sample) -> f64| -> Vec<(f64, f64)> {
        samples.iter().map(|sample| (sample.seconds, value(sample))).collect()
    };
    let curves = [
        ("thousand states for each second of processor time", vec![paces]),
        (
            "MiB: needed by the search's own account (blue), resident (violet)",
            vec![of(|sample| sample.memory / MIB), of(|sample| sample.resident / MIB)],
        ),
        ("million states", vec![of(|sample| sample.states / 1e6)]),
    ];
    let (width, height) = (LEFT + WIDTH + 16.0, ROW * curves.len() as f64 + 26.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Pace and memory of a long search\">\n<style>{STYLE}</style>\n"
    );
    for (row, (title, lines)) in curves.iter().enumerate() {
        let top = ROW * row as f64 + 12.0;
        let largest = lines.iter().flatten().map(|(_, value)| *value).fold(1.0, f64::max);
        let base = top + 18.0 + HEIGHT;
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{title}</text>", top + 8.0);
        let end = LEFT + WIDTH;
        let _ = writeln!(
            out,
            "<text class=\"small\" x=\"{end}\" y=\"{}\" text-anchor=\"end\">at most {largest:.0}</text>",
            top + 8.0
        );
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {base}H{end}\"/>");
        for (line, class) in lines.iter().zip(["curve", "other"]) {
            let point = |(at, value): &(f64, f64)| {
                format!("{:.1} {:.1}", LEFT + at / seconds * WIDTH, base - value / largest * HEIGHT)
            };
            let points: Vec<String> = line.iter().map(point).collect();
            let _ = writeln!(out, "<path class=\"{class}\" d=\"M{}\"/>", points.join("L"));
        }
    }
    let bottom = height - 6.0;
    let _ = writeln!(out, "<text class=\"small\" x=\"{LEFT}\" y=\"{bottom}\">0</text>");
    let _ = writeln!(
        out,
        "<text class=\"small\" x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">{:.0} minutes</text></svg>",
        LEFT + WIDTH,
        seconds / 60.0
    );
    out
}
