//! Models on the disk, as every user interface reads them: files and what they include, macros, the file `fabius.toml` of a
//! project, and verdicts that are remembered.
//!
//! * [`files`]: text on the disk, where an included file is to be found, and by what a Promela file is known.
//! * [`defines`]: macros from flags, settings and projects.
//! * [`config`]: what `fabius.toml` says; [`Project`] is what of it counts for a model beside the flags.
//! * [`cache`]: what long searches decided.
//! * [`checkpoints`]: searches that are saved, and resumed later.
//! * [`originals`]: the files from which a model was generated.

pub mod cache;
pub mod checkpoints;
pub mod config;
pub mod defines;
pub mod files;
pub mod originals;

mod project;

pub use project::{Flags, Project, for_debugger};
