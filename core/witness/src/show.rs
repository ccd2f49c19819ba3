//! Names, values and expressions as a person reads them.

use fabius_program::{
    Action, BinaryOp, ChannelTest, EnumId, Expr, Initial, Kind, Pattern, Place, ProcessId, Program, Slot, Statement,
    UnaryOp, Variable, with_indices,
};

use crate::state::{ChannelState, State};

/// How processes, variables, channels and values of one state are written.
///
/// A process is `P[1]`, its variable `P[1]:x`, as in Promela's remote references. A name is worked out when it is asked
/// for: a step needs very few of them.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    program: &'a Program,
    state: &'a State,
}

impl<'a> Names<'a> {
    /// The names in a state.
    pub fn of(program: &'a Program, state: &'a State) -> Self {
        Self { program, state }
    }

    /// A process, such as `P[1]`.
    pub fn process(&self, pid: u8) -> String {
        match self.state.processes.get(usize::from(pid)) {
            Some(process) => process_name(&self.program.process(process.process).name, usize::from(pid)),
            None => format!("process {pid}"),
        }
    }

    /// A channel by its identity, such as `q` or `P[1]:q[2]`.
    pub fn channel(&self, identity: i32) -> String {
        let index = usize::try_from(identity).ok().and_then(|id| id.checked_sub(1));
        match index.and_then(|index| self.created_channel(index)) {
            Some(name) => name,
            None if identity == 0 => "no channel".to_owned(),
            None => format!("dead channel {identity}"),
        }
    }

    /// The name of the variable that created a channel, by the order of creation: the globals' first, then those of
    /// each process.
    fn created_channel(&self, mut index: usize) -> Option<String> {
        if let Some(name) = nth_channel(&self.program.globals, &mut index) {
            return Some(name);
        }
        self.state.processes.iter().enumerate().find_map(|(pid, process)| {
            let data = self.program.process(process.process);
            let name = nth_channel(&data.locals[data.parameter_count as usize..], &mut index)?;
            Some(format!("{}:{name}", process_name(&data.name, pid)))
        })
    }

    /// A value of some kind.
    pub fn value(&self, kind: Kind, value: i32) -> String {
        match kind {
            Kind::Boolean if value == 0 => "false".to_owned(),
            Kind::Boolean if value == 1 => "true".to_owned(),
            Kind::Enum(id) => enum_name(self.program, Some(id), value),
            Kind::Channel => self.channel(value),
            Kind::Number | Kind::Process | Kind::Boolean => value.to_string(),
        }
    }

    /// The fields of a message on a channel, such as `2, ack`.
    pub fn fields(&self, channel: &ChannelState, message: &[i32]) -> String {
        let types = &self.program.channel_types[channel.channel_type.0 as usize].fields;
        let shown: Vec<_> = types.iter().zip(message).map(|(ty, value)| self.value(ty.kind, *value)).collect();
        shown.join(", ")
    }

    /// The contents of a channel, oldest first, such as `[2, ack][3, nack]`.
    pub fn contents(&self, channel: &ChannelState) -> String {
        if channel.messages.is_empty() {
            return "empty".to_owned();
        }
        channel.messages.iter().map(|message| format!("[{}]", self.fields(channel, message))).collect()
    }
}

/// A process of a type, such as `P[1]`; `init` is alone and needs no number.
pub fn process_name(name: &str, pid: usize) -> String {
    match name {
        "init" | ":init:" => "init".to_owned(),
        _ => format!("{name}[{pid}]"),
    }
}

/// A statement as a person would write it; steps that nobody writes get a name.
pub fn statement_text(statement: &Statement) -> &str {
    match (&statement.action, statement.text.trim()) {
        (Action::End, "") => "(end)",
        (_, "") => "(continue)",
        (_, text) => text,
    }
}

/// The name of a symbolic constant; its number if it has none.
pub(crate) fn enum_name(program: &Program, enumeration: Option<EnumId>, value: i32) -> String {
    let name = match enumeration {
        Some(id) => program.enumerations.get(id.0 as usize).and_then(|e| e.name_of(value)),
        None => program.enumerations.iter().find_map(|e| e.name_of(value)),
    };
    name.map_or_else(|| value.to_string(), str::to_owned)
}

/// The channel with an index among those that variables create; if there are not so many, the index is less by
/// their number.
fn nth_channel(variables: &[Variable], index: &mut usize) -> Option<String> {
    for variable in variables.iter().filter(|variable| matches!(variable.initial, Initial::Channel(_))) {
        let elements = variable.element_count() as usize;
        if *index < elements {
            return Some(variable.element_name(*index));
        }
        *index -= elements;
    }
    None
}

/// Writes expressions of one process type in Promela's notation.
pub(crate) struct Writer<'a> {
    program: &'a Program,
    process: ProcessId,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(program: &'a Program, process: ProcessId) -> Self {
        Self { program, process }
    }

    /// An expression, with parentheses only where they are needed.
    pub(crate) fn expr(&self, expr: &Expr) -> String {
        self.within(expr, 0)
    }

    /// A place, its indices as expressions.
    pub(crate) fn place(&self, place: &Place) -> String {
        let indices: Vec<_> = place.indices.iter().map(|index| self.expr(index)).collect();
        with_indices(&self.variable(place.slot).name, &indices)
    }

    /// A place whose indices are known.
    pub(crate) fn element(&self, place: &Place, element: usize) -> String {
        self.variable(place.slot).element_name(element)
    }

    /// The fields of a receive from a channel, or of a poll.
    pub(crate) fn patterns(&self, channel: &Expr, fields: &[Pattern]) -> String {
        let kinds = self.field_kinds(channel);
        let shown = fields.iter().enumerate().map(|(index, field)| match field {
            Pattern::Store(place) => self.place(place),
            Pattern::Match(Expr::Constant(value)) => {
                self.constant(kinds.get(index).copied().unwrap_or_default(), *value)
            }
            Pattern::Match(expr) => format!("eval({})", self.expr(expr)),
            Pattern::Ignore => "_".to_owned(),
        });
        shown.collect::<Vec<_>>().join(",")
    }

    /// What the fields of a channel stand for, if the text says which channel type it is.
    fn field_kinds(&self, channel: &Expr) -> Vec<Kind> {
        let Expr::Load(place) = channel else { return Vec::new() };
        let Initial::Channel(id) = self.variable(place.slot).initial else { return Vec::new() };
        self.program.channel_types[id.0 as usize].fields.iter().map(|ty| ty.kind).collect()
    }

    /// A constant that stands where a value of some kind is wanted.
    fn constant(&self, kind: Kind, value: i32) -> String {
        match (kind, value) {
            (Kind::Enum(id), _) => enum_name(self.program, Some(id), value),
            (Kind::Boolean, 0..=1) => (value == 1).to_string(),
            _ => value.to_string(),
        }
    }

    /// What an expression's value stands for.
    pub(crate) fn kind(&self, expr: &Expr) -> Kind {
        match expr {
            Expr::Load(place) => self.variable(place.slot).ty.kind,
            Expr::Remote { process, variable, .. } => {
                self.program.process(*process).locals[variable.0 as usize].ty.kind
            }
            Expr::Conditional(_, yes, _) => self.kind(yes),
            _ => Kind::Number,
        }
    }

    fn variable(&self, slot: Slot) -> &'a Variable {
        match slot {
            Slot::Global(id) => &self.program.globals[id.0 as usize],
            Slot::Local(id) => &self.program.process(self.process).locals[id.0 as usize],
        }
    }

    /// An expression inside something that binds as tightly as `outer`.
    fn within(&self, expr: &Expr, outer: u8) -> String {
        match expr {
            Expr::Constant(value) => value.to_string(),
            Expr::Load(place) => self.place(place),
            Expr::Unary(op, operand) => format!("{}{}", unary_sign(*op), self.within(operand, 11)),
            Expr::Binary(op, left, right) => {
                let (sign, binds) = binary_sign(*op);
                let text =
                    format!("{} {sign} {}", self.beside(left, right, binds), self.beside(right, left, binds + 1));
                if binds < outer { format!("({text})") } else { text }
            }
            Expr::Conditional(condition, yes, no) => {
                format!("({} -> {} : {})", self.expr(condition), self.expr(yes), self.expr(no))
            }
            Expr::Length(channel) => format!("len({})", self.expr(channel)),
            Expr::Test(test, channel) => format!("{}({})", test_name(*test), self.expr(channel)),
            Expr::Poll { channel, any, fields } => {
                format!("{}{}[{}]", self.expr(channel), if *any { "??" } else { "?" }, self.patterns(channel, fields))
            }
            Expr::Run { process, arguments, .. } => {
                format!("run {}({})", self.program.process(*process).name, self.list(arguments))
            }
            Expr::Pid => "_pid".to_owned(),
            Expr::ProcessCount => "_nr_pr".to_owned(),
            Expr::Last => "_last".to_owned(),
            Expr::Timeout => "timeout".to_owned(),
            Expr::NonProgress => "np_".to_owned(),
            Expr::Enabled(pid) => format!("enabled({})", self.expr(pid)),
            Expr::LocationOf(pid) => format!("pc_value({})", self.expr(pid)),
            Expr::PriorityOf(pid) => format!("get_priority({})", self.expr(pid)),
            Expr::At { process, pid, location } => {
                let locations = &self.program.process(*process).locations;
                let label = locations.get(location.0 as usize).and_then(|l| l.labels.first());
                let label = label.cloned().unwrap_or_else(|| format!("location {}", location.0));
                format!("{}@{label}", self.remote_process(*process, pid.as_deref()))
            }
            Expr::Remote { process, pid, variable, indices } => {
                let name = &self.program.process(*process).locals[variable.0 as usize].name;
                let indices: Vec<_> = indices.iter().map(|index| self.expr(index)).collect();
                format!("{}:{}", self.remote_process(*process, pid.as_deref()), with_indices(name, &indices))
            }
        }
    }

    /// An operand; a constant compared with something that has names for its values is named.
    fn beside(&self, operand: &Expr, other: &Expr, binds: u8) -> String {
        match operand {
            Expr::Constant(value) => self.constant(self.kind(other), *value),
            _ => self.within(operand, binds),
        }
    }

    fn remote_process(&self, process: ProcessId, pid: Option<&Expr>) -> String {
        let name = &self.program.process(process).name;
        pid.map_or_else(|| name.clone(), |pid| format!("{name}[{}]", self.expr(pid)))
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }
}

fn unary_sign(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "!",
        UnaryOp::Negate => "-",
        UnaryOp::Complement => "~",
    }
}

fn test_name(test: ChannelTest) -> &'static str {
    match test {
        ChannelTest::Full => "full",
        ChannelTest::NotFull => "nfull",
        ChannelTest::Empty => "empty",
        ChannelTest::NotEmpty => "nempty",
    }
}

/// An operator's sign and how tightly it binds.
fn binary_sign(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Or => ("||", 1),
        BinaryOp::And => ("&&", 2),
        BinaryOp::BitOr => ("|", 3),
        BinaryOp::BitXor => ("^", 4),
        BinaryOp::BitAnd => ("&", 5),
        BinaryOp::Equal => ("==", 6),
        BinaryOp::NotEqual => ("!=", 6),
        BinaryOp::Less => ("<", 7),
        BinaryOp::LessEqual => ("<=", 7),
        BinaryOp::Greater => (">", 7),
        BinaryOp::GreaterEqual => (">=", 7),
        BinaryOp::ShiftLeft => ("<<", 8),
        BinaryOp::ShiftRight => (">>", 8),
        BinaryOp::Add => ("+", 9),
        BinaryOp::Subtract => ("-", 9),
        BinaryOp::Multiply => ("*", 10),
        BinaryOp::Divide => ("/", 10),
        BinaryOp::Remainder => ("%", 10),
    }
}
