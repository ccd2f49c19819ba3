//! Names and scopes: which declaration a name means at some place in the text.
//!
//! Promela has one name space for variables, labels, proctypes and symbolic constants. A scope is a pair
//! of braces. A name means the nearest enclosing declaration *that was seen before*; a name that nobody
//! has declared yet becomes an untyped symbol of the scope where it first occurred (that is how a `goto`
//! may name a label further down).

use fabius_base::Span;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;

/// A pair of braces; 0 is the text outside of all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct ScopeId(u32);

/// A name in a scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SymbolId(u32);

/// Number of a spelling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Spelling(u32);

/// Index into the variables of a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DeclaredId(pub u32);

/// The process type whose body is being read; `None` outside.
pub(crate) type Context = Option<u32>;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// Nothing yet.
    Untyped,
    /// A label, or the target of a `goto`.
    Label,
    /// A process type.
    Process,
    /// `_pid` and its kind.
    Predefined,
    /// A symbolic constant.
    Constant(i32),
    /// A variable.
    Variable(DeclaredId),
}

impl Meaning {
    /// What it is, with its article.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Untyped => "an unknown name",
            Self::Label => "a label",
            Self::Process => "a process type",
            Self::Predefined => "a predefined variable",
            Self::Constant(_) => "a symbolic constant",
            Self::Variable(_) => "a variable",
        }
    }
}

/// A name in a scope.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: Arc<str>,
    pub context: Context,
    pub scope: ScopeId,
    pub meaning: Meaning,
    /// Where it was declared, or first seen.
    pub span: Span,
}

/// All names of a model, and the scope that is open.
#[derive(Debug)]
pub(crate) struct Names {
    symbols: Vec<Symbol>,
    /// Each spelling once.
    spellings: HashMap<Arc<str>, Spelling>,
    /// What a spelling means in exactly this scope.
    in_scope: FxHashMap<(Spelling, Context, ScopeId), SymbolId>,
    /// By spelling: what it means outside of all bodies, the last one.
    globals: Vec<Option<SymbolId>>,
    parents: Vec<ScopeId>,
    scope: ScopeId,
    context: Context,
}

/// Names that exist in every model.
pub(crate) const PREDEFINED: [&str; 6] = ["_", "_p", "_pid", "_last", "_nr_pr", "_priority"];

impl Names {
    pub fn new() -> Self {
        let mut names = Self {
            symbols: Vec::new(),
            spellings: HashMap::new(),
            in_scope: FxHashMap::default(),
            globals: Vec::new(),
            parents: vec![ScopeId(0)],
            scope: ScopeId(0),
            context: None,
        };
        for name in PREDEFINED {
            let id = names.lookup(name, Span::default());
            names.symbol_mut(id).meaning = Meaning::Predefined;
        }
        names
    }

    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    pub fn symbol_mut(&mut self, id: SymbolId) -> &mut Symbol {
        &mut self.symbols[id.0 as usize]
    }

    pub fn scope(&self) -> ScopeId {
        self.scope
    }

    pub fn context(&self) -> Context {
        self.context
    }

    pub fn set_context(&mut self, context: Context) {
        self.context = context;
        self.scope = ScopeId(0);
    }

    pub fn open_scope(&mut self) {
        self.parents.push(self.scope);
        self.scope = ScopeId(self.parents.len() as u32 - 1);
    }

    pub fn close_scope(&mut self) {
        self.scope = self.parents[self.scope.0 as usize];
    }

    /// Whether `outer` is `inner` or one of the scopes around it.
    pub fn encloses(&self, outer: ScopeId, inner: ScopeId) -> bool {
        self.around(inner).find(|scope| *scope <= outer) == Some(outer)
    }

    /// A scope and those around it, innermost first.
    pub fn around(&self, inner: ScopeId) -> impl Iterator<Item = ScopeId> + '_ {
        let outer = |scope: &ScopeId| (scope.0 != 0).then(|| self.parents[scope.0 as usize]);
        std::iter::successors(Some(inner), outer)
    }

    /// The symbol that a name means here, if there is one.
    pub fn find(&self, name: &str) -> Option<SymbolId> {
        let spelling = *self.spellings.get(name)?;
        let local = self.around(self.scope).find_map(|scope| self.in_scope.get(&(spelling, self.context, scope)));
        let global = || self.context.and(self.globals[spelling.0 as usize]);
        local.copied().or_else(global)
    }

    /// The symbol that a name means here; a new untyped one if there is none.
    pub fn lookup(&mut self, name: &str, span: Span) -> SymbolId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = SymbolId(self.symbols.len() as u32);
        let (context, scope) = (self.context, self.scope);
        let (name, spelling) = self.spelling(name);
        self.in_scope.insert((spelling, context, scope), id);
        if context.is_none() {
            self.globals[spelling.0 as usize] = Some(id);
        }
        self.symbols.push(Symbol { name, context, scope, meaning: Meaning::Untyped, span });
        id
    }

    /// A name with the number of its spelling.
    fn spelling(&mut self, name: &str) -> (Arc<str>, Spelling) {
        if let Some((name, spelling)) = self.spellings.get_key_value(name) {
            return (Arc::clone(name), *spelling);
        }
        let (name, spelling): (Arc<str>, _) = (name.into(), Spelling(self.globals.len() as u32));
        self.spellings.insert(Arc::clone(&name), spelling);
        self.globals.push(None);
        (name, spelling)
    }

    /// Names that mean something at this place, for suggestions.
    pub fn visible(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|symbol| {
            symbol.meaning != Meaning::Untyped
                && (symbol.context.is_none()
                    || symbol.context == self.context && self.encloses(symbol.scope, self.scope))
        })
    }
}

/// Once there are so many findings, no more names are suggested: each takes a look at all names.
pub(crate) const SUGGESTIONS_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_name_is_not_seen_outside() {
        let mut names = Names::new();
        names.set_context(Some(0));
        names.open_scope();
        let inner = names.lookup("x", Span::default());
        names.close_scope();
        names.open_scope();
        assert_ne!(names.lookup("x", Span::default()), inner);
        names.close_scope();
        let outer = names.lookup("y", Span::default());
        names.open_scope();
        assert_eq!(names.lookup("y", Span::default()), outer);
    }

    #[test]
    fn a_global_is_seen_in_a_process_but_not_the_other_way_round() {
        let mut names = Names::new();
        let global = names.lookup("g", Span::default());
        names.set_context(Some(0));
        assert_eq!(names.lookup("g", Span::default()), global);
        let local = names.lookup("l", Span::default());
        names.set_context(None);
        assert_ne!(names.lookup("l", Span::default()), local);
    }
}
