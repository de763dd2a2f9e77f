//! Bars: side by side where several share a place, full width where each stands alone.

use super::layout::Layout;
use super::palette::Look;
use super::scene::{Color, Fill, Rect, Shape, Stroke};
use super::{Figure, Style, draw, legend};

/// How much of the distance between two places their bars take.
const SHARE: f64 = 0.72;
/// The widest bar, in pixels.
const WIDEST: f64 = 60.0;

/// A bar: which series and point it is, and its place among those that stand at the same x.
struct Bar {
    series: usize,
    x: f64,
    y: f64,
    error: f64,
    rank: usize,
}

pub(super) fn draw(shapes: &mut Vec<Shape>, figure: &Figure, layout: &Layout, looks: &[Look]) {
    let mut bars = collect(figure, layout);
    bars.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.series.cmp(&b.series)));
    let mut crowd = 1;
    for group in bars.chunk_by_mut(|a, b| a.x == b.x) {
        crowd = crowd.max(group.len());
        group.iter_mut().enumerate().for_each(|(rank, bar)| bar.rank = rank);
    }
    let width = (nearest(&bars, layout) * SHARE / crowd as f64).min(WIDEST);
    for group in bars.chunk_by(|a, b| a.x == b.x) {
        for bar in group {
            let Some((x, top)) = layout.place(bar.x, bar.y) else { continue };
            let left = x + (bar.rank as f64 - group.len() as f64 / 2.0) * width;
            let base = layout.up(layout.y.base()).unwrap_or(layout.frame.bottom);
            // A hair of white between neighbours keeps them apart in black and white.
            let frame = Rect {
                left: left + 0.5,
                top: top.min(base),
                right: left + width - 0.5,
                bottom: top.max(base),
            };
            shapes.push(Shape::rect(frame, Fill::solid(looks[bar.series].color)));
            // As in the legend. Bars without one are told apart by their names, and slivers by nothing.
            if crowd <= 12 && !legend::said_by_axis(figure) {
                hatch(shapes, frame, bar.series);
            }
            let ink = Stroke::solid(Color::INK, 1.1);
            draw::whisker(shapes, layout, (left + width / 2.0, bar.y, bar.error), ink);
        }
    }
}

fn collect(figure: &Figure, layout: &Layout) -> Vec<Bar> {
    let bars = figure.series.iter().enumerate().filter(|(_, series)| series.style == Style::Bars);
    bars.flat_map(|(at, series)| {
        let drawn = series.points.iter().filter(|point| layout.place(point.x, point.y).is_some());
        drawn.map(move |point| Bar { series: at, x: point.x, y: point.y, error: point.error(), rank: 0 })
    })
    .collect()
}

/// The smallest distance between two places that have bars.
fn nearest(bars: &[Bar], layout: &Layout) -> f64 {
    let mut places: Vec<f64> = bars.iter().filter_map(|bar| layout.across(bar.x)).collect();
    places.dedup();
    let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
    let alone = layout.frame.width() / layout.x_ticks.len().max(1) as f64;
    let alone = if layout.x.named() { alone } else { layout.frame.width() };
    gaps.fold(alone, f64::min)
}

/// White lines across a bar, different from series to series: the first has none, then they
/// lean one way, the other way, and both.
pub(super) fn hatch(shapes: &mut Vec<Shape>, frame: Rect, series: usize) {
    const APART: f64 = 6.0;
    let stroke = Stroke::solid(Color::WHITE, 1.0);
    let leans: &[f64] = match series % 4 {
        0 => &[],
        1 => &[1.0],
        2 => &[-1.0],
        _ => &[1.0, -1.0],
    };
    for &lean in leans {
        let (width, height) = (frame.width(), frame.height());
        let count = ((width + height) / APART).floor().min(400.0) as usize;
        for at in 1..=count {
            // The line x + y = c within the frame, mirrored for the other lean.
            let c = at as f64 * APART;
            let ends = [(c.min(width), c - c.min(width)), (c - c.min(height), c.min(height))];
            let turned =
                ends.map(|(x, y)| (if lean > 0.0 { frame.left + x } else { frame.right - x }, frame.top + y));
            shapes.push(Shape::line(turned.to_vec(), stroke));
        }
    }
}
