//! The editor that opened the explorer: each of them shows where the other one is.
//!
//! The editor listens on a socket and says where it is in the variable [`VARIABLE`] (only on Unix). Both sides write JSON, a line for each
//! thing that they say. The explorer: `{"line": 12, "step": 5, "run": true}`, the line that is marked in its source, the step that led to the
//! state that it shows, and whether that is a state of the run that it was opened with. The editor: `{"step": 5}`, a step of that run.

use crate::message::Message;
use crate::model::Model;
use std::path::Path;
use std::sync::mpsc::Sender;

/// The name of the variable of the environment that says where the editor listens.
pub const VARIABLE: &str = "FABIUS_EDITOR_SOCKET";

/// What the explorer shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The line that is marked in the source, from 1.
    pub line: usize,
    /// The number of the step that led to the state; 0 for the initial state.
    pub step: usize,
    /// It is a state of the run that the editor shows, too.
    pub on_run: bool,
}

impl Shown {
    /// What is shown now; nothing if there is no walk.
    pub fn of(model: &Model) -> Option<Self> {
        let walk = &model.session.as_ref()?.walk;
        let on_run = model.linked.as_ref().is_some_and(|run| run.contains(&walk.here()));
        let line = model.cursors[crate::model::Panel::Source.index()].at + 1;
        Some(Self { line, step: walk.number(walk.here()), on_run })
    }

    fn json(self) -> String {
        let Self { line, step, on_run } = self;
        format!("{{\"line\":{line},\"step\":{step},\"run\":{on_run}}}\n")
    }
}

/// The connection to the editor.
#[derive(Debug)]
pub struct EditorLink {
    #[cfg(unix)]
    stream: std::os::unix::net::UnixStream,
    /// What the editor knows.
    known: Option<Shown>,
}

#[cfg(unix)]
mod unix {
    use super::{EditorLink, Message, Model, Path, Sender, Shown};
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::thread;
    use std::time::Duration;

    /// An editor that does not read is left alone after so long.
    const PATIENCE: Duration = Duration::from_millis(200);
    /// Nothing that an editor says is longer, in bytes.
    const LINE_MAX: u64 = 1 << 12;

    impl EditorLink {
        /// Connects to the editor; what it says becomes messages. Nothing if it does not listen.
        pub fn open(socket: &Path, send: &Sender<Message>) -> Option<Self> {
            let stream = UnixStream::connect(socket).ok()?;
            stream.set_write_timeout(Some(PATIENCE)).ok()?;
            let (said, send) = (stream.try_clone().ok()?, send.clone());
            let listen = move || listen(said, &send);
            thread::Builder::new().name("editor".to_owned()).spawn(listen).ok()?;
            Some(Self { stream, known: None })
        }

        /// Tells the editor what is shown, if it does not know; false once it does not listen any more.
        pub fn tell(&mut self, model: &mut Model) -> bool {
            let shown = Shown::of(model);
            if model
                .told_to_show
                .take()
                .is_some_and(|step| shown.is_some_and(|shown| shown.on_run && shown.step == step))
            {
                self.known = shown;
            }
            if shown == self.known {
                return true;
            }
            self.known = shown;
            shown.is_none_or(|shown| self.stream.write_all(shown.json().as_bytes()).is_ok())
        }
    }

    fn listen(said: UnixStream, send: &Sender<Message>) {
        let mut lines = BufReader::new(said);
        loop {
            let mut line = Vec::new();
            match lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut line) {
                Ok(_) if line.last() == Some(&b'\n') => {}
                _ => return,
            }
            let said: serde_json::Value = serde_json::from_slice(&line).unwrap_or_default();
            if let Some(step) = said["step"].as_u64().and_then(|step| usize::try_from(step).ok())
                && send.send(Message::ShowStep(step)).is_err()
            {
                return;
            }
        }
    }
}

#[cfg(not(unix))]
impl EditorLink {
    /// Only Unix has such sockets.
    pub fn open(_socket: &Path, _send: &Sender<Message>) -> Option<Self> {
        None
    }

    /// There is no editor.
    pub fn tell(&mut self, _model: &mut Model) -> bool {
        self.known.is_some()
    }
}
