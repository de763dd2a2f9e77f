//! Simulation: clusters, arrivals and speeds that are known by heart, to measure policies.
//!
//! Every random number is keyed by what it is for (see [`rng`](crate::rng)), so all
//! policies meet the same arrivals and the same speeds, and the oracle's utility on the
//! same seed is the yardstick of regret.
//!
//! A [`Setting`] is a cluster with its [`ArrivalSpec`], [`SpeedSpec`] and [`Delay`] under one
//! seed; a [`Simulation`] turns one policy in it; a [`Recorder`] keeps what is wanted of the run.

mod driver;
mod environment;
pub mod families;
mod feedback;
mod gangs;
mod generate;
mod held;
mod load;
mod oracle;
mod outage;
mod paced;
mod parameter;
mod queue;
mod recorder;
mod setting;
mod simulate;
mod speeds;
mod trajectory;
mod workload;

pub use driver::SimulatedCluster;
pub use environment::{Environment, Epoch, FixedTruth};
pub use feedback::{Delay, LONGEST_DELAY};
pub use gangs::RandomGangs;
pub use generate::{ChannelCount, CostPer, GenerateError, RandomCluster};
pub(crate) use held::check_luck;
pub use held::{FinishedJob, HeldSpec, UnfinishedJob};
pub use load::SystemLoad;
pub use oracle::OracleTrack;
pub use outage::Outage;
pub use parameter::ParameterError;
pub use queue::{LoggedStart, QueueRule};
pub use recorder::{
    Backlog, ChannelEstimate, Curve, CurvePoint, Growth, Histogram, InsightPoint, Insights, JobCounts,
    LostTime, Recorder, SlotRecord, Spacing, Summary,
};
pub use setting::{Setting, SettingError};
pub use simulate::Simulation;
pub use speeds::{
    Drift, KindSpeeds, MeasuredSpec, PortSpeeds, SpeedLaw, SpeedSpec, Speeds, clipped_normal_mean,
};
pub use trajectory::{TrajectoryError, trajectory};
pub use workload::{
    ArrivalSpec, Bernoulli, Binomial, Bursty, Diurnal, Late, Listed, MOST_JOBS, Poisson, Rates, Workload,
};
