//! The labels of a model, found by element, by process type and by name, without a look at all of them.

use super::{El, Label, LabelRef};
use crate::names::{Names, ScopeId};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;

/// All labels, in the order in which they were set.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    list: Vec<Label>,
    by_element: FxHashMap<El, Vec<usize>>,
    /// By process type.
    bodies: Vec<Body>,
}

/// The labels of one process type, as indices.
#[derive(Debug, Default)]
struct Body {
    all: Vec<usize>,
    by_name: HashMap<Arc<str>, Vec<usize>>,
    by_scope: HashMap<(Arc<str>, ScopeId), Vec<usize>>,
}

impl Labels {
    pub fn push(&mut self, label: Label) {
        let index = self.list.len();
        self.by_element.entry(label.el).or_default().push(index);
        let process = label.process as usize;
        if self.bodies.len() <= process {
            self.bodies.resize_with(process + 1, Body::default);
        }
        let (body, at) = (&mut self.bodies[process], &label.at);
        body.all.push(index);
        body.by_name.entry(at.name.clone()).or_default().push(index);
        body.by_scope.entry((at.name.clone(), at.scope)).or_default().push(index);
        self.list.push(label);
    }

    pub fn get(&self, index: usize) -> &Label {
        &self.list[index]
    }

    /// Lets a label stand on another element.
    pub fn move_to(&mut self, index: usize, el: El) {
        let before = std::mem::replace(&mut self.list[index].el, el);
        self.by_element.entry(before).or_default().retain(|other| *other != index);
        let there = self.by_element.entry(el).or_default();
        there.push(index);
        there.sort_unstable();
    }

    /// The labels on an element, the one set last first.
    pub fn on(&self, el: El) -> impl Iterator<Item = usize> + '_ {
        self.by_element.get(&el).into_iter().flatten().rev().copied()
    }

    /// The labels of a process type, in the order in which they were set.
    pub fn of(&self, process: u32) -> impl Iterator<Item = &Label> {
        let all = self.bodies.get(process as usize).map_or(&[][..], |body| &body.all);
        all.iter().map(|index| &self.list[*index])
    }

    /// The labels of a process type that have a name, in the order in which they were set.
    pub fn named(&self, process: u32, name: &str) -> &[usize] {
        self.bodies.get(process as usize).and_then(|body| body.by_name.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The labels of a process type that have a name in exactly this scope, in the order in which they were set.
    pub fn in_scope(&self, process: u32, name: &Arc<str>, scope: ScopeId) -> &[usize] {
        let body = self.bodies.get(process as usize);
        body.and_then(|body| body.by_scope.get(&(name.clone(), scope))).map_or(&[], Vec::as_slice)
    }

    /// The label of a process type that a name means in a scope: the last one in it, else the first one in a scope
    /// around it.
    pub fn nearest(&self, process: u32, at: &LabelRef, names: &Names) -> Option<usize> {
        if let Some(own) = self.in_scope(process, &at.name, at.scope).last() {
            return Some(*own);
        }
        let around = names.around(at.scope).filter_map(|scope| self.in_scope(process, &at.name, scope).first());
        around.min().copied()
    }
}
