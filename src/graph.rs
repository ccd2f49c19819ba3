//! `fabius graph`: the state graph of a small model, or the automata of its processes, as a picture.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::{count, counted};
use crate::stop::Interrupts;
use crate::{check, exit, output};
use clap::{Args, ValueEnum};
use fabius_analysis::state_graph::{
    DRAWN_NODES_MAX, Explored, GraphLimits, Grouping, STATES_MAX, StateGraph, automata, dot, mermaid, svg,
};
use fabius_base::Cancel;
use fabius_engine::{Loaded, TOOL, VERSION};
use fabius_supervise::{Timer, Unfinished, Voice, memory};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
Each state and each step is found by the reference interpreter, of the model as it is written, in every order of steps. Blue: where
it begins; red: a deadlock, or a step that fails; orange: a shortest run to the first of them; a second frame: the model may end
there; dashed: inside an atomic sequence, or not explored to the end.

Exit codes:
  0  the graph is complete
  2  it is a part: a limit was reached
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

// The flags of `fabius graph`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP)]
pub struct Graph {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Put states together: `locations` (every process at the same place), or the names of variables and channels, with commas
    /// between them (the same values).
    #[arg(long, value_name = "locations|VAR,…", help_heading = "What to show")]
    pub by: Option<String>,

    /// Show the automata of the processes instead of the states.
    #[arg(long, conflicts_with_all = ["by", "max_states"], help_heading = "What to show")]
    pub automata: bool,

    /// Stop after this many states (default: 10 000).
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when it needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// What is printed.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = GraphFormat::Svg, help_heading = "Output")]
    pub format: GraphFormat,
}

/// A search may take this many tenths of the time allowed; drawing what it found takes the rest.
const SEARCH_TENTHS: u32 = 8;

/// What is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphFormat {
    /// A picture.
    Svg,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
    /// One JSON document; docs/schema/graph.schema.json describes it.
    Json,
}

/// The graph as plain data.
#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    file: &'a str,
    #[serde(flatten)]
    graph: &'a StateGraph,
}

/// Prints the graph; returns the exit code.
pub fn run(args: &Graph) -> u8 {
    let cancel = Cancel::new();
    Interrupts::listen().watch(&cancel);
    let _timer = Timer::start(args.timeout, &cancel);
    let loaded = match check::load_and_tell(&args.file, &args.define, args.max_memory, &cancel) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let graph = match made(args, loaded, &cancel) {
        Ok(graph) => graph,
        Err(code) => return code,
    };
    let (name, graph) = graph;
    let nodes = graph.nodes.len();
    let code = incomplete(&graph);
    if DRAWN_NODES_MAX < nodes && matches!(args.format, GraphFormat::Svg | GraphFormat::Mermaid) {
        output::complain(&format!(
            "error: the graph has {}, and a picture of more than {DRAWN_NODES_MAX} cannot be read\nhelp: put states together with --by locations or --by VARIABLE, or write it with --format dot or json",
            counted(nodes as u64, "node")
        ));
        // Whether the whole graph could be drawn is not known.
        return if code == 0 { exit::FAULTY } else { code };
    }
    let text = match args.format {
        GraphFormat::Svg => svg(&graph),
        GraphFormat::Dot => dot(&graph),
        GraphFormat::Mermaid => mermaid(&graph),
        GraphFormat::Json => {
            let document = Document { tool: TOOL, version: VERSION, file: &name, graph: &graph };
            match serde_json::to_string_pretty(&document) {
                Ok(text) => text + "\n",
                Err(_) => return exit::INTERNAL,
            }
        }
    };
    exit::worse(code, output::print(text.as_bytes()))
}

/// Says why the graph is a part, if it is; the exit code.
fn incomplete(graph: &StateGraph) -> u8 {
    let Some(why) = graph.stopped else { return 0 };
    let states = counted(graph.states as u64, "state");
    let of_all = match graph.left_out {
        0 => states,
        left_out => format!("{states} of the {} that were found", count((graph.states + left_out) as u64)),
    };
    output::complain(&format!("the graph is incomplete ({of_all}): {why}"));
    exit::UNDECIDED
}

/// The graph, and the name of the model.
///
/// # Errors
/// The exit code, if there is none; why is told.
fn made(args: &Graph, loaded: Loaded, cancel: &Cancel) -> Result<(String, StateGraph), u8> {
    let grouping = Grouping::read(args.by.as_deref());
    let memory_bytes_max = args.max_memory.unwrap_or_else(memory::default_bytes);
    let _memory = memory::Watch::start(memory_bytes_max, cancel);
    let states_max = args.max_states.map_or(STATES_MAX, |states| usize::try_from(states).unwrap_or(usize::MAX));
    let limits = GraphLimits { states_max, memory_bytes_max: Some(memory_bytes_max) };
    // What was found when the time is up has to be drawn, too.
    let search = cancel.part();
    let _search_timer = Timer::start(args.timeout.map(|time| time / 10 * SEARCH_TENTHS), &search);
    let (asked, of_automata, voice) = (cancel.clone(), args.automata, Voice::default());
    let speaker = voice.clone();
    let done = fabius_supervise::run(cancel, &voice, 1, move |result| {
        let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else {
            let _ = result.send(Err(String::new()));
            return;
        };
        let graph = match of_automata {
            true => Ok(automata(&program, &|span| loaded.line_of(span))),
            false => Explored::of(&program, limits, &|span| loaded.line_of(span), &search).and_then(|mut explored| {
                // What was found is drawn in bounded time, and is not left alone.
                speaker.take();
                explored.graph(&grouping, &asked)
            }),
        };
        let _ = result.send(graph.map(|graph| (loaded.name.clone(), graph.readable())));
    });
    match done {
        Ok(Ok(graph)) => Ok(graph),
        Ok(Err(why)) => {
            if !why.is_empty() {
                output::complain(&format!("error: {why}"));
            }
            Err(exit::FAULTY)
        }
        Err(why) if cancel.requested().is_some() => {
            output::complain(&format!("error: no graph: {}", Unfinished::Abandoned(why).sentence()));
            Err(exit::UNDECIDED)
        }
        Err(_) => Err(exit::INTERNAL),
    }
}
