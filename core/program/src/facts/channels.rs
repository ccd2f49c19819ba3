//! Which channels a variable may hold: channels flow from where they are created through assignments,
//! parameters and messages.

use super::bits::Channels;
use super::walk::{any_within, each_within, initial_values, operands, parts};
use crate::{Action, ChannelType, ChannelTypeId, Expr, Initial, Kind, Pattern, Place, Program, Slot, Variable};

/// What is known of the channel that an expression names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Target {
    /// It is one of these.
    pub channels: Channels,
    /// Some of them may hold messages.
    pub buffered: bool,
    /// Some of them may be a rendezvous.
    pub rendezvous: bool,
    /// Its type, if that is known.
    pub ty: Option<ChannelTypeId>,
    /// It surely exists when it is used.
    pub exists: bool,
}

/// Which channels each variable may hold.
#[derive(Clone, Debug)]
pub(super) struct ChannelFlow {
    pub globals: Vec<Channels>,
    /// For each local of each process type.
    pub locals: Vec<Vec<Channels>>,
    /// For each position in a message, on whatever channel.
    fields: Vec<Channels>,
    /// Types of the channels of global variables, by identity from 1.
    global_types: Vec<ChannelTypeId>,
    /// Some channel of a process may hold messages, or is a rendezvous.
    local_buffered: bool,
    local_rendezvous: bool,
    /// All channels of processes have this many fields.
    local_fields: Option<usize>,
}

impl ChannelFlow {
    pub(super) fn of(program: &Program) -> Self {
        let mut flow = Self::at_creation(program);
        while flow.round(program) {}
        flow
    }

    fn at_creation(program: &Program) -> Self {
        let mut global_types = Vec::new();
        let globals = program.globals.iter().map(|global| {
            let mut own = Channels::NONE;
            if let Initial::Channel(ty) = global.initial {
                for _ in 0..global.element_count().min(256) {
                    global_types.push(ty);
                    own = own.with(Channels::one(global_types.len() as i32));
                }
            }
            own
        });
        let globals = globals.collect();
        let of_processes = Channels::from(global_types.len() as u32 + 1);
        let created = |local: &Variable| match local.initial {
            Initial::Channel(_) => of_processes,
            _ => Channels::NONE,
        };
        let locals = program.processes.iter().map(|process| process.locals.iter().map(created).collect());
        let mut local_types = Vec::new();
        for local in program.processes.iter().flat_map(|process| &process.locals) {
            if let Initial::Channel(ty) = local.initial {
                local_types.extend(program.channel_types.get(ty.0 as usize));
            }
        }
        let fields = |ty: &&ChannelType| ty.fields.len();
        let first = local_types.first().map(fields);
        Self {
            globals,
            locals: locals.collect(),
            fields: Vec::new(),
            local_buffered: local_types.iter().any(|ty| ty.capacity > 0),
            local_rendezvous: local_types.iter().any(|ty| ty.capacity == 0),
            local_fields: first.filter(|count| local_types.iter().map(fields).all(|other| other == *count)),
            global_types,
        }
    }

    /// Number of channels that belong to global variables.
    pub(super) fn global_count(&self) -> usize {
        self.global_types.len()
    }

    /// Lets channels flow over every assignment once; whether anything changed.
    fn round(&mut self, program: &Program) -> bool {
        let mut changed = false;
        for (index, global) in program.globals.iter().enumerate() {
            for e in initial_values(&global.initial) {
                let value = self.value(program, None, e, global.ty.kind);
                changed |= join(&mut self.globals[index], value);
                changed |= self.runs(program, None, e);
            }
        }
        for (at, process) in program.processes.iter().enumerate() {
            for (index, local) in process.locals.iter().enumerate() {
                for e in initial_values(&local.initial) {
                    let value = self.value(program, Some(at), e, local.ty.kind);
                    changed |= join(&mut self.locals[at][index], value);
                    changed |= self.runs(program, Some(at), e);
                }
            }
            for action in process.statements.iter().flat_map(|statement| parts(&statement.action)) {
                changed |= self.action(program, at, action);
            }
        }
        changed
    }

    fn action(&mut self, program: &Program, at: usize, action: &Action) -> bool {
        let mut changed = false;
        for e in operands(action).0 {
            changed |= self.runs(program, Some(at), e);
        }
        match action {
            Action::Assign(place, e) => {
                let value = self.value(program, Some(at), e, kind_of(program, Some(at), place));
                changed |= self.store(at, place, value);
            }
            Action::Send(send) => {
                let channels = self.named(program, Some(at), &send.channel);
                for (k, e) in send.fields.iter().enumerate() {
                    let kind = if self.field_kinds(program, channels, k).0 { Kind::Channel } else { Kind::Number };
                    let value = self.value(program, Some(at), e, kind);
                    changed |= join(self.field(k), value);
                }
            }
            Action::Receive(receive) => {
                let channels = self.named(program, Some(at), &receive.channel);
                for (k, field) in receive.fields.iter().enumerate() {
                    if let Pattern::Store(place) = field {
                        let is_number = self.field_kinds(program, channels, k).1;
                        let is_channel = kind_of(program, Some(at), place) == Kind::Channel;
                        let value = if is_number && is_channel { Channels::ALL } else { *self.field(k) };
                        changed |= self.store(at, place, value);
                    }
                }
            }
            _ => {}
        }
        changed
    }

    /// Whether some of these channels have a channel as field `k` of their messages, and whether something else.
    fn field_kinds(&self, program: &Program, channels: Channels, k: usize) -> (bool, bool) {
        let mut kinds = (false, false);
        let local = channels.meets(Channels::from(self.global_count() as u32 + 1));
        for (at, ty) in program.channel_types.iter().enumerate() {
            let is_named = |index: usize| channels.meets(Channels::one(index as i32 + 1));
            let mut of_globals = self.global_types.iter().enumerate().filter(|(_, ty)| ty.0 as usize == at);
            if (local || of_globals.any(|(index, _)| is_named(index)))
                && let Some(field) = ty.fields.get(k)
            {
                kinds.0 |= field.kind == Kind::Channel;
                kinds.1 |= field.kind != Kind::Channel;
            }
        }
        kinds
    }

    fn field(&mut self, k: usize) -> &mut Channels {
        if self.fields.len() <= k {
            self.fields.resize(k + 1, Channels::NONE);
        }
        &mut self.fields[k]
    }

    fn store(&mut self, at: usize, place: &Place, value: Channels) -> bool {
        let target = match place.slot {
            Slot::Global(v) => self.globals.get_mut(v.0 as usize),
            Slot::Local(v) => self.locals[at].get_mut(v.0 as usize),
        };
        target.is_some_and(|target| join(target, value))
    }

    /// Parameters of the processes that an expression creates.
    fn runs(&mut self, program: &Program, at: Option<usize>, e: &Expr) -> bool {
        let mut found = Vec::new();
        each_within(e, |part| {
            if let Expr::Run { process, arguments, .. } = part {
                found.push((process.0 as usize, arguments));
            }
        });
        let mut changed = false;
        for (child, arguments) in found {
            for (k, argument) in arguments.iter().enumerate() {
                let Some(local) = program.processes.get(child).and_then(|process| process.locals.get(k)) else { break };
                let value = self.value(program, at, argument, local.ty.kind);
                changed |= join(&mut self.locals[child][k], value);
            }
        }
        changed
    }

    /// The channels that the value of an expression may be, if it goes to something of a kind.
    fn value(&self, program: &Program, at: Option<usize>, e: &Expr, kind: Kind) -> Channels {
        let mut all = Channels::NONE;
        let mut open = vec![e];
        while let Some(e) = open.pop() {
            all = all.with(match e {
                Expr::Load(place) if kind == Kind::Channel && kind_of(program, at, place) != Kind::Channel => {
                    Channels::ALL
                }
                Expr::Load(place) => self.slot(at, place.slot),
                Expr::Remote { process, variable, .. } => self
                    .locals
                    .get(process.0 as usize)
                    .and_then(|locals| locals.get(variable.0 as usize))
                    .copied()
                    .unwrap_or_default(),
                Expr::Conditional(_, a, b) => {
                    open.extend([&**a, &**b]);
                    Channels::NONE
                }
                Expr::Constant(0) => Channels::NONE,
                _ if kind == Kind::Channel => Channels::ALL,
                // A number computed from a channel may be any channel.
                e if any_within(
                    e,
                    |part| matches!(part, Expr::Load(place) if !self.slot(at, place.slot).is_empty()),
                ) && !is_test(e) =>
                {
                    Channels::ALL
                }
                _ => Channels::NONE,
            });
        }
        all
    }

    fn slot(&self, at: Option<usize>, slot: Slot) -> Channels {
        let held = match slot {
            Slot::Global(v) => self.globals.get(v.0 as usize),
            Slot::Local(v) => at.and_then(|at| self.locals[at].get(v.0 as usize)),
        };
        held.copied().unwrap_or_default()
    }

    /// The channel that an expression names in a channel operation, as far as its form tells.
    pub(super) fn named(&self, program: &Program, at: Option<usize>, e: &Expr) -> Channels {
        match e {
            Expr::Constant(identity) => Channels::one(*identity),
            Expr::Load(place) if kind_of(program, at, place) == Kind::Channel => self.slot(at, place.slot),
            Expr::Conditional(..) | Expr::Remote { .. } => self.value(program, at, e, Kind::Channel),
            _ => Channels::ALL,
        }
    }

    /// What is known of channels of whose creation nothing else is known.
    pub(super) fn target(&self, program: &Program, channels: Channels, exists: bool) -> Target {
        let local = channels.meets(Channels::from(self.global_count() as u32 + 1));
        let mut target = Target {
            channels,
            buffered: local && self.local_buffered,
            rendezvous: local && self.local_rendezvous,
            ty: None,
            exists: exists && !local,
        };
        for (index, ty) in self.global_types.iter().enumerate() {
            if channels.meets(Channels::one(index as i32 + 1)) {
                let is_buffered = program.channel_types.get(ty.0 as usize).is_some_and(|ty| ty.capacity > 0);
                target.buffered |= is_buffered;
                target.rendezvous |= !is_buffered;
            }
        }
        if let Some(identity) = channels.single() {
            target.ty = self.global_types.get(identity - 1).copied();
        }
        target
    }

    /// How many messages a channel of a global variable has room for; `None` if it is a rendezvous.
    pub(super) fn capacity(&self, program: &Program, channel: usize) -> Option<u32> {
        let ty = program.channel_types.get(self.global_types.get(channel.checked_sub(1)?)?.0 as usize)?;
        (ty.capacity > 0).then_some(ty.capacity)
    }

    /// Whether a message of this many fields fits every channel of a target.
    pub(super) fn fits(&self, program: &Program, target: &Target, fields: usize) -> bool {
        let count = |ty: &ChannelTypeId| program.channel_types.get(ty.0 as usize).map(|ty| ty.fields.len());
        if let Some(ty) = target.ty {
            return count(&ty) == Some(fields);
        }
        let local = target.channels.meets(Channels::from(self.global_count() as u32 + 1));
        let named = |index: usize| target.channels.meets(Channels::one(index as i32 + 1));
        (!local || self.local_fields == Some(fields))
            && self.global_types.iter().enumerate().all(|(index, ty)| !named(index) || count(ty) == Some(fields))
    }
}

/// Whether an expression looks at channels without its value being one.
fn is_test(e: &Expr) -> bool {
    matches!(e, Expr::Length(_) | Expr::Test(..) | Expr::Poll { .. } | Expr::Run { .. })
}

fn join(set: &mut Channels, more: Channels) -> bool {
    let joined = set.with(more);
    std::mem::replace(set, joined) != joined
}

fn kind_of(program: &Program, at: Option<usize>, place: &Place) -> Kind {
    let variable = match place.slot {
        Slot::Global(v) => program.globals.get(v.0 as usize),
        Slot::Local(v) => at.and_then(|at| program.processes[at].locals.get(v.0 as usize)),
    };
    variable.map_or(Kind::Number, |variable| variable.ty.kind)
}
