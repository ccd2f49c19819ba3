//! Edits of a model's text, and what they are to do.

use fabius_program::{LocationId, ProcessId};
use std::collections::BTreeSet;

/// A piece of a text, by bytes, and what is to be there instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TextEdit {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The new text.
    pub text: String,
}

/// A text with edits made in it, which do not overlap and are in the order of the text.
pub fn edited(text: &str, edits: &[TextEdit]) -> String {
    let (mut new, mut done) = (String::new(), 0);
    for edit in edits {
        new.push_str(text.get(done..edit.start as usize).unwrap_or(""));
        new.push_str(&edit.text);
        done = edit.end as usize;
    }
    new + text.get(done..).unwrap_or("")
}

/// A text with one small change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// The edits of the main text; they do not overlap, and are in the order of the text.
    pub edits: Vec<TextEdit>,
    /// What was done, as a word for reports.
    pub kind: &'static str,
}

/// Places of the processes of a type, or of one of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProcessPlaces {
    /// The type.
    pub process: ProcessId,
    /// The process, if only one of the type is meant.
    pub pid: Option<u8>,
    /// The places.
    pub locations: BTreeSet<LocationId>,
    /// A name for a counter of those who are there; made unique.
    pub name: String,
}

/// No process of `at` moves during something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Who waits, and where.
    pub at: ProcessPlaces,
    /// What must not be the case.
    pub during: During,
}

/// What a process waits for to be over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum During {
    /// Another process is somewhere.
    Places(ProcessPlaces),
    /// A global has certain values.
    Value {
        /// Its name, without indices and fields.
        name: String,
        /// That it has not: an expression that can be an operand of a conjunction.
        otherwise: String,
    },
}

/// A test whether a variable or channel has one of several successive values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueTest<'a> {
    /// The variable or channel, as it is written, with indices and fields.
    pub name: &'a str,
    /// What its values are.
    pub kind: ValueKind<'a>,
    /// The first of the values.
    pub first: i32,
    /// The last of the values.
    pub last: i32,
    /// The greatest value below them that it takes at all.
    pub before: Option<i32>,
    /// The least value above them that it takes at all.
    pub after: Option<i32>,
}

/// What the values of a variable or channel are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind<'a> {
    /// Numbers.
    Number,
    /// 0 for false, 1 for true.
    Boolean,
    /// One symbolic constant, with this name.
    Constant(&'a str),
    /// The number of messages in a channel.
    Messages {
        /// The most that it holds.
        capacity: u32,
    },
}

/// A test of values, as it is written in the language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueTexts {
    /// What is tested: the variable, or the number of messages in the channel.
    pub tested: String,
    /// True where the value is one of them.
    pub holds: String,
    /// True where it is not; it can be an operand of a conjunction.
    pub fails: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edits_are_made_from_left_to_right() {
        let edit = |start, end, text: &str| TextEdit { start, end, text: text.to_owned() };
        assert_eq!(edited("abcdef", &[edit(0, 0, "x"), edit(1, 2, "B"), edit(5, 6, "")]), "xaBcde");
    }
}
