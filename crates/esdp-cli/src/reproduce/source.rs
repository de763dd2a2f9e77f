//! What is simulated: a preset a figure, at the size asked for.

use super::contenders::{figured, starts};
use super::scale::Scale;
use super::trace;
use anyhow::Context;
use esdp::model::Slot;
use esdp::policy::{EsdpPaperSpec, PolicySpec, RoundedSolver};
use esdp::scenario::{Scenario, Spec, Sweep, SweepTable};
use esdp::sim::{ArrivalSpec, CostPer, Rates};
use esdp_engine::Contender;
use std::path::PathBuf;

/// The capacities of the complexity figure, the same of every device.
const CAPACITIES: [u64; 5] = [2, 3, 4, 6, 8];
/// The shares *alpha* of the complexity figure, which scale the budgets.
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
/// The servers to which the capacities of Table 2 belong; where capacities grow, they do so from there.
const SERVERS: u64 = 40;
/// The first slots, in which the start of a policy shows.
const FIRST_SLOTS: u64 = 500;
/// The arrival probability on top of a trace over time: that of Table 2.
const TRACE_RHO: f64 = 0.9;
/// Those of the figure over it.
const TRACE_RHOS: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// A set of simulations that one or several figures show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Time,
    Literal,
    /// Over time, with costs drawn for every channel.
    Costs,
    /// The first slots, with and without the covering round of `esdp-paper`.
    Start,
    Overhead,
    /// Algorithm 2 against the capacities.
    OverheadCapacity,
    /// Algorithm 2 against the number of budgets.
    OverheadBudgets,
    SolutionSpace,
    Delta,
    DeltaOverhead,
    G,
    Rho,
    Edges,
    Ports,
    Servers,
    /// Capacities that grow with the servers.
    ServersGrowing,
    /// Capacities, requests and arrivals from a trace, over time.
    Trace,
    /// The same against the probability on top of its arrivals.
    TraceRho,
    Gang,
    Fleets,
}

/// A value of what a source varies.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its place on the axis of the figure. Neighbours with the same place are joined, seed after seed.
    pub(super) x: f64,
    pub(super) scenario: Scenario,
    pub(super) policies: Vec<Contender>,
}

/// What is to be simulated: how much, and on which trace.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) scale: Scale,
    /// The files of a trace; the built-in one where there are none.
    pub(super) trace: Vec<PathBuf>,
}

impl Source {
    pub(super) fn name(self) -> &'static str {
        match self {
            Source::Time => "aou",
            Source::Literal => "literal",
            Source::Costs => "costs",
            Source::Start => "start",
            Source::Overhead => "overhead",
            Source::OverheadCapacity => "overhead-capacity",
            Source::OverheadBudgets => "overhead-budgets",
            Source::SolutionSpace => "solution-space",
            Source::Delta => "delta",
            Source::DeltaOverhead => "delta-overhead",
            Source::G => "g",
            Source::Rho => "rho",
            Source::Edges => "edges",
            Source::Ports => "ports",
            Source::Servers => "servers",
            Source::ServersGrowing => "servers-growing",
            Source::Trace => "trace",
            Source::TraceRho => "trace-rho",
            Source::Gang => "gang",
            Source::Fleets => "fleet-servers",
        }
    }

    /// The preset that it starts from.
    fn preset(self) -> &'static str {
        match self {
            Source::Costs | Source::Start => "aou",
            Source::OverheadCapacity | Source::OverheadBudgets => "overhead",
            Source::DeltaOverhead => "delta",
            Source::ServersGrowing => "servers",
            _ => self.name(),
        }
    }

    /// Whether the time of decisions is what counts: then nothing else may run beside it.
    pub(super) fn is_timed(self) -> bool {
        matches!(
            self,
            Source::Overhead | Source::OverheadCapacity | Source::OverheadBudgets | Source::DeltaOverhead
        )
    }

    /// How many points of the curves over time are wanted.
    pub(super) fn curve_points(self) -> usize {
        match self {
            // A point every 25 of 8000 slots.
            Source::Time | Source::Literal | Source::Costs | Source::Start | Source::Trace => 320,
            Source::Delta | Source::G | Source::Gang | Source::Fleets => 320,
            _ => 0,
        }
    }

    /// How many seeds and slots it takes.
    fn size(self, scale: Scale) -> (u64, u64) {
        match self {
            _ if self.is_timed() => (scale.timed_seeds, scale.timed_slots),
            Source::Time | Source::Literal | Source::Costs | Source::Trace => (scale.seeds, scale.time_slots),
            Source::Start => (scale.seeds, scale.slots.min(FIRST_SLOTS)),
            Source::Fleets | Source::Gang => (scale.fleet_seeds, scale.fleet_slots),
            _ => (scale.seeds, scale.slots),
        }
    }

    /// The scenario, with its sweep; for all but those from a trace.
    fn scenario(self, scale: Scale) -> anyhow::Result<Scenario> {
        let preset = self.preset();
        let scenario = Scenario::preset(preset).with_context(|| format!("preset {preset}: there is none"))?;
        let (seeds, slots) = self.size(scale);
        let scenario = scenario.with_seed_count(seeds)?.with_slots(slots)?;
        let scenario = scenario.change(|spec| self.name().clone_into(&mut spec.name))?;
        let changed = match self {
            Source::Overhead | Source::Delta | Source::G => Ok(scenario),
            Source::OverheadCapacity => scenario.change(|spec| {
                let values = CAPACITIES.map(|capacity| format!("[{capacity}, {capacity}]"));
                let sweep = Sweep { key: "devices.capacity".to_owned(), values: values.into() };
                spec.sweep = Some(SweepTable::One(sweep));
            }),
            Source::OverheadBudgets => scenario.change(|spec| spec.sweep = None),
            Source::Fleets => scenario.change(|spec| {
                if let Some(SweepTable::One(sweep)) = &mut spec.sweep {
                    sweep.values = scale.fleet_servers.iter().map(u64::to_string).collect();
                }
            }),
            Source::DeltaOverhead => scenario.change(|spec| papers(spec, with_algorithm_2)),
            Source::Start => scenario.with_policies(starts()?),
            Source::Costs => {
                scenario.with_policies(figured()?)?.change(|spec| spec.costs.per = CostPer::Channel)
            }
            _ => scenario.with_policies(figured()?),
        };
        Ok(changed?)
    }

    /// The scenario at each of its points.
    fn points(self, Order { scale, trace }: &Order) -> anyhow::Result<Vec<Scenario>> {
        let named = |scenario: &Scenario, tail: &str, change: &dyn Fn(&mut Spec)| {
            Ok(scenario.change(|spec| {
                spec.name = format!("{}-{tail}", self.name());
                change(spec);
            })?)
        };
        match self {
            Source::Trace => trace::scenarios(trace, self.name(), self.size(*scale), &[TRACE_RHO]),
            Source::TraceRho => trace::scenarios(trace, self.name(), self.size(*scale), &TRACE_RHOS),
            Source::ServersGrowing => {
                let points = self.scenario(*scale)?.points()?;
                let grown = |(servers, scenario): &(String, Scenario)| {
                    named(scenario, servers, &|spec| {
                        let grown = |amount: u64| (amount * spec.graph.servers.count() / SERVERS).max(1);
                        spec.devices.capacity =
                            spec.devices.capacity.map(|(from, to)| (grown(from), grown(to)));
                    })
                };
                points.iter().map(grown).collect()
            }
            Source::OverheadBudgets => {
                let scenario = self.scenario(*scale)?;
                let at = |alpha: f64| {
                    let change = |spec: &mut Spec| papers(spec, |paper| paper.alpha = alpha);
                    named(&scenario, &alpha.to_string(), &change)
                };
                SHARES.into_iter().map(at).collect()
            }
            _ => Ok(self.scenario(*scale)?.points()?.into_iter().map(|(_, scenario)| scenario).collect()),
        }
    }

    /// The scenarios to run again what is simulated: one with a sweep, or one a point.
    pub(super) fn resolved(self, order: &Order, places: &[Place]) -> anyhow::Result<Vec<Scenario>> {
        match self {
            Source::ServersGrowing | Source::OverheadBudgets | Source::Trace | Source::TraceRho => {
                Ok(places.iter().map(|place| place.scenario.clone()).collect())
            }
            _ => Ok(vec![self.scenario(order.scale)?]),
        }
    }

    /// What is simulated, place after place.
    pub(super) fn places(self, order: &Order) -> anyhow::Result<Vec<Place>> {
        let place = |scenario: Scenario| {
            Ok(Place { x: self.x(&scenario)?, policies: Contender::of(&scenario), scenario })
        };
        self.points(order)?.into_iter().map(place).collect()
    }

    /// What the axis shows of a scenario.
    fn x(self, scenario: &Scenario) -> anyhow::Result<f64> {
        let Spec { graph, devices, arrivals, policies, .. } = scenario.spec();
        let told = |number: Option<f64>, key: &str| {
            number.with_context(|| format!("preset {}: there is no `{key}`", self.name()))
        };
        let channels = |pairs: f64| Ok(pairs * told(graph.probability, "graph.probability")?);
        match self {
            Source::Time | Source::Literal | Source::Costs | Source::Start | Source::Trace => Ok(0.0),
            Source::Delta | Source::DeltaOverhead | Source::G | Source::Gang => Ok(0.0),
            Source::Overhead => channels(graph.ports.count() as f64 * graph.servers.count() as f64),
            // The cells of the table: every capacity from 0 on.
            Source::OverheadCapacity => {
                let (capacity, _) = devices.capacity.context("preset overhead: there is no capacity")?;
                Ok(((capacity + 1) as f64).powi(devices.count as i32))
            }
            // The scale xi by which estimates become whole budgets.
            Source::OverheadBudgets => {
                let alpha = policies.iter().find_map(|policy| match &policy.spec {
                    PolicySpec::EsdpPaper(paper) => Some((paper.alpha, paper.slack)),
                    _ => None,
                });
                let (alpha, slack) = alpha.context("preset overhead: there is no esdp-paper")?;
                let most = alpha * channels(graph.ports.count() as f64 * graph.servers.count() as f64)?;
                Ok((most / slack.at(Slot(scenario.slots()))).ceil())
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
            Source::TraceRho => told(trace::rho(scenario), "rho"),
            Source::Edges => told(graph.count.map(|count| count as f64), "graph.count"),
            Source::Ports => Ok(graph.ports.count() as f64),
            Source::Servers | Source::ServersGrowing | Source::Fleets => Ok(graph.servers.count() as f64),
        }
    }
}

/// Changes the paper's policies.
fn papers(spec: &mut Spec, change: impl Fn(&mut EsdpPaperSpec)) {
    for policy in &mut spec.policies {
        if let PolicySpec::EsdpPaper(paper) = &mut policy.spec {
            change(paper);
        }
    }
}

/// The paper's policies solve with its own dynamic program.
fn with_algorithm_2(paper: &mut EsdpPaperSpec) {
    paper.solver = RoundedSolver::Paper;
}

#[cfg(test)]
mod tests;
