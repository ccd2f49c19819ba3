//! Searches for violations of safety with a reduction that several threads may join.

use crate::infinite::{apart, property};
use fabius_engine::settings::ThreadCount;
use fabius_engine::{Settings, Verdict};

#[test]
fn threads_join_a_reduced_search_where_they_list_no_more() {
    let with = |threads| property(&apart(16), "safety", &Settings { threads, ..Settings::default() });
    let alone = with(ThreadCount::Exactly(1));
    assert_eq!((alone.verdict, alone.exhaustive, &*alone.reduction), (Verdict::Holds, true, "on"));
    for threads in [ThreadCount::UpTo(2), ThreadCount::Exactly(2), ThreadCount::UpTo(4)] {
        let several = with(threads);
        let count = several.strategy.as_ref().map(|strategy| strategy.threads);
        assert_eq!((several.verdict, several.exhaustive, &*several.reduction), (Verdict::Holds, true, "on"));
        assert_eq!(count, Some(threads.most()), "{threads:?}");
        // Which edges it asks for depends on what was executed before it began anew.
        assert!(several.states.abs_diff(alone.states) * 100 <= alone.states, "{threads:?}: {}", several.states);
        assert!(several.audited.is_some(), "{threads:?}");
    }
}
