//! The loop: what happens outside becomes messages, what is to be done outside is done, the screen is drawn at most
//! thirty times a second, and not at all while nothing happens.

use crate::editor_link::EditorLink;
use crate::message::{Effect, Message};
use crate::model::{LaunchOptions, Model};
use crate::terminal::{self, Guard};
use crate::theme::Theme;
use crate::update::update;
use crate::view::view;
use crate::work::{Checkpoints, Work};
use fabius_base::Cancel;
use fabius_engine::Loaded;
use fabius_project::checkpoints;
use ratatui::crossterm::event::{self, Event};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The name of threads that search; a panic in one is told on the screen.
pub(crate) const SEARCH_THREAD: &str = "search";
/// At most thirty pictures a second.
const FRAME: Duration = Duration::from_millis(33);
/// Who reads keys looks so often whether it is to stop, for an editor or a shell.
const READ_LOOK: Duration = Duration::from_millis(200);

/// A search that is stopped at the end has this long to write its last checkpoint.
const LAST_CHECKPOINT_MAX: Duration = Duration::from_secs(10);

/// Reads the model.
pub type Reader = Arc<dyn Fn(&Cancel) -> Loaded + Send + Sync>;

/// What the explorer is started with.
pub struct Start {
    /// What a person asked for.
    pub launch: LaunchOptions,
    /// Reads the model, now and whenever its file is written.
    pub read: Reader,
    /// How it is drawn.
    pub theme: Theme,
    /// The mouse is taken.
    pub mouse: bool,
    /// Where the editor listens that opens the explorer.
    pub editor: Option<PathBuf>,
    /// Only for tests: panic when this key is pressed.
    pub panic_key: Option<char>,
}

/// Runs the explorer until somebody quits.
///
/// # Errors
/// If there is no terminal.
pub fn run(start: Start) -> io::Result<()> {
    terminal::hook_panics();
    let (send, receive) = mpsc::channel();
    let input = Input::default();
    let mut screen = terminal::take(start.mouse)?;
    let guard = Guard;
    let size = screen.size()?;
    let mut model = Model::new(start.launch, start.theme, (size.width, size.height));
    model.mouse = start.mouse;
    // The first picture comes before anything is read.
    terminal::draw(&mut screen, |frame| view(&model, frame))?;
    listen_to_signals(&send)?;
    input.listen(&send, start.panic_key);
    let files = watch_file(&model.launch.path, &send);
    let editor = start.editor.as_deref().and_then(|socket| EditorLink::open(socket, &send));
    let mut outside = Outside { send: send.clone(), read: start.read, work: Work::new(send), input, editor };
    outside.load();
    let ended = pictures(&mut model, &mut screen, &receive, &mut outside);
    outside.work.cancel();
    drop(files);
    drop(guard);
    if model.launch.checkpoint.is_some() && model.watch.running {
        wait_for_last_checkpoint(&receive, model.work);
    }
    ended
}

/// Waits until the search that was stopped has written where it stood.
fn wait_for_last_checkpoint(receive: &Receiver<Message>, work: u64) {
    let began = Instant::now();
    while let Ok(message) = receive.recv_timeout(LAST_CHECKPOINT_MAX.saturating_sub(began.elapsed())) {
        match message {
            Message::Checked(number, _) | Message::Crashed(number, _) if number == work => return,
            Message::CheckpointNotWritten(path, why) => {
                eprintln!("warning: cannot write the checkpoint {}: {why}", path.display());
            }
            _ => {}
        }
    }
}

fn pictures(
    model: &mut Model,
    screen: &mut terminal::Screen,
    receive: &Receiver<Message>,
    outside: &mut Outside,
) -> io::Result<()> {
    let mut drawn = Instant::now();
    loop {
        let Ok(message) = receive.recv() else { return Ok(()) };
        let mut effects = update(model, message);
        // Whatever else is there is taken into account, too, until the next picture is due.
        loop {
            for effect in effects.drain(..) {
                outside.perform(model, screen, effect)?;
            }
            if model.quits {
                return Ok(());
            }
            let due = FRAME.saturating_sub(drawn.elapsed());
            let next = if due.is_zero() {
                receive.try_recv().map_err(|_| RecvTimeoutError::Timeout)
            } else {
                receive.recv_timeout(due)
            };
            match next {
                Ok(message) => effects = update(model, message),
                Err(_) => break,
            }
            if drawn.elapsed() > FRAME * 2 {
                for effect in effects.drain(..) {
                    outside.perform(model, screen, effect)?;
                }
                break;
            }
        }
        if model.quits {
            return Ok(());
        }
        // The terminal may have another size already, before anything says so.
        let size = screen.size()?;
        if model.size != (size.width, size.height) {
            for effect in update(model, Message::Resized(size.width, size.height)) {
                outside.perform(model, screen, effect)?;
            }
        }
        terminal::draw(screen, |frame| view(model, frame))?;
        drawn = Instant::now();
        if outside.editor.as_mut().is_some_and(|editor| !editor.tell(model)) {
            outside.editor = None;
        }
    }
}

/// Who does what is to be done outside.
struct Outside {
    send: Sender<Message>,
    read: Reader,
    work: Work,
    input: Input,
    /// The editor that opened the explorer.
    editor: Option<EditorLink>,
}

impl Outside {
    fn perform(&mut self, model: &mut Model, screen: &mut terminal::Screen, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Quit => self.work.cancel(),
            Effect::Suspend => self.away(model, screen, suspend)?,
            Effect::Load => self.load(),
            Effect::Check { work, properties, resume } => {
                if let Some(loaded) = &model.loaded {
                    let file = model.launch.checkpoint.clone();
                    self.work.check(
                        work,
                        Arc::clone(loaded),
                        model.launch.asking(properties),
                        Checkpoints { resume, file },
                    );
                }
            }
            Effect::Search(number, request) => self.work.search(number, *request, model.launch.settings.clone()),
            Effect::Seek(number, search) => self.work.seek(number, *search, model.launch.settings.clone()),
            Effect::LocalStateGraph(number, charting) => self.work.chart(number, *charting, &model.launch.settings),
            Effect::Schedule(number, search) => self.work.schedule(number, *search, &model.launch.settings),
            Effect::RunRequest(number, background_run) => self.work.background_run(number, *background_run),
            Effect::StopRide => self.work.stop_ride(),
            Effect::Cancel => self.work.cancel(),
            Effect::Pause(paused) => self.work.controls().pause(paused),
            Effect::Raise { memory_bytes_max, states_max, delays } => {
                let limits = fabius_base::Limits { memory_bytes_max, states_max, ..model.launch.settings.limits };
                self.work.controls().set_limits(limits);
                self.work.controls().raise_bound(delays);
            }
            Effect::LeaveOut(boundary) => self.work.leave_out(boundary),
            Effect::BoundDepth(max) => self.work.controls().bound_depth(max),
            Effect::VisitFirst(condition) => self.work.visit_first(condition),
            Effect::AskForPath => self.work.controls().ask(true),
            Effect::Mouse(taken) => terminal::mouse(taken)?,
            Effect::Read(path) => {
                let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
                let _ = self.send.send(Message::Read(path, text));
            }
            Effect::Write(path, text) => {
                let written = std::fs::write(&path, text).map_err(|error| error.to_string());
                let _ = self.send.send(Message::Written(path, written));
            }
            Effect::SaveSearch(search) => {
                let saved = checkpoints::save(&search.path, &search.bytes, search.may_replace);
                let _ = self.send.send(Message::SearchSaved(search, saved));
            }
            Effect::ReadSearch(path) => {
                let bytes = checkpoints::read(&path).map_err(|error| error.to_string());
                let _ = self.send.send(Message::SearchRead(path, bytes));
            }
            Effect::Edit(path, line) => {
                let send = self.send.clone();
                self.away(model, screen, || {
                    let _ = send.send(Message::Edited(edit(&path, line)));
                })?;
            }
        }
        Ok(())
    }

    fn load(&mut self) {
        self.work.read(Arc::clone(&self.read));
    }

    /// Gives the terminal back, does something, and takes it again.
    fn away(&self, model: &mut Model, screen: &mut terminal::Screen, act: impl FnOnce()) -> io::Result<()> {
        self.input.pause(true);
        terminal::give_back();
        act();
        *screen = terminal::take(model.mouse)?;
        self.input.pause(false);
        let size = screen.size()?;
        model.size = (size.width, size.height);
        let _ = self.send.send(Message::Continued);
        Ok(())
    }
}

/// Stops until the shell lets the program go on.
fn suspend() {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}

/// Opens the editor at a line, and waits until it is closed.
fn edit(path: &Path, line: u32) -> Result<(), String> {
    let wanted = std::env::var("VISUAL").or_else(|_| std::env::var("EDITOR")).unwrap_or_else(|_| "vi".to_owned());
    let mut words = wanted.split_whitespace();
    let Some(program) = words.next() else { return Err("$EDITOR is empty".to_owned()) };
    let name = Path::new(program).file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut command = Command::new(program);
    command.args(words);
    match name.as_str() {
        "hx" | "helix" | "zed" | "subl" => command.arg(format!("{}:{line}", path.display())),
        "code" | "codium" => command.arg("--wait").arg("--goto").arg(format!("{}:{line}", path.display())),
        _ => command.arg(format!("+{line}")).arg(path),
    };
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("{program} cannot be started: {error}")),
    }
}

/// Who reads keys and the mouse.
#[derive(Clone, Default)]
struct Input(Arc<(Mutex<Reading>, Condvar)>);

#[derive(Clone, Copy, Default)]
struct Reading {
    /// Nothing is to be read.
    paused: bool,
    /// Nothing is being read.
    rests: bool,
}

impl Input {
    /// Stops reading, so that somebody else can read, or goes on. Returns once it is so.
    fn pause(&self, paused: bool) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.paused = paused;
        changed.notify_all();
        while paused && !state.rests {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits while nothing is to be read.
    fn rest(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.paused {
            state.rests = true;
            changed.notify_all();
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.rests = false;
    }

    /// Reads on a thread of its own.
    fn listen(&self, send: &Sender<Message>, panic_key: Option<char>) {
        let (input, send) = (self.clone(), send.clone());
        thread::spawn(move || {
            loop {
                input.rest();
                let message = match event::poll(READ_LOOK) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                let message = match message {
                    Ok(Event::Key(key)) => {
                        assert!(
                            panic_key.is_none() || key.code != event::KeyCode::Char(panic_key.unwrap_or_default()),
                            "asked to panic, for a test"
                        );
                        Message::Key(key)
                    }
                    Ok(Event::Mouse(mouse)) if matches!(mouse.kind, event::MouseEventKind::Moved) => continue,
                    Ok(Event::Mouse(mouse)) => Message::Mouse(mouse),
                    Ok(Event::Paste(text)) => Message::Pasted(text),
                    Ok(Event::Resize(width, height)) => Message::Resized(width, height),
                    Ok(Event::FocusGained | Event::FocusLost) => continue,
                    Err(_) => Message::Terminate,
                };
                let last = matches!(message, Message::Terminate);
                if send.send(message).is_err() || last {
                    return;
                }
            }
        });
    }
}

/// Being asked to end, by whatever means, is a message.
fn listen_to_signals(send: &Sender<Message>) -> io::Result<()> {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let send = send.clone();
        thread::spawn(move || {
            for _ in signals.forever() {
                if send.send(Message::Terminate).is_err() {
                    return;
                }
            }
        });
    }
    Ok(())
}

/// Says when the file of the model was written. Without a watcher nobody says so, and everything else works.
fn watch_file(path: &Path, send: &Sender<Message>) -> Option<notify::RecommendedWatcher> {
    use notify::Watcher;
    let path = std::fs::canonicalize(path).ok()?;
    let folder = path.parent()?.to_owned();
    let (send, read) = (send.clone(), Mutex::new(contents(&path)));
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        // Events are only hints: whether anything is different is seen by looking.
        let now = contents(&path);
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        if now.as_ref().is_some_and(|text| !text.is_empty()) && now != *read {
            *read = now;
            let _ = send.send(Message::FileChanged);
        }
    })
    .ok()?;
    // Editors replace files; the folder stays.
    watcher.watch(&folder, notify::RecursiveMode::NonRecursive).ok()?;
    Some(watcher)
}

fn contents(path: &PathBuf) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}
