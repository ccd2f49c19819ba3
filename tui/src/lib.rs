//! The terminal explorer: one drives through a model by hand, watches a search while it runs, and understands a
//! counterexample.
//!
//! ```text
//!          keys, mouse, signals, files, searches
//!                        │ Message
//!                        ▼
//!   Model ◀──────── update(Model, Message) ────────▶ Effect ──▶ run.rs: threads, files, terminal, editor
//!     │
//!     └──▶ view(Model) ──▶ a screen
//! ```
//!
//! * [`model`] is plain data; [`update`](mod@update) is the only place that changes it; [`view`](mod@view) draws it and does nothing else.
//! * [`keys`] is one table: keys are looked up in it, and it prints the line at the bottom, the help, and a section of
//!   `docs/explorer.md`.
//! * [`editor_link`] is the connection to the editor that opened the explorer: each shows where the other one is.
//! * [`run`](mod@run) has the threads. Searches run on threads of their own and tell what they are at ten times a second; the loop
//!   sleeps until something happens.
//!
//! Nothing in here computes a verdict: the walk is [`fabius_explore`]'s, searches are the engine's.

pub mod background_run;
pub mod comparison;
pub mod editor_link;
pub mod graph;
pub mod keys;
pub mod layout;
pub mod message;
pub mod model;
pub mod run;
pub mod session;
pub mod theme;
pub mod update;
pub mod view;
pub mod watch;

mod checkpoint;
mod terminal;
mod work;

pub use checkpoint::misfit;
pub use editor_link::VARIABLE as EDITOR_SOCKET;
pub use model::LaunchOptions;
pub use run::{Reader, Start, run};
pub use terminal::{columns, give_back};
pub use theme::Theme;
