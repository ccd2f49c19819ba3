//! Searches that are allowed more, and that are told where not to go on.

use super::support::Player;
use fabius_engine::{Settings, Verdict};
use fabius_testkit::models::RACE;
use fabius_tui::Theme;
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
