//! A scenario at many points: what is varied, what there is to compute, what came out.

mod heat;
mod names;
mod page;
mod plan;
mod results;
mod table;
mod vary;
mod worth;

pub use plan::{Piece, SweepPlan};
pub use results::{SweepResults, SweepRow};
pub use vary::{SweepPoint, Vary};

use names::short_names;
