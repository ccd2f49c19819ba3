//! The flags of `fabius executions`.

use super::{parse_count, parse_duration, parse_size};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
Two executions are essentially the same if one becomes the other by exchanging neighbouring steps of different
processes that could be taken in either order and leave each other alone.

Exit codes:
  0  no execution fails or gets stuck, and all were counted
  1  an execution fails or gets stuck
  2  undecided: executions were cut off, some are infinite, a limit was reached, or counting was stopped
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius";

// The flags of `fabius executions`.
#[derive(Args, Debug, Clone)]
#[command(after_help = HELP, group(clap::ArgGroup::new("view").args(["show", "tree"])))]
pub struct Executions {
    /// A Promela model; `-` reads it from standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// List N executions.
    #[arg(long, value_name = "N", conflicts_with_all = ["show", "sample"], help_heading = "What to show")]
    pub list: Option<usize>,

    /// List executions from this one on, counted from 1 (with --only, among those).
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = parse_rank, requires = "list", help_heading = "What to show")]
    pub from: u128,

    /// List or draw only executions that fail, get stuck, or end well.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "show", help_heading = "What to show")]
    pub only: Option<Only>,

    /// Show this execution with all its steps, by its number among all executions.
    #[arg(long, value_name = "NUMBER", value_parser = parse_rank, conflicts_with = "sample", help_heading = "What to show")]
    pub show: Option<u128>,

    /// Show the tree of choices: how many executions lie behind each way, and how many of them fail or get stuck. It is
    /// opened up to N branches.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "60", conflicts_with_all = ["list", "sample"], help_heading = "What to show")]
    pub tree: Option<usize>,

    /// Say in what two executions differ, by their numbers: where they part, what they touch in another order, how they end.
    #[arg(long, value_names = ["NUMBER", "NUMBER"], num_args = 2, value_parser = parse_rank, conflicts_with_all = ["list", "sample", "show", "tree"], help_heading = "What to show")]
    pub compare: Option<Vec<u128>>,

    /// Say what distinguishes the executions that fail, or get stuck, from those that end well: which step comes, or
    /// comes before which other step, in all of the one kind and in none of the other.
    #[arg(long, help_heading = "What to show")]
    pub difference: bool,

    /// Format of the execution or of the tree shown.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExecutionFormat::Text, requires = "view", help_heading = "What to show")]
    pub format: ExecutionFormat,

    /// Draw K executions at random, each as likely as any other.
    #[arg(long, value_name = "K", help_heading = "What to show")]
    pub sample: Option<usize>,

    /// Random seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample", help_heading = "What to show")]
    pub seed: u64,

    /// Cut executions off after K steps, for models that go on for ever: the numbers are exact for executions of at
    /// most K steps. An atomic sequence is one step.
    #[arg(long, value_name = "K", help_heading = "How to count")]
    pub within: Option<u32>,

    /// Let each process pass each of its loops at most K times, for models that go on for ever: a step that may close a loop
    /// is taken at most K times by each process. The numbers are exact for these executions.
    #[arg(long, value_name = "K", help_heading = "How to count")]
    pub laps: Option<u32>,

    /// How to count: on the graph of states and sleep sets, or one execution after the other, without a table.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = CountBy::Graph, help_heading = "How to count")]
    pub by: CountBy,

    /// Which steps are independent (default: `accords` with --by graph, else `recorded`).
    #[arg(long, value_enum, value_name = "RELATION", help_heading = "How to count")]
    pub independence: Option<Independence>,

    /// Tell processes apart by their numbers, also where the model cannot observe these; the order in which different
    /// processes create others is then part of what distinguishes executions.
    #[arg(long, help_heading = "How to count")]
    pub process_numbers: bool,

    /// Disable partial-order reduction. The numbers are the same.
    #[arg(long, help_heading = "How to count")]
    pub no_reduction: bool,

    /// Stop after this many nodes (pairs of a state and a sleep set), such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "NODES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when counting needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Print one JSON document; docs/schema/executions.schema.json describes it.
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub json: bool,
}

/// How to count executions.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountBy {
    /// On the graph of states and sleep sets, each node once.
    Graph,
    /// One by one, with sleep sets only.
    Sleep,
    /// One by one, with source sets (Source-DPOR).
    Source,
    /// One by one, with wakeup trees (Optimal-DPOR): no run is redundant.
    Optimal,
}

/// When two steps count as independent.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Independence {
    /// If both orders lead to the same state wherever both are possible.
    Accords,
    /// If neither writes what the other reads or writes.
    Footprints,
    /// If neither writes what the other reads or writes where it is taken, such as the element that an index names there; not with
    /// --by graph
    Recorded,
    /// If both orders lead to the same state in every reachable state in which both are possible: learnt from the whole
    /// state space, which is explored first.
    Learned,
}

/// Which executions to list.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Only {
    /// Those in which an assertion fails or a runtime error occurs.
    Failing,
    /// Those that end in a deadlock.
    Stuck,
    /// Those that end well.
    Ok,
}

/// The format of an execution.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutionFormat {
    /// For people.
    Text,
    /// As in the list of `--json`.
    Json,
    /// A trail that `spin -t -p` replays.
    Trail,
    /// A sequence diagram: a lane for each process, where it waits and who lets it go on.
    Diagram,
    /// The sequence diagram as a picture.
    Svg,
    /// The sequence diagram for Mermaid.
    Mermaid,
    /// The tree of choices for Graphviz.
    Dot,
}

/// Reads the number of an execution, from 1.
fn parse_rank(text: &str) -> Result<u128, String> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    digits.parse().ok().filter(|number| 1 <= *number).ok_or_else(|| "expected a number from 1 on".to_owned())
}
