//! Where the parts that make a condition false stand in the text.

use fabius_base::{SourceMap, Span};
use fabius_language::{Condition, ConditionOperator};
use fabius_task::Loaded;
use fabius_witness::deciding::{DecidingPart, Operand};
use fabius_witness::{Reason, Waiting};
use std::ops::Range;

/// The parts that make the condition false at which a process waits, or the `provided` of its type, each with its place in the text where
/// that is known: of a part that comes from a macro, the use of the macro; of one that is an argument, the argument. None where it waits for something else.
pub fn deciding_parts(loaded: &Loaded, waiting: &Waiting) -> Vec<(DecidingPart, Option<Span>)> {
    let syntax = loaded.syntax();
    let (condition, parts) = match &waiting.reason {
        Reason::ConditionFalse { parts, .. } => (syntax.and_then(|syntax| syntax.condition(waiting.span)), parts),
        Reason::NotProvided { process, parts, .. } => (syntax.and_then(|syntax| syntax.provided(process)), parts),
        _ => return Vec::new(),
    };
    let place = |part: &DecidingPart| Some(shown(&loaded.map, at(condition.as_ref()?, &part.path)?));
    parts.iter().map(|part| (part.clone(), place(part))).collect()
}

/// Where a person sees a part of a condition, from its beginning to its last operand, whichever macros these came from.
fn shown(map: &SourceMap, part: &Condition) -> Span {
    let (span, last) = (map.user_span(part.span), map.user_span(part.last));
    let is_behind = (last.file, last.via) == (span.file, span.via) && span.end < last.end;
    if is_behind { Span { end: last.end, ..span } } else { span }
}

/// The statement at which a process waits as it is written, if that is in one line and without macros, and where in it these parts are.
pub fn deciding_in_line(loaded: &Loaded, waiting: &Waiting) -> Option<(String, Vec<Range<usize>>)> {
    let whole = loaded.map.user_span(waiting.span);
    let line = loaded.map.text(whole).to_owned();
    let within = |(_, place): (DecidingPart, Option<Span>)| {
        let place = loaded.map.user_span(place?);
        let range = place.start.checked_sub(whole.start)? as usize..place.end.checked_sub(whole.start)? as usize;
        (place.file == whole.file && line.get(range.clone()).is_some()).then_some(range)
    };
    let ranges = deciding_parts(loaded, waiting).into_iter().filter_map(within).collect();
    // Blanks and parentheses are not those of the text everywhere.
    let bare =
        |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect() };
    (bare(&line) == bare(&waiting.text) && !line.contains('\n')).then_some((line, ranges))
}

/// The part at the end of a path; nothing if the text has other operators on the way.
fn at<'c>(condition: &'c Condition, path: &[Operand]) -> Option<&'c Condition> {
    path.iter().try_fold(condition, |condition, step| {
        let (operator, operand) = match step {
            Operand::AndLeft => (ConditionOperator::And, 0),
            Operand::AndRight => (ConditionOperator::And, 1),
            Operand::OrLeft => (ConditionOperator::Or, 0),
            Operand::OrRight => (ConditionOperator::Or, 1),
            Operand::Negated => (ConditionOperator::Not, 0),
        };
        condition.operands.get(operand).filter(|_| condition.operator == operator)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_task::{Settings, load};
    use fabius_witness::{State, process_statuses};

    /// The texts of the parts that make the conditions false at which the first process waits when the model begins.
    fn parts(text: &str) -> Vec<(String, Option<String>, bool)> {
        let settings = Settings { optimize: false, ..Settings::default() };
        let loaded = load("m", text.to_owned(), &[], &mut |_, _| None, &settings);
        let program = loaded.as_written().expect("a program");
        let statuses = process_statuses(&program, &State::initial(&program).expect("a state"));
        let found = statuses[0].waiting.iter().flat_map(|waiting| deciding_parts(&loaded, waiting));
        let shown = |span: Span| loaded.map.text(loaded.map.user_span(span)).to_owned();
        found.map(|(part, span)| (part.text, span.map(shown), part.holds)).collect()
    }

    fn texts(text: &str) -> Vec<String> {
        parts(text).into_iter().map(|(_, shown, _)| shown.expect("a place")).collect()
    }

    #[test]
    fn the_false_parts_of_a_condition_are_found_in_the_text() {
        let model = |condition: &str| format!("byte a, b, c = 1; byte x[2];\nactive proctype P() {{ {condition} }}\n");
        assert_eq!(texts(&model("c && (a || b > 2) && x[1] == 3")), ["a", "b > 2", "x[1] == 3"]);
        assert_eq!(texts(&model("a || (b && c)")), ["a", "b"]);
        assert_eq!(texts(&model("!(c || a) && b == 0")), ["c"]);
        assert_eq!(texts(&model("!(c == 1 && b == 0)")), ["c == 1", "b == 0"]);
        assert_eq!(texts(&model("(c -> a : b)")), ["(c -> a : b)"]);
        assert_eq!(texts(&model("do :: a -> break :: c && b -> skip od")), ["a", "b"]);
        assert_eq!(texts(&model("atomic { c; skip }; a")), [] as [&str; 0]);
    }

    #[test]
    fn the_parts_are_found_in_the_line_of_the_statement() {
        let marked = |text: &str| -> Vec<String> {
            let settings = Settings { optimize: false, ..Settings::default() };
            let loaded = load("m", text.to_owned(), &[], &mut |_, _| None, &settings);
            let program = loaded.as_written().expect("a program");
            let statuses = process_statuses(&program, &State::initial(&program).expect("a state"));
            let one = |waiting: &Waiting| -> Vec<String> {
                let (line, ranges) = deciding_in_line(&loaded, waiting).unwrap_or_default();
                ranges.into_iter().map(|range| line[range].to_owned()).collect()
            };
            statuses[0].waiting.iter().flat_map(one).collect()
        };
        assert_eq!(marked("byte a, b = 1;\nactive proctype P() { (a && b) || a > 2 }"), ["a", "a > 2"]);
        assert_eq!(marked("byte a, b = 1;\nactive proctype P() { (b && (a == 2)) }"), ["(a == 2)"]);
        assert_eq!(marked("#define Q a\nbyte a, b = 1;\nactive proctype P() { b  &&  Q }"), [] as [&str; 0]);
        assert_eq!(marked("byte a, b;\nactive proctype P() { a &&\n b }"), [] as [&str; 0]);
    }

    #[test]
    fn a_part_in_a_macro_or_an_inline_is_where_somebody_wrote_it() {
        let text = "#define READY (a && c)\nbyte a, b, c = 1;\ninline wait(v) { v && c }\nactive proctype P() { if :: READY || b :: wait(b) fi }\n";
        let shown: Vec<Option<String>> = parts(text).into_iter().map(|(_, shown, _)| shown).collect();
        assert_eq!(shown[..2], [Some("READY".to_owned()), Some("b".to_owned())]);
        let named: Vec<String> = parts(text).into_iter().map(|(text, ..)| text).collect();
        assert_eq!(named, ["a", "b", "b"]);
    }

    #[test]
    fn a_part_of_which_only_some_comes_from_a_macro_is_all_of_it() {
        let macros = "#define LIMIT 3\n#define X x[0]\n#define BOTH(p, q) (p && q)\n#define INNER BOTH(a, X)\n";
        let model =
            |condition: &str| format!("{macros}byte a, b = 1; byte x[2];\nactive proctype P() {{ {condition} }}\n");
        assert_eq!(texts(&model("b > LIMIT && b")), ["b > LIMIT"]);
        assert_eq!(texts(&model("X == LIMIT || a")), ["X == LIMIT", "a"]);
        assert_eq!(texts(&model("X == 3 && b")), ["X == 3"]);
        assert_eq!(texts(&model("b && !(b < LIMIT)")), ["(b < LIMIT)"]);
        assert_eq!(texts(&model("BOTH(a, b) || a == LIMIT")), ["a", "a == LIMIT"]);
        assert_eq!(texts(&model("INNER")), ["INNER", "INNER"]);
        assert_eq!(texts(&model("if :: BOTH(b, X) -> skip :: b + LIMIT < LIMIT fi")), ["X", "b + LIMIT < LIMIT"]);
    }

    #[test]
    fn the_false_parts_of_a_provided_clause_are_found_in_the_text() {
        let model = |provided: &str| {
            format!("#define OPEN (a > 0)\nbyte a, b, c = 1;\nactive proctype P() provided ({provided}) {{ c = 2 }}\n")
        };
        assert_eq!(texts(&model("c && (a || b > 2)")), ["a", "b > 2"]);
        assert_eq!(texts(&model("OPEN")), ["OPEN"]);
        assert_eq!(texts(&model("OPEN || !c")), ["OPEN", "c"]);
        assert_eq!(texts(&model("c")), [] as [&str; 0]);
        let inline = "byte a;\ninline wait(v) { v }\nactive proctype P() provided (a != 0) { wait(a) }\n";
        assert_eq!(texts(inline), ["a != 0"]);
    }
}
