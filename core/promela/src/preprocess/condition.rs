//! The constant expressions of `#if` and `#elif`.

use super::Preprocessor;
use super::scan::{PpKind, PpToken};
use fabius_base::{Code, Finding, Span};

/// How deep parentheses and operators may nest.
const DEPTH_MAX: u32 = 150;

impl Preprocessor<'_> {
    /// Whether the expression behind `#if` or `#elif` is not zero.
    pub(super) fn evaluate(&mut self, word: PpToken, tokens: &[PpToken]) -> bool {
        let tokens = self.resolve_defined(tokens);
        let tokens = self.expand_alone(&tokens);
        let tokens = self.resolve_defined(&tokens);
        let mut reader = Reader { this: self, tokens: &tokens, at: 0, depth: 0 };
        let value = reader.conditional().and_then(|value| {
            let left = reader.tokens.get(reader.at);
            left.map_or(Ok(value), |token| Err((token.span, "this does not belong to the condition")))
        });
        match value {
            Ok(Some(value)) => value != 0,
            Ok(None) => self.cannot_evaluate(word.span, "it divides by zero"),
            Err((span, what)) => self.cannot_evaluate(if tokens.is_empty() { word.span } else { span }, what),
        }
    }

    fn cannot_evaluate(&mut self, span: Span, what: &str) -> bool {
        let finding = Finding::new(Code::BadDirective, "this condition cannot be evaluated").at(span, what);
        self.findings.push(finding);
        false
    }

    /// Replaces `defined X` and `defined(X)` by 0 or 1.
    fn resolve_defined(&mut self, tokens: &[PpToken]) -> Vec<PpToken> {
        let mut out = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += 1;
            let paren = tokens.get(at).is_some_and(|t| t.is(b'('));
            let name = tokens.get(at + usize::from(paren)).filter(|t| t.kind == PpKind::Ident);
            let closed = !paren || tokens.get(at + 2).is_some_and(|t| t.is(b')'));
            match name {
                Some(name) if token.kind == PpKind::Ident && token.symbol == self.words.defined && closed => {
                    let digit = if self.is_defined(name.symbol) { "1" } else { "0" };
                    let symbol = self.names.intern(digit);
                    out.push(PpToken { kind: PpKind::Number, symbol, ..token });
                    at += if paren { 3 } else { 1 };
                }
                _ => out.push(token),
            }
        }
        out
    }
}

/// A value, or `None` where dividing by zero has left none, which only matters if it is needed.
type Value = Result<Option<i64>, (Span, &'static str)>;

struct Reader<'r, 'p> {
    this: &'r Preprocessor<'p>,
    tokens: &'r [PpToken],
    at: usize,
    depth: u32,
}

const OPERATORS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_, '_> {
    fn here(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span::default(), |t| t.span)
    }

    fn mark_at(&self, at: usize) -> Option<u8> {
        match self.tokens.get(at)?.kind {
            PpKind::Punct(mark) => Some(mark),
            _ => None,
        }
    }

    /// The operator that stands here, joined from marks without space between.
    fn operator(&self) -> Option<&'static str> {
        let first = self.mark_at(self.at)?;
        let second = self.mark_at(self.at + 1).filter(|_| !self.tokens[self.at + 1].space);
        let all = OPERATORS.iter().flat_map(|level| level.iter().copied());
        let fits = |op: &&str| match op.as_bytes() {
            [a] => *a == first,
            [a, b] => *a == first && Some(*b) == second,
            _ => false,
        };
        all.filter(fits).max_by_key(|op| op.len())
    }

    fn deeper(&mut self) -> Result<(), (Span, &'static str)> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err((self.here(), "nested too deeply")) } else { Ok(()) }
    }

    fn conditional(&mut self) -> Value {
        self.deeper()?;
        let condition = self.binary(0)?;
        let value = if self.mark_at(self.at) == Some(b'?') {
            self.at += 1;
            let yes = self.conditional()?;
            if self.mark_at(self.at) != Some(b':') {
                return Err((self.here(), "`:` was expected here"));
            }
            self.at += 1;
            let no = self.conditional()?;
            condition.and_then(|c| if c != 0 { yes } else { no })
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, level: usize) -> Value {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(op) = self.operator().filter(|op| operators.contains(op)) {
            self.at += op.len();
            let right = self.binary(level + 1)?;
            left = match op {
                "||" if left.is_some_and(|l| l != 0) => Some(1),
                "&&" if left == Some(0) => Some(0),
                _ => left.zip(right).and_then(|(l, r)| apply(op, l, r)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Value {
        let mut pending = Vec::new();
        while let Some(op @ (b'!' | b'-' | b'+' | b'~')) = self.mark_at(self.at) {
            pending.push(op);
            self.at += 1;
        }
        let mut value = self.primary()?;
        for op in pending.into_iter().rev() {
            value = value.map(|v| match op {
                b'!' => i64::from(v == 0),
                b'-' => v.wrapping_neg(),
                b'~' => !v,
                _ => v,
            });
        }
        Ok(value)
    }

    fn primary(&mut self) -> Value {
        let span = self.here();
        let Some(token) = self.tokens.get(self.at) else { return Err((span, "the condition ends too early")) };
        self.at += 1;
        match token.kind {
            PpKind::Ident => Ok(Some(0)),
            PpKind::Number => match integer(self.this.names.text(token.symbol)) {
                Some(value) => Ok(Some(value)),
                None => Err((span, "this is not an integer")),
            },
            PpKind::Char => Ok(Some(character(self.this.names.text(token.symbol)))),
            PpKind::Punct(b'(') => {
                let value = self.conditional()?;
                if self.mark_at(self.at) != Some(b')') {
                    return Err((self.here(), "`)` was expected here"));
                }
                self.at += 1;
                Ok(value)
            }
            _ => Err((span, "a value was expected here")),
        }
    }
}

fn apply(op: &str, l: i64, r: i64) -> Option<i64> {
    Some(match op {
        "||" => i64::from(l != 0 || r != 0),
        "&&" => i64::from(l != 0 && r != 0),
        "|" => l | r,
        "^" => l ^ r,
        "&" => l & r,
        "==" => i64::from(l == r),
        "!=" => i64::from(l != r),
        "<" => i64::from(l < r),
        "<=" => i64::from(l <= r),
        ">" => i64::from(l > r),
        ">=" => i64::from(l >= r),
        "<<" => l.wrapping_shl(r as u32),
        ">>" => l.wrapping_shr(r as u32),
        "+" => l.wrapping_add(r),
        "-" => l.wrapping_sub(r),
        "*" => l.wrapping_mul(r),
        "/" => return l.checked_div(r),
        _ => return l.checked_rem(r),
    })
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    let (rest, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    u64::from_str_radix(rest, radix).ok().map(|v| v as i64)
}

fn character(text: &str) -> i64 {
    let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or("");
    let mut chars = inner.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some('n')) => 10,
        (Some('\\'), Some('t')) => 9,
        (Some('\\'), Some('r')) => 13,
        (Some('\\'), Some('0')) => 0,
        (Some('\\'), Some(c)) | (Some(c), _) => i64::from(u32::from(c)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_all_bases() {
        let cases = [("12", Some(12)), ("0x1F", Some(31)), ("017", Some(15)), ("0b101", Some(5)), ("7UL", Some(7))];
        for (text, value) in cases {
            assert_eq!(integer(text), value, "{text}");
        }
        assert_eq!(integer("1.5"), None);
        assert_eq!(integer("9z"), None);
        assert_eq!(character("'a'"), 97);
        assert_eq!(character("'\\n'"), 10);
    }
}
