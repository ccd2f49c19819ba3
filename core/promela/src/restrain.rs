//! A model in which some processes wait, as edits of its text.
//!
//! A *wait* keeps a process at some places while another one is in a stretch of its text, or while a global has certain values.
//! In the text, a counter says how many processes are in the stretch: each statement that leads into it or out of it counts in
//! the same atomic step, and the statements at which a process waits ask the counter, or the global. What cannot be written so is refused; whether the text means what it
//! is meant to is for the caller to check.
//!
//! After Metzler, Suri, Weissenbacher, *Extracting safe thread schedules from incomplete model checking results*, who enforce a
//! schedule in the same way, by variables that tell how far the others are.

use fabius_base::{FileId, SourceMap, Span};
use fabius_language::{During, ProcessPlaces, TextEdit, Wait};
use fabius_program::facts::creates;
use fabius_program::{
    Action, ChannelType, Edge, Expr, Initial, Instance, LocationId, Process, ProcessId, Program, Slot, Statement,
};
use std::collections::{BTreeMap, BTreeSet};

/// The edits of the file `main` that make processes wait; `program` is what is written, step for step. They do not overlap,
/// and stand in the order of the text.
///
/// # Errors
/// Why the waits cannot be written into this text, as half a sentence.
pub(crate) fn restrain(
    program: &Program,
    map: &SourceMap,
    main: FileId,
    waits: &[Wait],
) -> Result<Vec<TextEdit>, String> {
    let mut writer = Writer { program, map, main, changes: BTreeMap::new() };
    let counters = counters(map, waits);
    let mut declarations = String::new();
    for (stretch, name) in &counters {
        let initial = writer.count(stretch, name)?;
        let initial = if initial == 0 { String::new() } else { format!(" = {initial}") };
        declarations.push_str(&format!("byte {name}{initial};\n"));
    }
    for wait in waits {
        match &wait.during {
            During::Places(stretch) => {
                let counter = counters.get(stretch).ok_or("a counter is missing")?;
                let counted = |location: LocationId| {
                    wait.at.process == stretch.process && stretch.pid.is_none() && stretch.locations.contains(&location)
                };
                let nobody = |location: LocationId| match counted(location) {
                    true => format!("{counter} < 2"),
                    false => format!("{counter} == 0"),
                };
                writer.hold_back(&wait.at, &nobody)?;
            }
            During::Value { name, otherwise } => {
                writer.sees_global(wait.at.process, name)?;
                writer.hold_back(&wait.at, &|_| otherwise.clone())?;
            }
        }
    }
    let mut edits = writer.edits()?;
    if !declarations.is_empty() {
        edits.insert(0, TextEdit { start: 0, end: 0, text: declarations });
    }
    let overlap = edits.windows(2).any(|pair| pair[1].start < pair[0].end);
    if overlap { Err("two of the statements overlap".to_owned()) } else { Ok(edits) }
}

/// A name for the counter of each stretch that nothing in the texts has.
fn counters(map: &SourceMap, waits: &[Wait]) -> BTreeMap<ProcessPlaces, String> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let texts = map.files().map(|(_, file)| &file.text);
    let mut taken: BTreeSet<&str> = texts.flat_map(|text| text.split(|character| !is_word(character))).collect();
    let stretches: BTreeSet<&ProcessPlaces> = waits
        .iter()
        .filter_map(|wait| match &wait.during {
            During::Places(stretch) => Some(stretch),
            During::Value { .. } => None,
        })
        .collect();
    let mut names: Vec<(ProcessPlaces, String)> = Vec::new();
    for stretch in stretches {
        let numbered = (2..).map(|number| format!("{}_{number}", stretch.name));
        let mut candidates = std::iter::once(stretch.name.clone()).chain(numbered);
        let used = |name: &str| taken.contains(name) || names.iter().any(|(_, other)| other == name);
        let name = candidates.find(|name| !used(name)).unwrap_or_default();
        names.push((stretch.clone(), name));
    }
    taken.clear();
    names.into_iter().collect()
}

/// What becomes of a step.
#[derive(Clone, PartialEq, Eq, Default)]
struct Change {
    /// What has to be true for it, too.
    guards: Vec<String>,
    /// What is done with it.
    updates: Vec<String>,
}

/// A piece of the main text in which steps stand: a statement, or the outermost call that brings it there.
type Unit = (u32, u32);

struct Writer<'a> {
    program: &'a Program,
    map: &'a SourceMap,
    main: FileId,
    /// By edge.
    changes: BTreeMap<usize, Change>,
}

impl Writer<'_> {
    /// Counts those who are in a stretch; how many there are at the beginning.
    fn count(&mut self, stretch: &ProcessPlaces, counter: &str) -> Result<usize, String> {
        let within = |location: LocationId| stretch.locations.contains(&location);
        let (more, less) = match stretch.pid {
            None => (format!("{counter}++"), format!("{counter}--")),
            Some(pid) => {
                (format!("{counter} = {counter} + (_pid == {pid})"), format!("{counter} = {counter} - (_pid == {pid})"))
            }
        };
        let starts_within = within(self.process(stretch.process).entry);
        for (index, edge) in self.program.edges.iter().enumerate() {
            if edge.process == stretch.process {
                let ends = self.statement(edge).action == Action::End;
                match (within(edge.source), within(edge.target) && !ends) {
                    (true, _) if ends => return Err("a process can end in the stretch".to_owned()),
                    (false, true) => self.changes.entry(index).or_default().updates.push(more.clone()),
                    (true, false) => self.changes.entry(index).or_default().updates.push(less.clone()),
                    _ => {}
                }
            }
            if starts_within && creates(&self.statement(edge).action, stretch.process) {
                match (&self.statement(edge).action, stretch.pid) {
                    (Action::Guard(Expr::Run { .. }), None) => {
                        self.changes.entry(index).or_default().updates.push(more.clone());
                    }
                    _ => return Err("processes that start in the stretch are created inside an expression".to_owned()),
                }
            }
        }
        let meant = |(number, instance): &(usize, &Instance)| {
            instance.process == stretch.process && stretch.pid.is_none_or(|pid| usize::from(pid) == *number)
        };
        let initial = self.program.initial.iter().enumerate().filter(meant).count();
        Ok(if starts_within { initial } else { 0 })
    }

    /// Whether a name means a global in a process.
    fn sees_global(&self, process: ProcessId, name: &str) -> Result<(), String> {
        let root = |name: &str| name.split(['[', '.']).next().unwrap_or("").to_owned();
        match self.process(process).locals.iter().any(|local| root(&local.name) == name) {
            true => Err(format!("`{name}` is a variable of the process itself where it waits")),
            false => Ok(()),
        }
    }

    /// Lets processes wait until something is true, which may be another expression at each location.
    fn hold_back(&mut self, at: &ProcessPlaces, until: &dyn Fn(LocationId) -> String) -> Result<(), String> {
        let broken: BTreeSet<LocationId> = self
            .program
            .edges
            .iter()
            .filter(|edge| edge.process == at.process && edge.atomic)
            .map(|edge| edge.target)
            .collect();
        for (index, edge) in self.program.edges.iter().enumerate() {
            if edge.process != at.process || !at.locations.contains(&edge.source) {
                continue;
            }
            if broken.contains(&edge.source) {
                return Err("a process would have to wait inside an atomic sequence".to_owned());
            }
            let until = until(edge.source);
            let guard = match at.pid {
                None => until,
                Some(pid) => format!("(_pid != {pid} || {until})"),
            };
            self.changes.entry(index).or_default().guards.push(guard);
        }
        Ok(())
    }

    /// The edits that make all changes.
    fn edits(&self) -> Result<Vec<TextEdit>, String> {
        let mut units: BTreeMap<Unit, Vec<usize>> = BTreeMap::new();
        for index in self.changes.keys() {
            units.insert(self.unit_of(*index)?, Vec::new());
        }
        for index in 0..self.program.edges.len() {
            if let Ok(unit) = self.unit_of(index)
                && let Some(steps) = units.get_mut(&unit)
            {
                steps.push(index);
            }
        }
        let edit = |((start, end), steps): (Unit, Vec<usize>)| {
            Ok(TextEdit { start, end, text: self.unit(&steps).map_err(|why| self.located(start, &why))? })
        };
        units.into_iter().map(edit).collect()
    }

    fn located(&self, start: u32, why: &str) -> String {
        let (line, _) = self.map.line_column(self.main, start);
        format!("in line {line} {why}")
    }

    fn unit_of(&self, edge: usize) -> Result<Unit, String> {
        let mut span = self.span(edge);
        while let Some(expansion) = self.map.expansion(span.via) {
            span = expansion.call;
        }
        match span.file == self.main {
            true => Ok((span.start, statement_end(&self.map.file(self.main).text, span.end as usize) as u32)),
            false => Err(format!("`{}` stands in `{}`", self.text(edge), self.map.file(span.file).name)),
        }
    }

    /// The new text of a unit.
    fn unit(&self, steps: &[usize]) -> Result<String, String> {
        match steps {
            [only] if self.is_verbatim(*only) => Ok(sequence(&self.step(*only)?)),
            _ if steps.iter().all(|&step| self.is_verbatim(step)) => Err("a statement has several meanings".to_owned()),
            _ => self.call(steps),
        }
    }

    /// The new text of a call: its steps one after the other.
    fn call(&self, steps: &[usize]) -> Result<String, String> {
        let edges: Vec<&Edge> = steps.iter().map(|&step| &self.program.edges[step]).collect();
        let first = edges.iter().position(|edge| edges.iter().all(|other| other.target != edge.source));
        let mut order: Vec<usize> = vec![first.ok_or("a call has a loop")?];
        while let Some(next) = edges.iter().position(|edge| edge.source == edges[order[order.len() - 1]].target) {
            order.push(next);
            if edges.len() < order.len() {
                break;
            }
        }
        let choices = edges.iter().enumerate().any(|(index, edge)| {
            let alike = |(other, another): (usize, &&Edge)| other != index && another.source == edge.source;
            edges.iter().enumerate().any(alike)
        });
        if choices || order.len() != edges.len() {
            return Err("a call does more than one statement after the other".to_owned());
        }
        let (_, before) = order.split_last().ok_or("a call does nothing")?;
        let atomic = before.iter().filter(|&&index| edges[index].atomic).count();
        let steps: Result<Vec<Vec<String>>, String> = order.iter().map(|&index| self.step(steps[index])).collect();
        let steps = steps?;
        match atomic {
            0 => Ok(steps.iter().map(|step| sequence(step)).collect::<Vec<String>>().join("; ")),
            all if all == before.len() => Ok(sequence(&steps.concat())),
            _ => Err("only a part of a call is atomic".to_owned()),
        }
    }

    /// The statements that take the place of a step, all in one atomic sequence.
    fn step(&self, index: usize) -> Result<Vec<String>, String> {
        let text = self.text(index);
        let Some(Change { guards, updates }) = self.changes.get(&index) else { return Ok(vec![text]) };
        let edge = &self.program.edges[index];
        if edge.escape != 0 {
            return Err("a statement of an `unless` would have to change".to_owned());
        }
        let guard = guards.join(" && ");
        let (guard, body) = match &self.statement(edge).action {
            Action::Guard(Expr::Run { .. }) => (guard, text),
            Action::Guard(_) if guard.is_empty() => (String::new(), text),
            Action::Guard(_) => (format!("{guard} && {}", operand(&text)), String::new()),
            Action::Else => (self.otherwise(index, &guard)?, String::new()),
            Action::Send(send) => match (self.can_be_rendezvous(&send.channel), guard.is_empty()) {
                (true, _) => return Err(format!("`{text}` can be a rendezvous")),
                (false, true) => (guard, text),
                (false, false) => (format!("{guard} && nfull({})", channel_of(&text, '!')), text),
            },
            Action::Receive(receive) => match (self.can_be_rendezvous(&receive.channel), guard.is_empty()) {
                (true, _) => return Err(format!("`{text}` can be a rendezvous")),
                (false, true) => (guard, text),
                (false, false) => (format!("{guard} && {}", poll(&text, receive.any)), text),
            },
            Action::Assign(..) | Action::Assert(_) | Action::Print(_) | Action::SetPriority(..) => (guard, text),
            Action::Skip if text.starts_with("goto") || text == "break" => {
                let guard = (!guard.is_empty()).then_some(guard);
                return Ok(guard.into_iter().chain(updates.iter().cloned()).chain([text]).collect());
            }
            Action::Skip => (guard, text),
            Action::Block(_) if guard.is_empty() => (guard, text),
            Action::Block(_) => return Err("a process would have to wait at a `d_step`".to_owned()),
            Action::End => return Err("a process would have to wait at its end".to_owned()),
            Action::Merged(_) => return Err("statements are merged".to_owned()),
        };
        let own = [guard, body].into_iter().filter(|statement| !statement.is_empty());
        Ok(own.chain(updates.iter().cloned()).collect())
    }

    /// An `else` as what it means, since it would mean something else beside guards that have changed.
    fn otherwise(&self, index: usize, guard: &str) -> Result<String, String> {
        let edge = &self.program.edges[index];
        let location = &self.process(edge.process).locations[edge.source.0 as usize];
        let mut others = Vec::new();
        for other in location.edges.start as usize..location.edges.end as usize {
            match &self.statement(&self.program.edges[other]).action {
                _ if other == index => {}
                Action::Guard(guard) if !matches!(guard, Expr::Run { .. }) => others.push(self.text(other)),
                _ => return Err("an `else` stands beside other than expressions".to_owned()),
            }
        }
        let others: Vec<String> = others.iter().map(|other| format!("({other})")).collect();
        let none = format!("!({})", others.join(" || "));
        Ok(if guard.is_empty() { none } else { format!("{guard} && {none}") })
    }

    /// Whether a channel may be one without a buffer.
    fn can_be_rendezvous(&self, channel: &Expr) -> bool {
        let unbuffered = |ty: &ChannelType| ty.capacity == 0;
        if let Expr::Load(place) = channel
            && let Slot::Global(variable) = place.slot
            && let Initial::Channel(ty) = &self.program.globals[variable.0 as usize].initial
        {
            return unbuffered(&self.program.channel_types[ty.0 as usize]);
        }
        self.program.channel_types.iter().any(unbuffered)
    }

    /// A step as it stands in the text, or, if it came through a macro or an `inline`, as a person would write it.
    fn text(&self, index: usize) -> String {
        match self.is_verbatim(index) {
            true => {
                let span = self.span(index);
                let text = &self.map.file(span.file).text;
                let end = statement_end(text, span.end as usize);
                text.get(span.start as usize..end).unwrap_or("").to_owned()
            }
            false => self.statement(&self.program.edges[index]).text.clone(),
        }
    }

    fn is_verbatim(&self, index: usize) -> bool {
        self.map.expansion(self.span(index).via).is_none()
    }

    fn span(&self, index: usize) -> Span {
        self.statement(&self.program.edges[index]).span
    }

    fn statement(&self, edge: &Edge) -> &Statement {
        &self.process(edge.process).statements[edge.statement.0 as usize]
    }

    fn process(&self, id: ProcessId) -> &Process {
        &self.program.processes[id.0 as usize]
    }
}

/// Where a statement ends that is known to reach to `known` at least: the place of one with a macro in it ends before the first. The
/// end of a line may separate it from the next one, as `;` does.
fn statement_end(text: &str, known: usize) -> usize {
    let (mut end, mut at, mut depth) = (known, known, 0_u32);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let comment = ["/*", "//"].into_iter().find(|begin| rest.starts_with(begin));
        if let Some(begin) = comment {
            let close = if begin == "/*" { "*/" } else { "\n" };
            let length = rest.find(close).map_or(rest.len(), |found| found + close.len());
            if depth == 0 && rest[..length].contains('\n') && may_end_line(&text[..end]) {
                break;
            }
            at += length;
            continue;
        }
        if depth == 0 && rest.starts_with('\n') && may_end_line(&text[..end]) {
            break;
        }
        let word = rest.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(rest.len());
        let ends_it = matches!(&rest[..word], "od" | "fi" | "unless");
        if depth == 0 && (ends_it || [";", "->", "::", "}"].iter().any(|end| rest.starts_with(end))) {
            break;
        }
        match rest.chars().next() {
            Some('(' | '[' | '{') => depth += 1,
            Some(')' | ']' | '}') if depth == 0 => break,
            Some(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        let taken = word.max(rest.chars().next().map_or(1, char::len_utf8));
        if !rest[..taken].trim().is_empty() {
            end = at + taken;
        }
        at += taken;
    }
    end
}

/// Whether a text ends with a token behind which the end of a line separates statements.
fn may_end_line(text: &str) -> bool {
    let last = text.chars().next_back();
    last.is_some_and(|last| last.is_alphanumeric() || "_)]}'".contains(last))
        || text.ends_with("++")
        || text.ends_with("--")
}

/// Statements in one atomic sequence.
fn sequence(statements: &[String]) -> String {
    match statements {
        [only] => only.clone(),
        several => format!("atomic {{ {} }}", several.join("; ")),
    }
}

/// An expression as an operand of `&&`.
fn operand(text: &str) -> String {
    let whole = text.starts_with('(') && text.find(')') == Some(text.len() - 1);
    if whole || !text.contains("||") { text.to_owned() } else { format!("({text})") }
}

/// What stands before the operator of a send or receive.
fn channel_of(text: &str, operator: char) -> &str {
    text.split(operator).next().unwrap_or("").trim()
}

/// The question whether a receive can be executed.
fn poll(text: &str, any: bool) -> String {
    let operator = if any { "??" } else { "?" };
    let (channel, message) = text.split_once(operator).unwrap_or((text, ""));
    let message = message.trim();
    let message = message.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(message);
    format!("{}{operator}[{message}]", channel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_reaches_to_what_separates_it_from_the_next() {
        let end = |text: &'static str, known: usize| &text[..statement_end(text, known)];
        assert_eq!(end("count < SLOTS -> x = 1", 5), "count < SLOTS");
        assert_eq!(end("x = (a -> b : N) /* so */; y", 3), "x = (a -> b : N)");
        assert_eq!(end("c ! MSG, f(1) }", 1), "c ! MSG, f(1)");
        assert_eq!(end("x++ // done\nod", 3), "x++");
        assert_eq!(end("x == N fi", 1), "x == N");
        assert_eq!(end("skip", 4), "skip");
        assert_eq!(end("x = me\n  if :: y od", 6), "x = me");
        assert_eq!(end("x++ // done\n y = 1", 1), "x++");
        assert_eq!(end("(!w) /* a\n b */ L: skip", 4), "(!w)");
        assert_eq!(end("x == y &&\n N; z", 6), "x == y &&\n N");
        assert_eq!(end("c!(a\n + N)\n skip", 2), "c!(a\n + N)");
    }
}
