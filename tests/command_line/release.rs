//! What a release needs: packages that can be published, in some order, with all their files; versions that agree; the archive.

use fabius_task::languages::model_endings;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(args).current_dir(root()).output().expect("cargo starts");
    assert!(output.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo prints text")
}

/// The packages of the workspace that are published.
fn published() -> Vec<Value> {
    let text = cargo(&["metadata", "--no-deps", "--format-version=1", "--offline"]);
    let metadata: Value = serde_json::from_str(&text).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages").clone();
    packages.into_iter().filter(|package| package["publish"].is_null()).collect()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a package has a name")
}

#[test]
fn published_packages_say_what_they_are() {
    let packages = published();
    assert!(packages.len() > 15, "only {} packages are published", packages.len());
    for package in &packages {
        for key in ["description", "license", "rust_version"] {
            assert!(package[key].as_str().is_some_and(|text| !text.is_empty()), "{} has no {key}", name(package));
        }
        let keywords = package["keywords"].as_array().map_or(0, Vec::len);
        assert!((1..=5).contains(&keywords), "{} has {keywords} keywords", name(package));
        assert!(package["categories"].as_array().is_some_and(|list| !list.is_empty()), "{}", name(package));
    }
    let program = packages.iter().find(|package| name(package) == "fabius").expect("the program is published");
    assert_eq!(program["readme"], "README.md");
    assert!(program["metadata"]["binstall"]["pkg-url"].is_string());
}

#[test]
fn packages_can_be_published_in_some_order() {
    let packages = published();
    let names: BTreeSet<&str> = packages.iter().map(name).collect();
    let needs = |package: &Value| -> Vec<String> {
        let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
        // Of those for tests, one without a version is left out of the package.
        let counts = |one: &&Value| one["path"].is_string() && (one["kind"] != "dev" || one["req"] != "*");
        dependencies
            .iter()
            .filter(counts)
            .map(|one| {
                assert_ne!(one["req"], "*", "{} needs {} in no version", name(package), one["name"]);
                one["name"].as_str().expect("a dependency has a name").to_owned()
            })
            .collect()
    };
    let mut waiting: Vec<(&str, Vec<String>)> =
        packages.iter().map(|package| (name(package), needs(package))).collect();
    for (package, needed) in &waiting {
        let missing: Vec<&String> = needed.iter().filter(|one| !names.contains(one.as_str())).collect();
        assert!(missing.is_empty(), "{package} needs {missing:?}, which are not published");
    }
    let mut done: BTreeSet<String> = BTreeSet::new();
    while !waiting.is_empty() {
        let (ready, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, needed)| needed.iter().all(|one| done.contains(one)));
        assert!(
            !ready.is_empty(),
            "these need each other: {:?}",
            rest.iter().map(|(name, _)| name).collect::<Vec<_>>()
        );
        done.extend(ready.into_iter().map(|(name, _)| name.to_owned()));
        waiting = rest;
    }
}

#[test]
fn a_package_has_the_files_that_it_is_made_of() {
    for package in &published() {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let listed = cargo(&["package", "--list", "--allow-dirty", "--offline", "--package", name(package)]);
        // On Windows the separators are others.
        let files: BTreeSet<String> = listed.lines().map(|line| line.replace('\\', "/")).collect();
        let folder = manifest.parent().expect("a manifest is in a folder");
        for file in files.iter().filter(|file| file.ends_with(".rs") && !file.starts_with("tests/")) {
            let text = std::fs::read_to_string(folder.join(file)).expect("a source file can be read");
            for included in included(&text) {
                let place = plain(&Path::new(file).parent().unwrap_or(Path::new("")).join(included));
                let found = place.as_ref().is_some_and(|place| files.contains(place));
                assert!(found, "{}: {file} includes {included}, which is not in the package", name(package));
            }
        }
    }
    let program = cargo(&["package", "--list", "--allow-dirty", "--offline", "--package", "fabius"]);
    let has = |file: &str| program.lines().any(|line| line.replace('\\', "/") == file);
    assert!(has("LICENSE-MIT") && has("LICENSE-APACHE") && has("README.md") && has("src/main.rs"), "{program}");
    assert!(!program.contains("vscode-extension") && !program.contains("node_modules"), "{program}");
}

/// The files that a text includes, apart from its tests.
fn included(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    code.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// A path without `..`; `None` if it leaves the package.
fn plain(path: &Path) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()) {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

#[test]
fn grammar_hook_and_settings_of_editors_know_all_endings_of_models() {
    let grammar: Value = serde_json::from_str(&read("tree-sitter-promela/tree-sitter.json")).expect("JSON");
    let endings: Vec<&str> = model_endings().collect();
    assert_eq!(grammar["grammars"][0]["file-types"], serde_json::json!(endings));
    let hook = format!("files: \\.({})$", endings.join("|"));
    assert!(read(".pre-commit-hooks.yaml").contains(&hook), "{hook}");
    let page = read("docs/editors.md");
    for ending in &endings {
        assert!(page.contains(&format!(" {ending} = \"promela\"")), "Neovim: {ending}");
    }
    assert!(page.contains(&format!("path_suffixes = {endings:?}")), "Zed");
}

#[test]
fn versions_agree() {
    let version = env!("CARGO_PKG_VERSION");
    for file in ["vscode-extension/package.json", "tree-sitter-promela/tree-sitter.json"] {
        let document: Value = serde_json::from_str(&read(file)).expect("JSON");
        let said = document.get("version").unwrap_or(&document["metadata"]["version"]).clone();
        assert_eq!(said, version, "{file}");
    }
    assert!(read("integrations/python/pyproject.toml").contains(&format!("\nversion = \"{version}\"\n")));
    let manifest = read("Cargo.toml");
    let paths = manifest
        .lines()
        .filter(|line| line.starts_with("fabius-") && line.contains("path = \"") && line.contains("version"));
    assert!(paths.clone().count() > 15);
    assert!(paths.clone().all(|line| line.contains(&format!("version = \"{version}\""))), "{manifest}");
}

/// A small stand-in in a folder of its own, since the program of a test is huge: it passes everything on.
#[cfg(unix)]
fn stand_in(scratch: &Scratch) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let program = scratch.file("fabius", format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_fabius")));
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be executed");
    scratch.path().to_owned()
}

/// All packages are made, in the order in which they depend on each other. They are not built from what would be sent, which takes
/// many minutes: RELEASING.md has the command.
#[test]
fn all_packages_are_made_in_one_go() {
    let target = format!("{}/packages", env!("CARGO_TARGET_TMPDIR"));
    let mut args = vec!["package", "--workspace", "--exclude", "fabius-testkit", "--exclude", "fabius-needs"];
    args.extend(["--no-verify", "--allow-dirty", "--offline", "--quiet", "--target-dir", &target]);
    cargo(&args);
    for package in &published() {
        let file = format!("{target}/package/{}-{}.crate", name(package), env!("CARGO_PKG_VERSION"));
        assert!(Path::new(&file).is_file(), "{file}");
    }
}

#[cfg(unix)]
#[test]
fn the_notes_of_a_release_are_its_section_of_the_changelog() {
    let scratch = Scratch::new().expect("a folder can be made");
    let changelog =
        scratch.file("CHANGELOG.md", "# Changelog\n\n## 1.2.3 (2026-12-01)\n\n* New.\n\n## 1.2.2\n\n* Old.\n");
    let notes = |version: &str| {
        let mut command = Command::new(root().join("integrations/release/notes.sh"));
        command.arg(version).env("CHANGELOG", &changelog).output().expect("the script starts")
    };
    assert_eq!(String::from_utf8_lossy(&notes("1.2.3").stdout).trim(), "* New.");
    assert_eq!(String::from_utf8_lossy(&notes("1.2.2").stdout).trim(), "* Old.");
    assert!(!notes("1.2").status.success() && !notes("9.9.9").status.success());
}

/// A package that can be unpacked has the program where it can be called, and says what it is.
#[cfg(target_os = "linux")]
#[test]
fn a_package_for_debian_can_be_unpacked_and_runs() {
    if !fabius_needs::Need::Dpkg.met() {
        return;
    }
    let scratch = Scratch::new().expect("a folder can be made");
    let built = stand_in(&scratch);
    let out = built.join("dist");
    let mut command = Command::new(root().join("integrations/release/deb.sh"));
    assert!(command.arg("amd64").arg(&built).arg(&out).status().expect("the script starts").success());
    let package = out.join(format!("fabius_{}_amd64.deb", env!("CARGO_PKG_VERSION")));
    let dpkg = |args: &[&str], more: &[&Path]| {
        let output = Command::new("dpkg-deb").args(args).arg(&package).args(more).output().expect("dpkg-deb starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let field = |name: &str| dpkg(&["--field"], &[Path::new(name)]).trim().to_owned();
    assert_eq!((field("Package"), field("Version")), ("fabius".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    assert_eq!(field("Depends"), "libc6, libgcc-s1", "a script needs no version of the C library");
    let unpacked = scratch.path().join("unpacked");
    dpkg(&["--extract"], &[&unpacked]);
    let version = Command::new(unpacked.join("usr/bin/fabius")).arg("--version").output().expect("it runs");
    assert!(String::from_utf8_lossy(&version.stdout).contains(env!("CARGO_PKG_VERSION")));
    for file in ["man/man1/fabius.1.gz", "bash-completion/completions/fabius", "doc/fabius/copyright"] {
        assert!(unpacked.join("usr/share").join(file).is_file(), "{file}");
    }
    installed_and_removed(&package, scratch.path());
}

/// Installs a package with dpkg below a folder, runs the program there, and removes the package. Files of a package belong to the
/// superuser, so nobody else can.
#[cfg(target_os = "linux")]
fn installed_and_removed(package: &Path, folder: &Path) {
    use std::os::unix::fs::MetadataExt;
    let system = folder.join("system");
    for name in ["info", "updates", "triggers"] {
        std::fs::create_dir_all(system.join("var/lib/dpkg").join(name)).expect("a folder can be made");
    }
    std::fs::write(system.join("var/lib/dpkg/status"), "").expect("a file can be written");
    if std::fs::metadata(&system).expect("it was made").uid() != 0 {
        return;
    }
    let dpkg = |what: &str, argument: &Path| {
        let mut command = Command::new("dpkg");
        // The libraries that it depends on are outside of the folder.
        command.arg(format!("--root={}", system.display())).args([
            "--force-depends",
            "--force-script-chrootless",
            what,
        ]);
        let output = command.arg(argument).output().expect("dpkg starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    dpkg("--install", package);
    let program = system.join("usr/bin/fabius");
    let checked = Command::new(&program).arg("check").arg(root().join("models/peterson.pml")).status();
    assert!(checked.expect("it runs").success());
    dpkg("--remove", Path::new("fabius"));
    assert!(!program.exists());
}

/// What packages for other systems are made of: archives, the real one for this machine, and where they are found.
#[cfg(target_os = "linux")]
#[test]
fn other_package_managers_find_the_archives() {
    let scratch = Scratch::new().expect("a folder can be made");
    let built = stand_in(&scratch);
    let (dist, out) = (built.join("dist"), built.join("out"));
    let run = |script: &str, args: &[&Path]| {
        let mut command = Command::new(root().join("integrations/release").join(script));
        command.args(args).output().expect("the script starts")
    };
    let native = "x86_64-unknown-linux-gnu";
    assert!(run("archive.sh", &[Path::new(native), &built, &dist]).status.success());
    assert!(!run("packages.sh", &[&dist, &out]).status.success(), "archives are missing");
    let others =
        ["aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl"];
    for target in others {
        std::fs::write(dist.join(format!("fabius-{target}.tgz")), target).expect("it can be written");
    }
    let made = run("packages.sh", &[&dist, &out]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let [brew, arch, nix] = ["fabius.rb", "PKGBUILD", "fabius.nix"]
        .map(|name| std::fs::read_to_string(out.join(name)).expect("it was written"));
    let address = format!("{}/releases/download/v{}/", env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"));
    for (text, targets) in [(&brew, &others[..]), (&nix, &others[..]), (&arch, &[native, others[2]])] {
        assert!(text.contains(&address) && text.contains("odel checker for Promela"), "{text}");
        for target in targets {
            let sum =
                Command::new("sha256sum").arg(dist.join(format!("fabius-{target}.tgz"))).output().expect("it runs");
            let sum = String::from_utf8_lossy(&sum.stdout).split(' ').next().unwrap_or_default().to_owned();
            assert!(text.contains(target) && text.contains(&sum) && sum.len() == 64, "{target}: {text}");
        }
    }
    // What makepkg does: the archive unpacked, then the function.
    let script = "set -eu; cd \"$0\"; . ./PKGBUILD; CARCH=x86_64; pkgdir=$PWD/pkg; \
                  tar -xzf \"$1/fabius-x86_64-unknown-linux-gnu.tgz\"; package";
    let installed = Command::new("bash").args(["-c", script]).args([&out, &dist]).output().expect("bash starts");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let version = Command::new(out.join("pkg/usr/bin/fabius")).arg("--version").output().expect("it runs");
    assert!(String::from_utf8_lossy(&version.stdout).contains(env!("CARGO_PKG_VERSION")));
    // Where these are installed, they say whether they can read it.
    for (program, args, file) in [("ruby", &["-c"][..], "fabius.rb"), ("nix-instantiate", &["--parse"], "fabius.nix")] {
        if let Ok(read) = Command::new(program).args(args).arg(out.join(file)).output() {
            assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        }
    }
}

#[cfg(unix)]
#[test]
fn an_archive_has_completions_and_the_manual() {
    let scratch = Scratch::new().expect("a folder can be made");
    let built = stand_in(&scratch);
    let out = built.join("dist");
    let mut command = Command::new(root().join("integrations/release/archive.sh"));
    let status = command.arg("x86_64-unknown-linux-gnu").arg(&built).arg(&out).status().expect("the script starts");
    assert!(status.success());
    let archive = out.join("fabius-x86_64-unknown-linux-gnu.tgz");
    let listed = Command::new("tar").arg("--list").arg("--file").arg(&archive).output().expect("tar starts");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for file in ["fabius", "fabius.1", "README.md", "LICENSE-MIT", "completions/fabius.bash", "completions/fabius.fish"]
    {
        let path = format!("fabius-x86_64-unknown-linux-gnu/{file}");
        assert!(listed.lines().any(|line| line == path), "{file} is not among\n{listed}");
    }
}
