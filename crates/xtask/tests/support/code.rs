//! A reader of Rust source that knows just enough: what is code and what is not, where a word
//! stands, and which paths start with a given word. A full parser would be a dependency of
//! some seconds' compile time for four small questions.

/// The source with comments and the contents of strings and character literals blanked out.
/// Lines keep their numbers, and braces in the result are real braces.
pub(crate) fn code_only(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let after_word = out.ends_with(in_word);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if first == '"' {
            string(rest)
        } else if let Some(length) = raw_string(rest).filter(|_| !after_word) {
            length
        } else if let Some(length) = character(rest) {
            length
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (skipped, next) = rest.split_at(length);
        out.extend(skipped.chars().map(|c| if c == '\n' { c } else { ' ' }));
        rest = next;
    }
    out
}

/// Length of the block comment at the start, with those nested in it.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let step = match text.as_bytes()[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of the string literal at the start, up to the quote that no backslash precedes.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of the raw string literal at the start (`r"..."`, `br#"..."#`), if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let quoted = body.trim_start_matches('#');
    let end = format!("\"{}", "#".repeat(body.len() - quoted.len()));
    let content = quoted.strip_prefix('"')?;
    let close = content.find(&end).map_or(content.len(), |at| at + end.len());
    Some(text.len() - content.len() + close)
}

/// Length of the character literal at the start; a lifetime is none, as nothing closes it.
fn character(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    if body.starts_with('\\') {
        // The character after the backslash may itself be a quote.
        let escaped = body.char_indices().nth(2)?.0;
        return Some(1 + escaped + body[escaped..].find('\'')? + 1);
    }
    let width = body.chars().next()?.len_utf8();
    body[width..].starts_with('\'').then_some(width + 2)
}

/// The code with every item under `#[cfg(test)]` blanked out: up to the end of its first block,
/// or to a semicolon before any block.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    while let Some(start) = out.find(MARK) {
        let (mut depth, mut end) = (0, out.len());
        for (at, c) in out[start..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && (c == '}' || c == ';') {
                end = start + at + 1;
                break;
            }
        }
        let blank: String = out[start..end].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        out.replace_range(start..end, &blank);
    }
    out
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the word stands in the code, as a word of its own and not as part of a longer one.
pub(crate) fn words_at(code: &str, word: &str) -> Vec<usize> {
    code.match_indices(word)
        .filter(|(at, _)| {
            // A word that ends in `!` cannot be part of a longer one on that side.
            let cut = word.ends_with(in_word) && code[at + word.len()..].starts_with(in_word);
            !cut && !code[..*at].ends_with(in_word)
        })
        .map(|(at, _)| at)
        .collect()
}

/// The line of an offset, counted from 1.
pub(crate) fn line_of(code: &str, offset: usize) -> usize {
    code[..offset].matches('\n').count() + 1
}

/// Every path that starts with one of the words, with its line and with groups spelled out:
/// `crate::{a::B, c}` is `crate::a::B` and `crate::c`. A word without `::` is no path.
pub(crate) fn paths_from(code: &str, roots: &[&str]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for root in roots {
        for at in words_at(code, root) {
            // The second word of `super::super::x` belongs to the path of the first, and
            // `other::std` does not start at the root; `::std` does.
            let inside = |before: &str| before.ends_with(|c: char| in_word(c) || c == '>');
            if code[..at].strip_suffix("::").is_some_and(inside) {
                continue;
            }
            let mut rest = &code[at + root.len()..];
            if !rest.trim_start().starts_with("::") {
                continue;
            }
            branch(code, &mut rest, vec![(*root).to_owned()], &mut found);
        }
    }
    found
}

/// Reads what follows the path so far, adding each complete path to `found`. `rest` is always a
/// tail of `code`, which gives the line.
fn branch<'a>(
    code: &'a str,
    rest: &mut &'a str,
    mut path: Vec<String>,
    found: &mut Vec<(usize, Vec<String>)>,
) {
    let mut line = line_of(code, code.len() - rest.len());
    while let Some(next) = rest.trim_start().strip_prefix("::") {
        *rest = next.trim_start();
        if let Some(group) = rest.strip_prefix('{') {
            *rest = group.trim_start();
            while !rest.is_empty() && !rest.starts_with('}') {
                let mut inner = path.clone();
                inner.extend(segment(rest));
                branch(code, rest, inner, found);
                // On to the next member, past a rename such as `a as b`.
                let end = rest.find([',', '}']).unwrap_or(rest.len());
                *rest = rest[end..].trim_start_matches(',').trim_start();
            }
            *rest = rest.strip_prefix('}').unwrap_or(rest);
            return;
        }
        line = line_of(code, code.len() - rest.len());
        match segment(rest) {
            Some(name) => path.push(name),
            None => break,
        }
    }
    found.push((line, path));
}

/// Takes one segment of a path: a name, or the `*` of a glob.
fn segment(rest: &mut &str) -> Option<String> {
    let text = *rest;
    let length = if text.starts_with('*') { 1 } else { text.find(|c| !in_word(c)).unwrap_or(text.len()) };
    *rest = &text[length..];
    (length > 0).then(|| text[..length].to_owned())
}
