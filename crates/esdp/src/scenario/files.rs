//! What stands beside a scenario in files: the scenario that it extends, and tables as CSV.
//!
//! The library reads no files. Whoever has the text of a scenario hands over a function that reads a file
//! beside it ([`Scenario::from_toml_with`](super::Scenario::from_toml_with)).

use super::error::{Fault, ScenarioError};
use super::read::{find_mut, syntax};
use super::{line, presets, set};
use std::path::Path;
use toml::{Table, Value};

/// Reads a file beside a scenario, by its path as it is written there; an error says why not.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// The keys that hold rows, each of which may be the path of a CSV file instead: numbers, whole numbers or
/// texts.
pub const FILE_KEYS: [(&str, CellKind); 6] = [
    ("speeds.table", CellKind::Numbers),
    ("speeds.measured.series", CellKind::Numbers),
    ("jobs.list", CellKind::Numbers),
    ("arrivals.jobs", CellKind::Whole),
    ("devices.servers", CellKind::Whole),
    ("servers.list", CellKind::Texts),
];

/// What the cells of a CSV file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Numbers.
    Numbers,
    /// Whole numbers.
    Whole,
    /// Texts.
    Texts,
}

/// The only version of the format.
const VERSION: i64 = 1;
/// More than this extend each other in a circle.
const DEEPEST: usize = 16;

/// The keys of a scenario's text with files read and what it extends merged in.
pub(super) fn resolve(text: &str, files: &mut ReadFile<'_>) -> Result<Value, ScenarioError> {
    with_line(text, below(parsed(text)?, Path::new(""), &mut Vec::new(), files))
}

fn parsed(text: &str) -> Result<Value, ScenarioError> {
    toml::from_str::<Value>(text).map_err(|error| ScenarioError {
        key: String::new(),
        line: error.span().map(|span| line::line_at(text, span.start)),
        fault: Fault::Syntax(syntax(text, &error)),
    })
}

fn with_line<T>(text: &str, result: Result<T, ScenarioError>) -> Result<T, ScenarioError> {
    result.map_err(|error| ScenarioError {
        line: error.line.or_else(|| line::line_of(text, &error.key)),
        ..error
    })
}

/// A scenario in `folder`, which `chain` of others extends.
fn below(
    mut root: Value,
    folder: &Path,
    chain: &mut Vec<String>,
    files: &mut ReadFile<'_>,
) -> Result<Value, ScenarioError> {
    if let Some(version) = root.get("version").filter(|version| version.as_integer() != Some(VERSION)) {
        let accepted = format!("{VERSION}, the only version of the format so far");
        return Err(ScenarioError::value("version", version, accepted));
    }
    for (key, cells) in FILE_KEYS {
        if let Some(slot) = find_mut(&mut root, key)
            && let Value::String(path) = slot
        {
            let told = |cause: String| ScenarioError::other(key, cause);
            let path = beside(folder, path);
            let text = files(&path).map_err(|cause| told(format!("{path}: {cause}")))?;
            *slot = rows(&text, cells).map_err(|cause| told(format!("{path}: {cause}")))?;
        }
    }
    let Value::Table(table) = &mut root else { return Ok(root) };
    let Some(base) = table.remove("extends") else { return Ok(root) };
    let Value::String(base) = base else {
        return Err(ScenarioError::value("extends", base, "the name of a preset or the path of a file"));
    };
    let (text, place) = match presets().iter().find(|(name, _)| *name == base) {
        Some((name, text)) => ((*text).to_owned(), (*name).to_owned()),
        None => {
            let path = beside(folder, &base);
            let cause = |cause| format!("`{base}` is neither a preset nor a file that can be read: {cause}");
            let text = files(&path).map_err(|error| ScenarioError::other("extends", cause(error)))?;
            (text, path)
        }
    };
    if chain.contains(&place) || chain.len() == DEEPEST {
        let way = chain.iter().map(String::as_str).chain([place.as_str()]).collect::<Vec<_>>().join(", ");
        return Err(ScenarioError::other(
            "extends",
            format!("scenarios extend each other in a circle: {way}"),
        ));
    }
    chain.push(place.clone());
    let folder = Path::new(&place).parent().unwrap_or(Path::new(""));
    let base = parsed(&text).and_then(|base| with_line(&text, below(base, folder, chain, files)));
    let mut base = base.map_err(|error| ScenarioError::other("extends", format!("{place}: {error}")))?;
    if let Value::Table(base) = &mut base {
        // What it is called and about is not inherited.
        ["name", "description", "version"].iter().for_each(|key| drop(base.remove(*key)));
    }
    set::merge(&mut base, root);
    Ok(base)
}

/// A path as it is seen from the first scenario.
fn beside(folder: &Path, path: &str) -> String {
    folder.join(path).to_string_lossy().into_owned()
}

/// The rows of a CSV file. Empty lines and those that start with `#` are left out, and so is a first row of
/// names above numbers; empty cells at the end of a row do not count.
fn rows(text: &str, cells: CellKind) -> Result<Value, String> {
    let mut rows: Vec<Value> = Vec::new();
    let lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_start_matches('\u{feff}').trim()));
    for (position, (line, row)) in
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).enumerate()
    {
        let mut found: Vec<&str> = row.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
        while found.last().is_some_and(|cell| cell.is_empty()) {
            found.pop();
        }
        let is_header = position == 0 && found.iter().all(|cell| cell.parse::<f64>().is_err());
        if is_header && cells != CellKind::Texts {
            continue;
        }
        let cell = |(column, cell): (usize, &&str)| {
            let read = match cells {
                CellKind::Numbers => cell.parse().ok().map(Value::Float),
                CellKind::Whole => cell.parse().ok().map(Value::Integer),
                CellKind::Texts => Some(Value::from(*cell)),
            };
            let wanted = if cells == CellKind::Whole { "a whole number" } else { "a number" };
            read.ok_or_else(|| format!("line {line}: cell {} is {cell:?}, expected {wanted}", column + 1))
        };
        rows.push(Value::Array(found.iter().enumerate().map(cell).collect::<Result<_, _>>()?));
    }
    match rows.is_empty() {
        true => Err("has no rows".to_owned()),
        false => Ok(Value::Array(rows)),
    }
}

/// For a text that stands alone.
pub(super) fn no_files(_: &str) -> Result<String, String> {
    Err("a text that stands alone has no files beside it".to_owned())
}

/// An empty table, or the one that is there.
pub(super) fn table<'v>(root: &'v mut Table, key: &str) -> Option<&'v mut Table> {
    root.entry(key).or_insert_with(|| Value::Table(Table::new())).as_table_mut()
}
