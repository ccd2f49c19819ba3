//! What is noted about steps: small models, all of whose runs are known.

use fabius_base::SourceMap;
use fabius_language::NoLoader;
use fabius_program::{Move, Program, Watch};
use fabius_promela::{Options, lower, parse};
use fabius_witness::format::text::{self, Layout};
use fabius_witness::{Claim, Ending, State, Trace, confirm_watching, moves, released, stuttered};
use std::sync::Arc;

fn load(text: &str) -> (Arc<Program>, SourceMap) {
    let mut map = SourceMap::new();
    let file = map.add_file("model.pml", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    assert!(parsed.is_ok(), "{:?}", parsed.findings);
    let lowered = lower(&parsed.model, &map, "model.pml", Options::NONE);
    (Arc::new(lowered.program.expect("the model can be checked")), map)
}

/// The run that always takes the first step that is possible, at most thirty steps.
fn first_run(program: &Arc<Program>, watch: Watch) -> Trace {
    let mut path: Vec<Move> = Vec::new();
    let mut state = State::watching(program, watch).expect("it can begin");
    while path.len() < 30 {
        let mut next = moves(program, &state);
        match next.ending {
            Ending::LosesControl => state = released(&state),
            Ending::Stutters => state = stuttered(program, &state),
            Ending::Valid | Ending::Invalid => break,
            Ending::Moves => {
                let (step, outcome) = next.successors.swap_remove(0);
                path.push(step);
                state = outcome.state().expect("nothing fails in these models").clone();
            }
        }
    }
    confirm_watching(program, watch, &path, Claim::Reaches).expect("the path is possible")
}

/// The notes of that run: numbers of steps, kinds, sentences.
fn noted(text: &str) -> Vec<(usize, String, String)> {
    let (program, _) = load(text);
    let trace = first_run(&program, Watch::NOTHING);
    let notes = |step: fabius_witness::Step| {
        step.notes.into_iter().map(move |note| (step.number, note.kind.as_str().to_owned(), note.text))
    };
    trace.steps.iter().flat_map(notes).collect()
}

fn note(step: usize, kind: &str, text: &str) -> (usize, String, String) {
    (step, kind.to_owned(), text.to_owned())
}

#[test]
fn a_value_that_does_not_fit_is_noted() {
    let text = "byte x = 255; bool b; short s = 32767; int big = 2147483647;
        active proctype P() { byte y; x = x + 1; x = 7; y = 300; b = 2; s++; big++; x = -1 }";
    assert_eq!(
        noted(text),
        [
            note(1, "wrapped", "wrapped: 256 does not fit x (0 to 255), which becomes 0"),
            note(3, "wrapped", "wrapped: 300 does not fit y (0 to 255), which becomes 44"),
            note(4, "wrapped", "wrapped: 2 does not fit b (0 to 1), which becomes false"),
            note(5, "wrapped", "wrapped: 32768 does not fit s (-32768 to 32767), which becomes -32768"),
            note(6, "overflow", "wrapped: 2147483647 + 1 does not fit 32 bits and becomes -2147483648"),
            note(7, "wrapped", "wrapped: -1 does not fit x (0 to 255), which becomes 255"),
        ]
    );
}

#[test]
fn a_message_that_does_not_fit_is_noted_where_it_is_sent_and_where_it_is_stored() {
    let text = "chan q = [2] of { byte, short }; chan r = [1] of { byte }; bit small;
        proctype Q(byte n; bit m) { byte own = n + 250; skip }
        active proctype P() { q!256,1; q!1,2; r!511; q?small,_; run Q(300, 3); q?_,small }";
    let said = noted(text);
    assert_eq!(
        said[0],
        note(1, "wrapped", "wrapped: 256 does not fit field 1 of the message on q (0 to 255), which becomes 0")
    );
    assert_eq!(said[1], note(3, "wrapped", "wrapped: 511 does not fit the message on r (0 to 255), which becomes 255"));
    assert_eq!(said[2], note(5, "wrapped", "wrapped: 300 does not fit Q[1]:n (0 to 255), which becomes 44"));
    assert_eq!(said[3], note(5, "wrapped", "wrapped: 3 does not fit Q[1]:m (0 to 1), which becomes 1"));
    assert_eq!(said[4], note(5, "wrapped", "wrapped: 294 does not fit Q[1]:own (0 to 255), which becomes 38"));
    assert!(said[5].2.starts_with("wrapped: 2 does not fit small (0 to 1), which becomes 0"), "{said:?}");
    assert_eq!(said.len(), 6, "{said:?}");
}

#[test]
fn else_because_of_a_channel_is_noted_and_no_other() {
    let text = "chan q = [1] of { byte }; byte x;
        active proctype P() {
            if :: q?1 -> skip :: x > 0 -> skip :: else -> skip fi;
            q!2;
            if :: q!3 -> skip :: else -> skip fi;
            if :: q?1 -> skip :: else -> skip fi;
            if :: nfull(q) && x == 0 -> skip :: else -> skip fi;
            if :: nfull(q) || x == 1 -> skip :: else -> skip fi;
            if :: x == 1 && nempty(q) -> skip :: else -> skip fi;
            if :: x == 1 -> skip :: else -> skip fi }";
    let said: Vec<_> = noted(text).into_iter().map(|(_, kind, text)| (kind, text)).collect();
    let noted = |text: &str| ("else".to_owned(), text.to_owned());
    assert_eq!(
        said,
        [
            noted("`else`: not at `q?1` because channel q is empty"),
            noted("`else`: not at `q!3` because channel q is full (it holds 1 message)"),
            noted("`else`: not at `q?1` because the oldest message in q is not (1); the channel holds [2]"),
            noted("`else`: not at `nfull(q) && x == 0` because `nfull(q)` is false: q is [2]"),
            noted("`else`: not at `nfull(q) || x == 1`, which is false: q is [2], x is 0"),
        ]
    );
}

#[test]
fn atomicity_that_is_lost_is_noted_with_the_reason() {
    let text = "chan q = [1] of { byte };
        active proctype Q() { q!1 }
        active proctype P() { atomic { skip; q?1; skip } }";
    let lost =
        "P[1] cannot go on in its atomic sequence: it waits at `q?1` because channel q is empty; others may move";
    assert_eq!(noted(text), [note(2, "atomicity-lost", lost)]);
}

#[test]
fn atomicity_that_is_lost_beside_a_claim_is_noted_at_the_next_step_of_the_system() {
    let text = "chan q = [1] of { byte };
        active proctype Q() { q!1 }
        active proctype P() { atomic { skip; q?1; skip } }
        never { do :: true od }";
    let (program, map) = load(text);
    let claim = program.processes.iter().position(|process| process.kind == fabius_program::ProcessKind::Claim);
    let watch = Watch { claim: claim.map(|id| fabius_program::ProcessId(id as u32)), ..Watch::NOTHING };
    let trace = first_run(&program, watch);
    let with_notes: Vec<usize> = trace.taken().filter(|step| !step.notes.is_empty()).map(|step| step.number).collect();
    assert_eq!(with_notes, [2]);
    for (index, step) in trace.steps.iter().enumerate() {
        assert_eq!(trace.steps.get(index), Some(step), "asked for alone, step {index} is the same");
    }
    let shown = text::plain(&text::steps(&trace, &map, Layout::default()));
    assert!(shown.contains("P[1] cannot go on in its atomic sequence: it waits at `q?1`"), "{shown}");
}

#[test]
fn control_that_passes_with_a_message_is_noted() {
    let text = |receiver: &str| {
        format!(
            "chan c = [0] of {{ byte }}; byte x;
            active proctype R() {{ {receiver} }}
            active proctype S() {{ atomic {{ skip; c!1; x = 1 }} }}"
        )
    };
    let passes = "control passes with the message from the atomic sequence of S[1] to R[0]";
    assert_eq!(noted(&text("atomic { c?1; x = 2 }")), [note(2, "control-passed", passes)]);
    let gives_up = "S[1] gives up control in its atomic sequence because it hands over a message; others may move";
    assert_eq!(noted(&text("c?1; x = 2")), [note(2, "control-passed", gives_up)]);
    let last = "chan c = [0] of { byte }; byte x;
        active proctype R() { c?1 }
        active proctype S() { atomic { skip; c!1 }; x = 1 }";
    assert_eq!(noted(last), [], "the atomic sequence is over");
}

#[test]
fn a_step_that_needed_a_timeout_is_noted() {
    let text = "byte x; active proctype P() { x = 1; timeout -> x = 2 }";
    assert_eq!(noted(text), [note(2, "timeout", "timeout: nothing else can move")]);
}

#[test]
fn the_first_of_several_options_of_a_step_without_choice_is_noted() {
    let text = "byte x, y;
        active proctype P() {
            d_step { if :: x == 0 -> y = 1 :: y == 0 -> y = 2 :: else -> y = 3 fi;
                     if :: y == 1 -> x = 5 :: y == 2 -> x = 6 fi } }";
    let said = "the `d_step` takes the first of 2 executable options, never another one";
    assert_eq!(noted(text), [note(1, "first-option", said)]);
    let (program, map) = load(text);
    let layout = Layout { width: 160, ..Layout::default() };
    let shown = text::plain(&text::steps(&first_run(&program, Watch::NOTHING), &map, layout));
    assert!(shown.contains(&format!("{said} (line 3)")), "{shown}");
}

#[test]
fn a_number_that_is_used_again_is_noted() {
    let text = "proctype A() { skip } proctype B() { skip }
        init { run A(); (_nr_pr == 1); run A(); (_nr_pr == 1); run B(); (_nr_pr == 1); skip }";
    let said: Vec<_> = noted(text).into_iter().map(|(_, kind, text)| (kind, text)).collect();
    let reused = |text: &str| ("pid-reused".to_owned(), text.to_owned());
    assert_eq!(
        said,
        [
            reused("A[1] is a new process: the A[1] before it ended in step 3"),
            reused("B[1] gets the number of A[1], which ended in step 7"),
        ]
    );
}

#[test]
fn notes_stay_within_the_width() {
    let text = "byte counter_with_a_rather_long_name = 255;
        active proctype P() { counter_with_a_rather_long_name = counter_with_a_rather_long_name + 1 }";
    let (program, map) = load(text);
    let trace = first_run(&program, Watch::NOTHING);
    let shown = text::plain(&text::steps(&trace, &map, Layout { width: 60, ..Layout::default() }));
    assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    assert!(shown.contains("wrapped: 256 does not fit"), "{shown}");
}
