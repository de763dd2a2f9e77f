//! What a figure shows, in words.

use super::ticks::number;
use super::{Figure, Point, Scale, Series, Style};

/// More series than this are counted, not listed.
const LISTED: usize = 16;

pub(super) fn describe(figure: &Figure) -> String {
    let kind = match figure.series.first().map(|series| series.style) {
        Some(Style::Bars) => "Bar chart",
        Some(Style::Markers) => "Chart of points",
        Some(Style::Scatter) => "Scatter plot",
        Some(Style::Line | Style::Guide) | None => "Line chart",
    };
    let mut out = format!("{kind}: {} against {}.", figure.y.full_label(), figure.x.full_label());
    if figure.series.len() > LISTED {
        out.push_str(&format!(" {} series.", figure.series.len()));
        return out;
    }
    let ends: Vec<String> = figure.series.iter().map(|series| end(figure, series)).collect();
    if !ends.is_empty() {
        out.push_str(&format!(" {}.", ends.join("; ")));
    }
    out
}

/// A series by its last value; a scatter, which has none, by how many there are.
fn end(figure: &Figure, series: &Series) -> String {
    if series.style == Style::Scatter {
        let count = series.points.iter().filter(|point| point.y.is_finite()).count();
        return format!("{}: {count} values", series.name);
    }
    let Some(Point { x, y, stderr }) = series.points.iter().rev().find(|point| point.y.is_finite()) else {
        return format!("{}: no value", series.name);
    };
    let place = match &figure.x.scale {
        Scale::Categories(names) => names.get(*x as usize).cloned().unwrap_or_default(),
        Scale::Linear | Scale::Log => number(*x, 4),
    };
    let error = if stderr.is_finite() && *stderr > 0.0 {
        format!(" ± {}", number(*stderr, 2))
    } else {
        String::new()
    };
    let at = if place == series.name { String::new() } else { format!(" at {place}") };
    format!("{}: {}{error}{at}", series.name, number(*y, 4))
}
