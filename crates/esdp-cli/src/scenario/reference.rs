//! `docs/scenario.md`: prose and examples from the files in `sections/`, tables from the types.

use super::keys::{Key, keys};
use esdp::scenario::schema;
use std::fmt::Write;

/// The sections in their order: the table of the scenario, and what is written about it. The first has the
/// keys outside of any table.
const SECTIONS: &[(&str, &str)] = &[
    ("", include_str!("sections/top.md")),
    ("policies", include_str!("sections/policies.md")),
    ("seeds", include_str!("sections/seeds.md")),
    ("graph", include_str!("sections/graph.md")),
    ("servers", include_str!("sections/servers.md")),
    ("devices", include_str!("sections/devices.md")),
    ("gangs", include_str!("sections/gangs.md")),
    ("jobs", include_str!("sections/jobs.md")),
    ("costs", include_str!("sections/costs.md")),
    ("arrivals", include_str!("sections/arrivals.md")),
    ("speeds", include_str!("sections/speeds.md")),
    ("feedback", include_str!("sections/feedback.md")),
    ("sweep", include_str!("sections/sweep.md")),
];

/// The reference of all keys, as Markdown.
pub fn reference() -> String {
    let mut text = include_str!("sections/intro.md").to_owned();
    let all = keys(&schema());
    for (section, prose) in SECTIONS {
        text.push('\n');
        text.push_str(prose);
        let own: Vec<&Key> = all.iter().filter(|key| section_of(key) == *section).collect();
        tables(&own, &mut text);
    }
    text
}

/// The section that a key belongs to.
fn section_of(key: &Key) -> &str {
    let first = key.key.split(['.', '[']).next().unwrap_or_default();
    if SECTIONS.iter().any(|(name, _)| *name == first) { first } else { "" }
}

/// One table of the keys that always hold, and one for each choice that has keys of its own.
fn tables(keys: &[&Key], text: &mut String) {
    let mut choices: Vec<(Option<&str>, &str)> = Vec::new();
    for key in keys {
        let choice = (key.of.as_deref(), if key.of.is_some() { parent(key) } else { "" });
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    for (of, below) in choices {
        if let Some(of) = of {
            let _ = writeln!(text, "\nWith `{of}` in `{}`:", below.trim_end_matches("[]"));
        }
        text.push_str("\n| key | type | default | accepted | unit | meaning |\n|---|---|---|---|---|---|\n");
        let inside = |key: &&&Key| key.of.as_deref() == of && (of.is_none() || parent(key) == below);
        for key in keys.iter().filter(inside) {
            row(key, text);
        }
    }
}

/// The table that a choice is made in: up to the first step that all keys of the choice share.
fn parent(key: &Key) -> &str {
    let tag = key.of.as_deref().and_then(|of| of.split(' ').next()).unwrap_or_default();
    let end = match tag {
        // A policy's parameter may itself be a table.
        "name" => key.key.find("[]").map(|at| at + 2),
        _ => key.key.rfind('.'),
    };
    end.map_or("", |end| &key.key[..end])
}

fn row(key: &Key, text: &mut String) {
    let code = |text: &Option<String>| text.as_ref().map_or("–".to_owned(), |text| format!("`{text}`"));
    let default = if key.required { "required".to_owned() } else { code(&key.default) };
    let plain = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    let mut meaning = key.description.clone();
    if !key.values.is_empty() {
        let value = |(value, words): &(String, String)| {
            let words = words.trim_end_matches('.');
            if words.is_empty() { format!("`{value}`") } else { format!("`{value}`: {words}") }
        };
        let _ = write!(meaning, " {}.", key.values.iter().map(value).collect::<Vec<_>>().join("; "));
    }
    let cells =
        [format!("`{}`", key.key), key.kind.clone(), default, plain(&key.range), plain(&key.unit), meaning];
    let _ = writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
}
