//! The report in a real browser: light and dark, wide and narrow.
//!
//! Pictures of it are left in the `tmp` folder of the target directory, to be looked at.

mod browser;

use browser::Browser;
use esdp_report::figure::{Axis, Figure, Series, ticks};
use esdp_report::report::{Cell, Column, Report, Section, TICKS, Table};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const HOSTILE: &str = "</script><img src=x onerror=\"window.hurt=1\">'&\u{0}";

fn lines() -> Figure {
    let slots = || (1..=300).map(|at| f64::from(at) * 10.0);
    let curve =
        |level: f64, pace: f64| slots().map(move |slot| (slot, level - level * pace / (pace + slot), 0.05));
    Figure::new("aou", "Average AOU over time", Axis::new("slot"), Axis::new("average AOU").unit("per slot"))
        .caption("Mean of 10 seeds; bands show one standard error.")
        .with(Series::line("esdp").points(curve(3.0, 40.0)))
        .with(Series::line("esdp-paper").points(curve(2.5, 200.0)))
        .with(Series::line(HOSTILE).points(curve(2.0, 90.0)))
        .with(Series::line("oracle").points(curve(3.1, 1.0)))
}

fn report() -> Report {
    let bars =
        Figure::new("bars", "AOU by policy", Axis::categories("policy", ["esdp", "cts"]), Axis::new("AOU"))
            .with(Series::bars("esdp").point(0.0, 3.0, 0.2))
            .with(Series::bars("cts").point(1.0, 2.9, 0.2));
    let overhead =
        Figure::new("time", "Overhead", Axis::new("channels").log(), Axis::new("time").unit("µs").log())
            .with(Series::line("esdp").points([(10.0, 1.0, 2.0), (100.0, 9.0, 1.0), (1000.0, 80.0, 5.0)]))
            .with(Series::markers("milp").points([
                (10.0, 90.0, 5.0),
                (100.0, f64::NAN, 0.0),
                (500.0, 9e4, 1e3),
            ]));
    let nothing = Figure::new("nothing", "Nothing", Axis::new("x"), Axis::new("y"));
    let columns =
        vec![Column::text("Policy"), Column::number("AOU").highest(), Column::number("Regret").lowest()];
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
        "(() => { const over = document.querySelector('.u-over'); over.scrollIntoView({block: 'center', \
         behavior: 'instant'});
           const f = over.getBoundingClientRect(); return [f.left, f.top, f.width, f.height]; })()",
    );
    let number = |at: usize| frame[at].as_f64().expect("a number");
    (number(0), number(1), number(2), number(3))
}

fn tip(browser: &mut Browser) -> String {
    browser.frame();
    let text =
        "(() => { const tip = document.querySelector('.tip'); return tip.hidden ? '' : tip.textContent; })()";
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
    assert!(
        values.starts_with("slot: 1,") && values.contains("esdp-paper") && values.contains("±"),
        "{values}"
    );
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
    assert!(
        browser.ask("document.querySelector('[aria-live]').textContent").as_str().unwrap().contains("oracle")
    );
    browser.key("+");
    assert_eq!(browser.ask("document.querySelector('.reset').disabled"), false);
    browser.media("print", "light");
    let shown = "[...document.querySelectorAll('.static svg, .live')].map((part) => \
                 part.getClientRects().length > 0)";
    assert_eq!(browser.ask(shown), serde_json::json!([false, true, false, true, false, true, false, true]));
}

/// Two figures with the same policies, a scatter, and a table to sort.
fn linked() -> Report {
    let curve = |level: f64| (1..=50).map(move |at| (f64::from(at), level * f64::from(at), 0.0));
    let figure = |id: &str, y: Axis| {
        Figure::new(id, id, Axis::new("slot"), y)
            .with(Series::line("esdp").points(curve(0.1)))
            .with(Series::line("cts").points(curve(2.0)))
    };
    let scatter = Figure::new("learned", "learned", Axis::new("true"), Axis::new("learned"))
        .with(Series::scatter("esdp").dot((0.2, 0.3, 0.1), "slow", 0.1).dot((0.8, 0.8, 0.0), "fast", 1.0))
        .with(Series::guide("same").point(0.0, 0.0, 0.0).point(0.8, 0.8, 0.0));
    let columns = vec![Column::text("Policy"), Column::number("AOU").about("accumulated overall utility")];
    let mut table = Table::new("Result", columns);
    let none = || Cell::text("–");
    for (name, cell) in [
        ("b", Cell::mean("9.0", "1", 9.0)),
        ("a", none()),
        ("c", Cell::number("1,000", 1000.0)),
        ("d", Cell::number("80 µs", 80.0)),
    ] {
        table.row(vec![Cell::text(name), cell]);
    }
    Report::new("esdp run", "")
        .section(Section::new("Result").table(table))
        .section(Section::new("Over time").figure(figure("first", Axis::new("y"))))
        .section(Section::new("Regret").figure(figure("second", Axis::new("y").or_log())))
        .section(Section::new("Learned").figures(vec![scatter]))
}

#[test]
fn tables_are_sorted_legends_are_linked_and_an_axis_is_switched() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.html");
    std::fs::write(&file, linked().render()).expect("the report can be written");
    let mut browser = Browser::start();
    browser.open(&file, 1000, false);
    let order = "[...document.querySelectorAll('tbody th')].map((cell) => cell.textContent).join('')";
    let sorted = "document.querySelector('thead th.number').getAttribute('aria-sort')";
    assert_eq!(browser.ask(order), "bacd");
    // By the keyboard: the heading is a button. What does not apply stays last; the third press undoes it.
    browser.ask("document.querySelector('th.number .sort').focus()");
    for (expected, way) in
        [("cdba", json!("descending")), ("bdca", json!("ascending")), ("bacd", Value::Null)]
    {
        browser.key("Enter");
        assert_eq!((browser.ask(order), browser.ask(sorted)), (json!(expected), way));
    }
    assert_eq!(browser.ask("document.querySelector('th abbr').title"), "accumulated overall utility");

    // A policy that is hidden in one figure is hidden in all that show others too.
    let pressed = "[...document.querySelectorAll('.legend button')].map((button) => \
                   button.getAttribute('aria-pressed')).join(' ')";
    assert_eq!(browser.ask(pressed), "true true true true true true");
    browser.ask("document.querySelectorAll('.legend button')[2].click()");
    assert_eq!(browser.ask(pressed), "false true false true true true", "a scatter keeps its only policy");
    browser.ask("document.querySelectorAll('.legend button')[0].click()");
    assert_eq!(browser.ask(pressed), "true true true true true true");

    // The switch is where it was asked for, and the smallest value is then far from the ground.
    let switches = "[...document.querySelectorAll('.tools button')].filter((button) => button.textContent \
                    === 'Log axis')";
    assert_eq!(browser.ask(&format!("{switches}.length")), 1);
    browser.ask(&format!("{switches}[0].click()"));
    assert_eq!(browser.ask(&format!("{switches}[0].getAttribute('aria-pressed')")), "true");
    browser.ask(&format!("{switches}[0].click()"));

    // Arrow keys go from dot to dot; the box says what each is.
    browser.ask("document.querySelectorAll('.canvas')[2].focus()");
    browser.key("End");
    let tips =
        "[...document.querySelectorAll('.tip')].map((tip) => tip.hidden ? '' : tip.textContent).join('')";
    browser.frame();
    assert_eq!(browser.ask(tips), "fastlearned0.8true0.8");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    browser.screenshot(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-linked.png"), true);
}

/// The page and the static figures place and write their ticks by two programs with one set of rules.
#[test]
fn ticks_are_the_same_on_the_page_and_in_files() {
    let linear = linear_ranges();
    let log = log_ranges();
    let numbers = numbers();
    let script = format!(
        "(() => {{ {TICKS}
           const linear = {}.map(([low, high, about]) => {{ const ticks = linearTicks(low, high, about);
             return [ticks, tickLabels(ticks)]; }});
           const log = {}.map(([low, high]) => logTicks(low, high, 8));
           const numbers = {}.map((value) => [number(value, 3), number(value, 6)]);
           return {{linear, log, numbers}}; }})()",
        json!(linear),
        json!(log),
        json!(numbers)
    );
    let answer = Browser::start().ask(&script);
    for ((low, high, about), page) in linear.iter().zip(list(&answer["linear"])) {
        let (ticks, step) = ticks::linear(*low, *high, *about);
        same_ticks(&ticks, &page[0], &format!("{low} to {high}, about {about}"));
        assert_eq!(json!(ticks::labels(&ticks, step)), page[1], "labels from {low} to {high}, about {about}");
    }
    for ((low, high), page) in log.iter().zip(list(&answer["log"])) {
        same_ticks(&ticks::log(*low, *high), page, &format!("{low} to {high}, logarithmic"));
    }
    for (value, page) in numbers.iter().zip(list(&answer["numbers"])) {
        assert_eq!(json!([ticks::number(*value, 3), ticks::number(*value, 6)]), *page, "{value}");
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// The same but for the last digits: powers of ten are not rounded alike everywhere.
fn same_ticks(ticks: &[f64], page: &Value, what: &str) {
    let page: Vec<f64> = list(page).iter().map(|tick| tick.as_f64().expect("a number")).collect();
    let close = |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() <= 1e-12 * ours.abs();
    assert!(
        ticks.len() == page.len() && ticks.iter().zip(&page).all(close),
        "{what}: {ticks:?}, the page {page:?}"
    );
}

/// Ranges of every size, sign and width.
fn linear_ranges() -> Vec<(f64, f64, f64)> {
    let mut ranges =
        vec![(0.0, 8000.0, 5.0), (-0.31, 0.29, 5.0), (1e17, 1e17 + 64.0, 5.0), (-1.0, 1e-9, 7.0)];
    for power in -14..15 {
        for (at, factor) in [1.0, 1.7, 2.0, 3.3, 5.0, 9.99].into_iter().enumerate() {
            let size = factor * 10f64.powi(power);
            let about = 3.0 + at as f64;
            ranges.extend([(0.0, size, about), (-size, size * 0.7, about), (size, size * 1.003, about)]);
        }
    }
    ranges
}

fn log_ranges() -> Vec<(f64, f64)> {
    let low = (-9..9).flat_map(|power| [1.0, 1.5, 3.0, 7.0].map(|factor| factor * 10f64.powi(power)));
    low.flat_map(|low| [1.3, 3.0, 12.0, 99.0, 400.0, 1e5, 3e9, 1e13].map(|ratio| (low, low * ratio)))
        .collect()
}

/// Numbers of every size and sign, and such as lie between two roundings.
fn numbers() -> Vec<f64> {
    let mut numbers =
        vec![0.0, 0.125, 0.375, 2.5, 0.5, 1.125e13, -1.125e13, 12.345, 1_000.5, 9_999.5, 999.95];
    for power in -9..17 {
        for factor in [1.0, 1.25, 1.5, 2.675, 4.5, 5.555, 9.995, 9.999] {
            numbers.extend([factor * 10f64.powi(power), -factor * 10f64.powi(power)]);
        }
    }
    numbers
}
