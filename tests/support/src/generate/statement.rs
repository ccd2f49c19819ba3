//! Random statements and expressions.

use super::{Channel, Maker, Place};
use crate::sketch::{ChoiceKind, Piece};

impl Maker {
    /// Some statements in a row.
    pub(super) fn statements(&mut self, place: &Place, count: usize) -> Vec<Piece> {
        (0..count).map(|_| self.statement(place)).collect()
    }

    fn statement(&mut self, place: &Place) -> Piece {
        if place.depth > 0 && self.dice.one_in(3) {
            return self.compound(place);
        }
        Piece::Line(self.simple(place))
    }

    fn simple(&mut self, place: &Place) -> String {
        match self.dice.below(20) {
            0..=5 => self.assignment(place),
            6..=8 if !place.in_step => self.channel_statement(place),
            9 if !place.in_step => self.condition(place),
            11 => format!("assert({})", self.condition(place)),
            12 => format!("bump({})", self.dice.pick(&["g0", "g1", "l0"])),
            13 if place.may_run && !place.in_step => format!("run Child({})", self.value(place)),
            14 if !place.in_step && !place.labels.is_empty() => format!("goto {}", place.labels[0]),
            15 if place.in_loop => "break".to_owned(),
            16 => format!("printf(\"%d\\n\", {})", self.value(place)),
            17 => "skip".to_owned(),
            18 if !place.in_step => self.dice.pick(&["timeout", "nfull(c0)", "_nr_pr < 3", "_last == 0"]).to_owned(),
            _ => self.assignment(place),
        }
    }

    pub(super) fn assignment(&mut self, place: &Place) -> String {
        let target = self.variable(place);
        match self.dice.below(8) {
            0 => format!("{target} = {target} + 1; {target} = {target} % 3"),
            1 => format!("{target} = {}", self.dice.pick(&["red", "true", "_pid", "255", "-1", "len(c0)"])),
            2 => format!("{target} = ({} -> {} : {})", self.condition(place), self.value(place), self.value(place)),
            3 => format!("{target}++; {target} = {target} & 3"),
            _ => format!("{target} = {}", self.value(place)),
        }
    }

    fn variable(&mut self, place: &Place) -> String {
        place.variables[self.dice.below(place.variables.len())].clone()
    }

    /// A value that stays small.
    fn value(&mut self, place: &Place) -> String {
        let name = self.variable(place);
        if self.faulty && self.dice.one_in(3) {
            return match self.dice.below(4) {
                0 => format!("{} / {name}", 1 + self.dice.below(3)),
                1 => format!("{name} % {}", self.variable(place)),
                2 => format!("(1 / {name}) + {}", self.variable(place)),
                _ => name,
            };
        }
        match self.dice.below(7) {
            0 | 1 => self.dice.below(4).to_string(),
            2 => name,
            3 => format!("({name} + {}) % 3", 1 + self.dice.below(2)),
            4 => format!("1 - {name}"),
            5 => format!("({name} ^ {}) & 3", self.variable(place)),
            _ => format!("({name} < {}) + 1", self.dice.below(3)),
        }
    }

    /// A condition without effect.
    pub(super) fn condition(&mut self, place: &Place) -> String {
        if let Some(label) = self.remote.clone().filter(|_| self.dice.one_in(3)) {
            return if self.dice.one_in(2) { format!("P0[0]@{label}") } else { "P0[0]:l0 == 1".to_owned() };
        }
        let name = self.variable(place);
        let number = self.dice.below(3);
        match self.dice.below(12) {
            0..=3 => format!("{name} == {number}"),
            4 => format!("{name} != {number}"),
            5 => format!("{name} < {}", self.value(place)),
            6 => format!("({name} == {number} || {})", self.buffered_condition()),
            7 => format!("({name} <= {number} && {} != 1)", self.variable(place)),
            8 => self.buffered_condition(),
            9 => "true".to_owned(),
            10 => format!("!({name} == {number})"),
            _ => format!("{name} >= {number}"),
        }
    }

    /// A question about a channel that is not a rendezvous, or about processes.
    fn buffered_condition(&mut self) -> String {
        let channel = self.some_channel();
        let Channel { name, fields, .. } = &channel;
        if channel.rendezvous {
            return self.dice.pick(&["_nr_pr == 2", "_pid == 0", "g0 == g1"]).to_owned();
        }
        let rest = if fields.len() == 2 { ",_" } else { "" };
        match self.dice.below(5) {
            0 => format!("{name}?[{}{rest}]", self.dice.below(3)),
            1 => format!("{name}??[{}{rest}]", self.dice.below(3)),
            2 => format!("len({name}) < 2"),
            3 => format!("nempty({name})"),
            _ => format!("nfull({name})"),
        }
    }

    fn some_channel(&mut self) -> Channel {
        self.channels[self.dice.below(self.channels.len())].clone()
    }

    fn channel_statement(&mut self, place: &Place) -> String {
        let Channel { name, fields, rendezvous } = self.some_channel();
        if self.dice.one_in(2) {
            let values: Vec<String> = fields.iter().map(|_| self.value(place)).collect();
            let operator = if self.dice.one_in(5) { "!!" } else { "!" };
            return format!("{name}{operator}{}", values.join(","));
        }
        let patterns = self.patterns(&fields);
        match self.dice.below(6) {
            0 => format!("{name}??{patterns}"),
            1 if !rendezvous => format!("{name}?<{patterns}>"),
            2 if !rendezvous => format!("{name}??<{patterns}>"),
            _ => format!("{name}?{patterns}"),
        }
    }

    /// One pattern per field. A variable is as wide as its field: Spin's verifier miscounts otherwise, see the
    /// book's page on messages.
    fn patterns(&mut self, fields: &[&str]) -> String {
        let first = match self.dice.below(5) {
            0 | 1 if self.faulty => self.dice.pick(&["a0[g0]", "f0[s0].m", "eval(1 / g1)", "eval(a0[s0])"]).to_owned(),
            0 => self.dice.below(3).to_string(),
            1 => "eval(g0)".to_owned(),
            2 => "_".to_owned(),
            _ => self.dice.pick(&["l0", "g1", "a0[1]"]).to_owned(),
        };
        let variable = match fields.get(1) {
            None => return first,
            Some(&"bit") => self.dice.pick(&["l1", "b0"]),
            Some(&"mtype") => "a0[0]",
            Some(_) => "s0",
        };
        let second = self.dice.pick(&[variable, variable, "_", "1"]);
        format!("{first},{second}")
    }

    fn compound(&mut self, place: &Place) -> Piece {
        let inside = Place { depth: place.depth - 1, ..place.clone() };
        match self.dice.below(12) {
            0..=2 => Piece::Choice(ChoiceKind::If, self.options(&inside)),
            3..=5 => self.do_loop(&inside),
            6..=7 if !place.in_step => self.block("atomic", &inside),
            8 if !place.in_step => self.step(&inside),
            9 if !place.in_step => self.unless(&inside),
            10 => self.counted(&inside),
            _ => Piece::Choice(ChoiceKind::If, self.options(&inside)),
        }
    }

    fn block(&mut self, word: &'static str, place: &Place) -> Piece {
        let count = 1 + self.dice.below(3);
        Piece::Block(word, self.statements(place, count))
    }

    fn step(&mut self, place: &Place) -> Piece {
        let inside = Place { in_step: true, in_loop: false, labels: Vec::new(), ..place.clone() };
        let first = if self.dice.one_in(4) { self.channel_statement(place) } else { self.condition(place) };
        let mut pieces = vec![Piece::Line(first)];
        let count = 1 + self.dice.below(2);
        pieces.extend(self.statements(&inside, count));
        Piece::Block("d_step", pieces)
    }

    fn unless(&mut self, place: &Place) -> Piece {
        let count = 1 + self.dice.below(3);
        let main = self.statements(place, count);
        let mut escape = vec![Piece::Line(self.guard(place))];
        escape.extend(self.statements(&Place { depth: 0, ..place.clone() }, 1));
        Piece::Unless(main, escape)
    }

    fn guard(&mut self, place: &Place) -> String {
        match self.dice.below(6) {
            0 if !place.in_step => self.channel_statement(place),
            1 if !place.in_step => "timeout".to_owned(),
            2 => self.assignment(place),
            _ => self.condition(place),
        }
    }

    fn options(&mut self, place: &Place) -> Vec<Vec<Piece>> {
        let mut options = Vec::new();
        for _ in 0..1 + self.dice.below(3) {
            let mut option = vec![Piece::Line(self.guard(place))];
            let count = self.dice.below(3);
            option.extend(self.statements(place, count));
            options.push(option);
        }
        if place.in_step || self.dice.one_in(3) {
            let count = self.dice.below(2);
            let mut option = vec![Piece::Line("else".to_owned())];
            option.extend(self.statements(place, count));
            options.push(option);
        }
        options
    }

    fn do_loop(&mut self, place: &Place) -> Piece {
        let inside = Place { in_loop: true, ..place.clone() };
        let mut options = self.options(&inside);
        let end = if place.in_step { "else" } else { "true" };
        if place.in_step {
            options.retain(|option| option[0] != Piece::Line("else".to_owned()));
            // Each turn of a loop in one step must come nearer to its end.
            for option in &mut options {
                option[0] = Piece::Line("g1 < 2".to_owned());
                option.insert(1, Piece::Line("g1++".to_owned()));
                option.truncate(2);
            }
        }
        if place.in_step || self.dice.one_in(2) {
            options.push(vec![Piece::Line(end.to_owned()), Piece::Line("break".to_owned())]);
        }
        Piece::Choice(ChoiceKind::Do, options)
    }

    /// `for` and `select`, with a variable that nothing else writes inside.
    fn counted(&mut self, place: &Place) -> Piece {
        if place.in_step || self.dice.one_in(2) {
            return Piece::Line(format!("for (l0 : 0 .. {}) {{ s0 = (s0 + l0) % 3 }}", self.dice.below(3)));
        }
        Piece::Line(format!("select (g1 : 0 .. {})", 1 + self.dice.below(2)))
    }
}
