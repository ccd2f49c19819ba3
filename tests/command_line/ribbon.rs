//! Where a formula holds along a run: the page shows what the JSON says, cell by cell.

use super::tool;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

/// A formula that is violated by a loop, one by the beginning of a run, and one whose text needs escapes.
const FORMULAS: &str = "\
byte x; bool req, ack;
active proctype P() { do :: req = 1; req = 0 :: x < 3 -> x++ :: ack = 1; ack = 0 od }
ltl live { [] (req -> <> (ack && x < 2)) }
ltl low { [] (x < 3) }
ltl order { (!ack) U (x > 1) }
";

/// A claim.
const CLAIM: &str = "\
byte x; bool req, ack;
active proctype P() { do :: req = 1; req = 0 :: x < 3 -> x++ :: ack = 1; ack = 0 od }
never { T0: do :: req && !ack -> goto accept_S :: true od; accept_S: do :: !ack od }
";

/// The text between two others, and what comes after it.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<(&'a str, &'a str)> {
    let (_, rest) = text.split_once(begin)?;
    rest.split_once(end)
}

/// The rows of a table of the page: the name and the classes of the cells.
fn rows(table: &str) -> Vec<(String, Vec<String>)> {
    let (mut rows, mut rest) = (Vec::new(), table);
    while let Some((row, after)) = between(rest, "<tr><th scope=\"row\" style", "</tr>") {
        rest = after;
        let (name, mut cells) = between(row, "<code>", "</code>").expect("a name");
        let unescaped = name.replace("&lt;", "<").replace("&gt;", ">").replace("&apos;", "'").replace("&amp;", "&");
        let mut classes = Vec::new();
        while let Some((cell, after)) = between(cells, "<td class=\"", "\"") {
            cells = after;
            classes.push(cell.to_owned());
        }
        rows.push((unescaped, classes));
    }
    rows
}

/// The classes that a cell must have.
fn classes(ribbon: &Value, row: usize, position: usize) -> String {
    let decides = ribbon["decides"]["row"] == row && ribbon["decides"]["position"] == position;
    let value = match ribbon["rows"][row]["values"][position].as_bool() {
        Some(value) => format!("v-{value}{}", if decides { "-decisive" } else { "" }),
        None => "v-undetermined".to_owned(),
    };
    let in_loop = ribbon["loop_position"].as_u64().is_some_and(|start| start as usize <= position);
    format!("{value}{}", if in_loop { " v-in-loop" } else { "" })
}

#[test]
fn the_page_shows_what_the_json_says() {
    let scratch = Scratch::new().expect("a folder");
    let mut decided = 0;
    for (name, text, count) in [("formulas.pml", FORMULAS, 3), ("claim.pml", CLAIM, 1)] {
        let model = scratch.file(name, text);
        let report: Value = serde_json::from_str(&tool::run(&["check", "--json", &model]).out).expect("a report");
        let properties = report["properties"].as_array().expect("properties").iter();
        let violations = properties.flat_map(|property| property["violations"].as_array().into_iter().flatten());
        let ribbons: Vec<&Value> =
            violations.map(|violation| &violation["ribbon"]).filter(|one| !one.is_null()).collect();
        let page = tool::run(&["check", "--format", "html", &model]).out;
        let tables: Vec<&str> = page.split("<table class=\"v-ribbon\">").skip(1).collect();
        assert_eq!((tables.len(), ribbons.len()), (count, count), "{name}");
        for (table, ribbon) in tables.iter().zip(&ribbons) {
            let (table, _) = table.split_once("</table>").expect("its end");
            let columns: Vec<usize> = ribbon["columns"]
                .as_array()
                .expect("columns")
                .iter()
                .filter_map(Value::as_u64)
                .map(|at| at as usize)
                .collect();
            let expected = ribbon["rows"].as_array().expect("rows").iter().enumerate().map(|(number, row)| {
                let cells = columns.iter().map(|at| classes(ribbon, number, *at)).collect();
                (row["formula"].as_str().expect("a text").to_owned(), cells)
            });
            assert_eq!(rows(table), expected.collect::<Vec<(String, Vec<String>)>>(), "{name}");
            decided += usize::from(ribbon["decides"].is_object());
            let Some(sentence) = ribbon["sentence"].as_str() else { continue };
            let escaped = sentence.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            assert!(page.contains(&format!("<p>It says: {escaped}.</p>")), "{sentence}");
        }
    }
    assert!(decided >= 2, "{decided}");
}
