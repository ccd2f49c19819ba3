//! Small models at random in which processes meet at rendezvous channels, often within atomic sequences in which they have to stop: after
//! steps that concern nobody else and after others, at places where they can do one thing and where they can do several.

use super::Dice;
use std::fmt::Write;

/// The text of the model that belongs to a seed.
pub fn model(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x3EE7);
    let mut text =
        String::from("bit g;\nchan c0 = [0] of { bit };\nchan c1 = [0] of { bit };\nchan c2 = [0] of { bit };\n");
    for process in 0..2 + dice.below(3) {
        let looping = dice.one_in(3);
        let _ = writeln!(text, "active proctype P{process}() {{\n  bit l, m;");
        text.push_str(if looping { "top:\n" } else { "" });
        for _ in 0..1 + dice.below(if looping { 2 } else { 3 }) {
            let statement = statement(&mut dice);
            let _ = writeln!(text, "  {statement};");
        }
        text.push_str(if looping { "  goto top\n}\n" } else { "}\n" });
    }
    text
}

fn statement(dice: &mut Dice) -> String {
    match dice.below(14) {
        0..=3 => sequence(dice),
        4 | 5 => {
            let (one, other) = (alternative(dice), alternative(dice));
            let last = if dice.one_in(3) { " :: else" } else { "" };
            format!("if :: {one} :: {other}{last} fi")
        }
        6 | 7 => meeting(dice),
        8..=11 => private(dice),
        12 if dice.one_in(2) => format!("{{ {} }} unless {{ {} }}", alternative(dice), shared(dice)),
        12 => shared(dice),
        _ => alternative(dice),
    }
}

/// An atomic sequence.
fn sequence(dice: &mut Dice) -> String {
    let before = if dice.one_in(4) { shared(dice) } else { private(dice) };
    let stop = match dice.below(6) {
        0 => format!("if :: {} :: {} fi", meeting(dice), meeting(dice)),
        1 => format!("if :: {} :: {} fi", meeting(dice), shared(dice)),
        2 => format!("{}; {}", private(dice), meeting(dice)),
        _ => meeting(dice),
    };
    let after = match dice.below(4) {
        0 => format!("; {}", meeting(dice)),
        1 => format!("; {}", shared(dice)),
        _ => String::new(),
    };
    format!("atomic {{ {before}; {stop}{after} }}")
}

fn alternative(dice: &mut Dice) -> String {
    match dice.below(5) {
        0 | 1 => sequence(dice),
        2 => shared(dice),
        _ => meeting(dice),
    }
}

/// To send on a rendezvous channel, or to receive.
fn meeting(dice: &mut Dice) -> String {
    let channel = dice.below(3);
    match dice.below(7) {
        0..=3 => format!("c{channel}!0"),
        4 => format!("c{channel}?0"),
        5 => format!("c{channel}?l"),
        _ => format!("c{channel}?_"),
    }
}

/// What concerns only the process itself.
fn private(dice: &mut Dice) -> String {
    match dice.below(12) {
        0 => "assert(l == m)".to_owned(),
        1 => "m = 1 / l".to_owned(),
        _ => dice
            .pick(&["l = 1 - l", "l = 1", "m = l", "m == 0", "l == 0", "m == l", "skip", "skip", "m = 1"])
            .to_owned(),
    }
}

/// What others may see, or what depends on them.
fn shared(dice: &mut Dice) -> String {
    let likely = ["g = 1", "g = l", "g == 0", "g == 1", "assert(g == 0)"];
    if dice.one_in(8) { "timeout".to_owned() } else { dice.pick(&likely).to_owned() }
}
