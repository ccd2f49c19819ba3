//! Small models at random that end, and whose processes use channels in every way that there is, inside and outside of
//! atomic sequences: what one step does to a channel matters to what another one finds there.

use super::Dice;
use std::fmt::Write;

/// The text of the model that belongs to a seed.
pub fn model(seed: u64) -> String {
    let mut maker = Maker { dice: Dice::new(seed ^ 0x3E55), text: String::new(), remote: seed.is_multiple_of(4) };
    maker.model();
    maker.text
}

struct Maker {
    dice: Dice,
    text: String,
    /// Conditions may look into processes.
    remote: bool,
}

impl Maker {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text};");
    }

    fn model(&mut self) {
        self.text.push_str("byte x, y;\n");
        let capacities = [[2, 0], [2, 1], [3, 1], [1, 0], [1, 1]][self.dice.below(5)];
        for (index, capacity) in capacities.into_iter().enumerate() {
            let _ = writeln!(self.text, "chan c{index} = [{capacity}] of {{ byte }};");
        }
        let runs = self.dice.one_in(3);
        if runs {
            self.text.push_str("proctype Child(chan p; byte k) {\n  byte l;\n");
            self.statements(1 + self.dice.clone().below(2), 1, "p");
            self.text.push_str("}\n");
        }
        for index in 0..2 + self.dice.below(2) {
            let _ = writeln!(self.text, "active proctype P{index}() {{\n  byte l; byte k = {};", self.dice.below(3));
            let channel = format!("c{}", self.dice.below(2));
            let length = 1 + self.dice.below(3);
            self.statements(length, 1, &channel);
            if runs && index == 0 {
                self.line(
                    ["run Child(c0, 1)", "l = run Child(c1, 2)", "atomic { run Child(c0, 0); c0!2 }"][length - 1],
                );
            }
            self.text.push_str("here:\n");
            self.statements(self.dice.clone().below(3), 1, &channel);
            self.text.push_str("  skip\n}\n");
        }
    }

    fn statements(&mut self, count: usize, depth: usize, channel: &str) {
        (0..count).for_each(|_| self.statement(depth, channel));
    }

    fn statement(&mut self, depth: usize, channel: &str) {
        match self.dice.below(if depth == 0 { 6 } else { 12 }) {
            6..=8 => {
                self.text.push_str("  atomic {\n");
                let length = 2 + self.dice.below(2);
                self.statements(length, depth - 1, channel);
                self.text.push_str("  };\n");
            }
            9 => self.d_step(channel),
            10 => self.choice(depth, channel),
            11 if self.dice.one_in(2) => {
                self.text.push_str("  {\n");
                self.statements(2, 0, channel);
                self.text.push_str("  } unless {\n");
                let first = self.blocking(channel);
                self.line(&first);
                self.text.push_str("  };\n");
            }
            _ => {
                let simple = if self.dice.one_in(4) { self.assignment() } else { self.message(channel) };
                self.line(&simple);
            }
        }
    }

    /// Only its first statement may block.
    fn d_step(&mut self, channel: &str) {
        let first = self.blocking(channel);
        let then = self.assignment();
        let last = match self.dice.below(3) {
            0 => format!("if :: nfull(c0) -> c0!{} :: else -> skip fi", self.dice.below(3)),
            1 => "if :: nempty(c0) -> c0?l :: else -> skip fi".to_owned(),
            _ => self.assignment(),
        };
        let _ = writeln!(self.text, "  d_step {{ {first}; {then}; {last} }};");
    }

    fn choice(&mut self, depth: usize, channel: &str) {
        self.text.push_str("  if\n");
        for _ in 0..1 + self.dice.below(2) {
            let first = self.blocking(channel);
            let _ = writeln!(self.text, "  :: {first};");
            if self.dice.one_in(2) {
                self.statement(depth - 1, channel);
            }
        }
        if self.dice.one_in(2) {
            self.text.push_str("  :: else -> x = 1\n");
        }
        self.text.push_str("  fi;\n");
    }

    fn blocking(&mut self, channel: &str) -> String {
        if self.dice.one_in(3) { self.condition() } else { self.message(channel) }
    }

    fn message(&mut self, channel: &str) -> String {
        let channel = if self.dice.one_in(2) { channel } else { self.dice.pick(&["c0", "c0", "c1"]) };
        let value = self.dice.pick(&["1", "2", "k", "x", "l"]);
        match self.dice.below(16) {
            0..=5 => format!("{channel}!{value}"),
            6 => format!("{channel}!!{value}"),
            7..=10 => format!("{channel}?{}", self.dice.pick(&["l", "l", "x", "_"])),
            11 => format!("{channel}?{}", self.dice.pick(&["1", "eval(k)", "eval(x)"])),
            12 => format!("{channel}??{}", self.dice.pick(&["1", "l", "eval(k)"])),
            // What can also be asked of a rendezvous channel never happens there.
            13 => format!("c0?<{}>", self.dice.pick(&["l", "1", "x"])),
            14 => "c0??<1>".to_owned(),
            _ => self.condition(),
        }
    }

    fn assignment(&mut self) -> String {
        let variable = self.dice.pick(&["x", "y", "l"]);
        let value = self.dice.pick(&["0", "1", "2", "x", "y", "1 - y", "len(c0)", "_nr_pr"]);
        format!("{variable} = {value}")
    }

    fn condition(&mut self) -> String {
        if self.remote && self.dice.one_in(2) {
            return self.dice.pick(&["P0[0]@here", "P0[0]:l == 1", "_nr_pr < 3", "_nr_pr == 1"]).to_owned();
        }
        let conditions = [
            "x == 1",
            "x < 2",
            "y == 0",
            "y != x",
            "l == 1",
            "len(c0) > 1",
            "nempty(c0)",
            "empty(c0)",
            "nfull(c0)",
            "c0?[1]",
            "c0??[1]",
            "full(c0)",
            "x == 1 || nempty(c0)",
        ];
        self.dice.pick(&conditions).to_owned()
    }
}
