//! Searches: started, watched, halted, and what they found.

use super::{checkpoint, drive, prompt, steering};
use crate::keys::Act;
use crate::message::Effect;
use crate::model::{Cursor, Frozen, Known, Model, Question, Screen, Tone};
use crate::session::Session;
use crate::watch::Indicator;
use fabius_engine::words::counted;
use fabius_engine::{
    Boundary, Event, Look, Outcome, Settings, Verdict, as_walked, boundary as boundary_of, plan, strategy,
};
use fabius_explore::{Alternative, Exploration, Local, LocalAnswer, NodeId, OtherRun};

/// Raising a limit multiplies the states allowed by this.
const MORE_STATES: u64 = 10;
/// Raising a limit allows this many delays more.
const MORE_DELAYS: u32 = 5;

pub(super) fn perform(model: &mut Model, act: Act, effects: &mut Vec<Effect>) {
    match act {
        Act::WatchScreen => {
            model.screen = if model.screen == Screen::Watch { Screen::Drive } else { Screen::Watch };
        }
        Act::CheckAll => check_all(model, effects),
        Act::SearchHere => search_here(model, effects),
        Act::Cancel if model.watch.running || model.seeking.is_some() => {
            effects.push(Effect::Cancel);
            model.say(Tone::Plain, "stopping; what was found out stays");
        }
        Act::Pause if model.watch.running => {
            model.watch.paused = !model.watch.paused;
            effects.push(Effect::Pause(model.watch.paused));
        }
        Act::Raise if model.watch.running => raise(model, effects),
        Act::Raise if !model.watch.indicators.is_empty() => raise_finished(model, effects),
        Act::Freeze => freeze(model, effects),
        Act::LeaveOut => {
            let condition = model.leave_out.clone().unwrap_or_default();
            prompt::ask(model, Question::LeaveOut, &condition);
        }
        Act::BoundDepth => steering::ask_depth(model),
        Act::VisitFirst => {
            let condition = model.visit_first.clone().unwrap_or_default();
            prompt::ask(model, Question::VisitFirst, &condition);
        }
        Act::SaveSearch => checkpoint::ask_save(model),
        Act::ResumeSearch => checkpoint::ask_resume(model),
        _ => model.say(Tone::Plain, "no search runs; S checks all properties"),
    }
}

/// Checks all properties from the beginning.
pub(super) fn check_all(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(program) = model.loaded.as_ref().and_then(|loaded| loaded.checkable()) else {
        return model.say(Tone::Bad, "the model has errors and cannot be checked");
    };
    let names: Vec<String> = match plan(program, &model.launch.settings.properties) {
        Ok(plan) => plan.properties.iter().map(|planned| planned.name.clone()).collect(),
        Err(unknown) => {
            let known = unknown.available.join(", ");
            return model.say(Tone::Bad, format!("unknown property `{}` (known: {known})", unknown.selector));
        }
    };
    let mut taken_back = None;
    if let Some(condition) = model.leave_out.clone() {
        match boundary(model, &condition) {
            Ok(boundary) => effects.push(Effect::LeaveOut(Some(boundary))),
            // The text of the model was edited.
            Err(why) => {
                take_back(model, effects);
                taken_back = Some(format!("checks go on where `{condition}` is true, too: {why}"));
            }
        }
    }
    let taken_back = [taken_back, steering::take_back_order(model, effects)].into_iter().flatten();
    let taken_back = taken_back.reduce(|one, other| format!("{one}; {other}"));
    begin_check(model, &names);
    model.taken_back = taken_back;
    model.known = Known::default();
    effects.push(Effect::Check { work: model.work, properties: Vec::new(), resume: None });
}

/// Looks for an error from where one is, with the holds in force.
fn search_here(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(session) = &model.session else {
        return model.say(Tone::Bad, "there is no model to search in");
    };
    let request = session.walk.search_request();
    let (from, property) = (request.scope().words(), request.scope().property().to_owned());
    begin(model);
    model.watch.begin_local(&model.launch.settings, from.clone());
    model.say(Tone::Plain, format!("{property} {from}: searching for a violation; F2 shows the search"));
    effects.push(Effect::Search(model.work, Box::new(request)));
}

pub(super) fn begin(model: &mut Model) {
    model.work += 1;
    model.frozen = None;
    model.seeking = None;
    model.next_other = 0;
    model.with_causes.clear();
}

fn begin_check(model: &mut Model, properties: &[String]) {
    begin(model);
    model.check = model.work;
    model.kept = None;
    model.watch.begin(&model.launch.settings, properties);
}

/// Allows more from now on: states, memory, delays, steps.
fn allow_more(settings: &mut Settings) {
    let limits = &mut settings.limits;
    limits.states_max = limits.states_max.map(|states| states.saturating_mul(MORE_STATES));
    limits.depth_max = limits.depth_max.map(|depth| depth.saturating_mul(MORE_STATES));
    limits.memory_bytes_max = limits.memory_bytes_max.map(|bytes| bytes.saturating_mul(2));
    if let Some(delays) = settings.delaying.as_mut().and_then(|delaying| delaying.delays_max.as_mut()) {
        *delays = delays.saturating_add(MORE_DELAYS);
    }
    if let Some(steps) = settings.depth_bounding.as_mut().and_then(|bounding| bounding.cut_off.as_mut()) {
        *steps = steps.saturating_mul(2);
    }
}

/// Searches on, beyond the bounds at which a search ended that left something undecided.
fn raise_finished(model: &mut Model, effects: &mut Vec<Effect>) {
    let undecided = |indicator: &&Indicator| indicator.verdict() == Some(Verdict::Undecided);
    let names: Vec<String> =
        model.watch.indicators.iter().filter(undecided).map(|indicator| indicator.name.clone()).collect();
    if names.is_empty() {
        return model.say(Tone::Plain, "nothing was left undecided: no bound is to be raised");
    }
    if model.watch.local.is_some() {
        return model
            .say(Tone::Plain, "the search that ended last was one from a state; s starts it again, S checks all");
    }
    let resume = checkpoint::to_go_on(model, &names);
    let depth_max = model.launch.settings.limits.depth_max;
    allow_more(&mut model.launch.settings);
    if resume.is_some() {
        // Under another bound on depth it would be another search.
        model.launch.settings.limits.depth_max = depth_max;
    }
    let bound = model.launch.settings.delaying.as_ref().and_then(|delaying| delaying.delays_max);
    let decided: Vec<Indicator> =
        model.watch.indicators.iter().filter(|indicator| !undecided(indicator)).cloned().collect();
    begin_check(model, &names);
    model.watch.indicators.extend(decided);
    let said = match (bound, &resume) {
        (Some(bound), Some(_)) => format!("goes on where it ended, now up to {bound} delays"),
        (None, Some(_)) => "goes on where it ended, with more allowed".to_owned(),
        (_, None) => format!("{} anew, with more allowed: this search cannot be resumed", names.join(", ")),
    };
    model.say(Tone::Plain, said);
    model.kept = resume.clone();
    let resume = resume.map(|bytes| ("the search before".to_owned(), bytes));
    effects.push(Effect::Check { work: model.work, properties: names, resume });
}

fn boundary(model: &Model, condition: &str) -> Result<Boundary, String> {
    boundary_of(model.loaded.as_ref().ok_or("there is no model")?, condition)
}

/// Refuses a condition that the searches asked for would not heed.
fn heeded(model: &Model, condition: &str) -> Result<(), String> {
    let settings = Settings { prune: Some(condition.to_owned()), ..checkpoint::settings(model) };
    match model.loaded.as_ref().and_then(|loaded| strategy::contradiction(loaded, &settings)) {
        Some(finding) => Err(finding.headline),
        None => Ok(()),
    }
}

/// Checks go on from all states again.
fn take_back(model: &mut Model, effects: &mut Vec<Effect>) {
    model.leave_out = None;
    effects.push(Effect::LeaveOut(None));
}

/// Says from which states checks are not to go on. What a search left out it cannot make up for: if it had been told another condition, all
/// checks begin anew.
pub(super) fn leave_out(model: &mut Model, condition: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    let before = model.leave_out.clone().unwrap_or_default();
    if condition == before {
        return Ok(());
    }
    if condition.is_empty() {
        take_back(model, effects);
        model.say(Tone::Plain, "checks go on from all states again");
    } else {
        let boundary = boundary(model, condition)?;
        heeded(model, condition)?;
        model.leave_out = Some(condition.to_owned());
        effects.push(Effect::LeaveOut(Some(boundary)));
        let said = if model.watch.running && before.is_empty() {
            "from now on, searches for violations of safety do not go on"
        } else {
            "searches for violations of safety do not go on"
        };
        model.say(Tone::Plain, format!("{said} from states in which `{condition}` is true"));
    }
    if !before.is_empty() && model.watch.local.is_none() {
        check_all(model, effects);
    }
    Ok(())
}

fn raise(model: &mut Model, effects: &mut Vec<Effect>) {
    let depth_max = model.launch.settings.limits.depth_max;
    allow_more(&mut model.launch.settings);
    // What a search left out it cannot make up for.
    model.launch.settings.limits.depth_max = depth_max;
    let limits = model.launch.settings.limits;
    model.watch.memory_max = limits.memory_bytes_max;
    let delays = model.watch.rounds.last().map_or(0, |round| round.bound) + MORE_DELAYS;
    let Some(bytes) = limits.memory_bytes_max else {
        effects.push(Effect::Raise { memory_bytes_max: None, states_max: limits.states_max, delays });
        return model.say(Tone::Plain, "the search may go on to its end");
    };
    effects.push(Effect::Raise { memory_bytes_max: Some(bytes), states_max: limits.states_max, delays });
    model.say(Tone::Plain, format!("the search may use {} now", fabius_engine::words::memory(bytes)));
}

/// Keeps the path that is shown, or lets it go.
fn freeze(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.frozen.take().is_some() {
        return model.say(Tone::Plain, "the path moves again");
    }
    let Some(look) = model.watch.look.clone() else {
        // Between two searches of a check nothing is shown for a moment.
        model.watch.keeps_next = model.watch.running && !model.watch.keeps_next;
        let said = match (model.watch.running, model.watch.keeps_next) {
            (true, true) => "keeps the next path that the search shows; f again lets it go",
            (true, false) => "no path will be kept",
            (false, _) => "there is no path to keep; S checks all properties",
        };
        return model.say(Tone::Plain, said);
    };
    keep(model, look, effects);
}

fn keep(model: &mut Model, look: Look, effects: &mut Vec<Effect>) {
    model.watch.keeps_next = false;
    let at = look.path.len().saturating_sub(1);
    let whole = look.moves.is_some();
    model.frozen = Some(Frozen { look, cursor: Cursor { at, top: at }, whole, awaited: false });
    if model.watch.running && !whole {
        effects.push(Effect::AskForPath);
    }
    model.say(Tone::Plain, "kept: up and down go along it, enter walks there, f lets it go; the search goes on");
}

/// Walks to the marked step of the path that is kept.
pub(super) fn enter(model: &mut Model) {
    let Some(frozen) = &mut model.frozen else {
        return model.say(Tone::Plain, "f keeps the path that is shown, so that one can step in it");
    };
    let Some(moves) = &frozen.look.moves else {
        frozen.awaited = model.watch.running;
        let said = if frozen.awaited {
            "goes there as soon as the search has shown the whole of this path"
        } else {
            "the search ended before it had shown the whole of this path"
        };
        return model.say(Tone::Plain, said);
    };
    let upto = (frozen.look.before as usize + frozen.cursor.at + 1).min(moves.len());
    let (moves, count) = (moves[..upto].to_vec(), moves.len());
    let walked = model.loaded.as_ref().and_then(|loaded| as_walked(loaded, &moves));
    let (Some(session), Some(walked)) = (&mut model.session, walked) else {
        return model.say(Tone::Plain, "this path cannot be walked in the statements of the text");
    };
    match session.walk.adopt(&walked) {
        Ok(node) => {
            model.screen = Screen::Drive;
            drive::go(model, node);
            model.say(Tone::Plain, format!("step {upto} of {count} of the path of the search"));
        }
        Err(why) => model.say(Tone::Bad, format!("the walk cannot go there: {why}")),
    }
}

/// A search tells something.
pub(super) fn told(model: &mut Model, event: Event, effects: &mut Vec<Effect>) {
    if let Event::LeftOut { depth, .. } = event {
        return steering::left_out(model, depth, effects);
    }
    if let (Event::Look { look, .. }, Some(frozen)) = (&event, &mut model.frozen)
        && !frozen.whole
        && look.moves.is_some()
    {
        // The search has gone on since the path was kept: what it shows now is kept instead.
        let at = look.path.len().saturating_sub(1);
        let awaited = frozen.awaited;
        *frozen = Frozen { look: look.clone(), cursor: Cursor { at, top: at }, whole: true, awaited: false };
        if awaited {
            enter(model);
        }
    }
    model.watch.told(event);
    if model.watch.keeps_next
        && let Some(look) = model.watch.look.clone()
    {
        keep(model, look, effects);
    }
}

/// A check is over. Of one that was stopped by another search, only what it found out is taken over.
pub(super) fn checked(model: &mut Model, outcome: Outcome, work: u64) {
    outcome.report.properties.iter().for_each(|property| model.watch.judge(property));
    if work != model.work {
        return model.learn(outcome);
    }
    model.watch.end();
    checkpoint::ended(model, &outcome);
    conclude(model, outcome);
    if let Some(note) = model.taken_back.take() {
        let said = std::mem::take(&mut model.status_line);
        model.say(said.tone, format!("{}; {note}", said.text));
    }
}

/// Says what a check found, and shows it.
fn conclude(model: &mut Model, outcome: Outcome) {
    let verdict = outcome.report.verdict;
    let failure = outcome.failure.clone();
    let violated: Vec<&str> = outcome
        .report
        .properties
        .iter()
        .filter(|property| property.verdict == Verdict::Violated)
        .map(|property| property.name.as_str())
        .collect();
    let said = match (verdict, violated.as_slice()) {
        (Verdict::Holds, _) if outcome.report.properties.len() < model.watch.indicators.len() => {
            let names: Vec<&str> = outcome.report.properties.iter().map(|property| property.name.as_str()).collect();
            format!("{} holds", names.join(", "))
        }
        (Verdict::Holds, _) => "everything holds".to_owned(),
        (Verdict::Violated, names) => format!("violated: {}", names.join(", ")),
        (Verdict::Faulty, _) if model.watch.resumes => {
            format!("{}; S checks from the beginning", outcome.report.reason)
        }
        _ => outcome.report.reason.clone(),
    };
    let cached = outcome.report.properties.iter().find_map(|property| property.cached.as_deref());
    let is_all_known = outcome.report.properties.iter().all(|property| property.cached.is_some());
    let known = cached.map(|time| match is_all_known {
        true => format!(" (cached result from {time} UTC; S checks again)"),
        false => " (in part from the cache; S checks again)".to_owned(),
    });
    let known = known.unwrap_or_default();
    let is_violated = !violated.is_empty();
    if let Some(session) = &mut model.session
        && holds_everywhere(&outcome, &model.launch.settings, &session.walk.target().property)
    {
        session.walk.learn_that_all_is_well();
    }
    model.learn(outcome);
    if let Some(failure) = failure {
        return model.say(Tone::Bad, failure);
    }
    if !is_violated {
        let tone = match verdict {
            Verdict::Holds => Tone::Good,
            Verdict::Faulty => Tone::Bad,
            _ => Tone::Plain,
        };
        return model.say(tone, said + &known);
    }
    let walks = model.session.as_ref().is_some_and(|session| session.walk.here() != NodeId::ROOT);
    if walks {
        // One is somewhere, and stays there.
        let before = std::mem::take(&mut model.status_line.text);
        return model.say(Tone::Bad, format!("{before}; {said}{known}: t shows the run"));
    }
    show_example(model);
    model.status_line.text.push_str(&known);
}

/// Whether a check has looked at all runs of the model, under every schedule, and none violates a property.
fn holds_everywhere(outcome: &Outcome, settings: &Settings, property: &str) -> bool {
    let unbounded = settings.delaying.is_none() && settings.depth_bounding.is_none();
    let mut reports = outcome.report.properties.iter().filter(|report| report.name == property);
    unbounded && reports.any(|report| report.verdict == Verdict::Holds && report.exhaustive)
}

/// Makes the counterexample that is to be shown the run.
pub(super) fn show_example(model: &mut Model) {
    let shown = model.known.shown;
    let Some((property, example)) = model.known.examples.get(shown).cloned() else { return };
    let Some(loaded) = model.loaded.clone() else { return };
    // On a walk that one has not begun yet, everything is about the property that is violated.
    let is_apt = |walk: &Exploration| walk.target().property == property || walk.can_undo_redo() != (false, false);
    let adopted = match &mut model.session {
        Some(session) if is_apt(&session.walk) => session.walk.adopt_counterexample(&example).ok(),
        _ => None,
    };
    match (adopted, &mut model.session) {
        (Some(tip), Some(session)) => {
            session.essential = None;
            session.walk.follow(tip);
        }
        // Its run is told on another exploration target: beside a claim, say. Then the walk starts anew on that.
        _ => match Exploration::of_counterexample(loaded, &example, &property) {
            Ok(walk) => model.session = Some(Session::new(walk)),
            Err(why) => return model.say(Tone::Bad, why),
        },
    }
    drive::arrived(model);
    let steps = counted(example.report.steps, "step");
    let more = match model.known.examples.len() {
        0 | 1 => String::new(),
        count => format!(" ({} of {count}, t shows the next)", shown + 1),
    };
    let what = example.report.kind.sentence();
    let text = format!("{property}: {what}, after {steps}{more}; n walks along");
    model.say(Tone::Bad, text);
}

/// Looks for another run to the error at the end of the run: the shortest one, the one with the fewest changes of process,
/// the one with the fewest delays, then runs with other causes as long as there are some, and in the end for the next error that is known.
pub(super) fn seek(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.watch.running || model.seeking.is_some() {
        return model.say(Tone::Plain, "a search runs; X stops it");
    }
    let which = Alternative::ALL.get(model.next_other).copied();
    let search = match (&model.session, which) {
        (Some(session), Some(which)) => session.walk.alternative(which).map(|search| search.beside(&model.with_causes)),
        _ => Err("all other runs to this error were looked for".to_owned()),
    };
    match search {
        Ok(search) => {
            model.work += 1;
            model.seeking = which;
            model.say(Tone::Plain, format!("looks for {}; esc stops", search.which().words()));
            effects.push(Effect::Seek(model.work, Box::new(search)));
        }
        Err(why) => {
            model.next_other = 0;
            model.with_causes.clear();
            let count = model.known.examples.len();
            if count == 0 {
                return model.say(Tone::Plain, format!("{why}; S checks all properties"));
            }
            let on_it = model.session.as_ref().is_some_and(|session| session.walk.error_of_line().is_some());
            model.known.shown = (model.known.shown + usize::from(on_it)) % count;
            show_example(model);
            go_to_start(model);
        }
    }
}

fn go_to_start(model: &mut Model) {
    if let Some(session) = &mut model.session {
        session.walk.go(NodeId::ROOT);
    }
    let said = std::mem::take(&mut model.status_line);
    drive::arrived(model);
    model.status_line = said;
}

/// A search for another run to the error is over.
pub(super) fn found(model: &mut Model, which: Alternative, result: Result<OtherRun, String>) {
    model.seeking = None;
    let repeats = which == Alternative::AnotherCause && matches!(result, Ok(OtherRun::Found(_)));
    model.next_other += usize::from(!repeats);
    let next = Alternative::ALL.get(model.next_other).map_or("the next error", |other| other.words());
    let words = which.words();
    let Some(session) = &mut model.session else { return };
    let example = match result {
        Ok(OtherRun::Found(example)) => example,
        Ok(OtherRun::NotFound(why)) => return model.say(Tone::Plain, format!("{words}: {why}; t looks for {next}")),
        Err(why) => return model.say(Tone::Bad, format!("{words}: {why}")),
    };
    let tip = |session: &Session| session.walk.line().last().copied().unwrap_or(NodeId::ROOT);
    let before = (tip(session), session.walk.number(tip(session)), session.walk.switches());
    if which == Alternative::AnotherCause {
        model.with_causes.push(session.walk.path(before.0));
    }
    match session.walk.adopt_counterexample(&example) {
        Ok(tip) => session.walk.follow(tip),
        Err(why) => return model.say(Tone::Bad, format!("{words}: {why}")),
    };
    session.essential = None;
    model.marks_delays |= which == Alternative::FewestDelays;
    let (steps, switches) = (session.walk.number(tip(session)), session.walk.switches());
    let delays = example
        .report
        .delays
        .as_ref()
        .map_or(String::new(), |delays| format!(", {}", counted(delays.len() as u64, "delay")));
    let said = if tip(session) == before.0 {
        format!("{words}: the run shown is it{delays}; t looks for {next}")
    } else {
        let (steps_before, switches_before) = (before.1, before.2);
        let steps = counted(steps as u64, "step");
        let changes = if switches == 1 { "change" } else { "changes" };
        format!(
            "{words}: {steps}, {switches} {changes} of process{delays} (before: {steps_before}, {switches_before}); t looks for {next}"
        )
    };
    go_to_start(model);
    model.say(Tone::Good, said);
}

/// A search from a state is over: what it found is true of that state and the holds there, not of the model.
pub(super) fn searched(model: &mut Model, result: Result<LocalAnswer, String>) {
    model.watch.end();
    let answer = match result {
        Ok(answer) => answer,
        Err(why) => return model.say(Tone::Bad, why),
    };
    let (said, local) = (answer.sentence(), answer.local());
    let Some(session) = &mut model.session else { return };
    match session.walk.learn_answer(answer) {
        Ok(Some(tip)) => {
            session.essential = None;
            session.walk.follow(tip);
            drive::arrived(model);
            model.say(Tone::Bad, format!("{said}; n walks along"));
        }
        Ok(None) => {
            let tone = if local == Local::NoViolation { Tone::Good } else { Tone::Plain };
            model.say(tone, said);
        }
        Err(why) => model.say(Tone::Bad, why),
    }
}

/// A search ended in a panic.
pub(super) fn crashed(model: &mut Model, work: u64, why: String) {
    if work == model.work {
        model.watch.running = false;
        model.watch.paused = false;
    }
    model.say(Tone::Bad, why);
}
