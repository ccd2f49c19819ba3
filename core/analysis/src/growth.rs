//! Variables that only ever grow along the path that a depth-first search takes first: why some searches never come back.
//!
//! The path is that of a short search of its own, so whoever searches for long pays nothing while it does. Nothing is said of other
//! paths, nor of what would come after.

use fabius_base::{Cancel, Code, Finding, StopReason};
use fabius_model::SearchedMachine;
use fabius_program::{Kind, Move, Program, Variable, VariableId, Watch, meaning::Fault};
use fabius_search::{self as search, Model, SearchSnapshot, SnapshotRequest, Statistics, StopAt, TreeStore};
use fabius_task::words::grouped;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The path is the one at which the search is when it has stored this many states.
const STATES_MAX: u64 = 20_000;
/// A shorter path says little.
const STEPS_MIN: usize = 4_000;
/// What grew less may have a bound.
const GROWTH_MIN: i64 = 1_000;

/// What there is to say of variables that only ever grew along a long path; nothing if there is no such path.
pub fn growth(program: &Arc<Program>, cancel: &Cancel) -> Vec<Finding> {
    let Ok(mut machine) = SearchedMachine::new(Arc::clone(program), Watch::NOTHING) else { return Vec::new() };
    let mut follower = Follower::default();
    let settings = search::Settings { stop_at: StopAt::Never, cancel: cancel.clone(), ..search::Settings::default() };
    search::depth_first(&mut machine, &mut TreeStore::new(), &mut follower, &settings);
    let Some(path) = follower.path.filter(|path| STEPS_MIN <= path.len()) else { return Vec::new() };
    let Some(courses) = courses(program, &mut machine, &path, cancel) else { return Vec::new() };
    let globals = program.globals.iter().zip(courses);
    globals.flat_map(|(variable, courses)| finding(variable, &courses, path.len())).collect()
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

/// How a number changed along a path.
#[derive(Clone, Copy)]
struct Course {
    first: i64,
    last: i64,
    /// It was smaller than before at some time.
    fell: bool,
}

/// How the elements of each global variable changed along a path; `None` if the path cannot be followed to its end.
fn courses(
    program: &Program,
    machine: &mut SearchedMachine,
    path: &[Move],
    cancel: &Cancel,
) -> Option<Vec<Vec<Course>>> {
    let mut courses: Vec<Vec<Course>> = vec![Vec::new(); program.globals.len()];
    let mut state = Vec::new();
    machine.initial(&mut state).ok()?;
    for at in 0..=path.len() {
        cancel.requested().is_none().then_some(())?;
        let view = machine.machine().view(&state)?;
        for (variable, courses) in courses.iter_mut().enumerate() {
            let values = view.global(VariableId(variable as u32)).into_iter().map(i64::from);
            for (element, value) in values.enumerate() {
                match courses.get_mut(element) {
                    Some(course) => {
                        *course = Course { last: value, fell: course.fell || value < course.last, ..*course }
                    }
                    None => courses.push(Course { first: value, last: value, fell: false }),
                }
            }
        }
        if let Some(step) = path.get(at) {
            state = machine.after(&state, *step)?;
        }
    }
    Some(courses)
}

/// What there is to say of a variable.
fn finding(variable: &Variable, courses: &[Course], steps: usize) -> Option<Finding> {
    if variable.ty.kind != Kind::Number {
        return None;
    }
    let grew = |course: &&Course| !course.fell && GROWTH_MIN <= course.last - course.first;
    let Course { first, last, .. } = *courses.iter().find(grew)?;
    let name = &variable.name;
    let what = if 1 < courses.len() { format!("an element of `{name}`") } else { format!("`{name}`") };
    let steps = grouped(steps as u64);
    let finding = Finding::new(Code::Growth, format!("{what} only ever grew along a path of {steps} steps"));
    let finding = finding
        .at(variable.span, format!("from {first} to {last} on this path"))
        .note("each value makes new states, so a search may not end")
        .help("keep only what the model asks of it: stop counting at a limit, or store the result of the comparison");
    Some(finding)
}
