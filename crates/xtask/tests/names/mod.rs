//! One name, one type: no public type of the workspace has the name of another one, so that a name in a
//! message, a document or a search leads to one place.
//!
//! Like the test of the architecture this reads source text. A type counts as public where it says `pub`,
//! whether or not its module does: what is moved or re-exported later must not collide then. Names that a
//! macro is given (`pub struct $name`) are not seen.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::code::{code_only, line_of, without_tests, words_at};
use crate::support::{member_manifests, rust_files, workspace_root};

/// The words before the name of a type.
const KEYWORDS: [&str; 5] = ["enum", "struct", "trait", "type", "union"];

#[test]
fn public_types_have_names_of_their_own() {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (krate, _) in member_manifests() {
        let folder = Path::new("crates").join(&krate).join("src");
        for (file, text) in rust_files(&workspace_root().join(&folder)) {
            for (line, name) in public_types(&text) {
                homes.entry(name).or_default().push(format!("{}:{line}", folder.join(&file).display()));
            }
        }
    }
    assert!(homes.contains_key("Scheduler"), "the library is not where this test looks for it");
    let shared: Vec<String> = homes
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("`{name}` is the name of {}", places.join(" and of ")))
        .collect();
    assert!(shared.is_empty(), "\n{}\n", shared.join("\n"));
}

/// The public types that a file defines, with their lines. What only its own crate sees (`pub(crate)`) is not
/// public.
fn public_types(text: &str) -> Vec<(usize, String)> {
    let code = without_tests(&code_only(text));
    let mut found = Vec::new();
    for at in words_at(&code, "pub") {
        let rest = code[at + "pub".len()..].trim_start();
        let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
        let Some((keyword, name)) = rest.split_once(char::is_whitespace) else { continue };
        if KEYWORDS.contains(&keyword) {
            let name = name.trim_start();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            found.extend((end > 0).then(|| (line_of(&code, at), name[..end].to_owned())));
        }
    }
    found
}

#[test]
fn public_types_are_found_and_nothing_else_is() {
    let names = |text: &str| public_types(text).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(names("pub struct A<'a>(&'a str);\npub enum B {}\n  pub type C = u8;"), ["A", "B", "C"]);
    assert_eq!(names("pub unsafe trait A: Send {}\npub\nstruct B;"), ["A", "B"]);
    let hidden = "struct A; pub(crate) struct B; pub use c::D; pub fn e() {} // pub struct F;\n\
                  const G: &str = \"pub struct H;\"; #[cfg(test)] mod tests { pub struct I; } pub mod \
                  types;\n\
                  macro_rules! j { ($name:ident) => { pub struct $name; } }";
    assert_eq!(names(hidden), Vec::<String>::new());
    assert_eq!(public_types("\n\npub struct A;"), [(3, "A".to_owned())]);
}
