//! Turns a scheduler for some slots and adds up what it was worth.

use super::{Environment, Workload};
use crate::model::Arrivals;
use crate::scheduler::{ScheduleError, Scheduler};
use crate::solver::Guarantee;

/// What a run was worth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// The slots that were run.
    pub slots: u64,
    /// The accumulated overall utility: over all slots, the sum of the *true mean* net
    /// utilities of what was chosen. No luck is in it.
    pub aou: f64,
    /// Slots in which the policy solved a problem.
    pub solved: u64,
    /// Those of them in which the optimum was proved.
    pub proved: u64,
}

impl Totals {
    /// The share of solved slots whose optimum was proved; 1 where nothing was solved.
    pub fn proved_share(&self) -> f64 {
        if self.solved == 0 { 1.0 } else { self.proved as f64 / self.solved as f64 }
    }
}

/// Runs a scheduler for `slots` more slots; every outcome is observed in its own slot.
///
/// Arrivals and speeds are keyed by slot, so two calls of 500 slots are one call of 1000,
/// and the oracle run on the same workload and environment is the yardstick:
/// regret is the difference of the two [`aou`](Totals::aou).
///
/// # Errors
/// When the scheduler gives no decision.
///
/// # Panics
/// If the environment makes up outcomes that cannot be observed: a bug in it.
pub fn run(
    scheduler: &mut Scheduler,
    workload: &mut dyn Workload,
    environment: &mut dyn Environment,
    slots: u64,
) -> Result<Totals, ScheduleError> {
    let mut arrivals = Arrivals::everywhere(scheduler.cluster().ports().len());
    let mut totals = Totals::default();
    let mut seen = Vec::new();
    for _ in 0..slots {
        let slot = scheduler.slot().next();
        workload.arrivals(slot, &mut arrivals);
        let decision = scheduler.decide(&arrivals, None)?;
        let means = environment.means(slot);
        totals.slots += 1;
        totals.aou += decision.channels().iter().map(|channel| means[channel.index()]).sum::<f64>();
        if let Some(certificate) = decision.certificate() {
            totals.solved += 1;
            totals.proved += u64::from(certificate.guarantee == Guarantee::Optimal);
        }
        seen.clear();
        environment.run(decision, &mut seen);
        for seen in &seen {
            scheduler.observe(seen).expect("a simulated outcome is valid");
        }
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{RandomCluster, Setting};

    #[test]
    fn a_run_can_be_cut_in_two() {
        let setting = Setting::new(&RandomCluster::default(), 0.9, 2).unwrap();
        let total = |parts: &[u64]| {
            let mut scheduler = setting.scheduler(&"hauf".parse().unwrap()).unwrap();
            let (mut workload, mut environment) = (setting.workload(), setting.environment());
            let run = |&slots| run(&mut scheduler, &mut workload, &mut environment, slots).unwrap().aou;
            parts.iter().map(run).sum::<f64>()
        };
        assert!((total(&[200]) - total(&[80, 120])).abs() < 1e-9);
    }
}
