//! The state graph in the explorer.

use super::support::Player;
use fabius_tui::graph::GraphView;
use fabius_tui::model::Overlay;

const RACE: &str = "byte x;
active [2] proctype P() { byte mine; mine = x; x = mine + 1 }
active proctype Check() { (x == 1 && P[0]:mine == 0) -> assert(false) }
";

fn shown(player: &Player) -> &GraphView {
    let Some(Overlay::Graph(view)) = &player.model.overlay else { panic!("no graph is shown") };
    view
}

#[test]
fn the_graph_marks_the_run_and_leads_along_its_edges() {
    let mut player = Player::open(RACE, (80, 24));
    player.keys("n n L");
    let view = shown(&player);
    let (here, at) = (view.here.expect("the state is in the graph"), view.cursor.at);
    assert_eq!((here, view.graph.distances[here], view.on_run.len()), (at, 2, 3));
    insta::assert_snapshot!("graph_80", player.screen());
    // Along an edge, and back.
    let to = view.leaving().next().expect("a step").to;
    player.keys("1");
    assert_eq!(shown(&player).cursor.at, to);
    player.keys("p");
    assert_eq!(shown(&player).cursor.at, here);
    // The walk goes to the state that is marked.
    player.keys("end");
    let last = shown(&player).cursor.at;
    assert!(!shown(&player).on_run.contains(&last));
    player.keys("k enter");
    assert!(player.model.overlay.is_none());
    player.keys("L");
    let view = shown(&player);
    assert_eq!(view.here, Some(view.cursor.at));
    let run: Vec<usize> = view.on_run.iter().copied().collect();
    assert_eq!((run.first(), run.last()), (Some(&0), view.here.as_ref()));
    player.keys("esc");
    assert!(player.model.overlay.is_none());
}

#[test]
fn the_path_of_a_counterexample_is_marked_and_large_graphs_are_parts() {
    let mut player = Player::open(RACE, (80, 24));
    player.keys("S L");
    let view = shown(&player);
    let line = player.model.session.as_ref().expect("a walk").walk.line().len();
    // The last step of the run fails, and leads to a state, too.
    assert!(1 < view.run_edges.len() && view.on_run.len() + 1 >= line, "{:?}", view.on_run);
    assert_eq!(view.graph.graph.stopped, None);
    let mut player = Player::open("byte x, y; active proctype P() { do :: x++ :: y++ od }", (80, 24));
    player.keys("L");
    assert!(shown(&player).graph.graph.stopped.is_some());
    player.said("the first 1 000 states");
    assert!(player.screen().contains("not all"), "{}", player.screen());
    for size in [(20, 6), (40, 10), (200, 60)] {
        player.model.size = size;
        let _ = player.screen();
    }
}

#[test]
fn a_formula_beside_the_model_is_no_part_of_its_states() {
    let mut player = Player::open("byte x; active proctype P() { do :: x = 1 - x od } ltl p { [] (x == 0) }", (80, 24));
    player.model.launch.settings.properties = vec!["p".to_owned()];
    player.keys("S L");
    let view = shown(&player);
    assert_eq!((view.graph.graph.states, view.here.is_some()), (2, true));
}
