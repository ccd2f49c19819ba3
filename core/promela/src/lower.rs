//! From the syntax tree to a program: names are resolved, types checked, and every process body becomes
//! the automaton that Spin would build, state for state and step for step.
//!
//! One walk over the text, in order, because that is what the rules of the language refer to: a name
//! must be declared before it is used, numbers of states follow the order of the text, and a declaration
//! behind the first statement of a body becomes an assignment. See [`crate::flow`] for the element graph
//! and [`table`] for the automata.

mod access;
mod automaton;
mod block;
mod check;
mod declare;
mod expression;
mod finish;
mod formula;
mod loops;
mod message;
mod named;
mod sets;
mod step;
mod table;
mod text;

use crate::ast;
use crate::flow::{Flow, LabelRef, Node, Seq};
use crate::names::{DeclaredId, Names, SUGGESTIONS_MAX};
use crate::types::{Types, VarType};
use fabius_base::{Cancel, Code, Finding, SourceMap, Span, nearest};
use fabius_language::Lowered;
use fabius_program as program;
use fabius_program::{Expr, Instance, ProcessId, ProcessKind, Property, Uses};
use sets::Sets;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Which of Spin's own optimisations are applied, so that numbers of states can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Locals are set to 0 where their value is not needed any more (`spin -o1` turns it off).
    pub dataflow: bool,
    /// Steps that nobody else can observe are executed together (`spin -o3` turns it off).
    pub merge: bool,
    /// Global variables that are only written are not part of the state (`spin -o2` turns it off).
    pub hide: bool,
}

impl Options {
    /// The automata as they are written: `spin -o1 -o2 -o3`.
    pub const NONE: Self = Self { dataflow: false, merge: false, hide: false };
    /// What Spin does unless told otherwise.
    pub const ALL: Self = Self { dataflow: true, merge: true, hide: true };
}

/// Lowers a model. `name` is what the program is called, usually the name of its file.
pub fn lower(model: &ast::Model, map: &SourceMap, name: &str, options: Options) -> Lowered {
    lower_with(model, map, name, options, &Cancel::new())
}

/// As [`lower`]; ends early if `cancel` asks for it, and then there is no program, and not all findings.
pub fn lower_with(model: &ast::Model, map: &SourceMap, name: &str, options: Options, cancel: &Cancel) -> Lowered {
    let mut lowering = Lowering::new(map, options, cancel);
    lowering.announce(model);
    for unit in &model.units {
        lowering.unit(unit);
    }
    // Formulas are read when everything else is known, wherever they stand.
    for unit in &model.units {
        if let ast::Unit::Ltl(ltl) = unit {
            lowering.ltl(ltl);
        }
    }
    lowering.finish(name)
}

/// A variable as it was declared.
#[derive(Clone, Debug)]
struct Declared {
    /// Process type it is local to.
    process: Option<u32>,
    /// Its first leaf, among the globals or the locals of its process.
    leaf: u32,
    ty: VarType,
    /// Length, if it is an array.
    length: Option<u32>,
    /// What a constant expression may take it for: the value it was declared with.
    constant: Option<i32>,
    /// Which set of symbolic constants its values come from; empty for the unnamed one.
    set: Option<Arc<str>>,
    /// Its value is used somewhere.
    read: bool,
    span: Span,
}

/// A process type under construction.
#[derive(Clone, Debug)]
struct Draft {
    name: String,
    kind: ProcessKind,
    body: Option<Seq>,
    locals: Vec<program::Variable>,
    /// Which locals are neither arrays nor parts of structures.
    plain: Vec<bool>,
    parameter_count: u32,
    parameters: Vec<Parameter>,
    provided: Option<Expr>,
    deterministic: bool,
    /// First values of its variables may depend on globals.
    reads_globals_at_start: bool,
    span: Span,
}

/// What a call must know about a parameter.
#[derive(Clone, Debug)]
struct Parameter {
    mtype: Option<Arc<str>>,
}

/// A remote reference, resolved when all bodies are known.
#[derive(Clone, Debug)]
struct Remote {
    process: u32,
    target: RemoteTarget,
}

#[derive(Clone, Debug)]
enum RemoteTarget {
    Label(LabelRef),
    Variable { name: ast::Name, indices: usize },
}

/// A `run`, checked when all process types are known.
#[derive(Clone, Debug)]
struct Call {
    process: u32,
    span: Span,
    /// Of each argument: the symbolic constant that was written, and whether it is anything else with a name.
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug)]
enum Argument {
    Constant(Arc<str>),
    Named(Arc<str>),
    Other,
}

struct Lowering<'a> {
    map: &'a SourceMap,
    options: Options,
    cancel: &'a Cancel,
    findings: Vec<Finding>,
    names: Names,
    types: Types,
    flow: Flow,
    declared: Vec<Declared>,
    globals: Vec<program::Variable>,
    /// Rank of each global in Spin's layout.
    ranks: Vec<u8>,
    /// Which globals are declared `local`.
    local_globals: Vec<bool>,
    /// What `xr` and `xs` promise, and what claims look at.
    exclusive: HashMap<(Option<u32>, program::VariableId), u8>,
    channel_types: Vec<program::ChannelType>,
    sets: Sets,
    /// Which process type claims to be the only one that sends to or receives from a channel.
    owners: HashMap<(program::VariableId, u8), u32>,
    drafts: Vec<Draft>,
    process_names: HashMap<Arc<str>, u32>,
    later_constants: HashMap<Arc<str>, Span>,
    /// Names that were reported already.
    undeclared: HashSet<(crate::names::Context, Arc<str>)>,
    /// Proctypes that were declared so far.
    processes_seen: u32,
    initial: Vec<Instance>,
    properties: Vec<Property>,
    property_names: HashSet<String>,
    /// How many of them begin as the names do that formulas get which have none.
    ltl_names: usize,
    uses: Uses,
    remotes: Vec<Remote>,
    calls: Vec<Call>,
    sends: Vec<(usize, Span)>,
    message_fields_max: usize,
    /// What is being read counts as using a variable (arguments of `printf` do not).
    reading: bool,
    /// Between the parentheses of a `for`: an array may stand without index.
    in_for: bool,
    /// Whole structures stand for all their fields.
    expanding: bool,
    in_ltl: bool,
    /// The formula is not written in the model, so that Spin has nothing to say about it.
    in_outside: bool,
    /// Values that the print which was read last does not show.
    unused_values: Vec<Expr>,
    /// Where `return` puts its value, per inline that is being expanded.
    results: Vec<Option<ast::VarRef>>,
    /// Where `_nr_pr` is read first.
    process_count: Option<Span>,
    has_provided: bool,
    has_remote_variables: bool,
    has_code: bool,
    has_rendezvous: bool,
    has_buffered: bool,
}

impl<'a> Lowering<'a> {
    fn new(map: &'a SourceMap, options: Options, cancel: &'a Cancel) -> Self {
        Self {
            map,
            options,
            cancel,
            findings: Vec::new(),
            names: Names::new(),
            types: Types::default(),
            flow: Flow::new(),
            declared: Vec::new(),
            globals: Vec::new(),
            ranks: Vec::new(),
            local_globals: Vec::new(),
            exclusive: HashMap::new(),
            owners: HashMap::new(),
            channel_types: Vec::new(),
            sets: Sets::default(),
            drafts: Vec::new(),
            process_names: HashMap::new(),
            later_constants: HashMap::new(),
            undeclared: HashSet::new(),
            processes_seen: 0,
            initial: Vec::new(),
            properties: Vec::new(),
            property_names: HashSet::new(),
            ltl_names: 0,
            uses: Uses::default(),
            remotes: Vec::new(),
            calls: Vec::new(),
            sends: Vec::new(),
            message_fields_max: 0,
            reading: true,
            in_for: false,
            expanding: false,
            in_ltl: false,
            in_outside: false,
            unused_values: Vec::new(),
            results: Vec::new(),
            process_count: None,
            has_provided: false,
            has_remote_variables: false,
            has_code: false,
            has_rendezvous: false,
            has_buffered: false,
        }
    }

    fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// The name that may have been meant; only the first findings suggest one.
    fn nearest<'n>(&self, name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        if SUGGESTIONS_MAX <= self.findings.len() { None } else { nearest(name, candidates) }
    }

    fn error(&mut self, code: Code, span: Span, headline: impl Into<String>, here: impl Into<String>) {
        self.report(Finding::new(code, headline).at(span, here));
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.drafts[self.flow.process as usize]
    }

    /// The kind of body that is being read.
    fn kind(&self) -> Option<ProcessKind> {
        self.names.context().map(|process| self.drafts[process as usize].kind)
    }

    fn in_claim(&self) -> bool {
        self.in_ltl || self.kind() == Some(ProcessKind::Claim)
    }

    /// Learns the names of process types and constants, which may be used before they are declared (the
    /// latter only to say so).
    fn announce(&mut self, model: &ast::Model) {
        let mut claims = 0;
        for unit in &model.units {
            let (name, kind, span) = match unit {
                ast::Unit::Proctype(p) => (p.name.text.clone(), ProcessKind::Process, p.name.span),
                ast::Unit::Init(init) => (":init:".into(), ProcessKind::Process, init.span),
                ast::Unit::Never(claim) => {
                    let name = claim.name.as_ref().map_or_else(|| format!("never_{claims}").into(), |n| n.text.clone());
                    claims += 1;
                    (name, ProcessKind::Claim, claim.span)
                }
                ast::Unit::Trace(t) if t.negated => (":notrace:".into(), ProcessKind::NoTrace, t.span),
                ast::Unit::Trace(t) => (":trace:".into(), ProcessKind::Trace, t.span),
                ast::Unit::Mtype(mtype) => {
                    self.later_constants.extend(mtype.names.iter().map(|n| (n.text.clone(), n.span)));
                    continue;
                }
                _ => continue,
            };
            let index = self.drafts.len() as u32;
            let name: Arc<str> = name;
            self.process_names.entry(name.clone()).or_insert(index);
            self.drafts.push(Draft {
                name: name.to_string(),
                kind,
                body: None,
                locals: Vec::new(),
                plain: Vec::new(),
                parameter_count: 0,
                parameters: Vec::new(),
                provided: None,
                deterministic: false,
                reads_globals_at_start: false,
                span,
            });
        }
    }

    /// Whether somebody asked to stop.
    fn stops(&self) -> bool {
        self.cancel.requested().is_some()
    }

    fn unit(&mut self, unit: &ast::Unit) {
        if self.stops() {
            return;
        }
        match unit {
            ast::Unit::Proctype(p) => self.proctype(p),
            ast::Unit::Init(init) => {
                let priority = self.priority(init.priority.as_ref());
                let process = self.begin(init.span);
                self.body(process, &init.body, init.span);
                self.create(process, priority, init.span);
            }
            ast::Unit::Never(claim) => {
                let process = self.begin(claim.span);
                self.flow.in_claim = true;
                self.body(process, &claim.body, claim.span);
                self.flow.in_claim = false;
                let known = |name: &str| self.property_names.contains(name);
                // A person knows the only claim without a name by its keyword.
                let name = match &claim.name {
                    None if !known("never") => "never".to_owned(),
                    _ => self.drafts[process as usize].name.clone(),
                };
                let twin = known(&name);
                if twin {
                    self.error(
                        Code::Redeclared,
                        claim.span,
                        format!("there are two claims `{name}`"),
                        "the second one",
                    );
                }
                let kind = program::PropertyKind::Never(ProcessId(process));
                self.add_property(Property::new(name, kind, Some(claim.span)));
            }
            ast::Unit::Trace(trace) => {
                let process = self.begin(trace.span);
                self.body(process, &trace.body, trace.span);
                let name = self.drafts[process as usize].name.trim_matches(':').to_string();
                if self.properties.iter().any(|p| matches!(p.kind, program::PropertyKind::Trace(_))) {
                    self.error(Code::Redeclared, trace.span, "there is a second event trace", "only one is possible");
                }
                let kind = program::PropertyKind::Trace(ProcessId(process));
                self.add_property(Property::new(name, kind, Some(trace.span)));
            }
            ast::Unit::Ltl(_) | ast::Unit::Inline(_) => {}
            ast::Unit::Typedef(typedef) => self.typedef(typedef),
            ast::Unit::Mtype(mtype) => self.mtype(mtype),
            ast::Unit::Variables(declaration) => self.declaration(declaration),
            ast::Unit::EmbeddedC(c) => self.embedded(c),
        }
    }

    /// Begins the next process type.
    fn begin(&mut self, span: Span) -> u32 {
        let process = self.processes_seen;
        self.processes_seen += 1;
        self.names.set_context(Some(process));
        self.flow.process = process;
        self.drafts[process as usize].span = span;
        process
    }

    fn proctype(&mut self, p: &ast::Proctype) {
        let active = match &p.active {
            None => 0,
            Some(None) => 1,
            Some(Some(count)) => self.active_count(count),
        };
        let symbol = self.names.lookup(&p.name.text, p.name.span);
        match self.names.symbol(symbol).meaning {
            crate::names::Meaning::Untyped => self.names.symbol_mut(symbol).meaning = crate::names::Meaning::Process,
            _ => self.redeclared(&p.name, symbol),
        }
        let process = self.begin(p.name.span);
        self.expanding = true;
        for declaration in &p.parameters {
            self.parameters(declaration);
        }
        self.expanding = false;
        let priority = self.priority(p.priority.as_ref());
        if let Some(condition) = &p.provided {
            self.has_provided = true;
            self.drafts[process as usize].provided = self.enabler(condition);
        }
        self.drafts[process as usize].deterministic = p.deterministic;
        self.body(process, &p.body, p.span);
        for _ in 0..active {
            self.create(process, priority, p.name.span);
        }
        if active > program::PROCESSES_MAX as i32 {
            self.error(Code::TooMany, p.name.span, "at most 255 processes can exist", format!("asks for {active}"));
        }
    }

    fn active_count(&mut self, count: &ast::Expr) -> i32 {
        if let ast::ExprKind::Var(v) = &count.kind {
            return self.constant_of_variable(v, "the number of processes").unwrap_or(0);
        }
        self.constant_expression(count).unwrap_or(0)
    }

    fn body(&mut self, process: u32, sequence: &ast::Sequence, span: Span) {
        self.flow.open_body(process);
        self.names.open_scope();
        self.sequence(sequence);
        self.names.close_scope();
        let end = Span { start: sequence.span.end.max(1) - 1, ..sequence.span };
        let end = self.flow.plain(Node::End, end, "-end-");
        self.flow.add(end);
        let body = self.flow.close_body(span);
        self.drafts[process as usize].body = Some(body);
        self.names.set_context(None);
    }

    fn create(&mut self, process: u32, priority: Option<i32>, span: Span) {
        let priority = priority.unwrap_or(1);
        let Ok(priority @ 1..) = u8::try_from(priority) else {
            self.error(
                Code::BadDeclaration,
                span,
                "a priority must be between 1 and 255",
                format!("this is {priority}"),
            );
            return;
        };
        if self.initial.len() < program::PROCESSES_MAX {
            self.initial.push(Instance { process: ProcessId(process), priority });
        }
    }

    fn priority(&mut self, priority: Option<&ast::Constant>) -> Option<i32> {
        self.uses.priority |= priority.is_some();
        priority.map(|p| p.value)
    }

    /// Embedded C is shown, but not understood.
    fn embedded(&mut self, c: &ast::EmbeddedC) {
        self.has_code = true;
        if c.kind == ast::EmbeddedKind::Expr && check::changes_something(&c.text) {
            let headline = "a `c_expr` must not change anything";
            self.error(Code::NotAllowedHere, c.span, headline, "assigns, or calls a function");
        }
        let what = match c.kind {
            ast::EmbeddedKind::Code => "`c_code` is a piece of C",
            ast::EmbeddedKind::Expr => "`c_expr` is an expression in C",
            ast::EmbeddedKind::Decl => "`c_decl` declares something in C",
            ast::EmbeddedKind::State => "`c_state` adds data of C to the state",
            ast::EmbeddedKind::Track => "`c_track` adds memory of C to the state",
        };
        self.report(
            Finding::new(Code::NotChecked, format!("{what}: the model cannot be checked"))
                .at(c.span, "needs a C compiler")
                .note("Fabius interprets Promela only; it does not run C")
                .help("replace it by Promela, or check the model with Spin"),
        );
    }

    /// Reports a name that nobody declared.
    fn undeclared(&mut self, name: &ast::Name) {
        // Once is enough, however often the name is used.
        if !self.undeclared.insert((self.names.context(), name.text.clone())) {
            return;
        }
        let text = &*name.text;
        let mut finding = Finding::new(Code::UndeclaredName, format!("`{text}` is not declared")).at(name.span, "");
        if let Some(span) = self.later_constants.get(text) {
            finding = finding
                .at(*span, "declared here, further down")
                .help("move the `mtype` declaration to a place before its first use");
        } else if let Some(near) = self.nearest(text, self.names.visible().map(|s| &*s.name)) {
            finding = finding.help(format!("did you mean `{near}`?"));
        }
        self.report(finding);
    }

    fn redeclared(&mut self, name: &ast::Name, symbol: crate::names::SymbolId) {
        let before = self.names.symbol(symbol).clone();
        let mut finding =
            Finding::new(Code::Redeclared, format!("`{}` is declared twice", name.text)).at(name.span, "here again");
        if before.meaning == crate::names::Meaning::Predefined {
            finding = finding.note("this name is predefined");
        } else {
            finding = finding.at(before.span, "the first one is here");
        }
        if before.context.is_none() && self.names.context().is_some() {
            finding = finding.note("a local name may not be the same as a global one declared before");
        }
        self.report(finding.help("give one of them another name"));
    }

    fn add_property(&mut self, property: Property) {
        self.ltl_names += usize::from(property.name.starts_with("ltl_"));
        self.property_names.insert(property.name.clone());
        self.properties.push(property);
    }

    fn variable(&self, id: DeclaredId) -> &Declared {
        &self.declared[id.0 as usize]
    }
}
