//! `fabius worker`: takes part in the searches of other machines.

use crate::args::parse_size;
use clap::Args;
use std::path::PathBuf;

const HELP: &str = "\
A machine that takes part in a search waits for it with this command; `fabius check --hosts FILE` on another machine sends the model and
collects what is found. Whoever connects has to prove that he has the same key, and what is sent is encrypted. One search at a time is
served, by a process for each partition that the file of hosts names.

  fabius worker --make-key search.key            once; copy the file to all machines
  fabius worker --listen 10.0.0.2 --key search.key

Without a key, only a loopback address is listened to.";

// The flags of `fabius worker`.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct Worker {
    /// Wait for searches at this address, such as 10.0.0.2 or 10.0.0.2:7411 (port 7411 if there is none). With port 0 the system
    /// chooses one.
    #[arg(long, value_name = "ADDRESS", required_unless_present_any = ["make_key", "memory_each"])]
    pub listen: Option<String>,

    /// The key that all machines of a search have: a file that only its owner can read.
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub key: Option<PathBuf>,

    /// At most N processes search (default: one for each processor).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), requires = "listen")]
    pub processes: Option<u16>,

    /// Memory limit, such as 800M or 64G, of all processes together (default: three quarters of the memory available).
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "listen")]
    pub max_memory: Option<u64>,

    /// Write a new random key to a file, and end.
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub make_key: Option<PathBuf>,

    /// Search for the process that started this one, with so many bytes of memory; 0 is no limit.
    #[arg(long, hide = true, value_name = "BYTES", conflicts_with_all = ["listen", "make_key"])]
    pub memory_each: Option<u64>,
}

#[cfg(unix)]
mod unix {
    use super::Worker;
    use crate::{exit, output};
    use fabius_cluster::remote::{Key, Server, Terms, with_port};
    use fabius_cluster::{Program, worker};
    use fabius_supervise::memory;
    use std::io::{self, Write};

    /// Does what the flags say; returns the exit code.
    pub fn run(args: &Worker) -> u8 {
        if let Some(bytes) = args.memory_each {
            return worker::serve(Some(bytes).filter(|bytes| *bytes != 0)).unwrap_or_else(|error| {
                output::complain(&format!("error: workers are started by `fabius check --processes`: {error}"));
                exit::FAULTY
            });
        }
        let done = match (&args.make_key, &args.listen) {
            (Some(path), _) => Key::make(path),
            (None, Some(address)) => listen(args, address),
            (None, None) => Err("expected --listen ADDRESS or --make-key FILE".to_owned()),
        };
        match done {
            Ok(()) => 0,
            Err(why) => {
                output::complain(&format!("error: {why}"));
                exit::FAULTY
            }
        }
    }

    /// Waits for searches, until the process is ended.
    fn listen(args: &Worker, address: &str) -> Result<(), String> {
        let key = args.key.as_deref().map(Key::read).transpose()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let processes_max = args.processes.map_or(cores, usize::from);
        let memory_bytes = args.max_memory.unwrap_or_else(memory::default_bytes);
        let terms = Terms { key, processes_max, memory_bytes_max: (memory_bytes / processes_max as u64).max(1) };
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let program = Program::new(program, &["worker"]);
        let server = Server::listen(&with_port(address)?, program, terms, Box::new(say))?;
        let address = server.address().map_err(|error| error.to_string())?;
        let so_many = if processes_max == 1 { "1 process".to_owned() } else { format!("{processes_max} processes") };
        say(&format!("listening at {address}, for at most {so_many}"));
        server.serve()
    }

    /// Says what happens; if nobody reads that, the work goes on.
    fn say(sentence: &str) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{sentence}").and_then(|()| out.flush());
    }
}

#[cfg(unix)]
pub use unix::run;

/// Says that it cannot be done.
#[cfg(not(unix))]
pub fn run(_: &Worker) -> u8 {
    crate::output::complain("error: `fabius worker` is not supported on this system: it needs sockets of Unix");
    crate::exit::FAULTY
}
