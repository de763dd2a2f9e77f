//! Figures: one description, drawn four ways.
//!
//! A [`Figure`] says what is to be seen: axes, series, one standard error beside each value. The
//! same value becomes a static SVG and PNG for a paper, a CSV of the numbers, and the
//! interactive figure of a [`Report`](crate::report::Report), so they cannot disagree.
//!
//! | file | subject |
//! |---|---|
//! | `palette` | the colour, dash and marker of a series, the same in every figure |
//! | `span`, `ticks` | the range of an axis, where its ticks are and how numbers read |
//! | `simplify` | fewer points where the eye sees no difference |
//! | `layout`, `legend`, `draw`, `bars` | the figure as a list of shapes (`scene`) |
//! | `svg`, `png`, `font` | the shapes as a file |
//! | `csv`, `page`, `words` | the numbers, the interactive figure, the description in words |
//!
//! ```
//! use esdp_report::figure::{Axis, Figure, Series};
//!
//! let average = Axis::new("average AOU").unit("per slot");
//! let figure = Figure::new("aou", "Average AOU", Axis::new("slot"), average)
//!     .caption("Mean of 10 seeds; bands show one standard error.")
//!     .with(Series::line("esdp").point(1.0, 0.5, 0.1).point(2.0, 0.7, 0.1));
//! assert!(figure.svg().contains("average AOU (per slot)"));
//! assert_eq!(figure.csv(), "series,x,y,stderr\nesdp,1,0.5,0.1\nesdp,2,0.7,0.1\n");
//! ```

mod bars;
mod csv;
mod draw;
mod font;
mod layout;
mod legend;
mod page;
mod palette;
mod png;
mod scene;
mod simplify;
mod span;
mod svg;
#[cfg(test)]
mod tests;
pub mod ticks;
mod words;

pub use png::PngError;

/// What a figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Short name: of its files, and of its place in a report.
    pub id: String,
    /// Heading in a report. The static files leave it out, as papers do.
    pub title: String,
    /// What a reader must know to read it: a sentence or two.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in the order of the legend. The first lies on top.
    pub series: Vec<Series>,
    /// What is drawn to both sides of a value, as the CSV calls its column: `stderr`, one standard error, by
    /// default.
    pub error: &'static str,
}

/// One axis of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// In which unit; empty where there is none.
    pub unit: String,
    /// How values become places.
    pub scale: Scale,
    /// Values the axis must reach, whatever the data.
    pub include: Vec<f64>,
    /// Whether the reader of a page may switch it between linear and logarithmic.
    pub or_log: bool,
}

/// How values become places on an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scale {
    /// Equal differences, equal distances.
    #[default]
    Linear,
    /// Equal ratios, equal distances. What is not positive is not drawn.
    Log,
    /// Names instead of numbers: the values 0, 1, ... stand at the first name, the second, ...
    Categories(Vec<String>),
}

/// One line, set of bars or set of markers.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend; also decides its colour, so a policy looks the same everywhere.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Its values, in ascending order of `x` for lines.
    pub points: Vec<Point>,
    /// The series in whose colour a guide is drawn; grey if there is none.
    pub like: Option<String>,
    /// For a scatter, what each value is and its weight from 0 to 1: how much there is to see of its dot.
    pub dots: Vec<Dot>,
}

/// A value of a scatter.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// What it is, for whoever points at it.
    pub name: String,
    /// How much it weighs, from 0 to 1.
    pub weight: f64,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A line, with a band of one standard error to both sides.
    #[default]
    Line,
    /// Bars from zero, with whiskers of one standard error.
    Bars,
    /// Markers alone, with whiskers of one standard error.
    Markers,
    /// One dot per value, anywhere in the frame, the stronger the more it weighs.
    Scatter,
    /// A thin grey line to compare the others with.
    Guide,
}

/// One value. A `y` that is not a number leaves a gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where on the horizontal axis.
    pub x: f64,
    /// The value, commonly a mean over seeds.
    pub y: f64,
    /// Its standard error; 0 where there is none.
    pub stderr: f64,
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>) -> Self {
        let (unit, scale, include) = (String::new(), Scale::Linear, Vec::new());
        Self { label: label.into(), unit, scale, include, or_log: false }
    }

    /// An axis with names in place of numbers.
    pub fn categories<S: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = S>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { scale: Scale::Categories(names), ..Self::new(label) }
    }

    /// Names the unit.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Self {
        Self { unit: unit.into(), ..self }
    }

    /// Makes the axis logarithmic.
    #[must_use]
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }

    /// Lets the reader of a page switch the axis to a logarithmic one and back.
    #[must_use]
    pub fn or_log(self) -> Self {
        Self { or_log: true, ..self }
    }

    /// Makes the axis reach a value, such as 0.
    #[must_use]
    pub fn including(mut self, value: f64) -> Self {
        self.include.push(value);
        self
    }

    /// The label with its unit.
    pub(crate) fn full_label(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} ({})", self.label, self.unit) }
    }
}

impl Series {
    fn new(name: impl Into<String>, style: Style) -> Self {
        Self { name: name.into(), style, points: Vec::new(), like: None, dots: Vec::new() }
    }

    /// An empty line.
    pub fn line(name: impl Into<String>) -> Self {
        Self::new(name, Style::Line)
    }

    /// An empty set of bars.
    pub fn bars(name: impl Into<String>) -> Self {
        Self::new(name, Style::Bars)
    }

    /// An empty set of markers.
    pub fn markers(name: impl Into<String>) -> Self {
        Self::new(name, Style::Markers)
    }

    /// An empty line to compare others with.
    pub fn guide(name: impl Into<String>) -> Self {
        Self::new(name, Style::Guide)
    }

    /// An empty scatter.
    pub fn scatter(name: impl Into<String>) -> Self {
        Self::new(name, Style::Scatter)
    }

    /// Draws a guide in the colour of another series of the figure, such as the line fitted to it.
    #[must_use]
    pub fn like(self, series: impl Into<String>) -> Self {
        Self { like: Some(series.into()), ..self }
    }

    /// Adds a value of a scatter: its place and standard error, what it is, its weight from 0 to 1.
    #[must_use]
    pub fn dot(mut self, (x, y, stderr): (f64, f64, f64), name: impl Into<String>, weight: f64) -> Self {
        self.points.push(Point { x, y, stderr });
        self.dots.push(Dot { name: name.into(), weight: weight.clamp(0.0, 1.0) });
        self
    }

    /// Adds a value.
    #[must_use]
    pub fn point(mut self, x: f64, y: f64, stderr: f64) -> Self {
        self.points.push(Point { x, y, stderr });
        self
    }

    /// Adds values as (x, y, standard error).
    #[must_use]
    pub fn points(mut self, points: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        self.points.extend(points.into_iter().map(|(x, y, stderr)| Point { x, y, stderr }));
        self
    }
}

impl Point {
    /// Half the width of the band: an error that is not a positive number counts as none.
    fn error(&self) -> f64 {
        if self.stderr.is_finite() && self.stderr > 0.0 { self.stderr } else { 0.0 }
    }
}

impl Figure {
    /// A figure without series.
    pub fn new(id: impl Into<String>, title: impl Into<String>, x: Axis, y: Axis) -> Self {
        let (id, title, caption) = (id.into(), title.into(), String::new());
        Self { id, title, caption, x, y, series: Vec::new(), error: "stderr" }
    }

    /// Sets the caption.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// Says what is drawn to both sides of a value, if it is not one standard error.
    #[must_use]
    pub fn error(self, error: &'static str) -> Self {
        Self { error, ..self }
    }

    /// Adds a series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The static figure as an SVG document.
    pub fn svg(&self) -> String {
        svg::document(&draw::scene(self), &self.title, &self.description())
    }

    /// The static figure as a PNG, at twice the resolution of a plain screen.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png::encode(&draw::scene(self))
    }

    /// The numbers, one row a value: `series,x,y,stderr`.
    pub fn csv(&self) -> String {
        csv::table(self)
    }

    /// What the figure shows, in words: for those who cannot see it.
    pub fn description(&self) -> String {
        words::describe(self)
    }

    /// The figure for the script of a report.
    pub(crate) fn page_data(&self) -> serde_json::Value {
        page::data(self)
    }

    /// The id as a file name: letters, digits, `-` and `_`.
    pub fn file_stem(&self) -> String {
        let stem: String = self
            .id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
            .take(80)
            .collect();
        if stem.is_empty() { "figure".to_owned() } else { stem }
    }

    /// The static files, `ID.svg`, `ID.png` and `ID.csv`, with their bytes.
    pub fn files(&self) -> Result<[(String, Vec<u8>); 3], PngError> {
        let name = |extension: &str| format!("{}.{extension}", self.file_stem());
        let (svg, png, csv) = (self.svg().into_bytes(), self.png()?, self.csv().into_bytes());
        Ok([(name("svg"), svg), (name("png"), png), (name("csv"), csv)])
    }
}
