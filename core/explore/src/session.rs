//! The session: where one is in the tree, and everything that one can do and take back.

use crate::choice::Choice;
use crate::forecast::LocalStateGraphs;
use crate::hold::{Hold, Seal};
use crate::local::LocalAnswer;
use crate::tree::{NodeId, Situation, Tree, rest};
use fabius_analysis::schedule::SafeSchedule;
use fabius_engine::{Counterexample, ExplorationTarget, Loaded, Settings};
use fabius_program::{Move, Program};
use fabius_witness::{
    Claim, Ending, Outcome, ProcessStatus, Snapshot, State, Step, describe, ending, moves, notes::number_reused,
    process_statuses, snapshot, step,
};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// This many actions can be taken back.
const UNDO_MAX: usize = 10_000;

/// A walk through a model; see the top of the crate.
#[derive(Clone, Debug)]
pub struct Exploration {
    loaded: Arc<Loaded>,
    target: ExplorationTarget,
    pub(crate) tree: Tree,
    pub(crate) view: View,
    /// What was found out beside the walk; it is never taken back.
    pub(crate) charts: LocalStateGraphs,
    /// What searches from states found, each with what it is true of; it is never taken back either.
    pub(crate) answers: Vec<Arc<LocalAnswer>>,
    /// The schedule that is known; it is never taken back either.
    pub(crate) safe_schedule: Option<Arc<SafeSchedule>>,
    /// The nodes from the root to the tip of the line.
    line: Vec<NodeId>,
    undo: VecDeque<View>,
    redo: Vec<View>,
    /// An action is being done.
    acting: bool,
}

/// Everything that can be taken back.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct View {
    here: NodeId,
    /// Where the line ends on which one goes forward and back.
    tip: NodeId,
    /// Nodes with smaller numbers are there.
    pub(crate) size: u32,
    pub(crate) holds: Vec<Hold>,
    pub(crate) seal: Option<Seal>,
    /// Whoever has to wait under the schedule that is known does not move by itself.
    pub(crate) follows_schedule: bool,
    names: Arc<BTreeMap<NodeId, String>>,
    /// From the last node of a loop to that in which it starts.
    loops: Arc<BTreeMap<NodeId, NodeId>>,
}

/// A loop at the end of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// The state in which it starts.
    pub start: NodeId,
    /// The same state again.
    pub end: NodeId,
}

impl Exploration {
    /// Opens a model for a walk from its initial state. `target` says in which form, and what is watched.
    ///
    /// # Errors
    /// If the initial state cannot be computed, in a sentence.
    pub fn open(loaded: Arc<Loaded>, target: ExplorationTarget) -> Result<Self, String> {
        let tree = Tree::new(Arc::clone(&target.program), target.watch)
            .map_err(|fault| format!("the initial state cannot be computed: {fault}"))?;
        let view = View {
            here: NodeId::ROOT,
            tip: NodeId::ROOT,
            size: 1,
            holds: Vec::new(),
            seal: None,
            follows_schedule: false,
            names: Arc::default(),
            loops: Arc::default(),
        };
        let (undo, redo, charts, answers) = (VecDeque::new(), Vec::new(), LocalStateGraphs::default(), Vec::new());
        let (safe_schedule, line) = (None, vec![NodeId::ROOT]);
        Ok(Self { loaded, target, tree, view, charts, answers, safe_schedule, line, undo, redo, acting: false })
    }

    /// Opens a model as it is written; `property` as in [`ExplorationTarget::of`].
    ///
    /// # Errors
    /// What is wrong with the model, in a sentence.
    pub fn of_model(loaded: Arc<Loaded>, property: Option<&str>) -> Result<Self, String> {
        let target =
            ExplorationTarget::of(&loaded, property, &Settings::default()).map_err(|finding| finding.headline)?;
        Self::open(loaded, target)
    }

    /// Opens a model on a counterexample: its run is the line, and one stands at its beginning.
    ///
    /// # Errors
    /// If the run is not possible, in a sentence.
    pub fn of_counterexample(loaded: Arc<Loaded>, example: &Counterexample, property: &str) -> Result<Self, String> {
        let mut new = Self::open(loaded, ExplorationTarget::under(example, property))?;
        let path = example.trace.steps.moves().to_vec();
        let loop_start = match example.trace.claim {
            Claim::Cycle { start, .. } => Some(start),
            _ => None,
        };
        let end = new.begin_with(&path, loop_start)?;
        new.mark_error(end);
        Ok(new)
    }

    /// Opens a model on a trail file that Spin wrote, or this tool: its run is the line, and one stands at its beginning.
    ///
    /// # Errors
    /// What is wrong with the model, or the first line that cannot be followed, in a sentence.
    pub fn of_trail(loaded: Arc<Loaded>, property: Option<&str>, text: &str) -> Result<Self, String> {
        let (target, run) = fabius_counterexample::read_trail(&loaded, property, text)?;
        let mut new = Self::open(loaded, target)?;
        new.begin_with(&run.path, run.loop_start.filter(|start| *start < run.path.len()))?;
        Ok(new)
    }

    /// Makes a run, and the loop that starts after this many of its steps, the line on which one stands at the beginning;
    /// there is nothing before it to go back to. Its end.
    fn begin_with(&mut self, path: &[Move], loop_start: Option<usize>) -> Result<NodeId, String> {
        let end = self.adopt(path)?;
        let start = loop_start.and_then(|start| self.tree.way_to(end).get(start).copied());
        start.into_iter().for_each(|start| self.remember_loop(end, start));
        self.follow(end);
        self.go(NodeId::ROOT);
        self.forget_history();
        Ok(end)
    }

    /// What was read.
    pub fn loaded(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// The program, and what is watched.
    pub fn target(&self) -> &ExplorationTarget {
        &self.target
    }

    // ---- the tree ----

    /// Where one is.
    pub fn here(&self) -> NodeId {
        self.view.here
    }

    /// Number of nodes of the tree.
    pub fn size(&self) -> usize {
        self.view.size as usize
    }

    /// Whether there is such a node.
    pub fn has(&self, node: NodeId) -> bool {
        node.0 < self.view.size
    }

    /// The node before.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.tree.parent(node).filter(|_| self.has(node))
    }

    /// The nodes that were tried from a node, the first one first.
    pub fn children(&self, node: NodeId) -> Vec<NodeId> {
        if self.has(node) { self.tree.children(node, self.view.size) } else { Vec::new() }
    }

    /// How many moves lead to a node, those of a claim included.
    pub fn depth(&self, node: NodeId) -> usize {
        if self.has(node) { self.tree.depth(node) } else { 0 }
    }

    /// How many steps of the system lead to a node: the number of the step that leads there.
    pub fn number(&self, node: NodeId) -> usize {
        if self.has(node) { self.tree.taken(node) } else { 0 }
    }

    /// The moves that lead to a node.
    pub fn path(&self, node: NodeId) -> Vec<Move> {
        if self.has(node) { self.tree.path_to(node) } else { Vec::new() }
    }

    /// Who moves in the step that leads to a node.
    pub fn mover(&self, node: NodeId) -> Option<u8> {
        self.tree.step(node).filter(|_| self.has(node)).map(|step| step.pid)
    }

    /// Whether something is known to be wrong at a node or further down.
    pub fn leads_to_error(&self, node: NodeId) -> bool {
        self.has(node) && self.tree.leads_to_error(node, self.view.size)
    }

    /// The line on which one goes forward and back: the nodes from the initial state to its tip.
    pub fn line(&self) -> &[NodeId] {
        &self.line
    }

    /// The loop at the end of the line, if it has one.
    pub fn lasso(&self) -> Option<Lasso> {
        let start = *self.view.loops.get(&self.view.tip)?;
        Some(Lasso { start, end: self.view.tip })
    }

    /// The name of a node, if it was given one: a bookmark.
    pub fn name(&self, node: NodeId) -> Option<&str> {
        self.view.names.get(&node).map(String::as_str)
    }

    /// All bookmarks.
    pub fn names(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.view.names.iter().map(|(node, name)| (*node, name.as_str()))
    }

    // ---- the state ----

    pub(crate) fn situation(&self, node: NodeId) -> Arc<Situation> {
        self.tree.situation(node)
    }

    /// The present state, after whatever follows without a step.
    pub fn state(&self) -> State {
        self.state_at(self.here())
    }

    /// The state at a node, after whatever follows without a step.
    pub fn state_at(&self, node: NodeId) -> State {
        let node = if self.has(node) { node } else { NodeId::ROOT };
        let state = &self.situation(node).state;
        if self.tree.is_broken(node) { state.clone() } else { rest(&self.target.program, state) }
    }

    /// The present state as a person reads it.
    pub fn snapshot(&self) -> Snapshot {
        snapshot(&self.target.program, &self.state())
    }

    /// Where a process stands.
    pub(crate) fn status_of(&self, pid: u8) -> Option<ProcessStatus> {
        process_statuses(&self.target.program, &self.state()).into_iter().find(|status| status.pid == pid)
    }

    /// What is known of the present state. After a step that could not be computed nothing follows.
    pub fn ending(&self) -> Ending {
        if self.tree.is_broken(self.here()) {
            return Ending::Valid;
        }
        ending(&self.target.program, &self.state())
    }

    /// What is wrong with the step that leads to a node.
    pub fn fault(&self, node: NodeId) -> Option<fabius_program::meaning::Fault> {
        self.tree.fault(node).filter(|_| self.has(node))
    }

    /// The step that leads to a node, with all that it changed.
    pub fn step_to(&self, node: NodeId) -> Option<Step> {
        let parent = self.parent(node)?;
        let wanted = self.tree.step(node)?;
        let before = &self.situation(parent).state;
        let taken = step(&self.target.program, before, wanted).ok()?;
        let number = self.tree.taken(parent) + 1;
        let mut step = describe(&self.target.program, number, before, wanted, &taken);
        for created in &step.created {
            step.notes.extend(number_reused(
                &self.target.program,
                created.pid,
                &created.name,
                self.tree.moves_to(parent),
            ));
        }
        Some(step)
    }

    /// The moves that are possible now, in the order in which a search explores them.
    pub(crate) fn possible(&self) -> Vec<(Move, Outcome)> {
        if self.tree.is_broken(self.here()) {
            return Vec::new();
        }
        moves(&self.target.program, &self.state()).successors
    }

    // ---- moving ----

    /// Takes a step from where one is: a branch is made, unless it was tried before.
    ///
    /// # Errors
    /// Why the step is not possible, in a sentence.
    pub fn take(&mut self, wanted: Move) -> Result<NodeId, String> {
        self.acting(|this| {
            let node = this.step_from(this.here(), wanted)?;
            this.move_on(node);
            Ok(node)
        })
    }

    /// Takes one of [`Exploration::choices`].
    ///
    /// # Errors
    /// Why the step is not possible, in a sentence.
    pub fn choose(&mut self, choice: &Choice) -> Result<NodeId, String> {
        self.take(choice.step)
    }

    /// The node that a step from a node leads to; it is made if it is not there.
    pub(crate) fn step_from(&mut self, node: NodeId, wanted: Move) -> Result<NodeId, String> {
        if let Some(known) = self.tree.child_by(node, wanted, self.view.size) {
            return Ok(known);
        }
        if self.tree.is_broken(node) {
            return Err("nothing follows a step that cannot be computed".to_owned());
        }
        let before = self.situation(node);
        let taken = step(&self.target.program, &before.state, wanted)
            .map_err(|refusal| format!("this step is not possible here ({refusal:?})"))?;
        Ok(self.add(node, wanted, &taken.outcome))
    }

    /// Adds a node to the tree.
    fn add(&mut self, node: NodeId, wanted: Move, outcome: &Outcome) -> NodeId {
        if self.tree.len() > self.view.size {
            self.tree.truncate(self.view.size);
            self.redo.clear();
        }
        let new = self.tree.add(node, wanted, outcome);
        self.view.size = self.tree.len();
        new
    }

    /// Goes where a step leads that is known to be possible.
    pub(crate) fn take_known(&mut self, wanted: Move, outcome: &Outcome) {
        let here = self.here();
        let known = self.tree.child_by(here, wanted, self.view.size);
        let node = known.unwrap_or_else(|| self.add(here, wanted, outcome));
        self.move_on(node);
    }

    /// Goes to a child of where one is.
    pub(crate) fn move_on(&mut self, node: NodeId) {
        let depth = self.tree.depth(self.here());
        self.view.here = node;
        if self.line.get(depth + 1) != Some(&node) {
            self.line.truncate(depth + 1);
            self.line.push(node);
            self.view.tip = node;
            // The line goes on as it was tried before.
            while let Some(next) = self.tree.children(self.view.tip, self.view.size).last() {
                self.line.push(*next);
                self.view.tip = *next;
            }
        }
        self.pass_time(node);
    }

    /// One step forward on the line. At the end of a loop, that is the first step of the loop again. False at the end.
    pub fn forward(&mut self) -> bool {
        self.acting(Self::forward_once)
    }

    pub(crate) fn forward_once(&mut self) -> bool {
        if let Some(lasso) = self.lasso().filter(|lasso| lasso.end == self.here()) {
            self.view.here = lasso.start;
        }
        match self.line.get(self.tree.depth(self.here()) + 1).copied() {
            Some(next) => {
                self.view.here = next;
                self.pass_time(next);
                true
            }
            None => false,
        }
    }

    /// One step back. False at the beginning.
    pub fn back(&mut self) -> bool {
        self.acting(Self::back_once)
    }

    pub(crate) fn back_once(&mut self) -> bool {
        match self.tree.parent(self.here()) {
            Some(parent) => {
                self.view.here = parent;
                true
            }
            None => false,
        }
    }

    /// Goes to any node; if it is not on the line, the line goes through it from now on. False if there is none.
    pub fn go(&mut self, node: NodeId) -> bool {
        if !self.has(node) {
            return false;
        }
        self.acting(|this| {
            if this.line.get(this.tree.depth(node)) != Some(&node) {
                this.set_tip(this.furthest(node));
            }
            this.view.here = node;
            true
        })
    }

    /// Goes to the node after this many moves of the line. False if the line is shorter.
    pub fn go_to_depth(&mut self, depth: usize) -> bool {
        self.line.get(depth).copied().is_some_and(|node| self.go(node))
    }

    /// Goes to the node after this many steps of the system on the line; 0 is the initial state. False if there are fewer.
    pub fn go_to_number(&mut self, number: usize) -> bool {
        let at = self.line.partition_point(|node| self.tree.taken(*node) < number);
        match self.line.get(at).copied() {
            Some(node) if self.tree.taken(node) == number => self.go(node),
            _ => false,
        }
    }

    /// Makes the line end at a node, and stays where one is if that is on it; else goes to where the lines part.
    pub fn follow(&mut self, tip: NodeId) -> bool {
        if !self.has(tip) {
            return false;
        }
        self.acting(|this| {
            this.set_tip(tip);
            while this.line.get(this.tree.depth(this.here())) != Some(&this.here()) && this.back_once() {}
            true
        })
    }

    /// The end of the line that was tried last from a node.
    fn furthest(&self, node: NodeId) -> NodeId {
        let mut tip = node;
        while let Some(next) = self.tree.children(tip, self.view.size).last() {
            tip = *next;
        }
        tip
    }

    pub(crate) fn set_tip(&mut self, tip: NodeId) {
        self.view.tip = tip;
        self.line = self.tree.way_to(tip);
    }

    /// Gives a node a name; an empty one takes it away. False if there is no such node.
    pub fn set_name(&mut self, node: NodeId, name: &str) -> bool {
        if !self.has(node) {
            return false;
        }
        self.acting(|this| {
            let names = Arc::make_mut(&mut this.view.names);
            match name.trim() {
                "" => names.remove(&node),
                name => names.insert(node, name.to_owned()),
            };
            true
        })
    }

    /// Puts a run from the initial state into the tree; what is there already is shared. One stays where one is.
    ///
    /// # Errors
    /// The first step that is not possible, in a sentence; then nothing is changed.
    pub fn adopt(&mut self, path: &[Move]) -> Result<NodeId, String> {
        let before = self.view.clone();
        self.acting(|this| {
            let mut node = NodeId::ROOT;
            for (index, wanted) in path.iter().enumerate() {
                match this.step_from(node, *wanted) {
                    Ok(next) => node = next,
                    Err(why) => {
                        this.view = before;
                        return Err(format!("step {} of {}: {why}", index + 1, path.len()));
                    }
                }
            }
            Ok(node)
        })
    }

    /// Puts the run of a counterexample into the tree, and says that it goes wrong.
    ///
    /// # Errors
    /// If its run is not one of this exploration target, in a sentence.
    pub fn adopt_counterexample(&mut self, example: &Counterexample) -> Result<NodeId, String> {
        self.adopt_run(example, true)
    }

    /// Puts the run of a counterexample into the tree. `wrong`: it violates the property for the model as a whole, and marks
    /// may say so.
    pub(crate) fn adopt_run(&mut self, example: &Counterexample, wrong: bool) -> Result<NodeId, String> {
        self.acting(|this| {
            // The run of the program as it is written, if that is what is walked through; else the one that was searched.
            let tells = this.tells_of(example);
            let told = tells.then(|| example.trace.steps.moves().to_vec());
            let loop_start = match (&told, example.trace.claim) {
                (Some(_), Claim::Cycle { start, .. }) => Some(start),
                (Some(_), _) => None,
                (None, _) => example.loop_start,
            };
            let path: Vec<Move> = told.unwrap_or_else(|| example.path.clone());
            let end = this.adopt(&path)?;
            if wrong {
                this.mark_error(end);
            }
            if !tells {
                this.charts.mix();
            }
            if let Some(start) = loop_start {
                let start = this.tree.way_to(end).get(start).copied();
                start.into_iter().for_each(|start| this.remember_loop(end, start));
            }
            Ok(end)
        })
    }

    /// Whether the trace of a counterexample tells of the program that is walked through, and of what is watched here.
    fn tells_of(&self, example: &Counterexample) -> bool {
        let hash = |program: &Program| {
            let mut hasher = DefaultHasher::new();
            program.hash(&mut hasher);
            hasher.finish()
        };
        example.watch == self.target.watch && hash(&example.told) == hash(&self.target.program)
    }

    /// Says that something is wrong at a node: the marks of choices that lead there will say so.
    pub fn mark_error(&mut self, node: NodeId) {
        if self.has(node) {
            self.tree.mark_error(node);
        }
    }

    pub(crate) fn remember_loop(&mut self, end: NodeId, start: NodeId) {
        Arc::make_mut(&mut self.view.loops).insert(end, start);
    }

    // ---- taking back ----

    /// Does something that can be taken back as a whole. Inside of it, further such calls are part of it.
    pub fn acting<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        if self.acting {
            return act(self);
        }
        let before = self.view.clone();
        self.acting = true;
        let result = act(self);
        self.acting = false;
        if self.view != before {
            self.drop_redo();
            self.undo.push_back(before);
            if UNDO_MAX < self.undo.len() {
                self.undo.pop_front();
            }
        }
        result
    }

    fn drop_redo(&mut self) {
        self.redo.clear();
        self.tree.truncate(self.view.size);
    }

    /// Takes the last action back, with the branches that it made. False if there is none.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.undo.pop_back() else { return false };
        self.redo.push(std::mem::replace(&mut self.view, before));
        self.set_tip(self.view.tip);
        true
    }

    /// Does again what was taken back. False if there is nothing.
    pub fn redo(&mut self) -> bool {
        let Some(after) = self.redo.pop() else { return false };
        self.undo.push_back(std::mem::replace(&mut self.view, after));
        self.set_tip(self.view.tip);
        true
    }

    /// Whether there is something to take back, and something to do again.
    pub fn can_undo_redo(&self) -> (bool, bool) {
        (!self.undo.is_empty(), !self.redo.is_empty())
    }

    /// What was done so far cannot be taken back.
    pub fn forget_history(&mut self) {
        self.undo.clear();
        self.drop_redo();
    }
}
