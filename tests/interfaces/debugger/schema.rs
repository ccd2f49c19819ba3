//! Messages of an adapter, checked against the schema of the Debug Adapter Protocol (`protocol.json`, beside this file).

use serde_json::Value;

/// The schema of the protocol.
pub struct Schema(Value);

impl Schema {
    pub fn read() -> Self {
        Self(serde_json::from_str(include_str!("../../debugger/protocol.json")).expect("the schema is JSON"))
    }

    /// Where a message differs from the schema; empty if it does not. Our own events and answers have only their frame
    /// checked.
    pub fn errors(&self, message: &Value) -> Vec<String> {
        let name = match message["type"].as_str() {
            Some("event") => format!("{}Event", capitalized(message["event"].as_str().unwrap_or(""))),
            Some("response") if message["success"] == false => "ErrorResponse".to_owned(),
            _ => format!("{}Response", capitalized(message["command"].as_str().unwrap_or(""))),
        };
        let frame = if message["type"] == "event" { "Event" } else { "Response" };
        let own = name.starts_with("Fabius/") || name == "BurnResponse";
        let definition = if own { frame } else { name.as_str() };
        let mut errors = Vec::new();
        match self.0["definitions"].get(definition) {
            Some(schema) => self.check(schema, message, "$", &mut errors),
            None => errors.push(format!("the protocol has no {definition}")),
        }
        errors
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        for (keyword, argument) in schema.as_object().expect("a schema is an object") {
            match keyword.as_str() {
                "default" => {}
                "$ref" => {
                    let pointer = argument.as_str().and_then(|text| text.strip_prefix('#')).expect("a reference");
                    self.check(self.0.pointer(pointer).expect("it leads somewhere"), value, at, errors);
                }
                "allOf" => {
                    argument.as_array().expect("a list").iter().for_each(|schema| self.check(schema, value, at, errors))
                }
                "oneOf" => {
                    let fits = |schema: &&Value| {
                        let mut found = Vec::new();
                        self.check(schema, value, at, &mut found);
                        found.is_empty()
                    };
                    if argument.as_array().expect("a list").iter().filter(fits).count() != 1 {
                        errors.push(format!("{at}: {value} fits none or several"));
                    }
                }
                "type" => check_type(argument, value, at, errors),
                "enum" if argument.as_array().expect("a list").contains(value) => {}
                "enum" => errors.push(format!("{at}: {value} is not in {argument}")),
                "minimum" | "maximum" => check_bound(keyword, argument, value, at, errors),
                "required" => {
                    for key in argument.as_array().expect("a list").iter().filter_map(Value::as_str) {
                        if value.get(key).is_none() {
                            errors.push(format!("{at}: {key} is missing"));
                        }
                    }
                }
                "properties" => {
                    for (key, item) in value.as_object().into_iter().flatten() {
                        if let Some(schema) = argument.get(key) {
                            self.check(schema, item, &format!("{at}.{key}"), errors);
                        }
                    }
                }
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(argument, item, &format!("{at}[{i}]"), errors);
                    }
                }
                "additionalProperties" if !argument.is_object() => {}
                "additionalProperties" => {
                    for (key, item) in value.as_object().into_iter().flatten() {
                        self.check(argument, item, &format!("{at}.{key}"), errors);
                    }
                }
                other => panic!("the keyword {other} is not known to this checker"),
            }
        }
    }
}

fn check_type(argument: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let fits = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        other => panic!("the type {other:?} is not known to this checker"),
    };
    let any = argument.as_array().map_or_else(|| fits(argument), |names| names.iter().any(fits));
    if !any {
        errors.push(format!("{at}: {value} is no {argument}"));
    }
}

fn check_bound(keyword: &str, bound: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let (Some(bound), Some(value)) = (bound.as_f64(), value.as_f64()) else { return };
    if (keyword == "minimum" && value < bound) || (keyword == "maximum" && bound < value) {
        errors.push(format!("{at}: {value} is beyond the {keyword} {bound}"));
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
