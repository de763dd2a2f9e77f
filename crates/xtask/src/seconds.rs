//! How long the steps took, as a table in the last lines, which the run beside (`beside.rs`) hands on.

use std::fmt;

/// The line above the table.
const TITLE: &str = "Seconds:";
/// How a line begins that says what this machine could not check.
const UNCHECKED: &str = "Not checked: ";

/// A step, or a program of its tests, which stands below it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub name: String,
    pub seconds: f64,
}

/// The last lines of a run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Summary {
    pub rows: Vec<Row>,
    pub unchecked: Vec<String>,
}

impl Summary {
    /// Adds a step, and those of its programs that took long enough to be looked at.
    pub(crate) fn step(&mut self, name: &str, seconds: f64, programs: Vec<Row>) {
        self.rows.push(Row { name: name.to_owned(), seconds });
        let long = programs.into_iter().filter(|row| row.seconds >= 1.0);
        self.rows.extend(long.map(|row| Row { name: format!("  {}", row.name), ..row }));
    }

    /// Splits what a run said into what comes before its last lines, and those.
    pub(crate) fn split(said: &str) -> (&str, Self) {
        let Some((before, last)) = said.split_once(&format!("\n{TITLE}\n")) else {
            return (said, Self::default());
        };
        let row = |line: &str| {
            let (name, seconds) = line.strip_prefix("  ")?.rsplit_once(' ')?;
            Some(Row { name: name.trim_end().to_owned(), seconds: seconds.parse().ok()? })
        };
        let unchecked = |line: &str| Some(line.strip_prefix(UNCHECKED)?.strip_suffix('.')?.to_owned());
        let rows = last.lines().filter_map(row).collect();
        (before, Self { rows, unchecked: last.lines().filter_map(unchecked).collect() })
    }

    /// Takes over what another run had in its last lines.
    pub(crate) fn join(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.unchecked.extend(other.unchecked);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{TITLE}")?;
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        for Row { name, seconds } in &self.rows {
            writeln!(f, "  {name:width$} {seconds:8.1}")?;
        }
        for what in &self.unchecked {
            writeln!(f, "{UNCHECKED}{what}.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_are_read_as_they_are_written() {
        let row = |name: &str, seconds| Row { name: name.to_owned(), seconds };
        let mut summary = Summary { rows: Vec::new(), unchecked: vec!["a. b".to_owned()] };
        summary.step("test", 12.3, vec![row("esdp: test solver", 10.0), row("esdp: test alloc", 0.4)]);
        assert_eq!(summary.rows, [row("test", 12.3), row("  esdp: test solver", 10.0)]);
        let text = format!("== test\nok\n{summary}");
        assert_eq!(Summary::split(&text), ("== test\nok\n", summary));
        assert_eq!(Summary::split("error: none"), ("error: none", Summary::default()));
    }
}
