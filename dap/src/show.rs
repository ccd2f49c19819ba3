//! What a client sees of a state: threads, frames, scopes, variables.

use crate::protocol::{FalsePart, FrameHint, Scope, ScopeHint, Source, StackFrame, Thread};
use fabius_base::Span;
use fabius_explore::{Exploration, ProcessView, Role, Stop, Value as Shown};
use fabius_project::originals;
use fabius_witness::ProcessStatus;

/// The scopes by their references; locals of process `pid` are `LOCALS + pid`, arrays and structures come from `GROUPS` on.
pub(crate) const LOCALS: i64 = 1;
pub(crate) const GLOBALS: i64 = 300;
pub(crate) const CHANNELS: i64 = 301;
pub(crate) const CHANGED: i64 = 302;
pub(crate) const GROUPS: i64 = 1_000;
/// Frames of one thread; the number of a frame is `(pid + 1) * FRAMES + depth`.
const FRAMES: i64 = 1_000;

/// The number of a process for the protocol.
pub(crate) fn thread_of(pid: u8) -> i64 {
    i64::from(pid) + 1
}

/// The process with a number of the protocol.
pub(crate) fn pid_of(thread: i64) -> Option<u8> {
    u8::try_from(thread.checked_sub(1)?).ok()
}

/// The process of a frame.
pub(crate) fn pid_of_frame(frame: i64) -> Option<u8> {
    pid_of(frame.checked_div(FRAMES)?)
}

/// The process to look at: who moves next on the line, else who failed, else who moved last.
pub(crate) fn focus(e: &Exploration) -> u8 {
    let mut next = e.line().iter().skip(e.depth(e.here()) + 1).take(3).filter_map(|node| e.step_to(*node));
    let next = next.find(|step| step.claim.is_none()).map(|step| step.actor.pid);
    let alive = |pid: &u8| usize::from(*pid) < e.state().processes.len();
    next.filter(alive).or_else(|| e.concerned().into_iter().find(alive)).unwrap_or(0)
}

/// All processes.
pub(crate) fn threads(e: &Exploration) -> Vec<Thread> {
    let thread = |view: &ProcessView| {
        let mut name = view.status.name.clone();
        match view.role {
            Role::Ended => name.push_str(" (ended)"),
            Role::Blocked => name.push_str(" (blocked)"),
            Role::Enabled | Role::Excluded(_) => {}
        }
        if view.held.is_some() {
            name.push_str(" ⏸ held");
        }
        if view.must_wait.is_some() {
            name.push_str(" ⏸ has to wait");
        }
        Thread { id: thread_of(view.status.pid), name }
    };
    let mut threads: Vec<Thread> = e.processes().iter().map(thread).collect();
    if threads.is_empty() {
        threads.push(Thread { id: 1, name: "(no process is left)".to_owned() });
    }
    threads
}

/// The statement that a process will execute next, or has failed to execute.
fn place_of(e: &Exploration, status: &ProcessStatus) -> Span {
    let pid = status.pid;
    if let Some(step) = e.step_to(e.here()).filter(|step| step.fault.is_some() && step.actor.pid == pid) {
        return step.fault_span;
    }
    let mut next = e.line().iter().skip(e.depth(e.here()) + 1).take(3).filter_map(|node| e.step_to(*node));
    if let Some(step) = next.find(|step| step.claim.is_none()) {
        let both = [Some(step.actor), step.partner].into_iter().flatten();
        if let Some(actor) = both.into_iter().find(|actor| actor.pid == pid) {
            return actor.span;
        }
    }
    status.waiting.first().map_or(status.span, |waiting| waiting.span)
}

/// Where a process is: in the inlines, the innermost one first, and in its own text; with their names.
fn levels(e: &Exploration, pid: u8) -> Result<Vec<(String, Span)>, String> {
    let snapshot = e.snapshot();
    let status = snapshot.processes.iter().find(|status| status.pid == pid);
    let Some(status) = status else {
        return if snapshot.processes.is_empty() {
            Ok(Vec::new())
        } else {
            Err(format!("there is no thread {}", thread_of(pid)))
        };
    };
    let map = &e.loaded().map;
    let mut span = map.user_span(place_of(e, status));
    let mut levels = Vec::new();
    loop {
        let inline = map.expansion(span.via);
        levels.push((inline.map_or_else(|| status.name.clone(), |inline| inline.name.to_string()), span));
        match inline {
            // The last number is that of the original.
            Some(inline) if (levels.len() as i64) < FRAMES - 1 => span = map.user_span(inline.call),
            _ => return Ok(levels),
        }
    }
}

/// The frames of a process: the inlines it is in, the innermost one first, then the process itself.
pub(crate) fn frames(e: &Exploration, pid: u8) -> Result<Vec<StackFrame>, String> {
    let map = &e.loaded().map;
    let frame = |(depth, (name, span)): (usize, (String, Span))| {
        let id = thread_of(pid) * FRAMES + depth as i64;
        let (line, column) = map.line_column(span.file, span.start);
        let (end_line, end_column) = map.line_column(span.file, span.end);
        let source = source(&map.file(span.file).name);
        StackFrame { id, name, source, line, column, end_line, end_column, presentation_hint: None }
    };
    Ok(levels(e, pid)?.into_iter().enumerate().map(frame).collect())
}

/// The frames of a process; after the first one whose text was generated, the text that it was generated from, if that is there.
pub(crate) fn frames_and_original(e: &Exploration, pid: u8) -> Result<Vec<StackFrame>, String> {
    let mut frames = frames(e, pid)?;
    let place = |(_, span): &(String, Span)| originals::place(&e.loaded().map, *span);
    let original = levels(e, pid)?.iter().enumerate().find_map(|(depth, level)| Some((depth, place(level)?)));
    if let Some((depth, (path, line))) = original {
        let id = thread_of(pid) * FRAMES + frames.len() as i64;
        let source = source(&path.to_string_lossy());
        let (name, presentation_hint) = ("original text".to_owned(), Some(FrameHint::Subtle));
        let (column, end_line, end_column) = (1, line, 1);
        frames
            .insert(depth + 1, StackFrame { id, name, source, line, column, end_line, end_column, presentation_hint });
    }
    Ok(frames)
}

/// How deep a process is inside of inlines.
pub(crate) fn inline_depth(e: &Exploration, pid: u8) -> usize {
    frames(e, pid).map_or(0, |frames| frames.len())
}

/// A file.
pub(crate) fn source(path: &str) -> Source {
    let name = std::path::Path::new(path).file_name().map_or_else(|| path.into(), |name| name.to_string_lossy());
    Source { name: Some(name.into_owned()), path: Some(path.to_owned()) }
}

/// The file and the line of what happens next.
pub(crate) fn whereabouts(e: &Exploration) -> (String, u32) {
    let frame = frames(e, focus(e)).ok().and_then(|frames| frames.into_iter().next());
    frame.map_or_else(Default::default, |frame| (frame.source.path.unwrap_or_default(), frame.line))
}

/// The parts that make the conditions false at which blocked processes wait, as they are written.
pub(crate) fn false_parts(e: &Exploration) -> Vec<FalsePart> {
    let map = &e.loaded().map;
    let blocked = e.processes().into_iter().filter(|process| process.role == Role::Blocked);
    let place = |process: &str, sentence: String, span: Span| {
        let span = map.user_span(span);
        let ((line, column), (end_line, end_column)) =
            (map.line_column(span.file, span.start), map.line_column(span.file, span.end));
        let (process, file) = (process.to_owned(), map.file(span.file).name.to_string());
        FalsePart { process, sentence, file, line, column, end_line, end_column }
    };
    let of_process = |process: ProcessView| {
        let parts = process.status.waiting.iter().flat_map(|waiting| e.deciding_parts(waiting));
        let placed = parts.filter_map(|(part, span)| Some(place(&process.status.name, part.sentence(), span?)));
        // A false `provided` is the same at each statement.
        let mut found: Vec<FalsePart> = Vec::new();
        for part in placed {
            if !found.contains(&part) {
                found.push(part);
            }
        }
        found
    };
    blocked.flat_map(of_process).collect()
}

/// The scopes of a frame.
pub(crate) fn scopes(pid: u8) -> Vec<Scope> {
    let scope = |name, variables_reference, presentation_hint| Scope {
        name,
        presentation_hint,
        variables_reference,
        expensive: false,
    };
    vec![
        scope("Locals", LOCALS + i64::from(pid), Some(ScopeHint::Locals)),
        scope("Globals", GLOBALS, None),
        scope("Channels", CHANNELS, None),
        scope("Changed by the last step", CHANGED, None),
    ]
}

/// The full name of a variable: of a process's, with the process.
pub(crate) fn full_name(e: &Exploration, value: &Shown) -> String {
    value.pid.map_or_else(|| value.name.clone(), |pid| format!("{}:{}", e.process_name(pid), value.name))
}

/// What went wrong where one is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ErrorSeen {
    /// The filter that it belongs to.
    pub filter: &'static str,
    pub headline: String,
    pub pid: Option<u8>,
    pub sentences: Vec<String>,
}

/// What is wrong in the present state, if anything is.
pub(crate) fn error(e: &Exploration) -> Option<ErrorSeen> {
    if let Some(fault) = e.fault(e.here()) {
        let step = e.step_to(e.here())?;
        let text = fault.to_string();
        let filter = match text.as_str() {
            _ if step.claim.is_some() => "acceptance",
            _ if fabius_explore::is_assertion(fault) => "assertion",
            _ => "fault",
        };
        let headline = match filter {
            "acceptance" => format!("`{}` is violated", e.target().property),
            "assertion" => format!("the assertion `{}` does not hold", step.actor.text),
            _ => text,
        };
        let pid = step.claim.is_none().then_some(step.actor.pid);
        return Some(ErrorSeen { filter, headline, pid, sentences: vec![fabius_explore::sentence(&step)] });
    }
    if e.why_no_step() == Some(Stop::Deadlock) {
        let names = |pid| e.process_name(pid);
        let processes = e.processes();
        let stuck = processes.iter().filter(|view| view.role == Role::Blocked && !view.status.end);
        let sentences = stuck.clone().flat_map(|view| {
            let name = view.status.name.clone();
            view.sentences(&names).into_iter().map(move |sentence| format!("{name} is stuck at {sentence}"))
        });
        let headline = "deadlock: nothing can move, and not every process is where it may stop".to_owned();
        let pid = stuck.clone().map(|view| view.status.pid).next();
        return Some(ErrorSeen { filter: "deadlock", headline, pid, sentences: sentences.collect() });
    }
    let lasso = e.lasso().filter(|lasso| lasso.end == e.here())?;
    let steps = e.number(lasso.end).saturating_sub(e.number(lasso.start));
    let watch = e.target().watch;
    let (filter, what) = match (watch.progress, watch.claim.is_some() || watch.acceptance) {
        (Some(_), _) => ("livelock", "livelock (non-progress cycle)".to_owned()),
        (None, true) if 0 < steps => {
            ("acceptance", format!("`{}` is violated by an acceptance cycle", e.target().property))
        }
        (None, true) => ("acceptance", format!("`{}` is violated", e.target().property)),
        // A trail does not say what is wrong with its loop.
        (None, false) => ("livelock", "the run never ends".to_owned()),
    };
    let headline = match steps {
        0 => format!("{what}: nothing can move any more"),
        1 => format!("{what}: the loop of 1 step starts again"),
        steps => format!("{what}: the loop of {steps} steps starts again"),
    };
    Some(ErrorSeen { filter, headline, pid: None, sentences: e.loop_sentences() })
}
