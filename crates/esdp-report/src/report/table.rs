//! Tables that mark their best values.

use super::escape;
use std::fmt::Write;

/// A table with a caption.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, as many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Numbers stand to the right.
    pub number: bool,
    /// Which of its values is marked.
    pub best: Option<Best>,
}

/// Which value of a column is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    /// The largest.
    Highest,
    /// The smallest.
    Lowest,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    text: String,
    /// A second text, smaller: the standard error.
    aside: String,
    /// What takes part in the contest for the best.
    value: Option<f64>,
    badge: Option<&'static str>,
}

impl Column {
    /// A column of words.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), number: false, best: None }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), number: true, best: None }
    }

    /// Marks the largest value.
    #[must_use]
    pub fn highest(self) -> Self {
        Self { best: Some(Best::Highest), ..self }
    }

    /// Marks the smallest value.
    #[must_use]
    pub fn lowest(self) -> Self {
        Self { best: Some(Best::Lowest), ..self }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), aside: String::new(), value: None, badge: None }
    }

    /// A number, written as the caller likes it.
    pub fn number(text: impl Into<String>, value: f64) -> Self {
        Self { value: Some(value), ..Self::text(text) }
    }

    /// A number with its standard error, both written as the caller likes them.
    pub fn mean(text: impl Into<String>, error: impl Into<String>, value: f64) -> Self {
        Self { aside: error.into(), ..Self::number(text, value) }
    }

    /// Takes no part in the contest for the best: the oracle's values.
    #[must_use]
    pub fn unranked(self) -> Self {
        Self { value: None, ..self }
    }

    /// A verdict that pleases.
    pub fn good(text: impl Into<String>) -> Self {
        Self { badge: Some("good"), ..Self::text(text) }
    }

    /// A verdict that does not.
    pub fn bad(text: impl Into<String>) -> Self {
        Self { badge: Some("bad"), ..Self::text(text) }
    }

    /// A verdict that is neither.
    pub fn neutral(text: impl Into<String>) -> Self {
        Self { badge: Some("neutral"), ..Self::text(text) }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The best value of a column, if it has one. Equal values are all marked.
    fn best(&self, column: usize) -> Option<f64> {
        let values =
            self.rows.iter().filter_map(|row| row.get(column)?.value).filter(|value| value.is_finite());
        match self.columns.get(column)?.best? {
            Best::Highest => values.max_by(f64::total_cmp),
            Best::Lowest => values.min_by(f64::total_cmp),
        }
    }

    pub(super) fn render(&self, out: &mut String, id: &str) {
        let kind = if self.columns.iter().any(|column| column.number) { "numbers" } else { "words" };
        // The caption stands outside what scrolls, and the keyboard must be able to scroll it.
        let _ = writeln!(
            out,
            "<figure class=\"table\">\n<figcaption id=\"{id}\">{}</figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}\">\n\
             <table class=\"{kind}\" aria-labelledby=\"{id}\">\n<thead><tr>",
            escape(&self.caption)
        );
        for column in &self.columns {
            let _ =
                write!(out, "<th scope=\"col\"{}>{}</th>", class(column.number, false), escape(&column.name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        let best: Vec<Option<f64>> = (0..self.columns.len()).map(|column| self.best(column)).collect();
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                let wins = cell.value.is_some() && cell.value == best[at];
                let (open, close) = if at == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let _ = write!(out, "<{open}{}>{}</{close}>", class(column.number, wins), cell.render(wins));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n</figure>\n");
    }
}

fn class(number: bool, best: bool) -> &'static str {
    match (number, best) {
        (true, true) => " class=\"number best\"",
        (true, false) => " class=\"number\"",
        (false, true) => " class=\"best\"",
        (false, false) => "",
    }
}

impl Cell {
    /// Bold alone says nothing to a screen reader, so the best is also said in words.
    fn render(&self, wins: bool) -> String {
        let mut out = match self.badge {
            Some(kind) => format!("<span class=\"badge {kind}\">{}</span>", escape(&self.text)),
            None => escape(&self.text),
        };
        if !self.aside.is_empty() {
            let _ = write!(out, " <small>± {}</small>", escape(&self.aside));
        }
        if wins {
            out.push_str("<span class=\"unseen\"> (best)</span>");
        }
        out
    }
}
