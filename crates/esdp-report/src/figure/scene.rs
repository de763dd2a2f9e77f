//! A drawing as a list of shapes: what the SVG and the PNG have in common.
//!
//! Coordinates are in pixels of a plain screen, from the top left corner.

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub(super) u8, pub(super) u8, pub(super) u8);

impl Color {
    pub(super) const WHITE: Self = Self(255, 255, 255);
    /// Text and axes: softer than black on white, and as readable.
    pub(super) const INK: Self = Self(0x22, 0x22, 0x22);
    pub(super) const GRID: Self = Self(0xe3, 0xe3, 0xe3);

    pub(super) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// A place in the drawing.
pub(super) type Place = (f64, f64);

/// How an area is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fill {
    pub(super) color: Color,
    pub(super) opacity: f64,
}

impl Fill {
    pub(super) fn solid(color: Color) -> Self {
        Self { color, opacity: 1.0 }
    }
}

/// How a line is drawn. An empty dash is a full line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: Color,
    pub(super) width: f64,
    pub(super) dash: &'static [f64],
}

impl Stroke {
    pub(super) fn solid(color: Color, width: f64) -> Self {
        Self { color, width, dash: &[] }
    }
}

/// Which end of a text its place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A line through points, or the area they enclose.
    Poly { points: Vec<Place>, closed: bool, fill: Option<Fill>, stroke: Option<Stroke> },
    /// A disc or ring.
    Circle { center: Place, radius: f64, fill: Option<Fill>, stroke: Option<Stroke> },
    /// A line of text; the angle turns it counter-clockwise about its place, in degrees.
    Text { at: Place, text: String, size: f64, anchor: Anchor, angle: f64 },
}

impl Shape {
    pub(super) fn line(points: Vec<Place>, stroke: Stroke) -> Self {
        Self::Poly { points, closed: false, fill: None, stroke: Some(stroke) }
    }

    pub(super) fn area(points: Vec<Place>, fill: Fill) -> Self {
        Self::Poly { points, closed: true, fill: Some(fill), stroke: None }
    }

    pub(super) fn rect(frame: Rect, fill: Fill) -> Self {
        let Rect { left, top, right, bottom } = frame;
        Self::area(vec![(left, top), (right, top), (right, bottom), (left, bottom)], fill)
    }

    pub(super) fn text(at: Place, text: impl Into<String>, size: f64, anchor: Anchor) -> Self {
        Self::Text { at, text: text.into(), size, anchor, angle: 0.0 }
    }
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// A drawing: shapes from the bottom to the top, on white.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}
