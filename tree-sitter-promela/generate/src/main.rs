//! Makes src/parser.c and its companions out of grammar.js, which Node.js evaluates: `cargo run` in this folder.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use tree_sitter_generate::{OptLevel, generate_parser_in_directory};

/// The version of the parse tables: 14 is the latest that all editors of the last years read.
const ABI: usize = 14;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut notes = Vec::new();
    let (out, grammar) = (None::<&str>, None::<&str>);
    let made = generate_parser_in_directory(
        &folder,
        out,
        grammar,
        ABI,
        None,
        Some("node"),
        true,
        OptLevel::default(),
        &mut notes,
    )
    .map_err(|error| error.to_string())
    .and_then(|()| fs::read(folder.join("grammar.js")).map_err(|error| error.to_string()))
    .and_then(|text| fs::write(folder.join("src/grammar.digest"), digest(&text)).map_err(|error| error.to_string()));
    for note in notes {
        eprintln!("{note:?}");
    }
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// FNV-1a: it tells a forgotten run of this program, and nobody wants to forge it.
fn digest(text: &[u8]) -> String {
    let hash = text
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}\n")
}
