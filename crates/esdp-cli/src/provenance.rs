//! Which build of esdp this is: for `esdp --version`, and for every result.

use esdp_report::report::Report;
use serde::Serialize;
use std::sync::LazyLock;

/// The version in one line: `0.2.0 (0123456789 2026-11-18)`, or the number alone if the commit is unknown.
pub(crate) const VERSION: &str = env!("ESDP_BUILD_VERSION");

/// What `esdp --version` prints.
pub(crate) static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let Build { commit, date, library, rustc, target, profile } = BUILD;
    let commit = match (commit, date) {
        (Some(commit), Some(date)) => format!("{commit} ({date})"),
        (Some(commit), None) => commit.to_owned(),
        (None, _) => "unknown: built without git, and not from a published package".to_owned(),
    };
    format!(
        "{VERSION}\ncommit:  {commit}\nlibrary: {library}\nrustc:   {rustc}\ntarget:  {target}\n\
         profile: {profile}"
    )
});

/// A build: the same one gives the same results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Build {
    /// The whole hash, with `-dirty` at its end if sources were changed after it; none if it is unknown.
    commit: Option<&'static str>,
    /// The day of the commit.
    date: Option<&'static str>,
    /// The version of the library and a hash of its sources.
    library: &'static str,
    rustc: &'static str,
    target: &'static str,
    profile: &'static str,
}

const fn some(text: &'static str) -> Option<&'static str> {
    if text.is_empty() { None } else { Some(text) }
}

impl Build {
    /// The year of the commit.
    pub(crate) fn year(self) -> Option<&'static str> {
        self.date?.split('-').next()
    }
}

/// This one.
pub(crate) const BUILD: Build = Build {
    commit: some(env!("ESDP_BUILD_COMMIT")),
    date: some(env!("ESDP_BUILD_DATE")),
    library: esdp::BUILD,
    rustc: env!("ESDP_BUILD_RUSTC"),
    target: env!("ESDP_BUILD_TARGET"),
    profile: env!("ESDP_BUILD_PROFILE"),
};

/// A result, and as key `build` which build made it.
#[derive(Debug, Serialize)]
pub(crate) struct Stamped<'a, T> {
    build: Build,
    #[serde(flatten)]
    result: &'a T,
}

/// Adds the build to a result, which must be a JSON object.
pub(crate) fn stamped<T: Serialize>(result: &T) -> Stamped<'_, T> {
    Stamped { build: BUILD, result }
}

/// A result with its build as the text of a file.
///
/// # Errors
/// When the result is not a JSON object.
pub(crate) fn json(result: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(&stamped(result))? + "\n")
}

/// A report as a page, with the build at its foot.
pub(crate) fn page(report: Report) -> String {
    let Build { rustc, target, .. } = BUILD;
    report.made_by(format!("esdp {VERSION}, {target}, rustc {rustc}")).render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_result_keeps_its_keys_and_numbers() {
        let result = json!({"version": "1", "x": 0.1 + 0.2, "n": u64::MAX, "list": [null]});
        let text = json(&result).unwrap();
        let mut read: Value = serde_json::from_str(&text).unwrap();
        let build = read.as_object_mut().unwrap().remove("build").unwrap();
        assert_eq!(read, result);
        assert_eq!(build["library"], esdp::BUILD);
        assert_eq!(build["commit"], json!(BUILD.commit));
        assert!(build["rustc"].as_str().unwrap().starts_with("1."), "{build}");
    }

    #[test]
    fn the_version_starts_with_the_number_and_names_the_commit() {
        assert!(VERSION.starts_with(env!("CARGO_PKG_VERSION")));
        assert!(!VERSION.contains('\n') && LONG_VERSION.starts_with(VERSION));
        let commit = BUILD.commit.unwrap_or("unknown");
        assert!(LONG_VERSION.contains(&format!("\ncommit:  {commit}")), "{}", *LONG_VERSION);
        if let Some(commit) = BUILD.commit {
            assert!(commit.len() >= 10 && VERSION.contains(&commit[..10]), "{VERSION}");
            assert_eq!(VERSION.contains("-dirty"), commit.ends_with("-dirty"));
        }
    }

    #[test]
    fn a_page_names_the_build_at_its_foot() {
        let page = page(Report::new("t", "s"));
        assert!(page.contains(&format!("<footer>Made by esdp {VERSION}, ")), "{page}");
    }
}
