//! Searches that are saved to a file and resumed from one.

use super::support::Player;
use fabius_base::Limits;
use fabius_engine::settings::{Delaying, Order};
use fabius_engine::{SchedulerChoice, Settings, Verdict};
use fabius_project::checkpoints::NotSaved;
use fabius_testkit::models::RACE;
use fabius_tui::Theme;
use fabius_tui::message::{Effect, Message, SavedSearch};
use fabius_tui::update::update;
use std::path::PathBuf;
use std::sync::Arc;

const FULL: (u16, u16) = (80, 24);

/// Two counters: each delay leads to other states.
const COUNTERS: &str = "byte a, b;
active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }
";

/// By increasing number of delays, up to this many.
fn by_delays(delays_max: Option<u32>) -> Settings {
    let delaying = Delaying { scheduler: SchedulerChoice::RoundRobin, delays_max, ..Delaying::default() };
    Settings { delaying: Some(delaying), ..Settings::default() }
}

fn open(text: &str, settings: Settings) -> Player {
    Player::with(text, FULL, settings, Theme::default())
}

/// Saves under the name that is suggested; what is to be saved.
fn saved(player: &mut Player) -> SavedSearch {
    player.keys("ctrl-s enter");
    match player.effects.pop() {
        Some(Effect::SaveSearch(search)) => *search,
        other => panic!("nothing is saved: {other:?}; {}", player.model.status_line.text),
    }
}

/// The checkpoint of a search that ended at its bound.
fn checkpoint() -> Arc<[u8]> {
    let mut player = open(COUNTERS, by_delays(Some(1)));
    player.keys("S f2");
    saved(&mut player).bytes
}

fn verdict(player: &Player) -> Option<Verdict> {
    player.model.watch.indicators.first().and_then(|indicator| indicator.verdict())
}

#[test]
fn a_search_that_ended_at_its_bound_is_saved_and_what_was_saved_is_said() {
    let mut player = open(COUNTERS, by_delays(Some(1)));
    player.keys("S f2 ctrl-s");
    insta::assert_snapshot!("save_search_80", player.screen());
    player.keys("esc");
    let search = saved(&mut player);
    assert_eq!(search.path, PathBuf::from("model.search"));
    assert!(!search.may_replace);
    player.send(Message::SearchSaved(Box::new(search.clone()), Ok(())));
    let said = player.said("saved the last checkpoint of the search for safety as model.search (");
    assert!(said.contains("complete up to 1 delay, ") && said.ends_with(" states"), "{said}");
    player.send(Message::SearchSaved(Box::new(search), Err(NotSaved::Because("permission denied".to_owned()))));
    player.said("the search was not saved as model.search: permission denied");
}

#[test]
fn another_checkpoint_of_the_name_is_replaced_only_if_that_is_said_again() {
    let mut player = open(COUNTERS, by_delays(Some(1)));
    player.keys("S f2");
    let search = saved(&mut player);
    let refused = |player: &mut Player| {
        player.send(Message::SearchSaved(Box::new(search.clone()), Err(NotSaved::Exists)));
        let screen = player.screen();
        assert!(screen.contains("there is a checkpoint of this name; enter again replaces it"), "{screen}");
    };
    let next = |player: &mut Player| match player.effects.pop() {
        Some(Effect::SaveSearch(search)) => *search,
        other => panic!("nothing is saved: {other:?}"),
    };
    refused(&mut player);
    player.keys("enter");
    assert!(next(&mut player).may_replace);
    // Another name is another question.
    refused(&mut player);
    player.keys("\"2 enter");
    let other = next(&mut player);
    assert_eq!((other.path, other.may_replace), (PathBuf::from("model.search2"), false));
}

#[test]
fn of_a_search_that_runs_the_last_completed_round_is_saved() {
    let bytes = checkpoint();
    let mut player = open(COUNTERS, by_delays(None));
    player.keys("f2");
    // It begins, and is not over.
    let key = ratatui::crossterm::event::KeyCode::Char('S').into();
    let begun = update(&mut player.model, Message::Key(key));
    assert!(matches!(begun.as_slice(), [.., Effect::Check { .. }]), "{begun:?}");
    player.keys("ctrl-s").said("nothing to save: the first round is not complete");
    player.send(Message::Kept(player.model.work, bytes));
    let search = saved(&mut player);
    player.send(Message::SearchSaved(Box::new(search), Ok(())));
    player.said("saved the last completed round of the search for safety as model.search");
    // What a search before had left is none of its checkpoints.
    player.send(Message::Kept(player.model.work - 1, b"old".as_slice().into()));
    assert_ne!(player.model.kept.as_deref(), Some(b"old".as_slice()));
}

#[test]
fn a_search_that_is_resumed_finds_as_many_states_as_one_without_interruption() {
    let mut whole = open(COUNTERS, by_delays(Some(4)));
    whole.keys("S");
    let mut player = open(COUNTERS, by_delays(Some(4)));
    player.keys("f2 ctrl-o enter");
    let Some(Effect::ReadSearch(path)) = player.effects.pop() else { panic!("no file is read") };
    assert_eq!(path, PathBuf::from("model.search"));
    player.send(Message::SearchRead(path, Ok(checkpoint())));
    assert_eq!(player.model.watch.progress.states, whole.model.watch.progress.states);
    assert_eq!(player.model.watch.rounds.first().map(|round| round.bound), Some(2), "two rounds were done before");
    // Beyond its bound it goes on once more, from its own checkpoint.
    for player in [&mut whole, &mut player] {
        player.keys("+").said("");
    }
    assert_eq!(player.model.watch.progress.states, whole.model.watch.progress.states);
}

#[test]
fn a_depth_first_search_is_saved_if_that_was_asked_for_and_resumed_without_a_flag() {
    let mut whole = open(COUNTERS, Settings { reduction: false, ..Settings::default() });
    whole.keys("S");
    let limits = Limits { states_max: Some(40), ..Limits::default() };
    let mut player = open(COUNTERS, Settings { limits, ..Settings::default() });
    player.model.launch.checkpoint = Some(PathBuf::from("kept.search"));
    player.keys("f2 ctrl-s").said("nothing to save: no property was checked; S checks all");
    player.keys("S");
    let search = saved(&mut player);
    assert_eq!(search.path, PathBuf::from("kept.search"));
    player.send(Message::SearchSaved(Box::new(search.clone()), Ok(())));
    let said = player.said("saved the last checkpoint of the search for safety as kept.search (");
    assert!(said.ends_with(": 40 states"), "{said}");
    // What it would not heed is refused.
    player.keys("v \"a==3 enter");
    assert!(player.screen().contains("only a depth-first search by this process"), "{}", player.screen());
    let mut resumed = open(COUNTERS, Settings::default());
    resumed.keys("f2 ctrl-o enter");
    resumed.send(Message::SearchRead(PathBuf::from("kept.search"), Ok(search.bytes)));
    assert_eq!(verdict(&resumed), Some(Verdict::Holds));
    assert_eq!(resumed.model.watch.progress.states, whole.model.watch.progress.states);
    // By delays, it is another search.
    let mut other = open(COUNTERS, by_delays(None));
    let bytes = player.model.kept.clone().expect("it was kept");
    other.send(Message::SearchRead(PathBuf::from("s"), Ok(bytes)));
    other.said("cannot resume from s: it holds a depth-first search: leave out --delay and --depth-bound");
}

#[test]
fn a_property_that_is_not_resumed_is_not_told_to_hold() {
    let text = format!("{COUNTERS}ltl low {{ [] (a < 13) }}");
    let mut first = open(&text, Settings { properties: vec!["safety".to_owned()], ..by_delays(Some(1)) });
    first.keys("S f2");
    let bytes = saved(&mut first).bytes;
    let mut player = open(&text, by_delays(None));
    player.send(Message::SearchRead(PathBuf::from("s"), Ok(bytes)));
    let indicators = &player.model.watch.indicators;
    assert_eq!((indicators[0].verdict(), indicators[1].verdict()), (Some(Verdict::Holds), None));
    assert_eq!(indicators[1].reason, "not checked; S checks it");
    player.said("safety holds");
}

#[test]
fn a_checkpoint_of_another_model_is_refused_with_the_reason() {
    let mut player = open(RACE, by_delays(None));
    player.send(Message::SearchRead(PathBuf::from("other.search"), Ok(checkpoint())));
    player.said("cannot resume from other.search: it was written by a search in which the model was another");
    player.said("S checks from the beginning");
    assert_eq!(verdict(&player), None, "no search ran");
    player.keys("f2 ctrl-s").said("nothing to save");
    let mut cut = checkpoint().to_vec();
    cut.truncate(cut.len() / 2);
    for (bytes, why) in [(cut, "damaged"), (b"x".to_vec(), "not a checkpoint"), (Vec::new(), "not a checkpoint")] {
        player.send(Message::SearchRead(PathBuf::from("s"), Ok(bytes.into())));
        player.said("cannot resume from s: it is");
        player.said(why);
    }
    player.send(Message::SearchRead(PathBuf::from("s"), Err("permission denied".to_owned())));
    player.said("cannot resume from s: permission denied");
    // The property of the file is none of those that are checked.
    let text = format!("{COUNTERS}ltl low {{ [] (a < 13) }}");
    let mut player = open(&text, Settings { properties: vec!["low".to_owned()], ..by_delays(None) });
    player.send(Message::SearchRead(PathBuf::from("s"), Ok(checkpoint())));
    player.said("it holds a search for `safety`, which is not checked here (checked: low)");
}

#[test]
fn a_search_that_cannot_be_saved_says_why() {
    let mut player = open(COUNTERS, Settings::default());
    let only = "without --delay and --depth-bound, only the search of `fabius explore --checkpoint FILE` is saved";
    player.keys("S f2 ctrl-s").said(&format!("this search cannot be saved: {only}"));
    player.send(Message::SearchRead(PathBuf::from("s"), Ok(checkpoint())));
    player.said("cannot resume from s: it holds no depth-first search: give the flags with which it began");
    let mut player = open(COUNTERS, Settings { search: Order::BreadthFirst, ..Settings::default() });
    player
        .keys("f2 ctrl-o")
        .said("no search can be resumed: without --delay and --depth-bound, only the depth-first search");
    let mut player = open(COUNTERS, Settings { keep_going: true, ..by_delays(Some(1)) });
    player.keys("S f2 ctrl-s").said("this search cannot be saved: with --keep-going");
    let mut player = open(COUNTERS, by_delays(None));
    player.keys("f2 ctrl-s").said("nothing to save: no property was checked; S checks all");
    // What is decided in the first round leaves nothing.
    let mut player = open("active proctype P() { skip }", by_delays(None));
    player.keys("S f2 ctrl-s").said("nothing to save: the search ended in its first round");
}

#[test]
fn more_than_the_bound_goes_on_under_the_same_bound_on_depth() {
    let limits = fabius_base::Limits { depth_max: Some(1_000), ..fabius_base::Limits::default() };
    let mut player = open(COUNTERS, Settings { limits, ..by_delays(Some(1)) });
    player.keys("S f2 +").said("");
    assert_ne!(verdict(&player), None, "it goes on: {}", player.model.status_line.text);
    assert_eq!(player.model.launch.settings.limits.depth_max, Some(1_000));
}
