//! The syntax tree of a Promela model after preprocessing.
//!
//! The parser builds it without looking at what names mean, except for the names of types, of
//! proctypes and of inlines, which Promela's grammar cannot do without. Inline calls are already expanded: the call
//! stands as a [`StepKind::Inlined`] around the steps of the body, whose spans lead back through the call.

use fabius_base::Span;
use std::sync::Arc;

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The text.
    pub text: Arc<str>,
    /// Where.
    pub span: Span,
}

/// A whole model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Units in the order of the text.
    pub units: Vec<Unit>,
}

/// What may stand at the top level.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::large_enum_variant, reason = "a model has few units, and most of them are processes")]
pub enum Unit {
    Proctype(Proctype),
    Init(Init),
    Never(Claim),
    Trace(Trace),
    Ltl(Ltl),
    Typedef(Typedef),
    Mtype(MtypeDecl),
    Variables(Declaration),
    /// Where an `inline` was defined; its calls are expanded already.
    Inline(InlineDef),
    /// `c_code`, `c_decl`, `c_state`, `c_track` at the top level.
    EmbeddedC(EmbeddedC),
}

/// `active [n] proctype name (parameters) priority n provided (e) { body }`.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// `active`, with its number of instances (a constant expression; `None` inside means 1).
    pub active: Option<Option<Expr>>,
    /// `D_proctype`.
    pub deterministic: bool,
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub parameters: Vec<Declaration>,
    /// `priority n`.
    pub priority: Option<Constant>,
    /// `provided (e)`.
    pub provided: Option<Expr>,
    /// The body.
    pub body: Sequence,
    /// All of it.
    pub span: Span,
}

/// `init priority n { body }`.
#[derive(Clone, Debug)]
pub struct Init {
    /// `priority n`.
    pub priority: Option<Constant>,
    /// The body.
    pub body: Sequence,
    /// The word `init`.
    pub span: Span,
}

/// `never name { body }`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, if it has one.
    pub name: Option<Name>,
    /// The body.
    pub body: Sequence,
    /// The word `never`.
    pub span: Span,
}

/// `trace { body }` or `notrace { body }`.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`.
    pub negated: bool,
    /// The body.
    pub body: Sequence,
    /// The word.
    pub span: Span,
}

/// `ltl name { formula }`.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// Its name, if it has one.
    pub name: Option<Name>,
    /// The formula: an expression in which the temporal operators occur.
    pub formula: Expr,
    /// It is not written in the model, see [`fabius_language::OutsideFormula`].
    pub outside: bool,
    /// The word `ltl`.
    pub span: Span,
}

/// `typedef Name { fields }`.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<Declaration>,
}

/// `mtype = { a, b }` or `mtype:set = { a, b }`.
#[derive(Clone, Debug)]
pub struct MtypeDecl {
    /// The name after the colon.
    pub set: Option<Name>,
    /// Names in the order of the text.
    pub names: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// `inline name (parameters) { … }`.
#[derive(Clone, Debug)]
pub struct InlineDef {
    /// Its name.
    pub name: Name,
    /// Names of its parameters.
    pub parameters: Vec<Name>,
    /// From the first to the last brace of the body.
    pub body: Span,
}

/// The kinds of embedded C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum EmbeddedKind {
    Code,
    Expr,
    Decl,
    State,
    Track,
}

/// A piece of embedded C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddedC {
    /// Which kind.
    pub kind: EmbeddedKind,
    /// Text between the braces, or the strings.
    pub text: String,
    /// All of it.
    pub span: Span,
}

/// `hidden`, `show`, `local`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Visibility {
    Hidden,
    Show,
    Local,
}

/// The type of a declaration or of a message field.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TypeName {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned,
    Pid,
    Chan,
    /// `mtype` or `mtype:set`.
    Mtype(Option<Name>),
    /// A typedef.
    User(Name),
}

/// `visibility type declarators`.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// `hidden`, `show`, `local`.
    pub visibility: Option<Visibility>,
    /// The type.
    pub ty: TypeName,
    /// What is declared.
    pub declarators: Vec<Declarator>,
    /// All of it.
    pub span: Span,
}

/// One variable of a declaration.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name.
    pub name: Name,
    /// `: n` of an `unsigned`.
    pub width: Option<Constant>,
    /// `[n]`: a constant expression (possibly the name of an initialised scalar, as Spin allows).
    pub length: Option<Expr>,
    /// What comes after `=`.
    pub initial: Option<Initializer>,
}

/// What comes after the `=` of a declarator.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// An expression.
    Expr(Expr),
    /// `{ c, c, … }`.
    List(Vec<Constant>, Span),
    /// `[n] of { types }`.
    Channel {
        /// Capacity, a constant expression.
        capacity: Expr,
        /// Field types.
        fields: Vec<(TypeName, Span)>,
        /// All of it.
        span: Span,
    },
}

/// A constant as written: number, character, `true`, `false`, `skip`, or the name of an mtype constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// Its value.
    pub value: i32,
    /// The mtype name, if that is what was written.
    pub name: Option<Name>,
    /// The keyword, if that is what was written: `true`, `false` or `skip`.
    pub word: Option<&'static str>,
    /// Where.
    pub span: Span,
}

/// Steps between braces or after `::`.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// In the order of the text.
    pub steps: Vec<Step>,
    /// All of it.
    pub span: Span,
}

/// A step: labels and what they stand before.
#[derive(Clone, Debug)]
pub struct Step {
    /// Labels, outermost first.
    pub labels: Vec<Name>,
    /// The step itself.
    pub kind: StepKind,
    /// Where it stands, labels excluded.
    pub span: Span,
}

/// What a step is.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum StepKind {
    Declaration(Declaration),
    /// `xr` (exclusive read) or `xs` (exclusive send) with channels.
    Exclusive {
        send: bool,
        channels: Vec<VarRef>,
    },
    /// A label with nothing behind it stands before this.
    Skip,
    Expr(Expr),
    Else,
    Assign {
        target: VarRef,
        value: Expr,
    },
    Increment(VarRef),
    Decrement(VarRef),
    Assert(Expr),
    Printf {
        format: StringLit,
        arguments: Vec<Expr>,
    },
    Printm(Expr),
    Send {
        channel: VarRef,
        sorted: bool,
        arguments: Vec<Expr>,
    },
    Receive {
        channel: VarRef,
        any: bool,
        keep: bool,
        arguments: Vec<ReceiveArg>,
    },
    SetPriority {
        pid: Expr,
        priority: Expr,
    },
    Goto(Name),
    Break,
    If(Vec<Sequence>),
    Do(Vec<Sequence>),
    /// `for (x : from .. to) { body }`
    ForRange {
        variable: VarRef,
        from: Expr,
        to: Expr,
        body: Sequence,
    },
    /// `for (x in name) { body }`
    ForIn {
        variable: VarRef,
        container: VarRef,
        body: Sequence,
    },
    /// `select (x : from .. to)`
    Select {
        variable: VarRef,
        from: Expr,
        to: Expr,
    },
    Atomic(Sequence),
    DStep(Sequence),
    Block(Sequence),
    /// `main unless escape`; each side is one step (usually a `Block`).
    Unless {
        main: Box<Step>,
        escape: Box<Step>,
    },
    /// The expanded body of an inline call. `result` is the `x` of `x = call(…)`.
    Inlined {
        name: Name,
        /// Expressions at the place of the call; in the body they have replaced the parameters.
        arguments: Vec<Expr>,
        result: Option<VarRef>,
        body: Sequence,
    },
    /// `return e` inside an inline.
    Return(Expr),
    EmbeddedC(EmbeddedC),
    /// The parser could not read it; a finding says so.
    Error,
}

/// A string literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StringLit {
    /// Between the quotes, escapes as written.
    pub text: Arc<str>,
    /// Where.
    pub span: Span,
}

/// One argument of a receive.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ReceiveArg {
    /// A variable, `_`, or a name that turns out to be an mtype constant.
    Variable(VarRef),
    Eval(Expr),
    Constant(Constant),
}

/// `name[index].name[index]…`.
#[derive(Clone, Debug)]
pub struct VarRef {
    /// At least one.
    pub parts: Vec<VarPart>,
    /// All of it.
    pub span: Span,
}

/// One name of a [`VarRef`], with its index.
#[derive(Clone, Debug)]
pub struct VarPart {
    /// The name.
    pub name: Name,
    /// `[index]`.
    pub index: Option<Box<Expr>>,
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    /// Temporal and logical operators of formulas.
    Implies,
    Equiv,
    Until,
    WeakUntil,
    Release,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum UnOp {
    Not,
    Neg,
    BitNot,
    Next,
    Always,
    Eventually,
}

/// What an expression is.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ExprKind {
    Constant(Constant),
    /// A variable, a predefined one (`_pid`, `_nr_pr`, `_last`, `_priority`, `_`), or an mtype constant that was declared later.
    Var(VarRef),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `(a -> b : c)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Run {
        process: Name,
        arguments: Vec<Expr>,
        priority: Option<Constant>,
    },
    Len(VarRef),
    Full(VarRef),
    NFull(VarRef),
    Empty(VarRef),
    NEmpty(VarRef),
    Enabled(Box<Expr>),
    GetPriority(Box<Expr>),
    PcValue(Box<Expr>),
    /// `q?[args]`, `q??[args]`
    Poll {
        channel: VarRef,
        any: bool,
        arguments: Vec<ReceiveArg>,
    },
    Timeout,
    /// `np_`
    NonProgress,
    /// `P[pid]@label`, `P@label`
    RemoteLabel {
        process: Name,
        pid: Option<Box<Expr>>,
        label: Name,
    },
    /// `P[pid]:x`, `P:x`
    RemoteVar {
        process: Name,
        pid: Option<Box<Expr>>,
        variable: VarRef,
    },
    EmbeddedC(EmbeddedC),
    /// The parser could not read it; a finding says so.
    Error,
}
