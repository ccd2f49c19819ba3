//! A report as text: findings, counterexamples, and the verdict with what it rests on.

use crate::args::{Check, FairnessKind, ProgressOn, SearchOrder};
use crate::early::EarlyExamples;
use crate::render::numbers::{count, counted, seconds};
use crate::render::paint::{BAD, COMMAND, FAINT, GOOD, STRONG, UNSURE, lines, paint};
use crate::render::{advice, findings, schedule, searches};
use crate::{check, diagram};
use clap::ValueEnum;
use fabius_analysis::DEAD_CODE_MAX;
use fabius_base::{Code, Finding, SourceMap};
use fabius_engine::report::{ON, PropertyClass, PropertyReport, Report, SearchReport, UNREDUCED_TO_BE_SAVED};
use fabius_engine::{Counterexample, Loaded, Outcome, Settings, Verdict, strategy};
use fabius_witness::diagram::{plot_line, plots};
use fabius_witness::format::json::RECORDS_MAX;
use fabius_witness::format::ribbon;
use fabius_witness::format::text::{self as trace, Layout};
use fabius_witness::{Claim, Snapshot, Steps, Trace};
use std::fmt::Write;
use std::io::IsTerminal as _;

/// More findings that say the same are named by their lines, not shown.
const ALIKE_SHOWN_MAX: usize = 3;
/// More findings about one text are counted, not shown.
const FINDINGS_SHOWN_MAX: usize = 40;
/// More statements that are never executed are counted, not shown.
const UNREACHED_SHOWN_MAX: usize = 3;
/// A run of more steps is shown without its middle: …
const STEPS_SHOWN_MAX: usize = 80;
/// … this many steps at the beginning and at the end.
const STEPS_AT_ENDS: (usize, usize) = (20, 50);
/// The last state of a run is shown in this many lines.
const ENDING_LINES_MAX: usize = 40;
/// Columns before each line of a run.
const INDENT: usize = 2;
/// Runs are no narrower than this, however narrow the terminal is.
const WIDTH_MIN: usize = 58;
/// Columns for the values of a formula along a run.
const RIBBON_WIDTH: usize = 78;
/// Numbers of longer runs are not plotted.
pub const PLOTTED_STEPS_MAX: usize = 20_000;
/// Columns for how a number changes along a run.
const PLOT_COLUMNS: usize = 60;
/// This many processes are told where they are.
const PROCESSES_SHOWN_MAX: usize = 12;
/// This many counterexamples are shown with their runs; the others by what goes wrong.
const RUNS_SHOWN_MAX: usize = 5;

/// Findings, each with its place in the text. What is the same in many places is shown in the first of them.
pub fn findings(map: &SourceMap, findings: &[Finding]) -> String {
    let (mut text, mut shown, mut left) = (String::new(), 0, 0);
    for group in findings::alike(findings) {
        let (first, rest) = group.split_at(group.len().min(ALIKE_SHOWN_MAX).min(FINDINGS_SHOWN_MAX - shown));
        for finding in first {
            text.push_str(&(findings::render(map, finding) + "\n"));
        }
        shown += first.len();
        if first.is_empty() {
            left += rest.len();
        } else if !rest.is_empty() {
            let lines = findings::lines_of(map, rest);
            let _ = writeln!(text, "{}\n", paint(FAINT, format!("… and the same {} more: {lines}", times(rest.len()))));
        }
    }
    if 0 < left {
        let more = counted(left as u64, "more finding");
        let _ = writeln!(text, "{}\n", paint(FAINT, format!("… and {more}; --json lists them all")));
    }
    text
}

fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{} times", count(number as u64)) }
}

/// The counterexample that is shown after so many others.
pub fn next_counterexample(loaded: &Loaded, example: &Counterexample, before: usize, args: &Check) -> String {
    let with_run = before < RUNS_SHOWN_MAX;
    let text = counterexample(&loaded.map, example, with_run, args.diagram == Some(None));
    if args.plot && with_run { text + &plotted(&example.trace) } else { text }
}

/// How numbers change along a run, a line for each.
fn plotted(run: &Trace) -> String {
    if PLOTTED_STEPS_MAX < run.len() {
        return format!("{}\n\n", paint(FAINT, "the run is too long for its numbers to be plotted"));
    }
    let plots = plots(run);
    if plots.is_empty() {
        return format!("{}\n\n", paint(FAINT, "no variable or channel has three values or more along the run"));
    }
    let width = plots.iter().map(|plot| plot.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}\n", paint(STRONG, "numbers, from the initial state to the last step:"));
    for plot in &plots {
        let (smallest, largest) = plot.range();
        let what = if plot.of_messages { " messages" } else { "" };
        let line = plot_line(plot, run.len(), PLOT_COLUMNS);
        let _ = writeln!(
            text,
            "  {:<width$}  {line}  {}",
            plot.name,
            paint(FAINT, format!("{smallest} to {largest}{what}"))
        );
    }
    if PLOT_COLUMNS <= run.len() {
        let _ = writeln!(text, "  {}", paint(FAINT, "a column stands for several states and shows the largest value"));
    }
    text + "\n"
}

/// Everything about a file that is known once its check is over, except for counterexamples that were shown before.
pub fn outcome(loaded: &Loaded, outcome: &Outcome, shown: &EarlyExamples, args: &Check) -> String {
    let mut text = String::new();
    for (i, example) in shown.missing(&outcome.counterexamples).enumerate() {
        text.push_str(&next_counterexample(loaded, example, shown.len() + i, args));
    }
    let (unreached, others): (Vec<Finding>, Vec<Finding>) =
        outcome.findings.iter().cloned().partition(|finding| finding.code == Code::Unreached);
    text.push_str(&findings(&loaded.map, &others));
    text.push_str(&never_executed(&loaded.map, &unreached));
    text.push_str(&conclusion(outcome, args));
    if !outcome.counterexamples.is_empty() {
        let _ = writeln!(text, "reproduce with: {}", paint(COMMAND, again(loaded, args, outcome)));
    }
    if args.files.len() > 1 {
        text.push('\n');
    }
    text
}

/// Which results are not those of this check, and of when they are, if there are any.
fn cached(report: &Report) -> Option<String> {
    let properties = &report.properties;
    let known: Vec<_> =
        properties.iter().filter_map(|property| Some((property, property.cached.as_deref()?))).collect();
    let (_, first) = *known.first()?;
    if known.len() == properties.len() && known.iter().all(|(_, time)| *time == first) {
        return Some(format!("cached result from {first} UTC"));
    }
    let of_a_time = known.chunk_by(|(_, one), (_, other)| one == other).map(|known| {
        let names: Vec<&str> = known.iter().map(|(property, _)| property.name.as_str()).collect();
        format!("{} from {} UTC", names.join(", "), known[0].1)
    });
    Some(format!("cached results: {}", of_a_time.collect::<Vec<_>>().join("; ")))
}

/// The settings from the project's file, the verdict, and what to try.
pub fn conclusion(outcome: &Outcome, args: &Check) -> String {
    let mut text = String::new();
    if let Some(project) = &outcome.report.project {
        let told = format!("settings from {}: {}", project.file, project.settings.join("; "));
        let _ = writeln!(text, "{}", paint(FAINT, told));
    }
    text.push_str(&verdict(outcome, args));
    text.push_str(&schedule::of_report(&outcome.report));
    if let Some(told) = cached(&outcome.report) {
        let _ = writeln!(text, "{}", paint(FAINT, format!("{told}; --no-cache checks again")));
    }
    text.push_str(&if args.verbose { searches::table(&outcome.report) } else { tried(outcome) });
    let advice = advice::advice(&outcome.report, args);
    if !advice.is_empty() {
        let _ = writeln!(text, "{}", paint(STRONG, "to get further, try one of these:"));
        advice::lines(&advice).iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text
}

/// The searches that left a property undecided, where there were several.
fn tried(outcome: &Outcome) -> String {
    let open = outcome.report.properties.iter().filter(|property| property.verdict == Verdict::Undecided);
    let mut text = String::new();
    for property in open.filter(|property| !property.tried.is_empty()) {
        let did = |search: &SearchReport| format!("{} ({})", search.strategy, counted(search.states, "state"));
        let searches: Vec<String> = property.tried.iter().map(did).collect();
        let told = format!("searches for violations of {}: {}", property.name, searches.join(", "));
        let _ = writeln!(text, "{}", paint(FAINT, told));
    }
    text
}

/// What goes wrong, where, and the run that leads there.
pub fn counterexample(map: &SourceMap, example: &Counterexample, with_run: bool, as_diagram: bool) -> String {
    if !with_run {
        return findings::render(map, &example.finding) + "\n";
    }
    // What to do about it is told at the end of the run.
    let finding = Finding { help: Vec::new(), ..example.finding.clone() };
    findings::render(map, &finding) + "\n" + &run(map, &example.trace, &heading(example), as_diagram)
}

/// How runs are laid out, indented: as wide as the terminal, within reason; where there is none as wide as `COLUMNS` says.
pub fn layout(ends: Option<(usize, usize)>) -> Layout {
    let terminal = std::io::stdout().is_terminal().then(fabius_tui::columns).flatten().map(usize::from);
    let columns = terminal.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok());
    let default = Layout::default().width;
    let width = columns.map_or(default, |columns| columns.saturating_sub(INDENT).clamp(WIDTH_MIN, default));
    Layout { width, ends, ..Layout::default() }
}

/// A run, below a heading: its steps, and where it ends.
pub fn run(map: &SourceMap, run: &Trace, heading: &str, as_diagram: bool) -> String {
    let mut text = String::new();
    let many = STEPS_SHOWN_MAX < run.len();
    let layout = layout(many.then_some(STEPS_AT_ENDS));
    let _ = writeln!(text, "{}", paint(STRONG, heading));
    if as_diagram {
        text.push_str(&diagram::text(run, map, "  "));
        return text + &after_diagram(run, map, layout);
    }
    text.push_str(&lines(&trace::steps(run, map, layout), "  "));
    if many {
        let all = format!(
            "all {}: {}, or step by step: fabius explore",
            counted(run.len() as u64, "step"),
            if run.len() <= RECORDS_MAX { "--json" } else { "--trail" }
        );
        let _ = writeln!(text, "  {}", paint(FAINT, all));
    }
    if run.steps.holds() {
        let _ = writeln!(text, "  {}", paint(FAINT, "┃ inside an atomic sequence"));
    }
    text.push('\n');
    text.push_str(&ribbon(run, layout));
    let loops = run.cycle_start.is_some_and(|start| start <= run.len());
    let section = if loops { "in the loop:" } else { "in the end:" };
    let (whereabouts, ending) = match run.claim {
        Claim::Fault(_) => (whereabouts(map, run), values(run, layout)),
        _ => (String::new(), trace::ending(run, map, layout)),
    };
    if whereabouts.is_empty() && ending.is_empty() {
        return text;
    }
    let _ = write!(text, "{}\n{whereabouts}", paint(STRONG, section));
    let (shown, left) = ending.split_at(ending.len().min(ENDING_LINES_MAX));
    text.push_str(&lines(shown, "  "));
    if !left.is_empty() {
        let _ = writeln!(text, "  {}", paint(FAINT, format!("… {}", counted(left.len() as u64, "more line"))));
    }
    text.push('\n');
    text
}

/// Where a formula and its parts hold along a run.
fn ribbon(trace: &Trace, layout: Layout) -> String {
    let Some(ribbon) = &trace.ribbon else { return String::new() };
    let layout = Layout { width: RIBBON_WIDTH.min(layout.width), ..layout };
    let heading = ribbon::heading(trace).map_or_else(String::new, |heading| format!("{heading}:"));
    let says = |sentence: &String| format!("\n  {}", paint(FAINT, format!("it says: {sentence}")));
    let heading = format!("{}{}", paint(STRONG, heading), ribbon.sentence.as_ref().map_or_else(String::new, says));
    let table = lines(&ribbon::lines(ribbon, layout), "  ");
    format!("{heading}\n{table}{}\n", lines(&ribbon::legend(ribbon, layout), "  "))
}

/// What a diagram does not say: what happens in a loop, and what may be done.
fn after_diagram(trace: &Trace, map: &SourceMap, layout: Layout) -> String {
    match &trace.explanation {
        Some(explanation) => format!("  {}\n\n", explanation.suggestion),
        None if trace.infinite.is_some() => {
            format!("\n{}\n{}\n", paint(STRONG, "in the loop:"), lines(&trace::ending(trace, map, layout), "  "))
        }
        None => "\n".to_owned(),
    }
}

/// Where the processes are that did not fail, a line for each.
fn whereabouts(map: &SourceMap, trace: &Trace) -> String {
    let failed = trace.last_taken().map(|step| step.actor.pid);
    let process_statuses =
        trace.last.processes.iter().filter(|status| !status.has_ended() && Some(status.pid) != failed);
    let mut text = String::new();
    for status in process_statuses.take(PROCESSES_SHOWN_MAX) {
        let next = status.waiting.first();
        let line = map.position(next.map_or(status.span, |waiting| waiting.span)).line;
        let statement = next.map(|waiting| format!(": {}", waiting.text)).unwrap_or_default();
        let _ = writeln!(text, "  {} is at line {line}{statement}", paint(STRONG, &status.name));
    }
    text
}

/// The values of variables and channels in the last state of a run.
fn values(trace: &Trace, layout: Layout) -> Vec<trace::Line> {
    let last = Snapshot { processes: Vec::new(), ..trace.last.clone() };
    let (claim, start, propositions) = (trace.claim, last.clone(), trace.propositions.clone());
    let (steps, cycle_start, explanation, infinite, ribbon) = (Steps::default(), None, None, None, None);
    let still = Trace { claim, steps, start, last, cycle_start, explanation, infinite, propositions, ribbon };
    let mut lines = trace::ending(&still, &SourceMap::new(), layout);
    // The first line says what is wrong, which the last step says already.
    lines.drain(..lines.len().min(1));
    lines
}

fn heading(example: &Counterexample) -> String {
    let violation = &example.report;
    let steps = counted(violation.steps, "step");
    let shortest = match (violation.shortest, example.counts_as_searched()) {
        (false, _) => " (a shorter run may exist)",
        (true, true) => ", and no shorter run does",
        (true, false) => ", the shortest when merged and atomic statements count as one step",
    };
    let met = if violation.count > 1 { format!(" (met {} times)", count(violation.count)) } else { String::new() };
    match violation.steps {
        0 if violation.loop_start.is_some() => format!("violated in the initial state, in which nothing can move{met}"),
        0 => format!("violated in the initial state{met}"),
        _ if violation.loop_start.is_some_and(|start| start <= violation.steps) => {
            let before = violation.loop_start.map_or(0, |start| start - 1);
            let length = counted(violation.steps - before, "step");
            match before {
                0 => format!("a loop of {length} goes on for ever{shortest}{met}:"),
                _ => format!("after {}, a loop of {length} goes on for ever{shortest}{met}:", counted(before, "step")),
            }
        }
        _ => format!("a run of {steps} leads there{shortest}{met}:"),
    }
}

/// Statements that no run executes: a few, and how many more.
fn never_executed(map: &SourceMap, unreached: &[Finding]) -> String {
    let mut text = findings(map, &unreached[..unreached.len().min(UNREACHED_SHOWN_MAX)]);
    if let Some(more) = unreached.len().checked_sub(UNREACHED_SHOWN_MAX + 1) {
        let more = counted(more as u64 + 1, "more note");
        let line = if unreached.len() < DEAD_CODE_MAX {
            format!("… and {more} about dead code; --json lists them all")
        } else {
            format!("… and at least {more} about dead code; --json lists the first {DEAD_CODE_MAX}")
        };
        let _ = writeln!(text, "{}\n", paint(FAINT, line));
    }
    text
}

/// The verdict: the word, the reason, the figures; of several properties a line for each.
fn verdict(outcome: &Outcome, args: &Check) -> String {
    let report = &outcome.report;
    let file = if args.files.len() > 1 { format!("{}: ", report.file) } else { String::new() };
    match report.properties.as_slice() {
        [] => format!("{file}{}: {}\n", word(report.verdict), report.reason),
        [only] => format!("{file}{}: {}{}\n", judged(only), only.reason, figures(only, args)),
        several => {
            let width = several.iter().map(|property| property.name.chars().count()).max().unwrap_or(0);
            let mut text = if file.is_empty() { file } else { file + "\n" };
            for property in several {
                let name = paint(STRONG, format!("{:<width$}", property.name));
                let _ = writeln!(text, "{name}  {}: {}{}", judged(property), property.reason, figures(property, args));
            }
            text
        }
    }
}

fn word(verdict: Verdict) -> String {
    let style = match verdict {
        Verdict::Holds => GOOD,
        Verdict::Violated | Verdict::Faulty => BAD,
        Verdict::Undecided => UNSURE,
    };
    paint(style, verdict.as_str())
}

/// The verdict, and whether it is the one that the model says to expect.
pub fn judged(property: &PropertyReport) -> String {
    match (property.is_as_expected(), property.verdict) {
        (None, verdict) => word(verdict),
        (Some(true), Verdict::Violated) => paint(GOOD, "violated, as expected"),
        (Some(true), verdict) => format!("{}, as expected", word(verdict)),
        (Some(false), Verdict::Holds) => paint(BAD, "holds, but was expected to be violated"),
        (Some(false), verdict) => format!("{}, but was expected to hold", word(verdict)),
    }
}

fn figures(property: &PropertyReport, args: &Check) -> String {
    if property.states == 0 {
        return String::new();
    }
    let mut figures = Vec::new();
    if property.exhaustive {
        figures.push("exhaustive".to_owned());
    }
    // An open verdict names the states in its reason.
    if property.verdict != Verdict::Undecided {
        figures.push(counted(property.states, "state"));
    }
    match property.audited {
        None | Some(0) => {}
        Some(audited) if audited == property.states => figures.push("all audited".to_owned()),
        Some(audited) => figures.push(format!("{} audited", count(audited))),
    }
    // Whoever chose a search reads which one ran.
    let has_chosen = args.search.is_some() || args.question.cycles.is_some() || args.question.fairness.is_some();
    let many = args.question.threads.is_some_and(|threads| 1 < threads) || args.others.search();
    let names_search = has_chosen || many || !property.tried.is_empty();
    if let Some(strategy) = property.strategy.as_ref().filter(|_| names_search) {
        figures.push(strategy.algorithm.clone());
        figures.extend(strategy.processes.map(|processes| match processes {
            1 => "1 process".to_owned(),
            _ => format!("{processes} processes"),
        }));
    }
    let threads = property.strategy.as_ref().map_or(1, |strategy| strategy.threads);
    if 1 < threads {
        figures.push(counted(threads as u64, "thread"));
    }
    if property.reduction == ON {
        figures.push("reduced".to_owned());
    }
    if property.reduction == UNREDUCED_TO_BE_SAVED {
        figures.push("not reduced, for the checkpoint".to_owned());
    }
    if 0 < property.states_before {
        figures.push(format!("begun anew after {}", counted(property.states_before, "state")));
    }
    // A search in the order of delays does not know how long the runs are that it explores.
    if 0 < property.depth || property.states == 1 {
        figures.push(format!("depth {}", count(property.depth)));
    }
    figures.push(seconds(property.seconds));
    format!(" ({})", figures.join(", "))
}

/// The command that finds the same counterexample again.
fn again(loaded: &Loaded, args: &Check, outcome: &Outcome) -> String {
    let mut words = vec!["fabius".to_owned(), "check".to_owned()];
    let mut say = |text: String| words.push(text);
    let safety = outcome.report.properties.iter().filter(|property| property.kind == PropertyClass::Safety);
    let shortest = safety.flat_map(|property| &property.violations).any(|violation| violation.shortest);
    // Breadth-first search goes with none of the other orders.
    let plain = args.question.delays.delay.is_none() && args.question.delays.depth().is_none();
    match args.search {
        _ if shortest && plain => say("--search bfs".to_owned()),
        Some(SearchOrder::Dfs) => say("--search dfs".to_owned()),
        _ => {}
    }
    if 1 < args.others.processes {
        say(format!("--processes {}", args.others.processes));
    }
    for (flag, path) in [("--hosts", &args.others.hosts), ("--key", &args.others.key)] {
        path.iter().for_each(|path| say(format!("{flag} {}", quoted(&path.display().to_string()))));
    }
    for (wanted, flag) in [(args.keep_going, "--keep-going"), (args.no_optimize, "--no-optimize")] {
        if wanted {
            say(flag.to_owned());
        }
    }
    args.question.delays.words().into_iter().for_each(&mut say);
    if let Some(condition) = &args.prune {
        say(format!("--prune {}", quoted(condition)));
    }
    if let Some(depth) = args.max_depth {
        say(format!("--max-depth {depth}"));
    }
    let alone = asked_alone(loaded, args, outcome);
    if alone.is_none_or(|name| args.question.checks_formulas([name].into_iter())) {
        args.question.ltl.iter().for_each(|formula| say(format!("--ltl {}", quoted(formula))));
    }
    for (value, default, flag) in [
        (value_of(&args.question.fairness.unwrap_or(FairnessKind::None)), value_of(&FairnessKind::None), "--fairness"),
        (value_of(&args.question.progress.unwrap_or(ProgressOn::States)), value_of(&ProgressOn::States), "--progress"),
    ] {
        if value != default {
            say(format!("{flag} {value}"));
        }
    }
    if let Some(cycles) = args.question.cycles {
        say(format!("--cycles {}", value_of(&cycles)));
    }
    match alone {
        Some(only) => say(format!("--property {}", quoted(only))),
        None => args.question.property.iter().for_each(|property| say(format!("--property {}", quoted(property)))),
    }
    args.question.define.iter().for_each(|define| say(format!("-D {}", quoted(define))));
    let file = &outcome.report.file;
    say(if file == "<stdin>" { "-".to_owned() } else { quoted(file) });
    words.join(" ")
}

/// The only property that is violated, if there are others and it can be asked alone.
fn asked_alone<'a>(loaded: &Loaded, args: &Check, outcome: &'a Outcome) -> Option<&'a str> {
    let properties = &outcome.report.properties;
    let mut violated = properties.iter().filter(|property| !property.violations.is_empty());
    let only = violated.next().filter(|_| violated.next().is_none() && properties.len() > 1)?;
    // Flags that suit another property only would be refused for this one.
    let settings = Settings { properties: vec![only.name.clone()], ..check::settings(args) };
    strategy::contradiction(loaded, &settings).is_none().then_some(only.name.as_str())
}

/// How a choice is written on the command line.
fn value_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A word as a shell needs it.
pub(crate) fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "-_./=+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_in_many_places_is_shown_in_a_few() {
        let mut map = SourceMap::new();
        let file = map.add_file("m.pml", "a\n".repeat(60));
        let wrong = |headline: &str, line: u32| {
            let span = fabius_base::Span::new(file, 2 * line, 2 * line + 1);
            Finding::new(Code::UndeclaredName, headline).at(span, "here")
        };
        let all: Vec<Finding> = (0..20).flat_map(|line| [wrong("one", line), wrong("two", line + 20)]).collect();
        let text = anstream::adapter::strip_str(&findings(&map, &all)).to_string();
        assert_eq!((text.matches(": one\n").count(), text.matches(": two\n").count()), (3, 3), "{text}");
        assert!(
            text.contains("… and the same 17 times more: lines 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 7 more\n"),
            "{text}"
        );
        let each: Vec<Finding> = (0..50).map(|line| wrong(&format!("{line}"), line)).collect();
        let text = anstream::adapter::strip_str(&findings(&map, &each)).to_string();
        assert_eq!(text.matches("error[").count(), FINDINGS_SHOWN_MAX, "{text}");
        assert!(text.contains("… and 10 more findings; --json lists them all"), "{text}");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("models/a.pml"), "models/a.pml");
        assert_eq!(quoted("my model.pml"), "'my model.pml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
