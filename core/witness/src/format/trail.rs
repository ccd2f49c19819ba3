//! A path as a trail file, which `spin -t -p` replays.
//!
//! Each line is `depth:process:statement`. A rendezvous is two lines, the send and the receive. A header says that
//! steps were merged, a line before the first step of a cycle that it starts there. Moves of a claim that
//! stands in the text are lines too: a header names it, the claim is process 0, and all others are one further. The
//! automaton of a formula is not the one that Spin makes of it: its moves are left out, and Spin replays the
//! system alone. Where nothing would follow the line of a cycle, it is left out.

use crate::interpret::{Outcome, moves, settled};
use crate::state::State;
use fabius_program::{CLAIM_PID, EdgeId, Move, ProcessId, Program, PropertyKind, Watch};

/// The trail file of a path; the program need not have the automaton of a formula. `cycle_start`: number of moves before the cycle, if the path runs into one.
pub fn trail(program: &Program, path: &[Move], cycle_start: Option<usize>) -> String {
    let known = |step: &&Move| step.pid == CLAIM_PID && (step.edge.0 as usize) < program.edges.len();
    let claim = path.iter().find(known).map(|step| program.process_of(step.edge));
    let claim = claim.filter(|claim| is_written(program, *claim));
    let mut trail = Trail { program, text: String::new(), depth: 0 };
    if let Some(claim) = claim {
        trail.text.push_str(&format!("-2:{}:-2\n", claim.0));
    }
    if program.merged {
        trail.text.push_str("-4:-4:-4\n");
    }
    let first = u32::from(claim.is_some());
    // Of a run that ends in a state that repeats for ever there is nothing to write: Spin cannot count such a cycle.
    let is_line = |step: &Move| step.pid != CLAIM_PID || claim.is_some();
    let cycle_start = cycle_start.filter(|start| path.iter().skip(*start).any(is_line));
    for (index, step) in path.iter().enumerate() {
        if cycle_start == Some(index) {
            trail.text.push_str(CYCLE);
        }
        if step.pid != CLAIM_PID {
            trail.line(first + u32::from(step.pid), step.edge);
        } else if claim.is_some() {
            trail.line(0, step.edge);
        }
        if let Some((partner, edge)) = step.partner {
            trail.line(first + u32::from(partner), edge);
        }
    }
    trail.text
}

/// The line before the first step of a cycle.
const CYCLE: &str = "-1:-1:-1\n";

/// Whether a claim stands in the text.
fn is_written(program: &Program, claim: ProcessId) -> bool {
    program.properties.iter().any(|property| matches!(property.kind, PropertyKind::Never(id) if id == claim))
}

struct Trail<'a> {
    program: &'a Program,
    text: String,
    depth: u32,
}

impl Trail<'_> {
    fn line(&mut self, process: u32, edge: EdgeId) {
        self.depth += 1;
        let number = self.program.statement(self.program.process_of(edge), edge).number;
        self.text.push_str(&format!("{}:{process}:{number}\n", self.depth));
    }
}

/// A run that a trail tells of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrailRun {
    /// Its moves.
    pub path: Vec<Move>,
    /// How many of them come before its cycle, if it runs into one.
    pub cycle_start: Option<usize>,
}

/// Whether a trail tells of a claim: then process 0 in it is the claim.
pub fn names_claim(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("-2:"))
}

/// Reads a trail file, which Spin or [`trail`] wrote, by walking it. Moves of a claim that is not watched are left out.
///
/// # Errors
/// The first line that cannot be followed, and why, in a sentence.
pub fn read_trail(program: &Program, watch: Watch, text: &str) -> Result<TrailRun, String> {
    let first = i64::from(names_claim(text));
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = || format!("line {} of the trail is not a step: `{}`", index + 1, line.trim());
        let numbers: Vec<i64> = line.trim().split(':').map(|part| part.trim().parse().unwrap_or(i64::MIN)).collect();
        match numbers.as_slice() {
            [-1, ..] => lines.push((index + 1, None)),
            [-2 | -4, ..] => {}
            [depth, pid, number] if 0 <= *depth && 0 <= *pid && 0 <= *number => {
                lines.push((index + 1, Some((*pid - first, *number))));
            }
            _ => return Err(wrong()),
        }
    }
    let state = State::watching(program, watch).map_err(|fault| format!("the initial state has a fault: {fault}"))?;
    let mut walk = TrailWalk { program, state, path: Vec::new() };
    let mut cycle_start = None;
    let mut at = 0;
    while let Some((line, wanted)) = lines.get(at).copied() {
        at += 1;
        match wanted {
            None => cycle_start = Some(walk.path.len()),
            Some((-1, _)) if watch.claim.is_none() => {}
            Some((pid, number)) => {
                let next = lines.get(at).and_then(|(_, next)| *next);
                at += usize::from(walk.follow(pid, number, next).ok_or_else(|| {
                    let who = if pid < 0 { "the claim".to_owned() } else { format!("process {pid}") };
                    format!(
                        "line {line} of the trail cannot be followed: {who} cannot execute statement {number} there"
                    )
                })?);
            }
        }
    }
    Ok(TrailRun { path: walk.path, cycle_start })
}

/// A walk along a trail.
struct TrailWalk<'a> {
    program: &'a Program,
    state: State,
    path: Vec<Move>,
}

impl TrailWalk<'_> {
    /// Takes the step of a line; whether the next line, the other half of a rendezvous, is used up as well.
    fn follow(&mut self, pid: i64, number: i64, next: Option<(i64, i64)>) -> Option<bool> {
        let pid = if pid == -1 { i64::from(CLAIM_PID) } else { pid };
        let mut possible = Vec::new();
        for _ in 0..3 {
            possible = moves(self.program, &self.state).successors;
            let settled = settled(self.program, &self.state);
            if possible.iter().any(|(step, _)| i64::from(step.pid) == pid) || settled == self.state {
                break;
            }
            self.state = settled;
        }
        let number_of = |edge: EdgeId| i64::from(self.program.statement(self.program.process_of(edge), edge).number);
        let half = |step: &Move| step.partner.map(|(pid, edge)| (i64::from(pid), number_of(edge)));
        let own = |step: &Move| i64::from(step.pid) == pid && number_of(step.edge) == number;
        let mut fitting = possible.into_iter().filter(|(step, _)| own(step));
        let (step, outcome) = fitting.find(|(step, _)| step.partner.is_none() || half(step) == next)?;
        self.path.push(step);
        if let Outcome::Reaches { state, .. } = outcome {
            self.state = state;
        }
        Some(step.partner.is_some())
    }
}
