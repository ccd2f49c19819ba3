//! Numbers as a person reads them.

/// `41208` as `41 208`.
pub fn count(value: u64) -> String {
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
        v => count(v as u64),
    }
}

/// Bytes as `812 KiB`, `1.5 GiB`.
pub fn bytes(value: u64) -> String {
    let value = value as f64;
    match value {
        v if v >= (1_u64 << 30) as f64 => format!("{:.1} GiB", v / (1_u64 << 30) as f64),
        v if v >= (1_u64 << 20) as f64 => format!("{:.0} MiB", v / (1_u64 << 20) as f64),
        v if v >= 1024.0 => format!("{:.0} KiB", v / 1024.0),
        v => format!("{v} bytes"),
    }
}

/// Seconds as `0.04 s`, `12.3 s`, `2 min 5 s`, `3 h 20 min`.
pub fn seconds(value: f64) -> String {
    let whole = value as u64;
    match value {
        v if v < 10.0 => format!("{v:.2} s"),
        v if v < 60.0 => format!("{v:.1} s"),
        v if v < 3600.0 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// `1 step`, `7 steps`.
pub fn counted(value: u64, thing: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(7), "7");
        assert_eq!(count(41_208), "41 208");
        assert_eq!(count(1_000_000), "1 000 000");
        assert_eq!(rough(1_234_567.0), "1.23 M");
        assert_eq!(rough(9_999.0), "9 999");
        assert_eq!(bytes(100), "100 bytes");
        assert_eq!(bytes(96 << 20), "96 MiB");
        assert_eq!(seconds(0.041), "0.04 s");
        assert_eq!(seconds(125.0), "2 min 5 s");
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(12_000, "step"), "12 000 steps");
    }
}
