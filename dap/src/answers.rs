//! Answers to requests that only look, or that change what is asked for; where one is does not change.

use crate::debuggee::Debuggee;
use crate::hover::hover;
use crate::points::FILTERS;
use crate::protocol::{
    Answer, BreakpointLocation, BreakpointLocationsArguments, Capabilities, CompletionItem, CompletionsArguments,
    DataBreakpointAccess, DataBreakpointInfo, DataBreakpointInfoArguments, EvaluateArguments, Evaluation,
    ExceptionBreakMode, ExceptionDetails, ExceptionInfo, GotoTargetsArguments, HeldProcesses, HoldParams,
    ProcessReference, ReceivedFrom, Request, SavedRun, ScopesArguments, SetBreakpointsArguments,
    SetExceptionBreakpointsArguments, SourceArguments, SourceBreakpoint, StackTraceArguments, Target, TracePage,
    TraceParams, TraceStep, VariablesArguments,
};
use crate::repl;
use crate::show;
use crate::values::{NO_SETTING, assigns};
use fabius_explore::{Exploration, NodeId, Until, sentence};
use fabius_witness::format::json::step_record;

/// A page of a trace has at most this many steps.
const PAGE_STEPS: usize = 500;
/// This many states are offered to jump to.
const TARGETS_MAX: usize = 50;

/// What this adapter can do.
pub(crate) fn capabilities() -> Capabilities {
    Capabilities {
        supports_configuration_done_request: true,
        supports_function_breakpoints: true,
        supports_conditional_breakpoints: true,
        supports_hit_conditional_breakpoints: true,
        supports_log_points: true,
        supports_evaluate_for_hovers: true,
        supports_step_back: true,
        supports_step_in_targets_request: true,
        supports_restart_request: true,
        supports_exception_info_request: true,
        supports_terminate_request: true,
        supports_data_breakpoints: true,
        supports_loaded_sources_request: true,
        supports_breakpoint_locations_request: true,
        supports_completions_request: true,
        supports_goto_targets_request: true,
        completion_trigger_characters: &[":", "["],
        exception_breakpoint_filters: FILTERS,
    }
}

/// Answers a request; `None` if it is not one of these.
pub(crate) fn answer(debuggee: &mut Debuggee, request: &Request) -> Option<Result<Answer, String>> {
    let e = &debuggee.e;
    Some(match request {
        Request::Threads => Ok(Answer::Threads { threads: show::threads(e) }),
        Request::StackTrace(arguments) => stack_trace(e, arguments),
        Request::Scopes(arguments) => scopes(arguments),
        Request::Variables(arguments) => variables(debuggee, arguments),
        Request::Evaluate(arguments) => evaluate(debuggee, arguments).map(Answer::Evaluation),
        Request::SetVariable | Request::SetExpression => Err(NO_SETTING.to_owned()),
        Request::GotoTargets(arguments) => goto_targets(e, arguments),
        Request::ExceptionInfo => exception_info(debuggee).map(Answer::ExceptionInfo),
        Request::LoadedSources => Ok(loaded_sources(e)),
        Request::Source(arguments) => source(e, arguments),
        Request::StepInTargets => Ok(Answer::Targets { targets: targets(e) }),
        Request::BreakpointLocations(arguments) => Ok(locations(e, arguments)),
        Request::Completions(arguments) => Ok(completions(e, arguments)),
        Request::SetBreakpoints(arguments) => Ok(set_breakpoints(debuggee, arguments)),
        Request::SetFunctionBreakpoints(arguments) => {
            Ok(Answer::Breakpoints { breakpoints: debuggee.points.set_types(&debuggee.e, &arguments.breakpoints) })
        }
        Request::SetDataBreakpoints(arguments) => {
            Ok(Answer::Breakpoints { breakpoints: debuggee.points.set_data(&debuggee.e, &arguments.breakpoints) })
        }
        Request::DataBreakpointInfo(arguments) => Ok(Answer::DataBreakpointInfo(data_info(debuggee, arguments))),
        Request::SetExceptionBreakpoints(arguments) => Ok(set_filters(debuggee, arguments)),
        Request::Trace(params) => Ok(Answer::Trace(trace(e, params))),
        Request::Hold(params) => hold(debuggee, params).map(Answer::Held),
        Request::Save => Ok(Answer::Saved(SavedRun { text: e.save().text() })),
        _ => return None,
    })
}

fn scopes(args: &ScopesArguments) -> Result<Answer, String> {
    let pid = args.frame_id.and_then(show::pid_of_frame).ok_or("there is no such frame")?;
    Ok(Answer::Scopes { scopes: show::scopes(pid) })
}

fn stack_trace(e: &Exploration, args: &StackTraceArguments) -> Result<Answer, String> {
    let pid = args.thread_id.and_then(show::pid_of).ok_or("there is no such thread")?;
    let frames = show::frames_and_original(e, pid)?;
    let levels = if args.levels == 0 { usize::MAX } else { args.levels };
    let total_frames = frames.len();
    let stack_frames = frames.into_iter().skip(args.start_frame).take(levels).collect();
    Ok(Answer::StackTrace { stack_frames, total_frames })
}

fn variables(debuggee: &mut Debuggee, args: &VariablesArguments) -> Result<Answer, String> {
    let found = debuggee.references.variables(&debuggee.e, args.variables_reference)?;
    let count = if args.count == 0 { usize::MAX } else { args.count };
    Ok(Answer::Variables { variables: found.into_iter().skip(args.start).take(count).collect() })
}

pub(crate) fn evaluate(debuggee: &mut Debuggee, args: &EvaluateArguments) -> Result<Evaluation, String> {
    let pid = args.frame_id.and_then(show::pid_of_frame).or_else(|| Some(show::focus(&debuggee.e)));
    if let Some(answer) = pid.and_then(|pid| hover(debuggee, args, pid)) {
        return answer;
    }
    let Debuggee { e, references, .. } = debuggee;
    if let Some(whole) = references.whole(e, &args.expression, pid) {
        return Ok(whole.into());
    }
    match e.evaluate(&args.expression, pid) {
        Ok(result) => Ok(Evaluation::text(result)),
        Err(_) if assigns(&args.expression) => Err(NO_SETTING.to_owned()),
        Err(why) => Err(why),
    }
}

fn exception_info(debuggee: &Debuggee) -> Result<ExceptionInfo, String> {
    let error = debuggee.error.as_ref().ok_or("nothing has gone wrong here")?;
    let mut sentences = error.sentences.clone();
    sentences.extend(debuggee.e.explain_deadlock().map(|explanation| explanation.suggestion));
    sentences.extend(debuggee.e.explain_loop().filter(|_| error.pid.is_none()).map(|infinite| infinite.suggestion));
    let text = sentences.join("\n");
    Ok(ExceptionInfo {
        exception_id: error.filter,
        description: error.headline.clone(),
        break_mode: ExceptionBreakMode::Always,
        details: ExceptionDetails { message: text.clone(), type_name: error.filter, stack_trace: text },
    })
}

fn loaded_sources(e: &Exploration) -> Answer {
    Answer::LoadedSources { sources: e.loaded().map.files().map(|(_, file)| show::source(&file.name)).collect() }
}

fn source(e: &Exploration, args: &SourceArguments) -> Result<Answer, String> {
    let wanted = args.source.file().unwrap_or("");
    let found = e.loaded().map.files().find(|(_, file)| &*file.name == wanted);
    let (_, file) = found.ok_or_else(|| format!("`{wanted}` is not part of this model"))?;
    Ok(Answer::Source { content: file.text.to_string() })
}

/// The choices, numbered from 1.
fn targets(e: &Exploration) -> Vec<Target> {
    let map = &e.loaded().map;
    let target = |(index, choice): (usize, fabius_explore::Choice)| {
        let held = match (&choice.held, &choice.must_wait) {
            (Some(_), _) => " ⏸ held",
            (None, Some(_)) => " ⏸ has to wait",
            (None, None) => "",
        };
        let (sign, _) = choice.mark.sign();
        let place = map.user_span(choice.effect.actor.span);
        let (line, column) = map.line_column(place.file, place.start);
        let label = format!("{sign} {} ({}){held}", sentence(&choice.effect), choice.mark.sentence());
        Target { id: index + 1, label, line, column: Some(column) }
    };
    e.choices().into_iter().enumerate().map(target).collect()
}

/// The states of the run from which a statement of a line is executed next, the nearest first. The number of a target is
/// that of the step, from 1.
fn goto_targets(e: &Exploration, args: &GotoTargetsArguments) -> Result<Answer, String> {
    let (file, line) = (args.source.path.as_deref().unwrap_or(""), args.line);
    let map = &e.loaded().map;
    let here = e.number(e.here());
    let there = |span| {
        let shown = map.user_span(span);
        &*map.file(shown.file).name == file && map.line_column(shown.file, shown.start).0 == line
    };
    let executes = |step: &fabius_witness::Step| {
        step.claim.is_none()
            && (there(step.actor.span) || step.partner.as_ref().is_some_and(|partner| there(partner.span)))
    };
    let mut steps: Vec<fabius_witness::Step> =
        e.line().iter().filter_map(|node| e.step_to(*node)).filter(executes).collect();
    if steps.is_empty() {
        return Err(format!("the run executes no statement of line {line}; only a state of the run can be jumped to"));
    }
    steps.sort_by_key(|step| step.number.abs_diff(here + 1));
    let target = |step: &fabius_witness::Step| {
        let label = format!("before step {}: {}", step.number, sentence(step));
        Target { id: step.number, label, line, column: None }
    };
    Ok(Answer::Targets { targets: steps.iter().take(TARGETS_MAX).map(target).collect() })
}

fn locations(e: &Exploration, args: &BreakpointLocationsArguments) -> Answer {
    let first = args.line.unwrap_or(1);
    let last = args.end_line.unwrap_or(first);
    let file = args.source.path.as_deref().unwrap_or("");
    let lines = e.lines(file).into_iter().filter(|line| (first..=last).contains(line));
    Answer::BreakpointLocations { breakpoints: lines.map(|line| BreakpointLocation { line }).collect() }
}

fn completions(e: &Exploration, args: &CompletionsArguments) -> Answer {
    let end = args.column.map_or(args.text.len(), |column| column.saturating_sub(1));
    let before: String = args.text.chars().take(end).collect();
    let target = |text: String| CompletionItem { label: text.trim_end().to_owned(), text };
    Answer::Completions { targets: repl::completions(e, &before).into_iter().map(target).collect() }
}

fn set_breakpoints(debuggee: &mut Debuggee, args: &SetBreakpointsArguments) -> Answer {
    let file = args.source.file().unwrap_or("");
    let old: Vec<SourceBreakpoint> =
        args.lines.iter().map(|line| SourceBreakpoint { line: *line, ..SourceBreakpoint::default() }).collect();
    let requests = if args.breakpoints.is_empty() { &old } else { &args.breakpoints };
    Answer::Breakpoints { breakpoints: debuggee.points.set_lines(&debuggee.e, file, requests) }
}

fn set_filters(debuggee: &mut Debuggee, args: &SetExceptionBreakpointsArguments) -> Answer {
    let options = args.filter_options.iter().map(|option| option.filter_id.clone());
    debuggee.points.set_filters(args.filters.iter().cloned().chain(options).collect());
    Answer::Done {}
}

/// Whether a variable can be watched, and under which name.
fn data_info(debuggee: &Debuggee, args: &DataBreakpointInfoArguments) -> DataBreakpointInfo {
    let e = &debuggee.e;
    let name = debuggee.references.name_below(args.variables_reference, &args.name);
    let named = |value: &&fabius_explore::Value| {
        let full = show::full_name(e, value);
        full == name || (value.name == name && in_scope(value, args.variables_reference))
    };
    match e.variables().iter().find(named) {
        Some(value) => {
            let name = show::full_name(e, value);
            DataBreakpointInfo {
                description: format!("{name} changes"),
                data_id: Some(name),
                access_types: &[DataBreakpointAccess::Write],
                can_persist: true,
            }
        }
        None => DataBreakpointInfo {
            description: "only single variables, elements and channels can be watched".to_owned(),
            ..DataBreakpointInfo::default()
        },
    }
}

/// Whether a variable is in a scope; without one, any is.
fn in_scope(value: &fabius_explore::Value, reference: i64) -> bool {
    match value.pid {
        Some(pid) if (1..300).contains(&reference) => reference == i64::from(pid) + 1,
        Some(_) => reference == 0 || 1000 <= reference,
        None => !(1..300).contains(&reference),
    }
}

/// A page of the run, from step `from`.
fn trace(e: &Exploration, params: &TraceParams) -> TracePage {
    let first = params.from.unwrap_or(1).max(1);
    let count = params.count.filter(|count| 0 < *count).map_or(PAGE_STEPS, |count| count.min(PAGE_STEPS));
    let map = &e.loaded().map;
    let wanted = |node: &&NodeId| first <= e.number(**node) && e.number(**node) < first.saturating_add(count);
    let nodes: Vec<NodeId> = e.line().iter().skip(1).filter(wanted).copied().collect();
    let record = |(node, step): (NodeId, fabius_witness::Step)| {
        if step.claim.is_some() {
            return None;
        }
        let arrow = |arrow: fabius_explore::Arrow| ReceivedFrom { from: e.number(arrow.from), channel: arrow.channel };
        Some(TraceStep {
            record: step_record(&step, map),
            sentence: sentence(&step),
            received_from: e.arrows(node).into_iter().map(arrow).collect(),
        })
    };
    TracePage {
        step: e.number(e.here()),
        of: e.line().last().map_or(0, |tip| e.number(*tip)),
        from: first,
        steps: e.steps(&nodes).into_iter().filter_map(record).collect(),
        loop_start: e.lasso().map(|lasso| e.number(lasso.start) + 1),
        held: e.held(),
    }
}

/// Holds a process, or releases it.
fn hold(debuggee: &mut Debuggee, params: &HoldParams) -> Result<HeldProcesses, String> {
    let e = &mut debuggee.e;
    let pid = match &params.process {
        Some(ProcessReference::Number(number)) => u8::try_from(*number).map_err(|_| "there is no such process")?,
        Some(ProcessReference::Name(name)) => repl::process(e, name)?,
        None => return Err("`process` is missing: a number or a name such as P[1]".to_owned()),
    };
    if params.held == Some(false) {
        e.release(pid);
    } else {
        let until = match (&params.condition, params.steps) {
            (Some(condition), _) => Until::Condition(e.condition(condition)?),
            (None, Some(steps)) => Until::Others(steps),
            (None, None) => Until::Released,
        };
        e.hold(pid, until)?;
    }
    Ok(HeldProcesses { held: e.held() })
}
