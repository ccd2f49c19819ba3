//! From statements to [`Step`]s.

use super::bits::{Bits, Channels};
use super::cells::{Cells, element};
use super::channels::{ChannelFlow, Target};
use super::step::{Check, Condition, Relation, Step, Subject, UseKind, Write};
use super::walk::{any_within, each_within, initial_values, operands, parts};
use super::{Facts, flow};
use crate::{
    Action, BinaryOp, Block, BlockExit, ChannelTest, ChannelTypeId, Edge, Expr, Initial, Location, Pattern, Place,
    Process, ProcessId, Program, Receive, Send, Slot, Type, UnaryOp, Variable,
};
use std::sync::Arc;

/// Constants are looked for in expressions of this depth only.
const DEPTH_MAX: u32 = 12;

/// No channel at all.
const NOWHERE: Target = Target { channels: Channels::NONE, buffered: false, rendezvous: false, ty: None, exists: true };

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
        let constant_locals = self.constant_locals(key.process);
        let mut constants = vec![None; process.locals.len()];
        for variable in &constant_locals {
            let local = &process.locals[variable.0 as usize];
            let is_own = !matches!(local.initial, Initial::Channel(_)) && process.parameter_count <= variable.0;
            constants[variable.0 as usize] = if is_own { fixed(local, 0).and_then(|values| values.first().copied()) } else { None };
        }
        for (variable, value) in constant_locals.iter().zip(&key.constants) {
            constants[variable.0 as usize] = value.or(constants[variable.0 as usize]);
        }
        let context = Context { facts: self, process: Some((key.process, process)), key: Some(&key), constants };
        let mut steps = Vec::with_capacity(shape.edge_count);
        for (at, location) in process.locations.iter().enumerate() {
            steps.extend(context.location(location, shape.middle[at]));
        }
        drop(context);
        Instance { key, steps }
    }

    /// A step that looks at what these expressions look at, and changes nothing: those that do not accord with
    /// it may change what the expressions say.
    pub fn observer(&self, expressions: &[&Expr]) -> Step {
        let context = Context { facts: self, process: None, key: None, constants: Vec::new() };
        let mut step = Step::default();
        expressions.iter().for_each(|e| context.read(e, &mut step));
        step
    }
}

/// Where an expression is evaluated.
struct Context<'f> {
    facts: &'f Facts,
    process: Option<(ProcessId, &'f Process)>,
    key: Option<&'f InstanceKey>,
    /// Values of locals that never change, as far as they are known.
    constants: Vec<Option<i32>>,
}

impl Context<'_> {
    fn program(&self) -> &Program {
        &self.facts.program
    }

    /// The steps of the edges of one location.
    fn location(&self, location: &Location, middle: bool) -> Vec<Step> {
        let edges: Vec<&Edge> = self.program().edges_of(location).map(|(_, edge)| edge).collect();
        let mut steps: Vec<Step> = edges.iter().map(|edge| self.edge(edge)).collect();
        let guards: Vec<Vec<Condition>> = steps.iter().map(|step| step.guard.clone()).collect();
        let offers: Vec<Channels> = steps.iter().map(|step| step.offers).collect();
        let mut reads = Bits::default();
        steps.iter().for_each(|step| reads.extend(&step.reads));
        let escapes = edges.iter().any(|edge| edge.escape != 0);
        for (at, step) in steps.iter_mut().enumerate() {
            let wonders = offers.iter().fold(Channels::NONE, |all, offers| all.with(*offers));
            if escapes {
                step.guard = vec![vague(guards.iter().flatten())];
                step.reads.extend(&reads);
                step.wonders = wonders;
            } else if self.is_else(edges[at]) {
                step.guard.extend(guards[..at].iter().flat_map(|guard| otherwise(guard)));
                step.wonders = offers[..at].iter().fold(Channels::NONE, |all, offers| all.with(*offers));
            }
            if middle {
                if let Condition::Vague(cells, channels) = vague(&step.guard) {
                    step.reads.extend(&cells);
                    step.use_channels(channels, UseKind::Look);
                }
                step.wonders = step.wonders.with(step.offers);
            }
        }
        steps
    }

    fn action_of(&self, edge: &Edge) -> Option<&Action> {
        Some(&self.process?.1.statements.get(edge.statement.0 as usize)?.action)
    }

    /// Whether what an edge can do depends on the edges before it.
    fn is_else(&self, edge: &Edge) -> bool {
        match self.action_of(edge) {
            Some(Action::Else) => true,
            Some(Action::Merged(actions)) => matches!(actions.first(), Some(Action::Else)),
            Some(Action::Block(block)) => block
                .nodes
                .first()
                .is_some_and(|node| node.options.first().is_some_and(|option| option.action == Action::Else)),
            _ => false,
        }
    }

    fn edge(&self, edge: &Edge) -> Step {
        let mut step = Step::default();
        if let Some(action) = self.action_of(edge) {
            self.action(action, &mut step);
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
                step.breaks |= self.may_fault(e);
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
        step.guard.push(Condition::Youngest);
        step.write(self.facts.cells.roster, Write::Add);
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
                step.wonders = step.wonders.with(option.offers);
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
    fn absorb(&self, step: &mut Step, part: Step) {
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
        step.wonders = step.wonders.with(part.wonders);
        step.spawns.extend(part.spawns);
        step.ends |= part.ends;
        step.breaks |= part.breaks;
        step.asserts |= part.asserts;
    }

    fn send(&self, send: &Send, step: &mut Step, first: bool) {
        let target = self.target(&send.channel);
        self.read(&send.channel, step);
        send.fields.iter().for_each(|e| self.read(e, step));
        step.breaks |= !target.exists || !self.facts.channels.fits(self.program(), &target, send.fields.len());
        if target.rendezvous {
            step.offers = step.offers.with(target.channels);
            step.guard.push(Condition::Partner);
            step.guard.push(vague(&[self.choice(&send.channel, &NOWHERE), self.vague_all(&send.fields)]));
        }
        if !target.buffered {
            return;
        }
        if !first {
            step.breaks = true;
            return step.use_channels(target.channels, UseKind::Churn);
        }
        step.guard.push(if self.is_settled(&send.channel) {
            let check = self.fullness(&target, false);
            Condition::Level { channels: target.channels, on_rise: false, on_fall: true, check }
        } else {
            self.choice(&send.channel, &target)
        });
        let kind = if send.sorted { UseKind::Insert } else { UseKind::Append(self.sent(&target, &send.fields)) };
        step.use_channels(target.channels, kind);
    }

    /// Constants that a message will hold.
    fn sent(&self, target: &Target, fields: &[Expr]) -> Vec<Option<i32>> {
        let types = target.ty.and_then(|ty| self.program().channel_types.get(ty.0 as usize));
        let stored = |(k, e): (usize, &Expr)| {
            let ty: Type = *types?.fields.get(k)?;
            Some(ty.truncate(self.constant(e, 0)?))
        };
        fields.iter().enumerate().map(stored).collect()
    }

    fn receive(&self, receive: &Receive, step: &mut Step, first: bool) {
        let target = self.target(&receive.channel);
        self.read(&receive.channel, step);
        step.breaks |= !target.exists || !self.facts.channels.fits(self.program(), &target, receive.fields.len());
        step.breaks |= receive.keep && target.rendezvous;
        let mut fields = Vec::new();
        let (mut is_open, mut is_settled) = (true, self.is_settled(&receive.channel));
        let mut choice = self.choice(&receive.channel, &target);
        for field in &receive.fields {
            fields.push(match field {
                Pattern::Match(e) => {
                    is_open = false;
                    is_settled &= self.is_settled(e);
                    choice = vague([&choice, &self.vague(e)]);
                    self.read(e, step);
                    self.constant(e, 0)
                }
                Pattern::Store(place) => {
                    self.store(place, step);
                    None
                }
                Pattern::Ignore => None,
            });
        }
        if target.rendezvous {
            step.accepts = step.accepts.with(target.channels);
            step.guard.push(Condition::Partner);
            let mut matched = self.choice(&receive.channel, &NOWHERE);
            for field in &receive.fields {
                if let Pattern::Match(e) = field {
                    matched = vague([&matched, &self.vague(e)]);
                }
            }
            step.guard.push(matched);
        }
        if !target.buffered {
            if !target.rendezvous {
                step.guard.push(Condition::Never);
            }
            return;
        }
        if !first {
            step.breaks = true;
            return step.use_channels(target.channels, UseKind::Churn);
        }
        let any = receive.any;
        let single = target.channels.single();
        let check = single.filter(|_| !target.rendezvous).map(|channel| Check {
            subject: Subject::Length(channel),
            relation: Relation::GREATER,
            value: 0,
        });
        if is_settled {
            step.guard.push(Condition::Level { channels: target.channels, on_rise: true, on_fall: false, check });
        } else {
            step.guard.push(choice);
        }
        if !is_open && is_settled {
            let fields = fields.clone();
            step.guard.push(Condition::Message { channels: target.channels, any, fields });
        }
        let kind = if receive.keep { UseKind::Peek { any, fields } } else { UseKind::Take { any, fields } };
        step.use_channels(target.channels, kind);
    }

    /// How to look up whether a channel is full, or is not.
    fn fullness(&self, target: &Target, full: bool) -> Option<Check> {
        let channel = target.channels.single().filter(|_| !target.rendezvous)?;
        let capacity = self.program().channel_types.get(target.ty?.0 as usize)?.capacity;
        let relation = if full { Relation::EQUAL } else { Relation::NOT_EQUAL };
        Some(Check { subject: Subject::Length(channel), relation, value: i32::try_from(capacity).ok()? })
    }

    /// What is known of the channel that an expression names.
    fn target(&self, e: &Expr) -> Target {
        let flow = &self.facts.channels;
        let at = self.process.map(|(process, _)| process.0 as usize);
        if let Some((channel, ty)) = self.own_channel(e) {
            let capacity = self.program().channel_types.get(ty.0 as usize).map_or(0, |ty| ty.capacity);
            let channels = channel.map_or_else(
                || Channels::from(flow.global_count() as u32 + 1),
                |channel| Channels::one(channel as i32),
            );
            return Target { channels, buffered: capacity > 0, rendezvous: capacity == 0, ty: Some(ty), exists: true };
        }
        if let Some(identity) = self.constant(e, 0) {
            return flow.target(self.program(), Channels::one(identity), identity > 0);
        }
        let channels = flow.named(self.program(), at, e);
        flow.target(self.program(), channels, self.is_initialised(e))
    }

    /// Whether an expression is a variable that holds a channel from the start.
    fn is_initialised(&self, e: &Expr) -> bool {
        let Expr::Load(place) = e else { return false };
        self.variable(place.slot).is_some_and(|variable| matches!(variable.initial, Initial::Channel(_)))
    }

    /// The channel that a process created for itself and keeps, and its type.
    fn own_channel(&self, e: &Expr) -> Option<(Option<u32>, ChannelTypeId)> {
        let Expr::Load(Place { slot: Slot::Local(v), indices }) = e else { return None };
        let (process, kind) = self.process?;
        let variable = kind.locals.get(v.0 as usize)?;
        let Initial::Channel(ty) = variable.initial else { return None };
        if self.facts.locals_written[process.0 as usize][v.0 as usize] {
            return None;
        }
        let mut before = 0;
        for (index, local) in kind.locals.iter().enumerate().take(v.0 as usize) {
            let is_parameter = index < kind.parameter_count as usize;
            if matches!(local.initial, Initial::Channel(_)) && !is_parameter {
                before += local.element_count();
            }
        }
        let indices: Option<Vec<i32>> = indices.iter().map(|e| self.constant(e, 0)).collect();
        let element = indices.and_then(|indices| element(variable, &indices));
        let older = self.key.and_then(|key| key.channels_before);
        Some((element.zip(older).map(|(element, older)| older + before + element + 1), ty))
    }

    fn variable(&self, slot: Slot) -> Option<&Variable> {
        match slot {
            Slot::Global(v) => self.program().globals.get(v.0 as usize),
            Slot::Local(v) => self.process?.1.locals.get(v.0 as usize),
        }
    }

    /// Cells of a place, and whether they are one that stands for this place alone.
    fn cells_of(&self, place: &Place) -> (std::ops::Range<u32>, bool) {
        let Some(variable) = self.variable(place.slot) else { return (0..0, false) };
        let process = self.process.map(|(process, _)| process);
        self.facts.cells.of_slot(process, place.slot, self.element_of(place), variable.element_count())
    }

    /// The element that a place names, if its indices are constant.
    fn element_of(&self, place: &Place) -> Option<u32> {
        let indices: Option<Vec<i32>> = place.indices.iter().map(|e| self.constant(e, 0)).collect();
        element(self.variable(place.slot)?, &indices?)
    }

    fn assign(&self, place: &Place, e: &Expr, step: &mut Step) {
        place.indices.iter().for_each(|index| self.read(index, step));
        step.breaks |= !self.is_within(place);
        let (cells, alone) = self.cells_of(place);
        let mut write = Write::Any;
        if alone && let Some(variable) = self.variable(place.slot) {
            if let Some(value) = self.constant(e, 0) {
                write = Write::Constant(variable.ty.truncate(value));
            } else if let Some(change) = self.change_of(place, e) {
                self.read(change, step);
                cells.for_each(|cell| step.write(cell, Write::Add));
                return;
            }
        }
        self.read(e, step);
        cells.for_each(|cell| step.write(cell, self.own(place.slot, write)));
    }

    /// A cell of a local stands for this local in each process of a type: they do not write to the same.
    fn own(&self, slot: Slot, write: Write) -> Write {
        match slot {
            Slot::Global(_) => write,
            Slot::Local(_) => Write::Add,
        }
    }

    /// In `place = place + e` or `place - e`, the `e`.
    fn change_of<'e>(&self, place: &Place, e: &'e Expr) -> Option<&'e Expr> {
        let Expr::Binary(op, a, b) = e else { return None };
        let is_place = |e: &Expr| matches!(e, Expr::Load(other) if other == place);
        match op {
            BinaryOp::Add if is_place(a) => Some(b),
            BinaryOp::Add if is_place(b) => Some(a),
            BinaryOp::Subtract if is_place(a) => Some(b),
            _ => None,
        }
    }

    fn store(&self, place: &Place, step: &mut Step) {
        place.indices.iter().for_each(|index| self.read(index, step));
        step.breaks |= !self.is_within(place);
        self.cells_of(place).0.for_each(|cell| step.write(cell, self.own(place.slot, Write::Any)));
    }

    /// Notes everything that the value of an expression depends on, and what evaluating it does.
    fn read(&self, e: &Expr, step: &mut Step) {
        step.breaks |= self.may_fault(e);
        each_within(e, |part| self.read_part(part, step));
    }

    fn read_part(&self, part: &Expr, step: &mut Step) {
        let cells = &self.facts.cells;
        match part {
            Expr::Load(place) => self.cells_of(place).0.for_each(|cell| step.reads.insert(cell as usize)),
            Expr::Length(channel) | Expr::Test(_, channel) | Expr::Poll { channel, .. } => {
                step.use_channels(self.target(channel).channels, UseKind::Look);
            }
            Expr::Run { process, .. } => {
                step.reads.insert(cells.roster as usize);
                step.write(cells.roster, Write::Any);
                step.spawns.push(*process);
                if let Some(kind) = self.program().processes.get(process.0 as usize) {
                    let context = Context {
                        facts: self.facts,
                        process: Some((*process, kind)),
                        key: None,
                        constants: Vec::new(),
                    };
                    let values = kind.locals.iter().flat_map(|local| initial_values(&local.initial));
                    values.filter(|e| !has_run(e)).for_each(|e| context.read(e, step));
                    for location in 0..kind.locations.len() as u32 {
                        let cell = cells.of_place(*process, crate::LocationId(location));
                        cell.into_iter().for_each(|cell| step.write(cell, Write::Add));
                    }
                    for local in 0..kind.locals.len() as u32 {
                        let cell = cells.of_remote(*process, crate::VariableId(local));
                        cell.into_iter().for_each(|cell| step.write(cell, Write::Add));
                    }
                    cells.of_locations().into_iter().for_each(|cell| step.write(cell, Write::Add));
                }
            }
            Expr::ProcessCount | Expr::Enabled(_) | Expr::PriorityOf(_) => step.reads.insert(cells.roster as usize),
            Expr::LocationOf(_) | Expr::NonProgress => {
                step.reads.insert(cells.roster as usize);
                cells.of_locations().into_iter().for_each(|cell| step.reads.insert(cell as usize));
            }
            Expr::At { process, location, .. } => {
                step.reads.insert(cells.roster as usize);
                cells.of_place(*process, *location).into_iter().for_each(|cell| step.reads.insert(cell as usize));
            }
            Expr::Remote { process, variable, .. } => {
                step.reads.insert(cells.roster as usize);
                cells.of_remote(*process, *variable).into_iter().for_each(|cell| step.reads.insert(cell as usize));
            }
            _ => {}
        }
    }

    /// Splits a guard into the parts that must all hold.
    fn conditions(&self, e: &Expr, guard: &mut Vec<Condition>) {
        let mut open = vec![(e, true)];
        while let Some((e, wanted)) = open.pop() {
            match e {
                Expr::Unary(UnaryOp::Not, a) => open.push((a, !wanted)),
                Expr::Binary(BinaryOp::And, a, b) if wanted => open.extend([(&**b, true), (&**a, true)]),
                Expr::Binary(BinaryOp::Or, a, b) if !wanted => open.extend([(&**b, false), (&**a, false)]),
                e => {
                    if let (Expr::Poll { channel, .. }, true) = (e, wanted) {
                        guard.push(self.level(ChannelTest::NotEmpty, channel, true));
                    }
                    guard.extend(self.condition(e, wanted));
                }
            }
        }
    }

    /// One part of a guard; `None` if it always holds.
    fn condition(&self, e: &Expr, wanted: bool) -> Option<Condition> {
        if let Some(value) = self.constant(e, 0) {
            return ((value != 0) != wanted).then_some(Condition::Never);
        }
        let sided = |relation: Relation| if wanted { relation } else { relation.not() };
        match e {
            Expr::Timeout => return wanted.then_some(Condition::Never),
            Expr::Binary(op, a, b) => {
                if let Some(relation) = Relation::of(*op) {
                    if let Some(k) = self.constant(b, 0) {
                        return Some(self.comparison(a, sided(relation), k));
                    }
                    if let Some(k) = self.constant(a, 0) {
                        return Some(self.comparison(b, sided(relation.flip()), k));
                    }
                }
            }
            Expr::Load(_) | Expr::Length(_) | Expr::ProcessCount => {
                return Some(self.comparison(e, sided(Relation::NOT_EQUAL), 0));
            }
            Expr::Test(test, channel) => return Some(self.level(*test, channel, wanted)),
            Expr::Poll { channel, any, fields } if wanted && !has_load(fields) => {
                let target = self.target(channel);
                if self.is_settled(channel) {
                    let fields = fields.iter().map(|field| match field {
                        Pattern::Match(e) => self.constant(e, 0),
                        _ => None,
                    });
                    let fields = fields.collect();
                    return Some(Condition::Message { channels: target.channels, any: *any, fields });
                }
            }
            _ => {}
        }
        Some(self.vague(e))
    }

    /// Whether others cannot change the value of an expression.
    fn is_settled(&self, e: &Expr) -> bool {
        let mut step = Step::default();
        self.read(e, &mut step);
        step.reads.is_empty() && step.uses.is_empty()
    }

    /// Depends on which channel an expression names, and on what is in it.
    fn choice(&self, channel: &Expr, target: &Target) -> Condition {
        let mut step = Step::default();
        self.read(channel, &mut step);
        Condition::Vague(step.reads, step.touched.with(target.channels))
    }

    fn vague(&self, e: &Expr) -> Condition {
        let mut step = Step::default();
        self.read(e, &mut step);
        Condition::Vague(step.reads, step.touched)
    }

    fn vague_all(&self, expressions: &[Expr]) -> Condition {
        let mut step = Step::default();
        expressions.iter().for_each(|e| self.read(e, &mut step));
        Condition::Vague(step.reads, step.touched)
    }

    fn comparison(&self, e: &Expr, relation: Relation, value: i32) -> Condition {
        match e {
            Expr::Load(place) if self.is_within(place) => {
                let (cells, alone) = self.cells_of(place);
                let check = self.element_of(place).map(|element| {
                    let subject = match place.slot {
                        Slot::Global(v) => Subject::Global(v, element),
                        Slot::Local(v) => Subject::Local(v, element),
                    };
                    Check { subject, relation, value }
                });
                match (check, place.slot) {
                    (Some(check), Slot::Local(_)) if cells.is_empty() => Condition::Private(check),
                    (Some(check), Slot::Global(_)) if alone => Condition::Cell(cells.start, check),
                    _ => self.vague(e),
                }
            }
            Expr::ProcessCount => {
                Condition::Cell(self.facts.cells.roster, Check { subject: Subject::ProcessCount, relation, value })
            }
            Expr::Length(channel) if self.is_settled(channel) => {
                let target = self.target(channel);
                let single = target.channels.single().filter(|_| !target.rendezvous);
                let (on_rise, on_fall) = Check { subject: Subject::ProcessCount, relation, value }.level();
                Condition::Level {
                    channels: target.channels,
                    on_rise,
                    on_fall,
                    check: single.map(|channel| Check { subject: Subject::Length(channel), relation, value }),
                }
            }
            e => self.vague(e),
        }
    }

    fn level(&self, test: ChannelTest, channel: &Expr, wanted: bool) -> Condition {
        let target = self.target(channel);
        if !self.is_settled(channel) {
            return self.choice(channel, &target);
        }
        let (about_full, positive) = match test {
            ChannelTest::Full => (true, wanted),
            ChannelTest::NotFull => (true, !wanted),
            ChannelTest::Empty => (false, wanted),
            ChannelTest::NotEmpty => (false, !wanted),
        };
        let check = if about_full {
            self.fullness(&target, positive)
        } else {
            let relation = if positive { Relation::EQUAL } else { Relation::NOT_EQUAL };
            let single = target.channels.single().filter(|_| !target.rendezvous);
            single.map(|channel| Check { subject: Subject::Length(channel), relation, value: 0 })
        };
        // Full and not-empty become true as messages come, the others as they go.
        let on_rise = about_full == positive;
        Condition::Level { channels: target.channels, on_rise, on_fall: !on_rise, check }
    }

    /// The value of an expression that is the same in all states, as far as this is easy to see.
    fn constant(&self, e: &Expr, depth: u32) -> Option<i32> {
        if DEPTH_MAX < depth {
            return None;
        }
        let value = |e: &Expr| self.constant(e, depth + 1);
        match e {
            Expr::Constant(k) => Some(*k),
            Expr::Pid => self.key?.pid.map(i32::from),
            Expr::Load(place) => {
                let indices: Option<Vec<i32>> = place.indices.iter().map(value).collect();
                let element = element(self.variable(place.slot)?, &indices?)?;
                match place.slot {
                    Slot::Global(v) => {
                        self.facts.constant_globals.get(v.0 as usize)?.as_ref()?.get(element as usize).copied()
                    }
                    Slot::Local(v) => self.constants.get(v.0 as usize).copied()?,
                }
            }
            Expr::Unary(op, a) => {
                let a = value(a)?;
                Some(match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Negate => a.wrapping_neg(),
                    UnaryOp::Complement => !a,
                })
            }
            Expr::Binary(op, a, b) => fold(*op, value(a)?, value(b)?),
            Expr::Conditional(a, b, c) => value(if value(a)? != 0 { b } else { c }),
            _ => None,
        }
    }

    /// Bounds of an expression's values.
    fn bounds(&self, e: &Expr, depth: u32) -> (i64, i64) {
        let all = (i64::from(i32::MIN), i64::from(i32::MAX));
        if DEPTH_MAX < depth {
            return all;
        }
        if let Some(value) = self.constant(e, depth) {
            return (value.into(), value.into());
        }
        let of = |e: &Expr| self.bounds(e, depth + 1);
        let fitting = |(low, high): (i64, i64)| if all.0 <= low && high <= all.1 { (low, high) } else { all };
        match e {
            Expr::Load(place) => self.variable(place.slot).map_or(all, |variable| type_bounds(variable.ty)),
            Expr::Remote { process, variable, .. } => {
                let kind = self.program().processes.get(process.0 as usize);
                let local = kind.and_then(|kind| kind.locals.get(variable.0 as usize));
                local.map_or(all, |local| type_bounds(local.ty))
            }
            Expr::Pid | Expr::ProcessCount => (0, crate::PROCESSES_MAX as i64),
            Expr::Test(..) | Expr::Poll { .. } | Expr::Timeout | Expr::NonProgress | Expr::Enabled(_) => (0, 1),
            Expr::At { .. } | Expr::Unary(UnaryOp::Not, _) => (0, 1),
            Expr::Binary(op, a, b) => {
                let ((a_low, a_high), (b_low, b_high)) = (of(a), of(b));
                match op {
                    BinaryOp::Add => fitting((a_low + b_low, a_high + b_high)),
                    BinaryOp::Subtract => fitting((a_low - b_high, a_high - b_low)),
                    BinaryOp::Remainder if 0 < b_low && 0 <= a_low => (0, a_high.min(b_high - 1)),
                    BinaryOp::Remainder if 0 < b_low => (1 - b_high, b_high - 1),
                    BinaryOp::Divide if 0 < b_low && 0 <= a_low => (0, a_high),
                    BinaryOp::BitAnd if 0 <= b_low => (0, b_high),
                    BinaryOp::BitAnd if 0 <= a_low => (0, a_high),
                    op if Relation::of(*op).is_some() => (0, 1),
                    BinaryOp::And | BinaryOp::Or => (0, 1),
                    _ => all,
                }
            }
            Expr::Conditional(_, a, b) => {
                let (a, b) = (of(a), of(b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            _ => all,
        }
    }

    /// Whether the indices of a place are always within the array.
    fn is_within(&self, place: &Place) -> bool {
        self.variable(place.slot).is_some_and(|variable| self.are_within(&place.indices, variable))
    }

    fn are_within(&self, indices: &[Expr], variable: &Variable) -> bool {
        indices.iter().zip(&variable.dimensions).all(|(e, length)| {
            let (low, high) = self.bounds(e, 0);
            0 <= low && high < i64::from(*length)
        })
    }

    /// Whether evaluating an expression may be a fault.
    fn may_fault(&self, e: &Expr) -> bool {
        any_within(e, |part| match part {
            Expr::Load(place) => !place.indices.is_empty() && !self.is_within(place),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, _, b) => {
                let (low, high) = self.bounds(b, 0);
                low <= 0 && 0 <= high
            }
            Expr::Length(channel) | Expr::Test(_, channel) => !self.target(channel).exists,
            Expr::Poll { channel, .. } => {
                let target = self.target(channel);
                !target.exists || target.rendezvous
            }
            Expr::Run { .. } => !self.facts.fits,
            Expr::Remote { process, variable, indices, .. } => {
                let kind = self.program().processes.get(process.0 as usize);
                let local = kind.and_then(|kind| kind.locals.get(variable.0 as usize));
                local.is_none_or(|local| !self.are_within(indices, local))
            }
            Expr::Enabled(_) => true,
            _ => false,
        })
    }
}

/// All that these conditions depend on.
fn vague<'c>(conditions: impl IntoIterator<Item = &'c Condition>) -> Condition {
    let (mut all_cells, mut all_channels) = (Bits::default(), Channels::NONE);
    for condition in conditions {
        match condition {
            Condition::Never | Condition::Private(_) | Condition::Partner => {}
            Condition::Cell(cell, _) => all_cells.insert(*cell as usize),
            Condition::Level { channels, .. } | Condition::Message { channels, .. } => {
                all_channels = all_channels.with(*channels);
            }
            // The first cell says which processes there are.
            Condition::Youngest => all_cells.insert(0),
            Condition::Vague(cells, channels) => {
                all_cells.extend(cells);
                all_channels = all_channels.with(*channels);
            }
        }
    }
    Condition::Vague(all_cells, all_channels)
}

/// That a guard does not hold, as parts that must all hold.
fn otherwise(guard: &[Condition]) -> Vec<Condition> {
    let not = |check: Check| Check { relation: check.relation.not(), ..check };
    match guard {
        [] => vec![Condition::Never],
        [Condition::Never] => Vec::new(),
        [Condition::Cell(cell, check)] => vec![Condition::Cell(*cell, not(*check))],
        [Condition::Private(check)] => vec![Condition::Private(not(*check))],
        [Condition::Level { channels, on_rise, on_fall, check }] => {
            vec![Condition::Level { channels: *channels, on_rise: *on_fall, on_fall: *on_rise, check: check.map(not) }]
        }
        guard if guard.contains(&Condition::Never) => Vec::new(),
        // Whether somebody is there to receive is another question; a receive alone is never executable.
        guard => vec![vague(guard)],
    }
}

fn type_bounds(ty: Type) -> (i64, i64) {
    let bits = u32::from(ty.bits.clamp(1, 32));
    if ty.signed || bits == 32 { (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1) } else { (0, (1_i64 << bits) - 1) }
}

fn fold(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    if let Some(relation) = Relation::of(op) {
        return Some(i32::from(relation.holds(a, b)));
    }
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide if b != 0 => a.wrapping_div(b),
        BinaryOp::Remainder if b != 0 => a.wrapping_rem(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::Or => i32::from(a != 0 || b != 0),
        _ => return None,
    })
}

fn has_run(e: &Expr) -> bool {
    any_within(e, |part| matches!(part, Expr::Run { .. }))
}

/// Whether a match looks at a variable.
fn has_load(fields: &[Pattern]) -> bool {
    fields
        .iter()
        .any(|field| matches!(field, Pattern::Match(e) if any_within(e, |part| !matches!(part, Expr::Constant(_)))))
}

/// Whether a block surely comes to its end: it goes forward only, and past its first node an option is
/// always executable.
fn always_ends(block: &Block) -> bool {
    block.nodes.iter().enumerate().all(|(at, node)| {
        let forward = |exit: BlockExit| {
            matches!(exit, BlockExit::Leave) || matches!(exit, BlockExit::Node(to) if at < to as usize)
        };
        let open = |action: &Action| {
            matches!(action, Action::Skip | Action::Else | Action::Assign(..) | Action::Assert(_) | Action::Print(_))
        };
        node.options.iter().all(|option| forward(option.next))
            && (at == 0 || node.options.iter().any(|option| open(&option.action)))
    })
}
