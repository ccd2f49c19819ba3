//! A terminal without anybody in front of it: a pseudo-terminal, and a model of what it would show.
//!
//! It answers no question (where the cursor is, what kind of terminal it is), as some real ones do not. Nothing in
//! here sleeps: whoever wants to see something waits until it is there, or fails after a long time with the screen.

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use vt100::{MouseProtocolMode, Parser};

/// Who waits longer than this waits in vain.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is shown, and whether more will come.
struct Shown {
    parser: Parser,
    ended: bool,
}

type Shared = Arc<(Mutex<Shown>, Condvar)>;

/// A terminal with a program in it.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    shared: Shared,
    /// The settings of the line before the program ran.
    line_before: String,
}

impl Terminal {
    /// Runs a program in a terminal of this many columns and rows.
    pub fn open(program: &Path, args: &[&str], env: &[(&str, &str)], (columns, rows): (u16, u16)) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("there are pseudo-terminals");
        let line_before = line(pair.master.as_ref());
        let mut command = CommandBuilder::new(program);
        command.args(args);
        for name in ["NO_COLOR", "VISUAL", "EDITOR", "ENV"] {
            command.env_remove(name);
        }
        for (name, value) in [("TERM", "xterm-256color"), ("FABIUS_CACHE", "off")].iter().chain(env) {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let writer = pair.master.take_writer().expect("the terminal can be written to");
        let parser = Parser::new(rows.max(1), columns.max(1), 0);
        let shared: Shared = Arc::new((Mutex::new(Shown { parser, ended: false }), Condvar::new()));
        let shown = Arc::clone(&shared);
        thread::spawn(move || read(reader, &shown));
        Self { master: pair.master, writer, child, shared, line_before }
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).and_then(|()| self.writer.flush()).expect("the terminal takes keys");
    }

    /// Makes it so large.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        lock(&self.shared).parser.screen_mut().set_size(rows, columns);
        self.master.resize(size(columns, rows)).expect("a terminal can be resized");
    }

    /// Waits until the screen is as wanted, and returns what it shows.
    #[track_caller]
    pub fn until(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) -> String {
        let (_, changed) = &*self.shared;
        let began = Instant::now();
        let mut shown = lock(&self.shared);
        loop {
            let screen = shown.parser.screen();
            if wanted(screen) {
                return text(screen);
            }
            let late = PATIENCE.saturating_sub(began.elapsed());
            assert!(!late.is_zero() && !shown.ended, "{what}: it never came. The screen:\n{}", text(screen));
            shown = changed.wait_timeout(shown, late).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the screen says something, and returns all that it says.
    #[track_caller]
    pub fn says(&self, words: &str) -> String {
        self.until(words, |screen| text(screen).contains(words))
    }

    /// Waits until the program has ended and everything it wrote was read; how it ended.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        let (_, changed) = &*self.shared;
        let mut shown = lock(&self.shared);
        let began = Instant::now();
        while !shown.ended {
            let late = PATIENCE.saturating_sub(began.elapsed());
            assert!(!late.is_zero(), "it never ended. The screen:\n{}", shown.parser.screen().contents());
            shown = changed.wait_timeout(shown, late).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(shown);
        self.child.wait().expect("it can be waited for")
    }

    /// What the screen shows now.
    pub fn contents(&self) -> String {
        lock(&self.shared).parser.screen().contents()
    }

    /// What is left of the explorer in a terminal that is somebody else's again; empty if nothing.
    pub fn left_behind(&self) -> Vec<&'static str> {
        let shown = lock(&self.shared);
        let screen = shown.parser.screen();
        let signs = [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.hide_cursor(), "a hidden cursor"),
            (screen.bracketed_paste(), "bracketed paste"),
            (screen.mouse_protocol_mode() != MouseProtocolMode::None, "the mouse"),
            (line(self.master.as_ref()) != self.line_before, "raw mode"),
        ];
        signs.into_iter().filter(|(is_there, _)| *is_there).map(|(_, what)| what).collect()
    }

    /// The number of the process.
    pub fn process_id(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    /// Sends a signal to the program: `TERM`, `HUP`, …
    pub fn signal(&self, name: &str) {
        let id = self.process_id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill runs");
        assert!(sent.success(), "kill -{name} {id}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nobody is left behind when a test fails.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// What a screen shows, without blanks at the ends of lines.
pub fn text(screen: &vt100::Screen) -> String {
    screen.contents().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// The settings of the line: raw mode and all the rest.
fn line(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios())
}

fn lock(shared: &Shared) -> MutexGuard<'_, Shown> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads what the program writes as soon as it does, so that it never waits for us.
fn read(mut reader: Box<dyn Read + Send>, shared: &Shared) {
    let mut bytes = [0; 4096];
    loop {
        let count = reader.read(&mut bytes).unwrap_or(0);
        let mut shown = lock(shared);
        match count {
            0 => shown.ended = true,
            count => shown.parser.process(&bytes[..count]),
        }
        shared.1.notify_all();
        if shown.ended {
            return;
        }
    }
}
