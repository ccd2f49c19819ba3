//! The pictures of terminals in the documentation show what the program prints, in 80 columns; `docs/build pictures` makes them.

use fabius_testkit::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::Command;

const COLUMNS: usize = 80;
/// The width of a character in a picture.
const CELL: f64 = 8.4;

/// What stands in a picture: lines of pieces of text.
fn drawn(picture: &str) -> Vec<String> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for line in picture.lines().filter_map(|line| line.strip_prefix("<text ")) {
        let (y, rest) = line.split_once("y=\"").and_then(|(_, rest)| rest.split_once('"')).expect("a place");
        let piece = rest.split_once('>').and_then(|(_, rest)| rest.strip_suffix("</text>")).expect("a text");
        let piece = piece.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        match lines.last_mut() {
            Some((known, text)) if *known == y => *text += &format!(" {piece}"),
            _ => lines.push((y, piece)),
        }
    }
    lines.into_iter().map(|(_, text)| text).collect()
}

/// Text without blanks, and without how long something took and how much memory it needed.
fn comparable(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        if ["ms", "s", "KiB", "MiB"].contains(&word.trim_matches(['(', ')', ',', ';'])) {
            words.pop();
        } else {
            words.push(word);
        }
    }
    words.concat()
}

/// The words of a command line, as a shell reads them.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// What commands print, one after the other, in a folder with a copy of the models.
fn printed(folder: &Path, line: &str) -> String {
    let mut text = format!("$ {line}\n");
    for command in line.split(" && ") {
        let mut words = words(command);
        assert_eq!(words.remove(0), "fabius", "{line}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
        command.args(words).current_dir(folder).env("FABIUS_CACHE", "off").env("COLUMNS", "80");
        command.env_remove("CLICOLOR_FORCE");
        let output = command.output().expect("the binary runs");
        // Findings stand above verdicts, on whichever stream.
        text += &String::from_utf8_lossy(&[output.stderr, output.stdout].concat());
    }
    text
}

fn pictures() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let folders = [docs.clone(), docs.join("pictures"), docs.join("tasks")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder").flatten());
    files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "svg")).collect()
}

#[test]
fn pictures_show_what_the_program_prints() {
    let scratch = Scratch::new().expect("a folder can be made");
    std::fs::create_dir(scratch.path().join("models")).expect("a folder can be made");
    for model in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("models")).expect("models").flatten() {
        if model.path().is_file() {
            let text = std::fs::read_to_string(model.path()).expect("a text");
            scratch.file(&format!("models/{}", model.file_name().to_string_lossy()), &text);
        }
    }
    let mut looked_at = 0;
    for path in pictures() {
        let picture = std::fs::read_to_string(&path).expect("a text");
        let label = picture.split_once("aria-label=\"").and_then(|(_, rest)| rest.split_once('"'));
        let Some((line, _)) = label.filter(|(label, _)| label.starts_with("fabius ")) else { continue };
        let line = line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let printed = comparable(&printed(scratch.path(), &line));
        let mut rest = printed.as_str();
        for row in drawn(&picture) {
            let row = comparable(&row);
            let at = rest.find(&row);
            let at = at.unwrap_or_else(|| panic!("{}: not printed, or not here: {row}\n{rest}", path.display()));
            rest = &rest[at + row.len()..];
        }
        let (_, width) = picture.split_once("width=\"").expect("a width");
        let width: f64 = width.split_once('"').and_then(|(width, _)| width.parse().ok()).expect("a number");
        assert!(width <= (COLUMNS + 4) as f64 * CELL, "{}: {width}", path.display());
        looked_at += 1;
    }
    assert!(12 <= looked_at, "{looked_at}");
}
