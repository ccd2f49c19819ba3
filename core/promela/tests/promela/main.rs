//! The front end: texts as trees, as programs, and written anew; whatever they are.

mod corpus_syntax;
mod format;
mod lower_robust;
mod lowering;
mod outside_formulas;
mod syntax;
mod syntax_robust;
mod syntax_shown;
