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
    assert_eq!(page.matches("<script").count(), 4, "the numbers of a figure, uPlot, figures, tables");
    assert_eq!(page.matches("</script>").count(), 4);
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
        best[0].contains("<td class=\"number best\" data-v=\"1\">1<span")
            && best[1].contains("<td class=\"number best\" data-v=\"2\">2<span")
    );
}

#[test]
fn where_all_are_equal_none_is_marked_and_a_caller_may_mark_by_its_own_rule() {
    let mut table = Table::new("c", vec![Column::text("p"), Column::number("x").highest()]);
    table.row(vec![Cell::text("a"), Cell::number("1", 1.0)]);
    table.row(vec![Cell::text("b"), Cell::number("1", 1.0)]);
    let page = |table: &Table| Report::new("t", "").section(Section::new("h").table(table.clone())).render();
    assert!(!page(&table).contains("(best)"));
    table.rows[1][1] = Cell::number("1", 1.0).best(true);
    assert_eq!(page(&table).matches("(best)").count(), 1);
}

#[test]
fn headings_say_what_they_mean_and_cells_may_be_coloured() {
    let columns = vec![Column::text("p"), Column::number("AOU").about("accumulated <overall> utility")];
    let mut table = Table::new("c", columns);
    table.row(vec![Cell::text("a"), Cell::number("1", 1.0).heat(0.25)]);
    let section = Section::new("h").table(table).terms("Words", [("AOU", "a <sum>")]);
    let page = Report::new("t", "").section(section).render();
    assert!(page.contains("<abbr title=\"accumulated &lt;overall&gt; utility\">AOU</abbr>"));
    assert!(page.contains("<td class=\"number\" data-v=\"1\" style=\"--heat: 25%\">1</td>"));
    assert!(page.contains("<summary>Words</summary>") && page.contains("<dt>AOU</dt><dd>a &lt;sum&gt;</dd>"));
}

#[test]
fn control_characters_become_spaces() {
    assert_eq!(escape("a\u{0}b\u{1b}c\nd"), "a b c\nd");
}
