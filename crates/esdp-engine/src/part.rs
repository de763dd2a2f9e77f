//! The results of one scenario and seed as a text: what makes a sweep, and a reproduction, resumable.
//!
//! A part is named by a hash of what it was computed from ([`key`]), and holds a hash of what it holds. One
//! that is cut short or damaged is none, and is computed again. Where parts are kept is the caller's affair.

use crate::{Contender, PolicyRun, Unit};
use esdp::scenario::{Scenario, SeedTable};
use esdp::sim::{CurvePoint, Summary};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    key: String,
    /// The hash of `policies` as JSON.
    sum: String,
    policies: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    label: String,
    summary: Summary,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    series: Vec<CurvePoint>,
}

/// What the numbers of a scenario depend on: the build and the scenario, not which seeds it lists.
pub fn key(scenario: &Scenario) -> u128 {
    key_of(esdp::BUILD, scenario)
}

fn key_of(build: &str, scenario: &Scenario) -> u128 {
    let seedless =
        scenario.change(|spec| spec.seeds = SeedTable::list([0])).map(|scenario| scenario.to_toml());
    // Every scenario takes a list of seeds; were that to change, all seeds would count.
    let text = seedless.unwrap_or_else(|_| scenario.to_toml());
    hash([build.as_bytes(), text.as_bytes()])
}

fn sum(entries: &[Entry]) -> serde_json::Result<String> {
    Ok(format!("{:032x}", hash([serde_json::to_vec(entries)?.as_slice()])))
}

/// The results of a unit, with their curves if they have any, as the text of a part.
///
/// # Errors
/// When a number has no JSON; there is none such.
pub fn encode(key: &str, unit: &Unit<'_>, runs: Vec<PolicyRun>) -> serde_json::Result<String> {
    let entry = |(label, run): (&str, PolicyRun)| Entry {
        label: label.to_owned(),
        summary: run.summary,
        series: run.series,
    };
    let policies: Vec<Entry> = unit.policies.iter().map(Contender::label).zip(runs).map(entry).collect();
    let part = Part { key: key.to_owned(), sum: sum(&policies)?, policies };
    Ok(serde_json::to_string(&part)? + "\n")
}

/// The results in the text of a part, if it is that of this key and unit, and in good order.
pub fn decode(key: &str, unit: &Unit<'_>, text: &[u8]) -> Option<Vec<PolicyRun>> {
    let part: Part = serde_json::from_slice(text).ok()?;
    // A run that goes on until nothing waits is longer.
    let is_whole = |slots| slots == unit.slots || unit.scenario.drains() && slots > unit.slots;
    let labels = part.policies.iter().map(|entry| entry.label.as_str());
    let fits = part.key == key
        && labels.eq(unit.policies.iter().map(Contender::label))
        && part.policies.iter().all(|entry| is_whole(entry.summary.slots))
        && sum(&part.policies).ok()? == part.sum;
    let run = |Entry { summary, series, .. }: Entry| PolicyRun {
        summary,
        series,
        insights: Vec::new(),
        estimates: Vec::new(),
    };
    fits.then(|| part.policies.into_iter().map(run).collect())
}

/// FNV-1a in 128 bits: names files, and notices damage. It is not there against malice.
fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    parts.into_iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, part| {
        // A byte that ends the part: "ab", "c" is not "a", "bc".
        step(part.iter().fold(hash, |hash, &byte| step(hash, byte)), 0xff)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, run};

    #[test]
    fn what_is_damaged_does_not_count() {
        let scenario = Scenario::preset("default").unwrap().set("policies", "esdp, hauf").unwrap();
        let policies = &Contender::of(&scenario);
        let unit = Unit { scenario: &scenario, policies, slots: 40, seed: 0 };
        let runs = run(&[unit], &Options::default(), &|_, _| Ok(())).unwrap().remove(0).unwrap();

        let text = encode("key", &unit, runs.clone()).unwrap();
        // What policies found out on the way is shown of single runs, and not kept.
        let kept = |run: &PolicyRun| PolicyRun { insights: Vec::new(), estimates: Vec::new(), ..run.clone() };
        assert_eq!(decode("key", &unit, text.as_bytes()).unwrap(), runs.iter().map(kept).collect::<Vec<_>>());
        assert!(decode("other", &unit, text.as_bytes()).is_none());
        assert!(decode("key", &Unit { slots: 41, ..unit }, text.as_bytes()).is_none());

        let digit = text.find("\"aou\":").unwrap() + 6;
        let other = if text[digit..].starts_with('7') { '8' } else { '7' };
        let changed = format!("{}{other}{}", &text[..digit], &text[digit + 1..]);
        for damaged in [&text[..text.len() / 2], "", "{}", changed.as_str()] {
            assert!(decode("key", &unit, damaged.as_bytes()).is_none(), "{damaged}");
        }
    }

    #[test]
    fn a_run_that_goes_on_until_nothing_waits_is_whole() {
        let scenario = Scenario::preset("gang-queue").unwrap().set("policies", "lwtf").unwrap();
        let drained = scenario.set("jobs.drain", "true").unwrap();
        let policies = &Contender::of(&drained);
        let unit = Unit { scenario: &drained, policies, slots: 40, seed: 0 };
        let runs = run(&[unit], &Options::default(), &|_, _| Ok(())).unwrap().remove(0).unwrap();
        assert!(runs[0].summary.slots > 40, "{}", runs[0].summary.slots);
        let text = encode("key", &unit, runs).unwrap();
        assert!(decode("key", &unit, text.as_bytes()).is_some());
        assert!(decode("key", &Unit { scenario: &scenario, ..unit }, text.as_bytes()).is_none());
        assert!(decode("key", &Unit { slots: 4000, ..unit }, text.as_bytes()).is_none());
    }

    #[test]
    fn another_build_does_not_find_them() {
        let scenario = Scenario::preset("default").unwrap();
        assert_eq!(key(&scenario), key_of(esdp::BUILD, &scenario));
        assert_ne!(key(&scenario), key_of("0.1.0+0123456789abcdef", &scenario));
        assert!(esdp::BUILD.starts_with(concat!(env!("CARGO_PKG_VERSION"), "+")), "{}", esdp::BUILD);
    }

    #[test]
    fn the_hash_is_fnv() {
        // From the reference: the empty text, then our end of part.
        assert_eq!(hash([]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_ne!(hash(["ab".as_bytes(), b"c"]), hash(["a".as_bytes(), b"bc"]));
    }
}
