//! The flags that say which processes search, here or on other machines.

use clap::Args;
#[cfg(unix)]
use fabius_cluster::remote::{HostPool, Key, read_hosts};
#[cfg(unix)]
use fabius_cluster::{LocalPool, Program, WORKERS_MAX};
use fabius_engine::pool::Processes;
#[cfg(unix)]
use fabius_engine::pool::WorkerPool;
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::Arc;

// Who searches.
#[derive(Args, Debug, Clone)]
pub struct ProcessFlags {
    /// Number of worker processes on this machine, each with a part of the visited set: breadth-first search or, with
    /// --delay, by number of delays for violations of safety, maximal accepting predecessors for infinite runs (Unix only).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "How to check")]
    pub processes: u16,

    /// Search on other machines, which wait for it with `fabius worker --listen`, instead: a file with a line such as `10.0.0.2:7411
    /// processes=4` for each (Unix only). Their limits on memory are their own.
    #[arg(long, value_name = "FILE", conflicts_with = "processes", help_heading = "How to check")]
    pub hosts: Option<PathBuf>,

    /// The key that these machines have, as `fabius worker --make-key` wrote it.
    #[arg(long, value_name = "FILE", requires = "hosts", help_heading = "How to check")]
    pub key: Option<PathBuf>,
}

impl ProcessFlags {
    /// Whether others search than this process.
    pub fn search(&self) -> bool {
        1 < self.processes || self.hosts.is_some()
    }

    /// Several processes of this program, if so many are asked for.
    pub fn local(&self) -> Processes {
        #[cfg(unix)]
        let pool = std::env::current_exe().ok().map(|program| -> Arc<dyn WorkerPool> {
            Arc::new(LocalPool::new(Program::new(program, &["worker", "--memory-each=0"])))
        });
        #[cfg(not(unix))]
        let pool = None;
        Processes { count: self.processes.into(), pool, elsewhere: None }
    }

    /// All that are asked for; those of other machines may use this much memory together.
    ///
    /// # Errors
    /// Why they cannot be asked, in a sentence.
    #[cfg(unix)]
    pub fn all(&self, max_memory: Option<u64>) -> Result<Processes, String> {
        let Some(path) = &self.hosts else { return Ok(self.local()) };
        let key = self.key.as_deref().map(Key::read).transpose()?;
        let pool = HostPool::new(read_hosts(path)?, key);
        let count = pool.processes();
        if WORKERS_MAX < count {
            return Err(format!("{} names {count} processes; at most {WORKERS_MAX} are supported", path.display()));
        }
        Ok(Processes { count, pool: Some(Arc::new(pool)), elsewhere: Some(max_memory) })
    }

    /// Says that no others can be asked.
    ///
    /// # Errors
    /// If others are asked for.
    #[cfg(not(unix))]
    pub fn all(&self, _: Option<u64>) -> Result<Processes, String> {
        match self.search() {
            true => {
                Err("--processes and --hosts are not supported on this system: they need sockets of Unix".to_owned())
            }
            false => Ok(self.local()),
        }
    }
}
