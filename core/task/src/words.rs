//! Numbers and limits in sentences.

use fabius_base::{Limits, StopReason};
use fabius_search::Completeness;

/// `1 step`, `7 steps`, `41 208 states`.
pub fn counted(value: u64, thing: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(value))
}

/// `41208` as `41 208`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `1234567` as `1.23 M`; small numbers as they are.
pub fn rough(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v => grouped(v as u64),
    }
}

/// Seconds as `4 ms`, `0.04 s`, `12.3 s`, `2 min 5 s`, `3 h 20 min`.
pub fn seconds(value: f64) -> String {
    let whole = value as u64;
    match value {
        v if v < 0.0005 => "0 ms".to_owned(),
        v if v < 0.01 => format!("{:.0} ms", v * 1000.0),
        v if v < 10.0 => format!("{v:.2} s"),
        v if v < 60.0 => format!("{v:.1} s"),
        v if v < 3600.0 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Bytes as `812 KiB`, `1.5 GiB`.
pub fn memory(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        b if (1 << 30) <= b => format!("{:.1} GiB", value / f64::from(1 << 30)),
        b if (1 << 20) <= b => format!("{:.0} MiB", value / f64::from(1 << 20)),
        b if 1024 <= b => format!("{:.0} KiB", value / 1024.0),
        b => counted(b, "byte"),
    }
}

/// What kept a search from looking at everything.
pub fn limit_reached(completeness: Completeness, limits: &Limits) -> String {
    let limit = |what: &str, value: Option<u64>| match value {
        Some(value) => format!("the limit of {} was reached", counted(value, what)),
        None => format!("no more {what}s fit"),
    };
    match completeness {
        Completeness::Exhaustive | Completeness::FirstViolation => String::new(),
        Completeness::Stopped(StopReason::Cancelled) => "it was interrupted".to_owned(),
        Completeness::Stopped(StopReason::Timeout) => "the time allowed was used up".to_owned(),
        Completeness::Stopped(StopReason::States) => limit("state", limits.states_max),
        Completeness::Stopped(StopReason::Memory) => match limits.memory_bytes_max {
            Some(bytes) => format!("the memory limit of {} was reached", memory(bytes)),
            None => "the memory limit was reached".to_owned(),
        },
        Completeness::Stopped(StopReason::Full) => "the visited set is full: it can hold no more states".to_owned(),
        Completeness::Stopped(StopReason::Exhausted) => "the system gave no more memory".to_owned(),
        Completeness::Stopped(StopReason::Delays) => "runs with more delays were left out".to_owned(),
        Completeness::Stopped(StopReason::Depth) => {
            let depth = limits.depth_max.unwrap_or(0);
            format!("runs of {} and more were cut off", counted(depth, "step"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(rough(1_234_567.0), "1.23 M");
        assert_eq!(rough(9_999.0), "9 999");
        assert_eq!(seconds(0.0041), "4 ms");
        assert_eq!(seconds(0.041), "0.04 s");
        assert_eq!(seconds(125.0), "2 min 5 s");
    }

    #[test]
    fn numbers_are_read_in_groups_of_three() {
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(12_000, "step"), "12 000 steps");
        assert_eq!(memory(100), "100 bytes");
        assert_eq!(memory(96 << 20), "96 MiB");
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000_000), "1 000 000");
    }

    #[test]
    fn a_full_store_is_told_from_a_memory_limit() {
        let limits = Limits { memory_bytes_max: Some(1 << 20), ..Limits::default() };
        let told = |reason| limit_reached(Completeness::Stopped(reason), &limits);
        assert!(
            told(StopReason::Memory).starts_with("the memory limit of 1 MiB was reached"),
            "{}",
            told(StopReason::Memory)
        );
        assert!(!told(StopReason::Full).contains("memory"), "{}", told(StopReason::Full));
    }
}
