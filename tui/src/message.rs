//! What the outside tells the explorer, and what it asks of the outside.

use crate::background_run::RunRequest;
use fabius_analysis::LocalStateGraph;
use fabius_engine::{Boundary, Event, Loaded, Outcome};
use fabius_explore::{
    Alternative, AlternativeSearch, Exploration, GraphRequest, LocalAnswer, OtherRun, ScheduleFound, ScheduleSearch,
    Stop,
};
use fabius_project::checkpoints::NotSaved;
use fabius_project::originals::Originals;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use std::path::PathBuf;
use std::sync::Arc;

/// Something happened outside.
#[derive(Debug)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was moved or pressed.
    Mouse(MouseEvent),
    /// Text was pasted.
    Pasted(String),
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// The model was read, with the texts from which it was generated.
    Loaded(Arc<Loaded>, Originals),
    /// A search tells something; the number is that of the work.
    Event(u64, Box<Event>),
    /// A check is over.
    Checked(u64, Box<Outcome>),
    /// A check can be resumed from this checkpoint, which takes the place of the one before; the number is that of the work.
    Kept(u64, Arc<[u8]>),
    /// The file that was to hold each checkpoint cannot be written, and why.
    CheckpointNotWritten(PathBuf, String),
    /// A search was saved to a file, or not.
    SearchSaved(Box<SavedSearch>, Result<(), NotSaved>),
    /// The file of a search to resume was read, or not.
    SearchRead(PathBuf, Result<Arc<[u8]>, String>),
    /// A search from a state is over.
    Searched(u64, Box<Result<LocalAnswer, String>>),
    /// A search for another run to the error is over; which one was wanted.
    Found(u64, Alternative, Box<Result<OtherRun, String>>),
    /// A chart of what is ahead is drawn; its number.
    Charted(u64, Box<Result<LocalStateGraph, String>>),
    /// The search for a schedule is over; its number.
    Scheduled(u64, Box<Result<ScheduleFound, String>>),
    /// A run has gone this many steps; the number is that of the run.
    Rides(u64, usize),
    /// A run is over: where it led and why it ended, or why it came to nothing.
    Ran(u64, Box<Result<(Exploration, Stop), String>>),
    /// A search failed.
    Crashed(u64, String),
    /// The file of the model was written.
    FileChanged,
    /// The text of a file that was asked for.
    Read(PathBuf, Result<String, String>),
    /// A file was written, or not.
    Written(PathBuf, Result<(), String>),
    /// The editor was closed.
    Edited(Result<(), String>),
    /// The editor that opened the explorer shows this step of the run.
    ShowStep(usize),
    /// Somebody wants the program to end.
    Terminate,
    /// The program was suspended, and goes on.
    Continued,
}

/// A search that is saved to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavedSearch {
    /// The file.
    pub path: PathBuf,
    /// The checkpoint.
    pub bytes: Arc<[u8]>,
    /// What of it is saved, in words.
    pub what: &'static str,
    /// Another checkpoint of this name may be replaced.
    pub may_replace: bool,
}

/// Something is to be done outside.
#[derive(Debug)]
pub enum Effect {
    /// End.
    Quit,
    /// Stop until the shell lets it go on.
    Suspend,
    /// Read the model again.
    Load,
    /// Check properties.
    Check {
        /// The number of the work.
        work: u64,
        /// These; empty for those that were asked for.
        properties: Vec<String>,
        /// The checkpoint to resume from, with its name.
        resume: Option<(String, Arc<[u8]>)>,
    },
    /// Search from a state.
    Search(u64, Box<fabius_explore::SearchRequest>),
    /// Look for another run to the error.
    Seek(u64, Box<AlternativeSearch>),
    /// Draw a chart of what is ahead, with this number.
    LocalStateGraph(u64, Box<GraphRequest>),
    /// Look for a schedule under which the model is safe, with this number.
    Schedule(u64, Box<ScheduleSearch>),
    /// Run; the number is that of the run.
    RunRequest(u64, Box<RunRequest>),
    /// Stop the run.
    StopRide,
    /// Stop what runs.
    Cancel,
    /// Halt what runs, or let it go on.
    Pause(bool),
    /// Allow what runs more.
    Raise {
        /// Memory in bytes.
        memory_bytes_max: Option<u64>,
        /// States.
        states_max: Option<u64>,
        /// Delays.
        delays: u32,
    },
    /// Checks do not go on from these states, if any: the one that runs, unless it has a boundary, and those that begin.
    LeaveOut(Option<Boundary>),
    /// The search that runs cuts off runs after this many steps; nothing: it does not.
    BoundDepth(Option<u64>),
    /// Searches visit the states in which a condition is true before others: the one that runs, and those that begin.
    VisitFirst(Option<String>),
    /// Ask what runs for its whole path.
    AskForPath,
    /// Take the mouse, or let it go.
    Mouse(bool),
    /// Read a file.
    Read(PathBuf),
    /// Write a file.
    Write(PathBuf, String),
    /// Save a search to a file.
    SaveSearch(Box<SavedSearch>),
    /// Read the file of a search to resume.
    ReadSearch(PathBuf),
    /// Open the editor.
    Edit(PathBuf, u32),
}
