//! Instructions for sends, receives and polls.

use super::action::Entry;
use super::expr::{Operand, StaticChannel, after, field_count};
use super::{Assembler, Done, Label, facts};
use crate::Refusal;
use crate::code::{ChannelRef, Instr, Reg, Relation, Site, Term};
use crate::layout::SLOT_WORD_MAX;
use fabius_program::meaning::Fault;
use fabius_program::{Expr, Pattern, Receive, Send};

impl Assembler<'_> {
    pub(super) fn send(&mut self, send: &Send, fail: Label, entry: Entry) -> Done {
        if self.is_watcher() {
            return Err(Refusal::Malformed("a claim sends"));
        }
        if let Some(channel) = self.known_channel(&send.channel) {
            let layout = &self.code.layouts[channel.layout as usize];
            let (given, expected) = (send.fields.len(), layout.fields.len());
            let capacity = layout.capacity as i32;
            let slot = self.length_slot(&channel);
            if let Some(slot) = slot {
                self.emit(Instr::UnlessSlot { relation: Relation::NOT_EQUAL, slot, k: capacity, to: fail });
            }
            if given != expected {
                self.raise(field_count(given, expected));
                return Ok(());
            }
            if slot.is_some() {
                self.commit(entry);
                return self.append(send, channel_ref(&channel));
            }
            if let Some(id) = channel.id {
                self.emit(Instr::ResolveConst { id });
                return self.offer(send, fail, entry);
            }
        }
        self.value(&send.channel, 0)?;
        self.emit(Instr::Resolve { a: 0 });
        let (rendezvous, end) = (self.label(), self.label());
        let site = self.site(ChannelRef::Current, send.fields.len(), &[]);
        self.code.sites[site as usize].count = send.fields.len() as u32;
        self.emit(Instr::SendReady { site, rendezvous, to: fail });
        self.commit(entry);
        self.append(send, ChannelRef::Current)?;
        self.event(true, false);
        self.emit(Instr::Jump { to: end });
        self.bind(rendezvous);
        self.offer(send, fail, entry)?;
        self.bind(end);
        Ok(())
    }

    fn append(&mut self, send: &Send, channel: ChannelRef) -> Done {
        let (terms, _) = self.values(&send.fields, 0)?;
        let site = self.site(channel, terms.len(), &terms);
        self.code.sites[site as usize].sorted = send.sorted;
        self.emit(Instr::Append { site });
        Ok(())
    }

    /// The part of the sender in a rendezvous on the current channel.
    fn offer(&mut self, send: &Send, fail: Label, entry: Entry) -> Done {
        if matches!(entry, Entry::Inside | Entry::Partner) {
            self.emit(Instr::Jump { to: fail });
            return Ok(());
        }
        let runs = send.fields.iter().any(facts::has_run);
        if runs {
            self.emit(Instr::Copy);
        }
        let (terms, _) = self.values(&send.fields, 0)?;
        let site = self.site(ChannelRef::Current, terms.len(), &terms);
        if entry == Entry::Alone && !runs {
            self.emit(Instr::Offer { site, to: fail });
            return Ok(());
        }
        self.offers = self
            .offers
            .checked_add(1)
            .ok_or(Refusal::TooMany("offers of messages in one `atomic` or `d_step`", u8::MAX as u32))?;
        let ordinal = self.offers;
        self.emit(Instr::OfferLater { site, ordinal, to: fail });
        if !runs {
            self.commit(entry);
        }
        Ok(())
    }

    pub(super) fn receive(&mut self, receive: &Receive, fail: Label, entry: Entry) -> Done {
        let given = receive.fields.len();
        let matches = receive.fields.iter().any(|field| matches!(field, Pattern::Match(_)));
        if self.is_watcher() {
            return Err(Refusal::Malformed("a claim receives"));
        }
        let channel = self.known_channel(&receive.channel);
        let mut unchecked = None;
        let expected = if let Some(channel) = &channel {
            let expected = self.code.layouts[channel.layout as usize].fields.len();
            let Some(length) = self.length_slot(channel) else {
                if receive.keep {
                    self.raise(Fault::PollOnRendezvous);
                } else {
                    self.emit(Instr::Jump { to: fail });
                }
                return Ok(());
            };
            self.emit(Instr::UnlessSlot { relation: Relation::NOT_EQUAL, slot: length, k: 0, to: fail });
            expected
        } else {
            self.value(&receive.channel, 0)?;
            self.emit(Instr::Resolve { a: 0 });
            let site = self.site(ChannelRef::Current, given, &[]);
            let head = &mut self.code.sites[site as usize];
            (head.count, head.keep) = (given as u32, receive.keep);
            self.emit(Instr::ReceiveReady { site, to: fail });
            unchecked = Some(site);
            given
        };
        let reference = channel.as_ref().map_or(ChannelRef::Current, channel_ref);
        if matches && !self.match_head(receive, channel.as_ref(), fail) {
            let (terms, _) = self.patterns(&receive.fields, 0)?;
            let site = self.site(reference, given, &terms);
            self.code.sites[site as usize].any = receive.any;
            self.emit(Instr::Find { site, to: fail });
        }
        // The number of fields matters only once the fields that both have match.
        if given != expected {
            self.raise(field_count(given, expected));
            return Ok(());
        }
        if let Some(site) = unchecked {
            self.emit(Instr::CheckCount { site });
        }
        self.commit(entry);
        if !receive.keep {
            self.event(false, false);
        }
        self.take(receive, reference, !(matches && receive.any))
    }

    /// Compares the oldest message with constants at one go, if that is possible.
    fn match_head(&mut self, receive: &Receive, channel: Option<&StaticChannel>, fail: Label) -> bool {
        let Some(channel) = channel else { return false };
        let layout = &self.code.layouts[channel.layout as usize];
        if receive.any || !layout.is_narrow() || channel.word + (layout.start >> 5) > SLOT_WORD_MAX {
            return false;
        }
        let (mut mask, mut value) = (0, 0);
        for (pattern, field) in receive.fields.iter().zip(&layout.fields) {
            let Pattern::Match(e) = pattern else { continue };
            let Some(k) = self.constant(e) else { return false };
            let Some(bits) = field.pattern(k) else {
                self.emit(Instr::Jump { to: fail });
                return true;
            };
            mask |= bits.0;
            value |= bits.1;
        }
        let shift = layout.start & 31;
        let word = (channel.word + (layout.start >> 5)) as u16;
        let base = channel.base as u8;
        self.emit(Instr::UnlessHead { base, word, mask: mask << shift, value: value << shift, to: fail });
        true
    }

    /// Stores what was received and removes it.
    fn take(&mut self, receive: &Receive, reference: ChannelRef, head: bool) -> Done {
        let given = receive.fields.len();
        let (keep, simple) = (receive.keep, self.simple_stores(&receive.fields));
        if let Some(terms) = simple {
            let site = self.site(reference, given, &terms);
            let site_data = &mut self.code.sites[site as usize];
            (site_data.keep, site_data.head) = (keep, head);
            self.emit(Instr::Take { site });
            return Ok(());
        }
        let site = self.site(reference, given, &vec![Term::Ignore; given]);
        self.code.sites[site as usize].head = head;
        self.emit(Instr::Peek { site, d: 0 });
        self.store_fields(&receive.fields)?;
        if !keep {
            self.emit(Instr::Remove { site });
        }
        Ok(())
    }

    /// The part of the receiver in a rendezvous.
    pub(super) fn receive_offer(&mut self, receive: &Receive, fail: Label) -> Done {
        if !self.offered_known {
            self.value(&receive.channel, 0)?;
            self.emit(Instr::UnlessOffered { a: 0, to: fail });
        }
        let (terms, _) = self.patterns(&receive.fields, 0)?;
        let site = self.site(ChannelRef::Current, terms.len(), &terms);
        self.emit(Instr::MatchOffer { site, to: fail });
        self.commit(Entry::Partner);
        self.event(true, true);
        self.event(false, true);
        if let Some(terms) = self.simple_stores(&receive.fields) {
            if terms.iter().any(|term| matches!(term, Term::Store(_))) {
                let site = self.site(ChannelRef::Current, terms.len(), &terms);
                self.emit(Instr::TakeOffer { site });
            }
            return Ok(());
        }
        self.registers_for(receive.fields.len())?;
        self.emit(Instr::PeekOffer { d: 0 });
        self.store_fields(&receive.fields)
    }

    /// Stores registers from 0 on to the places of a receive, from left to right.
    fn store_fields(&mut self, fields: &[Pattern]) -> Done {
        let free = self.registers_for(fields.len())?;
        for (i, field) in fields.iter().enumerate() {
            if let Pattern::Store(place) = field {
                self.store(place, i as Reg, free)?;
            }
        }
        Ok(())
    }

    /// The first register after this many.
    fn registers_for(&self, count: usize) -> Result<Reg, Refusal> {
        let last = Reg::try_from(count).map_err(|_| Refusal::TooDeep)?;
        after(last)
    }

    /// Where the fields of a receive are stored, if each goes to one place; what is matched is ignored.
    fn simple_stores(&self, fields: &[Pattern]) -> Option<Vec<Term>> {
        fields
            .iter()
            .map(|field| match field {
                Pattern::Store(place) => self.slot_of_place(place).map(Term::Store),
                Pattern::Match(_) | Pattern::Ignore => Some(Term::Ignore),
            })
            .collect()
    }

    pub(super) fn poll(&mut self, channel: &Expr, any: bool, fields: &[Pattern], d: Reg) -> Done {
        let (reference, free) = match self.static_channel(channel) {
            Some(known) => {
                let layout = &self.code.layouts[known.layout as usize];
                if layout.capacity == 0 {
                    self.raise(Fault::PollOnRendezvous);
                    return Ok(());
                }
                (channel_ref(&known), d)
            }
            None => {
                self.value(channel, d)?;
                (ChannelRef::Register(d), after(d)?)
            }
        };
        let (terms, _) = self.patterns(fields, free)?;
        let site = self.site(reference, terms.len(), &terms);
        self.code.sites[site as usize].any = any;
        self.emit(Instr::Poll { site, d });
        Ok(())
    }

    /// Makes the values of a message available; registers from `d` on may be used.
    fn values(&mut self, fields: &[Expr], d: Reg) -> Result<(Vec<Term>, Reg), Refusal> {
        let mut at = d;
        let mut terms = Vec::with_capacity(fields.len());
        for field in fields {
            terms.push(self.term(field, &mut at)?);
        }
        Ok((terms, at))
    }

    /// Makes the values that a receive or poll compares with available.
    pub(super) fn patterns(&mut self, fields: &[Pattern], d: Reg) -> Result<(Vec<Term>, Reg), Refusal> {
        let mut at = d;
        let mut terms = Vec::with_capacity(fields.len());
        for field in fields {
            terms.push(match field {
                Pattern::Match(e) => self.term(e, &mut at)?,
                Pattern::Store(_) | Pattern::Ignore => Term::Ignore,
            });
        }
        Ok((terms, at))
    }

    fn term(&mut self, e: &Expr, at: &mut Reg) -> Result<Term, Refusal> {
        Ok(match self.operand(e, *at)? {
            Operand::Const(k) => Term::Const(k),
            Operand::Slot(slot) => Term::Slot(slot),
            Operand::Reg(reg) => {
                *at = after(reg)?;
                Term::Register(reg)
            }
        })
    }

    pub(super) fn site(&mut self, channel: ChannelRef, count: usize, terms: &[Term]) -> u32 {
        let first = self.code.terms.len() as u32;
        self.code.terms.extend_from_slice(terms);
        let count = count as u32;
        self.code.sites.push(Site { channel, sorted: false, any: false, keep: false, head: false, first, count });
        self.code.sites.len() as u32 - 1
    }
}

fn channel_ref(channel: &StaticChannel) -> ChannelRef {
    ChannelRef::Static { base: channel.base as u8, word: channel.word, layout: channel.layout }
}
