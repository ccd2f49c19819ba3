//! The tree of choices, each of its steps taken by the reference interpreter.

use super::{GraphOf, Question, model::Interleaved, report};
use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_search::executions::{Branch, End, Numbers, Then};
use fabius_task::load::Loaded;
use fabius_witness::format::json::{self, StepRecord};
use fabius_witness::{Ending, Outcome, State, Step, describe, ending, settled, step as take};
use serde::Serialize;
use std::sync::Arc;

/// At most this many branches of the tree are shown at a time.
pub const BRANCHES_MAX: usize = 10_000;
/// Of the steps of a branch, this many are kept as a person reads them.
const STEPS_KEPT_MAX: usize = 1_000;

/// Steps that follow each other without a choice, and what lies behind them.
#[derive(Clone, Debug)]
pub struct TreeBranch {
    /// The branch at whose end this one is an alternative; `None` for the first one.
    pub parent: Option<usize>,
    /// Its steps, the first thousand of them.
    pub steps: Vec<Step>,
    /// How many steps it has.
    pub len: usize,
    /// The executions that take them.
    pub numbers: Numbers,
    /// The number among all executions, from 0, of the first of them; of a single one of the kind, its own.
    pub first: u128,
    /// How its execution ends, and whether a step of it is faulty; `None` if there is a choice at its end or it is not
    /// opened.
    pub end: Option<(End, bool)>,
    /// There is more behind it than is shown.
    pub unopened: bool,
}

/// A branch, as plain data.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BranchReport {
    /// The number in the list, from 0, of the branch at whose end this one is an alternative.
    pub parent: Option<usize>,
    /// The number among all executions, from 1, of the first of its executions; of a single one of the kind, its own.
    pub first: String,
    /// The executions that take its steps.
    pub executions: String,
    /// Those that fail.
    pub failing: String,
    /// Those that get stuck.
    pub stuck: String,
    /// Those that end well.
    pub ok: String,
    /// How its execution ends, if there is only one of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<&'static str>,
    /// There is more behind it than is listed.
    pub unopened: bool,
    /// How many steps it has.
    pub length: usize,
    /// Its steps, the first thousand of them.
    pub steps: Vec<StepRecord>,
}

/// The state at the end of a branch.
struct Reached {
    state: State,
    /// Number of steps before it.
    taken: usize,
    failed: bool,
}

/// The tree, walked by the reference interpreter.
pub(super) fn of(
    question: &Question<'_>,
    model: &mut Interleaved,
    graph: &mut GraphOf,
    branches_max: usize,
) -> Result<Vec<TreeBranch>, String> {
    let found = graph.tree(model, question.request.kind, branches_max.min(BRANCHES_MAX));
    walked((&question.program, question.watch), &question.naming.branches(found))
}

/// Branches, each after its parent, walked by the reference interpreter.
pub(super) fn walked(
    (program, watch): (&Arc<Program>, Watch),
    found: &[Branch<Move, Fault>],
) -> Result<Vec<TreeBranch>, String> {
    let mut reached: Vec<Option<Reached>> = Vec::new();
    let mut branches = Vec::new();
    for branch in found {
        let start = match branch.parent {
            Some(parent) => {
                reached.get(parent).and_then(Option::as_ref).map(|at| (at.state.clone(), at.taken, at.failed))
            }
            None => State::watching(program, watch).ok().map(|state| (state, 0, false)),
        };
        let walked = match start {
            Some((state, taken, failed)) => walk(program, Reached { state, taken, failed }, branch)?,
            None if branch.path.is_empty() => (Vec::new(), None),
            None => return Err("a branch of the tree begins nowhere".to_owned()),
        };
        branches.push(TreeBranch {
            parent: branch.parent,
            steps: walked.0,
            len: branch.path.len(),
            numbers: branch.numbers,
            first: branch.first,
            end: match branch.then {
                Then::End(end, failed, _) => Some((end, failed)),
                Then::Choice | Then::Unopened => None,
            },
            unopened: branch.then == Then::Unopened,
        });
        reached.push(walked.1);
    }
    Ok(branches)
}

/// Takes the steps of a branch; where it ends with an execution, in the way that is claimed.
fn walk(
    program: &Program,
    mut at: Reached,
    branch: &Branch<Move, Fault>,
) -> Result<(Vec<Step>, Option<Reached>), String> {
    let mut steps = Vec::new();
    let mut broken = None;
    for wanted in &branch.path {
        let taken = take(program, &at.state, *wanted)
            .map_err(|why| format!("a step in the tree is not possible ({why:?}): {wanted:?}"))?;
        at.taken += 1;
        if steps.len() < STEPS_KEPT_MAX {
            steps.push(describe(program, at.taken, &at.state, *wanted, &taken));
        }
        at.failed |= taken.outcome.fault().is_some();
        match taken.outcome {
            Outcome::Reaches { state, .. } => at.state = state,
            Outcome::Broken { fault, .. } => broken = Some(fault),
        }
    }
    let agrees = match branch.then {
        Then::End(End::Broken, _, fault) => broken == fault,
        Then::End(end, failed, _) => broken.is_none() && failed == at.failed && ends_so(program, &at.state, end),
        Then::Choice | Then::Unopened => broken.is_none(),
    };
    if !agrees {
        return Err(format!("a branch of the tree does not end as claimed: {:?}", branch.then));
    }
    Ok((steps, broken.is_none().then_some(at)))
}

fn ends_so(program: &Program, state: &State, end: End) -> bool {
    match end {
        End::Valid => ending(program, &settled(program, state)) == Ending::Valid,
        End::Stuck => ending(program, &settled(program, state)) == Ending::Invalid,
        End::Waiting | End::Cut | End::Broken => true,
    }
}

/// A branch as plain data.
pub fn branch_report(branch: &TreeBranch, loaded: &Loaded) -> BranchReport {
    BranchReport {
        parent: branch.parent,
        first: branch.first.saturating_add(1).to_string(),
        executions: branch.numbers.all.to_string(),
        failing: branch.numbers.failing.to_string(),
        stuck: branch.numbers.stuck.to_string(),
        ok: branch.numbers.ok.to_string(),
        ends: branch.end.map(|(end, _)| report::word(end)),
        unopened: branch.unopened,
        length: branch.len,
        steps: branch.steps.iter().map(|step| json::step_record(step, &loaded.map)).collect(),
    }
}
