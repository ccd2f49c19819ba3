//! Small models at random in which processes have little to do with each other, so that there is something to
//! reduce: parameters, arrays indexed by process, channels of all kinds, atomic sequences that block, loops.

use super::Dice;
use std::fmt::Write;

/// The text of the model that belongs to a seed.
pub fn model(seed: u64) -> String {
    let mut maker = Maker { dice: Dice::new(seed ^ 0x5EED), text: String::new(), kinds: 0 };
    maker.model();
    maker.text
}

struct Maker {
    dice: Dice,
    text: String,
    kinds: usize,
}

impl Maker {
    fn model(&mut self) {
        let capacities: Vec<usize> = (0..3).map(|_| [0, 0, 1, 1, 2][self.dice.below(5)]).collect();
        self.text.push_str("byte x, y, z; byte a[4]; bit b; short s;\n");
        for (index, capacity) in capacities.iter().enumerate() {
            let _ = writeln!(self.text, "chan c{index} = [{capacity}] of {{ byte }};");
        }
        self.kinds = 1 + self.dice.below(3);
        for kind in 0..self.kinds {
            let _ = writeln!(self.text, "proctype K{kind}(chan p; byte k) {{\n  byte l; bit m;");
            if self.dice.one_in(8) {
                self.text.push_str("  chan own = [1] of { byte };\n");
            }
            let length = 1 + self.dice.below(3);
            let label = self.dice.pick(&["progress_", "accept_", "end_", "on_", "progress_", "on_"]).to_owned();
            let looping = self.dice.one_in(2);
            let labelled = self.dice.below(length);
            if looping {
                self.text.push_str("top:\n");
            }
            for at in 0..length {
                if at == labelled {
                    let _ = write!(self.text, "{label}{kind}: ");
                }
                self.statement(2);
            }
            if looping {
                self.text.push_str("  goto top\n");
            }
            self.text.push_str("}\n");
        }
        self.text.push_str("init {\n");
        let atomic = !self.dice.one_in(4);
        if atomic {
            self.text.push_str("  atomic {\n");
        }
        for _ in 0..2 + self.dice.below(2) {
            let (kind, channel, k) = (self.dice.below(self.kinds), self.dice.below(3), self.dice.below(3));
            let _ = writeln!(self.text, "  run K{kind}(c{channel}, {k});");
        }
        if atomic {
            self.text.push_str("  }\n");
        }
        if self.dice.one_in(4) {
            self.text.push_str("  _nr_pr == 1;\n");
        }
        if self.dice.one_in(3) {
            self.statement(1);
        }
        self.text.push_str("}\n");
    }

    fn statement(&mut self, depth: usize) {
        match self.dice.below(if depth == 0 { 9 } else { 16 }) {
            9 => self.block("atomic", depth),
            10 => self.block("d_step", 0),
            11 | 12 => self.choice("if", "fi", depth),
            13 | 14 => self.choice("do", "od", depth),
            15 if self.dice.one_in(3) => {
                self.text.push_str("  {\n");
                self.statement(depth - 1);
                self.text.push_str("  } unless {\n");
                let guard = self.guard();
                let _ = writeln!(self.text, "  {guard};");
                self.text.push_str("  };\n");
            }
            _ => {
                let simple = self.simple();
                let _ = writeln!(self.text, "  {simple};");
            }
        }
    }

    fn block(&mut self, word: &str, depth: usize) {
        let _ = writeln!(self.text, "  {word} {{");
        if word == "d_step" {
            let first = if self.dice.one_in(2) { self.guard() } else { self.assignment() };
            let _ = writeln!(self.text, "  {first};");
            for _ in 0..1 + self.dice.below(2) {
                let then = self.assignment();
                let _ = writeln!(self.text, "  {then};");
            }
        } else {
            for _ in 0..1 + self.dice.below(3) {
                let inner = depth.min(1) * self.dice.below(2);
                self.statement(inner);
            }
        }
        self.text.push_str("  };\n");
    }

    fn choice(&mut self, open: &str, close: &str, depth: usize) {
        let _ = writeln!(self.text, "  {open}");
        for _ in 0..1 + self.dice.below(2) {
            let first = if self.dice.one_in(3) { self.simple() } else { self.guard() };
            let _ = writeln!(self.text, "  :: {first};");
            if self.dice.one_in(2) {
                self.statement(depth - 1);
            }
            if open == "do" && self.dice.one_in(3) {
                self.text.push_str("  break;\n");
            }
        }
        if self.dice.one_in(2) {
            let _ = writeln!(self.text, "  :: else -> {}", if open == "do" { "break" } else { "skip" });
        }
        let _ = writeln!(self.text, "  {close};");
    }

    fn variable(&mut self) -> &'static str {
        ["x", "y", "z", "b", "a[_pid % 4]", "a[k]", "a[0]", "l", "m", "s"][self.dice.below(10)]
    }

    fn channel(&mut self) -> &'static str {
        ["c0", "c1", "c2", "p", "p"][self.dice.below(5)]
    }

    fn simple(&mut self) -> String {
        match self.dice.below(13) {
            0..=4 => self.assignment(),
            5 => self.guard(),
            6 | 7 => {
                let (channel, value) = (self.channel(), self.value());
                let operator = if self.dice.one_in(6) { "!!" } else { "!" };
                format!("{channel}{operator}{value}")
            }
            8 | 9 => {
                let channel = self.channel();
                let pattern = match self.dice.below(5) {
                    0 => "1".to_owned(),
                    1 => "eval(x)".to_owned(),
                    2 => "_".to_owned(),
                    _ => self.dice.pick(&["l", "y", "a[k]"]).to_owned(),
                };
                let operator = if self.dice.one_in(6) { "??" } else { "?" };
                format!("{channel}{operator}{pattern}")
            }
            10 => format!("assert({})", self.condition()),
            11 => self.dice.pick(&["skip", "timeout", "true", "s = s / b", "a[l] = 1"]).to_owned(),
            _ if self.dice.one_in(6) => "run K0(c0, 0)".to_owned(),
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) -> String {
        let variable = self.variable();
        match self.dice.below(6) {
            0 => format!("{variable} = ({variable} + 1) % 3"),
            1 => format!("{variable} = 1 - {variable}"),
            2 => {
                let other = self.variable();
                format!("{variable} = {other}")
            }
            _ => format!("{variable} = {}", self.dice.below(3)),
        }
    }

    fn value(&mut self) -> String {
        if self.dice.one_in(3) { self.variable().to_owned() } else { self.dice.below(3).to_string() }
    }

    fn guard(&mut self) -> String {
        match self.dice.below(5) {
            0 => {
                let (first, second) = (self.condition(), self.condition());
                let operator = self.dice.pick(&["&&", "||"]);
                format!("({first} {operator} {second})")
            }
            1 => format!("!({})", self.condition()),
            _ => format!("({})", self.condition()),
        }
    }

    fn condition(&mut self) -> String {
        let variable = self.variable();
        let number = self.dice.below(3);
        match self.dice.below(12) {
            0..=5 => format!("{variable} {} {number}", self.dice.pick(&["==", "!=", "<", ">=", "=="])),
            6 => format!("{} > {variable}", self.variable()),
            7 => format!("len({}) {} {}", self.channel(), self.dice.pick(&["<", "==", ">"]), self.dice.below(2)),
            8 => format!("{}({})", self.dice.pick(&["nempty", "empty", "full", "nfull"]), self.channel()),
            9 => "_nr_pr < 3".to_owned(),
            10 => self.dice.pick(&["_pid == 1", "k == 1", "true"]).to_owned(),
            _ => format!("{variable} == {number}"),
        }
    }
}

/// A claim of a few states, some of which cannot tell how often a state of the system is repeated, and some of whose conditions cannot be
/// evaluated in each state.
pub fn claim(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0xC1);
    let condition = |dice: &mut Dice| if dice.one_in(4) { "(a[x * 2] == 1)".to_owned() } else { formula_of(dice, 0) };
    let count = 1 + dice.below(3);
    let states: Vec<String> =
        (0..count).map(|at| format!("{}{at}", if dice.one_in(3) { "accept_" } else { "S" })).collect();
    let mut text = String::new();
    for (at, state) in states.iter().enumerate() {
        let enough = condition(&mut dice);
        // What may be left at any time may be left later.
        let stay = if dice.one_in(2) { "true".to_owned() } else { condition(&mut dice) };
        let next = states.get(at + 1).map_or("last", String::as_str);
        let other = &states[dice.below(count)];
        text += &match dice.below(5) {
            0 => format!("{state}: do :: assert({enough}) od;\n"),
            1 => format!("{state}: if :: {enough} -> goto {other} :: else -> goto {next} fi;\n"),
            2 => format!("{state}: if :: {enough} -> goto {state} :: !{enough} -> goto {next} fi;\n"),
            _ => format!("{state}: if :: {stay} -> goto {state} :: {enough} -> goto {next} fi;\n"),
        };
    }
    let last = if dice.one_in(2) { "false" } else { "skip" };
    format!("never p {{\n{text}last: {last}\n}}\n")
}

/// A formula without a next-time operator.
pub fn formula(seed: u64) -> String {
    formula_of(&mut Dice::new(seed ^ 0xF0), 3)
}

fn formula_of(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 || dice.one_in(5) {
        let name = ["x", "y", "z", "b", "a[0]", "a[1]", "s"][dice.below(7)];
        return match dice.below(9) {
            0 => "(len(c0) > 0)".to_owned(),
            1 => "(K0[1]@on_0)".to_owned(),
            2 => "(K0[1]:l == 1)".to_owned(),
            _ => format!("({name} == {})", dice.below(3)),
        };
    }
    let first = formula_of(dice, depth - 1);
    match dice.below(9) {
        0 | 1 => format!("[]{first}"),
        2 | 3 => format!("<>{first}"),
        4 => format!("!{first}"),
        5 => format!("({first} U {})", formula_of(dice, depth - 1)),
        6 => format!("({first} -> {})", formula_of(dice, depth - 1)),
        7 => format!("({first} && {})", formula_of(dice, depth - 1)),
        _ => format!("({first} || {})", formula_of(dice, depth - 1)),
    }
}
