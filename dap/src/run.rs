//! Runs that go on until something stops them, in stretches, so that messages are heard in between.

use crate::debuggee::{Debuggee, Moved};
use crate::points::Hit;
use crate::protocol::OutputCategory;
use crate::show::{self, ErrorSeen};
use fabius_base::Span;
use fabius_explore::Stop;
use std::time::{Duration, Instant};

/// Messages are looked for this often.
const STRETCH: Duration = Duration::from_millis(30);
/// At most this many steps of a run are told one by one, …
const TOLD_MAX: usize = 200;
/// … and this many lines that the model prints.
const PRINTED_MAX: usize = 10_000;

/// A run that goes on.
#[derive(Debug)]
pub(crate) struct Run {
    pub forward: bool,
    pub until: RunUntil,
    told: usize,
    printed: usize,
    left_out: usize,
}

/// What a run waits for, beside breakpoints and errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunUntil {
    /// Nothing.
    Stopped,
    /// A process has left the inline that it is in, or has ended.
    Out { pid: u8, depth: usize },
}

/// Something to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OutputLine {
    pub category: OutputCategory,
    pub text: String,
    pub span: Option<Span>,
}

/// Why a run has stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Halt {
    Hit(Hit),
    ErrorSeen(ErrorSeen),
    /// Nothing more can be done, or what was waited for has come.
    End(Stop),
}

impl Run {
    pub(crate) fn new(forward: bool, until: RunUntil) -> Self {
        Self { forward, until, told: 0, printed: 0, left_out: 0 }
    }

    /// Goes on for a while. What is to be told is put into `told`.
    pub(crate) fn stretch(&mut self, debuggee: &mut Debuggee, told: &mut Vec<OutputLine>) -> Option<Halt> {
        let began = Instant::now();
        while began.elapsed() < STRETCH {
            let halt = self.step(debuggee, told);
            if halt.is_some() {
                if 0 < self.left_out {
                    let text = format!("… and {} more steps", self.left_out);
                    told.push(OutputLine { category: OutputCategory::Console, text, span: None });
                }
                return halt;
            }
        }
        None
    }

    fn step(&mut self, debuggee: &mut Debuggee, told: &mut Vec<OutputLine>) -> Option<Halt> {
        let moved = if self.forward { debuggee.forward() } else { debuggee.back() };
        if let Moved::No(stop) = moved {
            let error = debuggee.error().filter(|_| self.forward);
            return Some(error.map_or(Halt::End(stop), Halt::ErrorSeen));
        }
        if self.forward {
            self.tell(debuggee, told);
        }
        let mut log = Vec::new();
        let hit = debuggee.points.look(&debuggee.e, &mut log);
        told.extend(log.into_iter().map(|text| OutputLine { category: OutputCategory::Console, text, span: None }));
        if self.forward
            && let Some(error) = debuggee.error()
        {
            return Some(Halt::ErrorSeen(error));
        }
        if let Some(hit) = hit {
            return Some(Halt::Hit(hit));
        }
        let RunUntil::Out { pid, depth } = self.until else { return None };
        let alive = usize::from(pid) < debuggee.e.state().processes.len();
        let out = !alive || show::inline_depth(&debuggee.e, pid) < depth;
        out.then_some(Halt::End(Stop::Reached))
    }

    /// Tells of the last step: what it printed, and what happened.
    pub(crate) fn tell(&mut self, debuggee: &Debuggee, told: &mut Vec<OutputLine>) {
        let Some((text, step)) = debuggee.last_sentence() else { return };
        if !step.printed.is_empty() && self.printed < PRINTED_MAX {
            self.printed += 1;
            told.push(OutputLine {
                category: OutputCategory::Stdout,
                text: step.printed.clone(),
                span: Some(step.actor.span),
            });
        }
        if self.told < TOLD_MAX {
            self.told += 1;
            told.push(OutputLine { category: OutputCategory::Console, text, span: Some(step.actor.span) });
        } else {
            self.left_out += 1;
        }
    }
}
