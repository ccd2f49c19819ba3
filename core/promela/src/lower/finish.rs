//! The end of lowering: checks that need the whole model, automata, and the program itself.

use super::automaton::{self, Automaton};
use super::{Argument, Lowered, Lowering, RemoteTarget};
use crate::ast;
use crate::optimise::{Facts, What, optimise};
use crate::types::{Basic, VarType};
use fabius_base::{Code, Finding};
use fabius_program::{
    Action, Enumeration, Expr, Formula, Initial, Kind, LocationId, Pattern, Place, PrintPiece, Process, ProcessKind,
    Program, Property, PropertyKind, Slot, Type, Variable, VariableId,
};
use std::collections::HashSet;

impl Lowering<'_> {
    pub(super) fn finish(mut self, name: &str) -> Lowered {
        if self.stops() {
            return Lowered { program: None, findings: Vec::new() };
        }
        self.flow.tie_loose_ends();
        self.check_calls();
        self.check_sends();
        self.check_process_count();
        if self.initial.is_empty() {
            self.no_process();
        }
        self.optimise();
        let merging = self.options.merge && !self.has_provided && !self.has_remote_variables;
        let mut automata: Vec<Automaton> = Vec::new();
        let mut edge_count = 0;
        let elements = self.flow.by_process(self.drafts.len());
        for (index, draft) in std::mem::take(&mut self.drafts).into_iter().enumerate() {
            if self.stops() {
                return Lowered { program: None, findings: Vec::new() };
            }
            let (flow, names) = (&mut self.flow, &self.names);
            let one = automaton::build(flow, names, draft, &elements[index], index as u32, merging, edge_count);
            edge_count += one.edges.len() as u32;
            automata.push(one);
        }
        self.keep_numbers(&mut automata);
        let patch = self.patch(&automata);
        let findings = self.flow.findings.take();
        self.findings.extend(findings);
        let mut program = self.program(name, automata);
        program.merged = merging;
        let seen = self.in_order();
        patch.program(&mut program);
        let broken = seen.iter().any(Finding::is_error);
        Lowered { program: (!broken).then_some(program), findings: seen }
    }

    /// The findings in the order of the text, each once.
    fn in_order(&mut self) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.findings);
        let place = |f: &Finding| f.span().map(|span| self.map.user_span(span)).map(|s| (s.file.0, s.start));
        findings.sort_by_cached_key(place);
        let mut seen = HashSet::new();
        findings.retain(|finding| seen.insert((finding.code, finding.headline.clone(), place(finding))));
        findings
    }

    /// Annotates all elements as Spin's optimiser would.
    fn optimise(&mut self) {
        if self.options.hide && !self.has_code {
            self.hide_write_only();
        }
        let remote = self.has_remote_variables;
        let dataflow = self.options.dataflow && !remote;
        let what = What {
            // Without elimination of variables (`-o2`) the verifier does not reset them either.
            reset: dataflow && self.options.hide && !self.has_code,
            merge: self.options.merge && !remote && !self.has_provided,
        };
        if !dataflow && !what.merge {
            return;
        }
        let facts = self.facts();
        for process in (0..self.drafts.len()).rev() {
            if let Some(body) = self.drafts[process].body.filter(|_| !self.stops()) {
                optimise(&mut self.flow, &self.names, &facts, body, what, self.cancel);
            }
        }
    }

    fn facts(&mut self) -> Facts {
        let plain = |draft: &super::Draft| {
            let channel = |v: &Variable| v.ty.kind == Kind::Channel;
            draft.plain.iter().zip(&draft.locals).map(|(plain, v)| *plain && !channel(v)).collect()
        };
        Facts {
            plain: self.drafts.iter().map(plain).collect(),
            local_globals: std::mem::take(&mut self.local_globals),
            exclusive: std::mem::take(&mut self.exclusive),
            reads_globals_at_start: self.drafts.iter().map(|d| d.reads_globals_at_start).collect(),
            rendezvous: self.has_rendezvous,
        }
    }

    /// Globals that nobody reads are taken out of the state.
    fn hide_write_only(&mut self) {
        for declared in &self.declared {
            let number = matches!(declared.ty, VarType::Basic(basic) if basic != Basic::Chan);
            if declared.process.is_some() || declared.read || !number {
                continue;
            }
            let variable = &mut self.globals[declared.leaf as usize];
            variable.hidden = true;
            if variable.ty.bits < 16 || matches!(declared.ty, VarType::Basic(Basic::Unsigned(_))) {
                variable.ty.bits = 8;
            }
        }
    }

    /// Spin's verifier has a claim among its processes, so that `_nr_pr` is greater by one than the language says.
    fn check_process_count(&mut self) {
        let has_claim = !self.properties.is_empty() || self.drafts.iter().any(|draft| draft.kind == ProcessKind::Claim);
        let Some(span) = self.process_count.filter(|_| has_claim) else { return };
        let finding = Finding::new(Code::CountsClaim, "`_nr_pr` has another value in Spin's verifier")
            .at(span, "does not count the claim here")
            .note("Spin runs a claim or formula as one more process, and counts it while it checks that property");
        self.report(finding);
    }

    fn no_process(&mut self) {
        let span = self.drafts.first().map(|d| d.span).unwrap_or_default();
        self.report(
            Finding::new(Code::NoProcess, "no process is created at the start")
                .at(span, "nothing runs")
                .help("write `active` before a `proctype`, or add an `init` that runs one"),
        );
    }

    /// The number of arguments, and symbolic constants for parameters that hold them.
    fn check_calls(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            let draft = &self.drafts[call.process as usize];
            let (name, declared, parameters) = (draft.name.clone(), draft.span, draft.parameters.clone());
            if call.arguments.len() != parameters.len() {
                let headline =
                    format!("`{name}` has {} parameters, but is run with {}", parameters.len(), call.arguments.len());
                let finding = Finding::new(Code::WrongCount, headline).at(call.span, "").at(declared, "declared here");
                self.report(finding);
                continue;
            }
            for (parameter, argument) in parameters.iter().zip(&call.arguments) {
                let Some(set) = &parameter.mtype else { continue };
                let fault = match argument {
                    Argument::Other => None,
                    Argument::Named(name) => Some(format!("`{name}` is not a symbolic constant")),
                    Argument::Constant(name) => match self.set_of(name) {
                        Some(own) if own != *set => Some(format!("`{name}` belongs to another set of constants")),
                        _ => None,
                    },
                };
                if let Some(fault) = fault {
                    let headline = format!("a parameter of `{name}` is declared `mtype`, but {fault}");
                    self.report(
                        Finding::new(Code::TypeMismatch, headline)
                            .at(call.span, "a symbolic constant is needed")
                            .note("Spin accepts only a constant here, not a variable")
                            .help("declare the parameter as `byte`"),
                    );
                }
            }
        }
    }

    fn check_sends(&mut self) {
        // A channel that could not be declared is not counted.
        if self.findings.iter().any(Finding::is_error) {
            return;
        }
        let most = self.message_fields_max;
        for (count, span) in std::mem::take(&mut self.sends) {
            if count > most {
                let fields = if count == 1 { "field" } else { "fields" };
                let headline = match most {
                    0 => format!("a message of {count} {fields} is sent, and the model creates no channel"),
                    _ => format!("a message of {count} {fields} is sent, but no channel has more than {most}"),
                };
                self.error(Code::WrongCount, span, headline, "");
            }
        }
    }

    /// Gives each process type of which something asks `P[i]:_pid` a variable that holds it.
    fn keep_numbers(&self, automata: &mut [Automaton]) {
        for remote in &self.remotes {
            let RemoteTarget::Variable { name, .. } = &remote.target else { continue };
            let process = &mut automata[remote.process as usize].process;
            if *name.text == *"_pid" && !process.locals.iter().any(|local| local.name == "_pid") {
                process.locals.push(Variable {
                    name: "_pid".to_owned(),
                    ty: Type::unsigned(8, Kind::Process),
                    dimensions: Vec::new(),
                    initial: Initial::Value(Expr::Pid),
                    hidden: false,
                    span: process.span,
                });
            }
        }
    }

    /// Where placeholders lead: remote references, and globals in their final order.
    fn patch(&mut self, automata: &[Automaton]) -> Patch {
        let mut targets = Vec::new();
        for remote in std::mem::take(&mut self.remotes) {
            let target = match &remote.target {
                RemoteTarget::Label(at) => {
                    let state = self.flow.remote_state(remote.process, at, &self.names);
                    state.and_then(|s| automata[remote.process as usize].locations.get(&s)).map_or(0, |l| l.0)
                }
                RemoteTarget::Variable { name, indices } => {
                    let process = &automata[remote.process as usize].process;
                    self.remote_slot(process, name, *indices)
                }
            };
            targets.push(target);
        }
        let mut order: Vec<usize> = (0..self.globals.len()).collect();
        order.sort_by_key(|&i| self.ranks[i]);
        let mut globals = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            globals[old] = new as u32;
        }
        let mut list: Vec<Option<Variable>> = std::mem::take(&mut self.globals).into_iter().map(Some).collect();
        self.globals = order.iter().filter_map(|&i| list[i].take()).collect();
        Patch { targets, globals }
    }

    fn remote_slot(&mut self, process: &Process, name: &ast::Name, indices: usize) -> u32 {
        let found = process.locals.iter().position(|v| v.name == *name.text);
        let Some(slot) = found else {
            let near = self.nearest(&name.text, process.locals.iter().map(|v| &*v.name));
            let headline = format!("`{}` has no variable `{}`", process.name, name.text);
            let mut finding = Finding::new(Code::UndeclaredName, headline).at(name.span, "");
            finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
            self.report(finding);
            return 0;
        };
        if process.locals[slot].dimensions.len() != indices {
            let headline = format!("`{}` needs {} index", name.text, process.locals[slot].dimensions.len());
            self.error(Code::WrongIndex, name.span, headline, format!("has {indices}"));
        }
        slot as u32
    }

    fn program(&mut self, name: &str, automata: Vec<Automaton>) -> Program {
        let mut program = Program {
            name: name.to_string(),
            globals: std::mem::take(&mut self.globals),
            channel_types: std::mem::take(&mut self.channel_types),
            enumerations: self.enumerations(),
            initial: std::mem::take(&mut self.initial),
            uses: self.uses,
            ..Program::default()
        };
        let labels = |prefix: &str| {
            automata.iter().any(|a| {
                a.process.kind == fabius_program::ProcessKind::Process
                    && a.process.locations.iter().any(|l| l.labels.iter().any(|n| n.starts_with(prefix)))
            })
        };
        let plain = |name: &str, kind| Property::new(name, kind, None);
        program.properties.push(plain("safety", PropertyKind::Safety));
        if labels("progress") {
            program.properties.push(plain("progress", PropertyKind::Progress));
        }
        if labels("accept") {
            program.properties.push(plain("acceptance", PropertyKind::Acceptance));
        }
        program.properties.append(&mut self.properties);
        for one in automata {
            program.edges.extend(one.edges);
            program.processes.push(one.process);
        }
        program
    }

    fn enumerations(&self) -> Vec<Enumeration> {
        let constants = |names: &[std::sync::Arc<str>]| {
            names.iter().enumerate().map(|(i, n)| (i as i32 + 1, n.to_string())).collect()
        };
        let one = |set: &super::sets::Set| Enumeration { name: set.name.to_string(), constants: constants(&set.names) };
        self.sets.list().iter().map(one).collect()
    }
}

/// Replaces placeholders in expressions.
struct Patch {
    /// By number of a remote reference: location or variable.
    targets: Vec<u32>,
    /// New number of each global.
    globals: Vec<u32>,
}

impl Patch {
    fn program(&self, program: &mut Program) {
        for variable in &mut program.globals {
            self.initial(&mut variable.initial);
        }
        for process in &mut program.processes {
            for variable in &mut process.locals {
                self.initial(&mut variable.initial);
            }
            process.provided.iter_mut().for_each(|e| self.expr(e));
            for statement in &mut process.statements {
                self.action(&mut statement.action);
            }
        }
        for property in &mut program.properties {
            if let PropertyKind::Ltl(formula) = &mut property.kind {
                self.formula(formula);
            }
            property.names.iter_mut().for_each(|(e, _)| self.expr(e));
        }
    }

    fn initial(&self, initial: &mut Initial) {
        match initial {
            Initial::Value(e) => self.expr(e),
            Initial::List(list) => list.iter_mut().for_each(|e| self.expr(e)),
            Initial::Zero | Initial::Channel(_) => {}
        }
    }

    fn formula(&self, formula: &mut Formula) {
        match formula {
            Formula::Proposition(e) => self.expr(e),
            Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => self.formula(a),
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equivalent(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => {
                self.formula(a);
                self.formula(b);
            }
        }
    }

    fn action(&self, action: &mut Action) {
        match action {
            Action::Skip | Action::Else | Action::End => {}
            Action::Guard(e) | Action::Assert(e) => self.expr(e),
            Action::Assign(place, e) => {
                self.place(place);
                self.expr(e);
            }
            Action::Send(send) => {
                self.expr(&mut send.channel);
                send.fields.iter_mut().for_each(|e| self.expr(e));
            }
            Action::Receive(receive) => {
                self.expr(&mut receive.channel);
                self.patterns(&mut receive.fields);
            }
            Action::Print(pieces) => pieces.iter_mut().for_each(|p| self.piece(p)),
            Action::SetPriority(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Action::Merged(actions) => actions.iter_mut().for_each(|a| self.action(a)),
            Action::Block(block) => {
                for option in block.nodes.iter_mut().flat_map(|n| &mut n.options) {
                    self.action(&mut option.action);
                }
            }
        }
    }

    fn piece(&self, piece: &mut PrintPiece) {
        match piece {
            PrintPiece::Text(_) => {}
            PrintPiece::Decimal(e)
            | PrintPiece::Unsigned(e)
            | PrintPiece::Hex(e)
            | PrintPiece::Octal(e)
            | PrintPiece::Character(e)
            | PrintPiece::Name(e, _) => self.expr(e),
        }
    }

    fn patterns(&self, patterns: &mut [Pattern]) {
        for pattern in patterns {
            match pattern {
                Pattern::Store(place) => self.place(place),
                Pattern::Match(e) => self.expr(e),
                Pattern::Ignore => {}
            }
        }
    }

    fn place(&self, place: &mut Place) {
        if let Slot::Global(id) = &mut place.slot {
            *id = VariableId(self.globals.get(id.0 as usize).copied().unwrap_or(0));
        }
        place.indices.iter_mut().for_each(|e| self.expr(e));
    }

    fn expr(&self, e: &mut Expr) {
        match e {
            Expr::Load(place) => self.place(place),
            Expr::Unary(_, a) | Expr::Length(a) | Expr::Test(_, a) => self.expr(a),
            Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => self.expr(a),
            Expr::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|x| self.expr(x)),
            Expr::Poll { channel, fields, .. } => {
                self.expr(channel);
                self.patterns(fields);
            }
            Expr::Run { arguments, .. } => arguments.iter_mut().for_each(|a| self.expr(a)),
            Expr::At { pid, location, .. } => {
                pid.iter_mut().for_each(|p| self.expr(p));
                *location = LocationId(self.targets.get(location.0 as usize).copied().unwrap_or(0));
            }
            Expr::Remote { pid, variable, indices, .. } => {
                pid.iter_mut().for_each(|p| self.expr(p));
                indices.iter_mut().for_each(|i| self.expr(i));
                *variable = VariableId(self.targets.get(variable.0 as usize).copied().unwrap_or(0));
            }
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {}
        }
    }
}
