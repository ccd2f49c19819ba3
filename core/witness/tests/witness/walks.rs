//! Random walks through real models: every one is confirmed, and what is shown of it is decent text.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the test reads models and shows walks")]

use super::support::corpus;

use corpus::{load, manifest};
use fabius_base::SourceMap;
use fabius_program::{Move, Program};
use fabius_promela::Options;
use fabius_witness::diagram::{self, Diagram};
use fabius_witness::format::{json, text, trail};
use fabius_witness::{Claim, Ending, State, Trace, confirm, moves, released, states_along};
use std::sync::Arc;

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A random path and what is true of its end.
fn walk(program: &Program, random: &mut Random, steps_max: usize) -> (Vec<Move>, Claim) {
    let mut path = Vec::new();
    let mut state = match State::initial(program) {
        Ok(state) => state,
        Err(fault) => return (path, Claim::Fault(fault)),
    };
    while path.len() < steps_max {
        let mut next = moves(program, &state);
        match next.ending {
            Ending::LosesControl => {
                state = released(&state);
                continue;
            }
            Ending::Invalid => return (path, Claim::InvalidEnd),
            Ending::Valid => break,
            Ending::Moves | Ending::Stutters => {}
        }
        let (step, outcome) = next.successors.swap_remove(random.below(next.successors.len()));
        path.push(step);
        if let Some(fault) = outcome.fault() {
            return (path, Claim::Fault(fault));
        }
        if let Some(reached) = outcome.state() {
            state = reached.clone();
        }
    }
    (path, Claim::Reaches)
}

/// Who waits in a diagram takes part in no step, everybody else does; a message is received as it was sent.
fn check_diagram(program: &Program, source: &SourceMap, trace: &Trace, path: &str) {
    let diagram = Diagram::of(trace);
    assert_eq!(diagram.rows.len(), trace.len(), "{path}");
    for (after, state) in states_along(program, trace.steps.moves()).iter().enumerate() {
        let next = moves(program, state);
        if state.holder.is_some() || next.timeout || after > trace.len() {
            continue;
        }
        let taking = |pid: u8| {
            next.successors.iter().any(|(step, _)| step.pid == pid || step.partner.is_some_and(|(p, _)| p == pid))
        };
        let lanes = (0..diagram.lanes.len()).filter(|lane| diagram.is_alive(*lane, after));
        assert_eq!(lanes.clone().count(), state.processes.len(), "{path}, after {after} steps");
        for lane in lanes {
            let pid = diagram.lanes[lane].pid;
            let has_ended = || fabius_witness::process_statuses(program, state)[usize::from(pid)].has_ended();
            let waits = !taking(pid) && !has_ended();
            assert_eq!(diagram.wait(lane, after).is_some(), waits, "{path}: process {pid} after {after} steps");
        }
    }
    for delivery in diagram.rows.iter().flat_map(|row| &row.received) {
        let sender = &diagram.rows[delivery.sent_in - 1];
        let sent =
            |m: &fabius_witness::Message| m.sent && (&m.channel, &m.fields) == (&delivery.channel, &delivery.fields);
        assert!(sender.lane == delivery.from && sender.step.messages.iter().any(sent), "{path}: {delivery:?}");
    }
    let shown = text::plain(&diagram::lanes(&diagram, trace, source, text::Layout { width: 80, ..Default::default() }));
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{path}: a control character is shown");
    assert!(diagram::mermaid(&diagram).starts_with("sequenceDiagram\n"));
    let svg = diagram::svg(&diagram, source);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{path}");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count(), "{path}");
}

#[test]
fn random_walks_are_confirmed_and_can_be_shown() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let only = std::env::var("FABIUS_ONLY").unwrap_or_default();
    let mut walked = 0;
    for model in manifest(&corpus) {
        let path = model["path"].as_str().expect("a model has a path");
        let Some((program, source)) = Some(path)
            .filter(|p| p.contains(&only))
            .and_then(|p| load(&corpus.join("models").join(p), Options::NONE).ok())
        else {
            continue;
        };
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let program = Arc::new(program);
        let (steps, claim) = walk(&program, &mut random, 150);
        let trace = confirm(&program, &steps, claim).unwrap_or_else(|why| panic!("{path}: {why}"));
        assert!(trace.steps.iter().all(|step| !step.actor.text.trim().is_empty()), "{path}: a step without text");
        let layout = text::Layout { width: 80, ..text::Layout::default() };
        let mut lines = text::steps(&trace, &source, layout);
        lines.extend(text::ending(&trace, &source, layout));
        let shown = text::plain(&lines);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{path}: a control character is shown");
        assert!(shown.lines().all(|line| !line.ends_with(' ')), "{path}: a line ends in a space");
        assert_eq!(json::steps(&trace, &source).len(), steps.len());
        assert!(steps.len() <= trail::trail(&program, &steps, None).lines().count());
        check_diagram(&program, &source, &trace, path);
        walked += 1;
        if !only.is_empty() {
            println!("{path}\n{shown}");
        }
    }
    println!("{walked} models walked");
    assert!(100 < walked || !only.is_empty(), "only {walked} models could be walked");
}
