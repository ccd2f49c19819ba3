//! Small models at random that end, and whose statements name elements and channels by indices that others may change.

use super::Dice;
use std::fmt::Write;

/// The text of the model that belongs to a seed.
pub fn model(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x1DE7);
    let mut text = String::from("byte a[3], i, j, x; chan c[2] = [1] of { byte };\n");
    let processes = 2 + usize::from(dice.one_in(3));
    for index in 0..processes {
        let _ = writeln!(text, "active proctype P{index}() {{ byte k;");
        let length = 1 + dice.below(if processes == 2 { 4 } else { 2 });
        for _ in 0..length {
            let statement = statement(&mut dice);
            let _ = writeln!(text, "  {statement};");
        }
        text.push_str("}\n");
    }
    text
}

fn statement(dice: &mut Dice) -> String {
    match dice.below(10) {
        0 => format!("atomic {{ {}; {} }}", simple(dice), simple(dice)),
        1 => format!("atomic {{ {}; {}; {} }}", simple(dice), guard(dice), simple(dice)),
        2 => format!("if :: {} -> {} :: {} -> {} fi", guard(dice), simple(dice), guard(dice), simple(dice)),
        3 => format!("if :: {} -> {} :: else -> {} fi", guard(dice), simple(dice), simple(dice)),
        4 => format!("d_step {{ {}; {} }}", assignment(dice), assignment(dice)),
        _ => simple(dice),
    }
}

fn simple(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => guard(dice),
        1 | 2 => format!("c[{} % 2]!{}", index(dice), ["1", "x", "k"][dice.below(3)]),
        3 | 4 => format!("c[{} % 2]?{}", index(dice), ["k", "_", "i", "a[k % 3]"][dice.below(4)]),
        5 if dice.one_in(3) => format!("assert(a[{} % 3] < 2)", index(dice)),
        _ => assignment(dice),
    }
}

fn index(dice: &mut Dice) -> &'static str {
    ["i", "j", "k", "a[0]", "1"][dice.below(5)]
}

fn assignment(dice: &mut Dice) -> String {
    let (at, other) = (index(dice), index(dice));
    match dice.below(9) {
        0 => format!("a[{at} % 3] = 1"),
        1 => format!("a[{at} % 3]++"),
        2 => format!("a[{at} % 3] = a[{other} % 3]"),
        3 => format!("k = a[{at} % 3]"),
        4 => "i = 1".to_owned(),
        5 => "j = i".to_owned(),
        6 => "k = j + 1".to_owned(),
        7 => format!("x = a[{at} % 3] + x"),
        _ => "j = 1".to_owned(),
    }
}

fn guard(dice: &mut Dice) -> String {
    let at = index(dice);
    match dice.below(5) {
        0 => format!("a[{at} % 3] == 0"),
        1 => format!("a[{at} % 3] > 0"),
        2 => format!("nempty(c[{at} % 2])"),
        3 => format!("len(c[{at} % 2]) == 0"),
        _ => "i != j".to_owned(),
    }
}
