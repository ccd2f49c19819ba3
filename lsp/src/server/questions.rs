//! Our own requests that take a search: executions, contexts, deadlocks at a line, statements that are next at once. Work is
//! started for them, which brings the answer; `docs/protocol.md` describes them.

use super::client::{json, read};
use super::convert::Converter;
use super::messages::{
    Alternatives, Branch, CauseFound, CauseStatement, CausesFound, CausesParams, Contexts, ContextsParams, Cost,
    CountedExecutions, Draw, DrawParams, Drawing, Execution, ExecutionPage, ExecutionParams, ExecutionTree,
    ExecutionTreeParams, Executions, ExecutionsParams, FindCauses, FindContexts, LinesParams, Meet, Meeting,
    ModelParams, Mutate, PlacedStep, Request, SpentStates, StatesOfPart, Stuck, StuckAt, Survivor, Survivors, Sweep,
    Swept, TraceSource,
};
use super::names::{name_of, uri_of};
use super::service::error;
use super::state::State;
use super::traces::{self, PAGE_STEPS};
use crate::ide::executions as words;
use crate::ide::{Place, costs, mutants, sweeps};
use crate::session::Notice;
use crate::session::causes::key;
use crate::session::jobs::{Job, RunId, Work};
use crate::session::questions::{Answer, Bounds, Question, key_of};
use crate::session::runs::{KeptExecutions, Origin};
use fabius_analysis as analysis;
use fabius_analysis::cost::Costs;
use fabius_analysis::state_graph::Grouping;
use fabius_analysis::stuck::{Stuck as StuckFound, StuckVerdict};
use fabius_analysis::{CoReachability, Line};
use fabius_causes::report::{CauseReport, CausesReport};
use fabius_engine::contexts::ContextsReport;
use fabius_engine::sweep::{Cell, Prediction, in_a_line};
use fabius_engine::words::counted;
use fabius_engine::{Loaded, Verdict};
use fabius_executions::{ExecutionsReport, TreeBranch, branch_report};
use fabius_mutation::report::{MutantOutcome, MutationReport};
use fabius_witness::format::json::step_record;
use serde_json::Value;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// A request that takes a search, with its parameters.
pub enum SearchRequest {
    /// Counts executions.
    Executions(ExecutionsParams),
    /// The alternatives at the end of a branch.
    Alternatives(ExecutionTreeParams),
    /// An execution by its number.
    Execution(ExecutionParams),
    /// The contexts in which a model goes wrong.
    Contexts(ContextsParams),
    /// Whether the model can deadlock at a line.
    Stuck(LinesParams),
    /// Whether statements of two lines can be next at once.
    Meet(LinesParams),
    /// A picture of the state graph or of the automata.
    Draw(DrawParams),
    /// What states are spent on.
    Costs(ModelParams),
    /// Which changes no property notices.
    Mutants(ModelParams),
    /// The causes of the violations of a property.
    Causes(CausesParams),
    /// What came of the values of macros that a comment names.
    Sweep(LinesParams),
}

/// A request for which work was started.
pub struct Started {
    /// The request.
    pub request: SearchRequest,
    /// Whoever asked is shown the answer, in words.
    pub is_shown: bool,
}

impl SearchRequest {
    /// Reads a request, if it is one of these.
    pub fn read(method: &str, params: &lsp::LSPAny) -> Option<Result<Self>> {
        let params = || params.clone();
        Some(match method {
            Executions::METHOD => read(params()).map(Self::Executions),
            Alternatives::METHOD => read(params()).map(Self::Alternatives),
            Execution::METHOD => read(params()).map(Self::Execution),
            FindContexts::METHOD => read(params()).map(Self::Contexts),
            Stuck::METHOD => read(params()).map(Self::Stuck),
            Meet::METHOD => read(params()).map(Self::Meet),
            Draw::METHOD => read(params()).map(Self::Draw),
            Cost::METHOD => read(params()).map(Self::Costs),
            Mutate::METHOD => read(params()).map(Self::Mutants),
            FindCauses::METHOD => read(params()).map(Self::Causes),
            Sweep::METHOD => read(params()).map(Self::Sweep),
            _ => return None,
        })
    }

    fn uri(&self) -> &lsp::Uri {
        match self {
            Self::Executions(ExecutionsParams { uri, .. })
            | Self::Alternatives(ExecutionTreeParams { uri, .. })
            | Self::Execution(ExecutionParams { uri, .. })
            | Self::Contexts(ContextsParams { uri, .. })
            | Self::Stuck(LinesParams { uri, .. })
            | Self::Meet(LinesParams { uri, .. })
            | Self::Draw(DrawParams { uri, .. })
            | Self::Sweep(LinesParams { uri, .. })
            | Self::Causes(CausesParams { uri, .. })
            | Self::Costs(ModelParams { uri })
            | Self::Mutants(ModelParams { uri }) => uri,
        }
    }
}

/// A command that asks one of these, as the request; anything else as it is. Says whether it was such a command.
pub fn of_command(method: &str, params: lsp::LSPAny) -> (&str, lsp::LSPAny, bool) {
    let command = params.get("command").and_then(Value::as_str).filter(|_| method == "workspace/executeCommand");
    let method = match command {
        Some("fabius.contexts") => FindContexts::METHOD,
        Some("fabius.stuck") => Stuck::METHOD,
        Some("fabius.executions") => Executions::METHOD,
        Some("fabius.costs") => Cost::METHOD,
        Some("fabius.mutants") => Mutate::METHOD,
        Some("fabius.causes") => FindCauses::METHOD,
        Some("fabius.sweep") => Sweep::METHOD,
        _ => return (method, params, false),
    };
    (method, params["arguments"][0].clone(), true)
}

fn wrong(why: impl Into<String>) -> tower_lsp_server::jsonrpc::Error {
    error(ErrorCode::InvalidParams, why.into())
}

fn nothing_counted() -> tower_lsp_server::jsonrpc::Error {
    wrong("no executions were counted: ask fabius/executions first")
}

/// A number from 1 on as a person reads it, in decimal digits: it can be greater than 2⁵³.
fn number(text: &str) -> Result<u128> {
    text.parse::<u128>()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| wrong(format!("no number from 1 on: `{text}`")))
}

/// Begins to answer a request; `None` if its model cannot be run and that is the answer.
pub fn begin(server: &mut State, request: &SearchRequest) -> Result<Option<RunId>> {
    let name = name_of(request.uri());
    let model = server.session.model_of(&name);
    let not_open = || wrong(format!("{name} is not open"));
    let session = &mut server.session;
    let place = |line: &u32| Line { file: name.clone(), line: line + 1 };
    match request {
        SearchRequest::Executions(ExecutionsParams { laps, within, .. }) => {
            session.count_executions(&model, Bounds { laps: *laps, within: *within }).map(Some).ok_or_else(not_open)
        }
        SearchRequest::Alternatives(ExecutionTreeParams { first, executions, .. }) => {
            let branch = match (first, executions) {
                (Some(first), Some(executions)) => Some((number(first)? - 1, number(executions)?)),
                _ => None,
            };
            session.alternatives(&model, branch).map(Some).ok_or_else(nothing_counted)
        }
        SearchRequest::Execution(params) => {
            let number = number(&params.number)? - 1;
            session.execution(&model, number).map(Some).ok_or_else(nothing_counted)
        }
        SearchRequest::Contexts(params) => session.contexts(&model, &params.process).map(Some).ok_or_else(not_open),
        SearchRequest::Stuck(params) => {
            let line = params.lines.first().ok_or_else(|| wrong("which line?"))?;
            session.stuck_at(&model, place(line)).map(Some).ok_or_else(not_open)
        }
        SearchRequest::Sweep(params) => {
            let line = params.lines.first().ok_or_else(|| wrong("which line?"))?;
            let none = || wrong("no comment `/*@ sweep N = 2..5 */` begins at this line");
            let run = session.sweep(&model, &name, line + 1).ok_or_else(none)?;
            server.show(vec![Notice::Hints(model)]);
            Ok(Some(run))
        }
        SearchRequest::Causes(params) => session.causes(&model, &params.property).map(Some).ok_or_else(not_open),
        SearchRequest::Costs(_) => {
            let run = session.costs(&model).ok_or_else(not_open)?;
            server.show(vec![Notice::Hints(model)]);
            Ok(Some(run))
        }
        SearchRequest::Mutants(_) => {
            let run = session.mutants(&model).ok_or_else(not_open)?;
            server.show(vec![Notice::Hints(model)]);
            Ok(Some(run))
        }
        SearchRequest::Draw(DrawParams { by, automata, .. }) => {
            if *automata && by.is_some() {
                return Err(wrong("automata are not put together: `by` goes with the state graph"));
            }
            let grouping = (!automata).then(|| Grouping::read(by.as_deref()));
            session.draw(&model, grouping).map(Some).ok_or_else(not_open)
        }
        SearchRequest::Meet(params) => {
            if !(1..=2).contains(&params.lines.len()) {
                return Err(wrong("one line or two"));
            }
            Ok(session.co_reachable(&model, params.lines.iter().map(place).collect()))
        }
    }
}

/// An answer, and the same in words.
struct Answered {
    value: Value,
    sentence: String,
}

/// The answer to a request; it is shown if a command asked.
pub fn answer(server: &State, started: &Started, job: &Job, answer: Option<Answer>) -> Result<Value> {
    let answer = answered(server, &started.request, job, answer);
    if started.is_shown {
        let message = match &answer {
            Ok(answer) => answer.sentence.clone(),
            Err(wrong) => wrong.message.to_string(),
        };
        server.client.show(lsp::MessageType::INFO, message);
    }
    answer.map(|answer| answer.value)
}

fn answered(server: &State, request: &SearchRequest, job: &Job, answer: Option<Answer>) -> Result<Answered> {
    let silent = |value: Value| Answered { value, sentence: String::new() };
    let Work::Ask(question) = &job.work else { return Ok(silent(Value::Null)) };
    let answer = answer.ok_or_else(|| error(ErrorCode::InternalError, "there was no time for an answer"))?;
    let model = &job.document;
    match answer {
        Answer::Failed(why) => Err(error(ErrorCode::InternalError, why)),
        Answer::Refused(why) => Err(wrong(why)),
        Answer::Executions(report) => {
            let answer = executions(server, model, *report);
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
        Answer::Alternatives(branches) => tree(server, model, &branches).map(json).map(silent),
        Answer::Execution(None) => Err(wrong("there is no such execution")),
        Answer::Execution(Some(_)) => page(server, model, question, request).map(json).map(silent),
        Answer::Contexts(report) => {
            let answer = contexts(server, model, question, report);
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
        Answer::Drawing(graph, svg) => {
            let states = counted(graph.states as u64, "state");
            let sentence = match (&**question, graph.stopped) {
                (Question::Automata, _) => counted(graph.nodes.len() as u64, "place"),
                (_, None) => states,
                (_, Some(why)) => format!("{states}, incomplete: {why}"),
            };
            Ok(Answered { value: json(Drawing { svg, sentence: sentence.clone() }), sentence })
        }
        Answer::Costs(found) => {
            let answer = spent(server, job, &found);
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
        Answer::Causes(found) => {
            let answer = causes(server, job, &found.report);
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
        Answer::Mutants(report) => {
            let answer = survivors(server, job, &report);
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
        Answer::Sweep(cells, predictions) => {
            let answer = swept(server, job, question, (&cells, &predictions));
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
        Answer::Stuck(found) => {
            let answer = stuck(question, &found);
            Ok(Answered { sentence: answer.sentence.clone(), value: json(answer) })
        }
    }
}

fn stuck(question: &Question, found: &StuckFound) -> StuckAt {
    let report = &found.report;
    StuckAt {
        verdict: report.verdict,
        sentence: words::stuck(report),
        states: report.states,
        exhaustive: report.exhaustive,
        run: key_of(question).filter(|_| report.verdict == StuckVerdict::Deadlock),
    }
}

/// The first page of a run that was just kept, as `fabius/trace` answers it.
fn page(server: &State, model: &str, question: &Question, request: &SearchRequest) -> Result<ExecutionPage> {
    let SearchRequest::Execution(ExecutionParams { uri, from, count, .. }) = request else {
        return Err(error(ErrorCode::InternalError, "nobody asked for this execution"));
    };
    let run = key_of(question).ok_or_else(|| error(ErrorCode::InternalError, "the execution has no name"))?;
    let source = TraceSource { uri: uri.clone(), property: None, counterexample: None, run: Some(run.clone()) };
    Ok(ExecutionPage { page: traces::page(server, model, &source, *from, *count)?, run })
}

fn kept<'a>(server: &'a State, model: &str) -> Option<&'a KeptExecutions> {
    server.session.document(model)?.asked.executions.as_ref()
}

/// How many executions there are.
fn executions(server: &State, model: &str, report: ExecutionsReport) -> CountedExecutions {
    CountedExecutions {
        uri: uri_of(model),
        stale: kept(server, model).is_none_or(|kept| kept.origin.stale),
        sentence: words::sentence(&report),
        advice: words::advice(&report),
        report,
    }
}

/// A branch of the tree of choices, and the alternatives at its end.
fn tree(server: &State, model: &str, branches: &[TreeBranch]) -> Result<ExecutionTree> {
    let origin = &kept(server, model).ok_or_else(nothing_counted)?.origin;
    let ways =
        branches.iter().filter(|branch| branch.parent.is_some_and(|parent| parent + 1 == at_end(branches))).count();
    let (way, alternatives) = branches.split_at(branches.len() - ways);
    let branch = way.last().ok_or_else(|| wrong("there is no such branch, or not everything was explored"))?;
    Ok(ExecutionTree {
        uri: uri_of(model),
        stale: origin.stale,
        branch: branch_message(server, model, origin, branch),
        alternatives: alternatives.iter().map(|branch| branch_message(server, model, origin, branch)).collect(),
    })
}

/// How many branches come before the alternatives at the end of the last one of them.
fn at_end(branches: &[TreeBranch]) -> usize {
    branches.last().and_then(|last| last.parent).map_or(branches.len(), |parent| parent + 1)
}

fn branch_message(server: &State, model: &str, origin: &Origin, branch: &TreeBranch) -> Branch {
    let report = branch_report(branch, &origin.loaded);
    let step = branch.steps.first().zip(report.steps.into_iter().next()).map(|(step, record)| {
        let converter = Converter::new(&server.session, &origin.loaded.map, server.encoding);
        let (file, range) = origin.place(step.actor.span, model);
        let range = converter.range(&file, range.start, range.end);
        let original_uri = traces::original_uri(&origin.loaded.map, step.actor.span);
        PlacedStep { record, uri: uri_of(&file), range, original_uri }
    });
    Branch {
        first: report.first,
        executions: report.executions,
        failing: report.failing,
        stuck: report.stuck,
        ok: report.ok,
        ends: report.ends,
        unopened: report.unopened,
        length: report.length,
        step,
        sentence: words::behind(branch),
    }
}

/// The contexts, and a text that shows them: the model with the first one that goes wrong.
fn contexts(server: &State, model: &str, question: &Question, report: ContextsReport) -> Contexts {
    let present = || server.session.document(model).map(|document| document.text.to_string()).unwrap_or_default();
    let (text, with) = match question {
        Question::Contexts(unread, with) => (unread.text.clone(), with.as_str()),
        _ => (present(), ""),
    };
    let first = report.with(Verdict::Violated).next();
    Contexts {
        sentence: words::contexts(&report, with),
        complete: report.complete,
        model: first.map(|wrong| words::model(&text, &report, wrong, with)),
        contexts: report.contexts,
    }
}

/// The changes that no property notices, where they are in the text.
fn survivors(server: &State, job: &Job, report: &MutationReport) -> Survivors {
    let map = &job.loaded.map;
    let converter = Converter::new(&server.session, map, server.encoding);
    let survived = report.mutants.iter().filter(|mutant| mutant.outcome == MutantOutcome::Survived);
    let placed = survived.filter_map(|mutant| {
        let location = converter.location(&Place::of(map, mutant.span))?;
        Some(Survivor { uri: location.uri, range: location.range, message: mutants::message(mutant) })
    });
    Survivors { sentence: mutants::sentence(report), stale: is_stale(server, job), survivors: placed.collect() }
}

/// The causes of the violations of the property that was asked about.
fn causes(server: &State, job: &Job, report: &CausesReport) -> CausesFound {
    let stale = is_stale(server, job);
    let Some(of) = report.properties.first() else {
        let sentence = "the model has no such property".to_owned();
        return CausesFound { sentence, complete: false, stale, causes: Vec::new() };
    };
    let told = |cause: &CauseReport| {
        let statements = cause.statements.iter().map(|one| CauseStatement {
            line: one.line,
            process: one.process.clone(),
            statement: one.statement.clone(),
            shared: of.causes.iter().all(|cause| cause.statements.contains(one)),
        });
        CauseFound {
            sentence: cause.sentence.clone(),
            minimal: cause.minimal,
            run: key(&of.property, cause.number),
            statements: statements.collect(),
        }
    };
    let sentence = format!("{}: {}", of.property, of.sentence());
    CausesFound { sentence, complete: of.complete, stale, causes: of.causes.iter().map(told).collect() }
}

/// What states are spent on.
fn spent(server: &State, job: &Job, found: &Costs) -> SpentStates {
    let map = &job.loaded.map;
    let converter = Converter::new(&server.session, map, server.encoding);
    let one = |cost: &analysis::cost::Cost| StatesOfPart {
        name: cost.name.clone(),
        part: cost.part,
        share: costs::share(found, cost),
        values: cost.values,
        place: cost.span.and_then(|span| converter.location(&Place::of(map, map.user_span(span)))),
    };
    SpentStates {
        sentence: costs::sentence(found),
        states: found.states,
        exhaustive: found.limit.is_none(),
        stale: is_stale(server, job),
        costs: found.costs.iter().map(one).collect(),
    }
}

/// What came of the values of macros.
fn swept(server: &State, job: &Job, question: &Question, (cells, predictions): (&[Cell], &[Prediction])) -> Swept {
    let parameters = match question {
        Question::Sweep(_, parameters) => &parameters[..],
        _ => &[],
    };
    let (sentence, table) = (in_a_line(parameters, cells), sweeps::table(parameters, cells, predictions));
    Swept { sentence, stale: is_stale(server, job), table }
}

/// Whether the text was edited since somebody asked.
fn is_stale(server: &State, job: &Job) -> bool {
    let present = server.session.document(&job.document).and_then(|document| document.present());
    present.is_none_or(|reading| !Arc::ptr_eq(&reading.loaded, &job.loaded))
}

/// Whether statements can be next at once.
pub fn meeting(found: Option<CoReachability>, loaded: &Loaded) -> Meeting {
    let unknown = |states, sentence| Meeting::Unknown { states, sentence };
    match found {
        None => unknown(None, "the model cannot be run".to_owned()),
        Some(CoReachability::Failed(why)) => unknown(None, why),
        Some(CoReachability::NoSuchPlace) => unknown(None, "no process can stop at one of these lines".to_owned()),
        Some(CoReachability::Never(states)) => {
            Meeting::Never { states, sentence: format!("never ({states} states, exhaustive)") }
        }
        Some(CoReachability::NotSeen(states)) => {
            unknown(Some(states), format!("not in the {states} states explored; not exhaustive"))
        }
        Some(CoReachability::Possible(trace)) => {
            let steps = trace.steps.len();
            let page = trace.steps.iter().take(PAGE_STEPS).map(|step| step_record(&step, &loaded.map)).collect();
            Meeting::Possible { steps, page, sentence: format!("possible, after {steps} steps") }
        }
    }
}
