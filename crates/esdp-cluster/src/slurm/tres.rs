//! Devices in Slurm's words: `gpu:a100:2(S:0-1)` of a node, `gres:gpu:1` or `gres/gpu:a100=2` of a job.
//!
//! A typed GRES is two devices, `gpu` and `gpu:a100`: a job that names the type takes of both, one that does
//! not takes of the first.

use esdp::model::Amounts;

/// The devices in a list, added up; what is not a GRES is left out.
pub fn gres(list: &str) -> Amounts {
    let mut amounts = Amounts::new();
    for part in without_brackets(list).split(',') {
        let part = part.trim().trim_start_matches("gres:").trim_start_matches("gres/");
        let part = part.replace('=', ":");
        let mut words = part.split(':');
        let Some(name) = words.next().filter(|name| !name.is_empty() && *name != "(null)") else { continue };
        let rest: Vec<&str> = words.collect();
        let (kind, number) = match rest[..] {
            [] => (None, Some(1)),
            [one] => amount(one).map_or((Some(one), Some(1)), |number| (None, Some(number))),
            [kind, number, ..] => (Some(kind), amount(number)),
        };
        let Some(number) = number else { continue };
        *amounts.entry(name.to_owned()).or_default() += number;
        if let Some(kind) = kind {
            *amounts.entry(format!("{name}:{kind}")).or_default() += number;
        }
    }
    amounts
}

/// A number with Slurm's suffixes.
fn amount(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// `gpu:2(IDX:0,1)` without what is in brackets, where commas mean something else.
fn without_brackets(list: &str) -> String {
    let mut depth = 0;
    let keep = |c: &char| {
        depth += i32::from(*c == '(');
        let kept = depth == 0;
        depth -= i32::from(*c == ')');
        kept
    };
    list.chars().filter(keep).collect()
}

/// A value of a list such as `cpu=4,mem=8000M,node=2`.
pub fn tres(list: &str, key: &str) -> Option<f64> {
    let value = list.split(',').find_map(|part| part.strip_prefix(key)?.strip_prefix('='))?;
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    // Memory is counted in MB.
    let factor = match value[digits.len()..].to_ascii_uppercase().as_str() {
        "K" => 1.0 / 1024.0,
        "G" => 1024.0,
        "T" => 1024.0 * 1024.0,
        _ => 1.0,
    };
    digits.parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(list: &[(&str, u64)]) -> Amounts {
        list.iter().map(|&(name, amount)| (name.to_owned(), amount)).collect()
    }

    #[test]
    fn devices_are_read_in_every_spelling() {
        assert_eq!(gres("gpu:a100:2(S:0-1),nvme:1"), devices(&[("gpu", 2), ("gpu:a100", 2), ("nvme", 1)]));
        assert_eq!(
            gres("gpu:a100:1(IDX:0,1),gpu:h100:2"),
            devices(&[("gpu", 3), ("gpu:a100", 1), ("gpu:h100", 2)])
        );
        for list in ["gres:gpu:2", "gres/gpu:2", "gres/gpu=2", "gpu:2"] {
            assert_eq!(gres(list), devices(&[("gpu", 2)]), "{list}");
        }
        assert_eq!(gres("gres:gpu"), devices(&[("gpu", 1)]));
        assert_eq!(gres("gres/gpu:a100=2"), devices(&[("gpu", 2), ("gpu:a100", 2)]));
        assert_eq!(gres("gpu:a100:0(IDX:N/A)"), devices(&[("gpu", 0), ("gpu:a100", 0)]));
        assert_eq!(gres(""), devices(&[]));
        assert_eq!(gres("(null)"), devices(&[]));
    }

    #[test]
    fn memory_is_in_megabytes() {
        let list = "cpu=4,mem=8G,node=2,billing=4";
        assert_eq!(
            (tres(list, "cpu"), tres(list, "mem"), tres(list, "gpu")),
            (Some(4.0), Some(8192.0), None)
        );
        assert_eq!(tres("mem=8000M", "mem"), Some(8000.0));
    }
}
