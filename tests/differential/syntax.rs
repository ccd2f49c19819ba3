//! Nearly right texts: models of the book with one word changed are accepted or rejected as Spin does.
//!
//! `FABIUS_MODELS=n` says how many (default [`MODELS`]), `FABIUS_SEED=n` where to begin.

use fabius_testkit::generate::Dice;
use fabius_testkit::mutate::mutate;
use fabius_testkit::referee::{self, Options};
use fabius_testkit::spin::Spin;
use fabius_testkit::{book, parallel};

/// Texts unless someone asks for more.
const MODELS: u64 = 300;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn nearly_right_texts_are_accepted_as_spin_does() {
    let Some(spin) = Spin::find() else { return };
    let rules = book::load(&book::directory()).expect("the book can be read");
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", MODELS)).collect();
    let answers = parallel::map(&seeds, |seed| {
        let mut dice = Dice::new(*seed);
        let rule = dice.below(rules.len());
        let text = mutate(&mut dice, &rules[rule].model);
        let accepted = referee::program(&text, Options::NONE).is_some();
        (*seed, accepted, spin.accepts(&text), text)
    });
    let accepted_count = answers.iter().filter(|(_, accepted, ..)| *accepted).count();
    let mut complaints = Vec::new();
    for (seed, accepted, by_spin, text) in &answers {
        match by_spin {
            Ok(message) if !accepted => {
                complaints.push(format!("seed {seed}: only Spin accepts this {message}\n{text}"))
            }
            Err(message) if *accepted => complaints.push(format!("seed {seed}: Spin says {message}\n{text}")),
            _ => {}
        }
    }
    println!("{} texts, {accepted_count} of them models, {} differ", answers.len(), complaints.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(accepted_count > 0, "some texts should still be models");
}
