//! What is noted about steps, compared with what it says: on random models, each kind of note stands at exactly those steps
//! of random runs of which a definition that knows nothing of notes says so.

use fabius_program::lossy::lossy;
use fabius_program::{
    Action, BlockNode, CLAIM_PID, EdgeId, Expr, Initial, Move, Program, Statement, Type, Variable, meaning::Fault,
};
use fabius_testkit::generate::{self, Dice};
use fabius_testkit::parallel;
use fabius_testkit::referee::{Options, program};
use fabius_witness::{Claim, Ending, NoteKind, Outcome, State, Step, confirm, ending, moves, settled, step as take};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Random models.
const MODELS: u64 = 400;
/// Runs of each, and steps of each run.
const RUNS: u64 = 4;
const STEPS: usize = 60;

/// The same program with room for every number everywhere.
fn widened(program: &Program) -> Program {
    let mut wide = program.clone();
    let widen = |variable: &mut Variable| {
        if !matches!(variable.initial, Initial::Channel(_)) {
            variable.ty = Type { kind: variable.ty.kind, ..Type::signed(32) };
        }
    };
    wide.globals.iter_mut().for_each(widen);
    wide.processes.iter_mut().flat_map(|process| &mut process.locals).for_each(widen);
    let fields = wide.channel_types.iter_mut().flat_map(|channel| &mut channel.fields);
    fields.for_each(|ty| *ty = Type { kind: ty.kind, ..Type::signed(32) });
    wide
}

fn statement(program: &Program, edge: EdgeId) -> &Statement {
    program.statement(program.process_of(edge), edge)
}

fn first(action: &Action) -> &Action {
    match action {
        Action::Merged(parts) => &parts[0],
        action => action,
    }
}

/// Whether an expression asks a channel anywhere; random models ask channels at no greater depth than this looks.
fn asks_a_channel(expr: &Expr) -> bool {
    match expr {
        Expr::Test(..) | Expr::Length(_) | Expr::Poll { .. } => true,
        Expr::Unary(_, a) => asks_a_channel(a),
        Expr::Binary(_, a, b) => asks_a_channel(a) || asks_a_channel(b),
        Expr::Conditional(a, b, c) => [a, b, c].into_iter().any(|part| asks_a_channel(part)),
        _ => false,
    }
}

/// A run, and the state before each of its steps.
fn run(program: &Program, dice: &mut Dice) -> (Vec<(Move, State)>, Claim) {
    let mut steps = Vec::new();
    let Ok(mut state) = State::initial(program) else { return (steps, Claim::Reaches) };
    while steps.len() < STEPS {
        let mut next = moves(program, &settled(program, &state)).successors;
        if next.is_empty() {
            break;
        }
        let (step, outcome) = next.swap_remove(dice.below(next.len()));
        steps.push((step, state.clone()));
        match outcome {
            Outcome::Reaches { state: next, assertion_failed: false, .. } => state = next,
            outcome => return (steps, outcome.fault().map_or(Claim::Reaches, Claim::Fault)),
        }
    }
    (steps, Claim::Reaches)
}

fn says(step: &Step, kind: NoteKind) -> bool {
    step.notes.iter().any(|note| note.kind == kind)
}

/// What is counted, so that no kind goes untested.
type Counts = BTreeMap<&'static str, usize>;

/// Compares the notes of one step with the definitions.
fn compare(program: &Program, wide: &Program, (wanted, before): &(Move, State), step: &Step) -> Result<(), String> {
    let expect = |kind: NoteKind, expected: bool| match says(step, kind) == expected {
        true => Ok(()),
        false => Err(format!("step {}: {kind:?} should be {expected}: {:?}", step.number, step.notes)),
    };
    let taken = take(program, before, *wanted).map_err(|why| format!("{why:?}"))?;
    let free = settled(program, before);
    expect(NoteKind::AtomicityLost, ending(program, before) == Ending::LosesControl)?;
    expect(NoteKind::Timeout, moves(program, &free).timeout)?;
    let atomic = program.edge(wanted.edge).atomic;
    let reaches = taken.outcome.state().is_some();
    expect(NoteKind::ControlPassed, atomic && wanted.partner.is_some() && reaches)?;
    let edges = program.edges_of(
        &program.process(before.processes[usize::from(wanted.pid)].process).locations
            [before.processes[usize::from(wanted.pid)].location.0 as usize],
    );
    let earlier: Vec<&Action> =
        edges.filter(|(id, _)| *id < wanted.edge).map(|(id, _)| first(&statement(program, id).action)).collect();
    let talks = earlier.iter().any(|action| matches!(action, Action::Send(_) | Action::Receive(_)));
    let asks = earlier.iter().any(|action| matches!(action, Action::Guard(expr) if asks_a_channel(expr)));
    let action = &statement(program, wanted.edge).action;
    match (matches!(first(action), Action::Else), talks, asks) {
        (true, true, _) => expect(NoteKind::Else, true)?,
        (false, ..) | (true, false, false) => expect(NoteKind::Else, false)?,
        // The part of the condition that decides may ask no channel.
        (true, false, true) => {}
    }
    // The same step from the same state with room for every number: what is different did not fit.
    let widely = take(wide, before, *wanted).map_err(|why| format!("with room: {why:?}"))?;
    let simple = !matches!(action, Action::Merged(_) | Action::Block(_)) && step.created.is_empty();
    match (&taken.outcome, &widely.outcome) {
        (Outcome::Reaches { state: narrow, .. }, Outcome::Reaches { state: wide, .. }) => {
            if simple && wanted.partner.is_none() {
                expect(NoteKind::Wrapped, narrow != wide)?;
            } else if narrow != wide && !says(step, NoteKind::Wrapped) {
                return Err(format!("step {}: something did not fit", step.number));
            }
        }
        (Outcome::Broken { .. }, _) => expect(NoteKind::Wrapped, false)?,
        _ => {}
    }
    let lost = lost(program, before, *wanted);
    if !matches!(action, Action::Block(_)) || lost {
        expect(NoteKind::MessageLost, lost)?;
    }
    first_option(program, before, *wanted, step)
}

/// Whether a process that stands before a send to a full channel goes on without it.
fn lost(program: &Program, before: &State, wanted: Move) -> bool {
    let own = statement(program, wanted.edge);
    let beside = program.edges.iter().enumerate().map(|(id, _)| EdgeId(id as u32)).filter(|id| {
        program.edge(*id).source == program.edge(wanted.edge).source
            && program.process_of(*id) == program.process_of(wanted.edge)
            && statement(program, *id).number == own.number
    });
    let sends = |id: EdgeId| matches!(first(&statement(program, id).action), Action::Send(_));
    let mut beside = beside.filter(|id| *id != wanted.edge);
    beside.any(sends)
        && !moves(program, &settled(program, before)).successors.iter().any(|(step, _)| {
            step.pid == wanted.pid && sends(step.edge) && statement(program, step.edge).number == own.number
        })
}

/// Of a `d_step`: without the option with which it begins, and without `else`, it can begin just if a note says that it was
/// the first of several.
fn first_option(program: &Program, before: &State, wanted: Move, step: &Step) -> Result<(), String> {
    let Action::Block(block) = &statement(program, wanted.edge).action else {
        let partner = wanted.partner.map(|(_, edge)| &statement(program, edge).action);
        return match says(step, NoteKind::FirstOption) && !matches!(partner, Some(Action::Block(_))) {
            true => Err(format!("step {}: it is no d_step", step.number)),
            false => Ok(()),
        };
    };
    let (Some(begun), true) = (step.parts.first(), wanted.partner.is_none()) else { return Ok(()) };
    // Where messages are lost, a send has two options, of which one at most can be executed.
    let Some(at) = block.nodes[0].options.iter().rposition(|option| option.span == *begun) else { return Ok(()) };
    let again = step.parts.iter().filter(|part| *part == begun).count() != 1;
    let mut without = program.clone();
    let process = program.process_of(wanted.edge);
    let id = program.edge(wanted.edge).statement;
    if let Action::Block(block) = &mut without.processes[process.0 as usize].statements[id.0 as usize].action {
        let BlockNode { options, .. } = &mut block.nodes[0];
        options.drain(..=at);
        options.retain(|option| !matches!(option.action, Action::Else | Action::Send(_)));
    }
    let sends = block.nodes[0].options.iter().skip(at + 1).any(|option| matches!(option.action, Action::Send(_)));
    let free = settled(program, before);
    let begins = |next: &fabius_witness::Moves| {
        next.successors.iter().any(|(step, outcome)| {
            let fails_at_once = matches!(outcome, Outcome::Broken { inside: None, .. });
            step.pid == wanted.pid && step.edge == wanted.edge && !fails_at_once
        })
    };
    let could = take(&without, &free, wanted);
    let could = could
        .is_ok_and(|taken| !matches!(taken.outcome, Outcome::Broken { fault: Fault::BlockedInside, inside: None }))
        && begins(&moves(&without, &free));
    let said = step.notes.iter().any(|note| note.kind == NoteKind::FirstOption && note.span == Some(*begun));
    match (said, could, sends || again) {
        (_, _, true) => Ok(()),
        (said, could, false) if said == could => Ok(()),
        _ => Err(format!("step {}: first option: said {said}, is {could}", step.number)),
    }
}

/// The numbers that are used again: who ended with a number is remembered.
fn compare_numbers(steps: &[Step]) -> Result<(), String> {
    let mut used: BTreeSet<u8> = BTreeSet::new();
    for step in steps {
        let again = step.created.iter().filter(|created| used.contains(&created.pid)).count();
        let said = step.notes.iter().filter(|note| note.kind == NoteKind::NumberReused).count();
        if again != said {
            return Err(format!("step {}: {again} numbers are used again, {said} are noted", step.number));
        }
        if step.ended {
            used.insert(step.actor.pid);
        }
    }
    Ok(())
}

fn check(seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::new();
    let text = if seed.is_multiple_of(3) { generate::model_with_faults(seed) } else { generate::model(seed) }.text();
    let Some(program) = program(&text, if seed.is_multiple_of(2) { Options::NONE } else { Options::ALL }) else {
        return Ok(counts);
    };
    // In some of them, channels lose messages.
    let losing = if seed % 5 < 2 { lossy(&program).ok().flatten() } else { None };
    let program = losing.map_or(program, |made| Arc::new(made.program));
    let wide = widened(&program);
    let mut dice = Dice::new(seed);
    for _ in 0..RUNS {
        let (walked, claim) = run(&program, &mut dice);
        let path: Vec<Move> = walked.iter().map(|(step, _)| *step).collect();
        if path.is_empty() || path.iter().any(|step| step.pid == CLAIM_PID) {
            continue;
        }
        let trace = confirm(&Arc::clone(&program), &path, claim).map_err(|why| format!("seed {seed}: {why}"))?;
        let steps: Vec<Step> = trace.steps.iter().collect();
        for (known, step) in walked.iter().zip(&steps) {
            compare(&program, &wide, known, step).map_err(|why| format!("seed {seed}: {why}\n{text}"))?;
            step.notes.iter().for_each(|note| *counts.entry(note.kind.as_str()).or_default() += 1);
        }
        compare_numbers(&steps).map_err(|why| format!("seed {seed}: {why}\n{text}"))?;
        *counts.entry("steps").or_default() += steps.len();
    }
    Ok(counts)
}

#[test]
fn notes_say_what_is_so_and_all_that_is_so() {
    let seeds: Vec<u64> = (1..=MODELS).collect();
    let mut counts = Counts::new();
    for result in parallel::map(&seeds, |seed| check(*seed)) {
        let found: Result<Counts, String> = result;
        found
            .unwrap_or_else(|why| panic!("{why}"))
            .into_iter()
            .for_each(|(kind, n)| *counts.entry(kind).or_default() += n);
    }
    for kind in NoteKind::ALL {
        let seen = counts.get(kind.as_str()).copied().unwrap_or(0);
        // Random models compute with small numbers.
        assert!(0 < seen || kind == NoteKind::Overflow, "{kind:?} was never met: {counts:?}");
    }
}
