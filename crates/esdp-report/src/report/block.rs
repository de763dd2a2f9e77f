//! Sections and their parts.

use super::{Table, escape};
use crate::figure::Figure;
use std::fmt::Write;

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// What follows, in this order.
    pub blocks: Vec<Block>,
}

/// One part of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Paragraphs, with an empty line between them.
    Text(String),
    /// A figure.
    Figure(Box<Figure>),
    /// A table.
    Table(Table),
    /// Figures of one kind, side by side where there is room.
    Figures(Vec<Figure>),
    /// Words and what they mean, folded away below a name.
    Terms {
        /// What they have in common.
        name: String,
        /// Each word with its meaning.
        terms: Vec<(String, String)>,
    },
    /// Something to copy, folded away below its name.
    Code {
        /// What it is.
        name: String,
        /// The text.
        text: String,
    },
}

impl Section {
    /// An empty section.
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), blocks: Vec::new() }
    }

    /// Adds paragraphs, with an empty line between them.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.block(Block::Text(text.into()))
    }

    /// Adds a figure.
    #[must_use]
    pub fn figure(self, figure: Figure) -> Self {
        self.block(Block::Figure(Box::new(figure)))
    }

    /// Adds figures of one kind, side by side where there is room.
    #[must_use]
    pub fn figures(self, figures: Vec<Figure>) -> Self {
        self.block(Block::Figures(figures))
    }

    /// Adds words and what they mean, folded away below a name: those of a table's columns.
    #[must_use]
    pub fn terms<S: Into<String>>(
        self,
        name: impl Into<String>,
        terms: impl IntoIterator<Item = (S, S)>,
    ) -> Self {
        let terms = terms.into_iter().map(|(word, about)| (word.into(), about.into())).collect();
        self.block(Block::Terms { name: name.into(), terms })
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.block(Block::Table(table))
    }

    /// Adds something to copy, folded away below its name.
    #[must_use]
    pub fn code(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.block(Block::Code { name: name.into(), text: text.into() })
    }

    /// Adds any part.
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    pub(super) fn has_figure(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Figure(_) | Block::Figures(_)))
    }

    pub(super) fn has_table(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Table(_)))
    }

    pub(super) fn render(&self, out: &mut String, number: usize) {
        let _ = writeln!(out, "<section id=\"s{number}\">\n<h2>{}</h2>", escape(&self.heading));
        for (at, block) in self.blocks.iter().enumerate() {
            match block {
                Block::Text(text) => paragraphs(out, text),
                Block::Figure(figure) => draw(out, figure, &self.heading, &format!("f{number}-{at}")),
                Block::Figures(figures) => {
                    out.push_str("<div class=\"plots\">\n");
                    for (place, figure) in figures.iter().enumerate() {
                        draw(out, figure, &self.heading, &format!("f{number}-{at}-{place}"));
                    }
                    out.push_str("</div>\n");
                }
                Block::Terms { name, terms } => {
                    let _ =
                        writeln!(out, "<details><summary>{}</summary>\n<dl class=\"terms\">", escape(name));
                    for (word, about) in terms {
                        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(word), escape(about));
                    }
                    out.push_str("</dl>\n</details>\n");
                }
                Block::Table(table) => table.render(out, &format!("t{number}-{at}")),
                Block::Code { name, text } => {
                    let _ = writeln!(
                        out,
                        "<details><summary>{}</summary>\n<div class=\"code\"><pre \
                         tabindex=\"0\"><code>{}</code></pre></div>\n</details>",
                        escape(name),
                        escape(text)
                    );
                }
            }
        }
        out.push_str("</section>\n");
    }
}

fn paragraphs(out: &mut String, text: &str) {
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", escape(paragraph.trim()));
    }
}

/// The figure twice: what paper and browsers without scripts show, and the numbers from which
/// the script draws the one that moves.
fn draw(out: &mut String, figure: &Figure, section: &str, id: &str) {
    // JSON in a script element ends at the first `<`, if it has one.
    let data = figure.page_data().to_string().replace('<', "\\u003c");
    let _ = writeln!(out, "<figure class=\"plot\" id=\"{id}\" aria-labelledby=\"{id}-t\">");
    let hidden = if figure.title == section { " class=\"unseen\"" } else { "" };
    let _ = writeln!(out, "<h3{hidden} id=\"{id}-t\">{}</h3>", escape(&figure.title));
    let _ = writeln!(out, "<div class=\"live\" data-about=\"{}\"></div>", escape(&figure.description()));
    let _ = writeln!(out, "<div class=\"static\">{}</div>", figure.svg());
    if !figure.caption.is_empty() {
        let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(&figure.caption));
    }
    let _ = write!(out, "<script type=\"application/json\">{data}</script>\n</figure>\n");
}
