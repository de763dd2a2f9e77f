//! Lists of nodes as Slurm writes them: `login,gpu[01-03,07]` is `login`, `gpu01`, `gpu02`, `gpu03`, `gpu07`.
//! They are read, and written as short as Slurm does.
//!
//! Names with several brackets (`rack[1-2]-node[1-4]`) are taken apart from the left. At most [`MOST_NODES`]
//! names of a list are told, so that a range of a few bytes cannot ask for all memory. What is no list of
//! numbers is part of the name.

/// The most nodes of one list.
pub const MOST_NODES: usize = 65_536;
/// The most digits of a number, zeros included: more than 64 bits have.
const MOST_DIGITS: usize = 20;

/// Calls `each` with every name of a list; how many there were.
pub fn expand(list: &str, mut each: impl FnMut(&str)) -> usize {
    let mut left = MOST_NODES;
    for part in split(list.trim()) {
        name("", part, &mut left, &mut each);
    }
    MOST_NODES - left
}

/// The names of a list; none where it says that there are none (`(null)`, `None assigned`).
pub fn names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !matches!(list.trim(), "(null)" | "None assigned") {
        expand(list, |name| names.push(name.to_owned()));
    }
    names
}

/// How many names a list has.
pub fn count(list: &str) -> usize {
    if list.is_empty() {
        return 0;
    }
    if !list.contains([',', '[']) {
        return 1;
    }
    expand(list, |_| ())
}

/// The parts between commas outside of brackets.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    list.split(move |letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth <= 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

fn name(before: &str, rest: &str, left: &mut usize, each: &mut dyn FnMut(&str)) {
    let inner = rest.find('[').and_then(|open| Some((open, open + rest[open..].find(']')?)));
    let Some((open, close)) = inner else {
        if *left > 0 {
            *left -= 1;
            each(&format!("{before}{rest}"));
        }
        return;
    };
    let (head, tail) = (&rest[..open], &rest[close + 1..]);
    let ranges = || rest[open + 1..close].split(',').map(str::trim).filter(|range| !range.is_empty());
    if ranges().next().is_none() {
        // Taken as a list of nothing it would be gone through for every number before it, without an end.
        return name(&format!("{before}{}", &rest[..=close]), tail, left, each);
    }
    for range in ranges() {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let numbers =
            from.parse::<u64>().ok().zip(to.parse::<u64>().ok()).filter(|(first, last)| first <= last);
        let numbers = numbers.filter(|_| from.len() <= MOST_DIGITS);
        let Some((first, last)) = numbers else {
            name(&format!("{before}{head}{range}"), tail, left, each);
            continue;
        };
        let width = from.len();
        for number in first..=last {
            if *left == 0 {
                return;
            }
            name(&format!("{before}{head}{number:0width$}"), tail, left, each);
        }
    }
}

/// A list of names, sorted, with ranges of the numbers at their ends.
pub fn compress(names: &[String]) -> String {
    let mut parts: Vec<(&str, Option<&str>)> = names.iter().map(|name| numbered(name)).collect();
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
fn numbered(name: &str) -> (&str, Option<&str>) {
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
    fn ranges_keep_their_zeros() {
        assert_eq!(names("login, gpu[08-10,12]"), ["login", "gpu08", "gpu09", "gpu10", "gpu12"]);
        assert_eq!(names("r[1-2]n[1-2]"), ["r1n1", "r1n2", "r2n1", "r2n2"]);
        assert_eq!(names("odd[a-b],open[1-2"), ["odda-b", "open[1-2"]);
        assert_eq!((count(""), count("n1"), count("n[1-3],m")), (0, 1, 4));
        for nothing in ["", "(null)", "None assigned"] {
            assert_eq!(names(nothing), Vec::<String>::new());
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
            let mut all = names(list);
            assert_eq!(compress(&all), short);
            all.sort();
            all.dedup();
            let mut back = names(&compress(&all));
            back.sort();
            assert_eq!(back, all);
        }
    }

    #[test]
    fn a_range_of_a_few_bytes_is_no_attack() {
        assert_eq!(count("n[0-18446744073709551615]"), MOST_NODES);
        assert_eq!(count("n[0-99999]x[0-99999]"), MOST_NODES);
        assert_eq!(count("n[0-18446744073709551615][]"), MOST_NODES);
        assert_eq!(names("n[1-2][],m[,]"), ["n1[]", "n2[]", "m[,]"]);
        assert_eq!(count(&format!("n[{:0>60000}-65535]", 1)), 1);
    }
}
