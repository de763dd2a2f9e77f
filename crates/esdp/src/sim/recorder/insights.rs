//! What a policy has found out beside the speeds, over the run.

use super::{Recorder, SlotRecord};
use crate::stats::Insight;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Of more servers than this nothing is kept one by one.
const MOST_SERVERS: usize = 200;

/// What was known after a slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InsightPoint {
    /// The slot.
    pub slot: u64,
    /// What was found out; without its servers where there are more than 200.
    pub insight: Insight,
}

/// What a policy has found out by chosen slots; nothing for policies that find out nothing but speeds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Insights {
    at: Vec<u64>,
    next: usize,
    points: Vec<InsightPoint>,
}

impl Insights {
    /// Points after these slots, ascending.
    pub fn at(slots: Vec<u64>) -> Self {
        Self { at: slots, ..Self::default() }
    }

    /// The points so far.
    pub fn into_points(self) -> Vec<InsightPoint> {
        self.points
    }
}

impl Recorder for Insights {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        if self.at.get(self.next).is_some_and(|&next| next <= record.slot.0) {
            self.next += 1;
            if let Some(mut insight) = record.learned.and_then(|learned| learned.insight()) {
                if insight.servers.len() > MOST_SERVERS {
                    insight.servers = Vec::new();
                }
                self.points.push(InsightPoint { slot: record.slot.0, insight });
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{RandomCluster, Setting, Simulation};

    fn points(policy: &str, recipe: &RandomCluster) -> Vec<InsightPoint> {
        let setting = Setting::new(recipe, 0.9, 7).unwrap();
        let mut insights = Insights::at(vec![10, 40, 60]);
        let mut simulation = Simulation::new(&setting, &policy.parse().unwrap()).unwrap();
        assert!(simulation.run(50, &mut insights).unwrap().is_continue());
        insights.into_points()
    }

    #[test]
    fn what_was_found_out_is_kept_at_the_slots_asked_for() {
        let found = points("esdp", &RandomCluster::default());
        assert_eq!(found.iter().map(|point| point.slot).collect::<Vec<_>>(), [10, 40]);
        assert!(found.iter().all(|point| point.insight.servers.len() == 40));
        // Less is shared the more is known of each channel, and nothing is forgotten yet.
        assert!(found[1].insight.shared < found[0].insight.shared);
        assert!((35.0..=40.0).contains(&found[1].insight.memory), "{}", found[1].insight.memory);
        assert!(points("esdp-index", &RandomCluster::default()).is_empty());
        let many = RandomCluster { servers: 300, ..RandomCluster::default() };
        assert!(points("esdp", &many).iter().all(|point| point.insight.servers.is_empty()));
    }
}
