//! How the conditions are shown that keep processes from going on.

use super::support::Player;
use ratatui::buffer::Cell;
use ratatui::style::Modifier;

/// One process that waits in its first state.
const WAITS: &str = "byte a, b = 1, c;\nactive proctype P() { b && (a || c > 2) && !(b == 1) }\n";

#[test]
fn the_parts_that_make_a_condition_false_are_underlined() {
    let mut player = Player::open(WAITS, (100, 24));
    player.keys("tab W");
    insta::assert_snapshot!("false_parts_100", player.screen());
    let buffer = player.buffer();
    let underlined = |y: u16| -> String {
        let cells = (0..buffer.area.width).map(|x| &buffer[(x, y)]);
        let sign = |cell: &Cell| {
            if cell.modifier.contains(Modifier::UNDERLINED) { cell.symbol().to_owned() } else { " ".to_owned() }
        };
        cells.map(sign).collect()
    };
    let parts: Vec<String> = (0..24).map(underlined).collect();
    let parts: Vec<&str> =
        parts.iter().flat_map(|row| row.split("  ")).map(str::trim).filter(|s| !s.is_empty()).collect();
    assert_eq!(parts, ["a", "c > 2", "(b == 1)"]);
}
