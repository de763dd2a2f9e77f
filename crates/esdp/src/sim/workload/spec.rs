//! Arrivals as a typed, serialisable description.

use super::{Bernoulli, Binomial, Bursty, Diurnal, Late, Listed, Poisson, Rates, Workload};
use crate::sim::parameter::{ParameterError, check_number, check_whole};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The most jobs that a port may have in a slot.
pub const MOST_JOBS: u32 = 1000;
/// The loads that may be asked for.
const LEAST_LOAD: f64 = 0.01;
const MOST_LOAD: f64 = 10.0;

/// How jobs arrive. The default is the paper's: one job a port with probability 0.9.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// One job with a probability, in every slot. See [`Bernoulli`].
    Bernoulli {
        /// The probability of a job, one for all ports, a list with one for each, or a table by port
        /// (default: 0.9).
        #[serde(default = "rho")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "jobs per slot"))
        )]
        rho: Rates,
    },
    /// One job with a probability that goes up and down over a day. See [`Diurnal`].
    Diurnal {
        /// The mean probability (default: 0.5).
        #[serde(default = "half")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "jobs per slot"))
        )]
        mean: f64,
        /// How far it goes up and down (default: 0.4). `mean` plus and minus this is in [0, 1].
        #[serde(default = "amplitude")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend(
                "minimum" = 0,
                "maximum" = 0.5,
                "x-unit" = "jobs per slot",
                "x-range" = "`mean` plus and minus this from 0 to 1"
            ))
        )]
        amplitude: f64,
        /// The slots of a day (default: 1000).
        #[serde(default = "period")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "x-unit" = "slots")))]
        period: u64,
        /// Where in the day the run starts, 0 to 1 (default: 0).
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share")))]
        phase: f64,
    },
    /// Several jobs in a slot, in bursts. See [`Bursty`].
    Bursty {
        /// Mean jobs per port and slot when calm (default: 0.2).
        #[serde(default = "calm")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend(
                "minimum" = 0,
                "maximum" = f64::from(MOST_JOBS) / 2.0,
                "x-unit" = "jobs per slot"
            ))
        )]
        calm: f64,
        /// Mean jobs per port and slot in a burst (default: 2).
        #[serde(default = "burst")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend(
                "minimum" = 0,
                "maximum" = f64::from(MOST_JOBS) / 2.0,
                "x-unit" = "jobs per slot"
            ))
        )]
        burst: f64,
        /// The probability that a burst starts, a slot (default: 0.02).
        #[serde(default = "enter")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
        enter: f64,
        /// The probability that it ends (default: 0.08).
        #[serde(default = "leave")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
        leave: f64,
        /// Whether all ports burst at once (default: true).
        #[serde(default = "yes")]
        together: bool,
        /// The most jobs at a port in a slot (default: 4).
        #[serde(default = "most")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 1, "maximum" = MOST_JOBS, "x-unit" = "jobs"))
        )]
        most: u32,
    },
    /// Several jobs in a slot, their number drawn from a Poisson law. See [`Poisson`].
    Poisson {
        /// Mean jobs per slot, one for all ports, a list with one for each, or a table by port (default: 1).
        #[serde(default = "one")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend(
                "minimum" = 0,
                "maximum" = f64::from(MOST_JOBS) / 2.0,
                "x-unit" = "jobs per slot"
            ))
        )]
        rate: Rates,
        /// The most jobs at a port in a slot (default: 4).
        #[serde(default = "most")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 1, "maximum" = MOST_JOBS, "x-unit" = "jobs"))
        )]
        most: u32,
        /// Only for jobs that wait: all rates are multiplied by one number, found anew under each seed, so
        /// that the jobs need this share of the capacity under any rule (default: none, the rates are as
        /// given).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = LEAST_LOAD, "maximum" = MOST_LOAD, "x-unit" = "share of capacity"))
        )]
        load: Option<f64>,
    },
    /// Several users per port, each of whom may submit a job. See [`Binomial`].
    Binomial {
        /// The users of a port (default: 2).
        #[serde(default = "two")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 1, "maximum" = MOST_JOBS, "x-unit" = "jobs"))
        )]
        jobs: u32,
        /// The probability that each submits, one for all ports, a list, or a table by port (default: 0.9).
        #[serde(default = "rho")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
        rho: Rates,
    },
    /// As `bernoulli`, but ports come into use one after another. See [`Late`].
    Late {
        /// The probability of a job, one for all ports, a list with one for each, or a table by port
        /// (default: 0.9).
        #[serde(default = "rho")]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "jobs per slot"))
        )]
        rho: Rates,
        /// The slot from which on each port has jobs.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "slots")))]
        from: Vec<u64>,
    },
    /// The jobs themselves, slot by slot. See [`Listed`].
    List {
        /// One row per slot, one number per port.
        #[cfg_attr(
            feature = "schema",
            schemars(extend("minimum" = 0, "maximum" = MOST_JOBS, "x-unit" = "jobs"))
        )]
        jobs: Vec<Vec<u32>>,
        /// Whether the list starts again after its end (default: true).
        #[serde(default = "yes")]
        repeat: bool,
    },
}

fn rho() -> Rates {
    Rates::All(0.9)
}
fn one() -> Rates {
    Rates::All(1.0)
}
fn half() -> f64 {
    0.5
}
fn amplitude() -> f64 {
    0.4
}
fn period() -> u64 {
    1000
}
fn calm() -> f64 {
    0.2
}
fn burst() -> f64 {
    2.0
}
fn enter() -> f64 {
    0.02
}
fn leave() -> f64 {
    0.08
}
fn most() -> u32 {
    4
}
fn two() -> u32 {
    2
}
fn yes() -> bool {
    true
}

impl Default for ArrivalSpec {
    fn default() -> Self {
        Self::Bernoulli { rho: rho() }
    }
}

impl ArrivalSpec {
    /// Checks the parameters for a number of ports.
    ///
    /// # Errors
    /// With the first that is out of range.
    pub fn check(&self, ports: usize) -> Result<(), ParameterError> {
        let check_most = |key: &str, most: u32| check_whole(key, u64::from(most), 1..=u64::from(MOST_JOBS));
        // Counts are drawn by inversion, which starts from exp(-rate).
        let rate = f64::from(MOST_JOBS) / 2.0;
        match self {
            Self::Bernoulli { rho } => rho.check("rho", 1.0).and(rho.check_ports("rho", ports)),
            Self::Diurnal { mean, amplitude, period, phase } => {
                check_number("mean", *mean, 0.0..=1.0)?;
                let room = mean.min(1.0 - mean);
                if !(0.0..=room + 1e-12).contains(amplitude) {
                    let accepted =
                        format!("a number from 0 to {room}, so that probabilities stay from 0 to 1");
                    return Err(ParameterError::new("amplitude", amplitude, accepted));
                }
                check_whole("period", *period, 1..=u64::MAX)?;
                check_number("phase", *phase, 0.0..=1.0)
            }
            Self::Bursty { calm, burst, enter, leave, most, .. } => {
                check_number("calm", *calm, 0.0..=rate)?;
                check_number("burst", *burst, 0.0..=rate)?;
                check_number("enter", *enter, 0.0..=1.0)?;
                check_number("leave", *leave, 0.0..=1.0)?;
                check_most("most", *most)
            }
            Self::Poisson { rate: rates, most, load } => {
                rates.check("rate", rate)?;
                rates.check_ports("rate", ports)?;
                check_most("most", *most)?;
                load.map_or(Ok(()), |load| check_number("load", load, LEAST_LOAD..=MOST_LOAD))
            }
            Self::Binomial { jobs, rho } => {
                check_most("jobs", *jobs)?;
                rho.check("rho", 1.0).and(rho.check_ports("rho", ports))
            }
            Self::Late { rho, from } => {
                rho.check("rho", 1.0).and(rho.check_ports("rho", ports))?;
                if from.len() != ports {
                    let found = format!("a list of {} numbers", from.len());
                    return Err(ParameterError::new("from", found, format!("{ports}, one per port")));
                }
                Ok(())
            }
            Self::List { jobs, .. } => {
                if jobs.is_empty() {
                    return Err(ParameterError::new("jobs", "empty", "at least one row"));
                }
                for (slot, row) in jobs.iter().enumerate() {
                    if row.len() != ports {
                        let found = format!("a row of {} numbers", row.len());
                        return Err(ParameterError::new(
                            format!("jobs[{slot}]"),
                            found,
                            format!("{ports}, one per port"),
                        ));
                    }
                    for (port, &count) in row.iter().enumerate() {
                        check_whole(
                            format!("jobs[{slot}][{port}]"),
                            u64::from(count),
                            0..=u64::from(MOST_JOBS),
                        )?;
                    }
                }
                Ok(())
            }
        }
    }

    /// The same with rates by position, where they are by the names of ports.
    ///
    /// # Errors
    /// When a port is missing, or there is no such port.
    pub fn by_port(&self, ports: &[String]) -> Result<Self, ParameterError> {
        let mut spec = self.clone();
        let named = match &mut spec {
            Self::Bernoulli { rho } | Self::Binomial { rho, .. } | Self::Late { rho, .. } => {
                Some(("rho", rho))
            }
            Self::Poisson { rate, .. } => Some(("rate", rate)),
            Self::Diurnal { .. } | Self::Bursty { .. } | Self::List { .. } => None,
        };
        if let Some((key, rates)) = named {
            *rates = rates.by_port(key, ports)?;
        }
        Ok(spec)
    }

    /// The arrivals under a seed, from the first slot on.
    ///
    /// # Errors
    /// When a parameter is out of range, or a rate is by name: see [`by_port`](ArrivalSpec::by_port).
    pub fn build(&self, ports: usize, seed: u64) -> Result<Box<dyn Workload>, ParameterError> {
        // Whoever has names turns them into positions first, which needs the ports.
        let spec = self.by_port(&[])?;
        spec.check(ports)?;
        Ok(match spec {
            Self::Bernoulli { rho } => Box::new(Bernoulli::new(rho, seed)),
            Self::Diurnal { mean, amplitude, period, phase } => {
                Box::new(Diurnal { mean, amplitude, period, phase, seed })
            }
            Self::Bursty { calm, burst, enter, leave, together, most } => {
                Box::new(Bursty::new([calm, burst], [enter, leave], together, most, seed))
            }
            Self::Poisson { rate, most, load: _ } => Box::new(Poisson { rate, most, seed }),
            Self::Binomial { jobs, rho } => Box::new(Binomial { jobs, rho, seed }),
            Self::Late { rho, from } => Box::new(Late::new(rho, from, seed)),
            Self::List { jobs, repeat } => Box::new(Listed { rows: Arc::new(jobs), repeat }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        serde_json::from_str::<ArrivalSpec>(text).unwrap().check(3).unwrap_err().to_string()
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        assert_eq!(
            refused(r#"{"law": "bernoulli", "rho": [0.1, 0.2, 1.5]}"#),
            "`rho[2]` is 1.5, expected a number from 0 to 1"
        );
        assert_eq!(
            refused(r#"{"law": "bernoulli", "rho": [0.1]}"#),
            "`rho` is a list of 1 numbers, expected one number, or 3, one per port"
        );
        assert!(
            refused(r#"{"law": "diurnal", "mean": 0.8, "amplitude": 0.5}"#).contains("`amplitude` is 0.5")
        );
        assert!(refused(r#"{"law": "diurnal", "period": 0}"#).contains("`period` is 0"));
        assert!(refused(r#"{"law": "bursty", "enter": -1}"#).contains("`enter` is -1"));
        assert!(refused(r#"{"law": "poisson", "most": 0}"#).contains("`most` is 0"));
        assert!(refused(r#"{"law": "binomial", "jobs": 5000}"#).contains("from 1 to 1000"));
        assert!(
            refused(r#"{"law": "list", "jobs": [[1, 0, 0], [1, 0]]}"#).contains("`jobs[1]` is a row of 2")
        );
        assert!(
            refused(r#"{"law": "late", "from": [1, 9]}"#)
                .contains("`from` is a list of 2 numbers, expected 3")
        );
        assert!(refused(r#"{"law": "list", "jobs": []}"#).contains("at least one row"));
    }

    #[test]
    fn a_law_has_defaults() {
        for law in ["bernoulli", "diurnal", "bursty", "poisson", "binomial"] {
            let spec: ArrivalSpec = serde_json::from_str(&format!(r#"{{"law": "{law}"}}"#)).unwrap();
            assert!(spec.build(3, 0).is_ok(), "{law}");
        }
        let poisson: ArrivalSpec = serde_json::from_str(r#"{"law": "poisson", "rate": 2}"#).unwrap();
        assert_eq!(poisson, ArrivalSpec::Poisson { rate: Rates::All(2.0), most: 4, load: None });
        let named: ArrivalSpec =
            serde_json::from_str(r#"{"law": "poisson", "rate": {"b": 1, "a": 2}}"#).unwrap();
        let ports = ["a", "b"].map(String::from);
        let by_port = named.by_port(&ports).unwrap();
        assert_eq!(by_port, ArrivalSpec::Poisson { rate: Rates::Each(vec![2.0, 1.0]), most: 4, load: None });
        assert!(named.build(2, 0).is_err() && by_port.build(2, 0).is_ok());
        let unknown = named.by_port(&ports[..1]).unwrap_err().to_string();
        assert_eq!(unknown, "`rate` is a table with `b`, expected the ports a");
    }
}
