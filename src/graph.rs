//! `fabius graph`: the state graph of a small model, or the automata of its processes, as a picture.

use crate::args::{parse_count, parse_duration, parse_size};
use crate::render::numbers::counted;
use crate::stop::Interrupts;
use crate::{check, exit, output};
use clap::{Args, ValueEnum};
use fabius_analysis::state_graph::{
    DRAWN_NODES_MAX, Grouping, STATES_MAX, StateGraph, automata, dot, mermaid, state_graph, svg,
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
    if DRAWN_NODES_MAX < nodes && matches!(args.format, GraphFormat::Svg | GraphFormat::Mermaid) {
        output::complain(&format!(
            "error: the graph has {}, and a picture of more than {DRAWN_NODES_MAX} cannot be read\nhelp: put states together with --by locations or --by VARIABLE, or write it with --format dot or json",
            counted(nodes as u64, "node")
        ));
        return exit::FAULTY;
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
    let code = match graph.stopped {
        None => 0,
        Some(why) => {
            output::complain(&format!("the graph is incomplete ({}): {why}", counted(graph.states as u64, "state")));
            exit::UNDECIDED
        }
    };
    exit::worse(code, output::print(text.as_bytes()))
}

/// The graph, and the name of the model.
///
/// # Errors
/// The exit code, if there is none; why is told.
fn made(args: &Graph, loaded: Loaded, cancel: &Cancel) -> Result<(String, StateGraph), u8> {
    let grouping = Grouping::read(args.by.as_deref());
    let _memory = memory::Watch::start(args.max_memory.unwrap_or_else(memory::default_bytes), cancel);
    let states_max = args.max_states.map_or(STATES_MAX, |states| usize::try_from(states).unwrap_or(usize::MAX));
    let (asked, of_automata) = (cancel.clone(), args.automata);
    let done = fabius_supervise::run(cancel, &Voice::default(), 1, move |result| {
        let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else {
            let _ = result.send(Err(String::new()));
            return;
        };
        let graph = match of_automata {
            true => Ok(automata(&program, &|span| loaded.line_of(span))),
            false => state_graph(&program, &grouping, states_max, &|span| loaded.line_of(span), &asked),
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
