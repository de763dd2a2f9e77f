//! Fewer points where the eye sees no difference: a line of a hundred thousand slots must not
//! make a figure of megabytes.

use super::scene::Place;

/// Lines shorter than this are left as they are.
const ENOUGH: usize = 60;

/// The line with fewer points, nowhere farther from the true one than the tolerance. Points that are
/// not in ascending order of x are all kept.
pub(super) fn line(points: &[Place], tolerance: f64) -> Vec<Place> {
    if points.len() <= ENOUGH || points.windows(2).any(|pair| pair[1].0 < pair[0].0) {
        return points.to_vec();
    }
    straighten(&per_column(points), tolerance)
}

/// First, lowest, highest and last point of each half pixel column: what a screen can show of a
/// line, in linear time.
fn per_column(points: &[Place]) -> Vec<Place> {
    let column = |point: &Place| (point.0 * 2.0).floor() as i64;
    let mut kept: Vec<Place> = Vec::new();
    for group in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &(usize, &Place), b: &(usize, &Place)| a.1.1.total_cmp(&b.1.1);
        let ends = [Some(0), Some(group.len() - 1)];
        let lowest = group.iter().enumerate().min_by(by_height).map(|(at, _)| at);
        let highest = group.iter().enumerate().max_by(by_height).map(|(at, _)| at);
        let mut chosen: Vec<usize> = ends.into_iter().chain([lowest, highest]).flatten().collect();
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen.into_iter().map(|at| group[at]));
    }
    kept
}

/// Ramer, Douglas and Peucker: leaves out what lies within the tolerance of the straight line
/// between its neighbours. With a stack of its own: recursion could run as deep as the line is long.
fn straighten(points: &[Place], tolerance: f64) -> Vec<Place> {
    let last = points.len().saturating_sub(1);
    let mut keep = vec![false; points.len()];
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        keep[from] = true;
        keep[to] = true;
        let inner = (from + 1..to).map(|at| (at, distance(points[at], points[from], points[to])));
        if let Some((farthest, away)) = inner.max_by(|a, b| a.1.total_cmp(&b.1))
            && away > tolerance
        {
            open.push((from, farthest));
            open.push((farthest, to));
        }
    }
    points.iter().zip(keep).filter_map(|(point, keep)| keep.then_some(*point)).collect()
}

fn distance(point: Place, from: Place, to: Place) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    let (px, py) = (point.0 - from.0, point.1 - from.1);
    if length == 0.0 { px.hypot(py) } else { (dx * py - dy * px).abs() / length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_needs_its_ends() {
        let points: Vec<Place> = (0..10_000).map(|i| (f64::from(i) * 0.05, f64::from(i) * 0.01)).collect();
        assert_eq!(line(&points, 0.1).len(), 2);
    }

    #[test]
    fn a_spike_survives() {
        let mut points: Vec<Place> = (0..100_000).map(|i| (f64::from(i) * 0.004, 50.0)).collect();
        points[54_321].1 = 3.0;
        let simple = line(&points, 0.1);
        assert!(simple.len() < 10 && simple.iter().any(|point| point.1 == 3.0));
    }
}
