//! Values that only ever grow along the path that a depth-first search takes first: why some searches never come back. They are
//! those of variables, global and local, the lengths of channels, and the fields of the last messages in channels.
//!
//! The path is that of a short search of its own, so whoever searches for long pays nothing while it does. Nothing is said of other
//! paths, nor of what would come after.

mod course;

use course::{Course, Subject, courses, named_channel};
use fabius_base::{Cancel, Code, Finding, StopReason};
use fabius_model::SearchedMachine;
use fabius_program::{Kind, Move, Program, Variable, Watch, meaning::Fault};
use fabius_search::{self as search, SearchSnapshot, SnapshotRequest, Statistics, StopAt, TreeStore};
use fabius_task::words::grouped;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The path is the one at which the search is when it has stored this many states.
const STATES_MAX: u64 = 20_000;
/// A shorter path says little.
const STEPS_MIN: usize = 4_000;
/// What grew less may have a bound.
const GROWTH_MIN: i64 = 1_000;

/// What there is to say of values that only ever grew along a long path; nothing if there is no such path.
pub fn growth(program: &Arc<Program>, cancel: &Cancel) -> Vec<Finding> {
    let Ok(mut machine) = SearchedMachine::new(Arc::clone(program), Watch::NOTHING) else { return Vec::new() };
    let mut follower = Follower::default();
    let settings = search::Settings { stop_at: StopAt::Never, cancel: cancel.clone(), ..search::Settings::default() };
    search::depth_first(&mut machine, &mut TreeStore::new(), &mut follower, &settings);
    let Some(path) = follower.path.filter(|path| STEPS_MIN <= path.len()) else { return Vec::new() };
    let Some(followed) = courses(program, &mut machine, &path, cancel) else { return Vec::new() };
    let mut findings: Vec<Finding> = Vec::new();
    for (subject, course) in &followed.courses {
        if course.fell || course.last - course.first < GROWTH_MIN {
            continue;
        }
        // Of several elements, or of processes of the same type, one is enough.
        let finding = finding(program, &followed, *subject, course);
        findings.extend(finding.filter(|new| findings.iter().all(|known| known.labels != new.labels)));
    }
    findings
}

/// Waits until enough states are stored, and takes the path.
#[derive(Default)]
struct Follower {
    states: u64,
    path: Option<Vec<Move>>,
}

impl search::Observer<Move, Fault> for Follower {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.states = statistics.states;
        if self.path.is_some() { ControlFlow::Break(StopReason::States) } else { ControlFlow::Continue(()) }
    }

    fn snapshot_request(&mut self) -> Option<SnapshotRequest> {
        (STATES_MAX <= self.states).then_some(SnapshotRequest { labels_max: usize::MAX, whole: true })
    }

    fn on_snapshot(&mut self, snapshot: SearchSnapshot<Move>) {
        self.path = Some(snapshot.path);
    }
}

/// What there is to say of a value that only ever grew; nothing of what is no number, or has no name.
fn finding(program: &Program, followed: &course::Followed, subject: Subject, course: &Course) -> Option<Finding> {
    let of_variable = |variable: &Variable| {
        let name = &variable.name;
        let what = if 1 < variable.element_count() { format!("an element of `{name}`") } else { format!("`{name}`") };
        (variable.ty.kind == Kind::Number && !variable.hidden).then_some((what, variable.span))
    };
    let (what, span) = match subject {
        Subject::Global { variable, .. } => of_variable(program.globals.get(variable.0 as usize)?)?,
        Subject::Local { process, variable, .. } => {
            let process = program.process(process);
            let (what, span) = of_variable(process.locals.get(variable.0 as usize)?)?;
            (format!("{what} of `{}`", process.name), span)
        }
        Subject::Length { channel } => {
            let (name, span) = named_channel(followed, channel)?;
            (format!("the number of messages in `{name}`"), span)
        }
        Subject::LastMessage { channel, ty, field } => {
            let fields = &program.channel_types.get(ty.0 as usize)?.fields;
            if fields.get(field)?.kind != Kind::Number {
                return None;
            }
            let (name, span) = named_channel(followed, channel)?;
            let part = if fields.len() == 1 { String::new() } else { format!("field {} of ", field + 1) };
            (format!("{part}the last message in `{name}`"), span)
        }
    };
    let Course { first, last, steps, .. } = *course;
    let steps = grouped(steps as u64);
    let headline = format!("{what} only ever grew along a path of {steps} steps");
    let finding = Finding::new(Code::Growth, headline).at(span, format!("from {first} to {last} on this path"));
    let finding = finding.note("each value makes new states, so a search may not end");
    Some(match subject {
        Subject::Length { .. } => finding.help("let the channel hold only as many messages as the model needs"),
        _ => finding.help(
            "keep only what the model asks of it: stop counting at a limit, or store the result of the comparison",
        ),
    })
}
