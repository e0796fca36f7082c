//! Parses sizes and durations such as `10GiB` and `30s`.

use std::time::Duration;

const BYTE_UNITS: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

const TIME_UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// Parses a number of bytes, such as `10GiB`, `500MB` or `1048576`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text, &BYTE_UNITS).ok_or_else(|| "not a size such as 10GiB, 500MB or 1048576".to_owned())
}

/// Parses a duration above zero, such as `30s`, `500ms` or `13d`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    parse(text, &TIME_UNITS)
        .filter(|&millis| millis > 0)
        .map(Duration::from_millis)
        .ok_or_else(|| "not a time such as 30s, 500ms, 5m, 1h or 13d".to_owned())
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit.trim_start()))?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(parse_bytes("0"), Ok(0));
        assert_eq!(parse_bytes("1048576"), Ok(1 << 20));
        assert_eq!(parse_bytes("10GiB"), Ok(10 << 30));
        assert_eq!(parse_bytes("500 mb"), Ok(500_000_000));
        for bad in ["", "GiB", "-1", "1.5GiB", "10 apples", "99999999TiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_need_a_unit_and_are_above_zero() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("13d"), Ok(Duration::from_secs(13 * 86_400)));
        for bad in ["", "30", "0s", "s", "1w"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
