//! Where the ticks of an axis are, and how numbers read.
//!
//! `report/ticks.js` has the same rules for the page; the browser test holds the two against each other.

/// Ticks at round numbers within a range, and the step between them.
pub fn linear(low: f64, high: f64, about: f64) -> (Vec<f64>, f64) {
    let step = round_step((high - low) / about);
    let slack = step * 1e-9;
    let first = ((low - slack) / step).ceil();
    let last = ((high + slack) / step).floor();
    // Above 2^53 neighbouring steps are one number; then the ends have to do.
    if !(step > 0.0 && step.is_finite()) || first.abs().max(last.abs()) > 9e15 {
        return (vec![low, high], high - low);
    }
    // `+ 0.0` turns a negative zero into zero.
    let ticks = (0..=(last - first).max(-1.0) as i64).map(|i| (first + i as f64) * step + 0.0).take(60);
    (ticks.collect(), step)
}

/// The round number (1, 2 or 5 times a power of ten) nearest above a step.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factor = match rough / power {
        f if f <= 1.0 + 1e-9 => 1.0,
        f if f <= 2.0 + 1e-9 => 2.0,
        f if f <= 5.0 + 1e-9 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// Ticks of a logarithmic axis: powers of ten, with 2 and 5 between them where there are few.
pub fn log(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    if decades < 1.0 {
        return linear(low, high, 5.0).0.into_iter().filter(|&tick| tick > 0.0).collect();
    }
    let factors: &[f64] = if decades <= 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (decades / 8.0).ceil().max(1.0) as i32;
    multiples(low, high, factors, every)
}

/// The small ticks between those of [`log`].
pub fn log_minor(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    if !(1.0..=8.0).contains(&decades) {
        return Vec::new();
    }
    multiples(low, high, &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1)
}

fn multiples(low: f64, high: f64, factors: &[f64], every: i32) -> Vec<f64> {
    let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let inside = |tick: &f64| *tick >= low * (1.0 - 1e-9) && *tick <= high * (1.0 + 1e-9);
    powers
        .filter(|power| power.rem_euclid(every) == 0)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(inside)
        .collect()
}

/// The labels of ticks that are `step` apart: all with the same suffix and as many decimals as
/// tell them apart.
pub fn labels(ticks: &[f64], step: f64) -> Vec<String> {
    let largest = ticks.iter().fold(0.0, |largest: f64, tick| largest.max(tick.abs()));
    if largest > 0.0 && !(1e-4..1e13).contains(&largest) {
        return ticks.iter().map(|&tick| scientific(tick)).collect();
    }
    let (unit, suffix) = suffix(largest);
    let decimals = (-(step / unit).log10() - 1e-9).ceil().clamp(0.0, 8.0) as usize;
    let label = |&tick: &f64| match tick {
        0.0 => "0".to_owned(),
        _ => format!("{}{suffix}", grouped(tick / unit, decimals)),
    };
    ticks.iter().map(label).collect()
}

/// The label of one number, with as many digits as it needs up to `digits`.
pub fn number(value: f64, digits: i32) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "no value".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e13).contains(&size) {
        return scientific(value);
    }
    let (unit, suffix) = suffix(size);
    let decimals = (digits - 1 - (size / unit).log10().floor() as i32).clamp(0, 9) as usize;
    let text = grouped(value / unit, decimals);
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short}{suffix}")
}

/// From ten thousand on, thousands are counted: `20k` is shorter than `20,000`, `2,000` is
/// plainer than `2k`.
fn suffix(largest: f64) -> (f64, &'static str) {
    match largest {
        size if size < 1e4 => (1.0, ""),
        size if size < 1e6 => (1e3, "k"),
        size if size < 1e9 => (1e6, "M"),
        _ => (1e9, "G"),
    }
}

/// A number with a thousands separator and a true minus sign.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    // A value that rounds to zero has no sign.
    if value < 0.0 && text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        out.push('\u{2212}');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Such as 2×10⁻⁵.
fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (factor, power) = text.split_once('e').unwrap_or((&text, "0"));
    let factor = factor.trim_end_matches('0').trim_end_matches('.').replace('-', "\u{2212}");
    let raised: String = power.chars().map(superscript).collect();
    match factor.as_str() {
        "0" => "0".to_owned(),
        "1" => format!("10{raised}"),
        _ => format!("{factor}×10{raised}"),
    }
}

fn superscript(digit: char) -> char {
    match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '-' => '⁻',
        other => other.to_digit(10).and_then(|digit| char::from_u32(0x2070 + digit)).unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(low: f64, high: f64) -> Vec<String> {
        let (ticks, step) = linear(low, high, 5.0);
        labels(&ticks, step)
    }

    #[test]
    fn ticks_are_round_and_read_well() {
        assert_eq!(shown(0.0, 8000.0), ["0", "2,000", "4,000", "6,000", "8,000"]);
        assert_eq!(shown(0.0, 20_000.0), ["0", "5k", "10k", "15k", "20k"]);
        assert_eq!(
            shown(-0.31, 0.29),
            ["\u{2212}0.2", "0.0", "0.2"].map(|l| if l == "0.0" { "0" } else { l })
        );
        assert_eq!(shown(0.0, 2.5e6), ["0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"]);
        assert_eq!(shown(0.0, 4e-6), ["0", "10⁻⁶", "2×10⁻⁶", "3×10⁻⁶", "4×10⁻⁶"]);
    }

    #[test]
    fn log_ticks_fit_their_range() {
        assert_eq!(log(1.0, 1e4), [1.0, 10.0, 100.0, 1e3, 1e4]);
        assert_eq!(log(500.0, 20_000.0), [500.0, 1e3, 2e3, 5e3, 1e4, 2e4]);
        assert!(log(1e-9, 1e9).len() <= 8);
        assert!(log(30.0, 90.0).len() >= 3);
    }

    #[test]
    fn strange_ranges_end() {
        for (low, high) in [(1e300, 1e301), (1e17, 1e17 + 64.0), (0.0, 5e-324), (-1e308, 1e308)] {
            assert!(linear(low, high, 5.0).0.len() <= 60);
        }
    }

    #[test]
    fn numbers_in_sentences() {
        assert_eq!(number(0.98765, 3), "0.988");
        assert_eq!(number(1234.6, 3), "1,235");
        assert_eq!(number(-12_345.0, 3), "\u{2212}12.3k");
        assert_eq!(number(f64::NAN, 3), "no value");
        assert_eq!(number(5.0, 3), "5");
    }
}
