//! Variables as a client sees them: arrays and structures are trees of elements and fields.

use crate::protocol::{Variable, VariableHint};
use crate::repl;
use crate::show::{CHANGED, CHANNELS, GLOBALS, GROUPS, LOCALS, full_name};
use fabius_explore::{Exploration, Value as Shown};
use std::collections::HashMap;

/// The value of an array or a structure is shown with this many characters at most.
const TEXT_MAX: usize = 400;

/// Why no variable can be set.
pub(crate) const NO_SETTING: &str = "variables cannot be set: every state shown is reached by the model's own \
    statements, and a changed one might never be. Choose another step (Step Into Target, `take N`), or edit the model";

/// An array or a structure, or a part of one.
#[derive(Debug)]
struct Group {
    /// Its name; of a process's, without the process.
    name: String,
    /// Its elements and fields down to single values.
    values: Vec<Shown>,
}

/// The arrays and structures that were shown since the last stop.
#[derive(Debug, Default)]
pub(crate) struct References(Vec<Group>);

impl References {
    /// Nothing that was shown counts any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The variables behind a reference.
    pub(crate) fn variables(&mut self, e: &Exploration, reference: i64) -> Result<Vec<Variable>, String> {
        let all = e.variables();
        let of = |keep: &dyn Fn(&Shown) -> bool| all.iter().filter(|value| keep(value)).cloned().collect::<Vec<_>>();
        let found = match reference {
            GLOBALS => of(&|value| value.pid.is_none() && !value.is_channel),
            CHANNELS => of(&|value| value.is_channel),
            CHANGED => {
                let changed = of(&|value| value.before.is_some());
                return Ok(changed.iter().map(|value| changed_value(e, value)).collect());
            }
            locals if (LOCALS..GLOBALS).contains(&locals) => {
                let pid = u8::try_from(locals - LOCALS).map_err(|_| "there is no such process".to_owned())?;
                of(&|value| value.pid == Some(pid))
            }
            group => {
                let group = self.group(group).ok_or_else(|| "these variables are of an earlier stop".to_owned())?;
                let (name, values) = (group.name.clone(), group.values.clone());
                return Ok(self.parts(e, &name, &values));
            }
        };
        Ok(self.parts(e, "", &found))
    }

    fn group(&self, reference: i64) -> Option<&Group> {
        let index = reference.checked_sub(GROUPS).and_then(|index| usize::try_from(index).ok())?;
        self.0.get(index)
    }

    /// The name of a variable that was shown below a reference.
    pub(crate) fn name_below(&self, reference: i64, name: &str) -> String {
        match self.group(reference) {
            Some(group) if name.starts_with('[') => format!("{}{name}", group.name),
            Some(group) => format!("{}.{name}", group.name),
            None => name.to_owned(),
        }
    }

    /// A whole array or structure, or a part of one, that an expression names; `None` if it does not.
    pub(crate) fn whole(&mut self, e: &Exploration, expression: &str, pid: Option<u8>) -> Option<Variable> {
        let (owner, path) = match expression.trim().rsplit_once(':') {
            Some((process, path)) => (Some(repl::process(e, process.trim()).ok()?), path),
            None => (None, expression.trim()),
        };
        let path = with_indices(e, path, owner.or(pid))?;
        let all = e.variables();
        let of = |pid: Option<u8>| -> Vec<Shown> {
            let inside = |value: &&Shown| {
                value.pid == pid && value.name.strip_prefix(&path).is_some_and(|rest| rest.starts_with(['[', '.']))
            };
            all.iter().filter(inside).cloned().collect()
        };
        let candidates = if owner.is_some() { [owner, owner] } else { [pid, None] };
        let values = candidates.into_iter().map(of).find(|values| !values.is_empty())?;
        Some(self.shown(e, &path, &path, &gathered(&path, values)))
    }

    /// The parts of an array, a structure or (with an empty name) a scope.
    fn parts(&mut self, e: &Exploration, name: &str, values: &[Shown]) -> Vec<Variable> {
        let part = |values: &[Shown]| {
            let whole = part_of(&values[0].name, name).to_owned();
            let short = whole[name.len()..].trim_start_matches('.').to_owned();
            self.shown(e, &whole, &short, values)
        };
        values.chunk_by(|a, b| part_of(&a.name, name) == part_of(&b.name, name)).map(part).collect()
    }

    /// A variable as the protocol has it: with a reference if it has parts.
    fn shown(&mut self, e: &Exploration, name: &str, short: &str, values: &[Shown]) -> Variable {
        let first = &values[0];
        let full = || full_name(e, &Shown { name: name.to_owned(), ..first.clone() });
        let single = Variable {
            name: short.to_owned(),
            value: first.value.clone(),
            ty: Some(first.ty.clone()),
            presentation_hint: VariableHint::data(values.iter().any(|value| value.before.is_some())),
            evaluate_name: (!first.is_channel).then(full),
            variables_reference: 0,
            indexed_variables: None,
        };
        if first.name == name {
            return single;
        }
        let elements = values.chunk_by(|a, b| part_of(&a.name, name) == part_of(&b.name, name)).count();
        let is_array = first.name[name.len()..].starts_with('[');
        self.0.push(Group { name: name.to_owned(), values: values.to_vec() });
        Variable {
            value: text_of(name, values),
            ty: (is_array && elements == values.len()).then(|| format!("{}[{elements}]", first.ty)),
            variables_reference: GROUPS + self.0.len() as i64 - 1,
            indexed_variables: is_array.then_some(elements),
            ..single
        }
    }
}

/// The part of `whole` in which a variable lies, by its full name: of `a[1].x`, `a` in a scope, `a[1]` in `a`.
fn part_of<'a>(variable: &'a str, whole: &str) -> &'a str {
    // A channel may be named with its process: `P[1]:q`.
    let start = if whole.is_empty() { variable.rfind(':').map_or(0, |colon| colon + 1) } else { whole.len() };
    let rest = &variable[start..];
    let end = match rest.strip_prefix('[') {
        Some(_) => rest.find(']').map(|at| at + 1),
        None => rest.char_indices().skip(1).find(|(_, c)| matches!(c, '[' | '.')).map(|(at, _)| at),
    };
    &variable[..end.map_or(variable.len(), |end| start + end)]
}

/// The values of an array or a structure with those of each of its parts together: channels, which come behind all other values,
/// beside the other fields of their structure.
fn gathered(name: &str, values: Vec<Shown>) -> Vec<Shown> {
    if values.iter().any(|value| value.name == name) {
        return values;
    }
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut parts: Vec<Vec<Shown>> = Vec::new();
    for value in values {
        let index = *at.entry(part_of(&value.name, name).to_owned()).or_insert(parts.len());
        if index == parts.len() {
            parts.push(Vec::new());
        }
        parts[index].push(value);
    }
    let together = |part: Vec<Shown>| match part.as_slice() {
        [_] => part,
        several => {
            let name = part_of(&several[0].name, name).to_owned();
            gathered(&name, part)
        }
    };
    parts.into_iter().flat_map(together).collect()
}

/// An array or a structure in one line: `{1, 2}`, `{role: 1, log: {0, 0}}`.
fn text_of(name: &str, values: &[Shown]) -> String {
    let part = |values: &[Shown]| {
        let whole = part_of(&values[0].name, name);
        let value = if values[0].name == whole { values[0].value.clone() } else { text_of(whole, values) };
        match whole[name.len()..].strip_prefix('.') {
            Some(field) => format!("{field}: {value}"),
            None => value,
        }
    };
    let parts: Vec<String> =
        values.chunk_by(|a, b| part_of(&a.name, name) == part_of(&b.name, name)).map(part).collect();
    let text = format!("{{{}}}", parts.join(", "));
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A path with numbers for its indices; `None` if it is none, or if an index has no value.
fn with_indices(e: &Exploration, path: &str, pid: Option<u8>) -> Option<String> {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, from)) = rest.split_once('[') {
        let mut depth = 1;
        let closing = |c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        };
        let (index, after) = from.split_at(from.find(closing)?);
        let number: i64 = match index.trim().parse() {
            Ok(number) => number,
            Err(_) => e.evaluate(index, pid).ok()?.parse().ok()?,
        };
        out.push_str(&format!("{}[{number}]", before.trim()));
        rest = &after[1..];
    }
    out.push_str(rest.trim());
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    (!out.is_empty() && out.chars().all(is_path)).then_some(out)
}

/// A variable that the last step changed, with the value before.
fn changed_value(e: &Exploration, value: &Shown) -> Variable {
    let full = full_name(e, value);
    let shown = match &value.before {
        Some(before) => format!("{before} → {}", value.value),
        None => value.value.clone(),
    };
    Variable {
        evaluate_name: (!value.is_channel).then(|| full.clone()),
        name: full,
        value: shown,
        ty: Some(value.ty.clone()),
        presentation_hint: VariableHint::data(true),
        variables_reference: 0,
        indexed_variables: None,
    }
}

/// Whether a text would change a variable if it were a statement.
pub(crate) fn assigns(text: &str) -> bool {
    let bytes = text.as_bytes();
    let single = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        bytes[at] == b'=' && bytes.get(at + 1) != Some(&b'=') && !matches!(before, Some(b'=' | b'!' | b'<' | b'>'))
    };
    let text = text.trim();
    text.ends_with("++") || text.ends_with("--") || (0..bytes.len()).any(single)
}

#[cfg(test)]
mod tests {
    use super::{assigns, part_of};

    #[test]
    fn names_are_taken_apart_from_outside_in() {
        let name = "a[1].log[0]";
        let parts = ["", "a", "a[1]", "a[1].log"].map(|whole| part_of(name, whole));
        assert_eq!(parts, ["a", "a[1]", "a[1].log", name]);
        assert_eq!(part_of("P[1]:q[2]", ""), "P[1]:q");
    }

    #[test]
    fn assignments_are_told_from_comparisons() {
        assert!(["x = 1", "x=1", "a[x == 2] = 3", "x++", "s.k --"].iter().all(|text| assigns(text)));
        assert!(!["x == 1", "x <= 1", "x != y", "x >= 2", "x + 1", ""].iter().any(|text| assigns(text)));
    }
}
