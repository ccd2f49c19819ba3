//! Formulas from outside of the text, as from a command line: read with the macros of the model, and put
//! behind its text as if they were written there.
//!
//! Two things are as people know them from `spin -f`. `/\`, `\/` and `not` are operators, and braces may stand
//! for parentheses. And a macro is a proposition: what it stands for is put into parentheses, so that after
//! `#define p x == 1` the formula `[] p` says what it seems to say. (Precedence is that of `ltl` blocks.)

use super::scan::{PpKind, PpToken, is_word};
use super::{Preprocessor, macros::Macro};
use fabius_base::Span;
use fabius_language::OutsideFormula;

impl Preprocessor<'_> {
    /// Reads a formula to the tokens of `ltl name { formula }`.
    pub(super) fn formula(&mut self, formula: &OutsideFormula, out: &mut Vec<PpToken>) {
        let text = self.map.file(formula.file).text.clone();
        let whole = Span::new(formula.file, 0, text.len() as u32);
        self.lines_used = self.lines_used.wrapping_add(1);
        self.outer_line = self.lines_used;
        let mark = |this: &Self, kind, symbol, span| PpToken { kind, symbol, span, space: true, ..this.end() };
        let (ltl, name) = (self.names.intern("ltl"), self.names.intern(&formula.name));
        let first = PpToken { first: true, ..mark(self, PpKind::Ident, ltl, whole) };
        let none = crate::token::Symbol::default();
        out.extend([
            first,
            mark(self, PpKind::Ident, name, whole),
            mark(self, PpKind::Punct(b'{'), none, Span { end: 0, ..whole }),
        ]);
        self.enter_text(formula.file, plain(&text).into());
        self.edge = true;
        self.in_formula = true;
        self.run(out);
        self.in_formula = false;
        out.push(mark(self, PpKind::Punct(b'}'), none, Span { start: whole.end, ..whole }));
    }

    /// Whether what a macro stands for is put into parentheses.
    pub(super) fn is_proposition(&self, definition: &Macro) -> bool {
        let follows = self.sources.last().map_or(0, |source| source.scanner.upcoming());
        if !self.in_formula
            || !self.contexts.is_empty()
            || definition.parameters.is_some()
            || b"@:[.?".contains(&follows)
        {
            return false;
        }
        let (Some(first), Some(last)) = (definition.body.first(), definition.body.last()) else { return false };
        if definition.body.len() == 1 {
            return self.macros.contains_key(&first.token.symbol);
        }
        let begins = match first.token.kind {
            PpKind::Punct(byte) => b"(!-~[<".contains(&byte),
            _ => true,
        };
        let ends = match last.token.kind {
            PpKind::Punct(byte) => byte == b')' || byte == b']' && definition.body.len() > 2,
            _ => true,
        };
        begins && ends
    }
}

/// The text with the spellings of `spin -f` replaced by those of `ltl` blocks; every byte stays in its place.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &bytes[at..];
        let word = at == 0 || !is_word(bytes[at - 1]);
        let (taken, replaced) = match rest {
            [b'/', b'\\', ..] => (2, "&&"),
            [b'\\', b'/', ..] => (2, "||"),
            [b'\'', _, b'\'', ..] => (3, text.get(at..at + 3).unwrap_or("   ")),
            [b'{', ..] => (1, "("),
            [b'}', ..] => (1, ")"),
            [b'n', b'o', b't', after @ ..] if word && !after.first().is_some_and(|b| is_word(*b)) => (3, "!  "),
            _ => (c.len_utf8(), &text[at..at + c.len_utf8()]),
        };
        out.push_str(replaced);
        at += taken;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn spellings_are_replaced_in_place() {
        assert_eq!(plain(r"[] {p /\ not q} \/ notq"), r"[] (p && !   q) || notq");
        assert_eq!(plain("c == '{' /* ä */"), "c == '{' /* ä */");
    }
}
