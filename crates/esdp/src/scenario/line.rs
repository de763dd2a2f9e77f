//! Where in the text a key is.

use super::read::steps;
use toml::de::{DeTable, DeValue};

/// The line of the value at a path, or of the last table on the way to it.
pub(super) fn line_of(text: &str, path: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut at: Option<usize> = None;
    let mut value: Option<&DeValue<'_>> = None;
    for step in steps(path) {
        let next = match value {
            None => root.get_ref().get_key_value(step).map(|(key, next)| (key.span().start, next)),
            Some(DeValue::Table(table)) => {
                table.get_key_value(step).map(|(key, next)| (key.span().start, next))
            }
            Some(DeValue::Array(list)) => step
                .parse()
                .ok()
                .and_then(|index: usize| list.get(index))
                .map(|next| (next.span().start, next)),
            Some(_) => None,
        };
        let Some((start, next)) = next else { break };
        at = Some(start);
        value = Some(next.get_ref());
    }
    at.map(|start| line_at(text, start))
}

/// The line of a byte.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_entries_have_lines() {
        let text = "slots = 5\n\n[arrivals]\nrho = [\n  0.1,\n  0.2,\n]\n[graph]\nports = 2\n";
        assert_eq!(line_of(text, "slots"), Some(1));
        assert_eq!(line_of(text, "arrivals.rho[1]"), Some(6));
        assert_eq!(line_of(text, "graph.ports"), Some(9));
        assert_eq!(line_of(text, "arrivals.law"), Some(3)); // the table that lacks it
        assert_eq!(line_of(text, "speeds.mean"), None);
    }
}
