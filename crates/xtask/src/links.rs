//! Links between documents: in the Markdown files of the project, and in the pages of the site.
//!
//! Links to other sites are not followed: a check that needs the network would fail for reasons of others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// A document: where it can be jumped to, and what it links to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Document {
    pub anchors: BTreeSet<String>,
    pub links: Vec<(usize, String)>,
}

/// The links that lead nowhere, each with its file and line. `documents` are by their path below `root`.
pub(crate) fn broken(root: &Path, documents: &BTreeMap<PathBuf, Document>) -> Vec<String> {
    let mut found = Vec::new();
    for (file, document) in documents {
        for (line, link) in document.links.iter().filter(|(_, link)| is_ours(link)) {
            let (path, anchor) = link.split_once('#').map_or((&**link, None), |(path, at)| (path, Some(at)));
            let path = path.split('?').next().unwrap_or_default();
            let target = match path {
                "" => Some(file.clone()),
                path => normal(&file.parent().unwrap_or(Path::new("")).join(path)),
            };
            let known = target.as_ref().and_then(|target| documents.get(target));
            let there = known.is_some() || target.as_ref().is_some_and(|target| root.join(target).exists());
            let anchored = match (anchor, known) {
                (Some(anchor), Some(known)) => anchor.is_empty() || known.anchors.contains(anchor),
                _ => true,
            };
            if !there || !anchored {
                found.push(format!("{}:{line}: `{link}` leads nowhere", file.display()));
            }
        }
    }
    found
}

fn is_ours(link: &str) -> bool {
    let scheme =
        link.split_once(':').is_some_and(|(scheme, _)| scheme.bytes().all(|b| b.is_ascii_alphabetic()));
    !scheme && !link.starts_with("//")
}

/// A path without `..`; nothing if it leaves the root.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => clean.pop().then_some(())?,
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

/// The headings and links of a Markdown file.
pub(crate) fn markdown(text: &str) -> Document {
    let mut document = Document::default();
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (mark, fence) {
            (Some(mark), Some(open)) if mark == open => fence = None,
            (Some(mark), None) => fence = Some(mark),
            _ => {}
        }
        if mark.is_some() || fence.is_some() {
            continue;
        }
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let name = slug(heading);
            let again = (1..).map(|count| format!("{name}-{count}"));
            let free =
                std::iter::once(name.clone()).chain(again).find(|name| !document.anchors.contains(name));
            document.anchors.extend(free);
        }
        let prose = without_code(line);
        let mut rest = prose.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            document.links.push((number, rest[..end].to_owned()));
        }
        attributes(line, number, &mut document);
    }
    document
}

/// The anchors and links of a page.
pub(crate) fn html(text: &str) -> Document {
    let mut document = Document::default();
    for (number, line) in (1..).zip(text.lines()) {
        attributes(line, number, &mut document);
    }
    document
}

/// What HTML names and links to.
fn attributes(line: &str, number: usize, document: &mut Document) {
    for (name, is_link) in [(" id=\"", false), (" href=\"", true), (" src=\"", true), (" srcset=\"", true)] {
        for rest in line.split(name).skip(1) {
            let value = rest.split('"').next().unwrap_or_default().replace("&amp;", "&");
            if is_link {
                document.links.push((number, value));
            } else {
                document.anchors.insert(value);
            }
        }
    }
}

/// A heading as it is linked to.
fn slug(heading: &str) -> String {
    // Of a link, only the words count.
    let mut words = String::new();
    let mut rest = heading.trim();
    while let Some((before, after)) = rest.split_once("](") {
        words.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    words.push_str(rest);
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        _ => None,
    };
    words.to_lowercase().chars().filter_map(letter).collect()
}

/// A line with the contents of inline code blanked.
fn without_code(line: &str) -> String {
    let mut prose = String::new();
    for (position, part) in line.split('`').enumerate() {
        if position % 2 == 0 {
            prose.push_str(part);
        }
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let documents = files.iter().map(|(path, text)| (PathBuf::from(path), markdown(text))).collect();
        broken(Path::new(env!("CARGO_MANIFEST_DIR")), &documents)
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found_with_its_line() {
        let good = "# A `b` & c\n[x](#a-b--c) [y](Cargo.toml) [z](https://example.org/no)\n";
        assert_eq!(of(&[("a.md", good)]), Vec::<String>::new());
        assert_eq!(of(&[("a.md", "\n[x](none.md)")]), ["a.md:2: `none.md` leads nowhere"]);
        assert_eq!(of(&[("a.md", "# A\n[x](#b)")]), ["a.md:2: `#b` leads nowhere"]);
        assert_eq!(
            of(&[("src/a.md", "[x](../../elsewhere)")]),
            ["src/a.md:1: `../../elsewhere` leads nowhere"]
        );
        assert_eq!(of(&[("a.md", "<img src=\"none.png\">")]), ["a.md:1: `none.png` leads nowhere"]);
    }

    #[test]
    fn an_anchor_of_another_document_must_be_there() {
        let known = ("Cargo.toml", "# One\n# One\n");
        assert_eq!(of(&[("a.md", "[x](Cargo.toml#one-1)"), known]), Vec::<String>::new());
        assert_eq!(of(&[("a.md", "[x](Cargo.toml#two)"), known]).len(), 1);
    }

    #[test]
    fn code_has_no_links() {
        assert_eq!(of(&[("a.md", "`[x](none)`\n```\n[x](none)\n```\n")]), Vec::<String>::new());
    }
}
