//! One walk over the syntax tree, in the order of the text: what every name means.
//!
//! The rules are those of [`crate::names`]: a scope is a pair of braces, and a name means the nearest
//! enclosing declaration that was seen before. Labels, processes and formulas may be named before they
//! are seen.

use super::named;
use crate::ast::{
    Declaration, Declarator, Expr, ExprKind, Initializer, Model, Name, ReceiveArg, Sequence, Step, StepKind, TypeName,
    Unit, VarRef, Visibility,
};
use crate::names::PREDEFINED;
use fabius_base::{ExpansionKind, SourceMap, Span};
use fabius_language::{Index, Occurrence, Role, Stretch, Symbol, SymbolId, SymbolKind};
use std::collections::HashMap;
use std::sync::Arc;

/// More stretches than this are not kept; only a model that expands without reason has so many.
const STRETCHES_MAX: usize = 400_000;

/// Walks over a model.
pub(super) fn walk(index: &mut Index, map: &SourceMap, model: &Model) {
    let mut walk = Walk {
        index,
        map,
        scopes: vec![HashMap::new()],
        processes: HashMap::new(),
        inlines: HashMap::new(),
        structures: HashMap::new(),
        labels: HashMap::new(),
        container: None,
        remote: Vec::new(),
    };
    walk.predefined();
    walk.announce(model);
    for unit in &model.units {
        walk.unit(unit);
    }
    for unit in &model.units {
        if let Unit::Ltl(ltl) = unit {
            let formula = ltl.name.as_ref().and_then(|name| walk.find(&name.text));
            let before = std::mem::replace(&mut walk.container, formula);
            walk.expr(&ltl.formula, Role::Read);
            walk.container = before;
        }
    }
    walk.remote_names();
}

struct Walk<'a> {
    index: &'a mut Index,
    map: &'a SourceMap,
    scopes: Vec<HashMap<Arc<str>, SymbolId>>,
    processes: HashMap<Arc<str>, SymbolId>,
    inlines: HashMap<Arc<str>, SymbolId>,
    structures: HashMap<Arc<str>, SymbolId>,
    labels: HashMap<Arc<str>, SymbolId>,
    container: Option<SymbolId>,
    /// Names of labels and variables of other processes: the process, the name, whether it is a label.
    remote: Vec<(SymbolId, Name, bool)>,
}

impl Walk<'_> {
    fn predefined(&mut self) {
        for name in PREDEFINED {
            let name = Name { text: name.into(), span: Span::default() };
            let id = self.index.add(named(&name, SymbolKind::Predefined));
            self.scopes[0].insert(name.text, id);
        }
    }

    /// Learns the names that may be used before they are declared.
    fn announce(&mut self, model: &Model) {
        for unit in &model.units {
            match unit {
                Unit::Proctype(p) => {
                    let mut symbol = named(&p.name, SymbolKind::Process);
                    symbol.extent = p.span;
                    symbol.active = p.active.is_some();
                    symbol.parameters = p.parameters.iter().flat_map(|d| self.declared(d)).collect();
                    symbol.detail = format!("proctype {}({})", p.name.text, symbol.parameters.join("; "));
                    let id = self.declare_outside(&p.name, symbol);
                    self.processes.entry(p.name.text.clone()).or_insert(id);
                }
                Unit::Inline(inline) => {
                    let mut symbol = named(&inline.name, SymbolKind::Inline);
                    symbol.extent = inline.name.span.to(inline.body);
                    symbol.parameters = inline.parameters.iter().map(|name| name.text.to_string()).collect();
                    symbol.detail = format!("inline {}({})", inline.name.text, symbol.parameters.join(", "));
                    let id = self.declare_outside(&inline.name, symbol);
                    self.inlines.entry(inline.name.text.clone()).or_insert(id);
                    for parameter in &inline.parameters {
                        let mut symbol = named(parameter, SymbolKind::InlineParameter);
                        symbol.container = Some(id);
                        symbol.detail = format!("{} (parameter of inline {})", parameter.text, inline.name.text);
                        let id = self.index.add(symbol);
                        self.mark(parameter, id, Role::Definition);
                    }
                    self.stretch(inline.body, true);
                }
                Unit::Ltl(ltl) => {
                    self.stretch(ltl.span.to(ltl.formula.span), true);
                    if let Some(name) = &ltl.name {
                        let mut symbol = named(name, SymbolKind::Formula);
                        symbol.extent = ltl.span.to(ltl.formula.span);
                        symbol.detail = format!("ltl {} {{ {} }}", name.text, self.map.text(ltl.formula.span));
                        let id = self.declare_outside(name, symbol);
                        self.scopes[0].entry(name.text.clone()).or_insert(id);
                    }
                }
                _ => {}
            }
        }
    }

    fn declare_outside(&mut self, name: &Name, symbol: Symbol) -> SymbolId {
        let id = self.index.add(symbol);
        self.mark(name, id, Role::Definition);
        id
    }

    /// Records that a name stands somewhere.
    fn mark(&mut self, name: &Name, symbol: SymbolId, role: Role) {
        // A word that `##` made stands nowhere.
        if self.map.text(name.span) != &*name.text {
            return;
        }
        let chain = self.map.expansion_chain(name.span);
        let inline = chain.iter().find(|expansion| expansion.kind == ExpansionKind::Inline);
        let within = inline.and_then(|expansion| self.inlines.get(&expansion.name).copied()).or(self.container);
        let (file, start, end) = (name.span.file, name.span.start, name.span.end);
        self.index.occurrences.push(Occurrence { file, start, end, symbol, role, within });
    }

    /// Records a stretch of text that belongs together, as it is written.
    fn stretch(&mut self, span: Span, folds: bool) {
        let of_macro = self.map.expansion(span.via).is_some_and(|expansion| expansion.kind == ExpansionKind::Macro);
        if !of_macro && span.start < span.end && self.index.stretches.len() < STRETCHES_MAX {
            self.index.stretches.push(Stretch { file: span.file, start: span.start, end: span.end, folds });
        }
    }

    fn find(&self, name: &str) -> Option<SymbolId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Proctype(p) => {
                self.stretch(p.span, true);
                if let Some(Some(count)) = &p.active {
                    self.expr(count, Role::Read);
                }
                let id = self.processes.get(&p.name.text).copied();
                self.enter(id, &p.body);
                for declaration in &p.parameters {
                    self.declaration(declaration, SymbolKind::Parameter);
                }
                if let Some(provided) = &p.provided {
                    self.expr(provided, Role::Read);
                }
                self.steps(&p.body);
                self.leave();
            }
            Unit::Init(init) => self.body(":init:", SymbolKind::Init, init.span, &init.body),
            Unit::Never(claim) => {
                let name = claim.name.as_ref().map_or("never", |name| &name.text).to_owned();
                self.body(&name, SymbolKind::Claim, claim.span, &claim.body);
            }
            Unit::Trace(trace) => {
                let name = if trace.negated { "notrace" } else { "trace" };
                self.body(name, SymbolKind::Claim, trace.span, &trace.body);
            }
            Unit::Ltl(_) | Unit::Inline(_) => {}
            Unit::Typedef(typedef) => self.structure(typedef),
            Unit::Mtype(mtype) => self.constants(mtype),
            Unit::Variables(declaration) => self.declaration(declaration, SymbolKind::Global),
            Unit::EmbeddedC(c) => self.stretch(c.span, true),
        }
    }

    /// A body that is not a process type.
    fn body(&mut self, name: &str, kind: SymbolKind, word: Span, body: &Sequence) {
        let name = Name { text: name.into(), span: word };
        let mut symbol = named(&name, kind);
        symbol.extent = word.to(body.span);
        symbol.detail = self.map.text(word).to_owned();
        let extent = symbol.extent;
        let id = self.index.add(symbol);
        self.stretch(extent, true);
        self.enter(Some(id), body);
        self.steps(body);
        self.leave();
    }

    fn enter(&mut self, container: Option<SymbolId>, body: &Sequence) {
        self.container = container;
        self.labels.clear();
        self.collect_labels(body);
        self.scopes.push(HashMap::new());
    }

    fn leave(&mut self) {
        self.scopes.truncate(1);
        self.container = None;
    }

    fn structure(&mut self, typedef: &crate::ast::Typedef) {
        let mut symbol = named(&typedef.name, SymbolKind::Structure);
        let last = typedef.fields.last().map_or(typedef.name.span, |field| field.span);
        symbol.extent = typedef.name.span.to(last);
        symbol.detail = format!("typedef {}", typedef.name.text);
        self.stretch(symbol.extent, true);
        let id = self.declare_outside(&typedef.name, symbol);
        self.structures.insert(typedef.name.text.clone(), id);
        let before = self.container.replace(id);
        self.scopes.push(HashMap::new());
        for field in &typedef.fields {
            self.declaration(field, SymbolKind::Field);
        }
        self.scopes.pop();
        self.container = before;
    }

    fn constants(&mut self, mtype: &crate::ast::MtypeDecl) {
        self.stretch(mtype.span, true);
        let set = mtype.set.as_ref().map(|set| format!(":{}", set.text)).unwrap_or_default();
        if let Some(name) = &mtype.set {
            self.constant_set(name, Role::Definition);
        }
        let known = self.index.symbols.iter().filter(|symbol| {
            symbol.kind == SymbolKind::Constant && symbol.parameters.first().is_some_and(|own| *own == set)
        });
        // The last name has the least number.
        let greatest = (known.count() + mtype.names.len()) as i32;
        for (at, name) in mtype.names.iter().enumerate() {
            let value = greatest - at as i32;
            let mut symbol = named(name, SymbolKind::Constant);
            symbol.detail = format!("mtype{set} {} = {value}", name.text);
            (symbol.value, symbol.parameters) = (Some(value), vec![set.clone()]);
            let id = self.declare_outside(name, symbol);
            self.scopes[0].entry(name.text.clone()).or_insert(id);
        }
    }

    /// The name of a set of constants, which is declared where it first stands.
    fn constant_set(&mut self, name: &Name, role: Role) {
        let known = self.index.named(&name.text, &[SymbolKind::ConstantSet]);
        let id = known.unwrap_or_else(|| {
            let mut symbol = named(name, SymbolKind::ConstantSet);
            symbol.detail = format!("mtype:{}", name.text);
            self.index.add(symbol)
        });
        self.mark(name, id, role);
    }

    /// The variables of a declaration in one line each.
    fn declared(&self, declaration: &Declaration) -> Vec<String> {
        let ty = type_text(&declaration.ty);
        let one = |declarator: &Declarator| {
            let length = declarator.length.as_ref().map(|length| format!("[{}]", self.map.text(length.span)));
            format!("{ty} {}{}", declarator.name.text, length.unwrap_or_default())
        };
        declaration.declarators.iter().map(one).collect()
    }

    fn declaration(&mut self, declaration: &Declaration, kind: SymbolKind) {
        self.stretch(declaration.span, false);
        let structure = match &declaration.ty {
            TypeName::User(name) => {
                if let Some(&id) = self.structures.get(&name.text) {
                    self.mark(name, id, Role::Read);
                }
                Some(name.text.clone())
            }
            TypeName::Mtype(Some(set)) => {
                self.constant_set(set, Role::Read);
                None
            }
            _ => None,
        };
        let visibility = match declaration.visibility {
            Some(Visibility::Hidden) => "hidden ",
            Some(Visibility::Show) => "show ",
            Some(Visibility::Local) => "local ",
            None => "",
        };
        let texts = self.declared(declaration);
        for (declarator, text) in declaration.declarators.iter().zip(texts) {
            self.declarator(declarator, kind, format!("{visibility}{text}"), structure.clone(), &declaration.ty);
        }
    }

    fn declarator(
        &mut self,
        declarator: &Declarator,
        kind: SymbolKind,
        mut detail: String,
        structure: Option<Arc<str>>,
        ty: &TypeName,
    ) {
        if let Some(length) = &declarator.length {
            self.expr(length, Role::Read);
        }
        let mut fields = Vec::new();
        match &declarator.initial {
            Some(Initializer::Expr(value)) => {
                let written = written_value(self.map, &declarator.name);
                detail = format!("{detail} = {}", written.unwrap_or_else(|| self.map.text(value.span)));
                self.expr(value, Role::Read);
            }
            Some(Initializer::Channel { capacity, fields: types, span }) => {
                detail = format!("{detail} = {}", self.map.text(*span));
                self.expr(capacity, Role::Read);
                for (ty, _) in types {
                    if let TypeName::User(name) = ty
                        && let Some(&id) = self.structures.get(&name.text)
                    {
                        self.mark(name, id, Role::Read);
                    }
                }
                fields = types.iter().map(|(ty, _)| type_text(ty)).collect();
            }
            Some(Initializer::List(_, span)) => detail = format!("{detail} = {}", self.map.text(*span)),
            None => {}
        }
        let mut symbol = named(&declarator.name, kind);
        (symbol.detail, symbol.structure) = (detail, structure);
        (symbol.channel, symbol.parameters) = (*ty == TypeName::Chan, fields);
        symbol.container = self.container;
        let id = self.index.add(symbol);
        self.mark(&declarator.name, id, Role::Definition);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(declarator.name.text.clone(), id);
        }
    }

    fn collect_labels(&mut self, body: &Sequence) {
        let mut waiting: Vec<&Sequence> = vec![body];
        let mut steps: Vec<&Step> = Vec::new();
        loop {
            if let Some(sequence) = waiting.pop() {
                steps.extend(sequence.steps.iter().rev());
            }
            let Some(step) = steps.pop() else { if waiting.is_empty() { return } else { continue } };
            for label in &step.labels {
                if !self.labels.contains_key(&label.text) {
                    let mut symbol = named(label, SymbolKind::Label);
                    symbol.container = self.container;
                    symbol.detail = format!("{}:", label.text);
                    let id = self.index.add(symbol);
                    self.labels.insert(label.text.clone(), id);
                }
            }
            match &step.kind {
                StepKind::If(options) | StepKind::Do(options) => waiting.extend(options.iter().rev()),
                StepKind::ForRange { body, .. } | StepKind::ForIn { body, .. } | StepKind::Inlined { body, .. } => {
                    waiting.push(body);
                }
                StepKind::Atomic(body) | StepKind::DStep(body) | StepKind::Block(body) => waiting.push(body),
                StepKind::Unless { main, escape } => steps.extend([&**escape, &**main]),
                _ => {}
            }
        }
    }

    fn steps(&mut self, sequence: &Sequence) {
        self.stretch(sequence.span, true);
        for step in &sequence.steps {
            self.step(step);
        }
    }

    /// Steps in braces.
    fn block(&mut self, sequence: &Sequence) {
        self.scopes.push(HashMap::new());
        self.steps(sequence);
        self.scopes.pop();
    }

    fn step(&mut self, step: &Step) {
        for label in &step.labels {
            if let Some(&id) = self.labels.get(&label.text) {
                self.mark(label, id, Role::Definition);
            }
        }
        let folds = matches!(step.kind, StepKind::If(_) | StepKind::Do(_));
        self.stretch(step.span, folds);
        match &step.kind {
            StepKind::Declaration(declaration) => self.declaration(declaration, SymbolKind::Local),
            StepKind::Exclusive { channels, .. } => {
                channels.iter().for_each(|channel| self.variable(channel, Role::Read))
            }
            StepKind::Expr(e) | StepKind::Assert(e) | StepKind::Printm(e) | StepKind::Return(e) => {
                self.expr(e, Role::Read);
            }
            StepKind::Assign { target, value } => {
                self.variable(target, Role::Write);
                self.expr(value, Role::Read);
            }
            StepKind::Increment(target) | StepKind::Decrement(target) => self.variable(target, Role::Write),
            StepKind::Printf { arguments, .. } => arguments.iter().for_each(|argument| self.expr(argument, Role::Read)),
            StepKind::Send { channel, arguments, .. } => {
                self.variable(channel, Role::Send);
                arguments.iter().for_each(|argument| self.expr(argument, Role::Read));
            }
            StepKind::Receive { channel, arguments, .. } => {
                self.variable(channel, Role::Receive);
                self.received(arguments, Role::Write);
            }
            StepKind::SetPriority { pid, priority } => {
                self.expr(pid, Role::Read);
                self.expr(priority, Role::Read);
            }
            StepKind::Goto(label) => {
                if let Some(&id) = self.labels.get(&label.text) {
                    self.mark(label, id, Role::Goto);
                }
            }
            StepKind::If(options) | StepKind::Do(options) => options.iter().for_each(|option| self.steps(option)),
            StepKind::ForRange { variable, from, to, body } => {
                self.variable(variable, Role::Write);
                self.expr(from, Role::Read);
                self.expr(to, Role::Read);
                self.block(body);
            }
            StepKind::ForIn { variable, container, body } => {
                self.variable(variable, Role::Write);
                self.variable(container, Role::Read);
                self.block(body);
            }
            StepKind::Select { variable, from, to } => {
                self.variable(variable, Role::Write);
                self.expr(from, Role::Read);
                self.expr(to, Role::Read);
            }
            StepKind::Atomic(body) | StepKind::DStep(body) | StepKind::Block(body) => self.block(body),
            StepKind::Unless { main, escape } => {
                self.step(main);
                self.step(escape);
            }
            StepKind::Inlined { name, arguments, result, body } => {
                if let Some(&id) = self.inlines.get(&name.text) {
                    self.mark(name, id, Role::Call);
                }
                arguments.iter().for_each(|argument| self.expr(argument, Role::Read));
                if let Some(result) = result {
                    self.variable(result, Role::Write);
                }
                self.block(body);
            }
            StepKind::Skip | StepKind::Else | StepKind::Break | StepKind::EmbeddedC(_) | StepKind::Error => {}
        }
    }

    fn received(&mut self, arguments: &[ReceiveArg], role: Role) {
        for argument in arguments {
            match argument {
                ReceiveArg::Variable(variable) => self.variable(variable, role),
                ReceiveArg::Eval(e) => self.expr(e, Role::Read),
                ReceiveArg::Constant(constant) => self.constant(constant),
            }
        }
    }

    fn constant(&mut self, constant: &crate::ast::Constant) {
        if let Some(name) = &constant.name
            && let Some(id) = self.find(&name.text)
        {
            self.mark(name, id, Role::Read);
        }
    }

    /// `a[i].b[j]`: the first name by its scope, the others by the structure of the one before.
    fn variable(&mut self, variable: &VarRef, role: Role) {
        let last = variable.parts.len().saturating_sub(1);
        let mut owner: Option<SymbolId> = None;
        for (at, part) in variable.parts.iter().enumerate() {
            let found = if at == 0 { self.find(&part.name.text) } else { self.field(owner, &part.name.text) };
            if let Some(id) = found {
                let constant = self.index.symbol(id).kind == SymbolKind::Constant;
                self.mark(&part.name, id, if at == last && !constant { role } else { Role::Read });
            }
            owner = found;
            if let Some(index) = &part.index {
                self.expr(index, Role::Read);
            }
        }
        self.stretch(variable.span, false);
    }

    fn field(&self, owner: Option<SymbolId>, name: &str) -> Option<SymbolId> {
        let structure = self.index.symbol(owner?).structure.clone()?;
        let structure = *self.structures.get(&structure)?;
        self.index.members(Some(structure)).find(|&id| &*self.index.symbol(id).name == name)
    }

    fn expr(&mut self, e: &Expr, role: Role) {
        self.stretch(e.span, false);
        match &e.kind {
            ExprKind::Constant(constant) => self.constant(constant),
            ExprKind::Var(variable) => self.variable(variable, role),
            ExprKind::Unary(_, a) | ExprKind::Enabled(a) | ExprKind::GetPriority(a) | ExprKind::PcValue(a) => {
                self.expr(a, role);
            }
            ExprKind::Binary(_, a, b) => {
                self.expr(a, role);
                self.expr(b, role);
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part, role)),
            ExprKind::Run { process, arguments, .. } => {
                if let Some(&id) = self.processes.get(&process.text) {
                    self.mark(process, id, Role::Run);
                }
                arguments.iter().for_each(|argument| self.expr(argument, role));
            }
            ExprKind::Len(v) | ExprKind::Full(v) | ExprKind::NFull(v) | ExprKind::Empty(v) | ExprKind::NEmpty(v) => {
                self.variable(v, role);
            }
            ExprKind::Poll { channel, arguments, .. } => {
                self.variable(channel, Role::Read);
                self.received(arguments, Role::Read);
            }
            ExprKind::RemoteLabel { process, pid, label } => self.remote(process, pid.as_deref(), label, true),
            ExprKind::RemoteVar { process, pid, variable } => {
                if let Some(first) = variable.parts.first() {
                    self.remote(process, pid.as_deref(), &first.name, false);
                }
            }
            ExprKind::Timeout | ExprKind::NonProgress | ExprKind::EmbeddedC(_) | ExprKind::Error => {}
        }
    }

    fn remote(&mut self, process: &Name, pid: Option<&Expr>, name: &Name, label: bool) {
        if let Some(&id) = self.processes.get(&process.text) {
            self.mark(process, id, Role::Read);
            self.remote.push((id, name.clone(), label));
        }
        if let Some(pid) = pid {
            self.expr(pid, Role::Read);
        }
    }

    /// Resolves names of labels and variables of other processes, now that all are known.
    fn remote_names(&mut self) {
        for (process, name, label) in std::mem::take(&mut self.remote) {
            let fits = |id: &SymbolId| {
                let symbol = self.index.symbol(*id);
                symbol.name == name.text && (symbol.kind == SymbolKind::Label) == label
            };
            let found = self.index.members(Some(process)).find(fits);
            if let Some(id) = found {
                self.mark(&name, id, Role::Read);
            }
        }
    }
}

/// The value of a declaration as it was written, macros and all; `None` if it does not stand right behind the name.
fn written_value<'m>(map: &'m SourceMap, name: &Name) -> Option<&'m str> {
    let shown = map.user_span(name.span);
    let rest = map.file(shown.file).text.get(shown.end as usize..)?;
    let value = rest.trim_start().strip_prefix('=').filter(|_| shown == name.span)?;
    let mut depth = 0_u32;
    let ends = |letter: char| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return true,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(letter, ',' | ';' | '\n' | '\r') || letter == '/'
    };
    let value = value.trim_start();
    let end = value.find(ends).unwrap_or(value.len());
    Some(value[..end].trim_end()).filter(|value| !value.is_empty())
}

/// A type as it is written.
fn type_text(ty: &TypeName) -> String {
    match ty {
        TypeName::Bit => "bit".to_owned(),
        TypeName::Bool => "bool".to_owned(),
        TypeName::Byte => "byte".to_owned(),
        TypeName::Short => "short".to_owned(),
        TypeName::Int => "int".to_owned(),
        TypeName::Unsigned => "unsigned".to_owned(),
        TypeName::Pid => "pid".to_owned(),
        TypeName::Chan => "chan".to_owned(),
        TypeName::Mtype(None) => "mtype".to_owned(),
        TypeName::Mtype(Some(set)) => format!("mtype:{}", set.text),
        TypeName::User(name) => name.text.to_string(),
    }
}
