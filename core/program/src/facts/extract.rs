//! From statements to [`Step`]s.

use super::bits::{Bits, Channels};
use super::cells::Cells;
use super::channels::ChannelFlow;
use super::concerns::Concerns;
use super::guard::{otherwise, vague};
use super::recorded::Now;
use super::step::{Condition, Step, UseKind, Write};
use super::value::{always_ends, has_run};
use super::walk::{any_within, initial_values, operands, parts};
use super::{Facts, flow};
use crate::{Action, Block, Edge, Expr, Initial, Location, Process, ProcessId, ProcessKind, Program, Slot, Variable};
use std::sync::{Arc, OnceLock};

/// What is known of a process.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InstanceKey {
    /// Its type.
    pub process: ProcessId,
    /// Its number.
    pub pid: Option<u8>,
    /// How many channels are older than its own.
    pub channels_before: Option<u32>,
    /// Values of the locals listed by [`Facts::constant_locals`], as far as they are known.
    pub constants: Vec<Option<i32>>,
}

/// A process, or all processes of which no more is known than its key says.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What is known.
    pub key: InstanceKey,
    /// What each edge of its type needs and does.
    pub steps: Vec<Step>,
    /// Its steps by what they have to do with.
    concerns: Arc<OnceLock<Concerns>>,
}

impl Instance {
    /// Its steps by what they have to do with.
    pub(super) fn concerns(&self) -> &Concerns {
        self.concerns.get_or_init(|| Concerns::of(&self.steps))
    }

    /// The steps that share something with a step of another process, as their places. All others accord with it, and cannot be its
    /// partner in a rendezvous.
    pub fn shared_with(&self, step: &Step) -> Bits {
        self.concerns().shared_with(step)
    }

    /// The steps that read or change something that a part of a guard asks, as their places. No other one can change whether it holds.
    pub fn asked_by(&self, part: &Condition) -> Bits {
        self.concerns().asked_by(part)
    }
}

/// All that is known of a program.
pub(super) fn facts(program: Arc<Program>, observers: &[&Expr]) -> Facts {
    let shapes = flow::shapes(&program);
    let counts = flow::instance_counts(&program, &shapes);
    let own = |process: &Process| {
        let created = process.locals.iter().filter(|local| matches!(local.initial, Initial::Channel(_)));
        created.map(|local| u64::from(local.element_count())).sum::<u64>()
    };
    let processes = counts.iter().try_fold(0_u64, |sum, count| Some(sum + (*count)?));
    let channels = ChannelFlow::of(&program);
    let created = counts.iter().zip(&program.processes).filter_map(|(count, p)| Some((*count)?.saturating_mul(own(p))));
    let channel_count = channels.global_count() as u64 + created.fold(0, u64::saturating_add);
    let fits = processes.is_some_and(|count| count <= crate::PROCESSES_MAX as u64)
        && channel_count <= crate::CHANNELS_MAX as u64;
    let (globals_written, locals_written) = written(&program);
    let constant_globals = program.globals.iter().zip(&globals_written).scan(0, |channels, (global, written)| {
        let before = *channels;
        if let Initial::Channel(_) = global.initial {
            *channels += global.element_count();
        }
        Some(if *written { None } else { fixed(global, before) })
    });
    let mut facts = Facts {
        cells: Cells::of(&program, observers),
        channels,
        shapes,
        locals_written,
        constant_globals: constant_globals.collect(),
        fits,
        bounded: counts.iter().map(Option::is_some).collect(),
        numbered: true,
        reads_number: program.processes.iter().map(reads_number).collect(),
        shown_absence: Channels::ALL,
        unknown: Vec::new(),
        program,
    };
    let unknown = (0..facts.program.processes.len()).map(|at| InstanceKey {
        process: ProcessId(at as u32),
        pid: None,
        channels_before: None,
        constants: Vec::new(),
    });
    facts.unknown = unknown.map(|key| facts.instance(key)).collect();
    facts.find_shown_absence();
    facts
}

/// Which globals, and which locals of each type, some statement assigns to.
fn written(program: &Program) -> (Vec<bool>, Vec<Vec<bool>>) {
    let mut globals = vec![false; program.globals.len()];
    let mut locals: Vec<Vec<bool>> = program.processes.iter().map(|p| vec![false; p.locals.len()]).collect();
    for (at, process) in program.processes.iter().enumerate() {
        for action in process.statements.iter().flat_map(|statement| parts(&statement.action)) {
            for place in operands(action).1 {
                let flag = match place.slot {
                    Slot::Global(v) => globals.get_mut(v.0 as usize),
                    Slot::Local(v) => locals[at].get_mut(v.0 as usize),
                };
                flag.into_iter().for_each(|flag| *flag = true);
            }
        }
    }
    (globals, locals)
}

/// Whether processes of a type look at their numbers.
fn reads_number(process: &Process) -> bool {
    let is_number = |e: &Expr| any_within(e, |part| *part == Expr::Pid);
    let reads = |action: &Action| {
        let (values, places) = operands(action);
        values.into_iter().any(is_number) || places.into_iter().flat_map(|place| &place.indices).any(is_number)
    };
    process.kind != ProcessKind::Process
        || process.statements.iter().flat_map(|statement| parts(&statement.action)).any(reads)
        || process.provided.iter().any(is_number)
        || process.locals.iter().flat_map(|local| initial_values(&local.initial)).any(is_number)
}

/// The elements of a global to which nothing assigns, if they are constants.
fn fixed(global: &Variable, channels_before: u32) -> Option<Vec<i32>> {
    let count = global.element_count();
    if count > 4096 {
        return None;
    }
    let constants = |list: &[Expr]| -> Option<Vec<i32>> {
        (0..count as usize)
            .map(|i| list.get(i).or(list.last()).map_or(Some(0), |e| e.constant().map(|k| global.ty.truncate(k))))
            .collect()
    };
    match &global.initial {
        Initial::Zero => Some(vec![0; count as usize]),
        Initial::Value(e) => constants(std::slice::from_ref(e)),
        Initial::List(list) => constants(list),
        Initial::Channel(_) => Some((1..=count as i32).map(|i| channels_before as i32 + i).collect()),
    }
}

impl Facts {
    /// What the steps of a process need and do.
    pub fn instance(&self, key: InstanceKey) -> Instance {
        let process = &self.program.processes[key.process.0 as usize];
        let shape = &self.shapes[key.process.0 as usize];
        let context = self.context(&key);
        let mut steps = Vec::with_capacity(shape.edge_count);
        for (at, location) in process.locations.iter().enumerate() {
            steps.extend(context.location(location, shape.middle[at]));
        }
        drop(context);
        self.tell_shown_absence(key.process, &mut steps);
        Instance { key, steps, concerns: Arc::default() }
    }

    /// Where the expressions of a process are evaluated.
    pub(super) fn context<'f>(&'f self, key: &'f InstanceKey) -> Context<'f> {
        let process = &self.program.processes[key.process.0 as usize];
        let constant_locals = self.constant_locals(key.process);
        let mut constants = vec![None; process.locals.len()];
        for variable in &constant_locals {
            let local = &process.locals[variable.0 as usize];
            let is_own = !matches!(local.initial, Initial::Channel(_)) && process.parameter_count <= variable.0;
            constants[variable.0 as usize] =
                if is_own { fixed(local, 0).and_then(|values| values.first().copied()) } else { None };
        }
        for (variable, value) in constant_locals.iter().zip(&key.constants) {
            constants[variable.0 as usize] = value.or(constants[variable.0 as usize]);
        }
        Context { facts: self, process: Some((key.process, process)), key: Some(key), constants, now: None }
    }

    /// A step that looks at what these expressions look at, and changes nothing: those that do not accord with
    /// it may change what the expressions say.
    pub fn observer(&self, expressions: &[&Expr]) -> Step {
        let context = Context { facts: self, process: None, key: None, constants: Vec::new(), now: None };
        let mut step = Step::default();
        expressions.iter().for_each(|e| context.read(e, &mut step));
        step
    }
}

/// Where an expression is evaluated.
pub(super) struct Context<'f> {
    pub(super) facts: &'f Facts,
    pub(super) process: Option<(ProcessId, &'f Process)>,
    pub(super) key: Option<&'f InstanceKey>,
    /// Values of locals that never change, as far as they are known.
    pub(super) constants: Vec<Option<i32>>,
    /// The state in which it is evaluated, if it is one.
    pub(super) now: Option<Now<'f>>,
}

impl Context<'_> {
    pub(super) fn program(&self) -> &Program {
        &self.facts.program
    }

    /// The steps of the edges of one location.
    pub(super) fn location(&self, location: &Location, middle: bool) -> Vec<Step> {
        let edges: Vec<&Edge> = self.program().edges_of(location).map(|(_, edge)| edge).collect();
        let mut steps: Vec<Step> = edges.iter().map(|edge| self.edge(edge)).collect();
        let guards: Vec<Vec<Condition>> = steps.iter().map(|step| step.guard.clone()).collect();
        let offers: Vec<Channels> = steps.iter().map(|step| step.offers).collect();
        let mut reads = Bits::default();
        steps.iter().for_each(|step| reads.extend(&step.reads));
        let escapes = edges.iter().any(|edge| edge.escape != 0);
        for (at, step) in steps.iter_mut().enumerate() {
            let depends_on_absence = offers.iter().fold(Channels::NONE, |all, offers| all.with(*offers));
            if escapes {
                step.guard = vec![vague(guards.iter().flatten())];
                step.reads.extend(&reads);
                step.depends_on_absence = depends_on_absence;
            } else if self.is_else(edges[at]) {
                step.guard.extend(guards[..at].iter().flat_map(|guard| otherwise(guard)));
                self.find_for(&reads, step);
                step.depends_on_absence = offers[..at].iter().fold(Channels::NONE, |all, offers| all.with(*offers));
            }
            step.shown_absence = step.depends_on_absence;
            if middle {
                if let Condition::Vague(cells, channels) = vague(&step.guard) {
                    step.reads.extend(&cells);
                    step.use_channels(channels, UseKind::Look);
                }
                step.depends_on_absence = step.depends_on_absence.with(step.offers);
            }
        }
        steps
    }

    fn action_of(&self, edge: &Edge) -> Option<&Action> {
        Some(&self.process?.1.statements.get(edge.statement.0 as usize)?.action)
    }

    /// Whether what an edge can do depends on the edges before it.
    fn is_else(&self, edge: &Edge) -> bool {
        self.is_plain_else(edge)
            || match self.action_of(edge) {
                Some(Action::Block(block)) => block
                    .nodes
                    .first()
                    .is_some_and(|node| node.options.first().is_some_and(|option| option.action == Action::Else)),
                _ => false,
            }
    }

    /// Whether an edge can be taken if and only if none of the edges before it can.
    pub(super) fn is_plain_else(&self, edge: &Edge) -> bool {
        match self.action_of(edge) {
            Some(Action::Else) => true,
            Some(Action::Merged(actions)) => matches!(actions.first(), Some(Action::Else)),
            _ => false,
        }
    }

    fn edge(&self, edge: &Edge) -> Step {
        let mut step = Step::default();
        if let Some(action) = self.action_of(edge) {
            match self.of_action(action) {
                Some(context) => context.action(action, &mut step),
                None => self.action(action, &mut step),
            }
        }
        if let Some((process, _)) = self.process {
            let cells = &self.facts.cells;
            let moved = edge.source != edge.target;
            let places = [cells.of_place(process, edge.source), cells.of_place(process, edge.target)];
            for cell in places.into_iter().chain([cells.of_locations()]).flatten().filter(|_| moved) {
                step.write(cell, Write::Add);
            }
        }
        step
    }

    fn action(&self, action: &Action, step: &mut Step) {
        match action {
            Action::Merged(actions) => {
                if let Some((first, rest)) = actions.split_first() {
                    self.action(first, step);
                    rest.iter().for_each(|action| self.later(action, step));
                }
            }
            Action::Block(block) => self.block(block, step),
            action => self.first(action, step),
        }
    }

    /// An action whose executability is that of the step.
    fn first(&self, action: &Action, step: &mut Step) {
        match action {
            Action::Guard(e) if !has_run(e) => {
                self.conditions(e, &mut step.guard);
                self.find(e, step);
                step.guard_breaks = self.may_fault(e);
                step.breaks |= step.guard_breaks;
            }
            Action::Send(send) => self.send(send, step, true),
            Action::Receive(receive) => self.receive(receive, step, true),
            Action::End => self.end(step),
            action => self.effect(action, step),
        }
    }

    /// An action that is executed after others of the same step.
    fn later(&self, action: &Action, step: &mut Step) {
        match action {
            Action::Send(send) => self.send(send, step, false),
            Action::Receive(receive) => self.receive(receive, step, false),
            Action::Block(block) => {
                let mut inner = Step::default();
                self.block(block, &mut inner);
                step.breaks = true;
                self.absorb(step, inner);
            }
            action => self.effect(action, step),
        }
    }

    /// What does not block.
    fn effect(&self, action: &Action, step: &mut Step) {
        match action {
            Action::Skip | Action::Else | Action::End | Action::Merged(_) | Action::Block(_) => {}
            Action::Guard(e) => self.read(e, step),
            Action::Assign(place, e) => self.assign(place, e, step),
            Action::Assert(e) => {
                self.read(e, step);
                step.asserts |= self.constant(e, 0).is_none_or(|value| value == 0);
            }
            // What is printed does not matter, unless it cannot be computed.
            Action::Print(_) => {
                operands(action).0.into_iter().filter(|e| self.may_fault(e)).for_each(|e| self.read(e, step));
            }
            Action::SetPriority(..) | Action::Send(_) | Action::Receive(_) => step.breaks = true,
        }
    }

    fn end(&self, step: &mut Step) {
        step.ends = true;
        if self.facts.numbered {
            step.guard.push(Condition::Youngest);
            step.write(self.facts.cells.roster, Write::Add);
        }
        let Some((_, process)) = self.process else { return };
        let mut own = 0;
        for local in &process.locals {
            if let Initial::Channel(_) = local.initial {
                own += local.element_count();
            }
        }
        if own > 0 {
            let before = self.key.and_then(|key| key.channels_before);
            let channels = match before {
                Some(before) => {
                    (1..=own.min(255)).fold(Channels::NONE, |set, k| set.with(Channels::one((before + k) as i32)))
                }
                None => Channels::from(self.facts.channels.global_count() as u32 + 1),
            };
            step.use_channels(channels, UseKind::Churn);
        }
        let cells = &self.facts.cells;
        for location in 0..process.locations.len() as u32 {
            if let Some((process, _)) = self.process
                && let Some(cell) = cells.of_place(process, crate::LocationId(location))
            {
                step.write(cell, Write::Add);
            }
        }
        cells.of_locations().into_iter().for_each(|cell| step.write(cell, Write::Add));
    }

    /// A block reads and changes whatever its options do; only its first node decides whether it can be taken.
    fn block(&self, block: &Block, step: &mut Step) {
        let Some((first, rest)) = block.nodes.split_first() else { return };
        let mut options = Vec::new();
        for option in &first.options {
            let mut inner = Step::default();
            match &option.action {
                // A send or a receive that starts a block may be taken for its effect as well.
                Action::Send(send) => self.send(send, &mut inner, true),
                Action::Receive(receive) => self.receive(receive, &mut inner, true),
                action => self.first(action, &mut inner),
            }
            options.push(inner);
        }
        let single = options.len() == 1;
        step.guard = match &options[..] {
            [only] => only.guard.clone(),
            options if options.iter().any(|option| option.guard.is_empty()) => Vec::new(),
            options => vec![vague(options.iter().flat_map(|option| &option.guard))],
        };
        for mut option in options {
            if !single && let Condition::Vague(cells, channels) = vague(&option.guard) {
                // Which option is taken depends on the guards.
                step.reads.extend(&cells);
                step.use_channels(channels, UseKind::Look);
                step.depends_on_absence = step.depends_on_absence.with(option.offers);
            }
            option.guard.clear();
            self.absorb(step, option);
        }
        for option in rest.iter().flat_map(|node| &node.options) {
            let mut inner = Step::default();
            self.later(&option.action, &mut inner);
            if let Action::Guard(e) = &option.action {
                self.read(e, &mut inner);
            }
            self.absorb(step, inner);
        }
        step.breaks |= !always_ends(block);
    }

    /// Adds what a part may do to a step.
    pub(super) fn absorb(&self, step: &mut Step, part: Step) {
        step.reads.extend(&part.reads);
        for (cell, write) in part.writes {
            let is_known = step.writes.iter().any(|(other, before)| *other == cell && *before != write);
            step.write(cell, if is_known { Write::Any } else { write });
        }
        for used in part.uses {
            step.use_channels(used.channels, used.kind);
        }
        if let Condition::Vague(cells, channels) = vague(&part.guard)
            && !part.guard.is_empty()
        {
            step.reads.extend(&cells);
            step.use_channels(channels, UseKind::Look);
        }
        step.offers = step.offers.with(part.offers);
        step.accepts = step.accepts.with(part.accepts);
        step.depends_on_absence = step.depends_on_absence.with(part.depends_on_absence);
        step.spawns.extend(part.spawns);
        step.ends |= part.ends;
        step.breaks |= part.breaks;
        step.guard_breaks |= part.guard_breaks;
        step.asserts |= part.asserts;
    }
}
