//! Searches that are allowed more, and that are told where not to go on.

use super::support::Player;
use fabius_engine::{Event, Settings, Verdict};
use fabius_testkit::models::RACE;
use fabius_tui::Theme;
use fabius_tui::message::{Effect, Message};
use fabius_tui::update::update;
use fabius_tui::watch::Indicator;

const FULL: (u16, u16) = (80, 24);

/// Two that back off and try again.
const POLITE: &str = include_str!("../../../models/retry_forever.pml");

#[test]
fn what_a_bound_left_undecided_is_searched_again_with_more_allowed() {
    let settings = Settings {
        limits: fabius_base::Limits { states_max: Some(5), ..fabius_base::Limits::default() },
        ..Settings::default()
    };
    let mut player = Player::with(POLITE, FULL, settings, Theme::default());
    player.keys("S f2");
    let verdicts = |player: &Player| player.model.watch.indicators.iter().map(Indicator::verdict).collect::<Vec<_>>();
    assert!(verdicts(&player).contains(&Some(Verdict::Undecided)), "{:?}", verdicts(&player));
    let decided = verdicts(&player).len();
    player.keys("+");
    assert!(!verdicts(&player).contains(&Some(Verdict::Undecided)), "{:?}", verdicts(&player));
    assert_eq!(verdicts(&player).len(), decided, "what was decided stays");
    player.keys("+");
    player.said("nothing was left undecided");
}

#[test]
fn checks_do_not_go_on_from_states_that_were_named() {
    let mut player = Player::open(RACE, FULL);
    let known = |player: &Player| {
        let indicator = player.model.watch.indicators.first().expect("a property");
        (indicator.verdict(), indicator.reason.clone())
    };
    player.keys("f2 x \"nothing enter");
    assert!(player.screen().contains("`nothing` is not declared"), "{}", player.screen());
    player.keys("esc x \"x==0 enter");
    assert!(player.screen().contains("nothing is left to explore"), "{}", player.screen());
    player.keys("esc x \"x==1 enter");
    player.said("do not go on from states in which `x==1` is true");
    player.keys("S");
    let (verdict, why) = known(&player);
    assert_eq!(verdict, Some(Verdict::Undecided), "{why}");
    assert!(why.contains("did not go on from states in which `x==1` is true"), "{why}");
    insta::assert_snapshot!("left_out_80", player.screen());
    // Nothing goes on for all times: all checks begin anew, as they were.
    player.keys("x ctrl-u enter");
    assert_eq!(known(&player).0, Some(Verdict::Violated));
    // What an edit leaves without a meaning is taken back.
    player.keys("x \"x==1 enter");
    player.write(&RACE.replace("x", "y"));
    assert_eq!(known(&player).0, Some(Verdict::Violated));
    assert_eq!(player.model.leave_out, None);
    player.said("checks go on where `x==1` is true, too: `x` is not declared");
}

#[test]
fn a_condition_that_the_searches_asked_for_would_not_heed_is_refused() {
    let settings = Settings { delaying: Some(fabius_engine::settings::Delaying::default()), ..Settings::default() };
    let mut player = Player::with(RACE, FULL, settings, Theme::default());
    player.keys("f2 x \"x==1 enter");
    assert!(player.screen().contains("cannot be combined"), "{}", player.screen());
    assert_eq!(player.model.leave_out, None);
}

#[test]
fn a_bound_on_depth_is_named_and_what_it_left_out_is_searched_without_it() {
    let mut player = Player::open(RACE, FULL);
    let known = |player: &Player| {
        let indicator = player.model.watch.indicators.first().expect("a property");
        (indicator.verdict(), indicator.reason.clone())
    };
    player.keys("f2 d \"two enter");
    assert!(player.screen().contains("a number of steps is wanted"), "{}", player.screen());
    player.keys("esc d \"2 enter");
    player.said("cut off runs after 2 steps");
    player.keys("S");
    let (verdict, why) = known(&player);
    assert_eq!(verdict, Some(Verdict::Undecided), "{why}");
    assert!(why.contains("runs of 2 steps and more were cut off"), "{why}");
    assert!(player.screen().contains("max. depth 2 steps"), "{}", player.screen());
    // A larger bound: what was left out is searched, anew.
    player.keys("d ctrl-u \"90 enter");
    assert_eq!(known(&player).0, Some(Verdict::Violated));
    // What is decided does not begin anew.
    let work = player.model.work;
    player.keys("d ctrl-u enter");
    player.said("the depth of searches is not bounded any more");
    assert_eq!((player.model.work, player.model.launch.settings.limits.depth_max), (work, None));
}

#[test]
fn a_search_that_left_out_what_a_larger_bound_does_not_begins_anew() {
    let mut player = Player::open(RACE, FULL);
    player.keys("S f2");
    let work = player.model.work;
    player.model.watch.running = true;
    player.keys("d \"7 enter");
    player.said("from now on, searches for violations cut off runs after 7 steps");
    assert!(player.effects.iter().any(|effect| matches!(effect, Effect::BoundDepth(Some(7)))), "{:?}", player.effects);
    assert_eq!(player.model.work, work, "it goes on");
    player.keys("d ctrl-u enter");
    assert!(player.effects.iter().any(|effect| matches!(effect, Effect::BoundDepth(None))), "{:?}", player.effects);
    let told = Event::LeftOut { property: "safety".to_owned(), depth: 7 };
    let effects = update(&mut player.model, Message::Event(work, Box::new(told)));
    let is_check = |effect: &Effect| matches!(effect, Effect::Check { work: begun, .. } if *begun == work + 1);
    assert!(effects.iter().any(is_check), "{effects:?}");
    player.said("runs of 7 steps and more had been cut off: all checks begin anew");
}

#[test]
fn states_that_are_visited_first_are_named_and_nothing_begins_anew() {
    let mut player = Player::open(RACE, FULL);
    player.keys("S f2");
    let work = player.model.work;
    player.model.watch.running = true;
    player.keys("v \"nobody enter");
    assert!(player.screen().contains("`nobody` is not declared"), "{}", player.screen());
    player.keys("esc v \"x==1 enter");
    player.said("from now on, searches for violations of safety prefer states in which `x==1` is true");
    let sent = |effect: &Effect| matches!(effect, Effect::VisitFirst(Some(condition)) if condition == "x==1");
    assert!(player.effects.iter().any(sent), "{:?}", player.effects);
    assert!(player.screen().contains("first      x==1"), "{}", player.screen());
    player.keys("v ctrl-u enter");
    player.said("from now on, searches visit states in any order again");
    assert_eq!((player.model.visit_first.as_deref(), player.model.work), (None, work));
}

#[test]
fn an_order_that_the_searches_asked_for_would_not_heed_is_refused() {
    let settings = Settings { delaying: Some(fabius_engine::settings::Delaying::default()), ..Settings::default() };
    let mut player = Player::with(RACE, FULL, settings, Theme::default());
    player.keys("f2 v \"x==1 enter");
    assert!(player.screen().contains("only a depth-first search"), "{}", player.screen());
    assert_eq!(player.model.visit_first, None);
}

#[test]
fn a_bound_that_the_searches_asked_for_would_not_heed_is_refused() {
    let depth_bounding = Some(fabius_engine::settings::DepthBounding::default());
    let settings = Settings { depth_bounding, ..Settings::default() };
    let mut player = Player::with(RACE, FULL, settings, Theme::default());
    player.keys("f2 d \"7 enter");
    assert!(player.screen().contains("`--max-depth 7` cannot be combi"), "{}", player.screen());
    assert_eq!(player.model.launch.settings.limits.depth_max, None);
}
