//! A schedule under which the model is safe: looked for, and followed.

use super::drive;
use crate::message::Effect;
use crate::model::{Model, Tone};
use fabius_explore::{MustWait, ScheduleFound};

/// Follows the schedule, or no longer; if none is known, it is looked for.
pub(super) fn toggle(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(session) = &mut model.session else { return };
    if session.walk.follows_schedule() {
        session.walk.follow_schedule(false);
        drive::arrived(model);
        return model.say(Tone::Plain, "the schedule is no longer followed: everybody may move");
    }
    if session.walk.safe_schedule().is_some() {
        return follow(model);
    }
    if session.looks_for_schedule.is_some() {
        return model.say(Tone::Plain, "a schedule is being looked for");
    }
    let search = session.walk.schedule_search();
    model.schedules += 1;
    session.looks_for_schedule = Some(model.schedules);
    effects.push(Effect::Schedule(model.schedules, Box::new(search)));
    model.say(Tone::Plain, "looks for a schedule under which the model is safe");
}

/// The search for a schedule is over.
pub(super) fn found(model: &mut Model, number: u64, found: Result<ScheduleFound, String>) {
    let session = model.session.as_mut().filter(|session| session.looks_for_schedule == Some(number));
    let Some(session) = session else { return };
    session.looks_for_schedule = None;
    match found.and_then(|found| session.walk.learn_schedule(&found)) {
        Ok(()) => follow(model),
        Err(why) => model.say(Tone::Plain, why),
    }
}

fn follow(model: &mut Model) {
    let Some(session) = &mut model.session else { return };
    session.walk.follow_schedule(true);
    let text = session.walk.safe_schedule().map(|schedule| schedule.text().to_owned()).unwrap_or_default();
    drive::arrived(model);
    model.say(Tone::Good, format!("the schedule is followed: {text}"));
}

/// Says that a step was taken all the same, or instead of one that has to wait.
pub(super) fn tell_waiting(model: &mut Model, taken: Option<&MustWait>, along: Option<&MustWait>) {
    match (taken, along) {
        (Some(MustWait { why, .. }), _) => {
            model.say(Tone::Bad, format!("moved all the same, though by the schedule {why}"));
        }
        (None, Some(MustWait { why, .. })) => model.say(Tone::Plain, format!("off the run, since {why}")),
        (None, None) => {}
    }
}
