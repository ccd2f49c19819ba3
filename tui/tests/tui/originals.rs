//! The original text of a generated model in the explorer.

use super::support::Player;

#[test]
fn the_line_of_the_original_stands_beside_the_statement() {
    let file = std::env::temp_dir().join(format!("fabius-explorer-original-{}.src", std::process::id()));
    std::fs::write(&file, "first\n  set n to 1\n").expect("a file");
    let text =
        |line: u32| format!("byte n;\nactive proctype P() {{\n#line {line} \"{}\"\n  n = 1;\n}}\n", file.display());
    let mut player = Player::open(&text(2), (120, 24));
    player.keys("n");
    let screen = player.screen();
    assert!(screen.lines().any(|row| row.contains("n = 1;   from: set n to 1")), "{screen}");
    // A line that the file does not have, and a file that is gone.
    player.write(&text(4_000_000_000));
    assert!(!player.screen().contains("from: set n to 1"), "{}", player.screen());
    std::fs::remove_file(&file).expect("the file is removed");
    player.write(&text(2));
    assert!(!player.screen().contains("from: set n to 1"), "{}", player.screen());
}
