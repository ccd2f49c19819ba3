//! What the screens look like, as text that a person can read; and what keys lead there.

use super::support::Player;
use fabius_engine::{Event, Look, Settings};
use fabius_explore::SuccessorHint;
use fabius_testkit::models::{RACE, TALK};
use fabius_tui::Theme;
use fabius_tui::message::{Effect, Message};
use fabius_tui::model::{Panel, Tone};

const FULL: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (160, 50);

/// Two that back off and try again.
const POLITE: &str = include_str!("../../../models/retry_forever.pml");

/// A search that is at its beginning.
fn look() -> Look {
    Look {
        phase: String::new(),
        path: Vec::new(),
        before: 0,
        from_initial: true,
        stack: 1,
        frontier: None,
        rejected: 0,
        tells_of_cycles: false,
        largest_component: None,
        partitions: None,
        moves: None,
    }
}

#[test]
fn the_first_screen() {
    insta::assert_snapshot!("first_80", Player::open(TALK, FULL).screen());
    insta::assert_snapshot!("first_160", Player::open(TALK, WIDE).screen());
}

#[test]
fn steps_leave_lanes_with_messages_and_mark_what_changed() {
    let mut player = Player::open(TALK, FULL);
    player.keys("n n n");
    insta::assert_snapshot!("lanes_80", player.screen());
    player.keys("l");
    insta::assert_snapshot!("story_80", player.screen());
    player.model.size = WIDE;
    player.keys("l l l");
    insta::assert_snapshot!("lanes_160", player.screen());
}

#[test]
fn a_blocked_process_says_why() {
    let mut player = Player::open(TALK, FULL);
    player.keys("tab down W");
    insta::assert_snapshot!("why_80", player.screen());
    player.keys("esc");
    assert_eq!(player.model.overlay, None);
}

#[test]
fn a_process_that_is_held_does_not_move_and_the_search_finds_the_error_from_here() {
    let mut player = Player::open(RACE, FULL);
    player.keys("tab h s");
    player.said("from the initial state, with Slow[0] held: no violation is reachable");
    assert_eq!(player.model.session.as_ref().map(|session| session.walk.line().len()), Some(1), "no error without it");
    player.keys("h s");
    insta::assert_snapshot!("search_80", player.screen());
    player.keys("end");
    player.said("nothing can move");
}

#[test]
fn the_answer_of_a_search_from_a_state_is_no_verdict_of_the_model() {
    let text = "byte x;\nactive proctype P() { if :: x = 1; assert(x == 2) :: x = 3 fi; x = 4 }\n";
    let header = |player: &Player| player.screen().lines().next().unwrap_or_default().to_owned();
    let mut player = Player::open(text, WIDE);
    player.keys("S");
    assert!(header(&player).contains("✗ safety"), "{}", header(&player));
    player.keys("2 s");
    player.said("from step 1: no violation is reachable (3 states, exhaustive)");
    let here = "✗ safety  (from here: no violation)";
    assert!(header(&player).contains(here), "{}", header(&player));
    player.keys("f2");
    assert!(player.screen().contains("▸ from step 1: no violation is reachable"), "{}", player.screen());
    for keys in ["f2 p", "n u", "n h", "home"] {
        player.keys(keys);
        let shown = header(&player);
        assert!(shown.contains("✗ safety") && !shown.contains("from here"), "after {keys}: {shown}");
    }
    // Without a check, nothing is known of the model.
    let mut player = Player::open(text, FULL);
    player.keys("2 s");
    assert!(player.model.watch.indicators.is_empty() && !header(&player).contains("✓"), "{}", header(&player));
    assert!(header(&player).contains("(from here: no violation)"), "{}", header(&player));
    player.model.size = (60, 24);
    assert!(header(&player).contains("no violation") || header(&player).contains("here ✓"), "{}", header(&player));
    player.keys("S");
    for width in [40, 60, 80, 120] {
        player.model.size = (width, 24);
        assert!(header(&player).contains("here"), "{width}: {}", header(&player));
    }
}

#[test]
fn what_was_found_of_an_earlier_text_is_not_shown_of_this_one() {
    let mut player = Player::open(RACE, FULL);
    player.keys("n S");
    assert!(player.screen().contains("✗ safety"), "{}", player.screen());
    player.write("active proctype P() { x = }");
    assert!(!player.screen().contains("safety"), "{}", player.screen());
    player.said("the run comes back");
    player.keys("n s t");
    player.write(RACE);
    assert!(player.screen().contains("✗ safety"), "{}", player.screen());
    let session = player.model.session.as_ref().expect("the walk came back");
    assert_eq!(session.walk.number(session.walk.here()), 1);
}

#[test]
fn going_back_and_choosing_otherwise_makes_a_branch() {
    let mut player = Player::open(RACE, FULL);
    player.keys("n n p 2 b ctrl-u \"late enter l l");
    insta::assert_snapshot!("tree_80", player.screen());
    player.keys("u u u u u u");
    let session = player.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.number(session.walk.here()), 0, "everything is taken back");
}

#[test]
fn a_livelock_is_a_ring() {
    let mut player = Player::open(POLITE, FULL);
    player.model.launch.settings.properties = vec!["progress".to_owned()];
    player.keys("S [ l l l");
    insta::assert_snapshot!("ring_80", player.screen());
    player.keys("f2");
    insta::assert_snapshot!("watched_80", player.screen());
}

#[test]
fn questions_are_asked_on_a_line_and_wrong_answers_are_told() {
    let mut player = Player::open(TALK, FULL);
    player.keys("c \"asked==");
    insta::assert_snapshot!("question_80", player.screen());
    player.keys("enter");
    assert!(player.screen().contains("Run until"), "a wrong answer does not close the question");
    player.keys("\"3 enter");
    player.said("reached");
}

#[test]
fn a_process_can_be_delayed_by_steps_of_others() {
    let mut player = Player::open(RACE, FULL);
    player.keys("d enter");
    let session = player.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.held(), [0], "{}", player.model.status_line.text);
}

#[test]
fn the_model_is_read_again_and_the_place_is_kept() {
    let mut player = Player::open(RACE, FULL);
    player.keys("n n");
    player.write(&RACE.replace("assert(x == 1)", "assert(x < 2)"));
    let session = player.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.number(session.walk.here()), 2);
    player.write(&RACE.replace("x = 2", "skip"));
    insta::assert_snapshot!("edited_80", player.screen());
    player.write("active proctype P() { x = }");
    assert!(player.screen().contains("line 1"), "{}", player.screen());
}

#[test]
fn a_run_is_saved_and_opened_again() {
    let mut player = Player::open(RACE, FULL);
    player.keys("n n h ctrl-s enter");
    let Some(Effect::Write(path, text)) = player.effects.pop() else { panic!("the run is to be written") };
    let mut other = Player::open(RACE, FULL);
    other.send(Message::Read(path, Ok(text)));
    let session = other.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.number(session.walk.here()), 2, "{}", other.model.status_line.text);
    assert_eq!(session.walk.held().len(), 1);
    other.send(Message::Read("broken".into(), Ok("{ no".to_owned())));
    other.said("no saved run");
}

#[test]
fn a_scheduler_chooses_and_a_delay_makes_the_error_come_and_go() {
    let mut player = Player::open(RACE, FULL);
    player.keys("P");
    player.said("chooses");
    player.keys("D");
    player.said("held back at step 1");
}

#[test]
fn other_runs_to_an_error_that_was_reached_by_hand_are_found() {
    let mut player = Player::open(RACE, FULL);
    player.keys("t");
    player.said("does not end in an error");
    // Slow, Fast, Slow, Fast: three changes of process, and there is no run with fewer.
    player.keys("1 1 2 1");
    player.said("goes wrong");
    for which in ["the shortest", "the fewest changes of process", "the fewest delays"] {
        player.keys("t");
        let said = player.model.status_line.text.clone();
        assert!(said.starts_with(which) && !said.contains("no such run"), "{said}");
        let session = player.model.session.as_ref().expect("a walk");
        assert!(session.walk.error_of_line().is_some_and(|error| error.contains("assert")), "{said}");
        assert_eq!(session.walk.switches(), 3, "{said}");
    }
    player.keys("t");
    player.said("another cause: there is none: each run that violates safety has the one shown");
    player.keys("t");
    player.said("were looked for");
}

/// One way to go wrong, and one that is fine.
const FORK: &str = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; skip; assert(x == 2) }";

#[test]
fn once_a_search_is_over_marks_say_what_can_still_go_wrong() {
    let marks = |player: &Player| -> Vec<SuccessorHint> {
        let session = player.model.session.as_ref().expect("a walk");
        session.choices.iter().map(|choice| choice.mark).collect()
    };
    let mut player = Player::open(FORK, FULL);
    assert_eq!(marks(&player), [SuccessorHint::New, SuccessorHint::New], "nobody has searched");
    player.keys("S");
    assert_eq!(
        marks(&player),
        [SuccessorHint::CanFail { steps: Some(3), avoidable: Some(false) }, SuccessorHint::CannotFail]
    );
    insta::assert_snapshot!("marks_80", player.screen());
    player.keys("2 n");
    assert_eq!(marks(&player), [SuccessorHint::CannotFail]);
    player.keys("u u ctrl-r");
    assert_eq!(marks(&player), [SuccessorHint::CannotFail], "what is known is not taken back");
    player.keys("u");
    // Another model is another story; where all is well, marks say what was seen.
    player.write(&FORK.replace("x = 1", "x = 2"));
    player.said("holds");
    assert!(
        marks(&player).iter().all(|mark| matches!(mark, SuccessorHint::New | SuccessorHint::Known)),
        "{:?}",
        marks(&player)
    );
}

#[test]
fn a_schedule_under_which_the_model_is_safe_is_followed() {
    let philosophers = include_str!("../../../models/philosophers.pml");
    let mut player = Player::open(philosophers, (120, 30));
    player.keys("S A");
    player.said("the schedule is followed: a Philosopher at line 28 waits while another Philosopher is at line 29");
    insta::assert_snapshot!("schedule_120", player.screen());
    let waits = |player: &Player| {
        let session = player.model.session.as_ref().expect("a walk");
        session.choices.iter().position(|choice| choice.must_wait.is_some())
    };
    player.keys("n n");
    let waiting = waits(&player).expect("somebody has to wait");
    player.keys(&(waiting + 1).to_string());
    player.said("moved all the same, though by the schedule a Philosopher at line 28 waits");
    player.keys("u n");
    player.said("off the run, since a Philosopher at line 28 waits");
    player.keys("A");
    player.said("no longer followed");
    assert_eq!(waits(&player), None);
    player.keys("u");
    assert!(player.screen().contains("schedule  step"), "it is taken back");

    let mut player = Player::open(FORK, FULL);
    player.keys("A");
    player.said("no schedule avoids every error");
}

#[test]
fn what_is_said_is_not_cut() {
    let mut player = Player::open(RACE, FULL);
    let long = "a long remark that says more than a line of eighty columns can hold, to its very last word";
    player.model.say(Tone::Plain, long);
    player.keys("z z");
    let screen = player.screen();
    assert!(screen.contains("a long remark") && screen.contains("very last word"), "{screen}");
    assert!(screen.contains("help   q quit"), "{screen}");
}

#[test]
fn why_cycles_were_rejected_is_not_cut() {
    let mut player = Player::open(POLITE, FULL);
    player.model.launch.settings.properties = vec!["progress".to_owned()];
    player.keys("S f2");
    let why = "passes the progress label `progress_that_is_made` at line 1042";
    player.model.watch.reasons = vec![(why.to_owned(), 3)];
    player.model.watch.look = Some(Look { rejected: 3, ..look() });
    let screen = player.screen();
    assert!(why.split(' ').all(|word| screen.contains(word)), "{screen}");
}

#[test]
fn a_path_is_entered_as_soon_as_all_of_it_is_known() {
    let mut player = Player::open(FORK, FULL);
    player.model.watch.running = true;
    player.model.watch.look = Some(look());
    player.keys("f2 f enter");
    player.said("as soon as the search has shown");
    let moves = Some(Vec::new());
    let told = Event::Look { property: "safety".to_owned(), look: Look { moves, ..look() } };
    player.send(Message::Event(player.model.work, Box::new(told)));
    player.said("of the path of the search");
}

#[test]
fn a_path_that_is_not_shown_yet_is_kept_as_soon_as_it_is() {
    let mut player = Player::open(FORK, FULL);
    player.keys("f2 f");
    player.said("no path to keep");
    player.model.watch.running = true;
    player.keys("f");
    player.said("keeps the next path");
    let told = Event::Look { property: "safety".to_owned(), look: look() };
    player.send(Message::Event(player.model.work, Box::new(told)));
    player.said("kept: up and down");
    assert!(player.screen().contains("Kept path, step"), "{}", player.screen());
}

#[test]
fn nobody_is_called_blocked_while_the_claim_moves() {
    let text = "byte x; active proctype P() { do :: x = 1 - x od } ltl low { [] (x < 1) }";
    let mut player = Player::open(text, FULL);
    player.model.launch.settings.properties = vec!["low".to_owned()];
    player.keys("S");
    let session = player.model.session.as_ref().expect("a walk");
    assert!(session.walk.is_claims_turn(), "{}", player.screen());
    assert!(player.screen().contains("the claim moves first"), "{}", player.screen());
    player.keys("tab W");
    assert!(player.screen().contains("P[0] has to wait"), "{}", player.screen());
}

#[test]
fn signs_do_not_run_into_the_numbers_of_lines() {
    let text = format!("{}active proctype P() {{ skip }}", "\n".repeat(271));
    let player = Player::open(&text, FULL);
    assert!(player.screen().contains("▶0 272 active"), "{}", player.screen());
}

#[test]
fn a_delay_that_makes_something_else_go_wrong_is_no_good_news() {
    // Whoever is first is wrong, each in its own way.
    let text = "byte x; active proctype P() { x++; assert(x == 2) } active proctype Q() { x == 1; x = x / 0 }";
    let mut player = Player::open(text, FULL);
    player.keys("1 2");
    player.said("goes wrong");
    player.keys("p D");
    let (said, tone) = (player.said("goes wrong").to_owned(), player.model.status_line.tone);
    assert_eq!(tone, Tone::Bad, "{said}");
}

#[test]
fn only_the_essential_steps_are_shown() {
    let idle = format!("{RACE}active proctype Idle() {{ byte i; i = 1; i = 2; i = 3 }}\n");
    let mut player = Player::open(&idle, FULL);
    player.keys("S e");
    player.said("essential");
    let session = player.model.session.as_ref().expect("a walk");
    assert!(session.row_count() <= session.walk.line().len());
    player.keys("e");
    assert_eq!(player.model.status_line.text, "all steps are shown");
}

#[test]
fn the_writers_of_a_value_are_followed_through_a_channel() {
    let mut player = Player::open(TALK, FULL);
    player.keys("n n n tab tab w");
    insta::assert_snapshot!("writers_80", player.screen());
}

#[test]
fn a_text_is_found_in_every_panel_and_in_the_help() {
    let mut player = Player::open(TALK, (120, 30));
    player.keys("n n n home tab tab tab");
    let marked = |player: &Player| player.model.cursors[Panel::Trace.index()].at;
    // The run: the first step that receives, the next one, and the same way back.
    player.keys("/ \"takes enter");
    let first = marked(&player);
    player.said("takes");
    player.keys("n");
    player.said("takes");
    player.keys("N");
    assert_eq!(marked(&player), first, "{}", player.screen());
    assert!(player.screen().contains("n next   N previous   esc end"), "{}", player.screen());
    player.keys("/ ctrl-u \"nowhere enter");
    player.said("`nowhere` was not found: Run");
    // The keys are what they were.
    player.keys("esc home n");
    let session = player.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.number(session.walk.here()), 1);
    player.keys("tab / \"PROCTYPE enter");
    let at = player.model.cursors[Panel::Source.index()].at;
    assert!(player.model.source.lines[at].contains("proctype"), "{}", player.screen());
    player.keys("esc ? / \"bookmark enter");
    let screen = player.screen();
    assert!(screen.contains("Keys with `bookmark`") && screen.contains("or to a bookmark by its name"), "{screen}");
    player.keys("n");
    assert!(player.screen().contains("with holds and bookmarks"), "{}", player.screen());
    player.keys("esc");
    assert_eq!((&player.model.overlay, &player.model.find_in_help), (&None, &None));
}

#[test]
fn an_expression_is_watched_along_the_run() {
    let mut player = Player::open(RACE, FULL);
    player.keys("a \"x+ enter");
    assert!(player.screen().contains("Watch"), "what cannot be read does not close the question");
    player.keys("ctrl-u \"x+10 enter");
    assert!(player.screen().contains("= x+10 10"), "{}", player.screen());
    player.keys("S n");
    assert!(player.screen().contains("· x+10 11  was 10"), "{}", player.screen());
    player.keys("n enter");
    let screen = player.screen();
    let lines = ["x+10 along the run", "initially: 10", "step 1: 11 Slow[0]: x = 1", "step 3: 12 Slow[0]: x = 2"];
    assert!(lines.iter().all(|line| screen.contains(line)), "{screen}");
    // A line leads to its step, and the expression is watched in the next text, too.
    player.keys("down enter");
    let session = player.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.number(session.walk.here()), 1);
    player.write(&RACE.replace("byte x", "byte x, y"));
    assert!(player.screen().contains("x+10 11"), "{}", player.screen());
    player.keys("-");
    player.said("`x+10` is no longer watched");
    assert!(!player.screen().contains("x+10 1"), "{}", player.screen());
}

#[test]
fn delays_are_marked_in_lanes_and_story() {
    let mut player = Player::open(RACE, (120, 30));
    assert!(!player.screen().contains("held back"), "nobody asked for a scheduler");
    player.keys("P D");
    player.said("Slow[0] cannot be held back at step 1: nobody else can move there");
    assert!(!player.screen().contains("⏸"), "{}", player.screen());
    player.keys("n D");
    player.said("Fast[1] is held back at step 2");
    let screen = player.screen();
    assert!(screen.contains("⏸ held back") && screen.contains("delaying "), "{screen}");
    player.keys("l");
    assert!(player.screen().contains("⏸ Fast[1] held back; "), "{}", player.screen());
}

#[test]
fn the_moves_of_a_claim_are_folded_unless_they_are_asked_for() {
    let text = "byte x; ltl never_two { <> (x == 2) } active proctype P() { do :: x = 1 - x od }";
    let mut player = Player::open(text, (100, 30));
    player.keys("S");
    let rows = |player: &Player| player.model.session.as_ref().expect("a walk").row_count();
    let walk = |player: &Player| player.model.session.as_ref().expect("a walk").walk.line().len();
    let (folded, all) = (rows(&player), walk(&player));
    let screen = player.screen();
    assert!(folded < all && !screen.contains("claim:"), "{screen}");
    assert!(screen.contains('╭') && screen.contains('╰'), "the loop is marked at rows that are shown: {screen}");
    // In the claim's turn and in the system's, one is at a row that is shown.
    for _ in 0..all {
        player.keys("n");
        assert!(player.screen().contains('▸'), "{}", player.screen());
    }
    player.keys("C");
    player.said("the claim's moves are rows");
    assert!(rows(&player) == all && player.screen().contains("claim:"), "{}", player.screen());
    player.keys("C l l l");
    player.said("the claim's moves are folded");
    assert!(rows(&player) == folded && !player.screen().contains("claim:"), "{}", player.screen());
    let mut player = Player::open(RACE, FULL);
    player.keys("C");
    player.said("no claim is watched beside this run");
}

#[test]
fn small_screens_show_one_panel_and_never_fail() {
    for (text, keys) in [(TALK, "n n n"), (POLITE, "S [ l l l"), (RACE, "f2"), (TALK, "?"), (TALK, "c"), (TALK, "W")] {
        let mut player = Player::open(text, FULL);
        player.keys(keys);
        for width in [0, 1, 2, 5, 11, 20, 40, 79, 80, 119, 120, 200] {
            for height in [0, 1, 2, 3, 5, 8, 23, 24, 60] {
                player.model.size = (width, height);
                player.keys("tab tab");
                if width > 0 && height > 0 {
                    player.screen();
                }
            }
        }
    }
    let mut player = Player::open(TALK, (20, 5));
    player.keys("n");
    insta::assert_snapshot!("tiny", player.screen());
}

#[test]
fn without_colours_and_in_ascii_nothing_is_lost() {
    let theme = Theme { colour: false, light: false, ascii: true };
    let mut player = Player::with(TALK, FULL, Settings::default(), theme);
    player.keys("n n n S");
    let screen = player.screen();
    assert!(screen.is_ascii(), "{}", screen.chars().filter(|c| !c.is_ascii()).collect::<String>());
    insta::assert_snapshot!("ascii_80", screen);
}

#[test]
fn the_help_has_every_key() {
    let mut player = Player::open(TALK, (100, 200));
    player.keys("?");
    let screen = player.screen();
    for binding in fabius_tui::keys::TABLE {
        let first = binding.long.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        assert!(screen.contains(&first), "{first} is missing:\n{screen}");
    }
}

#[test]
fn the_documentation_has_every_key() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/explorer.md");
    let keys = fabius_tui::keys::markdown();
    let text = std::fs::read_to_string(path).expect("docs/explorer.md is there");
    let (begin, end) = ("<!-- keys -->\n", "<!-- end of keys -->");
    let at = text.find(begin).expect("it has a mark where the keys begin") + begin.len();
    let until = text.find(end).expect("it has a mark where they end");
    if std::env::var_os("FABIUS_BLESS").is_some() {
        let blessed = format!("{}{keys}{}", &text[..at], &text[until..]);
        std::fs::write(path, blessed).expect("it can be written");
        return;
    }
    assert_eq!(&text[at..until], keys, "FABIUS_BLESS=1 writes it anew");
}

#[test]
fn a_long_run_scrolls_without_describing_all_of_it() {
    let text = "byte x; active proctype P() { do :: x = 1 - x od }";
    let mut player = Player::open(text, FULL);
    player.keys("r ctrl-u \"100000 enter");
    let session = player.model.session.as_mut().expect("a walk");
    assert_eq!(session.walk.line().len(), 100_001);
    let before = session.described;
    let rows = 24;
    player.keys("home tab tab tab");
    for _ in 0..100 {
        player.keys("pgdn");
    }
    let described = player.model.session.as_ref().expect("a walk").described - before;
    assert!(described <= 110 * rows, "100 pages took {described} descriptions of steps");
}

#[test]
fn a_run_is_asked_where_a_pattern_is_true_and_where_a_value_changes() {
    let mut player = Player::open(TALK, FULL);
    player.keys("n n n n n home tab tab tab");
    let marked = |player: &Player| player.model.cursors[Panel::Trace.index()].at;
    player.keys("/ \"=len(up)==0&&once(len(up)==1) enter");
    player.said("`len(up)==0&&once(len(up)==1)` is true in");
    let first = marked(&player);
    player.keys("N");
    player.said("from the end again");
    player.keys("n");
    assert_eq!(marked(&player), first);
    player.keys("/ ctrl-u \"~asked enter");
    player.said("`asked` changes in step 3 only");
    assert_eq!(marked(&player), 3, "{}", player.screen());
    player.keys("/ ctrl-u \"~len(up) enter");
    player.said("`len(up)` changes in 2 steps, first in step 1, last in step 2");
    player.keys("/ ctrl-u \"=asked==9 enter");
    player.said("`asked==9` is true nowhere in this run");
    // What cannot be read is not looked for.
    player.keys("/ ctrl-u \"=nobody==9 enter");
    assert!(player.screen().contains("`nobody` is not declared"), "{}", player.screen());
    player.keys("esc");
}

#[test]
fn a_run_goes_on_at_random_or_along_the_line_until_a_pattern_is_true() {
    for key in ["r", "c"] {
        let mut player = Player::open(TALK, FULL);
        player.keys(&format!("{key} ctrl-u \"asked==3&&previously(asked==0) enter"));
        let session = player.model.session.as_ref().expect("a walk");
        assert_eq!(session.walk.number(session.walk.here()), 3, "{}", player.screen());
        assert_eq!(session.walk.evaluate("asked", None).as_deref(), Ok("3"));
        player.keys(&format!("{key} ctrl-u \"asked==3&&nonsense enter"));
        assert!(player.screen().contains("`nonsense` is not declared"), "{}", player.screen());
    }
}
