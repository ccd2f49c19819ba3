//! The values of a variable, and other parts of states, shared between the states in which they are the same.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The values of a variable, element by element.
///
/// Copying them takes the same time however many they are; only the state that changes one gets values of its own. So
/// a run through states with large arrays takes no more memory than what changes in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Values(Elements);

/// One element is never [`Elements::Several`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Elements {
    One(i32),
    Several(Arc<[i32]>),
}

impl Values {
    /// The same value for each element.
    pub(crate) fn repeated(value: i32, count: usize) -> Self {
        Self(if count == 1 {
            Elements::One(value)
        } else {
            Elements::Several(std::iter::repeat_n(value, count).collect())
        })
    }

    /// Changes one element.
    pub(crate) fn set(&mut self, element: usize, value: i32) {
        if self[element] == value {
            return;
        }
        match &mut self.0 {
            Elements::One(only) => *only = value,
            Elements::Several(all) => Arc::make_mut(all)[element] = value,
        }
    }
}

impl From<Vec<i32>> for Values {
    fn from(values: Vec<i32>) -> Self {
        Self(if let [only] = values[..] { Elements::One(only) } else { Elements::Several(values.into()) })
    }
}

impl Deref for Values {
    type Target = [i32];

    fn deref(&self) -> &[i32] {
        match &self.0 {
            Elements::One(only) => std::slice::from_ref(only),
            Elements::Several(all) => all,
        }
    }
}

/// A part of a state: a copy is the same part, until one of the two is changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(part: T) -> Self {
        Self(Arc::new(part))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<const N: usize> PartialEq<[i32; N]> for Values {
    fn eq(&self, other: &[i32; N]) -> bool {
        **self == other[..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_takes_memory() {
        let first = Values::repeated(7, 100);
        let mut second = first.clone();
        second.set(3, 7);
        assert!(std::ptr::eq(&raw const *first, &raw const *second));
        second.set(3, 8);
        assert_eq!((first[3], second[3]), (7, 8));
        assert!(first != second && first == Values::from(vec![7; 100]));
    }

    #[test]
    fn a_single_value_needs_no_memory_of_its_own() {
        let mut one = Values::repeated(7, 1);
        assert_eq!(one, Values::from(vec![7]));
        one.set(0, 8);
        assert_eq!((one.len(), one[0]), (1, 8));
        assert_eq!(size_of::<Values>(), 16);
    }
}
