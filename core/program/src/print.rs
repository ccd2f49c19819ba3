//! A program as text, for people and for tests: every location with its edges, every expression with
//! the names of its variables.
//!
//! ```text
//! process P
//!   8 (entry)
//!     [0] x < 3 -> 2
//!     [6] else -> 8
//! ```

use crate::{
    Action, BinaryOp, Block, BlockExit, ChannelTest, Edge, Expr, Formula, Initial, Kind, Location, Pattern, Place,
    PrintPiece, Process, ProcessKind, Program, PropertyKind, Receive, Send, Slot, Type, UnaryOp, Variable,
};
use std::fmt::{self, Display, Write};

/// A program as text.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = Printer { program }.program(&mut out);
    out
}

/// An expression of a process (or of none) as text.
pub fn print_expr(program: &Program, process: Option<&Process>, expr: &Expr) -> String {
    Shown { program, process, what: expr }.to_string()
}

/// An action of a process as text, on one line.
pub fn print_action(program: &Program, process: &Process, action: &Action) -> String {
    Shown { program, process: Some(process), what: action }.to_string()
}

struct Printer<'a> {
    program: &'a Program,
}

impl Printer<'_> {
    fn program(&self, out: &mut String) -> fmt::Result {
        let program = self.program;
        writeln!(out, "program {}", program.name)?;
        for variable in &program.globals {
            writeln!(out, "  {}", self.variable(variable, None))?;
        }
        for (index, channel) in program.channel_types.iter().enumerate() {
            let fields: Vec<String> = channel.fields.iter().map(|ty| self.ty(*ty)).collect();
            writeln!(out, "  channel {index} = [{}] of {{{}}}", channel.capacity, fields.join(", "))?;
        }
        for enumeration in &program.enumerations {
            let constants: Vec<String> = enumeration.constants.iter().map(|(v, n)| format!("{n} = {v}")).collect();
            writeln!(out, "  enumeration {:?} {{{}}}", enumeration.name, constants.join(", "))?;
        }
        for instance in &program.initial {
            let name = &program.process(instance.process).name;
            let priority =
                if instance.priority == 1 { String::new() } else { format!(" priority {}", instance.priority) };
            writeln!(out, "  starts {name}{priority}")?;
        }
        for process in &program.processes {
            self.process(out, process)?;
        }
        for property in &program.properties {
            writeln!(out, "property {}: {}", property.name, self.property(&property.kind))?;
        }
        Ok(())
    }

    fn process(&self, out: &mut String, process: &Process) -> fmt::Result {
        let kind = match process.kind {
            ProcessKind::Process => "process",
            ProcessKind::Claim => "claim",
            ProcessKind::Trace => "trace",
            ProcessKind::NoTrace => "notrace",
        };
        writeln!(out, "{kind} {}", process.name)?;
        for (index, variable) in process.locals.iter().enumerate() {
            let parameter = if index < process.parameter_count as usize { "parameter " } else { "" };
            writeln!(out, "  {parameter}{}", self.variable(variable, Some(process)))?;
        }
        if let Some(provided) = &process.provided {
            writeln!(out, "  provided {}", print_expr(self.program, Some(process), provided))?;
        }
        for (index, location) in process.locations.iter().enumerate() {
            self.location(out, process, location, index == process.entry.0 as usize)?;
        }
        Ok(())
    }

    fn location(&self, out: &mut String, process: &Process, location: &Location, entry: bool) -> fmt::Result {
        let marks =
            [(entry, "entry"), (location.end, "end"), (location.progress, "progress"), (location.accept, "accept")];
        let mut words: Vec<&str> = marks.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
        words.extend(location.labels.iter().map(String::as_str));
        write!(out, "  {}", location.number)?;
        if !words.is_empty() {
            write!(out, " ({})", words.join(", "))?;
        }
        out.push('\n');
        for (_, edge) in self.program.edges_of(location) {
            self.edge(out, process, edge)?;
        }
        Ok(())
    }

    fn edge(&self, out: &mut String, process: &Process, edge: &Edge) -> fmt::Result {
        let statement = &process.statements[edge.statement.0 as usize];
        let action = print_action(self.program, process, &statement.action);
        let target = process.locations[edge.target.0 as usize].number;
        write!(out, "    [{}] {action} -> {target}", statement.number)?;
        if edge.atomic {
            out.push_str(", atomic");
        }
        if edge.escape > 0 {
            write!(out, ", escape {}", edge.escape)?;
        }
        out.push('\n');
        Ok(())
    }

    fn ty(&self, ty: Type) -> String {
        let sign = if ty.signed { "i" } else { "u" };
        let kind = match ty.kind {
            Kind::Number => "",
            Kind::Boolean => " bool",
            Kind::Enum(_) => " enum",
            Kind::Channel => " chan",
            Kind::Process => " pid",
        };
        format!("{sign}{}{kind}", ty.bits)
    }

    fn variable(&self, variable: &Variable, process: Option<&Process>) -> String {
        let lengths: String = variable.dimensions.iter().map(|d| format!("[{d}]")).collect();
        let value = |e: &Expr| print_expr(self.program, process, e);
        let initial = match &variable.initial {
            Initial::Zero => String::new(),
            Initial::Value(e) => format!(" = {}", value(e)),
            Initial::List(list) => format!(" = {{{}}}", list.iter().map(value).collect::<Vec<_>>().join(", ")),
            Initial::Channel(id) => format!(" = channel {}", id.0),
        };
        let hidden = if variable.hidden { "hidden " } else { "" };
        format!("{hidden}{}: {}{lengths}{initial}", variable.name, self.ty(variable.ty))
    }

    fn property(&self, kind: &PropertyKind) -> String {
        match kind {
            PropertyKind::Safety => "safety".into(),
            PropertyKind::Progress => "progress".into(),
            PropertyKind::Acceptance => "acceptance".into(),
            PropertyKind::Never(id) | PropertyKind::Trace(id) => format!("follows {}", self.program.process(*id).name),
            PropertyKind::Ltl(formula) => self.formula(formula),
        }
    }

    fn formula(&self, formula: &Formula) -> String {
        let two = |a: &Formula, op: &str, b: &Formula| format!("({} {op} {})", self.formula(a), self.formula(b));
        match formula {
            Formula::Proposition(e) => print_expr(self.program, None, e),
            Formula::Not(a) => format!("!{}", self.formula(a)),
            Formula::Next(a) => format!("X {}", self.formula(a)),
            Formula::Always(a) => format!("[] {}", self.formula(a)),
            Formula::Eventually(a) => format!("<> {}", self.formula(a)),
            Formula::And(a, b) => two(a, "&&", b),
            Formula::Or(a, b) => two(a, "||", b),
            Formula::Implies(a, b) => two(a, "->", b),
            Formula::Equivalent(a, b) => two(a, "<->", b),
            Formula::Until(a, b) => two(a, "U", b),
            Formula::WeakUntil(a, b) => two(a, "W", b),
            Formula::Release(a, b) => two(a, "V", b),
        }
    }
}

/// Something that can be shown with the names of its variables.
struct Shown<'a, T> {
    program: &'a Program,
    process: Option<&'a Process>,
    what: &'a T,
}

impl<'a, T> Shown<'a, T> {
    fn of<U>(&self, what: &'a U) -> Shown<'a, U> {
        Shown { program: self.program, process: self.process, what }
    }

    fn list<U>(&self, items: &'a [U]) -> String
    where
        Shown<'a, U>: Display,
    {
        items.iter().map(|item| self.of(item).to_string()).collect::<Vec<_>>().join(", ")
    }
}

impl Display for Shown<'_, Place> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = match self.what.slot {
            Slot::Global(id) => self.program.globals.get(id.0 as usize),
            Slot::Local(id) => self.process.and_then(|p| p.locals.get(id.0 as usize)),
        };
        f.write_str(variable.map_or("?", |v| v.name.as_str()))?;
        self.what.indices.iter().try_for_each(|index| write!(f, "[{}]", self.of(index)))
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

impl Display for Shown<'_, Expr> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Expr::Constant(value) => write!(f, "{value}"),
            Expr::Load(place) => self.of(place).fmt(f),
            Expr::Unary(op, a) => {
                let op = match op {
                    UnaryOp::Not => '!',
                    UnaryOp::Negate => '-',
                    UnaryOp::Complement => '~',
                };
                write!(f, "{op}{}", self.of(&**a))
            }
            Expr::Binary(op, a, b) => write!(f, "({} {} {})", self.of(&**a), symbol(*op), self.of(&**b)),
            Expr::Conditional(a, b, c) => {
                write!(f, "({} -> {} : {})", self.of(&**a), self.of(&**b), self.of(&**c))
            }
            Expr::Length(a) => write!(f, "len({})", self.of(&**a)),
            Expr::Test(test, a) => {
                let word = match test {
                    ChannelTest::Full => "full",
                    ChannelTest::NotFull => "nfull",
                    ChannelTest::Empty => "empty",
                    ChannelTest::NotEmpty => "nempty",
                };
                write!(f, "{word}({})", self.of(&**a))
            }
            Expr::Poll { channel, any, fields } => {
                let op = if *any { "??" } else { "?" };
                write!(f, "{}{op}[{}]", self.of(&**channel), self.list(fields))
            }
            Expr::Run { process, arguments, priority } => {
                let name = self.program.processes.get(process.0 as usize).map_or("?", |p| p.name.as_str());
                write!(f, "run {name}({})", self.list(arguments))?;
                if *priority == 1 { Ok(()) } else { write!(f, " priority {priority}") }
            }
            Expr::Pid => f.write_str("_pid"),
            Expr::ProcessCount => f.write_str("_nr_pr"),
            Expr::Last => f.write_str("_last"),
            Expr::Timeout => f.write_str("timeout"),
            Expr::NonProgress => f.write_str("np_"),
            Expr::Enabled(a) => write!(f, "enabled({})", self.of(&**a)),
            Expr::LocationOf(a) => write!(f, "pc_value({})", self.of(&**a)),
            Expr::PriorityOf(a) => write!(f, "get_priority({})", self.of(&**a)),
            Expr::At { process, pid, location } => {
                let there = self.program.processes.get(process.0 as usize);
                let number = there.and_then(|p| p.locations.get(location.0 as usize)).map_or(0, |l| l.number);
                self.remote(f, there, pid.as_deref())?;
                write!(f, "@{number}")
            }
            Expr::Remote { process, pid, variable, indices } => {
                let there = self.program.processes.get(process.0 as usize);
                let name = there.and_then(|p| p.locals.get(variable.0 as usize)).map_or("?", |v| v.name.as_str());
                self.remote(f, there, pid.as_deref())?;
                write!(f, ":{name}")?;
                indices.iter().try_for_each(|index| write!(f, "[{}]", self.of(index)))
            }
        }
    }
}

impl<'a> Shown<'a, Expr> {
    fn remote(&self, f: &mut fmt::Formatter<'_>, process: Option<&Process>, pid: Option<&'a Expr>) -> fmt::Result {
        f.write_str(process.map_or("?", |p| p.name.as_str()))?;
        pid.map_or(Ok(()), |pid| write!(f, "[{}]", self.of(pid)))
    }
}

impl Display for Shown<'_, Pattern> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Pattern::Store(place) => self.of(place).fmt(f),
            Pattern::Match(Expr::Constant(value)) => write!(f, "{value}"),
            Pattern::Match(e) => write!(f, "eval({})", self.of(e)),
            Pattern::Ignore => f.write_str("_"),
        }
    }
}

impl Display for Shown<'_, Action> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Action::Skip => f.write_str("skip"),
            Action::Else => f.write_str("else"),
            Action::Guard(e) => self.of(e).fmt(f),
            Action::Assign(place, e) => write!(f, "{} = {}", self.of(place), self.of(e)),
            Action::Send(Send { channel, sorted, fields }) => {
                write!(f, "{}{}{}", self.of(channel), if *sorted { "!!" } else { "!" }, self.list(fields))
            }
            Action::Receive(Receive { channel, any, keep, fields }) => {
                let op = if *any { "??" } else { "?" };
                let (open, close) = if *keep { ("<", ">") } else { ("", "") };
                write!(f, "{}{op}{open}{}{close}", self.of(channel), self.list(fields))
            }
            Action::Assert(e) => write!(f, "assert({})", self.of(e)),
            Action::Print(pieces) => write!(f, "print({})", self.list(pieces)),
            Action::SetPriority(a, b) => write!(f, "set_priority({}, {})", self.of(a), self.of(b)),
            Action::End => f.write_str("end"),
            Action::Merged(actions) => {
                let actions: Vec<String> = actions.iter().map(|a| self.of(a).to_string()).collect();
                f.write_str(&actions.join("; "))
            }
            Action::Block(block) => self.of(block).fmt(f),
        }
    }
}

impl Display for Shown<'_, PrintPiece> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            PrintPiece::Text(text) => write!(f, "{text:?}"),
            PrintPiece::Decimal(e) => self.of(e).fmt(f),
            PrintPiece::Unsigned(e) => write!(f, "unsigned {}", self.of(e)),
            PrintPiece::Hex(e) => write!(f, "hex {}", self.of(e)),
            PrintPiece::Octal(e) => write!(f, "octal {}", self.of(e)),
            PrintPiece::Character(e) => write!(f, "char {}", self.of(e)),
            PrintPiece::Name(e, _) => write!(f, "name {}", self.of(e)),
        }
    }
}

impl Display for Shown<'_, Block> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, node) in self.what.nodes.iter().enumerate() {
            write!(f, "{}{index}:", if index == 0 { " " } else { " | " })?;
            for (number, option) in node.options.iter().enumerate() {
                let or = if number == 0 { " " } else { " or " };
                write!(f, "{or}{}", self.of(&option.action))?;
                match option.next {
                    BlockExit::Node(next) => write!(f, " -> {next}")?,
                    BlockExit::Leave => f.write_str(" -> out")?,
                }
            }
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instance, LocationId, ProcessId, Statement, StatementId, VariableId};
    use fabius_base::Span;

    #[test]
    fn a_small_program_reads_well() {
        let x = || Place { slot: Slot::Global(VariableId(0)), indices: Vec::new() };
        let guard = Expr::binary(BinaryOp::Less, Expr::Load(x()), Expr::Constant(3));
        let span = Span::default();
        let program = Program {
            name: "small".into(),
            globals: vec![Variable {
                name: "x".into(),
                ty: Type::unsigned(8, Kind::Number),
                dimensions: Vec::new(),
                initial: Initial::Zero,
                hidden: false,
                span,
            }],
            processes: vec![Process {
                name: "P".into(),
                kind: ProcessKind::Process,
                parameter_count: 0,
                locals: Vec::new(),
                locations: vec![Location {
                    number: 8,
                    edges: 0..1,
                    end: true,
                    progress: false,
                    accept: false,
                    labels: vec!["endless".into()],
                    span,
                }],
                entry: LocationId(0),
                statements: vec![Statement { number: 4, action: Action::Guard(guard), text: String::new(), span }],
                provided: None,
                deterministic: false,
                span,
            }],
            edges: vec![Edge {
                process: ProcessId(0),
                source: LocationId(0),
                statement: StatementId(0),
                target: LocationId(0),
                atomic: true,
                escape: 0,
            }],
            initial: vec![Instance { process: ProcessId(0), priority: 1 }],
            ..Program::default()
        };
        let expected =
            "program small\n  x: u8\n  starts P\nprocess P\n  8 (entry, end, endless)\n    [4] (x < 3) -> 8, atomic\n";
        assert_eq!(print(&program), expected);
    }
}
