//! Macros that are there before the first line: those of C, and what gcc says of itself and of a 64-bit Linux, which is
//! what a model meets that Spin passes through `gcc -std=gnu99 -E -x c`.
//!
//! Left out is what depends on the day (`__DATE__`), and the names without underscores (`linux`, `unix`): models use them.

use super::Preprocessor;
use super::scan::{PpKind, PpToken};
use crate::token::{Interner, QuickMap, Symbol};
use fabius_base::{Expansion, ExpansionKind, Span};

/// What a macro that is there from the start stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Builtin {
    /// The line of the call.
    Line,
    /// The name of the file that it is in.
    File,
    /// The name of the file that includes all others.
    BaseFile,
    /// How many files include the present one.
    IncludeLevel,
    /// How often it was asked for.
    Counter,
    /// Always the same.
    Text(&'static str),
}

const NAMED: &[(&str, Builtin)] = &[
    ("__LINE__", Builtin::Line),
    ("__FILE__", Builtin::File),
    ("__BASE_FILE__", Builtin::BaseFile),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("__COUNTER__", Builtin::Counter),
];

pub(super) const TEXTS: &[(&str, &str)] = &[
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "199901L"),
    ("__STDC_HOSTED__", "1"),
    ("__GNUC__", "12"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "0"),
    ("__VERSION__", "\"12.2.0\""),
    ("__CHAR_BIT__", "8"),
    ("__SCHAR_MAX__", "0x7f"),
    ("__SHRT_MAX__", "0x7fff"),
    ("__INT_MAX__", "0x7fffffff"),
    ("__LONG_MAX__", "0x7fffffffffffffffL"),
    ("__SIZEOF_SHORT__", "2"),
    ("__SIZEOF_INT__", "4"),
    ("__SIZEOF_LONG__", "8"),
    ("__SIZEOF_LONG_LONG__", "8"),
    ("__SIZEOF_POINTER__", "8"),
    ("__SIZEOF_SIZE_T__", "8"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "1234"),
    ("__linux__", "1"),
    ("__linux", "1"),
    ("__gnu_linux__", "1"),
    ("__unix__", "1"),
    ("__unix", "1"),
    ("__ELF__", "1"),
    ("__x86_64__", "1"),
    ("__x86_64", "1"),
    ("__amd64__", "1"),
    ("__amd64", "1"),
    ("__LP64__", "1"),
    ("_LP64", "1"),
];

/// All of them, by name.
pub(super) fn builtins(names: &mut Interner) -> QuickMap<Symbol, Builtin> {
    let texts = TEXTS.iter().map(|&(name, text)| (name, Builtin::Text(text)));
    NAMED.iter().copied().chain(texts).map(|(name, builtin)| (names.intern(name), builtin)).collect()
}

impl Preprocessor<'_> {
    pub(super) fn expand_builtin(&mut self, name: PpToken, builtin: Builtin) {
        let place = self.map.user_span(name.span);
        let file_name = |file| format!("\"{}\"", self.map.file(file).name);
        let text = match builtin {
            Builtin::Line => self.map.line_column(place.file, place.start).0.to_string(),
            Builtin::File => file_name(place.file),
            Builtin::BaseFile => self.sources.first().map_or(String::new(), |first| file_name(first.scanner.file())),
            Builtin::IncludeLevel => self.sources.len().saturating_sub(1).to_string(),
            Builtin::Counter => {
                self.counter += 1;
                (self.counter - 1).to_string()
            }
            Builtin::Text(text) => text.to_owned(),
        };
        let kind = if text.starts_with('"') { PpKind::Str } else { PpKind::Number };
        let shown = self.names.text(name.symbol).clone();
        let via = self.map.add_expansion(Expansion { kind: ExpansionKind::Macro, name: shown, call: name.span });
        let symbol = self.names.intern(&text);
        let token = PpToken { kind, symbol, edge: true, span: Span { via, ..name.span }, ..name };
        self.spend(1, name.span);
        self.contexts.push(super::Context {
            tokens: vec![token],
            next: 0,
            owner: None,
            barrier: false,
            own_lines: false,
        });
    }
}
