//! The fit: variances by restricted likelihood, then the posterior of every node.

use super::Cell;
use super::matrix::Cholesky;
use esdp::rng::{Purpose, stream};
use rand_distr::{Distribution, StandardNormal};

/// The most nodes that are compared; those with most jobs.
pub const MOST_NODES: usize = 1500;
/// With more nodes than this the variances are those of the ones with most jobs.
const MOST_FOR_VARIANCES: usize = 300;
/// How many jobs the variance of all keys counts for in that of one.
const BORROWED: f64 = 4.0;
/// No spread is taken for smaller than this: a thousandth of a log would make every interval empty.
const LEAST: f64 = 1e-3;
/// A standard normal number is within this with 95 %.
const NINETY_FIVE: f64 = 1.959_963_984_540_054;

/// What is known of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeSpeed {
    /// Its name.
    pub name: String,
    /// Its speed relative to the nodes it can be compared with, whose geometric mean is 1.
    pub speed: f64,
    /// The 95 % interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How many jobs tell of it.
    pub jobs: u64,
    /// Of how many different keys.
    pub keys: usize,
    /// The number of its group: nodes of different groups cannot be compared.
    pub group: usize,
}

/// What is known of all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeSpeeds {
    /// The nodes, by name.
    pub nodes: Vec<NodeSpeed>,
    /// How many groups there are that no job joins.
    pub groups: usize,
    /// The standard deviation of the logarithm of nodes' speeds, *tau*.
    pub spread: f64,
    /// How far keys differ in which nodes they like, *omega*.
    pub interaction: f64,
    /// The standard deviation of the logarithm of durations of the same key on the same node.
    pub residual: f64,
    /// The jobs that tell of nodes, and all.
    pub used: u64,
    /// All jobs.
    pub seen: u64,
    /// The standard error that the median node would have without the others.
    pub typical_error: f64,
    /// Nodes that are named but not compared: too many of them.
    pub beyond: usize,
    /// How many durations more there are than what is estimated from them: with none, any noise fits.
    pub freedom: f64,
    mean: Vec<f64>,
    precision: Cholesky,
}

/// With fewer durations than that beyond what is estimated, nobody knows how much durations scatter.
const LEAST_FREEDOM: f64 = 5.0;

/// Keys, each with its cells by node.
struct Data {
    keys: Vec<(f64, Vec<(usize, Cell)>)>,
    nodes: usize,
}

pub(super) fn fit(keys: Vec<Vec<(u32, Cell)>>, names: &[String], used: u64, seen: u64) -> Option<NodeSpeeds> {
    let within = keys
        .iter()
        .flatten()
        .fold((0.0, 0.0), |(squares, free), (_, cell)| (squares + cell.squares, free + cell.jobs - 1.0));
    let variance = if within.1 >= LEAST_FREEDOM { within.0 / within.1 } else { 0.0 };
    let joined: Vec<&Vec<(u32, Cell)>> = keys.iter().filter(|cells| cells.len() >= 2).collect();
    let mut jobs = vec![(0.0, 0_usize); names.len()];
    for (node, cell) in joined.iter().copied().flatten() {
        let own = &mut jobs[*node as usize];
        *own = (own.0 + cell.jobs, own.1 + 1);
    }
    let mut order: Vec<usize> = (0..names.len()).filter(|node| jobs[*node].1 > 0).collect();
    if order.len() < 2 {
        return None;
    }
    order.sort_by(|a, b| jobs[*b].0.total_cmp(&jobs[*a].0).then(names[*a].cmp(&names[*b])));
    let beyond = order.len().saturating_sub(MOST_NODES);
    order.truncate(MOST_NODES);
    let few = Data::new(&joined, &order[..order.len().min(MOST_FOR_VARIANCES)], variance);
    let (tau, omega) = few.variances();
    // By name from here on.
    order.sort_by(|a, b| names[*a].cmp(&names[*b]));
    let data = Data::new(&joined, &order, variance);
    let (a, b) = data.normal(omega);
    let size = order.len();
    let typical_error = {
        let mut errors: Vec<f64> = (0..size).map(|at| 1.0 / a[at * size + at].max(1e-12).sqrt()).collect();
        errors.sort_by(f64::total_cmp);
        errors[size / 2]
    };
    let precision = Cholesky::new(with_prior(a, size, tau), size)?;
    let mut mean = b;
    precision.solve(&mut mean);
    let (group, groups) = data.groups();
    let cells: usize = joined.iter().map(|cells| cells.len()).sum();
    let freedom = within.1 + cells as f64 - joined.len() as f64 - (size - groups) as f64;
    let nodes = contrasts(&precision, &mean, &group, groups);
    let nodes = nodes.into_iter().zip(&order).zip(&group).map(|(((off, error), node), group)| NodeSpeed {
        name: names[*node].clone(),
        // A longer duration is a lower speed.
        speed: libm::exp(-off),
        low: libm::exp(-off - NINETY_FIVE * error),
        high: libm::exp(-off + NINETY_FIVE * error),
        jobs: jobs[*node].0 as u64,
        keys: jobs[*node].1,
        group: *group,
    });
    Some(NodeSpeeds {
        nodes: nodes.collect(),
        groups,
        spread: tau,
        interaction: omega,
        residual: variance.sqrt(),
        used,
        seen,
        typical_error,
        beyond,
        freedom,
        mean,
        precision,
    })
}

impl Data {
    fn new(keys: &[&Vec<(u32, Cell)>], order: &[usize], variance: f64) -> Self {
        let most = order.iter().max().map_or(0, |most| most + 1);
        let mut place = vec![usize::MAX; most];
        order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
        let of = |cells: &&Vec<(u32, Cell)>| {
            let (squares, free) = cells.iter().fold((0.0, 0.0), |(squares, free), (_, cell)| {
                (squares + cell.squares, free + cell.jobs - 1.0)
            });
            let own = (BORROWED * variance + squares) / (BORROWED + free);
            let known = cells.iter().filter_map(|(node, cell)| {
                let at = place.get(*node as usize).copied().filter(|at| *at != usize::MAX)?;
                Some((at, *cell))
            });
            (own, known.collect::<Vec<_>>())
        };
        let keys = keys.iter().map(of).filter(|(_, cells)| cells.len() >= 2).collect();
        Self { keys, nodes: order.len() }
    }

    /// The weights of a key's cells.
    fn weights(own: f64, cells: &[(usize, Cell)], omega: f64) -> Vec<f64> {
        cells.iter().map(|(_, cell)| 1.0 / (omega * omega + own / cell.jobs).max(1e-8)).collect()
    }

    /// The normal equations of the nodes, keys eliminated.
    fn normal(&self, omega: f64) -> (Vec<f64>, Vec<f64>) {
        let size = self.nodes;
        let (mut a, mut b) = (vec![0.0; size * size], vec![0.0; size]);
        for (own, cells) in &self.keys {
            let weights = Self::weights(*own, cells, omega);
            let all: f64 = weights.iter().sum();
            let level = weights.iter().zip(cells).map(|(w, (_, cell))| w * cell.mean).sum::<f64>() / all;
            for ((at, cell), weight) in cells.iter().zip(&weights) {
                b[*at] += weight * (cell.mean - level);
                a[at * size + at] += weight;
                cells
                    .iter()
                    .zip(&weights)
                    .for_each(|((to, _), other)| a[at * size + to] -= weight * other / all);
            }
        }
        (a, b)
    }

    /// Minus twice the logarithm of the restricted likelihood.
    fn deviance(&self, tau: f64, omega: f64) -> f64 {
        let (a, b) = self.normal(omega);
        let Some(factor) = Cholesky::new(with_prior(a, self.nodes, tau), self.nodes) else {
            return f64::INFINITY;
        };
        let mut mean = b.clone();
        factor.solve(&mut mean);
        let mut sum = factor.log_determinant() + 2.0 * self.nodes as f64 * libm::log(tau);
        for (own, cells) in &self.keys {
            let weights = Self::weights(*own, cells, omega);
            let all: f64 = weights.iter().sum();
            let level = weights.iter().zip(cells).map(|(w, (_, cell))| w * cell.mean).sum::<f64>() / all;
            sum += libm::log(all);
            for ((_, cell), weight) in cells.iter().zip(&weights) {
                sum += weight * (cell.mean - level).powi(2) - libm::log(*weight);
            }
        }
        sum - b.iter().zip(&mean).map(|(b, mean)| b * mean).sum::<f64>()
    }

    /// The spread of nodes and of cells: one after the other along a line, twice around.
    fn variances(&self) -> (f64, f64) {
        let (mut tau, mut omega) = (0.1, 0.03);
        for _ in 0..3 {
            tau = lowest(|tau| self.deviance(tau, omega));
            omega = lowest(|omega| self.deviance(tau, omega));
        }
        (tau, omega)
    }

    /// The group of every node, numbered in the order of the nodes; how many.
    fn groups(&self) -> (Vec<usize>, usize) {
        let mut parent: Vec<usize> = (0..self.nodes).collect();
        fn root(parent: &mut [usize], mut at: usize) -> usize {
            while parent[at] != at {
                parent[at] = parent[parent[at]];
                at = parent[at];
            }
            at
        }
        for (_, cells) in &self.keys {
            let first = root(&mut parent, cells[0].0);
            for (at, _) in &cells[1..] {
                let other = root(&mut parent, *at);
                parent[other] = first;
            }
        }
        let mut number = vec![usize::MAX; self.nodes];
        let mut groups = 0;
        let group = |at: usize| {
            let root = root(&mut parent, at);
            if number[root] == usize::MAX {
                number[root] = groups;
                groups += 1;
            }
            number[root]
        };
        let group = (0..self.nodes).map(group).collect();
        (group, groups)
    }
}

fn with_prior(mut a: Vec<f64>, size: usize, tau: f64) -> Vec<f64> {
    (0..size).for_each(|at| a[at * size + at] += 1.0 / (tau * tau));
    a
}

/// The place of the lowest value between [`LEAST`] and 2, on a logarithmic scale.
fn lowest(mut of: impl FnMut(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut from, mut to) = (libm::log(LEAST), libm::log(2.0));
    let mut inner = [to - GOLDEN * (to - from), from + GOLDEN * (to - from)];
    let mut values = inner.map(|at| of(libm::exp(at)));
    for _ in 0..14 {
        if values[0] <= values[1] {
            to = inner[1];
            inner = [to - GOLDEN * (to - from), inner[0]];
            values = [of(libm::exp(inner[0])), values[0]];
        } else {
            from = inner[0];
            inner = [inner[1], from + GOLDEN * (to - from)];
            values = [values[1], of(libm::exp(inner[1]))];
        }
    }
    libm::exp(if values[0] <= values[1] { inner[0] } else { inner[1] })
}

/// Every node against the mean of its group: how much longer jobs take in logarithms, and the error of that.
fn contrasts(precision: &Cholesky, mean: &[f64], group: &[usize], groups: usize) -> Vec<(f64, f64)> {
    let size = mean.len();
    let mut members = vec![0.0; groups];
    group.iter().for_each(|group| members[*group] += 1.0);
    let of = |node: usize| {
        let own = group[node];
        let contrast: Vec<f64> = (0..size)
            .map(|at| {
                f64::from(u8::from(at == node)) - if group[at] == own { 1.0 / members[own] } else { 0.0 }
            })
            .collect();
        let off = contrast.iter().zip(mean).map(|(c, mean)| c * mean).sum::<f64>();
        let mut solved = contrast.clone();
        precision.solve(&mut solved);
        let variance = contrast.iter().zip(&solved).map(|(c, x)| c * x).sum::<f64>();
        (off, variance.max(0.0).sqrt())
    };
    (0..size).map(of).collect()
}

impl NodeSpeeds {
    /// Whether the jobs tell nodes apart, or tell that there is nothing to tell: the median node is known to
    /// 5 %, or twice as well as nodes differ. A few jobs that happen to agree tell nothing.
    pub fn tells(&self) -> bool {
        !self.is_few() && self.typical_error <= (0.5 * self.spread).max(0.05)
    }

    /// Whether there are so few jobs that nobody knows how much durations scatter.
    pub fn is_few(&self) -> bool {
        self.freedom < LEAST_FREEDOM
    }

    /// Speeds that are as likely as any by what is known, relative to the mean of each group; by node.
    pub fn draw(&self, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Speeds, 0, 0);
        let mut off: Vec<f64> = self.mean.iter().map(|_| StandardNormal.sample(&mut rng)).collect();
        self.precision.backward(&mut off);
        off.iter_mut().zip(&self.mean).for_each(|(off, mean)| *off += mean);
        let mut sums = vec![(0.0, 0.0); self.groups];
        for (node, off) in self.nodes.iter().zip(&off) {
            let sum = &mut sums[node.group];
            *sum = (sum.0 + off, sum.1 + 1.0);
        }
        let relative =
            |(node, off): (&NodeSpeed, &f64)| libm::exp(sums[node.group].0 / sums[node.group].1 - off);
        self.nodes.iter().zip(&off).map(relative).collect()
    }
}
