//! What was found out about each property before the last save that changed its meaning, so that the run before the change can be
//! compared with the one after it.

use super::reading::Reading;
use super::results::{Known, Results};
use fabius_engine::comparison::{Version, VersionComparison, compare_versions};
use fabius_task::SemanticDigest;
use std::collections::BTreeMap;
use std::sync::Arc;

/// By property, what is known of the text that was saved last, and of the one before it.
#[derive(Clone, Debug, Default)]
pub struct SavedRuns(BTreeMap<String, Saved>);

#[derive(Clone, Debug)]
struct Saved {
    /// What the property means in the text that was saved last.
    meaning: SemanticDigest,
    /// What is known of that text.
    now: Option<Arc<Known>>,
    /// What was known of the text that was saved before, in which the property means something else.
    before: Option<Arc<Known>>,
}

impl SavedRuns {
    /// A text was saved of which this is known.
    pub(super) fn save(&mut self, reading: &Reading, known: &[Known]) {
        if reading.written().is_none() {
            return;
        }
        for property in reading.properties() {
            let Some(meaning) = reading.digest_of(&property) else { continue };
            let saved = self.0.get_mut(&property);
            if saved.as_ref().is_some_and(|saved| saved.meaning == meaning) {
                continue;
            }
            let before = saved.and_then(|saved| saved.now.take());
            self.0.insert(property, Saved { meaning, now: None, before });
        }
        known.iter().for_each(|known| self.learn(known));
    }

    /// Something was found out; it counts if it is about the text that was saved last.
    pub(super) fn learn(&mut self, known: &Known) {
        let saved = self.0.get_mut(&known.report.name);
        if let Some(saved) = saved.filter(|saved| !known.stale && saved.meaning == known.meaning) {
            saved.now = Some(Arc::new(known.clone()));
        }
    }
}

impl Results {
    /// Whether it is known what became of a property before the last save that changed its meaning.
    pub fn has_run_before(&self, property: &str) -> bool {
        self.saved.0.get(property).is_some_and(|saved| saved.before.is_some())
    }

    /// Compares the run that violates a property with the one before the last save that changed what the property means.
    ///
    /// # Errors
    /// Why that is not possible, in a sentence without its full stop.
    pub fn compare_with_run_before<'a>(&'a self, property: &'a str) -> Result<VersionComparison, String> {
        let before = self.saved.0.get(property).and_then(|saved| saved.before.as_deref());
        let before = before.ok_or_else(|| {
            format!("nothing is known of `{property}` in the text before the last save that changed the model")
        })?;
        let now = self.of(property).filter(|known| !known.stale);
        let now = now.ok_or_else(|| format!("`{property}` is not checked yet in the present text"))?;
        let version = |known: &'a Known| Version {
            loaded: &known.reading.loaded,
            property,
            example: known.counterexamples.first(),
        };
        let (old, new) = (version(before), version(now));
        compare_versions(&old, &new).ok_or_else(|| {
            format!("no run is known that violates `{property}`, neither before the last save nor after it")
        })
    }
}
