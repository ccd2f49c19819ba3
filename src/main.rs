//! x
mod args;
mod files;
mod render;
mod stop;
fn main() {}
