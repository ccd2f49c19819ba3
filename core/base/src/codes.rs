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
    UnterminatedComment = "F0101", Error, "unterminated comment";
    UnterminatedLiteral = "F0102", Error, "unterminated string or character";
    BadDirective = "F0103", Error, "invalid preprocessor directive";
    IncludeNotFound = "F0104", Error, "included file not found";
    BadMacroCall = "F0105", Error, "invalid call of a macro";
    ExpansionTooLarge = "F0106", Error, "unbounded macro expansion";
    UnknownCharacter = "F0107", Error, "unknown character";
    FileUnreadable = "F0108", Error, "unreadable file";
    MacroRedefined = "F0109", Warning, "conflicting definitions of a macro";
    UserMessage = "F0110", Error, "message of the model to the preprocessor";
    NumberTooLarge = "F0111", Warning, "number too large for 32 bits";
    NotExpanded = "F0112", Warning, "macro not expanded";
    BadSeal = "F0113", Warning, "invalid `seal` annotation";
    BadExpectation = "F0114", Warning, "invalid `expect` annotation";
    BadProject = "F0115", Error, "invalid project settings";
    NoSuchModel = "F0116", Warning, "expected verdicts of a model that does not exist";
    BadSweep = "F0117", Warning, "invalid `sweep` annotation";
    BadLossy = "F0118", Error, "invalid `lossy` annotation";
    UnexpectedToken = "F0201", Error, "unexpected token";
    NestedTooDeep = "F0202", Error, "nesting too deep";
    SpinRefuses = "F0203", Warning, "not accepted by Spin";
    BadInlineCall = "F0204", Error, "invalid call of an inline";
    TooManyFindings = "F0205", Note, "too many findings to show all";
    UndeclaredName = "F0301", Error, "undeclared name";
    Redeclared = "F0302", Error, "duplicate declaration";
    UnknownField = "F0303", Error, "unknown field of a structure";
    WrongIndex = "F0304", Error, "missing or superfluous index";
    WrongName = "F0305", Error, "unexpected kind of name";
    TypeMismatch = "F0306", Error, "type mismatch";
    BadDeclaration = "F0307", Error, "invalid declaration";
    WrongCount = "F0308", Error, "wrong number of arguments";
    PredefinedVariable = "F0309", Error, "invalid use of a predefined variable";
    IncompleteStructure = "F0310", Error, "structure used as a value";
    UnknownProcess = "F0311", Error, "unknown process type";
    NotConstant = "F0312", Error, "expected a constant";
    UnknownLabel = "F0401", Error, "unknown label";
    BadJump = "F0402", Error, "invalid jump";
    MisplacedBreak = "F0403", Error, "`break` outside a loop";
    LabelMisplaced = "F0404", Error, "misplaced label";
    BadElse = "F0405", Error, "more than one `else`";
    DubiousElse = "F0406", Warning, "`else` beside a send, a receive or a test of a channel";
    EmptySequence = "F0407", Error, "empty sequence";
    NotInDStep = "F0408", Warning, "no effect inside a `d_step`";
    NotAllowedHere = "F0409", Error, "not allowed here";
    NoProcess = "F0410", Error, "no initial process";
    TooMany = "F0411", Error, "limit exceeded";
    EndlessStep = "F0412", Warning, "step that only leads back to itself";
    InvisibleLabel = "F0413", Warning, "label without effect inside an atomic sequence";
    CountsClaim = "F0414", Note, "`_nr_pr` differs from Spin's";
    NotChecked = "F0501", Error, "embedded C, model not checked";
    UnknownProperty = "F0502", Error, "unknown property";
    Checkpoint = "F0503", Error, "unusable checkpoint";
    UnknownType = "F0504", Warning, "unknown process type in a scheduler";
    SealsMeet = "F0505", Warning, "conflicting seals";
    ChoicesFree = "F0506", Note, "branches without cost in a search for infinite runs";
    WithoutEffect = "F0507", Note, "setting without effect";
    Contradiction = "F0508", Error, "contradictory search settings";
    RangeCut = "F0509", Note, "range of values cut";
    MessagesLost = "F0510", Note, "messages to full channels lost";
    AssertionViolated = "F0601", Error, "assertion can fail";
    InvalidEndState = "F0602", Error, "deadlock";
    EvaluationFailed = "F0603", Error, "runtime error";
    Unreached = "F0604", Note, "statement never executed";
    NonProgressCycle = "F0605", Error, "non-progress cycle";
    AcceptanceCycle = "F0606", Error, "acceptance cycle";
    PropertyViolated = "F0607", Error, "formula or claim violated";
    TraceViolated = "F0608", Error, "event trace violated";
    Starvation = "F0609", Note, "possible starvation";
    Growth = "F0610", Note, "value that only grows";
    Vacuous = "F0611", Note, "vacuous property";
    Unnoticed = "F0612", Note, "change that no property notices";
}
