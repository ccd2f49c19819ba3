//! Where real models are, and how they are read.

#![expect(clippy::disallowed_methods, reason = "models are read from files")]

use fabius_base::SourceMap;
use fabius_language::Loader;
use fabius_program::Program;
use fabius_promela::{Options, lower, parse};
use std::path::{Path, PathBuf};

/// The lines of the manifest.
pub fn manifest(corpus: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(corpus.join("manifest.jsonl")).expect("the manifest can be read");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).expect("a line of the manifest is JSON")).collect()
}

struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&mut self, _includer: &str, name: &str) -> Option<(String, String)> {
        let name = name.trim_matches(['"', '<', '>']);
        let text = std::fs::read(self.0.join(name)).ok()?;
        Some((name.to_owned(), String::from_utf8_lossy(&text).into_owned()))
    }
}

/// Reads and lowers a model.
pub fn load(path: &Path, options: Options) -> Result<(Program, SourceMap), String> {
    let text = std::fs::read(path).map_err(|e| e.to_string())?;
    let mut map = SourceMap::new();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = map.add_file(name.as_str(), String::from_utf8_lossy(&text).into_owned());
    let mut loader = Folder(path.parent().unwrap_or(path).to_owned());
    let parsed = parse(&mut map, file, &[], &mut loader);
    let headlines = |findings: &[fabius_base::Finding]| {
        let errors = findings.iter().filter(|f| f.is_error());
        errors.map(|f| f.headline.clone()).collect::<Vec<_>>().join("; ")
    };
    if !parsed.is_ok() {
        return Err(format!("it cannot be parsed: {}", headlines(&parsed.findings)));
    }
    let lowered = lower(&parsed.model, &map, &name, options);
    let program = lowered.program.ok_or_else(|| format!("it cannot be lowered: {}", headlines(&lowered.findings)))?;
    Ok((program, map))
}
