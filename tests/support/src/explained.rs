//! Disagreements that are known, each with its reason. One that no longer happens is an error: the
//! file never says more than the truth.

use crate::compare::Aspect;
use serde::Deserialize;
use std::path::Path;

/// The file of explanations.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    #[serde(default)]
    explained: Vec<Explanation>,
}

/// Why one model differs in one aspect.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The model's path in the corpus.
    pub path: String,
    /// The name of an [`Aspect`].
    pub aspect: String,
    /// Why the difference is right, or what it would take to remove it.
    pub reason: String,
}

/// Reads a file of differences, each a key with the reason as its value.
///
/// # Errors
/// A sentence, if the file cannot be read.
pub fn reasons(file: &Path) -> Result<std::collections::BTreeMap<String, String>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))
}

impl Explained {
    /// Reads the file.
    ///
    /// # Errors
    /// A sentence if it cannot be read, or an explanation has no known aspect or no reason.
    pub fn load(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let explained: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        for explanation in &explained.explained {
            if !Aspect::ALL.iter().any(|aspect| aspect.as_str() == explanation.aspect) {
                return Err(format!("{}: `{}` is not an aspect", explanation.path, explanation.aspect));
            }
            if explanation.reason.trim().is_empty() {
                return Err(format!("{}: no reason is given", explanation.path));
            }
        }
        Ok(explained)
    }

    /// Whether a disagreement is explained.
    pub fn covers(&self, path: &str, aspect: Aspect) -> bool {
        self.explained.iter().any(|e| e.path == path && e.aspect == aspect.as_str())
    }

    /// Explanations of models that were looked at (`ran`) and do not disagree in that aspect any more.
    pub fn stale<'a>(&'a self, ran: &[&str], disagreements: &[(&str, Aspect)]) -> Vec<&'a Explanation> {
        let happens = |e: &Explanation| disagreements.iter().any(|(p, a)| *p == e.path && a.as_str() == e.aspect);
        self.explained.iter().filter(|e| ran.contains(&e.path.as_str()) && !happens(e)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[[explained]]\npath = \"a.pml\"\naspect = \"states\"\nreason = \"because\"\n";

    #[test]
    fn only_the_aspect_that_is_explained_is_covered() {
        let explained = Explained::parse(FILE).unwrap();
        assert!(explained.covers("a.pml", Aspect::States));
        assert!(!explained.covers("a.pml", Aspect::Verdict) && !explained.covers("b.pml", Aspect::States));
    }

    #[test]
    fn an_explanation_of_nothing_is_stale() {
        let explained = Explained::parse(FILE).unwrap();
        assert_eq!(explained.stale(&["a.pml"], &[]).len(), 1);
        assert_eq!(explained.stale(&["a.pml"], &[("a.pml", Aspect::States)]).len(), 0);
        assert_eq!(explained.stale(&["b.pml"], &[]).len(), 0, "a model that was not run says nothing");
    }

    #[test]
    fn an_explanation_needs_an_aspect_and_a_reason() {
        assert!(Explained::parse(&FILE.replace("states", "colour")).is_err());
        assert!(Explained::parse(&FILE.replace("because", " ")).is_err());
    }
}
