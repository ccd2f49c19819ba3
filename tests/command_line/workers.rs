//! Worker processes, as the system lists them.

use std::fs;
use std::process::Command;

/// The processes that another one started and that run the tool as workers.
pub fn workers(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("processes");
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| is_worker_of(*id, parent)).collect()
}

fn is_worker_of(id: u32, parent: u32) -> bool {
    let status = read(id, "status");
    let is_child = status.lines().any(|line| line.split_whitespace().eq(["PPid:", &parent.to_string()]));
    is_child && is_worker(id)
}

/// Whether a worker has begun to work, after it has asked the system to end it with whoever started it: beside the threads in which any command
/// runs, it then has one that listens and one that tells that it is alive.
pub fn has_begun(id: &u32) -> bool {
    let threads =
        read(*id, "status").lines().find_map(|line| line.strip_prefix("Threads:")?.trim().parse::<u32>().ok());
    threads > Some(3)
}

/// Whether a process with this number runs the tool as a worker.
fn is_worker(id: u32) -> bool {
    read(id, "cmdline").split('\0').nth(1) == Some("worker")
}

fn read(id: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default()
}

/// Whether none of these workers is left; if one of the numbers is in use, it is by somebody else.
pub fn are_gone(workers: &[u32]) -> bool {
    !workers.iter().any(|id| is_worker(*id))
}

/// The group of a process: those that a terminal interrupts together.
pub fn group(id: u32) -> Option<String> {
    let status = read(id, "stat");
    status.rsplit_once(')')?.1.split_whitespace().nth(2).map(str::to_owned)
}

/// Sends a signal to a process, if it is there.
pub fn signal(name: &str, id: u32) {
    // Whether it is still there is not known.
    let _ = Command::new("kill").args([name, &id.to_string()]).output().expect("kill runs");
}
