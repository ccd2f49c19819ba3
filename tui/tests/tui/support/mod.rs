//! The explorer without a terminal: keys in, screens out, and what is to be done outside done at once.

use fabius_base::Cancel;
use fabius_engine::{Boundary, CheckContext, Controls, Event, Loaded, Settings, check, load};
use fabius_project::originals::Originals;
use fabius_tui::message::{Effect, Message};
use fabius_tui::model::Model;
use fabius_tui::update::update;
use fabius_tui::view::view;
use fabius_tui::{LaunchOptions, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Somebody at the keyboard.
pub struct Player {
    pub model: Model,
    pub effects: Vec<Effect>,
    /// Where checks do not go on.
    boundary: Option<Boundary>,
}

fn read(text: &str, settings: &Settings) -> Arc<Loaded> {
    Arc::new(load("model.pml", text.to_owned(), &[], &mut |_, _| None, settings))
}

impl Player {
    /// Opens a model, with nothing checked.
    pub fn open(text: &str, size: (u16, u16)) -> Self {
        Self::with(text, size, Settings::default(), Theme::default())
    }

    pub fn with(text: &str, size: (u16, u16), settings: Settings, theme: Theme) -> Self {
        let loaded = read(text, &settings);
        let launch = LaunchOptions { path: PathBuf::from("model.pml"), settings, ..LaunchOptions::default() };
        let mut player = Self { model: Model::new(launch, theme, size), effects: Vec::new(), boundary: None };
        let originals = Originals::of(&loaded.map);
        player.send(Message::Loaded(loaded, originals));
        player
    }

    /// The model was written.
    pub fn write(&mut self, text: &str) {
        let loaded = read(text, &self.model.launch.settings);
        let originals = Originals::of(&loaded.map);
        self.send(Message::Loaded(loaded, originals));
    }

    pub fn send(&mut self, message: Message) {
        let effects = update(&mut self.model, message);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        let cancel = Cancel::new();
        let controls = Controls::new();
        let mut events = Vec::new();
        controls.ask(true);
        self.boundary.iter().for_each(|boundary| assert!(controls.boundary().adopt(boundary)));
        let mut observe = |event: Event| events.push(event);
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: Some(&controls) };
        let settings = self.model.launch.settings.clone();
        let done = match effect {
            Effect::Check { work, properties, resume } => {
                let loaded = self.model.loaded.clone().expect("a model was read");
                let mut settings = self.model.launch.asking(properties);
                let (send, kept) = mpsc::channel();
                settings.checkpoint_files.resume = resume;
                let is_saved = settings.delaying.is_some() || self.model.launch.checkpoint.is_some();
                if is_saved && !settings.keep_going {
                    let save = move |bytes: &[u8]| send.send(bytes.into()).is_ok();
                    settings.checkpoint_files.save = Some(Arc::new(save));
                }
                let outcome = check(&loaded, &settings, &mut context);
                kept.try_iter().for_each(|bytes| self.send(Message::Kept(work, bytes)));
                Message::Checked(work, Box::new(outcome))
            }
            Effect::Search(work, request) => Message::Searched(work, Box::new(request.run(&settings, &mut context))),
            Effect::Seek(work, search) => {
                Message::Found(work, search.which(), Box::new(search.run(&settings, &mut context)))
            }
            Effect::LocalStateGraph(number, charting) => {
                Message::Charted(number, Box::new(charting.run(&settings.limits, false, &|| false)))
            }
            Effect::Schedule(number, search) => Message::Scheduled(number, Box::new(Ok(search.run(&cancel)))),
            Effect::RunRequest(number, background_run) => {
                Message::Ran(number, Box::new(Ok(background_run.run(&cancel, &mut |_| {}))))
            }
            Effect::LeaveOut(boundary) => return self.boundary = boundary,
            other => return self.effects.push(other),
        };
        let work = self.model.work;
        for event in events {
            self.send(Message::Event(work, Box::new(event)));
        }
        self.send(done);
    }

    /// Presses keys, separated by blanks; a word in quotes is typed letter by letter.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ').filter(|key| !key.is_empty()) {
            if let Some(text) = key.strip_prefix('"') {
                text.chars().for_each(|c| self.key(KeyCode::Char(c), KeyModifiers::NONE));
                continue;
            }
            let (code, modifiers) = match key {
                "enter" => (KeyCode::Enter, KeyModifiers::NONE),
                "esc" => (KeyCode::Esc, KeyModifiers::NONE),
                "tab" => (KeyCode::Tab, KeyModifiers::NONE),
                "up" => (KeyCode::Up, KeyModifiers::NONE),
                "down" => (KeyCode::Down, KeyModifiers::NONE),
                "pgdn" => (KeyCode::PageDown, KeyModifiers::NONE),
                "end" => (KeyCode::End, KeyModifiers::NONE),
                "home" => (KeyCode::Home, KeyModifiers::NONE),
                "backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
                "space" => (KeyCode::Char(' '), KeyModifiers::NONE),
                "f2" => (KeyCode::F(2), KeyModifiers::NONE),
                key => match key.strip_prefix("ctrl-") {
                    Some(letter) => (KeyCode::Char(letter.chars().next().expect("a letter")), KeyModifiers::CONTROL),
                    None => (KeyCode::Char(key.chars().next().expect("a key")), KeyModifiers::NONE),
                },
            };
            self.key(code, modifiers);
        }
        self
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.send(Message::Key(KeyEvent::new(code, modifiers)));
    }

    /// What is said, which has these words in it.
    pub fn said(&self, words: &str) -> &str {
        let said = self.model.status_line.text.as_str();
        assert!(said.contains(words), "no {words}: {said}");
        said
    }

    /// The screen with its styles.
    pub fn buffer(&self) -> Buffer {
        let (width, height) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test backend never fails");
        terminal.draw(|frame| view(&self.model, frame)).expect("a test backend never fails");
        terminal.backend().buffer().clone()
    }

    /// The screen as text.
    pub fn screen(&self) -> String {
        let (width, height) = self.model.size;
        let buffer = self.buffer();
        let row = |y: u16| -> String {
            let line: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
            line.trim_end().to_owned()
        };
        (0..height).map(row).collect::<Vec<_>>().join("\n")
    }
}
