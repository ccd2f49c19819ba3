//! `fabius.toml`: what a project says about its models. Found in the folder of a model or above it;
//! `docs/schema/fabius.schema.json` describes it.

use crate::files::{self, plain};
use fabius_engine::settings::{OwnScheduler, SchedulerChoice};
use fabius_engine::{Fairness, Loaded, Verdict, plan};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The name of the file.
pub const NAME: &str = "fabius.toml";

/// What the file says; whatever is left out keeps its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Config {
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: Option<Vec<String>>,
    /// Names or kinds of the properties to check.
    pub properties: Option<Vec<String>>,
    /// When and how long checks run.
    pub check: Check,
    /// Schedulers of the project's own, by name.
    pub schedulers: BTreeMap<String, Scheduler>,
    /// By model, by property: the verdict that is expected (`holds` or `violated`). A model is named by its path from the folder of
    /// this file, or by the name of its file alone, wherever below that folder it is.
    pub expect: BTreeMap<Spanned<String>, BTreeMap<String, Spanned<Expected>>>,
    /// The folder of the file.
    #[serde(skip)]
    folder: PathBuf,
}

/// A verdict that can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Expected {
    Holds,
    Violated,
}

impl From<Expected> for Verdict {
    fn from(expected: Expected) -> Self {
        match expected {
            Expected::Holds => Self::Holds,
            Expected::Violated => Self::Violated,
        }
    }
}

/// When and how long checks run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Check {
    /// `save`, `change` or `never`.
    pub when: Option<String>,
    /// Time of the quick look.
    pub quick_milliseconds: Option<u64>,
    /// Time of the deep search.
    pub deep_seconds: Option<f64>,
    /// Memory of a search.
    pub memory_mebibytes: Option<u64>,
    /// Whether the reachable states are looked at for hints.
    pub hints: Option<bool>,
    /// Whose schedules the quick look disturbs, as for `fabius check --delay`.
    pub scheduler: Option<String>,
    /// Which infinite runs count as violations, as for `fabius check --fairness`.
    pub fairness: Option<FairnessWord>,
}

/// A fairness that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FairnessWord {
    None,
    Weak,
    Strong,
}

impl From<FairnessWord> for Fairness {
    fn from(word: FairnessWord) -> Self {
        match word {
            FairnessWord::None => Self::None,
            FairnessWord::Weak => Self::Weak,
            FairnessWord::Strong => Self::Strong,
        }
    }
}

/// A scheduler of the project's own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scheduler {
    /// `rtc`, `rr`, `random` or `priority`.
    pub base: String,
    /// Types of processes, the most important first.
    #[serde(default)]
    pub order: Vec<String>,
    /// The seed of one that is random.
    pub seed: Option<u64>,
}

/// Where the file for a model may be, the nearest place first.
pub fn places(model: &Path) -> Vec<PathBuf> {
    let model = std::path::absolute(model).unwrap_or_else(|_| model.to_path_buf());
    model.ancestors().skip(1).map(|folder| folder.join(NAME)).collect()
}

/// What is wrong with the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// Its text.
    pub text: String,
    /// Where in it, if that is known.
    pub place: Option<Range<usize>>,
    /// What.
    pub why: String,
    /// What and where, in several lines.
    long: String,
}

impl ConfigError {
    fn somewhere(text: &str, why: String) -> Self {
        Self { text: text.to_owned(), place: None, long: why.clone(), why }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.long)
    }
}

/// The file that is for a model, and what it says; an error says what is wrong with it.
pub fn find(model: &Path) -> Option<(PathBuf, Result<Config, ConfigError>)> {
    let path = places(model).into_iter().find(|path| path.is_file())?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let config = match files::read_ordinary(&path) {
        Ok(text) => read(&text).map(|config| Config { folder, ..config }),
        Err(_) => Err(ConfigError::somewhere("", "the file cannot be read".to_owned())),
    };
    Some((path, config))
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<Config, ConfigError> {
    let config: Config = toml::from_str(text).map_err(|wrong| ConfigError {
        text: text.to_owned(),
        place: wrong.span(),
        why: wrong.message().to_owned(),
        long: wrong.to_string(),
    })?;
    let own = config.own_schedulers().map_err(|why| ConfigError::somewhere(text, why))?;
    let named = |word: &str| SchedulerChoice::named(word, &own).map(drop);
    config.check.scheduler.as_deref().map_or(Ok(()), named).map_err(|why| ConfigError::somewhere(text, why))?;
    Ok(config)
}

/// The schedulers that are defined for a model, beside those that are always there.
///
/// # Errors
/// What is wrong with the file that defines them.
pub fn own_schedulers(model: &Path) -> Result<Vec<OwnScheduler>, String> {
    match find(model) {
        None => Ok(Vec::new()),
        Some((path, config)) => {
            let own = config.map_err(|wrong| wrong.to_string()).and_then(|config| config.own_schedulers());
            own.map_err(|why| format!("{}: {why}", path.display()))
        }
    }
}

impl Config {
    /// The schedulers that it defines.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn own_schedulers(&self) -> Result<Vec<OwnScheduler>, String> {
        let own = |(name, scheduler): (&String, &Scheduler)| {
            if name.parse::<SchedulerChoice>().is_ok() {
                return Err(format!("schedulers.{name}: there is a scheduler of this name already; take another one"));
            }
            let base = scheduler.base.parse().map_err(|why| format!("schedulers.{name}: {why}"))?;
            Ok(OwnScheduler { name: name.clone(), base, order: scheduler.order.clone(), seed: scheduler.seed })
        };
        self.schedulers.iter().map(own).collect()
    }

    /// By property, the verdict that is expected of a model.
    pub fn expected(&self, model: &str) -> BTreeMap<String, Verdict> {
        self.expectations_of(model)
            .map(|(property, expected)| (property.clone(), (*expected.as_ref()).into()))
            .collect()
    }

    /// What is expected of a model: by the name of its file, then, which counts more, by its path.
    fn expectations_of(&self, model: &str) -> impl Iterator<Item = (&String, &Spanned<Expected>)> {
        let path = std::path::absolute(model).unwrap_or_else(|_| PathBuf::from(model));
        let of = move |by_path: bool| {
            let path = path.clone();
            let named = move |key: &str| match by_path {
                true => is_path(key) && plain(&self.folder.join(key)) == plain(&path),
                false => !is_path(key) && path.file_name().is_some_and(|name| name == key),
            };
            self.expect.iter().filter(move |(key, _)| named(key.as_ref())).flat_map(|(_, expected)| expected)
        };
        of(false).chain(of(true))
    }

    /// What is wrong with the verdicts that are expected of a model, and where in the file: a property that it does not have.
    pub fn wrong_expectation(&self, model: &str, loaded: &Loaded) -> Option<(Range<usize>, String)> {
        let (property, why) = unknown_property(self.expectations_of(model).map(|(property, _)| property), loaded)?;
        let place = self.expectations_of(model).filter(|(name, _)| **name == property).last()?.1.span();
        Some((place, why))
    }

    /// Models of which verdicts are expected though they do not exist: where in the file, and in a sentence. In a large folder a
    /// file that is named without its path is not looked for.
    pub fn missing_models(&self) -> Vec<(Range<usize>, String)> {
        if self.expect.is_empty() {
            return Vec::new();
        }
        let below = file_names_below(&self.folder);
        let missing = |key: &&Spanned<String>| match is_path(key.as_ref()) {
            true => !self.folder.join(key.as_ref()).is_file(),
            false => below.as_ref().is_some_and(|names| !names.contains(key.as_ref())),
        };
        let why = |key: &Spanned<String>| {
            let beside = if is_path(key.as_ref()) { "" } else { " in this folder or below" };
            (key.span(), format!("`expect`: there is no file `{}`{beside}", key.as_ref()))
        };
        self.expect.keys().filter(missing).map(why).collect()
    }
}

/// More entries than this are not looked through for a file.
const ENTRIES_MAX: usize = 5000;

/// The names of all files in a folder and below; `None` if there are too many.
fn file_names_below(folder: &Path) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut seen = 0;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).ok()?.flatten() {
            seen += 1;
            if ENTRIES_MAX < seen {
                return None;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => {
                    names.insert(entry.file_name().to_string_lossy().into_owned());
                }
            }
        }
    }
    Some(names)
}

/// Whether a model is named by its path, not by the name of its file alone.
fn is_path(key: &str) -> bool {
    key.contains(['/', '\\'])
}

/// The first property of which a verdict is expected though a model does not have it, and that in a sentence; `None` as long as
/// the model cannot be read.
pub fn unknown_property<'p>(
    mut expected: impl Iterator<Item = &'p String>,
    loaded: &Loaded,
) -> Option<(String, String)> {
    let plan = loaded.checkable().and_then(|program| plan(program, &[]).ok())?;
    let unknown = expected.find(|name| plan.properties.iter().all(|property| property.name != **name))?;
    let known: Vec<&str> = plan.properties.iter().map(|property| property.name.as_str()).collect();
    let why = format!("`expect`: this model has no property `{unknown}`; its properties are {}", known.join(", "));
    Some((unknown.clone(), why))
}

/// The fairness with a word, as in reports and on the command line.
///
/// # Errors
/// The words that are known, if this is none of them.
pub fn fairness_named(word: &str) -> Result<Fairness, String> {
    let known = [Fairness::None, Fairness::Weak, Fairness::Strong];
    let named = known.into_iter().find(|fairness| fairness.as_str() == word);
    named.ok_or_else(|| format!("unknown fairness `{word}` (known: none, weak, strong)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_by_its_path_or_by_its_file() {
        let text =
            "[expect.\"a.pml\"]\nsafety = \"violated\"\np = \"holds\"\n[expect.\"b/../c/a.pml\"]\nsafety = \"holds\"\n";
        let config = Config { folder: PathBuf::from("/x"), ..read(text).unwrap() };
        let expected = |model: &str| config.expected(model).into_iter().collect::<Vec<_>>();
        let pair = |name: &str, verdict| (name.to_owned(), verdict);
        assert_eq!(expected("/x/d/a.pml"), [pair("p", Verdict::Holds), pair("safety", Verdict::Violated)]);
        assert_eq!(expected("/x/c/./a.pml"), [pair("p", Verdict::Holds), pair("safety", Verdict::Holds)]);
        assert!(expected("/x/c/b.pml").is_empty());
    }

    #[test]
    fn models_that_do_not_exist_are_named() {
        let folder = std::env::temp_dir().join(format!("fabius-expect-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        std::fs::write(folder.join("deep/a.pml"), "").unwrap();
        let expect = |key: &str| format!("[expect.\"{key}\"]\nsafety = \"holds\"\n");
        let text: String = ["a.pml", "deep/a.pml", "b.pml", "flat/a.pml"].map(expect).concat();
        let config = Config { folder: folder.clone(), ..read(&text).unwrap() };
        let missing = config.missing_models();
        std::fs::remove_dir_all(folder).unwrap();
        let places: Vec<&str> = missing.iter().map(|(place, _)| &text[place.clone()]).collect();
        assert_eq!(places, ["\"b.pml\"", "\"flat/a.pml\""]);
        assert_eq!(missing[0].1, "`expect`: there is no file `b.pml` in this folder or below");
        assert_eq!(missing[1].1, "`expect`: there is no file `flat/a.pml`");
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        assert!(toml::from_str::<Config>("define = []").is_err());
        assert!(read("[check]\nfairness = \"fair\"\n").is_err());
        assert!(read("[check]\nscheduler = \"fifo\"\n").is_err());
        assert!(read("[schedulers.fifo]\nbase = \"fifo\"\n").is_err());
        assert!(read("[schedulers.fifo]\norder = []\n").is_err());
        assert!(read("[schedulers.rr]\nbase = \"rtc\"\n").is_err());
        assert!(toml::from_str::<Config>("[expect.\"m.pml\"]\nsafety = \"undecided\"\n").is_err());
    }

    #[test]
    fn the_schema_knows_every_key() {
        let schema = include_str!("../../docs/schema/fabius.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let keys =
            |value: &serde_json::Value| value["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&schema), ["check", "defines", "expect", "properties", "schedulers"]);
        let check = keys(&schema["properties"]["check"]);
        assert_eq!(
            check,
            ["deep-seconds", "fairness", "hints", "memory-mebibytes", "quick-milliseconds", "scheduler", "when"]
        );
    }
}
