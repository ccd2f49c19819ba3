//! Pages of the manual with a part that a program makes.

use std::io;
use std::path::Path;

/// Replaces what stands between `<!-- NAME -->` and `<!-- end of NAME -->` on a page.
///
/// # Errors
/// If the page cannot be read or written, or has no such part.
pub fn put(page: &Path, name: &str, text: &str) -> io::Result<()> {
    let old = std::fs::read_to_string(page)?;
    let new = replaced(&old, name, text).ok_or_else(|| {
        io::Error::other(format!("{} has no part `<!-- {name} -->` … `<!-- end of {name} -->`", page.display()))
    })?;
    std::fs::write(page, new)
}

fn replaced(old: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
    let (head, rest) = old.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}\n\n{}\n\n{end}{tail}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_part_changes() {
        let page = "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n<!-- two -->\n<!-- end of two -->\n";
        let new = replaced(page, "one", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- one -->\n\nnew\n\n<!-- end of one -->\nb\n<!-- two -->\n<!-- end of two -->\n");
        assert_eq!(replaced(page, "three", "new"), None);
    }
}
