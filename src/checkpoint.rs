//! The flags that keep a search in a file, depth-first, in the order of delays or of depth, or by several processes, and the file.

use clap::Args;
use fabius_engine::settings::{CheckpointFiles, CheckpointPaths, Save};
use fabius_project::checkpoints::{replace, try_out};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

// The flags that keep a search.
#[derive(Args, Debug, Clone, Default)]
pub struct CheckpointFlags {
    /// Write a checkpoint of the search to this file, every few minutes or, with --delay or --depth-bound, after each round, and at its end; with
    /// --processes or --hosts now and then, at the end of a layer.
    #[arg(long, value_name = "FILE", help_heading = "Limits")]
    pub checkpoint: Option<PathBuf>,

    /// Resume from a checkpoint; may be combined with --checkpoint, also for the same file.
    #[arg(long, value_name = "FILE", help_heading = "Limits")]
    pub resume: Option<PathBuf>,
}

impl CheckpointFlags {
    /// Refuses one file for the searches of several models.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn check_flags(&self, models: usize) -> Result<(), String> {
        match [("--checkpoint", &self.checkpoint), ("--resume", &self.resume)]
            .into_iter()
            .find(|(_, file)| file.is_some())
        {
            Some((flag, _)) if 1 < models => Err(format!("{flag} is about one search, and several models are checked")),
            _ => Ok(()),
        }
    }

    /// What is kept, and what to go on from.
    ///
    /// # Errors
    /// A sentence that says why the file to go on from cannot be read, or the one to keep the search in cannot be written.
    pub fn checkpoint_files(&self) -> Result<CheckpointFiles, String> {
        let read = |path: &PathBuf| {
            let name = path.display().to_string();
            let bytes = std::fs::read(path).map_err(|error| format!("cannot resume from {name}: {error}"))?;
            Ok::<_, String>((name, bytes.into()))
        };
        let resume = self.resume.as_ref().map(read).transpose()?;
        if let Some(path) = &self.checkpoint {
            check_writable(path)?;
        }
        let paths = CheckpointPaths { resume: self.resume.clone(), save: self.checkpoint.clone() };
        Ok(CheckpointFiles { resume, save: self.checkpoint.clone().map(saved), paths })
    }
}

/// Writes checkpoints to a file.
fn saved(path: PathBuf) -> Arc<Save> {
    Arc::new(move |bytes: &[u8]| match replace(&path, bytes) {
        Ok(()) => true,
        Err(error) => {
            let _ = writeln!(anstream::stderr(), "warning: cannot write the checkpoint {}: {error}", path.display());
            false
        }
    })
}

/// Refuses a file that could not be written at the end of a search.
///
/// # Errors
/// A sentence that says why it cannot be written.
pub fn check_writable(path: &Path) -> Result<(), String> {
    let help = "help: name another file, in a writable folder";
    try_out(path).map_err(|error| format!("cannot write the checkpoint {}: {error}\n{help}", path.display()))
}
