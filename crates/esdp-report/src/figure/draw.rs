//! A figure as a list of shapes.

use super::font::{Font, shortened};
use super::layout::Layout;
use super::palette::{self, Look, Marker};
use super::scene::{Anchor, Color, Fill, Place, Scene, Shape, Stroke};
use super::{Figure, Point, Series, Style};
use super::{bars, simplify};

/// Size of numbers and names.
pub(super) const TEXT: f64 = 13.0;
/// Size of axis labels.
pub(super) const LABEL: f64 = 14.0;

/// Lines of more points carry markers at some of them only.
const MARKED: usize = 24;
/// How many markers a long line carries.
const MARKS: f64 = 7.0;

/// How far, in pixels, a drawn line and the edge of a band may stray from the true one.
const LINE: f64 = 0.15;
const BAND: f64 = 0.35;

/// Draws the figure.
pub(super) fn scene(figure: &Figure) -> Scene {
    let layout = Layout::of(figure, &Font::new());
    let looks = palette::of(figure);
    let mut scene = Scene { width: layout.width, height: layout.height, shapes: Vec::new() };
    let shapes = &mut scene.shapes;
    grid(shapes, &layout);
    // All bands lie below all lines; within each, the first series lies on top.
    let drawn = || figure.series.iter().zip(&looks).enumerate().rev();
    for (_, (series, look)) in drawn().filter(|(_, (series, _))| series.style == Style::Line) {
        band(shapes, series, look, &layout);
    }
    bars::draw(shapes, figure, &layout, &looks);
    for (at, (series, look)) in drawn() {
        match series.style {
            Style::Line | Style::Guide => {
                line(shapes, series, look, &layout, at as f64 / figure.series.len() as f64)
            }
            Style::Markers => markers(shapes, series, look, &layout),
            Style::Scatter => dots(shapes, series, look, &layout),
            Style::Bars => {}
        }
    }
    axes(shapes, figure, &layout);
    layout.legend.draw(&mut scene, figure, &looks, layout.frame, layout.legend_top);
    scene
}

fn grid(shapes: &mut Vec<Shape>, layout: &Layout) {
    let stroke = Stroke::solid(Color::GRID, 1.0);
    let frame = layout.frame;
    for y in layout.y_ticks.iter().filter_map(|tick| layout.up(tick.value)) {
        shapes.push(Shape::line(vec![(frame.left, y), (frame.right, y)], stroke));
    }
    // Names need no lines: nothing is read off between them.
    let ticks = if layout.x.named() { &[] } else { layout.x_ticks.as_slice() };
    for x in ticks.iter().filter_map(|tick| layout.across(tick.value)) {
        shapes.push(Shape::line(vec![(x, frame.top), (x, frame.bottom)], stroke));
    }
}

fn axes(shapes: &mut Vec<Shape>, figure: &Figure, layout: &Layout) {
    let frame = layout.frame;
    let ink = Stroke::solid(Color::INK, 1.0);
    shapes.push(Shape::line(
        vec![(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)],
        ink,
    ));
    for tick in &layout.x_ticks {
        let Some(x) = layout.across(tick.value) else { continue };
        shapes.push(Shape::line(vec![(x, frame.bottom), (x, frame.bottom + 5.0)], ink));
        let below = frame.bottom + 6.0 + TEXT;
        let (at, anchor) = match layout.x_angle {
            0.0 => ((x, below + 1.0), Anchor::Middle),
            _ => ((x + 4.0, below), Anchor::End),
        };
        shapes.push(Shape::Text { at, text: tick.label.clone(), size: TEXT, anchor, angle: layout.x_angle });
    }
    for tick in &layout.y_ticks {
        let Some(y) = layout.up(tick.value) else { continue };
        shapes.push(Shape::line(vec![(frame.left - 5.0, y), (frame.left, y)], ink));
        shapes.push(Shape::text((frame.left - 8.0, y + TEXT * 0.35), tick.label.clone(), TEXT, Anchor::End));
    }
    for x in layout.x.minor().into_iter().filter_map(|value| layout.across(value)) {
        shapes.push(Shape::line(vec![(x, frame.bottom), (x, frame.bottom + 2.5)], ink));
    }
    for y in layout.y.minor().into_iter().filter_map(|value| layout.up(value)) {
        shapes.push(Shape::line(vec![(frame.left - 2.5, y), (frame.left, y)], ink));
    }
    let middle = (f64::midpoint(frame.left, frame.right), f64::midpoint(frame.top, frame.bottom));
    let label = |axis: &super::Axis, letters| shortened(&axis.full_label(), letters);
    shapes.push(Shape::text((middle.0, layout.x_label), label(&figure.x, 70), LABEL, Anchor::Middle));
    let at = (layout.y_label, middle.1);
    shapes.push(Shape::Text {
        at,
        text: label(&figure.y, 42),
        size: LABEL,
        anchor: Anchor::Middle,
        angle: 90.0,
    });
}

/// The stretches of a series between gaps.
fn stretches<'a>(series: &'a Series, layout: &'a Layout) -> impl Iterator<Item = &'a [Point]> {
    let drawn = |point: &Point| layout.place(point.x, point.y).is_some();
    series.points.split(move |point| !drawn(point)).filter(|stretch| !stretch.is_empty())
}

fn band(shapes: &mut Vec<Shape>, series: &Series, look: &Look, layout: &Layout) {
    for stretch in stretches(series, layout).filter(|stretch| stretch.iter().any(|point| point.error() > 0.0))
    {
        let edge = |side: f64| -> Vec<Place> {
            let at =
                |point: &Point| Some((layout.across(point.x)?, layout.up(point.y + side * point.error())?));
            simplify::line(&stretch.iter().filter_map(at).collect::<Vec<_>>(), BAND)
        };
        let outline = edge(1.0).into_iter().chain(edge(-1.0).into_iter().rev()).collect();
        shapes.push(Shape::area(outline, Fill { color: look.color, opacity: 0.16 }));
    }
}

/// Lines that share a place would hide each other's markers, so each series has its own phase.
fn line(shapes: &mut Vec<Shape>, series: &Series, look: &Look, layout: &Layout, phase: f64) {
    let stroke = Stroke { color: look.color, width: look.width, dash: look.dash };
    let sparse = series.points.len() > MARKED;
    let pace = layout.frame.width() / MARKS;
    let mut next = layout.frame.left + pace * (0.15 + 0.85 * phase);
    let mut marks = Vec::new();
    for stretch in stretches(series, layout) {
        let places: Vec<Place> = stretch.iter().filter_map(|point| layout.place(point.x, point.y)).collect();
        for &place in &places {
            if series.style == Style::Guide {
                break;
            }
            if !sparse || place.0 >= next || places.len() == 1 {
                marks.push(place);
                next = place.0 + pace;
            }
        }
        match (places.as_slice(), stretch) {
            // A point alone has neither line nor band.
            ([(x, _)], [point]) => {
                whisker(shapes, layout, (*x, point.y, point.error()), Stroke::solid(look.color, 1.2));
            }
            _ => shapes.push(Shape::line(simplify::line(&places, LINE), stroke)),
        }
    }
    for place in marks {
        marker(shapes, look, place);
    }
}

fn markers(shapes: &mut Vec<Shape>, series: &Series, look: &Look, layout: &Layout) {
    for point in &series.points {
        if let Some(place) = layout.place(point.x, point.y) {
            whisker(shapes, layout, (place.0, point.y, point.error()), Stroke::solid(look.color, 1.2));
            marker(shapes, look, place);
        }
    }
}

/// The dots of a scatter; those that weigh more are larger and stronger. `scatter.js` has the same rule.
fn dots(shapes: &mut Vec<Shape>, series: &Series, look: &Look, layout: &Layout) {
    for (point, dot) in series.points.iter().zip(&series.dots) {
        if let Some(center) = layout.place(point.x, point.y) {
            let fill = Fill { color: look.color, opacity: 0.2 + 0.6 * dot.weight };
            let radius = 2.0 + 3.5 * dot.weight.sqrt();
            shapes.push(Shape::Circle { center, radius, fill: Some(fill), stroke: None });
        }
    }
}

/// One standard error to both sides of a value: (place on the horizontal axis, value, error).
pub(super) fn whisker(
    shapes: &mut Vec<Shape>,
    layout: &Layout,
    (x, y, error): (f64, f64, f64),
    stroke: Stroke,
) {
    const CAP: f64 = 3.0;
    if error <= 0.0 {
        return;
    }
    if let (Some(top), Some(bottom)) = (layout.up(y + error), layout.up(y - error)) {
        let parts = [
            [(x, top), (x, bottom)],
            [(x - CAP, top), (x + CAP, top)],
            [(x - CAP, bottom), (x + CAP, bottom)],
        ];
        // A white rim below: a dark whisker must be seen on a dark bar.
        for stroke in [Stroke::solid(Color::WHITE, stroke.width + 1.6), stroke] {
            shapes.extend(parts.map(|part| Shape::line(part.to_vec(), stroke)));
        }
    }
}

/// The marker of a series.
pub(super) fn marker(shapes: &mut Vec<Shape>, look: &Look, (x, y): Place) {
    const SIZE: f64 = 3.6;
    let around =
        |corners: &[Place]| corners.iter().map(|(dx, dy)| (x + dx * SIZE, y + dy * SIZE)).collect::<Vec<_>>();
    let stroke = Stroke::solid(look.color, 1.4);
    let full = (Some(Fill::solid(look.color)), None);
    let hollow = (Some(Fill::solid(Color::WHITE)), Some(stroke));
    let mut poly = |corners: &[Place], (fill, stroke)| {
        shapes.push(Shape::Poly { points: around(corners), closed: true, fill, stroke });
    };
    const SQUARE: [Place; 4] = [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
    const DIAMOND: [Place; 4] = [(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)];
    const UP: [Place; 3] = [(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)];
    const DOWN: [Place; 3] = [(0.0, 1.25), (1.15, -0.85), (-1.15, -0.85)];
    const RIGHT: [Place; 3] = [(1.25, 0.0), (-0.85, 1.15), (-0.85, -1.15)];
    const LEFT: [Place; 3] = [(-1.25, 0.0), (0.85, 1.15), (0.85, -1.15)];
    match look.marker {
        Marker::Square => poly(&SQUARE, full),
        Marker::Diamond => poly(&DIAMOND, full),
        Marker::Up => poly(&UP, full),
        Marker::Down => poly(&DOWN, full),
        Marker::Right => poly(&RIGHT, full),
        Marker::Left => poly(&LEFT, full),
        Marker::HollowLeft => poly(&LEFT, hollow),
        Marker::HollowRight => poly(&RIGHT, hollow),
        Marker::HollowSquare => poly(&SQUARE, hollow),
        Marker::HollowDiamond => poly(&DIAMOND, hollow),
        Marker::HollowUp => poly(&UP, hollow),
        Marker::HollowDown => poly(&DOWN, hollow),
        Marker::Circle => {
            shapes.push(Shape::Circle { center: (x, y), radius: SIZE, fill: full.0, stroke: full.1 })
        }
        Marker::Ring => {
            shapes.push(Shape::Circle { center: (x, y), radius: SIZE, fill: hollow.0, stroke: hollow.1 })
        }
        Marker::Cross => {
            shapes.push(Shape::line(around(&[(-1.0, -1.0), (1.0, 1.0)]), Stroke { width: 1.7, ..stroke }));
            shapes.push(Shape::line(around(&[(-1.0, 1.0), (1.0, -1.0)]), Stroke { width: 1.7, ..stroke }));
        }
        Marker::Plus => {
            shapes.push(Shape::line(around(&[(-1.2, 0.0), (1.2, 0.0)]), Stroke { width: 1.7, ..stroke }));
            shapes.push(Shape::line(around(&[(0.0, -1.2), (0.0, 1.2)]), Stroke { width: 1.7, ..stroke }));
        }
    }
}
