//! From a program to instructions and tables.
//!
//! `facts` finds what never changes, `storage` gives every variable its place, `expr`, `action` and
//! `message` write instructions. Jumps name labels until everything is written.

mod action;
mod expr;
mod facts;
mod message;
mod place;
mod storage;
mod watch;

use crate::Refusal;
use crate::code::{
    BLOCKED, BLOCKED_INSIDE, Code, EdgeCode, Effect, Instr, LocationCode, NONE, PartnerCode, Pc, ProcessCode, Reg,
    Relation, channel_bit,
};
use crate::layout::{Base, ChannelLayout, Slot};
use fabius_program::meaning::Fault;
use fabius_program::{Expr, Initial, Process, ProcessKind, Program, Variable, Watch};
use facts::Facts;
use std::collections::HashMap;
pub(crate) use storage::{Map, Storage};

/// Expressions may be nested so deeply; what reads programs has a lower limit.
const DEPTH_MAX: usize = 1000;

/// A place to jump to that may not be known yet.
type Label = Pc;

type Done = Result<(), Refusal>;

/// Writes the code of a program.
struct Assembler<'p> {
    program: &'p Program,
    watch: Watch,
    facts: Facts,
    code: Code,
    map: Map,
    /// Where each label stands.
    labels: Vec<Pc>,
    /// The last place that a label was bound to.
    last_bound: Pc,
    /// The process type whose code is written; `None` for what belongs to no process.
    process: Option<usize>,
    /// Offers written so far for the present statement.
    offers: u8,
    /// Whether only offers on the right channel come to the partner's part that is written.
    offered_known: bool,
    remote_arrays: HashMap<u16, u16>,
    fault_ids: HashMap<Fault, u32>,
}

/// Code and map of a program.
pub(crate) fn assemble(program: &Program, watch: Watch) -> Result<(Code, Map), Refusal> {
    let facts = Facts::of(program);
    if facts.depth > DEPTH_MAX {
        return Err(Refusal::TooDeep);
    }
    let mut assembler = Assembler {
        program,
        watch,
        facts,
        code: Code::default(),
        map: Map::default(),
        labels: vec![BLOCKED, BLOCKED_INSIDE],
        last_bound: 0,
        process: None,
        offers: 0,
        offered_known: false,
        remote_arrays: HashMap::new(),
        fault_ids: HashMap::new(),
    };
    assembler.program()?;
    assembler.resolve();
    assembler.shorten();
    assembler.skip_blocked();
    assembler.specialise(0);
    Ok((assembler.code, assembler.map))
}

/// The instructions of one more condition, appended to the code of a program; it holds where they finish.
pub(crate) fn assemble_condition(
    program: &Program,
    code: Code,
    map: Map,
    condition: &Expr,
) -> (Code, Map, Result<Pc, Refusal>) {
    let first = code.instrs.len();
    let fault_ids = code.faults.iter().enumerate().map(|(i, fault)| (*fault, i as u32)).collect();
    let mut assembler = Assembler {
        program,
        watch: Watch::NOTHING,
        facts: Facts::of(program),
        code,
        map,
        labels: vec![BLOCKED, BLOCKED_INSIDE],
        last_bound: 0,
        process: None,
        offers: 0,
        offered_known: false,
        remote_arrays: HashMap::new(),
        fault_ids,
    };
    let written = if facts::depth(condition) > DEPTH_MAX {
        Err(Refusal::TooDeep)
    } else if facts::has_run(condition) {
        Err(Refusal::Malformed("a condition creates a process"))
    } else {
        assembler.condition(condition)
    };
    if written.is_err() {
        // Labels may be without a place.
        assembler.code.instrs.truncate(first);
    }
    assembler.resolve_from(first);
    assembler.specialise(first);
    (assembler.code, assembler.map, written)
}

impl Assembler<'_> {
    fn program(&mut self) -> Done {
        self.emit(Instr::Blocked);
        let inside = self.fault(Fault::BlockedInside);
        self.emit(Instr::Raise { fault: inside });
        let locals = self.program.processes.iter().flat_map(|process| &process.locals);
        for variable in self.program.globals.iter().chain(locals) {
            storage::checked_count(variable)?;
        }
        let count = self.program.processes.len();
        if self.program.initial.iter().any(|instance| instance.process.0 as usize >= count) {
            return Err(Refusal::Malformed("no such process"));
        }
        self.ranks();
        for ty in &self.program.channel_types {
            let layout = ChannelLayout::new(ty).ok_or(Refusal::TooLarge)?;
            self.code.layouts.push(layout);
        }
        self.code.uses_last = self.program.uses.last;
        self.code.uses_priority = self.program.uses.priority;
        self.code.uses_timeout = self.program.uses.timeout;
        self.code.restricted =
            self.code.uses_priority || self.program.processes.iter().any(|process| process.provided.is_some());
        self.code.dynamic = self.facts.dynamic;
        self.place_globals()?;
        for index in 0..self.program.processes.len() {
            self.declare_process(index)?;
        }
        self.place_watched()?;
        self.check_size()?;
        self.initialise_globals()?;
        for index in 0..self.program.processes.len() {
            self.process_code(index)?;
        }
        self.trace_code()
    }

    /// Numbers the types that can run.
    fn ranks(&mut self) {
        self.code.ranks = (0..self.facts.runs.len()).filter(|&i| self.facts.runs[i]).map(|i| i as u32).collect();
        let bits = if self.facts.dynamic { bits_for(self.code.ranks.len() as u32) } else { 0 };
        self.code.rank_mask = (1 << bits) - 1;
        self.code.location_shift = bits;
        self.code.initial =
            self.program.initial.iter().map(|instance| (instance.process.0, instance.priority)).collect();
    }

    /// Locations, edges and places of a process type; its code comes later, when all places are known.
    fn declare_process(&mut self, index: usize) -> Done {
        let process = &self.program.processes[index];
        let location_bits = bits_for(process.locations.len() as u32);
        let taken = self.code.location_shift + location_bits;
        let priority_bits = if self.code.uses_priority { 8 } else { 0 };
        if taken + priority_bits > 32 {
            return Err(Refusal::TooMany("places in a process", 1 << (32 - self.code.location_shift - priority_bits)));
        }
        let rank = self.code.ranks.iter().position(|&p| p as usize == index).unwrap_or(0) as u32;
        let kept_rank = rank & self.code.rank_mask;
        let mut kind = ProcessCode {
            locations: self.code.locations.len() as u32,
            location_mask: (1 << location_bits) - 1,
            fresh: kept_rank | process.entry.0 << self.code.location_shift,
            rank: kept_rank,
            priority: Slot::new(Base::Process, taken.min(24), 8, false),
            parameters: Vec::new(),
            initialise: NONE,
            provided: NONE,
            words: 0,
            channels: Vec::new(),
        };
        if process.entry.0 as usize >= process.locations.len() {
            return Err(Refusal::Malformed("a process starts at a location that does not exist"));
        }
        self.locations(process)?;
        self.place_locals(index, &mut kind, taken + priority_bits)?;
        self.code.processes.push(kind);
        Ok(())
    }

    /// The table of a process's locations, filled up to a power of two so that no bit pattern is outside.
    fn locations(&mut self, process: &Process) -> Done {
        let edge_count = self.program.edges.len() as u32;
        for location in &process.locations {
            if location.edges.end > edge_count {
                return Err(Refusal::Malformed("a location has edges that do not exist"));
            }
            let first = if location.edges.is_empty() { NONE } else { location.edges.start };
            let mut flags = 0;
            if location.end {
                flags |= LocationCode::END;
            }
            if location.progress {
                flags |= LocationCode::PROGRESS;
            }
            if location.accept {
                flags |= LocationCode::ACCEPT;
            }
            self.code.locations.push(LocationCode {
                first,
                tried_first: first,
                number: location.number,
                accepts: 0,
                flags,
            });
        }
        let missing = (1usize << bits_for(process.locations.len() as u32)) - process.locations.len();
        let nowhere = LocationCode { first: NONE, tried_first: NONE, number: 0, accepts: 0, flags: 0 };
        self.code.locations.extend(std::iter::repeat_n(nowhere, missing));
        Ok(())
    }

    fn process_code(&mut self, index: usize) -> Done {
        let program = self.program;
        let process = &program.processes[index];
        self.process = Some(index);
        let is_claim = self.watch.claim.is_some_and(|id| id.0 as usize == index);
        let code = if self.facts.runs[index] || is_claim {
            let initialise = self.initialise_locals(index)?;
            self.code.processes[index].initialise = initialise;
            if let Some(provided) = &process.provided {
                self.code.processes[index].provided = self.condition(provided)?;
            }
            self.statements(process)?
        } else if process.kind == ProcessKind::Claim && process.locals.is_empty() {
            self.statements(process)?
        } else {
            Vec::new()
        };
        self.edges(index, &code)?;
        self.process = None;
        Ok(())
    }

    /// Code of each statement as an edge of its own, and as part of a rendezvous.
    fn statements(&mut self, process: &Process) -> Result<Vec<StatementCode>, Refusal> {
        process.statements.iter().map(|statement| self.statement(&statement.action)).collect()
    }

    fn edges(&mut self, index: usize, statements: &[StatementCode]) -> Done {
        let program = self.program;
        if self.code.edges.is_empty() {
            let nobody = PartnerCode { start: NONE, process: NONE, channel: 0 };
            self.code.edges = vec![EdgeCode::never(); program.edges.len()];
            self.code.partners = vec![nobody; program.edges.len()];
        }
        let process = &program.processes[index];
        for (at, location) in process.locations.iter().enumerate() {
            let mut groups: Vec<u32> = vec![0];
            for (id, edge) in program.edges_of(location) {
                let Some(statement) = process.statements.get(edge.statement.0 as usize) else {
                    return Err(Refusal::Malformed("an edge has a statement that does not exist"));
                };
                if edge.target.0 as usize >= process.locations.len() {
                    return Err(Refusal::Malformed("an edge leads to a location that does not exist"));
                }
                let group = groups.iter().position(|g| *g == edge.escape).unwrap_or_else(|| {
                    groups.push(edge.escape);
                    groups.len() - 1
                });
                let code = statements.get(edge.statement.0 as usize).copied().unwrap_or_default();
                if code.partner != NONE {
                    let location = self.code.processes[index].locations as usize + at;
                    self.code.locations[location].accepts |= channel_bit(code.channel);
                }
                let flags = [
                    (id.0 + 1 == location.edges.end, EdgeCode::LAST),
                    (edge.atomic, EdgeCode::ATOMIC),
                    (facts::ends(&statement.action), EdgeCode::ENDS),
                    (process.deterministic, EdgeCode::DETERMINISTIC),
                ];
                let shift = self.code.location_shift;
                let partner = &mut self.code.partners[id.0 as usize];
                if partner.process != NONE {
                    return Err(Refusal::Malformed("an edge leaves two locations"));
                }
                *partner = PartnerCode { start: code.partner, process: index as u32, channel: code.channel };
                self.code.edges[id.0 as usize] = EdgeCode {
                    start: code.start,
                    target: edge.target.0 << shift,
                    target_mask: !(self.code.processes[index].location_mask << shift),
                    escape: u16::try_from(group)
                        .map_err(|_| Refusal::TooMany("`unless` around one statement", u16::MAX.into()))?,
                    offers: code.offers,
                    flags: flags.iter().filter(|(has, _)| *has).fold(0, |all, (_, flag)| all | flag),
                    ..EdgeCode::untested()
                };
            }
        }
        Ok(())
    }

    /// Gives the most frequent comparisons their own instructions.
    fn specialise(&mut self, first: usize) {
        for instr in &mut self.code.instrs[first..] {
            if let Instr::UnlessSlot { relation, slot, k, to } = *instr {
                match relation {
                    Relation::EQUAL => *instr = Instr::UnlessEqual { slot, k, to },
                    Relation::NOT_EQUAL => *instr = Instr::UnlessDifferent { slot, k, to },
                    _ => {}
                }
            }
        }
    }

    /// Takes the first test of each edge, and what little many of them do, out of the instructions.
    fn shorten(&mut self) {
        let Code { edges, partners, instrs, .. } = &mut self.code;
        for (edge, _) in edges.iter_mut().zip(partners).filter(|(_, partner)| partner.process != NONE) {
            if instrs[edge.start as usize] == (Instr::ElseGuard { to: BLOCKED }) {
                edge.flags |= EdgeCode::ELSE;
                edge.start += 1;
            }
            if let Instr::UnlessSlot { relation, slot, k, to: BLOCKED } = instrs[edge.start as usize] {
                edge.set_test(relation, slot, k);
                edge.start += 1;
            }
            if let Instr::UnlessSlot { relation, slot, k, to: BLOCKED } = instrs[edge.start as usize] {
                edge.set_second(relation, slot, k);
                edge.start += 1;
            }
            if is_blocked(instrs, edge.start) {
                edge.block();
                continue;
            }
            // What else is executable matters in a deterministic process: no short cut.
            let Some([Instr::Commit, rest @ ..]) = instrs.get(edge.start as usize..) else { continue };
            if edge.has(EdgeCode::DETERMINISTIC) {
                continue;
            }
            edge.effect = match *rest {
                [Instr::Finish, ..] => Effect::Nothing,
                [Instr::StoreConst { slot, k }, Instr::Finish, ..] => Effect::Const { slot, k },
                [Instr::StoreSlot { slot, from }, Instr::Finish, ..] => Effect::Copy { slot, from },
                [Instr::StoreSum { slot, from, k }, Instr::Finish, ..] => Effect::Sum { slot, from, k },
                _ => Effect::Code,
            };
        }
    }

    /// Passes over edges that are never executable by themselves, where a process looks for the first one to try.
    fn skip_blocked(&mut self) {
        // Where a process may not move, it must be known that it has edges.
        if self.code.restricted {
            return;
        }
        for location in &mut self.code.locations {
            while let Some(edge) = self.code.edges.get(location.tried_first as usize)
                && edge.is_never()
            {
                location.tried_first = if edge.has(EdgeCode::LAST) { NONE } else { location.tried_first + 1 };
            }
        }
    }

    /// Code that finishes where a condition holds, and is blocked where it does not.
    fn condition(&mut self, e: &Expr) -> Result<Pc, Refusal> {
        let start = self.here();
        self.branch(e, BLOCKED, false, 0)?;
        self.emit(Instr::Finish);
        Ok(start)
    }

    fn initialise_globals(&mut self) -> Done {
        let start = self.here();
        let mut channels = 0;
        for (index, variable) in self.program.globals.iter().enumerate() {
            let storage = self.map.globals[index].clone();
            self.initialise(variable, &storage, &mut channels)?;
        }
        if self.code.global_channels.len() > fabius_program::CHANNELS_MAX {
            let fault = self.fault(Fault::TooManyChannels);
            self.emit(Instr::Raise { fault });
        }
        self.emit(Instr::Finish);
        self.code.initialise = start;
        Ok(())
    }

    fn initialise_locals(&mut self, index: usize) -> Result<Pc, Refusal> {
        let start = self.here();
        let process = &self.program.processes[index];
        let mut channels = 0;
        for (at, variable) in process.locals.iter().enumerate().skip(process.parameter_count as usize) {
            let storage = self.map.locals[index][at].clone();
            self.initialise(variable, &storage, &mut channels)?;
        }
        self.emit(Instr::Return);
        Ok(start)
    }

    /// Writes the first value of a variable whose words are 0.
    fn initialise(&mut self, variable: &Variable, storage: &Storage, channels: &mut u32) -> Done {
        let count = variable.element_count();
        let first_channel = *channels;
        if matches!(variable.initial, Initial::Channel(_)) {
            *channels += count;
        }
        if matches!(storage, Storage::Constant(_)) {
            return Ok(());
        }
        match &variable.initial {
            Initial::Zero => {}
            Initial::Value(e) => self.initialise_all(e, storage, count)?,
            Initial::List(list) => {
                let Some(last) = list.last() else { return Ok(()) };
                let mut each = count;
                if list.len() < count as usize && self.constant(last).is_some() {
                    // The elements behind the list all at once, and then those before.
                    each = list.len() as u32 - 1;
                    self.initialise_all(last, storage, count)?;
                }
                for i in 0..each {
                    self.value(list.get(i as usize).unwrap_or(last), 0)?;
                    self.store_element(storage, i, 0);
                }
            }
            Initial::Channel(_) => {
                for i in 0..count.min(fabius_program::CHANNELS_MAX as u32 + 1) {
                    match self.process {
                        Some(_) => self.emit(Instr::OwnChannel { d: 0, k: first_channel + i }),
                        None => self.emit(Instr::Const { d: 0, k: (first_channel + i + 1) as i32 }),
                    }
                    self.store_element(storage, i, 0);
                }
            }
        }
        Ok(())
    }

    fn initialise_all(&mut self, e: &Expr, storage: &Storage, count: u32) -> Done {
        if self.constant(e) == Some(0) || count == 0 {
            return Ok(());
        }
        if facts::has_run(e) {
            for i in 0..count {
                self.value(e, 0)?;
                self.store_element(storage, i, 0);
            }
            return Ok(());
        }
        self.value(e, 0)?;
        match storage {
            Storage::Array(array) => self.emit(Instr::Fill { array: *array, a: 0 }),
            _ => self.store_element(storage, 0, 0),
        }
        Ok(())
    }

    fn store_element(&mut self, storage: &Storage, index: u32, a: Reg) {
        match *storage {
            Storage::Scalar(slot) => self.emit(Instr::Store { slot, a }),
            Storage::Array(array) => match self.code.arrays[usize::from(array)].slot(index) {
                Some(slot) => self.emit(Instr::Store { slot, a }),
                None => {
                    let i = a.wrapping_add(1);
                    self.emit(Instr::Const { d: i, k: index as i32 });
                    self.emit(Instr::StoreAt { array, i, a });
                }
            },
            Storage::Constant(_) => {}
        }
    }

    fn emit(&mut self, instr: Instr) {
        self.code.instrs.push(instr);
    }

    fn here(&self) -> Pc {
        self.code.instrs.len() as Pc
    }

    fn label(&mut self) -> Label {
        self.labels.push(NONE);
        self.labels.len() as Label - 1
    }

    fn bind(&mut self, label: Label) {
        self.labels[label as usize] = self.here();
        self.last_bound = self.here();
    }

    /// Binds a label; a jump to it that stands right before it goes away.
    fn bind_exit(&mut self, label: Label) {
        if self.last_bound < self.here() && self.code.instrs.last() == Some(&Instr::Jump { to: label }) {
            self.code.instrs.pop();
        }
        self.bind(label);
    }

    /// The index of a fault.
    fn fault(&mut self, fault: Fault) -> u32 {
        *self.fault_ids.entry(fault).or_insert_with(|| {
            self.code.faults.push(fault);
            self.code.faults.len() as u32 - 1
        })
    }

    fn raise(&mut self, fault: Fault) {
        let fault = self.fault(fault);
        self.emit(Instr::Raise { fault });
    }

    /// Turns labels into places.
    fn resolve(&mut self) {
        self.resolve_from(0);
    }

    fn resolve_from(&mut self, first: usize) {
        for instr in &mut self.code.instrs[first..] {
            for target in instr.targets_mut().into_iter().flatten() {
                *target = self.labels[*target as usize];
            }
        }
        // Whoever jumps to a jump goes on to where that leads.
        for at in first..self.code.instrs.len() {
            let mut instr = self.code.instrs[at];
            for target in instr.targets_mut().into_iter().flatten() {
                for _ in 0..8 {
                    let Instr::Jump { to } = self.code.instrs[*target as usize] else { break };
                    *target = to;
                }
            }
            self.code.instrs[at] = instr;
        }
    }
}

/// Whether instructions do nothing but say that an edge is not executable.
fn is_blocked(instrs: &[Instr], start: Pc) -> bool {
    start == BLOCKED || instrs[start as usize] == (Instr::Jump { to: BLOCKED })
}

/// What the assembler knows of a statement.
#[derive(Clone, Copy)]
struct StatementCode {
    start: Pc,
    partner: Pc,
    channel: u16,
    offers: u16,
}

impl Default for StatementCode {
    fn default() -> Self {
        Self { start: BLOCKED, partner: NONE, channel: 0, offers: 0 }
    }
}

/// Bits that tell `count` things apart.
fn bits_for(count: u32) -> u32 {
    32 - count.saturating_sub(1).leading_zeros()
}
