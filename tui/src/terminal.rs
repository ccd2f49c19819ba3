//! The terminal: taken, given back, whatever happens.

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use std::io::{self, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The terminal is ours at present.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Who writes to the terminal: a picture is either whole before the terminal is given back, or not drawn at all.
static WRITING: Mutex<()> = Mutex::new(());

/// A terminal that is drawn on.
pub(crate) type Screen = Terminal<CrosstermBackend<Stdout>>;

/// Takes the terminal.
///
/// # Errors
/// If there is none.
pub(crate) fn take(mouse: bool) -> io::Result<Screen> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    // Not `Terminal::clear`: that asks where the cursor is, and not every terminal answers.
    execute!(out, EnterAlternateScreen, Clear(ClearType::All), EnableBracketedPaste, Hide)?;
    if mouse {
        execute!(out, EnableMouseCapture)?;
    }
    Terminal::new(CrosstermBackend::new(out))
}

/// Draws a picture, if the terminal is still ours.
///
/// # Errors
/// If the terminal cannot be written to.
pub(crate) fn draw(screen: &mut Screen, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    if TAKEN.load(Ordering::SeqCst) {
        screen.draw(picture)?;
    }
    Ok(())
}

/// Takes the mouse, or lets it go.
pub(crate) fn mouse(taken: bool) -> io::Result<()> {
    if taken { execute!(io::stdout(), EnableMouseCapture) } else { execute!(io::stdout(), DisableMouseCapture) }
}

/// Gives the terminal back as it was; nothing happens if it is not ours.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        // Whatever fails here, the rest is tried all the same.
        let _ = execute!(out, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        let _ = out.flush();
    }
}

/// Gives the terminal back when it is dropped.
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// How many columns the terminal has; `None` if there is no terminal that says so.
pub fn columns() -> Option<u16> {
    ratatui::crossterm::terminal::size().ok().map(|(columns, _)| columns).filter(|columns| *columns > 0)
}

/// The exit code of a program that is wrong itself.
const EXIT_INTERNAL: i32 = 4;

/// A panic of any thread but those of searches, which is told on the screen, gives the terminal back before it tells of
/// itself, and ends the program: without its other threads the explorer is no use.
pub(crate) fn hook_panics() {
    let old = panic::take_hook();
    let explorer = std::thread::current().id();
    panic::set_hook(Box::new(move |info| {
        let thread = std::thread::current();
        if thread.name() == Some(crate::run::SEARCH_THREAD) {
            return;
        }
        if thread.id() == explorer {
            give_back();
            old(info);
        } else {
            // Until the end nothing more is drawn.
            let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
            give_back();
            old(info);
            std::process::exit(EXIT_INTERNAL);
        }
    }));
}
