//! A figure for the script of a report (`report/figure.js` reads what is made here).

use super::{Dot, Figure, Point, Scale, Style, legend, palette};
use serde_json::{Value, json};

/// A series of more points is thinned: a screen has no room for them, and the CSV has them all.
const MOST: usize = 2000;

pub(super) fn data(figure: &Figure) -> Value {
    let looks = palette::of(figure);
    let series = figure.series.iter().zip(looks).map(|(series, look)| {
        let last = series.points.len().saturating_sub(1);
        let every = series.points.len().div_ceil(MOST).max(1);
        let shown = series
            .points
            .iter()
            .enumerate()
            .filter(|(at, point)| (at % every == 0 || *at == last) && point.x.is_finite());
        let shown: Vec<(usize, &Point)> = shown.collect();
        let points: Vec<&Point> = shown.iter().map(|(_, point)| *point).collect();
        let dots: Vec<&Dot> = shown.iter().filter_map(|(at, _)| series.dots.get(*at)).collect();
        json!({
            "name": series.name,
            "style": match series.style {
                Style::Line => "line",
                Style::Guide => "guide",
                Style::Bars => "bars",
                Style::Markers => "markers",
                Style::Scatter => "scatter",
            },
            "light": look.color.hex(),
            "dark": look.dark.hex(),
            "dash": look.dash,
            "width": look.width,
            "x": points.iter().map(|point| short(point.x)).collect::<Vec<_>>(),
            "y": points.iter().map(|point| short(point.y)).collect::<Vec<_>>(),
            "e": points.iter().map(|point| short(point.error())).collect::<Vec<_>>(),
            "dots": dots.iter().map(|dot| json!([dot.name, short(dot.weight)])).collect::<Vec<_>>(),
        })
    });
    json!({
        "file": figure.file_stem(),
        "error": figure.error,
        "x": axis(&figure.x),
        "y": axis(&figure.y),
        "series": series.collect::<Vec<_>>(),
        "legend": !legend::said_by_axis(figure),
    })
}

fn axis(axis: &super::Axis) -> Value {
    let (scale, names) = match &axis.scale {
        Scale::Linear => ("linear", None),
        Scale::Log => ("log", None),
        Scale::Categories(names) => ("names", Some(names)),
    };
    json!({
        "label": axis.full_label(),
        "scale": scale,
        "names": names,
        "switch": axis.or_log,
        "include": axis.include.iter().filter(|value| value.is_finite()).collect::<Vec<_>>(),
    })
}

/// Seven digits are more than a screen shows. What is not a number is `null`: a gap.
fn short(value: f64) -> Value {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    // Whole numbers without `.0`: there are many.
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
}
