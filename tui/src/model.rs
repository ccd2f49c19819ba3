//! All that the screen shows: plain data. [`crate::update`] changes it, [`crate::view`] draws it.

use crate::comparison::Comparison;
use crate::graph::GraphView;
use crate::message::Message;
use crate::session::Session;
use crate::theme::Theme;
use crate::watch::Watch;
use fabius_engine::settings::Settings;
use fabius_engine::{Counterexample, Loaded, Look, Outcome, Scheduling};
use fabius_explore::{Alternative, Path};
use fabius_project::originals::Originals;
use std::path::PathBuf;
use std::sync::Arc;

/// Which screen is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Screen {
    /// One drives.
    #[default]
    Drive,
    /// One watches the search.
    Watch,
}

/// A panel of the driving screen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Panel {
    /// The text.
    Source,
    /// The run.
    Trace,
    /// The processes.
    Processes,
    /// What can be done next.
    #[default]
    Choices,
    /// Variables and channels.
    Variables,
}

impl Panel {
    /// All, in the order of the tab key.
    pub const ALL: [Self; 5] = [Self::Choices, Self::Processes, Self::Variables, Self::Trace, Self::Source];

    /// The panel after this one, or before it.
    pub fn next(self, back: bool) -> Self {
        let at = Self::ALL.iter().position(|panel| *panel == self).unwrap_or(0);
        Self::ALL[(at + if back { Self::ALL.len() - 1 } else { 1 }) % Self::ALL.len()]
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Source => "Source",
            Self::Trace => "Run",
            Self::Processes => "Processes",
            Self::Choices => "Next step",
            Self::Variables => "Values",
        }
    }

    /// Its place in arrays.
    pub fn index(self) -> usize {
        match self {
            Self::Source => 0,
            Self::Trace => 1,
            Self::Processes => 2,
            Self::Choices => 3,
            Self::Variables => 4,
        }
    }
}

/// How the run is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TraceTab {
    /// A lane for each process.
    #[default]
    Lanes,
    /// In sentences.
    Story,
    /// What was tried, as a tree.
    Tree,
    /// The loop.
    Ring,
    /// Where the formula holds.
    Formula,
}

impl TraceTab {
    /// Those of a run, in their order; that of its formula or claim only if it has one.
    pub fn of_run(has_claim: bool) -> &'static [Self] {
        const ALL: [TraceTab; 5] =
            [TraceTab::Lanes, TraceTab::Story, TraceTab::Tree, TraceTab::Ring, TraceTab::Formula];
        if has_claim { &ALL } else { &ALL[..4] }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Story => "story",
            Self::Tree => "tree",
            Self::Ring => "ring",
            Self::Formula => "formula",
        }
    }
}

/// The mark in a list, and how far the list is scrolled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cursor {
    /// The entry that is marked.
    pub at: usize,
    /// The first entry that is shown.
    pub top: usize,
}

impl Cursor {
    /// Moves the mark; it stays inside the list, and in sight.
    pub fn go(&mut self, to: usize, count: usize, height: usize) {
        self.at = to.min(count.saturating_sub(1));
        self.keep(count, height);
    }

    /// Where a key moves the mark that moves it in every list; a page has `rows` entries.
    pub fn moved(&self, key: Option<&str>, count: usize, rows: usize) -> Option<usize> {
        match key? {
            "up" | "k" => Some(self.at.saturating_sub(1)),
            "down" | "j" => Some(self.at + 1),
            "pgup" | "ctrl-u" => Some(self.at.saturating_sub(rows)),
            "pgdn" | "ctrl-d" => Some(self.at + rows),
            "home" | "g" => Some(0),
            "end" | "G" => Some(count),
            _ => None,
        }
    }

    /// Scrolls so that the mark is in sight.
    pub fn keep(&mut self, count: usize, height: usize) {
        let height = height.max(1);
        self.at = self.at.min(count.saturating_sub(1));
        let lowest = (self.at + 1).saturating_sub(height);
        self.top = self.top.clamp(lowest, self.at).min(count.saturating_sub(height));
    }
}

/// What lies over the screen.
#[derive(Clone, PartialEq, Debug)]
pub enum Overlay {
    /// The help, scrolled so far.
    Help(usize),
    /// A question with a line to type the answer.
    Prompt(Prompt),
    /// Something to read.
    Popup(Popup),
    /// Two runs beside one another.
    Comparison(Box<Comparison>),
    /// The state graph.
    Graph(Box<GraphView>),
}

/// A question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    /// What is asked.
    pub asks: Question,
    /// What was typed.
    pub text: String,
    /// Where in it the next letter goes, in characters.
    pub at: usize,
    /// What is wrong with it.
    pub wrong: Option<String>,
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Until which condition to run.
    Until,
    /// How many random steps.
    Random,
    /// Until which condition to hold a process.
    HoldUntil(u8),
    /// For how many steps of others to hold a process.
    Delay(u8),
    /// The name of a bookmark.
    Bookmark,
    /// Where to go.
    Jump,
    /// Where to save.
    Save,
    /// What to open.
    Open,
    /// Where to save the search.
    SaveSearch,
    /// Which search to resume.
    ResumeSearch,
    /// The text to find in the panel that is marked.
    Find,
    /// The text to find in the help.
    FindInHelp,
    /// The condition of the states from which checks are not to go on.
    LeaveOut,
    /// After how many steps checks cut off runs.
    DepthBound,
    /// The condition of the states that searches are to visit first.
    VisitFirst,
    /// The expression to watch.
    Watch,
}

/// Something to read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Popup {
    /// Its title.
    pub title: String,
    /// Its lines; where enter leads, if a line leads anywhere.
    pub lines: Vec<(String, Option<fabius_explore::NodeId>)>,
    /// Stretches of lines that are underlined: the line, and its bytes.
    pub underlined: Vec<(usize, std::ops::Range<usize>)>,
    /// The line that is marked.
    pub cursor: Cursor,
}

/// How a status line is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// For information.
    #[default]
    Plain,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
}

/// Something to say at the top.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusLine {
    /// What.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// A run that is under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackgroundRun {
    /// What it goes on for, in words.
    pub what: String,
    /// The number of the step that it started after.
    pub from: usize,
}

/// A path of a search that is kept, to step in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Frozen {
    /// What the search was at.
    pub look: Look,
    /// The step that is marked.
    pub cursor: Cursor,
    /// The walk can go there: all of the path is known.
    pub whole: bool,
    /// Somebody wants to go there as soon as it can.
    pub awaited: bool,
}

/// What a person asked for on the command line.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The file of the model.
    pub path: PathBuf,
    /// How it is to be checked.
    pub settings: Settings,
    /// A trail or a saved run to open.
    pub trail: Option<PathBuf>,
    /// Check at once.
    pub check: bool,
    /// The file that holds the last checkpoint of each check.
    pub checkpoint: Option<PathBuf>,
    /// The checkpoint to resume from at once, with its name.
    pub resume: Option<(String, Arc<[u8]>)>,
}

impl LaunchOptions {
    /// The settings for a check of these properties; of those that were asked for if there are none.
    pub fn asking(&self, properties: Vec<String>) -> Settings {
        let mut settings = self.settings.clone();
        if !properties.is_empty() {
            settings.properties = properties;
        }
        settings
    }
}

/// What a finished check left.
#[derive(Clone, Default, Debug)]
pub struct Known {
    /// The counterexamples, each with the property that it violates.
    pub examples: Vec<(String, Counterexample)>,
    /// Which of them the run is.
    pub shown: usize,
}

/// What was known of the text before the present one.
#[derive(Clone, Debug)]
pub struct Before {
    /// The model.
    pub loaded: Arc<Loaded>,
    /// The counterexamples, each with the property that it violates.
    pub examples: Vec<(String, Counterexample)>,
}

/// The text of the model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// The file.
    pub name: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// All that the screen shows.
#[derive(Debug)]
pub struct Model {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// How it is drawn.
    pub theme: Theme,
    /// What was asked for.
    pub launch: LaunchOptions,
    /// Checks do not go on from states in which this is true.
    pub leave_out: Option<String>,
    /// Searches visit states in which this is true before others.
    pub visit_first: Option<String>,
    /// Why such a condition was taken back, until the check that ignores it is over.
    pub taken_back: Option<String>,
    /// The screen that is shown.
    pub screen: Screen,
    /// The panel that keys go to.
    pub panel: Panel,
    /// It fills the screen.
    pub zoom: bool,
    /// The marks of the panels, by [`Panel::index`].
    pub cursors: [Cursor; 5],
    /// How the run is shown.
    pub tab: TraceTab,
    /// The mark in the tree of what was tried.
    pub tree_cursor: Cursor,
    /// The text that is looked for in the panel that is marked.
    pub find: Option<String>,
    /// The text that is looked for in the help.
    pub find_in_help: Option<String>,
    /// The expressions whose values are shown above the others.
    pub watches: Vec<String>,
    /// Where the run delays the scheduler is marked.
    pub marks_delays: bool,
    /// Only what changed is shown among the values.
    pub changed_only: bool,
    /// What lies over the screen.
    pub overlay: Option<Overlay>,
    /// Something to say.
    pub status_line: StatusLine,
    /// The model that was read.
    pub loaded: Option<Arc<Loaded>>,
    /// Its text.
    pub source: Source,
    /// The texts from which it was generated.
    pub originals: Originals,
    /// The walk; `None` before the model was read, and if it cannot be walked through.
    pub session: Option<Session>,
    /// The walk through an earlier text, while the present one cannot be read.
    pub aside: Option<Session>,
    /// What is known of searches.
    pub watch: Watch,
    /// The last checkpoint of the check that runs, or ran last.
    pub kept: Option<Arc<[u8]>>,
    /// The checkpoint of this name is replaced if the search is saved under this name again.
    pub replaces: Option<PathBuf>,
    /// A path that is kept.
    pub frozen: Option<Frozen>,
    /// What the last check found.
    pub known: Known,
    /// What was known when the model was written last.
    pub before: Option<Before>,
    /// The state of the tree whose run is to be shown beside another one.
    pub chosen: Option<fabius_explore::NodeId>,
    /// The states of the run that the explorer was opened with, from the initial one on, as long as the text is the same; claims' moves
    /// included.
    pub linked: Option<Vec<fabius_explore::NodeId>>,
    /// The step that the editor told to show last, until that is done.
    pub told_to_show: Option<usize>,
    /// The mouse is ours.
    pub mouse: bool,
    /// The number of the work that runs, or ran last.
    pub work: u64,
    /// The number of the last check of the model that was begun; what it found is of interest even if it was stopped.
    pub check: u64,
    /// The run that is under way.
    pub background_run: Option<BackgroundRun>,
    /// The number of the run that is under way, or was last.
    pub background_runs: u64,
    /// The number of the chart that was asked for last.
    pub charts: u64,
    /// The number of the search for a schedule that was begun last.
    pub schedules: u64,
    /// What came while a run was under way and has to wait for it.
    pub later: Vec<Message>,
    /// The other run to the error that is looked for.
    pub seeking: Option<Alternative>,
    /// The other run that is looked for next.
    pub next_other: usize,
    /// Runs whose causes are known, where one with another cause was found.
    pub with_causes: Vec<Path>,
    /// Who chooses, where a scheduler does.
    pub scheduling: Scheduling,
    /// The seed of the next random run.
    pub seed: u64,
    /// The program ends.
    pub quits: bool,
}

impl Model {
    /// Before anything was read.
    pub fn new(launch: LaunchOptions, theme: Theme, size: (u16, u16)) -> Self {
        let name = launch.path.display().to_string();
        let asked = launch.settings.delaying.clone().unwrap_or_default();
        let marks_delays = launch.settings.delaying.is_some();
        let scheduling = Scheduling { scheduler: asked.scheduler, seed: asked.seed.unwrap_or_default() };
        Self {
            size,
            theme,
            launch,
            leave_out: None,
            visit_first: None,
            taken_back: None,
            screen: Screen::Drive,
            panel: Panel::default(),
            zoom: false,
            cursors: [Cursor::default(); 5],
            tab: TraceTab::default(),
            tree_cursor: Cursor::default(),
            find: None,
            find_in_help: None,
            watches: Vec::new(),
            marks_delays,
            changed_only: false,
            overlay: None,
            status_line: StatusLine { text: "reading the model".to_owned(), tone: Tone::Plain },
            loaded: None,
            source: Source { name, lines: Vec::new() },
            originals: Originals::default(),
            session: None,
            aside: None,
            watch: Watch::default(),
            kept: None,
            replaces: None,
            frozen: None,
            known: Known::default(),
            before: None,
            chosen: None,
            linked: None,
            told_to_show: None,
            mouse: true,
            work: 0,
            check: 0,
            background_run: None,
            background_runs: 0,
            charts: 0,
            schedules: 0,
            later: Vec::new(),
            seeking: None,
            next_other: 0,
            with_causes: Vec::new(),
            scheduling,
            seed: 1,
            quits: false,
        }
    }

    /// Says something.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.status_line = StatusLine { text: text.into(), tone };
    }

    /// The mark of a panel.
    pub fn cursor(&mut self, panel: Panel) -> &mut Cursor {
        &mut self.cursors[panel.index()]
    }

    /// Takes over what a check found; what is known of other properties stays.
    pub fn learn(&mut self, outcome: Outcome) {
        let checked = |name: &String| outcome.report.properties.iter().any(|property| property.name == *name);
        let mut examples = std::mem::take(&mut self.known.examples);
        examples.retain(|(name, _)| !checked(name));
        let names = outcome.report.properties.iter().flat_map(|property| {
            let count = property.violations.len();
            std::iter::repeat_n(property.name.clone(), count)
        });
        let shown = examples.len();
        examples.extend(names.zip(outcome.counterexamples));
        self.known = Known { shown: if shown < examples.len() { shown } else { 0 }, examples };
    }
}
