//! References to variables: which leaf, which indices.

use super::Lowering;
use crate::ast::{VarPart, VarRef};
use crate::names::{DeclaredId, Meaning};
use crate::types::{Basic, StructId, VarType};
use fabius_base::{Code, Finding, Span};
use fabius_program::{Expr, Place, Slot, VariableId};

/// What a reference leads to.
#[derive(Clone, Debug)]
pub(super) enum Access {
    /// A value.
    Leaf { place: Place, declared: DeclaredId, basic: Basic },
    /// A whole structure: its first leaf, and the indices so far.
    Structure { declared: DeclaredId, leaf: u32, ty: StructId, indices: Vec<Expr> },
    /// `_pid` and its kind.
    Predefined(std::sync::Arc<str>),
    /// A symbolic constant.
    Constant(i32),
}

impl Lowering<'_> {
    /// Resolves a reference. Reports what is wrong with it.
    pub(super) fn access(&mut self, v: &VarRef) -> Option<Access> {
        let (first, rest) = v.parts.split_first()?;
        let symbol = self.names.lookup(&first.name.text, first.name.span);
        let declared = match self.names.symbol(symbol).meaning {
            Meaning::Variable(declared) => declared,
            Meaning::Constant(value) => return Some(Access::Constant(value)),
            Meaning::Predefined => {
                if &*first.name.text == "_last" {
                    self.uses.last = true;
                }
                self.uses.priority |= &*first.name.text == "_priority";
                self.index(first, None, &mut Vec::new())?;
                self.fields(first, rest, VarType::Basic(Basic::Byte), 0, &mut Vec::new())?;
                return Some(Access::Predefined(first.name.text.clone()));
            }
            Meaning::Untyped => {
                self.undeclared(&first.name);
                return None;
            }
            Meaning::Label => {
                self.wrong_name(&first.name.text, "a label", first.name.span);
                return None;
            }
            Meaning::Process => {
                self.wrong_name(&first.name.text, "a process type", first.name.span);
                return None;
            }
        };
        let variable = self.variable(declared).clone();
        let mut indices = Vec::new();
        self.index(first, variable.length, &mut indices)?;
        let (leaf, ty) = self.fields(first, rest, variable.ty, variable.leaf, &mut indices)?;
        Some(match ty {
            VarType::Basic(basic) => {
                let id = VariableId(leaf);
                let slot = if variable.process.is_some() { Slot::Local(id) } else { Slot::Global(id) };
                Access::Leaf { place: Place { slot, indices }, declared, basic }
            }
            VarType::Struct(ty) => Access::Structure { declared, leaf, ty, indices },
        })
    }

    fn wrong_name(&mut self, name: &str, what: &str, span: Span) {
        self.error(Code::WrongName, span, format!("expected a variable, found {what} `{name}`"), "");
    }

    /// Follows `.field` after `.field`.
    fn fields(
        &mut self,
        first: &VarPart,
        rest: &[VarPart],
        ty: VarType,
        leaf: u32,
        indices: &mut Vec<Expr>,
    ) -> Option<(u32, VarType)> {
        let (mut ty, mut leaf, mut owner) = (ty, leaf, first);
        for part in rest {
            let VarType::Struct(id) = ty else {
                let headline = format!("`{}` is not a structure", owner.name.text);
                self.error(Code::UnknownField, part.name.span, headline, "so it has no fields");
                return None;
            };
            let structure = self.types.get(id);
            let Some(field) = structure.field(&part.name.text).cloned() else {
                let near = self.nearest(&part.name.text, structure.fields().iter().map(|f| &*f.name));
                let headline = format!("`{}` has no field `{}`", structure.name, part.name.text);
                let mut finding = Finding::new(Code::UnknownField, headline).at(part.name.span, "");
                finding.help.extend(near.map(|near| format!("did you mean `{near}`?")));
                self.report(finding);
                return None;
            };
            self.index(part, field.length, indices)?;
            (ty, leaf, owner) = (field.ty, leaf + field.leaf, part);
        }
        Some((leaf, ty))
    }

    /// Checks and adds the index of one name.
    fn index(&mut self, part: &VarPart, length: Option<u32>, indices: &mut Vec<Expr>) -> Option<()> {
        let index = part.index.as_ref().map(|index| {
            let expanding = std::mem::replace(&mut self.expanding, false);
            let index = self.expression(index);
            self.expanding = expanding;
            index
        });
        let name = &part.name.text;
        match (length, index) {
            (Some(_), Some(index)) => indices.push(index),
            (Some(_), None) if self.in_for => indices.push(Expr::Constant(0)),
            (Some(length), None) => {
                self.report(
                    Finding::new(Code::WrongIndex, format!("`{name}` is an array and needs an index"))
                        .at(part.name.span, format!("has {length} elements"))
                        .help(format!("write `{name}[…]`")),
                );
                return None;
            }
            (None, None | Some(Expr::Constant(0))) => {}
            (None, Some(_)) => {
                let headline = format!("`{name}` is not an array");
                self.error(Code::WrongIndex, part.name.span, headline, "cannot have an index");
                return None;
            }
        }
        Some(())
    }

    /// All leaves of a structure, in order: one place per element of each.
    pub(super) fn leaves(
        &self,
        declared: DeclaredId,
        leaf: u32,
        ty: StructId,
        indices: &[Expr],
    ) -> Vec<(Place, Basic)> {
        let local = self.variable(declared).process.is_some();
        let mut places = Vec::new();
        for (offset, template) in self.types.get(ty).leaves.iter().enumerate() {
            let id = VariableId(leaf + offset as u32);
            let slot = if local { Slot::Local(id) } else { Slot::Global(id) };
            let count: u32 = template.dimensions.iter().product();
            for element in 0..count {
                let mut own = Vec::new();
                let mut rest = element;
                for length in template.dimensions.iter().rev() {
                    own.push(Expr::Constant((rest % length) as i32));
                    rest /= length;
                }
                own.reverse();
                let indices = indices.iter().cloned().chain(own).collect();
                places.push((Place { slot, indices }, template.basic));
            }
        }
        places
    }

    /// A place that can be assigned, and the variable it belongs to.
    pub(super) fn place(&mut self, v: &VarRef) -> Option<(Place, DeclaredId, Basic)> {
        let access = self.access(v)?;
        self.place_of(access, v)
    }

    /// The place that an access leads to, if it can be assigned.
    pub(super) fn place_of(&mut self, access: Access, v: &VarRef) -> Option<(Place, DeclaredId, Basic)> {
        match access {
            Access::Leaf { place, declared, basic } => Some((place, declared, basic)),
            Access::Structure { declared, .. } => {
                self.incomplete(declared, v);
                None
            }
            Access::Predefined(name) => {
                let headline = format!("`{name}` cannot be assigned");
                self.error(Code::PredefinedVariable, v.span, headline, "its value is given");
                None
            }
            Access::Constant(_) => {
                let headline = format!("expected a variable, found a symbolic constant `{}`", v.parts[0].name.text);
                self.error(Code::WrongName, v.span, headline, "");
                None
            }
        }
    }

    pub(super) fn incomplete(&mut self, declared: DeclaredId, v: &VarRef) {
        let declaration = self.variable(declared).span;
        self.report(
            Finding::new(Code::IncompleteStructure, "a whole structure cannot be used here")
                .at(v.span, "one of its fields is needed")
                .at(declaration, "declared here")
                .help("assign and compare field by field; only messages and parameters take whole structures"),
        );
    }
}
