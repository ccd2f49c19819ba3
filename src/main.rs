//! `fabius`, the command line: flags to engine, events to output, verdict to exit code.
//!
//! Nothing in here computes a verdict; the engine does, and this shows what it says.

mod args;
mod asked;
mod causes;
mod check;
mod checkpoint;
mod contexts;
mod cost;
mod delays;
mod diagram;
mod diff;
mod early;
mod examples;
mod executions;
mod exit;
mod explain;
mod explore;
mod exported;
mod find;
mod formats;
mod graph;
mod init;
mod itf;
mod merge;
mod mutate;
mod output;
mod pin;
mod processes;
mod progress;
mod render;
mod reporter;
mod schedule;
mod silent;
mod so_far;
mod stop;
#[cfg(test)]
mod strategies;
mod stuck;
mod sweep;
mod tour;
mod trail;
mod watch;
mod worker;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use fabius_supervise::STACK_BYTES;
use fabius_supervise::memory::{self, Duties, Guarded};
use std::process::ExitCode;
use std::thread;

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = output::unless_closed(error.print());
            return ExitCode::from(if error.use_stderr() { exit::FAULTY } else { output::code(printed) });
        }
    };
    if let Command::Check(args) = &cli.command
        && args.sweep.sweep.is_empty()
    {
        // It has a thread of its own for each file.
        return ExitCode::from(check::run(args));
    }
    guard_memory(matches!(cli.command, Command::Explore(_)));
    let work = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || run(cli));
    let code = work.map_or(exit::INTERNAL, |work| work.join().unwrap_or(exit::INTERNAL));
    ExitCode::from(code)
}

/// When memory runs out, all work stops, and whoever shows it goes on; if that does not help, the program ends and says why.
fn guard_memory(on_terminal: bool) {
    let last_word = move || {
        if on_terminal {
            fabius_tui::give_back();
        }
        output::complain("fabius: the system gave no more memory");
        exit::UNDECIDED
    };
    let (stop, over) = (Box::new(fabius_supervise::work::exhaust_all), Box::new(fabius_supervise::work::is_idle));
    memory::guard(memory::available_bytes(), Duties { stop, over, last_word: Box::new(last_word) });
    memory::start_guardian();
}

fn run(cli: Cli) -> u8 {
    match cli.command {
        Command::Check(args) if !args.sweep.sweep.is_empty() => sweep::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Executions(args) => executions::run(&args),
        Command::Schedule(args) => schedule::run(&args),
        Command::Contexts(args) => contexts::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Mutate(args) => mutate::run(&args),
        Command::Stuck(args) => stuck::run(&args),
        Command::Find(args) => find::run(&args),
        Command::Causes(args) => causes::run(&args),
        Command::Cost(args) => cost::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Pin(args) => pin::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Lsp(_) => fabius_lsp::server::serve(explain::PAGE),
        Command::Dap => fabius_dap::serve(),
        Command::Mcp => fabius_mcp::serve(explain::section),
        Command::Worker(args) => worker::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Explain { code } => explain::run(code.as_deref()),
        Command::Diff(args) => diff::run(&args),
        Command::Init { folder } => init::run(&folder),
        Command::Examples { write, tour: true, .. } => tour::run(write),
        Command::Examples { name, write, .. } => examples::run(name.as_deref(), write),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fabius", &mut script);
            output::print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            match manual(&mut page) {
                Ok(()) => output::print(&page),
                Err(_) => exit::INTERNAL,
            }
        }
    }
}

/// The manual page of the tool, followed by that of its main command.
fn manual(page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(page)?;
    if let Some(check) = command.find_subcommand("check") {
        let man = clap_mangen::Man::new(check.clone());
        man.render_description_section(page)?;
        man.render_options_section(page)?;
    }
    Ok(())
}
