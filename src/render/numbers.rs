//! Numbers as a person reads them.

pub use fabius_engine::words::{counted, grouped as count, memory};

/// `1234567` as `1.23 M`; small numbers as they are.
pub fn rough(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v => count(v as u64),
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
}
