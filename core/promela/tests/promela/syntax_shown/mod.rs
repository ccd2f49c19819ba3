//! Trees as short texts, for tests to compare.

use fabius_promela::ast::*;

pub fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Constant(c) => constant(c),
        ExprKind::Var(v) => varref(v),
        ExprKind::Unary(op, a) => format!("({op:?} {})", expr(a)),
        ExprKind::Binary(op, a, b) => format!("({op:?} {} {})", expr(a), expr(b)),
        ExprKind::Conditional(a, b, c) => format!("(? {} {} {})", expr(a), expr(b), expr(c)),
        ExprKind::Run { process, arguments, priority } => {
            let priority = priority.as_ref().map_or(String::new(), |p| format!(" @{}", p.value));
            format!("(run {}{}{priority})", process.text, spaced(arguments, expr))
        }
        ExprKind::Len(v) => format!("(len {})", varref(v)),
        ExprKind::Full(v) => format!("(full {})", varref(v)),
        ExprKind::NFull(v) => format!("(nfull {})", varref(v)),
        ExprKind::Empty(v) => format!("(empty {})", varref(v)),
        ExprKind::NEmpty(v) => format!("(nempty {})", varref(v)),
        ExprKind::Enabled(a) => format!("(enabled {})", expr(a)),
        ExprKind::GetPriority(a) => format!("(get_priority {})", expr(a)),
        ExprKind::PcValue(a) => format!("(pc_value {})", expr(a)),
        ExprKind::Poll { channel, any, arguments } => {
            format!("(poll{} {}{})", if *any { "*" } else { "" }, varref(channel), spaced(arguments, receive_arg))
        }
        ExprKind::Timeout => "timeout".into(),
        ExprKind::NonProgress => "np_".into(),
        ExprKind::RemoteLabel { process, pid, label } => {
            format!("{}[{}]@{}", process.text, pid.as_ref().map_or(String::new(), |p| expr(p)), label.text)
        }
        ExprKind::RemoteVar { process, pid, variable } => {
            format!("{}[{}]:{}", process.text, pid.as_ref().map_or(String::new(), |p| expr(p)), varref(variable))
        }
        ExprKind::EmbeddedC(c) => format!("<{}>", c.text.trim()),
        ExprKind::Error => "ERROR".into(),
    }
}

fn spaced<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(|item| format!(" {}", show(item))).collect()
}

fn constant(c: &Constant) -> String {
    match &c.name {
        Some(name) => format!("{}#{}", name.text, c.value),
        None => c.value.to_string(),
    }
}

pub fn varref(v: &VarRef) -> String {
    let part = |p: &VarPart| match &p.index {
        Some(index) => format!("{}[{}]", p.name.text, expr(index)),
        None => p.name.text.to_string(),
    };
    v.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn receive_arg(a: &ReceiveArg) -> String {
    match a {
        ReceiveArg::Variable(v) => varref(v),
        ReceiveArg::Eval(e) => format!("(eval {})", expr(e)),
        ReceiveArg::Constant(c) => constant(c),
    }
}

pub fn sequence(s: &Sequence) -> String {
    s.steps.iter().map(step).collect::<Vec<_>>().join("; ")
}

fn options(word: &str, options: &[Sequence]) -> String {
    format!("{word}{}", options.iter().map(|o| format!(" [{}]", sequence(o))).collect::<String>())
}

pub fn step(s: &Step) -> String {
    let labels: String = s.labels.iter().map(|l| format!("{}: ", l.text)).collect();
    let shown = match &s.kind {
        StepKind::Declaration(d) => declaration(d),
        StepKind::Exclusive { send, channels } => {
            format!("{}{}", if *send { "xs" } else { "xr" }, spaced(channels, varref))
        }
        StepKind::Skip => "-".into(),
        StepKind::Expr(e) => expr(e),
        StepKind::Else => "else".into(),
        StepKind::Assign { target, value } => format!("{} := {}", varref(target), expr(value)),
        StepKind::Increment(v) => format!("{}++", varref(v)),
        StepKind::Decrement(v) => format!("{}--", varref(v)),
        StepKind::Assert(e) => format!("assert {}", expr(e)),
        StepKind::Printf { format, arguments } => format!("printf {:?}{}", format.text, spaced(arguments, expr)),
        StepKind::Printm(e) => format!("printm {}", expr(e)),
        StepKind::Send { channel, sorted, arguments } => {
            format!("{}!{}{}", varref(channel), if *sorted { "!" } else { "" }, spaced(arguments, expr))
        }
        StepKind::Receive { channel, any, keep, arguments } => {
            let sign = format!("?{}{}", if *any { "?" } else { "" }, if *keep { "<>" } else { "" });
            format!("{}{sign}{}", varref(channel), spaced(arguments, receive_arg))
        }
        StepKind::SetPriority { pid, priority } => format!("priority {} {}", expr(pid), expr(priority)),
        StepKind::Goto(label) => format!("goto {}", label.text),
        StepKind::Break => "break".into(),
        StepKind::If(o) => options("if", o),
        StepKind::Do(o) => options("do", o),
        StepKind::ForRange { variable, from, to, body } => {
            format!("for {} {} {} {{{}}}", varref(variable), expr(from), expr(to), sequence(body))
        }
        StepKind::ForIn { variable, container, body } => {
            format!("for {} in {} {{{}}}", varref(variable), varref(container), sequence(body))
        }
        StepKind::Select { variable, from, to } => {
            format!("select {} {} {}", varref(variable), expr(from), expr(to))
        }
        StepKind::Atomic(s) => format!("atomic {{{}}}", sequence(s)),
        StepKind::DStep(s) => format!("d_step {{{}}}", sequence(s)),
        StepKind::Block(s) => format!("{{{}}}", sequence(s)),
        StepKind::Unless { main, escape } => format!("<{} unless {}>", step(main), step(escape)),
        StepKind::Inlined { name, result, body, .. } => {
            let result = result.as_ref().map_or(String::new(), |r| format!("{} := ", varref(r)));
            format!("{result}{}(){{{}}}", name.text, sequence(body))
        }
        StepKind::Return(e) => format!("return {}", expr(e)),
        StepKind::EmbeddedC(c) => format!("<{:?} {}>", c.kind, c.text.trim()),
        StepKind::Error => "ERROR".into(),
    };
    labels + &shown
}

fn type_name(t: &TypeName) -> String {
    match t {
        TypeName::Mtype(None) => "mtype".into(),
        TypeName::Mtype(Some(set)) => format!("mtype:{}", set.text),
        TypeName::User(name) => name.text.to_string(),
        plain => format!("{plain:?}").to_lowercase(),
    }
}

pub fn declaration(d: &Declaration) -> String {
    let visibility = d.visibility.map_or(String::new(), |v| format!("{v:?} ").to_lowercase());
    let declarators: Vec<String> = d.declarators.iter().map(declarator).collect();
    format!("{visibility}{} {}", type_name(&d.ty), declarators.join(", "))
}

fn declarator(d: &Declarator) -> String {
    let width = d.width.as_ref().map_or(String::new(), |w| format!(":{}", w.value));
    let length = d.length.as_ref().map_or(String::new(), |l| format!("[{}]", expr(l)));
    let initial = match &d.initial {
        None => String::new(),
        Some(Initializer::Expr(e)) => format!("={}", expr(e)),
        Some(Initializer::List(list, _)) => format!("={{{}}}", spaced(list, constant).trim()),
        Some(Initializer::Channel { capacity, fields, .. }) => {
            format!("=chan {}{}", expr(capacity), spaced(fields, |(ty, _)| type_name(ty)))
        }
    };
    format!("{}{width}{length}{initial}", d.name.text)
}

pub fn unit(u: &Unit) -> String {
    let body = |b: &Sequence| format!("{{{}}}", sequence(b));
    match u {
        Unit::Proctype(p) => {
            let active = match &p.active {
                None => String::new(),
                Some(None) => "active ".into(),
                Some(Some(n)) => format!("active[{}] ", expr(n)),
            };
            let word = if p.deterministic { "D_proctype" } else { "proctype" };
            let parameters: Vec<String> = p.parameters.iter().map(declaration).collect();
            let priority = p.priority.as_ref().map_or(String::new(), |p| format!(" priority {}", p.value));
            let provided = p.provided.as_ref().map_or(String::new(), |p| format!(" provided {}", expr(p)));
            format!("{active}{word} {}({}){priority}{provided} {}", p.name.text, parameters.join("; "), body(&p.body))
        }
        Unit::Init(i) => {
            format!("init{} {}", i.priority.as_ref().map_or(String::new(), |p| p.value.to_string()), body(&i.body))
        }
        Unit::Never(c) => format!("never {} {}", c.name.as_ref().map_or("", |n| &n.text), body(&c.body)),
        Unit::Trace(t) => format!("{} {}", if t.negated { "notrace" } else { "trace" }, body(&t.body)),
        Unit::Ltl(l) => format!("ltl {} {}", l.name.as_ref().map_or("", |n| &n.text), expr(&l.formula)),
        Unit::Typedef(t) => {
            let fields: Vec<String> = t.fields.iter().map(declaration).collect();
            format!("typedef {} {{{}}}", t.name.text, fields.join("; "))
        }
        Unit::Mtype(m) => {
            let names: Vec<&str> = m.names.iter().map(|n| &*n.text).collect();
            format!("mtype:{} {}", m.set.as_ref().map_or("", |s| &s.text), names.join(" "))
        }
        Unit::Variables(d) => declaration(d),
        Unit::Inline(i) => format!("inline {}/{}", i.name.text, i.parameters.len()),
        Unit::EmbeddedC(c) => format!("<{:?} {}>", c.kind, c.text.trim()),
    }
}
