//! Verdicts that a model says are right.
//!
//! ```promela
//! /*@ expect: violated */
//! ltl served { []<> progress }
//!
//! /*@ expect deadlock_free: holds */
//! ```
//!
//! Without a name, the comment speaks of the formula or claim that it stands before, and of safety anywhere else. To anybody
//! else, Spin too, it is a comment.

use crate::seals::comments;

/// A verdict that is right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation<'a> {
    /// The property, if it is named.
    pub property: Option<&'a str>,
    /// `holds`, `violated` or `undecided`.
    pub verdict: &'a str,
    /// Where the comment ends, in bytes.
    pub end: usize,
    /// Whether a formula or a claim comes next; then where its declaration starts behind its first word.
    pub before: Option<usize>,
}

/// What the comments of a text say about verdicts. What cannot be understood is a comment like any other.
pub fn expectations(text: &str) -> Vec<Expectation<'_>> {
    let comments = comments(text);
    let one = |(start, comment): &(usize, &'_ str)| {
        let text: &str = &text[start + 2..start + 2 + comment.len()];
        let (subject, verdict) = text.strip_prefix('@')?.split_once(':')?;
        let mut words = subject.split_whitespace();
        let ("expect", property, None) = (words.next()?, words.next(), words.next()) else { return None };
        let verdict = verdict.trim();
        let end = start + text.len() + 4;
        matches!(verdict, "holds" | "violated" | "undecided").then_some((property, verdict, end))
    };
    let found = comments.iter().filter_map(one);
    found
        .map(|(property, verdict, end)| Expectation {
            property,
            verdict,
            end,
            before: formula_after(text, end, &comments),
        })
        .collect()
}

/// Where the first word of a formula or claim ends, if one comes next.
fn formula_after(text: &str, end: usize, comments: &[(usize, &str)]) -> Option<usize> {
    let mut at = end;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let Some((_, comment)) = comments.iter().find(|(start, _)| *start == at) else { break };
        at += comment.len() + 4;
    }
    let rest = &text[at..];
    let word = ["ltl", "never"].into_iter().find(|word| rest.starts_with(word))?;
    let next = rest[word.len()..].chars().next();
    next.is_none_or(|c| !c.is_alphanumeric() && c != '_').then_some(at + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Option<&str>, &str, bool)> {
        expectations(text).into_iter().map(|one| (one.property, one.verdict, one.before.is_some())).collect()
    }

    #[test]
    fn a_comment_says_which_verdict_is_right() {
        let text =
            "/*@ expect: violated */ bool x; /*@expect:holds*/ /* why */ ltl p { x }\n/*@ expect p2: undecided */";
        assert_eq!(read(text), [(None, "violated", false), (None, "holds", true), (Some("p2"), "undecided", false)]);
    }

    #[test]
    fn anything_else_is_a_comment() {
        let text = "/* expect: violated */ \"/*@ expect: violated */\" /*@ expect: maybe */ /*@ expect a b: holds */ // /*@ expect: holds */";
        assert_eq!(read(text), []);
        assert_eq!(read("/*@ expect: holds */ ltlx"), [(None, "holds", false)]);
        for hostile in ["/*@ expect", "/*@ expect: holds", "/*@ expect: holds */", "/*@:*/é", "/*@ expect é: holds */é"]
        {
            let _ = read(hostile);
        }
    }
}
