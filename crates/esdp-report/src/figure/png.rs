//! A drawing as a PNG.
//!
//! tiny-skia paints the shapes and our font outlines the letters. A general SVG renderer would
//! read our own SVG back, for six times the build time (decision 0004).

use super::font::{Font, Pen};
use super::scene::{Anchor, Color, Fill, Place, Scene, Shape, Stroke};
use thiserror::Error;
use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};

/// Pixels of the file for one pixel of a plain screen.
const RESOLUTION: f64 = 2.0;

/// Why a figure could not become a PNG. Neither happens for figures of sensible size.
#[derive(Debug, Error)]
pub enum PngError {
    /// Fatal: the drawing is too large for an image.
    #[error("a drawing of {width} by {height} pixels is too large for an image")]
    TooLarge {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
    },
    /// Fatal: the image could not be encoded.
    #[error("the image cannot be encoded: {cause}")]
    Encoding {
        /// What the encoder said.
        cause: String,
    },
}

pub(super) fn encode(scene: &Scene) -> Result<Vec<u8>, PngError> {
    let (width, height) = ((scene.width * RESOLUTION).ceil(), (scene.height * RESOLUTION).ceil());
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(PngError::TooLarge { width, height })?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let font = Font::new();
    for shape in &scene.shapes {
        paint(&mut pixmap, shape, &font);
    }
    pixmap.encode_png().map_err(|error| PngError::Encoding { cause: error.to_string() })
}

fn paint(pixmap: &mut Pixmap, shape: &Shape, font: &Font) {
    let screen = Transform::from_scale(RESOLUTION as f32, RESOLUTION as f32);
    match shape {
        Shape::Poly { points, closed, fill, stroke } => {
            let mut path = PathBuilder::new();
            for (at, &(x, y)) in points.iter().enumerate() {
                let (x, y) = (x as f32, y as f32);
                if at == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
            }
            if *closed {
                path.close();
            }
            fill_and_stroke(pixmap, path.finish(), *fill, *stroke, screen);
        }
        Shape::Circle { center: (x, y), radius, fill, stroke } => {
            let path = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
            fill_and_stroke(pixmap, path, *fill, *stroke, screen);
        }
        Shape::Text { at, text, size, anchor, angle } => {
            let width = font.width(text, *size);
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
            let mut pen = Outline(PathBuilder::new());
            font.outline(text, *size, &mut pen);
            let placed = screen
                .pre_translate(at.0 as f32, at.1 as f32)
                .pre_rotate(-*angle as f32)
                .pre_translate(-before as f32, 0.0);
            fill_and_stroke(pixmap, pen.0.finish(), Some(Fill::solid(Color::INK)), None, placed);
        }
    }
}

/// An empty path has nothing to paint.
fn fill_and_stroke(
    pixmap: &mut Pixmap,
    path: Option<Path>,
    fill: Option<Fill>,
    stroke: Option<Stroke>,
    place: Transform,
) {
    let Some(path) = path else { return };
    if let Some(Fill { color, opacity }) = fill {
        pixmap.fill_path(&path, &paint_of(color, opacity), FillRule::Winding, place, None);
    }
    if let Some(Stroke { color, width, dash }) = stroke {
        let dash = dash.iter().map(|&length| length as f32).collect();
        let style = tiny_skia::Stroke {
            width: width as f32,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(dash, 0.0),
            ..Default::default()
        };
        pixmap.stroke_path(&path, &paint_of(color, 1.0), &style, place, None);
    }
}

fn paint_of(color: Color, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let opacity = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    paint.set_color_rgba8(color.0, color.1, color.2, opacity);
    paint
}

/// Outlines of letters as a path.
struct Outline(PathBuilder);

impl Pen for Outline {
    fn move_to(&mut self, (x, y): Place) {
        self.0.move_to(x as f32, y as f32);
    }
    fn line_to(&mut self, (x, y): Place) {
        self.0.line_to(x as f32, y as f32);
    }
    fn quad_to(&mut self, (x1, y1): Place, (x, y): Place) {
        self.0.quad_to(x1 as f32, y1 as f32, x as f32, y as f32);
    }
    fn cubic_to(&mut self, (x1, y1): Place, (x2, y2): Place, (x, y): Place) {
        self.0.cubic_to(x1 as f32, y1 as f32, x2 as f32, y2 as f32, x as f32, y as f32);
    }
    fn close(&mut self) {
        self.0.close();
    }
}
