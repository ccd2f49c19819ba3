//! The languages that models may be written in: the one place that names front ends.

use fabius_language::Language;
use fabius_promela::Promela;
use std::path::Path;

/// All of them; a text whose name tells nothing is taken for the first.
pub const LANGUAGES: [&dyn Language; 1] = [&Promela];

/// The language of a file with a name.
pub fn language_of(name: &str) -> &'static dyn Language {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    let known = LANGUAGES.into_iter().find(|language| language.model_endings().contains(&ending));
    known.unwrap_or(LANGUAGES[0])
}

/// The endings of files that hold models, without a dot.
pub fn model_endings() -> impl Iterator<Item = &'static str> {
    LANGUAGES.into_iter().flat_map(|language| language.model_endings()).copied()
}

/// The endings of files that models include, beside those of models.
pub fn included_endings() -> impl Iterator<Item = &'static str> {
    LANGUAGES.into_iter().flat_map(|language| language.included_endings()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_ending_names_one_language() {
        let all: Vec<&str> = model_endings().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for language in LANGUAGES {
            for ending in language.model_endings() {
                assert_eq!(language_of(&format!("models/a.{ending}")).name(), language.name());
            }
        }
        assert_eq!(language_of("-").name(), LANGUAGES[0].name());
    }
}
