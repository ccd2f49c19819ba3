//! `fabius watch`: checks models again whenever they are saved, with the same session as the editor.
//!
//! After each save one line per property: the verdict, and what changed since the save before. Events of
//! the file system are only hints: after each, the files are looked at again, so that an editor which saves
//! by renaming is seen like one that writes.

use crate::args::Watch;
use crate::render::numbers::count;
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use crate::{exit, files};
use anstream::println;
use fabius_engine::words::counted;
use fabius_engine::{PropertyReport, Verdict};
use fabius_lsp::session::checker::News;
use fabius_lsp::session::config::definition;
use fabius_lsp::session::edits::Edit;
use fabius_lsp::session::{Notice, Options, Session, When};
use notify::{RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Events that come so close together are one.
const PAUSE: Duration = Duration::from_millis(30);
/// An editor that saves by renaming takes the old file away before the new one is there; one that is away for longer is gone.
const GONE: Duration = Duration::from_millis(100);

/// A file that does not change for so long is written.
const STILL: Duration = Duration::from_millis(10);
/// So often it is looked at whether a file is written.
const LOOKS_MAX: usize = 20;

/// What wakes the loop.
enum Woken {
    /// Something happened in the file system.
    Files,
    /// A check tells something.
    News(Box<News>),
}

/// Watches until somebody stops it, or with `--once` until everything is checked.
pub fn run(args: &Watch) -> u8 {
    let (wake, woken) = mpsc::channel();
    let news = wake.clone();
    let outlet = Arc::new(move |told| drop(news.send(Woken::News(Box::new(told)))));
    let flags = args.clone();
    let session = Session::new(Box::new(move |options| chosen(&flags, options)), outlet);
    let mut seen = Seen { session, texts: BTreeMap::new(), looks: BTreeMap::new(), told_of: None, held: Vec::new() };
    let watcher = notify::recommended_watcher(move |_| drop(wake.send(Woken::Files)));
    let Ok(mut watcher) = watcher else {
        eprintln!("fabius: the file system cannot be watched here");
        return exit::INTERNAL;
    };
    for path in &args.paths {
        if !path.exists() {
            eprintln!("fabius: there is no {}", path.display());
            return exit::FAULTY;
        }
        // A file that is saved by renaming is another file afterwards, so its folder is watched.
        let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(Path::new(".")) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Err(wrong) = watcher.watch(folder, RecursiveMode::Recursive) {
            eprintln!("fabius: {} cannot be watched: {wrong}", path.display());
            return exit::FAULTY;
        }
    }
    seen.look(&args.paths);
    if !args.once {
        let models = counted(seen.session.documents().count() as u64, "model");
        eprintln!("fabius: watching {models}; Ctrl-C ends");
    }
    while !(args.once && seen.session.is_idle()) {
        match woken.recv() {
            Ok(Woken::News(news)) => seen.hear(*news),
            Ok(Woken::Files) => {
                for news in quiet(&woken) {
                    seen.hear(news);
                }
                seen.look(&args.paths);
            }
            Err(_) => break,
        }
    }
    seen.looks.values().map(|look| look.code).reduce(exit::worse).unwrap_or(0)
}

/// Waits until the file system has been quiet for a moment; returns the news that came meanwhile.
fn quiet(woken: &Receiver<Woken>) -> Vec<News> {
    let mut news = Vec::new();
    loop {
        match woken.recv_timeout(PAUSE) {
            Ok(Woken::Files) => {}
            Ok(Woken::News(told)) => news.push(*told),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return news,
        }
    }
}

fn chosen(args: &Watch, mut options: Options) -> Options {
    options.when = When::Save;
    options.hints = false;
    options.defines.extend(args.define.iter().map(|text| definition(text)));
    if let Some(time) = args.timeout {
        options.budget.deep = time;
    }
    options
}

/// What was seen so far.
struct Seen {
    session: Session,
    /// The texts of all files that matter, models and what they include.
    texts: BTreeMap<PathBuf, String>,
    /// By model, what its last look found out.
    looks: BTreeMap<String, Look>,
    /// The model that the lines printed now are about, until all that is to be said of it was said.
    told_of: Option<String>,
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
    /// The exit code of the worst result.
    code: u8,
}

/// Reads a file that may be written at this moment: it counts once it reads the same twice. One that stays empty is empty.
fn read_whole(path: &Path, known: Option<&String>) -> Result<String, String> {
    let mut text = files::read(path)?;
    for _ in 0..LOOKS_MAX {
        if known == Some(&text) {
            break;
        }
        thread::sleep(STILL);
        let before = std::mem::replace(&mut text, files::read(path)?);
        if before == text && !text.is_empty() {
            break;
        }
    }
    Ok(text)
}

impl Seen {
    /// Looks at all files, and checks those that are not what they were.
    fn look(&mut self, paths: &[PathBuf]) {
        let mut included: Vec<String> = Vec::new();
        let models = models(paths);
        self.forget_gone(&models);
        for path in &models {
            let name = path.display().to_string();
            let Ok(text) = read_whole(path, self.texts.get(path)) else { continue };
            if self.texts.get(path) == Some(&text) {
                continue;
            }
            self.texts.insert(path.clone(), text.clone());
            if self.session.document(&name).is_none() {
                self.session.open(&name, 1, &text);
            } else {
                self.session.change(&name, 1, |rope| {
                    let edit = Edit::between(&rope.to_string(), &text);
                    *rope = text.as_str().into();
                    vec![edit]
                });
            }
            let notices = self.session.settle();
            self.show_faults(&notices);
            self.save(&name);
        }
        for path in &models {
            let reading = self.session.reading(&path.display().to_string());
            included.extend(
                reading.iter().flat_map(|reading| reading.map().files()).map(|(_, file)| file.name.to_string()),
            );
        }
        self.look_at_included(included, &models);
    }

    /// Models that are not there any more are not checked any more.
    fn forget_gone(&mut self, models: &[PathBuf]) {
        let known = self.session.documents().map(|(name, _)| PathBuf::from(name));
        let gone: Vec<PathBuf> = known.filter(|path| !models.contains(path)).collect();
        if !gone.is_empty() {
            thread::sleep(GONE);
        }
        for path in gone.into_iter().filter(|path| !path.exists()) {
            let name = path.display().to_string();
            self.session.close(&name);
            self.texts.remove(&path);
            self.begin(&name);
            self.tell(&name, format!("  {} the file is gone", paint(UNSURE, "?")));
            self.end(&name);
        }
    }

    /// Whatever was still to be said of a model is out of date.
    fn begin(&mut self, name: &str) {
        let look = self.looks.entry(name.to_owned()).or_default();
        look.told.clear();
        look.code = 0;
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
            println!("{}", paint(STRONG, name));
            self.told_of = Some(name.to_owned());
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

    /// A changed part makes every model that includes it another one.
    fn look_at_included(&mut self, names: Vec<String>, models: &[PathBuf]) {
        for name in names {
            let path = PathBuf::from(&name);
            let Ok(text) = files::read(&path) else { continue };
            let old = self.texts.insert(path.clone(), text.clone());
            if models.contains(&path) || old.is_none_or(|old| old == text) {
                continue;
            }
            self.session.touched(&name);
            let notices = self.session.settle();
            self.show_faults(&notices);
            for notice in notices {
                if let Notice::Changed(model) = notice {
                    self.save(&model);
                }
            }
        }
    }

    /// A model was saved: what is not known of it is checked, the rest is told.
    fn save(&mut self, name: &str) {
        let checkable = self.session.reading(name).is_some_and(|reading| reading.loaded.checkable().is_some());
        if checkable {
            self.begin(name);
        }
        self.session.save(name);
        if self.session.document(name).is_some_and(|document| document.run.is_none()) {
            self.show_rest(name);
        }
    }

    /// Says which models are too faulty to be checked.
    fn show_faults(&mut self, notices: &[Notice]) {
        for notice in notices {
            let Notice::Changed(name) = notice else { continue };
            let Some(reading) = self.session.reading(name) else { continue };
            let mut errors = reading.loaded.findings.iter().filter(|finding| finding.is_error()).peekable();
            if errors.peek().is_none() {
                continue;
            }
            self.begin(name);
            for finding in errors {
                let place = finding.span().map(|span| reading.map().position(span).to_string()).unwrap_or_default();
                self.tell(name, format!("  {} {place}: {}", paint(BAD, "✗"), finding.headline));
            }
            if let Some(look) = self.looks.get_mut(name) {
                look.code = exit::FAULTY;
            }
            self.end(name);
        }
    }

    fn hear(&mut self, news: News) {
        for notice in self.session.hear(news) {
            match notice {
                Notice::Decided(name, property) => self.show(&name, &property, true),
                Notice::Settled(name) => self.show_rest(&name),
                Notice::Failed(name, failure) => eprintln!("{name}: {failure}"),
                Notice::Changed(_) | Notice::Progress(_) | Notice::Hints(_) | Notice::Met(..) => {}
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
        self.end(name);
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
        self.tell(name, format!("  {line}"));
        if let Some(place) = place {
            self.tell(name, place);
        }
    }
}

fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Undecided => "undecided",
        Verdict::Faulty => "faulty",
    }
}

/// What is known about a property, and what changed; where nothing was searched, nothing could.
fn line(now: &PropertyReport, before: Option<&PropertyReport>, searched: bool) -> String {
    let (mark, style) = match (now.verdict, now.is_as_expected()) {
        (_, Some(true)) | (Verdict::Holds, None) => ("✓", GOOD),
        (Verdict::Undecided, _) => ("?", UNSURE),
        _ => ("✗", BAD),
    };
    let mut text = format!("{} {}: {}", paint(style, mark), now.name, paint(style, word_of(now.verdict)));
    text.push_str(&format!(", {}", counted(now.states, "state")));
    if now.verdict == Verdict::Undecided {
        text.push_str(", not everything was checked");
    }
    match (now.is_as_expected(), now.expected) {
        (Some(true), _) => text.push_str(" (as expected)"),
        (_, Some(expected)) => text.push_str(&format!(" ({} was expected)", word_of(expected))),
        (_, None) => {}
    }
    let Some(before) = before else { return text };
    if !searched {
        text.push_str(&paint(FAINT, " · unchanged"));
        return text;
    }
    let changed = match (before.verdict, now.verdict) {
        (Verdict::Violated, Verdict::Holds) => Some("fixed"),
        (Verdict::Holds, Verdict::Violated) => Some("broken"),
        (old, new) if old != new => Some("changed"),
        _ => None,
    };
    if let Some(changed) = changed {
        text.push_str(&format!(" · {}", paint(STRONG, changed)));
    }
    let difference = now.states.abs_diff(before.states);
    if difference > 0 {
        let sign = if before.states < now.states { "+" } else { "−" };
        text.push_str(&format!(" · {sign}{} states", count(difference)));
    }
    text
}

/// The models among files and folders.
fn models(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = paths.to_vec();
    while let Some(path) = waiting.pop() {
        if path.is_dir() && !path.is_symlink() {
            waiting.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).filter(
                |inner| {
                    let hidden = inner.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                    let model = inner.extension().is_some_and(|end| end == "pml" || end == "promela" || end == "prom");
                    !hidden && (inner.is_dir() || model)
                },
            ));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_engine::report::PropertyClass;

    fn report(verdict: Verdict, states: u64) -> PropertyReport {
        let mut report = PropertyReport::unchecked("p2", PropertyClass::Ltl, "");
        (report.verdict, report.states) = (verdict, states);
        report
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_line_says_what_changed() {
        let (bad, good) = (report(Verdict::Violated, 10), report(Verdict::Holds, 1_223));
        assert_eq!(plain(&line(&good, None, true)), "✓ p2: holds, 1 223 states");
        assert_eq!(plain(&line(&good, Some(&bad), true)), "✓ p2: holds, 1 223 states · fixed · +1 213 states");
        assert_eq!(plain(&line(&bad, Some(&good), true)), "✗ p2: violated, 10 states · broken · −1 213 states");
        assert_eq!(plain(&line(&good, Some(&good), false)), "✓ p2: holds, 1 223 states · unchanged");
        let meant = PropertyReport { expected: Some(Verdict::Violated), ..bad.clone() };
        assert_eq!(plain(&line(&meant, Some(&bad), true)), "✓ p2: violated, 10 states (as expected)");
        let surprise = PropertyReport { expected: Some(Verdict::Violated), ..good };
        assert_eq!(plain(&line(&surprise, None, true)), "✗ p2: holds, 1 223 states (violated was expected)");
    }
}
