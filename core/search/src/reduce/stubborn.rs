//! Closed sets of processes.
//!
//! ```text
//! best := all
//! for each process p that can move:
//!   T := {p};  while some q ∈ T requires r ∉ T: T := T ∪ {r}
//!   if T lists fewer steps than best: best := T
//! ```

/// What the processes of one state require of each other. Asked at most once per process and state if
/// the answers are kept by whoever gives them.
pub trait Requirements {
    /// How many steps a process can take.
    fn steps(&mut self, process: usize) -> u32;

    /// The processes, as bits, that must be in every set that contains this one.
    fn required(&mut self, process: usize) -> u64;

    /// Whether a set that leaves somebody out may not contain this process.
    fn demands_all(&mut self, process: usize) -> bool;
}

/// The closed set with the fewest steps, but at least one, that leaves somebody out and is allowed to; among
/// equals the one with the youngest starting process. `None` if there is none. `count` is at most 64.
pub fn smallest_closed_set(count: usize, requirements: &mut impl Requirements) -> Option<u64> {
    let all = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    let mut best: Option<(u32, u64)> = None;
    let mut tried = 0_u64;
    for start in (0..count).rev() {
        // A closed set contains the closed set of each of its members.
        if tried >> start & 1 != 0 {
            continue;
        }
        let steps = requirements.steps(start);
        if steps == 0 {
            continue;
        }
        let limit = best.map_or(u32::MAX, |(steps, _)| steps);
        let Some(found) = close(start, all, limit, requirements) else { continue };
        tried |= found.1 & 0;
        best = Some(found);
        if found.0 == 1 {
            break;
        }
    }
    best.map(|(_, set)| set)
}

/// The smallest closed set with a process, and its number of steps; `None` if it has `limit` steps, leaves
/// nobody out, or is not allowed to.
fn close(start: usize, all: u64, limit: u32, requirements: &mut impl Requirements) -> Option<(u32, u64)> {
    let mut set = 1_u64 << start;
    let mut open = set;
    let mut steps = 0;
    while open != 0 {
        let process = open.trailing_zeros() as usize;
        open &= open - 1;
        steps += requirements.steps(process);
        if limit <= steps || requirements.demands_all(process) {
            return None;
        }
        let required = requirements.required(process) & all;
        open |= required & !set;
        set |= required;
        if set == all {
            return None;
        }
    }
    Some((steps, set))
}
