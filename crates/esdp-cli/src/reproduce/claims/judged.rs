//! A claim under every reading of the paper, and which reading makes most of them true.

use super::super::evidence::Evidence;
use super::super::reading::{BASELINES, Margin, Reading, Setting};
use super::{Claim, Verdict, under};
use esdp_report::csv as line;
use serde::Serialize;

/// A claim under the first reading, and under the others as far as they make a difference.
#[derive(Debug, Clone, Serialize)]
pub(in super::super) struct Judged {
    #[serde(flatten)]
    pub(in super::super) claim: Claim,
    pub(in super::super) readings: Vec<Variant>,
    /// The open points that change nothing of this claim, whatever the rest.
    #[serde(skip)]
    idle: Vec<Point>,
}

/// A claim under another reading.
#[derive(Debug, Clone, Serialize)]
pub(in super::super) struct Variant {
    /// What it says of each open point that differs from the first reading.
    pub(in super::super) reading: String,
    #[serde(skip)]
    pub(in super::super) read: Reading,
    pub(in super::super) measured: String,
    pub(in super::super) value: f64,
    pub(in super::super) stderr: f64,
    pub(in super::super) verdict: Verdict,
}

/// How many claims a reading makes true.
#[derive(Debug, Clone, Serialize)]
pub(in super::super) struct Tally {
    pub(in super::super) reading: String,
    pub(in super::super) reproduced: usize,
    pub(in super::super) partly: usize,
    pub(in super::super) not: usize,
    pub(in super::super) unclear: usize,
}

/// What the first reading is called among the others.
pub(in super::super) const FIRST: &str = "the first reading";

/// Something that is open in the paper: a reading with it as in the first one.
type Point = fn(Reading) -> Reading;

const POINTS: [Point; 3] = [
    |reading| Reading { hauf: Reading::FIRST.hauf, stop: Reading::FIRST.stop, ..reading },
    |reading| Reading { margin: Reading::FIRST.margin, ..reading },
    |reading| Reading { growing: Reading::FIRST.growing, ..reading },
];

/// Every reading: those of the whole evaluation, and those of each setting over time.
fn all() -> Vec<Reading> {
    let mut all = Reading::all();
    for setting in Setting::ALL.into_iter().skip(1) {
        for (hauf, stop) in BASELINES {
            for margin in [Margin::MeanOfRatios, Margin::RatioOfMeans] {
                all.push(Reading { hauf, stop, margin, growing: false, setting });
            }
        }
    }
    all
}

/// Judges every claim whose figure was measured, under every reading.
pub(in super::super) fn judge(evidence: &Evidence) -> Vec<Judged> {
    let found: Vec<(Reading, Vec<Claim>)> =
        all().into_iter().map(|reading| (reading, under(evidence, reading))).collect();
    let first = found.first().map(|(_, claims)| claims.clone()).unwrap_or_default();
    first.into_iter().map(|claim| one(claim, &found)).collect()
}

fn one(claim: Claim, found: &[(Reading, Vec<Claim>)]) -> Judged {
    let under = |reading: Reading| {
        let claims = found.iter().find(|(read, _)| *read == reading);
        claims.and_then(|(_, claims)| claims.iter().find(|other| other.id == claim.id))
    };
    let told = |reading| under(reading).map(|claim| (&claim.measured, claim.verdict));
    let changes_nothing = |point: &Point| found.iter().all(|(read, _)| told(*read) == told(point(*read)));
    let idle: Vec<Point> = POINTS.into_iter().filter(changes_nothing).collect();
    let readings = found.iter().filter(|(reading, _)| {
        *reading != Reading::FIRST && idle.iter().all(|point| point(*reading) == *reading)
    });
    let variant = |&(read, _): &(Reading, _)| {
        let Claim { measured, value, stderr, verdict, .. } = under(read)?.clone();
        Some(Variant { reading: read.words(), read, measured, value, stderr, verdict })
    };
    let readings = readings.filter_map(variant).collect();
    Judged { claim, readings, idle }
}

impl Judged {
    /// The verdict under a reading, and what was measured; none where it was not.
    pub(in super::super) fn under(&self, reading: Reading) -> Option<(Verdict, &str)> {
        let reading = self.idle.iter().fold(reading, |reading, point| point(reading));
        if reading == Reading::FIRST {
            return Some((self.claim.verdict, &self.claim.measured));
        }
        let variant = self.readings.iter().find(|variant| variant.read == reading)?;
        Some((variant.verdict, &variant.measured))
    }
}

/// How many claims each reading of the whole evaluation makes true, the most first.
pub(in super::super) fn tallies(claims: &[Judged]) -> Vec<Tally> {
    let tally = |reading: Reading| {
        let verdicts: Vec<Verdict> =
            claims.iter().filter_map(|claim| Some(claim.under(reading)?.0)).collect();
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let words = reading.words();
        Tally {
            reading: if words.is_empty() { FIRST.to_owned() } else { words },
            reproduced: count(Verdict::Reproduced),
            partly: count(Verdict::Partly),
            not: count(Verdict::NotReproduced),
            unclear: count(Verdict::Unclear),
        }
    };
    let mut all: Vec<Tally> = Reading::all().into_iter().map(tally).collect();
    all.sort_by_key(|tally| (std::cmp::Reverse(tally.reproduced), std::cmp::Reverse(tally.partly)));
    all
}

/// The same as CSV.
pub(in super::super) fn tallies_csv(claims: &[Judged]) -> String {
    let mut text = String::from("reading,reproduced,partly,not,unclear\n");
    for Tally { reading, reproduced, partly, not, unclear } in tallies(claims) {
        let counts = [reproduced, partly, not, unclear].map(|count| count.to_string());
        text.push_str(&line::line([reading].into_iter().chain(counts)));
    }
    text
}

/// All claims as CSV, a row for each reading that makes a difference.
pub(in super::super) fn csv(claims: &[Judged]) -> String {
    let mut text = String::from("id,reading,figure,claim,rule,measured,value,stderr,unit,verdict\n");
    for Judged { claim, readings, .. } in claims {
        let Claim { id, figure, claim: said, rule, measured, value, stderr, unit, verdict } = claim;
        let mut row = |reading: &str, measured: &str, value: f64, stderr: f64, verdict: Verdict| {
            let (value, stderr) = (value.to_string(), stderr.to_string());
            let fields = [id, reading, figure, said, rule, measured, &value, &stderr, unit, verdict.text()];
            text.push_str(&line::line(fields));
        };
        row("", measured, *value, *stderr, *verdict);
        for other in readings {
            row(&other.reading, &other.measured, other.value, other.stderr, other.verdict);
        }
    }
    text
}
