//! What the pages tell to type exists: commands with their flags, and the files that pages outside of `docs` link to.

use super::{pages, printed, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The pages that people read, apart from the reference, which the program prints, and what was true in former versions.
fn written() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "vscode-extension/README.md"]
            .map(|name| root().join(name))
            .into();
    found.push(root().join("tree-sitter-promela/README.md"));
    ["docs", "integrations", "models", "vscode-extension/walkthrough"]
        .iter()
        .for_each(|folder| pages(&root().join(folder), &mut found));
    found.retain(|path| !path.ends_with("docs/reference.md"));
    found
}

/// The commands of a page that begin with `fabius`: in its text between backquotes, and in its blocks.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            let spans = part.split('`').skip(1).step_by(2);
            found.extend(spans.filter(|span| span.starts_with("fabius ")).map(str::to_owned));
        } else {
            let starts = part.lines().filter_map(|line| line.find("fabius ").map(|at| (&line[..at], &line[at..])));
            let typed = starts.filter(|(before, _)| before.is_empty() || before.ends_with(' '));
            found.extend(typed.map(|(_, command)| command.to_owned()));
        }
    }
    found
}

/// The words of a command up to its comment, without what is quoted.
fn words(command: &str) -> Vec<String> {
    let command = command.split([';', '|', '&', '#', '>']).next().unwrap_or_default();
    let command = command.split("  ").next().unwrap_or_default();
    let bare: String = command.split(['\'', '"']).step_by(2).collect();
    bare.split_whitespace().map(str::to_owned).collect()
}

/// The flag that a word is, without its value.
fn flag(word: &str) -> Option<&str> {
    let name = word.trim_end_matches([',', '.', ':', ']']).trim_start_matches('[');
    let name = name.split(['=', '[']).next().unwrap_or_default();
    let is_long = name.starts_with("--") && 3 < name.len();
    let is_short = !is_long && name.len() >= 2 && name.starts_with('-') && name.as_bytes()[1].is_ascii_alphabetic();
    if is_short { Some(&name[..2]) } else { is_long.then_some(name) }
}

#[test]
fn every_command_of_the_pages_exists_with_its_flags() {
    let mut helps: BTreeMap<String, Option<BTreeSet<String>>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in written() {
        for command in commands(&read(&path)) {
            let words = words(&command);
            let Some(name) = words.get(1).filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())) else {
                continue;
            };
            let known = helps.entry(name.clone()).or_insert_with(|| {
                let help = printed(&root(), &[name, "--help"]);
                let flags = help.split_whitespace().filter_map(flag).map(str::to_owned).collect();
                help.contains("Usage: fabius").then_some(flags)
            });
            let Some(known) = known else {
                wrong.push(format!("{}: no command `{name}`: {command}", path.display()));
                continue;
            };
            seen += 1;
            let unknown = words[2..].iter().filter_map(|word| flag(word)).filter(|flag| !known.contains(*flag));
            wrong.extend(unknown.map(|flag| format!("{}: `fabius {name}` has no {flag}: {command}", path.display())));
        }
    }
    assert!(seen > 200, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn flags_of_spin_have_flags_that_exist() {
    let page = read(&root().join("docs/spin.md"));
    let known: BTreeSet<String> =
        printed(&root(), &["check", "--help"]).split_whitespace().filter_map(flag).map(str::to_owned).collect();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `-") || line.starts_with("| `spin")).collect();
    assert!(rows.len() > 40, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        for span in cells[1].split('`').skip(1).step_by(2).filter(|span| span.starts_with("--")) {
            let unknown =
                span.split_whitespace().filter_map(flag).filter(|flag| !known.contains(*flag) && *flag != "--version");
            wrong.extend(unknown.map(|flag| format!("{flag} in: {row}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_of_pages_outside_of_the_site_lead_to_files() {
    let is_of_site = |path: &Path| path.starts_with(root().join("docs"));
    let mut found: Vec<PathBuf> = written().into_iter().filter(|path| !is_of_site(path)).collect();
    found.extend(["ARCHITECTURE.md", "STYLE.md", "CODE_OF_CONDUCT.md"].map(|name| root().join(name)));
    pages(&root().join("tests/book"), &mut found);
    let mut wrong = Vec::new();
    for path in found {
        let text = read(&path);
        let prose: String = text.split("```").step_by(2).collect();
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let is_there = target.exists() && (heading.is_empty() || super::has_heading(&read(&target), heading));
            if !is_there {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
