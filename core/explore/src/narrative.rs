//! A step in a sentence.

use fabius_program::meaning::Fault;
use fabius_witness::{Change, Changed, Message, Step};

/// What happens in a step, in a sentence without its full stop.
pub fn sentence(step: &Step) -> String {
    if let Some(claim) = &step.claim {
        return claim.sentence();
    }
    let name = &step.actor.name;
    let mut parts: Vec<String> = step.messages.iter().filter_map(|message| part_of(message, step)).collect();
    parts.extend(step.created.iter().map(|created| {
        let given: Vec<String> = created.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        match given.as_slice() {
            [] => format!("starts {}", created.name),
            given => format!("starts {} with {}", created.name, given.join(", ")),
        }
    }));
    if !step.printed.is_empty() {
        parts.push(format!("prints \"{}\"", step.printed.trim_end_matches('\n').replace('\n', "⏎")));
    }
    if step.ended {
        parts.push("ends".to_owned());
    }
    let changes: Vec<String> = step
        .changes
        .iter()
        .filter(|change| change.what != Changed::Channel)
        .map(|change| changed(change, step))
        .collect();
    if !changes.is_empty() {
        parts.push(format!("sets {}", changes.join(", ")));
    }
    if let Some(fault) = step.fault {
        parts.push(match fault {
            Fault::AssertionFailed => format!("fails: `{}` does not hold", step.actor.text),
            fault => format!("fails at `{}`: {fault}", step.actor.text),
        });
    }
    if parts.is_empty() {
        parts.push(match step.actor.text.as_str() {
            "(continue)" => "goes on".to_owned(),
            "else" => "takes `else`".to_owned(),
            text if is_assignment(text) => format!("executes `{text}`, which changes nothing"),
            text if text.starts_with("assert") => format!("finds that `{text}` holds"),
            text => format!("passes `{text}`"),
        });
    }
    let before = match (&step.lost_control, step.timeout) {
        (Some(lost), _) => format!("{lost} cannot go on in its atomic sequence; "),
        (None, true) => "nothing else can move; ".to_owned(),
        (None, false) => String::new(),
    };
    let notes: String =
        step.notes.iter().filter(|note| !note.kind.is_before()).map(|note| format!(" ({})", note.text)).collect();
    format!("{before}{name} {}{notes}", joined(&parts))
}

/// Whether a statement assigns something, by its wording.
fn is_assignment(text: &str) -> bool {
    text.contains(" = ") || text.ends_with("++") || text.ends_with("--")
}

/// `a`, `a and b`, `a, b and c`.
fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

fn part_of(message: &Message, step: &Step) -> Option<String> {
    let Message { channel, fields, sent, kept, rendezvous, .. } = message;
    let partner = step.partner.as_ref().map(|partner| partner.name.as_str());
    Some(match (rendezvous, sent, kept) {
        (true, true, _) => format!("hands ({fields}) over {channel} to {}", partner.unwrap_or("somebody")),
        (true, false, _) => return None,
        (false, true, _) => format!("sends ({fields}) to {channel}"),
        (false, false, true) => format!("looks at ({fields}) in {channel}"),
        (false, false, false) => format!("takes ({fields}) from {channel}"),
    })
}

fn changed(change: &Change, step: &Step) -> String {
    let own = format!("{}:", step.actor.name);
    let name = change.name.strip_prefix(&own).unwrap_or(&change.name);
    format!("{name} to {} (was {})", change.new, change.old)
}
