//! The same jobs under every policy: means over jobs and seeds, and paired differences with intervals.
//!
//! The gain of a policy is by how much its mean completion time is shorter than that of another one, over the
//! same jobs and seeds. Its interval has two parts that are added as variances: a jackknife over consecutive
//! stretches of jobs, as another week would have other jobs, and the variance over seeds, which draw speeds
//! and fluctuation.

use super::play::Run;
use esdp_trace::replay::Played;

/// Jobs are cut into so many stretches.
const STRETCHES: usize = 20;
/// Student's 97.5 % quantile with 19 degrees of freedom.
const STUDENT: f64 = 2.093;
/// The least duration that a slowdown is taken of, in seconds.
const BOUND: f64 = 10.0;

/// Means over jobs and seeds, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    pub(super) completion: f64,
    pub(super) wait: f64,
    pub(super) wait_p99: f64,
    pub(super) wait_max: f64,
    /// Completion over the duration in the trace, of which at least 10 s count; at least 1.
    pub(super) slowdown: f64,
    /// The busy share of the scarcest device.
    pub(super) utilisation: f64,
    /// The jobs that were done, on average.
    pub(super) finished: f64,
}

/// By how much completion times are shorter, in percent, with a 95 % interval; none of few jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    pub(super) percent: f64,
    pub(super) interval: Option<(f64, f64)>,
}

/// The result under one answer.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// How many jobs all have done.
    pub(super) jobs: usize,
    pub(super) rows: Vec<Numbers>,
    /// By policy, against every other.
    gains: Vec<Vec<Gain>>,
}

impl Compared {
    /// Compares the runs of an answer: by seed and policy.
    pub(super) fn new(played: &Played, runs: &[Vec<Run>]) -> Self {
        let policies = runs[0].len();
        let all = |job: &usize| runs.iter().flatten().all(|run| run.done[*job].is_some());
        let same: Vec<usize> = (0..played.jobs.len()).filter(all).collect();
        let completion = |run: &Run| -> Vec<f64> {
            same.iter().filter_map(|job| run.done[*job].as_ref()).map(|done| done.completion()).collect()
        };
        // By policy and seed: a number for each job.
        let times: Vec<Vec<Vec<f64>>> =
            (0..policies).map(|policy| runs.iter().map(|seed| completion(&seed[policy])).collect()).collect();
        let rows = (0..policies).map(|policy| numbers(played, runs, policy, &same)).collect();
        let against =
            |policy: usize| (0..policies).map(|other| gain(&times[policy], &times[other])).collect();
        Self { jobs: same.len(), rows, gains: (0..policies).map(against).collect() }
    }

    /// The gain of a policy against another.
    pub(super) fn gain(&self, policy: usize, other: usize) -> Gain {
        self.gains[policy][other]
    }
}

fn numbers(played: &Played, runs: &[Vec<Run>], policy: usize, same: &[usize]) -> Numbers {
    let own: Vec<&Run> = runs.iter().map(|seed| &seed[policy]).collect();
    let done =
        || own.iter().flat_map(|run| same.iter().filter_map(|job| Some((*job, run.done[*job].as_ref()?))));
    let count = done().count().max(1) as f64;
    let mut waits: Vec<f64> = done().map(|(_, done)| done.waited).collect();
    waits.sort_by(f64::total_cmp);
    let at = ((waits.len() as f64 * 0.99) as usize).min(waits.len().saturating_sub(1));
    let slowdown = |(job, done): (usize, &super::play::Done)| {
        (done.completion() / played.jobs[job].duration.max(BOUND)).max(1.0)
    };
    let finished = |run: &&Run| run.done.iter().flatten().count() as f64;
    Numbers {
        completion: done().map(|(_, done)| done.completion()).sum::<f64>() / count,
        wait: waits.iter().sum::<f64>() / count,
        wait_p99: waits.get(at).copied().unwrap_or(0.0),
        wait_max: waits.last().copied().unwrap_or(0.0),
        slowdown: done().map(slowdown).sum::<f64>() / count,
        utilisation: own.iter().map(|run| run.utilisation).sum::<f64>() / own.len() as f64,
        finished: own.iter().map(finished).sum::<f64>() / own.len() as f64,
    }
}

/// The gain of one over another: completion times by seed and job.
fn gain(own: &[Vec<f64>], other: &[Vec<f64>]) -> Gain {
    let jobs = own[0].len();
    let sum = |times: &[Vec<f64>], from: usize, to: usize| -> f64 {
        times.iter().map(|seed| seed[from..to].iter().sum::<f64>()).sum()
    };
    let percent = |own: f64, other: f64| if other > 0.0 { 100.0 * (1.0 - own / other) } else { 0.0 };
    let (all_own, all_other) = (sum(own, 0, jobs), sum(other, 0, jobs));
    let whole = percent(all_own, all_other);
    if jobs < 2 * STRETCHES {
        return Gain { percent: whole, interval: None };
    }
    let without = |stretch: usize| {
        let (from, to) = (stretch * jobs / STRETCHES, (stretch + 1) * jobs / STRETCHES);
        percent(all_own - sum(own, from, to), all_other - sum(other, from, to))
    };
    let left: Vec<f64> = (0..STRETCHES).map(without).collect();
    let mean = left.iter().sum::<f64>() / STRETCHES as f64;
    let jackknife = left.iter().map(|value| (value - mean).powi(2)).sum::<f64>() * (STRETCHES - 1) as f64
        / STRETCHES as f64;
    let by_seed: Vec<f64> =
        own.iter().zip(other).map(|(own, other)| percent(own.iter().sum(), other.iter().sum())).collect();
    let (n, mean) = (by_seed.len() as f64, by_seed.iter().sum::<f64>() / by_seed.len() as f64);
    let seeds = by_seed.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0) / n;
    let half = STUDENT * (jackknife + seeds).sqrt();
    Gain { percent: whole, interval: Some((whole - half, whole + half)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_paired_and_has_an_interval() {
        let other: Vec<f64> = (0..400).map(|job| 100.0 + f64::from(job % 50)).collect();
        let tenth = other.iter().map(|time| 0.9 * time).collect::<Vec<_>>();
        // Paired: the jobs differ widely, the gain does not.
        let exact = gain(&[tenth.clone(), tenth], &[other.clone(), other.clone()]);
        let (low, high) = exact.interval.unwrap();
        assert!((exact.percent - 10.0).abs() < 1e-9 && high - low < 1e-6, "{exact:?}");
        let few = gain(&[vec![1.0; 39]], &[vec![2.0; 39]]);
        assert_eq!(few, Gain { percent: 50.0, interval: None });
        // Seeds that disagree widen it.
        let (half, same) = (other.iter().map(|time| 0.5 * time).collect::<Vec<_>>(), other.clone());
        let (low, high) = gain(&[half, same], &[other.clone(), other]).interval.unwrap();
        assert!(low < 0.0 && high > 50.0, "{low} {high}");
    }

    #[test]
    fn intervals_cover_the_truth() {
        // Independent jobs with a gain of 20 %: the interval must hold it in about 95 of 100 samples.
        let mut held = 0;
        for sample in 0..200_u64 {
            let mut state = sample.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut draw = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1_u64 << 53) as f64
            };
            let other: Vec<f64> = (0..400).map(|_| 50.0 + 100.0 * draw()).collect();
            let own: Vec<f64> = other.iter().map(|time| time * (0.4 + 0.8 * draw())).collect();
            let (low, high) = gain(&[own], &[other]).interval.unwrap();
            held += usize::from(low <= 20.0 && 20.0 <= high);
        }
        assert!((180..=199).contains(&held), "{held} of 200");
    }
}
