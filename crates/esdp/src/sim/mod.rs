//! Simulation: clusters, arrivals and speeds that are known by heart, to measure policies.
//!
//! Every random number is keyed by what it is for (see [`rng`](crate::rng)), so all
//! policies meet the same arrivals and the same speeds, and the oracle's utility on the
//! same seed is the yardstick of regret.
//!
//! ```
//! use esdp::sim::{RandomCluster, Setting, run};
//!
//! let setting = Setting::new(&RandomCluster::default(), 0.9, 7)?;
//! let mut total = |name: &str| -> Result<f64, Box<dyn std::error::Error>> {
//!     let mut scheduler = setting.scheduler(&name.parse()?)?;
//!     Ok(run(&mut scheduler, &mut setting.workload(), &mut setting.environment(), 300)?.aou)
//! };
//! let (learned, best) = (total("esdp")?, total("oracle")?);
//! assert!(learned > 0.8 * best && learned <= best);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod environment;
mod generate;
mod run;
mod setting;
mod trajectory;
mod workload;

pub use environment::{Environment, FixedTruth, NormalSpeeds, clipped_normal_mean};
pub use generate::{ChannelCount, GenerateError, RandomCluster};
pub use run::{Totals, run};
pub use setting::{Setting, SettingError};
pub use trajectory::{TrajectoryError, trajectory};
pub use workload::{Bernoulli, Workload};
