//! A path as a trail file, which `spin -t -p` replays.
//!
//! Each line is `depth:process:statement`. A rendezvous is two lines, the send and the receive. A header says that
//! steps were merged, a line before the first step of a cycle that it starts there. Moves of a claim that
//! stands in the text are lines too: a header names it, the claim is process 0, and all others are one further. The
//! automaton of a formula is not the one that Spin makes of it: its moves are left out, and Spin replays the
//! system alone.

use fabius_program::{CLAIM_PID, EdgeId, Move, ProcessId, Program, PropertyKind};

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
    if cycle_start == Some(path.len()) {
        trail.text.push_str(CYCLE);
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
