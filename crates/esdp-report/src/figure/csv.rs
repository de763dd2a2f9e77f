//! The numbers of a figure, one row a value, with every digit they have.

use super::{Figure, Scale};
use crate::csv::field;

pub(super) fn table(figure: &Figure) -> String {
    let mut out = "series,x,y,stderr\n".to_owned();
    for series in &figure.series {
        for point in &series.points {
            let x = match &figure.x.scale {
                Scale::Categories(names) => {
                    names.get(point.x as usize).map_or_else(|| number(point.x), |name| field(name))
                }
                Scale::Linear | Scale::Log => number(point.x),
            };
            out.push_str(&format!(
                "{},{x},{},{}\n",
                field(&series.name),
                number(point.y),
                number(point.stderr)
            ));
        }
    }
    out
}

/// The shortest text that reads back as the same number; empty for what is not a number.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
