//! Where the formula of a run holds: the table on the screen is that of the report, and follows the steps.

use super::support::Player;
use ratatui::style::Modifier;

const MODEL: &str = "\
byte x; bool req, ack;
active proctype P() { do :: req = 1; req = 0 :: x < 3 -> x++ :: ack = 1; ack = 0 od }
ltl live { [] (req -> <> (ack && x < 2)) }
";

/// A player who stands at the beginning of the counterexample.
fn at_the_counterexample() -> Player {
    let mut player = Player::open(MODEL, (80, 24));
    player.keys("S home");
    player
}

/// The columns of the screen that are marked in the row with these words.
fn marked(player: &Player, words: &str) -> Vec<u16> {
    let buffer = player.buffer();
    let (width, height) = player.model.size;
    let text = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let y =
        (0..height).find(|y| text(*y).contains(words)).unwrap_or_else(|| panic!("no {words}:\n{}", player.screen()));
    (0..width).filter(|x| buffer[(*x, y)].modifier.contains(Modifier::REVERSED)).collect()
}

#[test]
fn the_table_is_that_of_the_report() {
    let mut player = at_the_counterexample();
    player.keys("F z");
    let ribbon = player.model.known.examples[0].1.report.ribbon.clone().expect("the run has a table");
    let screen = player.screen();
    let sentence = ribbon.sentence.expect("a sentence");
    assert!(screen.contains(&format!("it says: {sentence}")), "{screen}");
    for (number, row) in ribbon.rows.iter().enumerate() {
        let name = format!("{}{} ", "  ".repeat(row.depth as usize), row.formula);
        let line =
            screen.lines().find(|line| line.starts_with(&name)).unwrap_or_else(|| panic!("no {name}:\n{screen}"));
        let signs: Vec<&str> = line[name.len()..].split_whitespace().filter(|sign| *sign != "│").collect();
        let expected: Vec<&str> = ribbon
            .columns
            .iter()
            .map(|at| {
                let decides = ribbon.decides.is_some_and(|cell| (cell.row, cell.position) == (number as u64, *at));
                match (row.values[*at as usize], decides) {
                    (Some(true), false) => "●",
                    (Some(true), true) => "✓",
                    (Some(false), false) => "○",
                    (Some(false), true) => "✗",
                    (None, _) => "?",
                }
            })
            .collect();
        assert_eq!(signs, expected, "{screen}");
    }
    assert!(screen.contains("● true; ○ false; ✗ false and decisive; behind │ the loop"), "{screen}");
}

#[test]
fn the_column_of_the_present_state_is_marked() {
    let mut player = at_the_counterexample();
    player.keys("F z");
    let mut places = Vec::new();
    for step in 0..4 {
        player.keys(&format!(": \"{step} enter"));
        let here = marked(&player, "after step");
        assert_eq!(here.len(), 1, "{}", player.screen());
        assert_eq!(marked(&player, "    req "), here, "{}", player.screen());
        places.extend(here);
    }
    // The state after the last step is that before the loop.
    assert!(places[0] < places[1] && places[1] < places[2] && places[3] == places[1], "{places:?}");
    player.keys("F");
    assert!(player.screen().contains("[lanes]"));
}

#[test]
fn at_eighty_columns() {
    let mut player = at_the_counterexample();
    player.keys(": \"1 enter F");
    insta::assert_snapshot!("formula_80", player.screen());
    player.keys("z");
    insta::assert_snapshot!("formula_zoom_80", player.screen());
}

#[test]
fn a_run_without_a_formula_says_so() {
    let mut player = Player::open("byte x;\nactive proctype P() { x = 1 }\n", (80, 24));
    player.keys("F z");
    assert!(player.screen().contains("`safety` has no formula and no claim"), "{}", player.screen());
}
