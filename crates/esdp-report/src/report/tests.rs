//! The page as text; `tests/report.rs` looks at it in a browser.

use super::{Cell, Column, Report, Section, Table, escape};
use crate::figure::{Axis, Figure, Series};

const HOSTILE: &str = "</script><script>alert('x')</script>&\"";

fn figure() -> Figure {
    Figure::new("f", HOSTILE, Axis::new(HOSTILE), Axis::new("y"))
        .caption(HOSTILE)
        .with(Series::line(HOSTILE).point(1.0, 2.0, 0.1).point(2.0, f64::NAN, 0.0))
}

#[test]
fn everything_is_escaped() {
    let mut table = Table::new(HOSTILE, vec![Column::text(HOSTILE), Column::number(HOSTILE).highest()]);
    table.row(vec![Cell::text(HOSTILE), Cell::mean(HOSTILE, HOSTILE, 1.0)]);
    table.row(vec![Cell::good(HOSTILE), Cell::bad(HOSTILE)]);
    let section = Section::new(HOSTILE).text(HOSTILE).figure(figure()).table(table).code(HOSTILE, HOSTILE);
    let page = Report::new(HOSTILE, HOSTILE).meta(HOSTILE, HOSTILE).section(section).render();
    assert!(!page.contains("<script>alert"));
    assert_eq!(page.matches("<script").count(), 3, "the numbers of a figure, uPlot, and ours");
    assert_eq!(page.matches("</script>").count(), 3);
}

#[test]
fn it_asks_for_nothing_from_outside() {
    let page = Report::new("t", "").section(Section::new("s").figure(figure())).render();
    for reference in ["src=", "@import", "url(", "<link rel=\"stylesheet\""] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("The MIT License"), "the library's licence goes with it");
}

#[test]
fn a_report_without_figures_carries_no_script() {
    let page = Report::new("t", "s").section(Section::new("h").text("a\n\nb")).render();
    assert!(page.contains("<p>a</p>\n<p>b</p>") && !page.contains("<script"));
    assert!(page.len() < 12_000, "{} bytes", page.len());
}

#[test]
fn the_best_of_each_column_is_marked_and_the_oracle_is_not() {
    let columns = vec![Column::text("p"), Column::number("high").highest(), Column::number("low").lowest()];
    let mut table = Table::new("c", columns);
    table.row(vec![Cell::text("a"), Cell::number("1", 1.0), Cell::number("1", 1.0)]);
    table.row(vec![Cell::text("b"), Cell::number("2", 2.0), Cell::number("2", 2.0)]);
    table.row(vec![Cell::text("bad"), Cell::number("nan", f64::NAN), Cell::number("nan", f64::NAN)]);
    table.row(vec![
        Cell::text("oracle"),
        Cell::number("3", 3.0).unranked(),
        Cell::number("0", 0.0).unranked(),
    ]);
    let page = Report::new("t", "").section(Section::new("h").table(table)).render();
    let best: Vec<&str> = page.lines().filter(|line| line.contains("(best)")).collect();
    assert_eq!(best.len(), 2);
    assert!(
        best[0].contains("<td class=\"number best\">1<span")
            && best[1].contains("<td class=\"number best\">2<span")
    );
}

#[test]
fn control_characters_become_spaces() {
    assert_eq!(escape("a\u{0}b\u{1b}c\nd"), "a b c\nd");
}
