//! What is read and written.

use super::cells::element;
use super::extract::Context;
use super::step::{Step, UseKind, Write};
use super::value::has_run;
use super::walk::{each_within, initial_values};
use crate::{BinaryOp, Expr, Place, Slot, Variable};

impl Context<'_> {
    pub(super) fn variable(&self, slot: Slot) -> Option<&Variable> {
        match slot {
            Slot::Global(v) => self.program().globals.get(v.0 as usize),
            Slot::Local(v) => self.process?.1.locals.get(v.0 as usize),
        }
    }

    /// Cells of a place, and whether they are one that stands for this place alone.
    pub(super) fn cells_of(&self, place: &Place) -> (std::ops::Range<u32>, bool) {
        let Some(variable) = self.variable(place.slot) else { return (0..0, false) };
        let process = self.process.map(|(process, _)| process);
        self.facts.cells.of_slot(process, place.slot, self.element_of(place), variable.element_count())
    }

    /// The element that a place names, if its indices are constant or their values are known now.
    pub(super) fn element_of(&self, place: &Place) -> Option<u32> {
        let indices: Option<Vec<i32>> = place.indices.iter().map(|e| self.value(e)).collect();
        element(self.variable(place.slot)?, &indices?)
    }

    pub(super) fn assign(&self, place: &Place, e: &Expr, step: &mut Step) {
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
    pub(super) fn own(&self, slot: Slot, write: Write) -> Write {
        match slot {
            Slot::Global(_) => write,
            Slot::Local(_) => Write::Add,
        }
    }

    /// In `place = place + e` or `place - e`, the `e`.
    pub(super) fn change_of<'e>(&self, place: &Place, e: &'e Expr) -> Option<&'e Expr> {
        let Expr::Binary(op, a, b) = e else { return None };
        let is_place = |e: &Expr| matches!(e, Expr::Load(other) if other == place);
        match op {
            BinaryOp::Add if is_place(a) => Some(b),
            BinaryOp::Add if is_place(b) => Some(a),
            BinaryOp::Subtract if is_place(a) => Some(b),
            _ => None,
        }
    }

    pub(super) fn store(&self, place: &Place, step: &mut Step) {
        place.indices.iter().for_each(|index| self.read(index, step));
        step.breaks |= !self.is_within(place);
        self.cells_of(place).0.for_each(|cell| step.write(cell, self.own(place.slot, Write::Any)));
    }

    /// Notes everything that the value of an expression depends on, and what evaluating it does.
    pub(super) fn read(&self, e: &Expr, step: &mut Step) {
        step.breaks |= self.may_fault(e);
        each_within(e, |part| self.read_part(part, step));
    }

    pub(super) fn read_part(&self, part: &Expr, step: &mut Step) {
        let cells = &self.facts.cells;
        match part {
            // What never changes depends on nothing.
            Expr::Load(_) if self.constant(part, 0).is_some() => {}
            Expr::Load(place) => self.cells_of(place).0.for_each(|cell| step.reads.insert(cell as usize)),
            Expr::Length(channel) | Expr::Test(_, channel) | Expr::Poll { channel, .. } => {
                step.use_channels(self.target(channel).channels, UseKind::Look);
            }
            Expr::Run { process, .. } => {
                if self.facts.numbered {
                    step.reads.insert(cells.roster as usize);
                    step.write(cells.roster, Write::Any);
                }
                step.spawns.push(*process);
                if let Some(kind) = self.program().processes.get(process.0 as usize) {
                    let context = Context {
                        facts: self.facts,
                        process: Some((*process, kind)),
                        key: None,
                        constants: Vec::new(),
                        now: None,
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
}
