//! Which searches can be saved to a file.
//!
//! Those by rounds are saved as they go on, whoever asks for that. The depth-first search for violations of safety is another one if it is to be
//! saved, by one thread and without reduction, so somebody has to ask for it before it begins: by `--checkpoint`, or by resuming one.

use fabius_engine::settings::{CheckpointFiles, DelayMode, Settings};
use fabius_engine::strategy::{Asked, choose, contradiction};
use fabius_engine::{CheckpointSummary, Loaded, plan};
use std::sync::Arc;

/// Why no search of a check can be saved, if none can; `depth_first`: somebody asked for a depth-first search that is saved.
pub(crate) fn not_saved(loaded: &Loaded, settings: &Settings, depth_first: bool) -> Option<&'static str> {
    let is_by_processes = 1 < settings.processes.count || settings.processes.elsewhere.is_some();
    let is_sampled = settings.delaying.as_ref().is_some_and(|delaying| delaying.mode == DelayMode::Sample);
    if is_by_processes {
        return Some("only `fabius check --checkpoint FILE` saves searches by several processes");
    }
    let by_rounds = goes_by_rounds(settings);
    if !by_rounds && !depth_first {
        return Some(
            "without --delay and --depth-bound, only the search of `fabius explore --checkpoint FILE` is saved",
        );
    }
    if is_sampled {
        return Some("runs drawn at random cannot be saved or resumed: the same --seed draws them again");
    }
    if settings.keep_going {
        return Some("with --keep-going, no search can be saved or resumed");
    }
    if contradiction(loaded, &with_checkpoints(settings)).is_none() && is_any_kept(loaded, settings) {
        return None;
    }
    Some(match by_rounds {
        true => "of the searches with --delay or --depth-bound, those for fair runs cannot be saved or resumed",
        false => {
            "without --delay and --depth-bound, only the depth-first search for violations of safety by one thread can be saved"
        }
    })
}

/// Why a checkpoint cannot be resumed with these settings, if what it holds is known to be another search.
pub fn misfit(settings: &Settings, held: &CheckpointSummary) -> Option<&'static str> {
    match (held.is_depth_first(), goes_by_rounds(settings)) {
        (true, true) => Some("it holds a depth-first search: leave out --delay and --depth-bound"),
        (false, false) => Some("it holds no depth-first search: give the flags with which it began"),
        _ => None,
    }
}

/// Whether each search goes by rounds.
pub(crate) fn goes_by_rounds(settings: &Settings) -> bool {
    settings.delaying.is_some() || settings.depth_bounding.is_some()
}

/// Whether some search of a check can be saved, and each that goes by rounds is the same one if it is.
fn is_any_kept(loaded: &Loaded, settings: &Settings) -> bool {
    let same = goes_by_rounds(settings);
    let planned = loaded.checkable().and_then(|program| plan(program, &settings.properties).ok());
    let saved = with_checkpoints(settings);
    let choices = planned.iter().flat_map(|plan| &plan.properties).map(|planned| {
        let asked = Asked::of(planned, settings);
        (choose(&asked, settings), choose(&asked, &saved))
    });
    let mut is_any = false;
    for choice in choices {
        match choice {
            (Some(one), Some(other)) if !same || one.strategy == other.strategy => is_any |= other.is_kept(),
            _ => return false,
        }
    }
    is_any
}

/// The same, with checkpoints that nobody reads.
pub(crate) fn with_checkpoints(settings: &Settings) -> Settings {
    let save = Some(Arc::new(|_: &[u8]| true) as _);
    Settings { checkpoint_files: CheckpointFiles { save, ..CheckpointFiles::default() }, ..settings.clone() }
}
