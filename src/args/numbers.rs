//! Numbers, sizes and times as people write them.

use std::time::Duration;

/// Reads `1200`, `1_200`, `500k`, `2M`, `1G` (powers of ten).
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    scaled(text, 1000).ok_or_else(|| "expected a number such as 1000, 500k or 2M".to_owned())
}

/// Reads `512M`, `4G`, `100k`, `1048576` (powers of 1024, in bytes).
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.strip_suffix(['b', 'B']).unwrap_or(text);
    let digits = digits.strip_suffix('i').unwrap_or(digits);
    scaled(digits, 1024).ok_or_else(|| "expected a size such as 512M or 4G".to_owned())
}

/// Reads `30` (seconds), `1.5s`, `500ms`, `5m`, `1h`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 30, 500ms, 10s, 5m or 1h".to_owned()),
    };
    let value: f64 = number.parse().map_err(|_| "expected a time such as 30, 500ms, 10s, 5m or 1h".to_owned())?;
    Duration::try_from_secs_f64(value * factor).map_err(|_| "this time is too long or negative".to_owned())
}

/// A number with an optional factor k, M, G or T.
fn scaled(text: &str, thousand: u64) -> Option<u64> {
    let (digits, factor) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], thousand),
        (at, 'm' | 'M') => (&text[..at], thousand.pow(2)),
        (at, 'g' | 'G') => (&text[..at], thousand.pow(3)),
        (at, 't' | 'T') => (&text[..at], thousand.pow(4)),
        _ => (text, 1),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(parse_count("1_200"), Ok(1200));
        assert_eq!(parse_count("500k"), Ok(500_000));
        assert_eq!(parse_size("4G"), Ok(4 << 30));
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_size("100B"), Ok(100));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "k", "-1", "x", "99999999999T", "1e400", "é"] {
            assert!(parse_count(bad).is_err(), "{bad}");
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        for bad in ["", "s", "-1", "1d", "inf", "1e400", "é"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
