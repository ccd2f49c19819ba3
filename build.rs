//! How the program is linked.
//!
//! Linux moves a program to a new address each time it begins, and then writes to each page of it that holds an address: a fifth of the
//! time that a check of a small model takes (`docs/benchmarks.md`). So it is linked for one address there; libraries, stacks and the heap
//! are moved all the same. With `FABIUS_PIE=1` it is linked as others are.
//!
//! What unwinds the stack after a panic is linked into it, where the compiler brings it along: its shared library asks the processor what
//! it can do each time it is loaded, which a virtual machine answers slowly (a twelfth of the time of such a check).

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=FABIUS_PIE");
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(key).unwrap_or_default();
    let is_gnu_linux = target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_gnu_linux && std::env::var_os("FABIUS_PIE").is_none() {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    if is_gnu_linux && linker_has("libgcc_eh.a") {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Whether the compiler that links knows where this library is.
fn linker_has(library: &str) -> bool {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let asked = Command::new(linker).arg(format!("-print-file-name={library}")).output();
    // It repeats the name if it does not know.
    asked.is_ok_and(|told| Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_absolute())
}
