//! Which searches can be saved to a file.

use fabius_engine::settings::{CheckpointFiles, DelayMode, Settings};
use fabius_engine::strategy::{Asked, choose, contradiction};
use fabius_engine::{Loaded, plan};
use std::sync::Arc;

/// Why no search of a check can be saved, if none can.
pub(crate) fn not_saved(loaded: &Loaded, settings: &Settings) -> Option<&'static str> {
    let is_by_processes = 1 < settings.processes.count || settings.processes.elsewhere.is_some();
    let is_sampled = settings.delaying.as_ref().is_some_and(|delaying| delaying.mode == DelayMode::Sample);
    if is_by_processes {
        return Some("only `fabius check --checkpoint FILE` saves searches by several processes");
    }
    if settings.delaying.is_none() && settings.depth_bounding.is_none() {
        return Some("only searches with --delay or --depth-bound can be saved and resumed");
    }
    if is_sampled {
        return Some("runs drawn at random cannot be saved or resumed: the same --seed draws them again");
    }
    if settings.keep_going {
        return Some("with --keep-going, no search can be saved or resumed");
    }
    if contradiction(loaded, &with_checkpoints(settings)).is_some() || !is_any_kept(loaded, settings) {
        return Some("of the searches with --delay or --depth-bound, those for fair runs cannot be saved or resumed");
    }
    None
}

/// Whether some search of a check can be saved, and is the same one if it is.
fn is_any_kept(loaded: &Loaded, settings: &Settings) -> bool {
    let planned = loaded.checkable().and_then(|program| plan(program, &settings.properties).ok());
    let saved = with_checkpoints(settings);
    let choices = planned.iter().flat_map(|plan| &plan.properties).map(|planned| {
        let asked = Asked::of(planned, settings);
        (choose(&asked, settings), choose(&asked, &saved))
    });
    let mut is_any = false;
    for choice in choices {
        match choice {
            (Some(one), Some(other)) if one.strategy == other.strategy => is_any |= other.is_kept(),
            _ => return false,
        }
    }
    is_any
}

fn with_checkpoints(settings: &Settings) -> Settings {
    let save = Some(Arc::new(|_: &[u8]| true) as _);
    Settings { checkpoint_files: CheckpointFiles { save, ..CheckpointFiles::default() }, ..settings.clone() }
}
