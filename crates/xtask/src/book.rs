//! The `book` step: the links between documents, and the documentation as a site.
//!
//! The site is made of `docs`, with two changes that a site needs: what is beside `docs` is linked where the
//! repository is hosted, and a `README.md` is the `index` of its folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::cargo::{command, run, workspace_root};
use crate::links::{self, Document};
use crate::tool::Tool;

/// Search, but no server.
const MDBOOK: Tool =
    Tool { name: "mdbook", version: "0.5.4", flags: &["--no-default-features", "--features", "search"] };

/// Folders of tools and builds, and the parts of `docs/scenario.md`, whose links are seen there.
const SKIPPED: [&str; 4] = ["target", "out", "node_modules", "sections"];

/// Where the project is hosted.
const REPOSITORY: &str = "https://github.com/esdp/esdp/blob/main";

/// Checks the links of all documents, builds the site and checks its links too.
pub(crate) fn build() -> Result<(), Failure> {
    let root = workspace_root();
    let documents = read(&root, "md", &links::markdown)?;
    report(links::broken(&root, &documents))?;
    listed(&root, &documents)?;

    let mdbook = MDBOOK.find_or_build()?;
    let home = root.join("target").join("book");
    // Pages of documents that are gone must not stay.
    let _ = fs::remove_dir_all(&home);
    write(&root, &home).map_err(|error| Failure::Check(format!("the site's sources: {error}")))?;
    let mut build = command(mdbook);
    build.arg("build").arg(&home).arg("--dest-dir").arg(home.join("site"));
    run(build)?;
    let site = home.join("site");
    let pages = read(&site, "html", &links::html)?;
    // Its links start at the root of wherever it is hosted, and the page that prints all joins their anchors.
    let pages = pages
        .into_iter()
        .filter(|(page, _)| !["404.html", "print.html", "toc.html"].iter().any(|own| page == Path::new(own)));
    report(links::broken(&site, &pages.collect()))?;
    println!("{} documents, the site is in target/book/site", documents.len());
    Ok(())
}

fn report(broken: Vec<String>) -> Result<(), Failure> {
    match broken.as_slice() {
        [] => Ok(()),
        all => Err(Failure::Check(format!("{} broken links:\n  {}", all.len(), all.join("\n  ")))),
    }
}

/// Every document of `docs` is in the table of contents.
fn listed(root: &Path, documents: &BTreeMap<PathBuf, Document>) -> Result<(), Failure> {
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md"));
    let summary = summary.map_err(|error| Failure::Check(format!("docs/SUMMARY.md: {error}")))?;
    let docs = documents.keys().filter_map(|path| path.strip_prefix("docs").ok());
    let missing = |path: &&Path| {
        *path != Path::new("SUMMARY.md") && !summary.contains(&format!("({})", path.display()))
    };
    match docs.into_iter().find(missing) {
        Some(path) => Err(Failure::Check(format!("docs/SUMMARY.md does not list {}", path.display()))),
        None => Ok(()),
    }
}

/// The documents below a folder.
fn read(
    root: &Path,
    ending: &str,
    parse: &dyn Fn(&str) -> Document,
) -> Result<BTreeMap<PathBuf, Document>, Failure> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let cannot = |error| Failure::Check(format!("{}: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == ending) {
                let text = fs::read_to_string(&path).map_err(cannot)?;
                let below = path.strip_prefix(root).expect("it was found there").to_owned();
                found.insert(below, parse(&text));
            }
        }
    }
    Ok(found)
}

/// Copies `docs` and `book.toml`, with links as the site needs them.
fn write(root: &Path, home: &Path) -> std::io::Result<()> {
    fs::create_dir_all(home)?;
    fs::copy(root.join("book.toml"), home.join("book.toml"))?;
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        fs::create_dir_all(home.join(&folder))?;
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let text = fs::read_to_string(root.join(&path))?;
                let text = if path.ends_with("SUMMARY.md") { text } else { for_site(&text, &folder) };
                fs::write(home.join(&path), text)?;
            } else {
                fs::copy(root.join(&path), home.join(&path))?;
            }
        }
    }
    Ok(())
}

/// A document with its links as the site needs them; `folder` is where it is.
fn for_site(text: &str, folder: &Path) -> String {
    let mut changed = String::new();
    let mut parts = text.split("](");
    changed.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find([')', ' ']).unwrap_or(part.len());
        let (link, rest) = part.split_at(end);
        let ups = link.split('/').take_while(|step| *step == "..").count();
        // How many folders above it is still inside `docs`.
        let depth = folder.components().count() - 1;
        changed.push_str("](");
        if ups > depth {
            let outside = link.split('/').skip(ups).collect::<Vec<_>>().join("/");
            changed.push_str(&format!("{REPOSITORY}/{outside}"));
        } else {
            changed.push_str(&link.replace("README.md", "index.md"));
        }
        changed.push_str(rest);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_documents_lead_to_the_repository() {
        let docs = Path::new("docs");
        assert_eq!(for_site("[a](../crates/x.rs) b", docs), format!("[a]({REPOSITORY}/crates/x.rs) b"));
        assert_eq!(for_site("[a](gangs.md#b)", docs), "[a](gangs.md#b)");
        assert_eq!(for_site("[a](policies/README.md)", docs), "[a](policies/index.md)");
        assert_eq!(for_site("[a](../gangs.md)", &docs.join("policies")), "[a](../gangs.md)");
        assert_eq!(
            for_site("[a](../../README.md)", &docs.join("policies")),
            format!("[a]({REPOSITORY}/README.md)")
        );
    }
}
