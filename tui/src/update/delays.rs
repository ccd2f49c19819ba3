//! Schedulers and delays: let one choose, hold somebody back at a step, and see whether the error still happens.

use super::drive;
use crate::keys::Act;
use crate::model::{Model, Panel, Tone};
use fabius_engine::settings::SchedulerChoice;
use fabius_engine::words::counted;
use fabius_explore::NodeId;

/// A scheduler chooses this many moves at a time.
const CHOSEN_MAX: usize = 1000;

pub(super) fn perform(model: &mut Model, act: Act) {
    let done = match act {
        Act::Scheduler => choose(model),
        Act::ToggleDelay => toggle(model),
        _ => needed(model),
    };
    match done {
        Ok((tone, said)) => {
            model.marks_delays = true;
            drive::arrived(model);
            model.say(tone, said);
        }
        Err(why) => model.say(Tone::Bad, why),
    }
}

/// Lets the next scheduler choose from here on.
fn choose(model: &mut Model) -> Result<(Tone, String), String> {
    model.scheduling.scheduler = match &model.scheduling.scheduler {
        SchedulerChoice::Auto | SchedulerChoice::Random | SchedulerChoice::Priority(_) | SchedulerChoice::Own(_) => {
            SchedulerChoice::RunToCompletion
        }
        SchedulerChoice::RunToCompletion => SchedulerChoice::RoundRobin,
        SchedulerChoice::RoundRobin => SchedulerChoice::Laps,
        SchedulerChoice::Laps => SchedulerChoice::Random,
    };
    let scheduling = model.scheduling.clone();
    let session = model.session.as_mut().ok_or("there is no model")?;
    let tip = session.walk.let_choose(&scheduling, CHOSEN_MAX)?;
    session.essential = None;
    session.walk.follow(tip);
    let name = scheduling.name(session.walk.target());
    let steps = session.walk.number(tip).saturating_sub(session.walk.number(session.walk.here()));
    let steps = counted(steps as u64, "step");
    Ok((Tone::Plain, format!("{name} chooses {steps} from here; n walks along, D delays one")))
}

/// The number of the step that is marked, and who moves in it.
fn marked(model: &Model) -> Option<(usize, u8)> {
    let session = model.session.as_ref()?;
    let node = match model.panel {
        Panel::Trace => session.node_of(model.cursors[Panel::Trace.index()].at).filter(|node| *node != NodeId::ROOT),
        _ => session.walk.next_on_line(),
    };
    let step = session.walk.step_to(node?)?;
    Some((step.number, step.actor.pid))
}

/// Holds back who moves in the marked step, or takes away the delay that is there.
fn toggle(model: &mut Model) -> Result<(Tone, String), String> {
    let (step, actor) = marked(model).ok_or("mark a step of the run first: tab to it, then up and down")?;
    let scheduling = model.scheduling.clone();
    let session = model.session.as_mut().ok_or("there is no model")?;
    let delays = session.walk.delays(&scheduling)?;
    let there = delays.points.iter().zip(&delays.steps).find(|(_, at)| **at == step).map(|(point, _)| point.process);
    let process = there.unwrap_or(actor);
    let name = session.walk.process_name(process);
    let rerun = session.walk.toggle_delay(&scheduling, step, process)?;
    session.essential = None;
    session.walk.follow(rerun.tip);
    let what = match there {
        // A delay that changes nothing is none.
        None if rerun.points.len() <= delays.points.len() => {
            return Ok((Tone::Plain, format!("{name} cannot be held back at step {step}: nobody else can move there")));
        }
        Some(_) => format!("{name} is not held back at step {step}"),
        None => format!("{name} is held back at step {step}"),
    };
    let tone = if rerun.wrong { Tone::Bad } else { Tone::Good };
    Ok((tone, format!("{what}: {}", rerun.sentence)))
}

/// Says which delays the error needs.
fn needed(model: &mut Model) -> Result<(Tone, String), String> {
    let scheduling = model.scheduling.clone();
    let session = model.session.as_ref().ok_or("there is no model")?;
    let needed = session.walk.needed_delays(&scheduling)?;
    Ok((Tone::Plain, needed.sentence))
}
