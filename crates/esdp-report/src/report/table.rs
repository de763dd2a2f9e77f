//! Tables that mark their best values and say what their columns mean; `table.js` sorts them.

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
    /// What it means, for whoever points at the heading; may be empty.
    pub about: String,
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
    /// What tables are sorted by, and what takes part in the contest for the best.
    value: Option<f64>,
    /// Whether it takes part in that contest.
    is_ranked: bool,
    /// Marked as one of the best, whatever the contest says.
    is_best: bool,
    /// How strongly it is coloured, from 0 to 1: a cell of a heat map.
    heat: Option<f64>,
    badge: Option<&'static str>,
}

impl Column {
    /// A column of words.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), about: String::new(), number: false, best: None }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self { number: true, ..Self::text(name) }
    }

    /// Says what it means.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
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
        Self {
            text: text.into(),
            aside: String::new(),
            value: None,
            is_ranked: true,
            is_best: false,
            heat: None,
            badge: None,
        }
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
        Self { is_ranked: false, ..self }
    }

    /// Is marked, or not, by the caller's own rule.
    #[must_use]
    pub fn best(self, is_best: bool) -> Self {
        Self { is_best, ..self }
    }

    /// A cell of a heat map: coloured, from 0 (not at all) to 1.
    #[must_use]
    pub fn heat(self, share: f64) -> Self {
        Self { heat: Some(share.clamp(0.0, 1.0)), ..self }
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

    /// The best value of a column, if it has one. Equal values are all marked; where all are equal, none is.
    fn best(&self, column: usize) -> Option<f64> {
        let ranked = |row: &Vec<Cell>| row.get(column).filter(|cell| cell.is_ranked)?.value;
        let values = self.rows.iter().filter_map(ranked).filter(|value| value.is_finite());
        let (low, high) = (values.clone().min_by(f64::total_cmp)?, values.clone().max_by(f64::total_cmp)?);
        match self.columns.get(column)?.best? {
            _ if low == high && values.count() > 1 => None,
            Best::Highest => Some(high),
            Best::Lowest => Some(low),
        }
    }

    pub(super) fn render(&self, out: &mut String, id: &str) {
        let kind = match () {
            () if self.rows.iter().flatten().any(|cell| cell.heat.is_some()) => "numbers heat",
            () if self.columns.iter().any(|column| column.number) => "numbers",
            () => "words",
        };
        // The caption stands outside what scrolls, and the keyboard must be able to scroll it.
        let _ = writeln!(
            out,
            "<figure class=\"table\">\n<figcaption id=\"{id}\">{}</figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}\">\n\
             <table class=\"{kind}\" aria-labelledby=\"{id}\">\n<thead><tr>",
            escape(&self.caption)
        );
        for column in &self.columns {
            let name = match column.about.as_str() {
                "" => escape(&column.name),
                about => format!("<abbr title=\"{}\">{}</abbr>", escape(about), escape(&column.name)),
            };
            let _ = write!(out, "<th scope=\"col\"{}>{name}</th>", class(column.number, false));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        let best: Vec<Option<f64>> = (0..self.columns.len()).map(|column| self.best(column)).collect();
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                let wins = cell.is_best || cell.is_ranked && cell.value.is_some() && cell.value == best[at];
                let (open, close) = if at == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let class = class(column.number, wins);
                let _ = write!(out, "<{open}{class}{}>{}</{close}>", cell.attributes(), cell.render(wins));
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
    /// The number behind the text, to sort by, and the colour of a heat map.
    fn attributes(&self) -> String {
        let mut out = String::new();
        if let Some(value) = self.value.filter(|value| value.is_finite()) {
            let _ = write!(out, " data-v=\"{value}\"");
        }
        if let Some(share) = self.heat {
            let _ = write!(out, " style=\"--heat: {:.0}%\"", 100.0 * share);
        }
        out
    }

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
