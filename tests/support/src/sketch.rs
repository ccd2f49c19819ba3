//! A model as a tree of statements: coarse enough to be made at random and to be cut down, fine enough
//! to be printed as Promela.

use std::fmt::Write;

/// A statement, or several that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// A simple statement as text.
    Line(String),
    /// `atomic { … }`, `d_step { … }` or a plain block: the word in front, and the statements inside.
    Block(&'static str, Vec<Piece>),
    /// `if … fi` or `do … od`: the options, each a list of statements of which the first is the guard.
    Choice(ChoiceKind, Vec<Vec<Piece>>),
    /// `{ … } unless { … }`.
    Unless(Vec<Piece>, Vec<Piece>),
}

impl Piece {
    /// The same with every line changed.
    #[must_use]
    pub fn adapted(&self, change: &impl Fn(&str) -> String) -> Self {
        let all = |pieces: &[Self]| pieces.iter().map(|piece| piece.adapted(change)).collect();
        match self {
            Self::Line(line) => Self::Line(change(line)),
            Self::Block(word, inside) => Self::Block(word, all(inside)),
            Self::Choice(kind, options) => Self::Choice(*kind, options.iter().map(|option| all(option)).collect()),
            Self::Unless(main, escape) => Self::Unless(all(main), all(escape)),
        }
    }
}

/// Which choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceKind {
    /// `if … fi`.
    If,
    /// `do … od`.
    Do,
}

/// A process type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// What stands in front of the body, such as `active proctype P()`.
    pub head: String,
    /// Declarations at the beginning.
    pub declarations: Vec<String>,
    /// Statements.
    pub body: Vec<Piece>,
}

/// A model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sketch {
    /// Declarations of global variables and channels, `inline`s and macros, one per element.
    pub globals: Vec<String>,
    /// Process types in the order of the text.
    pub actors: Vec<Actor>,
}

impl Sketch {
    /// The model as Promela.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for global in &self.globals {
            let _ = writeln!(text, "{global}");
        }
        for actor in &self.actors {
            let _ = writeln!(text, "{} {{", actor.head);
            for declaration in &actor.declarations {
                let _ = writeln!(text, "  {declaration};");
            }
            write_pieces(&mut text, &actor.body, 1);
            text.push_str("}\n");
        }
        text
    }

    /// Every model that is this one with one thing taken out or flattened, the largest cuts first.
    pub fn smaller(&self) -> Vec<Sketch> {
        let mut candidates = Vec::new();
        for index in 0..self.actors.len() {
            let mut without = self.clone();
            without.actors.remove(index);
            candidates.push(without);
        }
        for (index, actor) in self.actors.iter().enumerate() {
            for body in cuts(&actor.body) {
                let mut with = self.clone();
                with.actors[index].body = body;
                candidates.push(with);
            }
            for declaration in 0..actor.declarations.len() {
                let mut without = self.clone();
                without.actors[index].declarations.remove(declaration);
                candidates.push(without);
            }
        }
        for index in 0..self.globals.len() {
            let mut without = self.clone();
            without.globals.remove(index);
            candidates.push(without);
        }
        candidates
    }
}

fn write_pieces(text: &mut String, pieces: &[Piece], depth: usize) {
    let indent = "  ".repeat(depth);
    for (index, piece) in pieces.iter().enumerate() {
        let separator = if index + 1 < pieces.len() { ";" } else { "" };
        match piece {
            Piece::Line(line) => {
                let _ = writeln!(text, "{indent}{line}{separator}");
            }
            Piece::Block(word, inside) => {
                let _ = writeln!(text, "{indent}{word} {{");
                write_pieces(text, inside, depth + 1);
                let _ = writeln!(text, "{indent}}}{separator}");
            }
            Piece::Choice(kind, options) => {
                let (open, close) = if *kind == ChoiceKind::If { ("if", "fi") } else { ("do", "od") };
                let _ = writeln!(text, "{indent}{open}");
                for option in options {
                    let _ = writeln!(text, "{indent}::");
                    write_pieces(text, option, depth + 1);
                }
                let _ = writeln!(text, "{indent}{close}{separator}");
            }
            Piece::Unless(main, escape) => {
                let _ = writeln!(text, "{indent}{{");
                write_pieces(text, main, depth + 1);
                let _ = writeln!(text, "{indent}}} unless {{");
                write_pieces(text, escape, depth + 1);
                let _ = writeln!(text, "{indent}}}{separator}");
            }
        }
    }
}

/// Every list that is this one with one thing taken out or flattened.
fn cuts(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut found = Vec::new();
    for index in 0..pieces.len() {
        let replaced = |with: Vec<Piece>| [&pieces[..index], &with, &pieces[index + 1..]].concat();
        if pieces.len() > 1 {
            found.push(replaced(Vec::new()));
        }
        match &pieces[index] {
            Piece::Line(_) => {}
            Piece::Block(word, inside) => {
                found.push(replaced(inside.clone()));
                found.extend(cuts(inside).into_iter().map(|cut| replaced(vec![Piece::Block(word, cut)])));
            }
            Piece::Unless(main, escape) => {
                found.push(replaced(main.clone()));
                found.push(replaced(escape.clone()));
                let unless = |main: &[Piece], escape: &[Piece]| Piece::Unless(main.to_vec(), escape.to_vec());
                found.extend(cuts(main).into_iter().map(|cut| replaced(vec![unless(&cut, escape)])));
                found.extend(cuts(escape).into_iter().map(|cut| replaced(vec![unless(main, &cut)])));
            }
            Piece::Choice(kind, options) => {
                found.extend(options.iter().map(|option| replaced(option.clone())));
                found.extend(option_cuts(options).into_iter().map(|cut| replaced(vec![Piece::Choice(*kind, cut)])));
            }
        }
    }
    found
}

fn option_cuts(options: &[Vec<Piece>]) -> Vec<Vec<Vec<Piece>>> {
    let mut found = Vec::new();
    for (index, option) in options.iter().enumerate() {
        if options.len() > 1 {
            let mut without = options.to_vec();
            without.remove(index);
            found.push(without);
        }
        for cut in cuts(option) {
            let mut with = options.to_vec();
            with[index] = cut;
            found.push(with);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Piece {
        Piece::Line(text.to_owned())
    }

    #[test]
    fn separators_stand_between_statements_only() {
        let sketch = Sketch {
            globals: vec!["byte x;".to_owned()],
            actors: vec![Actor {
                head: "active proctype P()".to_owned(),
                declarations: vec!["byte y".to_owned()],
                body: vec![
                    Piece::Choice(ChoiceKind::If, vec![vec![line("x == 1"), line("x = 2")], vec![line("else")]]),
                    line("skip"),
                ],
            }],
        };
        let text = sketch.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text, "byte x; active proctype P() { byte y; if :: x == 1; x = 2 :: else fi; skip }");
    }

    #[test]
    fn a_cut_takes_out_or_flattens() {
        let pieces = [Piece::Block("atomic", vec![line("a"), line("b")]), line("c")];
        let cut = cuts(&pieces);
        assert!(cut.contains(&vec![line("c")]));
        assert!(cut.contains(&vec![line("a"), line("b"), line("c")]));
        assert!(cut.contains(&vec![Piece::Block("atomic", vec![line("b")]), line("c")]));
        assert!(cut.contains(&vec![pieces[0].clone()]));
        assert_eq!(cut.len(), 5);
    }
}
