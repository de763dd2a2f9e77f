//! One subject a file: no source of the workspace is so long that it must have several.

use crate::support::{files, workspace_root};

const MOST_LINES: usize = 400;
const SOURCES: [&str; 6] = ["rs", "js", "css", "html", "py", "sh"];

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
fn lines_are_counted() {
    assert!(!is_long(&"x\n".repeat(MOST_LINES)) && is_long(&"x\n".repeat(MOST_LINES + 1)));
}
