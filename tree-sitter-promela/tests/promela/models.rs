//! Real models: the grammar reads what the parser of Fabius reads, and finds the same declarations.

use crate::common::{files, first_error, folder, outline, own_outline, tree};
use fabius_needs::Need;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Compares both parsers on one text: what they disagree about.
fn compare(text: &str) -> Option<String> {
    let read = tree(text);
    let error = first_error(&read, text);
    let found = outline(&read, text).filter(|_| error.is_none());
    match (own_outline(text), found) {
        (Ok(expected), Some(found)) if expected == found => None,
        (Ok(expected), Some(found)) => Some(format!("declared: {expected:?}, found: {found:?}")),
        (Ok(_), None) => Some(format!("only the grammar refuses it: {}", error.unwrap_or_default())),
        (Err(why), Some(_)) => Some(format!("only Fabius refuses it: {why}")),
        (Err(_), None) => None,
    }
}

/// What both disagree about, apart from what only somebody can know who knows what names mean.
fn complaints(texts: &[(String, String)]) -> Vec<String> {
    let needs_names = |why: &str| {
        let reasons = ["cannot be called", "must be a constant"];
        why.starts_with("only Fabius refuses it") && reasons.iter().any(|reason| why.ends_with(reason))
    };
    let differing = texts.iter().filter_map(|(name, text)| Some((name, compare(text)?)));
    differing.filter(|(_, why)| !needs_names(why)).map(|(name, why)| format!("{name}: {why}")).collect()
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).expect("a model can be read")).into_owned()
}

/// The text behind the preprocessor that Spin runs.
fn expanded(path: &Path) -> Option<String> {
    let mut command = Command::new("gcc");
    command.args(["-std=gnu99", "-E", "-x", "c"]).arg(path).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The models below a folder, as `prepare` gives them.
fn models(folder: &Path, prepare: fn(&Path) -> Option<String>) -> Vec<(String, String)> {
    let files = files(folder, &["pml", "pml1", "promela", "prom", "pr", "spin"]);
    files.iter().filter_map(|path| Some((path.display().to_string(), prepare(path)?))).collect()
}

#[test]
fn the_models_of_the_project_are_read_as_they_stand() {
    // Where `#else` offers two beginnings for one end, no text as it stands is a model; and here no file is included.
    let texts = models(&folder().join("../models"), |path| {
        Some(read(path)).filter(|text| !text.contains("#else") && !text.contains("#include"))
    });
    assert!(texts.len() > 10, "only {} models were found", texts.len());
    let complaints = complaints(&texts);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_corpus_is_read_as_fabius_reads_it() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    if !Need::Gcc.met() {
        return;
    }
    let texts = models(&corpus.join("models"), expanded);
    let complaints = complaints(&texts);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let accepted = texts.iter().filter(|(_, text)| first_error(&tree(text), text).is_none()).count();
    assert!(accepted > texts.len() / 2, "only {accepted} of {} models are read without an error", texts.len());
}

#[test]
fn most_models_of_the_corpus_are_read_as_they_stand() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let texts = models(&corpus.join("models"), |path| Some(read(path)));
    let read = texts.iter().filter(|(_, text)| first_error(&tree(text), text).is_none()).count();
    println!("{read} of {} texts of the corpus are read without an error", texts.len());
    // The others have macros that stand for part of a statement, or prose below conditions.
    assert!(read * 10 > texts.len() * 8, "only {read} of {} texts are read without an error", texts.len());
}

#[test]
fn texts_without_one_word_are_refused_as_fabius_does() {
    let text = read(&folder().join("test/every_construct.pml"));
    assert_eq!(compare(&text), None);
    let words = words(&text);
    let mut complaints = Vec::new();
    for (start, end) in words {
        let without = format!("{} {}", &text[..start], &text[end..]);
        if let Some(why) = compare(&without).filter(|why| !why.starts_with("only Fabius")) {
            complaints.push(format!("without byte {start}, `{}`: {why}", &text[start..end]));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Where the words and signs of a text stand, apart from comments on lines of their own.
fn words(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (start, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        match found.last_mut() {
            Some((_, end)) if *end == start && is_word(c) && text[..start].ends_with(is_word) => *end += c.len_utf8(),
            _ => found.push((start, start + c.len_utf8())),
        }
    }
    found
}
