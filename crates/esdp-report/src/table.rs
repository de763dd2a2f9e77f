//! Plain text tables: columns as wide as they must be, numbers to the right.

use crate::visible;

/// What stands in a table where a number does not apply.
pub const NONE: &str = "–";

/// Rows of cells under a header. The first column is aligned to the left.
#[derive(Debug, Default)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with a header and no rows.
    pub fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| visible::line(&cell)).collect());
    }

    /// The table as text.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let wide = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| wide(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let padded =
                    if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
                line.push_str(&padded);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A sentence broken at words into lines of at most this width; a longer word stays whole.
pub fn wrapped(text: &str, width: usize) -> String {
    let (mut out, mut taken) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count();
        if taken > 0 && taken + 1 + length > width {
            out.push('\n');
            taken = 0;
        }
        if taken > 0 {
            out.push(' ');
            taken += 1;
        }
        out.push_str(word);
        taken += length;
    }
    out
}

/// Microseconds in the unit that reads best, in three digits.
pub fn duration(micros: f64) -> String {
    let (value, unit) = match micros {
        us if us < 999.5 => (us, "µs"),
        us if us < 999_500.0 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

/// A share of 1 as a percentage, rounded. What is not quite everything is not printed as 100 %, nor what is
/// not quite nothing as 0 %.
pub fn percent(share: f64) -> String {
    match (share * 1000.0).round() {
        _ if share >= 1.0 => "100 %".to_owned(),
        tenths if tenths >= 1000.0 => "99.9 %".to_owned(),
        tenths if tenths == 0.0 && share > 0.0 => "< 0.1 %".to_owned(),
        tenths => format!("{:.1} %", tenths / 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = TextTable::new(&["size", "p50"]);
        table.row(["32".to_owned(), "1.5 µs".to_owned()]);
        assert_eq!(table.render(), "size     p50\n32    1.5 µs\n");
    }

    #[test]
    fn lines_break_at_words() {
        assert_eq!(wrapped("mean ± standard error", 9), "mean ±\nstandard\nerror");
        assert_eq!(wrapped("extraordinary", 5), "extraordinary");
        assert_eq!(wrapped("", 5), "");
    }

    #[test]
    fn units_and_shares() {
        let shown = [0.5, 9.996, 99.96, 999.7, 31_254.0, 999_700.0, 5.5e6].map(duration);
        assert_eq!(shown, ["0.50 µs", "10.0 µs", "100 µs", "1.00 ms", "31.3 ms", "1.00 s", "5.50 s"]);
        assert_eq!([0.0, 0.0004, 0.0469, 0.99999].map(percent), ["0.0 %", "< 0.1 %", "4.7 %", "99.9 %"]);
        assert_eq!(percent(1.0), "100 %");
    }
}
