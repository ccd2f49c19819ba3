//! Random claims, and event traces, for random models.

use super::{Dice, model};
use crate::sketch::{Actor, Piece, Sketch};

/// The name of the claim that [`model_with_claim`] adds.
pub const CLAIM: &str = "bad";

/// The model that belongs to a seed, with acceptance labels in some and a claim. It asks for nothing that Spin's
/// verifier answers differently when a claim is there.
pub fn model_with_claim(seed: u64) -> Sketch {
    let mut dice = Dice::new(seed ^ 0xC1A1);
    let mut sketch = model(seed);
    let label = *dice.pick(&[&"progress_again", &"progress_again", &"accept_again", &"accept_again", &"again"]);
    let adapt = |line: &str| {
        line.replace("_nr_pr == 2", "g0 == g1").replace("_nr_pr < 3", "g1 < 3").replace("progress_again", label)
    };
    for actor in &mut sketch.actors {
        actor.body = actor.body.iter().map(|piece| piece.adapted(&adapt)).collect();
    }
    sketch.actors.push(claim(&mut dice, &sketch));
    sketch
}

/// An automaton with a few states.
fn claim(dice: &mut Dice, sketch: &Sketch) -> Actor {
    let buffered =
        sketch.globals.iter().any(|global| global.starts_with("chan c0 = [") && !global.starts_with("chan c0 = [0]"));
    let labels = labels_of_first(sketch);
    let names: Vec<String> = (0..2 + dice.below(3))
        .map(|state| if dice.one_in(2) { format!("accept_{state}") } else { format!("S{state}") })
        .collect();
    let mut body = Vec::new();
    for name in &names {
        let mut options = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let target = &names[dice.below(names.len())];
            let guard = condition(dice, buffered, &labels);
            options.push(match dice.below(14) {
                0 => format!(":: atomic {{ {guard} -> assert(g0 < 3) }}; goto {target}"),
                1 => format!(":: d_step {{ {guard} -> skip }}; goto {target}"),
                2 => format!(":: {guard} -> break_{name}: skip; goto {target}"),
                _ => format!(":: {guard} -> goto {target}"),
            });
        }
        if dice.one_in(4) {
            options.push(format!(":: else -> goto {}", names[dice.below(names.len())]));
        }
        body.push(Piece::Line(format!("{name}: if {} fi", options.join(" "))));
    }
    if dice.one_in(4) {
        body.push(Piece::Line("g0 == 2".to_owned()));
    } else {
        body.push(Piece::Line("false".to_owned()));
    }
    Actor { head: format!("never {CLAIM}"), declarations: Vec::new(), body }
}

/// The model that belongs to a seed, with an event trace over its first channel; `None` if that is a rendezvous.
pub fn model_with_trace(seed: u64) -> Option<Sketch> {
    let mut dice = Dice::new(seed ^ 0x7_4ACE);
    let mut sketch = model(seed);
    let channel = sketch.globals.iter().find(|global| global.starts_with("chan c0 = ["))?;
    if channel.starts_with("chan c0 = [0]") {
        return None;
    }
    let two = channel.contains(", ");
    let word = dice.pick(&[&"trace", &"trace", &"notrace"]).to_string();
    let names: Vec<String> = (0..2 + dice.below(2)).map(|n| format!("S{n}")).collect();
    let mut body = Vec::new();
    for name in &names {
        let mut options = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let mut field = || dice.pick(&[&"_", &"0", &"1", &"_", &"2"]).to_string();
            let fields = if two { format!("{},{}", field(), field()) } else { field() };
            let direction = dice.pick(&[&"!", &"?"]).to_string();
            let then =
                if dice.one_in(5) { String::new() } else { format!(" -> goto {}", names[dice.below(names.len())]) };
            options.push(format!(":: c0{direction}{fields}{then}"));
        }
        let label = if dice.one_in(3) { format!("end_{name}: ") } else { String::new() };
        body.push(Piece::Line(format!("{name}: {label}if {} fi", options.join(" "))));
    }
    sketch.actors.push(Actor { head: word, declarations: Vec::new(), body });
    Some(sketch)
}

/// Labels of the first process type, if there is just one process of it.
fn labels_of_first(sketch: &Sketch) -> Vec<String> {
    let first = sketch.actors.iter().find(|actor| actor.head.starts_with("active proctype P0"));
    let lines = first.into_iter().flat_map(|actor| &actor.body).filter_map(|piece| match piece {
        Piece::Line(line) => line.split_once(": ").map(|(label, _)| label.to_owned()),
        _ => None,
    });
    lines.filter(|label| label.ends_with("again")).collect()
}

fn condition(dice: &mut Dice, buffered: bool, labels: &[String]) -> String {
    let number = dice.below(3);
    match dice.below(14) {
        0 | 1 => "true".to_owned(),
        2 | 3 => format!("g0 == {number}"),
        4 => format!("g0 != {number}"),
        5 => format!("g1 < {}", number + 1),
        6 => "b0".to_owned(),
        7 => format!("a0[g0 % 2] == {number}"),
        8 if buffered => "len(c0) == 1".to_owned(),
        9 if dice.one_in(2) => "np_".to_owned(),
        10 if !labels.is_empty() => format!("P0@{}", labels[0]),
        11 if !labels.is_empty() => format!("P0:l0 == {number}"),
        12 if dice.one_in(2) => format!("_last == {}", number % 2),
        _ => format!("g1 == {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_stands_behind_each_model() {
        let all: String = (0..200).map(|seed| model_with_claim(seed).text()).collect();
        for word in ["never bad {", "accept_again:", "np_", "P0@", "else ->", "atomic {", "d_step {"] {
            assert!(all.contains(word), "{word}");
        }
        assert!(!all.contains("_nr_pr"));
    }
}
