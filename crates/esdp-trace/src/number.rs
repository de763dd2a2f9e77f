//! Numbers from bytes, without allocation.
//!
//! A plain decimal of at most 15 digits is an exact integer over an exact power of ten, so one
//! division rounds it as the standard parser would, at a few nanoseconds. Everything else (exponents, more
//! digits) goes to the standard parser. Not a number, infinities and hexadecimals are refused.

const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The largest magnitude that any column may have.
pub(crate) const LARGEST: f64 = 1e12;

/// A finite number, or nothing.
pub(crate) fn parse(field: &[u8]) -> Option<f64> {
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 16 {
        return slow(field);
    }
    let (mut mantissa, mut point, mut seen) = (0u64, None, 0usize);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                seen += 1;
            }
            b'.' if point.is_none() => point = Some(seen),
            _ => return slow(field),
        }
    }
    if seen == 0 || seen > 15 {
        return slow(field);
    }
    let value = mantissa as f64 / TENS[seen - point.unwrap_or(seen)];
    Some(if negative { -value } else { value })
}

fn slow(field: &[u8]) -> Option<f64> {
    // "inf", "nan" and their like are words, not numbers.
    if !field.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
        || field.len() > 64
    {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse::<f64>().ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_no_numbers() {
        for text in
            ["", "-", ".", "+.", "1.2.3", "nan", "inf", "-inf", "1e999", "0x10", "1_000", " 1", "1,5", "--1"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(parse(b"-1"), Some(-1.0));
        assert_eq!(parse(b"5."), Some(5.0));
        assert_eq!(parse(b".5"), Some(0.5));
        assert_eq!(parse(b"1e3"), Some(1000.0));
    }

    proptest! {
        #[test]
        fn as_the_standard_parser(text in "-?[0-9]{0,18}\\.?[0-9]{0,18}") {
            let expected = text.parse::<f64>().ok();
            prop_assert_eq!(parse(text.as_bytes()).map(f64::to_bits), expected.map(f64::to_bits), "{}", text);
        }
    }
}
