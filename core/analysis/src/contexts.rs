//! Contexts in which the processes of a model can run: multisets of processes with arguments, with values for inputs.

use fabius_program::{Kind, Process, ProcessKind, Program, Variable};
use fabius_task::load::Loaded;
use std::collections::BTreeMap;

/// A range stands for at most this many values.
const RANGE_MAX: i64 = 1_000;

/// A process type has at most this many lists of arguments.
const LISTS_MAX: usize = 10_000;

/// What contexts are made of, as statements of the model's language.
#[derive(Debug, Default)]
pub struct Choices {
    /// Processes with arguments.
    pub processes: Vec<Creation>,
    /// For each input, assignments of its values.
    pub inputs: Vec<Vec<String>>,
}

/// A process that a context may create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Creation {
    /// Its type.
    pub of: String,
    /// The statement that creates it.
    pub statement: String,
}

/// A context: which processes, by their numbers among the choices, and which value each input has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// In ascending order: who is who does not matter.
    pub processes: Vec<usize>,
    /// For each input, the number of its value.
    pub inputs: Vec<usize>,
}

impl Choices {
    /// What the types of a model and the flags allow.
    ///
    /// # Errors
    /// What is wrong with the flags, or with the model.
    pub fn of(loaded: &Loaded, types: &[String], values: &[String], inputs: &[String]) -> Result<Self, String> {
        let program = loaded.as_written().ok_or("the model is faulty")?;
        let language = loaded.language();
        let values = assignments(values)?;
        let mut choices = Self::default();
        for (at, process) in program.processes.iter().enumerate() {
            let is_there = program.initial.iter().any(|instance| instance.process.0 as usize == at);
            let chosen = if types.is_empty() { !is_there } else { types.contains(&process.name) };
            if process.kind == ProcessKind::Process && chosen && process.name != ":init:" {
                let creation = |arguments: Vec<String>| Creation {
                    of: process.name.clone(),
                    statement: language.creation(&process.name, &arguments),
                };
                choices.processes.extend(argument_lists(&program, process, &values)?.into_iter().map(creation));
            }
        }
        let unknown = |name: &&String| !program.processes.iter().any(|process| process.name == **name);
        if let Some(name) = types.iter().find(unknown) {
            return Err(format!("there is no process type `{name}`"));
        }
        if choices.processes.is_empty() {
            return Err("there is no process type to create processes of".to_owned());
        }
        for (name, values) in assignments(inputs)? {
            if !program.globals.iter().any(|global| global.name == name) {
                return Err(format!("there is no global variable `{name}`"));
            }
            choices.inputs.push(values.iter().map(|value| language.assignment(&name, value)).collect());
        }
        Ok(choices)
    }

    /// All contexts with at most this many processes, those with few processes first.
    pub fn contexts(&self, processes_max: usize) -> impl Iterator<Item = Context> {
        let count = self.processes.len();
        let multisets = (1..=processes_max).flat_map(move |size| {
            std::iter::successors(Some(vec![0; size]), move |last: &Vec<usize>| {
                let at = last.iter().rposition(|process| process + 1 < count)?;
                let mut next = last.clone();
                let value = next[at] + 1;
                next[at..].fill(value);
                Some(next)
            })
        });
        let lengths: Vec<usize> = self.inputs.iter().map(Vec::len).collect();
        // There may be more combinations of inputs than a number can hold, so they are counted through digit by digit.
        let combinations = std::iter::successors(Some(vec![0; lengths.len()]), move |last: &Vec<usize>| {
            let at = last.iter().zip(&lengths).position(|(digit, length)| digit + 1 < *length)?;
            let mut next = last.clone();
            next[..at].fill(0);
            next[at] += 1;
            Some(next)
        });
        multisets.flat_map(move |processes| {
            combinations.clone().map(move |inputs| Context { processes: processes.clone(), inputs })
        })
    }

    /// Whether there is a process of a type to be created.
    pub fn has(&self, name: &str) -> bool {
        self.processes.iter().any(|process| process.of == name)
    }

    /// Whether a context creates a process of a type.
    pub fn creates(&self, context: &Context, name: &str) -> bool {
        context.processes.iter().any(|process| self.processes[*process].of == name)
    }

    /// What a context does: what it assigns, and what it creates.
    pub fn statements(&self, context: &Context) -> Vec<String> {
        let inputs = self.inputs.iter().zip(&context.inputs).map(|(values, value)| values[*value].clone());
        inputs.chain(context.processes.iter().map(|process| self.processes[*process].statement.clone())).collect()
    }
}

/// The arguments that processes of a type may have.
fn argument_lists(
    program: &Program,
    process: &Process,
    values: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<Vec<String>>, String> {
    let parameters = process.locals.iter().take(process.parameter_count as usize);
    let mut lists = vec![Vec::new()];
    for parameter in parameters {
        let own = values.get(&format!("{}.{}", process.name, parameter.name));
        let given = own.or_else(|| values.get(&parameter.name)).cloned();
        let possible = given.unwrap_or_else(|| usual(program, parameter));
        if possible.is_empty() {
            let (name, of) = (&parameter.name, &process.name);
            return Err(format!(
                "`{name}` of `{of}` is a channel, and no global variable is: --values {name}=… says which"
            ));
        }
        if LISTS_MAX < lists.len().saturating_mul(possible.len()) {
            return Err(format!(
                "`{}` has more than {LISTS_MAX} lists of arguments: --values {}=… allows fewer values",
                process.name, parameter.name
            ));
        }
        let with = |list: &Vec<String>| {
            possible.iter().map(|value| [&list[..], std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(with).collect();
    }
    Ok(lists)
}

/// The values of a parameter of which nobody says anything: channels there are, or 0 and 1.
fn usual(program: &Program, parameter: &Variable) -> Vec<String> {
    if parameter.ty.kind != Kind::Channel {
        return vec!["0".to_owned(), "1".to_owned()];
    }
    let channels = program.globals.iter().filter(|global| global.ty.kind == Kind::Channel);
    channels.filter(|channel| channel.dimensions.is_empty()).map(|channel| channel.name.clone()).collect()
}

/// `NAME=0..3` or `NAME=red,green`.
fn assignments(texts: &[String]) -> Result<BTreeMap<String, Vec<String>>, String> {
    let one = |text: &String| {
        let wrong = || format!("expected NAME=VALUE,VALUE or NAME=FROM..TO, found `{text}`");
        let (name, list) = text.split_once('=').ok_or_else(wrong)?;
        let values = match list.split_once("..") {
            Some((from, to)) => {
                let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong());
                let (from, to) = (number(from)?, number(to)?);
                if to < from || RANGE_MAX <= to.saturating_sub(from) {
                    return Err(wrong());
                }
                (from..=to).map(|value| value.to_string()).collect()
            }
            None => list.split(',').map(|value| value.trim().to_owned()).collect::<Vec<_>>(),
        };
        if values.iter().any(String::is_empty) { Err(wrong()) } else { Ok((name.trim().to_owned(), values)) }
    };
    texts.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn creation(of: &str, statement: &str) -> Creation {
        Creation { of: of.to_owned(), statement: statement.to_owned() }
    }

    #[test]
    fn contexts_are_multisets_with_each_combination_of_inputs() {
        let text = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let inputs = vec![text(&["x = 0", "x = 1"]), text(&["y = 0", "y = 1", "y = 2"])];
        for processes in 1..5 {
            let choices = Choices { processes: vec![creation("P", "run P()"); processes], inputs: inputs.clone() };
            let mut all: Vec<Context> = choices.contexts(3).collect();
            // Multisets of size k of n things: (n + k − 1 over k).
            let multisets =
                processes + processes * (processes + 1) / 2 + processes * (processes + 1) * (processes + 2) / 6;
            assert_eq!(all.len(), multisets * 6);
            assert!(all.iter().all(|it| it.processes.is_sorted()));
            all.dedup();
            assert_eq!(all.len(), multisets * 6);
        }
        let choices = Choices { processes: vec![creation("P", "run P(1)"), creation("Q", "run Q()")], inputs };
        let context = Context { processes: vec![0, 1, 1], inputs: vec![1, 2] };
        assert_eq!(choices.statements(&context), ["x = 1", "y = 2", "run P(1)", "run Q()", "run Q()"]);
        assert!(choices.creates(&context, "P") && choices.creates(&context, "Q"));
        assert!(!choices.creates(&Context { processes: vec![1], inputs: Vec::new() }, "P"));
    }

    #[test]
    fn more_combinations_of_inputs_than_a_number_holds_are_counted_through() {
        let values: Vec<String> = (0..256).map(|value| format!("x = {value}")).collect();
        let choices = Choices { processes: vec![creation("P", "run P()")], inputs: vec![values; 9] };
        let found: Vec<Context> = choices.contexts(1).take(300).collect();
        let number = |context: &Context| context.inputs[0] + 256 * context.inputs[1];
        assert_eq!(found.iter().map(number).collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
        assert!(choices.has("P") && !choices.has("Q"));
    }

    #[test]
    fn values_are_lists_or_ranges() {
        let of = |text: &str| assignments(&[text.to_owned()]).map(|mut all| all.remove("a").unwrap_or_default());
        assert_eq!(of("a=2..4"), Ok(vec!["2".to_owned(), "3".to_owned(), "4".to_owned()]));
        assert_eq!(of("a=red, green"), Ok(vec!["red".to_owned(), "green".to_owned()]));
        for wrong in ["a", "a=", "a=1,", "a=3..1", "a=0..9999", "a=x..y"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
