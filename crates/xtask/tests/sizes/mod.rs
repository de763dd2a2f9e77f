//! One subject a file, and lines that fit beside another file: no source of the workspace is so long that it
//! must have several subjects, and none so wide that it must be moved to be read.

use crate::support::{files, workspace_root};

const MOST_LINES: usize = 450;
const SOURCES: [&str; 6] = ["rs", "js", "css", "html", "py", "sh"];

/// As in `rustfmt.toml`, which breaks code, but neither comments nor texts.
const MOST_COLUMNS: usize = 110;
/// What is written by hand; Markdown has tables, whose rows cannot be broken.
const WRITTEN: [&str; 9] = ["rs", "js", "css", "html", "py", "sh", "toml", "yml", "service"];
/// What cannot be broken, by the end of its path and the start of its line.
const UNBROKEN: [(&str, &str); 3] = [
    // Others' code, as they ship it.
    ("report/uplot/uPlot.iife.min.js", ""),
    ("report/uplot/uPlot.min.css", ""),
    // An address.
    ("dashboard/index.html", "<link rel=\"icon\" href=\"data:image/svg+xml,"),
];

#[test]
fn no_source_is_too_long() {
    let mut seen = 0;
    let mut long = Vec::new();
    for folder in ["crates", "examples"] {
        for (file, text) in files(&workspace_root().join(folder), &SOURCES) {
            seen += 1;
            long.extend(is_long(&text).then(|| format!("{folder}/{}", file.display())));
        }
    }
    assert!(seen > 500, "the sources are not where this test looks for them");
    assert!(long.is_empty(), "more than {MOST_LINES} lines: split by subject:\n{}\n", long.join("\n"));
}

fn is_long(text: &str) -> bool {
    text.lines().count() > MOST_LINES
}

#[test]
fn no_line_is_too_wide() {
    let mut seen = 0;
    let mut wide = Vec::new();
    for folder in ["crates", "deploy", "examples", ".cargo", ".github"] {
        for (file, text) in files(&workspace_root().join(folder), &WRITTEN) {
            seen += 1;
            wide.extend(wide_lines(&format!("{folder}/{}", file.display()), &text));
        }
    }
    for file in ["Cargo.toml", "book.toml", "clippy.toml", "deny.toml", "rustfmt.toml"] {
        let text = std::fs::read_to_string(workspace_root().join(file)).unwrap();
        wide.extend(wide_lines(file, &text));
    }
    assert!(seen > 600, "the sources are not where this test looks for them");
    assert!(wide.is_empty(), "more than {MOST_COLUMNS} columns:\n{}\n", wide.join("\n"));
}

/// The lines that are too wide, as `file:line`.
fn wide_lines(file: &str, text: &str) -> Vec<String> {
    let unbroken =
        |line: &str| UNBROKEN.iter().any(|(end, start)| file.ends_with(end) && line.starts_with(start));
    let lines = text.lines().enumerate();
    let wide = lines.filter(|(_, line)| line.chars().count() > MOST_COLUMNS && !unbroken(line));
    wide.map(|(at, _)| format!("{file}:{}", at + 1)).collect()
}

#[test]
fn lines_are_counted() {
    assert!(!is_long(&"x\n".repeat(MOST_LINES)) && is_long(&"x\n".repeat(MOST_LINES + 1)));
}

#[test]
fn columns_are_counted() {
    // In characters, not in bytes.
    let most = "ü".repeat(MOST_COLUMNS);
    assert_eq!(wide_lines("a.rs", &format!("{most}\n{most}x\n")), ["a.rs:2"]);
    let address = format!("{}{most}", UNBROKEN[2].1);
    assert_eq!(wide_lines("src/dashboard/index.html", &format!("{address}\n{most}x\n")).len(), 1);
    assert_eq!(wide_lines("src/index.html", &address).len(), 1);
}
