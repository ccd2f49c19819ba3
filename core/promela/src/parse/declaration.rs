//! Declarations of variables, channels, mtypes and typedefs.

use super::{Bail, Parser, Read};
use crate::ast::{
    BinOp, Constant, Declaration, Declarator, Expr, ExprKind, Initializer, MtypeDecl, Name, TypeName, Typedef, UnOp,
    Visibility,
};
use crate::token::{Tok, Token};
use fabius_base::Span;

/// What a declaration turns out to be.
pub(super) enum Declared {
    Variables(Declaration),
    Mtype(MtypeDecl),
}

impl Parser<'_> {
    /// Whether a declaration begins here.
    pub(super) fn begins_declaration(&mut self) -> bool {
        let kind = self.peek_kind();
        kind.is_type() || matches!(kind, Tok::TypeName | Tok::Hidden | Tok::Show | Tok::Local)
    }

    /// A declaration that may be one of mtype constants.
    pub(super) fn any_declaration(&mut self) -> Read<Declared> {
        let start = self.peek().span;
        let visibility = match self.peek_kind() {
            Tok::Hidden => Some(Visibility::Hidden),
            Tok::Show => Some(Visibility::Show),
            Tok::Local => Some(Visibility::Local),
            _ => None,
        };
        if visibility.is_some() {
            self.bump();
        }
        let word = self.peek();
        let ty = match word.kind {
            Tok::Mtype => return self.after_mtype(start, visibility),
            Tok::TypeName => TypeName::User(self.name_of(word)),
            _ => match plain_type(word.kind) {
                Some(ty) => ty,
                None => return Err(self.unexpected("a type")),
            },
        };
        self.bump();
        if self.peek_kind() == Tok::Colon {
            let span = self.peek().span;
            return Err(self.error(
                span,
                "only `mtype` can be followed by `:` and a name",
                "",
                "put `: n` behind the name",
            ));
        }
        Ok(Declared::Variables(self.declarators(start, visibility, ty)?))
    }

    /// `mtype x`, `mtype:set x`, `mtype = {…}`, `mtype:set = {…}`, `mtype {…}`.
    fn after_mtype(&mut self, start: Span, visibility: Option<Visibility>) -> Read<Declared> {
        self.bump();
        let mut set = None;
        if self.accept(Tok::Colon).is_some() {
            let name = self.peek();
            if name.kind != Tok::Ident {
                return Err(self.unexpected("the name of a set of mtype constants"));
            }
            self.bump();
            set = Some(name);
        }
        let assigned = self.accept(Tok::Assign).is_some();
        if assigned || (set.is_none() && self.peek_kind() == Tok::LBrace) {
            return Ok(Declared::Mtype(self.mtype_constants(start, set)?));
        }
        let set = set.map(|name| self.name_of(name));
        Ok(Declared::Variables(self.declarators(start, visibility, TypeName::Mtype(set))?))
    }

    /// `{ a, b, c }`; the commas are optional. Values count from the last name to the first.
    fn mtype_constants(&mut self, start: Span, set: Option<Token>) -> Read<MtypeDecl> {
        self.expect(Tok::LBrace, " and the names of the constants")?;
        let mut tokens: Vec<Token> = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                Tok::Ident => tokens.push(self.bump()),
                Tok::Comma if !tokens.is_empty() => {
                    self.bump();
                }
                Tok::RBrace if !tokens.is_empty() => break,
                Tok::MtypeConst => {
                    let headline = format!("`{}` is a constant of an mtype already", self.text(token.symbol));
                    return Err(self.error(token.span, headline, "", "remove it here, or give it another name"));
                }
                _ => return Err(self.unexpected("the name of a constant")),
            }
        }
        self.bump();
        self.number_constants(set, &tokens);
        let names = tokens.iter().map(|t| self.name_of(*t)).collect();
        let set = set.map(|name| self.name_of(name));
        Ok(MtypeDecl { set, names, span: self.span_from(start) })
    }

    fn number_constants(&mut self, set: Option<Token>, tokens: &[Token]) {
        let key = set.map(|name| name.symbol);
        let before = self.mtypes.get(&key).copied().unwrap_or(0);
        let count = tokens.len() as i32;
        for (i, token) in tokens.iter().enumerate() {
            let role = self.stream.role_mut(token.symbol);
            if role.mtype.is_none() {
                role.mtype = Some(before + count - i as i32);
            }
        }
        self.mtypes.insert(key, before + count);
    }

    /// The variables of a declaration, between commas.
    fn declarators(&mut self, start: Span, visibility: Option<Visibility>, ty: TypeName) -> Read<Declaration> {
        let mut declarators = Vec::new();
        loop {
            declarators.push(self.declarator()?);
            let after = self.peek();
            if after.kind != Tok::Comma {
                break;
            }
            self.bump();
        }
        Ok(Declaration { visibility, ty, declarators, span: self.span_from(start) })
    }

    fn declarator(&mut self) -> Read<Declarator> {
        let token = self.peek();
        if token.kind != Tok::Ident {
            return Err(self.no_declarator(token));
        }
        self.bump();
        let name = self.name_of(token);
        let (mut width, mut length) = (None, None);
        match self.peek_kind() {
            Tok::Colon => {
                let colon = self.bump();
                if self.peek_kind() == Tok::Assign {
                    let span = colon.span.to(self.peek().span);
                    return Err(self.error(span, "`:=` has no meaning in Promela", "", "write `=`"));
                }
                width = match self.constant() {
                    Some(constant) => Some(constant),
                    None => return Err(self.unexpected("a number of bits after `:`")),
                };
            }
            Tok::LBracket => {
                self.bump();
                length = Some(self.const_expr("the length of an array", true)?);
                self.expect(Tok::RBracket, " after the length of the array")?;
            }
            _ => {}
        }
        let initial = if self.accept(Tok::Assign).is_some() { Some(self.initializer()?) } else { None };
        Ok(Declarator { name, width, length, initial })
    }

    fn no_declarator(&mut self, token: Token) -> Bail {
        let text = self.text(token.symbol).to_owned();
        let what = match token.kind {
            Tok::TypeName => "a typedef",
            Tok::ProcName => "a proctype",
            Tok::InlineName => "an inline",
            Tok::MtypeConst => "a constant of an mtype",
            kind if kind.is_type() && self.previous.kind == Tok::Comma => {
                let help = "separate declarations of different types by `;`";
                return self.error(token.span, "a `,` goes on with the same type", "", help);
            }
            _ => {
                let bail = self.unexpected("the name of a variable");
                return bail;
            }
        };
        self.error(token.span, format!("`{text}` is {what} already"), "", "give the variable another name")
    }

    /// A constant expression: constants, `+ - * / %` and parentheses; or, where `name` says so, one name.
    pub(super) fn const_expr(&mut self, what: &str, name: bool) -> Read<Expr> {
        let expr = self.expr()?;
        let allowed = match &expr.kind {
            ExprKind::Var(variable) => name && variable.parts.len() == 1 && variable.parts[0].index.is_none(),
            _ => is_constant(&expr),
        };
        if allowed {
            return Ok(expr);
        }
        let span = expr.span;
        Err(self.error(
            span,
            format!("{what} must be a constant"),
            "only numbers, `+ - * / %` and parentheses can be used here",
            "define a macro with `#define NAME number` and use it here",
        ))
    }

    /// What comes after `=`.
    fn initializer(&mut self) -> Read<Initializer> {
        match self.peek_kind() {
            Tok::LBrace => self.constants_in_braces(),
            Tok::LBracket => self.channel(),
            Tok::Assign => {
                let span = self.peek().span;
                Err(self.error(span, "one `=` is enough here", "", "write `=`"))
            }
            Tok::InlineName => {
                let span = self.peek().span;
                let help = "declare the variable first, and assign in a statement of its own";
                Err(self.error(span, "an inline cannot be called in a declaration", "", help))
            }
            _ => Ok(Initializer::Expr(self.expr()?)),
        }
    }

    fn constants_in_braces(&mut self) -> Read<Initializer> {
        let open = self.bump();
        let mut constants: Vec<Constant> = Vec::new();
        loop {
            match self.constant() {
                Some(constant) => constants.push(constant),
                None => return Err(self.unexpected("a constant")),
            }
            if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RBrace, " after the values of the array")?;
        let span = self.span_from(open.span);
        self.no_comma_after_brace(span);
        Ok(Initializer::List(constants, span))
    }

    /// `[n] of { types }`
    fn channel(&mut self) -> Read<Initializer> {
        let open = self.bump();
        let capacity = self.const_expr("the capacity of a channel", false)?;
        self.expect(Tok::RBracket, " after the capacity of the channel")?;
        self.expect(Tok::Of, " before the types of the message's fields")?;
        self.expect(Tok::LBrace, " and the types of the message's fields")?;
        let mut fields = Vec::new();
        loop {
            fields.push(self.field_type()?);
            if self.peek_kind() == Tok::Semi {
                let span = self.peek().span;
                self.error(span, "the types of a message's fields stand between commas", "", "write `,`");
                self.bump();
            } else if self.accept(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RBrace, " after the types of the message's fields")?;
        let span = self.span_from(open.span);
        self.no_comma_after_brace(span);
        Ok(Initializer::Channel { capacity, fields, span })
    }

    /// Spin puts a `;` behind `}` even if a comma follows, so that the declaration cannot go on.
    fn no_comma_after_brace(&mut self, span: Span) {
        if let Some(comma) = self.stream.comma_behind_brace() {
            let help = "end this declaration with `;` and begin a new one";
            let headline = "a declaration cannot go on after `}`";
            let finding = fabius_base::Finding::new(fabius_base::Code::UnexpectedToken, headline);
            self.report(finding.at(comma, "").at(span, "Spin ends the declaration here").help(help), comma);
        }
    }

    fn field_type(&mut self) -> Read<(TypeName, Span)> {
        let word = self.peek();
        let ty = match word.kind {
            Tok::TypeName => TypeName::User(self.name_of(word)),
            Tok::Mtype => TypeName::Mtype(None),
            Tok::Unsigned => {
                let help = "use `byte`, `short` or `int`";
                return Err(self.error(word.span, "`unsigned` cannot be the type of a message's field", "", help));
            }
            kind => match plain_type(kind) {
                Some(ty) => ty,
                None => return Err(self.unexpected("the type of a field")),
            },
        };
        self.bump();
        if word.kind == Tok::Mtype && self.accept(Tok::Colon).is_some() {
            let set = self.peek();
            if set.kind != Tok::Ident {
                return Err(self.unexpected("the name of a set of mtype constants"));
            }
            self.bump();
            let set: Name = self.name_of(set);
            return Ok((TypeName::Mtype(Some(set)), self.span_from(word.span)));
        }
        Ok((ty, word.span))
    }

    /// Declarations between `;`, of a typedef or of parameters, up to `close`.
    pub(super) fn declaration_list(&mut self, close: Tok) -> Read<Vec<Declaration>> {
        let mut declarations = Vec::new();
        loop {
            if !self.begins_declaration() {
                return Err(self.unexpected("a declaration"));
            }
            match self.any_declaration()? {
                Declared::Variables(declaration) => declarations.push(declaration),
                Declared::Mtype(mtype) => return Err(self.mtype_not_global(mtype.span)),
            }
            if self.peek_kind() == close {
                return Ok(declarations);
            }
            self.expect(Tok::Semi, " between declarations")?;
            if self.peek_kind() == close && close == Tok::RParen {
                let span = self.peek().span;
                return Err(self.error(span, "no `;` is wanted after the last parameter", "", "remove the `;`"));
            }
            if self.peek_kind() == close {
                return Ok(declarations);
            }
        }
    }

    pub(super) fn mtype_not_global(&mut self, span: Span) -> Bail {
        self.error(span, "mtype constants can only be declared at the top level", "", "move this out of the braces")
    }

    /// `typedef Name { fields }`
    pub(super) fn typedef(&mut self) -> Read<Typedef> {
        self.bump();
        let token = self.peek();
        if token.kind != Tok::Ident {
            return Err(match token.kind {
                Tok::TypeName | Tok::ProcName | Tok::InlineName | Tok::MtypeConst => self.no_declarator(token),
                _ => self.unexpected("the name of the typedef"),
            });
        }
        self.bump();
        let name = self.name_of(token);
        self.expect(Tok::LBrace, " and the fields of the typedef")?;
        self.stream.in_body = true;
        let fields = self.declaration_list(Tok::RBrace)?;
        self.expect(Tok::RBrace, " after the fields of the typedef")?;
        self.stream.in_body = false;
        self.stream.role_mut(token.symbol).type_name = true;
        Ok(Typedef { name, fields })
    }
}

fn plain_type(kind: Tok) -> Option<TypeName> {
    Some(match kind {
        Tok::Bit => TypeName::Bit,
        Tok::Bool => TypeName::Bool,
        Tok::Byte => TypeName::Byte,
        Tok::Short => TypeName::Short,
        Tok::Int => TypeName::Int,
        Tok::Unsigned => TypeName::Unsigned,
        Tok::Pid => TypeName::Pid,
        Tok::Chan => TypeName::Chan,
        _ => return None,
    })
}

/// Whether Spin's grammar takes this for a constant expression.
fn is_constant(expr: &Expr) -> bool {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match &expr.kind {
            ExprKind::Constant(_) => {}
            ExprKind::Unary(UnOp::Neg, inner) => pending.push(inner),
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Rem, left, right) => {
                pending.push(left);
                pending.push(right);
            }
            _ => return false,
        }
    }
    true
}
