//! What is simulated: a preset a figure, at the size asked for.

use anyhow::Context;
use esdp::policy::{PolicySpec, RoundedSolver};
use esdp::scenario::{LabelledPolicy, Scenario, Spec, SweepTable};
use esdp::sim::{ArrivalSpec, Rates};
use esdp_engine::Contender;

/// The policies of the paper's figures, ours, and the oracle.
const POLICIES: [&str; 7] = ["oracle", "esdp", "cts", "esdp-paper", "hauf", "lcf", "lwtf"];

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) seeds: u64,
    /// The slots of the figures over time.
    pub(super) time_slots: u64,
    /// The slots of a point of the others.
    pub(super) slots: u64,
    /// Algorithm 2 takes milliseconds: fewer seeds and slots, where decisions are timed.
    pub(super) timed_seeds: u64,
    pub(super) timed_slots: u64,
    /// A slot with thousands of servers, or with gangs, takes milliseconds: fewer seeds and slots there too.
    pub(super) fleet_seeds: u64,
    pub(super) fleet_slots: u64,
    /// The numbers of servers of the fleets.
    pub(super) fleet_servers: &'static [u64],
}

impl Scale {
    pub(super) const FULL: Scale = Scale {
        seeds: 10,
        time_slots: 8000,
        slots: 2000,
        timed_seeds: 5,
        timed_slots: 200,
        fleet_seeds: 5,
        fleet_slots: 2000,
        fleet_servers: &[40, 80, 200, 500, 1000, 2000, 5000],
    };
    pub(super) const QUICK: Scale = Scale {
        seeds: 5,
        time_slots: 3000,
        slots: 600,
        timed_seeds: 3,
        timed_slots: 80,
        fleet_seeds: 2,
        fleet_slots: 200,
        fleet_servers: &[40, 200, 1000, 5000],
    };

    /// The same with what flags say instead.
    pub(super) fn with(self, seeds: Option<u64>, slots: Option<u64>) -> Self {
        let (most_seeds, most_slots) = (seeds.unwrap_or(u64::MAX), slots.unwrap_or(u64::MAX));
        Self {
            seeds: seeds.unwrap_or(self.seeds),
            time_slots: slots.unwrap_or(self.time_slots),
            slots: slots.unwrap_or(self.slots),
            timed_seeds: self.timed_seeds.min(most_seeds),
            timed_slots: self.timed_slots.min(most_slots),
            fleet_seeds: self.fleet_seeds.min(most_seeds),
            fleet_slots: self.fleet_slots.min(most_slots),
            fleet_servers: self.fleet_servers,
        }
    }
}

/// A set of simulations that one or several figures show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Time,
    Literal,
    Overhead,
    SolutionSpace,
    Delta,
    DeltaOverhead,
    G,
    Rho,
    Edges,
    Ports,
    Servers,
    Gang,
    Fleets,
}

/// A value of what a source varies.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its place on the axis of the figure.
    pub(super) x: f64,
    pub(super) scenario: Scenario,
    pub(super) policies: Vec<Contender>,
}

impl Source {
    pub(super) fn name(self) -> &'static str {
        match self {
            Source::Time => "aou",
            Source::Literal => "literal",
            Source::Overhead => "overhead",
            Source::SolutionSpace => "solution-space",
            Source::Delta => "delta",
            Source::DeltaOverhead => "delta-overhead",
            Source::G => "g",
            Source::Rho => "rho",
            Source::Edges => "edges",
            Source::Ports => "ports",
            Source::Servers => "servers",
            Source::Gang => "gang",
            Source::Fleets => "fleet-servers",
        }
    }

    /// Whether the time of decisions is what counts: then nothing else may run beside it.
    pub(super) fn is_timed(self) -> bool {
        matches!(self, Source::Overhead | Source::DeltaOverhead)
    }

    /// How many points of the curves over time are wanted.
    pub(super) fn curve_points(self) -> usize {
        match self {
            // A point every 25 of 8000 slots.
            Source::Time | Source::Literal | Source::Delta | Source::G | Source::Gang | Source::Fleets => 320,
            _ => 0,
        }
    }

    /// The scenario, with its sweep.
    pub(super) fn scenario(self, scale: Scale) -> anyhow::Result<Scenario> {
        let preset = if self == Source::DeltaOverhead { "delta" } else { self.name() };
        let mut scenario =
            Scenario::preset(preset).with_context(|| format!("preset {preset}: there is none"))?;
        let (seeds, slots) = match self {
            _ if self.is_timed() => (scale.timed_seeds, scale.timed_slots),
            Source::Time | Source::Literal => (scale.seeds, scale.time_slots),
            Source::Fleets | Source::Gang => (scale.fleet_seeds, scale.fleet_slots),
            _ => (scale.seeds, scale.slots),
        };
        scenario = scenario.with_seed_count(seeds)?.with_slots(slots)?;
        let changed = match self {
            Source::Overhead | Source::Delta | Source::G => Ok(scenario),
            Source::Fleets => scenario.change(|spec| {
                if let Some(SweepTable::One(sweep)) = &mut spec.sweep {
                    sweep.values = scale.fleet_servers.iter().map(u64::to_string).collect();
                }
            }),
            Source::DeltaOverhead => scenario.change(with_algorithm_2),
            _ => {
                let policies = POLICIES.into_iter().map(LabelledPolicy::named).collect::<Result<_, _>>();
                scenario.with_policies(policies?)
            }
        };
        Ok(changed?)
    }

    /// The scenario at each of its points.
    pub(super) fn places(self, scale: Scale) -> anyhow::Result<Vec<Place>> {
        let points = self.scenario(scale)?.points()?;
        let place = |(_, scenario): (_, Scenario)| {
            Ok(Place { x: self.x(scenario.spec())?, policies: Contender::of(&scenario), scenario })
        };
        points.into_iter().map(place).collect()
    }

    /// What the axis shows of a scenario.
    fn x(self, Spec { graph, devices, arrivals, .. }: &Spec) -> anyhow::Result<f64> {
        let told = |number: Option<f64>, key: &str| {
            number.with_context(|| format!("preset {}: there is no `{key}`", self.name()))
        };
        match self {
            Source::Time | Source::Literal | Source::Delta | Source::DeltaOverhead => Ok(0.0),
            Source::G | Source::Gang => Ok(0.0),
            Source::Overhead => {
                let pairs = graph.ports.count() as f64 * graph.servers.count() as f64;
                Ok(pairs * told(graph.probability, "graph.probability")?)
            }
            Source::SolutionSpace => {
                let middle = |(from, to): (u64, u64)| (from as f64 + to as f64) / 2.0;
                let capacity = told(devices.capacity.map(middle), "devices.capacity")?;
                Ok(capacity / middle(devices.request))
            }
            Source::Rho => match arrivals {
                ArrivalSpec::Bernoulli { rho: Rates::All(rho) } => Ok(*rho),
                _ => told(None, "arrivals.rho"),
            },
            Source::Edges => told(graph.count.map(|count| count as f64), "graph.count"),
            Source::Ports => Ok(graph.ports.count() as f64),
            Source::Servers | Source::Fleets => Ok(graph.servers.count() as f64),
        }
    }
}

/// The paper's policies solve with its own dynamic program.
fn with_algorithm_2(spec: &mut Spec) {
    spec.name = Source::DeltaOverhead.name().to_owned();
    for policy in &mut spec.policies {
        if let PolicySpec::EsdpPaper(paper) = &mut policy.spec {
            paper.solver = RoundedSolver::Paper;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Source; 13] = [
        Source::Time,
        Source::Literal,
        Source::Overhead,
        Source::SolutionSpace,
        Source::Delta,
        Source::DeltaOverhead,
        Source::G,
        Source::Rho,
        Source::Edges,
        Source::Ports,
        Source::Servers,
        Source::Gang,
        Source::Fleets,
    ];

    #[test]
    fn every_source_has_places_in_ascending_order() {
        for source in ALL {
            for scale in [Scale::FULL, Scale::QUICK, Scale::QUICK.with(Some(1), Some(7))] {
                let places = source.places(scale).unwrap();
                assert!(places.windows(2).all(|pair| pair[0].x < pair[1].x), "{source:?}: {places:?}");
                let seeds = match source {
                    Source::Fleets | Source::Gang => scale.fleet_seeds,
                    _ if source.is_timed() => scale.timed_seeds,
                    _ => scale.seeds,
                };
                assert!(
                    places.iter().all(|place| place.scenario.seeds().len() as u64 == seeds),
                    "{source:?}"
                );
            }
        }
    }

    #[test]
    fn axes() {
        let xs = |source: Source, scale| {
            source.places(scale).unwrap().iter().map(|place| place.x).collect::<Vec<_>>()
        };
        assert_eq!(xs(Source::SolutionSpace, Scale::FULL), [1.0, 2.0, 4.0, 6.0, 8.0, 12.0]);
        assert_eq!(xs(Source::Overhead, Scale::FULL)[2], 32.0);
        assert_eq!(xs(Source::Fleets, Scale::QUICK), [40.0, 200.0, 1000.0, 5000.0]);
    }

    #[test]
    fn the_overhead_of_delta_is_that_of_algorithm_2() {
        let scenario = Source::DeltaOverhead.scenario(Scale::QUICK).unwrap();
        let printed = scenario.policies().iter().filter_map(|policy| match &policy.spec {
            PolicySpec::EsdpPaper(spec) => Some(spec.solver),
            _ => None,
        });
        assert_eq!(printed.collect::<Vec<_>>(), [RoundedSolver::Paper; 3]);
    }
}
