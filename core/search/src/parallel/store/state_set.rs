//! Sets of states by their keys, whatever layouts these were made in.

use super::keys::SharedKeys;
use super::{Access, Key};
use rustc_hash::FxHashSet;
use std::hash::Hash;

/// A set of states, each with something that tells it from others with the same key.
#[derive(Debug)]
pub(in super::super) struct StateSet<T = ()> {
    /// In the layouts of `epoch`.
    states: FxHashSet<(Key, T)>,
    epoch: u32,
}

impl<T> Default for StateSet<T> {
    fn default() -> Self {
        Self { states: FxHashSet::default(), epoch: 0 }
    }
}

impl<T: Copy + Eq + Hash> StateSet<T> {
    /// Adds a state; whether it was not there before.
    pub(in super::super) fn insert<K: SharedKeys>(&mut self, access: &mut Access<'_, K>, key: Key, with: T) -> bool {
        let key = self.renewed(access, key);
        self.states.insert((key, with))
    }

    /// Whether a state is in the set.
    pub(in super::super) fn contains<K: SharedKeys>(&mut self, access: &mut Access<'_, K>, key: Key, with: T) -> bool {
        let key = self.renewed(access, key);
        self.states.contains(&(key, with))
    }

    /// Removes a state.
    pub(in super::super) fn remove<K: SharedKeys>(&mut self, access: &mut Access<'_, K>, key: Key, with: T) {
        let key = self.renewed(access, key);
        self.states.remove(&(key, with));
    }

    /// Removes what is with some states.
    pub(in super::super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.states.retain(|(_, with)| keep(with));
    }

    /// Whether there are none.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The states, in no order.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = Key> + '_ {
        self.states.iter().map(|state| state.0)
    }

    /// Removes all.
    pub(in super::super) fn clear(&mut self) {
        self.states.clear();
    }

    /// The key in present layouts, which all keys of the set are in, too.
    fn renewed<K: SharedKeys>(&mut self, access: &mut Access<'_, K>, key: Key) -> Key {
        loop {
            let key = access.renewed(key);
            let epoch = access.epoch();
            if self.epoch == epoch {
                return key;
            }
            self.states = self.states.drain().map(|(key, with)| (access.renewed(key), with)).collect();
            // Translating may have led to new layouts again.
            self.epoch = epoch;
        }
    }
}
