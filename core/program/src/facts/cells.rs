//! The shared parts of a state, numbered: what one process may change and another one may see.

use super::walk::{each_within, operands, parts};
use crate::{Expr, LocationId, ProcessId, Program, Slot, Variable, VariableId};
use std::collections::HashMap;
use std::ops::Range;

/// The elements of larger arrays are not told apart.
pub(super) const ELEMENTS_MAX: u32 = 64;

/// Numbers for shared parts of a state.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// For each global variable, its cells: one per element, or one for all of them.
    globals: Vec<Range<u32>>,
    /// Locals that other processes look at.
    remote: HashMap<(ProcessId, VariableId), u32>,
    /// Locations that other processes look at.
    places: HashMap<(ProcessId, LocationId), u32>,
    /// Process types whose locations are looked at as numbers.
    locations_of: Option<u32>,
    /// Which processes there are.
    pub roster: u32,
    count: u32,
}

impl Cells {
    /// The cells of a program; `extra` expressions look at them too.
    pub(super) fn of<'p>(program: &'p Program, extra: &[&'p Expr]) -> Self {
        let mut cells = Self {
            globals: Vec::new(),
            remote: HashMap::new(),
            places: HashMap::new(),
            locations_of: None,
            roster: 0,
            count: 1,
        };
        for global in &program.globals {
            let elements = global.element_count();
            let first = cells.count;
            cells.count += if elements <= ELEMENTS_MAX { elements } else { 1 };
            cells.globals.push(first..cells.count);
        }
        for process in &program.processes {
            for action in process.statements.iter().flat_map(|statement| parts(&statement.action)) {
                let (values, places) = operands(action);
                values.into_iter().for_each(|e| cells.look(e));
                places.into_iter().flat_map(|place| &place.indices).for_each(|e| cells.look(e));
            }
            process.provided.iter().for_each(|e| cells.look(e));
            let first_values = process.locals.iter().flat_map(|local| super::walk::initial_values(&local.initial));
            first_values.for_each(|e| cells.look(e));
        }
        extra.iter().for_each(|e| cells.look(e));
        cells
    }

    fn look(&mut self, e: &Expr) {
        each_within(e, |part| match part {
            Expr::Remote { process, variable, .. } => {
                let next = self.count;
                self.count += u32::from(*self.remote.entry((*process, *variable)).or_insert(next) == next);
            }
            Expr::At { process, location, .. } => {
                let next = self.count;
                self.count += u32::from(*self.places.entry((*process, *location)).or_insert(next) == next);
            }
            Expr::LocationOf(_) | Expr::NonProgress if self.locations_of.is_none() => {
                self.locations_of = Some(self.count);
                self.count += 1;
            }
            _ => {}
        });
    }

    /// Whether everything that an expression looks at has cells.
    pub(super) fn are_enough_for(&self, e: &Expr) -> bool {
        !super::walk::any_within(e, |part| match part {
            Expr::Remote { process, variable, .. } => self.of_remote(*process, *variable).is_none(),
            Expr::At { process, location, .. } => self.of_place(*process, *location).is_none(),
            Expr::LocationOf(_) | Expr::NonProgress => self.locations_of.is_none(),
            _ => false,
        })
    }

    /// The cells of a variable: that of one element if `element` is known, and whether a cell is that element
    /// alone. Nothing for a local that no other process looks at.
    pub(super) fn of_slot(
        &self,
        process: Option<ProcessId>,
        slot: Slot,
        element: Option<u32>,
        count: u32,
    ) -> (Range<u32>, bool) {
        match slot {
            Slot::Global(v) => {
                let all = self.globals.get(v.0 as usize).cloned().unwrap_or(0..0);
                match element {
                    Some(element) if all.len() as u32 == count && element < count => {
                        (all.start + element..all.start + element + 1, true)
                    }
                    _ => {
                        let alone = all.len() == 1 && count == 1;
                        (all, alone)
                    }
                }
            }
            Slot::Local(v) => match process.and_then(|process| self.remote.get(&(process, v))) {
                Some(cell) => (*cell..*cell + 1, false),
                None => (0..0, false),
            },
        }
    }

    /// The cell of another process's variable.
    pub(super) fn of_remote(&self, process: ProcessId, variable: VariableId) -> Option<u32> {
        self.remote.get(&(process, variable)).copied()
    }

    /// The cell that says whether some process is at a location.
    pub(super) fn of_place(&self, process: ProcessId, location: LocationId) -> Option<u32> {
        self.places.get(&(process, location)).copied()
    }

    /// The cell that stands for all locations as numbers.
    pub(super) fn of_locations(&self) -> Option<u32> {
        self.locations_of
    }
}

/// The index of an element in a row: the last index moves fastest. `None` if an index is out of range.
pub(super) fn element(variable: &Variable, indices: &[i32]) -> Option<u32> {
    if indices.len() != variable.dimensions.len() {
        return None;
    }
    let mut element = 0_u32;
    for (&index, &length) in indices.iter().zip(&variable.dimensions) {
        if index < 0 || length <= index as u32 {
            return None;
        }
        element = element.checked_mul(length)?.checked_add(index as u32)?;
    }
    Some(element)
}
