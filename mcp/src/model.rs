//! Reading a model, and the limits of a call.

use fabius_base::{Cancel, Finding, SourceMap};
use fabius_engine::{Include, Loaded, ModelText, Settings, load_until, unreadable};
use fabius_project::defines::{Define, defined};
use fabius_project::files::{beside, read_ordinary};
use fabius_project::{Flags, Project};
use fabius_supervise::{Timer, Unfinished, memory};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// The time that a call may take if it does not say how long.
pub(crate) const SECONDS: f64 = 30.0;
/// The longest time that a call may ask for.
pub(crate) const SECONDS_MAX: f64 = 600.0;

/// A model that was read, with the project that it belongs to.
pub(crate) struct Model {
    pub(crate) loaded: Loaded,
    pub(crate) project: Option<Project>,
}

/// A timer for some tenths of the time of a call.
///
/// # Errors
/// If the number makes no sense.
pub(crate) fn timer(arguments: &Value, cancel: &Cancel, tenths: u32) -> Result<Timer, String> {
    let seconds = match &arguments["timeout_seconds"] {
        Value::Null => SECONDS,
        value => value.as_f64().filter(|seconds| 0.0 < *seconds && *seconds <= SECONDS_MAX).ok_or_else(|| {
            format!("`timeout_seconds` is {value}: it has to be a number above 0, and at most {SECONDS_MAX}")
        })?,
    };
    Ok(Timer::start(Some(Duration::from_secs_f64(seconds) / 10 * tenths), cancel))
}

/// Reads the model that a call names or has in it, with `formulas` beside its own.
///
/// # Errors
/// What is wrong with the arguments.
pub(crate) fn read(arguments: &Value, formulas: &[String], cancel: &Cancel) -> Result<Model, String> {
    let macros = macros(&arguments["defines"])?;
    let settings = Settings { formulas: formulas.to_vec(), ..Settings::default() };
    let _watch = memory::Watch::beside(memory::default_bytes(), cancel);
    match (arguments["path"].as_str(), arguments["text"].as_str()) {
        (Some(path), None) => Ok(read_file(Path::new(path), &macros, &settings, cancel)),
        (None, Some(text)) => {
            let mut include = |_: &str, _: &str| None;
            let loaded =
                load(ModelText { name: "model.pml", text: text.to_owned() }, &macros, &mut include, &settings, cancel);
            Ok(Model { loaded, project: None })
        }
        _ => Err("give either `path` or `text`".to_owned()),
    }
}

fn read_file(path: &Path, macros: &[Define], settings: &Settings, cancel: &Cancel) -> Model {
    let project = match Project::of(path) {
        Ok(project) => project,
        Err(misconfigured) => return Model { loaded: *misconfigured, project: None },
    };
    let defines = project.as_ref().map_or_else(|| macros.to_vec(), |project| project.defines(macros));
    let name = path.display().to_string();
    let loaded = match read_ordinary(path) {
        Ok(text) => {
            let mut include = |including: &str, name: &str| {
                let path = beside(Path::new(including), name);
                read_ordinary(&path).ok().map(|text| (path.display().to_string(), text))
            };
            load(ModelText { name: &name, text }, &defines, &mut include, settings, cancel)
        }
        Err(why) => unreadable(&name, &why),
    };
    match project.as_ref().and_then(|project| project.wrong_about(path, &loaded)) {
        Some(wrong) => Model { loaded: wrong, project: None },
        None => Model { loaded, project },
    }
}

fn load(text: ModelText<'_>, defines: &[Define], include: Include<'_>, settings: &Settings, cancel: &Cancel) -> Loaded {
    let name = text.name;
    load_until(cancel, text, defines, include, settings)
        .unwrap_or_else(|reason| unreadable(name, Unfinished::Abandoned(reason).sentence()))
}

/// Macros with their values.
fn macros(defines: &Value) -> Result<Vec<Define>, String> {
    let Value::Object(map) = defines else {
        return if defines.is_null() { Ok(Vec::new()) } else { Err("`defines` has to be an object".to_owned()) };
    };
    let macro_of = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok(defined(name, text)),
        Value::Number(number) => Ok(defined(name, &number.to_string())),
        _ => Err(format!("the macro `{name}` has to be a text or a number")),
    };
    map.iter().map(macro_of).collect()
}

impl Model {
    /// The settings of a call, with what the project says where the call does not.
    pub(crate) fn settings(&self, asked: Settings, fairness_given: bool) -> Settings {
        let flags = Flags { defines: &[], properties: &[], fairness: fairness_given };
        match &self.project {
            Some(project) => project.settings(&self.loaded, flags, asked),
            None => asked,
        }
    }

    /// The first error of the text, in a line.
    pub(crate) fn error(&self) -> Option<String> {
        let told = |map: &SourceMap, finding: &Finding| match finding.span() {
            Some(span) => format!("{}: {}", map.position(span), finding.headline),
            None => finding.headline.clone(),
        };
        let error = self.loaded.findings.iter().find(|finding| finding.is_error());
        error.map(|finding| told(&self.loaded.map, finding))
    }
}
