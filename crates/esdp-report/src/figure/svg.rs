//! A drawing as an SVG document: small, editable, text as text.

use super::font::{FAMILY, Font};
use super::scene::{Anchor, Color, Fill, Place, Scene, Shape, Stroke};
use crate::report::escape;
use std::fmt::Write;

/// The document. Title and description are for those who cannot see it.
pub(super) fn document(scene: &Scene, title: &str, description: &str) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILY}\" fill=\"none\" \
         stroke-linejoin=\"round\">\n<title>{}</title>\n<desc>{}</desc>\n<rect width=\"100%\" \
         height=\"100%\" \
         fill=\"{}\"/>\n",
        escape(title),
        escape(description),
        Color::WHITE.hex(),
    );
    let font = Font::new();
    for shape in &scene.shapes {
        write_shape(&mut out, shape, &font);
    }
    out.push_str("</svg>\n");
    out
}

fn write_shape(out: &mut String, shape: &Shape, font: &Font) {
    // Writing into a string cannot fail.
    let _ = match shape {
        Shape::Poly { points, closed, fill, stroke } => {
            writeln!(out, "<path d=\"{}\"{}{}/>", path(points, *closed), filled(*fill), stroked(*stroke))
        }
        Shape::Circle { center: (x, y), radius, fill, stroke } => writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}/>",
            number(*x),
            number(*y),
            number(*radius),
            filled(*fill),
            stroked(*stroke)
        ),
        Shape::Text { at: (x, y), text, size, anchor, angle } => {
            let (x, y) = (number(*x), number(*y));
            let turn = if *angle == 0.0 {
                String::new()
            } else {
                format!(" transform=\"rotate({} {x} {y})\"", -angle)
            };
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let ink = Color::INK.hex();
            // Where another font stands in, its letters are as wide together as the layout reckons with.
            let width = font.width(text, *size);
            let width = if text.chars().count() < 2 {
                String::new()
            } else {
                format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", coarse(width))
            };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{ink}\"{anchor}{width}{turn}>{}</text>",
                number(*size),
                escape(text)
            )
        }
    };
}

fn path(points: &[Place], closed: bool) -> String {
    let mut out = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let before = match at {
            0 => "M",
            1 => "L",
            _ => " ",
        };
        let _ = write!(out, "{before}{} {}", coarse(*x), coarse(*y));
    }
    if closed {
        out.push('Z');
    }
    out
}

fn filled(fill: Option<Fill>) -> String {
    match fill {
        None => String::new(),
        Some(Fill { color, opacity }) if opacity >= 1.0 => format!(" fill=\"{}\"", color.hex()),
        Some(Fill { color, opacity }) => {
            format!(" fill=\"{}\" fill-opacity=\"{}\"", color.hex(), number(opacity))
        }
    }
}

fn stroked(stroke: Option<Stroke>) -> String {
    let Some(Stroke { color, width, dash }) = stroke else {
        return String::new();
    };
    let mut out = format!(" stroke=\"{}\" stroke-width=\"{}\"", color.hex(), number(width));
    if !dash.is_empty() {
        let dash: Vec<String> = dash.iter().map(|&length| number(length)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
    out
}

/// Long lines make the size of a file, and a tenth of a pixel is what the eye can see.
fn coarse(value: f64) -> String {
    number((value * 10.0).round() / 10.0)
}

fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
