//! The terminal: taken, given back, whatever happens.

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use std::io::{self, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

/// The terminal is ours at present.
static TAKEN: AtomicBool = AtomicBool::new(false);

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
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, Hide)?;
    if mouse {
        execute!(out, EnableMouseCapture)?;
    }
    let mut screen = Terminal::new(CrosstermBackend::new(out))?;
    screen.clear()?;
    Ok(screen)
}

/// Takes the mouse, or lets it go.
pub(crate) fn mouse(taken: bool) -> io::Result<()> {
    if taken { execute!(io::stdout(), EnableMouseCapture) } else { execute!(io::stdout(), DisableMouseCapture) }
}

/// Gives the terminal back as it was; nothing happens if it is not ours.
pub(crate) fn give_back() {
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
        give_back();
        old(info);
        if thread.id() != explorer {
            std::process::exit(EXIT_INTERNAL);
        }
    }));
}
