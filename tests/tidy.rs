//! The house rules that a program can check: who imports whom, how long things are, that every dependency is used and argued for,
//! and that every finding code is documented.

use fabius_base::Code;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A function is at most so long; a wall, not a goal.
const FUNCTION_LINES_MAX: usize = 70;
/// A file is at most so long, tests apart.
const FILE_LINES_MAX: usize = 900;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let is_source = |name: &str| !name.starts_with('.') && !["target", "node_modules"].contains(&name);
            if path.is_dir() && name.to_str().is_some_and(is_source) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 40, "the walk over the sources found only {} files", files.len());
    files
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The functions of a file in rustfmt's layout: name and number of lines. A function starts at a
/// line whose first words are modifiers and `fn`, and ends at the closing brace in its own column.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some(name) = function_name(line.trim_start()) else { continue };
        let closing = format!("{}}}", " ".repeat(indent));
        // What a trait only declares ends with its parameters and its result.
        let declared = format!("{})", " ".repeat(indent));
        let one_line = line.ends_with('}') || line.ends_with(';');
        let length = if one_line {
            1
        } else {
            lines[start..]
                .iter()
                .position(|l| *l == closing || (l.starts_with(&declared) && l.ends_with(';')))
                .map_or(1, |n| n + 1)
        };
        found.push((name, length));
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    loop {
        match words.next()? {
            "fn" => return Some(words.next()?.split(['(', '<']).next()?.to_string()),
            "pub" | "const" | "unsafe" | "async" | "extern" | "\"C\"" => {}
            word if word.starts_with("pub(") => {}
            _ => return None,
        }
    }
}

#[test]
fn the_length_counter_counts() {
    let text = "fn a() {}\n\npub fn b(\n    x: u8,\n) {\n    x;\n}\nimpl X {\n    pub(crate) const fn c() {\n        1\n    }\n}\n\
                trait Y {\n    fn d(\n        x: u8,\n    ) -> u8;\n\n    fn e();\n}\n";
    let expected = vec![
        ("a".to_string(), 1),
        ("b".to_string(), 5),
        ("c".to_string(), 3),
        ("d".to_string(), 3),
        ("e".to_string(), 1),
    ];
    assert_eq!(functions(text), expected);
}

#[test]
fn functions_and_files_are_short() {
    let argued = argued_lengths();
    let mut used = BTreeSet::new();
    let mut complaints = Vec::new();
    for path in rust_files() {
        let text = fs::read_to_string(&path).expect("a source file can be read");
        let name = shown(&path);
        let body_lines = text.lines().take_while(|line| *line != "#[cfg(test)]").count();
        let is_test = name.starts_with("tests/") || name.contains("/tests/");
        if body_lines > FILE_LINES_MAX && !is_test && !argued_for(&argued, &name, "", &mut used) {
            complaints.push(format!("{name} has {body_lines} lines, more than {FILE_LINES_MAX}"));
        }
        for (function, length) in functions(&text) {
            if length > FUNCTION_LINES_MAX && !argued_for(&argued, &name, &function, &mut used) {
                complaints.push(format!("{name}: `{function}` has {length} lines, more than {FUNCTION_LINES_MAX}"));
            }
        }
    }
    for key in argued.keys() {
        if !used.contains(key) {
            complaints.push(format!("tests/tidy.toml argues for {key:?}, which is not too long (any more)"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

fn argued_for(
    argued: &BTreeMap<(String, String), String>,
    file: &str,
    function: &str,
    used: &mut BTreeSet<(String, String)>,
) -> bool {
    let key = (file.to_string(), function.to_string());
    let found = argued.contains_key(&key);
    if found {
        used.insert(key);
    }
    found
}

/// `tests/tidy.toml`: lines `"file: function" = "reason"`, or `"file" = "reason"`.
fn argued_lengths() -> BTreeMap<(String, String), String> {
    let text = fs::read_to_string(root().join("tests/tidy.toml")).expect("tests/tidy.toml can be read");
    text.lines()
        .filter(|line| line.starts_with('"'))
        .map(|line| {
            let (key, reason) = line.split_once(" = ").expect("a line of tests/tidy.toml is `\"key\" = \"reason\"`");
            let key = key.trim_matches('"');
            let (file, function) = key.split_once(": ").unwrap_or((key, ""));
            assert!(reason.len() > 20, "{key}: the reason is too short to convince anyone");
            ((file.to_string(), function.to_string()), reason.to_string())
        })
        .collect()
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = rust_files()
        .into_iter()
        .filter(|path| !fs::read_to_string(path).expect("a source file can be read").starts_with("//!"))
        .map(|path| shown(&path))
        .collect();
    assert!(silent.is_empty(), "these files do not start with a `//!` line: {silent:#?}");
}

/// Who may import whom, apart from libraries: the table in ARCHITECTURE.md.
fn may_import() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md can be read");
    let rows = text.lines().skip_while(|line| *line != "| crate | may import |").skip(2);
    let mut table = BTreeMap::new();
    for row in rows.map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")) {
        let (crates, allowed) = row.split_once(" | ").expect("a row has two columns");
        for name in names(crates) {
            table.insert(name, names(allowed).collect());
        }
    }
    table
}

/// The packages that a cell of the table names; remarks stand in parentheses.
fn names(cell: &str) -> impl Iterator<Item = String> {
    let plain = cell.split(',').map(|part| part.split('(').next().unwrap_or("").trim());
    plain.filter(|name| *name != "–").map(|name| {
        if name == "fabius" || name.starts_with("tree-") { name.to_owned() } else { format!("fabius-{name}") }
    })
}

#[test]
fn nobody_imports_what_the_table_forbids() {
    let table = may_import();
    let mut complaints = Vec::new();
    let packages = packages();
    for Package { name, dependencies, .. } in &packages {
        let Some(allowed) = table.get(name) else {
            complaints.push(format!("{name} is not in the table of imports"));
            continue;
        };
        for (dependency, _) in dependencies.iter().filter(|(dependency, kind)| is_ours(dependency) && kind.is_none()) {
            if !allowed.contains(dependency) {
                complaints.push(format!("{name} imports {dependency}"));
            }
        }
    }
    for name in table.keys().filter(|name| packages.iter().all(|package| package.name != **name)) {
        complaints.push(format!("{name} is in the table of imports, and no package"));
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// The one file behind the front ends that names them.
const TABLE_OF_LANGUAGES: &str = "core/task/src/languages.rs";

#[test]
fn only_the_table_of_languages_names_a_front_end() {
    let names_one = |path: &PathBuf| {
        let name = shown(path);
        let behind = name.contains("src/") && !name.starts_with("core/promela/") && !name.starts_with("tests/");
        let text = fs::read_to_string(path).expect("a source file can be read");
        behind && text.contains("fabius_promela")
    };
    let found: Vec<String> = rust_files().into_iter().filter(names_one).map(|path| shown(&path)).collect();
    assert_eq!(found, [TABLE_OF_LANGUAGES]);
}

/// A package of the workspace.
struct Package {
    name: String,
    folder: PathBuf,
    /// Names, each with its kind: `None` for the ordinary ones, else `dev` or `build`.
    dependencies: Vec<(String, Option<String>)>,
}

fn is_ours(dependency: &str) -> bool {
    dependency.starts_with("fabius")
}

fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_owned();
    let package = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
        let named = |one: &serde_json::Value| (text(&one["name"]), one["kind"].as_str().map(str::to_owned));
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        Package {
            name: text(&package["name"]),
            folder: manifest.parent().expect("a manifest is in a folder").to_owned(),
            dependencies: dependencies.iter().map(named).collect(),
        }
    };
    let packages: Vec<Package> =
        metadata["packages"].as_array().expect("a list of packages").iter().map(package).collect();
    assert!(packages.len() >= 8, "only {} packages were found", packages.len());
    packages
}

/// Whether a text has this somewhere, and not as the end of a longer word.
fn begins_a_word(text: &str, what: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(what).any(|(at, _)| !text[..at].ends_with(part_of_word))
}

#[test]
fn every_dependency_is_used() {
    let files = rust_files();
    let mut unused = Vec::new();
    let packages = packages();
    for package in &packages {
        let inner = |path: &Path| {
            packages.iter().any(|p| {
                p.folder.starts_with(&package.folder) && p.folder != package.folder && path.starts_with(&p.folder)
            })
        };
        let texts: Vec<String> = (files.iter())
            .filter(|path| path.starts_with(&package.folder) && !inner(path))
            .map(|path| fs::read_to_string(path).expect("a source file can be read"))
            .collect();
        for (dependency, _) in &package.dependencies {
            let name = dependency.replace('-', "_");
            // A method may have the name of a package; what is used is in a path or in an import.
            let ways = [format!("{name}::"), format!("use {name};"), format!("use {name} as")];
            let is_named = |text: &String| ways.iter().any(|way| begins_a_word(text, way));
            if !texts.iter().any(is_named) {
                unused.push(format!("{} does not use {dependency}", package.name));
            }
        }
    }
    assert!(unused.is_empty(), "\n{}", unused.join("\n"));
}

/// The parts of a version that count when two are compared.
fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().expect("a version has numbers")).take(2).collect()
}

/// `rust-version` is what somebody with an older compiler reads, so it has to hold for all that is built, too.
#[test]
fn no_dependency_needs_a_newer_rust() {
    let args = ["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform"];
    let command =
        |args: &[&str]| Command::new(env!("CARGO")).args(args).current_dir(root()).output().expect("cargo runs");
    let host = String::from_utf8(command(&["-vV"]).stdout).expect("cargo prints text");
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names the machine");
    let metadata = command(&[&args[..], &[host]].concat()).stdout;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).expect("cargo metadata prints JSON");
    let ours = version(env!("CARGO_PKG_RUST_VERSION"));
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let newer: Vec<String> = packages
        .iter()
        .filter(|package| package["rust_version"].as_str().is_some_and(|theirs| version(theirs) > ours))
        .map(|package| format!("{} {} needs {}", package["name"], package["version"], package["rust_version"]))
        .collect();
    assert!(packages.len() > 100 && newer.is_empty(), "\n{}", newer.join("\n"));
}

/// Names that say nothing to somebody who knows the field; `docs/glossary.md` has the terms to use instead.
const PRIVATE_WORDS: &[&str] = &[
    "accompany",
    "belonging",
    "calmest",
    "curiosity",
    "endless",
    "errand",
    "give_way",
    "hunt",
    "hunted",
    "inquiry",
    "nobodys",
    "onward",
    "outlet",
    "outlook",
    "put_off",
    "remark",
    "riding",
    "standings",
    "surroundings",
    "team",
    "wish",
    "wishes",
    "wonders",
];

#[test]
fn identifiers_are_terms_of_the_field() {
    let mut found = Vec::new();
    let is_source = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "src");
    for path in rust_files().into_iter().filter(is_source) {
        let text = fs::read_to_string(&path).expect("a source file can be read");
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            // What stands in quotation marks is not a name.
            let code: String = code.split('"').step_by(2).collect();
            let words = code.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
            for word in words.filter(|word| PRIVATE_WORDS.contains(&word.as_str())) {
                found.push(format!("{}:{}: {word}", shown(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_finding_code_is_documented() {
    let text = fs::read_to_string(root().join("docs/findings.md")).expect("docs/findings.md can be read");
    let documented: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let missing: Vec<_> = known.difference(&documented).collect();
    let stale: Vec<_> = documented.difference(&known).collect();
    assert!(missing.is_empty(), "docs/findings.md has no section for {missing:?}");
    assert!(stale.is_empty(), "docs/findings.md has sections for codes that do not exist: {stale:?}");
    assert_eq!(known.len(), Code::ALL.len(), "two findings share a code");
}

#[test]
fn every_dependency_is_argued_for() {
    let text = fs::read_to_string(root().join("docs/dependencies.md")).expect("docs/dependencies.md can be read");
    let dependencies = packages().into_iter().flat_map(|package| package.dependencies).map(|(name, _)| name);
    let missing: BTreeSet<String> =
        dependencies.filter(|name| !is_ours(name) && !text.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/dependencies.md does not argue for {missing:?}");
}

#[test]
fn no_path_of_one_machine_is_in_the_tree() {
    let output = Command::new("git")
        .args(["grep", "-nIE", "/(work|farm|root|tmp/bash_jobs)/", "--", ".", ":!Cargo.lock", ":!tests/tidy.rs"])
        .current_dir(root())
        .output();
    let Ok(output) = output else { return fabius_needs::skipped(fabius_needs::Need::Git, "files are not listed") };
    let hits = String::from_utf8_lossy(&output.stdout);
    assert!(hits.is_empty(), "{hits}");
}

#[test]
fn the_commands_of_the_readme_exist() {
    let text = fs::read_to_string(root().join("README.md")).expect("README.md can be read");
    assert!(text.contains("./test"), "README.md does not name the command that runs all tests");
    let model = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("cargo run --release -- check "))
        .expect("README.md names the command that runs the main job");
    assert!(root().join(model.trim()).is_file(), "README.md checks {model}, which is not there");
    assert!(root().join("test").is_file());
}
