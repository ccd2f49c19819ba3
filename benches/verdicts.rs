//! How long until every property of a model has a verdict, Fabius against Spin: `cargo bench --bench verdicts`.
//!
//! What a person asks with `fabius check MODEL` is asked of Spin property by property with its defaults (all optimisations, partial-order
//! reduction, unless the verifier finds that the model does not admit it): `spin -a`, a C compiler, `pan` for safety, `pan -l` for
//! progress, `pan -a` for acceptance labels and for each formula or claim. Each search stops at its first error. Of gcc -O2 and tcc the one
//! that needs less in all counts. What is compared is the CPU time from the source to the last verdict; Fabius' includes shortening and
//! checking its counterexamples. It is measured with and without its look for a schedule that avoids a violation, which Spin has not.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --limit N` changes the CPU seconds that each search may take (Fabius' may
//! take those of all properties together); other words select models.

use fabius_needs::spin::{Compiler, Spin};
use fabius_testkit::corpus::Corpus;
use fabius_testkit::measure::Options;
use serde_json::Value;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wait4::Wait4;

/// CPU seconds that each search may take, if nothing else is said.
const LIMIT: f64 = 60.0;
/// The memory that each program may take, in KiB.
const MEMORY_KIB: u64 = 8 << 20;
/// CPU seconds for `spin -a`, and for a compiler.
const COMPILE_LIMIT: u32 = 120;
/// A verifier that divides by zero or reads what is not there ends with a signal: an answer, too.
const CRASHES: [i32; 2] = [128 + 8, 128 + 11];
/// gcc does not compile a verifier in less than this many seconds.
const GCC_LEAST: f64 = 0.5;

/// What a verifier prints that finds that a channel is not used as `xr` and `xs` say, so that its reduction may not be applied; …
const NOT_EXCLUSIVE: &str = "partial order reduction invalid";
/// … then the model has to be verified without.
const NO_REDUCTION: &str = "-DNOREDUCE";

/// What one tool needed for a model.
#[derive(Clone, Copy, Debug)]
struct Needed {
    seconds: f64,
    /// Every property has a verdict.
    decided: bool,
}

struct Row {
    model: String,
    properties: usize,
    spin: Needed,
    /// With everything that it does if it is not told otherwise.
    fabius: Needed,
    /// Without a look for a schedule that avoids a violation.
    verdicts: Needed,
}

/// A question to Spin: what the verifier is compiled with, and called with.
struct Question {
    compile: Vec<&'static str>,
    call: Vec<String>,
}

fn main() {
    let options = Options::read(1);
    let limit = options.limit.unwrap_or(LIMIT) as u32;
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
        let Some(([fabius, verdicts], asked)) = fabius(&model, limit) else { continue };
        let Some(spin) = spin_best(&model, &asked, limit) else { continue };
        let row = Row { model: entry.path.clone(), properties: asked.len(), spin, fabius, verdicts };
        println!("{}", render_row(&row));
        rows.push(row);
    }
    let text = render(&rows, limit);
    println!("\n{text}");
    if options.write {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "verdicts", &text).expect("docs/benchmarks.md can be written");
    }
}

/// How a program ended.
struct Ended {
    /// CPU time, with that of the programs it called.
    seconds: f64,
    /// The exit code; 128 and the number of a signal that ended it.
    code: i32,
    printed: String,
}

/// Runs a command in its folder; `limit` is its CPU time, in seconds. The limits are set once it runs (a shell that sets them before would
/// need as much as Fabius needs for a quarter of a small model), and only on Linux.
fn timed(asked: &Command, limit: u32) -> Option<Ended> {
    let mut command = Command::new(asked.get_program());
    command.args(asked.get_args()).current_dir(asked.get_current_dir()?).env("FABIUS_CACHE", "off");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
        let pid = Some(Pid::from_child(&child));
        // One that is over already needs no limits.
        let _ = prlimit(pid, Resource::As, at_most(MEMORY_KIB << 10));
        let _ = prlimit(pid, Resource::Cpu, at_most(u64::from(limit)));
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut child.stdout.take()?, &mut bytes).ok()?;
    let ended = child.wait4().ok()?;
    let seconds = ended.rusage.utime.as_secs_f64() + ended.rusage.stime.as_secs_f64();
    let code = ended.status.code().or_else(|| Some(128 + ended.status.signal()?))?;
    Some(Ended { seconds, code, printed: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Asks Fabius for a model with these options; each property may take `limit` seconds of CPU time together.
fn check(model: &Path, options: &[&str], limit: u32) -> Option<Ended> {
    // Its own limit is one of time on the wall, which passes faster where others work as well.
    let mut check = Command::new(env!("CARGO_BIN_EXE_fabius"));
    check.args(["check", "--timeout", &format!("{}s", 3 * limit)]).args(options).arg(model);
    timed(check.current_dir(model.parent()?), 4 * limit)
}

/// What Fabius says of the properties of a model.
fn properties(model: &Path, options: &[&str], limit: u32) -> Option<Vec<Value>> {
    let told = check(model, &[options, &["--json"]].concat(), limit)?.printed;
    serde_json::from_str::<Value>(&told).ok()?["properties"].as_array().cloned()
}

/// Fabius with everything that it does if it is not told otherwise, and without a look for a schedule, which nobody asks of Spin, as
/// people see it: in text; and what has to be asked of Spin for the same verdicts. Nothing for a model that Fabius does not accept.
fn fabius(model: &Path, limit: u32) -> Option<([Needed; 2], Vec<Question>)> {
    let asked = properties(model, &["--max-states", "1", "--no-schedule"], limit)?;
    // Spin may use as much for each.
    let limit = limit * asked.len().max(1) as u32;
    let told = properties(model, &["--no-schedule"], limit)?;
    let is_told = told.iter().all(|property| property["verdict"] != "undecided");
    let needed = |options: &[&str]| {
        let seconds = check(model, options, limit)?.seconds;
        Some(Needed { seconds, decided: seconds < f64::from(limit) && is_told })
    };
    let both = [needed(&[])?, needed(&["--no-schedule"])?];
    let mut questions: Vec<Question> = asked.iter().filter_map(question).collect();
    // What is compiled in the same way is compiled once.
    questions.sort_by_key(|question| question.compile.clone());
    (!questions.is_empty() && questions.len() == asked.len()).then_some((both, questions))
}

fn question(property: &Value) -> Option<Question> {
    let infinite = |call: &[&str]| [call, &["-A", "-E"]].concat().into_iter().map(str::to_owned).collect();
    Some(match property["kind"].as_str()? {
        "safety" => Question { compile: vec!["-DSAFETY", "-DNOCLAIM"], call: Vec::new() },
        "progress" => Question { compile: vec!["-DNP", "-DNOCLAIM"], call: infinite(&["-l"]) },
        "acceptance" => Question { compile: vec!["-DNOCLAIM"], call: infinite(&["-a"]) },
        "ltl" | "never" => Question { compile: vec![], call: infinite(&["-a", "-N", property["name"].as_str()?]) },
        _ => return None,
    })
}

fn spin_best(model: &Path, asked: &[Question], limit: u32) -> Option<Needed> {
    let tcc = spin(model, asked, Compiler::Tcc, limit)?;
    if tcc.decided && tcc.seconds < GCC_LEAST {
        return Some(tcc);
    }
    let gcc = spin(model, asked, Compiler::Gcc, limit)?;
    let better = gcc.decided && (!tcc.decided || gcc.seconds < tcc.seconds);
    Some(if better { gcc } else { tcc })
}

fn spin(model: &Path, asked: &[Question], compiler: Compiler, limit: u32) -> Option<Needed> {
    let folder = Spin::on_file(model).ok()?;
    let made = timed(&folder.generate(&[]), COMPILE_LIMIT)?;
    let (mut seconds, mut decided) = (made.seconds, true);
    let optimise: &[&str] = if compiler == Compiler::Gcc { &["-O2"] } else { &[] };
    let mut compiled: Option<Vec<&str>> = None;
    for question in asked {
        let mut flags = question.compile.clone();
        loop {
            if compiled.as_ref() != Some(&flags) {
                let compiling = timed(&folder.compile(compiler, &[optimise, &flags].concat()), COMPILE_LIMIT)?;
                if compiling.code != 0 {
                    return None;
                }
                seconds += compiling.seconds;
                compiled = Some(flags.clone());
            }
            let mut words = vec!["-m1000000"];
            words.extend(question.call.iter().map(String::as_str));
            let search = timed(&folder.verify(&words), limit)?;
            seconds += search.seconds;
            // What the model says of who uses a channel is not so: that is no answer to what was asked.
            if search.printed.contains(NOT_EXCLUSIVE) && !flags.contains(&NO_REDUCTION) {
                flags.push(NO_REDUCTION);
                continue;
            }
            let run = fabius_testkit::spin::read_run(&search.printed);
            decided &= run.complete || run.errors != 0 || CRASHES.contains(&search.code);
            break;
        }
    }
    Some(Needed { seconds, decided })
}

fn render_row(row: &Row) -> String {
    let told = |needed: Needed| format!("{:.2}{}", needed.seconds, if needed.decided { "" } else { " (undecided)" });
    format!(
        "| {} | {} | {} | {} | {} | {:.1}× |",
        row.model,
        row.properties,
        told(row.spin),
        told(row.fabius),
        told(row.verdicts),
        row.spin.seconds / row.verdicts.seconds
    )
}

fn render(rows: &[Row], limit: u32) -> String {
    let count = |spin: bool, fabius: bool| {
        rows.iter().filter(|row| row.spin.decided == spin && row.fabius.decided == fabius).count()
    };
    let mut text = format!(
        "{} models with {} properties; each search may take {limit} s of CPU time and {} GiB. Decided by both: {}; by Fabius only: {}; by Spin \
         only: {}; by neither: {}.\n",
        rows.len(),
        rows.iter().map(|row| row.properties).sum::<usize>(),
        MEMORY_KIB >> 20,
        count(true, true),
        count(false, true),
        count(true, false),
        count(false, false),
    );
    let decided: Vec<&Row> = rows.iter().filter(|row| row.spin.decided && row.fabius.decided).collect();
    let ratios = |of: fn(&Row) -> Needed| {
        let mut ratios: Vec<f64> = decided.iter().map(|row| row.spin.seconds / of(row).seconds).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    };
    for (which, ratios) in
        [("Without the look for a schedule", ratios(|row| row.verdicts)), ("With it", ratios(|row| row.fabius))]
    {
        let (Some(least), Some(greatest)) = (ratios.first(), ratios.last()) else { continue };
        let at = |part: f64| ratios[((ratios.len() - 1) as f64 * part).round() as usize];
        let slower = ratios.iter().filter(|ratio| **ratio < 1.0).count();
        let _ = writeln!(
            text,
            "\n{which}, where both decide, Spin's time divided by Fabius': median {:.1}, 5th percentile {:.1}, least {least:.2}, greatest \
             {greatest:.0}; Fabius is slower on {slower} of {}.",
            at(0.5),
            at(0.05),
            ratios.len(),
        );
    }
    text += "\nThe models on which Fabius is slower, or which only one of them decides:\n\n\
             | model | properties | Spin, s | Fabius, s | without schedule, s | Spin / the latter |\n|---|--:|--:|--:|--:|--:|\n";
    let notable = |row: &&Row| {
        let both = row.spin.decided && row.fabius.decided;
        row.spin.decided != row.fabius.decided || both && row.spin.seconds < row.fabius.seconds
    };
    for row in rows.iter().filter(notable) {
        let _ = writeln!(text, "{}", render_row(row));
    }
    text
}
