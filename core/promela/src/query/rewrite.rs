//! Rewrites that an editor offers where a check found an error, and those that change only how a model is written.

use fabius_language::{
    Piece, PieceKind, Replacement, Rewrite, RewriteRequest, SourceFile, Stretch, SymbolId, SymbolKind,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// How something is done; `None` if it cannot be written here.
pub(crate) fn rewrite(file: SourceFile<'_>, request: &RewriteRequest<'_>) -> Option<Rewrite> {
    match request {
        RewriteRequest::AllowWaiting { who, at } => {
            let title = format!("Let {who} wait here for ever (`end:`)");
            Some(Rewrite { title, edits: labels(file, "end", at) })
        }
        RewriteRequest::CountProgress { statement, at } => {
            let title = format!("Count `{statement}` as progress (`progress:`)");
            Some(Rewrite { title, edits: labels(file, "progress", &[*at]) })
        }
        RewriteRequest::EnlargeChannel { name } => enlarge(file, name),
        RewriteRequest::AddElse { at } => add_else(file, *at),
        RewriteRequest::MakeAtomic { range, lines } => {
            let title = match lines {
                None => "Wrap in `atomic`".to_owned(),
                Some([one, other]) if one == other => format!("Wrap line {one} in `atomic`"),
                Some([one, other]) => format!("Wrap lines {one} to {other} in `atomic`"),
            };
            Some(Rewrite { title, edits: make_atomic(file, range)? })
        }
        RewriteRequest::NarrowType { symbol, bits, values } => narrow(file, *symbol, *bits, *values),
    }
}

fn insertion(at: usize, text: String) -> Replacement {
    Replacement { range: at..at, text }
}

/// Labels with a prefix for the statements at some bytes.
fn labels(file: SourceFile<'_>, prefix: &str, at: &[usize]) -> Vec<Replacement> {
    let places: BTreeSet<usize> = at.iter().map(|at| label_place(file, *at)).collect();
    let mut taken = Vec::new();
    let mut edits = Vec::new();
    for at in places {
        let label = free_label(file, prefix, at, &taken);
        edits.push(insertion(at, format!("{label}: ")));
        taken.push(label);
    }
    edits
}

/// Where a label for the statement at a byte goes: before it, or before the choice whose option it begins.
fn label_place(file: SourceFile<'_>, at: usize) -> usize {
    let mut at = at;
    while let Some(choice) =
        before(file, at).filter(|piece| piece.text(file.text()) == "::").and(choice_around(file, at))
    {
        at = choice.start as usize;
    }
    at
}

/// The innermost `if` or `do` that holds a byte but does not begin there.
fn choice_around(file: SourceFile<'_>, at: usize) -> Option<&Stretch> {
    let text = file.text();
    let own = file.index.stretches.iter().filter(|stretch| {
        let (start, end) = (stretch.start as usize, stretch.end as usize);
        let word = || text.get(start..start + 2).is_some_and(|word| word == "if" || word == "do");
        stretch.file == file.id && stretch.folds && start < at && at < end && word()
    });
    own.min_by_key(|stretch| stretch.end - stretch.start)
}

/// The piece of code before a byte.
fn before(file: SourceFile<'_>, at: usize) -> Option<&Piece> {
    let pieces = file.index.pieces(file.id);
    let end = pieces.partition_point(|piece| piece.range.end <= at);
    pieces[..end].iter().rev().find(|piece| piece.is_code())
}

/// A label with a prefix that the process at a byte does not have yet, nor is to get.
fn free_label(file: SourceFile<'_>, prefix: &str, at: usize, taken: &[String]) -> String {
    let index = file.index;
    let members = index.members(index.container_at(file.id, at));
    let mut known: Vec<&str> = members.map(|id| &*index.symbol(id).name).collect();
    known.extend(taken.iter().map(String::as_str));
    let mut label = prefix.to_owned();
    let mut number = 1;
    while known.contains(&label.as_str()) {
        number += 1;
        label = format!("{prefix}{number}");
    }
    label
}

fn enlarge(file: SourceFile<'_>, name: &str) -> Option<Rewrite> {
    let (index, text) = (file.index, file.text());
    let symbol = index.symbol(index.named(name, &[SymbolKind::Global])?);
    let pieces = index.pieces(file.id);
    let from = pieces.partition_point(|piece| piece.range.end <= symbol.definition.end as usize);
    let mut code = pieces[from..].iter().filter(|piece| piece.is_code()).skip_while(|piece| piece.text(text) != "=");
    code.next()?;
    code.next().filter(|piece| piece.text(text) == "[")?;
    let number = code.next().filter(|piece| piece.kind == PieceKind::Number)?;
    let capacity: u32 = number.text(text).parse().ok()?;
    let more = capacity.checked_add(1)?;
    let edits = vec![Replacement { range: number.range.clone(), text: more.to_string() }];
    (symbol.definition.file == file.id).then(|| Rewrite { title: format!("Enlarge `{name}` to {more}"), edits })
}

fn add_else(file: SourceFile<'_>, at: usize) -> Option<Rewrite> {
    let text = file.text();
    before(file, at).filter(|piece| piece.text(text) == "::")?;
    let choice = choice_around(file, at)?;
    let end = (choice.end as usize).checked_sub(2)?;
    if text.get(choice.start as usize..end)?.contains(":: else") {
        return None;
    }
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let margin = &text[line..end];
    let gap = if margin.trim().is_empty() { format!("\n{margin}") } else { " ".to_owned() };
    let number = file.map.line_column(file.id, choice.start).0;
    let title = format!("Add `:: else -> skip` to the choice in line {number}");
    Some(Rewrite { title, edits: vec![insertion(end, format!(":: else -> skip{gap}"))] })
}

/// Puts `atomic` around the steps from one byte to another, if they are steps of one sequence.
fn make_atomic(file: SourceFile<'_>, range: &Range<usize>) -> Option<Vec<Replacement>> {
    let stretches: Vec<&Stretch> = file.index.stretches.iter().filter(|stretch| stretch.file == file.id).collect();
    let holds = |stretch: &&&Stretch| (stretch.start as usize) <= range.start && range.end <= stretch.end as usize;
    // The smallest stretch around both: what begins inside of it at the first byte, and ends at the last.
    let context = stretches.iter().filter(holds).min_by_key(|stretch| stretch.end - stretch.start)?;
    let text = file.text().get(range.clone())?;
    let balanced = |open: char, close: char| {
        let mut depth = 0_i32;
        text.chars().all(|c| {
            depth += i32::from(c == open) - i32::from(c == close);
            depth >= 0
        }) && depth == 0
    };
    let words =
        |word: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| *w == word).count();
    let whole = balanced('{', '}') && balanced('(', ')') && words("if") == words("fi") && words("do") == words("od");
    let one_sequence = !text.contains("::") || words("if") + words("do") > 0;
    let already = file.text()[..range.start].trim_end().ends_with("atomic {");
    let large = context.start as usize == 0 && context.end as usize == file.text().len();
    if !whole || !one_sequence || already || large || range.is_empty() {
        return None;
    }
    Some(vec![insertion(range.start, "atomic { ".to_owned()), insertion(range.end, " }".to_owned())])
}

fn narrow(file: SourceFile<'_>, id: SymbolId, bits: u8, values: [i32; 2]) -> Option<Rewrite> {
    let (symbol, text) = (file.index.symbol(id), file.text());
    let better = match (values[0], values[1]) {
        (0.., ..=1) if 1 < bits => "bit",
        (0.., ..=255) if 8 < bits => "byte",
        (-32768.., ..=32767) if 16 < bits => "short",
        _ => return None,
    };
    let at = symbol.definition.start as usize;
    let ty = before(file, at).filter(|piece| matches!(piece.text(text), "int" | "short" | "byte"))?;
    let behind = file.index.pieces(file.id).iter().filter(|piece| piece.is_code() && at < piece.range.start).take(12);
    let mut declared = behind.map(|piece| piece.text(text)).take_while(|text| *text != ";" && *text != "}");
    if declared.any(|text| text == ",") {
        return None;
    }
    let [least, most] = values;
    let title = format!("Make `{}` a `{better}`: its values are {least}..{most}", symbol.name);
    Some(Rewrite { title, edits: vec![Replacement { range: ty.range.clone(), text: better.to_owned() }] })
}
