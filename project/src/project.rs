//! What the file `fabius.toml` of a project says about a model, and what of it counts beside the flags.

use crate::config::{self, Config};
use crate::defines::{Define, definition, over};
use crate::files;
use fabius_base::{Code, Finding, Span};
use fabius_engine::report::ProjectReport;
use fabius_engine::{Fairness, Loaded, Settings, misconfigured, suited};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a person chose beside the project.
#[derive(Clone, Copy, Debug)]
pub struct Flags<'a> {
    /// Macros, as `NAME` or `NAME=VALUE`.
    pub defines: &'a [String],
    /// Names or kinds of properties.
    pub properties: &'a [String],
    /// Whether it was said which infinite runs count.
    pub fairness: bool,
}

/// The project of a model.
#[derive(Debug)]
pub struct Project {
    file: PathBuf,
    config: Config,
}

impl Project {
    /// The project that a model belongs to, if there is one. A model on standard input belongs to none.
    ///
    /// # Errors
    /// If its file says something wrong: a model in its place that says what.
    pub fn of(model: &Path) -> Result<Option<Self>, Box<Loaded>> {
        let found = if model.as_os_str() == "-" { None } else { config::find(model) };
        match found {
            None => Ok(None),
            Some((file, Ok(config))) => Ok(Some(Self { file, config })),
            Some((file, Err(wrong))) => {
                let (model, file) = (model.display().to_string(), file.display().to_string());
                Err(Box::new(misconfigured(&model, (&file, &wrong.text), wrong.place, &wrong.why)))
            }
        }
    }

    /// A model in the place of this one, if the project expects a verdict of a property that it does not have.
    pub fn wrong_about(&self, model: &Path, loaded: &Loaded) -> Option<Loaded> {
        let model = model.display().to_string();
        let (place, why) = self.config.wrong_expectation(&model, loaded)?;
        let (file, text) = (self.file.display().to_string(), files::read(&self.file).unwrap_or_default());
        Some(misconfigured(&model, (&file, &text), Some(place), &why))
    }

    /// Adds to what there is to say about a model that the project expects verdicts of others which do not exist.
    pub fn warn(&self, mut loaded: Loaded) -> Loaded {
        let missing = self.config.missing_models();
        if missing.is_empty() {
            return loaded;
        }
        let file = Arc::make_mut(&mut loaded.map)
            .add_file(self.file.display().to_string(), files::read(&self.file).unwrap_or_default());
        loaded.findings.extend(missing.into_iter().map(|(place, why)| {
            Finding::new(Code::NoSuchModel, why).at(Span::new(file, place.start as u32, place.end as u32), "")
        }));
        loaded
    }

    /// The macros of the project, then those of the flags; of two with the same name, that of the flags.
    pub fn defines(&self, flags: &[Define]) -> Vec<Define> {
        over(self.config.defines.iter().flatten().map(|text| definition(text)), flags)
    }

    /// The settings of flags, with what the project says where no flag does.
    pub fn settings(&self, loaded: &Loaded, flags: Flags<'_>, settings: Settings) -> Settings {
        let properties = match (&self.config.properties, settings.properties.as_slice()) {
            (Some(own), []) => own.clone(),
            (_, asked) => asked.to_vec(),
        };
        let fairness = match self.config.check.fairness {
            Some(own) if !flags.fairness => own.into(),
            _ => settings.fairness,
        };
        let settings = Settings { properties, fairness, ..settings };
        // It is for all models of the project, also for those in which nothing is fair or not.
        let fairness = if !flags.fairness { suited(loaded, &settings).fairness } else { fairness };
        Settings { fairness, ..settings }
    }

    /// What of the file counts for a model.
    pub fn told(&self, model: &Path, flags: Flags<'_>) -> Arc<fabius_engine::Project> {
        let expected = self.config.expected(&model.display().to_string());
        let list = |name: &str, items: &[String]| (!items.is_empty()).then(|| format!("{name} = {items:?}"));
        let mut settings = Vec::new();
        let flagged = |text: &String| flags.defines.iter().any(|flag| definition(flag).0 == definition(text).0);
        let defines: Vec<String> =
            self.config.defines.iter().flatten().filter(|text| !flagged(text)).cloned().collect();
        settings.extend(list("defines", &defines));
        if let (Some(own), []) = (&self.config.properties, flags.properties) {
            settings.extend(list("properties", own));
        }
        if let Some(own) = self.config.check.fairness.filter(|_| !flags.fairness) {
            settings.push(format!("check.fairness = {:?}", Fairness::from(own).as_str()));
        }
        let verdicts = expected.iter().map(|(property, verdict)| (property, format!("{verdict:?}").to_lowercase()));
        settings.extend(verdicts.map(|(property, verdict)| format!("expect {property} = {verdict:?}")));
        let file = self.file.display().to_string();
        Arc::new(fabius_engine::Project { report: ProjectReport { file, settings }, expected })
    }
}

/// The macros of a model's project, and which infinite runs count there.
///
/// # Errors
/// What is wrong with the file, as half a sentence.
pub fn for_debugger(model: &Path) -> Result<(Vec<Define>, Fairness), String> {
    match config::find(model) {
        None => Ok((Vec::new(), Fairness::None)),
        Some((_, Ok(config))) => {
            let defines = config.defines.iter().flatten().map(|text| definition(text)).collect();
            Ok((defines, config.check.fairness.map_or(Fairness::None, Fairness::from)))
        }
        Some((file, Err(wrong))) => Err(format!("the settings in `{}` cannot be read: {wrong}", file.display())),
    }
}
