//! Names and values as a person reads them.
use fabius_program::{EnumId, Program};

/// The name of a symbolic constant; its number if it has none.
pub(crate) fn enum_name(program: &Program, enumeration: Option<EnumId>, value: i32) -> String {
    let name = match enumeration {
        Some(id) => program.enumerations.get(id.0 as usize).and_then(|e| e.name_of(value)),
        None => program.enumerations.iter().find_map(|e| e.name_of(value)),
    };
    name.map_or_else(|| value.to_string(), str::to_owned)
}
