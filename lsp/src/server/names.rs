//! Addresses of the protocol and names of documents: a file goes by its path, anything else by its
//! address.

use std::path::Path;
use tower_lsp_server::ls_types::Uri;

/// The name of a document.
pub fn name_of(uri: &Uri) -> String {
    let file = uri.scheme().as_str() == "file";
    match uri.to_file_path() {
        Some(path) if file => path.display().to_string(),
        _ => uri.as_str().to_owned(),
    }
}

/// The address of a document or of a file that is not open; `None` for a name that is neither.
pub fn uri_of(name: &str) -> Option<Uri> {
    if Path::new(name).is_absolute() {
        return Uri::from_file_path(name);
    }
    name.contains(':').then(|| name.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_belong_together() {
        for uri in ["file:///a/b%20c/%C3%A9.pml", "untitled:Untitled-1"] {
            let uri: Uri = uri.parse().unwrap();
            assert_eq!(uri_of(&name_of(&uri)).as_ref(), Some(&uri));
        }
        assert_eq!(name_of(&"file:///a/b%20c.pml".parse().unwrap()), "/a/b c.pml");
        assert_eq!(uri_of("<command line>"), None);
    }
}
