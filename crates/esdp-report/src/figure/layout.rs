//! Where the parts of a figure are: as much room for labels as they need, the rest for the frame.

use super::draw::{LABEL, TEXT};
use super::font::{Font, shortened};
use super::legend::Legend;
use super::scene::{Place, Rect};
use super::span::{Span, Tick};
use super::{Figure, Scale, Style};

/// Width of every figure, and height of its frame: at a paper's column width (3.5 inches) text
/// is still above six points.
const WIDTH: f64 = 600.0;
const FRAME_HEIGHT: f64 = 300.0;
const TOP: f64 = 14.0;

/// How names below the horizontal axis are turned when they do not fit side by side.
const SLANT: f64 = 35.0;

/// The places of the parts.
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) frame: Rect,
    pub(super) x: Span,
    pub(super) y: Span,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    /// By how much the labels below the horizontal axis are turned.
    pub(super) x_angle: f64,
    /// Baselines of the axis labels: the height of the lower, the distance of the other.
    pub(super) x_label: f64,
    pub(super) y_label: f64,
    pub(super) legend: Legend,
    pub(super) legend_top: f64,
}

impl Layout {
    pub(super) fn of(figure: &Figure, font: &Font) -> Self {
        let (x, y) = (x_span(figure), y_span(figure));
        let y_ticks = y.ticks(6.0);
        let widest = y_ticks.iter().map(|tick| font.width(&tick.label, TEXT)).fold(0.0, f64::max);
        let y_label = 4.0 + LABEL;
        let left = y_label + 9.0 + widest + 8.0;
        let legend = Legend::of(figure, font, FRAME_HEIGHT);
        let mut x_ticks = x.ticks(6.0);
        for tick in &mut x_ticks {
            tick.label = shortened(&tick.label, 24);
        }
        // The last number may stand at the very end of its axis.
        let last = x_ticks.last().filter(|_| !x.named()).map_or(0.0, |tick| font.width(&tick.label, TEXT));
        let right = WIDTH - legend.right().max(14.0).max(0.5 * last + 2.0);
        let frame = Rect { left, top: TOP, right, bottom: TOP + FRAME_HEIGHT };

        let widest = x_ticks.iter().map(|tick| font.width(&tick.label, TEXT)).fold(0.0, f64::max);
        let crowded = x.named() && (widest + 6.0) * x_ticks.len() as f64 > frame.width();
        let x_angle = if crowded { SLANT } else { 0.0 };
        let labels = if crowded { widest * SLANT.to_radians().sin() + TEXT } else { TEXT + 3.0 };
        let x_label = frame.bottom + 6.0 + labels + 6.0 + LABEL;
        let legend_top = x_label + 4.0;
        let height = legend_top + legend.below(WIDTH - 20.0) + 6.0;
        Self {
            width: WIDTH,
            height,
            frame,
            x,
            y,
            x_ticks,
            y_ticks,
            x_angle,
            x_label,
            y_label,
            legend,
            legend_top,
        }
    }

    /// The place of a point, if it can be drawn.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<Place> {
        if !self.x.shows(x) || !self.y.shows(y) {
            return None;
        }
        Some((self.across(x)?, self.up(y)?))
    }

    pub(super) fn across(&self, x: f64) -> Option<f64> {
        self.x.at(x).map(|share| self.frame.left + share * self.frame.width())
    }

    pub(super) fn up(&self, y: f64) -> Option<f64> {
        self.y.at(y).map(|share| self.frame.bottom - share * self.frame.height())
    }
}

fn x_span(figure: &Figure) -> Span {
    let points = || figure.series.iter().flat_map(|series| &series.points);
    // Bars, and lines of few points with markers, need room at the ends; long lines do not.
    let mut xs: Vec<f64> = points().map(|point| point.x).filter(|x| x.is_finite()).collect();
    xs.sort_unstable_by(f64::total_cmp);
    xs.dedup();
    let bars = figure.series.iter().any(|series| series.style == Style::Bars);
    let margin = match xs.len() {
        0 | 1 => 0.0,
        few if bars => 0.5 / (few - 1) as f64,
        few if few <= 40 => 0.03,
        _ => 0.0,
    };
    Span::of(&figure.x, xs, margin)
}

fn y_span(figure: &Figure) -> Span {
    let mut axis = figure.y.clone();
    if figure.series.iter().any(|series| series.style == Style::Bars) {
        axis.include.push(0.0);
    }
    // A dot of a scatter has no whisker. On a logarithmic axis the lower end of a band may come near to zero,
    // which would leave the values themselves no room.
    let log = figure.y.scale == Scale::Log;
    let reach = |series: &super::Series| {
        let error = |point: &super::Point| if series.style == Style::Scatter { 0.0 } else { point.error() };
        let low = |point: &super::Point| {
            let low = point.y - error(point);
            if log { low.max(point.y / 3.0) } else { low }
        };
        let ends = |point: &super::Point| [low(point), point.y, point.y + error(point)];
        series.points.iter().flat_map(ends).collect::<Vec<_>>()
    };
    Span::of(&axis, figure.series.iter().flat_map(reach), 0.05)
}
