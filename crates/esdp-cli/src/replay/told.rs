//! The result as text, JSON and CSV.

use super::check::Check;
use super::compare::{Compared, Gain};
use super::play::Runs;
use super::speeds::{Answers, Source};
use crate::expect::Expectation;
use esdp_engine::seeds_in_words;
use esdp_report::csv;
use esdp_report::table::TextTable;
use esdp_trace::relative::SpeedTrial;
use esdp_trace::replay::{Played, time};
use serde_json::{Value, json};

/// The numbers of a policy that a threshold may name.
pub(super) const KEYS: [&str; 8] =
    ["completion_s", "wait_s", "wait_p99_s", "wait_max_s", "slowdown", "utilisation", "finished", "gain"];
/// Fewer jobs tell nothing.
const FEW: usize = 100;
/// Waiting that is so much longer is told beside a gain.
const WORSE: f64 = 1.2;
/// Who others are compared with: what a cluster has today.
const TODAY: &str = "easy";

/// Everything that is told.
pub(super) struct Told {
    pub(super) headline: Vec<String>,
    pub(super) assumed: Vec<String>,
    pub(super) measured: Vec<String>,
    /// Sentences about the gain.
    pub(super) gained: Vec<String>,
    /// And about how sure that is.
    pub(super) sure: Vec<String>,
    pub(super) answers: Vec<(String, Compared)>,
    pub(super) labels: Vec<String>,
    /// The position of the one that others are compared with.
    pub(super) base: usize,
    check: Option<Check>,
    tried: Option<SpeedTrial>,
    seeds: Vec<u64>,
}

impl Told {
    pub(super) fn new(played: &Played, answers: &Answers, runs: &Runs, check: Option<Check>) -> Self {
        let compared: Vec<(String, Compared)> = answers
            .list
            .iter()
            .zip(&runs.runs)
            .map(|(answer, runs)| (answer.name(), Compared::new(played, runs)))
            .collect();
        let labels = runs.labels.clone();
        let base = labels.iter().position(|label| label == TODAY).unwrap_or(labels.len() - 1);
        let mut measured = answers.measured.clone();
        if let Some(today) = played.today() {
            measured.push(format!(
                "Today, by the log, {} jobs wait {} on average (median {}, 99th percentile {}) and are done \
                 after {}.",
                today.jobs,
                time(today.mean_wait),
                time(today.median_wait),
                time(today.p99_wait),
                time(today.mean_completion)
            ));
        }
        measured.extend(check.iter().map(Check::words));
        let headline = vec![format!("{}.", played.words()), format!("{}.", played.window.words)];
        let assumed = answers.assumed.iter().chain(&played.notes).cloned().collect();
        let seeds = runs.seeds.clone();
        let mut told = Self {
            headline,
            assumed,
            measured,
            gained: Vec::new(),
            sure: Vec::new(),
            answers: compared,
            labels,
            base,
            check,
            tried: played.tried.filter(|_| answers.list[0].source == Source::Accounting),
            seeds,
        };
        told.gained = told.gains(answers);
        told.sure = told.certainty(played, answers);
        told
    }

    fn gains(&self, answers: &Answers) -> Vec<String> {
        let base = &self.labels[self.base];
        let learner = |label: &&String| {
            !["oracle", "conservative", "first-fit", "lwtf", "hauf", "lcf", "random"]
                .contains(&label.as_str())
                && *label != base
        };
        let mut sentences = Vec::new();
        for label in self.labels.iter().filter(learner) {
            let own = self.labels.iter().position(|other| other == label).unwrap_or(0);
            if let [(_, only)] = self.answers.as_slice() {
                let gain = only.gain(own, self.base);
                let mut sentence = format!("{label}: mean completion {} than `{base}`'s", against(gain));
                if let Some(oracle) = self.labels.iter().position(|label| label == "oracle") {
                    sentence += &format!(
                        "; knowing every speed beforehand would give {}",
                        against(only.gain(oracle, self.base))
                    );
                }
                sentences.push(sentence + ".");
                let [own, base] = [own, self.base].map(|at| only.rows[at].wait_p99);
                if own > WORSE * base {
                    sentences.push(format!(
                        "BUT A FEW JOBS WAIT LONGER: one in a hundred for {} or more, against {}.",
                        time(own),
                        time(base)
                    ));
                }
                continue;
            }
            let each = answers.list.iter().zip(&self.answers).map(|(answer, (_, compared))| {
                let gain = against(compared.gain(own, self.base));
                match answer.source {
                    Source::Assumed(1.0) => format!("{gain} if all servers are alike"),
                    Source::Assumed(spread) => {
                        format!("{gain} if the fastest is {spread:.1} times as fast as the slowest")
                    }
                    _ => gain,
                }
            });
            sentences.push(format!(
                "{label}: mean completion against `{base}`: {}.",
                each.collect::<Vec<_>>().join("; ")
            ));
        }
        sentences
    }

    fn certainty(&self, played: &Played, answers: &Answers) -> Vec<String> {
        let mut sentences = Vec::new();
        if played.jobs.len() < FEW {
            sentences.push(format!(
                "ONLY {} JOBS: that shows nothing. A longer trace or another part would: of known length \
                 {}.",
                played.jobs.len(),
                played.elsewhere
            ));
        }
        let mut jobs: Vec<String> =
            self.answers.iter().map(|(_, compared)| compared.jobs.to_string()).collect();
        jobs.dedup();
        sentences.push(format!(
            "Intervals are of 95 %, paired over the same {} jobs that all have done, seed{} {}.",
            jobs.join(", "),
            if self.seeds.len() == 1 { "" } else { "s" },
            seeds_in_words(&self.seeds)
        ));
        if self.answers.iter().any(|(_, compared)| compared.jobs < played.jobs.len()) {
            sentences.push(format!(
                "Of {} jobs those are left out that some policy has not done after 20 times the window.",
                played.jobs.len()
            ));
        }
        match &self.check {
            Some(check) => sentences.push(format!(
                "The log played again is off by {:.1} %, by slots and room alone: smaller gains are not to \
                 be trusted, and larger ones are as good as the speeds, which {}.",
                check.mean_off_percent.abs(),
                if self.tried.is_some() { "were tried apart" } else { "this does not try" }
            )),
            None => sentences.push(
                "The error of the model is unknown: the log does not say when and where jobs \
                 ran."
                    .to_owned(),
            ),
        }
        match answers.list[0].source {
            Source::Assumed(_) => {
                sentences.push("The gain depends on speeds that were not measured.".to_owned())
            }
            Source::Borrowed => sentences.push("The speeds were measured on other jobs.".to_owned()),
            Source::Table | Source::Accounting => {}
        }
        sentences
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let list = |head: &str, sentences: &[String]| -> String {
            if sentences.is_empty() {
                return String::new();
            }
            format!("\n{head}\n") + &sentences.iter().map(|text| format!("- {text}\n")).collect::<String>()
        };
        let mut text: String = self.headline.iter().map(|line| format!("{line}\n")).collect();
        text += &list("Assumed", &self.assumed);
        text += &list("Measured", &self.measured);
        for (name, compared) in &self.answers {
            text += &if name.is_empty() {
                "\n".to_owned()
            } else {
                format!("\nFastest over slowest server: {name}\n")
            };
            text += &self.table(compared);
        }
        text += &list("Gained", &self.gained);
        text + &list("How sure", &self.sure)
    }

    fn table(&self, compared: &Compared) -> String {
        let against = format!("against {}", self.labels[self.base]);
        let mut table = TextTable::new(&[
            "",
            "completion",
            &against,
            "95 % interval",
            "wait",
            "wait p99",
            "slowdown",
            "busy",
        ]);
        for (at, label) in self.labels.iter().enumerate() {
            let row = &compared.rows[at];
            let gain = compared.gain(at, self.base);
            let shorter = if at == self.base { String::new() } else { format!("{} %", longer(gain.percent)) };
            let interval = gain.interval.filter(|_| at != self.base);
            table.row([
                label.clone(),
                time(row.completion),
                shorter,
                interval
                    .map_or_else(String::new, |(low, high)| format!("{} to {}", longer(high), longer(low))),
                time(row.wait),
                time(row.wait_p99),
                format!("{:.2}", row.slowdown),
                format!("{:.0} %", 100.0 * row.utilisation),
            ]);
        }
        table.render()
    }

    /// A number of a policy, by its key; of the first answer.
    fn number(&self, policy: usize, key: &str) -> f64 {
        let compared = &self.answers[0].1;
        let row = &compared.rows[policy];
        match key {
            "completion_s" => row.completion,
            "wait_s" => row.wait,
            "wait_p99_s" => row.wait_p99,
            "wait_max_s" => row.wait_max,
            "slowdown" => row.slowdown,
            "utilisation" => row.utilisation,
            "finished" => row.finished,
            _ => compared.gain(policy, self.base).percent,
        }
    }

    /// What is wrong with a threshold, if anything.
    pub(super) fn complaint(&self, expectation: &Expectation) -> Option<String> {
        let policy = self.labels.iter().position(|label| *label == expectation.policy)?;
        expectation.complaint(None, self.number(policy, &expectation.key))
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let policy = |compared: &Compared, at: usize| {
            let row = &compared.rows[at];
            let gain = compared.gain(at, self.base);
            json!({
                "name": self.labels[at],
                "completion_s": row.completion,
                "wait_s": row.wait,
                "wait_p99_s": row.wait_p99,
                "wait_max_s": row.wait_max,
                "slowdown": row.slowdown,
                "utilisation": row.utilisation,
                "finished": row.finished,
                "gain": gain.percent,
                "gain_low": gain.interval.map(|interval| interval.0),
                "gain_high": gain.interval.map(|interval| interval.1),
            })
        };
        let answer = |(name, compared): &(String, Compared)| {
            let policies: Vec<Value> = (0..self.labels.len()).map(|at| policy(compared, at)).collect();
            json!({ "speeds": name, "jobs": compared.jobs, "policies": policies })
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "played": self.headline,
            "assumed": self.assumed,
            "measured": self.measured,
            "gained": self.gained,
            "how_sure": self.sure,
            "against": self.labels[self.base],
            "seeds": self.seeds,
            "model_error": self.check,
            "speeds_tried": self.tried,
            "answers": self.answers.iter().map(answer).collect::<Vec<_>>(),
        })
    }

    /// For spreadsheets.
    pub(super) fn csv(&self) -> String {
        let mut text =
            csv::line(["speeds", "policy"].into_iter().chain(KEYS).chain(["gain_low", "gain_high"]));
        for (name, compared) in &self.answers {
            for (at, label) in self.labels.iter().enumerate() {
                let row = &compared.rows[at];
                let gain = compared.gain(at, self.base);
                let numbers = [
                    row.completion,
                    row.wait,
                    row.wait_p99,
                    row.wait_max,
                    row.slowdown,
                    row.utilisation,
                    row.finished,
                    gain.percent,
                ];
                let ends = gain.interval.map_or([String::new(), String::new()], |(low, high)| {
                    [low.to_string(), high.to_string()]
                });
                let cells = [name.clone(), label.clone()]
                    .into_iter()
                    .chain(numbers.map(|n| n.to_string()))
                    .chain(ends);
                text += &csv::line(cells);
            }
        }
        text
    }
}

/// A gain as what it changes: `-12.3`. What is no change has no minus.
pub(super) fn longer(gain: f64) -> String {
    // Adding 0 takes the sign off a zero.
    format!("{:+.1}", (-10.0 * gain).round() / 10.0 + 0.0)
}

/// `12.3 % shorter (95 % interval: 10.1 to 14.5)`.
fn against(gain: Gain) -> String {
    let words = if gain.percent >= 0.0 { "shorter" } else { "longer" };
    let sign = if gain.percent >= 0.0 { 1.0 } else { -1.0 };
    let interval = gain.interval.map_or_else(
        || " (too few jobs for an interval)".to_owned(),
        |(low, high)| {
            let (low, high) = if sign > 0.0 { (low, high) } else { (-high, -low) };
            let [low, high] = [low, high].map(|end| (10.0 * end).round() / 10.0 + 0.0);
            format!(" (95 % interval: {low:.1} to {high:.1})")
        },
    );
    format!("{:.1} % {words}{interval}", gain.percent.abs())
}
