//! A first look at the properties that come later: a violation near the start is found before the first search has gone far.
//!
//! Only a violation counts, and what goes wrong in Fabius itself; whatever else it came to, the main search of the property begins anew
//! later.

use super::waiting::Role;
use super::{Open, Portfolio, end_of};
use fabius_observe::CheckContext;
use fabius_task::report::Verdict;
use fabius_task::settings::Pauses;

/// A first look has this many times the least work at most: what takes longer is for the next pause.
const LONGEST: u64 = 4;

impl Portfolio<'_, '_> {
    /// Has a first look at all properties but this one that are open and for which no search has begun. Together the looks have about the
    /// work of the main search until its next pause, unless each would have too little.
    pub(super) fn first_looks(&mut self, index: usize, outer: &mut CheckContext<'_>) {
        let Pauses { first_look, .. } = self.settings.pauses;
        self.properties[index].looked_at.get_or_insert(0);
        let is_new = |property: &Open<'_>| property.is_open() && property.looked_at.is_none();
        let new: Vec<usize> = (0..self.properties.len()).filter(|&other| is_new(&self.properties[other])).collect();
        let share = self.settings.pauses.work(1) / new.len().max(1) as u64;
        let work = share.clamp(first_look, first_look.saturating_mul(LONGEST));
        for other in new.into_iter().filter(|_| 0 < work) {
            if outer.cancel.requested().is_some() {
                return;
            }
            self.first_look(other, work, outer);
        }
    }

    fn first_look(&mut self, index: usize, work: u64, outer: &mut CheckContext<'_>) {
        let choice = self.properties[index].choice.clone();
        let task = self.task(index, choice, Role::Main, outer);
        let turn = self.turn_until(self.share((outer.now)()), work, 0);
        let (choice, mut checked, is_over) = self.at_once(task, turn, outer);
        self.executed.extend(std::mem::take(&mut checked.executed));
        self.properties[index].looked_at = Some(checked.report.states);
        if checked.report.verdict == Verdict::Violated || checked.failure.is_some() {
            self.properties[index].note_main(&choice, &checked, end_of(&checked, !is_over));
            self.finish(index, checked, outer);
        }
    }
}
