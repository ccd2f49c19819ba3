//! `fabius init`: a folder to begin with. Nothing that exists is changed.

use crate::examples::create;
use crate::{exit, output};
use anstream::eprintln;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The model.
const MODEL: (&str, &str) = ("counter.pml", include_str!("counter.pml"));
/// The settings of a folder whose model is ours.
const PROJECT: &str = include_str!("fabius.toml");
/// What the settings begin with in a folder that has models.
const PROJECT_FILE: &str = "fabius.toml";
/// Where the verdicts that are expected of our model begin in the settings.
const EXPECTATIONS: &str = "[expect.";
/// What makes an editor ready.
const EDITOR: [(&str, &str); 2] = [
    (".vscode/settings.json", include_str!("settings.json")),
    (".vscode/extensions.json", include_str!("extensions.json")),
];

/// Makes the files in a folder, says which, and what to type next.
pub fn run(folder: &Path) -> u8 {
    match made(folder) {
        Ok(text) => output::print(text.as_bytes()),
        Err((path, error)) => {
            eprintln!("fabius: cannot write {path}: {error}");
            exit::FAULTY
        }
    }
}

fn made(folder: &Path) -> Result<String, (String, io::Error)> {
    let failed = |path: &Path, error: io::Error| (path.display().to_string(), error);
    let editor = folder.join(".vscode");
    std::fs::create_dir_all(&editor).map_err(|error| failed(&editor, error))?;
    let has_models = has_models(folder).map_err(|error| failed(folder, error))?;
    let ours = PROJECT.find(EXPECTATIONS).unwrap_or(PROJECT.len());
    let project = if has_models { &PROJECT[..ours] } else { PROJECT };
    let mut files = vec![(PROJECT_FILE, project.trim_end().to_owned() + "\n")];
    files.extend(EDITOR.map(|(name, text)| (name, text.to_owned())));
    let mut text = String::new();
    if has_models {
        text.push_str("there are models here, so none was made\n");
    } else {
        files.insert(0, (MODEL.0, MODEL.1.to_owned()));
    }
    for (name, content) in files {
        let path = folder.join(name);
        match create(&path, &content) {
            Ok(()) => drop(writeln!(text, "made {}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let _ = writeln!(text, "left {} as it is", path.display());
            }
            Err(error) => return Err(failed(&path, error)),
        }
    }
    text.push_str(&next(folder, has_models));
    Ok(text)
}

/// Whether a folder has models in it.
fn has_models(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        if entry?.path().extension().is_some_and(|extension| extension == "pml") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What to type next.
fn next(folder: &Path, has_models: bool) -> String {
    let mut text = "\nnext:\n".to_owned();
    if folder != Path::new(".") {
        let _ = writeln!(text, "  cd {}", folder.display());
    }
    if has_models {
        text.push_str("  fabius watch .                          check after each save\n");
    } else {
        text.push_str("  fabius check counter.pml                everything holds\n");
        text.push_str("  fabius check counter.pml -D UNLOCKED    an update is lost: see how\n");
        text.push_str("  fabius explore counter.pml              step through it\n");
    }
    text.push_str("  fabius examples --tour                  the tutorial: from a first check to a proof\n");
    text.push_str("  fabius examples                         more models to try\n");
    text
}
