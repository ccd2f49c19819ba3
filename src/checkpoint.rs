//! The flags that keep a search in the order of delays or of depth, or by several processes, in a file, and the file.

use clap::Args;
use fabius_engine::settings::{CheckpointFiles, CheckpointPaths, Save};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

// The flags that keep a search.
#[derive(Args, Debug, Clone, Default)]
pub struct CheckpointFlags {
    /// Write a checkpoint of the search to this file, after each round and at its end; with --processes or --hosts now and then, at the end of a
    /// layer.
    #[arg(long, value_name = "FILE", help_heading = "Delays")]
    pub checkpoint: Option<PathBuf>,

    /// Resume from a checkpoint; may be combined with --checkpoint, also for the same file.
    #[arg(long, value_name = "FILE", help_heading = "Delays")]
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
            try_out(path).map_err(|error| {
                format!(
                    "cannot write the checkpoint {}: {error}\nhelp: name a file in a writable folder",
                    path.display()
                )
            })?;
        }
        let paths = CheckpointPaths { resume: self.resume.clone(), save: self.checkpoint.clone() };
        Ok(CheckpointFiles { resume, save: self.checkpoint.clone().map(saved), paths })
    }
}

/// Writes checkpoints to a file.
fn saved(path: PathBuf) -> Arc<Save> {
    Arc::new(move |bytes: &[u8]| {
        if let Err(error) = replace(&path, bytes) {
            let _ = writeln!(anstream::stderr(), "warning: cannot write the checkpoint {}: {error}", path.display());
        }
    })
}

/// Finds out before the work whether its checkpoint can be written afterwards.
fn try_out(path: &Path) -> std::io::Result<()> {
    // A checkpoint takes the place of what is there: a device or a pipe would be gone.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        let what = if path.is_dir() { "is a directory" } else { "is not an ordinary file" };
        return Err(std::io::Error::other(what));
    }
    let beside = beside(path);
    std::fs::File::create(&beside).and_then(|_| std::fs::remove_file(&beside))
}

/// The file that becomes the checkpoint once it is complete.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

/// Replaces a file in one step: whoever reads it finds the old one or the new one, never half of one.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = beside(path);
    let write = || {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&beside)))
}
