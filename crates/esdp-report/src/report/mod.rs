//! Reports: one HTML file that needs nothing else, not even a network.
//!
//! | file | subject |
//! |---|---|
//! | `block` | the parts of a section: text, figures, tables, code |
//! | `table` | tables that mark their best values |
//! | `page.css` | how it looks |
//! | `figure.js` | how figures move: the whole of one, from what the files below say |
//! | `ticks.js`, `scales.js` | how numbers read; ranges, axes and zooming |
//! | `marks.js`, `scatter.js` | bars, bands and whiskers; dots |
//! | `values.js`, `legend.js` | the box of values at the cursor; what is hidden |
//! | `table.js` | how tables are sorted |
//! | `uplot/` | the library that draws the figures (MIT, its licence beside it) |
//!
//! The page forbids itself every request (its content security policy), and everything that is
//! not ours, such as the name of a scenario, is escaped.
//!
//! ```
//! use esdp_report::report::{Report, Section};
//!
//! let page = Report::new("esdp run", "the <default> scenario")
//!     .meta("Seeds", "0 to 9")
//!     .section(Section::new("Result").text("All is well."))
//!     .render();
//! assert!(page.contains("the &lt;default&gt; scenario"));
//! ```

mod block;
mod table;
#[cfg(test)]
mod tests;

pub use block::{Block, Section};
pub use table::{Best, Cell, Column, Table};

use std::fmt::Write;

const UPLOT: &str = include_str!("uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("uplot/uPlot.min.css");
const UPLOT_LICENSE: &str = include_str!("uplot/LICENSE");
const CSS: &str = include_str!("page.css");
/// The rules of `figure::ticks`, for the page; public so that a browser can hold the two against each other.
pub const TICKS: &str = include_str!("ticks.js");
/// What makes figures move, one file after the other in one closure; the last one starts it.
const FIGURES: &str = concat!(
    include_str!("scatter.js"),
    include_str!("scales.js"),
    include_str!("marks.js"),
    include_str!("values.js"),
    include_str!("legend.js"),
    include_str!("figure.js"),
);
const SORT: &str = include_str!("table.js");

/// What the page may load: nothing but itself.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src \
                      data:; base-uri 'none'; \
     form-action 'none'";

/// A report: a header and sections.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The heading of the page.
    pub title: String,
    /// A line below it, such as the name of the scenario.
    pub subtitle: String,
    /// Names and values in the header: version, seeds, horizon.
    pub meta: Vec<(String, String)>,
    /// What follows, in this order.
    pub sections: Vec<Section>,
    /// The program that made the page, with its version, for the foot; not said if it is empty.
    pub made_by: String,
}

impl Report {
    /// A report without sections.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Self {
        Self { title: title.into(), subtitle: subtitle.into(), ..Self::default() }
    }

    /// Adds a name and a value to the header.
    #[must_use]
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.meta.push((name.into(), value.into()));
        self
    }

    /// Says which program made the page.
    #[must_use]
    pub fn made_by(mut self, program: impl Into<String>) -> Self {
        self.made_by = program.into();
        self
    }

    /// Adds sections, or none.
    #[must_use]
    pub fn sections(self, sections: impl IntoIterator<Item = Section>) -> Self {
        sections.into_iter().fold(self, Self::section)
    }

    /// Adds a section.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The page.
    pub fn render(&self) -> String {
        let mut body = String::new();
        self.header(&mut body);
        body.push_str("<main>\n");
        for (at, section) in self.sections.iter().enumerate() {
            section.render(&mut body, at + 1);
        }
        body.push_str("</main>\n");
        let has_figures = self.sections.iter().any(Section::has_figure);
        // The licence asks to be kept with every copy of the library.
        let script = match has_figures {
            true => format!(
                "<script>/*!\n{UPLOT_LICENSE}\n*/\n{UPLOT}</script>\n<script>\"use strict\";(() => \
                 {{\n{TICKS}\n{FIGURES}}})();</script>\n"
            ),
            false => String::new(),
        };
        let sort = match self.sections.iter().any(Section::has_table) {
            true => format!("<script>\"use strict\";(() => {{\n{SORT}}})();</script>\n"),
            false => String::new(),
        };
        let made_by = match self.made_by.as_str() {
            "" => String::new(),
            program => format!("Made by {}. ", escape(program)),
        };
        let library_css = if has_figures { UPLOT_CSS } else { "" };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <style>{library_css}\n{CSS}</style>\n</head>\n<body>\n{body}\
             <footer>{}This file is complete: it works offline and loads nothing.</footer>\n\
             {script}{sort}</body>\n</html>\n",
            escape(&self.heading()),
            made_by,
        )
    }

    /// The title of the browser's window.
    fn heading(&self) -> String {
        if self.subtitle.is_empty() {
            self.title.clone()
        } else {
            format!("{}: {}", self.title, self.subtitle)
        }
    }

    fn header(&self, out: &mut String) {
        let _ = write!(out, "<header>\n<h1>{}</h1>\n", escape(&self.title));
        if !self.subtitle.is_empty() {
            let _ = writeln!(out, "<p class=\"subtitle\">{}</p>", escape(&self.subtitle));
        }
        if !self.meta.is_empty() {
            out.push_str("<dl class=\"meta\">\n");
            for (name, value) in &self.meta {
                let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
            }
            out.push_str("</dl>\n");
        }
        // One or two sections need no way through them.
        if self.sections.len() > 2 {
            out.push_str("<nav aria-label=\"Sections\"><ul>\n");
            for (at, section) in self.sections.iter().enumerate() {
                let _ = writeln!(out, "<li><a href=\"#s{}\">{}</a></li>", at + 1, escape(&section.heading));
            }
            out.push_str("</ul></nav>\n");
        }
        out.push_str("</header>\n");
    }
}

/// Text as it must stand in HTML and in SVG, in an element or in a quoted attribute. Control
/// characters, which neither may hold, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
