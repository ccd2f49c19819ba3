//! `fabius explore`: the terminal explorer on one model.

use crate::args::{Explore, Question, ThemeKind};
use crate::checkpoint::check_writable;
use crate::{check, exit};
use fabius_base::Cancel;
use fabius_engine::settings::{CheckpointFiles, Save};
use fabius_engine::{CheckpointSummary, Loaded, Settings, strategy, unreadable};
use fabius_project::checkpoints::read as read_checkpoint;
use fabius_project::files;
use fabius_supervise::{Timer, Unfinished};
use fabius_tui::{EDITOR_SOCKET, LaunchOptions, Start, Theme, misfit};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A test that names a key here asks for a panic when it is pressed: the terminal is to be as it was afterwards. It is
/// obeyed only where assertions are built in.
const PANIC_KEY: &str = "FABIUS_TEST_PANIC_KEY";

/// The model is read once before the screen is taken, so that flags which contradict each other are refused there. A huge one is read
/// for this long at most; what is wrong with the flags is then said when a search is asked for.
const FIRST_READING_MAX: Duration = Duration::from_secs(1);

/// The checkpoint to resume from, with its name, if there is one.
type Resumed = Option<(String, Arc<[u8]>)>;

/// Explores until somebody quits.
pub fn run(args: &Explore) -> u8 {
    if let Err(why) = files::read(&args.file) {
        eprintln!("fabius: {}: {why}", args.file.display());
        return exit::FAULTY;
    }
    let asked = args.question.check_formulas().and_then(|()| args.others.all(args.question.max_memory));
    let others = match asked {
        Ok(others) => others,
        Err(why) => {
            eprintln!("fabius: {why}");
            return exit::FAULTY;
        }
    };
    let cancel = Cancel::new();
    let timer = Timer::start(Some(FIRST_READING_MAX), &cancel);
    let loaded = read(&args.file, &args.question, &settings(args), &cancel);
    drop(timer);
    let asked = Settings { processes: others, ..settings(args) };
    let mut settings = check::chosen(&loaded, &args.file, &args.question, asked);
    if let Some(delaying) = &mut settings.delaying {
        match args.question.delays.scheduler_for(&args.file) {
            Ok(scheduler) => delaying.scheduler = scheduler,
            Err(why) => {
                eprintln!("fabius: {why}");
                return exit::FAULTY;
            }
        }
    }
    if let Some(refusal) = strategy::contradiction(&loaded, &settings) {
        eprintln!("{}", check::in_lines(&refusal));
        return exit::FAULTY;
    }
    let resume = match checkpoints(args, &loaded, &settings) {
        Ok(resume) => resume,
        Err(why) => {
            eprintln!("{why}");
            return exit::FAULTY;
        }
    };
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        eprintln!("fabius: `explore` needs a terminal; `fabius check` prints what it finds");
        return exit::FAULTY;
    }
    let (path, question, wanted) = (args.file.clone(), args.question.clone(), settings.clone());
    let start = Start {
        launch: LaunchOptions {
            path: args.file.clone(),
            settings,
            trail: args.trail.clone(),
            check: !args.no_check && args.trail.is_none(),
            checkpoint: args.checkpoint.clone(),
            resume,
        },
        read: Arc::new(move |cancel| read(&path, &question, &wanted, cancel)),
        theme: theme(args),
        mouse: !args.no_mouse,
        editor: std::env::var_os(EDITOR_SOCKET).map(PathBuf::from),
        panic_key: std::env::var(PANIC_KEY).ok().filter(|_| cfg!(debug_assertions)).and_then(|key| key.chars().next()),
    };
    match fabius_tui::run(start) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("fabius: the terminal cannot be used: {error}");
            exit::FAULTY
        }
    }
}

/// The checkpoint to resume from, with its name, if there is to be one.
///
/// # Errors
/// Why searches cannot be saved or resumed, or a file cannot be used.
fn checkpoints(args: &Explore, loaded: &Loaded, settings: &Settings) -> Result<Resumed, String> {
    if args.checkpoint.is_none() && args.resume.is_none() {
        return Ok(None);
    }
    if 1 < settings.processes.count || settings.processes.elsewhere.is_some() {
        return Err("error: only `fabius check --checkpoint FILE` saves searches by several processes\n\
            help: leave out `--processes` and `--hosts`, or use `fabius check`"
            .to_owned());
    }
    let save: Option<Arc<Save>> = args.checkpoint.as_ref().map(|_| Arc::new(|_: &[u8]| true) as _);
    let resume = args.resume.as_ref().map(|path| {
        let name = path.display().to_string();
        let bytes = read_checkpoint(path).map_err(|error| format!("error: cannot resume from {name}: {error}"))?;
        Ok::<_, String>((name, bytes))
    });
    let resume = resume.transpose()?;
    let checkpoint_files = CheckpointFiles { save, resume: resume.clone(), ..CheckpointFiles::default() };
    let asked = Settings { checkpoint_files, ..settings.clone() };
    if let Some(refusal) = strategy::contradiction(loaded, &asked) {
        return Err(check::in_lines(&refusal));
    }
    if let Some((name, bytes)) = &resume
        && let Some(why) = CheckpointSummary::of(bytes).ok().and_then(|held| misfit(settings, &held))
    {
        return Err(format!("error: cannot resume from {name}: {why}"));
    }
    if let Some(path) = &args.checkpoint {
        check_writable(path).map_err(|why| format!("error: {why}"))?;
    }
    Ok(resume)
}

fn read(path: &Path, question: &Question, settings: &Settings, cancel: &Cancel) -> Loaded {
    let interrupted = |why| unreadable(&path.display().to_string(), Unfinished::Abandoned(why).sentence());
    check::load(path, question, settings, cancel).unwrap_or_else(interrupted)
}

fn theme(args: &Explore) -> Theme {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let linux_console = std::env::var("TERM").is_ok_and(|term| term == "linux" || term == "dumb");
    Theme {
        colour: !no_colour && args.theme != ThemeKind::None,
        light: args.theme == ThemeKind::Light,
        ascii: args.ascii || linux_console,
    }
}

fn settings(args: &Explore) -> Settings {
    Settings { keep_going: args.keep_going, ..check::asked(&args.question) }
}
