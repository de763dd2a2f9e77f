//! The numbers of a figure, one row a value, with every digit they have.

use super::{Figure, Scale};
use crate::csv::field;

pub(super) fn table(figure: &Figure) -> String {
    // What the dots of a scatter are stands in two more columns.
    let scatter = figure.series.iter().any(|series| !series.dots.is_empty());
    let mut out = format!("series,x,y,{}{}\n", figure.error, if scatter { ",name,weight" } else { "" });
    for series in &figure.series {
        for (at, point) in series.points.iter().enumerate() {
            let x = match &figure.x.scale {
                Scale::Categories(names) => {
                    names.get(point.x as usize).map_or_else(|| number(point.x), |name| field(name))
                }
                Scale::Linear | Scale::Log => number(point.x),
            };
            out.push_str(&format!(
                "{},{x},{},{}{}\n",
                field(&series.name),
                number(point.y),
                number(point.stderr),
                match series.dots.get(at) {
                    Some(dot) => format!(",{},{}", field(&dot.name), number(dot.weight)),
                    None if scatter => ",,".to_owned(),
                    None => String::new(),
                }
            ));
        }
    }
    out
}

/// The shortest text that reads back as the same number; empty for what is not a number.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
