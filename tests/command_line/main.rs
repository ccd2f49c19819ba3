//! The command line: the real binary, on files.

mod causes;
mod checkpoints;
mod checkpoints_depth_first;
mod cli;
mod contexts;
mod cost;
mod damaged_inputs;
mod docs;
mod executions;
mod find;
mod flags;
mod graph;
mod hostile;
#[cfg(target_os = "linux")]
mod hosts;
mod integrations;
mod known_violations;
mod limits;
mod mcp;
mod merge;
mod mutate;
mod pictures;
mod pin;
#[cfg(unix)]
mod processes;
#[cfg(target_os = "linux")]
mod processes_resumed;
mod release;
mod ribbon;
mod runs;
mod schema;
mod stuck;
mod sweep;
mod tool;
mod watch;
#[cfg(target_os = "linux")]
mod workers;
