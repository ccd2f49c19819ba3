//! Random models: every deadlock that enumeration finds is at a candidate; what is said to be impossible is never reached;
//! a model is said to get stuck exactly if it does.

use super::guide::Guiding;
use super::*;
use fabius_search::{Ending, Model, Next};
use fabius_testkit::generate::{self, Dice, small};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

/// Models with more states are left out.
const STATES_MAX: usize = 4_000;

/// One model in this many is asked about each of its lines.
const LINES_OF_EACH: usize = 10;

fn load(text: &str) -> Loaded {
    let settings = fabius_engine::Settings::default();
    fabius_engine::load("random.pml", text.to_owned(), &[], &mut |_, _| None, &settings)
}

/// This many models, or as many as the environment asks for.
#[expect(clippy::disallowed_methods, reason = "a longer test is asked for there")]
fn seeds(default: u64) -> u64 {
    std::env::var("FABIUS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(default)
}

/// The deadlocks of a model; `None` if it has too many states.
fn deadlocks(machine: &mut SearchedMachine) -> Option<Vec<Vec<u32>>> {
    let mut initial = Vec::new();
    if machine.initial(&mut initial).is_err() {
        return Some(Vec::new());
    }
    let (mut seen, mut open, mut found) = (HashSet::from([initial.clone()]), vec![initial], Vec::new());
    while let Some(state) = open.pop() {
        let (mut cursor, mut next) = (machine.begin(&state), Vec::new());
        loop {
            match machine.next(&state, &mut cursor, &mut next) {
                Next::Successor { .. } if seen.insert(next.clone()) => open.push(next.clone()),
                Next::Successor { .. } | Next::Broken { .. } => {}
                Next::Done(Ending::InvalidEnd) => break found.push(state.clone()),
                Next::Done(_) => break,
            }
        }
        if STATES_MAX < seen.len() {
            return None;
        }
    }
    Some(found)
}

/// What happened to some models.
#[derive(Default, Debug)]
struct Tally {
    models: usize,
    stuck: usize,
    told: usize,
    proved: usize,
    candidates: usize,
    reached: usize,
}

/// What is said of a line agrees with what is said of the combinations with a process there.
fn by_line(loaded: &Loaded, program: &Program, candidates: &Candidates, report: &StuckReport) {
    let count = loaded.map.files().map(|(_, file)| file.text.lines().count()).max().unwrap_or(0);
    for line in (1..=count as u32).map(|line| Line { file: loaded.name.clone(), line }) {
        let here = |number: &usize| {
            report::waits_at(program, &loaded.map, &candidates.participants, &candidates.list[*number], &line)
        };
        let all: Vec<CandidateVerdict> =
            (0..candidates.list.len()).filter(here).map(|number| report.candidates[number].verdict).collect();
        let request = StuckRequest { line: Some(line.clone()), ..StuckRequest::default() };
        let Ok(found) = stuck(loaded, &request, &Cancel::new(), &|| Duration::ZERO) else { continue };
        let expected = match () {
            () if all.contains(&CandidateVerdict::Reached) => StuckVerdict::Deadlock,
            () if !all.contains(&CandidateVerdict::Unknown) => StuckVerdict::NoDeadlock,
            () => continue,
        };
        assert_eq!(found.report.verdict, expected, "line {}: {}", line.line, found.report.reason);
        assert_eq!(found.report.candidates.len(), all.len());
        assert_eq!(found.report.proof == Some(Proof::Text), all.is_empty(), "{}", found.report.reason);
    }
}

impl Tally {
    fn judge(&mut self, name: &str, text: &str) {
        let loaded = load(text);
        let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else { return };
        let Ok(mut machine) = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING) else { return };
        if machine.hidden_words() != 0 {
            return;
        }
        let Some(real) = deadlocks(&mut machine) else { return };
        self.models += 1;
        self.stuck += usize::from(!real.is_empty());
        let cancel = Cancel::new();
        let from_text = from_text(&program, machine.clone(), &cancel);
        let request = StuckRequest { every: true, ..StuckRequest::default() };
        let found = stuck(&loaded, &request, &cancel, &|| Duration::ZERO).expect("it can be run");
        let report = &found.report;
        assert_eq!(report.internal_error, None, "{name}\n{text}");
        let verdict = if real.is_empty() { StuckVerdict::NoDeadlock } else { StuckVerdict::Deadlock };
        assert_eq!(report.verdict, verdict, "{name}: {}\n{text}", report.reason);
        assert_eq!(found.runs.is_empty(), real.is_empty());
        let Ok(FromText { candidates, .. }) = from_text else { return };
        // A search for each line takes time.
        if self.models.is_multiple_of(LINES_OF_EACH) {
            by_line(&loaded, &program, &candidates, report);
        }
        self.told += 1;
        self.proved += usize::from(candidates.list.is_empty());
        self.candidates += candidates.list.len();
        let mut guide = Guiding::new(Arc::clone(&program), machine.machine().clone(), Some(&candidates), true, true);
        let mut reached = BTreeSet::new();
        for state in &real {
            let at = guide.candidates_of(state);
            assert!(!at.is_empty(), "{name}: a deadlock was overlooked: {state:?}\n{candidates:?}\n{text}");
            reached.extend(at);
        }
        self.reached += reached.len();
        for (number, candidate) in report.candidates.iter().enumerate() {
            match candidate.verdict {
                CandidateVerdict::Reached => assert!(reached.contains(&number), "{name}\n{text}"),
                CandidateVerdict::Impossible => assert!(!reached.contains(&number), "{name}: {number}\n{text}"),
                CandidateVerdict::Unknown => assert!(candidates.participants.iter().any(|it| it.creator.is_some())),
            }
        }
    }
}

#[test]
fn random_models_get_stuck_only_where_they_could_and_exactly_if_they_do() {
    let mut tally = Tally::default();
    for seed in 0..seeds(120) {
        tally.judge(&format!("small {seed}"), &small::model(seed));
        tally.judge(&format!("any {seed}"), &generate::model(seed).text());
    }
    assert!(tally.told > tally.models / 2 && tally.stuck > 10, "{tally:?}");
}

#[test]
fn so_do_models_with_locks_and_many_are_proved_free_without_a_search() {
    let mut tally = Tally::default();
    for seed in 0..seeds(120) {
        tally.judge(&format!("locks {seed}"), &locks(seed));
    }
    let free = tally.models - tally.stuck;
    assert!(tally.stuck > 10 && tally.proved * 10 > free * 6, "{tally:?}");
}

/// A model whose processes take and release locks, semaphores and messages.
fn locks(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x10C5);
    let count = 2 + dice.below(2);
    let mut text = format!(
        "#define N {count}\nbit lock[3]; byte free = {}; bool flag[N]; byte turn;\nchan c = [{}] of {{ byte }};\n",
        1 + dice.below(2),
        1 + dice.below(2)
    );
    let created = dice.below(3);
    let body = |dice: &mut Dice, text: &mut String| {
        let mut held = Vec::new();
        for _ in 0..1 + dice.below(4) {
            let lock = dice.below(3);
            let _ = match dice.below(8) {
                0..=2 if !held.contains(&lock) => {
                    held.push(lock);
                    writeln!(text, "  atomic {{ !lock[{lock}] -> lock[{lock}] = 1 }};")
                }
                3 if !held.is_empty() => writeln!(text, "  lock[{}] = 0;", held.remove(dice.below(held.len()))),
                4 => writeln!(text, "  atomic {{ free > 0 -> free-- }}; free++;"),
                5 => {
                    writeln!(text, "  flag[me] = true; turn = me; (!flag[1 - me % 2] || turn != me); flag[me] = false;")
                }
                6 => writeln!(text, "  if :: c!1 :: c?_ fi;"),
                _ => writeln!(text, "  d_step {{ lock[me % 3] == 0; lock[me % 3] = 1 }}; lock[me % 3] = 0;"),
            };
        }
        for lock in held {
            let _ = writeln!(text, "  lock[{lock}] = 0;");
        }
        if dice.one_in(2) {
            text.push_str("  if :: goto again :: skip fi\n");
        } else {
            text.push_str("  skip\n");
        }
    };
    for kind in 0..count {
        let head = if created == 0 { "active proctype" } else { "proctype" };
        let argument = if created == 0 { "" } else { "byte me" };
        let _ = writeln!(text, "{head} P{kind}({argument}) {{");
        if created == 0 {
            text.push_str("#undef me\n#define me _pid\n");
        }
        text.push_str("again:\n");
        body(&mut dice, &mut text);
        text.push_str("}\n");
    }
    match created {
        0 => {}
        1 => {
            let runs: Vec<String> = (0..count).map(|kind| format!("run P{kind}({kind})")).collect();
            let _ = writeln!(text, "init {{ {} }}", runs.join("; "));
        }
        _ => text.push_str("init { byte i; atomic { do :: i < N -> run P0(i); i++ :: else -> break od } }\n"),
    }
    text
}

/// A model's answer.
fn asked(text: &str, every: bool) -> StuckReport {
    let request = StuckRequest { every, ..StuckRequest::default() };
    stuck(&load(text), &request, &Cancel::new(), &|| Duration::ZERO).expect("it can be run").report
}

const PETERSON: &str = "bool flag[2]; byte turn;
active [2] proctype P() {
  do
  :: flag[_pid] = true; turn = _pid;
     (!flag[1 - _pid] || turn != _pid);
     flag[_pid] = false
  od
}";

#[test]
fn mutual_exclusion_by_flags_is_proved_without_a_search() {
    let report = asked(PETERSON, false);
    assert_eq!((report.verdict, report.proof, report.states), (StuckVerdict::NoDeadlock, Some(Proof::Text), 0));
}

#[test]
fn philosophers_get_stuck_in_one_way_only_and_not_if_one_is_left_handed() {
    let table = |first: &str, second: &str| {
        format!(
            "bool fork[3];
             proctype Eat(byte one; byte two) {{
               do :: atomic {{ !fork[one] -> fork[one] = true }}; atomic {{ !fork[two] -> fork[two] = true }};
                     fork[one] = false; fork[two] = false od
             }}
             init {{ atomic {{ run Eat(0, 1); run Eat(1, 2); run Eat({first}, {second}) }} }}"
        )
    };
    let report = asked(&table("2", "0"), true);
    assert_eq!(report.verdict, StuckVerdict::Deadlock);
    assert_eq!(report.candidates.len(), 1, "{:?}", report.candidates);
    assert_eq!(report.candidates[0].verdict, CandidateVerdict::Reached);
    let free = asked(&table("0", "2"), true);
    assert_eq!((free.verdict, free.proof), (StuckVerdict::NoDeadlock, Some(Proof::Text)), "{:?}", free.candidates);
}

#[test]
fn what_is_not_known_is_not_claimed() {
    // Whether the guard holds depends on values that the text does not tell.
    let text = "int x; active proctype P() { do :: x < 1000 -> x = x * 3 + 1 :: x < 9 -> x = x * 5 + 2 :: x > 2000 -> x = 0 od }";
    let limits = Limits { states_max: Some(2), ..Limits::default() };
    let request = StuckRequest { limits, ..StuckRequest::default() };
    let found = stuck(&load(text), &request, &Cancel::new(), &|| Duration::ZERO).expect("it can be run");
    assert_eq!((found.report.verdict, found.report.exhaustive), (StuckVerdict::Unknown, false));
    assert_eq!(found.report.candidates[0].verdict, CandidateVerdict::Unknown);
    assert_eq!(asked(text, false).verdict, StuckVerdict::Deadlock);
}

/// Where runs lead, told apart by their last moves.
#[test]
fn every_run_is_another_deadlock() {
    let text = "bit a, b; active [2] proctype P() {
        if :: atomic { !a -> a = 1 }; atomic { !b -> b = 1 } :: atomic { !b -> b = 1 }; atomic { !a -> a = 1 } fi }";
    let loaded = load(text);
    let request = StuckRequest { every: true, ..StuckRequest::default() };
    let found = stuck(&loaded, &request, &Cancel::new(), &|| Duration::ZERO).expect("it can be run");
    let ends: HashSet<Vec<Move>> = found.runs.iter().map(|run| run.path.clone()).collect();
    assert_eq!(ends.len(), found.runs.len());
    assert!(found.report.candidates.iter().all(|it| it.verdict != CandidateVerdict::Unknown));
    assert!(found.runs.len() > 2, "{:?}", found.report.candidates);
}
