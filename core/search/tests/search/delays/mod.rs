//! Searches in the order of delays, compared with their definitions on thousands of small random programs.
//! A failure names the seed of its program.

mod bounds;
mod checkpoints;
mod choices;
mod cycles;
mod depths;
mod partitions;
mod programs;
mod resumed;
mod samples;
mod seals;
mod truth;
