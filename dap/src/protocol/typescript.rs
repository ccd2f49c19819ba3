//! The types of those of our own messages that the VS Code extension uses.

use super::own::{FalsePart, HeldProcesses, HoldParams, JumpParams, Place, Position};
use std::path::Path;
use ts_rs::{Config, TS};

const HEAD: &str = "\
// Generated from the types in dap/src/protocol/own.rs; do not edit. After a change of those:
// FABIUS_GENERATE=1 cargo test -p fabius-dap typescript
";

const TABLES: &str = "
/** The arguments and answers of the debugger's own requests, by command. */
export interface DebuggerRequests {
  \"fabius/jump\": { arguments: JumpParams; answer: Position };
  \"fabius/hold\": { arguments: HoldParams; answer: HeldProcesses };
}

/** The bodies of the debugger's own events, by name. */
export interface DebuggerEvents {
  \"fabius/at\": Place;
}
";

/// The declaration of a type.
fn declaration<T: TS>() -> String {
    // Numbers are at most as large as steps are many, which a double holds exactly.
    let config = Config::new().with_large_int("number");
    let lines = format!("{}export {}", T::docs().unwrap_or_default(), T::decl(&config));
    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
    format!("\n{}\n", lines.join("\n"))
}

#[test]
fn typescript_types_are_those_of_the_adapter() {
    let declarations = [
        declaration::<Place>(),
        declaration::<FalsePart>(),
        declaration::<JumpParams>(),
        declaration::<Position>(),
        declaration::<HoldParams>(),
        declaration::<HeldProcesses>(),
    ];
    let text = format!("{HEAD}{}{TABLES}", declarations.concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vscode-extension/src/debugMessages.ts");
    if std::env::var_os("FABIUS_GENERATE").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "{} is not up to date: run this test with FABIUS_GENERATE=1", path.display());
}
