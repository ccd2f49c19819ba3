//! What a person may choose about a check.

use fabius_base::Limits;

/// Everything a person may choose; [`Settings::default`] is what they get without flags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// In which order states are looked at.
    pub search: Order,
    /// How the states seen are remembered.
    pub store: Storage,
    /// Explore everything and count, instead of stopping at the first violation.
    pub keep_going: bool,
    /// Reset dead variables and merge statements before the search.
    pub optimize: bool,
    /// Names or kinds of properties; empty for all that can be checked.
    pub properties: Vec<String>,
    /// How much a search may use.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search: Order::default(),
            store: Storage::default(),
            keep_going: false,
            optimize: true,
            properties: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// In which order states are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// Depth-first; if that finds a violation, a short look for a shorter run to it.
    #[default]
    DepthFirstThenShorten,
    /// Depth-first, and the first counterexample as it is.
    DepthFirst,
    /// Breadth-first: the counterexample is a shortest one.
    BreadthFirst,
}

/// How the states seen are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Storage {
    /// Exactly, compressed.
    #[default]
    Tree,
    /// By 64 bits of each state; two states may be taken for one, which is very unlikely.
    Hash,
    /// By a few bits of each state in one large table; states may be missed.
    Bitstate,
}

impl Storage {
    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Hash => "hash",
            Self::Bitstate => "bitstate",
        }
    }

    /// Whether no state is ever missed.
    pub fn is_exact(self) -> bool {
        self == Self::Tree
    }
}
