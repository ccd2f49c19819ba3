//! Types: what a variable of some type is stored as, and which leaves a structure has.

use fabius_base::Span;
use fabius_program::{EnumId, Initial, Kind, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Index into [`Types::structs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StructId(pub u32);

/// A type that is not a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Basic {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned(u8),
    Chan,
    Mtype,
}

/// Any type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VarType {
    Basic(Basic),
    Struct(StructId),
}

impl Basic {
    /// How an element is stored. A single bit stands alone only outside of arrays.
    pub fn stored(self, array: bool, enumeration: Option<EnumId>) -> Type {
        let bit = if array { 8 } else { 1 };
        match self {
            Self::Bit => Type::unsigned(bit, Kind::Number),
            Self::Bool => Type::unsigned(bit, Kind::Boolean),
            Self::Byte => Type::unsigned(8, Kind::Number),
            Self::Pid => Type::unsigned(8, Kind::Process),
            Self::Short => Type::signed(16),
            Self::Int => Type::signed(32),
            Self::Unsigned(bits) => Type::unsigned(bits, Kind::Number),
            Self::Chan => Type::unsigned(8, Kind::Channel),
            Self::Mtype => Type::unsigned(8, enumeration.map_or(Kind::Number, Kind::Enum)),
        }
    }
}

impl VarType {
    pub fn is_channel(self) -> bool {
        self == Self::Basic(Basic::Chan)
    }

    /// Rank in the order in which global variables are laid out and initialised.
    pub fn rank(self) -> u8 {
        match self {
            Self::Basic(Basic::Unsigned(_)) => 0,
            Self::Basic(Basic::Bit | Basic::Bool) => 1,
            Self::Basic(Basic::Byte | Basic::Pid) => 2,
            Self::Basic(Basic::Chan) => 3,
            Self::Basic(Basic::Mtype) => 4,
            Self::Basic(Basic::Short) => 5,
            Self::Basic(Basic::Int) => 6,
            Self::Struct(_) => 7,
        }
    }
}

/// A field of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: Arc<str>,
    pub ty: VarType,
    /// Length, if it is an array.
    pub length: Option<u32>,
    /// Number of its first leaf within the structure.
    pub leaf: u32,
    pub span: Span,
}

/// A leaf of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Path from the structure, such as `header.len`.
    pub path: String,
    pub basic: Basic,
    pub ty: Type,
    /// Lengths of the arrays on the path.
    pub dimensions: Vec<u32>,
    /// First value of an element of the innermost structure.
    pub initial: Initial,
}

/// A structure.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub name: Arc<str>,
    pub leaves: Vec<Leaf>,
    fields: Vec<Field>,
    by_name: HashMap<Arc<str>, usize>,
}

impl Struct {
    pub fn new(name: Arc<str>) -> Self {
        Self { name, leaves: Vec::new(), fields: Vec::new(), by_name: HashMap::new() }
    }

    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    pub fn field(&self, name: &str) -> Option<&Field> {
        self.by_name.get(name).map(|index| &self.fields[*index])
    }

    pub fn push_field(&mut self, field: Field) {
        self.by_name.insert(field.name.clone(), self.fields.len());
        self.fields.push(field);
    }
}

/// All structures.
#[derive(Debug, Default)]
pub(crate) struct Types {
    structs: Vec<Struct>,
    by_name: HashMap<Arc<str>, StructId>,
}

impl Types {
    pub fn find(&self, name: &str) -> Option<StructId> {
        self.by_name.get(name).copied()
    }

    pub fn push(&mut self, structure: Struct) {
        self.by_name.insert(structure.name.clone(), StructId(self.structs.len() as u32));
        self.structs.push(structure);
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.structs.iter().map(|structure| &*structure.name)
    }

    pub fn get(&self, id: StructId) -> &Struct {
        &self.structs[id.0 as usize]
    }

    /// The leaves of a variable or field of some type, in order.
    pub fn leaves_of(&self, ty: VarType, length: Option<u32>, own: OwnLeaf) -> Vec<Leaf> {
        let prefix = length.into_iter();
        match ty {
            VarType::Basic(basic) => vec![Leaf {
                path: String::new(),
                basic,
                ty: basic.stored(length.is_some(), own.enumeration),
                dimensions: prefix.collect(),
                initial: own.initial,
            }],
            VarType::Struct(id) => self
                .get(id)
                .leaves
                .iter()
                .map(|leaf| Leaf {
                    dimensions: prefix.clone().chain(leaf.dimensions.iter().copied()).collect(),
                    initial: repeated(&leaf.initial, &leaf.dimensions, length.unwrap_or(1)),
                    ..leaf.clone()
                })
                .collect(),
        }
    }
}

/// What [`Types::leaves_of`] needs to know for a type that is not a structure.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnLeaf {
    pub enumeration: Option<EnumId>,
    pub initial: Initial,
}

/// The first value of `count` copies of a leaf.
fn repeated(initial: &Initial, dimensions: &[u32], count: u32) -> Initial {
    match initial {
        Initial::List(values) if count > 1 && !values.is_empty() => {
            let length = dimensions.iter().product::<u32>() as usize;
            let one = || (0..length).map(|i| values[i.min(values.len() - 1)].clone());
            Initial::List((0..count).flat_map(|_| one()).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_program::Expr;

    #[test]
    fn bits_in_arrays_are_bytes() {
        assert_eq!(Basic::Bool.stored(false, None).bits, 1);
        assert_eq!(Basic::Bool.stored(true, None).bits, 8);
    }

    #[test]
    fn lists_repeat_per_structure() {
        let list = Initial::List(vec![Expr::Constant(1), Expr::Constant(2)]);
        let Initial::List(values) = repeated(&list, &[3], 2) else { panic!("a list") };
        let values: Vec<_> = values.iter().filter_map(Expr::constant).collect();
        assert_eq!(values, [1, 2, 2, 1, 2, 2]);
    }
}
