//! The real binary in the folder of the project, on files and on texts.

use super::schema::Schemas;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::process::{Command, Stdio};

/// Runs it.
pub fn run(args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env("FABIUS_CACHE", "off").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    Run::from(command.output().expect("the binary runs"))
}

/// Runs a subcommand on a text.
pub fn on(subcommand: &str, text: &str, args: &[&str]) -> Run {
    let scratch = Scratch::new().expect("a folder can be made");
    let path = scratch.file("model.pml", text);
    run(&[&[subcommand, path.as_str()], args].concat())
}

/// What it printed, as the schema with this name says.
pub fn json(run: &Run, schema: &str) -> Value {
    let document: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out));
    let errors = Schemas::read().errors(schema, &document);
    assert!(errors.is_empty(), "{errors:?}");
    document
}
