//! Spin as the oracle: the transition tables of its verifier, and the corpus with its answers.

use fabius_base::SourceMap;
use fabius_language::{Loader, Lowered};
use fabius_needs::command;
use fabius_needs::spin::{AS_WRITTEN, Compiler, Spin};
use fabius_program::{Action, Program};
use fabius_promela::{Options, Parsed, lower, parse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long Spin, a compiler or a verifier may take.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Spin's answers, one value per model.
pub fn manifest(corpus: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(corpus.join("manifest.jsonl")).expect("the manifest can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the manifest is JSON")).collect()
}

struct Beside(PathBuf);

impl Loader for Beside {
    fn load(&mut self, _includer: &str, name: &str) -> Option<(String, String)> {
        let bare = name.get(1..name.len().checked_sub(1)?)?;
        let bytes = std::fs::read(self.0.join(bare)).ok()?;
        Some((bare.to_string(), String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// Reads and lowers a model; the text's own findings come first.
pub fn lower_file(path: &Path, options: Options) -> (SourceMap, Parsed, Lowered) {
    let bytes = std::fs::read(path).expect("a model can be read");
    let name = path.file_name().expect("a model has a name").to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    let mut map = SourceMap::new();
    let file = map.add_file(name.clone(), String::from_utf8_lossy(&bytes).into_owned());
    let parsed = parse(&mut map, file, &[], &mut Beside(folder));
    let lowered = lower(&parsed.model, &map, &name, options);
    (map, parsed, lowered)
}

/// A transition as the verifier lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub statement: u32,
    pub target: u32,
    /// `A`, `D` or `-`.
    pub atomic: char,
    /// `a`, `e`, `p` or `-` each.
    pub marks: String,
    pub escape: u32,
}

/// Transitions by state, for each process type in the order of the text.
pub type Tables = Vec<(String, BTreeMap<u32, Vec<Row>>)>;

/// The tables of Spin's verifier; `None` if it does not compile or refuses its own tables.
pub fn verifier_tables(path: &Path, optimised: bool, compilers: &[Compiler]) -> Option<Tables> {
    let folder = Spin::on_file(path).expect("a model can be copied");
    let run = |mut command: Command| command::run(&mut command, LIMIT).expect("the tool runs");
    run(folder.generate(if optimised { &[] } else { &AS_WRITTEN }));
    let flags = ["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"];
    compilers
        .iter()
        .any(|compiler| run(folder.compile(*compiler, &flags)).success())
        .then(|| read_tables(&run(folder.verify(&["-d"])).stdout))
}

fn read_tables(text: &str) -> Tables {
    let mut tables: Tables = Vec::new();
    for line in text.lines() {
        if let Some((state, row)) = read_row(line) {
            if let (Some((_, table)), Some(row)) = (tables.last_mut(), row) {
                table.entry(state).or_default().push(row);
            }
        } else if ["init", "proctype ", "claim ", "trace assertion", "notrace assertion"]
            .iter()
            .any(|head| line.starts_with(head))
        {
            tables.push((line.to_string(), BTreeMap::new()));
        }
    }
    tables
}

/// `state S -(tr T)-> state S  [id N tp T org E] [AaepL] file:line => text`; without a row if it can
/// never be executed.
fn read_row(line: &str) -> Option<(u32, Option<Row>)> {
    let rest = line.strip_prefix("\tstate ")?;
    let (state, rest) = rest.split_once(" -(tr ")?;
    let (forward, rest) = rest.split_once(")-> state ")?;
    let (target, rest) = rest.split_once("[id ")?;
    let (inside, rest) = rest.split_once("] [")?;
    let statement = inside.split_whitespace().next()?;
    let escape = inside.split_once(" org ").map_or("0", |(_, e)| e);
    let mut flags = rest.chars();
    let atomic = flags.next()?;
    let marks: String = flags.take(3).collect();
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let row = Row { statement: number(statement)?, target: number(target)?, atomic, marks, escape: number(escape)? };
    Some((number(state)?, (number(forward)? != 0).then_some(row)))
}

/// The same tables of our own.
pub fn own_tables(program: &Program) -> Tables {
    let mark = |set: bool, c: char| if set { c } else { '-' };
    let one = |process: &fabius_program::Process| {
        let mut table: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
        for location in &process.locations {
            for (_, edge) in program.edges_of(location) {
                let statement = &process.statements[edge.statement.0 as usize];
                let end = matches!(statement.action, Action::End);
                let block = matches!(statement.action, Action::Block(_));
                let marks = [(location.accept, 'a'), (location.end, 'e'), (location.progress, 'p')];
                table.entry(location.number).or_default().push(Row {
                    statement: statement.number,
                    target: if end { 0 } else { process.locations[edge.target.0 as usize].number },
                    atomic: if block { 'D' } else { mark(edge.atomic, 'A') },
                    marks: marks.into_iter().map(|(set, c)| mark(set, c)).collect(),
                    escape: edge.escape,
                });
            }
        }
        (process.name.clone(), table)
    };
    program.processes.iter().map(one).collect()
}

/// The first difference between the verifier's tables and ours. Claims that Spin makes from formulas
/// come last and have no counterpart.
pub fn difference(verifier: &Tables, own: &Tables, optimised: bool) -> Option<String> {
    let more = verifier.get(own.len()..).unwrap_or_default();
    if verifier.len() < own.len() || !more.iter().all(|(head, _)| head.starts_with("claim")) {
        return Some(format!("{} process types instead of {}", own.len(), verifier.len()));
    }
    for ((head, theirs), (_, ours)) in verifier.iter().zip(own) {
        for (state, rows) in theirs {
            let mine = ours.get(state).cloned().unwrap_or_default();
            let same = rows.len() == mine.len() && rows.iter().zip(&mine).all(|(a, b)| alike(a, b, optimised));
            if !same {
                return Some(format!("{head}, state {state}: {rows:?}, not {mine:?}"));
            }
        }
    }
    None
}

fn alike(theirs: &Row, ours: &Row, optimised: bool) -> bool {
    // The verifier shows `A` for the last step of a merged atomic chain, too, and for a `d_step` inside an
    // atomic sequence.
    let atomic = optimised || ours.atomic == 'D' || theirs.atomic == ours.atomic;
    let kind = (theirs.atomic == 'D') <= (ours.atomic == 'D');
    atomic && kind && Row { atomic: ours.atomic, ..theirs.clone() } == *ours
}
