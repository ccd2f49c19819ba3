//! Numbers in sentences.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups_of_three() {
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(12_000, "step"), "12 000 steps");
        assert_eq!(memory(100), "100 bytes");
        assert_eq!(memory(96 << 20), "96 MiB");
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000_000), "1 000 000");
    }
}
