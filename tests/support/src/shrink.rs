//! Makes a failing model smaller while it keeps failing.

use crate::sketch::Sketch;

/// Takes things out of `sketch` one at a time as long as `fails` stays true, with at most `tries_max` questions.
pub fn shrink(sketch: Sketch, tries_max: usize, fails: impl Fn(&Sketch) -> bool) -> Sketch {
    let mut smallest = sketch;
    let mut tries = 0;
    'again: loop {
        for candidate in smallest.smaller() {
            if tries == tries_max {
                return smallest;
            }
            tries += 1;
            if fails(&candidate) {
                smallest = candidate;
                continue 'again;
            }
        }
        return smallest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{Actor, Piece};

    fn sketch(lines: &[&str]) -> Sketch {
        let body = lines.iter().map(|line| Piece::Line((*line).to_owned())).collect();
        let actor = Actor { head: "active proctype P()".to_owned(), declarations: Vec::new(), body };
        Sketch { globals: Vec::new(), actors: vec![actor.clone(), Actor { body: Vec::new(), ..actor }] }
    }

    #[test]
    fn only_what_makes_it_fail_is_left() {
        let fails = |sketch: &Sketch| sketch.text().contains("bad") && sketch.text().contains("worse");
        let small = shrink(sketch(&["a", "bad", "b", "c", "worse", "d"]), 1000, fails);
        assert_eq!(small.text().lines().count(), 4, "{}", small.text());
    }

    #[test]
    fn the_number_of_questions_is_bounded() {
        let asked = std::cell::Cell::new(0);
        shrink(sketch(&["a"; 50]), 7, |sketch| {
            asked.set(asked.get() + 1);
            sketch.actors.len() == 2
        });
        assert_eq!(asked.get(), 7);
    }
}
