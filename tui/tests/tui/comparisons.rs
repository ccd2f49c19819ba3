//! Two runs beside one another: two branches of the tree, and the run before the model was written.

use super::support::Player;
use fabius_tui::model::Overlay;

const OLD: &str = "byte x; bool done;
active proctype P() { x = 1; x = x + 1; done = true }
active proctype Q() { do :: done -> break :: else -> skip od; assert(x == 3) }
";

const RACE: &str = "byte x;
active [2] proctype P() { byte mine; mine = x; x = mine + 1; mine = x }
";

/// A step: its number, and the process.
type Shown = Option<(usize, u8)>;

/// The steps that are shown on each side, and whether the row differs.
fn rows(player: &Player) -> Vec<(Shown, Shown, bool)> {
    let Some(Overlay::Comparison(found)) = &player.model.overlay else { panic!("no comparison is shown") };
    let step = |row, side| found.step(row, side).map(|step| (step.step, step.pid));
    (0..found.rows.len()).map(|row| (step(row, 0), step(row, 1), !found.is_same(row))).collect()
}

/// Runs to the marked branches of the tree: of each, who moves.
fn try_out(player: &mut Player, movers: &str) {
    player.keys("home");
    for mover in movers.chars() {
        player.keys(&mover.to_string());
    }
}

#[test]
fn two_branches_stand_beside_one_another() {
    let mut player = Player::open(RACE, (80, 24));
    player.keys("=");
    player.said("mark a state in the tree");
    // Each process by itself, then both read before one of them writes.
    try_out(&mut player, "1112");
    try_out(&mut player, "1212");
    player.keys("l l =");
    player.said("the run to step 4: ");
    let session = player.model.session.as_ref().expect("a walk");
    let here = session.walk.here();
    let leaf = |row: &fabius_tui::session::TreeRow| row.node != here && session.walk.children(row.node).is_empty();
    let up = player.model.tree_cursor.at - session.tree.iter().position(leaf).expect("another branch");
    let other = session.tree[player.model.tree_cursor.at - up].node;
    let runs = [here, other].map(|node| session.walk.path(node));
    (0..up).for_each(|_| {
        player.keys("k");
    });
    player.keys("=");
    insta::assert_snapshot!("branches_80", player.screen());
    // All steps of both are there, in their order, and the first difference is marked.
    let found = rows(&player);
    let first: Vec<u8> = found.iter().filter_map(|row| row.0).map(|(_, pid)| pid).collect();
    let second: Vec<u8> = found.iter().filter_map(|row| row.1).map(|(_, pid)| pid).collect();
    let movers = runs.each_ref().map(|run| run.iter().map(|step| step.pid).collect::<Vec<u8>>());
    assert_eq!([first, second], movers);
    let Some(Overlay::Comparison(shown)) = &player.model.overlay else { panic!("no comparison") };
    let at = shown.cursor.at;
    assert!(found[at].2 && found[..at].iter().all(|row| !row.2), "{at} of {found:?}");
    // Enter goes to that step of the second run, or of the first one if only that has one.
    let (run, number) = match found[at] {
        (_, Some((number, _)), _) => (&runs[1], number),
        (first, None, _) => (&runs[0], first.expect("a step").0),
    };
    player.keys("enter");
    let session = player.model.session.as_ref().expect("a walk");
    assert_eq!(session.walk.path(session.walk.here()), run[..number]);
}

#[test]
fn the_run_before_the_model_was_written_is_compared_with_the_one_after() {
    let mut player = Player::open(OLD, (80, 24));
    player.keys("B");
    player.said("was not written since it was checked");
    player.keys("S");
    // One step more in the new text: all others are the same.
    player.write(&OLD.replace("x = x + 1;", "x = x + 1; skip;"));
    player.keys("B");
    insta::assert_snapshot!("before_after_80", player.screen());
    let found = rows(&player);
    assert_eq!(found.iter().filter(|(first, _, differs)| *differs && first.is_none()).count(), 1, "{found:?}");
    assert_eq!(found.iter().filter(|(.., differs)| *differs).count(), 1, "{found:?}");
    player.keys("esc");
    assert!(player.model.overlay.is_none());
    // The error is gone: the old run is followed as far as that goes.
    player.write(&OLD.replace("x == 3", "x == 2"));
    player.keys("B");
    insta::assert_snapshot!("before_mended_80", player.screen());
}
