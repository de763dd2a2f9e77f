//! How something changes along the axis of a figure.

use super::super::evidence::Measured;
use super::judge::Difference;

/// A number along the points of a source.
#[derive(Debug)]
pub(super) struct Trend {
    /// From the first point to the last, seed by seed.
    pub(super) changes: Vec<f64>,
    pub(super) total: Difference,
    /// Steps from point to point that clearly fall.
    falls: usize,
}

impl Trend {
    pub(super) fn of(points: &[Measured], value: impl Fn(&Measured) -> Vec<f64>) -> Self {
        let values: Vec<Vec<f64>> = points.iter().map(value).collect();
        let changes: Vec<f64> = match (values.first(), values.last()) {
            (Some(first), Some(last)) => last.iter().zip(first).map(|(last, first)| last - first).collect(),
            _ => Vec::new(),
        };
        let falls =
            values.windows(2).filter(|pair| Difference::between(&pair[1], &pair[0]).is_below()).count();
        Self { total: Difference::of(changes.iter().copied()), changes, falls }
    }

    /// Clearly down in all, or at a step.
    pub(super) fn falls_somewhere(&self) -> bool {
        self.total.is_below() || self.falls > 0
    }

    /// Clearly up in all, clearly down nowhere.
    pub(super) fn rises(&self) -> bool {
        self.total.is_above() && self.falls == 0
    }
}

/// Those of the names whose trend rises.
pub(super) fn rising<'n>(names: &[&'n str], trends: &[Trend]) -> Vec<&'n str> {
    names.iter().zip(trends).filter(|(_, trend)| trend.rises()).map(|(name, _)| *name).collect()
}

/// A least-squares line.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Fit {
    pub(in super::super) slope: f64,
    /// Its value at 0.
    pub(in super::super) start: f64,
    /// R squared.
    pub(in super::super) explained: f64,
}

/// Fits a line; none through fewer than three points.
pub(super) fn fit(points: impl Iterator<Item = (f64, f64)>) -> Option<Fit> {
    let points: Vec<(f64, f64)> = points.collect();
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|dx, _| dx * dx), sum(&|dx, dy| dx * dy), sum(&|_, dy| dy * dy));
    let slope = xy / xx;
    Some(Fit { slope, start: y - slope * x, explained: if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found() {
        let line = fit((1..=5).map(|x| (f64::from(x), 3.0 - 2.0 * f64::from(x)))).unwrap();
        assert!((line.slope + 2.0).abs() < 1e-12 && (line.explained - 1.0).abs() < 1e-12);
        assert!((line.start - 3.0).abs() < 1e-12);
        let bent = fit([(1.0, 0.0), (2.0, 5.0), (3.0, 0.0)].into_iter()).unwrap();
        assert!(bent.explained < 0.1);
        assert!(fit([(1.0, 0.0), (2.0, 5.0)].into_iter()).is_none());
    }
}
