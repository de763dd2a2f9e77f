//! The result of several policies and seeds, as means and standard errors.

use crate::{Contender, PolicyRun};
use esdp::policy::PolicySpec;
use esdp::sim::{CurvePoint, Histogram, JobCounts, LostTime, Summary};

/// What several policies did under several seeds.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// The horizon.
    pub slots: u64,
    /// The seeds that were asked for.
    pub asked: Vec<u64>,
    /// Those that are complete, for every policy.
    pub seeds: Vec<u64>,
    /// The policies, in the order asked for.
    pub policies: Vec<PolicyOutcome>,
}

/// What one policy did.
#[derive(Debug, Clone)]
pub struct PolicyOutcome {
    /// What tells it from the others; its name, if the scenario does not say otherwise.
    pub label: String,
    /// The policy, if it is one of the library's.
    pub spec: Option<PolicySpec>,
    /// One run a complete seed, in their order.
    pub runs: Vec<PolicyRun>,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Its standard error; 0 where a single seed tells nothing about it (see [`error`](Spread::error)).
    pub stderr: f64,
    /// The number of seeds.
    pub n: usize,
}

impl Spread {
    /// Mean and standard error of some values, in their order.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let (n, count) = (values.len(), values.len() as f64);
        if n == 0 {
            return Self { mean: 0.0, stderr: 0.0, n };
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let stderr = if n > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        Self { mean, stderr, n }
    }

    /// The standard error; none where a single seed tells nothing about it.
    pub fn error(&self) -> Option<f64> {
        (self.n > 1).then_some(self.stderr)
    }
}

impl RunOutcome {
    /// Joins the runs of the seeds asked for; those that are `None` are left out.
    pub fn collect(
        policies: &[Contender],
        slots: u64,
        asked: &[u64],
        runs: impl IntoIterator<Item = Option<Vec<PolicyRun>>>,
    ) -> Self {
        let empty = |policy: &Contender| PolicyOutcome {
            label: policy.label().to_owned(),
            spec: policy.spec().cloned(),
            runs: Vec::new(),
        };
        let mut policies: Vec<PolicyOutcome> = policies.iter().map(empty).collect();
        let mut seeds = Vec::new();
        for (&seed, runs) in asked.iter().zip(runs) {
            let Some(runs) = runs else { continue };
            seeds.push(seed);
            policies.iter_mut().zip(runs).for_each(|(policy, run)| policy.runs.push(run));
        }
        Self { slots, asked: asked.to_vec(), seeds, policies }
    }

    /// Whether every seed asked for is done.
    pub fn is_complete(&self) -> bool {
        self.seeds.len() == self.asked.len()
    }
}

impl PolicyOutcome {
    /// Whether it is the oracle, who is the yardstick and no rival.
    pub fn is_oracle(&self) -> bool {
        matches!(self.spec, Some(PolicySpec::Oracle {}))
    }

    /// A number of every run, as a mean.
    pub fn spread(&self, value: impl Fn(&Summary) -> f64) -> Spread {
        Spread::of(self.runs.iter().map(|run| value(&run.summary)))
    }

    /// The expected utility of all that was chosen.
    pub fn aou(&self) -> Spread {
        self.spread(|summary| summary.aou)
    }

    /// A number of every run, in the order of the seeds; none where a run does not have it.
    pub fn each(&self, value: impl Fn(&Summary) -> Option<f64>) -> Option<Vec<f64>> {
        self.runs.iter().map(|run| value(&run.summary)).collect()
    }

    /// The AOU as a share of the oracle's; none where there was no oracle.
    pub fn oracle_ratio(&self) -> Option<Spread> {
        self.each(Summary::oracle_ratio).map(Spread::of)
    }

    /// What was lost against the oracle; none where there was none.
    pub fn regret(&self) -> Option<Spread> {
        self.each(Summary::regret).map(Spread::of)
    }

    /// The share of uses that went to channels with few observations so far; none for policies that learn
    /// nothing.
    pub fn exploration(&self) -> Option<Spread> {
        self.each(|summary| summary.learns.then(|| summary.exploration_share())).map(Spread::of)
    }

    /// The share of slots whose choice was proved optimal; none for policies that solve no problem.
    pub fn proved(&self) -> Option<Spread> {
        self.runs.iter().any(|run| run.summary.solved > 0).then(|| self.spread(Summary::proved_share))
    }

    /// The mean share of each device that was used.
    pub fn utilisation(&self) -> Vec<f64> {
        let each: Vec<Vec<f64>> = self.runs.iter().map(|run| run.summary.utilisation()).collect();
        let devices = each.first().map_or(0, Vec::len);
        let mean = |device: usize| Spread::of(each.iter().map(|run| run[device])).mean;
        (0..devices).map(mean).collect()
    }

    /// The mean completion time of jobs, in slots; none where no job was ever done.
    pub fn completion(&self) -> Option<Spread> {
        let means: Vec<f64> = self.runs.iter().filter_map(|run| run.summary.jobs.mean_completion()).collect();
        (!means.is_empty()).then(|| Spread::of(means))
    }

    /// The slots within which this share of the jobs of all seeds had done something.
    pub fn slots_within(&self, share: f64, of: impl Fn(&JobCounts) -> &Histogram) -> Option<f64> {
        let mut slots = Histogram::default();
        self.runs.iter().for_each(|run| slots.merge(of(&run.summary.jobs)));
        slots.percentile(share)
    }

    /// The mean share of the device time that was left idle on purpose.
    pub(crate) fn lost(&self, value: impl Fn(&LostTime) -> f64) -> f64 {
        let share = |summary: &Summary| {
            let devices = summary.available.iter().sum::<f64>() * summary.slots as f64;
            if devices > 0.0 { value(&summary.jobs.lost) / devices } else { 0.0 }
        };
        self.spread(share).mean
    }

    /// A curve over the slots: slot, mean, standard error.
    pub fn curve(&self, value: impl Fn(&CurvePoint) -> f64) -> Vec<(f64, f64, f64)> {
        let spreads = self.spreads(|point| Some(value(point)));
        spreads.into_iter().map(|(slot, spread)| (slot as f64, spread.mean, spread.stderr)).collect()
    }

    /// The mean number of waiting jobs between the points of the curves: slot, mean, standard error.
    pub fn queue(&self) -> Vec<(u64, Spread)> {
        let points = self.runs.iter().map(|run| run.series.len()).min().unwrap_or(0);
        let at = |point: usize| {
            let waiting = |run: &PolicyRun| {
                let (now, before) = (&run.series[point], point.checked_sub(1).map(|at| &run.series[at]));
                let (slot, waited) = before.map_or((0, 0), |before| (before.slot, before.waited));
                (now.waited - waited) as f64 / (now.slot - slot) as f64
            };
            (self.runs[0].series[point].slot, Spread::of(self.runs.iter().map(waiting)))
        };
        (0..points).map(at).collect()
    }

    /// A number of the curves of all seeds, slot by slot; nothing where a curve does not have it.
    pub fn spreads(&self, value: impl Fn(&CurvePoint) -> Option<f64>) -> Vec<(u64, Spread)> {
        let points = self.runs.iter().map(|run| run.series.len()).min().unwrap_or(0);
        let at = |point: usize| {
            let values: Option<Vec<f64>> = self.runs.iter().map(|run| value(&run.series[point])).collect();
            Some((self.runs[0].series[point].slot, Spread::of(values?)))
        };
        (0..points).filter_map(at).collect()
    }

    /// The time in microseconds within which this share of all decisions was taken.
    pub fn decision_us(&self, share: f64) -> f64 {
        let mut times = Histogram::default();
        self.runs.iter().for_each(|run| times.merge(&run.summary.times));
        times.percentile(share).map_or(0.0, |nanos| nanos / 1e3)
    }
}

/// The seeds in words: `0 to 9`, or a list.
pub fn seeds_in_words(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.windows(2).all(|pair| pair[0] + 1 == pair[1]) => {
            format!("{first} to {last}")
        }
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_read_well() {
        assert_eq!(seeds_in_words(&[0, 1, 2]), "0 to 2");
        assert_eq!(seeds_in_words(&[7]), "7");
        assert_eq!(seeds_in_words(&[3, 14]), "3, 14");
    }

    #[test]
    fn means_and_standard_errors() {
        let spread = Spread::of([1.0, 2.0, 3.0, 6.0]);
        assert_eq!((spread.mean, spread.n), (3.0, 4));
        // Sample variance 14/3, divided by 4 seeds.
        assert!((spread.stderr - (14.0f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of([5.0]), Spread { mean: 5.0, stderr: 0.0, n: 1 });
        assert_eq!(Spread::of([]).n, 0);
        assert_eq!([Spread::of([5.0]).error(), Spread::of([5.0, 5.0]).error()], [None, Some(0.0)]);
    }
}
