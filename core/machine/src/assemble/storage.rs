//! Where every variable stands.

use super::{Assembler, Done};
use crate::Refusal;
use crate::code::ProcessCode;
use crate::layout::{
    Array, BLOCK_WORDS_MAX, Base, LAST_SHIFT, Packer, SLOT_WORD_MAX, STATE_WORDS_MAX, Slot, WATCHED_BITS, extent,
};
use fabius_program::{CHANNELS_MAX, Initial, PROCESSES_MAX, Variable};
use std::sync::Arc;

/// Where a variable stands.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// Nowhere: nothing ever changes it.
    Constant(Arc<[i32]>),
    /// In one place.
    Scalar(Slot),
    /// In a row, by its index in [`crate::code::Code::arrays`].
    Array(u16),
}

/// Where all variables stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Map {
    pub globals: Vec<Storage>,
    /// Locals of each process type.
    pub locals: Vec<Vec<Storage>>,
    /// For each local of each process type, the number of its first channel among the process's own, if it
    /// holds that channel for good.
    pub own_channels: Vec<Vec<Option<u32>>>,
}

impl Assembler<'_> {
    pub(super) fn place_globals(&mut self) -> Done {
        let globals = &self.program.globals;
        self.map.globals = Vec::with_capacity(globals.len());
        let mut channels = 0;
        for (index, global) in globals.iter().enumerate() {
            let fixed = if self.facts.globals_written[index] { None } else { self.fixed(global, Some(channels)) };
            channels += channel_count(global);
            self.map.globals.push(fixed.unwrap_or(Storage::Constant([].into())));
        }
        let header = match self.watch.claim {
            Some(_) => WATCHED_BITS,
            None if self.program.uses.last => LAST_SHIFT + 8,
            None => LAST_SHIFT,
        };
        let is_open = |storage: &Storage| matches!(storage, Storage::Constant(values) if values.is_empty());
        let open: Vec<usize> = (0..globals.len()).filter(|&i| is_open(&self.map.globals[i])).collect();
        let (hidden, shown): (Vec<usize>, Vec<usize>) = open.into_iter().partition(|&i| globals[i].hidden);
        let mut storages = std::mem::take(&mut self.map.globals);
        let mut packer = Packer::new(header);
        self.place(globals, &shown, Base::Global, &mut packer, &mut storages)?;
        let mut hidden_packer = Packer::new(0);
        self.place(globals, &hidden, Base::Hidden, &mut hidden_packer, &mut storages)?;
        self.map.globals = storages;
        self.code.hidden_words = hidden_packer.words();
        let (words, channels) = self.place_channels(globals, packer.words())?;
        self.code.global_words = words;
        self.code.global_channels = channels;
        Ok(())
    }

    pub(super) fn place_locals(&mut self, index: usize, kind: &mut ProcessCode, taken: u32) -> Done {
        let process = &self.program.processes[index];
        let locals = &process.locals;
        let mut storages = Vec::with_capacity(locals.len());
        let mut own_channels = Vec::with_capacity(locals.len());
        let mut open = Vec::new();
        let mut channels = 0;
        for (at, variable) in locals.iter().enumerate() {
            let is_parameter = at < process.parameter_count as usize;
            let is_written = is_parameter || self.facts.locals_written[index][at];
            let fixed = if is_written { None } else { self.fixed(variable, None) };
            if fixed.is_none() {
                open.push(at);
            }
            storages.push(fixed.unwrap_or(Storage::Constant([].into())));
            let holds = !is_written && matches!(variable.initial, Initial::Channel(_));
            own_channels.push(holds.then_some(channels));
            if !is_parameter {
                channels += channel_count(variable);
            }
        }
        let mut packer = Packer::new(taken.max(1));
        self.place(locals, &open, Base::Process, &mut packer, &mut storages)?;
        let own = locals.get(process.parameter_count as usize..).unwrap_or(&[]);
        (kind.words, kind.channels) = self.place_channels(own, packer.words())?;
        let parameters = storages.iter().take(process.parameter_count as usize).map(|storage| match *storage {
            Storage::Scalar(slot) => Some(slot),
            Storage::Array(array) => self.code.arrays[usize::from(array)].slot(0),
            Storage::Constant(_) => Some(Slot::new(Base::Process, 0, 1, false)),
        });
        kind.parameters = parameters.collect::<Option<_>>().ok_or(Refusal::TooLarge)?;
        self.map.locals.push(storages);
        self.map.own_channels.push(own_channels);
        Ok(())
    }

    /// The values of a variable that nothing writes, if they are known now. `channels` counts the global
    /// channels before it.
    fn fixed(&self, variable: &Variable, channels: Option<u32>) -> Option<Storage> {
        let count = variable.element_count();
        if count == 0 || count > BLOCK_WORDS_MAX {
            return None;
        }
        let values: Vec<i32> = match &variable.initial {
            Initial::Zero => vec![0; count as usize],
            Initial::Value(e) => vec![self.constant(e)?; count as usize],
            Initial::List(list) => (0..count as usize)
                .map(|i| list.get(i).or(list.last()).map_or(Some(0), |e| self.constant(e)))
                .collect::<Option<_>>()?,
            Initial::Channel(_) => {
                let first = channels? + 1;
                if (first + count) as usize > CHANNELS_MAX + 1 {
                    return None;
                }
                (first as i32..(first + count) as i32).collect()
            }
        };
        Some(Storage::Constant(values.iter().map(|value| variable.ty.truncate(*value)).collect()))
    }

    /// Places variables in a block, the largest first; in a block with more words than a slot can name, the smallest.
    fn place(
        &mut self,
        variables: &[Variable],
        which: &[usize],
        base: Base,
        packer: &mut Packer,
        storages: &mut [Storage],
    ) -> Done {
        let mut sized = Vec::with_capacity(which.len());
        for &at in which {
            let variable = &variables[at];
            let count = checked_count(variable)?;
            let (width, align) = if variable.dimensions.is_empty() {
                (u32::from(variable.ty.bits), 1)
            } else {
                extent(variable.ty, count).ok_or(Refusal::TooLarge)?
            };
            sized.push((width, align, at, count));
        }
        sized.sort_by_key(|&(width, ..)| std::cmp::Reverse(width));
        let words: u64 = sized.iter().map(|&(width, ..)| u64::from(width.div_ceil(32))).sum();
        if words > u64::from(SLOT_WORD_MAX) {
            sized.reverse();
        }
        for (width, align, at, count) in sized {
            let ty = variables[at].ty;
            let bit = packer.place(width, align).ok_or(Refusal::TooLarge)?;
            storages[at] = if variables[at].dimensions.is_empty() && bit >> 5 <= SLOT_WORD_MAX {
                Storage::Scalar(Slot::new(base, bit, ty.bits, ty.signed))
            } else {
                Storage::Array(self.array(Array::new(base, bit, ty, count))?)
            };
        }
        Ok(())
    }

    pub(super) fn array(&mut self, array: Array) -> Result<u16, Refusal> {
        self.code.arrays.push(array);
        u16::try_from(self.code.arrays.len() - 1).map_err(|_| Refusal::TooMany("arrays", u16::MAX.into()))
    }

    /// Places of the channels of variables, from a word on: the words used then, and the channels. More than
    /// may exist are not placed; creating them is a fault. In a block with more words than a slot can name, the smallest
    /// come first.
    fn place_channels(&self, variables: &[Variable], first: u32) -> Result<(u32, Vec<(u32, u32)>), Refusal> {
        let mut types = Vec::new();
        for variable in variables {
            let Initial::Channel(ty) = variable.initial else { continue };
            let layout = self.code.layouts.get(ty.0 as usize).ok_or(Refusal::Malformed("no such channel type"))?;
            let room = (CHANNELS_MAX + 1).saturating_sub(types.len());
            types.extend(std::iter::repeat_n((ty.0, layout.words), room.min(checked_count(variable)? as usize)));
        }
        let words: u64 = u64::from(first) + types.iter().map(|&(_, words)| u64::from(words)).sum::<u64>();
        let mut order: Vec<usize> = (0..types.len()).collect();
        if words > u64::from(SLOT_WORD_MAX) {
            order.sort_by_key(|&at| types[at].1);
        }
        let mut word = first;
        let mut channels: Vec<(u32, u32)> = types.iter().map(|&(ty, _)| (0, ty)).collect();
        for at in order {
            channels[at].0 = word;
            word += types[at].1;
            if word > BLOCK_WORDS_MAX {
                return Err(Refusal::TooLarge);
            }
        }
        Ok((word, channels))
    }

    /// Whether a state is never too large, whatever processes there are.
    pub(super) fn check_size(&self) -> Done {
        let words = |process: u32| u64::from(self.code.processes[process as usize].words);
        let start: u64 = self.code.initial.iter().map(|&(process, _)| words(process)).sum();
        let largest = self.code.ranks.iter().map(|&process| words(process)).max().unwrap_or(0);
        let later = if self.code.dynamic { PROCESSES_MAX.saturating_sub(self.code.initial.len()) } else { 0 };
        let fixed = u64::from(self.code.global_words) + u64::from(self.code.hidden_words);
        if fixed + start + largest * later as u64 > STATE_WORDS_MAX { Err(Refusal::TooLarge) } else { Ok(()) }
    }
}

/// Channels that a variable creates.
fn channel_count(variable: &Variable) -> u32 {
    if matches!(variable.initial, Initial::Channel(_)) { variable.element_count() } else { 0 }
}

/// Number of elements, unless it is absurd.
pub(super) fn checked_count(variable: &Variable) -> Result<u32, Refusal> {
    let mut count = 1u32;
    for &dimension in &variable.dimensions {
        count = count.checked_mul(dimension).filter(|&n| n <= 32 * BLOCK_WORDS_MAX).ok_or(Refusal::TooLarge)?;
    }
    Ok(count)
}
