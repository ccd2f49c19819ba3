//! Who can make a process that waits go on: said only where running it shows so.

use fabius_base::SourceMap;
use fabius_language::NoLoader;
use fabius_program::{Move, Program};
use fabius_promela::{Options, lower, parse};
use fabius_witness::release::Prospect;
use fabius_witness::{Cause, Claim, CycleClaim, Explanation, InfiniteRun, Outcome, Role, State, confirm, moves};
use std::sync::Arc;

fn program(text: &str) -> Arc<Program> {
    let mut map = SourceMap::new();
    let file = map.add_file("m.pml", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    Arc::new(lower(&parsed.model, &map, "m.pml", Options::NONE).program.expect("the model is right"))
}

/// The moves of a run in which these processes move, each by its first step.
fn run(program: &Program, pids: &[u8]) -> Vec<Move> {
    let mut state = State::initial(program).expect("the initial state is sound");
    let mut path = Vec::new();
    for pid in pids {
        let successors = moves(program, &state).successors;
        let (step, outcome) = successors.into_iter().find(|(step, _)| step.pid == *pid).expect("it can move");
        path.push(step);
        let Outcome::Reaches { state: next, .. } = outcome else { panic!("a fault") };
        state = next;
    }
    path
}

fn looping(text: &str, pids: &[u8], start: usize) -> InfiniteRun {
    let program = program(text);
    let claim = Claim::Cycle { start, shows: CycleClaim::NOTHING };
    let trace = confirm(&program, &run(&program, pids), claim).expect("the loop closes");
    trace.infinite.expect("a loop is explained")
}

fn dead(text: &str, pids: &[u8]) -> Explanation {
    let program = program(text);
    let trace = confirm(&program, &run(&program, pids), Claim::InvalidEnd).expect("it is dead");
    trace.explanation.expect("an invalid end state is explained")
}

fn prospect(infinite: &InfiniteRun, pid: usize) -> &Prospect {
    let Role::Blocked { prospect, .. } = &infinite.processes[pid].role else { panic!("process {pid} is not blocked") };
    prospect
}

const TOGGLE: &str = "byte n, q; active proctype Waiter() { q == 7 } active proctype Toggle() { do :: n = 1 - n od }\n";

#[test]
fn a_writer_whose_own_guard_never_holds_cannot_help() {
    let text = format!(
        "{TOGGLE} active proctype Setter() {{ n > 5; q = 7 }} active proctype Three() {{ end: do :: n > 5 -> q = 3 od }}"
    );
    let infinite = looping(&text, &[1, 1], 0);
    assert!((0..4).filter(|pid| *pid != 1).all(|pid| *prospect(&infinite, pid) == Prospect::Never { states: 2 }));
    let told = "Waiter[0] waits all the time at `q == 7`, which is false: q is 0; no run from here lets it go on (2 states, exhaustive).";
    assert_eq!(infinite.sentences[1], told);
    assert!(!infinite.suggestion.contains("make way"), "{}", infinite.suggestion);
}

#[test]
fn who_lets_a_process_go_on_is_found_by_a_run() {
    let infinite = looping(&format!("{TOGGLE} active proctype Setter() {{ n == 1; q = 7 }}"), &[1, 1], 0);
    assert_eq!(*prospect(&infinite, 0), Prospect::Released { by: 2, steps: 3 });
    let told = "; a run of 3 steps from here, the last by Setter[2], lets it go on.";
    assert!(infinite.sentences.iter().any(|sentence| sentence.ends_with(told)), "{:?}", infinite.sentences);
}

#[test]
fn what_a_search_does_not_decide_is_said_to_be_unknown() {
    let text = "byte n, q; int k; active proctype Waiter() { q == 7 }\n\
                active proctype Toggle() { do :: n = 1 - n :: k++ od }\n\
                active proctype Setter() { k == 100000; q = 7 }";
    let infinite = looping(text, &[1, 1], 0);
    assert_eq!(*prospect(&infinite, 0), Prospect::Unknown);
    let told = "; `q = 7` of Setter[2] would change that; whether it can ever go on is not known.";
    assert!(infinite.sentences[1].ends_with(told), "{:?}", infinite.sentences);
}

#[test]
fn a_write_of_another_value_closes_no_circle() {
    let explanation = dead(
        "byte q, lock = 1; active proctype A() { q == 7; lock = 0 } active proctype B() { lock == 0; q = 3 }",
        &[],
    );
    assert_eq!(explanation.kind, Cause::Unknown);
    assert_eq!(
        explanation.relations,
        [
            "`q = 3` of B[1] alone would not let A[0] go on.",
            "`lock = 0` of A[0] would let B[1] go on, but does not come."
        ]
    );
    assert!(explanation.waits.iter().all(|wait| wait.on.is_empty()), "{:?}", explanation.waits);
}

#[test]
fn a_message_that_does_not_match_closes_no_circle() {
    let model = |sent: u8| {
        format!(
            "chan c = [0] of {{ byte }}; chan d = [0] of {{ byte }};\n\
             active proctype A() {{ c?5; d!1 }} active proctype B() {{ d?1; c!{sent} }}"
        )
    };
    assert_eq!(dead(&model(6), &[]).kind, Cause::Unknown);
    let circle = dead(&model(5), &[]);
    assert_eq!(circle.kind, Cause::CyclicWait);
    assert_eq!(circle.relations, ["They wait for each other: A[0] waits for B[1] waits for A[0]."]);
    // Neither holds anything that it could give up.
    let advice = "Each of them does what another one waits for only after its own wait: let one do it before, or let all ask in the same order.";
    assert_eq!(circle.suggestion, advice);
}

#[test]
fn whoever_waits_for_its_own_variables_is_told_apart() {
    let own = dead("active proctype A() { byte i = 3; i < 2; skip }", &[]);
    assert_eq!(own.kind, Cause::NobodyChanges);
    let advice = "No other process can change what A[0] waits for: check whether another way on is missing there, such as `else`.";
    assert_eq!(own.suggestion, advice);
    let shared = dead("byte i = 3; active proctype A() { i < 2; skip }", &[]);
    let advice = "Check who should have made the condition true, and whether it was true too early.";
    assert_eq!((shared.kind, shared.suggestion.as_str()), (Cause::NobodyChanges, advice));
    // One of two ways on waits for others.
    let both = dead("byte j = 3; active proctype A() { byte i = 3; if :: i < 2 :: j < 2 fi; skip }", &[]);
    assert_eq!((both.kind, both.suggestion.as_str()), (Cause::NobodyChanges, advice));
}

#[test]
fn a_value_that_control_leads_past_closes_no_circle() {
    // Where B goes on, `x` is 2 before it frees `lock` again.
    let text = "byte x, lock = 1, q; active proctype A() { q == 7; x = 2; lock = x }\n\
                active proctype B() { lock == 0; q = 7 }";
    assert_eq!(dead(text, &[]).kind, Cause::Unknown);
}

#[test]
fn locks_taken_in_another_order_are_a_circle() {
    let text = "bool a, b; active proctype P() { atomic { !a -> a = true }; atomic { !b -> b = true }; b = false; a = false }\n\
                active proctype Q() { atomic { !b -> b = true }; atomic { !a -> a = true }; a = false; b = false }";
    let circle = dead(text, &[0, 0, 1, 1]);
    assert_eq!(circle.kind, Cause::CyclicWait);
    assert_eq!(circle.relations, ["They wait for each other: P[0] waits for Q[1] waits for P[0]."]);
    let advice = "Let all processes ask in the same order, or let one of them give up what it holds.";
    assert_eq!(circle.suggestion, advice);
}

#[test]
fn a_process_that_moves_in_the_loop_is_not_stuck() {
    // In the last state B cannot move, but it does in every round; C never does.
    let text = "byte turn; active proctype A() { do :: turn == 0; turn = 1 od }\n\
                active proctype B() { do :: turn == 1; turn = 0 od }\n\
                active proctype C() { turn == 2 }";
    let program = program(text);
    let claim = Claim::Cycle { start: 0, shows: CycleClaim::NOTHING };
    let trace = confirm(&program, &run(&program, &[0, 0, 1, 1]), claim).expect("the loop closes");
    assert_eq!(trace.stuck().map(|status| status.name.as_str()).collect::<Vec<_>>(), ["C[2]"]);
    let halfway = confirm(&program, &run(&program, &[0]), Claim::Reaches).expect("it is possible");
    assert_eq!(halfway.stuck().map(|status| status.pid).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn fields_of_structures_in_arrays_are_spelled_as_in_the_model() {
    let text = "typedef Entry { byte term; byte votes[2] }\n\
                typedef Server { byte role; Entry log[2]; bit up }\n\
                byte before; Server srv[2]; byte after;\n\
                active proctype P() { Server own[1]; srv[1].log[0].votes[1] = 3; own[0].role = 1; srv[1].role == 2 }";
    let program = program(text);
    let trace = confirm(&program, &run(&program, &[0, 0]), Claim::InvalidEnd).expect("it is dead");
    let server = |name: &str| {
        let fields = ["role", "log[0].term", "log[0].votes[0]", "log[0].votes[1]"];
        let more = ["log[1].term", "log[1].votes[0]", "log[1].votes[1]", "up"];
        fields.iter().chain(&more).map(|field| format!("{name}.{field}")).collect::<Vec<_>>()
    };
    let names: Vec<&str> = trace.last.variables.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [vec!["after".into(), "before".into()], server("srv[0]"), server("srv[1]")].concat();
    assert_eq!(names.len(), wanted.len());
    let fields: Vec<&str> = names.into_iter().filter(|name| name.contains('.')).collect();
    assert_eq!(fields, wanted[2..]);
    let changes: Vec<String> = trace.steps.iter().flat_map(|step| step.changes).map(|c| c.name).collect();
    assert_eq!(changes, ["srv[1].log[0].votes[1]", "P[0]:own[0].role"]);
    let waiting = &trace.last.processes[0].waiting[0];
    assert_eq!(waiting.reason.sentence(), "`srv[1].role == 2` is false: srv[1].role is 0");
}
