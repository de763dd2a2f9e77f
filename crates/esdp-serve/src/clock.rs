//! The clocks of the service. No decision depends on them: a slot's time is its number.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, for people who read logs and journals; 0 on a machine whose clock is before that.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as u64)
}

/// Milliseconds since 1970 as a date and a time, UTC.
pub fn utc(millis: u64) -> String {
    let (seconds, days) = (millis / 1000 % 86_400, (millis / 86_400_000) as i64);
    // The civil calendar from the number of days, after Howard Hinnant.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// A point in time as people write it, in milliseconds since 1970: `2026-11-19T14:00:00Z`, seconds and their
/// fraction as far as they are given, with `Z` or an offset such as `+01:00`; or a number of seconds.
pub fn parse(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (0.0..1e11).contains(&seconds).then_some((seconds * 1e3) as u64);
    }
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let digits = |text: &str, most: i64| -> Option<i64> {
        let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| plain && *number <= most)
    };
    let mut parts = date.split('-');
    let (year, month) = (digits(parts.next()?, 9999)?, digits(parts.next()?, 12)?);
    let day = digits(parts.next()?, 31)?;
    if parts.next().is_some() || year < 1970 || month < 1 || day < 1 {
        return None;
    }
    let (clock, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0),
        None => {
            let at = time.rfind(['+', '-'])?;
            let (hours, minutes) = time[at + 1..].split_once(':')?;
            let offset = digits(hours, 23)? * 60 + digits(minutes, 59)?;
            (&time[..at], if time[at..].starts_with('-') { -offset } else { offset })
        }
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (digits(parts.next()?, 23)?, digits(parts.next()?, 59)?);
    let seconds: f64 = parts.next().map_or(Some(0.0), |seconds| {
        let plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        seconds.parse().ok().filter(|seconds| plain && (0.0..61.0).contains(seconds))
    })?;
    if parts.next().is_some() {
        return None;
    }
    // Days from the civil calendar, after Howard Hinnant.
    let shifted = year - i64::from(month <= 2);
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let minutes = days * 1440 + hour * 60 + minute - offset;
    u64::try_from(minutes * 60_000 + (seconds * 1e3) as i64).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(super::utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(super::utc(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(super::utc(1_794_876_605_999), "2026-11-17T00:50:05Z");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for millis in [0, 951_782_400_000, 1_794_876_605_000, 4_102_444_799_000] {
            assert_eq!(super::parse(&super::utc(millis)), Some(millis));
        }
        let noon = super::parse("2026-11-17T12:00:00Z");
        for text in ["2026-11-17T12:00Z", "2026-11-17 13:00+01:00", "2026-11-17T06:30:00-05:30"] {
            assert_eq!(super::parse(text), noon, "{text}");
        }
        assert_eq!(super::parse("1794876605.999"), Some(1_794_876_605_999));
        let wrong = [
            "",
            "now",
            "14:00",
            "2026-11-17",
            "2026-11-17T12:00",
            "2026-13-01T00:00Z",
            "2026-01-01T24:00Z",
            "1969-01-01T00:00Z",
            "-1",
            "nan",
            "1e300",
            "2026-01-01T00:00:99Z",
            "2026-01-01T00:00+1Z",
            "+2026-01-01T00:00Z",
        ];
        for text in wrong {
            assert_eq!(super::parse(text), None, "{text}");
        }
    }
}
