//! A path as a trail file, which `spin -t -p` replays.
//!
//! Each line is `depth:process:statement`. A rendezvous is two lines, the send and the receive. A
//! trail of a run without a claim needs no header, unless steps were merged. With a claim, a header
//! names it; the claim is process 0, and all others are one further.

use fabius_program::{EdgeId, Move, ProcessId, Program};

/// The steps of a claim beside a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimRun<'a> {
    /// The claim.
    pub claim: ProcessId,
    /// The step it takes before each step of the path; none where a process held control.
    pub steps: &'a [Option<EdgeId>],
}

/// The trail file of a path. `cycle_start`: number of steps before the cycle, if the path runs into one.
pub fn trail(program: &Program, path: &[Move], cycle_start: Option<usize>) -> String {
    write(program, path, cycle_start, None)
}

/// The trail file of a path beside a claim.
pub fn trail_with_claim(program: &Program, path: &[Move], cycle_start: Option<usize>, claim: ClaimRun<'_>) -> String {
    write(program, path, cycle_start, Some(claim))
}

fn write(program: &Program, path: &[Move], cycle_start: Option<usize>, claim: Option<ClaimRun<'_>>) -> String {
    let mut trail = Trail { program, text: String::new(), depth: 0 };
    if let Some(claim) = claim {
        trail.text.push_str(&format!("-2:{}:-2\n", claim.claim.0));
    }
    if program.merged {
        trail.text.push_str("-4:-4:-4\n");
    }
    let first = u32::from(claim.is_some());
    for (index, step) in path.iter().enumerate() {
        if cycle_start == Some(index) {
            trail.text.push_str("-1:-1:-1\n");
        }
        if let Some(edge) = claim.and_then(|claim| claim.steps.get(index).copied().flatten()) {
            trail.line(0, edge);
        }
        trail.line(first + u32::from(step.pid), step.edge);
        if let Some((partner, edge)) = step.partner {
            trail.line(first + u32::from(partner), edge);
        }
    }
    trail.text
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
