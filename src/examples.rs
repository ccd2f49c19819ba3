//! `fabius examples`: the models to try, which are inside the program.

use crate::{exit, output};
use anstream::eprintln;
use fabius_engine::nearest;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// The models of the folder `models`, small ones first, then families of larger ones; by name.
const MODELS: &[(&str, &str)] = &[
    ("alternating_bit", include_str!("../models/alternating_bit.pml")),
    ("bounded_buffer", include_str!("../models/bounded_buffer.pml")),
    ("door", include_str!("../models/door.pml")),
    ("handshake", include_str!("../models/handshake.pml")),
    ("last_seat", include_str!("../models/last_seat.pml")),
    ("leader", include_str!("../models/leader.pml")),
    ("lost_wakeup", include_str!("../models/lost_wakeup.pml")),
    ("overflow", include_str!("../models/overflow.pml")),
    ("peterson", include_str!("../models/peterson.pml")),
    ("peterson_broken", include_str!("../models/peterson_broken.pml")),
    ("peterson_served", include_str!("../models/peterson_served.pml")),
    ("philosophers", include_str!("../models/philosophers.pml")),
    ("philosophers_once", include_str!("../models/philosophers_once.pml")),
    ("readers_writers", include_str!("../models/readers_writers.pml")),
    ("retry_forever", include_str!("../models/retry_forever.pml")),
    ("semaphore", include_str!("../models/semaphore.pml")),
    ("traffic", include_str!("../models/traffic.pml")),
    ("clocked_system", include_str!("../models/families/clocked_system.pml")),
    ("device_driver", include_str!("../models/families/device_driver.pml")),
    ("elevator_door", include_str!("../models/families/elevator_door.pml")),
    ("elevator_planning", include_str!("../models/families/elevator_planning.pml")),
    ("german", include_str!("../models/families/german.pml")),
    ("lann", include_str!("../models/families/lann.pml")),
    ("lcr", include_str!("../models/families/lcr.pml")),
    ("msmie", include_str!("../models/families/msmie.pml")),
    ("or_set", include_str!("../models/families/or_set.pml")),
    ("sync_bfs", include_str!("../models/families/sync_bfs.pml")),
    ("time_sync", include_str!("../models/families/time_sync.pml")),
    ("tree_identification", include_str!("../models/families/tree_identification.pml")),
    ("truck_lift", include_str!("../models/families/truck_lift.pml")),
    ("usb_hub", include_str!("../models/families/usb_hub.pml")),
];

/// Lists all models, prints one, or writes it into the current folder.
pub fn run(name: Option<&str>, write: bool) -> u8 {
    let Some(name) = name else {
        if write {
            eprintln!("fabius: --write needs the name of an example, or --tour");
            return exit::FAULTY;
        }
        return output::print(list().as_bytes());
    };
    let wanted = name.strip_suffix(".pml").unwrap_or(name);
    let Some((name, text)) = MODELS.iter().find(|(known, _)| *known == wanted) else {
        let meant = nearest(wanted, MODELS.iter().map(|(known, _)| *known));
        let meant = meant.map(|known| format!("; did you mean `{known}`")).unwrap_or_default();
        eprintln!("fabius: there is no example `{wanted}`{meant}; `fabius examples` lists all examples");
        return exit::FAULTY;
    };
    if !write {
        return output::print(text.as_bytes());
    }
    written(&format!("{name}.pml"), text)
}

/// Writes a model into the current folder, and says so.
pub fn written(file: &str, text: &str) -> u8 {
    match create(Path::new(file), text) {
        Ok(()) => output::print(format!("wrote {file}\ncheck it with: fabius check {file}\n").as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            eprintln!("fabius: {file} exists already and was left as it is");
            exit::FAULTY
        }
        Err(error) => {
            eprintln!("fabius: cannot write {file}: {error}");
            exit::FAULTY
        }
    }
}

/// Writes a file that does not exist yet.
///
/// # Errors
/// If it exists, or cannot be written.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

fn list() -> String {
    let width = MODELS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, model) in MODELS {
        let _ = writeln!(text, "{name:<width$}  {}", first_sentence(model));
    }
    text
}

/// The first sentence of the comment at the head of a model.
fn first_sentence(model: &str) -> String {
    let comment = model.strip_prefix("/*").and_then(|rest| rest.split("*/").next()).unwrap_or_default();
    let lines = comment.lines().map(|line| line.trim().trim_start_matches('*').trim());
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_model_of_the_folder_is_an_example_and_says_what_it_is() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let mut names = BTreeSet::new();
        for folder in [models.clone(), models.join("families")] {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
            names.extend(files.filter_map(|file| file.strip_suffix(".pml").map(str::to_owned)));
        }
        let known: BTreeSet<String> = MODELS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(names, known);
        for (name, model) in MODELS {
            let sentence = first_sentence(model);
            assert!(sentence.ends_with(['.', '?']) && sentence.len() < 130, "{name}: {sentence}");
        }
    }
}
