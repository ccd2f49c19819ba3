//! Names in text that no tree holds: bodies of inlines that nobody calls, bodies of macros that nobody uses, text
//! that `#if` leaves out, text that is too faulty to be read. They are resolved by their spelling.

use super::complete::process_before;
use super::tokens::pieces_inside;
use crate::token::KEYWORDS;
use fabius_base::{FileId, SourceMap};
use fabius_language::{Index, Occurrence, Piece, PieceKind, Role, SymbolId, SymbolKind};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Finds the names that are left over.
pub(super) fn read(index: &mut Index, map: &SourceMap) {
    let reader = Leftover::new(index);
    let mut found = Vec::new();
    for (file, source) in map.files() {
        let rooms = reader.rooms(file);
        let pieces = index.pieces(file);
        let directives = pieces.iter().filter(|piece| piece.kind == PieceKind::Directive);
        for directive in directives.filter(|piece| is_define(&source.text, piece)) {
            let inside = pieces_inside(&source.text, directive.range.clone());
            reader.names(file, &source.text, &inside, &rooms, &mut found);
        }
        reader.names(file, &source.text, pieces, &rooms, &mut found);
    }
    index.occurrences.extend(found);
}

/// Whether a directive is `#define`, whose text stands for code.
fn is_define(text: &str, directive: &Piece) -> bool {
    directive.text(text).trim_start_matches('#').trim_start().starts_with("define")
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|(keyword, _)| *keyword == word)
}

/// The symbols in a process, structure or inline, by name.
type Names<'a> = HashMap<&'a str, SymbolId>;

struct Leftover<'a> {
    index: &'a Index,
    /// Where names are known already.
    known: HashSet<(FileId, u32)>,
    outside: HashMap<Arc<str>, SymbolId>,
    /// Fields, by name; where several structures have one, none of them is meant for sure.
    fields: HashMap<Arc<str>, Option<SymbolId>>,
    members: HashMap<SymbolId, Names<'a>>,
}

impl<'a> Leftover<'a> {
    fn new(index: &'a Index) -> Self {
        let known = index.occurrences.iter().map(|occurrence| (occurrence.file, occurrence.start)).collect();
        let (mut outside, mut fields, mut members) = (HashMap::new(), HashMap::new(), HashMap::<_, Names<'_>>::new());
        for id in index.ids() {
            let symbol = index.symbol(id);
            let name = || symbol.name.clone();
            match (symbol.kind, symbol.container) {
                (SymbolKind::Field, _) => {
                    fields.entry(name()).and_modify(|field| *field = None).or_insert(Some(id));
                }
                (_, Some(container)) => {
                    members.entry(container).or_default().entry(&*symbol.name).or_insert(id);
                }
                (SymbolKind::Label, None) => {}
                (_, None) if symbol.is_declared() => {
                    outside.entry(name()).or_insert(id);
                }
                _ => {}
            }
        }
        Self { index, known, outside, fields, members }
    }

    /// The processes, claims and inlines of a file, with the bytes of each.
    fn rooms(&self, file: FileId) -> Vec<(u32, u32, SymbolId)> {
        use SymbolKind::{Claim, Formula, Init, Inline, Process};
        let rooms = self.index.ids().filter_map(|id| {
            let symbol = self.index.symbol(id);
            let is_room = matches!(symbol.kind, Process | Init | Claim | Formula | Inline);
            let extent = symbol.extent;
            (is_room && extent.file == file && extent.start < extent.end).then_some((extent.start, extent.end, id))
        });
        rooms.collect()
    }

    /// Resolves the words among some pieces that are not known yet.
    fn names(
        &self,
        file: FileId,
        text: &str,
        pieces: &[Piece],
        rooms: &[(u32, u32, SymbolId)],
        found: &mut Vec<Occurrence>,
    ) {
        let code: Vec<&Piece> = pieces.iter().filter(|piece| piece.is_code()).collect();
        let spelled_at = |at: Option<usize>| at.and_then(|at| code.get(at)).map_or("", |piece| piece.text(text));
        for (at, piece) in code.iter().enumerate() {
            let (spelled, start, end) = (piece.text(text), piece.range.start as u32, piece.range.end as u32);
            if piece.kind != PieceKind::Word || self.known.contains(&(file, start)) || is_keyword(spelled) {
                continue;
            }
            // C code says `now.x` for a global variable.
            let behind_dot = spelled_at(at.checked_sub(1)) == "." && spelled_at(at.checked_sub(2)) != "now";
            let behind_at = spelled_at(at.checked_sub(1)) == "@";
            let within =
                rooms.iter().filter(|(from, to, _)| *from <= start && end <= *to).min_by_key(|room| room.1 - room.0);
            let within = within.map(|(.., id)| *id);
            let own = || self.members.get(&within?)?.get(spelled).copied();
            let symbol = if behind_dot {
                self.fields.get(spelled).copied().flatten()
            } else if behind_at {
                let process = process_before(self.index, &code[..at], text);
                process.and_then(|process| self.members.get(&process)?.get(spelled).copied())
            } else {
                own().or_else(|| self.outside.get(spelled).copied())
            };
            found.extend(symbol.map(|symbol| Occurrence { file, start, end, symbol, role: Role::Read, within }));
        }
    }
}
