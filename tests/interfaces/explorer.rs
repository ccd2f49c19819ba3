//! The terminal explorer as a person has it: the real program in a (pseudo-)terminal, keys in, screens out.

#![cfg(unix)]

mod checkpoints;
mod terminal;

use fabius_testkit::models::RACE;
use fabius_testkit::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use terminal::{Terminal, text};

const FULL: (u16, u16) = (80, 24);

/// Fails only if somebody is interrupted.
const INTERRUPTED: &str = "\
byte x;

active [3] proctype P() {
    byte t;
    t = x;
    x = t + 1;
    assert(x == t + 1)
}
";

/// Too much to search in a test; every cycle makes progress.
const BIG: &str = "\
byte a, b, c, d, e, f;

active proctype First() {
    do
    :: a < 200 -> a++
    :: b < 200 -> b++
    :: c < 200 -> c++
    :: else -> progress: a = 0; b = 0; c = 0
    od
}

active proctype Second() {
    do
    :: d < 200 -> d++
    :: e < 200 -> e++
    :: f < 200 -> f++; assert(a + b + c + d + e + f < 2000)
    :: else -> progress: d = 0; e = 0; f = 0
    od
}
";

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fabius"))
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)
}

fn explore(path: &Path, args: &[&str]) -> Terminal {
    explore_with(path, args, &[], FULL)
}

fn explore_with(path: &Path, args: &[&str], env: &[(&str, &str)], size: (u16, u16)) -> Terminal {
    let path = path.to_str().expect("paths of tests are text");
    Terminal::open(binary(), &[&["explore", path], args].concat(), env, size)
}

fn scratch(text: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new().expect("a directory");
    let path = scratch.write("model.pml", text).expect("a file");
    (scratch, path)
}

/// A model that was read and not checked; the folder goes with what is returned first.
fn unchecked(text: &str) -> (Scratch, Terminal) {
    let (scratch, path) = scratch(text);
    let terminal = explore(&path, &["--no-check"]);
    terminal.says("step 0 of 0");
    (scratch, terminal)
}

#[test]
fn the_first_screen_shows_every_panel_and_what_was_found() {
    let mut terminal = explore(&model("retry_forever.pml"), &["--property", "progress"]);
    terminal.until("the alternate screen, without a cursor", |screen| {
        screen.alternate_screen() && screen.hide_cursor() && text(screen).contains("fabius")
    });
    let screen = terminal.says("non-progress cycle");
    for part in ["✗ progress", "Source retry_forever.pml", "Run [lanes]", "Next step", "Processes", "Values"] {
        assert!(screen.contains(part), "no {part}:\n{screen}");
    }
    terminal.keys("q");
    assert_eq!(terminal.ended().exit_code(), 0);
    assert_eq!(terminal.left_behind(), [""; 0]);
}

#[test]
fn a_step_is_taken_and_taken_back() {
    let (_scratch, mut terminal) = unchecked(RACE);
    terminal.keys("n");
    terminal.says("step 1 of 1");
    // The arrow to the left as terminals send it.
    terminal.keys("\x1b[D");
    terminal.says("step 0 of 1");
    terminal.keys("u");
    terminal.says("step 1 of 1");
}

#[test]
fn a_search_from_here_heeds_the_holds_and_brings_the_error_into_the_tree() {
    let (_scratch, mut terminal) = unchecked(RACE);
    terminal.keys("\th");
    terminal.until("a process that is held", |screen| {
        let shown = text(screen);
        shown.contains("⏸ Slow[0]") && shown.contains("1 held")
    });
    terminal.keys("s");
    terminal.says("Slow[0] held: no violation is reachable");
    terminal.keys("h");
    terminal.says("Slow[0] may move again");
    terminal.keys("s");
    terminal.says("step 0 of 2");
    terminal.keys("ll");
    let tree = terminal.until("the tree", |screen| text(screen).contains("[tree]"));
    assert!(tree.contains("steps 1 to 2  Slow[0]: x = 2 ✗"), "{tree}");
}

#[test]
fn marks_appear_once_a_search_is_over_and_a_click_goes_to_a_step() {
    let (_scratch, path) = scratch("byte x;\nactive proctype P() { if :: x = 1 :: x = 2 fi; skip; assert(x == 2) }\n");
    let mut terminal = explore(&path, &["--property", "safety"]);
    terminal.until("what can fail, and what cannot", |screen| {
        let shown = text(screen);
        shown.contains("can fail in 3 steps") && shown.contains("cannot fail") && shown.contains("marks for safety")
    });
    let shown = terminal.says("assert(x == 2)");
    let row = shown.lines().position(|line| line.contains("2 ● skip")).expect("the run is shown") + 1;
    // The left button, as terminals tell of it (SGR).
    terminal.keys(&format!("\x1b[<0;10;{row}M"));
    terminal.says("step 2 of 3");
}

#[test]
fn a_livelock_is_a_ring() {
    let mut terminal = explore(&model("retry_forever.pml"), &["--property", "progress"]);
    terminal.says("non-progress cycle");
    terminal.keys("\x1bOQ");
    let watched = terminal.says("progress: done");
    assert!(watched.contains("✗ progress"), "{watched}");
    terminal.keys("`lll[");
    let ring = terminal.says("the loop starts here");
    for part in ["[ring]", "╭▶", "◀╯", "never changes: trying[1] = true, served = 0", "⟳ step 1 of 4"] {
        assert!(ring.contains(part), "no {part}:\n{ring}");
    }
}

#[test]
fn a_search_is_watched_halted_kept_and_stopped() {
    let (_scratch, path) = scratch(BIG);
    let mut terminal = explore(&path, &["--property", "progress"]);
    terminal.keys("`");
    let watched = terminal.until("a path, and where it is", |screen| {
        let shown = text(screen);
        shown.contains("Its path now") && shown.contains("First[0]") && shown.contains("██")
    });
    for part in ["⟳ progress", "states", "rate", "Cycles", "Where it has been lately"] {
        assert!(watched.contains(part), "no {part}:\n{watched}");
    }
    terminal.keys(" ");
    terminal.says("progress: halted");
    terminal.keys(" ");
    terminal.until("it goes on", |screen| !text(screen).contains("halted"));
    terminal.keys("f");
    terminal.says("Kept path, step");
    terminal.keys("\r");
    terminal.says("of the path of the search");
    terminal.keys("X`");
    terminal.says("progress: done");
}

#[test]
fn a_search_that_ended_at_its_bound_goes_on_beyond_it() {
    let (_scratch, path) = scratch(INTERRUPTED);
    let mut terminal = explore(&path, &["--property", "safety", "--delay", "rr", "--max-delays", "0"]);
    terminal.says("? safety");
    terminal.keys("`+");
    terminal.until("the error, and the round that was over before it", |screen| {
        let text = text(screen);
        text.contains("✗ safety") && text.contains("1 ✓")
    });
}

#[test]
fn two_threads_show_the_path_of_one() {
    let (_scratch, path) = scratch(BIG);
    let mut terminal = explore(&path, &["--property", "safety", "--threads", "2"]);
    terminal.keys("`");
    terminal.until("a path, and where it is", |screen| {
        let shown = text(screen);
        shown.contains("several threads") && shown.contains("[0]") && shown.contains("██")
    });
}

#[test]
fn a_long_run_is_told_of_and_can_be_stopped() {
    let (_scratch, mut terminal) = unchecked("byte x; active [2] proctype P() { do :: x = 1 - x od }");
    terminal.keys("cx == 7\r");
    terminal.says("steps so far; esc stops");
    // Whoever steps now is told why not.
    terminal.keys("n");
    terminal.keys("\x1b");
    terminal.says("steps: interrupted");
    terminal.keys("u");
    terminal.says("step 0 of 0");
}

#[test]
fn another_size_leaves_nothing_of_the_old_one() {
    let (_scratch, mut terminal) = unchecked(RACE);
    terminal.keys("n");
    let before = terminal.until("a step", |screen| {
        let shown = text(screen);
        shown.contains("step 1 of 1") && shown.contains("was 0")
    });
    terminal.resize(20, 5);
    terminal.until("one panel", |screen| {
        let shown = text(screen);
        shown.contains("Next step") && shown.contains("1 of 1") && !shown.contains("Processes")
    });
    terminal.resize(80, 24);
    terminal.until("the same as before", |screen| text(screen) == before);
}

#[test]
fn a_terminal_may_get_its_size_later() {
    let (_scratch, path) = scratch(RACE);
    let mut terminal = explore_with(&path, &["--no-check"], &[], (0, 0));
    terminal.until("the alternate screen", vt100::Screen::alternate_screen);
    terminal.resize(80, 24);
    terminal.says("step 0 of 0");
}

#[test]
fn whoever_ends_it_the_terminal_is_as_it_was() {
    for name in ["TERM", "INT", "HUP"] {
        let (_scratch, path) = scratch(BIG);
        let mut terminal = explore(&path, &["--property", "safety"]);
        terminal.says("⟳ safety");
        assert_eq!(terminal.left_behind().len(), 5, "it has the whole terminal: {:?}", terminal.left_behind());
        terminal.signal(name);
        terminal.ended();
        assert_eq!(terminal.left_behind(), [""; 0], "after SIG{name}");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_says_what_happened() {
    let (_scratch, path) = scratch(RACE);
    let mut terminal = explore_with(&path, &["--no-check"], &[("FABIUS_TEST_PANIC_KEY", "Z")], FULL);
    terminal.says("step 0 of 0");
    terminal.keys("Z");
    if !cfg!(debug_assertions) {
        // The key means nothing where it is not for tests.
        terminal.keys("n");
        terminal.says("step 1 of 1");
        return;
    }
    assert_eq!(terminal.ended().exit_code(), 4);
    assert_eq!(terminal.left_behind(), [""; 0]);
    assert!(terminal.contents().contains("asked to panic"), "{}", terminal.contents());
}

#[test]
fn the_shell_gets_the_terminal_and_gives_it_back() {
    let (_scratch, path) = scratch(RACE);
    let mut terminal = Terminal::open(Path::new("/bin/sh"), &["-i"], &[("PS1", "ready> ")], (80, 24));
    terminal.says("ready>");
    terminal.keys(&format!("'{}' explore --no-check '{}'\n", binary().display(), path.display()));
    terminal.says("step 0 of 0");
    terminal.keys("n");
    terminal.says("step 1 of 1");
    for _ in 0..2 {
        terminal.keys("\x1a");
        terminal.until("the shell", |screen| {
            let shown = text(screen);
            !screen.alternate_screen()
                && !screen.hide_cursor()
                && shown.contains("Stopped")
                && shown.trim().ends_with('>')
        });
        terminal.keys("fg\n");
        terminal.until("the explorer, where it was", |screen| {
            screen.alternate_screen() && text(screen).contains("step 1 of 1")
        });
    }
    terminal.keys("q");
    // Not before the shell asks: until then what is typed is the explorer's.
    terminal.until("the shell", |screen| !screen.alternate_screen() && text(screen).trim().ends_with("ready>"));
    terminal.keys("exit\n");
    terminal.ended();
}

#[test]
fn a_model_that_is_written_is_read_again_and_the_place_is_kept() {
    let (scratch, path) = scratch(RACE);
    let mut terminal = explore(&path, &["--no-check"]);
    terminal.says("step 0 of 0");
    terminal.keys("nn");
    terminal.says("step 2 of 2");
    scratch.write("model.pml", &format!("/* Now with a comment. */\n{RACE}")).expect("a file");
    let screen = terminal.says("the model was written: the same steps are still possible");
    assert!(screen.contains("step 2 of 2"), "{screen}");
    // Its second step waits for something else now.
    scratch
        .write("model.pml", &RACE.replace("x = 1;", "x == 7; x = 1;").replace("x == 1;", "x == 9;"))
        .expect("a file");
    terminal.says("stopped before step");
    // An editor that writes another file and renames it.
    let other = scratch.write("model.pml~", RACE).expect("a file");
    std::fs::rename(other, &path).expect("a file can be renamed");
    terminal.until("the first text again", |screen| text(screen).contains("x == 1;"));
}

#[test]
fn the_editor_has_the_terminal_while_it_runs() {
    let (scratch, path) = scratch(RACE);
    let editor = scratch.write("editor.sh", "echo \"editing $1\"; read line; sed -i 's/byte x/int x/' \"$2\"\n");
    let editor = format!("sh {}", editor.expect("a file").display());
    let mut terminal = explore_with(&path, &["--no-check"], &[("EDITOR", &editor)], FULL);
    terminal.says("step 0 of 0");
    terminal.keys("n");
    terminal.says("step 1 of 1");
    terminal.keys("E");
    terminal
        .until("the editor, at the line", |screen| !screen.alternate_screen() && text(screen).contains("editing +4"));
    terminal.keys("done\n");
    terminal.until("the explorer, with the new text", |screen| {
        let shown = text(screen);
        screen.alternate_screen() && shown.contains("int x") && shown.contains("step 1 of 1")
    });
}

#[test]
fn without_a_terminal_it_says_so() {
    let mut command = Command::new(binary());
    command.arg("explore").arg(model("retry_forever.pml")).stdin(Stdio::null());
    let output = command.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "fabius: `explore` needs a terminal; `fabius check` prints what it finds\n"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn the_editor_that_opened_it_and_the_explorer_show_the_same_step() {
    use std::io::{BufRead, BufReader, Write};
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.file("m.pml", INTERRUPTED);
    let socket = Path::new(&file).with_extension("sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let trail = format!("{file}.trail");
    let checked = Command::new(binary()).args(["check", "--trail", &file]).stdout(Stdio::null()).status();
    assert_eq!(checked.expect("it runs").code(), Some(1));
    let socket = socket.display().to_string();
    let mut terminal = explore_with(Path::new(&file), &["--trail", &trail], &[("FABIUS_EDITOR_SOCKET", &socket)], FULL);
    let (stream, _) = listener.accept().expect("the explorer");
    let (mut says, mut hears) = (stream.try_clone().expect("a stream"), BufReader::new(stream).lines());
    let mut until = |wanted: &str| loop {
        let line = hears.next().expect("the explorer goes on").expect("a line");
        if line.ends_with(wanted) {
            break;
        }
    };
    until(r#""step":0,"run":true}"#);
    terminal.keys("n");
    until(r#""step":1,"run":true}"#);
    // Both are there: the explorer has nothing to say, until it goes on by itself.
    writeln!(says, "no JSON\n{{\"step\": 999}}\n{{\"step\": 3}}").expect("it reads");
    terminal.says("step 3 of");
    terminal.keys("n");
    until(r#""step":4,"run":true}"#);
    drop(says);
    terminal.keys("q");
    assert!(terminal.ended().success());
}

/// Takes a while to check: shorter runs are looked for.
const COUNTERS: &str = "\
byte a, b, c;
active proctype P() { do :: a < 30 -> a++ :: b < 30 -> b++ :: c < 30 -> c++ :: else -> assert(a + b + c < 90); a = 0 od }
";

#[test]
fn a_violation_that_a_check_found_is_known_and_the_other_way_round() {
    let (scratch, path) = scratch(COUNTERS);
    let cache = scratch.path().join("cache");
    let environment = [("FABIUS_CACHE", "on"), ("XDG_CACHE_HOME", cache.to_str().expect("paths of tests are text"))];
    let is_known = |args: &[&str]| {
        let mut check = Command::new(binary());
        check.args(["check", "--json"]).args(args).arg(&path).envs(environment);
        let told = check.output().expect("the model can be checked").stdout;
        String::from_utf8_lossy(&told).contains("\"cached\"")
    };
    // From the explorer to the command line, and back.
    let mut terminal = explore_with(&path, &[], &environment, FULL);
    terminal.until("the violation", |screen| text(screen).contains("✗ safety") && !text(screen).contains("cached"));
    terminal.keys("q");
    assert!(terminal.ended().success());
    assert!(is_known(&[]) && !is_known(&["--no-cache"]));
    let mut terminal = explore_with(&path, &[], &environment, FULL);
    terminal.says("(cached result");
    // Whoever asks again wants a search.
    terminal.keys("S");
    terminal.until("a search", |screen| text(screen).contains("✗ safety") && !text(screen).contains("cached"));
    terminal.keys("q");
    assert!(terminal.ended().success());
}

#[test]
fn a_bound_on_depth_counts_in_the_search_that_runs_and_is_taken_back() {
    // Without progress labels, safety is the only property.
    let (_scratch, mut terminal) = unchecked(&BIG.replace("progress: ", ""));
    terminal.keys("S`");
    terminal.says("safety: depth first");
    terminal.keys("d");
    terminal.says("Bound on depth");
    terminal.keys("0\r");
    terminal.says("a number of steps is wanted");
    terminal.keys("\x1512\r");
    terminal.says("max. depth 12 steps");
    let screen = terminal.says("runs of 12 steps and");
    assert!(!screen.contains("everything holds"), "{screen}");
    terminal.keys("d\x15\r");
    let screen = terminal.says("all checks begin anew");
    assert!(
        screen.contains("the depth of searches is not bounded any more") && !screen.contains("max. depth"),
        "{screen}"
    );
    terminal.keys("X");
}
