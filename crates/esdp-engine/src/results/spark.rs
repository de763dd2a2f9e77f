//! A curve in one line of text.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The values as bars, at most `width` of them, between `low` and `high`.
pub(super) fn line(values: &[f64], width: usize, (low, high): (f64, f64)) -> String {
    let shown = width.min(values.len());
    let bar = |at: usize| {
        // The mean of its share of the values: a single one may be an outlier.
        let (from, to) = (at * values.len() / shown, (at + 1) * values.len() / shown);
        let mean = values[from..to].iter().sum::<f64>() / (to - from) as f64;
        let share = if high > low { (mean - low) / (high - low) } else { 0.5 };
        BARS[((share * BARS.len() as f64) as usize).min(BARS.len() - 1)]
    };
    (0..shown).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_curve_rises() {
        let values: Vec<f64> = (0..80).map(f64::from).collect();
        assert_eq!(line(&values, 8, (0.0, 80.0)), "▁▂▃▄▅▆▇█");
        assert_eq!(line(&values[..2], 8, (0.0, 1.0)), "▁█");
        assert_eq!(line(&[3.0, 3.0], 8, (3.0, 3.0)), "▅▅");
        assert_eq!(line(&[], 8, (0.0, 1.0)), "");
        assert_eq!(line(&[f64::NAN], 8, (0.0, 1.0)), "▁");
    }
}
