//! What tests need besides Rust: other programs, [Spin](spin) above all, [run](command) in [folders](scratch) of their own, and the
//! corpus of real models. A test that lacks something says so in one way, so that `./test` can count and name at its end what was
//! skipped, and so that a skip can be forbidden.
//!
//! * `FABIUS_SKIPPED` names a file to which each skip adds a line.
//! * `FABIUS_REQUIRE` lists, separated by commas, what must not be missing (`spin,cc,corpus`); a test that lacks it fails.
//! * `FABIUS_CORPUS` says where the corpus is; otherwise it is looked for beside the workspace.

pub mod command;
pub mod ltsmin;
pub mod scratch;
pub mod spin;

use std::fmt::{self, Display};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something that a test may need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Spin, the oracle.
    Spin,
    /// A C compiler for Spin's verifiers: `tcc` or `gcc`.
    Cc,
    /// The compiler whose preprocessor is compared with.
    Gcc,
    /// The corpus of real models.
    Corpus,
    /// The editor in which the language server is tried.
    Neovim,
    /// To ask for the files of the project.
    Git,
    /// To make packages for Debian.
    Dpkg,
    /// Networks of their own on this machine, which only the administrator can make.
    Namespaces,
    /// A network that delays and loses what is sent.
    Netem,
}

impl Need {
    /// The word for it in `FABIUS_REQUIRE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Cc => "cc",
            Self::Gcc => "gcc",
            Self::Corpus => "corpus",
            Self::Neovim => "nvim",
            Self::Git => "git",
            Self::Dpkg => "dpkg-deb",
            Self::Namespaces => "netns",
            Self::Netem => "netem",
        }
    }

    /// Whether it is here.
    fn is_here(self) -> bool {
        match self {
            Self::Spin => answers("spin", "-V"),
            Self::Cc => answers("tcc", "-v") || answers("gcc", "--version"),
            Self::Gcc => answers("gcc", "--version"),
            Self::Corpus => corpus_folder().join("manifest.jsonl").is_file(),
            Self::Neovim => answers("nvim", "--version"),
            Self::Git => answers("git", "--version"),
            Self::Dpkg => answers("dpkg-deb", "--version"),
            Self::Namespaces => answers("ip", "-V"),
            Self::Netem => answers("tc", "-V"),
        }
    }

    /// Whether it is here; if not, the test is skipped.
    ///
    /// # Panics
    /// If it is missing and required.
    pub fn met(self) -> bool {
        let here = self.is_here();
        if !here {
            skipped(self, "not found");
        }
        here
    }
}

impl Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Says that the present test, or a part of it, is skipped.
///
/// # Panics
/// If what is missing is required.
pub fn skipped(missing: Need, why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let required = std::env::var("FABIUS_REQUIRE").unwrap_or_default();
    assert!(!requires(&required, missing), "`{missing}` is required by FABIUS_REQUIRE: {why}");
    println!("skipped, `{missing}` is missing: {why}");
    if let Some(file) = std::env::var_os("FABIUS_SKIPPED") {
        let line = format!("{test}: `{missing}` is missing: {why}\n");
        let written = std::fs::File::options()
            .append(true)
            .create(true)
            .open(file)
            .and_then(|mut f| f.write_all(line.as_bytes()));
        written.expect("the file named by FABIUS_SKIPPED can be written");
    }
}

/// Whether a list separated by commas has it.
fn requires(list: &str, need: Need) -> bool {
    list.split(',').any(|word| word.trim() == need.as_str())
}

/// Where the corpus should be.
pub fn corpus_folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::var_os("FABIUS_CORPUS").map_or_else(|| here.join("../../../shared/corpus"), PathBuf::from)
}

/// Where the corpus is; if it is missing, the test is skipped.
///
/// # Panics
/// If it is missing and required.
pub fn corpus() -> Option<PathBuf> {
    Need::Corpus.met().then(corpus_folder)
}

/// Whether a program can be started.
pub fn answers(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_requires_what_it_names() {
        assert!(requires("spin,corpus", Need::Spin) && requires("spin, corpus", Need::Corpus));
        assert!(!requires("spin,corpus", Need::Git) && !requires("", Need::Spin) && !requires("spinning", Need::Spin));
    }
}
