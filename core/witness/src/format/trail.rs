//! A path as a trail file, which `spin -t -p` replays.
//!
//! Each line is `depth:process:statement`. A rendezvous is two lines, the send and the receive. A
//! trail of a run without a claim needs no header, unless steps were merged.

use fabius_program::{EdgeId, Move, Program};

/// The trail file of a path. `cycle_start`: number of steps before the cycle, if the path runs into one.
pub fn trail(program: &Program, path: &[Move], cycle_start: Option<usize>) -> String {
    let statement = |edge: EdgeId| program.statement(program.process_of(edge), edge).number;
    let mut text = if program.merged { "-4:-4:-4\n".to_owned() } else { String::new() };
    let mut depth = 0;
    let mut line = |pid: u8, edge: EdgeId| {
        depth += 1;
        format!("{depth}:{pid}:{}\n", statement(edge))
    };
    for (index, step) in path.iter().enumerate() {
        if cycle_start == Some(index) {
            text.push_str("-1:-1:-1\n");
        }
        text.push_str(&line(step.pid, step.edge));
        if let Some((partner, edge)) = step.partner {
            text.push_str(&line(partner, edge));
        }
    }
    text
}
