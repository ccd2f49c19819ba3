//! Channels: finding, appending, taking messages.

use super::Interpreter;
use crate::code::{ChannelRef, Reg, Site, Term};
use crate::layout::ChannelLayout;
use crate::shape::PlacedChannel;
use fabius_program::meaning::Fault;

impl<'m> Interpreter<'m> {
    #[inline]
    pub(super) fn channel_by_id(&self, id: i32) -> Result<PlacedChannel, Fault> {
        if id == 0 {
            return Err(Fault::NoChannel);
        }
        let channels = &self.shape.channels;
        channels.get((id as u32).wrapping_sub(1) as usize).copied().ok_or(Fault::DeadChannel(id))
    }

    /// Makes a channel the current one.
    #[inline]
    pub(super) fn resolve(&mut self, id: i32) -> Result<(), Fault> {
        self.scratch.current = self.channel_by_id(id)?;
        self.scratch.current_id = id as u32;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn layout(&self, channel: PlacedChannel) -> &'m ChannelLayout {
        &self.code.layouts[channel.layout as usize]
    }

    /// Number of messages.
    #[inline(always)]
    pub(super) fn length_of(&self, channel: PlacedChannel) -> u32 {
        let layout = self.layout(channel);
        if layout.capacity == 0 {
            return 0;
        }
        let mask = u32::MAX >> (32 - u32::from(layout.length_bits));
        (self.memory.get(channel.base as usize) & mask).min(layout.capacity)
    }

    /// A fault if the message has not as many fields as the current channel.
    #[inline]
    pub(super) fn check_count(&self, site: u32) -> Result<(), Fault> {
        field_count(&self.code.sites[site as usize], self.layout(self.scratch.current))
    }

    #[inline(always)]
    fn channel_of(&self, site: &Site) -> PlacedChannel {
        match site.channel {
            ChannelRef::Static { base, word, layout } => {
                PlacedChannel { base: self.bases[usize::from(base & 3)] + word, layout }
            }
            _ => self.scratch.current,
        }
    }

    #[inline(always)]
    pub(super) fn site(&self, site: u32) -> (&'m Site, &'m [Term]) {
        let site = &self.code.sites[site as usize];
        (site, &self.code.terms[site.first as usize..(site.first + site.count) as usize])
    }

    #[inline(always)]
    fn term(&self, term: Term) -> i32 {
        match term {
            Term::Const(k) => k,
            Term::Slot(slot) => self.load(slot),
            Term::Register(reg) => self.scratch.registers[usize::from(reg)],
            Term::Store(_) | Term::Ignore => 0,
        }
    }

    /// The fields of the message at a bit, counted from the channel's first word.
    #[inline(always)]
    pub(super) fn field(&self, channel: PlacedChannel, field: crate::layout::Field, message_bit: u32) -> i32 {
        let bit = message_bit + field.bit;
        field.get(self.memory.get((channel.base + (bit >> 5)) as usize), bit)
    }

    fn write_message(&mut self, channel: PlacedChannel, layout: &ChannelLayout, message_bit: u32, terms: &[Term]) {
        for (field, term) in layout.fields.iter().zip(terms) {
            let bit = message_bit + field.bit;
            let at = (channel.base + (bit >> 5)) as usize;
            let value = self.term(*term);
            self.memory.set(at, self.memory.get(at) | field.put(value, bit));
        }
    }

    /// Adds a message; there is room.
    #[inline(never)]
    pub(super) fn append(&mut self, site: u32) {
        let (site, terms) = self.site(site);
        let channel = self.channel_of(site);
        let layout = self.layout(channel);
        let length = self.length_of(channel);
        if length >= layout.capacity {
            return;
        }
        let mut position = length;
        if site.sorted {
            position = (0..length).find(|&i| self.is_greater(channel, layout, i, terms)).unwrap_or(length);
            self.make_room(channel, layout, position, length);
        }
        self.write_message(channel, layout, layout.message_bit(position), terms);
        let head = channel.base as usize;
        self.memory.set(head, self.memory.get(head) + 1);
    }

    /// Whether a message comes after the one to be sent, whose values are compared before they are truncated.
    fn is_greater(&self, channel: PlacedChannel, layout: &ChannelLayout, position: u32, terms: &[Term]) -> bool {
        for (field, term) in layout.fields.iter().zip(terms) {
            let old = self.field(channel, *field, layout.message_bit(position));
            let new = self.term(*term);
            if old != new {
                return old > new;
            }
        }
        false
    }

    /// Moves the messages from a position on up by one; the place is 0 then.
    fn make_room(&mut self, channel: PlacedChannel, layout: &ChannelLayout, position: u32, length: u32) {
        for i in (position..length).rev() {
            self.move_message(channel, layout, i, i + 1);
        }
        self.clear_message(channel, layout, position);
    }

    /// Replaces a message by another, which stays.
    fn move_message(&mut self, channel: PlacedChannel, layout: &ChannelLayout, from: u32, to: u32) {
        self.clear_message(channel, layout, to);
        for field in &layout.fields {
            let value = self.field(channel, *field, layout.message_bit(from));
            let bit = layout.message_bit(to) + field.bit;
            let at = (channel.base + (bit >> 5)) as usize;
            self.memory.set(at, self.memory.get(at) | field.put(value, bit));
        }
    }

    fn clear_message(&mut self, channel: PlacedChannel, layout: &ChannelLayout, position: u32) {
        let bit = layout.message_bit(position);
        let at = (channel.base + (bit >> 5)) as usize;
        if layout.stride < 32 {
            let mask = (u32::MAX >> (32 - layout.stride)) << (bit & 31);
            self.memory.set(at, self.memory.get(at) & !mask);
        } else {
            for word in 0..(layout.stride >> 5) as usize {
                self.memory.set(at + word, 0);
            }
        }
    }

    /// The first message that matches, of those that are looked at.
    #[inline(never)]
    pub(super) fn find(&self, site: u32) -> Option<u32> {
        let (site, terms) = self.site(site);
        self.find_in(self.channel_of(site), site.any, terms)
    }

    fn find_in(&self, channel: PlacedChannel, any: bool, terms: &[Term]) -> Option<u32> {
        let layout = self.layout(channel);
        let length = self.length_of(channel);
        let looked_at = if any { length } else { length.min(1) };
        (0..looked_at).find(|&position| {
            let message_bit = layout.message_bit(position);
            layout.fields.iter().zip(terms).all(|(field, term)| match *term {
                Term::Ignore | Term::Store(_) => true,
                term => self.field(channel, *field, message_bit) == self.term(term),
            })
        })
    }

    /// Stores the fields of the message that was found and removes it.
    #[inline(never)]
    pub(super) fn take(&mut self, site: u32) {
        let (site, terms) = self.site(site);
        let channel = self.channel_of(site);
        let layout = self.layout(channel);
        let position = if site.head { 0 } else { self.scratch.position };
        let message_bit = layout.message_bit(position);
        for (field, term) in layout.fields.iter().zip(terms) {
            if let Term::Store(slot) = *term {
                self.store(slot, self.field(channel, *field, message_bit));
            }
        }
        if !site.keep {
            self.remove(channel, layout, position);
        }
    }

    /// Puts the fields of the message that was found into registers.
    #[inline(never)]
    pub(super) fn peek(&mut self, site: u32, d: Reg) {
        let (site, _) = self.site(site);
        let channel = self.channel_of(site);
        let layout = self.layout(channel);
        let position = if site.head { 0 } else { self.scratch.position };
        for (i, field) in layout.fields.iter().enumerate() {
            let value = self.field(channel, *field, layout.message_bit(position));
            self.scratch.registers[(usize::from(d) + i) & 255] = value;
        }
    }

    #[inline(never)]
    pub(super) fn remove_found(&mut self, site: u32) {
        let (site, _) = self.site(site);
        let channel = self.channel_of(site);
        let position = if site.head { 0 } else { self.scratch.position };
        self.remove(channel, self.layout(channel), position);
    }

    /// Removes a message; the place that becomes free is 0 then.
    fn remove(&mut self, channel: PlacedChannel, layout: &ChannelLayout, position: u32) {
        let head = channel.base as usize;
        let length = self.length_of(channel);
        if position == 0 && layout.words == 1 {
            // One word holds length and messages: what is above the messages is 0.
            let word = self.memory.get(head);
            let kept = word & (u32::MAX >> (32 - layout.start));
            let messages = (word >> layout.start).checked_shr(layout.stride).unwrap_or(0);
            self.memory.set(head, (kept - 1) | messages << layout.start);
            return;
        }
        if layout.stride >= 32 {
            let (first, words) = (head + (layout.message_bit(position) >> 5) as usize, (layout.stride >> 5) as usize);
            let moved = (length - 1 - position) as usize * words;
            for word in first..first + moved {
                self.memory.set(word, self.memory.get(word + words));
            }
        } else {
            for i in position..length - 1 {
                self.move_message(channel, layout, i + 1, i);
            }
        }
        self.clear_message(channel, layout, length - 1);
        self.memory.set(head, self.memory.get(head) - 1);
    }

    /// Keeps the message, truncated, for a partner.
    #[inline(never)]
    pub(super) fn offer(&mut self, site: u32) {
        let (_, terms) = self.site(site);
        let layout = self.layout(self.scratch.current);
        self.scratch.message.clear();
        for (field, term) in layout.fields.iter().zip(terms) {
            let value = field.truncate(self.term(*term));
            self.scratch.message.push(value);
        }
        self.scratch.offered = self.scratch.current_id;
    }

    /// Whether the message offered matches.
    #[inline(never)]
    pub(super) fn match_offer(&self, site: u32) -> Result<bool, Fault> {
        let (_, terms) = self.site(site);
        let expected = self.scratch.message.len();
        let matches = self.agrees(terms);
        if matches && terms.len() != expected {
            return Err(Fault::FieldCount { given: terms.len() as u32, expected: expected as u32 });
        }
        Ok(matches)
    }

    /// Whether the message offered matches in the fields that both have.
    pub(super) fn agrees(&self, terms: &[Term]) -> bool {
        self.scratch.message.iter().zip(terms).all(|(value, term)| match *term {
            Term::Ignore | Term::Store(_) => true,
            term => *value == self.term(term),
        })
    }

    #[inline(never)]
    pub(super) fn take_offer(&mut self, site: u32) {
        let (_, terms) = self.site(site);
        for (i, term) in terms.iter().enumerate() {
            if let Term::Store(slot) = *term {
                self.store(slot, self.scratch.message.get(i).copied().unwrap_or(0));
            }
        }
    }

    #[inline(never)]
    pub(super) fn peek_offer(&mut self, d: Reg) {
        for (i, value) in self.scratch.message.iter().enumerate() {
            self.scratch.registers[(usize::from(d) + i) & 255] = *value;
        }
    }

    #[inline(never)]
    pub(super) fn poll(&self, site: u32) -> Result<bool, Fault> {
        let (site, terms) = self.site(site);
        let channel = match site.channel {
            ChannelRef::Register(reg) => self.channel_by_id(self.scratch.registers[usize::from(reg)])?,
            _ => self.channel_of(site),
        };
        if self.layout(channel).capacity == 0 {
            return Err(Fault::PollOnRendezvous);
        }
        Ok(self.find_in(channel, site.any, terms).is_some())
    }
}

fn field_count(site: &Site, layout: &ChannelLayout) -> Result<(), Fault> {
    let (given, expected) = (site.count, layout.fields.len() as u32);
    if given == expected { Ok(()) } else { Err(Fault::FieldCount { given, expected }) }
}
