//! Sets of symbolic constants.

use std::collections::HashMap;
use std::sync::Arc;

/// A set of symbolic constants.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub name: Arc<str>,
    pub names: Vec<Arc<str>>,
}

/// All sets, in the order in which they were first named.
#[derive(Debug, Default)]
pub(super) struct Sets {
    list: Vec<Set>,
    by_name: HashMap<Arc<str>, usize>,
    by_constant: HashMap<Arc<str>, usize>,
}

impl Sets {
    pub fn list(&self) -> &[Set] {
        &self.list
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The set with a name; makes it if need be.
    pub fn find_or_add(&mut self, name: Arc<str>) -> usize {
        let (list, number) = (&mut self.list, self.by_name.len());
        *self.by_name.entry(name).or_insert_with_key(|name| {
            list.push(Set { name: name.clone(), names: Vec::new() });
            number
        })
    }

    /// The set that a constant belongs to.
    pub fn of_constant(&self, constant: &str) -> Option<usize> {
        self.by_constant.get(constant).copied()
    }

    /// Adds a constant to a set; returns how many the set has now.
    pub fn add(&mut self, set: usize, constant: Arc<str>) -> usize {
        self.by_constant.insert(constant.clone(), set);
        self.list[set].names.push(constant);
        self.list[set].names.len()
    }
}
