//! The page about each finding: part of the program, laid down where an editor can open it.

use fabius_project::cache;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use tower_lsp_server::ls_types::Uri;

/// The text of the page, once the server was begun.
static FINDINGS: OnceLock<&'static str> = OnceLock::new();

/// Says what the page is. Only the first call counts.
pub fn learn(findings: &'static str) {
    let _ = FINDINGS.set(findings);
}

/// The address of the section about a finding; `None` if there is no place to lay it down.
pub fn page_of(code: &str) -> Option<Uri> {
    static PAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let findings = FINDINGS.get()?;
    let page = PAGE.get_or_init(|| lay_down(findings)).as_ref()?;
    let heading = findings.lines().find(|line| line.strip_prefix("## ").is_some_and(|rest| rest.starts_with(code)))?;
    let page = Uri::from_file_path(page)?;
    format!("{}#{}", page.as_str(), anchor(heading.trim_start_matches("## "))).parse().ok()
}

fn lay_down(findings: &str) -> Option<PathBuf> {
    let folder = cache::folder()?.join(concat!("manual-", env!("CARGO_PKG_VERSION")));
    let page = folder.join("findings.md");
    if fs::read_to_string(&page).is_ok_and(|text| text == findings) {
        return Some(page);
    }
    fs::create_dir_all(&folder).ok()?;
    fs::write(&page, findings).ok()?;
    Some(page)
}

/// The anchor of a heading, as readers of Markdown make it.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::Code;

    #[test]
    fn an_anchor_is_made_of_the_words() {
        assert_eq!(anchor("F0101 A comment is not closed"), "f0101-a-comment-is-not-closed");
    }

    #[test]
    fn every_finding_has_a_heading() {
        let findings = include_str!("../../../docs/findings.md");
        for code in Code::ALL {
            assert!(findings.contains(&format!("\n## {} ", code.as_str())), "{}", code.as_str());
        }
    }
}
