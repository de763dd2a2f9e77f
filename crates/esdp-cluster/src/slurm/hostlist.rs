//! Slurm's lists of nodes, `n[0-3,7],gpu01`: read, and written as short as Slurm does.

/// The names in a list; what is not well formed is taken as it is.
pub fn expand(list: &str) -> Vec<String> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 || at == list.len() => {
                one(list[start..at].trim(), &mut names);
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

fn one(name: &str, names: &mut Vec<String>) {
    if name.is_empty() || name == "(null)" || name == "None assigned" {
        return;
    }
    let parts = name.split_once('[').and_then(|(head, rest)| Some((head, rest.split_once(']')?)));
    let Some((head, (ranges, tail))) = parts else {
        names.push(name.to_owned());
        return;
    };
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(from), Ok(to)) if from <= to && to - from < 1_000_000 => {
                let width = first.len();
                (from..=to).for_each(|number| one(&format!("{head}{number:0width$}{tail}"), names));
            }
            _ => one(&format!("{head}{range}{tail}"), names),
        }
    }
}

/// A list of names, sorted, with ranges of the numbers at their ends.
pub fn compress(names: &[String]) -> String {
    let mut parts: Vec<(&str, Option<&str>)> = names.iter().map(|name| split(name)).collect();
    parts.sort_by_key(|&(head, digits)| (head, digits.map(|digits| (digits.len(), digits))));
    parts.dedup();
    let mut list: Vec<String> = Vec::new();
    let mut rest = &parts[..];
    while let Some(&(head, digits)) = rest.first() {
        let same = |other: &&(&str, Option<&str>)| {
            other.0 == head && digits.map(str::len) == other.1.map(str::len) && digits.is_some()
        };
        let many = rest.iter().take_while(same).count().max(1);
        let group: Vec<&str> = rest[..many].iter().filter_map(|part| part.1).collect();
        list.push(match group[..] {
            [] => head.to_owned(),
            [only] => format!("{head}{only}"),
            _ => format!("{head}[{}]", ranges(&group)),
        });
        rest = &rest[many..];
    }
    list.join(",")
}

/// A name without the number at its end, and that number.
fn split(name: &str) -> (&str, Option<&str>) {
    let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[head.len()..];
    // Longer ones do not fit into a number; they are rare enough to be listed one by one.
    if (1..=18).contains(&digits.len()) { (head, Some(digits)) } else { (name, None) }
}

fn ranges(sorted: &[&str]) -> String {
    let number = |digits: &str| digits.parse::<u64>().unwrap_or(0);
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for &digits in sorted {
        match runs.last_mut() {
            Some((_, last)) if number(last) + 1 == number(digits) => *last = digits,
            _ => runs.push((digits, digits)),
        }
    }
    let run = |(first, last): &(&str, &str)| {
        if first == last { (*first).to_owned() } else { format!("{first}-{last}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_slurm_writes_them() {
        assert_eq!(expand("n[0-2,7],gpu01"), ["n0", "n1", "n2", "n7", "gpu01"]);
        assert_eq!(expand("n[08-10]"), ["n08", "n09", "n10"]);
        assert_eq!(expand("r[0-1]n[0-1]"), ["r0n0", "r0n1", "r1n0", "r1n1"]);
        assert_eq!(expand("n1"), ["n1"]);
        for nothing in ["", "(null)", "None assigned"] {
            assert_eq!(expand(nothing), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (list, short) in [
            ("n3,n1,n2,n9", "n[1-3,9]"),
            ("a,b1", "a,b1"),
            ("n08,n09,n10,n7", "n7,n[08-10]"),
            ("n1,n1", "n1"),
            ("login,r0n1,r0n2,r1n1", "login,r0n[1-2],r1n1"),
        ] {
            let mut names = expand(list);
            assert_eq!(compress(&names), short);
            names.sort();
            names.dedup();
            let mut back = expand(&compress(&names));
            back.sort();
            assert_eq!(back, names);
        }
    }
}
