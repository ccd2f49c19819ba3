//! `fabius explain`: what a code of a finding means, with an example and what to do.

use crate::{exit, output};
use anstream::eprintln;
use std::fmt::Write;

/// The page that explains all codes; each has a section.
pub(crate) const PAGE: &str = include_str!("../docs/findings.md");

/// Prints the section of a code, or a line for each code.
pub fn run(code: Option<&str>) -> u8 {
    let Some(wanted) = code else { return output::print(list().as_bytes()) };
    match section(wanted) {
        Some(section) => output::print(format!("{section}\n").as_bytes()),
        None => {
            eprintln!("fabius: there is no code `{wanted}`; `fabius explain` lists all codes");
            exit::FAULTY
        }
    }
}

/// The sections, each with its heading in front, which is a code and its title.
fn sections() -> impl Iterator<Item = &'static str> {
    PAGE.split("\n## ").skip(1)
}

/// The text about a code, without marks of the page's format.
pub(crate) fn section(wanted: &str) -> Option<String> {
    sections().find(|section| code_of(section).eq_ignore_ascii_case(wanted)).map(plain)
}

/// A page without marks of its format: examples are indented.
pub(crate) fn plain(page: &str) -> String {
    let mut text = String::new();
    let mut in_example = false;
    for line in page.trim_end().lines() {
        match line {
            fence if fence.starts_with("```") => in_example = !in_example,
            line if in_example && !line.is_empty() => drop(writeln!(text, "    {line}")),
            line => drop(writeln!(text, "{line}")),
        }
    }
    text.trim_end().to_owned()
}

/// The address of what there is to read about a code, in the repository and for this version; `None` while the repository has
/// no address.
pub(crate) fn address(wanted: &str) -> Option<String> {
    address_in(repository()?, wanted)
}

/// The address of the repository, which stands in `Cargo.toml`; `None` as long as that is a placeholder.
pub(crate) fn repository() -> Option<&'static str> {
    let address = env!("CARGO_PKG_REPOSITORY");
    (!address.is_empty() && !address.contains("example.invalid")).then_some(address)
}

fn address_in(repository: &str, wanted: &str) -> Option<String> {
    let heading = sections().filter_map(|section| section.lines().next());
    let heading = heading.into_iter().find(|heading| code_of(heading).eq_ignore_ascii_case(wanted))?;
    let (page, anchor) = ("docs/findings.md", fabius_lsp::server::anchor(heading));
    Some(format!("{}/blob/v{}/{page}#{anchor}", repository.trim_end_matches('/'), env!("CARGO_PKG_VERSION")))
}

fn code_of(section: &str) -> &str {
    section.split_whitespace().next().unwrap_or_default()
}

fn list() -> String {
    let mut text = String::new();
    for heading in sections().filter_map(|section| section.lines().next()) {
        let (code, title) = heading.split_once(' ').unwrap_or((heading, ""));
        let _ = writeln!(text, "{code}  {title}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::Code;

    #[test]
    fn every_code_is_explained() {
        for code in Code::ALL {
            let text = section(code.as_str()).unwrap_or_default();
            assert!(text.starts_with(code.as_str()) && 2 < text.lines().count(), "{code:?}: {text}");
            assert!(!text.contains("```") && !text.contains("\n## "), "{text}");
        }
        assert_eq!(list().lines().count(), Code::ALL.len());
        assert_eq!(section("f0602"), section("F0602"));
        assert_eq!(section("F0000"), None);
    }

    #[test]
    fn an_address_leads_to_the_section() {
        let address = address_in("https://forge.example/who/fabius/", "f0601").unwrap_or_default();
        let (page, anchor) = address.split_once('#').unwrap_or_default();
        assert_eq!(
            page,
            format!("https://forge.example/who/fabius/blob/v{}/docs/findings.md", env!("CARGO_PKG_VERSION"))
        );
        assert!(anchor.starts_with("f0601-"), "{anchor}");
        assert_eq!(address_in("https://forge.example/who/fabius", "F0000"), None);
        assert_eq!(repository().is_none(), env!("CARGO_PKG_REPOSITORY").contains("example.invalid"));
    }
}
