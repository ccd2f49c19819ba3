//! `fabius executions`: how many essentially different executions a model has, and single ones.

use crate::args::{CountBy, ExecutionFormat, Executions as Args, Independence, Only};
use crate::render::choices::{self, Choices};
use crate::render::differences;
use crate::render::numbers::{count, counted, memory, seconds};
use crate::render::orders;
use crate::render::paint::{BAD, COMMAND, FAINT, GOOD, STRONG, UNSURE, lines, paint};
use crate::render::text::layout;
use crate::stop::Interrupts;
use crate::{asked, check, diagram, exit, output};
use anstream::AutoStream;
use fabius_base::Cancel;
use fabius_engine::Loaded;
use fabius_executions::{
    BRANCHES_MAX, By, End, ExecutionOutline, Executions, ExecutionsReport, ExecutionsRequest, Kind, LISTED_MAX,
    ListedExecution, Method, NotCounted, Relation, executions,
};
use fabius_supervise::Timer;
use fabius_witness::format::{text as trace, trail};
use std::fmt::Write as _;
use std::io::Write as _;

/// Counts the executions of a model, and shows those that were asked for; returns the exit code.
pub fn run(args: &Args) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let request = match request(args) {
        Ok(request) => request,
        Err(why) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
    };
    let loaded = match check::load_and_tell(&args.file, &args.define, args.max_memory, &cancel) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let (loaded, found) = match asked::until_stopped(&cancel, loaded, move |loaded, cancel, now| {
        executions(loaded, &request, cancel, now)
    }) {
        Ok((loaded, Ok(found))) => (loaded, found),
        Ok((_, Err(NotCounted::Faulty))) => return exit::FAULTY,
        Ok((_, Err(NotCounted::Refused(why)))) => {
            output::complain(&format!("error: {why}"));
            return exit::FAULTY;
        }
        Err(code) => return code,
    };
    if let Some(failure) = &found.failure {
        output::complain(failure);
        return exit::INTERNAL;
    }
    let missing = args.show.filter(|_| found.listed.is_empty());
    let greatest = args.compare.as_ref().filter(|_| found.report.comparison.is_none());
    let missing = missing.or_else(|| greatest.and_then(|numbers| numbers.iter().max().copied()));
    let printed = if args.json {
        serde_json::to_string_pretty(&found.report)
            .map_or(exit::INTERNAL, |text| output::print((text + "\n").as_bytes()))
    } else {
        print(&shown(args, &loaded, &found))
    };
    if args.tree.is_some() && found.tree.is_none() {
        output::complain("error: there is no tree of choices to show: not all executions were counted");
    }
    if let Some(number) = missing {
        let executions = found.report.executions.as_deref().unwrap_or("infinitely many");
        output::complain(&format!("error: there is no execution {number} to show: there are {executions}"));
        return exit::worse(exit::FAULTY, printed);
    }
    exit::worse(code(&found.report), printed)
}

fn print(text: &str) -> u8 {
    let mut out = AutoStream::auto(std::io::stdout());
    output::code(output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush())))
}

/// What is asked of the engine.
fn request(args: &Args) -> Result<ExecutionsRequest, String> {
    let kind = match args.only {
        None => Kind::All,
        Some(Only::Failing) => Kind::Failing,
        Some(Only::Stuck) => Kind::Stuck,
        Some(Only::Ok) => Kind::Ok,
    };
    let wanted = args.list.or(args.sample).unwrap_or(0);
    if LISTED_MAX < wanted {
        return Err(format!(
            "at most {} executions are listed at a time; --from shows further ones",
            count(LISTED_MAX as u64)
        ));
    }
    if BRANCHES_MAX < args.tree.unwrap_or(0) {
        return Err(format!("at most {} branches of the tree are opened", count(BRANCHES_MAX as u64)));
    }
    check_format(args)?;
    let (by, relation) = method(args)?;
    let limits = asked::limits(args.max_states, args.max_memory);
    let (first, count) = match args.show {
        Some(number) => (number - 1, 1),
        None => (args.from - 1, args.list.unwrap_or(0)),
    };
    Ok(ExecutionsRequest {
        kind,
        first,
        count,
        outlines: !args.json && args.show.is_none(),
        sample: args.sample,
        tree: args.tree,
        compare: args.compare.as_ref().and_then(|numbers| Some([numbers.first()? - 1, numbers.get(1)? - 1])),
        difference: args.difference,
        seed: args.seed,
        steps_max: args.within,
        laps_max: args.laps,
        by,
        relation,
        numbered: args.process_numbers,
        reduction: !args.no_reduction,
        limits,
    })
}

/// How executions are counted, and which steps are independent.
fn method(args: &Args) -> Result<(By, Relation), String> {
    let by = match args.by {
        CountBy::Graph => By::Graph,
        CountBy::Sleep => By::Stateless(Method::Sleep),
        CountBy::Source => By::Stateless(Method::Source),
        CountBy::Optimal => By::Stateless(Method::Optimal),
    };
    let relation = match args.independence {
        Some(Independence::Accords) if by != By::Graph => {
            return Err(format!("--independence accords needs --by graph: --by {} compares footprints", by.word()));
        }
        Some(Independence::Learned) if by != By::Graph => {
            return Err(format!("--independence learned needs --by graph: --by {} compares footprints", by.word()));
        }
        Some(Independence::Recorded) if by == By::Graph => {
            return Err("--independence recorded needs --by sleep, source or optimal".to_owned());
        }
        Some(Independence::Recorded) => Relation::Recorded,
        Some(Independence::Learned) => Relation::Learned,
        Some(Independence::Footprints) => Relation::Footprints,
        Some(Independence::Accords) => Relation::Accords,
        None if by == By::Graph => Relation::Accords,
        None => Relation::Recorded,
    };
    Ok((by, relation))
}

/// The tree has other formats than an execution.
fn check_format(args: &Args) -> Result<(), String> {
    let of_both = matches!(args.format, ExecutionFormat::Text | ExecutionFormat::Json);
    let of_tree = args.format == ExecutionFormat::Dot;
    match (args.tree.is_some(), of_tree || of_both, !of_tree) {
        (true, false, _) => Err("a tree has the formats text, json and dot".to_owned()),
        (false, _, false) => Err("--format dot needs --tree".to_owned()),
        _ => Ok(()),
    }
}

/// 1 if an execution fails or gets stuck, 2 if not everything was explored, else 0.
fn code(report: &ExecutionsReport) -> u8 {
    let some = |number: &Option<String>| number.as_deref().is_some_and(|number| number != "0");
    match () {
        () if some(&report.failing) || some(&report.stuck) => 1,
        () if !report.exhaustive || some(&report.cut) => exit::UNDECIDED,
        () => 0,
    }
}

fn shown(args: &Args, loaded: &Loaded, found: &Executions) -> String {
    if let (Some(_), Some(execution)) = (args.show, found.listed.first()) {
        return one(args, loaded, found, execution);
    }
    let tree = found.tree.as_ref().map(|branches| Choices::of(branches, loaded));
    match (&tree, args.format) {
        (Some(tree), ExecutionFormat::Dot) => return tree.dot(),
        (Some(_), ExecutionFormat::Json) => {
            return serde_json::to_string_pretty(&found.report.tree).map(|text| text + "\n").unwrap_or_default();
        }
        _ => {}
    }
    let mut text = summary(&found.report);
    if let Some((trace, _)) = &found.cycle {
        let _ = writeln!(text, "{}", paint(STRONG, "an infinite execution:"));
        text.push_str(&lines(&trace::steps(trace, &loaded.map, layout(Some((20, 20)))), "  "));
        let advice = match found.report.laps {
            None => {
                "--laps K counts executions in which each process passes each of its loops at most K times, --within N those \
                 of at most N steps; `fabius check` checks the whole model"
            }
            Some(_) => "--within N counts executions of at most N steps; `fabius check` checks the whole model",
        };
        let _ = writeln!(text, "{}", paint(FAINT, advice));
    }
    if let Some(comparison) = &found.report.comparison {
        return text + &differences::comparison(comparison, &found.listed);
    }
    if args.difference && found.report.exhaustive {
        text.push_str(&differences::difference(&found.report));
    }
    text.push_str(&tree.map(|tree| tree.text()).unwrap_or_default());
    for execution in &found.outlines {
        let _ = writeln!(text, "{}", line(loaded, execution));
    }
    if found.report.list_stopped {
        let _ = writeln!(text, "{}", paint(UNSURE, "listing was stopped: there may be more"));
    }
    if let Some(first) = found.outlines.first() {
        let _ = writeln!(
            text,
            "{} {}",
            paint(FAINT, "one of them:"),
            paint(COMMAND, format!("--show {}", first.number.saturating_add(1)))
        );
    }
    let _ = writeln!(text, "{}", paint(FAINT, effort(&found.report)));
    text
}

/// A number of the report, with its digits in groups.
fn grouped(number: &str) -> String {
    number.parse().map_or_else(|_| number.to_owned(), |number: u64| count(number))
}

/// The numbers, in a sentence or two.
fn summary(report: &ExecutionsReport) -> String {
    let mut text = String::new();
    let Some(all) = &report.executions else {
        let all = format!("{}: some go on for ever\n", paint(UNSURE, "infinitely many executions"));
        return all + &independence(report);
    };
    let bound = if report.overflow {
        "more than "
    } else if report.exhaustive {
        ""
    } else {
        "at least "
    };
    let plural = if all == "1" { "" } else { "s" };
    let what = match (report.modulo, all.as_str()) {
        ("nothing", _) => format!("execution{plural}"),
        (_, "1") => "essentially one execution".to_owned(),
        _ => format!("essentially different execution{plural}"),
    };
    let number = if all == "1" && report.modulo != "nothing" { String::new() } else { format!("{} ", grouped(all)) };
    let _ = write!(text, "{}", paint(STRONG, format!("{bound}{number}{what}")));
    if let Some(interleavings) = report.interleavings.as_ref().filter(|_| report.modulo != "nothing") {
        let plural = if interleavings == "1" { "" } else { "s" };
        let _ = write!(text, ", of {} interleaving{plural}", grouped(interleavings));
    }
    let within = report.within.map(|steps| format!(" within {}", counted(u64::from(steps), "step")));
    let laps = report.laps.map(|laps| format!(" with at most {} of each loop", counted(u64::from(laps), "lap")));
    let _ = write!(text, "{}{}", laps.unwrap_or_default(), within.unwrap_or_default());
    let ends: Vec<String> = endings(report);
    let _ = writeln!(text, "{}{}.", if ends.is_empty() { "" } else { ": " }, ends.join(", "));
    if let Some(outcomes) = &report.outcomes {
        let plural = if outcomes == "1" { "" } else { "s" };
        let _ = writeln!(text, "{} different final state{plural}", grouped(outcomes));
    }
    if let Some(reason) = &report.reason {
        let _ = writeln!(text, "{}: {reason}", paint(UNSURE, "not everything was explored"));
    }
    if let Some(note) = &report.note {
        let _ = writeln!(text, "{} every interleaving counts, because {note}", paint(STRONG, "note:"));
    }
    text + &processes(report) + &independence(report)
}

/// How processes that are created are told apart, where that matters.
fn processes(report: &ExecutionsReport) -> String {
    match (report.processes, report.numbers_because) {
        (Some("births"), _) => {
            let finally = if report.outcomes.is_some() {
                ", in final states only by where they are with which values"
            } else {
                ""
            };
            format!(
                "processes are told apart by who created them{finally}; their numbers, and when one ends that has nothing left to \
                 do, do not count\n"
            )
        }
        (Some(_), Some(because)) if report.modulo != "nothing" => {
            format!("processes are told apart by their numbers, in the order of creation, because {because}\n")
        }
        _ => String::new(),
    }
}

/// What was learnt about independence, if that was asked for.
fn independence(report: &ExecutionsReport) -> String {
    let refused = report
        .not_learnt
        .as_ref()
        .map(|why| format!("{} independence follows from the text alone: {why}\n", paint(UNSURE, "not learnt:")));
    refused.or_else(|| report.order.as_ref().map(orders::learnt)).unwrap_or_default()
}

/// How executions end: number and verb, where there are any.
fn endings(report: &ExecutionsReport) -> Vec<String> {
    let table = [
        (&report.ok, "ends well", "end well", GOOD),
        (&report.failing, "fails", "fail", BAD),
        (&report.stuck, "gets stuck", "get stuck", BAD),
        (&report.waiting, "waits in a loop for ever", "wait in a loop for ever", UNSURE),
        (&report.cut, "is cut off", "are cut off", UNSURE),
    ];
    let some = table.into_iter().filter_map(|(number, one, many, style)| {
        let number = number.as_deref().filter(|number| *number != "0")?;
        Some(paint(style, format!("{} {}", grouped(number), if number == "1" { one } else { many })))
    });
    some.collect()
}

fn effort(report: &ExecutionsReport) -> String {
    let explored = if report.exhaustive { "exhaustive" } else { "not exhaustive" };
    let nodes = counted(report.nodes, "node");
    let redundant = report.redundant_runs.map(|runs| format!(", {}", counted(runs, "redundant run")));
    let redundant = redundant.unwrap_or_default();
    format!("{explored}: {nodes}{redundant}, {}, {}", seconds(report.seconds), memory(report.memory_bytes))
}

fn ending(execution: &ListedExecution) -> String {
    choices::ending(execution.end, execution.failed)
}

/// An execution in one line.
fn line(loaded: &Loaded, execution: &ExecutionOutline) -> String {
    let number = execution.number.saturating_add(1);
    let after = counted(execution.steps as u64, "step");
    let ends = choices::ending(execution.end, execution.failed);
    let mut text = format!("  {} {ends} after {after}", paint(FAINT, format!("#{number}")));
    if execution.end == End::Stuck {
        let places = execution.stuck.iter().take(6).map(|status| {
            let line = loaded.map.position(status.span).line;
            format!("{} waits at line {line}", status.name)
        });
        let _ = write!(text, ": {}", places.collect::<Vec<_>>().join(", "));
    }
    text
}

/// An execution as a whole, in the format that was asked for.
fn one(args: &Args, loaded: &Loaded, found: &Executions, execution: &ListedExecution) -> String {
    match args.format {
        ExecutionFormat::Mermaid => diagram::mermaid(&execution.trace),
        ExecutionFormat::Svg => diagram::svg(&execution.trace, &loaded.map),
        ExecutionFormat::Diagram => diagram::text(&execution.trace, &loaded.map, ""),
        ExecutionFormat::Trail => trail::trail(&found.program, &execution.path, None),
        ExecutionFormat::Json => {
            serde_json::to_string_pretty(&found.report.list.first()).map(|text| text + "\n").unwrap_or_default()
        }
        ExecutionFormat::Text | ExecutionFormat::Dot => {
            let of = found.report.executions.as_deref().map(grouped).unwrap_or_default();
            let number = execution.number.saturating_add(1);
            let mut text = format!("{} {}:\n", paint(STRONG, format!("execution {number} of {of}")), ending(execution));
            text.push_str(&lines(&trace::steps(&execution.trace, &loaded.map, layout(None)), "  "));
            let _ = writeln!(text, "\n{}", paint(STRONG, "in the end:"));
            text.push_str(&lines(&trace::ending(&execution.trace, &loaded.map, layout(None)), "  "));
            text
        }
    }
}
