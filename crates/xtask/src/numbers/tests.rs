//! What the README and the documents say in numbers is in `docs/numbers.md`, and the README is short.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// How long a first page may be.
const MOST_WORDS: usize = 1000;
const MOST_NUMBERS: usize = 90;
const MOST_LINES: usize = 80;

fn read(path: &str) -> String {
    fs::read_to_string(workspace_root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A text without what is between two marks.
fn without(text: &str, start: &str, end: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(start) {
        kept.push_str(before);
        kept.push(' ');
        rest = after.split_once(end).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// What a reader takes for a statement: no code, no targets of links, no comments.
fn prose(text: &str) -> String {
    let text = without(text, "```", "```");
    let text = without(&text, "<!--", "-->");
    let text = without(&text, "`", "`");
    without(&text, "](", ")")
}

/// The numbers of a text, without separators of thousands; digits of a word (`a100-3`, `8x40`) are none.
fn numbers(text: &str) -> Vec<String> {
    let inside = |c: char| c.is_alphanumeric() || ".,_-".contains(c);
    let words = text.split(|c: char| !inside(c)).map(|word| word.trim_matches(['.', ',', '-', '_']));
    let is_number = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
    };
    words.filter(is_number).map(|word| word.replace(',', "")).collect()
}

/// The sections of the page by their anchors.
fn sections(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let letters = heading.to_lowercase().replace(' ', "-");
            name = letters.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect();
        }
        found.entry(name.clone()).or_default().extend(numbers(line));
    }
    found
}

/// The anchors of `docs/numbers.md` that a text links to.
fn quoted(text: &str) -> Vec<&str> {
    let links = text.split("numbers.md#").skip(1);
    links
        .map(|rest| rest.split(|c: char| c != '-' && !c.is_alphanumeric()).next().unwrap_or_default())
        .collect()
}

/// The paragraphs, list entries and rows of tables of a document.
fn paragraphs(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in without(text, "```", "```").lines() {
        // The number of an entry in a list says nothing.
        let entry = line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(". ");
        let entry = entry.filter(|entry| entry.len() + 2 < line.len());
        let starts = line.is_empty() || line.starts_with(['|', '#']) || line.trim_start().starts_with("- ");
        if starts || entry.is_some() {
            all.push(String::new());
        }
        let last = all.last_mut().expect("one was put there");
        last.push_str(entry.unwrap_or(line));
        last.push('\n');
    }
    all
}

fn documents(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path.strip_prefix(workspace_root()).unwrap().display().to_string());
        }
    }
}

/// Every paragraph that links to a section of the page has its numbers from there.
#[test]
fn who_quotes_a_measurement_quotes_what_was_measured() {
    let sections = sections(&read(PAGE));
    let mut files = vec!["README.md".to_owned()];
    documents(&workspace_root().join("docs"), &mut files);
    let mut compared = 0;
    for file in files.iter().filter(|file| *file != PAGE) {
        for paragraph in paragraphs(&read(file)) {
            let anchors = quoted(&paragraph);
            if anchors.is_empty() {
                continue;
            }
            let known = |anchor: &&str| sections.get(*anchor).unwrap_or_else(|| panic!("{file}: #{anchor}"));
            let known: BTreeSet<&String> = anchors.iter().flat_map(known).collect();
            for number in numbers(&prose(&paragraph)) {
                assert!(known.contains(&number), "{file} quotes {number}, which is not in {anchors:?}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 20, "only {compared} numbers are quoted with a link to where they were measured");
}

#[test]
fn every_number_of_the_readme_is_in_the_page() {
    let readme = read("README.md");
    let page: BTreeSet<String> = numbers(&read(PAGE)).into_iter().collect();
    let missing: Vec<_> =
        numbers(&prose(&readme)).into_iter().filter(|number| !page.contains(number)).collect();
    assert!(missing.is_empty(), "{PAGE} lacks {missing:?}");
    let rows = readme.lines().filter(|line| line.starts_with("| ") && !quoted(line).is_empty()).count();
    assert_eq!(rows, 5, "one table of five rows, each with a link to how it was measured");
}

#[test]
fn the_readme_is_short() {
    let readme = without(&read("README.md"), "](", ")");
    let words = readme.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    assert!(words <= MOST_WORDS, "{words} words, at most {MOST_WORDS}");
    let numbers = numbers(&readme).len();
    assert!(numbers <= MOST_NUMBERS, "{numbers} numbers, at most {MOST_NUMBERS}");
    let lines = readme.lines().filter(|line| !line.is_empty()).count();
    assert!(lines <= MOST_LINES, "{lines} lines, at most {MOST_LINES}");
}

#[test]
fn every_part_that_is_measured_is_in_the_page_with_its_command() {
    let page = read(PAGE);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for measured in &MEASURED {
        let (start, end) = marks(measured.name);
        assert_eq!((page.matches(&start).count(), page.matches(&end).count()), (1, 1), "{start}");
        assert!(words.contains(&format!("esdp {}", measured.args)), "{PAGE} lacks `esdp {}`", measured.args);
    }
}

#[test]
fn a_printed_table_becomes_one_of_the_page() {
    let printed = "default: ...\n\npolicy  oracle ratio       AOU   decision  AOU / slot\n\
                   esdp    0.988 ± 0.002*  5472 ± 10   6.78 µs   ▇██\nAOU: accumulated\n";
    let measured = Measured { name: "a", args: "run", columns: &["policy", "AOU"] };
    assert_eq!(measured.table(printed).unwrap(), "| policy | AOU |\n|---|---|\n| esdp | 5472 ± 10 |\n");
    let unknown = Measured { columns: &["policy", "JCT"], ..measured };
    assert!(unknown.table(printed).unwrap_err().cause().contains("JCT"));
}

#[test]
fn only_the_part_between_the_marks_changes() {
    let page = "a\n<!-- measured: x -->\nold\n<!-- end: x -->\nb\n";
    assert_eq!(replaced(page, "x", "new\n").unwrap(), page.replace("old", "new"));
    assert!(replaced(page, "y", "new\n").is_err());
}

#[test]
fn numbers_are_told_from_words() {
    assert_eq!(numbers("a100-3 has 1,000 of 0.24 % (8x40), 24.11."), ["1000", "0.24", "24.11"]);
    assert_eq!(prose("a `1` [b](c#2) <!-- 3 -->4").split_whitespace().collect::<Vec<_>>(), ["a", "[b", "4"]);
}
