//! Which statements the searches of a model executed so far, whichever property they were for.

use super::reading::Reading;
use fabius_base::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// What the searches of a model executed.
#[derive(Clone, Debug)]
pub struct ExecutedSoFar {
    /// The model.
    reading: Arc<Reading>,
    /// By where a statement stands, whether a search executed it; `None` if that cannot be told.
    statements: HashMap<Span, Option<bool>>,
}

impl ExecutedSoFar {
    /// What is known after one more search of a model; what was known of a model that means something else does not count.
    pub(super) fn with(
        before: Option<Self>,
        reading: &Arc<Reading>,
        searched: Vec<(Span, Option<bool>)>,
    ) -> Option<Self> {
        let before = before.and_then(|before| before.in_text(reading));
        if searched.is_empty() {
            return before;
        }
        let mut known = before.unwrap_or_else(|| Self { reading: Arc::clone(reading), statements: HashMap::new() });
        for (span, is_executed) in searched {
            let known = known.statements.entry(span).or_insert(Some(false));
            *known = either(*known, is_executed);
        }
        Some(known)
    }

    /// The same in another text; `None` if that means something else.
    fn in_text(self, present: &Arc<Reading>) -> Option<Self> {
        let statements = self.statements_in(present)?.collect();
        Some(Self { reading: Arc::clone(present), statements })
    }

    /// The statements by where they stand in another text; `None` if that means something else.
    pub fn statements_in(&self, present: &Arc<Reading>) -> Option<impl Iterator<Item = (Span, Option<bool>)>> {
        let moved = match Arc::ptr_eq(present, &self.reading) {
            true => None,
            false => Some(moves(&self.reading, present)?),
        };
        let place = move |(span, is_executed): (&Span, &Option<bool>)| {
            let new = moved.as_ref().map_or(Some(*span), |moved| moved.get(span).copied());
            Some((new?, *is_executed))
        };
        Some(self.statements.iter().filter_map(place))
    }
}

/// Whether one or the other of two searches executed a statement.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Where the statements of a text are in one that means the same; `None` if it means something else.
pub fn moves(old: &Reading, new: &Reading) -> Option<HashMap<Span, Span>> {
    let same = |property: &String| old.digest_of(property) == new.digest_of(property);
    let names = new.properties();
    if old.properties() != names || !names.iter().all(same) {
        return None;
    }
    let places = old.written()?.places_in(new.written()?);
    Some(places.into_iter().map(|(a, b)| (old.map().user_span(a), new.map().user_span(b))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_engine::{Settings, load};
    use std::collections::BTreeSet;

    const TEXT: &str = "byte a, b;\nactive proctype P() { a = 1; b = 2 }\n";

    fn read(text: &str) -> Arc<Reading> {
        let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
        Arc::new(Reading::new(loaded, BTreeSet::new()))
    }

    /// Where a statement stands.
    fn place(reading: &Reading, statement: &str) -> Span {
        let file = reading.file("m.pml").expect("a file");
        let start = reading.map().file(file).text.find(statement).expect("a statement") as u32;
        Span::new(file, start, start + statement.len() as u32)
    }

    /// What a search tells that executed some of the statements `a = 1` and `b = 2`.
    fn searched(reading: &Reading, executed: [bool; 2]) -> Vec<(Span, Option<bool>)> {
        let place = |(text, executed)| (place(reading, text), Some(executed));
        ["a = 1", "b = 2"].into_iter().zip(executed).map(place).collect()
    }

    /// What is known of the two statements of a text.
    fn known(known: &ExecutedSoFar, reading: &Arc<Reading>) -> Option<[bool; 2]> {
        let all: HashMap<Span, Option<bool>> = known.statements_in(reading)?.collect();
        Some(["a = 1", "b = 2"].map(|text| all[&place(reading, text)].expect("known")))
    }

    #[test]
    fn what_any_search_executed_is_executed_and_moves_along_with_the_text() {
        let reading = read(TEXT);
        let one = ExecutedSoFar::with(None, &reading, searched(&reading, [true, false])).expect("a search");
        assert_eq!(known(&one, &reading), Some([true, false]));
        let both = ExecutedSoFar::with(Some(one.clone()), &reading, searched(&reading, [false, true]));
        assert_eq!(known(&both.expect("a search"), &reading), Some([true, true]));
        // A search that could not begin teaches nothing.
        let none = ExecutedSoFar::with(Some(one.clone()), &reading, Vec::new());
        assert_eq!(known(&none.expect("what was known"), &reading), Some([true, false]));
        let unclear = vec![(place(&reading, "b = 2"), None)];
        let unclear = ExecutedSoFar::with(Some(one.clone()), &reading, unclear).expect("a search");
        let statements: HashMap<Span, Option<bool>> = unclear.statements_in(&reading).expect("the same").collect();
        assert_eq!(statements[&place(&reading, "b = 2")], None, "it may have been executed");
        let moved = read(&format!("/* A comment. */ {TEXT}"));
        assert_eq!(known(&one, &moved), Some([true, false]));
        let later = ExecutedSoFar::with(Some(one.clone()), &moved, searched(&moved, [false, false]));
        assert_eq!(known(&later.expect("a search"), &moved), Some([true, false]));
        let other = read(&TEXT.replace("a = 1;", "a = 1; skip;"));
        assert_eq!(known(&one, &other), None);
        let anew = ExecutedSoFar::with(Some(one), &other, searched(&other, [false, true]));
        assert_eq!(known(&anew.expect("a search"), &other), Some([false, true]));
    }
}
