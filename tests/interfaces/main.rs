//! The interfaces in which a person works: the editor's server, the debug adapter and the terminal explorer, each the real binary.

mod debugger;
mod editor;
mod explorer;
