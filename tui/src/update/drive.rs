//! Driving: stepping, choosing, holding, going back, and what explains where one is.

use super::{perform as perform_any, prompt};
use crate::background_run::{Goal, RunRequest};
use crate::keys::Act;
use crate::message::Effect;
use crate::model::{BackgroundRun, Cursor, Model, Panel, Question, Screen, Tone, TraceTab};
use crate::session::Session;
use fabius_analysis::LocalStateGraph;
use fabius_engine::Loaded;
use fabius_engine::words::counted;
use fabius_explore::{Choice, Exploration, NodeId, Seal, Stop, TraceFile, Until};
use std::path::Path;
use std::sync::Arc;

/// Does what a key stands for on the driving screen.
pub(super) fn perform(model: &mut Model, act: Act, index: usize, effects: &mut Vec<Effect>) {
    match act {
        Act::TraceTab => next_tab(model),
        Act::Formula => show_formula(model),
        Act::Unchanged => model.changed_only = !model.changed_only,
        Act::Open => prompt::ask(model, Question::Open, ""),
        Act::Enter if model.background_run.is_none() || model.screen == Screen::Watch => enter(model, effects),
        _ if model.session.is_none() => model.say(Tone::Bad, "there is no model to walk through"),
        _ if model.background_run.is_some() && !looks_only(act) => {
            model.say(Tone::Plain, "a run is under way; esc stops it")
        }
        Act::Forward => forward(model),
        Act::Back => step_back(model),
        Act::Choice => choose(model, index),
        Act::First => jump_to(model, 0),
        Act::Last => {
            let last = model.session.as_ref().map_or(0, |session| session.walk.line().len() - 1);
            jump_to(model, last);
        }
        Act::Undo | Act::Redo => take_back(model, act == Act::Redo),
        Act::LoopStart | Act::LoopEnd | Act::Around => context(model, act),
        Act::Hold => hold(model),
        Act::HoldUntil => ask_of_process(model, Question::HoldUntil, ""),
        Act::Delay => ask_of_process(model, Question::Delay, "1"),
        Act::Seal => seal(model),
        Act::Schedule => super::schedule::toggle(model, effects),
        Act::Jump => prompt::ask(model, Question::Jump, ""),
        Act::Until => prompt::ask(model, Question::Until, ""),
        Act::Random => prompt::ask(model, Question::Random, "10"),
        Act::Bookmark => bookmark(model),
        Act::AddWatch => prompt::ask(model, Question::Watch, ""),
        Act::RemoveWatch => remove_watch(model),
        Act::Why => super::popup::show_why(model),
        Act::Writers => super::popup::show_writers(model),
        Act::Essential => essential(model),
        Act::ClaimMoves => claim_moves(model),
        Act::OtherTrace => super::search::seek(model, effects),
        Act::Compare => super::compare::branches(model),
        Act::Graph => super::graph::show(model),
        Act::Before => super::compare::before(model),
        Act::Scheduler | Act::ToggleDelay | Act::Needed => super::delays::perform(model, act),
        Act::Save => {
            let name = model.launch.path.with_extension("run.json");
            prompt::ask(model, Question::Save, &name.display().to_string());
        }
        _ => {}
    }
}

/// Something changed where one is: what is shown follows.
pub(super) fn arrived(model: &mut Model) {
    let Some(session) = &mut model.session else { return };
    session.refresh();
    session.watch(&model.watches);
    let row = session.row_of_here();
    let next = session.walk.next_on_line();
    let along = |choice: &&Choice| choice.node.is_some() && choice.node == next && choice.must_wait.is_none();
    let marked = session.choices.iter().position(|choice| along(&choice));
    let free = session.choices.iter().position(|choice| choice.held.is_none() && choice.must_wait.is_none());
    let choice = marked.or(free).unwrap_or(0);
    let line = line_of_here(model);
    let trace_rows = super::visible(&crate::layout::Layout::of(model), Panel::Trace);
    let source_rows = super::visible(&crate::layout::Layout::of(model), Panel::Source);
    let (rows, lines) = (super::entries(model, Panel::Trace), model.source.lines.len());
    if model.tab != TraceTab::Tree {
        model.cursor(Panel::Trace).go(row, rows, trace_rows);
    }
    let choices = super::entries(model, Panel::Choices);
    *model.cursor(Panel::Choices) = Cursor::default();
    model.cursor(Panel::Choices).go(choice, choices, 1);
    if let Some(line) = line {
        let cursor = model.cursor(Panel::Source);
        cursor.go(line as usize - 1, lines, source_rows);
        // Some lines after the one of interest are in sight, too.
        let ahead = (cursor.at + source_rows / 3 + 1).saturating_sub(source_rows);
        cursor.top = cursor.top.max(ahead).min(lines.saturating_sub(source_rows)).min(cursor.at);
    }
}

/// The line of the step that was taken last; in the initial state, of the first process that can move.
fn line_of_here(model: &Model) -> Option<u32> {
    let (session, loaded) = (model.session.as_ref()?, model.loaded.as_ref()?);
    let last = session.walk.step_to(session.walk.here()).map(|step| step.fault_span);
    let first = session.choices.first().map(|choice| choice.effect.actor.span);
    let any = session.processes.first().map(|process| process.status.span);
    let place = loaded.map.position(last.or(first).or(any)?);
    (place.file.as_ref() == loaded.name).then_some(place.line).filter(|line| *line > 0)
}

/// Says why nothing goes on, or that something went wrong.
fn comment(model: &mut Model) {
    let Some(session) = &model.session else { return };
    let here = session.walk.here();
    let lasso = session.walk.lasso();
    let said = match (session.walk.fault(here), session.stop) {
        (Some(fault), _) => Some((Tone::Bad, format!("this step goes wrong: {fault}"))),
        (None, Some(Stop::Deadlock)) => Some((Tone::Bad, Stop::Deadlock.sentence().to_owned())),
        (None, Some(Stop::End)) => Some((Tone::Good, Stop::End.sentence().to_owned())),
        _ if lasso.is_some_and(|lasso| lasso.end == here) => {
            Some((Tone::Bad, "the loop closes here: from now on the same again and again".to_owned()))
        }
        _ => None,
    };
    match said {
        Some((tone, text)) => model.say(tone, text),
        None => {
            let sentence = session.walk.step_to(here).map(|step| fabius_explore::sentence(&step)).unwrap_or_default();
            model.say(Tone::Plain, sentence);
        }
    }
}

/// Says what happens in the step that is marked: its row may be too short for that.
pub(super) fn tell_marked(model: &mut Model) {
    let Some(session) = &model.session else { return };
    let node = match model.tab {
        TraceTab::Tree => session.tree.get(model.tree_cursor.at).map(|row| row.node),
        _ => session.node_of(model.cursors[Panel::Trace.index()].at),
    };
    if let Some(step) = node.and_then(|node| session.walk.step_to(node)) {
        model.say(Tone::Plain, format!("{}: {}", step.number, fabius_explore::sentence(&step)));
    }
}

fn moved(model: &mut Model) {
    arrived(model);
    comment(model);
}

fn forward(model: &mut Model) {
    let at = model.cursor(Panel::Choices).at;
    let Some(session) = &mut model.session else { return };
    let marked = session.choices.get(at).map(|choice| (choice.step, choice.node));
    let along = session.walk.next_on_line();
    // A mark that was moved away from the run is meant.
    let alternative = along.is_some() && marked.is_some_and(|(_, node)| node != along);
    let waits = along.and_then(|node| session.walk.had_to_wait(node)).filter(|_| alternative);
    if alternative || along.is_none() && session.walk.lasso().is_none_or(|lasso| lasso.end != session.walk.here()) {
        let here = session.walk.here();
        choose(model, at);
        let moved = model.session.as_ref().is_some_and(|session| session.walk.here() != here);
        return super::schedule::tell_waiting(model, None, waits.as_ref().filter(|_| moved));
    }
    if session.walk.forward() { moved(model) } else { choose(model, at) }
}

fn step_back(model: &mut Model) {
    let Some(session) = &mut model.session else { return };
    if session.walk.back() { moved(model) } else { model.say(Tone::Plain, Stop::Beginning.sentence()) }
}

pub(super) fn choose(model: &mut Model, index: usize) {
    let Some(session) = &mut model.session else { return };
    let Some(choice) = session.choices.get(index).cloned() else {
        let why = session.stop.map_or("there is no such choice", Stop::sentence);
        return model.say(Tone::Plain, why);
    };
    match session.walk.choose(&choice) {
        Ok(_) => {
            moved(model);
            if let Some(pid) = choice.held {
                let name = name_of(model, pid);
                model.say(Tone::Plain, format!("{name} is held back; you moved it all the same"));
            }
            super::schedule::tell_waiting(model, choice.must_wait.as_ref(), None);
        }
        Err(why) => model.say(Tone::Bad, why),
    }
}

/// How a process is shown.
pub(crate) fn name_of(model: &Model, pid: u8) -> String {
    model.session.as_ref().map_or_else(|| format!("process {pid}"), |session| session.walk.process_name(pid))
}

/// Goes to a row of the run as it is, with nothing left out.
fn jump_to(model: &mut Model, depth: usize) {
    let Some(session) = &mut model.session else { return };
    if session.walk.go_to_depth(depth) { moved(model) } else { model.say(Tone::Bad, "the run is shorter") }
}

/// Goes to a node.
pub(super) fn go(model: &mut Model, node: NodeId) {
    let Some(session) = &mut model.session else { return };
    if session.walk.go(node) {
        moved(model)
    }
}

fn take_back(model: &mut Model, again: bool) {
    let Some(session) = &mut model.session else { return };
    let done = if again { session.walk.redo() } else { session.walk.undo() };
    session.essential = None;
    arrived(model);
    let said = match (done, again) {
        (true, false) => "taken back; ctrl-r does it again",
        (true, true) => "done again",
        (false, false) => "there is nothing to take back",
        (false, true) => "there is nothing to do again",
    };
    model.say(Tone::Plain, said);
}

fn context(model: &mut Model, act: Act) {
    let Some(session) = &mut model.session else { return };
    let Some(lasso) = session.walk.lasso() else {
        return model.say(Tone::Plain, "this run has no loop");
    };
    match act {
        Act::LoopStart => session.walk.go(lasso.start),
        Act::LoopEnd => session.walk.go(lasso.end),
        _ => session.walk.go_round(),
    };
    moved(model);
    let length = model
        .session
        .as_ref()
        .map_or(0, |session| session.walk.number(lasso.end).saturating_sub(session.walk.number(lasso.start)));
    let length = counted(length as u64, "step");
    let said = match act {
        Act::LoopStart => format!("the loop starts here: {length}, again and again"),
        Act::LoopEnd => format!("the loop closes here: {length}, again and again"),
        _ => format!("once around: {length}, and the same state again"),
    };
    model.say(Tone::Plain, said);
}

/// The process that is marked: in its panel, else the one that the marked choice moves.
fn marked_process(model: &Model) -> Option<u8> {
    let session = model.session.as_ref()?;
    if model.panel == Panel::Choices {
        let at = model.cursors[Panel::Choices.index()].at;
        if let Some(choice) = session.choices.get(at).filter(|choice| !fabius_explore::is_of_claim(&choice.step)) {
            return Some(choice.step.pid);
        }
    }
    session.process(model.cursors[Panel::Processes.index()].at).map(|process| process.status.pid)
}

fn ask_of_process(model: &mut Model, question: fn(u8) -> Question, text: &str) {
    match marked_process(model) {
        Some(pid) => prompt::ask(model, question(pid), text),
        None => model.say(Tone::Plain, "there is no process to hold back"),
    }
}

fn hold(model: &mut Model) {
    let Some(pid) = marked_process(model) else {
        return model.say(Tone::Plain, "there is no process to hold back");
    };
    let name = name_of(model, pid);
    let Some(session) = &mut model.session else { return };
    let said = if session.walk.hold_on(pid).is_some() {
        session.walk.release(pid);
        Ok(format!("{name} may move again"))
    } else {
        let held = session.walk.hold(pid, Until::Released);
        held.map(|()| format!("{name} is held back, in runs and in searches; s looks for an error now"))
    };
    arrived(model);
    match said {
        Ok(said) => model.say(Tone::Plain, said),
        Err(why) => model.say(Tone::Bad, why),
    }
}

fn seal(model: &mut Model) {
    let Some(session) = &mut model.session else { return };
    let sealed = match session.walk.sealed() {
        None => Some(Seal::RoundRobin),
        Some(Seal::RoundRobin) => Some(Seal::RunToCompletion),
        Some(Seal::RunToCompletion) => None,
    };
    session.walk.seal(sealed);
    arrived(model);
    model.say(
        Tone::Plain,
        match sealed {
            Some(Seal::RoundRobin) => "sealed: nobody is held back, processes move in the order of their creation",
            Some(Seal::RunToCompletion) => "sealed: nobody is held back, what a step causes happens next",
            None => "no longer sealed: processes may be held back",
        },
    );
}

fn bookmark(model: &mut Model) {
    let Some(session) = &model.session else { return };
    let here = session.walk.here();
    let name = session.walk.name(here).map(str::to_owned);
    let proposal = name.unwrap_or_else(|| format!("step {}", session.walk.number(here)));
    prompt::ask(model, Question::Bookmark, &proposal);
}

/// Removes the watch expression that is marked.
fn remove_watch(model: &mut Model) {
    let at = model.cursors[Panel::Variables.index()].at;
    if model.panel != Panel::Variables || model.watches.len() <= at {
        return model.say(Tone::Plain, "mark a watch expression among the values first; a adds one");
    }
    let text = model.watches.remove(at);
    if let Some(session) = &mut model.session {
        session.watch(&model.watches);
    }
    model.say(Tone::Plain, format!("`{text}` is no longer watched"));
}

/// Whether a key only looks at what is there.
fn looks_only(act: Act) -> bool {
    matches!(act, Act::Why | Act::Writers | Act::Save | Act::Compare | Act::Before | Act::Graph)
}

/// Where a run led and why it ended, or why it came to nothing.
type Ran = Result<(Exploration, Stop), String>;

/// Starts a run; it goes on beside what is shown.
pub(super) fn background_run(model: &mut Model, goal: Goal, what: String, effects: &mut Vec<Effect>) {
    let Some(session) = &model.session else { return };
    let (walk, from) = (session.walk.clone(), session.walk.number(session.walk.here()));
    model.background_runs += 1;
    model.say(Tone::Plain, format!("{what}; esc stops"));
    model.background_run = Some(BackgroundRun { what, from });
    effects.push(Effect::RunRequest(model.background_runs, Box::new(RunRequest { walk, goal })));
}

/// A run has gone so far.
pub(super) fn background_runs(model: &mut Model, number: u64, steps: usize) {
    if let Some(background_run) = model.background_run.as_ref().filter(|_| number == model.background_runs) {
        let said = format!("{}: {} so far; esc stops", background_run.what, counted(steps as u64, "step"));
        model.say(Tone::Plain, said);
    }
}

/// A run is over: says why, and does what had to wait for it.
pub(super) fn ran(model: &mut Model, number: u64, ran: Ran, effects: &mut Vec<Effect>) {
    let Some(background_run) = model.background_run.take_if(|_| number == model.background_runs) else { return };
    match ran {
        Ok((walk, stop)) => led_to(model, &background_run, walk, stop),
        // What is shown stays as it was before the run.
        Err(why) => model.say(Tone::Bad, format!("{}: {why}", background_run.what)),
    }
    for message in std::mem::take(&mut model.later) {
        effects.extend(super::update(model, message));
    }
}

/// Shows where a run led.
fn led_to(model: &mut Model, background_run: &BackgroundRun, walk: Exploration, stop: Stop) {
    let Some(session) = &mut model.session else { return };
    session.walk = walk;
    session.essential = None;
    let steps = session.walk.number(session.walk.here()).saturating_sub(background_run.from);
    arrived(model);
    let tone = match stop {
        Stop::Fault | Stop::Deadlock => Tone::Bad,
        Stop::Reached | Stop::End => Tone::Good,
        _ => Tone::Plain,
    };
    model.say(tone, format!("{}: {}: {}", background_run.what, counted(steps as u64, "step"), stop.sentence()));
}

/// Asks for a chart where a search has looked for errors and more can be known of the choices. Drawing it never keeps a
/// search or a run from going on.
pub(super) fn look_ahead(model: &mut Model, effects: &mut Vec<Effect>) {
    let searched = model.watch.over && model.seeking.is_none();
    let Some(session) = model.session.as_mut().filter(|session| session.charting.is_none()) else { return };
    if !searched || model.background_run.is_some() || model.screen != Screen::Drive {
        return;
    }
    if let Some(charting) = session.walk.charting() {
        model.charts += 1;
        session.charting = Some(model.charts);
        effects.push(Effect::LocalStateGraph(model.charts, Box::new(charting)));
    }
}

/// A chart is drawn: the marks of the choices follow.
pub(super) fn charted(model: &mut Model, number: u64, chart: Result<LocalStateGraph, String>) {
    let Some(session) = model.session.as_mut().filter(|session| session.charting == Some(number)) else { return };
    session.charting = None;
    match chart {
        Ok(chart) => {
            session.walk.learn_chart(Arc::new(chart));
            session.choices = session.walk.choices();
        }
        Err(why) => model.say(Tone::Bad, why),
    }
}

fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.screen == Screen::Watch {
        return super::search::enter(model);
    }
    let cursors = model.cursors;
    match model.panel {
        Panel::Choices => choose(model, cursors[Panel::Choices.index()].at),
        Panel::Processes => move_process(model),
        Panel::Variables => perform_any(model, Act::Writers, 0, effects),
        Panel::Source => run_to_line(model, cursors[Panel::Source.index()].at as u32 + 1, effects),
        Panel::Trace => {
            let Some(session) = &model.session else { return };
            let node = match model.tab {
                TraceTab::Tree => session.tree.get(model.tree_cursor.at).map(|row| row.node),
                _ => session.node_of(cursors[Panel::Trace.index()].at),
            };
            if let Some(node) = node {
                go(model, node);
            }
        }
    }
}

/// Lets the marked process take its step, if it has only one.
fn move_process(model: &mut Model) {
    let Some(pid) = marked_process(model) else { return };
    let name = name_of(model, pid);
    let Some(session) = &model.session else { return };
    let moves = |choice: &fabius_explore::Choice| {
        choice.step.pid == pid || choice.step.partner.is_some_and(|(partner, _)| partner == pid)
    };
    let mut own = session.choices.iter().enumerate().filter(|(_, choice)| moves(choice)).map(|(index, _)| index);
    match (own.next(), own.next()) {
        (Some(only), None) => choose(model, only),
        (Some(first), Some(_)) => {
            let count = session.choices.len();
            model.panel = Panel::Choices;
            model.cursor(Panel::Choices).go(first, count, 1);
            model.say(Tone::Plain, format!("{name} has several steps to choose from"));
        }
        (None, _) => super::popup::show_why(model),
    }
}

fn run_to_line(model: &mut Model, line: u32, effects: &mut Vec<Effect>) {
    let Some(session) = &model.session else { return };
    let Some(place) = session.walk.place(&model.source.name, line) else {
        return model.say(Tone::Plain, "no process stops on this line or after it");
    };
    let what = format!("to line {}", place.line);
    background_run(model, Goal::Line(place), what, effects);
}

fn next_tab(model: &mut Model) {
    let tabs = model.session.as_ref().map_or(TraceTab::of_run(false), Session::tabs);
    let next = tabs.iter().position(|tab| *tab == model.tab).map_or(0, |at| (at + 1) % tabs.len());
    show_tab(model, tabs[next]);
}

/// Shows where the formula of the run holds, or the lanes again.
fn show_formula(model: &mut Model) {
    let tab = if model.tab == TraceTab::Formula { TraceTab::Lanes } else { TraceTab::Formula };
    show_tab(model, tab);
}

fn show_tab(model: &mut Model, tab: TraceTab) {
    model.tab = tab;
    model.panel = Panel::Trace;
    if model.tab == TraceTab::Tree {
        if let Some(session) = &mut model.session {
            session.grow_tree();
            let here = session.walk.here();
            model.tree_cursor.at = session.tree.iter().position(|row| row.node == here).unwrap_or(0);
        }
    } else {
        arrived(model);
    }
}

/// Shows only the steps that matter, or all again.
fn essential(model: &mut Model) {
    let Some(session) = &mut model.session else { return };
    if session.essential.take().is_some() {
        model.say(Tone::Plain, "all steps are shown");
        return arrived(model);
    }
    let essential = session.walk.essential();
    let count = essential.nodes.len();
    session.essential = Some(std::iter::once(NodeId::ROOT).chain(essential.nodes).collect());
    arrived(model);
    let are = if count == 1 { "is" } else { "are" };
    model.say(
        Tone::Plain,
        format!("{count} of {} {are} essential; e shows all again", counted(essential.of as u64, "step")),
    );
}

/// Shows the moves of a claim as rows of their own, or folds them.
fn claim_moves(model: &mut Model) {
    let Some(session) = &mut model.session else { return };
    if session.walk.target().watch.claim.is_none() {
        return model.say(Tone::Plain, "no claim is watched beside this run");
    }
    session.claim_moves = !session.claim_moves;
    let shown = session.claim_moves;
    arrived(model);
    model.say(
        Tone::Plain,
        if shown { "the claim's moves are rows; C folds them" } else { "the claim's moves are folded" },
    );
}

pub(super) fn edit(model: &mut Model, effects: &mut Vec<Effect>) {
    let line = model.cursor(Panel::Source).at as u32 + 1;
    effects.push(Effect::Edit(model.launch.path.clone(), line));
}

/// The text of a trail or of a saved run was read.
pub(super) fn opened(model: &mut Model, path: &Path, text: Result<String, String>) {
    let name = path.display();
    let Some(loaded) = model.loaded.clone() else { return };
    let read = text.and_then(|text| {
        if !text.trim_start().starts_with('{') {
            let walk = Exploration::of_trail(loaded, None, &text)?;
            let steps = walk.line().last().map_or(0, |tip| walk.number(*tip));
            return Ok((walk, format!("a trail of {}; n walks along", counted(steps as u64, "step"))));
        }
        let (walk, reopened) = Exploration::reopen(loaded, &TraceFile::read(&text)?)?;
        let told = format!("{} of {} are possible", reopened.steps, counted(reopened.of as u64, "step"));
        let remarks: Vec<String> = std::iter::once(told).chain(reopened.remarks).collect();
        Ok((walk, remarks.join("; ")))
    });
    match read {
        Ok((walk, told)) => {
            let is_launched = model.launch.trail.as_deref() == Some(path);
            model.linked = is_launched.then(|| walk.line().to_vec());
            model.session = Some(Session::new(walk));
            model.chosen = None;
            arrived(model);
            model.say(Tone::Good, format!("{name}: {told}"));
        }
        Err(why) => model.say(Tone::Bad, format!("{name}: {why}")),
    }
}

/// The editor shows a step of the run that the explorer was opened with.
pub(super) fn show_step(model: &mut Model, step: usize) {
    let (Some(session), Some(run)) = (&model.session, &model.linked) else { return };
    if let Some(node) = run.iter().rev().find(|node| session.walk.number(**node) == step).copied() {
        model.told_to_show = Some(step);
        go(model, node);
    }
}

/// The model was written: what was tried is tried on the new one.
pub(super) fn replay(model: &mut Model, loaded: &Arc<Loaded>, old: Session) {
    match Exploration::reopen(Arc::clone(loaded), &old.walk.save()) {
        Ok((walk, reopened)) => {
            model.session = Some(Session::new(walk));
            arrived(model);
            let told = match reopened.remarks.as_slice() {
                [] => "the model was written: the same steps are still possible".to_owned(),
                remarks => format!("the model was written: {}", remarks.join("; ")),
            };
            model.say(Tone::Plain, told);
        }
        Err(why) => {
            model.aside = Some(old);
            model.say(Tone::Bad, why);
        }
    }
}
