//! Macros that exist before the first line of a model.

/// A macro: its name and its content.
pub type Define = (String, String);

/// `NAME` or `NAME=VALUE` as name and content.
pub fn definition(text: &str) -> Define {
    match text.split_once('=') {
        Some((name, value)) => defined(name, value),
        None => (text.to_owned(), "1".to_owned()),
    }
}

/// A macro with this content, which may be empty.
pub fn defined(name: &str, value: &str) -> Define {
    // To the preprocessor an empty value means 1; a blank is a macro without content.
    let value = if value.is_empty() { " " } else { value };
    (name.to_owned(), value.to_owned())
}

/// The macros of a project, then others; of two with the same name, the other one.
pub fn over(project: impl IntoIterator<Item = Define>, others: &[Define]) -> Vec<Define> {
    let own = project.into_iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    own.chain(others.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> Define {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn without_a_value_a_macro_is_1_and_with_an_empty_one_it_is_empty() {
        assert_eq!(definition("N"), pair("N", "1"));
        assert_eq!(definition("N="), pair("N", " "));
        assert_eq!(definition("N=a=b"), pair("N", "a=b"));
    }

    #[test]
    fn others_count_more_than_those_of_the_project() {
        let project = ["N=1", "M=2"].map(definition);
        assert_eq!(over(project, &[definition("N=3")]), [pair("M", "2"), pair("N", "3")]);
    }
}
