//! The tool `explore`: where a sequence of steps leads. Nothing is kept between calls: the steps are taken again.

use crate::calls::whole;
use crate::model::{self, timer};
use fabius_base::{Cancel, SourceMap, Span};
use fabius_explore::{Choice, Exploration, Role, sentence};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum number of steps in a call.
pub(crate) const STEPS_MAX: u64 = 1000;
/// Maximum number of values, of processes and of choices that are shown.
const SHOWN_MAX: usize = 200;

/// Takes the steps, and says where that leads.
///
/// # Errors
/// What is wrong with the arguments or the model.
pub(crate) fn explore(arguments: &Value, cancel: &Cancel) -> Result<Value, String> {
    let _timer = timer(arguments, cancel, 10)?;
    let numbers = numbers(&arguments["steps"])?;
    let random = whole(arguments, "random_steps", STEPS_MAX)?.unwrap_or(0);
    let seed = match &arguments["seed"] {
        Value::Null => 0,
        seed => seed.as_u64().ok_or_else(|| format!("`seed` is {seed}: it has to be a whole number from 0"))?,
    };
    let model = model::read(arguments, &[], cancel)?;
    if let Some(error) = model.error() {
        return Err(error);
    }
    let mut e = Exploration::of_model(Arc::new(model.loaded), None)?;
    for (index, number) in numbers.iter().enumerate() {
        if cancel.requested().is_some() {
            return Err(format!("stopped after {index} steps: the time allowed was used up"));
        }
        let choices = e.choices();
        let choice = number.checked_sub(1).and_then(|at| choices.get(at)).ok_or_else(|| {
            let possible = match choices.len() {
                0 => "no step is possible there".to_owned(),
                1 => "the only choice there is number 1".to_owned(),
                count => format!("the choices there are numbered from 1 to {count}"),
            };
            format!("step {} cannot be number {number}: {possible}", index + 1)
        })?;
        e.choose(choice)?;
    }
    let stopped = (random > 0).then(|| e.run_randomly(random as usize, seed, Some(cancel)).sentence());
    Ok(shown(&e, stopped))
}

/// The numbers of the steps to take.
fn numbers(steps: &Value) -> Result<Vec<usize>, String> {
    let wrong = || format!("`steps` has to be a list of at most {STEPS_MAX} numbers of choices, from 1");
    match steps {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) if list.len() as u64 <= STEPS_MAX => {
            list.iter().map(|one| one.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

/// The state at which one is, how one came there, and what is possible.
fn shown(e: &Exploration, stopped: Option<&str>) -> Value {
    let map = &e.loaded().map;
    let mut path = Vec::new();
    let mut node = e.here();
    while let Some(step) = e.step_to(node) {
        path.push(json!({ "what": sentence(&step), "statement": step.actor.text, "at": place(map, step.actor.span) }));
        let Some(parent) = e.parent(node) else { break };
        node = parent;
    }
    path.reverse();
    let choices = e.choices();
    let (variables, processes) = (e.variables(), e.processes());
    let left_out = [variables.len(), processes.len(), choices.len()].iter().any(|count| SHOWN_MAX < *count);
    let mut document = json!({
        "steps": path,
        "variables": variables.iter().take(SHOWN_MAX).map(|value| {
            let owner = value.pid.map(|pid| e.process_name(pid));
            json!({ "name": value.name, "process": owner, "type": value.ty, "value": value.value, "before": value.before })
        }).collect::<Vec<_>>(),
        "processes": processes.iter().take(SHOWN_MAX).map(|process| json!({
            "name": process.status.name,
            "pid": process.status.pid,
            "at": place(map, process.status.span),
            "state": state_of(process.role),
            "why": if process.role == Role::Blocked { process.sentences(&|pid| e.process_name(pid)) } else { Vec::new() },
        })).collect::<Vec<_>>(),
        "choices": choices.iter().take(SHOWN_MAX).enumerate().map(|(index, choice)| choice_of(map, index, choice)).collect::<Vec<_>>(),
        "ends": e.why_no_step().map(fabius_explore::Stop::sentence),
    });
    if let Some(why) = stopped {
        document["random"] = json!(why);
    }
    if left_out {
        document["note"] = json!(format!("of each list only the first {SHOWN_MAX} are shown"));
    }
    document
}

fn choice_of(map: &SourceMap, index: usize, choice: &Choice) -> Value {
    json!({
        "number": index + 1,
        "what": sentence(&choice.effect),
        "process": choice.effect.actor.name,
        "statement": choice.effect.actor.text,
        "at": place(map, choice.effect.actor.span),
        "leads": choice.mark.sentence(),
    })
}

fn place(map: &SourceMap, span: Span) -> String {
    map.position(span).to_string()
}

fn state_of(role: Role) -> &'static str {
    match role {
        Role::Enabled => "can move",
        Role::Excluded(_) => "could move, but another process is inside an atomic sequence",
        Role::Blocked => "waits",
        Role::Ended => "has ended",
    }
}
