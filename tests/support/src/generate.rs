//! Makes small models at random, each named by its seed.
//!
//! The models are small in states, not in ideas: few variables that take few values, and every construct
//! whose meaning is easy to get wrong.

pub mod births;
pub mod claim;
pub mod guarded;
pub mod indexed;
pub mod meetings;
pub mod messages;
pub mod small;
mod statement;

use crate::sketch::{Actor, Piece, Sketch};

/// Numbers that look random and depend on the seed alone (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers that belong to a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the elements.
    pub fn pick<'a, T: ?Sized>(&mut self, elements: &[&'a T]) -> &'a T {
        elements[self.below(elements.len())]
    }
}

/// What a statement may use where it stands.
#[derive(Clone, Debug)]
struct Place {
    /// Names of variables that can be read and written.
    variables: Vec<String>,
    /// How much deeper it may nest.
    depth: usize,
    /// Inside a `d_step`: nothing that Spin forbids there.
    in_step: bool,
    /// Inside a loop of the same process and `d_step`.
    in_loop: bool,
    /// Labels of the process that can be jumped to.
    labels: Vec<String>,
    /// The process has children that it may create.
    may_run: bool,
}

/// The model that belongs to a seed.
pub fn model(seed: u64) -> Sketch {
    Maker::new(seed, false).model()
}

/// A model in which many statements can fail, some in several places at once: indices outside their arrays, divisions
/// by zero, channels that do not exist. Spin goes on after such an error with whatever stands in memory, so that only
/// our own interpreters can be compared on it.
pub fn model_with_faults(seed: u64) -> Sketch {
    Maker::new(seed, true).model()
}

/// A channel, as far as statements must know it.
#[derive(Clone, Debug)]
struct Channel {
    name: String,
    /// Types of its fields, one or two.
    fields: Vec<&'static str>,
    rendezvous: bool,
}

/// Makes one model.
struct Maker {
    dice: Dice,
    channels: Vec<Channel>,
    /// Which of the rare features the model has, if any: see [`Maker::rare_global`].
    rare: usize,
    /// A label of the first process, if later ones may look at it.
    remote: Option<String>,
    /// Places and values may fail to exist.
    faulty: bool,
}

/// Places that exist only for some values of their indices.
const DOUBTFUL_PLACES: [&str; 7] =
    ["a0[s0]", "a0[g0 + 1]", "a0[f0[g1].m]", "f0[g0].m", "f0[g1].k[s0]", "f0[1].k[g0 / s0]", "a0[3 % g1]"];

impl Maker {
    fn new(seed: u64, faulty: bool) -> Self {
        let mut dice = Dice::new(seed);
        let rare = dice.below(14);
        Self { dice, channels: Vec::new(), rare, remote: None, faulty }
    }

    fn model(&mut self) -> Sketch {
        let mut globals = vec![
            "mtype = { red, green };".to_owned(),
            format!("byte g0 = {}, g1;", self.dice.below(3)),
            "bit b0; short s0;".to_owned(),
            "byte a0[2];".to_owned(),
            "inline bump(v) { v = (v + 1) % 3 }".to_owned(),
        ];
        globals.extend(self.rare_global());
        for index in 0..1 + self.dice.below(2) {
            globals.push(self.channel(index));
        }
        if self.faulty {
            globals.push("typedef Cell { byte k[2]; byte m };\nCell f0[2];".to_owned());
            globals.push("chan cu; chan cs[2] = [1] of { byte };".to_owned());
            for name in ["cs[g0]", "cs[1 / s0]", "cu"] {
                self.channels.push(Channel { name: name.to_owned(), fields: vec!["byte"], rendezvous: false });
            }
        }
        if self.rare == 6 {
            self.channels.push(Channel { name: "lc".to_owned(), fields: vec!["byte"], rendezvous: false });
        }
        let has_child = self.dice.one_in(3);
        let mut actors = Vec::new();
        if has_child {
            actors.push(self.child());
        }
        for index in 0..2 + self.dice.below(2) {
            actors.push(self.actor(index, has_child));
        }
        Sketch { globals, actors }
    }

    /// Something that not every model should have.
    fn rare_global(&mut self) -> Option<String> {
        match self.rare {
            0 => Some("hidden byte h0;".to_owned()),
            1 => Some("typedef Pair { byte u; bit v[2] };\nPair t0, t1[2];".to_owned()),
            2 => Some("unsigned u0 : 2;".to_owned()),
            3 => Some("#define WRAP(e) ((e) % 3)".to_owned()),
            _ => None,
        }
    }

    /// The variables that the rare feature brings.
    fn rare_variables(&self) -> &'static [&'static str] {
        match self.rare {
            0 => &["h0"],
            1 => &["t0.u", "t0.v[1]", "t1[0].u", "t1[g1 % 2].u"],
            2 => &["u0"],
            _ => &[],
        }
    }

    fn channel(&mut self, index: usize) -> String {
        let name = format!("c{index}");
        // Spin cannot combine priorities with rendezvous.
        let capacity = if self.rare == 5 { 1 } else { self.dice.below(3) };
        let mut fields = vec!["byte"];
        if self.dice.one_in(2) {
            fields.push(["bit", "mtype", "short"][self.dice.below(3)]);
        }
        let types = fields.join(", ");
        self.channels.push(Channel { name: name.clone(), fields, rendezvous: capacity == 0 });
        format!("chan {name} = [{capacity}] of {{ {types} }};")
    }

    fn place(&mut self, labels: Vec<String>, may_run: bool) -> Place {
        let shared = ["g0", "g1", "b0", "s0", "a0[0]", "a0[g0 % 2]", "l0", "l1"];
        let doubtful: &[&str] = if self.faulty { &DOUBTFUL_PLACES } else { &[] };
        let names = shared.iter().chain(self.rare_variables()).chain(doubtful).map(|name| (*name).to_owned());
        let depth = 2 + self.dice.below(2);
        Place { variables: names.collect(), depth, in_step: false, in_loop: false, labels, may_run }
    }

    fn declarations(&mut self) -> Vec<String> {
        let mut declarations = vec![format!("byte l0 = {}", self.dice.below(3)), "bit l1".to_owned()];
        if self.rare == 6 {
            declarations.push("chan lc = [1] of { byte }".to_owned());
        }
        declarations
    }

    fn child(&mut self) -> Actor {
        let place = Place { depth: 1, ..self.place(Vec::new(), false) };
        let declarations = self.declarations();
        let length = 1 + self.dice.below(2);
        let mut body = self.statements(&place, length);
        if self.dice.one_in(2) {
            body.push(Piece::Line("g1 = arg".to_owned()));
        }
        Actor { head: "proctype Child(byte arg)".to_owned(), declarations, body }
    }

    fn actor(&mut self, index: usize, has_child: bool) -> Actor {
        let label = self.dice.pick(&["again", "end_again", "progress_again"]).to_owned();
        let place = self.place(vec![label.clone()], has_child && index == 0);
        let declarations = self.declarations();
        let length = 3 + self.dice.below(3);
        let mut body = self.statements(&place, length);
        let labelled = if self.dice.one_in(3) { self.condition(&place) } else { self.assignment(&place) };
        body.insert(self.dice.below(2), Piece::Line(format!("{label}: {labelled}")));
        if self.rare == 7 && index == 0 {
            self.remote = Some(label);
        }
        Actor { head: self.head(index), declarations, body }
    }

    fn head(&mut self, index: usize) -> String {
        let copies = if self.dice.one_in(6) { "active [2]" } else { "active" };
        let gate = match self.rare {
            4 if index == 0 => " provided (g0 != 2)".to_owned(),
            5 => format!(" priority {}", 1 + self.dice.below(3)),
            _ => String::new(),
        };
        format!("{copies} proctype P{index}(){gate}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_one_model() {
        assert_eq!(model(7), model(7));
        assert_ne!(model(7), model(8));
    }

    #[test]
    fn the_interesting_constructs_occur() {
        let all: String = (0..300).map(|seed| model(seed).text()).collect();
        let words = ["atomic {", "d_step {", "unless", "else", "timeout", "goto", "run Child", "assert", "??", "!!"];
        for word in words.iter().chain(&[
            "?<", "?[", "break", "provided", "priority", "eval", "hidden", "for (", "select (", "chan lc", "P0[0]@",
            "P0[0]:l0",
        ]) {
            assert!(all.contains(word), "{word}");
        }
    }
}
