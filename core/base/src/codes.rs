//! The table of finding codes: one list, read by the documentation, the schema and the tests.
//!
//! `F01xx` text and preprocessor, `F02xx` syntax, `F03xx` names and types, `F04xx` lowering,
//! `F05xx` embedded C and other things that are not checked, `F06xx` results of a check.
//! Each code has a section in `docs/findings.md`; a test compares the two.

use crate::finding::Severity;

macro_rules! codes {
    ($($name:ident = $number:literal, $severity:ident, $title:literal;)*) => {
        /// A row of the table of codes.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code as shown to people, such as `F0201`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $number,)* }
            }

            /// How much a finding with this code matters unless it says otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// What the code stands for, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    UnterminatedComment = "F0101", Error, "a comment is not closed";
    UnterminatedLiteral = "F0102", Error, "a string or character is not closed";
    BadDirective = "F0103", Error, "a preprocessor directive cannot be read";
    IncludeNotFound = "F0104", Error, "an included file cannot be found";
    BadMacroCall = "F0105", Error, "a macro is called wrongly";
    ExpansionTooLarge = "F0106", Error, "macros expand without bound";
    UnknownCharacter = "F0107", Error, "a character has no meaning in Promela";
    FileUnreadable = "F0108", Error, "a file cannot be read";
    UnexpectedToken = "F0201", Error, "something else was expected here";
    NestedTooDeep = "F0202", Error, "nesting is too deep";
    UndeclaredName = "F0301", Error, "a name is not declared";
    Redeclared = "F0302", Error, "a name is declared twice";
    NotChecked = "F0501", Error, "embedded C needs a C compiler, the model was not checked";
    UnknownProperty = "F0502", Error, "no property has this name";
    AssertionViolated = "F0601", Error, "an assertion can fail";
    InvalidEndState = "F0602", Error, "the processes can get stuck";
    EvaluationFailed = "F0603", Error, "a statement can have no result";
    Unreached = "F0604", Note, "a statement is never executed";
}
