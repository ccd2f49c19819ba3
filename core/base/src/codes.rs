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
    MacroRedefined = "F0109", Warning, "a macro is defined twice, differently";
    UserMessage = "F0110", Error, "the model stops the preprocessor with a message";
    NumberTooLarge = "F0111", Warning, "a number does not fit into 32 bits";
    NotExpanded = "F0112", Warning, "a macro is not replaced where it seems to be";
    BadSeal = "F0113", Warning, "a comment about sealing makes no sense";
    BadExpectation = "F0114", Warning, "a comment about an expected verdict makes no sense";
    BadProject = "F0115", Error, "the settings of a project cannot be read";
    UnexpectedToken = "F0201", Error, "something else was expected here";
    NestedTooDeep = "F0202", Error, "nesting is too deep";
    SpinRefuses = "F0203", Warning, "Spin refuses what is accepted here";
    BadInlineCall = "F0204", Error, "an inline is called wrongly";
    TooManyFindings = "F0205", Note, "there are more findings than are shown";
    UndeclaredName = "F0301", Error, "a name is not declared";
    Redeclared = "F0302", Error, "a name is declared twice";
    UnknownField = "F0303", Error, "a structure has no such field";
    WrongIndex = "F0304", Error, "an index is missing, or there is one too many";
    WrongName = "F0305", Error, "a name stands for something else";
    TypeMismatch = "F0306", Error, "types do not fit together";
    BadDeclaration = "F0307", Error, "something cannot be declared like this";
    WrongCount = "F0308", Error, "the number of arguments is wrong";
    PredefinedVariable = "F0309", Error, "a predefined variable is used in a way it does not allow";
    IncompleteStructure = "F0310", Error, "a structure is used where one of its fields is needed";
    UnknownProcess = "F0311", Error, "there is no such process type";
    NotConstant = "F0312", Error, "a constant is needed here";
    UnknownLabel = "F0401", Error, "there is no such label";
    BadJump = "F0402", Error, "a jump leads where it may not";
    MisplacedBreak = "F0403", Error, "a break stands outside of any loop";
    LabelMisplaced = "F0404", Error, "a label stands where it cannot";
    BadElse = "F0405", Error, "there is more than one else";
    DubiousElse = "F0406", Warning, "an else stands beside sends or receives";
    EmptySequence = "F0407", Error, "a sequence has no statement";
    NotInDStep = "F0408", Warning, "something has no meaning inside a d_step";
    NotAllowedHere = "F0409", Error, "something is not allowed at this place";
    NoProcess = "F0410", Error, "no process is created at the start";
    TooMany = "F0411", Error, "a limit is exceeded";
    EndlessStep = "F0412", Warning, "a step only leads back to itself";
    InvisibleLabel = "F0413", Warning, "a label is inside an atomic sequence and has no effect";
    CountsClaim = "F0414", Note, "Spin counts the claim among the processes";
    NotChecked = "F0501", Error, "embedded C needs a C compiler, the model was not checked";
    UnknownProperty = "F0502", Error, "no property has this name";
    Checkpoint = "F0503", Error, "a search cannot be kept or resumed";
    UnknownType = "F0504", Warning, "a scheduler names no process of the model";
    SealsMeet = "F0505", Warning, "sealed stretches of different kinds meet";
    ChoicesFree = "F0506", Note, "choices are free in searches for endless runs";
    WithoutEffect = "F0507", Note, "a setting has no effect on a search";
    AssertionViolated = "F0601", Error, "an assertion can fail";
    InvalidEndState = "F0602", Error, "the processes can get stuck";
    EvaluationFailed = "F0603", Error, "a statement can have no result";
    Unreached = "F0604", Note, "a statement is never executed";
    NonProgressCycle = "F0605", Error, "a run can go on for ever without progress";
    AcceptanceCycle = "F0606", Error, "a run can pass acceptance labels for ever";
    PropertyViolated = "F0607", Error, "a formula or a claim is violated";
    TraceViolated = "F0608", Error, "an event trace is violated";
    Starvation = "F0609", Note, "a process can wait for ever while others go on";
}
