//! Steps and expressions as a person would write them, on one line.

use crate::ast::{BinOp, Constant, Expr, ExprKind, ReceiveArg, Sequence, Step, StepKind, UnOp, VarRef};
use std::fmt::Write;

/// This many steps of a `d_step` are told in its text.
const BLOCK_STEPS_TOLD: usize = 3;

/// Binding strength of an operator; higher binds tighter.
fn strength(op: BinOp) -> u8 {
    use BinOp::{
        Add, And, BitAnd, BitOr, BitXor, Div, Eq, Equiv, Ge, Gt, Implies, Le, Lt, Mul, Ne, Or, Release, Rem, Shl, Shr,
        Sub, Until, WeakUntil,
    };
    match op {
        Implies | Equiv => 1,
        Or => 2,
        And => 3,
        Until | WeakUntil | Release => 4,
        BitOr => 5,
        BitXor => 6,
        BitAnd => 7,
        Eq | Ne => 8,
        Lt | Le | Gt | Ge => 9,
        Shl | Shr => 10,
        Add | Sub => 11,
        Mul | Div | Rem => 12,
    }
}

/// An operator as it is written.
pub(crate) fn operator(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::And => "&&",
        BinOp::Or => "||",
        BinOp::Implies => "->",
        BinOp::Equiv => "<->",
        BinOp::Until => "U",
        BinOp::WeakUntil => "W",
        BinOp::Release => "V",
    }
}

pub(crate) fn expr(e: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, e, 0);
    out
}

fn list(items: &[Expr]) -> String {
    items.iter().map(expr).collect::<Vec<_>>().join(", ")
}

pub(crate) fn constant(c: &Constant) -> String {
    match (&c.name, c.word) {
        (Some(name), _) => name.text.to_string(),
        (None, Some(word)) => word.to_owned(),
        (None, None) => c.value.to_string(),
    }
}

pub(crate) fn variable(v: &VarRef) -> String {
    let part = |p: &crate::ast::VarPart| match &p.index {
        Some(index) => format!("{}[{}]", p.name.text, expr(index)),
        None => p.name.text.to_string(),
    };
    v.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn received(items: &[ReceiveArg]) -> String {
    let one = |item: &ReceiveArg| match item {
        ReceiveArg::Variable(v) => variable(v),
        ReceiveArg::Eval(e) => format!("eval({})", expr(e)),
        ReceiveArg::Constant(c) => constant(c),
    };
    items.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn write_expr(out: &mut String, e: &Expr, around: u8) {
    let text = match &e.kind {
        ExprKind::Binary(op, a, b) => {
            let own = strength(*op);
            if own < around {
                out.push('(');
            }
            write_expr(out, a, own);
            let _ = write!(out, " {} ", operator(*op));
            write_expr(out, b, own + 1);
            if own < around {
                out.push(')');
            }
            return;
        }
        ExprKind::Unary(op, a) => {
            out.push_str(match op {
                UnOp::Not => "!",
                UnOp::Neg => "-",
                UnOp::BitNot => "~",
                UnOp::Next => "X ",
                UnOp::Always => "[] ",
                UnOp::Eventually => "<> ",
            });
            return write_expr(out, a, 13);
        }
        other => simple(other),
    };
    out.push_str(&text);
}

fn simple(kind: &ExprKind) -> String {
    match kind {
        ExprKind::Constant(c) => constant(c),
        ExprKind::Var(v) => variable(v),
        ExprKind::Conditional(a, b, c) => format!("({} -> {} : {})", expr(a), expr(b), expr(c)),
        ExprKind::Run { process, arguments, .. } => format!("run {}({})", process.text, list(arguments)),
        ExprKind::Len(v) => format!("len({})", variable(v)),
        ExprKind::Full(v) => format!("full({})", variable(v)),
        ExprKind::NFull(v) => format!("nfull({})", variable(v)),
        ExprKind::Empty(v) => format!("empty({})", variable(v)),
        ExprKind::NEmpty(v) => format!("nempty({})", variable(v)),
        ExprKind::Enabled(e) => format!("enabled({})", expr(e)),
        ExprKind::GetPriority(e) => format!("get_priority({})", expr(e)),
        ExprKind::PcValue(e) => format!("pc_value({})", expr(e)),
        ExprKind::Poll { channel, any, arguments } => {
            format!("{}{}[{}]", variable(channel), if *any { "??" } else { "?" }, received(arguments))
        }
        ExprKind::Timeout => "timeout".into(),
        ExprKind::NonProgress => "np_".into(),
        ExprKind::RemoteLabel { process, pid, label } => format!("{}{}@{}", process.text, of(pid), label.text),
        ExprKind::RemoteVar { process, pid, variable: v } => format!("{}{}:{}", process.text, of(pid), variable(v)),
        ExprKind::EmbeddedC(c) => format!("c_expr {{{}}}", c.text.trim()),
        ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Error => String::new(),
    }
}

fn of(pid: &Option<Box<Expr>>) -> String {
    pid.as_ref().map_or_else(String::new, |e| format!("[{}]", expr(e)))
}

/// A sequence that is one step: its first steps.
fn block(word: &str, steps: &Sequence) -> String {
    let told = |step: &&Step| !matches!(step.kind, StepKind::Declaration(_));
    let first: Vec<String> =
        steps.steps.iter().filter(told).take(BLOCK_STEPS_TOLD + 1).map(|s| self::step(&s.kind)).collect();
    let more = if first.len() > BLOCK_STEPS_TOLD { "; …" } else { "" };
    format!("{word} {{ {}{more} }}", first[..first.len().min(BLOCK_STEPS_TOLD)].join("; "))
}

/// The text of a step that is not compound.
pub(crate) fn step(kind: &StepKind) -> String {
    match kind {
        StepKind::Expr(e) => expr(e),
        StepKind::Else => "else".into(),
        StepKind::Assign { target, value } => format!("{} = {}", variable(target), expr(value)),
        StepKind::Increment(v) => format!("{}++", variable(v)),
        StepKind::Decrement(v) => format!("{}--", variable(v)),
        StepKind::Assert(e) => format!("assert({})", expr(e)),
        StepKind::Printf { format, arguments } => {
            let comma = if arguments.is_empty() { "" } else { ", " };
            format!("printf(\"{}\"{comma}{})", format.text, list(arguments))
        }
        StepKind::Printm(e) => format!("printm({})", expr(e)),
        StepKind::Send { channel, sorted, arguments } => {
            format!("{}{}{}", variable(channel), if *sorted { "!!" } else { "!" }, list(arguments))
        }
        StepKind::Receive { channel, any, keep, arguments } => {
            let op = if *any { "??" } else { "?" };
            let (open, close) = if *keep { ("<", ">") } else { ("", "") };
            format!("{}{op}{open}{}{close}", variable(channel), received(arguments))
        }
        StepKind::SetPriority { pid, priority } => format!("set_priority({}, {})", expr(pid), expr(priority)),
        StepKind::Goto(name) => format!("goto {}", name.text),
        StepKind::Break => "break".into(),
        StepKind::Return(e) => format!("return {}", expr(e)),
        StepKind::If(_) => "if".into(),
        StepKind::Do(_) => "do".into(),
        StepKind::ForRange { variable: v, from, to, .. } => {
            format!("for ({} : {} .. {})", variable(v), expr(from), expr(to))
        }
        StepKind::ForIn { variable: v, container, .. } => format!("for ({} in {})", variable(v), variable(container)),
        StepKind::Select { variable: v, from, to } => {
            format!("select ({} : {} .. {})", variable(v), expr(from), expr(to))
        }
        StepKind::Atomic(_) => "atomic".into(),
        StepKind::DStep(steps) => block("d_step", steps),
        StepKind::Inlined { name, .. } => format!("{}(…)", name.text),
        StepKind::EmbeddedC(c) => format!("c_code {{{}}}", c.text.trim()),
        StepKind::Skip => "skip".into(),
        StepKind::Block(_) => "{ … }".into(),
        StepKind::Unless { .. } => "unless".into(),
        StepKind::Declaration(_) | StepKind::Exclusive { .. } | StepKind::Error => String::new(),
    }
}
