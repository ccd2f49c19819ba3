//! A depth-first search that is saved says how to resume it, if it was saved.

use fabius_base::{Cancel, Limits};
use fabius_engine::settings::{CheckpointFiles, CheckpointPaths};
use fabius_engine::{CheckContext, Settings, Verdict, check, load};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn how_to_resume_is_told_where_a_checkpoint_was_written() {
    let text = "byte a, b;
        active proctype A() { do :: a++; assert(a + b < 600) od }
        active proctype B() { do :: b++ od }";
    for written in [true, false] {
        let paths = CheckpointPaths { resume: None, save: Some("counters.search".into()) };
        let save = Some(Arc::new(move |_: &[u8]| written) as _);
        let settings = Settings {
            properties: vec!["safety".to_owned()],
            limits: Limits { states_max: Some(1_000), ..Limits::default() },
            checkpoint_files: CheckpointFiles { resume: None, save, paths },
            ..Settings::default()
        };
        let loaded = load("counters.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let report = check(&loaded, &settings, &mut context).report;
        let property = &report.properties[0];
        assert_eq!(property.verdict, Verdict::Undecided);
        let told = property.reason.contains("; resume with `--resume counters.search`");
        assert_eq!(told, written, "{}", property.reason);
    }
}
