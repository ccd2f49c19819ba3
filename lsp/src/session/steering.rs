//! A bound on the depth of the checks of a document, and the order in which they visit states; those that run keep to both at once.

use super::Session;
use super::jobs::Tier;
use fabius_engine::report::Stopped;
use fabius_engine::{Settings, check_visit_first};

impl Session {
    /// Checks of a document cut off runs after this many steps; `None`: they do not. What is decided stays. Checks
    /// that run go on with the new bound, unless they left something out that they cannot make up for: these begin anew.
    pub fn bound_depth(&mut self, name: &str, max: Option<u64>) {
        let Some(document) = self.documents.get_mut(name) else { return };
        let before = std::mem::replace(&mut document.max_depth, max);
        if before == max {
            return;
        }
        self.fresh.insert(name.to_owned());
        let is_larger = before.is_some_and(|before| max.is_none_or(|max| before < max));
        let has_left_out = is_larger && self.forget_bounded(name);
        let is_heeded = self.checker.bound_depth(name, max);
        if has_left_out || !is_heeded {
            self.begin_anew(name);
        } else {
            self.check(name, Tier::Quick);
        }
    }

    /// Searches for violations of safety of a document visit states in which a condition is true before others; `None`: in any order.
    /// Those that run go on so. What is undecided is checked.
    ///
    /// # Errors
    /// What is wrong with the condition.
    pub fn visit_first(&mut self, name: &str, condition: Option<String>) -> Result<(), String> {
        let reading = self.reading(name).ok_or("the model is still being read")?;
        if let Some(condition) = &condition {
            check_visit_first(&reading.loaded, &Settings::default(), condition)?;
        }
        let Some(document) = self.documents.get_mut(name).filter(|document| document.visit_first != condition) else {
            return Ok(());
        };
        document.visit_first.clone_from(&condition);
        self.fresh.insert(name.to_owned());
        self.checker.visit_first(name, condition.as_deref());
        self.check(name, Tier::Quick);
        Ok(())
    }

    /// Forgets what is known only as far as a bound on depth went; whether there was anything.
    fn forget_bounded(&mut self, name: &str) -> bool {
        let Some(document) = self.documents.get_mut(name) else { return false };
        let known = &mut document.results.known;
        let count = known.len();
        known.retain(|known| !(known.is_open() && known.report.stopped == Some(Stopped::Depth)));
        known.len() < count
    }

    /// The checks of a document that run and those that wait begin anew; what is decided stays.
    pub(super) fn begin_anew(&mut self, name: &str) {
        self.forget_bounded(name);
        self.stop(name);
        self.check(name, Tier::Quick);
        self.fresh.insert(name.to_owned());
    }
}
