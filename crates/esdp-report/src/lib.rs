//! Figures, tables and reports, for programs that have numbers to show.
//!
//! | module | subject |
//! |---|---|
//! | [`figure`] | one description of a figure, as SVG, PNG, CSV and on the page |
//! | [`report`] | one self-contained HTML file |
//! | [`table`], [`csv`] | plain text tables for terminals; lines of CSV |
//! | [`visible`] | text of unknown origin on a terminal |
//!
//! It writes no files: it returns texts and bytes.

pub mod csv;
pub mod figure;
pub mod report;
pub mod table;
pub mod visible;
