//! The legend: always outside the frame, so that it covers nothing.

use super::draw::{self, TEXT};
use super::font::{Font, shortened};
use super::palette::Look;
use super::scene::{Anchor, Fill, Place, Rect, Scene, Shape, Stroke};
use super::{Figure, Scale, Style};

const ROW: f64 = 19.0;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 7.0;
const BETWEEN: f64 = 18.0;
/// Names wider than this make the legend go below the frame.
const WIDEST: f64 = 120.0;
/// A longer legend would tell nobody anything.
const MOST: usize = 40;

/// Where the legend is and how much room it takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Legend {
    pub(super) side: Side,
    names: Vec<String>,
    /// Width of one entry.
    entry: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Nowhere,
    Right,
    Below,
}

impl Legend {
    /// Decides for a side. `height` is that of the frame.
    pub(super) fn of(figure: &Figure, font: &Font, height: f64) -> Self {
        let mut names: Vec<String> =
            figure.series.iter().take(MOST).map(|series| shortened(&series.name, 42)).collect();
        if figure.series.len() > MOST {
            names.pop();
            names.push(format!("and {} more", figure.series.len() - names.len()));
        }
        let widest = names.iter().map(|name| font.width(name, TEXT)).fold(0.0, f64::max);
        let side = if names.iter().all(String::is_empty) || said_by_axis(figure) {
            Side::Nowhere
        } else if widest <= WIDEST && names.len() as f64 * ROW <= height {
            Side::Right
        } else {
            Side::Below
        };
        Self { side, names, entry: SAMPLE + GAP + widest }
    }

    /// Room it needs to the right of the frame.
    pub(super) fn right(&self) -> f64 {
        if self.side == Side::Right { self.entry + BETWEEN + 8.0 } else { 0.0 }
    }

    /// Room it needs below a drawing of some width.
    pub(super) fn below(&self, width: f64) -> f64 {
        if self.side != Side::Below {
            return 0.0;
        }
        self.names.len().div_ceil(self.columns(width)) as f64 * ROW + 10.0
    }

    fn columns(&self, width: f64) -> usize {
        // Even the widest entry must have a place.
        (((width + BETWEEN) / (self.entry + BETWEEN)).floor() as usize).clamp(1, self.names.len().max(1))
    }

    /// Draws the entries. `bottom` is where a legend below may start.
    pub(super) fn draw(&self, scene: &mut Scene, figure: &Figure, looks: &[Look], frame: Rect, bottom: f64) {
        let place = |at: usize| match self.side {
            Side::Right | Side::Nowhere => (frame.right + BETWEEN, frame.top + ROW * (at as f64 + 0.5)),
            Side::Below => {
                let columns = self.columns(scene.width - 20.0);
                let wide = self.entry + BETWEEN;
                let left = (scene.width - columns as f64 * wide + BETWEEN) / 2.0;
                (left + (at % columns) as f64 * wide, bottom + 10.0 + ((at / columns) as f64 + 0.5) * ROW)
            }
        };
        if self.side == Side::Nowhere {
            return;
        }
        let mut shapes = Vec::new();
        for (at, (name, (series, look))) in self.names.iter().zip(figure.series.iter().zip(looks)).enumerate()
        {
            let (x, y) = place(at);
            // The last entry of a legend that was cut is no series.
            if at + 1 < MOST || figure.series.len() <= MOST {
                sample(&mut shapes, series.style, at, look, (x, y));
            }
            shapes.push(Shape::text((x + SAMPLE + GAP, y + TEXT * 0.35), name.clone(), TEXT, Anchor::Start));
        }
        scene.shapes.extend(shapes);
    }
}

fn sample(shapes: &mut Vec<Shape>, style: Style, at: usize, look: &Look, (x, y): Place) {
    match style {
        Style::Line | Style::Guide => {
            let stroke = Stroke { color: look.color, width: look.width, dash: look.dash };
            shapes.push(Shape::line(vec![(x, y), (x + SAMPLE, y)], stroke));
            if style == Style::Line {
                draw::marker(shapes, look, (x + SAMPLE / 2.0, y));
            }
        }
        Style::Markers | Style::Scatter => draw::marker(shapes, look, (x + SAMPLE / 2.0, y)),
        Style::Bars => {
            let patch = Rect { left: x + 6.0, top: y - 6.0, right: x + SAMPLE - 4.0, bottom: y + 6.0 };
            shapes.push(Shape::rect(patch, Fill::solid(look.color)));
            super::bars::hatch(shapes, patch, at);
        }
    }
}

/// Bars that each stand above their own name need no legend.
pub(super) fn said_by_axis(figure: &Figure) -> bool {
    let Scale::Categories(names) = &figure.x.scale else {
        return false;
    };
    let shown = || figure.series.iter().filter(|series| series.style != Style::Guide);
    shown().next().is_some()
        && shown().all(|series| {
            let named =
                |x: f64| names.iter().enumerate().any(|(at, name)| at as f64 == x && *name == series.name);
            series.style != Style::Line && series.points.iter().all(|point| named(point.x))
        })
}
