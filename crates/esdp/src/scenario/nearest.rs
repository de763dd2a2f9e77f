//! What somebody may have meant: the known name that is most like an unknown one.

/// Names that are less alike than this have nothing to do with each other.
const ALIKE: f64 = 0.8;

/// The name that is most like a word; none if no name is like it.
///
/// ```
/// use esdp::scenario::nearest;
///
/// assert_eq!(nearest("prots", ["ports", "servers"]), Some("ports"));
/// assert_eq!(nearest("cst", ["esdp", "cts"]), Some("cts"));
/// assert_eq!(nearest("colour", ["ports", "servers"]), None);
/// ```
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One slip of the pen is enough in a short word, which is hardly like any other by its letters.
    let slip = |name: &str| word.len() >= 3 && strsim::damerau_levenshtein(word, name) <= 1;
    let alike = |name: &'a str| {
        let letters = strsim::jaro_winkler(word, name);
        (if slip(name) { 1.0 + letters } else { letters }, name)
    };
    let near = names.into_iter().map(alike).filter(|(alike, _)| *alike >= ALIKE);
    // The first of several that are as near.
    near.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, name)| name)
}

/// The end of a sentence about an unknown word: `; did you mean ...?`, or nothing.
pub(super) fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// The same where the names are in a sentence, in backticks.
pub(super) fn hint_in(word: &str, sentence: &str) -> String {
    hint(word, sentence.split('`').skip(1).step_by(2))
}
