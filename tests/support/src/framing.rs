//! Messages as editors and debuggers frame them: a header with the length, an empty line, JSON.

use serde_json::Value;
use std::io::{BufRead, Write};

/// Reads one message; `None` when there will be none.
///
/// # Panics
/// If what comes is anything else: the tool writes nothing but messages.
pub fn read(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').expect("a header has a colon");
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().expect("a length is a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("a message is JSON, and nothing else is on standard output"))
}

/// Writes one message.
///
/// # Errors
/// Nobody reads any more.
pub fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
