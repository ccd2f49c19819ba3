//! A small checker of JSON documents against the schemas in `docs/schema`. It knows the keywords that
//! those use, and refuses to ignore any other. Beyond the standard it also wants every key of a document
//! to be described.

use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// The schemas, by file name.
pub struct Schemas(HashMap<String, Value>);

impl Schemas {
    /// Reads all schemas of the project.
    pub fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
        let mut schemas = HashMap::new();
        for entry in std::fs::read_dir(folder).expect("docs/schema exists") {
            let path = entry.expect("entry").path();
            let name = path.file_name().expect("name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path).expect("schema is readable");
            schemas.insert(name, serde_json::from_str(&text).expect("schema is JSON"));
        }
        Self(schemas)
    }

    /// Says where a document differs from a schema; empty if it does not.
    pub fn errors(&self, schema: &str, document: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        Checker { schemas: self, file: schema }.check(&self.0[schema], document, "$", &mut errors);
        errors
    }
}

struct Checker<'a> {
    schemas: &'a Schemas,
    file: &'a str,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        for (keyword, argument) in schema.as_object().expect("a schema is an object") {
            match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => {}
                // What is not described is complained about anyway.
                "additionalProperties" if *argument == false => {}
                "$ref" => self.follow(argument.as_str().expect("reference"), value, at, errors),
                "type" => self.check_type(argument, value, at, errors),
                "const" if argument == value => {}
                "enum" if argument.as_array().expect("enum").contains(value) => {}
                "const" | "enum" => errors.push(format!("{at}: {value} is not {argument}")),
                "minimum" if !value.is_number() || value.as_f64() >= argument.as_f64() => {}
                "minimum" => errors.push(format!("{at}: {value} is less than {argument}")),
                "pattern" => check_code(argument, value, at, errors),
                "required" => {
                    for key in argument.as_array().expect("required") {
                        if value.get(key.as_str().expect("key")).is_none() {
                            errors.push(format!("{at}: {key} is missing"));
                        }
                    }
                }
                "properties" => self.check_properties(argument, value, at, errors),
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(argument, item, &format!("{at}[{i}]"), errors);
                    }
                }
                "anyOf" => self.check_any(argument, value, at, errors),
                other => panic!("the keyword {other} is not known to this checker"),
            }
        }
    }

    fn follow(&self, reference: &str, value: &Value, at: &str, errors: &mut Vec<String>) {
        let (file, pointer) = reference.split_once('#').expect("a reference has a pointer");
        let file = if file.is_empty() { self.file } else { file };
        let schema = self.schemas.0[file].pointer(pointer).expect("the reference leads somewhere");
        Checker { schemas: self.schemas, file }.check(schema, value, at, errors);
    }

    fn check_type(&self, argument: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let fits = |name: &str| match name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            other => panic!("the type {other} is not known to this checker"),
        };
        let any = match argument {
            Value::Array(names) => names.iter().any(|name| fits(name.as_str().expect("type"))),
            name => fits(name.as_str().expect("type")),
        };
        if !any {
            errors.push(format!("{at}: {value} is no {argument}"));
        }
    }

    fn check_properties(&self, argument: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        for (key, item) in value.as_object().into_iter().flatten() {
            match argument.get(key) {
                Some(schema) => self.check(schema, item, &format!("{at}.{key}"), errors),
                None => errors.push(format!("{at}: {key} is not described")),
            }
        }
    }

    fn check_any(&self, argument: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let mut closest: Option<Vec<String>> = None;
        for schema in argument.as_array().expect("anyOf") {
            let mut found = Vec::new();
            self.check(schema, value, at, &mut found);
            if closest.as_ref().is_none_or(|closest| found.len() < closest.len()) {
                closest = Some(found);
            }
        }
        errors.extend(closest.unwrap_or_default());
    }
}

/// The one pattern in use: a finding code.
fn check_code(pattern: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    assert_eq!(pattern, "^F[0-9]{4}$", "this pattern is not known to this checker");
    let code = value.as_str().unwrap_or_default();
    let digits = code.strip_prefix('F').unwrap_or_default();
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        errors.push(format!("{at}: {value} is no finding code"));
    }
}
