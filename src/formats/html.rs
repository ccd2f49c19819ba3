//! One page about all models of a run, complete in itself: verdicts, what is not known, runs as steps and as pictures, the
//! texts with marks at their lines. It is read without scripts; with them, the arrow keys walk through the steps of a run.

use super::github::sum;
use super::junit::clean;
use super::{Checked, Source, Violation};
use super::{picture, ribbon};
use crate::exit;
use crate::render::numbers::{count, counted, memory, seconds};
use crate::render::text::PLOTTED_STEPS_MAX;
use fabius_engine::report::{FindingReport, PropertyReport};
use fabius_engine::{Report, TOOL, VERSION, Verdict};
use fabius_witness::Trace;
use fabius_witness::diagram::{plots, plots_svg};
use fabius_witness::format::json::StepRecord;
use quick_xml::escape::escape;
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Of a longer run, this many steps are listed at each of its ends.
const STEPS_AT_ENDS: usize = 500;

/// The page.
pub fn document(checked: &[Checked], missing: usize) -> String {
    let mut page = Page { out: String::new() };
    let verdict = checked.iter().map(Checked::code).fold(0, exit::worse);
    let title = match checked {
        [only] => format!("{} – {TOOL}", only.report.file),
        several => format!("{} – {TOOL}", counted(several.len() as u64, "model")),
    };
    page.put("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.put("<meta name=\"color-scheme\" content=\"light dark\">");
    page.put(&format!("<title>{}</title><style>\n{STYLE}</style></head>", text(&title)));
    page.put(&format!("<body><header><h1>{}</h1>{}</header>", text(&title), badge(verdict, word(verdict))));
    page.put(&format!("<p>{}</p><main>", text(&sum(checked, missing))));
    page.overview(checked);
    checked.iter().enumerate().for_each(|(number, model)| page.model(number, model));
    page.put("</main>");
    page.put(&format!("<footer>Written by {TOOL} {VERSION}.</footer>"));
    page.put(&format!("<script>\n{SCRIPT}</script></body></html>"));
    page.out
}

/// Text of a model or about it, in a page.
pub(super) fn text(raw: &str) -> String {
    escape(clean(raw)).into_owned()
}

fn badge(code: u8, what: &str) -> String {
    let class = match code {
        0 => "v-good",
        exit::UNDECIDED => "v-open",
        _ => "v-bad",
    };
    format!("<span class=\"v-badge {class}\">{}</span>", text(what))
}

/// An exit code in a word or two.
fn word(code: u8) -> &'static str {
    match code {
        0 => "holds, or is as expected",
        1 => "violated, or not as expected",
        exit::UNDECIDED => "undecided",
        exit::FAULTY => "not checked",
        _ => "internal error",
    }
}

struct Page {
    out: String,
}

impl Page {
    fn put(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// The verdicts of all models, as a table.
    fn overview(&mut self, checked: &[Checked]) {
        self.put("<table class=\"v-table\"><thead><tr><th>Model</th><th>Property</th><th>Verdict</th><th>What it rests on</th><th>States</th><th>Time</th></tr></thead><tbody>");
        for (number, model) in checked.iter().enumerate() {
            let report = &model.report;
            let name = format!("<a href=\"#m{number}\">{}</a>", text(&report.file));
            if report.properties.is_empty() {
                let verdict = badge(exit::of_report(report), word(exit::of_report(report)));
                let reason = text(&report.reason);
                self.put(&format!(
                    "<tr><td>{name}</td><td></td><td>{verdict}</td><td>{reason}</td><td></td><td></td></tr>"
                ));
            }
            for (at, property) in report.properties.iter().enumerate() {
                let name = if at == 0 { name.as_str() } else { "" };
                self.put(&row(name, property, model));
            }
        }
        self.put("</tbody></table>");
    }

    fn model(&mut self, number: usize, model: &Checked) {
        let report = &model.report;
        self.put(&format!("<section id=\"m{number}\"><h2>{}</h2>", text(&report.file)));
        if let Some(project) = &report.project {
            let settings = text(&project.settings.join("; "));
            self.put(&format!("<p class=\"v-faint\">settings from {}: {settings}</p>", text(&project.file)));
        }
        self.unknown(report);
        report.properties.iter().for_each(|property| self.workers(property));
        for (at, violation) in model.violations().enumerate() {
            self.violation(&format!("m{number}v{at}"), number, &violation, model);
        }
        for schedule in report.properties.iter().filter_map(|property| property.schedule.as_deref()) {
            let word = schedule.verdict.words();
            self.put(&format!("<h3>Under another schedule</h3><p><b>{word}</b>: {}</p>", text(&schedule.reason)));
        }
        self.findings(number, model);
        for (at, source) in model.sources.iter().enumerate() {
            self.source(number, at, source, model);
        }
        self.put("</section>");
    }

    /// What the check leaves open, and why.
    fn unknown(&mut self, report: &Report) {
        let mut open: Vec<String> = Vec::new();
        open.extend(report.internal_error.iter().map(|error| text(error)));
        for property in &report.properties {
            let name = format!("<b>{}</b>", text(&property.name));
            match property.verdict {
                Verdict::Undecided => open.push(format!("{name} is undecided: {}", text(&property.reason))),
                Verdict::Holds if !property.exhaustive => {
                    open.push(format!("{name} was not checked exhaustively: {}", text(&property.reason)));
                }
                Verdict::Violated if !property.exhaustive => {
                    open.push(format!("{name} was not explored further: it may be violated in other ways, too"));
                }
                _ => {}
            }
        }
        if report.properties.is_empty() && report.internal_error.is_none() {
            open.push(text(&report.reason));
        }
        if !open.is_empty() {
            self.put(&format!("<h3>What is not known</h3><ul><li>{}</li></ul>", open.join("</li><li>")));
        }
    }

    /// What each of the processes did that searched together, with a bar for its states.
    fn workers(&mut self, property: &PropertyReport) {
        let most = property.workers.iter().map(|worker| worker.states).max().unwrap_or(0).max(1);
        if property.workers.is_empty() {
            return;
        }
        self.put(&format!("<h3>States of each process: {}</h3>", text(&property.name)));
        self.put("<table class=\"v-table\"><thead><tr><th>Process</th><th>States</th><th></th><th>Memory</th><th>Sent</th><th>Waited</th></tr></thead><tbody>");
        for (number, worker) in (1..).zip(&property.workers) {
            let host = worker.host.as_ref().map_or(String::new(), |host| format!(" on {}", text(host)));
            let share = 100.0 * worker.states as f64 / most as f64;
            let bar = format!(
                "<svg class=\"v-bar\" role=\"img\" aria-label=\"{share:.0} % of the most\"><rect width=\"{share:.1}%\" height=\"100%\"/></svg>"
            );
            let figures = [memory(worker.memory_bytes), memory(worker.sent_bytes), seconds(worker.waited_seconds)];
            let figures: String = figures.map(|figure| format!("<td class=\"v-figure\">{figure}</td>")).concat();
            self.put(&format!(
                "<tr><td>{number}{host}</td><td class=\"v-figure\">{}</td><td class=\"v-wide\">{bar}</td>{figures}</tr>",
                count(worker.states)
            ));
        }
        self.put("</tbody></table>");
    }

    fn violation(&mut self, id: &str, number: usize, violation: &Violation<'_>, model: &Checked) {
        let sources = &model.sources;
        let (told, property) = (violation.report, violation.property);
        let verdict = badge(model.code_of(property), &model.judged(property));
        let headline = text(violation.headline());
        self.put(&format!("<article id=\"{id}\"><h3>{headline}</h3>"));
        let place = link(number, sources, &told.file, told.line);
        let code = text(violation.code());
        self.put(&format!(
            "<p>{verdict} <b>{}</b> at {place} <span class=\"v-faint\">{code}</span></p>",
            text(&property.name)
        ));
        let sentences: Vec<String> = told.explanation.iter().map(|sentence| text(sentence)).collect();
        if !sentences.is_empty() {
            self.put(&format!("<ul><li>{}</li></ul>", sentences.join("</li><li>")));
        }
        if let Some(advice) = &told.advice {
            self.put(&format!("<p>{}</p>", text(advice)));
        }
        self.steps(id, number, violation, sources);
        if let Some(run) = violation.example.and_then(|example| example.run.as_ref()) {
            self.put(&plotted(run));
        }
        if let Some(own) = violation.example.and_then(|example| example.own_picture.as_ref()) {
            self.put(&picture::shown(own, id, told.steps));
        }
        if let Some(run) = violation.example.and_then(|example| example.run.as_ref()) {
            let all = told.steps_left_out == 0 && told.trace.len() <= 2 * STEPS_AT_ENDS;
            let row = |step: usize| (all && 0 < step && step as u64 <= told.steps).then(|| format!("{id}t{step}"));
            self.put(&ribbon::table(run, row));
        }
        if let Some(picture) = violation.example.and_then(|example| example.picture.as_deref()) {
            self.put("<details open><summary>Sequence diagram</summary><div class=\"v-scroll v-picture\">");
            self.put(picture);
            self.put("</div></details>");
        }
        if let Some(example) = violation.example {
            let report = text(&example.text);
            self.put(&format!("<details><summary>As text</summary><pre class=\"v-scroll\">{report}</pre></details>"));
        }
        self.put("</article>");
    }

    fn steps(&mut self, id: &str, model: usize, violation: &Violation<'_>, sources: &[Source]) {
        let told = violation.report;
        if told.trace.is_empty() {
            return;
        }
        let cut = told.trace.len().saturating_sub(2 * STEPS_AT_ENDS);
        let left_out = told.steps_left_out + cut as u64;
        self.put(&format!("<details open><summary>{}</summary>", text(&counted(told.steps, "step"))));
        self.put("<div class=\"v-scroll\"><table class=\"v-steps\"><tbody>");
        for (at, step) in told.trace.iter().enumerate() {
            if 0 < left_out && at == STEPS_AT_ENDS {
                let left_out = text(&counted(left_out, "step"));
                self.put(&format!("<tr><td colspan=\"5\" class=\"v-faint\">… {left_out} left out</td></tr>"));
            }
            if cut == 0 || at < STEPS_AT_ENDS || STEPS_AT_ENDS + cut <= at {
                let original = step.original.as_ref().map(|from| format!(" ({}:{})", text(&from.file), from.line));
                let in_loop = told.loop_start.is_some_and(|start| start <= step.step as u64);
                let place = link(model, sources, &step.file, step.line) + original.as_deref().unwrap_or_default();
                self.put(&step_row(id, step, in_loop, &place));
            }
        }
        self.put("</tbody></table></div></details>");
    }

    fn findings(&mut self, model: usize, checked: &Checked) {
        let findings = &checked.report.findings;
        if findings.is_empty() {
            return;
        }
        self.put("<h3>Findings</h3><ul>");
        for finding in findings {
            let notes = finding.notes.iter().chain(&finding.help).map(|note| format!("<br>{}", text(note)));
            let notes: String = notes.collect();
            let place = link(model, &checked.sources, &finding.file, finding.line);
            let what = format!(
                "{} <b>{}</b> [{}]: {}",
                place,
                text(finding.severity),
                text(finding.code),
                text(&finding.message)
            );
            self.put(&format!("<li>{what}<span class=\"v-faint\">{notes}</span></li>"));
        }
        self.put("</ul>");
    }

    /// A text with its lines numbered, and what there is to say about them beside them.
    fn source(&mut self, model: usize, at: usize, source: &Source, checked: &Checked) {
        let marks = marks(source, checked);
        self.put(&format!(
            "<details open><summary>{}</summary><div class=\"v-scroll\"><table class=\"v-source\"><tbody>",
            text(&source.name)
        ));
        for (number, line) in source.text.lines().enumerate() {
            let number = number + 1;
            let found = marks.get(&(number as u32));
            let class = found.map_or("", |(class, _)| class);
            let note = found.map_or_else(String::new, |(_, remarks)| {
                format!("<span class=\"v-note\">{}</span>", text(&remarks.join("; ")))
            });
            self.put(&format!(
                "<tr id=\"m{model}s{at}l{number}\" class=\"{class}\"><td class=\"v-number\">{number}</td><td><code>{}</code>{note}</td></tr>",
                text(line)
            ));
        }
        self.put("</tbody></table></div></details>");
    }
}

/// How numbers change along a run.
fn plotted(run: &Trace) -> String {
    if PLOTTED_STEPS_MAX < run.len() {
        return "<p class=\"v-faint\">The run is too long for its numbers to be plotted.</p>".to_owned();
    }
    let picture = plots_svg(&plots(run), run.len(), run.cycle_start);
    if picture.is_empty() {
        return picture;
    }
    format!(
        "<details open><summary>Numbers over the steps</summary><div class=\"v-scroll v-picture\">{picture}</div></details>"
    )
}

fn row(name: &str, property: &PropertyReport, model: &Checked) -> String {
    let verdict = badge(model.code_of(property), &model.judged(property));
    let exhaustive = if property.exhaustive { " (exhaustive)" } else { "" };
    let (what, reason) = (text(&property.name), text(&property.reason));
    let (states, time) = (property.states, seconds(property.seconds));
    format!(
        "<tr><td>{name}</td><td>{what}</td><td>{verdict}</td><td>{reason}{exhaustive}</td><td class=\"v-figure\">{states}</td><td class=\"v-figure\">{time}</td></tr>"
    )
}

fn step_row(id: &str, step: &StepRecord, in_loop: bool, place: &str) -> String {
    let changes: Vec<String> =
        step.changes.iter().map(|change| format!("{}: {} → {}", change.name, change.old, change.new)).collect();
    let mut what = text(&changes.join(", "));
    if !step.printed.is_empty() {
        let _ = write!(what, " prints {}", text(&step.printed));
    }
    for note in &step.notes {
        let _ = write!(what, "<div class=\"v-surprise\">{}</div>", text(&note.text));
    }
    if let Some(fault) = &step.fault {
        let _ = write!(what, " <b class=\"v-fault\">{}</b>", text(fault));
    }
    let (number, class) = (step.step, if in_loop { "v-loop" } else { "" });
    let (process, pid, statement) = (text(&step.process), step.pid, text(&step.text));
    format!(
        "<tr id=\"{id}t{number}\" class=\"{class}\"><td class=\"v-number\">{number}</td><td>{process}[{pid}]</td><td>{place}</td><td><code>{statement}</code></td><td>{what}</td></tr>"
    )
}

/// A place, which leads to the line of the text if that is on the page.
fn link(model: usize, sources: &[Source], file: &str, line: u32) -> String {
    let shown = match (file, line) {
        ("", _) => return String::new(),
        (file, 0) => file.to_owned(),
        (file, line) if sources.first().is_some_and(|first| first.name != file) => format!("{file}:{line}"),
        (_, line) => format!("line {line}"),
    };
    let shown = text(&shown);
    match sources.iter().position(|source| source.name == file) {
        Some(at) if 0 < line => format!("<a href=\"#m{model}s{at}l{line}\">{shown}</a>"),
        _ => shown,
    }
}

/// By line, how bad what is said there is, and what is said.
fn marks(source: &Source, checked: &Checked) -> BTreeMap<u32, (&'static str, Vec<String>)> {
    let mut marks: BTreeMap<u32, (&'static str, Vec<String>)> = BTreeMap::new();
    let mut mark = |line: u32, class: &'static str, what: String| {
        let (_, remarks) = marks.entry(line).or_insert((class, Vec::new()));
        remarks.extend((!remarks.contains(&what)).then_some(what));
    };
    for violation in checked.violations().filter(|violation| violation.report.file == source.name) {
        mark(violation.report.line, "v-error", violation.headline().to_owned());
    }
    let about = |finding: &&FindingReport| finding.file == source.name;
    for finding in checked.report.findings.iter().filter(about) {
        let class = if finding.severity == "error" { "v-error" } else { "v-warning" };
        mark(finding.line, class, finding.message.clone());
    }
    let examples = checked.violations().filter_map(|violation| violation.example);
    let labels = examples.flat_map(|example| &example.finding.labels);
    for label in labels.filter(|label| label.file == source.name && !label.message.is_empty()) {
        mark(label.line, "v-warning", label.message.clone());
    }
    marks
}
