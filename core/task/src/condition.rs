//! Conditions over states, in the words of the model: what a breakpoint or a watch asks.
//!
//! A condition is read as a formula from outside the text would be, so macros, constants, global variables,
//! variables of processes (`P:x`, `P[1]:x`) and places (`P@label`) mean in it what they mean in the model.

use crate::load::{Loaded, Source};
use fabius_base::{Cancel, Finding, SourceMap};
use fabius_language::{Form, Loader, OutsideFormula, ReadRequest};
use fabius_program::{BinaryOp, Expr, Formula, Kind, LocationId, Pattern, Place, Program, PropertyKind, Slot, UnaryOp};

/// The name of the property as which a condition is read.
const NAME: &str = "condition__";
/// A longer text is no condition that a person wrote.
const BYTES_MAX: usize = 10_000;

/// Reads a condition on states of `program`, a form of the model that was loaded.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn condition(loaded: &Loaded, program: &Program, text: &str) -> Result<Expr, String> {
    if text.trim().is_empty() {
        return Err("a condition is missing".to_owned());
    }
    if BYTES_MAX < text.len() {
        return Err("the condition is too long".to_owned());
    }
    let Some((_, main)) = loaded.map.files().next() else { return Err("there is no model".to_owned()) };
    let mut map = SourceMap::new();
    let file = map.add_file(main.name.clone(), main.text.clone());
    let asked = OutsideFormula { name: NAME.to_owned(), file: map.add_file("<condition>", text) };
    let (mine, source) = (asked.file, &*loaded.source);
    let request = ReadRequest { file, defines: &source.defines, fixed: &source.fixed, formulas: &[asked] };
    let read = loaded.language().read(&mut map, &request, &mut Again(source), &Cancel::new());
    let about =
        |finding: &&Finding| finding.is_error() && finding.span().is_none_or(|span| map.user_span(span).file == mine);
    if let Some(error) = read.findings.iter().find(about) {
        return Err(sentence(error));
    }
    let lowered = read.syntax.lower(&map, &loaded.name, Form::AsWritten, &Cancel::new());
    if let Some(error) = lowered.findings.iter().find(about) {
        return Err(sentence(error));
    }
    let written = lowered.program.ok_or("the model cannot be read")?;
    let found = written.properties.iter().find(|property| property.name == NAME);
    match found.map(|property| &property.kind) {
        Some(PropertyKind::Ltl(Formula::Proposition(expr))) => {
            let mut expr = expr.clone();
            relocate(&written, program, &mut expr)?;
            Ok(expr)
        }
        Some(_) => Err("a condition describes one state: temporal operators are not allowed".to_owned()),
        None => Err("not a condition".to_owned()),
    }
}

/// What is wrong, with what is said about the place, and what may have been meant.
fn sentence(finding: &Finding) -> String {
    let mut sentence = finding.headline.clone();
    if let Some(label) = finding.labels.first().filter(|label| !label.text.is_empty()) {
        sentence.push_str(&format!(" ({})", label.text));
    }
    for help in finding.help.iter().filter(|help| help.starts_with("did you mean")) {
        sentence.push_str(&format!(": {help}"));
    }
    sentence
}

/// Answers with what was included when the model was read.
struct Again<'a>(&'a Source);

impl Loader for Again<'_> {
    fn load(&mut self, includer: &str, name: &str) -> Option<(String, String)> {
        self.0.include(includer, name.trim_matches(['"', '<', '>']))
    }
}

/// Makes places of one form of a model places of another form: they have the same numbers.
pub fn relocate(from: &Program, to: &Program, expr: &mut Expr) -> Result<(), String> {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::At { process, pid, location } => {
                let written = &from.process(*process).locations[location.0 as usize];
                let there = to.processes.get(process.0 as usize).and_then(|process| {
                    process.locations.iter().position(|location| location.number == written.number)
                });
                let label = written.labels.first().map_or("this place", String::as_str);
                let name = &from.process(*process).name;
                *location = LocationId(there.ok_or_else(|| format!("no {name} ever stops at {label}"))? as u32);
                open.extend(pid.as_deref_mut());
            }
            Expr::Load(place) => open.extend(&mut place.indices),
            Expr::Unary(_, a) | Expr::Length(a) | Expr::Test(_, a) => open.push(a),
            Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => open.push(a),
            Expr::Binary(_, a, b) => open.extend([a.as_mut(), b.as_mut()]),
            Expr::Conditional(a, b, c) => open.extend([a.as_mut(), b.as_mut(), c.as_mut()]),
            Expr::Poll { channel, fields, .. } => {
                open.push(channel);
                for field in fields {
                    match field {
                        Pattern::Match(expr) => open.push(expr),
                        Pattern::Store(Place { indices, .. }) => open.extend(indices),
                        Pattern::Ignore => {}
                    }
                }
            }
            Expr::Remote { process, variable, pid, indices } => {
                let known = to.processes.get(process.0 as usize).map_or(0, |process| process.locals.len());
                if known <= variable.0 as usize {
                    let process = from.process(*process);
                    let name = process.locals.get(variable.0 as usize).map_or("this variable", |local| &local.name);
                    return Err(format!(
                        "`{name}` of {} is no part of a state of this model, which does not use it",
                        process.name
                    ));
                }
                open.extend(pid.as_deref_mut());
                open.extend(indices);
            }
            Expr::Run { arguments, .. } => open.extend(arguments),
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {}
        }
    }
    Ok(())
}

/// What the value of an expression stands for, if that is more than a number.
pub fn kind_of(program: &Program, expr: &Expr) -> Option<Kind> {
    Some(match expr {
        Expr::Load(place) => match place.slot {
            Slot::Global(id) => program.globals.get(id.0 as usize)?.ty.kind,
            Slot::Local(_) => return None,
        },
        Expr::Remote { process, variable, .. } => program.process(*process).locals.get(variable.0 as usize)?.ty.kind,
        Expr::At { .. } | Expr::Test(..) | Expr::Poll { .. } | Expr::Enabled(_) | Expr::Timeout => Kind::Boolean,
        Expr::Unary(UnaryOp::Not, _) => Kind::Boolean,
        Expr::Binary(
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::And
            | BinaryOp::Or,
            ..,
        ) => Kind::Boolean,
        _ => return None,
    })
}
