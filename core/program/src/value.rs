//! Types, variables, channels and enumerations.

use crate::expr::Expr;
use fabius_base::Span;

/// Index into [`crate::Program::channel_types`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelTypeId(pub u32);

/// Index into [`crate::Program::enumerations`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EnumId(pub u32);

/// Index into [`crate::Program::globals`], or into [`crate::Process::locals`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u32);

/// What a value stands for; only showing it depends on this.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// A number.
    #[default]
    Number,
    /// `true` or `false`.
    Boolean,
    /// A symbolic constant.
    Enum(EnumId),
    /// The identity of a channel; 0 is none.
    Channel,
    /// The number of a process.
    Process,
}

/// How a value is stored: it is computed as a 32-bit signed number and truncated on storing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// Width in bits, 1 to 32.
    pub bits: u8,
    /// Whether the stored bits are read back with their sign.
    pub signed: bool,
    /// What it stands for.
    pub kind: Kind,
}

impl Type {
    /// An unsigned number.
    pub const fn unsigned(bits: u8, kind: Kind) -> Self {
        Self { bits, signed: false, kind }
    }

    /// A signed number.
    pub const fn signed(bits: u8) -> Self {
        Self { bits, signed: true, kind: Kind::Number }
    }

    /// What is read back after `value` was stored.
    pub const fn truncate(self, value: i32) -> i32 {
        let shift = 32 - self.bits as u32;
        if self.signed { (value << shift) >> shift } else { (((value as u32) << shift) >> shift) as i32 }
    }
}

/// How a variable gets its first value.
#[derive(Clone, PartialEq, Hash, Debug, Default)]
pub enum Initial {
    /// Zero.
    #[default]
    Zero,
    /// The same expression for every element; evaluated at process creation for locals.
    Value(Expr),
    /// One expression per element; the last one repeats for the elements that remain.
    List(Vec<Expr>),
    /// A fresh channel per element.
    Channel(ChannelTypeId),
}

/// A variable, or a leaf of a structure such as `msg.header.len`.
///
/// A leaf inside arrays of structures has one dimension per array on the way to it; its elements
/// are laid out with the last index moving fastest.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct Variable {
    /// Name as a person writes it, without indices; `[]` stands where one belongs unless that is at the end: `node[].next`.
    pub name: String,
    /// Type of an element.
    pub ty: Type,
    /// Length of each dimension; empty for a scalar.
    pub dimensions: Vec<u32>,
    /// First value.
    pub initial: Initial,
    /// Not part of what distinguishes states (`hidden`).
    pub hidden: bool,
    /// Declaration.
    pub span: Span,
}

impl Variable {
    /// Whether it only takes what nobody can read again: `_`.
    pub fn is_nowhere(&self) -> bool {
        self.name == "_"
    }

    /// Number of elements: the product of the dimensions, or the largest number if that is larger.
    pub fn element_count(&self) -> u32 {
        self.dimensions.iter().fold(1, |count, length| count.saturating_mul(*length))
    }

    /// The name of an element, such as `x`, `a[2]` or, for a leaf called `node[].next`, `node[2].next`.
    pub fn element_name(&self, element: usize) -> String {
        let indices: Vec<String> = indices_of(&self.dimensions, element).iter().map(usize::to_string).collect();
        with_indices(&self.name, &indices)
    }
}

/// The indices of an element, by its number.
pub fn indices_of(dimensions: &[u32], mut element: usize) -> Vec<usize> {
    let mut indices = vec![0; dimensions.len()];
    for (index, &length) in indices.iter_mut().zip(dimensions).rev() {
        let length = length.max(1) as usize;
        (*index, element) = (element % length, element / length);
    }
    indices
}

/// Puts indices where a name leaves room for them (`[]`), or else behind it.
pub fn with_indices(name: &str, indices: &[String]) -> String {
    let mut pieces = name.split("[]");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut indices = indices.iter();
    for piece in pieces {
        if let Some(index) = indices.next() {
            text.push_str(&format!("[{index}]"));
        }
        text.push_str(piece);
    }
    indices.for_each(|index| text.push_str(&format!("[{index}]")));
    text
}

/// Capacity and message layout of a channel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ChannelType {
    /// How many messages it holds; 0 for a rendezvous.
    pub capacity: u32,
    /// Storage of each field of a message; structures are flattened.
    pub fields: Vec<Type>,
    /// Names of the fields, empty where there is none.
    pub field_names: Vec<String>,
    /// Declaration.
    pub span: Span,
}

/// Symbolic constants and their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Enumeration {
    /// Name of the enumeration; empty for the anonymous one.
    pub name: String,
    /// Number and name of each constant.
    pub constants: Vec<(i32, String)>,
}

impl Enumeration {
    /// The name of a constant.
    pub fn name_of(&self, value: i32) -> Option<&str> {
        self.constants.iter().find(|(v, _)| *v == value).map(|(_, name)| name.as_str())
    }
}
