//! `fabius watch`: checks models again whenever they are saved, with the same session as the editor.
//!
//! After each save one line per property: the verdict, and what changed since the save before. Events of
//! the file system are only hints at when to look. A look compares every file with what the session knows of it, so
//! that nothing which was overtaken, missed or read half written stays unnoticed; what is not still yet is looked at again.

mod disk;
mod lines;

use crate::args::Watch;
use crate::exit;
use crate::render::paint::{BAD, FAINT, STRONG, UNSURE, paint};
use crate::render::{compared, findings, schedule};
use anstream::println;
use disk::{Content, Folders, Unsettled};
use fabius_engine::words::counted;
use fabius_engine::{PropertyReport, SAFETY, Verdict};
use fabius_lsp::session::edits::Edit;
use fabius_lsp::session::events::CheckEvent;
use fabius_lsp::session::{Notice, Options, Session, When};
use fabius_project::defines::{definition, over};
use fabius_project::{config, files};
use lines::line;
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Events that come so close together are one.
const PAUSE: Duration = Duration::from_millis(30);
/// So often it is looked where the system tells nothing.
const DEAF: Duration = Duration::from_secs(1);

/// Of two runs that are compared, at most this many lines are about steps.
const STEPS_MAX: usize = 12;

/// What wakes the loop.
enum Woken {
    /// Something happened in the file system.
    Files,
    /// A check tells something.
    CheckEvent(Box<CheckEvent>),
}

/// Watches until somebody stops it, or with `--once` until everything is checked.
pub fn run(args: &Watch) -> u8 {
    if let Some(path) = args.paths.iter().find(|path| !path.exists()) {
        eprintln!("fabius: no such file or folder: {}", path.display());
        return exit::FAULTY;
    }
    let (wake, woken) = mpsc::channel();
    let events = wake.clone();
    let watcher = notify::recommended_watcher(move |event| {
        if is_of_interest(&event) {
            drop(wake.send(Woken::Files));
        }
    });
    let Ok(watcher) = watcher else {
        eprintln!("fabius: cannot watch the file system here");
        return exit::INTERNAL;
    };
    let mut folders = Folders::new(watcher);
    for path in &args.paths {
        if let Err(wrong) = folders.hear_of(path) {
            eprintln!("fabius: cannot watch {}: {wrong}", path.display());
            return exit::FAULTY;
        }
    }
    if !args.once {
        eprintln!("fabius: watching {}; Ctrl-C ends", counted(models(&args.paths).len() as u64, "model"));
    }
    let event_sink = Arc::new(move |told| drop(events.send(Woken::CheckEvent(Box::new(told)))));
    let flags = args.clone();
    let session = Session::new(Arc::new(move |options| chosen(&flags, options)), event_sink);
    let mut seen = Seen::new(session, args.paths.clone(), folders);
    seen.go_on(&woken, args.once);
    seen.looks.values().map(|look| look.code).reduce(exit::worse).unwrap_or(0)
}

/// Whether something may have changed; that somebody reads a file, as a look does, changes nothing.
fn is_of_interest(event: &notify::Result<Event>) -> bool {
    let written = AccessKind::Close(AccessMode::Write);
    let read = |event: &Event| matches!(event.kind, EventKind::Access(kind) if kind != written);
    !event.as_ref().is_ok_and(read)
}

fn chosen(args: &Watch, mut options: Options) -> Options {
    options.when = When::Save;
    options.hints = false;
    options.schedule = !args.no_schedule;
    let flags: Vec<_> = args.define.iter().map(|text| definition(text)).collect();
    options.defines = over(std::mem::take(&mut options.defines), &flags);
    if let Some(time) = args.timeout {
        options.budget.deep = time;
    }
    options
}

/// What was seen so far.
struct Seen {
    session: Session,
    /// Where models are looked for.
    paths: Vec<PathBuf>,
    folders: Folders,
    unsettled: Unsettled,
    /// When to look again.
    again: Option<Instant>,
    /// Models that were there, or that cannot be read: what was told of them.
    absent: BTreeMap<PathBuf, Content>,
    /// The files in which projects choose, as they were read last.
    configs: BTreeMap<PathBuf, Content>,
    /// By model, what its last look found out.
    looks: BTreeMap<String, Look>,
    /// The model that the lines printed now are about, until all that is to be said of it was said.
    told_of: Option<String>,
    /// The model whose lines were printed last, if it was not saved since.
    told_last: Option<String>,
    /// The lines of other models, which wait for that.
    held: Vec<(String, Vec<String>)>,
}

/// What a look at a model found out.
#[derive(Default)]
struct Look {
    /// By property, what was known after the save before.
    before: BTreeMap<String, PropertyReport>,
    /// The properties that have their line since the last save.
    told: BTreeSet<String>,
    /// Whether it was told since the last save under which scheduling the model is safe.
    scheduled: bool,
    /// The exit code of the worst result.
    code: u8,
}

impl Seen {
    /// Nothing yet; it has to be looked at once.
    fn new(session: Session, paths: Vec<PathBuf>, folders: Folders) -> Self {
        Self {
            session,
            paths,
            folders,
            unsettled: Unsettled::default(),
            again: Some(Instant::now()),
            absent: BTreeMap::new(),
            configs: BTreeMap::new(),
            looks: BTreeMap::new(),
            told_of: None,
            told_last: None,
            held: Vec::new(),
        }
    }

    /// Looks when it is time to, and tells what checks find out meanwhile; with `once`, until there is no more to do.
    fn go_on(&mut self, woken: &Receiver<Woken>, once: bool) {
        let mut still = false;
        loop {
            if self.again.is_some_and(|again| again <= Instant::now()) {
                still = self.look();
            }
            if once && still && self.session.is_idle() {
                return;
            }
            let next = match self.again {
                Some(again) => woken.recv_timeout(again.saturating_duration_since(Instant::now())),
                None => woken.recv().map_err(RecvTimeoutError::from),
            };
            match next {
                Ok(Woken::CheckEvent(event)) => self.handle(*event),
                Ok(Woken::Files) => self.look_at(Instant::now() + PAUSE),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// At this moment, or earlier, it has to be looked again.
    fn look_at(&mut self, at: Instant) {
        self.again = Some(self.again.map_or(at, |again| again.min(at)));
    }

    /// Looks at all files that matter, and has those checked that are not what they were. Says whether there was none, nor
    /// one that does not keep still.
    fn look(&mut self) -> bool {
        let now = Instant::now();
        self.again = None;
        let matter = self.files_that_matter();
        // What changes from here on is heard of.
        let there = matter.iter().filter(|path| !path.ends_with(config::NAME) || path.exists());
        if self.folders.follow(there.chain(&self.paths)) {
            self.look_at(now + DEAF);
        }
        let unlike = matter.iter().map(|path| (path.clone(), Content::of(path)));
        let unlike = unlike.filter(|(path, content)| !self.is_known(path, content)).collect();
        let changed = self.unsettled.look(unlike, now);
        let still = changed.is_empty() && self.unsettled.next().is_none();
        if !changed.is_empty() {
            // What was read meanwhile may name other files, or be another text by now.
            self.look_at(now);
        }
        self.take(changed);
        if let Some(next) = self.unsettled.next() {
            self.look_at(next);
        }
        still
    }

    /// Models, what they include or would, and what projects choose.
    fn files_that_matter(&self) -> BTreeSet<PathBuf> {
        let mut matter: BTreeSet<PathBuf> = models(&self.paths).into_iter().collect();
        for (name, document) in self.session.documents() {
            matter.insert(PathBuf::from(name));
            let parts = document.present().into_iter().flat_map(|reading| reading.parts());
            matter.extend(parts.map(|(part, _)| PathBuf::from(part)));
            matter.extend(config::places(Path::new(name)));
        }
        matter
    }

    /// Whether a file is what is known of it: to the session, or because that was told.
    fn is_known(&self, path: &Path, content: &Content) -> bool {
        let name = path.display().to_string();
        if path.ends_with(config::NAME) {
            return self.configs.get(path).unwrap_or(&Content::Gone) == content;
        }
        let text = if let Content::Text(text) = content { Some(text.as_str()) } else { None };
        if let Some(document) = self.session.document(&name) {
            return text.is_some_and(|text| document.text == text);
        }
        let readings = self.session.documents().filter_map(|(_, document)| document.present());
        let mut as_part = readings.flat_map(|reading| reading.parts().filter(|(part, _)| *part == name)).peekable();
        match as_part.peek() {
            Some(_) => as_part.all(|(_, known)| known == text),
            None => self.absent.get(path) == Some(content),
        }
    }

    /// Takes in files that have changed; every model for which that matters is told of.
    fn take(&mut self, changed: Vec<(PathBuf, Content)>) {
        for (path, content) in changed {
            let name = path.display().to_string();
            let is_model = self.session.document(&name).is_some();
            if path.ends_with(config::NAME) {
                self.configs.insert(path, content);
                self.session.touched(&name);
                continue;
            }
            match content {
                Content::Text(text) if is_model => self.session.change(&name, 1, |rope| {
                    let edits = Edit::between(&rope.to_string(), &text);
                    *rope = text.as_str().into();
                    edits
                }),
                _ if self.is_part(&name) => self.session.touched(&name),
                Content::Text(text) => {
                    self.absent.remove(&path);
                    self.session.open(&name, 1, &text);
                }
                absent => self.lose(path, absent),
            }
        }
        let notices = self.session.settle();
        for notice in notices {
            let Notice::Changed(name) = notice else { continue };
            // What is part of another model is shown with that.
            if self.session.model_of(&name) == name && !self.show_faults(&name) {
                self.save(&name);
            }
        }
    }

    /// Whether a file is not a model of its own, but part of one, or missing there.
    fn is_part(&self, name: &str) -> bool {
        let mut readings = self.session.documents().filter_map(|(_, document)| document.present());
        self.session.document(name).is_none() && readings.any(|reading| reading.depends_on(name))
    }

    /// A model that is not there any more, or cannot be read, is not checked any more.
    fn lose(&mut self, path: PathBuf, why: Content) {
        let name = path.display().to_string();
        self.session.close(&name);
        self.begin(&name);
        let line = match &why {
            Content::Unreadable(why) => format!("the file cannot be read: {why}"),
            _ => "the file is gone".to_owned(),
        };
        self.tell(&name, format!("  {} {line}", paint(UNSURE, "?")));
        if let (Content::Unreadable(_), Some(look)) = (&why, self.looks.get_mut(&name)) {
            look.code = exit::FAULTY;
        }
        self.absent.insert(path, why);
        self.end(&name);
    }

    /// Whatever was still to be said of a model is out of date.
    fn begin(&mut self, name: &str) {
        let look = self.looks.entry(name.to_owned()).or_default();
        look.told.clear();
        (look.scheduled, look.code) = (false, 0);
        self.told_last.take_if(|model| model == name);
        self.held.retain(|(model, _)| model != name);
        self.told_of.take_if(|model| model == name);
    }

    /// Prints a line about a model, below its name; while another one is told of, it waits.
    fn tell(&mut self, name: &str, line: String) {
        if self.told_of.as_ref().is_some_and(|model| model != name) {
            match self.held.iter_mut().find(|(model, _)| model == name) {
                Some((_, lines)) => lines.push(line),
                None => self.held.push((name.to_owned(), vec![line])),
            }
            return;
        }
        if self.told_of.is_none() {
            if self.told_last.as_deref() != Some(name) {
                println!("{}", paint(STRONG, name));
            }
            self.told_of = Some(name.to_owned());
            self.told_last = Some(name.to_owned());
        }
        println!("{line}");
    }

    /// All that is to be said of a model was said: what waits is printed.
    fn end(&mut self, name: &str) {
        self.told_of.take_if(|model| model == name);
        while self.told_of.is_none() && !self.held.is_empty() {
            let (model, lines) = self.held.remove(0);
            lines.into_iter().for_each(|line| self.tell(&model, line));
            let goes_on = self.session.document(&model).is_some_and(|document| document.run.is_some());
            self.told_of.take_if(|_| !goes_on);
        }
    }

    /// A model was saved: what is not known of it is checked, the rest is told.
    fn save(&mut self, name: &str) {
        let checkable = self.session.reading(name).is_some_and(|reading| reading.loaded.checkable().is_some());
        if checkable {
            self.begin(name);
        }
        if let Some(wrong) = self.session.document(name).and_then(|document| document.wrong_config.clone()) {
            // Between the first line and the last stands the text that is meant.
            let (first, last) = (wrong.lines().next().unwrap_or_default(), wrong.lines().last().unwrap_or_default());
            let why = if first == last { String::new() } else { format!(": {last}") };
            self.begin(name);
            self.tell(name, format!("  {} {first}{why}", paint(BAD, "✗")));
            if let Some(look) = self.looks.get_mut(name) {
                look.code = exit::FAULTY;
            }
        }
        self.session.save(name);
        if self.session.document(name).is_some_and(|document| document.run.is_none()) {
            self.show_rest(name);
        }
    }

    /// Says what is wrong with a model that is too faulty to be checked, and whether it is.
    fn show_faults(&mut self, name: &str) -> bool {
        let Some(reading) = self.session.reading(name) else { return false };
        let errors = findings::alike(reading.loaded.findings.iter().filter(|finding| finding.is_error()));
        if errors.is_empty() {
            return false;
        }
        self.begin(name);
        for alike in errors {
            let place = alike[0].span().map(|span| reading.map().position(span).to_string()).unwrap_or_default();
            let also = match &alike[1..] {
                [] => String::new(),
                rest => paint(FAINT, format!(" · also {}", findings::lines_of(reading.map(), rest))),
            };
            self.tell(name, format!("  {} {place}: {}{also}", paint(BAD, "✗"), alike[0].headline));
        }
        if let Some(look) = self.looks.get_mut(name) {
            look.code = exit::FAULTY;
        }
        self.end(name);
        true
    }

    fn handle(&mut self, event: CheckEvent) {
        for notice in self.session.handle(event) {
            match notice {
                Notice::Decided(name, property) => self.show(&name, &property, true),
                Notice::Settled(name) => self.show_rest(&name),
                Notice::Scheduled(name) => {
                    self.show_schedule(&name);
                    if self.session.document(&name).is_some_and(|document| document.run.is_none()) {
                        self.end(&name);
                    }
                }
                Notice::Failed(name, failure) => {
                    eprintln!("{name}: {failure}");
                    self.looks.entry(name).or_default().code = exit::INTERNAL;
                }
                Notice::Changed(_)
                | Notice::Progress(_)
                | Notice::Hints(_)
                | Notice::Checked(_)
                | Notice::Workspace
                | Notice::Met(..)
                | Notice::Answered(..) => {}
            }
        }
    }

    /// Tells of the properties that have no line yet: nothing that they depend on was changed.
    fn show_rest(&mut self, name: &str) {
        let Some(document) = self.session.document(name) else { return };
        let known = document.results.known.iter().filter(|known| !known.stale);
        let names: Vec<String> = known.map(|known| known.report.name.clone()).collect();
        for property in names {
            if self.looks.get(name).is_none_or(|look| !look.told.contains(&property)) {
                self.show(name, &property, false);
            }
        }
        self.show_schedule(name);
        self.end(name);
    }

    /// Says under which scheduling a model is safe of which a violation was told, once that is known.
    fn show_schedule(&mut self, name: &str) {
        let reading = self.session.reading(name);
        let scheduled = self.session.document(name).zip(reading).and_then(|(document, reading)| {
            let known = document.results.of(SAFETY).filter(|known| !known.stale)?;
            let scheduled = document.results.schedule(&reading)?;
            (known.report.verdict == Verdict::Violated).then(|| schedule::sentence(&scheduled.report))
        });
        let Some(look) = self.looks.get_mut(name).filter(|look| !look.scheduled && look.told.contains(SAFETY)) else {
            return;
        };
        if let Some(sentence) = scheduled {
            look.scheduled = true;
            self.tell(name, format!("      {SAFETY} {sentence}"));
        }
    }

    /// One line for a property, and whether it was searched for it.
    fn show(&mut self, name: &str, property: &str, searched: bool) {
        let Some(document) = self.session.document(name) else { return };
        let Some(known) = document.results.of(property).filter(|known| !known.stale) else { return };
        let report = PropertyReport { expected: document.expected(property), ..known.report.clone() };
        let example = known.counterexamples.first();
        let place = example.and_then(|example| {
            let place = known.reading.map().position(example.finding.span()?);
            let steps = counted(example.trace.len() as u64, "step");
            Some(format!("      {}", paint(FAINT, format!("{place}, {}, {steps}", example.report.kind.sentence()))))
        });
        let look = self.looks.entry(name.to_owned()).or_default();
        let line = line(&report, look.before.get(property), searched);
        look.code = exit::worse(look.code, exit::of_property(&report));
        look.told.insert(property.to_owned());
        look.before.insert(property.to_owned(), report);
        let compared = searched.then(|| document.results.compare_with_run_before(property).ok()).flatten();
        self.tell(name, format!("  {line}"));
        if let Some(place) = place {
            self.tell(name, place);
        }
        let compared = compared.map(|found| compared::versions(&found, "      ", STEPS_MAX)).unwrap_or_default();
        compared.lines().for_each(|line| self.tell(name, line.to_owned()));
    }
}

/// The models among files and folders.
fn models(paths: &[PathBuf]) -> Vec<PathBuf> {
    files::below(paths, files::is_model, usize::MAX)
}
