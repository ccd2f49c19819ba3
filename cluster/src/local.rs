//! Workers that are processes of this machine.

use crate::pool::{Process, Started, WORKERS_MAX, is_loss, run};
use crate::sockets::{hand_over, mesh};
use crate::worker::NO_MEMORY;
use fabius_supervise::STACK_BYTES;
use fabius_task::pool::{Observe, Part, PoolCheckpoints, PoolOutcome, WorkerPool};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// What is started as a worker; it has to call [`crate::worker::serve`].
#[derive(Clone)]
pub struct Program {
    program: PathBuf,
    args: Vec<String>,
}

impl Program {
    /// A program with these arguments.
    pub fn new(program: PathBuf, args: &[&str]) -> Self {
        Self { program, args: args.iter().map(|arg| (*arg).to_owned()).collect() }
    }
}

/// Starts a worker, and hands it a socket to each other one; the process, and the socket that leads to it.
pub(crate) fn spawn(program: &Program, args: &[&str], sockets: &[UnixStream]) -> io::Result<(Child, UnixStream)> {
    let (here, there) = UnixStream::pair()?;
    let mut process = Command::new(&program.program)
        .args(&program.args)
        .args(args)
        // Who interrupts the search at a terminal interrupts whoever started this, who says so and ends it.
        .process_group(0)
        // A model may nest deeply.
        .env("RUST_MIN_STACK", STACK_BYTES.to_string())
        .stdin(Stdio::from(OwnedFd::from(there)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    match hand_over(&here, &sockets.iter().collect::<Vec<_>>()) {
        // It will turn out that it is gone.
        Err(error) if !is_loss(&error) => {
            end(&mut process);
            Err(error)
        }
        _ => Ok((process, here)),
    }
}

/// Ends a process that may have ended already.
pub(crate) fn kill(process: &mut Child) {
    let _ = process.kill();
}

/// Ends a process, and waits for it.
pub(crate) fn end(process: &mut Child) {
    kill(process);
    let _ = process.wait();
}

/// How a process ended: a verb and more.
pub(crate) fn how_ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (None, Some(code)) if code == i32::from(NO_MEMORY) => "ended: the system gave no more memory".to_owned(),
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Workers that are processes of this machine.
pub struct LocalPool {
    program: Program,
}

impl LocalPool {
    /// Workers are started with this program.
    pub fn new(program: Program) -> Self {
        Self { program }
    }

    fn start(&self, processes: usize) -> io::Result<Vec<Started>> {
        let worker = |sockets: Vec<Option<UnixStream>>| {
            let sockets: Vec<UnixStream> = sockets.into_iter().flatten().collect();
            let (process, control) = spawn(&self.program, &[], &sockets)?;
            Ok(Started { process: Box::new(Local(process)), control, memory_bytes_max: None })
        };
        mesh(processes)?.into_iter().map(worker).collect()
    }
}

impl WorkerPool for LocalPool {
    fn search(
        &self,
        part: &Part,
        processes: usize,
        checkpoints: PoolCheckpoints<'_>,
        observe: &mut Observe<'_>,
    ) -> PoolOutcome {
        if WORKERS_MAX < processes {
            return PoolOutcome::NotStarted(format!("more than {WORKERS_MAX} are not supported"));
        }
        match self.start(processes) {
            Ok(started) => run(started, part, checkpoints, observe),
            Err(error) => PoolOutcome::NotStarted(error.to_string()),
        }
    }
}

/// A worker on this machine; it does not outlive this.
struct Local(Child);

impl Drop for Local {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

impl Process for Local {
    fn name(&self) -> String {
        format!("process {}", self.0.id())
    }

    fn host(&self) -> Option<String> {
        None
    }

    fn kill(&mut self) {
        kill(&mut self.0);
    }

    fn wait(&mut self) {
        let _ = self.0.wait();
    }

    fn how_gone(&mut self) -> String {
        self.0.wait().map_or_else(|_| "ended".to_owned(), how_ended)
    }

    fn how_alone(&self) -> Option<String> {
        None
    }
}
