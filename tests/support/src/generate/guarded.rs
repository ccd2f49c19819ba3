//! Small models at random whose guards exclude each other, look at channels, or can be faults depending on what others do.

use super::Dice;
use std::fmt::Write;

const GUARDS: &[&str] = &[
    "x == 0",
    "x == 1",
    "x != 1",
    "x > 0 && y == 0",
    "l == 0",
    "l == 1",
    "empty(c)",
    "nempty(c)",
    "full(c)",
    "empty(d) && x == 0",
    "nempty(d) && y != 0",
    "len(c) == 1",
    "c?[1]",
    "c!1",
    "c!2",
    "d!x",
    "c?1",
    "c?2",
    "d?l",
    "d?eval(10 / y)",
    "r!1",
    "r?l",
    "10 / y > 0 && x == 0",
    "x == 0 && 10 / y > 0",
    "10 / l > 0 && x == 1",
    "!(10 / y > 0 || x == 1)",
    "a[y] == 0 && x == 1",
    "a[l] == 0 && x == 0",
    "else",
    "true",
];

const EFFECTS: &[&str] = &[
    "x = 1",
    "x = 0",
    "y = 1",
    "y = 0",
    "y = 3",
    "l = 1",
    "l = 1 - l",
    "a[1] = 1",
    "c!1",
    "d!2",
    "c?_",
    "skip",
    "assert(x == 0)",
    "assert(y != 1)",
];

/// The text of the model that belongs to a seed.
pub fn model(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6A4D);
    let (x, y) = (dice.below(2), dice.below(2));
    let (c, d) = (1 + dice.below(2), 1 + dice.below(2));
    let mut text = format!(
        "byte x = {x}, y = {y}, a[2];\nchan c = [{c}] of {{ byte }};\nchan d = [{d}] of {{ byte }};\nchan r = [0] of {{ byte }};\n"
    );
    for process in 0..2 + dice.below(2) {
        let _ = writeln!(text, "active proctype P{process}() {{\n  byte l;");
        for _ in 0..1 + dice.below(3) {
            let (open, close) = if dice.one_in(3) { ("do", "od") } else { ("if", "fi") };
            let _ = writeln!(text, "  {open}");
            let mut has_else = false;
            for _ in 0..1 + dice.below(3) {
                let guard = dice.pick(GUARDS);
                let effect = dice.pick(EFFECTS);
                if guard == "else" && std::mem::replace(&mut has_else, true) {
                    continue;
                }
                let _ = match dice.below(4) {
                    0 if guard != "else" => writeln!(text, "  :: atomic {{ {guard} -> {effect} }}"),
                    _ => writeln!(text, "  :: {guard} -> {effect}"),
                };
            }
            if open == "do" {
                text.push_str("  :: x == 1 -> break\n");
            }
            let _ = writeln!(text, "  {close};");
        }
        text.push_str("  skip\n}\n");
    }
    text
}
