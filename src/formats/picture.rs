//! In a page: a picture of the model's own that moves with the steps of a run. Without scripts it shows the state after the last step.

use super::html::text;
use fabius_analysis::picture::{MovingPicture, moving_picture};
use fabius_engine::{Counterexample, Loaded};
use fabius_project::files;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The picture of a counterexample: the one that was named, or the one beside the model; `None` if there is none, and the reason if
/// there is one that cannot be shown.
pub fn of(loaded: &Loaded, example: &Counterexample, named: Option<&Path>) -> Option<Result<MovingPicture, String>> {
    let path = named.map_or_else(|| files::picture_of(Path::new(&*loaded.name)), Path::to_path_buf);
    if named.is_none() && !path.is_file() {
        return None;
    }
    let read = files::read_ordinary(&path).and_then(|svg| moving_picture(loaded, example, &svg));
    Some(read.map_err(|why| format!("{}: {why}", path.display())))
}

/// The picture in the page, for the run whose steps have identifiers that begin so.
pub fn shown(picture: &Result<MovingPicture, String>, run: &str, steps: u64) -> String {
    let picture = match picture {
        Ok(picture) => picture,
        Err(why) => return format!("<p class=\"v-faint\">The picture is not shown: {}.</p>\n", text(why)),
    };
    let bindings = serde_json::to_string(&picture.bindings).unwrap_or_default().replace('<', "\\u003c");
    let mut out = String::from("<details open><summary>Picture</summary>\n");
    let _ = writeln!(out, "<div class=\"v-own\" data-run=\"{run}\" data-steps=\"{steps}\">");
    // Its rules of style are about nothing else on the page.
    let _ =
        writeln!(out, "<div class=\"v-picture\"><template shadowrootmode=\"open\">{}</template></div>", picture.svg);
    let _ = writeln!(out, "<p class=\"v-faint\"><label>after step <output>{steps}</output></label></p>");
    let _ = writeln!(out, "<script type=\"application/json\">{bindings}</script></div></details>");
    out
}

/// Refuses a picture that nobody would see, and one that cannot be read.
///
/// # Errors
/// Why it is refused.
pub fn check(named: Option<&PathBuf>, is_page: bool) -> Result<(), String> {
    match named {
        Some(path) if !is_page => Err(format!("--picture {}: only the page of --format html shows it", path.display())),
        Some(path) => {
            files::read_ordinary(path).map(drop).map_err(|why| format!("cannot read {}: {why}", path.display()))
        }
        None => Ok(()),
    }
}
