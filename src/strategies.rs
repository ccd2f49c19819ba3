//! Every combination of two or three flags that say what is checked and how: each of them is in effect, as the report says, or the
//! combination is refused with a sentence that names flags which contradict each other, and a combination that works.
//!
//! The flags that say what is read, written and shown are combined with these, and with each other, in `tests/command_line/flags.rs`;
//! every flag of `fabius check` is in one of the two tables.

use crate::args::{Check, Cli, Command};
use crate::{check, exit};
use clap::{CommandFactory, Parser};
use fabius_base::{Cancel, Code};
use fabius_engine::report::{PropertyClass, PropertyReport, Report, StrategyReport};
use fabius_engine::settings::{CheckpointFiles, Save};
use fabius_engine::{CheckContext, Settings, Verdict, formula_name};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The flags, each with values; combinations of three take the first value only.
const FLAGS: [(&str, &[&str]); 33] = [
    ("--search", &["bfs", "dfs"]),
    ("--store", &["hash", "tree", "bitstate"]),
    ("--threads", &["2"]),
    ("--processes", &["2"]),
    ("--audit", &["full"]),
    ("--fairness", &["weak", "strong", "none"]),
    ("--cycles", &["ndfs", "dfs-fifo", "scc", "map", "iterative-ndfs"]),
    ("--delay", &["rr", "auto", "random", "priority:P"]),
    ("--delay-mode", &["exact", "sample", "fast"]),
    ("--sampler", &["pct", "delays", "walk", "pos", "surw"]),
    ("--runs", &["5"]),
    ("--max-delays", &["1"]),
    ("--choice-bound", &["1"]),
    ("--seed", &["3"]),
    ("--depth-bound", &["5"]),
    ("--max-depth", &["20"]),
    ("--keep-going", &[""]),
    ("--checkpoint", &["FILE"]),
    ("--progress", &["transitions", "states"]),
    ("--depth-increment", &["2"]),
    ("--shard", &["1/2"]),
    ("--prune", &["false"]),
    ("--cut-ranges", &[""]),
    ("--no-reduction", &[""]),
    ("--no-optimize", &[""]),
    ("--vacuity", &["off", "quick", "full"]),
    ("--hints", &[""]),
    ("--no-schedule", &[""]),
    ("--ltl", &["true"]),
    ("--define", &["M=1"]),
    ("--max-states", &["1000"]),
    ("--max-memory", &["1G"]),
    ("--timeout", &["1000"]),
];

/// The flags that say what is read, written and shown; the tests of the command line combine them.
const AROUND: [&str; 20] = [
    "--baseline",
    "--color",
    "--diagram",
    "--events",
    "--format",
    "--hosts",
    "--itf",
    "--json",
    "--key",
    "--no-cache",
    "--output",
    "--picture",
    "--plot",
    "--property",
    "--resume",
    "--sweep",
    "--sweep-timeout",
    "--trail",
    "--verbose",
    "--write-baseline",
];

/// Without `--delay`, the command line refuses these by itself.
const OF_DELAYS: [&str; 7] =
    ["--delay-mode", "--sampler", "--runs", "--max-delays", "--choice-bound", "--seed", "--shard"];

#[test]
fn every_flag_is_combined_with_the_others() {
    let mut command = Cli::command();
    command.build();
    let check = command.find_subcommand("check").expect("there is a command `check`");
    let long = |flag: &clap::Arg| match flag.get_short() {
        Some('D') => Some("--define".to_owned()),
        // Of any command.
        Some('h' | 'V') => None,
        _ => flag.get_long().map(|long| format!("--{long}")),
    };
    let mut flags: Vec<String> = check.get_arguments().filter_map(long).collect();
    let mut combined: Vec<&str> = FLAGS.iter().map(|(flag, _)| *flag).chain(AROUND).collect();
    flags.sort();
    combined.sort();
    assert_eq!(flags, combined);
}

const RACE: &str = "byte n; active [2] proctype P() { n++; assert(n == 1); n-- }";
const LIVELOCK: &str = "bit x; active [2] proctype P() { do :: x = 1 - x :: x -> progress: skip od }";
const FORMULA: &str = "bit x; ltl p { [] <> (x == 1) } active [2] proctype P() { do :: x = 1 :: x = 0 od }";
const ALL: &str = "bit x; byte n; ltl p { [] <> (x == 1) }
active [2] proctype P() { do :: x = 1 - x; n = (n + 1) % 3; assert(n < 2) :: x -> progress: skip od }";

/// A flag with its value, as two words or one.
type Flag = (&'static str, &'static str);

fn words(flags: &[Flag]) -> Vec<String> {
    let written = |flag: &&'static str| if *flag == "--define" { "-D" } else { flag };
    let words = flags.iter().flat_map(|(flag, value)| [written(flag), *value]);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A flag as a refusal writes it, with a condition as a shell needs it.
fn as_told((flag, value): Flag) -> String {
    let value = if flag == "--prune" { format!("'{value}'") } else { value.to_owned() };
    format!("{flag} {value}").trim_end().to_owned()
}

/// What became of a command line.
#[derive(Clone)]
enum Answer {
    /// Its report.
    Checked(Report),
    /// The sentences of the refusal, as they are printed.
    Refused(String),
}

/// A model, the property that is asked about, and what is known of it.
struct Model {
    text: &'static str,
    property: Option<&'static str>,
    known: HashMap<Vec<String>, Answer>,
}

impl Model {
    fn answer(&mut self, flags: &[String]) -> Answer {
        if let Some(known) = self.known.get(flags) {
            return known.clone();
        }
        let answer = self.ask(flags);
        self.known.insert(flags.to_vec(), answer.clone());
        answer
    }

    /// What `fabius check` does with the model and flags, without its files.
    fn ask(&self, flags: &[String]) -> Answer {
        // A formula of the command line is to be checked as well.
        let formula = self.property.filter(|_| flags.iter().any(|flag| flag == "--ltl")).map(|_| formula_name(0));
        let properties = self.property.into_iter().chain(formula.as_deref());
        let property = properties.flat_map(|name| ["--property", name]).map(str::to_owned);
        let line = ["fabius", "check", "m.pml"].map(str::to_owned).into_iter();
        let args: Check = match Cli::try_parse_from(line.chain(property).chain(flags.iter().cloned())) {
            Ok(Cli { command: Command::Check(args) }) => *args,
            Ok(_) => unreachable!("the command is `check`"),
            Err(error) => return Answer::Refused(error.to_string()),
        };
        let checkpoint_files = CheckpointFiles {
            save: args.checkpoints.checkpoint.as_ref().map(|_| ignored()),
            ..CheckpointFiles::default()
        };
        // Here the tool is a test: nobody could start it as a worker.
        let processes = fabius_testkit::partitions::threads(args.others.processes.into());
        let settings = Settings { clarify_transitions_max: 0, checkpoint_files, processes, ..check::settings(&args) };
        let loaded = fabius_engine::load("m.pml", self.text.to_owned(), &[], &mut |_, _| None, &settings);
        let (cancel, now) = (Cancel::new(), || Duration::ZERO);
        let mut context = CheckContext { cancel: &cancel, now: &now, observe: &mut |_| {}, controls: None };
        let outcome = fabius_engine::check(&loaded, &settings, &mut context);
        assert_eq!(outcome.failure, None, "{flags:?}");
        match outcome.findings.iter().find(|finding| finding.is_error()) {
            Some(finding) if outcome.report.verdict == Verdict::Faulty => {
                assert_eq!(exit::of_report(&outcome.report), exit::FAULTY);
                Answer::Refused(check::in_lines(finding))
            }
            _ => Answer::Checked(outcome.report),
        }
    }
}

fn ignored() -> Arc<Save> {
    Arc::new(|_: &[u8]| true)
}

/// Whether a flag is in effect, as the report of a property says.
fn is_heeded((flag, value): Flag, property: &PropertyReport, report: &Report) -> bool {
    let Some(ran) = &property.strategy else { return false };
    let found = |code: Code| report.findings.iter().any(|finding| finding.code == code.as_str());
    let is = |told: &Option<String>| told.as_deref() == Some(value);
    let number = |told: Option<u64>| told.is_some_and(|told| told.to_string() == value);
    let algorithms: &[&str] = match value {
        "ndfs" => &["ndfs", "cndfs", "iterative-ndfs"],
        "scc" => &["scc", "iterative-scc", "depth-bounded-scc"],
        other => &[other],
    };
    match flag {
        "--search" if value == "dfs" => ran.order == "depth-first" && !ran.shortened,
        "--search" => ran.order == "breadth-first",
        "--store" => property.store == value,
        "--threads" => ran.threads.to_string() == value,
        "--processes" => number(ran.processes.map(|processes| processes as u64)),
        "--fairness" => ran.fairness == value,
        "--cycles" => algorithms.contains(&ran.algorithm.as_str()),
        "--delay" if value == "auto" => ran.order == "delays" || ran.order == "random",
        "--delay" => is(&ran.scheduler),
        "--delay-mode" if value == "exact" => ran.algorithm == "delays-exact",
        "--delay-mode" if value == "sample" => ran.order == "random",
        "--delay-mode" => ran.order == "delays" && ran.algorithm != "delays-exact",
        "--sampler" => is(&ran.sampler),
        "--runs" => number(ran.runs),
        "--max-delays" => number(ran.delays_max.map(u64::from)),
        "--choice-bound" => number(ran.choices_max.map(u64::from)),
        "--seed" => number(ran.seed),
        "--depth-bound" => number(ran.depth_bound.map(u64::from)),
        "--depth-increment" => number(ran.depth_increment.map(u64::from)),
        "--max-depth" => number(ran.max_depth),
        "--keep-going" => ran.keep_going,
        "--checkpoint" => ran.checkpoint,
        "--audit" => ran.full_audit,
        "--progress" => is(&ran.progress) || (value == "states" && ran.progress.is_none()),
        "--no-reduction" => property.reduction == "off",
        "--shard" => is(&ran.shard),
        "--prune" => is(&ran.prune) && property.reduction == "off",
        // In the models here there is no value to be chosen.
        "--cut-ranges" => !found(Code::RangeCut),
        "--vacuity" => value != "off" || (property.vacuity.is_none() && !found(Code::Vacuous)),
        "--hints" => found(Code::Starvation),
        "--no-schedule" => property.schedule.is_none(),
        "--ltl" => report.properties.iter().any(|property| property.kind == PropertyClass::Ltl),
        // How much a search may use, and which model is searched, holds for every search.
        "--no-optimize" | "--define" | "--max-states" | "--max-memory" | "--timeout" => true,
        _ => false,
    }
}

impl Model {
    /// Each flag is in effect for a property at least, or the flags are refused as they should be.
    fn examine(&mut self, flags: &[Flag], wrong: &mut Vec<String>) {
        let words = words(flags);
        match self.answer(&words) {
            Answer::Checked(report) => {
                for property in report.properties.iter().filter(|property| property.verdict != Verdict::Faulty) {
                    let ran: Option<&StrategyReport> = property.strategy.as_ref();
                    if ran.is_none_or(|ran| ran.algorithm != property.search) {
                        wrong.push(format!("{words:?}: `{}` does not say which search ran", property.name));
                    }
                }
                for flag in flags {
                    // There may be nothing to hint at in this model.
                    if flag.0 == "--hints" && !self.has_hints() {
                        continue;
                    }
                    if !report.properties.iter().any(|property| is_heeded(*flag, property, &report)) {
                        wrong.push(format!("{words:?} for {:?}: {flag:?} is not in effect", self.property));
                    }
                }
            }
            Answer::Refused(why) => self.examine_refusal(flags, &why, wrong),
        }
    }

    /// Whether there is anything to hint at, as a check with no other flags says.
    fn has_hints(&mut self) -> bool {
        let Answer::Checked(report) = self.answer(&words(&[("--hints", "")])) else { return false };
        report.findings.iter().any(|finding| finding.code == Code::Starvation.as_str())
    }

    /// A refusal names flags that contradict each other by themselves, and a combination that works.
    fn examine_refusal(&mut self, flags: &[Flag], why: &str, wrong: &mut Vec<String>) {
        let property = self.property;
        let words = words(flags);
        let mut fail = |what: &str| wrong.push(format!("{words:?} for {property:?}: {what}: {why}"));
        if why.contains("cannot be used with") {
            // Two flags exclude each other for every model; either may be left out.
            if flags.iter().filter(|(flag, _)| why.contains(&format!("'{flag}"))).count() < 2 {
                fail("the refusal names no two flags");
            }
            return;
        }
        let lines: Vec<&str> = why.lines().collect();
        let named: Vec<Flag> =
            flags.iter().copied().filter(|flag| lines[0].contains(&format!("`{}", as_told(*flag)))).collect();
        if !why.starts_with("error[F0508]") || named.is_empty() {
            return fail("the refusal names no flag");
        }
        if lines.iter().filter(|line| line.contains("= note: ")).count() == 0 {
            fail("the refusal gives no reason");
        }
        let mut alone = named.clone();
        if alone.iter().any(|(flag, _)| OF_DELAYS.contains(flag)) && !alone.iter().any(|(flag, _)| *flag == "--delay") {
            alone.extend(flags.iter().filter(|(flag, _)| *flag == "--delay"));
        }
        // What is asked stays the same.
        let formula: Vec<Flag> = flags.iter().copied().filter(|(flag, _)| *flag == "--ltl").collect();
        alone.extend(&formula);
        if let Answer::Checked(_) = self.answer(&self::words(&alone)) {
            fail("the flags that are named do not contradict each other");
        }
        let Some(nearest) = lines.iter().find_map(|line| line.split_once("nearest combination that works: ")) else {
            return fail("the refusal says nothing that works");
        };
        let mut nearest: Vec<String> = match nearest.1.split('`').nth(1) {
            Some(flags) => flags.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect(),
            None => Vec::new(),
        };
        nearest.extend(self::words(&formula));
        if let Answer::Refused(again) = self.answer(&nearest) {
            fail(&format!("what is said to work, {nearest:?}, does not: {again}"));
        }
    }
}

/// Combinations of two values, and of three flags.
fn combinations() -> Vec<Vec<Flag>> {
    let single: Vec<Vec<Flag>> =
        FLAGS.iter().map(|(flag, values)| values.iter().map(|value| (*flag, *value)).collect()).collect();
    let mut all: Vec<Vec<Flag>> = single.iter().flatten().map(|flag| vec![*flag]).collect();
    for (i, one) in single.iter().enumerate() {
        for (j, other) in single.iter().enumerate().skip(i + 1) {
            all.extend(one.iter().flat_map(|one| other.iter().map(|other| vec![*one, *other])));
            let others = &single[j + 1..];
            all.extend(others.iter().map(|third| vec![one[0], other[0], third[0]]));
        }
    }
    for flags in &mut all {
        let names: Vec<&str> = flags.iter().map(|(flag, _)| *flag).collect();
        if names.iter().any(|flag| OF_DELAYS.contains(flag)) && !names.contains(&"--delay") {
            flags.push(("--delay", "auto"));
        }
    }
    all
}

fn check_all(text: &'static str, property: Option<&'static str>) {
    let combinations = combinations();
    let mut model = Model { text, property, known: HashMap::new() };
    let mut wrong = Vec::new();
    for flags in &combinations {
        model.examine(flags, &mut wrong);
    }
    let some: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), combinations.len(), some.join("\n"));
}

#[test]
fn every_flag_is_in_effect_or_refused_for_safety() {
    check_all(RACE, Some("safety"));
}

#[test]
fn every_flag_is_in_effect_or_refused_for_livelocks() {
    check_all(LIVELOCK, Some("progress"));
}

#[test]
fn every_flag_is_in_effect_or_refused_for_a_formula() {
    check_all(FORMULA, Some("p"));
}

#[test]
fn every_flag_is_in_effect_somewhere_or_refused_for_several_properties() {
    check_all(ALL, None);
}
