//! The semantics against Spin: brute-force exploration of real models with the reference interpreter
//! must find as many states as Spin did, and the same kinds of errors.

use fabius_base::SourceMap;
use fabius_program::Program;
use fabius_program::meaning::Fault;
use fabius_promela::{Loader, Options, lower, parse};
use fabius_witness::{Ending, Outcome, State, moves, released};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// So many states a model may have to be explored here.
const STORED_MAX: u64 = 2_000;

fn corpus() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("FABIUS_CORPUS").map_or(default, PathBuf::from);
    let there = corpus.join("manifest.jsonl").is_file();
    if !there {
        println!("the corpus is missing: nothing was compared");
    }
    there.then_some(corpus)
}

struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&mut self, _includer: &str, name: &str) -> Option<(String, String)> {
        let name = name.trim_matches(['"', '<', '>']);
        let text = std::fs::read(self.0.join(name)).ok()?;
        Some((name.to_owned(), String::from_utf8_lossy(&text).into_owned()))
    }
}

fn load(path: &Path) -> Result<(Program, SourceMap), String> {
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
    let lowered = lower(&parsed.model, &map, &name, Options::NONE);
    let program = lowered.program.ok_or_else(|| format!("it cannot be lowered: {}", headlines(&lowered.findings)))?;
    Ok((program, map))
}

/// What there is to find in a state space.
#[derive(Default, Debug)]
struct Found {
    stored: u64,
    transitions: u64,
    assertion: bool,
    invalid_end: bool,
    other_fault: Option<Fault>,
}

fn explore(program: &Program, stored_max: u64) -> Result<Found, Fault> {
    let mut found = Found::default();
    let initial = State::initial(program)?;
    let mut seen: HashSet<State> = HashSet::from([initial.visible(program)]);
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        found.stored += u64::from(state.holder.is_none());
        if stored_max < found.stored {
            break;
        }
        let next = moves(program, &state);
        let mut reach = |reached: State| {
            if seen.insert(reached.visible(program)) {
                open.push(reached);
            }
        };
        match next.ending {
            Ending::Moves | Ending::Valid => {}
            Ending::LosesControl => reach(released(&state)),
            Ending::Invalid => found.invalid_end = true,
        }
        for (_, outcome) in next.successors {
            found.transitions += 1;
            match outcome {
                Outcome::Reaches { state, assertion_failed, .. } => {
                    found.assertion |= assertion_failed;
                    reach(state);
                }
                Outcome::Broken { fault, .. } => found.other_fault = Some(fault),
            }
        }
    }
    Ok(found)
}

/// What Spin says of a model: states, assertion violated, invalid end state; `None` if it does not
/// say or says more than we compare.
fn spins_answer(model: &serde_json::Value) -> Option<(u64, bool, bool)> {
    let base = &model["runs"]["base"];
    let stored = base["stored"].as_u64().filter(|_| base["complete"] == true)?;
    let messages: Vec<&str> =
        base["error_msgs"].as_array().into_iter().flatten().filter_map(|e| e["msg"].as_str()).collect();
    let asserts = messages.iter().any(|m| m.starts_with("assertion violated"));
    let ends = messages.iter().any(|m| m.starts_with("invalid end state"));
    let known = messages.iter().all(|m| m.starts_with("assertion violated") || m.starts_with("invalid end state"));
    (stored <= STORED_MAX && known).then_some((stored, asserts, ends))
}

#[test]
fn brute_force_finds_the_states_that_spin_finds() {
    let Some(corpus) = corpus() else { return };
    let manifest = std::fs::read_to_string(corpus.join("manifest.jsonl")).expect("the manifest can be read");
    let only = std::env::var("FABIUS_ONLY").unwrap_or_default();
    let (mut compared, mut unread, mut wrong) = (0, Vec::new(), Vec::new());
    for line in manifest.lines().filter(|line| !line.trim().is_empty()) {
        let model: serde_json::Value = serde_json::from_str(line).expect("a line of the manifest is JSON");
        let path = model["path"].as_str().expect("a model has a path");
        let Some((stored, asserts, ends)) = spins_answer(&model).filter(|_| path.contains(&only)) else { continue };
        let program = match load(&corpus.join("models").join(path)) {
            Ok((program, _)) => program,
            Err(why) => {
                unread.push(format!("{path}: {why}"));
                continue;
            }
        };
        compared += 1;
        match explore(&program, stored + 1) {
            Ok(found) if (found.stored, found.assertion, found.invalid_end) == (stored, asserts, ends) => {}
            Ok(found) => wrong.push(format!("{path}: Spin has {stored}, {asserts}, {ends}, not {found:?}")),
            Err(fault) => wrong.push(format!("{path}: {fault}")),
        }
    }
    println!("{compared} models compared, {} not read", unread.len());
    unread.iter().for_each(|line| println!("not read: {line}"));
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(30 < compared || !only.is_empty(), "only {compared} models could be compared");
}
