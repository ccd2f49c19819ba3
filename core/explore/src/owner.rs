//! Whose variable a name is, by where it stands in the text.

use crate::Exploration;
use fabius_program::{Process, ProcessKind};

impl Exploration {
    /// The process type whose own variable a name is at a place of the text (line and column, from 1), as far as the places
    /// of statements tell: the text of a type ends with its last statement, and what stands before its first one and behind
    /// those of the type before are its declarations.
    pub fn owner_at(&self, file: &str, place: (u32, u32), name: &str) -> Option<&str> {
        let (map, program) = (&self.loaded().map, &self.target().program);
        let end = |process: &Process| {
            let spans = process.statements.iter().map(|statement| map.user_span(statement.span));
            let spans = spans.filter(|span| *map.file(span.file).name == *file);
            spans.map(|span| map.line_column(span.file, span.end)).max()
        };
        let types = program.processes.iter().filter(|process| process.kind == ProcessKind::Process);
        let ends = types.filter_map(|process| Some((end(process)?, process)));
        let here = ends.filter(|(end, _)| place <= *end).min_by_key(|(end, _)| *end).map(|(_, process)| process)?;
        has(here, name).then_some(here.name.as_str())
    }

    /// Whether processes of another type than that of a process have a variable of a name.
    pub fn is_shared_name(&self, pid: u8, name: &str) -> bool {
        let own = self.snapshot().processes.into_iter().find(|status| status.pid == pid);
        let own = own.map_or_else(String::new, |status| status.process);
        let types = self.target().program.processes.iter().filter(|process| process.kind == ProcessKind::Process);
        types.filter(|process| has(process, name)).any(|process| process.name != own)
    }
}

/// Whether a process type has a variable of this name; fields of a structure are variables of its name.
fn has(process: &Process, name: &str) -> bool {
    process.locals.iter().any(|variable| variable.name.split(['[', '.']).next() == Some(name))
}
