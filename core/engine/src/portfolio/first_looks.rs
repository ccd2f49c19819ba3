//! A first look at the properties that come later: a violation near the start is found before the first search has gone far.
//!
//! The look goes without reduction, since a model has to be prepared for that, and a step costs two to three times as much. Where a search for
//! infinite runs will be reduced, it is followed by a shorter look that is reduced: some violations lie behind a few of its steps.
//!
//! Only a violation counts, and what goes wrong in Fabius itself; whatever else it came to, the main search of the property begins anew
//! later.

use super::waiting::Role;
use super::{Open, Portfolio, end_of};
use fabius_observe::CheckContext;
use fabius_strategy::{Choice, CycleSearch, Strategy};
use fabius_task::report::Verdict;
use fabius_task::settings::Pauses;

/// A first look has this many times the least work at most: what takes longer is for the next pause.
const LONGEST: u64 = 4;
/// A reduced look has one part of the work of one that is not.
const REDUCED_SHARE: u64 = 4;

impl Portfolio<'_, '_> {
    /// Has a first look at all properties but this one that are open and for which no search has begun, then a reduced one at those that are
    /// still open. Together the looks without reduction have about the work of the main search until its next pause, unless each would
    /// have too little.
    pub(super) fn first_looks(&mut self, index: usize, outer: &mut CheckContext<'_>) {
        let Pauses { first_look, .. } = self.settings.pauses;
        self.properties[index].looked_at.get_or_insert(0);
        let is_new = |property: &Open<'_>| property.is_open() && property.looked_at.is_none();
        let new: Vec<usize> = (0..self.properties.len()).filter(|&other| is_new(&self.properties[other])).collect();
        let share = self.settings.pauses.work(1) / new.len().max(1) as u64;
        let work = share.clamp(first_look, first_look.saturating_mul(LONGEST));
        let looks = [(false, work), (true, work / REDUCED_SHARE)];
        for (reduction, work) in looks.into_iter().filter(|&(_, work)| 0 < work) {
            for &other in &new {
                let property = &self.properties[other];
                if !property.is_open() || reduction && !is_reduced_from_the_beginning(&property.choice) {
                    continue;
                }
                if outer.cancel.requested().is_some() {
                    return;
                }
                self.first_look(other, (reduction, work), outer);
            }
        }
    }

    fn first_look(&mut self, index: usize, (reduction, work): (bool, u64), outer: &mut CheckContext<'_>) {
        let mut choice = self.properties[index].choice.clone();
        choice.settings.reduction &= reduction;
        let task = self.task(index, choice, Role::Main, outer);
        let turn = self.turn_until(self.share((outer.now)()), work, self.properties[index].states_of_turns());
        let (choice, mut checked, is_over) = self.at_once(task, turn, outer);
        self.executed.extend(std::mem::take(&mut checked.executed));
        *self.properties[index].looked_at.get_or_insert(0) += checked.report.states;
        if checked.report.verdict == Verdict::Violated || checked.failure.is_some() {
            self.properties[index].note_main(&choice, &checked, end_of(&checked, !is_over));
            self.finish(index, checked, outer);
        }
    }
}

/// Whether a search is reduced from its first state on, if the model can be reduced.
fn is_reduced_from_the_beginning(choice: &Choice) -> bool {
    let may_reduce = choice.settings.reduction && choice.settings.optimize;
    may_reduce && matches!(choice.strategy, Strategy::Cycles { search, .. } if search != CycleSearch::Components)
}
