//! `fabius`, the command line: flags to engine, events to output, verdict to exit code.
//!
//! Nothing in here computes a verdict; the engine does, and this shows what it says.

mod args;
mod check;
mod checkpoint;
mod delays;
mod exit;
mod explore;
mod face;
mod files;
mod progress;
mod render;
mod stop;
mod trail;
mod watch;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::io::Write;
use std::process::ExitCode;
use std::thread;

/// Stack of the thread that works: a model may nest deeply before a limit is reached.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(exit::FAULTY) } else { ExitCode::SUCCESS };
        }
    };
    let work = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || run(cli));
    let code = work.map_or(exit::INTERNAL, |work| work.join().unwrap_or(exit::INTERNAL));
    ExitCode::from(code)
}

fn run(cli: Cli) -> u8 {
    match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Lsp(_) => fabius_lsp::server::serve(),
        Command::Dap => fabius_dap::serve(files::read),
        Command::Watch(args) => watch::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fabius", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            match manual(&mut page) {
                Ok(()) => print(&page),
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

/// Writes to standard output; a reader that has gone away is no error.
fn print(bytes: &[u8]) -> u8 {
    let _ = std::io::stdout().write_all(bytes);
    0
}
