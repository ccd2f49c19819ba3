//! What the whole-tool tests share: [Spin](spin) as oracle, [the tool](tool) as a person runs it, the
//! [corpus](corpus) and the [book](book) of the semantics, the [comparison](compare) of two answers,
//! and [models made at random](generate) that are [made smaller](shrink) when they disagree.
//!
//! The tool is run as a program, and judged by what it prints. Only the [referee], which compares the two
//! interpreters with each other, the [product], which answers questions about cycles by brute force, and [partitions] on threads link
//! parts of it.

pub mod book;
pub mod compare;
pub mod corpus;
pub mod explained;
pub mod framing;
pub mod generate;
pub mod measure;
pub mod models;
pub mod mutate;
pub mod page;
pub mod parallel;
pub mod partitions;
pub mod piped;
pub mod product;
pub mod referee;
pub mod run;
pub mod shrink;
pub mod sketch;
pub mod spin;
pub mod tool;

pub use fabius_needs::{command, scratch};
use std::fmt;
use std::path::{Path, PathBuf};

/// The kinds of violation on which the tool and Spin must agree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A failed `assert`.
    Assertion,
    /// Nothing can move, and not every process is where it may stop.
    InvalidEndState,
    /// Anything that goes wrong while a statement is computed.
    Evaluation,
    /// A send or a receive that an event trace does not allow.
    Trace,
}

impl Kind {
    /// The word used in the book and in the tool's JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::InvalidEndState => "invalid_end_state",
            Self::Evaluation => "evaluation",
            Self::Trace => "trace",
        }
    }

    /// The kind with this name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Assertion, Self::InvalidEndState, Self::Evaluation, Self::Trace]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
