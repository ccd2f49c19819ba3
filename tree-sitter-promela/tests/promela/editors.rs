//! The grammar in a real editor.

use crate::common::folder;
use fabius_needs::Need;
use std::path::Path;
use std::process::Command;

/// The parser as a library that an editor loads.
fn library(into: &Path) -> std::path::PathBuf {
    let library = into.join("promela.so");
    let sources = ["src/parser.c", "src/scanner.c"].map(|source| folder().join(source));
    let mut compiler = Command::new("gcc");
    compiler.args(["-shared", "-fPIC", "-O1", "-I"]).arg(folder().join("src")).arg("-o").arg(&library).args(sources);
    let status = compiler.status().expect("gcc starts");
    assert!(status.success(), "gcc refuses the parser");
    library
}

#[test]
fn neovim_reads_a_model_and_its_queries() {
    if !(Need::Neovim.met() && Need::Gcc.met()) {
        return;
    }
    let into = std::env::temp_dir().join(format!("fabius-grammar-{}", std::process::id()));
    std::fs::create_dir_all(&into).expect("a folder for the library can be made");
    let mut neovim = Command::new("nvim");
    neovim.args(["--headless", "--clean", "-n", "-S"]).arg(folder().join("test/neovim.lua"));
    neovim.env("LIBRARY", library(&into)).env("QUERIES", folder().join("queries"));
    neovim.env("MODEL", folder().join("test/every_construct.pml"));
    let output = neovim.output().expect("Neovim starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    std::fs::remove_dir_all(&into).expect("the folder can be removed");
    assert!(output.status.success(), "{said}");
    assert!(said.contains("colours: "), "Neovim did not come to the end: {said}");
}
