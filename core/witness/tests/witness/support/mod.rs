//! Builds small programs by hand.

pub mod corpus;

use fabius_base::{FileId, SourceMap, Span};
use fabius_program::{
    Action, BinaryOp, Block, BlockExit, BlockNode, BlockOption, ChannelType, ChannelTypeId, Edge, EdgeId, Expr,
    Initial, Instance, Kind, Location, LocationId, Move, Pattern, Place, Process, ProcessId, ProcessKind, Program,
    Receive, Send, Slot, Statement, StatementId, Type, Variable, VariableId,
};
use fabius_witness::{State, moves};

pub const BYTE: Type = Type::unsigned(8, Kind::Number);
pub const BIT: Type = Type::unsigned(1, Kind::Boolean);
pub const INT: Type = Type::signed(32);
pub const CHAN: Type = Type::unsigned(8, Kind::Channel);

/// A program being built. Every statement stands on a line of its own in `source`.
pub struct Builder {
    pub program: Program,
    text: String,
}

/// A process type being built.
pub struct Body {
    process: Process,
    edges: Vec<(u32, Action, u32, bool, u32, String)>,
    locations: u32,
    ends: Vec<u32>,
}

impl Builder {
    pub fn new() -> Self {
        Self { program: Program { name: "test".into(), ..Program::default() }, text: String::new() }
    }

    pub fn global(&mut self, name: &str, ty: Type, initial: i32) -> u32 {
        self.variable(name, ty, vec![], Initial::Value(num(initial)))
    }

    pub fn variable(&mut self, name: &str, ty: Type, dimensions: Vec<u32>, initial: Initial) -> u32 {
        self.program.globals.push(variable(name, ty, dimensions, initial));
        self.program.globals.len() as u32 - 1
    }

    /// A global channel variable with its own channel type.
    pub fn channel(&mut self, name: &str, capacity: u32, fields: &[Type]) -> u32 {
        let channel_type = self.channel_type(capacity, fields);
        self.variable(name, CHAN, vec![], Initial::Channel(channel_type))
    }

    pub fn channel_type(&mut self, capacity: u32, fields: &[Type]) -> ChannelTypeId {
        let field_names = fields.iter().map(|_| String::new()).collect();
        let span = Span::default();
        self.program.channel_types.push(ChannelType { capacity, fields: fields.to_vec(), field_names, span });
        ChannelTypeId(self.program.channel_types.len() as u32 - 1)
    }

    /// Adds a process type.
    pub fn process(&mut self, name: &str, build: impl FnOnce(&mut Body)) -> ProcessId {
        let id = ProcessId(self.program.processes.len() as u32);
        let process = Process {
            name: name.into(),
            kind: ProcessKind::Process,
            parameter_count: 0,
            locals: vec![],
            locations: vec![],
            entry: LocationId(0),
            statements: vec![],
            provided: None,
            deterministic: false,
            span: Span::default(),
        };
        let mut body = Body { process, edges: vec![], locations: 1, ends: vec![] };
        build(&mut body);
        self.add(id, body);
        id
    }

    /// Adds a process type, and one process of it that exists at the start.
    pub fn active(&mut self, name: &str, build: impl FnOnce(&mut Body)) -> ProcessId {
        let process = self.process(name, build);
        self.program.initial.push(Instance { process, priority: 1 });
        process
    }

    fn add(&mut self, id: ProcessId, body: Body) {
        let Body { mut process, edges, locations, ends } = body;
        for location in 0..locations {
            let first = self.program.edges.len() as u32;
            for (_, action, target, atomic, escape, text) in edges.iter().filter(|edge| edge.0 == location) {
                let start = self.text.len() as u32;
                self.text.push_str(text);
                let span = Span::new(FileId(0), start, self.text.len() as u32);
                self.text.push('\n');
                let statement = StatementId(process.statements.len() as u32);
                process.statements.push(Statement {
                    number: 100 * id.0 + statement.0,
                    action: action.clone(),
                    text: text.clone(),
                    span,
                });
                self.program.edges.push(Edge {
                    process: id,
                    source: LocationId(location),
                    statement,
                    target: LocationId(*target),
                    atomic: *atomic,
                    escape: *escape,
                });
            }
            process.locations.push(Location {
                number: location,
                edges: first..self.program.edges.len() as u32,
                end: ends.contains(&location),
                progress: false,
                accept: false,
                labels: vec![],
                span: Span::default(),
            });
        }
        self.program.processes.push(process);
    }

    pub fn source(&self) -> SourceMap {
        let mut map = SourceMap::new();
        map.add_file("test.pml", self.text.as_str());
        map
    }
}

impl Body {
    pub fn local(&mut self, name: &str, ty: Type, initial: Initial) -> u32 {
        self.process.locals.push(variable(name, ty, vec![], initial));
        self.process.locals.len() as u32 - 1
    }

    pub fn parameter(&mut self, name: &str, ty: Type) -> u32 {
        self.process.parameter_count += 1;
        self.local(name, ty, Initial::Zero)
    }

    /// An ordinary edge.
    pub fn edge(&mut self, source: u32, text: &str, action: Action, target: u32) {
        self.full_edge(source, text, action, target, false, 0);
    }

    /// An edge after which control is held.
    pub fn atomic(&mut self, source: u32, text: &str, action: Action, target: u32) {
        self.full_edge(source, text, action, target, true, 0);
    }

    pub fn full_edge(&mut self, source: u32, text: &str, action: Action, target: u32, atomic: bool, escape: u32) {
        self.locations = self.locations.max(source.max(target) + 1);
        self.edges.push((source, action, target, atomic, escape, text.into()));
    }

    pub fn end(&mut self, location: u32) {
        self.locations = self.locations.max(location + 1);
        self.ends.push(location);
    }

    pub fn provided(&mut self, condition: Expr) {
        self.process.provided = Some(condition);
    }

    pub fn deterministic(&mut self) {
        self.process.deterministic = true;
    }
}

pub fn variable(name: &str, ty: Type, dimensions: Vec<u32>, initial: Initial) -> Variable {
    Variable { name: name.into(), ty, dimensions, initial, hidden: false, span: Span::default() }
}

pub fn num(value: i32) -> Expr {
    Expr::Constant(value)
}

pub fn g(id: u32) -> Expr {
    Expr::Load(g_place(id))
}

pub fn l(id: u32) -> Expr {
    Expr::Load(l_place(id))
}

pub fn g_place(id: u32) -> Place {
    Place { slot: Slot::Global(VariableId(id)), indices: vec![] }
}

pub fn l_place(id: u32) -> Place {
    Place { slot: Slot::Local(VariableId(id)), indices: vec![] }
}

pub fn g_at(id: u32, index: Expr) -> Place {
    Place { slot: Slot::Global(VariableId(id)), indices: vec![index] }
}

pub fn eq(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Equal, left, right)
}

pub fn set(id: u32, value: Expr) -> Action {
    Action::Assign(g_place(id), value)
}

pub fn guard(expr: Expr) -> Action {
    Action::Guard(expr)
}

pub fn send(channel: u32, fields: Vec<Expr>) -> Action {
    Action::Send(Send { channel: g(channel), sorted: false, fields })
}

pub fn receive(channel: u32, fields: Vec<Pattern>) -> Action {
    Action::Receive(Receive { channel: g(channel), any: false, keep: false, fields })
}

pub fn store(id: u32) -> Pattern {
    Pattern::Store(g_place(id))
}

pub fn matches(value: i32) -> Pattern {
    Pattern::Match(num(value))
}

/// A block: nodes, each a list of options with the node they lead to (`None` leaves).
pub fn block(nodes: Vec<Vec<(Action, Option<u32>)>>) -> Action {
    let option = |(action, next): (Action, Option<u32>)| BlockOption {
        action,
        next: next.map_or(BlockExit::Leave, BlockExit::Node),
        span: Span::default(),
    };
    let nodes = nodes
        .into_iter()
        .map(|options| BlockNode { options: options.into_iter().map(option).collect(), span: Span::default() });
    Action::Block(Block { nodes: nodes.collect() })
}

pub fn at(pid: u8, edge: u32) -> Move {
    Move { pid, edge: EdgeId(edge), partner: None }
}

pub fn with(pid: u8, edge: u32, partner: u8, partner_edge: u32) -> Move {
    Move { pid, edge: EdgeId(edge), partner: Some((partner, EdgeId(partner_edge))) }
}

pub fn start(program: &Program) -> State {
    State::initial(program).expect("the initial state can be computed")
}

/// The statements of the steps possible in a state, as `pid:text` or `pid:text&pid:text`; a fault
/// follows in parentheses.
pub fn possible(program: &Program, state: &State) -> Vec<String> {
    let text = |pid: u8, edge| format!("{pid}:{}", program.statement(program.process_of(edge), edge).text);
    let shown = moves(program, state).successors.into_iter().map(|(step, outcome)| {
        let partner = step.partner.map(|(pid, edge)| format!("&{}", text(pid, edge))).unwrap_or_default();
        let fault = outcome.fault().map(|fault| format!(" ({fault})")).unwrap_or_default();
        format!("{}{partner}{fault}", text(step.pid, step.edge))
    });
    shown.collect()
}

/// The state after taking the steps at these places in the lists of possible ones.
pub fn after(program: &Program, choices: &[usize]) -> State {
    let mut state = start(program);
    for &choice in choices {
        let found = moves(program, &fabius_witness::settled(program, &state));
        state = found.successors[choice].1.state().expect("the step leads to a state").clone();
    }
    state
}
