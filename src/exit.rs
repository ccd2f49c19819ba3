//! Exit codes: what a script learns without reading.

use fabius_engine::report::Stopped;
use fabius_engine::{PropertyReport, Report, Verdict};

/// Neither a violation was found nor everything was checked.
pub const UNDECIDED: u8 = 2;
/// The input is faulty (a model, a file or a flag), or the output cannot be written.
pub const FAULTY: u8 = 3;
/// Fabius itself is wrong.
pub const INTERNAL: u8 = 4;

/// The exit code for a report.
pub fn of_report(report: &Report) -> u8 {
    if report.internal_error.is_some() {
        return INTERNAL;
    }
    let properties = report.properties.iter().map(of_property);
    properties.reduce(worse).unwrap_or_else(|| of_verdict(report.verdict))
}

/// The exit code for one part of the runs of a check: 0 if it did what it was told, whatever was found, so that whoever starts
/// many jobs does not take it for one that failed.
pub fn of_part(report: &Report) -> u8 {
    let is_done =
        |property: &PropertyReport| property.samples.is_none() || property.stopped != Some(Stopped::Cancelled);
    let is_drawn = report.properties.iter().any(|property| property.samples.is_some());
    match of_report(report) {
        FAULTY => FAULTY,
        INTERNAL => INTERNAL,
        _ if is_drawn && report.properties.iter().all(is_done) => 0,
        code => code,
    }
}

/// The exit code for a property: that of its verdict, unless something else is expected.
pub fn of_property(property: &PropertyReport) -> u8 {
    match property.is_as_expected() {
        None => of_verdict(property.verdict),
        Some(true) => 0,
        Some(false) => 1,
    }
}

fn of_verdict(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Holds => 0,
        Verdict::Violated => 1,
        Verdict::Undecided => UNDECIDED,
        Verdict::Faulty => FAULTY,
    }
}

/// The worse of two exit codes: an internal error, then a faulty input, a violation, a doubt.
pub fn worse(one: u8, other: u8) -> u8 {
    let badness = |code: u8| [0, 2, 1, FAULTY, INTERNAL].iter().position(|&c| c == code);
    if badness(one) < badness(other) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_engine::report::PropertyClass;

    #[test]
    fn a_violation_is_worse_than_a_doubt() {
        assert_eq!(worse(2, 1), 1);
        assert_eq!(worse(1, 2), 1);
        assert_eq!(worse(3, 1), 3);
        assert_eq!(worse(0, 2), 2);
        assert_eq!(worse(4, 3), 4);
    }

    #[test]
    fn what_is_expected_is_good() {
        use Verdict::{Faulty, Holds, Undecided, Violated};
        let code = |verdict, expected| {
            let plain = PropertyReport::unchecked("p", PropertyClass::Ltl, "");
            of_property(&PropertyReport { verdict, expected, ..plain })
        };
        assert_eq!([Holds, Violated, Undecided, Faulty].map(|verdict| code(verdict, None)), [0, 1, 2, 3]);
        assert_eq!([Holds, Violated, Undecided, Faulty].map(|verdict| code(verdict, Some(Violated))), [1, 0, 2, 3]);
        assert_eq!([Holds, Violated, Undecided, Faulty].map(|verdict| code(verdict, Some(Holds))), [0, 1, 2, 3]);
    }
}
