//! What the benchmarks share: how long a program takes, and the models on which that is worth asking.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// Models of the corpus that take a search some time, most of them with more than a million states.
pub const BIG_MODELS: &[&str] = &[
    "beem/peterson.3.pml",
    "beem/lamport.3.pml",
    "beem/at.3.pml",
    "beem/iprotocol.3.pml",
    "beem/brp.3.pml",
    "beem/fischer.3.pml",
    "beem/szymanski.3.pml",
    "beem/rether.3.pml",
    "beem/extinction.2.pml",
    "spin-examples/cambridge.pml",
    "spin-examples/ltl_leader.pml",
    "case-studies/brp.pml",
    "case-studies/garp_garp_ls.pml",
    "case-studies/giop_giop1.nomig.pml",
    "rtems/event-mgr-model.pml",
    "dfsfifo/leader_t_derived_NPC_N4.pml",
    "spin-examples/snoopy.pml",
    "spins-tests/peterson3.pml",
];

/// The flags that benchmarks of models share.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// `--write`: the tables go into the page.
    pub write: bool,
    /// `--runs N`: the number of runs.
    pub runs: u32,
    /// `--limit N`: seconds that something may take.
    pub limit: Option<f64>,
    /// Other words: parts of names of models; none stands for all models.
    pub only: Vec<String>,
}

impl Options {
    /// Those of the command line.
    pub fn read(runs: u32) -> Self {
        Self::of(std::env::args().skip(1), runs)
    }

    fn of(mut arguments: impl Iterator<Item = String>, runs: u32) -> Self {
        let mut options = Self { write: false, runs, limit: None, only: Vec::new() };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--write" => options.write = true,
                "--runs" => options.runs = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(runs),
                "--limit" => options.limit = arguments.next().and_then(|number| number.parse().ok()),
                "--bench" => {}
                word => options.only.push(word.to_owned()),
            }
        }
        options
    }

    /// Whether a model is to be measured.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.contains(word.as_str()))
    }
}

/// The folder of the corpus' models; says so if there is none.
pub fn corpus_models() -> Option<PathBuf> {
    let models = fabius_needs::corpus_folder().join("models");
    if models.is_dir() {
        return Some(models);
    }
    println!("The corpus is not there (set FABIUS_CORPUS): nothing to measure.");
    None
}

/// What a program took, and what it printed.
pub struct Timed {
    /// User and system time, in seconds.
    pub cpu: f64,
    /// Time on the wall, in seconds.
    pub elapsed: f64,
    /// Its standard output.
    pub text: String,
}

/// Runs a program to its end; nothing if it cannot be started or prints what is no text.
pub fn timed(command: &mut Command) -> Option<Timed> {
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut text = String::new();
    child.stdout.take()?.read_to_string(&mut text).ok()?;
    let used = child.wait4().ok()?.rusage;
    Some(Timed {
        cpu: used.utime.as_secs_f64() + used.stime.as_secs_f64(),
        elapsed: begun.elapsed().as_secs_f64(),
        text,
    })
}

/// The geometric mean of some ratios; nothing if there is none.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}
