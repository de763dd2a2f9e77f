//! The report in a real browser: light and dark, wide and narrow.
//!
//! Pictures of it are left in the `tmp` folder of the target directory, to be looked at.

mod browser;

use browser::Browser;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Report, Section, Table};
use std::path::{Path, PathBuf};

const HOSTILE: &str = "</script><img src=x onerror=\"window.hurt=1\">'&\u{0}";

fn lines() -> Figure {
    let slots = || (1..=300).map(|at| f64::from(at) * 10.0);
    let curve = |level: f64, pace: f64| slots().map(move |slot| (slot, level - level * pace / (pace + slot), 0.05));
    Figure::new("aou", "Average AOU over time", Axis::new("slot"), Axis::new("average AOU").unit("per slot"))
        .caption("Mean of 10 seeds; bands show one standard error.")
        .with(Series::line("esdp").points(curve(3.0, 40.0)))
        .with(Series::line("esdp-paper").points(curve(2.5, 200.0)))
        .with(Series::line(HOSTILE).points(curve(2.0, 90.0)))
        .with(Series::line("oracle").points(curve(3.1, 1.0)))
}

fn report() -> Report {
    let bars = Figure::new("bars", "AOU by policy", Axis::categories("policy", ["esdp", "cts"]), Axis::new("AOU"))
        .with(Series::bars("esdp").point(0.0, 3.0, 0.2))
        .with(Series::bars("cts").point(1.0, 2.9, 0.2));
    let overhead = Figure::new("time", "Overhead", Axis::new("channels").log(), Axis::new("time").unit("µs").log())
        .with(Series::line("esdp").points([(10.0, 1.0, 2.0), (100.0, 9.0, 1.0), (1000.0, 80.0, 5.0)]))
        .with(Series::markers("milp").points([(10.0, 90.0, 5.0), (100.0, f64::NAN, 0.0), (500.0, 9e4, 1e3)]));
    let nothing = Figure::new("nothing", "Nothing", Axis::new("x"), Axis::new("y"));
    let columns = vec![Column::text("Policy"), Column::number("AOU").highest(), Column::number("Regret").lowest()];
    let mut table = Table::new("Result after 3,000 slots", columns);
    table.row(vec![Cell::text("esdp"), Cell::mean("9,000", "12", 9000.0), Cell::number("120", 120.0)]);
    table.row(vec![Cell::text(HOSTILE), Cell::mean("8,000", "15", 8000.0), Cell::number("1,120", 1120.0)]);
    Report::new("esdp run", HOSTILE)
        .meta("Version", "0.1.0")
        .meta("Seeds", "0 to 9")
        .section(Section::new("Result").text("Every policy met the same arrivals.").table(table))
        .section(Section::new("Over time").figure(lines()))
        .section(Section::new("More").figure(bars).figure(overhead).figure(nothing))
        .section(Section::new("Scenario").code("Resolved scenario", format!("name = \"{HOSTILE}\"\n")))
}

fn written(directory: &Path) -> PathBuf {
    let file = directory.join("report.html");
    std::fs::write(&file, report().render()).expect("the report can be written");
    file
}

/// The frame of the first figure in the window: left, top, width, height.
fn frame(browser: &mut Browser) -> (f64, f64, f64, f64) {
    let frame = browser.ask(
        "(() => { const over = document.querySelector('.u-over'); over.scrollIntoView({block: 'center', behavior: 'instant'});
           const f = over.getBoundingClientRect(); return [f.left, f.top, f.width, f.height]; })()",
    );
    let number = |at: usize| frame[at].as_f64().expect("a number");
    (number(0), number(1), number(2), number(3))
}

fn tip(browser: &mut Browser) -> String {
    browser.frame();
    let text = "(() => { const tip = document.querySelector('.tip'); return tip.hidden ? '' : tip.textContent; })()";
    browser.ask(text).as_str().expect("a text").to_owned()
}

#[test]
fn it_works_light_and_dark_wide_and_narrow() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path());
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut browser = Browser::start();
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        let name = format!("{}-{width}", if dark { "dark" } else { "light" });
        browser.open(&file, width, dark);
        browser.screenshot(&pictures.join(format!("report-{name}.png")), true);
        looks_right(&mut browser, width, dark);
        hovers_and_zooms(&mut browser, &pictures.join(format!("report-{name}-hover.png")));
        hides_a_series(&mut browser);
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
    }
    answers_to_keys_and_paper(&mut browser);
}

fn looks_right(browser: &mut Browser, width: u32, dark: bool) {
    assert_eq!(browser.ask("document.querySelectorAll('.live canvas').length"), 4);
    assert_eq!(browser.ask("document.documentElement.scrollWidth"), width, "the page is too wide");
    assert_eq!(
        browser.ask("window.hurt === undefined && document.images.length === 0"),
        true,
        "a name was not escaped"
    );
    let ground = browser.ask("getComputedStyle(document.body).backgroundColor");
    assert_eq!(ground == "rgb(18, 21, 27)", dark, "{ground}");
    // The line of `esdp` in the colour of the scheme: the figure follows it too.
    let blue = if dark { "[0x4d, 0xb2, 0xf0]" } else { "[0x00, 0x72, 0xb2]" };
    let seen = format!(
        "(() => {{ const canvas = document.querySelector('.live canvas');
           const {{data}} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
           for (let at = 0; at < data.length; at += 4)
             if ({blue}.every((part, i) => Math.abs(data[at + i] - part) < 3)) return true;
           return false; }})()"
    );
    assert_eq!(browser.ask(&seen), true, "no line in the colour of the scheme");
}

fn hovers_and_zooms(browser: &mut Browser, picture: &Path) {
    let (left, top, width, height) = frame(browser);
    browser.mouse("mouseMoved", left + width * 0.6, top + height * 0.5);
    let values = tip(browser);
    assert!(values.starts_with("slot: 1,") && values.contains("esdp-paper") && values.contains("±"), "{values}");
    browser.screenshot(picture, false);
    let reset = "document.querySelector('.reset').disabled";
    assert_eq!(browser.ask(reset), true);
    browser.drag((left + width * 0.2, top + height * 0.5), (left + width * 0.4, top + height * 0.5));
    assert_eq!(browser.ask(reset), false, "drawing across the figure zooms");
    browser.mouse("mouseMoved", left + width - 3.0, top + height * 0.5);
    let zoomed = tip(browser);
    assert!(
        zoomed.starts_with("slot: 1,1") || zoomed.starts_with("slot: 1,2"),
        "the right end is now near 1,200: {zoomed}"
    );
    browser.ask("document.querySelector('.reset').click()");
    assert_eq!(browser.ask(reset), true);
    browser.mouse("mouseMoved", 2.0, 2.0);
    assert_eq!(tip(browser), "", "the box goes when the mouse does");
}

fn hides_a_series(browser: &mut Browser) {
    let pressed = "document.querySelector('.legend button').getAttribute('aria-pressed')";
    browser.ask("document.querySelector('.legend button').click()");
    assert_eq!(browser.ask(pressed), "false");
    let (left, top, width, height) = frame(browser);
    browser.mouse("mouseMoved", left + width * 0.5, top + height * 0.5);
    let values = tip(browser);
    assert!(values.contains("esdp-paper") && values.contains("oracle"), "{values}");
    assert_eq!(values.matches("esdp").count(), 1, "a hidden series has no value: {values}");
    browser.ask("document.querySelector('.legend button').click()");
    assert_eq!(browser.ask(pressed), "true");
    browser.mouse("mouseMoved", 2.0, 2.0);
}

fn answers_to_keys_and_paper(browser: &mut Browser) {
    browser.ask("document.querySelector('.canvas').focus()");
    browser.key("End");
    assert!(tip(browser).starts_with("slot: 3,000"));
    assert!(browser.ask("document.querySelector('[aria-live]').textContent").as_str().unwrap().contains("oracle"));
    browser.key("+");
    assert_eq!(browser.ask("document.querySelector('.reset').disabled"), false);
    browser.media("print", "light");
    let shown = "[...document.querySelectorAll('.static svg, .live')].map((part) => part.getClientRects().length > 0)";
    assert_eq!(browser.ask(shown), serde_json::json!([false, true, false, true, false, true, false, true]));
}
