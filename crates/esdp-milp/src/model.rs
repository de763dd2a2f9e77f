//! The problem in units near 1, and as rows and columns of `microlp`.

use esdp::solver::{Gang, Problem};
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
    /// How often each column can be used.
    most: Vec<f64>,
    unit: f64,
    /// The weight of the square root of scaled widths in the scaled objective.
    weight: f64,
    rows: Vec<Row>,
    jobs: Vec<Job>,
}

/// One capacity that can bind.
#[derive(Debug)]
struct Row {
    terms: Vec<(usize, f64)>,
    capacity: f64,
}

/// A job whose tasks run together: the columns of each of its groups.
#[derive(Debug)]
struct Job {
    minimum: f64,
    copies: f64,
    groups: Vec<Tasks>,
}

/// A group of tasks: how many there are, how many are needed, and their columns.
#[derive(Debug)]
struct Tasks {
    count: f64,
    minimum: f64,
    columns: Vec<usize>,
}

/// `y <= slope * W + offset`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cut {
    slope: f64,
    pub(crate) offset: f64,
}

/// Chosen columns, how often each is used, and what they add up to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    pub(crate) on: Vec<(usize, u32)>,
    mean: f64,
    pub(crate) width: f64,
    pub(crate) value: f64,
}

impl Scaled {
    /// `None` when floating-point rows cannot hold the requests.
    pub(crate) fn of(problem: &Problem<'_>) -> Option<Self> {
        let (mean, width) = (problem.mean(), problem.width());
        // A channel that is worth nothing may still bring a job to its minimum.
        let needed = |e: usize| {
            problem.gangs().is_some_and(|gangs| {
                let job = gangs.groups[gangs.group[e] as usize].job;
                let needs_groups = || gangs.groups.iter().any(|group| group.job == job && group.minimum > 0);
                gangs.jobs[job as usize].minimum > 1 || needs_groups()
            })
        };
        let matters = |e: usize| (mean[e] > 0.0 || width[e] > 0.0 || needed(e)) && problem.most(e) > 0;
        let channels: Vec<u32> = (0..problem.len() as u32).filter(|&e| matters(e as usize)).collect();
        let largest = |term: &dyn Fn(usize) -> f64| {
            channels.iter().map(|&e| term(e as usize)).fold(f64::MIN_POSITIVE, f64::max)
        };
        let width_unit = largest(&|e| width[e]);
        let unit = largest(&|e| mean[e].abs().max(width[e].sqrt()));
        let scale = |list: &[f64], by: f64| channels.iter().map(|&e| list[e as usize] / by).collect();
        Some(Self {
            mean: scale(mean, unit),
            width: scale(width, width_unit),
            most: channels.iter().map(|&e| problem.most(e as usize) as f64).collect(),
            rows: binding_rows(problem, &channels)?,
            jobs: jobs(problem, &channels),
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
        self.width.iter().zip(&self.most).map(|(width, most)| width * most).sum()
    }

    /// An upper bound that needs no solver: everything good, without capacities.
    pub(crate) fn box_bound(&self) -> f64 {
        self.mean.iter().zip(&self.most).map(|(&mean, most)| mean.max(0.0) * most).sum::<f64>()
            + self.weight * self.total_width().sqrt()
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

    fn columns(&self, on: Vec<(usize, u32)>) -> Columns {
        let mean: f64 = on.iter().map(|&(column, uses)| self.mean[column] * f64::from(uses)).sum();
        let width: f64 = on.iter().map(|&(column, uses)| self.width[column] * f64::from(uses)).sum();
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
        groups.extend(
            of.into_iter()
                .enumerate()
                .map(|(server, columns)| (columns, servers.row(server as u32, devices))),
        );
    }
    let mut rows = Vec::new();
    for (columns, capacity) in groups {
        for (device, &capacity) in capacity.iter().enumerate() {
            let request = |column: usize| problem.request(channels[column] as usize)[device];
            let most = |column: usize| u128::from(problem.most(channels[column] as usize));
            let total: u128 = columns.iter().map(|&column| u128::from(request(column)) * most(column)).sum();
            if total <= u128::from(capacity) {
                continue;
            }
            if total > EXACT {
                return None;
            }
            let terms =
                columns.iter().map(|&column| (column, request(column) as f64)).filter(|term| term.1 > 0.0);
            rows.push(Row { terms: terms.collect(), capacity: capacity as f64 });
        }
    }
    Some(rows)
}

/// The jobs with a minimum that needs saying, and the groups that limit others.
fn jobs(problem: &Problem<'_>, channels: &[u32]) -> Vec<Job> {
    let Some(gangs) = problem.gangs() else { return Vec::new() };
    let mut columns = vec![Vec::new(); gangs.groups.len()];
    for (column, &channel) in channels.iter().enumerate() {
        columns[gangs.group[channel as usize] as usize].push(column);
    }
    let job = |job: &Gang| Job {
        minimum: f64::from(job.minimum),
        copies: f64::from(job.copies),
        groups: Vec::new(),
    };
    let mut jobs: Vec<Job> = gangs.jobs.iter().map(job).collect();
    for (group, columns) in gangs.groups.iter().zip(columns) {
        let (count, minimum) = (f64::from(group.count), f64::from(group.minimum));
        jobs[group.job as usize].groups.push(Tasks { count, minimum, columns });
    }
    jobs
}

/// A [`Scaled`] problem with some cuts, as `microlp` takes it.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    scaled: &'a Scaled,
    pub(crate) lp: Lp,
    x: Vec<Variable>,
    /// How many copies of each job run.
    running: Vec<Variable>,
    /// The square root `y` and the sum of widths `W`. Cuts on `W` have two entries; cuts on
    /// all of `x` made the solver a third slower.
    root: Option<(Variable, Variable)>,
}

impl<'a> Model<'a> {
    /// With whole columns (`whole`) or their continuous relaxation.
    pub(crate) fn new(scaled: &'a Scaled, whole: bool, cuts: &[Cut]) -> Self {
        let mut lp = Lp::new(OptimizationDirection::Maximize);
        // A channel fits at most 2^26 times, the most tasks of a problem.
        let column = |lp: &mut Lp, mean, most: f64| match whole {
            true if most == 1.0 => lp.add_binary_var(mean),
            true => lp.add_integer_var(mean, (0, most as i32)),
            false => lp.add_var(mean, (0.0, most)),
        };
        let columns = scaled.mean.iter().zip(&scaled.most);
        let x: Vec<Variable> = columns.map(|(&mean, &most)| column(&mut lp, mean, most)).collect();
        let running: Vec<Variable> = scaled.jobs.iter().map(|job| column(&mut lp, 0.0, job.copies)).collect();
        for (job, &running) in scaled.jobs.iter().zip(&running) {
            for Tasks { count, minimum, columns } in &job.groups {
                let terms = columns.iter().map(|&column| (x[column], 1.0)).chain([(running, -count)]);
                lp.add_constraint(terms, ComparisonOp::Le, 0.0);
                if *minimum > 0.0 {
                    let terms = columns.iter().map(|&column| (x[column], 1.0)).chain([(running, -minimum)]);
                    lp.add_constraint(terms, ComparisonOp::Ge, 0.0);
                }
                for &column in columns {
                    // Follows from the row above for whole numbers only.
                    lp.add_constraint(
                        [(x[column], 1.0), (running, -scaled.most[column])],
                        ComparisonOp::Le,
                        0.0,
                    );
                }
            }
            let tasks = job.groups.iter().flat_map(|group| &group.columns).map(|&column| (x[column], 1.0));
            lp.add_constraint(tasks.chain([(running, -job.minimum)]), ComparisonOp::Ge, 0.0);
        }
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
        let mut model = Self { scaled, lp, x, running, root };
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
        let uses = |column: usize| (column, answer.var_value(self.x[column]).round().max(0.0) as u32);
        self.scaled.columns((0..self.x.len()).map(uses).filter(|&(_, uses)| uses > 0).collect())
    }

    /// A starting point for the solver, which completes it with `y` and `W`.
    pub(crate) fn assignment(&self, columns: &Columns) -> Vec<(Variable, f64)> {
        let mut assignment: Vec<(Variable, f64)> = self.x.iter().map(|&x| (x, 0.0)).collect();
        for &(column, uses) in &columns.on {
            assignment[column].1 = f64::from(uses);
        }
        for (job, &running) in self.scaled.jobs.iter().zip(&self.running) {
            let tasks = |columns: &[usize]| columns.iter().map(|&column| assignment[column].1).sum::<f64>();
            // A group without tasks has no uses either.
            let copies = job.groups.iter().map(|group| (tasks(&group.columns) / group.count.max(1.0)).ceil());
            let copies = copies.fold(0.0, f64::max);
            assignment.push((running, copies));
        }
        assignment
    }

    /// The sum of widths in a solution of the relaxation, and by how much `y` overstates the
    /// objective there.
    pub(crate) fn relaxed_width(&self, answer: &Solution) -> (f64, f64) {
        let terms = self.x.iter().zip(&self.scaled.most).zip(&self.scaled.width);
        let width: f64 = terms.map(|((&x, &most), width)| answer.var_value(x).clamp(0.0, most) * width).sum();
        let root = self.root.map_or(0.0, |(root, _)| answer.var_value(root));
        (width, self.scaled.weight * (root - width.sqrt()))
    }
}
