//! The embedded font: how wide a text is, and its outlines.
//!
//! Arimo (SIL Open Font License, `font/OFL.txt`) has the widths of Arial and Helvetica, so a
//! figure laid out with it fits whichever of them shows the SVG. The file is a subset: Latin,
//! Greek and a few signs. Other letters are boxes in a PNG; an SVG leaves them to its viewer.

use super::scene::Place;
use ttf_parser::{Face, OutlineBuilder};

const FILE: &[u8] = include_bytes!("font/Arimo-Regular-subset.ttf");

/// What an SVG asks for, best first.
pub(super) const FAMILY: &str = "Helvetica, Arial, Liberation Sans, Arimo, sans-serif";

/// The embedded font.
pub(super) struct Font {
    face: Face<'static>,
}

impl Font {
    pub(super) fn new() -> Self {
        Self { face: Face::parse(FILE, 0).expect("the embedded font is a font") }
    }

    /// How wide a text is at a size in pixels.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        text.chars().map(|letter| self.advance(letter, size)).sum()
    }

    fn advance(&self, letter: char, size: f64) -> f64 {
        let glyph = self.face.glyph_index(letter).unwrap_or_default();
        let units = self.face.glyph_hor_advance(glyph).unwrap_or(self.face.units_per_em() / 2);
        f64::from(units) * self.scale(size)
    }

    fn scale(&self, size: f64) -> f64 {
        size / f64::from(self.face.units_per_em())
    }

    /// Draws a text that starts at the origin, on the line y = 0, with y growing downwards.
    pub(super) fn outline(&self, text: &str, size: f64, pen: &mut dyn Pen) {
        let mut x = 0.0;
        for letter in text.chars() {
            let glyph = self.face.glyph_index(letter).unwrap_or_default();
            let mut placed = Placed { pen, x, scale: self.scale(size) };
            // A letter without an outline, such as a space, only moves on.
            let _ = self.face.outline_glyph(glyph, &mut placed);
            x += self.advance(letter, size);
        }
    }
}

/// Whoever draws outlines.
pub(super) trait Pen {
    fn move_to(&mut self, to: Place);
    fn line_to(&mut self, to: Place);
    fn quad_to(&mut self, control: Place, to: Place);
    fn cubic_to(&mut self, first: Place, second: Place, to: Place);
    fn close(&mut self);
}

/// A glyph at its place on the line.
struct Placed<'a> {
    pen: &'a mut dyn Pen,
    x: f64,
    scale: f64,
}

impl Placed<'_> {
    fn at(&self, x: f32, y: f32) -> Place {
        (self.x + f64::from(x) * self.scale, -f64::from(y) * self.scale)
    }
}

impl OutlineBuilder for Placed<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.pen.move_to(self.at(x, y));
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.pen.line_to(self.at(x, y));
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.pen.quad_to(self.at(x1, y1), self.at(x, y));
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.pen.cubic_to(self.at(x1, y1), self.at(x2, y2), self.at(x, y));
    }
    fn close(&mut self) {
        self.pen.close();
    }
}

/// A text cut to a number of letters, with a sign that it was cut.
pub(super) fn shortened(text: &str, letters: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(letters) {
        Some((at, _)) => format!("{}…", &clean[..at]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_arial() {
        let font = Font::new();
        // 1139 of 2048 units a digit, as Arial has had it since 1992.
        assert!((font.width("0000", 2048.0) - 4.0 * 1139.0).abs() < 1e-9);
    }

    #[test]
    fn the_signs_we_use_are_in_the_subset() {
        let font = Font::new();
        for sign in "−×⁰¹²³⁴⁵⁶⁷⁸⁹⁻±µδρσξ≥≤…·|".chars() {
            assert!(font.face.glyph_index(sign).is_some(), "{sign}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(shortened("ééé", 2), "éé…");
        assert_eq!(shortened("a\nb", 9), "a b");
    }
}
