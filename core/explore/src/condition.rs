//! Conditions and expressions in the words of the model.

use crate::Exploration;
use crate::tree::NodeId;
use fabius_program::Expr;
use fabius_witness::{show::Names, value_of};

/// A condition (or any expression) over states, read by [`Exploration::condition`].
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// As it was written.
    pub text: String,
    pub(crate) expr: Expr,
}

impl Exploration {
    /// Reads a condition: global variables, `P:x` or `P[1]:x` for a variable of a process, `P@label` for its place,
    /// macros and constants of the model, and its operators.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn condition(&self, text: &str) -> Result<Condition, String> {
        let expr = fabius_task::condition::condition(self.loaded(), &self.target().program, text)?;
        Ok(Condition { text: text.trim().to_owned(), expr })
    }

    /// Whether a condition is true in the present state.
    ///
    /// # Errors
    /// Why it has no value.
    pub fn holds(&self, condition: &Condition) -> Result<bool, String> {
        Ok(self.value_of(condition)? != 0)
    }

    /// The value of an expression in the present state.
    ///
    /// # Errors
    /// Why it has none.
    pub fn value_of(&self, condition: &Condition) -> Result<i32, String> {
        let value = value_of(&self.target().program, &self.state(), &condition.expr);
        value.map_err(|why| format!("`{}` has no value: {why}", condition.text))
    }

    /// The value of an expression as a person reads it. If a process is named, its variables may be written without it.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn evaluate(&self, text: &str, pid: Option<u8>) -> Result<String, String> {
        let text = text.trim();
        let owner = pid.and_then(|pid| self.status_of(pid));
        if let Some(owner) = &owner
            && let Some((_, value)) = owner.variables.iter().find(|(name, _)| name == text)
        {
            return Ok(value.clone());
        }
        let snapshot = self.snapshot();
        let known = snapshot.variables.iter().chain(&snapshot.channels).find(|(name, _)| name == text);
        if let Some((_, value)) = known {
            return Ok(value.clone());
        }
        let condition = match owner {
            Some(owner) => {
                let names: Vec<&str> = owner.variables.iter().map(|(name, _)| base_name(name)).collect();
                let found = self.condition(&with_owner(text, &owner.name, &names));
                found.map_err(|why| with_suggestion(why, &names))?
            }
            None => self.condition(text)?,
        };
        self.shown_at(&condition, self.here())
    }

    /// The value of an expression at a node as a person reads it.
    ///
    /// # Errors
    /// Why it has none.
    pub fn shown_at(&self, condition: &Condition, node: NodeId) -> Result<String, String> {
        let (program, state) = (&self.target().program, self.state_at(node));
        let value = value_of(program, &state, &condition.expr);
        let value = value.map_err(|why| format!("`{}` has no value: {why}", condition.text))?;
        Ok(match fabius_task::condition::kind_of(program, &condition.expr) {
            Some(kind) => Names::of(program, &state).value(kind, value),
            None => value.to_string(),
        })
    }

    /// How the value of an expression changes along the line: the nodes after whose steps it is another one than before,
    /// each with it; first the initial state. At most this many nodes are looked at.
    pub fn along_line(&self, condition: &Condition, nodes_max: usize) -> Vec<(NodeId, Result<String, String>)> {
        let mut found: Vec<(NodeId, Result<String, String>)> = Vec::new();
        for node in self.line().iter().take(nodes_max) {
            let value = self.shown_at(condition, *node);
            if found.last().is_none_or(|(_, before)| *before != value) {
                found.push((*node, value));
            }
        }
        found
    }
}

/// The name before any index or field.
fn base_name(name: &str) -> &str {
    name.split(['[', '.']).next().unwrap_or(name)
}

/// What is wrong with an expression; where it is an unknown name, with the variable of the process that may be meant.
fn with_suggestion(why: String, names: &[&str]) -> String {
    let unknown = why.strip_prefix('`').and_then(|rest| rest.strip_suffix("` is not declared"));
    match unknown.and_then(|name| fabius_engine::nearest(name, names.iter().copied())) {
        Some(near) => format!("{why}: did you mean `{near}`?"),
        None => why,
    }
}

/// The text with the process before each of these names, where it stands for a variable.
fn with_owner(text: &str, owner: &str, names: &[&str]) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let bound = matches!(out.trim_end().chars().next_back(), Some(':' | '.' | '@' | '\''));
        let names_process = matches!(after.trim_start().chars().next(), Some(':' | '@'));
        if !bound && !names_process && names.contains(&word) {
            out.push_str(owner);
            out.push(':');
        }
        out.push_str(word);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{with_owner, with_suggestion};

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_one() {
        let told = |why: &str| with_suggestion(why.to_owned(), &["other", "n"]);
        assert_eq!(told("`othr` is not declared"), "`othr` is not declared: did you mean `other`?");
        assert_eq!(told("`turn` is not declared"), "`turn` is not declared");
    }

    #[test]
    fn variables_of_the_process_get_its_name() {
        let told = |text| with_owner(text, "P[1]", &["x", "at"]);
        assert_eq!(told("x + 1 == y"), "P[1]:x + 1 == y");
        assert_eq!(told("P[0]:x < x"), "P[0]:x < P[1]:x");
        assert_eq!(told("xx || Q@at && at"), "xx || Q@at && P[1]:at");
        assert_eq!(told("s.x + x.y[x]"), "s.x + P[1]:x.y[P[1]:x]");
    }
}
