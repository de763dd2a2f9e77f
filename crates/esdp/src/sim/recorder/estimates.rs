//! What a policy has learned of every channel by the end of a run, beside the truth.

use crate::model::ChannelId;
use crate::stats::{SeenSpeed, Statistics, Z95, estimate_variance};
use serde::{Deserialize, Serialize};

/// What was learned of a channel, and what is true of it, both as net utility per slot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChannelEstimate {
    /// How often it was chosen.
    pub uses: u64,
    /// The last slot in which it was used and of which the outcome is known; none for one never tried.
    #[serde(default)]
    pub last_used: Option<u64>,
    /// How many outcomes stand behind the estimate; not whole where old ones fade.
    pub count: f64,
    /// The estimated net utility; for a channel never tried 0, or what is known of channels like it.
    pub estimate: f64,
    /// The standard error of the estimate, by as many of the channel's own outcomes as the policy still
    /// counts; none for one never tried. A change since the last use is not in it: nobody can know.
    pub error: Option<f64>,
    /// The true mean, in the last slot.
    pub truth: f64,
}

impl ChannelEstimate {
    pub(crate) fn new(
        learned: &dyn Statistics,
        channel: ChannelId,
        (uses, last_used): (u64, Option<u64>),
        truth: f64,
    ) -> Self {
        let tried = learned.count(channel) > 0.0;
        Self {
            uses,
            last_used,
            count: learned.record(channel).count,
            estimate: learned.estimate(channel),
            error: tried.then(|| estimate_variance(learned, channel).sqrt()),
            truth,
        }
    }

    /// The ends of the estimate's 95 % interval; none for a channel never tried.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.error.map(|error| (self.estimate - Z95 * error, self.estimate + Z95 * error))
    }

    /// The learned speed, of a channel with this supply cost; none for one never tried.
    pub fn learned_speed(&self, cost: f64) -> Option<SeenSpeed> {
        let speed = (self.estimate + cost).max(0.0);
        self.error.map(|error| SeenSpeed { speed, variance: error * error, count: self.count })
    }

    /// The true speed.
    pub fn true_speed(&self, cost: f64) -> f64 {
        self.truth + cost
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::{RandomCluster, Setting, Simulation};

    #[test]
    fn well_used_channels_are_known_and_unused_ones_have_no_interval() {
        let setting = Setting::new(&RandomCluster::default(), 0.9, 7).unwrap();
        let mut simulation = Simulation::new(&setting, &"esdp-index".parse().unwrap()).unwrap();
        assert!(simulation.run(600, &mut ()).unwrap().is_continue());
        let estimates = simulation.estimates();
        assert_eq!(estimates.len(), setting.cluster().channels().len());
        let mut well = 0;
        for found in &estimates {
            assert_eq!(found.interval().is_some(), found.uses > 0, "{found:?}");
            if found.uses >= 100 {
                well += 1;
                // Four standard errors: far beyond chance.
                let away = (found.estimate - found.truth).abs();
                assert!(away < 4.0 * found.error.unwrap() && away < 0.1, "{found:?}");
            }
        }
        assert!(well > 5, "{well} channels were used often");
        let mut none = Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap();
        assert!(none.estimates().is_empty());
    }
}
