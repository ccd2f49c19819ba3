//! Random models whose ranges of values are cut: every property has the same verdict, and the same places are reached, as without.
//!
//! `FABIUS_MODELS=n` says how many models, `FABIUS_SEED=n` where to begin.

use fabius_base::{Cancel, Code, Limits};
use fabius_engine::{CheckContext, Loaded, Settings, Verdict, check, load};
use fabius_program::facts::ranges::cut_ranges;
use fabius_program::{Program, Watch};
use fabius_search::toy::Random;
use fabius_witness::{State, moves, step};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// How many models are looked at unless someone asks for more.
const MODELS: u64 = 80;
/// States of a model that is looked at.
const STATES_MAX: usize = 2_500;

#[expect(clippy::disallowed_methods, reason = "a person may ask for more models")]
fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Processes that choose values, copy them, send them, compare them, and now and then do something else with them. Variables
/// whose names begin with v hold these values, the others what was found out about them.
fn model(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = "byte v; bool f, g; chan c = [1] of { byte };\n".to_owned();
    for name in ["P", "Q"].iter().take(1 + random.below(2)) {
        let steps: Vec<String> = (0..2 + random.below(3))
            .map(|at| {
                let (constant, other) = (random.below(36), random.below(12));
                let variable = ["va", "vb", "v"][random.below(3)];
                let choice = if at == 0 { 0 } else { random.below(16) };
                match choice {
                    0 | 1 => format!("select (va : {} .. {})", random.below(3), [5, 12, 35, 36][random.below(4)]),
                    2 => format!(
                        "if :: {variable} = {constant} :: {variable} = {other} :: {variable} = {} fi",
                        other + 1
                    ),
                    3 => format!("vb = {variable}"),
                    4 => format!("v = {variable}"),
                    5 => format!("if :: {variable} < {constant} -> f = !f :: else fi"),
                    6 => format!("assert(!(f && {variable} == {other}))"),
                    7 => format!("c ! {variable}"),
                    8 => "c ? vb".to_owned(),
                    9 => {
                        format!("if :: c ? {other} -> g = true :: c ?? [{other}] -> f = g :: {other} <= {variable} fi")
                    }
                    10 => format!("f = ({variable} > {constant})"),
                    11 => format!("atomic {{ select (vb : 1 .. 34); g = (vb == {other} || f) }}"),
                    12 => format!(
                        "skip; d_step {{ if :: {variable} >= {constant} -> g = f :: else -> g = true fi }}; skip"
                    ),
                    13 => format!(
                        "do :: {variable} < {other} -> {variable}++ :: f -> break :: {variable} > 2 -> break od"
                    ),
                    14 => {
                        ["progress: skip", "printf(\"%d\", va)", "va = vb + 1", "va == vb"][random.below(4)].to_owned()
                    }
                    _ => format!("if :: f -> skip :: va = ({variable} != {other} -> {constant} : vb) fi"),
                }
            })
            .collect();
        let body = steps.join(";\n");
        let body = if random.below(2) == 0 { format!("do :: {body} od") } else { body };
        text += &format!("active proctype {name}() {{ byte va, vb; {body} }}\n");
    }
    let (constant, other) = (random.below(36), random.below(8));
    match random.below(5) {
        0 => text += &format!("ltl p {{ [] (v != {constant} || <> f) }}\n"),
        1 => text += "ltl p { <> [] g }\n",
        2 => text += &format!("ltl p {{ [] (f -> (v < {other} || <> g)) }}\n"),
        _ => {}
    }
    text
}

fn read(text: &str, optimize: bool, cut_ranges: bool) -> (Loaded, Settings) {
    let limits = Limits { states_max: Some(40_000), ..Limits::default() };
    let settings = Settings { limits, optimize, cut_ranges, schedule: false, ..Settings::default() };
    (load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings), settings)
}

/// What is reached, but for the values that may be left out; `None` if that is too much. Each place of a state for itself: where the processes
/// are, what the other variables are, and how many messages there are.
fn reached(program: &Arc<Program>) -> Option<(BTreeSet<String>, usize)> {
    let mut open = vec![State::watching(program, Watch::NOTHING).ok()?];
    let mut seen: HashSet<State> = open.iter().cloned().collect();
    let mut places = BTreeSet::new();
    while let Some(state) = open.pop() {
        if STATES_MAX < seen.len() {
            return None;
        }
        let processes: Vec<_> = state.processes.iter().map(|process| process.location).collect();
        let found = program.globals.iter().zip(&state.globals).filter(|(variable, _)| !variable.name.starts_with('v'));
        let found: Vec<String> = found.map(|(variable, values)| format!("{}={values:?}", variable.name)).collect();
        places.insert(format!("{processes:?} {found:?}"));
        for (label, _) in moves(program, &state).successors {
            let taken = step(program, &state, label).expect("possible");
            match (taken.outcome.fault(), taken.outcome.state()) {
                (None, Some(next)) => {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
                (fault, _) => drop(places.insert(format!("{processes:?}: {fault:?}"))),
            }
        }
    }
    Some((places, seen.len()))
}

#[test]
fn cut_ranges_change_no_verdict_and_no_place() {
    let first = number("FABIUS_SEED", 1);
    let (mut cut, mut compared, mut violated, mut before, mut after) = (0, 0, 0, 0, 0);
    for seed in first..first + number("FABIUS_MODELS", MODELS) {
        let text = model(seed);
        for optimize in [false, true] {
            let (whole, settings) = read(&text, optimize, false);
            let (left, left_settings) = read(&text, optimize, true);
            let program = whole.checkable().unwrap_or_else(|| panic!("{:?}\n{text}", whole.findings));
            let Some(ranges) = cut_ranges(program) else {
                assert!(!left.findings.iter().any(|finding| finding.code == Code::RangeCut), "seed {seed}");
                continue;
            };
            cut += 1;
            for range in &ranges.ranges {
                assert!((range.kept.len() as u64) < range.values && !range.kept.is_empty(), "seed {seed}: {range:?}");
            }
            if let (Some(all), Some(some)) = (reached(program), reached(&Arc::new(ranges.program))) {
                assert_eq!(all.0, some.0, "seed {seed}\n{text}\n{:?}", ranges.ranges);
                (compared, before, after) = (compared + 1, before + all.1, after + some.1);
            }
            let run = |loaded: &Loaded, settings: &Settings| {
                let cancel = Cancel::new();
                let mut context =
                    CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
                let outcome = check(loaded, settings, &mut context);
                assert_eq!(outcome.report.internal_error, None, "seed {seed}\n{text}");
                outcome.report
            };
            let (all, some) = (run(&whole, &settings), run(&left, &left_settings));
            for (one, other) in all.properties.iter().zip(&some.properties) {
                let known = one.verdict != Verdict::Undecided && other.verdict != Verdict::Undecided;
                let same = !known || one.verdict == other.verdict;
                assert!(
                    same,
                    "seed {seed}, {}: {:?} and {:?}\n{text}\n{:?}",
                    one.name, one.verdict, other.verdict, ranges.ranges
                );
                violated += u64::from(known && one.verdict == Verdict::Violated);
            }
            let codes = |report: &fabius_engine::Report, code: &str| -> BTreeSet<String> {
                let found = report.findings.iter().filter(|finding| finding.code == code);
                found.map(|finding| finding.message.clone()).collect()
            };
            assert_eq!(
                (codes(&all, "F0509").is_empty(), codes(&some, "F0509").is_empty()),
                (true, false),
                "seed {seed}"
            );
            if all.exhaustive && some.exhaustive {
                assert_eq!(codes(&all, "F0604"), codes(&some, "F0604"), "seed {seed}\n{text}");
            }
        }
    }
    assert!(
        30 < cut && 20 < compared && 10 < violated && 2 * after < before,
        "{cut} {compared} {violated} {before} {after}"
    );
}
