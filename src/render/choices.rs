//! The tree of choices as text and for Graphviz.

use super::numbers::{count, counted};
use super::paint::{BAD, COMMAND, FAINT, GOOD, STRONG, UNSURE, paint};
use fabius_engine::Loaded;
use fabius_executions::{End, Numbers, TreeBranch};
use std::fmt::Write as _;

/// A number of executions, with its digits in groups.
pub fn executions(number: u128) -> String {
    match u64::try_from(number) {
        Ok(1) => "1 execution".to_owned(),
        Ok(number) => format!("{} executions", count(number)),
        Err(_) => format!("{number} executions"),
    }
}

/// How an execution ends, in words.
pub fn ending(end: End, failed: bool) -> String {
    let text = match end {
        End::Valid => paint(GOOD, "ends well"),
        End::Stuck => paint(BAD, "gets stuck"),
        End::Waiting => paint(UNSURE, "waits in a loop for ever"),
        End::Cut => paint(UNSURE, "is cut off"),
        End::Broken => paint(BAD, "fails with a runtime error"),
    };
    if failed && end != End::Broken { format!("{}, {text}", paint(BAD, "fails an assertion")) } else { text }
}

/// A tree with branches that come after their parents.
pub struct Choices<'a> {
    branches: &'a [TreeBranch],
    loaded: &'a Loaded,
    /// The alternatives at the end of each branch.
    ways: Vec<Vec<usize>>,
}

impl<'a> Choices<'a> {
    /// The tree of a model's executions.
    pub fn of(branches: &'a [TreeBranch], loaded: &'a Loaded) -> Self {
        let mut ways = vec![Vec::new(); branches.len()];
        for (at, branch) in branches.iter().enumerate() {
            if let Some(ways) = branch.parent.and_then(|parent| ways.get_mut(parent)) {
                ways.push(at);
            }
        }
        Self { branches, loaded, ways }
    }

    /// The tree as indented lines.
    pub fn text(&self) -> String {
        let Some(root) = self.branches.first() else { return "no execution\n".to_owned() };
        let mut text = match root.end {
            Some((end, failed)) => {
                let number = root.first.saturating_add(1);
                format!("no choice: only #{number}, which {}\n", ending(end, failed))
            }
            None if root.len == 0 => format!("{}\n", paint(STRONG, "the first choice:")),
            None => {
                let before = if root.len == 1 { "After 1 step" } else { "After" };
                let steps =
                    if root.len == 1 { String::new() } else { format!(" {}", counted(root.len as u64, "step")) };
                format!("{}\n", paint(STRONG, format!("{before}{steps} without a choice, the first choice:")))
            }
        };
        // Branches with what stands before them and before what follows them.
        let mut open: Vec<(usize, String, String)> = Vec::new();
        self.open_ways(0, "  ", &mut open);
        while let Some((at, before, below)) = open.pop() {
            let _ = writeln!(text, "{}{}  {}", paint(FAINT, before), self.step(at), self.behind(at));
            self.open_ways(at, &below, &mut open);
        }
        if self.branches.iter().any(|branch| branch.unopened) {
            let advice = format!("{} opens more of it", paint(COMMAND, format!("--tree={}", 4 * self.branches.len())));
            let _ = writeln!(text, "{} {advice}", paint(FAINT, "… marks what is not opened;"));
        }
        text
    }

    fn open_ways(&self, at: usize, indent: &str, open: &mut Vec<(usize, String, String)>) {
        for (index, way) in self.ways[at].iter().enumerate().rev() {
            let (mark, below) =
                if index + 1 == self.ways[at].len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            open.push((*way, format!("{indent}{mark}"), format!("{indent}{below}")));
        }
    }

    /// The step that distinguishes a branch from its alternatives: process, line and statement.
    fn first_step(&self, at: usize) -> Option<(String, u32, String)> {
        let step = self.branches[at].steps.first()?;
        let line = self.loaded.map.position(step.actor.span).line;
        Some((step.actor.name.clone(), line, step.actor.text.clone()))
    }

    fn step(&self, at: usize) -> String {
        let Some((name, line, statement)) = self.first_step(at) else { return paint(FAINT, "(control is released)") };
        let more = match self.branches[at].len - 1 {
            0 => String::new(),
            more => paint(FAINT, format!(" +{}", counted(more as u64, "step"))),
        };
        format!("{} {} {statement}{more}", paint(STRONG, name), paint(FAINT, format!("line {line}")))
    }

    /// The executions behind a branch.
    fn behind(&self, at: usize) -> String {
        let branch = &self.branches[at];
        if let Some((end, failed)) = branch.end {
            let number = paint(FAINT, format!("#{}", branch.first.saturating_add(1)));
            return format!("{number} {}", ending(end, failed));
        }
        let mark = if branch.unopened { " …" } else { "" };
        format!("{}{}", [vec![executions(branch.numbers.all)], bad(&branch.numbers)].concat().join(", "), mark)
    }

    /// The tree in the language of Graphviz.
    pub fn dot(&self) -> String {
        let mut text = "digraph executions {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n".to_owned();
        for (at, branch) in self.branches.iter().enumerate() {
            let colour = match (branch.end, branch.numbers.failing.max(branch.numbers.stuck)) {
                (Some((End::Stuck | End::Broken, _) | (_, true)), _) => "#f4b6b6",
                (Some((End::Valid, false)), _) => "#bfe5bf",
                (Some(_), _) => "#f2e2a8",
                (None, 0) => "#ffffff",
                (None, _) => "#fbe6e6",
            };
            let label = quoted(&anstream::adapter::strip_str(&self.behind(at)).to_string());
            let _ = writeln!(text, "  b{at} [label={label}, style=filled, fillcolor=\"{colour}\"];");
            if let (Some(parent), Some((name, line, statement))) = (branch.parent, self.first_step(at)) {
                let step = quoted(&format!("{name} line {line}\n{statement}"));
                let _ = writeln!(text, "  b{parent} -> b{at} [label={step}];");
            }
        }
        text + "}\n"
    }
}

/// The executions that fail or get stuck.
fn bad(numbers: &Numbers) -> Vec<String> {
    let table = [(numbers.failing, "fails", "fail"), (numbers.stuck, "gets stuck", "get stuck")];
    let some = table.into_iter().filter(|(number, ..)| *number > 0);
    some.map(|(number, one, many)| paint(BAD, format!("{number} {}", if number == 1 { one } else { many }))).collect()
}

/// A string of Graphviz.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
