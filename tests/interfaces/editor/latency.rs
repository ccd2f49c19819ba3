//! Whoever works in an editor is answered, and a thousand edits leave no memory behind. How long that takes is measured by
//! `cargo bench --bench latency`.

use super::waits::{measure, memory_after, models};

/// This many models of the corpus are opened.
const MODELS: usize = 6;
/// Five hundred edits may leave so much memory more than twenty did; text and results of one model take far less.
const GROWTH_KIB_MAX: u64 = 32 << 10;

#[test]
fn everyone_who_waits_is_answered() {
    for row in measure(&models(MODELS)).into_rows() {
        assert!(!row.times.is_empty(), "nobody waited for: {}", row.what);
    }
}

#[test]
fn edits_leave_no_memory_behind() {
    if let [(_, few), (_, many)] = memory_after(&[20, 500])[..] {
        assert!(many < few + GROWTH_KIB_MAX, "edits took memory: {few} KiB before, {many} KiB after");
    }
}
