//! Comments that speak to the checker: where a scheduler may not interrupt, which verdict is expected, and with which values
//! of its macros a model is to be checked.

use fabius_base::{Code, Finding, Span};

/// How processes are scheduled inside of a sealed stretch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SealKind {
    /// `rr`: round-robin.
    RoundRobin,
    /// `rtc`: run-to-completion.
    RunToCompletion,
}

/// A stretch of text in which a delaying scheduler may not interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SealedStretch {
    /// How processes are scheduled inside.
    pub kind: SealKind,
    /// From the annotation that begins it to the end of the one that ends it.
    pub span: Span,
}

/// A verdict that the text says to expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The property; `None` for what every model is checked for.
    pub property: Option<String>,
    /// Whether it is to hold.
    pub holds: bool,
    /// The annotation.
    pub span: Span,
}

/// What is wrong with an annotation about an expected verdict.
pub fn expectation_complaint(span: Span, why: &str) -> Finding {
    Finding::new(Code::BadExpectation, "invalid `expect` annotation").at(span, why)
}

/// A macro and the values that it is to have one after the other, the smallest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The macro.
    pub name: String,
    /// The first value.
    pub first: i64,
    /// The last value, no less than the first one.
    pub last: i64,
}

impl Parameter {
    /// Reads `N=2..5`, or `N=3` for a single value.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let expected = || "expected a macro and its first and last value, such as N=2..5".to_owned();
        let (name, values) = text.split_once('=').ok_or_else(expected)?;
        let name = name.trim();
        let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
        let named = name.starts_with(starts) && name.chars().all(|c| starts(c) || c.is_ascii_digit());
        let (first, last) = values.split_once("..").unwrap_or((values, values));
        let number = |text: &str| text.trim().parse::<i32>().map(i64::from).map_err(|_| expected());
        let (first, last) = (number(first)?, number(last)?);
        match named {
            false => Err(expected()),
            true if last < first => Err(format!("{first}..{last} has no value: the first one is larger than the last")),
            true => Ok(Self { name: name.to_owned(), first, last }),
        }
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        usize::try_from(self.last - self.first + 1).unwrap_or(0)
    }
}

/// Values with which the text says to check it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenSweep {
    /// The macros, each with its values.
    pub parameters: Vec<Parameter>,
    /// The annotation.
    pub span: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_people_write_them() {
        let read = |text: &str| Parameter::read(text).map(|p| (p.name, p.first, p.last));
        assert_eq!(read("N=2..5"), Ok(("N".to_owned(), 2, 5)));
        assert_eq!(read(" N = 2 .. 5 "), Ok(("N".to_owned(), 2, 5)));
        assert_eq!(read("_a1=-1..1"), Ok(("_a1".to_owned(), -1, 1)));
        assert_eq!(read("N=3"), Ok(("N".to_owned(), 3, 3)));
        for bad in ["N", "N=", "=1..2", "1N=1..2", "N=5..2", "N=1..x", "N=1..99999999999", "N M=1..2", ""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
