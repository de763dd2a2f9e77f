//! Order statistics of times.

/// The value below which a share of the values lies (nearest rank); NaN of nothing.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// Sorted times.
pub(crate) fn sorted(times: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut times: Vec<f64> = times.collect();
    times.sort_unstable_by(f64::total_cmp);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!([0.0, 0.5, 0.95, 1.0].map(|share| percentile(&ten, share)), [1.0, 5.0, 10.0, 10.0]);
        assert!(percentile(&[], 0.5).is_nan());
    }
}
