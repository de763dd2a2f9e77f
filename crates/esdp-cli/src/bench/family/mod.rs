//! Drawn families of problems: the exact solver and its rivals on the same instances.

mod agree;
mod figures;
mod measure;
mod table;
mod write;

pub(super) use agree::{agree, draws};
pub(super) use figures::FamilyReport;
pub(super) use measure::{Rivals, measure};
pub(super) use table::table;
pub(super) use write::Writer;

use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
use std::fmt;

/// A family at one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sized {
    pub(super) family: Family,
    pub(super) size: Dimensions,
}

impl fmt::Display for Sized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.family, self.size)
    }
}

/// One row of the result: the instances of a family, a size and an index.
#[derive(Debug, Clone, Copy)]
pub(super) struct FamilyCase {
    pub(super) sized: Sized,
    pub(super) index: IndexKind,
    pub(super) seed: u64,
    pub(super) instances: u64,
}

impl FamilyCase {
    pub(super) fn draws(&self) -> impl Iterator<Item = Draw> + use<> {
        let Self { sized: Sized { family, size }, index, seed, instances } = *self;
        (0..instances).map(move |number| Draw { family, size, index, seed, number })
    }
}

/// Reads `family:size`, `family` for all sizes the project measures, or `all`.
pub(super) fn sizes(text: &str) -> Result<Vec<Sized>, String> {
    let all = |family: Family| family.sizes().iter().map(move |&size| Sized { family, size });
    if text == "all" {
        return Ok(Family::ALL.into_iter().flat_map(all).collect());
    }
    let Some((family, size)) = text.split_once(':') else {
        let family: Family = text.parse().map_err(|error| format!("{error}, or all"))?;
        return Ok(all(family).collect());
    };
    let wrong = |error: esdp::sim::families::FamilyError| error.to_string();
    let (family, size): (Family, Dimensions) = (family.parse().map_err(wrong)?, size.parse().map_err(wrong)?);
    family.check(size).map_err(wrong)?;
    Ok(vec![Sized { family, size }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_read_with_and_without_a_size() {
        let one = sizes("real-nodes:40x60").unwrap();
        assert_eq!((one.len(), one[0].to_string()), (1, "real-nodes:40x60".to_owned()));
        assert_eq!(sizes("congested").unwrap().len(), 3);
        assert!(sizes("all").unwrap().len() > 15);
        for bad in ["", "nodes", "real-nodes:", "real-nodes:40", "real-nodes:0x5", "quotas:5000x5", "all:2x2"]
        {
            assert!(sizes(bad).is_err(), "{bad}");
        }
    }
}
