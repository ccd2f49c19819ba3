//! The documentation says what the program does: the tutorial is followed step by step, and the reference is printed by the program.
//!
//! With `FABIUS_BLESS=1` the reference is written anew instead of compared.

mod commands;

use fabius_engine::strategy::SEARCHES;
use fabius_lsp::server::anchor;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The subcommands that the reference lists.
const COMMANDS: &[&str] = &[
    "init",
    "examples",
    "check",
    "diff",
    "executions",
    "schedule",
    "contexts",
    "stuck",
    "find",
    "causes",
    "cost",
    "mutate",
    "graph",
    "merge",
    "worker",
    "pin",
    "explore",
    "watch",
    "lsp",
    "dap",
    "mcp",
    "explain",
    "completions",
    "man",
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a command prints in a folder, on both streams.
fn printed(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command
        .args(args)
        .current_dir(folder)
        .env("FABIUS_CACHE", "off")
        .env("COLUMNS", "100")
        .env_remove("CLICOLOR_FORCE");
    let output = command.output().expect("the binary runs");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The fenced blocks of a page: what stands behind the fence, and the lines in between.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        blocks.push((info, lines.by_ref().take_while(|line| *line != "```").collect()));
    }
    blocks
}

#[test]
fn the_tutorial_prints_what_the_program_prints() {
    let page = read(&docs().join("guide.md"));
    let folder = std::env::temp_dir().join(format!("fabius-tutorial-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let mut commands = 0;
    for (info, lines) in blocks(&page) {
        if let Some(name) = info.strip_prefix("promela ") {
            std::fs::write(folder.join(name), lines.join("\n") + "\n").expect("a model can be written");
        }
        let Some(command) = lines.first().and_then(|first| first.strip_prefix("$ fabius ")) else { continue };
        commands += 1;
        let args: Vec<&str> = command.split(' ').collect();
        let text = printed(&folder, &args);
        let mut rest = text.lines();
        for line in lines[1..].iter().filter(|line| **line != "…") {
            assert!(
                rest.any(|printed| printed.starts_with(line)),
                "`{command}` does not print, or not there: {line}\n{text}"
            );
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert_eq!(commands, 2, "the tutorial has commands with their output");
}

/// A check of models in a folder.
fn checked(folder: &Path, models: &[&str], flags: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.arg("check").args(models).args(flags).current_dir(folder).env("FABIUS_CACHE", "off");
    command.output().expect("the binary runs").into()
}

#[test]
fn exercises_are_solved_as_the_page_for_teachers_says() {
    let exercises = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/exercises");
    let page = read(&docs().join("teachers.md"));
    let scratch = Scratch::new().expect("a folder");
    scratch.file("fabius.toml", read(&exercises.join("fabius.toml")));
    let solutions: Vec<(&str, String)> = blocks(&page)
        .into_iter()
        .filter_map(|(info, lines)| Some((info.strip_prefix("promela ")?, lines.join("\n") + "\n")))
        .collect();
    let mut listed: Vec<String> = std::fs::read_dir(&exercises)
        .expect("the exercises")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".pml"))
        .collect();
    listed.sort();
    assert_eq!(solutions.iter().map(|(name, _)| *name).collect::<Vec<_>>(), listed);
    for (name, solution) in solutions {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}`"))).expect("a row of the table");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (property, before) = cells[3].split_once(' ').expect("a property and a verdict");
        let verdict = |folder: &Path, code: i32| {
            let report = checked(folder, &[name], &["--json"]).expect(code).json();
            let properties = report["properties"].as_array().expect("properties");
            let one = properties.iter().find(|one| property.trim_matches('`') == one["name"]).expect("the property");
            // The others are as they are to be from the start.
            assert!(properties.iter().all(|one| one["expected"].is_string()), "{name}: {report}");
            one["verdict"].as_str().expect("a verdict").to_owned()
        };
        // The exit code tells whether everything is as it is to be.
        assert_eq!(verdict(&exercises, 1), before, "{name}, as handed out");
        scratch.file(name, solution);
        assert_eq!(verdict(scratch.path(), 0), cells[4], "{name}, solved");
    }
    let none = "active proctype P() { skip }\n";
    scratch.file("1_counter.pml", none);
    checked(scratch.path(), &["1_counter.pml"], &[]).expect(3);
}

#[test]
fn the_lock_for_users_of_tla_does_what_the_page_says() {
    let page = read(&docs().join("tla.md"));
    let (_, lines) = blocks(&page).into_iter().find(|(info, _)| *info == "promela turn.pml").expect("the lock");
    let scratch = Scratch::new().expect("a folder");
    let text = lines.join("\n") + "\n";
    scratch.file("turn.pml", &text);
    scratch.file("idle.pml", text.replacen("    od", "    :: true -> skip\n    od", 1));
    for flags in [&[][..], &["--fairness", "weak"], &["--fairness", "strong"]] {
        checked(scratch.path(), &["turn.pml"], flags).expect(0);
        checked(scratch.path(), &["idle.pml"], flags).expect(1).says("taken_in_turn");
    }
}

/// The settings of `fabius.toml`, as rows of a table.
fn settings() -> String {
    let schema: Value =
        serde_json::from_str(&read(&docs().join("schema/fabius.schema.json"))).expect("the schema is JSON");
    let mut rows = String::new();
    let mut row = |name: &str, setting: &Value| {
        let values = setting["enum"]
            .as_array()
            .map(|values| values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>());
        let kind =
            values.map_or_else(|| setting["type"].as_str().unwrap_or_default().to_owned(), |values| values.join(", "));
        let default = setting.get("default").map_or_else(String::new, |default| format!("`{default}`"));
        let _ = writeln!(
            rows,
            "| `{name}` | {kind} | {default} | {} |",
            setting["description"].as_str().unwrap_or_default()
        );
    };
    for (name, setting) in schema["properties"].as_object().expect("the schema has properties") {
        match (name.as_str(), setting["properties"].as_object()) {
            (_, Some(keys)) => keys.iter().for_each(|(key, setting)| row(&format!("{name}.{key}"), setting)),
            (_, None) => row(name, setting),
        }
        for (key, setting) in setting["additionalProperties"]["properties"].as_object().into_iter().flatten() {
            row(&format!("{name}.NAME.{key}"), setting);
        }
    }
    rows
}

/// The searches that exist, as rows of a table.
fn searches() -> String {
    let mut rows = String::new();
    for search in SEARCHES {
        let kinds: Vec<&str> = search.questions.iter().map(|question| question.kind()).collect();
        let mut flags: Vec<String> = Vec::new();
        for feature in search.supports.iter().copied().flatten() {
            let flag = format!("`{}`", feature.flag());
            if !flags.contains(&flag) {
                flags.push(flag);
            }
        }
        let (name, about) = (search.name, search.about);
        let _ = writeln!(rows, "| `{name}` | {about} | {} | {} |", kinds.join(", "), flags.join(" "));
    }
    rows
}

#[test]
fn the_reference_lists_every_flag_and_every_setting() {
    let mut page = "# Flags and settings\n\nThis page is what the program prints (`FABIUS_BLESS=1 cargo test --test command_line docs` writes it).\n".to_owned();
    for command in COMMANDS.iter().copied() {
        let help = printed(&docs(), &[command, "--help"]);
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(page, "\n## `fabius {command}`\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    }
    page.push_str("\n## `fabius.toml`\n\nLooked for in the folder of a model and in those above it.\n\n");
    page.push_str("| key | values | default | meaning |\n|---|---|---|---|\n");
    page.push_str(&settings());
    page.push_str("\n## Searches\n\nOf the searches for a kind of property, the first one that supports all flags runs; those in the order of delays or of depth,\nand random runs, only where one of these flags asks for them.\n\n");
    page.push_str("| search | what | properties | flags |\n|---|---|---|---|\n");
    page.push_str(&searches());
    page.push_str("\n## Codes\n\nEvery code of a finding is explained in [Findings](findings.md).\n");
    let path = docs().join("reference.md");
    if std::env::var_os("FABIUS_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the reference can be written");
    }
    assert!(
        read(&path) == page,
        "docs/reference.md is old: FABIUS_BLESS=1 cargo test --test command_line docs writes it anew"
    );
}

/// All pages below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("an entry").path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => pages(&path, found),
            Some("md") => found.push(path),
            _ => {}
        }
    }
}

/// Whether a page has a heading with this anchor.
fn has_heading(page: &str, heading: &str) -> bool {
    page.lines().any(|line| line.starts_with('#') && anchor(line.trim_start_matches(['#', ' '])) == heading)
}

#[test]
fn links_lead_somewhere_and_every_page_is_in_the_table_of_contents() {
    let mut found = Vec::new();
    pages(&docs(), &mut found);
    let root = docs().canonicalize().expect("docs is there");
    let summary = read(&docs().join("SUMMARY.md"));
    let mut wrong = Vec::new();
    for path in &found {
        let name = path.strip_prefix(docs()).expect("a page is in docs").display().to_string();
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            wrong.push(format!("{name} is not in SUMMARY.md"));
        }
        let text = read(path);
        let prose: String = text.split("```").step_by(2).collect();
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            // The pages are a site, too, which has nothing else of the repository.
            let is_inside = target.canonicalize().is_ok_and(|target| target.starts_with(&root));
            if !is_inside {
                wrong.push(format!("{name}: no page at {link}"));
            } else if !heading.is_empty() && !has_heading(&read(&target), heading) {
                wrong.push(format!("{name}: no heading for {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
