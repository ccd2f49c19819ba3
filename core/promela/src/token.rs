//! Tokens of Promela, their names in plain words, and the table of names.

use fabius_base::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A map with a quick hash: keys are short names of a model or small numbers.
pub(crate) type QuickMap<K, V> = FxHashMap<K, V>;

/// A spelling known to an [`Interner`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Symbol(pub u32);

/// The table of spellings. Keywords come first, in the order of [`KEYWORDS`].
pub(crate) struct Interner {
    known: QuickMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    /// A table that knows the keywords and the words of formulas.
    pub(crate) fn new() -> Self {
        let mut table = Self { known: QuickMap::default(), texts: Vec::new() };
        for (word, _) in KEYWORDS.iter().chain(LTL_WORDS) {
            table.intern(word);
        }
        table
    }

    /// The symbol of a spelling.
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.known.get(text) {
            return symbol;
        }
        let shared: Arc<str> = text.into();
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(shared.clone());
        self.known.insert(shared, symbol);
        symbol
    }

    /// The spelling of a symbol.
    pub(crate) fn text(&self, symbol: Symbol) -> &Arc<str> {
        &self.texts[symbol.0 as usize]
    }
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    // Words.
    Active,
    Assert,
    Atomic,
    Bit,
    Bool,
    Break,
    Byte,
    CCode,
    CDecl,
    CExpr,
    CState,
    CTrack,
    DProctype,
    Do,
    Chan,
    Else,
    Empty,
    Enabled,
    Eval,
    False,
    Fi,
    For,
    Full,
    GetPriority,
    Goto,
    Hidden,
    If,
    In,
    Init,
    Inline,
    Int,
    Len,
    Local,
    Ltl,
    Mtype,
    NEmpty,
    Never,
    NFull,
    Notrace,
    NonProgress,
    Od,
    Of,
    PcValue,
    Pid,
    Printf,
    Printm,
    Priority,
    Proctype,
    Provided,
    Return,
    Run,
    DStep,
    Select,
    SetPriority,
    Short,
    Skip,
    Timeout,
    Trace,
    True,
    Show,
    Typedef,
    Unless,
    Unsigned,
    Xr,
    Xs,
    // Names; only the first comes out of the lexer, the parser knows the others.
    Ident,
    TypeName,
    ProcName,
    InlineName,
    MtypeConst,
    // Literals.
    Number,
    Char,
    Str,
    // Marks.
    LBrace,
    RBrace,
    LParen,
    RParen,
    LBracket,
    RBracket,
    Semi,
    Arrow,
    Colon,
    Sep,
    Comma,
    Dot,
    DotDot,
    At,
    Assign,
    Incr,
    Decr,
    Not,
    SortedSend,
    Receive,
    ReceiveAny,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    Pipe,
    Caret,
    Tilde,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    EqEq,
    NotEq,
    AndAnd,
    OrOr,
    // Only inside formulas.
    Implies,
    Equiv,
    Until,
    WeakUntil,
    Release,
    Next,
    Always,
    Eventually,
    // The rest.
    /// A quote without its partner, or a character constant that is not one character.
    BadLiteral,
    /// A character that Promela does not know.
    Unknown,
    Eof,
}

/// Keywords, in the order of their symbols.
pub(crate) const KEYWORDS: &[(&str, Tok)] = &[
    ("active", Tok::Active),
    ("assert", Tok::Assert),
    ("atomic", Tok::Atomic),
    ("bit", Tok::Bit),
    ("bool", Tok::Bool),
    ("break", Tok::Break),
    ("byte", Tok::Byte),
    ("c_code", Tok::CCode),
    ("c_decl", Tok::CDecl),
    ("c_expr", Tok::CExpr),
    ("c_state", Tok::CState),
    ("c_track", Tok::CTrack),
    ("D_proctype", Tok::DProctype),
    ("do", Tok::Do),
    ("chan", Tok::Chan),
    ("else", Tok::Else),
    ("empty", Tok::Empty),
    ("enabled", Tok::Enabled),
    ("eval", Tok::Eval),
    ("false", Tok::False),
    ("fi", Tok::Fi),
    ("for", Tok::For),
    ("full", Tok::Full),
    ("get_priority", Tok::GetPriority),
    ("goto", Tok::Goto),
    ("hidden", Tok::Hidden),
    ("if", Tok::If),
    ("in", Tok::In),
    ("init", Tok::Init),
    ("inline", Tok::Inline),
    ("int", Tok::Int),
    ("len", Tok::Len),
    ("local", Tok::Local),
    ("ltl", Tok::Ltl),
    ("mtype", Tok::Mtype),
    ("nempty", Tok::NEmpty),
    ("never", Tok::Never),
    ("nfull", Tok::NFull),
    ("notrace", Tok::Notrace),
    ("np_", Tok::NonProgress),
    ("od", Tok::Od),
    ("of", Tok::Of),
    ("pc_value", Tok::PcValue),
    ("pid", Tok::Pid),
    ("printf", Tok::Printf),
    ("printm", Tok::Printm),
    ("priority", Tok::Priority),
    ("proctype", Tok::Proctype),
    ("provided", Tok::Provided),
    ("return", Tok::Return),
    ("run", Tok::Run),
    ("d_step", Tok::DStep),
    ("select", Tok::Select),
    ("set_priority", Tok::SetPriority),
    ("short", Tok::Short),
    ("skip", Tok::Skip),
    ("timeout", Tok::Timeout),
    ("trace", Tok::Trace),
    ("true", Tok::True),
    ("show", Tok::Show),
    ("typedef", Tok::Typedef),
    ("unless", Tok::Unless),
    ("unsigned", Tok::Unsigned),
    ("xr", Tok::Xr),
    ("xs", Tok::Xs),
];

/// Words that are operators inside formulas and plain names elsewhere.
pub(crate) const LTL_WORDS: &[(&str, Tok)] = &[
    ("U", Tok::Until),
    ("V", Tok::Release),
    ("W", Tok::WeakUntil),
    ("X", Tok::Next),
    ("always", Tok::Always),
    ("eventually", Tok::Eventually),
    ("until", Tok::Until),
    ("stronguntil", Tok::Until),
    ("weakuntil", Tok::WeakUntil),
    ("release", Tok::Release),
    ("next", Tok::Next),
    ("implies", Tok::Implies),
    ("equivalent", Tok::Equiv),
];

impl Tok {
    /// What a word is: a keyword or a name.
    pub(crate) fn of_word(symbol: Symbol) -> Self {
        KEYWORDS.get(symbol.0 as usize).map_or(Tok::Ident, |(_, tok)| *tok)
    }

    /// What a word is inside a formula, if it is an operator there.
    pub(crate) fn of_ltl_word(symbol: Symbol) -> Option<Self> {
        let index = (symbol.0 as usize).checked_sub(KEYWORDS.len())?;
        LTL_WORDS.get(index).map(|(_, tok)| *tok)
    }

    /// Whether a unit of the top level begins with it and nothing inside a body does.
    pub(crate) fn begins_unit(self) -> bool {
        matches!(
            self,
            Tok::Active
                | Tok::Proctype
                | Tok::DProctype
                | Tok::Init
                | Tok::Never
                | Tok::Trace
                | Tok::Notrace
                | Tok::Inline
                | Tok::Typedef
                | Tok::Ltl
        )
    }

    /// Whether it is the name of a built-in type.
    pub(crate) fn is_type(self) -> bool {
        matches!(
            self,
            Tok::Bit
                | Tok::Bool
                | Tok::Byte
                | Tok::Short
                | Tok::Int
                | Tok::Unsigned
                | Tok::Pid
                | Tok::Chan
                | Tok::Mtype
        )
    }

    /// Whether Spin ends a statement when a line ends after this token.
    pub(crate) fn ends_line(self) -> bool {
        matches!(
            self,
            Tok::RBrace
                | Tok::RParen
                | Tok::RBracket
                | Tok::Od
                | Tok::Fi
                | Tok::Else
                | Tok::Break
                | Tok::CCode
                | Tok::CExpr
                | Tok::CDecl
                | Tok::Ident
                | Tok::Number
                | Tok::Char
                | Tok::MtypeConst
                | Tok::True
                | Tok::False
                | Tok::Skip
                | Tok::Incr
                | Tok::Decr
        )
    }
}

/// A token of Promela.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Tok,
    /// The first token of a line, as Spin sees lines after preprocessing.
    pub(crate) newline: bool,
    /// Stands right behind the token before it.
    pub(crate) glued: bool,
    /// A `;` that Spin adds by itself.
    pub(crate) implied: bool,
    /// Spelling of words, strings and unknown characters.
    pub(crate) symbol: Symbol,
    /// Value of numbers, characters and mtype constants.
    pub(crate) value: i32,
    /// Where.
    pub(crate) span: Span,
}

impl Token {
    /// A token without spelling or value.
    pub(crate) fn mark(kind: Tok, span: Span) -> Self {
        Self { kind, newline: false, glued: false, implied: false, symbol: Symbol::default(), value: 0, span }
    }
}

/// How a mark is spelled.
pub(crate) fn spelling(kind: Tok) -> Option<&'static str> {
    let text = match kind {
        Tok::LBrace => "{",
        Tok::RBrace => "}",
        Tok::LParen => "(",
        Tok::RParen => ")",
        Tok::LBracket => "[",
        Tok::RBracket => "]",
        Tok::Semi => ";",
        Tok::Arrow => "->",
        Tok::Colon => ":",
        Tok::Sep => "::",
        Tok::Comma => ",",
        Tok::Dot => ".",
        Tok::DotDot => "..",
        Tok::At => "@",
        Tok::Assign => "=",
        Tok::Incr => "++",
        Tok::Decr => "--",
        Tok::Not => "!",
        Tok::SortedSend => "!!",
        Tok::Receive => "?",
        Tok::ReceiveAny => "??",
        Tok::Plus => "+",
        Tok::Minus => "-",
        Tok::Star => "*",
        Tok::Slash => "/",
        Tok::Percent => "%",
        Tok::Amp => "&",
        Tok::Pipe => "|",
        Tok::Caret => "^",
        Tok::Tilde => "~",
        Tok::Shl => "<<",
        Tok::Shr => ">>",
        Tok::Lt => "<",
        Tok::Le => "<=",
        Tok::Gt => ">",
        Tok::Ge => ">=",
        Tok::EqEq => "==",
        Tok::NotEq => "!=",
        Tok::AndAnd => "&&",
        Tok::OrOr => "||",
        Tok::Implies => "->",
        Tok::Equiv => "<->",
        Tok::Until => "U",
        Tok::WeakUntil => "W",
        Tok::Release => "V",
        Tok::Next => "X",
        Tok::Always => "[]",
        Tok::Eventually => "<>",
        word => return KEYWORDS.iter().find(|(_, tok)| *tok == word).map(|(text, _)| *text),
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_formula_words_are_told_from_names() {
        let mut names = Interner::new();
        let cases = [("active", Tok::Active), ("xs", Tok::Xs), ("np_", Tok::NonProgress), ("U", Tok::Ident)];
        for (word, kind) in cases {
            assert_eq!(Tok::of_word(names.intern(word)), kind, "{word}");
        }
        assert_eq!(Tok::of_ltl_word(names.intern("U")), Some(Tok::Until));
        assert_eq!(Tok::of_ltl_word(names.intern("equivalent")), Some(Tok::Equiv));
        assert_eq!(Tok::of_ltl_word(names.intern("active")), None);
        assert_eq!(Tok::of_ltl_word(names.intern("something")), None);
    }
}
