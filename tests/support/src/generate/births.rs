//! Small models at random in which several processes create others, and that end: who is created first can depend on the
//! order of steps that have nothing else to do with each other. Some of them look at numbers of processes.

use super::Dice;
use std::fmt::Write;

/// The text of the model that belongs to a seed.
pub fn model(seed: u64) -> String {
    let mut maker = Maker { dice: Dice::new(seed ^ 0xB187), text: String::new(), observes: seed % 5 == 4 };
    maker.model();
    maker.text
}

struct Maker {
    dice: Dice,
    text: String,
    /// Numbers may be looked at.
    observes: bool,
}

/// Types of processes that are created; each creates only later ones.
const KINDS: usize = 3;

impl Maker {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text};");
    }

    fn model(&mut self) {
        self.text.push_str("byte x, y; byte a[4]; short last;\n");
        let capacities = [[1, 0], [2, 0], [0, 0], [1, 1]][self.dice.below(4)];
        for (index, capacity) in capacities.into_iter().enumerate() {
            let _ = writeln!(self.text, "chan c{index} = [{capacity}] of {{ byte }};");
        }
        for kind in 0..KINDS {
            let _ = writeln!(self.text, "proctype C{kind}(byte k; chan p) {{ byte l;");
            let length = self.dice.below(3);
            (0..length).for_each(|_| self.statement(kind + 1, 1, false));
            self.text.push_str("}\n");
        }
        let parents = 2 + usize::from(self.dice.one_in(4));
        for index in 0..parents {
            let _ = writeln!(self.text, "active proctype P{index}() {{ byte l, k; chan p = c{};", self.dice.below(2));
            let length = 1 + self.dice.below(2);
            let at = self.dice.below(length);
            for number in 0..length {
                if number == at {
                    self.creation(0);
                } else {
                    self.statement(0, 1, true);
                }
            }
            self.text.push_str("}\n");
        }
    }

    /// A statement of a process that may create processes of this type and later ones.
    fn statement(&mut self, first_kind: usize, depth: usize, initial: bool) {
        match self.dice.below(if depth == 0 { 8 } else { 12 }) {
            0 | 1 if first_kind < KINDS => self.creation(first_kind),
            8 => {
                self.text.push_str("  atomic {\n");
                (0..2).for_each(|_| self.statement(first_kind, 0, initial));
                self.text.push_str("  };\n");
            }
            9 => {
                self.text.push_str("  if\n");
                for _ in 0..2 {
                    let guard = self.guard();
                    let _ = writeln!(self.text, "  :: {guard};");
                    self.statement(first_kind, 0, initial);
                }
                if self.dice.one_in(2) {
                    self.text.push_str("  :: else\n");
                }
                self.text.push_str("  fi;\n");
            }
            10 if self.observes => {
                let asks = ["_nr_pr > 3", "x = _pid", "_nr_pr == 2", "a[_pid % 4]++", "last > 3"][self.dice.below(5)];
                self.line(asks);
            }
            11 if self.dice.one_in(3) => self.line("timeout"),
            _ => {
                let simple = self.simple(initial);
                self.line(&simple);
            }
        }
    }

    fn creation(&mut self, first_kind: usize) {
        let kind = first_kind + self.dice.below(KINDS - first_kind);
        let argument = ["0", "1", "x", "l"][self.dice.below(4)];
        let run = format!("run C{kind}({argument}, {})", self.channel());
        let then = self.simple(false);
        match self.dice.below(6) {
            0 => self.line(&format!("last = {run}")),
            1 => self.line(&format!("atomic {{ y = 1; {run}; {run} }}")),
            2 => self.line(&format!("atomic {{ {run}; {then} }}")),
            _ => self.line(&run),
        }
    }

    fn channel(&mut self) -> &'static str {
        ["c0", "c1"][self.dice.below(2)]
    }

    fn guard(&mut self) -> String {
        let variable = ["x", "y", "a[1]", "len(c0)"][self.dice.below(4)];
        let relation = ["==", ">", "!="][self.dice.below(3)];
        format!("{variable} {relation} {}", self.dice.below(2))
    }

    fn simple(&mut self, initial: bool) -> String {
        let channel = ["c0", "c1", "p"][self.dice.below(3)];
        match self.dice.below(12) {
            0..=3 => ["x = 1", "y = x + 1", "x++", "l = y", "x = k", "a[k % 4] = 1"][self.dice.below(6)].to_owned(),
            4 => self.guard(),
            5 | 6 => format!("{channel}!{}", ["1", "x", "k"][self.dice.below(3)]),
            7 | 8 => format!("{channel}?{}", ["l", "1", "_"][self.dice.below(3)]),
            9 => ["assert(x == 0)", "assert(x != y)"][self.dice.below(2)].to_owned(),
            10 if initial => "a[_pid] = 1".to_owned(),
            10 => "printf(\"%d\\n\", _pid)".to_owned(),
            _ => format!("if :: {channel}!2 :: else fi"),
        }
    }
}
