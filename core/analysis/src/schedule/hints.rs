//! What a set of waits amounts to in the program behind a model: a mutex, a latch, or a condition variable.
//!
//! *Mutex*: the waits keep the processes of some kinds apart, each in a stretch that is entered from the place where it waits
//! and from nowhere else, and the model with a lock is safe, too ([`super::mutex`]). Then at most one process is in the stretches, and
//! whoever waits does so exactly as long as another one is there. *Latch*: nobody ever comes to the stretch again, so the wait is over once and for all. Everything else is
//! said of a condition variable.

use super::explored::Explored;
use super::mutex::{Section, Sections, do_the_same};
use super::places::Places;
use fabius_base::Cancel;
use fabius_program::facts::creates;
use fabius_program::{Action, Edge, LocationId, ProcessId, Program};
use fabius_search::restrict::Wait;
use fabius_task::waits::ProcessPlaces;
use std::collections::{BTreeMap, BTreeSet};

/// Says of each group of waits that belong together what does the same in a program. Everything that processes can do has to
/// be known: `places` holds each location in which a process is while another one moves.
pub(super) fn hints(
    program: &Program,
    explored: &Explored,
    places: &Places,
    waits: &[Wait],
    cancel: &Cancel,
) -> Vec<String> {
    let hinter = Hinter { program, places };
    let (mut sections, mut others, mut told) = (Sections::new(), Vec::new(), Vec::new());
    for (lock, group) in groups(waits).into_iter().enumerate() {
        match hinter.mutex(&group, lock) {
            Some((text, with_it)) => {
                sections.extend(with_it);
                told.push((group, Some(text)));
            }
            None => {
                others.extend(group.iter().copied());
                told.push((group, None));
            }
        }
    }
    let are_mutexes = !sections.is_empty() && do_the_same(explored, places, &sections, &others, cancel);
    let words = |(group, mutex): (Vec<Wait>, Option<String>)| match mutex.filter(|_| are_mutexes) {
        Some(mutex) => vec![mutex],
        None => group.iter().filter_map(|wait| hinter.latch(wait).or_else(|| hinter.condition(wait))).collect(),
    };
    told.into_iter().flat_map(words).collect()
}

/// The waits, those together that have kinds of processes in common.
fn groups(waits: &[Wait]) -> Vec<Vec<Wait>> {
    let mut groups: Vec<(BTreeSet<u16>, Vec<Wait>)> = Vec::new();
    for wait in waits {
        let (mut kinds, mut group) = (BTreeSet::from([wait.at.kind, wait.other]), vec![*wait]);
        groups.retain_mut(|(others, members)| {
            let apart = others.is_disjoint(&kinds);
            if !apart {
                kinds.append(others);
                group.splice(0..0, members.drain(..));
            }
            apart
        });
        groups.push((kinds, group));
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

struct Hinter<'a> {
    program: &'a Program,
    places: &'a Places,
}

impl Hinter<'_> {
    /// *a mutex does the same*, if these waits keep processes apart as one does, and where it is locked; `lock` is its number.
    fn mutex(&self, group: &[Wait], lock: usize) -> Option<(String, Sections)> {
        let (mut entries, mut stretches) = (BTreeMap::new(), BTreeMap::new());
        for wait in group {
            let same_entry = *entries.entry(wait.at.kind).or_insert(wait.at) == wait.at;
            let stretch = (wait.first, wait.last);
            let same_stretch = stretches.entry(wait.other).or_insert((stretch, *wait)).0 == stretch;
            if !same_entry || !same_stretch {
                return None;
            }
        }
        let excludes = |kind: u16, other: u16| {
            let single = kind == other && self.places.is_single(kind);
            single || group.iter().any(|wait| (wait.at.kind, wait.other) == (kind, other))
        };
        let (mut told, mut sections) = (Vec::new(), Sections::new());
        for (&kind, &entry) in &entries {
            let (_, wait) = stretches.get(&kind)?;
            let excluded = stretches.keys().all(|&other| excludes(kind, other));
            let (section, from) = (self.places.stretch_of(wait)?, self.places.process_places_at(entry));
            let way = self.ways(&section, &from)?;
            if !excluded {
                return None;
            }
            sections.insert(kind, Section { lock, entry: entry.place, first: wait.first, last: wait.last });
            let or_at_once = if way == Way::OrElsewhere { " (at once, if it does not get there)" } else { "" };
            let (who, at, stretch) = (self.places.one_of(kind), self.places.at(entry)?, self.places.stretch(wait)?);
            told.push(format!(
                "{who} locks it before it goes on from {} and unlocks it when it is no longer {stretch}{or_at_once}",
                at.trim_start_matches("at ")
            ));
        }
        let text = format!("a mutex does the same: {}", told.join("; "));
        (entries.len() == stretches.len()).then_some((text, sections))
    }

    /// Whether all ways into a stretch lead through a place where a process waits, and it waits each time.
    fn ways(&self, section: &ProcessPlaces, from: &ProcessPlaces) -> Option<Way> {
        if !section.locations.is_disjoint(&from.locations) {
            return None;
        }
        let atomic = self.edges(section.process).any(|edge| edge.atomic && from.locations.contains(&edge.target));
        let into = self.ways_into(section);
        let starts_within = into.contains(&self.program.processes[section.process.0 as usize].entry);
        let elsewhere = |edge: &Edge| into.contains(&edge.target) && !into.contains(&edge.source);
        let only_from_there = self
            .edges(section.process)
            .filter(|edge| elsewhere(edge))
            .all(|edge| from.locations.contains(&edge.source));
        if atomic || starts_within || !only_from_there {
            return None;
        }
        let mut leaving = self.edges(section.process).filter(|edge| from.locations.contains(&edge.source));
        Some(if leaving.all(|edge| into.contains(&edge.target)) { Way::Always } else { Way::OrElsewhere })
    }

    /// The locations of a stretch, and those that are only passed on the way to it.
    fn ways_into(&self, stretch: &ProcessPlaces) -> BTreeSet<LocationId> {
        let mut into = stretch.locations.clone();
        loop {
            let passed = self.edges(stretch.process).filter(|edge| into.contains(&edge.target)).map(|edge| edge.source);
            let passed: Vec<LocationId> = passed
                .filter(|&source| !into.contains(&source) && self.places.is_only_passed(stretch.process, source))
                .collect();
            if passed.is_empty() {
                return into;
            }
            into.extend(passed);
        }
    }

    /// *a latch does the same*, if nobody comes to the stretch again.
    fn latch(&self, wait: &Wait) -> Option<String> {
        let section = self.places.stretch_of(wait)?;
        let mut into = self.edges(section.process).filter(|edge| section.locations.contains(&edge.target));
        // Whoever waits within the stretch would wait for itself.
        let waits_within = wait.at.kind == wait.other && (wait.first..=wait.last).contains(&wait.at.place);
        let comes_again = into.any(|edge| !section.locations.contains(&edge.source));
        if waits_within || comes_again || self.is_created(section.process) {
            return None;
        }
        let (who, whom, at) =
            (self.places.one_of(wait.at.kind), self.places.each_of(wait.other), self.places.at(wait.at)?);
        let stretch = self.places.stretch(wait)?;
        Some(format!(
            "a latch does the same: {who} awaits it {at}, and {whom} counts it down once it is no longer {stretch}, where none comes again"
        ))
    }

    fn condition(&self, wait: &Wait) -> Option<String> {
        let (who, at) = (self.places.one_of(wait.at.kind), self.places.at(wait.at)?);
        if let Some(condition) = self.places.condition(self.program, wait) {
            return Some(format!(
                "a condition variable does the same: {who} goes on {at} only in one step with the test whether {condition}, \
                 waits as long as that is so, and is woken when it is not"
            ));
        }
        let stretch = self.places.stretch(wait)?;
        let nobody = match (wait.at.kind == wait.other, self.places.is_single(wait.other)) {
            (true, _) => format!("no other {} is", self.places.who(wait.other)),
            (false, true) => format!("{} is not", self.places.who(wait.other)),
            (false, false) => format!("no {} is", self.places.who(wait.other)),
        };
        Some(format!(
            "a condition variable does the same: {who} goes on {at} only in one step with the test that {nobody} {stretch}, \
             and is woken when that becomes true"
        ))
    }

    fn edges(&self, process: ProcessId) -> impl Iterator<Item = &Edge> {
        self.program.edges.iter().filter(move |edge| edge.process == process && !self.ends(edge))
    }

    fn ends(&self, edge: &Edge) -> bool {
        let process = &self.program.processes[edge.process.0 as usize];
        process.statements[edge.statement.0 as usize].action == Action::End
    }

    /// Whether a step creates processes of a type.
    fn is_created(&self, process: ProcessId) -> bool {
        let mut statements = self.program.processes.iter().flat_map(|process| &process.statements);
        statements.any(|statement| creates(&statement.action, process))
    }
}

/// Where the place leads at which a process waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Always into the stretch.
    Always,
    /// Elsewhere, too.
    OrElsewhere,
}
