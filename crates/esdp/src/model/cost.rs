//! Supply costs *f_k(a)*: what it costs to provide `a` units of a device.
//!
//! The paper asks nothing of *f*: no convexity, no derivative. Four shapes cover
//! what operators write down; `table` covers the rest.

use super::Amount;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The cost of providing an amount of one device.
///
/// ```
/// use esdp::model::SupplyCost;
///
/// let stepped = SupplyCost::Step { per: 4, cost: 0.1 };
/// assert_eq!(stepped.at(5), 0.2); // two started racks of four
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SupplyCost {
    /// `fixed + rate * a`, nothing for no device.
    Linear {
        /// The cost of using the device at all.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "x-unit" = "utility")))]
        fixed: f64,
        /// The cost of each unit.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "x-unit" = "utility per device")))]
        rate: f64,
    },
    /// `rate * a^exponent`.
    Power {
        /// The cost of the first unit.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "x-unit" = "utility")))]
        rate: f64,
        /// Above 1: each further unit costs more; below 1: less.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
        exponent: f64,
    },
    /// `cost` for every started block of `per` units.
    Step {
        /// Units in a block.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "x-unit" = "devices")))]
        per: Amount,
        /// The cost of a block.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "x-unit" = "utility")))]
        cost: f64,
    },
    /// The cost of 1, 2, 3, ... units; the last entry serves beyond the end.
    Table {
        /// One entry an amount, from 1 on.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "x-unit" = "utility")))]
        costs: Vec<f64>,
    },
}

/// Why a [`SupplyCost`] was rejected. Fatal: the caller's data is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CostError {
    /// A parameter is NaN, infinite or negative.
    #[error("`{parameter}` is {value}, expected a finite number of at least 0")]
    Parameter {
        /// The parameter's name.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A step of zero units.
    #[error("`per` is 0, expected at least 1")]
    EmptyStep,
    /// A table without entries.
    #[error("`costs` is empty, expected at least one entry")]
    EmptyTable,
}

impl SupplyCost {
    /// No cost at all.
    pub const FREE: SupplyCost = SupplyCost::Linear { fixed: 0.0, rate: 0.0 };

    /// The cost of `amount` units; no device costs nothing.
    pub fn at(&self, amount: Amount) -> f64 {
        if amount == 0 {
            return 0.0;
        }
        match self {
            SupplyCost::Linear { fixed, rate } => fixed + rate * amount as f64,
            SupplyCost::Power { rate, exponent } => rate * (amount as f64).powf(*exponent),
            SupplyCost::Step { per, cost } => cost * amount.div_ceil(*per) as f64,
            SupplyCost::Table { costs } => {
                let last = costs.len() - 1;
                costs[usize::try_from(amount - 1).map_or(last, |i| i.min(last))]
            }
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// When one is not a finite, non-negative number, or a step or table is empty.
    pub fn check(&self) -> Result<(), CostError> {
        let check = |parameter, value: f64| {
            if value.is_finite() && value >= 0.0 {
                Ok(())
            } else {
                Err(CostError::Parameter { parameter, value })
            }
        };
        match self {
            SupplyCost::Linear { fixed, rate } => check("fixed", *fixed).and(check("rate", *rate)),
            SupplyCost::Power { rate, exponent } => check("rate", *rate).and(check("exponent", *exponent)),
            SupplyCost::Step { per: 0, .. } => Err(CostError::EmptyStep),
            SupplyCost::Step { cost, .. } => check("cost", *cost),
            SupplyCost::Table { costs } if costs.is_empty() => Err(CostError::EmptyTable),
            SupplyCost::Table { costs } => costs.iter().try_for_each(|&value| check("costs", value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(SupplyCost::Linear { fixed: 1.0, rate: 0.5 }.at(4), 3.0);
        assert_eq!(SupplyCost::Power { rate: 2.0, exponent: 2.0 }.at(3), 18.0);
        assert_eq!(SupplyCost::Step { per: 4, cost: 0.5 }.at(4), 0.5);
        let table = SupplyCost::Table { costs: vec![0.1, 0.3] };
        assert_eq!((table.at(0), table.at(1), table.at(2), table.at(u64::MAX)), (0.0, 0.1, 0.3, 0.3));
    }

    #[test]
    fn bad_parameters_are_named() {
        let nan = SupplyCost::Power { rate: 1.0, exponent: f64::NAN };
        assert!(matches!(nan.check(), Err(CostError::Parameter { parameter: "exponent", .. })));
        assert_eq!(SupplyCost::Step { per: 0, cost: 1.0 }.check(), Err(CostError::EmptyStep));
        assert_eq!(SupplyCost::Table { costs: vec![] }.check(), Err(CostError::EmptyTable));
        assert!(SupplyCost::Table { costs: vec![1.0, -1.0] }.check().is_err());
    }
}
