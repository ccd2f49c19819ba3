//! Where no reduction pays, a search visits all states with fewer transitions.

use crate::infinite::property;
use fabius_engine::settings::{Audit, ThreadCount};
use fabius_engine::{Settings, Verdict};

/// Who waits and who is inside concerns everybody, the rest nobody else.
const MODEL: &str = "byte waiting, inside;
bool turn[3];
active [3] proctype P() {
  byte laps;
  do
  :: laps < 4 -> laps++; waiting++;
     if :: inside == 0 && waiting > 1 -> inside++ :: else -> goto out fi;
     turn[_pid] = 1; turn[_pid] = 0; inside--;
out: waiting--
  :: laps == 4 -> laps = 0; turn[_pid] = !turn[_pid]
  od
}";

#[test]
fn where_no_reduction_pays_all_states_are_visited_with_fewer_transitions() {
    let whole = property(MODEL, "safety", &Settings { reduction: false, ..Settings::default() });
    assert_eq!((whole.verdict, whole.exhaustive), (Verdict::Holds, true));
    for threads in [ThreadCount::Exactly(1), ThreadCount::default()] {
        let report = property(MODEL, "safety", &Settings { threads, ..Settings::default() });
        assert_eq!((report.verdict, report.exhaustive), (Verdict::Holds, true));
        assert_eq!((report.states, report.reduction.as_str()), (whole.states, "off"));
        assert!(report.transitions < whole.transitions * 9 / 10, "{} of {}", report.transitions, whole.transitions);
    }
    let all = property(MODEL, "safety", &Settings { keep_going: true, ..Settings::default() });
    assert_eq!((all.states, all.transitions), (whole.states, whole.transitions));
    let audited = property(MODEL, "safety", &Settings { audit: Audit::Full, ..Settings::default() });
    assert_eq!((audited.verdict, audited.states), (Verdict::Holds, whole.states));
}
