//! The tools: their names, what they are for, their arguments, and what calls them.

use crate::{calls, explore};
use fabius_analysis::schedule::WAITS;
use fabius_base::Cancel;
use serde_json::{Value, json};

/// What a tool says: a document, or why there is none.
pub(crate) enum Called {
    /// A document.
    Document(Value),
    /// A text for people.
    Text(String),
    /// What is wrong with the arguments or the model, in a sentence.
    Failed(String),
}

impl Called {
    /// That there is no result.
    pub(crate) fn failed(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }

    /// As the protocol has it.
    pub(crate) fn into_result(self) -> Value {
        let text = |text: String| json!([{ "type": "text", "text": text }]);
        match self {
            Self::Document(document) => {
                json!({ "content": text(document.to_string()), "structuredContent": document, "isError": false })
            }
            Self::Text(page) => json!({ "content": text(page), "isError": false }),
            Self::Failed(why) => json!({ "content": text(why), "isError": true }),
        }
    }
}

/// A tool: its name, its title, what it does, its own arguments, and those that it needs.
type Tool = (&'static str, &'static str, &'static str, fn() -> Value, &'static [&'static str]);

const TOOLS: &[Tool] = &[
    (
        "check",
        "Check a model",
        "Check a Promela model: assertions, deadlocks, runtime errors, livelocks, acceptance cycles and formulas. The answer is the \
         report of `fabius check --json`: a verdict for each property (holds, violated, undecided, or faulty for a text that cannot \
         be read), what it rests on, and for each violation a run with the values that change.",
        check_arguments,
        &[],
    ),
    (
        "explore",
        "Walk through a model",
        "Walk through a Promela model: take the given steps from the initial state and say where that leads. The answer has the steps \
         taken, the values of variables and channels, where each process stands and why it waits, and the steps that are possible next, \
         with numbers for the next call.",
        explore_arguments,
        &[],
    ),
    (
        "causes",
        "Find the causes of violations",
        "Find the different ways in which properties of a Promela model can be violated: minimal sets of statements, each with a run, and \
         whether there are no others. The answer is the report of `fabius causes --json`.",
        causes_arguments,
        &[],
    ),
    (
        "schedule",
        "Find a safe schedule",
        "Find out whether a scheduler can avoid the errors and deadlocks of a Promela model, and by which waits. The answer is the \
         report of `fabius schedule --json`.",
        schedule_arguments,
        &[],
    ),
    (
        "explain",
        "Explain a code",
        "Explain a code of Fabius such as F0602: what it means, an example, and what to do.",
        || json!({ "code": { "type": "string", "description": "A code, such as F0602." } }),
        &["code"],
    ),
];

/// The tools as the protocol lists them.
pub(crate) fn list() -> Vec<Value> {
    let tool = |(name, title, description, arguments, required): &Tool| {
        let mut properties = arguments();
        if *name != "explain"
            && let (Value::Object(own), Value::Object(shared)) = (&mut properties, model_arguments())
        {
            own.extend(shared);
        }
        json!({
            "name": name,
            "title": title,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
            "annotations": { "title": title, "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
        })
    };
    TOOLS.iter().map(tool).collect()
}

/// Whether there is such a tool.
pub(crate) fn exists(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.0 == name)
}

/// Calls a tool.
pub(crate) fn call(name: &str, arguments: &Value, explain: fn(&str) -> Option<String>, cancel: &Cancel) -> Called {
    let called = unknown_argument(name, arguments).map_or(Ok(()), Err).and_then(|()| match name {
        "check" => calls::check(arguments, cancel).map(Called::Document),
        "causes" => calls::causes(arguments, cancel).map(Called::Document),
        "schedule" => calls::schedule(arguments, cancel).map(Called::Document),
        "explore" => explore::explore(arguments, cancel).map(Called::Document),
        _ => {
            let code = arguments["code"].as_str().ok_or("`code` is missing: a code such as F0602")?;
            explain(code).map(Called::Text).ok_or_else(|| format!("there is no code `{code}`"))
        }
    });
    called.unwrap_or_else(Called::Failed)
}

/// An argument that the tool does not have: a misspelt limit is not to be passed over.
fn unknown_argument(name: &str, arguments: &Value) -> Option<String> {
    let Some(given) = arguments.as_object() else { return Some("the arguments have to be an object".to_owned()) };
    let tools = list();
    let tool = tools.iter().find(|tool| tool["name"] == name)?;
    let known = tool["inputSchema"]["properties"].as_object()?;
    let unknown = given.keys().find(|key| !known.contains_key(*key))?;
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    Some(format!("unknown argument `{unknown}` (known: {})", names.join(", ")))
}

fn model_arguments() -> Value {
    json!({
        "path": { "type": "string", "description": "The file of the model. Give either this or `text`." },
        "text": { "type": "string", "description": "The model itself. It cannot include files." },
        "defines": {
            "type": "object", "additionalProperties": { "type": ["string", "integer"] },
            "description": "Macros with their values, as `#define NAME VALUE` before the first line.",
        },
        "timeout_seconds": {
            "type": "number", "exclusiveMinimum": 0, "maximum": crate::model::SECONDS_MAX, "default": crate::model::SECONDS,
            "description": "After this time the answer is what is known until then.",
        },
    })
}

/// A list of names or formulas.
fn names(what: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": what })
}

fn causes_arguments() -> Value {
    json!({
        "properties": names("Ask only about these: names of formulas and claims, or kinds (safety, progress, acceptance, ltl)."),
        "ltl": names("Further formulas of linear temporal logic, such as `[] (requested -> <> granted)`."),
        "limit": {
            "type": "integer", "minimum": 1, "maximum": calls::CAUSES_MAX, "default": calls::CAUSES,
            "description": "Maximum number of causes of each property.",
        },
    })
}

fn check_arguments() -> Value {
    json!({
        "properties": names("Check only these: names of formulas and claims, or kinds (safety, progress, acceptance, ltl)."),
        "ltl": names("Further formulas of linear temporal logic, such as `[] (requested -> <> granted)`."),
        "fairness": { "type": "string", "enum": ["none", "weak", "strong"], "description": "Which infinite runs count as violations." },
        "max_states": { "type": "integer", "minimum": 1, "description": "Maximum number of states." },
        "no_cache": {
            "type": "boolean",
            "description": "Search anew, even if `fabius check` or an editor remembers the result; a remembered one says when in `cached`.",
        },
    })
}

fn explore_arguments() -> Value {
    let count =
        |what: &str| json!({ "type": "integer", "minimum": 1, "maximum": explore::STEPS_MAX, "description": what });
    json!({
        "steps": {
            "type": "array", "items": { "type": "integer", "minimum": 1 }, "maxItems": explore::STEPS_MAX,
            "description": "Numbers of the steps to take, one after the other from the initial state, as `choices` numbers them.",
        },
        "random_steps": count("Number of random steps to take after them."),
        "seed": { "type": "integer", "minimum": 0, "description": "The same seed gives the same random steps." },
    })
}

fn schedule_arguments() -> Value {
    let waits = json!({
        "type": "integer", "minimum": 1, "maximum": calls::WAITS_MAX, "default": WAITS, "description": "Maximum number of waits.",
    });
    json!({ "waits": waits })
}
