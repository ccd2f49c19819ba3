//! Counterexamples that are shown as soon as they are known, in the order of the properties: a schedule that avoids them may be
//! looked for long after that.

use fabius_engine::{Counterexample, Event};
use std::collections::HashSet;
use std::sync::Arc;

/// The counterexamples of a file that were shown, and those that wait for an earlier property.
#[derive(Default)]
pub struct EarlyExamples {
    /// The properties to be checked, in their order.
    properties: Vec<String>,
    /// The first of them that is not over.
    current: usize,
    over: HashSet<String>,
    waiting: Vec<(String, Arc<Counterexample>)>,
    shown: Vec<Arc<Counterexample>>,
}

impl EarlyExamples {
    /// Nothing is shown of a file with these properties.
    pub fn of(properties: Vec<String>) -> Self {
        Self { properties, ..Self::default() }
    }

    /// Something happened: the counterexamples that are to be shown now. From then on they count as shown.
    pub fn follow(&mut self, event: &Event) -> Vec<Arc<Counterexample>> {
        match event {
            Event::Violation { property, counterexample, .. } => {
                self.waiting.push((property.clone(), Arc::clone(counterexample)));
            }
            Event::PropertyDone { property } => drop(self.over.insert(property.name.clone())),
            _ => return Vec::new(),
        }
        let mut next = Vec::new();
        while let Some(property) = self.properties.get(self.current) {
            let due = self.waiting.extract_if(.., |(of, _)| of == property);
            next.extend(due.map(|(_, counterexample)| counterexample));
            if !self.over.contains(property) {
                break;
            }
            self.current += 1;
        }
        self.shown.extend(next.iter().cloned());
        next
    }

    /// Number of counterexamples that were shown.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Those of a file that were not shown.
    pub fn missing<'e>(&self, all: &'e [Counterexample]) -> impl Iterator<Item = &'e Counterexample> {
        all.iter().filter(|example| !self.shown.iter().any(|shown| shown.report == example.report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::Cancel;
    use fabius_engine::{CheckContext, Settings, check, load, plan};
    use std::time::Duration;

    const TEXT: &str = "byte x;\nactive proctype P() { do :: x = 1 - x :: assert(x == 0) od }\n\
        active proctype Q() { do :: x = x od }\nltl never_one { [] (x == 0) }\nltl fine { [] (x < 2) }\n";

    /// Feeds events to the examples of a file in an order of the properties: what is shown at which property's event.
    fn shown(events: &[Event], properties: &[String]) -> Vec<(String, &'static str)> {
        let mut early = EarlyExamples::of(properties.to_vec());
        let mut shown = Vec::new();
        for event in events {
            let (property, at) = match event {
                Event::Violation { property, .. } => (property.clone(), "violation"),
                Event::PropertyDone { property } => (property.name.clone(), "end"),
                _ => continue,
            };
            shown.extend(early.follow(event).iter().map(|_| (property.clone(), at)));
        }
        shown
    }

    #[test]
    fn each_counterexample_is_shown_once_and_as_soon_as_those_of_earlier_properties_are() {
        let settings = Settings { schedule: true, ..Settings::default() };
        let loaded = load("m.pml", TEXT.to_owned(), &[], &mut |_, _| None, &settings);
        let program = loaded.checkable().expect("a model");
        let mut names: Vec<String> =
            plan(program, &[]).expect("a plan").properties.into_iter().map(|planned| planned.name).collect();
        let mut events = Vec::new();
        let mut context = CheckContext {
            cancel: &Cancel::new(),
            now: &|| Duration::ZERO,
            observe: &mut |event| events.push(event),
            controls: None,
        };
        let outcome = check(&loaded, &settings, &mut context);
        assert_eq!((names.len(), outcome.counterexamples.len()), (3, 2), "{names:?}");
        let at = |name: &str, at| (name.to_owned(), at);
        assert_eq!(shown(&events, &names), [at("safety", "violation"), at("never_one", "violation")]);
        // What is decided before its turn waits for it.
        names.rotate_left(1);
        assert_eq!(names.last().map(String::as_str), Some("safety"));
        let late = shown(&events, &names);
        assert_eq!(late, [at("never_one", "violation"), at("fine", "end")]);
        let mut early = EarlyExamples::of(names);
        assert_eq!(early.missing(&outcome.counterexamples).count(), 2);
        events.iter().for_each(|event| drop(early.follow(event)));
        assert_eq!((early.len(), early.missing(&outcome.counterexamples).count()), (2, 0));
        // A schedule is looked for when its counterexample is shown already.
        let told = events.iter().position(|event| matches!(event, Event::Violation { .. }));
        let scheduled = events.iter().position(|event| matches!(event, Event::Schedule { .. }));
        assert!(told.is_some() && scheduled.is_none_or(|scheduled| told < Some(scheduled)));
    }
}
