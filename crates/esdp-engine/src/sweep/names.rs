//! Short names of varied keys: as much of their end as tells them apart.

use super::Vary;

/// `arrivals.rho` is `rho`; `policies.a.kappa` and `policies.b.kappa` are `a.kappa` and `b.kappa`.
pub(super) fn short_names(vary: &[Vary]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = vary.iter().map(|vary| vary.key.split('.').collect()).collect();
    let end = |parts: &[&str], length: usize| parts[parts.len().saturating_sub(length)..].join(".");
    let name = |own: &Vec<&str>| {
        let is_unique = |length: &usize| {
            parts.iter().filter(|other| end(other, *length) == end(own, *length)).count() == 1
        };
        (1..own.len()).find(is_unique).map_or_else(|| own.join("."), |length| end(own, length))
    };
    parts.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_short_as_tells_them_apart() {
        let names = |keys: &[&str]| {
            let vary = |key: &&str| Vary { key: (*key).to_owned(), values: Vec::new() };
            short_names(&keys.iter().map(vary).collect::<Vec<_>>())
        };
        assert_eq!(names(&["arrivals.rho", "slots"]), ["rho", "slots"]);
        assert_eq!(names(&["policies.a.kappa", "policies.b.kappa"]), ["a.kappa", "b.kappa"]);
        assert_eq!(names(&["kappa", "a.kappa"]), ["kappa", "a.kappa"]);
    }
}
