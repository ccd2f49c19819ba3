//! How the program is linked.
//!
//! Linux moves a program to a new address each time it begins, and then writes to each page of it that holds an address: a fifth of the
//! time that a check of a small model takes (`docs/benchmarks.md`). So it is linked for one address there; libraries, stacks and the heap
//! are moved all the same. With `FABIUS_PIE=1` it is linked as others are.

fn main() {
    println!("cargo::rerun-if-env-changed=FABIUS_PIE");
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(key).unwrap_or_default();
    let is_gnu_linux = target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_gnu_linux && std::env::var_os("FABIUS_PIE").is_none() {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
