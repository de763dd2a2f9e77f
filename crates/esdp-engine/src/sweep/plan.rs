//! What a sweep computes: its points and seeds.

use super::vary::{SweepPoint, Vary, points};
use crate::{SweepError, Unit, part};
use esdp::scenario::{Scenario, Sweep};

/// The most (point, seed) pairs.
const MOST_UNITS: usize = 1_000_000;

/// The points of a sweep.
#[derive(Debug, Clone)]
pub struct SweepPlan {
    /// The scenario before anything is varied.
    pub base: Scenario,
    /// The keys and their values.
    pub vary: Vec<Vary>,
    /// Every combination of the values.
    pub points: Vec<SweepPoint>,
}

/// A (point, seed) pair and the name of its part.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The position of its point.
    pub point: usize,
    /// The seed.
    pub seed: u64,
    /// The name of its part.
    pub key: String,
}

impl SweepPlan {
    /// Every combination of what is varied; the scenario's own sweep where nothing is.
    ///
    /// # Errors
    /// When there is nothing to vary, too much of it, or a value is not accepted.
    pub fn new(base: Scenario, vary: Vec<Vary>) -> Result<Self, SweepError> {
        let of = |sweep: &Sweep| Vary { key: sweep.key.clone(), values: sweep.values.clone() };
        let (vary, points) = match (base.sweeps(), vary.is_empty()) {
            ([], true) => return Err(SweepError::Nothing),
            (own, true) => {
                let own: Vec<Vary> = own.iter().map(of).collect();
                let points = points(&base.without_sweep(), &own)?;
                (own, points)
            }
            _ => {
                let points = points(&base, &vary)?;
                (vary, points)
            }
        };
        let plan = Self { base, vary, points };
        let units: usize = plan.points.iter().map(|point| point.scenario.seeds().len()).sum();
        if units > MOST_UNITS {
            return Err(SweepError::TooManyUnits { found: units, most: MOST_UNITS });
        }
        Ok(plan)
    }

    /// Everything there is to compute, point after point.
    pub fn pieces(&self) -> Vec<Piece> {
        let of = |(at, point): (usize, &SweepPoint)| {
            let key = part::key(&point.scenario);
            let piece = |&seed: &u64| Piece { point: at, seed, key: format!("{key:032x}-{seed}") };
            point.scenario.seeds().iter().map(piece).collect::<Vec<_>>()
        };
        self.points.iter().enumerate().flat_map(of).collect()
    }

    /// What to run for a piece.
    pub fn unit(&self, piece: &Piece) -> Unit<'_> {
        let SweepPoint { scenario, policies, .. } = &self.points[piece.point];
        Unit { scenario, policies, slots: scenario.slots(), seed: piece.seed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(vary: &str, seeds: &str) -> SweepPlan {
        let base = Scenario::preset("default").unwrap().set("seeds.count", seeds).unwrap();
        SweepPlan::new(base, vec![vary.parse().unwrap()]).unwrap()
    }

    #[test]
    fn a_part_is_named_by_what_its_numbers_depend_on() {
        let keys = |plan: &SweepPlan| plan.pieces().into_iter().map(|piece| piece.key).collect::<Vec<_>>();
        let (two, three) = (keys(&plan("slots=10,20", "2")), keys(&plan("slots=20,30", "3")));
        assert_eq!((two.len(), three.len()), (4, 6));
        // slots=20, seeds 0 and 1.
        assert_eq!(two[2..], three[..2]);
        let unique: std::collections::HashSet<&String> = two.iter().chain(&three).collect();
        assert_eq!(unique.len(), 8);
    }

    #[test]
    fn a_sweep_of_the_scenario_is_used_where_nothing_is_told() {
        let alone = SweepPlan::new(Scenario::preset("default").unwrap(), Vec::new());
        assert!(alone.err().unwrap().to_string().starts_with("nothing to vary"));
        assert_eq!(SweepPlan::new(Scenario::preset("rho").unwrap(), Vec::new()).unwrap().points.len(), 10);
        let text = "[[sweep]]\nkey = \"arrivals.rho\"\nvalues = \"0.2..0.8:0.2\"\n\
                    [[sweep]]\nkey = \"slots\"\nvalues = [10, 20]";
        let own = SweepPlan::new(Scenario::from_toml(text).unwrap(), Vec::new()).unwrap();
        let flags = ["arrivals.rho=0.2..0.8:0.2", "slots=10,20"].map(|text| text.parse().unwrap()).to_vec();
        let told = SweepPlan::new(Scenario::from_toml("").unwrap(), flags).unwrap();
        let names = |plan: &SweepPlan| plan.points.iter().map(SweepPoint::name).collect::<Vec<_>>();
        assert_eq!(names(&own), names(&told));
        assert_eq!((own.points.len(), names(&own)[5].as_str()), (8, "arrivals.rho=0.6,slots=20"));
        assert!(own.pieces().iter().zip(told.pieces()).all(|(own, told)| own.key == told.key));
    }
}
