//! The flags of the command line: one table, read by the parser, the help, the completions and the
//! manual page.

mod executions;
mod numbers;

pub use crate::causes::Causes;
use crate::checkpoint::CheckpointFlags;
use crate::contexts::Contexts;
pub use crate::cost::CostFlags;
use crate::delays::DelayFlags;
use crate::diff::Diff;
pub use crate::find::Find;
use crate::formats::FormatFlags;
use crate::formats::baseline::BaselineFlags;
pub use crate::graph::Graph;
pub use crate::merge::Merge;
pub use crate::mutate::Mutate;
pub use crate::pin::PinFlags;
pub use crate::processes::ProcessFlags;
pub use crate::schedule::Schedule;
pub use crate::stuck::Stuck;
use crate::sweep::SweepFlags;
pub use crate::worker::Worker;
use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use executions::{CountBy, ExecutionFormat, Executions, Independence, Only};
use fabius_engine::formula_name;
use fabius_engine::report::PropertyClass;
use fabius_engine::settings::Audit;
pub(crate) use numbers::{parse_count, parse_duration, parse_size};
use std::io::Stdout;
use std::path::PathBuf;
use std::time::Duration;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0  the model holds, and everything was checked; or it is as a comment in it expects
  1  a property is violated, or holds although a comment expects that it is violated
  2  undecided: a limit was reached, or the search was stopped
  3  the input is faulty (the model, a file or a flag), or the output cannot be written
  4  an internal error of fabius
With --baseline, a violation that it has counts as 0 if everything was explored, and as 2 if not.
With several files, the code of the worst result: 4, then 3, 1, 2, 0.";

/// A model checker for Promela that shows counterexamples where they happen.
#[derive(Parser, Debug)]
#[command(name = "fabius", version, styles = STYLES, propagate_version = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
// The flags of the others are not needed: making them took a tenth of the time of a check of a small model. Flags are made last then, and
// what `///` says of a structure of flags would take the place of what is said of the command here; so such structures have `//`.
#[command(defer = true)]
pub enum Command {
    /// Check models: assertions, deadlocks, runtime errors, livelocks, acceptance cycles and formulas.
    Check(Box<Check>),
    /// Count the essentially different executions of a model: how many there are, how many fail or get stuck; list and show them.
    Executions(Box<Executions>),
    /// Find a schedule under which a model is safe: the fewest waits that avoid its errors and deadlocks.
    Schedule(Box<Schedule>),
    /// Find out with which processes, arguments and inputs a model without `init` can deadlock or fail.
    Contexts(Box<Contexts>),
    /// Find out whether a model can deadlock: from its text, or by a search guided to where all processes could be blocked.
    Stuck(Box<Stuck>),
    /// Look for a run in which a pattern comes true, such as `x > 1 after y == 2`: a shortest one, or the certainty that there is none.
    Find(Box<Find>),
    /// Find the causes of violations, that is, the different ways to fail: minimal sets of statements with which a property can be violated.
    Causes(Box<Causes>),
    /// Find out what the states of a model are spent on: how many there would be without each variable, channel and place.
    Cost(Box<CostFlags>),
    /// Draw the state graph of a small model, whole or grouped, with the run to its error; or the automata of its processes.
    Graph(Box<Graph>),
    /// Find out how strong the properties of a model are: change the model in many small ways, and see which changes no property notices.
    Mutate(Box<Mutate>),
    /// Make one report of the reports of all parts of a check whose random runs were shared out (`check --shard`).
    Merge(Merge),
    /// Keep a counterexample as a regression test beside the model, or tell which of those kept still hold.
    Pin(Box<PinFlags>),
    /// Explore a model in the terminal: step through it, delay processes, watch the search, understand a counterexample.
    Explore(Box<Explore>),
    /// Serve an editor: speak the Language Server Protocol over standard input and output.
    Lsp(Lsp),
    /// Serve a debugger: speak the Debug Adapter Protocol over standard input and output.
    Dap,
    /// Serve an assistant: speak the Model Context Protocol over standard input and output.
    Mcp,
    /// Take part in searches that `fabius check --hosts` asks for on another machine.
    Worker(Worker),
    /// Check models again whenever they are saved: one line per property, with what changed.
    Watch(Watch),
    /// Explain a code such as F0602: what it means, an example, and what to do.
    Explain {
        /// The code; without one, all codes are listed.
        #[arg(value_name = "CODE")]
        code: Option<String>,
    },
    /// Compare two versions of a model: which properties changed, and a run for each that broke.
    Diff(Box<Diff>),
    /// Make a folder to begin with: a commented model, settings, and what an editor needs. Nothing that exists is changed.
    Init {
        /// The folder; it is made if there is none.
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
    /// List models to try, print one, or write it into the current folder.
    Examples {
        /// The model; without one, all are listed.
        #[arg(value_name = "NAME")]
        name: Option<String>,

        /// Write the model to NAME.pml in the current folder instead of printing it; with --tour, the models of the tutorial.
        #[arg(long)]
        write: bool,

        /// Print the tutorial, which takes a model from its first check to a proof.
        #[arg(long, conflicts_with = "name")]
        tour: bool,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff).
    Man,
}

// The properties to check and the searches to run: the flags that `check` and `explore` share.
#[derive(Args, Debug, Clone)]
pub struct Question {
    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Check only these properties: names of formulas and claims, or kinds (safety, progress, acceptance, ltl).
    #[arg(long, value_name = "NAME|KIND", action = clap::ArgAction::Append, help_heading = "What to check")]
    pub property: Vec<String>,

    /// Also check this formula of linear temporal logic, such as `[] (requested -> <> granted)`; it may use macros
    /// and variables of the model.
    #[arg(long, value_name = "FORMULA", action = clap::ArgAction::Append, help_heading = "What to check")]
    pub ltl: Vec<String>,

    /// Which infinite runs count as violations: all, or only the fair ones.
    #[arg(long, value_enum, value_name = "KIND", help_heading = "What to check")]
    pub fairness: Option<FairnessKind>,

    /// What counts as progress: a state at a progress label (as in Spin; the default), or a transition from one.
    #[arg(long, value_enum, value_name = "WHERE", help_heading = "What to check")]
    pub progress: Option<ProgressOn>,

    /// Cycle-detection algorithm (default: chosen for the property).
    #[arg(long, value_enum, value_name = "SEARCH", help_heading = "How to check")]
    pub cycles: Option<CycleSearch>,

    /// Searches in the order of delays.
    #[command(flatten)]
    pub delays: DelayFlags,

    /// Number of worker threads (default: one at first; as many as the machine has cores once a search takes longer than a moment,
    /// if it can use them)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "How to check")]
    pub threads: Option<u16>,

    /// Stop after this many states, such as 1_000_000, 500k or 2M.
    #[arg(long, value_name = "STATES", value_parser = parse_count, help_heading = "Limits")]
    pub max_states: Option<u64>,

    /// Stop when the search needs more memory than this, such as 512M or 4G (default: three quarters of the available memory).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    pub max_memory: Option<u64>,
}

// The flags of `fabius explore`.
#[derive(Args, Debug, Clone)]
pub struct Explore {
    /// A Promela model.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The properties to check and the searches to run.
    #[command(flatten)]
    pub question: Question,

    /// Open this run: a trail from Spin, or a saved run. No check starts until `S` is pressed.
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,

    /// Start no check until `S` is pressed.
    #[arg(long, help_heading = "What to check")]
    pub no_check: bool,

    /// Write checkpoints of the search to this file: after each round and at its end; of a depth-first search, every few minutes and where
    /// it is stopped.
    #[arg(long, value_name = "FILE", help_heading = "Delays")]
    pub checkpoint: Option<PathBuf>,

    /// Resume from a checkpoint, of which only the property is checked; may be combined with --checkpoint, also for the same file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_check", "trail"], help_heading = "Delays")]
    pub resume: Option<PathBuf>,

    /// Find all violations, not only the first one; `t` shows the next one.
    #[arg(long, help_heading = "What to check")]
    pub keep_going: bool,

    /// Who searches.
    #[command(flatten)]
    pub others: ProcessFlags,

    /// Use ASCII characters only.
    #[arg(long, help_heading = "Screen")]
    pub ascii: bool,

    /// Colour theme: dark, light, or none (as with NO_COLOR).
    #[arg(long, value_enum, value_name = "THEME", default_value_t = ThemeKind::Dark, help_heading = "Screen")]
    pub theme: ThemeKind,

    /// Do not capture the mouse.
    #[arg(long, help_heading = "Screen")]
    pub no_mouse: bool,
}

/// Which colours the explorer uses.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThemeKind {
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// None.
    None,
}

// The flags of `fabius watch`.
#[derive(Args, Debug, Clone)]
pub struct Watch {
    /// Models, or folders with models.
    #[arg(value_name = "FILE|DIR", required = true)]
    pub paths: Vec<PathBuf>,

    /// Define a macro, as `#define NAME VALUE` before the first line would (1 without a value).
    #[arg(short = 'D', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    pub define: Vec<String>,

    /// Time limit of each check, such as 30 (seconds), 500ms or 5m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// After a violation of safety, do not say under which scheduling the model is safe.
    #[arg(long)]
    pub no_schedule: bool,

    /// Check everything once and exit.
    #[arg(long)]
    pub once: bool,
}

// The flags of `fabius lsp`.
#[derive(Args, Debug, Clone)]
pub struct Lsp {
    /// Use standard input and output (the default; some clients pass this flag).
    #[arg(long)]
    pub stdio: bool,
}

// The flags of `fabius check`.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXIT_CODES)]
pub struct Check {
    /// Promela models; `-` reads one from standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// The properties to check and the searches to run.
    #[command(flatten)]
    pub question: Question,

    /// Also report possible starvation: a process that can wait for ever, even under strong fairness, while others move.
    #[arg(long, help_heading = "What to check")]
    pub hints: bool,

    /// After a violation of safety, do not say under which scheduling the model is safe.
    #[arg(long, help_heading = "What to check")]
    pub no_schedule: bool,

    /// Do not stop at the first violation: explore everything, report each violation once per kind and location, with counts.
    #[arg(long, help_heading = "What to check")]
    pub keep_going: bool,

    /// Search order: depth-first is fast, breadth-first finds a shortest counterexample. By default depth-first,
    /// followed by a short search for a shorter counterexample.
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "How to check")]
    pub search: Option<SearchOrder>,

    /// How visited states are stored. `hash` and `bitstate` may miss states, and the verdict says so.
    #[arg(long, value_enum, value_name = "KIND", help_heading = "How to check")]
    pub store: Option<StoreKind>,

    /// Who searches.
    #[command(flatten)]
    pub others: ProcessFlags,

    /// Checkpoints.
    #[command(flatten)]
    pub checkpoints: CheckpointFlags,

    /// Explore the model as written: no dead-variable reset, no merging of statements.
    #[arg(long, help_heading = "How to check")]
    pub no_optimize: bool,

    /// Where a process chooses a value that the model only copies and compares with constants, explore one of those that no comparison
    /// tells apart. Each value explored is one of the model's; notes say which are left.
    #[arg(long, conflicts_with_all = ["delay", "depth_bound", "prune"], help_heading = "How to check")]
    pub cut_ranges: bool,

    /// Disable partial-order reduction: explore every order of independent steps.
    #[arg(long, help_heading = "How to check")]
    pub no_reduction: bool,

    /// Do not go on from states in which this condition is true, such as 'x > 3' or 'len(q) == 4 || P[1]@line 20'. A violation that is
    /// found is one of the whole model; without one, the verdict is undecided and says what was left out. Explores the model as
    /// written, every order of steps.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true, help_heading = "How to check")]
    pub prune: Option<String>,

    /// Audit of proofs: the reference interpreter lists the steps of visited states again, of some hundred drawn at random (sample),
    /// of all, or of none.
    #[arg(long, value_enum, value_name = "EXTENT", default_value_t = AuditExtent::Sample, help_heading = "How to check")]
    pub audit: AuditExtent,

    /// After a formula was proved, look for parts of it that the model never needs: within a small budget of work (quick), as far as
    /// the limits allow (full), or not at all.
    #[arg(long, value_enum, value_name = "EXTENT", default_value_t = VacuityWish::Quick, help_heading = "What to check")]
    pub vacuity: VacuityWish,

    /// Neither read nor write cached results.
    #[arg(long, help_heading = "How to check")]
    pub no_cache: bool,

    /// Depth limit: cut off runs after this many steps.
    #[arg(long, value_name = "STEPS", value_parser = parse_count, help_heading = "Limits")]
    pub max_depth: Option<u64>,

    /// Time limit, such as 30 (seconds), 500ms, 10s, 5m or 1h; the properties share it.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Several values of a macro.
    #[command(flatten)]
    pub sweep: SweepFlags,

    /// What is printed.
    #[command(flatten)]
    pub formats: FormatFlags,

    /// What is known.
    #[command(flatten)]
    pub baseline: BaselineFlags,

    /// Print events as they happen, one JSON object per line.
    #[arg(long, help_heading = "Output")]
    pub events: bool,

    /// Write the counterexample as a trail that `spin -t -p FILE` replays (default: FILE.trail, where spin looks for it).
    #[arg(long, value_name = "TRAIL", num_args = 0..=1, require_equals = true, help_heading = "Output")]
    pub trail: Option<Option<PathBuf>>,

    /// Write the counterexample in the Informal Trace Format (JSON), which tools for TLA+ and Quint read (default: FILE.itf.json).
    #[arg(long, value_name = "ITF", num_args = 0..=1, require_equals = true, help_heading = "Output")]
    pub itf: Option<Option<PathBuf>>,

    /// With --format html, show this drawing (SVG), whose elements are bound to expressions of the model, as it moves with the steps (default:
    /// FILE.svg beside the model, if there is one).
    #[arg(long, value_name = "SVG", help_heading = "Output")]
    pub picture: Option<PathBuf>,

    /// Show which searches ran for each property, how far each got and how it ended.
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,

    /// Show how numbers change along counterexamples: global variables, and how many messages channels hold.
    #[arg(long, help_heading = "Output")]
    pub plot: bool,

    /// Show counterexamples as sequence diagrams: a lane for each process, where it waits and who lets it go on. With FILE, write
    /// one there: a picture (.svg), for Mermaid (.mmd), or text (.txt).
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Output")]
    pub diagram: Option<Option<PathBuf>>,

    /// Use colours.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto, help_heading = "Output")]
    pub color: ColorWhen,
}

/// The order in which states are visited.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchOrder {
    /// Depth-first.
    Dfs,
    /// Breadth-first: the counterexample is a shortest one.
    Bfs,
}

/// Which infinite runs count as violations.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FairnessKind {
    /// All.
    None,
    /// Those in which a process that can always move from some time on does move (`pan -f`).
    Weak,
    /// Those in which a process that can move again and again does move.
    Strong,
}

/// What counts as progress.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgressOn {
    /// A state in which some process is at a progress label.
    States,
    /// A step from a progress label.
    Transitions,
}

/// How infinite runs are looked for.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum CycleSearch {
    /// Depth-first without progress, then what lies behind progress; livelocks only.
    DfsFifo,
    /// Nested depth-first search.
    Ndfs,
    /// Strongly connected components.
    Scc,
    /// In the order of delays (see `--delay`): maximal accepting predecessors.
    Map,
    /// In the order of delays: nested depth-first search, anew with each bound.
    IterativeNdfs,
}

/// What remembers the states seen.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreKind {
    /// Exact and compressed; the default.
    Tree,
    /// 64 bits per state; may take two states for one, which is very unlikely.
    Hash,
    /// A few bits per state; for models that do not fit otherwise.
    Bitstate,
}

/// How many of the states on which a proof rests are audited.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditExtent {
    /// None.
    Off,
    /// Some, in about a twentieth of the time of the search.
    Sample,
    /// All.
    Full,
}

impl From<AuditExtent> for Audit {
    fn from(extent: AuditExtent) -> Self {
        match extent {
            AuditExtent::Off => Self::Off,
            AuditExtent::Sample => Self::Sample,
            AuditExtent::Full => Self::Full,
        }
    }
}

/// How much is done to find parts of proved formulas that the model never needs.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum VacuityWish {
    /// Nothing.
    Off,
    /// As much as takes little time.
    Quick,
    /// All that the limits allow.
    Full,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColorWhen {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Question {
    /// Whether these names and kinds of properties choose a formula of the command line.
    pub fn checks_formulas<'a>(&self, mut chosen: impl Iterator<Item = &'a str>) -> bool {
        let names: Vec<String> = (0..self.ltl.len()).map(formula_name).collect();
        chosen.any(|name| name == PropertyClass::Ltl.as_str() || names.iter().any(|known| known == name))
    }

    /// Refuses formulas that would not be checked.
    ///
    /// # Errors
    /// Why they are refused.
    pub fn check_formulas(&self) -> Result<(), String> {
        let mut chosen = self.property.iter().map(String::as_str);
        match (self.ltl.first(), self.property.first()) {
            (Some(formula), Some(property)) if !self.checks_formulas(&mut chosen) => Err(format!(
                "--ltl '{formula}' is not checked, because of --property {property}\n\
                 help: choose the formula as well, with --property formula, or leave one of the two flags out"
            )),
            _ => Ok(()),
        }
    }
}

impl ColorWhen {
    /// Standard output, coloured or not.
    pub fn stdout(self) -> AutoStream<Stdout> {
        let out = std::io::stdout();
        let choice = match self {
            Self::Auto => AutoStream::choice(&out),
            Self::Always => ColorChoice::AlwaysAnsi,
            Self::Never => ColorChoice::Never,
        };
        AutoStream::new(out, choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_of_flags_is_consistent() {
        Cli::command().debug_assert();
    }
}
