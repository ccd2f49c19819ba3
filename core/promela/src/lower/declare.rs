//! Declarations: variables, parameters, structures, symbolic constants, channels.

use super::{Declared, Lowering, Parameter};
use crate::ast::{self, Declaration, Declarator, ExprKind, Initializer, TypeName, VarRef, Visibility};
use crate::flow::Node;
use crate::names::{DeclaredId, Meaning, SymbolId};
use crate::types::{Basic, Field, Leaf, OwnLeaf, Struct, VarType};
use fabius_base::{Code, Finding, Span};
use fabius_program::{
    Action, ChannelType, ChannelTypeId, EnumId, Expr, Initial, Kind, Place, ProcessKind, Type, Variable, indices_of,
    with_indices,
};
use std::sync::Arc;

/// A declared variable before its name means anything.
struct Fresh {
    symbol: SymbolId,
    declared: Declared,
}

impl Lowering<'_> {
    /// `mtype = { … }`
    pub(super) fn mtype(&mut self, mtype: &ast::MtypeDecl) {
        let set = self.set(mtype.set.as_ref().map(|n| &n.text));
        // Numbers follow the list from its end.
        for name in mtype.names.iter().rev() {
            let symbol = self.names.lookup(&name.text, name.span);
            if self.sets.of_constant(&name.text).is_some() {
                self.redeclared(name, symbol);
                continue;
            }
            if self.names.symbol(symbol).meaning != Meaning::Untyped {
                self.redeclared(name, symbol);
            }
            let value = self.sets.add(set, name.text.clone()) as i32;
            let symbol = self.names.symbol_mut(symbol);
            symbol.meaning = Meaning::Constant(value);
            symbol.span = name.span;
        }
        if self.sets.list()[set].names.len() > 255 {
            let headline = "there are more than 255 symbolic constants";
            self.error(Code::TooMany, mtype.span, headline, "their numbers are stored in a byte");
        }
    }

    /// The set of symbolic constants with a name; makes it if need be.
    fn set(&mut self, name: Option<&Arc<str>>) -> usize {
        self.sets.find_or_add(name.cloned().unwrap_or_else(|| "".into()))
    }

    /// The set a constant belongs to.
    pub(super) fn set_of(&self, constant: &str) -> Option<Arc<str>> {
        self.sets.of_constant(constant).map(|set| self.sets.list()[set].name.clone())
    }

    fn basic(&mut self, ty: &TypeName, declarator: Option<&Declarator>) -> Option<VarType> {
        let basic = match ty {
            TypeName::Bit => Basic::Bit,
            TypeName::Bool => Basic::Bool,
            TypeName::Byte => Basic::Byte,
            TypeName::Short => Basic::Short,
            TypeName::Int => Basic::Int,
            TypeName::Pid => Basic::Pid,
            TypeName::Chan => Basic::Chan,
            TypeName::Mtype(_) => Basic::Mtype,
            TypeName::Unsigned => Basic::Unsigned(declarator.map_or(16, |d| self.width(d))),
            TypeName::User(name) => {
                let found = self.types.find(&name.text);
                if found.is_none() {
                    let near = self.nearest(&name.text, self.types.names());
                    let headline = format!("there is no type `{}`", name.text);
                    let mut finding = Finding::new(Code::UndeclaredName, headline).at(name.span, "");
                    finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
                    self.report(finding);
                }
                return found.map(VarType::Struct);
            }
        };
        Some(VarType::Basic(basic))
    }

    fn width(&mut self, d: &Declarator) -> u8 {
        match d.width.as_ref().map(|w| w.value) {
            Some(width @ 1..=31) => width as u8,
            None | Some(0) => {
                let headline = format!("`{}` needs a width", d.name.text);
                self.report(
                    Finding::new(Code::BadDeclaration, headline)
                        .at(d.name.span, "declared `unsigned`")
                        .help(format!("write `unsigned {} : 8` for a number of eight bits", d.name.text)),
                );
                16
            }
            Some(width) => {
                let headline = "the width must be between 1 and 31";
                self.error(Code::BadDeclaration, d.name.span, headline, format!("this is {width}"));
                31
            }
        }
    }

    /// The length of an array, if it is one.
    fn length(&mut self, d: &Declarator) -> Option<u32> {
        let e = d.length.as_ref()?;
        let length = if let ExprKind::Var(v) = &e.kind {
            let value = self.constant_of_variable(v, "the length of an array");
            if let Some(value) = value {
                let length = if value > 0 { value } else { 8 };
                let headline = "the length of an array should be a constant";
                let mut finding = Finding::new(Code::NotConstant, headline)
                    .at(v.span, format!("taken as {length}, the value it was declared with"))
                    .help(format!("write `#define {} {length}`", v.parts[0].name.text));
                finding.severity = fabius_base::Severity::Warning;
                self.report(finding);
                length
            } else {
                1
            }
        } else {
            self.constant_expression(e).unwrap_or(1)
        };
        if length <= 0 {
            let headline = format!("`{}` has a bad length", d.name.text);
            self.error(Code::BadDeclaration, e.span, headline, format!("this is {length}"));
        }
        Some(length.max(1) as u32)
    }

    /// A declaration of variables, outside of or inside a body.
    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        let mut fresh = Vec::new();
        for declarator in &declaration.declarators {
            fresh.extend(self.declarator(declaration, declarator, false));
        }
        self.bind(fresh);
    }

    /// A declaration of parameters.
    pub(super) fn parameters(&mut self, declaration: &Declaration) {
        let mut fresh = Vec::new();
        for declarator in &declaration.declarators {
            if declarator.initial.is_some() {
                let headline = "a parameter cannot have a first value";
                self.error(Code::BadDeclaration, declarator.name.span, headline, "its value is given by `run`");
            }
            if declarator.length.is_some() {
                let headline = "a parameter cannot be an array";
                self.error(Code::BadDeclaration, declarator.name.span, headline, "");
            }
            let Some(one) = self.declarator(declaration, declarator, true) else { continue };
            let leaves = self.types.leaves_of(one.declared.ty, None, OwnLeaf::default());
            if leaves.iter().any(|leaf| !leaf.dimensions.is_empty()) {
                let headline = "a parameter cannot be a structure that holds arrays";
                self.error(Code::BadDeclaration, declarator.name.span, headline, "");
            }
            let mtype = match &declaration.ty {
                TypeName::Mtype(set) => Some(set.as_ref().map_or_else(|| "".into(), |n| n.text.clone())),
                _ => None,
            };
            for _ in &leaves {
                self.draft().parameters.push(Parameter { mtype: mtype.clone() });
            }
            self.draft().parameter_count += leaves.len() as u32;
            fresh.push(one);
        }
        self.bind(fresh);
    }

    /// Lets names mean the variables of one declaration; until then they mean nothing, not even to each
    /// other's first values.
    fn bind(&mut self, fresh: Vec<Fresh>) {
        for Fresh { symbol, declared } in fresh {
            if self.names.symbol(symbol).meaning != Meaning::Untyped {
                let name = self.names.symbol(symbol).name.clone();
                self.redeclared(&ast::Name { text: name, span: declared.span }, symbol);
                continue;
            }
            let id = DeclaredId(self.declared.len() as u32);
            let symbol = self.names.symbol_mut(symbol);
            symbol.meaning = Meaning::Variable(id);
            symbol.span = declared.span;
            self.declared.push(declared);
        }
    }

    fn declarator(&mut self, declaration: &Declaration, d: &Declarator, parameter: bool) -> Option<Fresh> {
        let symbol = self.names.lookup(&d.name.text, d.name.span);
        let ty = self.basic(&declaration.ty, Some(d))?;
        self.check_declarator(declaration, d, ty);
        let length = self.length(d);
        let process = self.names.context();
        let set = match &declaration.ty {
            TypeName::Mtype(set) => set.as_ref().map(|n| n.text.clone()),
            _ => None,
        };
        let enumeration = (ty == VarType::Basic(Basic::Mtype)).then(|| EnumId(self.set(set.as_ref()) as u32));
        let (initial, constant) = self.initial(d, ty, parameter);
        // Behind the first statement, a value is assigned by a step of its own.
        let as_step = !self.flow.at_start && process.is_some();
        let at_creation =
            if as_step && !matches!(initial, Initial::Channel(_)) { Initial::Zero } else { initial.clone() };
        let own = OwnLeaf { enumeration, initial: at_creation };
        let hidden = declaration.visibility == Some(Visibility::Hidden);
        let leaf = self.add_leaves(d, ty, length, own, hidden);
        if process.is_none() {
            self.local_globals.resize(self.globals.len(), declaration.visibility == Some(Visibility::Local));
        }
        if as_step {
            self.initial_step(d, ty, leaf, length.is_some(), initial);
        }
        if self.kind() == Some(ProcessKind::Claim) {
            let headline = "a claim cannot have variables of its own";
            self.error(Code::NotAllowedHere, d.name.span, headline, "declare it outside");
        }
        let span = d.name.span;
        let declared = Declared { process, leaf, ty, length, constant, set, read: false, span };
        Some(Fresh { symbol, declared })
    }

    fn check_declarator(&mut self, declaration: &Declaration, d: &Declarator, ty: VarType) {
        let name = &d.name.text;
        if d.width.as_ref().is_some_and(|w| w.value > 0) && !matches!(ty, VarType::Basic(Basic::Unsigned(_))) {
            let headline = format!("`{name}` cannot have a width");
            self.error(Code::BadDeclaration, d.name.span, headline, "only an `unsigned` has one");
        }
        if matches!(d.initial, Some(Initializer::Channel { .. })) && !ty.is_channel() {
            let headline = format!("`{name}` is not a channel");
            self.error(Code::TypeMismatch, d.name.span, headline, "but a channel is made for it");
        }
        if declaration.visibility == Some(Visibility::Hidden) {
            let reason = match ty {
                _ if self.names.context().is_some() => "only a global variable can be hidden",
                VarType::Basic(Basic::Bit | Basic::Bool) => "a bit cannot be hidden",
                VarType::Basic(Basic::Chan) => "a channel cannot be hidden",
                _ => return,
            };
            self.error(Code::BadDeclaration, d.name.span, reason, format!("`{name}` is declared `hidden`"));
        }
    }

    /// The first value of a declarator, and what a constant expression may take it for.
    fn initial(&mut self, d: &Declarator, ty: VarType, parameter: bool) -> (Initial, Option<i32>) {
        match &d.initial {
            None => (Initial::Zero, Some(0)),
            Some(Initializer::List(values, span)) => {
                self.start_reads_globals(true);
                if d.length.is_none() {
                    let headline = format!("`{}` is not an array", d.name.text);
                    self.error(Code::TypeMismatch, *span, headline, "a list of values is for arrays");
                }
                let constant = values.first().map(|c| c.value);
                (Initial::List(values.iter().map(|c| Expr::Constant(c.value)).collect()), constant)
            }
            Some(Initializer::Expr(e)) => {
                let before = self.calls.len();
                let value = self.expression(e);
                if self.calls.len() > before {
                    let headline = "`run` cannot give a variable its first value";
                    self.report(
                        Finding::new(Code::NotAllowedHere, headline)
                            .at(e.span, "")
                            .help(format!("declare `{}` first, then assign", d.name.text)),
                    );
                }
                let declared_set = None;
                self.check_constant_set(&d.name.text, declared_set, e);
                self.check_channel_use(false, e);
                let local = |v: &VarRef| self.base(v).is_some_and(|b| self.variable(b).process.is_some());
                let global = match &e.kind {
                    ExprKind::Constant(_) => false,
                    ExprKind::Var(v) => !local(v),
                    _ => true,
                };
                self.start_reads_globals(global);
                // Behind the first statement nothing is remembered of it.
                let forgotten = !self.flow.at_start && self.names.context().is_some();
                let constant = match &e.kind {
                    _ if forgotten => None,
                    ExprKind::Constant(c) => Some(c.value),
                    _ => Some(0),
                };
                (Initial::Value(value), constant)
            }
            Some(Initializer::Channel { capacity, fields, span }) => {
                self.start_reads_globals(true);
                if !self.flow.at_start && self.names.context().is_some() && !parameter {
                    self.report(
                        Finding::new(Code::BadDeclaration, "a channel must be made before the first statement")
                            .at(*span, format!("move the declaration of `{}` to the start of the body", d.name.text))
                            .note("channels of a process are made when the process is"),
                    );
                }
                let id = self.channel_type(capacity, fields, *span);
                if ty.is_channel() { (Initial::Channel(id), Some(0)) } else { (Initial::Zero, Some(0)) }
            }
        }
    }

    /// Notes whether the first value that was read last may depend on globals.
    fn start_reads_globals(&mut self, global: bool) {
        if self.names.context().is_some() {
            self.draft().reads_globals_at_start = global;
        }
    }

    /// Capacity and message layout.
    fn channel_type(&mut self, capacity: &ast::Expr, fields: &[(TypeName, Span)], span: Span) -> ChannelTypeId {
        let capacity = self.constant_expression(capacity).unwrap_or(0);
        self.has_rendezvous |= capacity == 0;
        self.has_buffered |= capacity != 0;
        let mut leaves: Vec<(Option<Basic>, Type, String)> = Vec::new();
        for (ty, at) in fields {
            let set = if let TypeName::Mtype(set) = ty { set.as_ref().map(|n| n.text.clone()) } else { None };
            let Some(found) = self.basic(ty, None) else { continue };
            let enumeration = (found == VarType::Basic(Basic::Mtype)).then(|| EnumId(self.set(set.as_ref()) as u32));
            let inner = self.types.leaves_of(found, None, OwnLeaf { enumeration, initial: Initial::Zero });
            for leaf in inner {
                self.message_leaf(&leaf, *at, &mut leaves);
            }
        }
        let alone = leaves.len() == 1;
        let mut types = Vec::new();
        let mut names = Vec::new();
        for (basic, ty, name) in leaves {
            let bit = matches!(basic, Some(Basic::Bit | Basic::Bool));
            types.push(if bit { Type { bits: if alone { 8 } else { 1 }, ..ty } } else { ty });
            names.push(name);
        }
        self.message_fields_max = self.message_fields_max.max(types.len());
        if capacity < 0 {
            self.error(Code::BadDeclaration, span, "a channel cannot have a negative capacity", "");
        }
        let capacity = capacity.max(0) as u32;
        self.channel_types.push(ChannelType { capacity, fields: types, field_names: names, span });
        if self.channel_types.len() > 255 {
            self.error(Code::TooMany, span, "there are more than 255 kinds of channels", "");
        }
        ChannelTypeId(self.channel_types.len() as u32 - 1)
    }

    fn message_leaf(&mut self, leaf: &Leaf, at: Span, leaves: &mut Vec<(Option<Basic>, Type, String)>) {
        if matches!(leaf.basic, Basic::Unsigned(_)) {
            let headline = "an `unsigned` cannot be a field of a message";
            self.error(Code::TypeMismatch, at, headline, "use `byte`, `short` or `int`");
        }
        let count: u32 = leaf.dimensions.iter().product();
        for element in 0..count {
            let indices: Vec<String> =
                indices_of(&leaf.dimensions, element as usize).iter().map(usize::to_string).collect();
            let name = with_indices(&leaf.path, &indices);
            leaves.push((Some(leaf.basic), leaf.basic.stored(false, kind_of(leaf.ty)), name));
        }
    }

    /// Adds the leaves of a variable to the globals or to the locals of its process; returns the first.
    fn add_leaves(&mut self, d: &Declarator, ty: VarType, length: Option<u32>, own: OwnLeaf, hidden: bool) -> u32 {
        let leaves = self.types.leaves_of(ty, length, own);
        let rank = ty.rank();
        let plain = length.is_none() && matches!(ty, VarType::Basic(_));
        let context = self.names.context();
        let first = self.leaf_count(context);
        for leaf in leaves {
            let name = field_path(&d.name.text, length, &leaf.path);
            // Outside of the state even a single bit takes a byte.
            let bits = if hidden && leaf.ty.bits < 16 { 8 } else { leaf.ty.bits };
            let variable = Variable {
                name,
                ty: Type { bits, ..leaf.ty },
                dimensions: leaf.dimensions,
                initial: leaf.initial,
                hidden,
                span: d.name.span,
            };
            match context {
                Some(process) => {
                    let draft = &mut self.drafts[process as usize];
                    draft.locals.push(variable);
                    draft.plain.push(plain);
                }
                None => {
                    self.globals.push(variable);
                    self.ranks.push(rank);
                }
            }
        }
        first
    }

    fn leaf_count(&self, context: crate::names::Context) -> u32 {
        let list = context.map_or(&self.globals, |process| &self.drafts[process as usize].locals);
        list.len() as u32
    }

    /// The step that gives a variable its first value in the middle of a body.
    fn initial_step(&mut self, d: &Declarator, ty: VarType, leaf: u32, array: bool, initial: Initial) {
        let place = Place {
            slot: Self::slot(self.names.context(), leaf),
            indices: if array { vec![Expr::Constant(0)] } else { Vec::new() },
        };
        let structure = matches!(ty, VarType::Struct(_));
        let (action, text) = match initial {
            _ if structure => (Action::Skip, d.name.text.to_string()),
            Initial::Zero => (Action::Assign(place, Expr::Constant(0)), format!("{} = 0", d.name.text)),
            Initial::Value(value) => {
                let text = match &d.initial {
                    Some(Initializer::Expr(e)) => format!("{} = {}", d.name.text, super::text::expr(e)),
                    _ => d.name.text.to_string(),
                };
                (Action::Assign(place, value), text)
            }
            Initial::List(_) => {
                self.report(
                    Finding::new(Code::BadDeclaration, "a list of values must come before the first statement")
                        .at(d.name.span, "move the declaration to the start of the body"),
                );
                return;
            }
            Initial::Channel(_) => return,
        };
        let step = self.flow.plain(Node::Action(action), d.name.span, text);
        self.flow.add(step);
    }

    /// `typedef Name { … }`
    pub(super) fn typedef(&mut self, typedef: &ast::Typedef) {
        if self.types.find(&typedef.name.text).is_some() {
            let headline = format!("the type `{}` is declared twice", typedef.name.text);
            self.error(Code::Redeclared, typedef.name.span, headline, "here again");
            return;
        }
        let mut structure = Struct::new(typedef.name.text.clone());
        for declaration in &typedef.fields {
            for d in &declaration.declarators {
                self.field(&mut structure, declaration, d);
            }
        }
        self.types.push(structure);
    }

    fn field(&mut self, structure: &mut Struct, declaration: &Declaration, d: &Declarator) {
        let Some(ty) = self.basic(&declaration.ty, Some(d)) else { return };
        self.check_declarator(declaration, d, ty);
        if let Some(twin) = structure.field(&d.name.text) {
            let headline = format!("`{}` has two fields `{}`", structure.name, d.name.text);
            let finding = Finding::new(Code::Redeclared, headline)
                .at(d.name.span, "here again")
                .at(twin.span, "the first one is here");
            self.report(finding);
            return;
        }
        let length = self.length(d);
        let (initial, _) = self.initial(d, ty, false);
        let set = if let TypeName::Mtype(set) = &declaration.ty { set.as_ref().map(|n| n.text.clone()) } else { None };
        let enumeration = (ty == VarType::Basic(Basic::Mtype)).then(|| EnumId(self.set(set.as_ref()) as u32));
        let leaf = structure.leaves.len() as u32;
        for mut inner in self.types.leaves_of(ty, length, OwnLeaf { enumeration, initial }) {
            inner.path = field_path(&d.name.text, length, &inner.path);
            structure.leaves.push(inner);
        }
        structure.push_field(Field { name: d.name.text.clone(), ty, length, leaf, span: d.name.span });
    }

    /// The variable that counts the rounds of `for (m in channel)`.
    pub(super) fn counter(&mut self, span: Span, large: bool) -> Place {
        let name = format!("_f0r_t3mp{:?}", self.names.scope());
        let symbol = self.names.lookup(&name, span);
        if let Meaning::Variable(declared) = self.names.symbol(symbol).meaning {
            let variable = self.variable(declared);
            return Place { slot: Self::slot(variable.process, variable.leaf), indices: Vec::new() };
        }
        let basic = if large { Basic::Short } else { Basic::Byte };
        let process = self.names.context();
        let variable = Variable {
            name: "round".into(),
            ty: basic.stored(false, None),
            dimensions: Vec::new(),
            initial: Initial::Zero,
            hidden: false,
            span,
        };
        let draft = self.draft();
        let leaf = draft.locals.len() as u32;
        draft.locals.push(variable);
        draft.plain.push(true);
        let declared = Declared {
            process,
            leaf,
            ty: VarType::Basic(basic),
            length: None,
            constant: None,
            set: None,
            read: true,
            span,
        };
        self.bind(vec![Fresh { symbol, declared }]);
        Place { slot: Self::slot(process, leaf), indices: Vec::new() }
    }

    /// A symbolic constant goes only into variables of its own set.
    pub(super) fn check_constant_set(&mut self, target: &str, declared: Option<DeclaredId>, value: &ast::Expr) {
        let ExprKind::Constant(c) = &value.kind else { return };
        let Some(name) = &c.name else { return };
        let Some(set) = self.set_of(&name.text) else { return };
        let Some(declared) = declared else { return };
        let ty = self.variable(declared).ty;
        match self.variable(declared).set.clone() {
            None => {
                self.declared[declared.0 as usize].set = Some(set.clone());
                if ty == VarType::Basic(Basic::Mtype) && !set.is_empty() {
                    self.adopt(declared, &set);
                }
            }
            Some(own) if own != set => {
                let shown = |s: &str| if s.is_empty() { "mtype".to_string() } else { format!("mtype:{s}") };
                let headline =
                    format!("`{target}` is of type `{}`, but `{}` of `{}`", shown(&own), name.text, shown(&set));
                self.error(
                    Code::TypeMismatch,
                    value.span,
                    headline,
                    "the numbers of both have nothing to do with each other",
                );
            }
            Some(_) => {}
        }
    }

    /// A variable declared plainly `mtype` is shown with the names of the set it is used with.
    fn adopt(&mut self, declared: DeclaredId, set: &Arc<str>) {
        let id = EnumId(self.set(Some(set)) as u32);
        let variable = self.variable(declared).clone();
        let leaf = variable.leaf as usize;
        let variable = match variable.process {
            Some(process) => &mut self.drafts[process as usize].locals[leaf],
            None => &mut self.globals[leaf],
        };
        variable.ty.kind = Kind::Enum(id);
    }

    /// Identities of channels are not numbers: nothing can be computed with them.
    pub(super) fn check_channel_use(&mut self, inner: bool, value: &ast::Expr) {
        match &value.kind {
            ExprKind::Var(v) if inner && self.is_channel(value) => {
                let headline = format!("nothing can be computed with the channel `{}`", super::text::variable(v));
                self.error(Code::TypeMismatch, value.span, headline, "its identity is not a number");
            }
            ExprKind::Unary(_, a) => self.check_channel_use(true, a),
            ExprKind::Binary(_, a, b) => {
                self.check_channel_use(true, a);
                self.check_channel_use(true, b);
            }
            ExprKind::Conditional(a, b, c) => {
                self.check_channel_use(true, a);
                self.check_channel_use(true, b);
                self.check_channel_use(true, c);
            }
            _ => {}
        }
    }

    /// Whether a reference is a whole variable without index or field.
    pub(super) fn whole(v: &VarRef) -> bool {
        v.parts.len() == 1 && v.parts[0].index.is_none()
    }

    /// The variable behind the first name of a reference.
    pub(super) fn base(&self, v: &VarRef) -> Option<DeclaredId> {
        let symbol = self.names.find(&v.parts.first()?.name.text)?;
        match self.names.symbol(symbol).meaning {
            Meaning::Variable(declared) => Some(declared),
            _ => None,
        }
    }
}

fn kind_of(ty: Type) -> Option<EnumId> {
    if let Kind::Enum(id) = ty.kind { Some(id) } else { None }
}

/// The path to a leaf of a variable or field: of an array of structures with `[]` where its index belongs.
fn field_path(name: &str, length: Option<u32>, path: &str) -> String {
    match (path, length) {
        ("", _) => name.to_owned(),
        (path, Some(_)) => format!("{name}[].{path}"),
        (path, None) => format!("{name}.{path}"),
    }
}
