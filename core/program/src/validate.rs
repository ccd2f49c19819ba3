//! The invariants of a program.

use crate::{
    Action, Block, BlockExit, Expr, Initial, Location, Pattern, Place, PrintPiece, Process, Program, Property,
    PropertyKind, Slot, Type, Variable,
};

/// Checks every invariant that the rest of Fabius relies on.
///
/// # Errors
/// One sentence about the first that does not hold.
pub fn validate(program: &Program) -> Result<(), String> {
    let checker = Checker { program };
    for variable in &program.globals {
        checker.variable(variable, None).map_err(|e| format!("global `{}`: {e}", variable.name))?;
    }
    for (index, channel) in program.channel_types.iter().enumerate() {
        if channel.fields.len() != channel.field_names.len() {
            return Err(format!("channel type {index}: as many names as fields are needed"));
        }
        channel.fields.iter().try_for_each(|ty| checker.ty(*ty)).map_err(|e| format!("channel type {index}: {e}"))?;
    }
    let mut next_edge = 0;
    for (index, process) in program.processes.iter().enumerate() {
        next_edge =
            checker.process(index, process, next_edge).map_err(|e| format!("process `{}`: {e}", process.name))?;
    }
    if next_edge as usize != program.edges.len() {
        return Err(format!("{} edges, but the locations hold {next_edge}", program.edges.len()));
    }
    if program.initial.iter().any(|i| i.process.0 as usize >= program.processes.len() || i.priority == 0) {
        return Err("an initial process has no type, or priority 0".into());
    }
    program.properties.iter().try_for_each(|property| checker.property(property))
}

struct Checker<'a> {
    program: &'a Program,
}

type Check = Result<(), String>;

fn require(holds: bool, sentence: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(sentence()) }
}

impl Checker<'_> {
    fn ty(&self, ty: Type) -> Check {
        require((1..=32).contains(&ty.bits), || format!("{} bits", ty.bits))?;
        match ty.kind {
            crate::Kind::Enum(id) => {
                require((id.0 as usize) < self.program.enumerations.len(), || "unknown enumeration".into())
            }
            _ => Ok(()),
        }
    }

    fn variable(&self, variable: &Variable, process: Option<&Process>) -> Check {
        self.ty(variable.ty)?;
        require(variable.dimensions.iter().all(|d| *d > 0), || "an array without elements".into())?;
        match &variable.initial {
            Initial::Zero => Ok(()),
            Initial::Value(e) => self.expr(e, process),
            Initial::List(list) => {
                require(!list.is_empty(), || "an empty list of first values".into())?;
                list.iter().try_for_each(|e| self.expr(e, process))
            }
            Initial::Channel(id) => {
                require((id.0 as usize) < self.program.channel_types.len(), || "unknown channel type".into())
            }
        }
    }

    fn process(&self, index: usize, process: &Process, first_edge: u32) -> Result<u32, String> {
        require(process.parameter_count as usize <= process.locals.len(), || "fewer locals than parameters".into())?;
        for variable in &process.locals {
            self.variable(variable, Some(process)).map_err(|e| format!("local `{}`: {e}", variable.name))?;
        }
        require((process.entry.0 as usize) < process.locations.len(), || "no entry".into())?;
        let mut next_edge = first_edge;
        let mut numbers = std::collections::HashSet::new();
        for (at, location) in process.locations.iter().enumerate() {
            require(numbers.insert(location.number), || format!("location number {} twice", location.number))?;
            require(location.edges.start == next_edge, || {
                format!("edges of location {} do not follow", location.number)
            })?;
            self.edges(index, at, process, location)?;
            next_edge = location.edges.end;
        }
        for statement in &process.statements {
            self.action(&statement.action, process, Level::Edge)
                .map_err(|e| format!("statement {} `{}`: {e}", statement.number, statement.text))?;
        }
        process.provided.iter().try_for_each(|e| self.expr(e, Some(process)))?;
        Ok(next_edge)
    }

    fn edges(&self, index: usize, at: usize, process: &Process, location: &Location) -> Check {
        let range = location.edges.start as usize..location.edges.end as usize;
        let Some(edges) = self.program.edges.get(range) else {
            return Err(format!("location {} has edges that do not exist", location.number));
        };
        edges.iter().try_for_each(|edge| {
            let fine = edge.process.0 as usize == index
                && edge.source.0 as usize == at
                && (edge.target.0 as usize) < process.locations.len()
                && (edge.statement.0 as usize) < process.statements.len();
            require(fine, || format!("an edge of location {} leads astray", location.number))
        })
    }

    fn action(&self, action: &Action, process: &Process, level: Level) -> Check {
        match action {
            Action::Skip | Action::Else => Ok(()),
            Action::Guard(e) | Action::Assert(e) => self.expr(e, Some(process)),
            Action::Assign(place, e) => {
                self.place(place, Some(process))?;
                self.expr(e, Some(process))
            }
            Action::Send(send) => {
                self.expr(&send.channel, Some(process))?;
                send.fields.iter().try_for_each(|e| self.expr(e, Some(process)))
            }
            Action::Receive(receive) => {
                self.expr(&receive.channel, Some(process))?;
                self.patterns(&receive.fields, Some(process))
            }
            Action::Print(pieces) => pieces.iter().try_for_each(|piece| match piece {
                PrintPiece::Text(_) => Ok(()),
                PrintPiece::Decimal(e)
                | PrintPiece::Unsigned(e)
                | PrintPiece::Hex(e)
                | PrintPiece::Octal(e)
                | PrintPiece::Character(e)
                | PrintPiece::Name(e, _) => self.expr(e, Some(process)),
            }),
            Action::SetPriority(a, b) => {
                self.expr(a, Some(process))?;
                self.expr(b, Some(process))
            }
            Action::End => require(level == Level::Edge, || "the end is inside another action".into()),
            Action::Merged(actions) => {
                require(level == Level::Edge, || "merged actions inside another action".into())?;
                require(actions.len() > 1, || "a merge of fewer than two actions".into())?;
                let waits = |a: &Action| matches!(a, Action::Else | Action::Send(_) | Action::Receive(_));
                require(!actions[1..].iter().any(waits), || "a merged action may block".into())?;
                actions.iter().try_for_each(|a| self.action(a, process, Level::Merged))
            }
            Action::Block(block) => {
                require(level == Level::Edge, || "a block inside another action".into())?;
                self.block(block, process)
            }
        }
    }

    fn block(&self, block: &Block, process: &Process) -> Check {
        require(!block.nodes.is_empty(), || "a block without nodes".into())?;
        block.nodes.iter().flat_map(|node| &node.options).try_for_each(|option| {
            if let BlockExit::Node(node) = option.next {
                require((node as usize) < block.nodes.len(), || "a block leads to a node that is not there".into())?;
            }
            self.action(&option.action, process, Level::Block)
        })
    }

    fn patterns(&self, patterns: &[Pattern], process: Option<&Process>) -> Check {
        patterns.iter().try_for_each(|pattern| match pattern {
            Pattern::Store(place) => self.place(place, process),
            Pattern::Match(e) => self.expr(e, process),
            Pattern::Ignore => Ok(()),
        })
    }

    fn place(&self, place: &Place, process: Option<&Process>) -> Check {
        let variable = match place.slot {
            Slot::Global(id) => self.program.globals.get(id.0 as usize),
            Slot::Local(id) => process.and_then(|p| p.locals.get(id.0 as usize)),
        };
        let Some(variable) = variable else { return Err(format!("{:?} does not exist", place.slot)) };
        require(variable.dimensions.len() == place.indices.len(), || {
            format!("`{}` has {} dimensions, not {}", variable.name, variable.dimensions.len(), place.indices.len())
        })?;
        place.indices.iter().try_for_each(|e| self.expr(e, process))
    }

    fn expr(&self, e: &Expr, process: Option<&Process>) -> Check {
        let all = |list: &[Expr]| list.iter().try_for_each(|e| self.expr(e, process));
        match e {
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {
                Ok(())
            }
            Expr::Load(place) => self.place(place, process),
            Expr::Unary(_, a)
            | Expr::Length(a)
            | Expr::Test(_, a)
            | Expr::Enabled(a)
            | Expr::LocationOf(a)
            | Expr::PriorityOf(a) => self.expr(a, process),
            Expr::Binary(_, a, b) => {
                self.expr(a, process)?;
                self.expr(b, process)
            }
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().try_for_each(|e| self.expr(e, process)),
            Expr::Poll { channel, fields, .. } => {
                self.expr(channel, process)?;
                self.patterns(fields, process)
            }
            Expr::Run { process: id, arguments, priority } => {
                let Some(target) = self.program.processes.get(id.0 as usize) else {
                    return Err("`run` of a process type that does not exist".into());
                };
                require(*priority > 0, || "`run` with priority 0".into())?;
                require(arguments.len() <= target.parameter_count as usize, || "too many arguments".into())?;
                all(arguments)
            }
            Expr::At { process: id, pid, location } => {
                let there = self.program.processes.get(id.0 as usize);
                let fine = there.is_some_and(|p| (location.0 as usize) < p.locations.len());
                require(fine, || "a location that does not exist".into())?;
                pid.iter().try_for_each(|e| self.expr(e, process))
            }
            Expr::Remote { process: id, pid, variable, indices } => {
                let there = self.program.processes.get(id.0 as usize);
                let found = there.and_then(|p| p.locals.get(variable.0 as usize));
                let fine = found.is_some_and(|v| v.dimensions.len() == indices.len());
                require(fine, || "a remote variable that does not exist".into())?;
                pid.iter().try_for_each(|e| self.expr(e, process))?;
                all(indices)
            }
        }
    }

    fn property(&self, property: &Property) -> Check {
        let exists = |id: crate::ProcessId| {
            require((id.0 as usize) < self.program.processes.len(), || format!("`{}` has no process", property.name))
        };
        match &property.kind {
            PropertyKind::Safety | PropertyKind::Progress | PropertyKind::Acceptance => Ok(()),
            PropertyKind::Never(id) | PropertyKind::Trace(id) => exists(*id),
            PropertyKind::Ltl(formula) => self.formula(formula).map_err(|e| format!("`{}`: {e}", property.name)),
        }
    }

    fn formula(&self, formula: &crate::Formula) -> Check {
        let mut pending = vec![formula];
        while let Some(formula) = pending.pop() {
            if let crate::Formula::Proposition(e) = formula {
                self.expr(e, None)?;
            }
            let (a, b) = formula.operands();
            pending.extend(a.into_iter().chain(b));
        }
        Ok(())
    }
}

/// Where an action stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Edge,
    Merged,
    Block,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, LocationId, ProcessId, ProcessKind, Statement, StatementId, VariableId};
    use fabius_base::Span;

    fn program(action: Action) -> Program {
        let location = Location {
            number: 1,
            edges: 0..1,
            end: false,
            progress: false,
            accept: false,
            labels: Vec::new(),
            span: Span::default(),
        };
        let process = Process {
            name: "P".into(),
            kind: ProcessKind::Process,
            parameter_count: 0,
            locals: Vec::new(),
            locations: vec![location],
            entry: LocationId(0),
            statements: vec![Statement { number: 0, action, text: String::new(), span: Span::default() }],
            provided: None,
            deterministic: false,
            span: Span::default(),
        };
        let edge = Edge {
            process: ProcessId(0),
            source: LocationId(0),
            statement: StatementId(0),
            target: LocationId(0),
            atomic: false,
            escape: 0,
        };
        Program { processes: vec![process], edges: vec![edge], ..Program::default() }
    }

    #[test]
    fn a_small_program_is_valid() {
        assert_eq!(validate(&program(Action::Skip)), Ok(()));
    }

    #[test]
    fn what_does_not_exist_is_found() {
        let place = Place { slot: Slot::Global(VariableId(0)), indices: Vec::new() };
        assert!(validate(&program(Action::Guard(Expr::Load(place)))).is_err());
        let mut astray = program(Action::Skip);
        astray.edges[0].target = LocationId(1);
        assert!(validate(&astray).is_err());
        let mut lost = program(Action::Skip);
        lost.edges.push(lost.edges[0].clone());
        assert!(validate(&lost).is_err());
    }

    #[test]
    fn actions_nest_only_as_promised() {
        assert!(validate(&program(Action::Merged(vec![Action::Skip]))).is_err());
        assert!(validate(&program(Action::Merged(vec![Action::Skip, Action::End]))).is_err());
        assert!(validate(&program(Action::Merged(vec![Action::Skip, Action::Skip]))).is_ok());
        assert!(validate(&program(Action::Block(Block { nodes: Vec::new() }))).is_err());
    }
}
