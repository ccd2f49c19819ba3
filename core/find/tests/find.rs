//! What is found is compared with brute force: with the definition of patterns on every run of some length, and with a product that
//! remembers the value of every part at the position before, over the states of the reference interpreter.

use fabius_base::{Cancel, Limits};
use fabius_find::{FindReport, FindRequest, FindVerdict, NotAsked, find};
use fabius_pattern::{Past, Unary};
use fabius_program::Program;
use fabius_task::load::{Loaded, load};
use fabius_task::pattern::{Pattern, pattern};
use fabius_task::settings::{Audit, Settings};
use fabius_testkit::generate::{self, Dice, small};
use fabius_testkit::parallel;
use fabius_witness::{Outcome, State, moves, settled, value_of};
use std::collections::HashSet;
use std::time::Duration;

/// Random models, and patterns for each.
const MODELS: u64 = 150;
const PATTERNS: usize = 6;
/// More states of the product are not compared.
const STATES_MAX: usize = 3_000;
/// Runs of up to this many steps are looked at one by one, …
const STEPS_MAX: usize = 7;
/// … as long as there are no more than this many.
const RUNS_MAX: usize = 6_000;

fn loaded(text: &str) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

fn ask(loaded: &Loaded, pattern: &str) -> Result<FindReport, NotAsked> {
    let request = FindRequest { pattern: pattern.to_owned(), limits: Limits::default(), audit: Audit::Full };
    find(loaded, &request, &Cancel::new(), &|| Duration::ZERO).map(|found| found.report)
}

/// A pattern at random: its text.
fn text(dice: &mut Dice, lines: usize, depth: usize) -> String {
    if depth == 0 || dice.one_in(5) {
        let n = dice.below(4);
        return match dice.below(13) {
            0 => format!("x == {n}"),
            1 => format!("y > {n}"),
            2 => format!("g0 >= {n}"),
            3 => format!("g1 != g0 + {n}"),
            4 => format!("a[x] == {n}"),
            5 => format!("a0[g0] < {n}"),
            6 => format!("len(c0) == {n}"),
            7 => "full(c1)".to_owned(),
            8 => format!("K0[{n}]@line {}", 1 + dice.below(lines)),
            9 => format!("K0@line {}", 1 + dice.below(lines)),
            10 => format!("_nr_pr > {n}"),
            11 => format!("K0[{n}]:l > 1"),
            _ => format!("s < {n} && !(b)"),
        };
    }
    let one = format!("({})", text(dice, lines, depth - 1));
    let other = format!("({})", text(dice, lines, depth - 1));
    match dice.below(11) {
        0 => format!("!{one}"),
        1 => format!("previously {one}"),
        2 => format!("once {one}"),
        3 => format!("historically {one}"),
        4 => format!("start {one}"),
        5 => format!("end {one}"),
        6 => format!("{one} && {other}"),
        7 => format!("{one} || {other}"),
        8 => format!("{one} -> {other}"),
        9 => format!("{one} since {other}"),
        _ => format!("{one} after {other}"),
    }
}

fn is_true(pattern: &Pattern, program: &Program, state: &State, p: usize) -> bool {
    value_of(program, state, &pattern.propositions[p]).is_ok_and(|value| value != 0)
}

/// The states that steps lead to, atomic sequences that block included.
fn successors(program: &Program, state: &State) -> Vec<State> {
    let reached = moves(program, &settled(program, state)).successors.into_iter();
    reached
        .filter_map(|(_, outcome)| match outcome {
            Outcome::Reaches { state, .. } => Some(state),
            _ => None,
        })
        .collect()
}

/// The fewest steps after which the definition is true on some run, of runs up to [`STEPS_MAX`] steps; up to how many all were looked at.
fn by_runs(pattern: &Pattern, program: &Program) -> Option<(Option<usize>, usize)> {
    let mut runs = vec![vec![State::initial(program).ok()?]];
    for steps in 0..=STEPS_MAX {
        for run in &runs {
            let defined = pattern.formula.positions(run.len(), &mut |p, now| is_true(pattern, program, &run[now], *p));
            if defined[steps] {
                return Some((Some(steps), steps));
            }
        }
        let longer = runs.iter().flat_map(|run| {
            let next = successors(program, &run[steps]).into_iter();
            next.map(|state| run.iter().cloned().chain([state]).collect::<Vec<_>>())
        });
        let longer: Vec<Vec<State>> = longer.take(RUNS_MAX + 1).collect();
        if RUNS_MAX < longer.len() {
            return Some((None, steps));
        }
        runs = longer;
    }
    Some((None, STEPS_MAX))
}

/// The value of each part at a position, from those at the position before: the expansion laws of the operators.
fn values(whole: &Past<usize>, before: Option<&[bool]>, is_true: &dyn Fn(usize) -> bool) -> Vec<bool> {
    fn add(part: &Past<usize>, before: Option<&[bool]>, is_true: &dyn Fn(usize) -> bool, out: &mut Vec<bool>) -> usize {
        let mut of = |operand: &Past<usize>| add(operand, before, is_true, out);
        let was = |at: usize| before.is_some_and(|before| before[at]);
        let value = match part {
            Past::Proposition(p) => is_true(*p),
            Past::Unary(operator, a) => {
                let a = of(a);
                let mine = out.len();
                match operator {
                    Unary::Not => !out[a],
                    Unary::Previously => was(a),
                    Unary::Once => out[a] || was(mine),
                    Unary::Historically => out[a] && before.is_none_or(|before| before[mine]),
                    Unary::Start => out[a] && before.is_some_and(|before| !before[a]),
                    Unary::End => !out[a] && was(a),
                }
            }
            Past::And(a, b) => {
                let (a, b) = (of(a), of(b));
                out[a] && out[b]
            }
            Past::Or(a, b) => {
                let (a, b) = (of(a), of(b));
                out[a] || out[b]
            }
            Past::Implies(a, b) => {
                let (a, b) = (of(a), of(b));
                !out[a] || out[b]
            }
            Past::Since(a, b) => {
                let (a, b) = (of(a), of(b));
                out[b] || out[a] && was(out.len())
            }
            Past::After(a, b) => {
                // `a after b` is `a && previously once b`; what is remembered is `once b`.
                let (a, b) = (of(a), of(b));
                let earlier = was(out.len());
                out.push(earlier || out[b]);
                out[a] && earlier
            }
        };
        out.push(value);
        out.len() - 1
    }
    let mut out = Vec::new();
    add(whole, before, is_true, &mut out);
    out
}

/// The fewest steps to a state of the product in which the pattern is true; `None` if there are too many states.
fn by_product(pattern: &Pattern, program: &Program) -> Option<Option<usize>> {
    let go = |state: &State, before: Option<&[bool]>| {
        values(&pattern.formula, before, &|p| is_true(pattern, program, state, p))
    };
    let initial = State::initial(program).ok()?;
    let first = go(&initial, None);
    let mut layer = vec![(settled(program, &initial).visible(program), first)];
    let mut seen: HashSet<(State, Vec<bool>)> = layer.iter().cloned().collect();
    for steps in 0.. {
        if layer.is_empty() {
            return Some(None);
        }
        if layer.iter().any(|(_, values)| values.last() == Some(&true)) {
            return Some(Some(steps));
        }
        let mut next = Vec::new();
        for (state, before) in &layer {
            for to in successors(program, state) {
                let values = go(&to, Some(before));
                let node = (settled(program, &to).visible(program), values);
                if seen.insert(node.clone()) {
                    next.push(node);
                }
            }
        }
        if STATES_MAX < seen.len() {
            return None;
        }
        layer = next;
    }
    None
}

#[derive(Default)]
struct Tally {
    found: usize,
    at_once: usize,
    impossible: usize,
    by_runs: usize,
    refused: usize,
    without_value: usize,
    audited: u64,
}

fn compare(seed: u64) -> Tally {
    let model = match seed % 3 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        _ => small::model(seed),
    };
    let mut tally = Tally::default();
    let loaded = loaded(&model);
    let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return tally };
    let mut dice = Dice::new(seed);
    let mut asked = 0;
    for _ in 0..PATTERNS * 12 {
        let depth = 1 + dice.below(4);
        let text = text(&mut dice, model.lines().count(), depth);
        let Ok(read) = pattern(&loaded, &program, &text) else {
            tally.refused += 1;
            continue;
        };
        let Some(expected) = by_product(&read, &program) else { continue };
        // What is true at once says little about runs.
        if expected == Some(0) && !dice.one_in(6) {
            continue;
        }
        let report = ask(&loaded, &text).unwrap_or_else(|why| panic!("{why:?}: `{text}` of\n{model}"));
        let about = || format!("seed {seed}: `{text}`: {}\n{model}", report.reason);
        assert_eq!(report.internal_error, None, "{}", about());
        match expected {
            Some(steps) => {
                assert_eq!(report.run.as_ref().map(|run| run.steps as usize), Some(steps), "{}", about());
                assert_eq!(report.verdict, FindVerdict::Found);
                tally.found += 1;
                tally.at_once += usize::from(steps == 0);
            }
            None => {
                assert_eq!((report.verdict, report.exhaustive), (FindVerdict::Impossible, true), "{}", about());
                tally.impossible += 1;
                tally.audited += report.audited.unwrap_or_default();
            }
        }
        if let Some((defined, looked_at)) = by_runs(&read, &program) {
            assert_eq!(expected.filter(|steps| *steps <= looked_at), defined, "{}", about());
            tally.by_runs += usize::from(defined.is_some_and(|steps| 0 < steps));
        }
        tally.without_value += usize::from(report.without_value.is_some());
        asked += 1;
        if asked == PATTERNS {
            break;
        }
    }
    tally
}

#[test]
fn the_answer_is_that_of_brute_force_on_random_models() {
    let seeds: Vec<u64> = (0..MODELS).collect();
    let mut sum = Tally::default();
    for tally in parallel::map(&seeds, |seed| compare(*seed)) {
        sum.found += tally.found;
        sum.at_once += tally.at_once;
        sum.impossible += tally.impossible;
        sum.by_runs += tally.by_runs;
        sum.refused += tally.refused;
        sum.without_value += tally.without_value;
        sum.audited += tally.audited;
    }
    let Tally { found, at_once, impossible, by_runs, refused, without_value, audited } = sum;
    let told = format!(
        "found {found} ({at_once} at once, {by_runs} by runs), impossible {impossible}, without value {without_value}, audited {audited}, unread {refused}"
    );
    assert!(60 < found - at_once && 40 < impossible && 60 < by_runs && 10 < without_value && 1_000 < audited, "{told}");
}
