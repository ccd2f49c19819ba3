//! The searches against the definitions of what they look for, on graphs whose answers are known.

mod cycles;
mod delays;
mod depth_first;
mod oracle;
mod resumed;
mod stores;
