//! Other runs to an error.

use super::support::Player;

/// An assertion that fails, or a deadlock.
const TWO_CAUSES: &str = "bool paid;
active proctype Desk() { paid }
active proctype Telephone() { if :: paid = true; assert(!paid) :: skip fi }
";

#[test]
fn runs_with_other_causes_are_shown_one_after_the_other() {
    let mut player = Player::open(TWO_CAUSES, (160, 50));
    player.keys("2 1 t t t t");
    let said = player.model.status_line.text.clone();
    assert!(said.starts_with("another cause: 2 steps") && said.ends_with("t looks for another cause"), "{said}");
    let session = player.model.session.as_ref().expect("a walk");
    assert!(session.walk.error_of_line().is_some_and(|error| error.contains("assert")), "{said}");
    player.keys("t");
    player.said("another cause: there is none: each run that violates safety has one of the 2 shown");
}
