//! The language server as an editor meets it: the real binary over standard input and output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

#[path = "editor/client.rs"]
mod client;
#[path = "editor/conversation.rs"]
mod conversation;
#[path = "editor/damage.rs"]
mod damage;
#[path = "editor/fairness.rs"]
mod fairness;
#[path = "editor/features.rs"]
mod features;
#[path = "editor/latency.rs"]
mod latency;
#[path = "editor/models.rs"]
mod models;
#[path = "editor/neovim.rs"]
mod neovim;
#[path = "editor/session.rs"]
mod session;
#[path = "editor/settings.rs"]
mod settings;
#[path = "editor/verdicts.rs"]
mod verdicts;
#[path = "editor/waits.rs"]
#[expect(dead_code, reason = "how long it took is for the bench")]
mod waits;

use models::{ENDLESS, FAILING, MENDED, uri};
