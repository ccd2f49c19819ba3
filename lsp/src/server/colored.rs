//! The coloured words that clients have, so that only what changed is sent.

use std::collections::HashMap;
use tower_lsp_server::ls_types::SemanticToken;

/// The last coloured words of each document.
#[derive(Default)]
pub struct Remembered {
    next: u64,
    known: HashMap<String, (u64, Vec<SemanticToken>)>,
}

impl Remembered {
    /// Remembers what a client has from now on; returns its name.
    pub fn remember(&mut self, document: &str, data: &[SemanticToken]) -> String {
        self.next += 1;
        self.known.insert(document.to_owned(), (self.next, data.to_vec()));
        self.next.to_string()
    }

    /// What a client has, by its name.
    pub fn recall(&self, document: &str, id: &str) -> Option<Vec<SemanticToken>> {
        self.known.get(document).filter(|(known, _)| known.to_string() == id).map(|(_, data)| data.clone())
    }

    /// Forgets a document.
    pub fn forget(&mut self, document: &str) {
        self.known.remove(document);
    }
}
