//! The keys: one table, from which keys are looked up, and which prints the line at the bottom, the help and the
//! documentation.

use crate::model::{Panel, Screen};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt::Write as _;

/// What a key does; the table says it in words.
#[expect(missing_docs, reason = "the table says what each of them is")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    Forward,
    Back,
    Choice,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    NextPanel,
    PreviousPanel,
    Jump,
    Until,
    Random,
    Hold,
    HoldUntil,
    Delay,
    Seal,
    Schedule,
    SearchHere,
    CheckAll,
    Undo,
    Redo,
    Bookmark,
    LoopStart,
    LoopEnd,
    Around,
    Writers,
    AddWatch,
    RemoveWatch,
    Find,
    FindNext,
    FindPrevious,
    FindEnd,
    Why,
    Essential,
    OtherTrace,
    Scheduler,
    ToggleDelay,
    Needed,
    Save,
    Open,
    TraceTab,
    Compare,
    Before,
    Graph,
    Formula,
    ClaimMoves,
    Unchanged,
    Edit,
    WatchScreen,
    Freeze,
    Pause,
    Cancel,
    Raise,
    LeaveOut,
    BoundDepth,
    VisitFirst,
    SaveSearch,
    ResumeSearch,
    Zoom,
    Mouse,
    Help,
    Escape,
    Suspend,
    Quit,
}

/// Where a key does something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// Everywhere.
    Everywhere,
    /// On the screen on which one drives.
    Driving,
    /// On the screen on which one watches.
    Watching,
    /// On the screen on which one drives, while a text is looked for; these keys come before all others.
    Finding,
}

/// A row of the table.
pub struct Binding {
    /// The keys, as they are shown; the first one is shown at the bottom.
    pub keys: &'static [&'static str],
    /// What they do.
    pub act: Act,
    /// Where.
    pub place: Where,
    /// The chapter of the help.
    pub chapter: &'static str,
    /// What they do, in one word or two.
    pub short: &'static str,
    /// What they do, in a sentence.
    pub long: &'static str,
}

const MOVE: &str = "Going through a run";
const CHOOSE: &str = "Choosing and trying";
const SCHEDULE: &str = "Holding back and delaying";
const UNDERSTAND: &str = "Understanding";
const FIND: &str = "Finding a text";
const SEARCH: &str = "Searching and watching";
const SCREEN: &str = "Screen and files";

macro_rules! table {
    ($($chapter:ident $place:ident $act:ident [$($key:literal),+] $short:literal $long:literal)*) => {
        &[$(Binding {
            keys: &[$($key),+],
            act: Act::$act,
            place: Where::$place,
            chapter: $chapter,
            short: $short,
            long: $long,
        }),*]
    };
}

/// All keys.
pub const TABLE: &[Binding] = table![
    MOVE Driving Forward ["n", "right", "space"] "step" "One step forward: along the run; at its end, the choice that is marked."
    MOVE Driving Back ["p", "left"] "back" "One step back."
    MOVE Everywhere Up ["up", "k"] "up" "Up in the panel that is marked."
    MOVE Everywhere Down ["down", "j"] "down" "Down in the panel that is marked."
    MOVE Everywhere PageUp ["pgup", "ctrl-u"] "page up" "A page up."
    MOVE Everywhere PageDown ["pgdn", "ctrl-d"] "page down" "A page down."
    MOVE Driving First ["home", "g"] "start" "To the initial state."
    MOVE Driving Last ["end", "G"] "end" "To the end of the run."
    MOVE Driving Jump [":"] "go to" "To a step by its number, or to a bookmark by its name."
    MOVE Driving LoopStart ["["] "loop start" "To where the loop starts."
    MOVE Driving LoopEnd ["]"] "loop end" "To where the loop closes."
    MOVE Driving Around ["o"] "once around" "Once around the loop."

    CHOOSE Driving Choice ["1", "2", "3", "4", "5", "6", "7", "8", "9"] "choose" "Take the choice with this number."
    CHOOSE Everywhere Enter ["enter"] "go" "What is marked: take the choice, go to the step, let the process move, run to the line, show who wrote the value."
    CHOOSE Driving Until ["c"] "run until" "Run until a pattern is true: an expression of the model, also about the states before, as x > 1 after y == 2."
    CHOOSE Driving Random ["r"] "random" "Take a number of steps at random, or go on at random until a pattern is true."
    CHOOSE Driving Undo ["u"] "undo" "Take back what was done last, whatever it was."
    CHOOSE Driving Redo ["ctrl-r"] "redo" "Do again what was taken back."
    CHOOSE Driving Bookmark ["b"] "bookmark" "Give this state a name; an empty name takes it away."

    SCHEDULE Driving Hold ["h"] "hold" "Hold the process that is marked, or let it go: it moves no more by itself, and in no search from here."
    SCHEDULE Driving HoldUntil ["H"] "hold until" "Hold it until a condition holds."
    SCHEDULE Driving Delay ["d"] "delay" "Hold it until others have taken a number of steps."
    SCHEDULE Driving Seal ["x"] "seal" "Forbid holding back from here on, or allow it again."
    SCHEDULE Driving Schedule ["A"] "avoid" "Follow a schedule under which the model is safe, or no longer: whoever has to wait does not move by itself, and the steps of the run that have to wait are marked. Pressed first, it looks for one."

    SCHEDULE Driving Scheduler ["P"] "scheduler" "Let a scheduler choose from here on; pressed again, the next one: run to completion, round robin, random."
    SCHEDULE Driving ToggleDelay ["D"] "toggle delay" "Hold back who moves in the step that is marked, or let it run where it was held back, and see whether the error still happens."
    SCHEDULE Driving Needed ["N"] "needed" "Which of the delays of this run the error needs."

    UNDERSTAND Driving Why ["W"] "why" "Why the process that is marked cannot go on, and who could change that."
    UNDERSTAND Driving Writers ["w"] "who wrote" "Who wrote the value that is marked, back through the channels."
    UNDERSTAND Driving Essential ["e"] "essential" "Show only the steps without which the error does not happen, or all again."
    UNDERSTAND Driving OtherTrace ["t"] "other run" "Another run to the same error: the shortest, the one with the fewest changes of process, with the fewest delays; then runs with other causes, as long as there are some; then the next error that was found."
    UNDERSTAND Driving TraceTab ["l"] "lanes/story" "Show the run as lanes, as a story, as a tree of what was tried, its loop as a ring, or where its formula holds."
    UNDERSTAND Driving Compare ["="] "compare" "Choose the run to the state that is marked in the tree of what was tried; pressed at another state, both runs are shown beside one another, with what differs marked."
    UNDERSTAND Driving Before ["B"] "run before" "The run that violated the property before the model was written last beside the present one; where only one of the texts violates it, its run followed in the other one."
    UNDERSTAND Driving Graph ["L"] "state graph" "The state graph of a small model as text: a row for each state, with the present state and the run marked; 1 to 9 go along the steps of the marked state, enter walks there."
    UNDERSTAND Driving Formula ["F"] "formula" "What the formula of this run says, and where it and its parts hold: a column for each step at which something changes, that of the present state marked. For a claim, where it is. Pressed again, the lanes."
    UNDERSTAND Driving ClaimMoves ["C"] "claim's moves" "Show the moves of the claim, or of a formula's automaton, as rows of their own, or fold them again."
    UNDERSTAND Driving Unchanged ["v"] "changed only" "Show only the values that the last step changed."
    UNDERSTAND Driving AddWatch ["a"] "add watch" "Watch an expression of the model: its value stands above the other values; enter on it shows how it changes along the run."
    UNDERSTAND Driving RemoveWatch ["-"] "remove watch" "Remove the watch expression that is marked."

    FIND Driving Find ["/"] "find" "Find a text in the panel that is marked: steps of the run, source, values, processes, next steps. Also in this help. In the run, = x > 1 after y == 2 finds the states where a pattern is true, and ~ x the steps in which a value changes, the first and the last."
    FIND Finding FindNext ["n"] "next" "The next place, after a text was found."
    FIND Finding FindPrevious ["N"] "previous" "The place before, after a text was found."
    FIND Finding FindEnd ["esc"] "end" "No longer find: n and N are what they were."

    SEARCH Driving SearchHere ["s"] "search here" "Look for an error from this state, with these holds."
    SEARCH Driving CheckAll ["S"] "check all" "Check all properties from the beginning."
    SEARCH Everywhere WatchScreen ["f2", "`"] "watch/drive" "From driving to watching the search, and back."
    SEARCH Watching Freeze ["f"] "freeze" "Keep the run that is shown, and step in it; the search goes on."
    SEARCH Watching Pause ["space"] "pause" "Halt the search, or let it go on."
    SEARCH Watching Raise ["+"] "raise" "Allow the search ten times as many states, twice the memory, and more delays; if it ended at its bound, go on beyond that."
    SEARCH Watching LeaveOut ["x"] "leave out" "Do not go on from states in which a condition is true. A search for violations of safety that runs keeps to it at once. Without a condition, all checks begin anew as they were."
    SEARCH Watching BoundDepth ["d"] "depth" "Cut off runs after a number of steps, in the search that runs, too. Without a number: not any more. If runs were cut off under a smaller bound, all checks begin anew."
    SEARCH Watching VisitFirst ["v"] "first" "Visit states in which a condition is true before others, in the search that runs, too; nothing is left out. Without a condition: in any order again."
    SEARCH Watching SaveSearch ["ctrl-s"] "save search" "Save the search to a file, from which it can be resumed, also by fabius check --resume. Needs --delay, --depth-bound or --checkpoint. While the search runs, its last completed round is saved."
    SEARCH Watching ResumeSearch ["ctrl-o"] "resume" "Resume a search from a file, saved here or by fabius check --checkpoint. Only its property is checked."
    SEARCH Watching CheckAll ["S"] "check all" "Check all properties again."
    SEARCH Everywhere Cancel ["X"] "stop" "Stop the search; what it found out stays."

    SCREEN Everywhere NextPanel ["tab"] "next panel" "To the next panel."
    SCREEN Everywhere PreviousPanel ["shift-tab"] "panel before" "To the panel before."
    SCREEN Everywhere Zoom ["z"] "zoom" "The panel that is marked on the whole screen, and back."
    SCREEN Everywhere Mouse ["m"] "mouse" "Let the mouse go, or take it again. With the shift key, text can always be marked."
    SCREEN Driving Save ["ctrl-s"] "save" "Save the run and what else was tried, with holds and bookmarks, to a file."
    SCREEN Driving Open ["ctrl-o"] "open" "Open a run: a trail of Spin, or one that was saved."
    SCREEN Everywhere Edit ["E"] "editor" "Open the editor ($VISUAL or $EDITOR) at the line that is shown."
    SCREEN Everywhere Help ["?", "f1"] "help" "This help."
    SCREEN Everywhere Escape ["esc"] "close" "Close what is open; stop a run."
    SCREEN Everywhere Suspend ["ctrl-z"] "suspend" "Back to the shell; fg comes back."
    SCREEN Everywhere Quit ["q", "ctrl-c"] "quit" "Quit."
];

/// The name of a key, as the table has it.
pub fn name(key: &KeyEvent) -> Option<String> {
    let name = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => format!("ctrl-{}", c.to_ascii_lowercase()),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Left => "left".to_owned(),
        KeyCode::Right => "right".to_owned(),
        KeyCode::Up => "up".to_owned(),
        KeyCode::Down => "down".to_owned(),
        KeyCode::Home => "home".to_owned(),
        KeyCode::End => "end".to_owned(),
        KeyCode::PageUp => "pgup".to_owned(),
        KeyCode::PageDown => "pgdn".to_owned(),
        KeyCode::Enter => "enter".to_owned(),
        KeyCode::Tab => "tab".to_owned(),
        KeyCode::BackTab => "shift-tab".to_owned(),
        KeyCode::Esc => "esc".to_owned(),
        KeyCode::F(number) => format!("f{number}"),
        _ => return None,
    };
    Some(name)
}

/// What a key does on a screen; for a digit, which one it is.
pub fn find(screen: Screen, finding: bool, key: &KeyEvent) -> Option<(Act, usize)> {
    let name = name(key)?;
    let does = |binding: &Binding| {
        let index = binding.keys.iter().position(|known| *known == name)?;
        Some((binding.act, index))
    };
    let first = TABLE.iter().filter(|binding| finding && is_on(binding.place, screen) && is_finding(binding));
    let rest = TABLE.iter().filter(|binding| is_on(binding.place, screen) && !is_finding(binding));
    first.chain(rest).find_map(does)
}

fn is_finding(binding: &Binding) -> bool {
    binding.place == Where::Finding
}

/// Whether keys of a place do something on a screen.
fn is_on(place: Where, screen: Screen) -> bool {
    match place {
        Where::Everywhere => true,
        Where::Driving | Where::Finding => screen == Screen::Drive,
        Where::Watching => screen == Screen::Watch,
    }
}

/// The keys to show at the bottom, the most useful ones first.
pub fn hints(screen: Screen, panel: Panel, (in_loop, finding): (bool, bool)) -> &'static [Act] {
    use Act::{
        AddWatch, Around, Back, BoundDepth, CheckAll, Choice, Delay, Edit, Enter, Essential, Find, FindEnd, FindNext,
        FindPrevious, Forward, Freeze, Hold, HoldUntil, LeaveOut, LoopStart, NextPanel, OtherTrace, Pause, Raise,
        ResumeSearch, SaveSearch, SearchHere, ToggleDelay, TraceTab, Unchanged, Until, VisitFirst, WatchScreen, Why,
        Writers,
    };
    match (screen, panel) {
        (Screen::Drive, _) if finding => &[FindNext, FindPrevious, FindEnd, Enter, Find],
        (Screen::Watch, _) => {
            &[Pause, Freeze, Raise, LeaveOut, CheckAll, SaveSearch, ResumeSearch, BoundDepth, VisitFirst, WatchScreen]
        }
        (_, Panel::Processes) => &[Hold, HoldUntil, Delay, Why, Enter, SearchHere, NextPanel],
        (_, Panel::Variables) => &[Writers, AddWatch, Unchanged, Find, NextPanel],
        (_, Panel::Trace) if in_loop => &[Enter, TraceTab, LoopStart, Around, Essential, ToggleDelay, NextPanel],
        (_, Panel::Trace) => &[Enter, TraceTab, Essential, OtherTrace, Find, ToggleDelay, NextPanel],
        (_, Panel::Source) => &[Enter, Find, Edit, Until, Forward, Back, NextPanel],
        (_, Panel::Choices) => &[Forward, Back, Choice, Hold, SearchHere, WatchScreen, NextPanel],
    }
}

/// The first row of the table that does this on a screen.
pub fn binding(screen: Screen, act: Act) -> Option<&'static Binding> {
    let fits = |binding: &&Binding| binding.act == act && is_on(binding.place, screen);
    TABLE.iter().find(fits)
}

/// How a key is shown.
pub fn shown(key: &str, ascii: bool) -> &str {
    match key {
        "left" if !ascii => "←",
        "right" if !ascii => "→",
        "up" if !ascii => "↑",
        "down" if !ascii => "↓",
        "enter" if !ascii => "⏎",
        "f1" => "F1",
        "f2" => "F2",
        other => other,
    }
}

/// All keys of a row, as they are shown.
pub fn shown_keys(binding: &Binding, ascii: bool) -> String {
    match binding.keys {
        [first, .., last] if binding.act == Act::Choice => format!("{first}-{last}"),
        keys => keys.iter().map(|key| shown(key, ascii)).collect::<Vec<_>>().join(" "),
    }
}

/// The chapters of the help, each with its rows.
pub fn chapters() -> Vec<(&'static str, Vec<&'static Binding>)> {
    let mut chapters: Vec<(&str, Vec<&Binding>)> = Vec::new();
    for binding in TABLE {
        match chapters.last_mut() {
            Some((chapter, rows)) if *chapter == binding.chapter => rows.push(binding),
            _ => chapters.push((binding.chapter, vec![binding])),
        }
    }
    chapters
}

/// The keys as a section of the documentation.
pub fn markdown() -> String {
    let mut text = String::new();
    for (chapter, rows) in chapters() {
        let _ = write!(text, "### {chapter}\n\n| key | |\n|---|---|\n");
        for row in rows {
            let keys = match row.act {
                Act::Choice => "`1` to `9`".to_owned(),
                _ => row
                    .keys
                    .iter()
                    .map(|key| if *key == "`" { "`` ` ``".to_owned() } else { format!("`{}`", shown(key, false)) })
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            let _ = writeln!(text, "| {keys} | {} |", row.long);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_key_does_two_things_in_one_place() {
        for screen in [Where::Driving, Where::Watching] {
            let mut seen = HashSet::new();
            for binding in TABLE.iter().filter(|binding| binding.place == screen || binding.place == Where::Everywhere)
            {
                for key in binding.keys {
                    assert!(seen.insert(*key), "{key} does two things ({screen:?})");
                }
            }
        }
    }

    #[test]
    fn every_hint_is_in_the_table() {
        for screen in [Screen::Drive, Screen::Watch] {
            for panel in Panel::ALL {
                for known in [(true, false), (false, false), (false, true)] {
                    for act in hints(screen, panel, known) {
                        assert!(binding(screen, *act).is_some(), "{act:?} has no key on {screen:?}");
                    }
                }
            }
        }
    }
}
