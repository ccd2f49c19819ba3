//! `fabius examples --tour`: the tutorial, which is inside the program, with its models.

use crate::{examples, exit, explain, output};

/// The tutorial.
const PAGE: &str = include_str!("../docs/guide.md");

/// Prints the tutorial, or writes its models into the current folder.
pub fn run(write: bool) -> u8 {
    if write {
        let codes = models().into_iter().map(|(name, text)| examples::written(name, &text));
        return codes.fold(0, exit::worse);
    }
    output::print(text().as_bytes())
}

/// The tutorial from its first model on, without marks of the page's format.
fn text() -> String {
    let (title, rest) = PAGE.split_once('\n').unwrap_or((PAGE, ""));
    let steps: Vec<&str> = rest.split("\n## ").skip(2).collect();
    let steps = steps.split_last().map_or(&steps[..], |(_, steps)| steps);
    let title = title.trim_start_matches("# ");
    let intro = "`fabius examples --tour --write` writes its two models into the current folder.";
    let mut text = format!("{title}\n\n{intro}\n");
    for step in steps {
        text.push_str(&format!("\n{}\n", explain::plain(&without_links(step))));
    }
    text
}

/// A text with what links say in place of the links.
fn without_links(page: &str) -> String {
    let mut parts = page.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(open) = text.rfind('[') {
            text.remove(open);
        }
        text.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    text
}

/// The models of the tutorial, with the names under which it has them saved.
fn models() -> Vec<(&'static str, String)> {
    let blocks = PAGE.split("\n```promela ").skip(1);
    let model = |block: &'static str| {
        let (name, rest) = block.split_once('\n')?;
        Some((name, format!("{}\n", rest.split("\n```").next()?)))
    };
    blocks.filter_map(model).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tour_has_the_steps_of_the_page_and_none_of_its_marks() {
        let text = text();
        for step in ["2. A model", "3. Find the bug in the terminal", "7. Verify it"] {
            assert!(text.contains(&format!("\n{step}\n")), "{step}: {text}");
        }
        for mark in ["```", "](", "## ", "1. Install", "Where to go next"] {
            assert!(!text.contains(mark), "{mark}: {text}");
        }
        let names: Vec<&str> = models().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["transfer.pml", "fixed.pml"]);
    }
}
