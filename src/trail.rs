//! Counterexamples as trail files, where `spin -t -p` looks for them.

use crate::args::Check;
use crate::{exit, output};
use fabius_base::Code;
use fabius_engine::{Counterexample, Loaded, Outcome};
use fabius_witness::format::trail::names_claim;
use std::path::{Path, PathBuf};

/// Why there is no place for a trail.
pub const UNNAMED: &str =
    "a model from standard input has no file beside which a trail could be: name one, as in --trail=FILE";

/// Refuses one file for the trails of several models, and a trail without a name beside standard input.
///
/// # Errors
/// Why it is refused.
pub fn check_flags(args: &Check) -> Result<(), String> {
    match args.trail.as_ref().map(Option::as_deref) {
        Some(Some(path)) if 1 < args.files.len() => Err(format!(
            "--trail={} names one file, and several models are checked: leave the name out, and each has its own",
            path.display()
        )),
        Some(None) if args.files.iter().any(|file| is_stdin(file)) => Err(UNNAMED.to_owned()),
        _ => Ok(()),
    }
}

/// Whether a model comes from standard input, beside which there is no place for a trail.
pub fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Writes a trail as named, or else beside its model; returns the exit code.
pub fn write_beside(wanted: Option<&Path>, model: &Path, trail: &str) -> u8 {
    let beside = || PathBuf::from(format!("{}.trail", model.display()));
    let path = wanted.map_or_else(beside, Path::to_owned);
    match std::fs::write(&path, trail) {
        Ok(()) => 0,
        Err(error) => {
            output::complain(&format!("error: cannot write {}: {error}", path.display()));
            exit::FAULTY
        }
    }
}

/// Writes the trails that were asked for; returns what to tell about them, as an error if one could not be written.
pub fn write(loaded: &Loaded, outcome: &Outcome, args: &Check) -> Vec<Result<String, String>> {
    let Some(wanted) = &args.trail else { return Vec::new() };
    let many = outcome.counterexamples.len() > 1;
    let mut told = Vec::new();
    for (i, example) in outcome.counterexamples.iter().enumerate() {
        let number = many.then_some(i + 1);
        let Some(path) = path_of(&loaded.name, wanted.as_deref(), number) else {
            return vec![Err(format!("error: {UNNAMED}"))];
        };
        let trail = example.trail(loaded);
        told.push(match std::fs::write(&path, &trail) {
            Ok(()) => Ok(match refused_by_spin(loaded) {
                Some(line) => format!(
                    "trail written to {}; Spin cannot replay it, since it refuses this model (line {line}: see the warning)",
                    path.display()
                ),
                None => {
                    let hint = hint(&loaded.name, number, wanted.is_some(), &path);
                    let lines = std::iter::once(format!("trail written to {}; {hint}", path.display()));
                    lines.chain(left_out(example, &trail)).collect::<Vec<_>>().join("\n")
                }
            }),
            Err(error) => Err(format!("error: the trail could not be written to {}: {error}", path.display())),
        });
    }
    told
}

/// Where a trail goes: as named, or beside the model under the name that Spin expects. Several
/// trails are numbered as Spin does.
fn path_of(model: &str, wanted: Option<&Path>, number: Option<usize>) -> Option<PathBuf> {
    match wanted {
        Some(path) => Some(numbered(path, number)),
        None if model.starts_with('<') => None,
        None => {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            Some(PathBuf::from(format!("{model}{number}.trail")))
        }
    }
}

/// The name of one of several files, with its number before the extension.
pub fn numbered(path: &Path, number: Option<usize>) -> PathBuf {
    let Some(number) = number else { return path.to_path_buf() };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}{number}{extension}"))
}

/// The line for which Spin refuses a model that Fabius accepts, if it does.
fn refused_by_spin(loaded: &Loaded) -> Option<u32> {
    let finding = loaded.findings.iter().find(|finding| finding.code == Code::SpinRefuses)?;
    finding.span().map(|span| loaded.map.position(span).line)
}

/// What Spin's replay does not show as Fabius does.
fn left_out(example: &Counterexample, trail: &str) -> Vec<String> {
    let mut told = Vec::new();
    let steps = &example.trace.steps;
    let on_the_way = steps.faults().iter().find(|fault| **fault + 1 < steps.len());
    if let Some(step) = on_the_way.and_then(|fault| steps.get(*fault)) {
        told.push(format!("  Spin reports the assertion that fails on the way, in step {}, and goes on.", step.number));
    }
    let has_claim = steps.has_claim();
    if has_claim && !names_claim(trail) {
        told.push(
            "  Spin replays the processes only: the trail has no steps of the formula's automaton, so no error is"
                .to_owned(),
        );
        told.push("  reported at its end.".to_owned());
    }
    told
}

/// The command that replays a trail.
fn hint(model: &str, number: Option<usize>, named: bool, path: &Path) -> String {
    match number {
        _ if named => format!("replay it with: spin -k {} -p {model}", path.display()),
        Some(number) => format!("replay it with: spin -t{number} -p {model}"),
        None => format!("replay it with: spin -t -p {model}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_goes_where_spin_looks_for_it() {
        let path = |model, wanted: Option<&str>, number| path_of(model, wanted.map(Path::new), number);
        assert_eq!(path("a/m.pml", None, None), Some("a/m.pml.trail".into()));
        assert_eq!(path("a/m.pml", None, Some(2)), Some("a/m.pml2.trail".into()));
        assert_eq!(path("a/m.pml", Some("x/t.trail"), None), Some("x/t.trail".into()));
        assert_eq!(path("a/m.pml", Some("x/t.trail"), Some(3)), Some("x/t3.trail".into()));
        assert_eq!(path("<stdin>", None, None), None);
    }
}
