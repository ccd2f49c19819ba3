//! The book of the semantics: Markdown pages whose sections hold a model and what is expected of it.
//!
//! ````text
//! ## Title of a rule
//! Prose.
//! ```promela
//! active proctype P() { assert(false) }
//! ```
//! ```expect
//! verdict: violated
//! kinds: assertion
//! states: 2
//! ```
//! ````
//!
//! Lines such as `progress: violated`, `acceptance: holds` or `claim p: violated` are answers about infinite runs (and
//! the end of a claim); with `fair` in front, about weakly fair ones. A model marked `promela fair` is asked about those
//! too. A line that is not there is not asked about.
//!
//! `verdict` is `holds`, `violated` or `rejected`; `kinds` lists every kind of violation there is;
//! `states` is the number of states of the model as it stands. A line `spin: <why>` says that Spin is
//! known to answer otherwise, or not at all, and why.

use crate::Kind;
use crate::compare::Expected;
use crate::spin::InfiniteRun;
use crate::workspace;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A model of the book, and what is expected of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// File name of the page.
    pub page: String,
    /// Title of the section.
    pub title: String,
    /// Line of the model's first line.
    pub line: usize,
    /// The model.
    pub model: String,
    /// Whether it is to be asked about fair runs too.
    pub fair: bool,
    /// What is expected; `None` if the section does not say so yet.
    pub expect: Option<Expect>,
}

/// What a page expects of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expect {
    /// `Some(true)`: it holds; `Some(false)`: it is violated; `None`: it is rejected.
    pub safe: Option<bool>,
    /// Every kind of violation.
    pub kinds: Vec<Kind>,
    /// States of the model as it stands.
    pub states: Option<u64>,
    /// What is known of infinite runs.
    pub infinite: Vec<(Asked, bool)>,
    /// Why Spin is not asked.
    pub spin: Option<String>,
}

/// A question about infinite runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Only weakly fair runs count.
    pub fair: bool,
    /// `progress`, `acceptance`, or `claim` and its name.
    pub what: String,
}

impl Asked {
    /// The question, as Spin is asked.
    pub fn infinite(&self) -> InfiniteRun<'_> {
        match self.what.strip_prefix("claim ") {
            Some(name) => InfiniteRun::Claim(name),
            None if self.what == "progress" => InfiniteRun::Progress,
            None => InfiniteRun::Acceptance,
        }
    }

    /// The name of the property, as the tool knows it.
    pub fn property(&self) -> &str {
        match self.what.strip_prefix("claim ") {
            // Spin numbers claims without a name; the tool knows the only one by its keyword.
            Some("never_0") => "never",
            Some(name) => name,
            None => &self.what,
        }
    }

    fn parse(key: &str) -> Option<Self> {
        let (fair, what) = match key.strip_prefix("fair ") {
            Some(what) => (true, what),
            None => (false, key),
        };
        let is_known = ["progress", "acceptance"].contains(&what) || what.starts_with("claim ");
        is_known.then(|| Self { fair, what: what.to_owned() })
    }
}

impl Rule {
    /// Every question about infinite runs that the model suggests.
    pub fn suggested(&self) -> Vec<Asked> {
        let mut whats = Vec::new();
        for (word, what) in [("progress", "progress"), ("accept", "acceptance")] {
            let processes = self.model.split("never").next().unwrap_or_default();
            if processes.contains(word) {
                whats.push(what.to_owned());
            }
        }
        let mut unnamed = 0;
        let words: Vec<&str> = self.model.split(|c: char| c.is_whitespace() || c == '{').collect();
        let claims = words.iter().enumerate().filter(|(_, word)| ["never", "ltl"].contains(word));
        for (index, _) in claims {
            whats.push(match words.get(index + 1) {
                Some(name) if !name.is_empty() => format!("claim {name}"),
                _ => {
                    unnamed += 1;
                    format!("claim never_{}", unnamed - 1)
                }
            });
        }
        let asked = |fair: bool| whats.iter().map(move |what| Asked { fair, what: what.clone() });
        asked(false).chain(asked(true).filter(|_| self.fair)).collect()
    }
}

impl Expect {
    /// The same, as the comparison reads it.
    pub fn expected(&self) -> Expected {
        Expected {
            accepted: self.safe.is_some(),
            safe: self.safe,
            kinds: self.safe.map(|_| self.kinds.clone()),
            first_kind: None,
            states: self.states,
            optimised_states: self.states,
        }
    }

    /// The lines of the block.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let verdict = match self.safe {
            Some(true) => "holds",
            Some(false) => "violated",
            None => "rejected",
        };
        let _ = writeln!(text, "verdict: {verdict}");
        if !self.kinds.is_empty() {
            let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.as_str()).collect();
            let _ = writeln!(text, "kinds: {}", kinds.join(", "));
        }
        if let Some(states) = self.states {
            let _ = writeln!(text, "states: {states}");
        }
        for (Asked { fair, what }, holds) in &self.infinite {
            let _ = writeln!(text, "{}{what}: {}", if *fair { "fair " } else { "" }, answer(*holds));
        }
        if let Some(why) = &self.spin {
            let _ = writeln!(text, "spin: {why}");
        }
        text
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut expect = Self::default();
        let mut verdict = None;
        for line in text.lines() {
            let (key, value) = line.split_once(": ").ok_or_else(|| format!("`{line}` has no key"))?;
            match key {
                "verdict" => verdict = Some(value),
                "kinds" => {
                    for word in value.split(", ") {
                        expect.kinds.push(Kind::parse(word).ok_or_else(|| format!("`{word}` is not a kind"))?);
                    }
                }
                "states" => expect.states = Some(value.parse().map_err(|_| format!("`{value}` is not a number"))?),
                "spin" => expect.spin = Some(value.to_owned()),
                key => match (Asked::parse(key), value) {
                    (Some(asked), "holds") => expect.infinite.push((asked, true)),
                    (Some(asked), "violated") => expect.infinite.push((asked, false)),
                    _ => return Err(format!("`{key}: {value}` is not an expectation")),
                },
            }
        }
        expect.safe = match verdict {
            Some("holds") => Some(true),
            Some("violated") => Some(false),
            Some("rejected") => None,
            _ => return Err("the verdict is holds, violated or rejected".to_owned()),
        };
        if expect.safe.is_some_and(|safe| safe != expect.kinds.is_empty()) {
            return Err("`kinds` goes with `violated`".to_owned());
        }
        Ok(expect)
    }
}

fn answer(holds: bool) -> &'static str {
    if holds { "holds" } else { "violated" }
}

/// The folder of the book.
pub fn directory() -> PathBuf {
    workspace().join("tests/book")
}

/// Reads every page but the one about the book itself, in the order of the file names.
///
/// # Errors
/// A sentence with page and line if a page cannot be understood.
pub fn load(directory: &Path) -> Result<Vec<Rule>, String> {
    let listing = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut files: Vec<PathBuf> = listing.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md") && !file.ends_with("README.md"));
    files.sort();
    let mut rules = Vec::new();
    for file in files {
        let page = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{page}: {e}"))?;
        rules.extend(parse_page(&page, &text)?);
    }
    Ok(rules)
}

/// Reads one page.
///
/// # Errors
/// A sentence with page and line if the page cannot be understood.
pub fn parse_page(page: &str, text: &str) -> Result<Vec<Rule>, String> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut title = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.trim().clone_into(&mut title);
        }
        let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) else { continue };
        let mut block = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            block.push_str(line);
            block.push('\n');
        }
        match language {
            "promela" | "promela fair" => rules.push(Rule {
                page: page.to_owned(),
                title: title.clone(),
                line: index + 2,
                model: block,
                fair: language.ends_with("fair"),
                expect: None,
            }),
            "expect" => {
                let rule = rules.last_mut().filter(|rule| rule.expect.is_none());
                let rule = rule.ok_or_else(|| format!("{page}:{}: there is no model before this block", index + 1))?;
                rule.expect = Some(Expect::parse(&block).map_err(|e| format!("{page}:{}: {e}", index + 1))?);
            }
            _ => {}
        }
    }
    Ok(rules)
}

/// The page with an expectation put after each model that has none, where `answer` knows one.
pub fn fill_in(page: &str, text: &str, answer: impl Fn(&Rule) -> Option<Expect>) -> Result<String, String> {
    let open: Vec<Rule> = parse_page(page, text)?.into_iter().filter(|rule| rule.expect.is_none()).collect();
    let mut filled = String::new();
    let mut current: Option<&Rule> = None;
    for (index, line) in text.lines().enumerate() {
        current = open.iter().find(|rule| rule.line == index + 1).or(current);
        filled.push_str(line);
        filled.push('\n');
        if line == "```"
            && let Some(expect) = current.take().and_then(&answer)
        {
            let _ = write!(filled, "```expect\n{}```\n", expect.text());
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Page
## A rule
Prose.
```promela
active proctype P() { assert(false) }
```
```expect
verdict: violated
kinds: assertion, invalid_end_state
states: 2
```
";

    #[test]
    fn a_section_is_read_and_its_expectation_written_as_it_was() {
        let rules = parse_page("p.md", PAGE).unwrap();
        assert_eq!((rules.len(), rules[0].title.as_str(), rules[0].line), (1, "A rule", 5));
        let expect = rules[0].expect.clone().unwrap();
        assert_eq!((expect.safe, expect.states), (Some(false), Some(2)));
        assert!(PAGE.contains(&expect.text()));
    }

    #[test]
    fn only_a_missing_expectation_is_filled_in() {
        let open = "## A\n```promela\ninit { skip }\n```\nText.\n";
        let holds = Expect { safe: Some(true), states: Some(3), ..Expect::default() };
        let filled = fill_in("p.md", open, |_| Some(holds.clone())).unwrap();
        assert_eq!(parse_page("p.md", &filled).unwrap()[0].expect, Some(holds.clone()));
        assert!(filled.ends_with("```\nText.\n"));
        assert_eq!(fill_in("p.md", PAGE, |_| Some(holds.clone())).unwrap(), PAGE);
    }

    #[test]
    fn a_page_that_cannot_be_understood_is_refused() {
        assert!(parse_page("p.md", &PAGE.replace("violated", "fine")).is_err());
        assert!(parse_page("p.md", &PAGE.replace("violated", "holds")).is_err());
        assert!(parse_page("p.md", &PAGE.replace("kinds: assertion", "kinds: asertion")).is_err());
        assert!(parse_page("p.md", &PAGE.replace("states", "state")).is_err());
        assert!(parse_page("p.md", &PAGE.replace("promela", "text")).is_err());
    }
}
