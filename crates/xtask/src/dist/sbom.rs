//! The bill of materials: every crate in the binary with version, licence and checksum, in CycloneDX.
//!
//! From `cargo tree`, which knows what this target's binary is linked from, and the checksums of the lock
//! file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{PACKAGE, Plan, output, read};
use crate::Failure;
use crate::cargo::{cargo, workspace_root};

/// A crate.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    name: String,
    version: String,
    licence: String,
}

/// The document.
pub(super) fn make(plan: &Plan) -> Result<String, Failure> {
    let mut tree = cargo();
    tree.args(["tree", "--locked", "--package", PACKAGE, "--edges", "normal,build", "--prefix", "none"]);
    tree.args(["--target", &plan.target, "--no-dedupe", "--format", "{p}\t{l}"]);
    let mut parts: Vec<Part> = output(&mut tree)?.lines().filter_map(part).collect();
    parts.sort();
    parts.dedup();
    parts.retain(|part| part.name != PACKAGE);
    let checksums = checksums(&read(&workspace_root().join("Cargo.lock"))?);
    // A target whose tree is empty, or a changed format of cargo's, must not pass for a small program.
    if parts.len() < 20 {
        return Err(Failure::Check(format!("`cargo tree` names {} crates only", parts.len())));
    }
    Ok(document(&plan.version, &parts, &checksums))
}

/// Reads `name v1.2.3 (path or source)`, a tab and the licence.
fn part(line: &str) -> Option<Part> {
    let (package, licence) = line.split_once('\t')?;
    let mut words = package.split(' ');
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    // Some older crates write a slash where SPDX has a word.
    Some(Part { name, version, licence: licence.replace('/', " OR ") })
}

/// The checksums of a lock file by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let entry =
        |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}

fn document(version: &str, parts: &[Part], checksums: &BTreeMap<(String, String), String>) -> String {
    let mut text = format!(
        r#"{{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {{
    "component": {{"type": "application", "bom-ref": "esdp", "name": "esdp", "version": {}}}
  }},
  "components": ["#,
        quoted(version)
    );
    for (at, Part { name, version, licence }) in parts.iter().enumerate() {
        let purl = quoted(&format!("pkg:cargo/{name}@{version}"));
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n    {{\"type\": \"library\", \"bom-ref\": {purl}, \"name\": {}, \"version\": {}, \
             \"purl\": {purl}",
            quoted(name),
            quoted(version)
        );
        if !licence.is_empty() {
            let _ = write!(text, ", \"licenses\": [{{\"expression\": {}}}]", quoted(licence));
        }
        if let Some(sum) = checksums.get(&(name.clone(), version.clone())) {
            let _ = write!(text, ", \"hashes\": [{{\"alg\": \"SHA-256\", \"content\": {}}}]", quoted(sum));
        }
        text.push('}');
    }
    text + "\n  ]\n}\n"
}

/// A text in JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_read_from_the_tree_and_their_checksums_from_the_lock_file() {
        let line = "ring v0.17.14\tApache-2.0 AND ISC";
        let ring = part(line).unwrap();
        assert_eq!((ring.name.as_str(), ring.version.as_str()), ("ring", "0.17.14"));
        assert_eq!(part("esdp v0.2.0 (/a b/c)\tMIT/Apache-2.0").unwrap().licence, "MIT OR Apache-2.0");
        assert_eq!(part(""), None);
        let lock = "version = 4\n\n[[package]]\nname = \"ring\"\nversion = \"0.17.14\"\nsource = \"r\"\n\
                    checksum = \"00ff\"\n\n[[package]]\nname = \"esdp\"\nversion = \"0.2.0\"\n";
        let sums = checksums(lock);
        assert_eq!(sums.len(), 1);
        let text = document("0.2.0", &[ring], &sums);
        assert!(text.contains("\"purl\": \"pkg:cargo/ring@0.17.14\""), "{text}");
        assert!(text.contains("\"content\": \"00ff\"") && text.contains("Apache-2.0 AND ISC"), "{text}");
        assert_eq!(quoted("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }
}
