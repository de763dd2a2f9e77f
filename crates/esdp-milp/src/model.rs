//! The problem in units near 1, and as rows and columns of `microlp`.

use esdp::solver::Problem;
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem as Lp, Solution, Variable};

/// Integers up to here are exact in floating point.
const EXACT: u128 = 1 << 53;

/// The channels that can matter, with the largest term of the objective and the largest
/// width scaled to 1: the tolerances of the MILP solver are absolute.
#[derive(Debug)]
pub(crate) struct Scaled {
    channels: Vec<u32>,
    mean: Vec<f64>,
    width: Vec<f64>,
    unit: f64,
    /// The weight of the square root of scaled widths in the scaled objective.
    weight: f64,
    rows: Vec<Row>,
}

/// One capacity that can bind.
#[derive(Debug)]
struct Row {
    terms: Vec<(usize, f64)>,
    capacity: f64,
}

/// `y <= slope * W + offset`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cut {
    slope: f64,
    pub(crate) offset: f64,
}

/// Chosen columns and what they add up to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    pub(crate) on: Vec<usize>,
    mean: f64,
    pub(crate) width: f64,
    pub(crate) value: f64,
}

impl Scaled {
    /// `None` when floating-point rows cannot hold the requests.
    pub(crate) fn of(problem: &Problem<'_>) -> Option<Self> {
        let (mean, width) = (problem.mean(), problem.width());
        let matters = |e: usize| (mean[e] > 0.0 || width[e] > 0.0) && problem.fits_alone(e);
        let channels: Vec<u32> = (0..problem.len() as u32).filter(|&e| matters(e as usize)).collect();
        let largest =
            |term: &dyn Fn(usize) -> f64| channels.iter().map(|&e| term(e as usize)).fold(f64::MIN_POSITIVE, f64::max);
        let width_unit = largest(&|e| width[e]);
        let unit = largest(&|e| mean[e].abs().max(width[e].sqrt()));
        let scale = |list: &[f64], by: f64| channels.iter().map(|&e| list[e as usize] / by).collect();
        Some(Self {
            mean: scale(mean, unit),
            width: scale(width, width_unit),
            rows: binding_rows(problem, &channels)?,
            weight: width_unit.sqrt() / unit,
            channels,
            unit,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.width.iter().all(|&width| width == 0.0)
    }

    pub(crate) fn channel(&self, column: usize) -> u32 {
        self.channels[column]
    }

    /// What one scaled unit of the objective is worth.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    pub(crate) fn total_width(&self) -> f64 {
        self.width.iter().sum()
    }

    /// An upper bound that needs no solver: everything good, without capacities.
    pub(crate) fn box_bound(&self) -> f64 {
        self.mean.iter().map(|&mean| mean.max(0.0)).sum::<f64>() + self.weight * self.total_width().sqrt()
    }

    /// The tangent of the square root at `width`. At 0, where the tangent is vertical: the
    /// chord to the smallest sum of widths that is not 0, above which it stays.
    pub(crate) fn cut_at(&self, width: f64) -> Cut {
        if width > 0.0 {
            let root = width.sqrt();
            return Cut { slope: 0.5 / root, offset: 0.5 * root };
        }
        let smallest = self.width.iter().copied().filter(|&width| width > 0.0).fold(f64::INFINITY, f64::min);
        Cut { slope: 1.0 / smallest.sqrt(), offset: 0.0 }
    }

    /// What columns are worth when the square root is replaced by the cuts.
    pub(crate) fn capped_value(&self, columns: &Columns, cuts: &[Cut]) -> f64 {
        let heights = cuts.iter().map(|cut| cut.slope * columns.width + cut.offset);
        columns.mean + self.weight * heights.fold(self.total_width().sqrt(), f64::min)
    }

    fn columns(&self, on: Vec<usize>) -> Columns {
        let mean: f64 = on.iter().map(|&column| self.mean[column]).sum();
        let width: f64 = on.iter().map(|&column| self.width[column]).sum();
        Columns { on, mean, width, value: mean + self.weight * width.sqrt() }
    }
}

/// The capacities that all channels together would exceed.
fn binding_rows(problem: &Problem<'_>, channels: &[u32]) -> Option<Vec<Row>> {
    let devices = problem.devices();
    let mut groups: Vec<(Vec<usize>, &[u64])> = vec![((0..channels.len()).collect(), problem.capacity())];
    if let Some(servers) = problem.servers() {
        let mut of = vec![Vec::new(); servers.capacity.len().checked_div(devices).unwrap_or(0)];
        for (column, &channel) in channels.iter().enumerate() {
            if let Some(columns) = of.get_mut(servers.of[channel as usize] as usize) {
                columns.push(column);
            }
        }
        groups
            .extend(of.into_iter().enumerate().map(|(server, columns)| (columns, servers.row(server as u32, devices))));
    }
    let mut rows = Vec::new();
    for (columns, capacity) in groups {
        for (device, &capacity) in capacity.iter().enumerate() {
            let request = |column: usize| problem.request(channels[column] as usize)[device];
            let total: u128 = columns.iter().map(|&column| u128::from(request(column))).sum();
            if total <= u128::from(capacity) {
                continue;
            }
            if total > EXACT {
                return None;
            }
            let terms = columns.iter().map(|&column| (column, request(column) as f64)).filter(|term| term.1 > 0.0);
            rows.push(Row { terms: terms.collect(), capacity: capacity as f64 });
        }
    }
    Some(rows)
}

/// A [`Scaled`] problem with some cuts, as `microlp` takes it.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    scaled: &'a Scaled,
    pub(crate) lp: Lp,
    x: Vec<Variable>,
    /// The square root `y` and the sum of widths `W`. Cuts on `W` have two entries; cuts on
    /// all of `x` made the solver a third slower.
    root: Option<(Variable, Variable)>,
}

impl<'a> Model<'a> {
    /// With binary columns (`whole`) or their continuous relaxation.
    pub(crate) fn new(scaled: &'a Scaled, whole: bool, cuts: &[Cut]) -> Self {
        let mut lp = Lp::new(OptimizationDirection::Maximize);
        let column = |lp: &mut Lp, mean| if whole { lp.add_binary_var(mean) } else { lp.add_var(mean, (0.0, 1.0)) };
        let x: Vec<Variable> = scaled.mean.iter().map(|&mean| column(&mut lp, mean)).collect();
        for row in &scaled.rows {
            let terms = row.terms.iter().map(|&(column, request)| (x[column], request));
            lp.add_constraint(terms, ComparisonOp::Le, row.capacity);
        }
        let root = (!scaled.is_linear()).then(|| {
            let total = scaled.total_width();
            let root = lp.add_var(scaled.weight, (0.0, total.sqrt()));
            let sum = lp.add_var(0.0, (0.0, total));
            let widths = x.iter().copied().zip(scaled.width.iter().copied()).filter(|term| term.1 > 0.0);
            lp.add_constraint(widths.chain([(sum, -1.0)]), ComparisonOp::Eq, 0.0);
            (root, sum)
        });
        let mut model = Self { scaled, lp, x, root };
        cuts.iter().for_each(|cut| model.add(cut));
        model
    }

    pub(crate) fn add(&mut self, cut: &Cut) {
        let row = self.row(cut);
        self.lp.add_constraint(row, ComparisonOp::Le, cut.offset);
    }

    /// The left-hand side of a cut; empty in a linear model, which has nothing to cut.
    pub(crate) fn row(&self, cut: &Cut) -> LinearExpr {
        let mut row = LinearExpr::empty();
        if let Some((root, sum)) = self.root {
            row.add(root, 1.0);
            row.add(sum, -cut.slope);
        }
        row
    }

    pub(crate) fn columns(&self, answer: &Solution) -> Columns {
        let on = (0..self.x.len()).filter(|&column| answer.var_value(self.x[column]) > 0.5);
        self.scaled.columns(on.collect())
    }

    /// A starting point for the solver, which completes it with `y` and `W`.
    pub(crate) fn assignment(&self, columns: &Columns) -> Vec<(Variable, f64)> {
        let mut assignment: Vec<(Variable, f64)> = self.x.iter().map(|&x| (x, 0.0)).collect();
        for &column in &columns.on {
            assignment[column].1 = 1.0;
        }
        assignment
    }

    /// The sum of widths in a solution of the relaxation, and by how much `y` overstates the
    /// objective there.
    pub(crate) fn relaxed_width(&self, answer: &Solution) -> (f64, f64) {
        let terms = self.x.iter().zip(&self.scaled.width);
        let width: f64 = terms.map(|(&x, width)| answer.var_value(x).clamp(0.0, 1.0) * width).sum();
        let root = self.root.map_or(0.0, |(root, _)| answer.var_value(root));
        (width, self.scaled.weight * (root - width.sqrt()))
    }
}
