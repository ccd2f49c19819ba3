//! What checks found out about a document, property by property, and what of it still holds after
//! an edit.
//!
//! A result belongs to the meaning of a property. An edit that does not change the meaning moves its
//! places; any other edit makes it stale, and it stays to be seen, marked, until a new one comes.

use super::edits::{self, Edit};
use super::executed::ExecutedSoFar;
use super::reading::Reading;
use super::replay::Replayed;
use super::saved_runs::SavedRuns;
use fabius_analysis::Survey;
use fabius_analysis::schedule::Scheduled;
use fabius_analysis::stuck::StuckReport;
use fabius_base::{Code, Finding, Span};
use fabius_engine::report::{PropertyClass, PropertyReport, Stopped};
use fabius_engine::words::counted;
use fabius_engine::{Counterexample, Fairness, Loaded, Outcome, SAFETY, Verdict};
use fabius_executions::{ExecutionsReport, OrderReport};
use fabius_task::SemanticDigest;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What is known about one property.
#[derive(Clone, Debug)]
pub struct Known {
    /// The model that the result speaks of.
    pub reading: Arc<Reading>,
    /// What the property means there.
    pub meaning: SemanticDigest,
    /// The figures and the verdict.
    pub report: PropertyReport,
    /// Why it does not hold.
    pub counterexamples: Vec<Counterexample>,
    /// Which infinite runs counted as violations.
    pub fairness: Fairness,
    /// What the search found in the text.
    pub findings: Vec<Finding>,
    /// With this many delays nothing was found, if that was looked for; runs with as many may be left that were not seen.
    pub bound: Option<u32>,
    /// Edits since then that changed the meaning; none if the result is that of the present text.
    pub edits: Vec<Edit>,
    /// The result is not that of the present text.
    pub stale: bool,
    /// What became of the first counterexample in the present text, if that was tried.
    pub replayed: Option<Replayed>,
    /// It is to be tried yet.
    pub untried: bool,
}

impl Known {
    /// Whether a longer search could find out more.
    pub fn is_open(&self) -> bool {
        self.report.verdict == Verdict::Undecided && self.report.stopped.is_some_and(is_budget)
    }

    /// How far nothing was found where not everything was looked at, in a few words.
    pub fn words_if_undecided(&self) -> String {
        let states = counted(self.report.states, "state");
        let is_restricted = matches!(self.report.stopped, Some(Stopped::Pruned | Stopped::Depth));
        if is_restricted || self.report.states == 0 && self.bound.is_none() {
            return self.report.reason.clone();
        }
        match self.bound {
            Some(bound) => {
                let delays = counted(u64::from(bound), "delay");
                format!("no error up to {delays}, {states}, not everything was checked")
            }
            None => format!("no error in {states}, not everything was checked"),
        }
    }

    /// Where a place of this result is in the present text of the document.
    pub fn place(&self, span: Span, document: &str) -> (String, Range<usize>) {
        edits::place(self.reading.map(), span, document, &self.edits)
    }
}

fn is_budget(stopped: Stopped) -> bool {
    match stopped {
        Stopped::Cancelled | Stopped::Timeout | Stopped::States | Stopped::Memory => true,
        Stopped::Full | Stopped::Depth | Stopped::Delays | Stopped::WorkerLost => true,
        Stopped::RuntimeErrors | Stopped::Violation | Stopped::Pruned => false,
    }
}

/// What is known about a document.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Property by property, in the order of reports.
    pub known: Vec<Known>,
    /// Which statements the checks of the model executed that was checked last.
    pub executed: Option<ExecutedSoFar>,
    /// What can be seen in the reachable states of the model that was checked last.
    pub survey: Option<Survey>,
    /// The model that was looked at for it.
    pub surveyed: Option<Arc<Reading>>,
    /// With which statements the order of each statement matters, and in which model.
    pub order: Option<(Arc<Loaded>, Arc<OrderReport>)>,
    /// How many executions there are, if all were counted, and in which model.
    pub executions: Option<(Arc<Loaded>, Arc<ExecutionsReport>)>,
    /// The schedule that was looked for last, and the model under it.
    pub scheduled: Option<(Arc<Loaded>, Arc<Scheduled>)>,
    /// Where deadlocks are not excluded, as far as it was looked for last, and in which model.
    pub deadlocks: Option<(Arc<Loaded>, Arc<StuckReport>)>,
    /// What was known when the text was saved.
    pub(super) saved: SavedRuns,
}

impl Results {
    /// How many executions a model has, if all were counted.
    pub fn executions_of(&self, reading: &Reading) -> Option<&ExecutionsReport> {
        let (loaded, report) = self.executions.as_ref()?;
        Arc::ptr_eq(loaded, &reading.loaded).then_some(report)
    }

    /// With which statements the order of each statement of a model matters, if all of its reachable states were seen.
    pub fn order_of_statements(&self, reading: &Reading) -> Option<&OrderReport> {
        let (loaded, order) = self.order.as_ref()?;
        Arc::ptr_eq(loaded, &reading.loaded).then_some(order)
    }

    /// The schedule that avoids what goes wrong in a model, if it was looked for.
    pub fn schedule(&self, reading: &Reading) -> Option<&Scheduled> {
        let (loaded, scheduled) = self.scheduled.as_ref()?;
        Arc::ptr_eq(loaded, &reading.loaded).then_some(scheduled)
    }

    /// Where deadlocks are not excluded in a model, if it was looked for and no check of it decided that.
    pub fn open_deadlocks(&self, loaded: &Arc<Loaded>) -> Option<&StuckReport> {
        let (then, report) = self.deadlocks.as_ref()?;
        (self.may_deadlock() && Arc::ptr_eq(then, loaded)).then_some(report)
    }

    /// Whether no check decided if the present text can deadlock.
    pub fn may_deadlock(&self) -> bool {
        let safety = self.of(SAFETY).filter(|known| !known.stale);
        safety.is_none_or(|known| known.report.verdict == Verdict::Undecided)
    }

    /// What is known about a property.
    pub fn of(&self, property: &str) -> Option<&Known> {
        self.known.iter().find(|known| known.report.name == property)
    }

    /// The properties of a model about which nothing is known that holds for it and is final.
    pub fn missing(&self, reading: &Reading) -> Vec<String> {
        let known = |name: &String| self.of(name).is_some_and(|known| !known.stale && !known.is_open());
        reading.properties().into_iter().filter(|name| !known(name)).collect()
    }

    /// The properties that a longer search could decide.
    pub fn open(&self) -> impl Iterator<Item = String> {
        self.known.iter().filter(|known| known.is_open()).map(|known| known.report.name.clone())
    }

    /// Takes in what a check of a model found out; the results of other properties stay.
    pub fn take(&mut self, reading: &Arc<Reading>, outcome: Outcome, fairness: Fairness) {
        let statements = outcome.executed.map(|executed| executed.statements(&reading.loaded)).unwrap_or_default();
        self.executed = ExecutedSoFar::with(self.executed.take(), reading, statements);
        let mut counterexamples = outcome.counterexamples.into_iter();
        let mut findings = outcome.findings;
        for report in outcome.report.properties {
            let Some(meaning) = reading.digest_of(&report.name) else { continue };
            let own = counterexamples.by_ref().take(report.violations.len()).collect();
            let safety = report.kind == PropertyClass::Safety;
            let known = Known {
                reading: Arc::clone(reading),
                meaning,
                report,
                counterexamples: own,
                fairness,
                findings: if safety { std::mem::take(&mut findings) } else { Vec::new() },
                bound: None,
                edits: Vec::new(),
                stale: false,
                replayed: None,
                untried: false,
            };
            self.put(known);
        }
        self.known
            .iter()
            .filter(|known| Arc::ptr_eq(&known.reading, reading))
            .for_each(|known| self.saved.learn(known));
        self.order(reading);
    }

    /// The text was saved.
    pub(super) fn save(&mut self, reading: &Reading) {
        self.saved.save(reading, &self.known);
    }

    /// Takes in hints at what could go better, if what they speak of is still the present text. Says whether there are any.
    pub fn take_hints(&mut self, hints: Vec<Finding>) -> bool {
        let safety = self.known.iter_mut().find(|known| known.report.kind == PropertyClass::Safety && !known.stale);
        let Some(known) = safety.filter(|_| !hints.is_empty()) else { return false };
        known.findings.retain(|finding| finding.code != Code::Starvation);
        known.findings.extend(hints);
        true
    }

    /// A round of a search in the order of delays found nothing.
    pub fn rise(&mut self, property: &str, bound: u32) {
        let known =
            self.known.iter_mut().find(|known| known.report.name == property && !known.stale && known.is_open());
        if let Some(known) = known {
            known.bound = known.bound.max(Some(bound));
        }
    }

    fn put(&mut self, known: Known) {
        match self.known.iter_mut().find(|old| old.report.name == known.report.name) {
            // A look that was stopped before it saw more than the one before teaches nothing, but that it ended at a bound.
            Some(old) if !old.stale && old.meaning == known.meaning && known.is_open() => {
                let ended = known.report.stopped == Some(Stopped::Depth);
                if old.is_open() && (ended || old.report.states <= known.report.states) {
                    *old = Known { bound: old.bound, ..known };
                }
            }
            Some(old) => *old = known,
            None => self.known.push(known),
        }
    }

    fn order(&mut self, reading: &Reading) {
        let names = reading.properties();
        self.known.retain(|known| names.contains(&known.report.name));
        self.known.sort_by_key(|known| names.iter().position(|name| *name == known.report.name));
    }

    /// The text was edited and read again: what means the same moves along, the rest becomes stale.
    /// Says whether anything became stale.
    pub fn follow(&mut self, reading: &Arc<Reading>, edit: &[Edit]) -> bool {
        let mut maps: HashMap<*const Reading, HashMap<Span, Span>> = HashMap::new();
        let mut staled = false;
        for known in &mut self.known {
            let same = reading.digest_of(&known.report.name) == Some(known.meaning);
            if !same {
                staled |= !std::mem::replace(&mut known.stale, true);
                known.edits.extend_from_slice(edit);
                known.untried = !known.counterexamples.is_empty() && reading.written().is_some();
                // What became of it in the text before says nothing of this one.
                known.replayed = None;
                continue;
            }
            let (Some(old), Some(new)) = (known.reading.written(), reading.written()) else { continue };
            let map = maps.entry(Arc::as_ptr(&known.reading)).or_insert_with(|| {
                let mut map = old.places_in(new);
                // Where several processes wait, a finding names the place that is shown.
                let shown = |(a, b): (&Span, &Span)| (known.reading.map().user_span(*a), reading.map().user_span(*b));
                let all: Vec<(Span, Span)> = map.iter().map(shown).collect();
                all.into_iter().for_each(|(a, b)| {
                    map.entry(a).or_insert(b);
                });
                map
            });
            known.moved(map);
            known.reading = Arc::clone(reading);
            (known.stale, known.replayed, known.untried) = (false, None, false);
            known.edits.clear();
        }
        if reading.written().is_some() {
            self.order(reading);
        }
        staled
    }
}

impl Known {
    /// Every place becomes the corresponding place of another text.
    fn moved(&mut self, map: &HashMap<Span, Span>) {
        let place = |span: &mut Span| {
            if let Some(new) = map.get(span) {
                *span = *new;
            }
        };
        let findings =
            self.findings.iter_mut().chain(self.counterexamples.iter_mut().map(|example| &mut example.finding));
        for finding in findings {
            // What is told about a stuck process may stand at a place that is shown, not one that is meant.
            finding.labels.iter_mut().for_each(|label| place(&mut label.span));
        }
        for example in &mut self.counterexamples {
            example.trace.steps.move_places(map);
            example.trace.start.move_places(&place);
            example.trace.last.move_places(&place);
        }
    }
}

/// Whether a finding is about statements that no run executes.
pub fn is_unreached(finding: &Finding) -> bool {
    finding.code == Code::Unreached
}
