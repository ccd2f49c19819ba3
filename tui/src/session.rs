//! The walk through the model, with all that is shown of the present state: worked out once after each change, so that
//! drawing is nothing but drawing.

use crate::model::TraceTab;
use fabius_engine::Scheduling;
use fabius_explore::{Arrow, Choice, Exploration, Lasso, NodeId, ProcessView, Stop, Value};
use fabius_witness::format::ribbon::Table;
use fabius_witness::{HeldBack, Snapshot, Step, snapshot};

/// A walk, and what is shown of it.
#[derive(Debug)]
pub struct Session {
    /// The walk.
    pub walk: Exploration,
    /// The processes.
    pub processes: Vec<ProcessView>,
    /// Variables and channels.
    pub values: Vec<Value>,
    /// What can be done next.
    pub choices: Vec<Choice>,
    /// Why nothing can be done, if that is so.
    pub stop: Option<Stop>,
    /// The part of the run that is shown.
    pub page: Page,
    /// Whether the steps that have to wait are marked on it.
    page_follows: bool,
    /// The number of the chart that is being drawn for this walk.
    pub charting: Option<u64>,
    /// The number of the search for a schedule for this walk.
    pub looks_for_schedule: Option<u64>,
    /// Only these steps matter, if that is asked for.
    pub essential: Option<Vec<NodeId>>,
    /// The moves of a claim are rows of their own; else they are folded into the steps of the system.
    pub claim_moves: bool,
    /// The rows without the moves of a claim, if there are any.
    folded: Option<Vec<NodeId>>,
    /// Steps that were described for pages, in all: the work of scrolling.
    pub described: u64,
    /// The expressions that are watched, with their values.
    pub watched: Vec<Watched>,
    /// Who is held back before which steps of the run, if that is to be marked.
    pub delays: Vec<(NodeId, HeldBack)>,
    /// What the delays were worked out for: the end of the run, and who schedules.
    delays_of: Option<(NodeId, Scheduling)>,
    /// What was tried, as rows; worked out only where it is shown.
    pub tree: Vec<TreeRow>,
    /// What never changes in the loop of the run: names and values.
    pub unchanged: Vec<(String, String)>,
    /// The loop that this was worked out for.
    unchanged_of: Option<Lasso>,
    /// Where the formula of the property holds along the run, or why that is not known; worked out only where it is shown.
    pub formula: Result<Table, String>,
    /// The run that this was worked out for: its end, and its loop.
    formula_of: Option<(NodeId, Option<Lasso>)>,
    /// What the tree was worked out for: its size, where one was, and bookmarks.
    tree_of: (usize, Option<NodeId>, usize),
}

/// A part of the run.
#[derive(Default, Debug)]
pub struct Page {
    /// Its rows; the first row of a run is the initial state, which has no step.
    pub rows: Vec<Row>,
    /// Which row of the run is the first one.
    pub first: usize,
    /// The messages that are received in it.
    pub arrows: Vec<Arrow>,
}

/// A row of a run.
#[derive(Debug)]
pub struct Row {
    /// The state after the step.
    pub node: NodeId,
    /// The step.
    pub step: Option<Step>,
    /// It has to wait under the schedule that is followed.
    pub must_wait: bool,
}

impl Session {
    /// A walk that was opened.
    pub fn new(walk: Exploration) -> Self {
        let mut session = Self {
            walk,
            processes: Vec::new(),
            values: Vec::new(),
            choices: Vec::new(),
            stop: None,
            page: Page::default(),
            charting: None,
            looks_for_schedule: None,
            page_follows: false,
            essential: None,
            claim_moves: false,
            folded: None,
            described: 0,
            watched: Vec::new(),
            delays: Vec::new(),
            delays_of: None,
            tree: Vec::new(),
            unchanged: Vec::new(),
            unchanged_of: None,
            formula: Err(String::new()),
            formula_of: None,
            tree_of: (0, None, 0),
        };
        session.refresh();
        session
    }

    /// Works out what is shown of the present state.
    pub fn refresh(&mut self) {
        self.processes = self.walk.processes();
        self.values = self.walk.variables();
        self.choices = self.walk.choices();
        self.stop = self.walk.why_no_step();
        self.fold();
    }

    /// Leaves out the moves of a claim, unless they are to be rows of their own.
    fn fold(&mut self) {
        self.folded = None;
        if self.claim_moves || self.walk.target().watch.claim.is_none() {
            return;
        }
        let rows = self.rows();
        let folded: Vec<NodeId> = rows.iter().copied().filter(|node| !self.is_claims(*node)).collect();
        self.folded = (folded.len() < rows.len()).then_some(folded);
    }

    /// Whether a claim moves to a node: the number of the step is that before it.
    pub fn is_claims(&self, node: NodeId) -> bool {
        self.walk.parent(node).is_some_and(|parent| self.walk.number(parent) == self.walk.number(node))
    }

    /// The rows of the run: nodes from the initial state to its end, without those left out.
    fn rows(&self) -> &[NodeId] {
        self.folded.as_ref().or(self.essential.as_ref()).map_or(self.walk.line(), Vec::as_slice)
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.rows().len()
    }

    /// The node of a row.
    pub fn node_of(&self, row: usize) -> Option<NodeId> {
        self.rows().get(row).copied()
    }

    /// The row on which one is, or the last one before it.
    pub fn row_of_here(&self) -> usize {
        self.row_at(self.walk.depth(self.walk.here()))
    }

    /// The row after this many moves, or the last one before it.
    fn row_at(&self, depth: usize) -> usize {
        self.rows().partition_point(|node| self.walk.depth(*node) <= depth).saturating_sub(1)
    }

    /// Whether a node is the row after this many moves, or the last one before it.
    pub fn is_row_at(&self, node: NodeId, depth: usize) -> bool {
        self.node_of(self.row_at(depth)) == Some(node)
    }

    /// Describes the rows from `first` on that are to be shown.
    pub fn turn_to(&mut self, first: usize, height: usize) {
        let last = (first + height).min(self.row_count());
        let nodes: Vec<NodeId> = (first..last).filter_map(|row| self.node_of(row)).collect();
        let follows = self.walk.follows_schedule();
        if std::mem::replace(&mut self.page_follows, follows) != follows {
            self.page.rows.clear();
        }
        let known = self.page.first == first && self.page.rows.iter().map(|row| row.node).eq(nodes.iter().copied());
        if known {
            return;
        }
        let mut old = std::mem::take(&mut self.page.rows);
        self.page.arrows.clear();
        self.page.first = first;
        for node in nodes {
            self.page.arrows.extend(self.walk.arrows(node));
            match old.iter().position(|row| row.node == node) {
                Some(index) => self.page.rows.push(old.swap_remove(index)),
                None => {
                    self.described += 1;
                    let mut step = self.walk.step_to(node);
                    if let Some(step) = &mut step {
                        let held = self.delays.iter().filter(|(to, _)| *to == node);
                        step.held_back.extend(held.map(|(_, held)| held.clone()));
                    }
                    let must_wait = self.walk.had_to_wait(node).is_some();
                    self.page.rows.push(Row { node, step, must_wait });
                }
            }
        }
    }

    /// Works out the values of these expressions, here and before the last step.
    pub fn watch(&mut self, expressions: &[String]) {
        let (walk, here) = (&self.walk, self.walk.here());
        let watched = expressions.iter().map(|text| {
            let at = |node| walk.condition(text).and_then(|condition| walk.shown_at(&condition, node));
            let value = at(here).unwrap_or_else(|why| why);
            let before = walk.parent(here).and_then(|parent| at(parent).ok()).filter(|before| *before != value);
            Watched { text: text.clone(), value, before }
        });
        self.watched = watched.collect();
    }

    /// How the value of an expression changes along the run: each a sentence and a node.
    pub fn along_run(&self, text: &str) -> Result<Vec<(String, Option<NodeId>)>, String> {
        let walk = &self.walk;
        let changes = walk.along_line(&walk.condition(text)?, WATCHED_STEPS_MAX);
        let (mut lines, count) = (Vec::new(), changes.len());
        for (node, value) in changes.into_iter().take(CHANGES_MAX) {
            let value = value.unwrap_or_else(|why| why);
            let step = walk.step_to(node).filter(|step| step.claim.is_none());
            let what = step.map_or_else(String::new, |step| format!("  {}: {}", step.actor.name, step.actor.text));
            let place = match walk.number(node) {
                0 => "initially".to_owned(),
                number => format!("step {number}"),
            };
            lines.push((format!("{place}: {value}{what}"), Some(node)));
        }
        if count == 1 {
            lines.push(("it never changes on this run".to_owned(), None));
        }
        if CHANGES_MAX < count || WATCHED_STEPS_MAX < walk.line().len() {
            lines.push(("the rest of this long run is not shown".to_owned(), None));
        }
        Ok(lines)
    }

    /// Works out where the run delays a scheduler, if that is another run or another scheduler than before.
    pub fn mark_delays(&mut self, scheduling: &Scheduling) {
        let tip = self.walk.line().last().copied().unwrap_or(NodeId::ROOT);
        let of = Some((tip, scheduling.clone()));
        if self.delays_of == of {
            return;
        }
        self.delays_of = of;
        let short = self.walk.line().len() <= DELAYED_STEPS_MAX;
        let delays = short.then(|| self.walk.delays(scheduling).ok()).flatten();
        self.delays = delays.map_or_else(Vec::new, |delays| self.walk.held_back(&delays));
        self.page = Page::default();
    }

    /// The values to be shown.
    pub fn shown_values(&self, changed_only: bool) -> impl Iterator<Item = &Value> {
        self.values.iter().filter(move |value| !changed_only || value.before.is_some())
    }

    /// Works out the tree of what was tried: only nodes at which something branches, ends, or has a name.
    pub fn grow_tree(&mut self) {
        let walk = &self.walk;
        let of = (walk.size(), Some(walk.here()), walk.names().count());
        if self.tree_of == of {
            return;
        }
        self.tree_of = of;
        self.tree.clear();
        let mut open = vec![(NodeId::ROOT, 0, true, 0)];
        while let Some((mut node, indent, last, mut steps)) = open.pop() {
            let mut children = walk.children(node);
            while let [only] = children.as_slice() {
                if node == walk.here() || walk.name(node).is_some() || node == NodeId::ROOT {
                    break;
                }
                node = *only;
                steps += 1;
                children = walk.children(node);
            }
            let says = walk.step_to(node).map(|step| format!("{}: {}", step.actor.name, step.actor.text));
            self.tree.push(TreeRow { node, indent, steps, last, says: says.unwrap_or_default() });
            if self.tree.len() == TREE_ROWS_MAX {
                break;
            }
            let branches = children.len() > 1;
            let inner = if branches { indent + 1 } else { indent };
            let count = children.len();
            let rows = children.into_iter().enumerate().map(|(index, child)| (child, inner, index + 1 == count, 1));
            open.extend(rows.rev());
        }
    }

    /// Works out what never changes in the loop of the run.
    pub fn go_round(&mut self) {
        let lasso = self.walk.lasso();
        if self.unchanged_of == lasso {
            return;
        }
        self.unchanged_of = lasso;
        self.unchanged.clear();
        let Some(lasso) = lasso else { return };
        let (from, to) = (self.walk.depth(lasso.start), self.walk.depth(lasso.end));
        let program = &self.walk.target().program;
        for (index, node) in self.walk.line()[from..=to].iter().enumerate().take(LOOP_STEPS_MAX) {
            let values = all_values(&snapshot(program, &self.walk.state_at(*node)));
            if index == 0 {
                self.unchanged = values;
            } else {
                self.unchanged.retain(|value| values.contains(value));
            }
        }
    }

    /// How the run can be shown.
    pub fn tabs(&self) -> &'static [TraceTab] {
        TraceTab::of_run(self.walk.target().watch.claim.is_some())
    }

    /// Works out where the formula of the property holds along the run.
    pub fn evaluate_formula(&mut self) {
        let tip = self.walk.line().last().copied().unwrap_or(NodeId::ROOT);
        let of = Some((tip, self.walk.lasso()));
        if self.formula_of == of {
            return;
        }
        self.formula_of = of;
        self.formula = self.walk.ribbon().map(|ribbon| Table::of(&ribbon, usize::MAX));
    }

    /// Who wrote a value last, and from what, back to where it started: each a sentence and a node.
    pub fn writers(&self, value: &Value) -> Vec<(String, Option<NodeId>)> {
        let walk = &self.walk;
        let own = value.pid.map(|pid| format!("{}:{}", walk.process_name(pid), value.name));
        let chain = walk.writers(own.as_deref().unwrap_or(&value.name));
        let link = |write: fabius_explore::Write| {
            let step = walk.step_to(write.node)?;
            let indent = "  ".repeat(write.depth);
            let what = format!("{} = {}", write.name, write.value);
            let text = format!("{indent}{what}  in step {}, {}: {}", step.number, step.actor.name, step.actor.text);
            Some((text, Some(write.node)))
        };
        chain.into_iter().filter_map(link).collect()
    }

    /// The process of a row of the panel of processes.
    pub fn process(&self, index: usize) -> Option<&ProcessView> {
        self.processes.get(index)
    }
}

/// An expression that is watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    /// As it was written.
    pub text: String,
    /// Its value, or why it has none.
    pub value: String,
    /// Its value before the last step, if that was another one.
    pub before: Option<String>,
}

/// Along a longer run, a watched value is followed so far, …
const WATCHED_STEPS_MAX: usize = 20_000;
/// … and this many changes of it are shown.
const CHANGES_MAX: usize = 500;
/// On a longer run, delays are not marked.
const DELAYED_STEPS_MAX: usize = 10_000;

/// A row of the tree of what was tried: a node at which something branches, ends, or has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeRow {
    /// The node.
    pub node: NodeId,
    /// How far it is indented.
    pub indent: usize,
    /// Steps since the row before on its branch.
    pub steps: usize,
    /// It is the last branch of its parent.
    pub last: bool,
    /// The last step in a few words.
    pub says: String,
}

/// A longer loop is looked at so far.
const LOOP_STEPS_MAX: usize = 1000;

/// The values of a state: names and values.
fn all_values(state: &Snapshot) -> Vec<(String, String)> {
    let own = state.processes.iter().flat_map(|process| {
        process.variables.iter().map(|(name, value)| (format!("{}:{name}", process.name), value.clone()))
    });
    state.variables.iter().chain(&state.channels).cloned().chain(own).collect()
}

/// This many rows of the tree are shown.
const TREE_ROWS_MAX: usize = 2000;
