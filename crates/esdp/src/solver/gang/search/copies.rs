//! A tree over the jobs' copies, then over the uses of channels, on the linear relaxation: the bound falls,
//! and every node is a start for a dive.
//!
//! The node with the highest bound comes first. It is split by the job whose copies are farthest from a whole
//! number, or, where all copies are whole, by such a channel; both sides are solved with the rounded rows
//! that the root found. The smaller the gap, the less work the tree takes. Where servers' own knapsacks
//! (`prices.rs`) bounded the root better at the relaxation's prices, they bound nodes too. What is still open
//! when the work is spent keeps its bound. Before all, jobs are settled whose other numbers of copies would
//! cost more than the gap.

use crate::solver::gang::Decomposition;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByJob, ChannelNo, JobNo};
use crate::solver::gang::search::branching::most_doubtful;
use crate::solver::gang::search::relaxed::task_prices;
use crate::solver::gang::tuning::copies::WHOLE;
use crate::solver::gang::tuning::search::WORK_PER_VISIT;

/// A part of the problem that is not searched yet.
#[derive(Debug, Clone)]
struct Node {
    bound: f64,
    fewest: ByJob<u32>,
    most: ByJob<u32>,
    /// Channels whose uses are limited, and from what to what.
    uses: Vec<(ChannelNo, u32, u32)>,
    /// Nothing where all is whole.
    split: Option<Split>,
}

/// What to split by, and its number in the relaxation, rounded down.
#[derive(Debug, Clone, Copy)]
enum Split {
    Copies(JobNo, u32),
    Uses(ChannelNo, u32),
}

/// The nodes that are open, and the highest bound of those that cannot be split.
#[derive(Debug, Default)]
struct Nodes {
    open: Vec<Node>,
    unsplit: f64,
}

impl Nodes {
    /// The node with the highest bound; the oldest of several.
    fn pop_highest(&mut self) -> Option<Node> {
        let bound = |place: usize| self.open[place].bound;
        let highest = (0..self.open.len()).max_by(|&a, &b| bound(a).total_cmp(&bound(b)).then(b.cmp(&a)))?;
        Some(self.open.swap_remove(highest))
    }

    fn bound(&self) -> f64 {
        self.open.iter().map(|node| node.bound).fold(self.unsplit, f64::max)
    }
}

impl Decomposition {
    /// Searches from the root, of which the bound of the relaxation and the best one are given; the bound of
    /// what is left. Multipliers, scores and ranks stay the root's.
    pub(in crate::solver::gang) fn branch_on_copies(
        &mut self,
        (relaxed, bound): (f64, f64),
        work: u64,
    ) -> f64 {
        let begin = self.pricing.work;
        let end = begin.saturating_add(work);
        let root = self.relaxation.multipliers.clone();
        let mut limits = self.limits.clone();
        self.settle_copies(relaxed, &mut limits);
        let whole = limits.clone();
        self.relaxation.copies.clone_from(&self.root_copies);
        let mut nodes = Nodes { open: vec![self.node(&limits, Vec::new(), bound)], unsplit: 0.0 };
        while self.pricing.work < begin.saturating_add(self.worth_it(work, nodes.bound()))
            && let Some(node) = nodes.pop_highest()
        {
            if !self.beats(node.bound) {
                // Nor does any other.
                nodes.open.clear();
                break;
            }
            let Some(split) = node.split else {
                nodes.unsplit = nodes.unsplit.max(node.bound);
                continue;
            };
            for up in [true, false] {
                limits.clone_from(&whole);
                limits.fewest.clone_from(&node.fewest);
                limits.most.clone_from(&node.most);
                let mut uses = node.uses.clone();
                match split {
                    Split::Copies(job, floor) if up => limits.fewest[job] = floor + 1,
                    Split::Copies(job, floor) => limits.most[job] = floor,
                    Split::Uses(e, floor) if up => uses.push((e, floor + 1, u32::MAX)),
                    Split::Uses(e, floor) => uses.push((e, 0, floor)),
                }
                for &(e, low, high) in &uses {
                    limits.low[e] = limits.low[e].max(low);
                    limits.high[e] = limits.high[e].min(high);
                }
                nodes.open.extend(self.search_node(&mut limits, uses, node.bound, end));
            }
        }
        self.relaxation.multipliers = root;
        self.relaxation.copies.clone_from(&self.root_copies);
        self.score_relaxed();
        nodes.bound().max(self.best_value)
    }

    /// Solves the relaxation within limits and dives from there; what is left to search, if anything.
    fn search_node(
        &mut self,
        limits: &mut Limits,
        uses: Vec<(ChannelNo, u32, u32)>,
        parent: f64,
        end: u64,
    ) -> Option<Node> {
        self.pricing.work += 4 * self.form.len() as u64;
        if !limits.propagate(&self.form) {
            return None;
        }
        let work = end.saturating_sub(self.pricing.work);
        let target = self.best_value + self.tolerance();
        let mut bound = self.relaxation.solve_part(&self.form, limits, target, work).min(parent);
        self.pricing.work += std::mem::take(&mut self.relaxation.work);
        if self.sharper_by_servers && self.beats(bound) {
            bound = bound.min(self.bound_by_servers(limits));
        }
        if !self.beats(bound) {
            return None;
        }
        let node = self.node(limits, uses, bound);
        self.score_relaxed();
        self.dive_from_relaxation(limits, end.saturating_sub(self.pricing.work));
        self.beats(bound).then_some(node)
    }

    /// The bound of the servers' knapsacks at the relaxation's prices.
    fn bound_by_servers(&mut self, limits: &Limits) -> f64 {
        let Self { form, relaxation, pricing, root, .. } = self;
        task_prices(form, &relaxation.multipliers, &mut root.prices);
        std::mem::swap(&mut pricing.server_prices, &mut relaxation.multipliers.server);
        let before = pricing.work;
        let bound = pricing.certify(form, limits, root);
        pricing.work += (pricing.work - before) * (WORK_PER_VISIT - 1);
        std::mem::swap(&mut pricing.server_prices, &mut relaxation.multipliers.server);
        bound
    }

    /// A node with the relaxation's solution.
    fn node(&self, limits: &Limits, uses: Vec<(ChannelNo, u32, u32)>, bound: f64) -> Node {
        let relaxation = &self.relaxation;
        let copies = most_doubtful(&limits.fewest, &limits.most, &relaxation.copies);
        let copies = copies.filter(|most| most.doubt > WHOLE);
        let split = copies.map(|most| Split::Copies(most.number, most.floor)).or_else(|| {
            let uses = most_doubtful(&limits.low, &limits.high, &relaxation.uses);
            let uses = uses.filter(|most| most.doubt > WHOLE);
            uses.map(|most| Split::Uses(most.number, most.floor))
        });
        Node { bound, fewest: limits.fewest.clone(), most: limits.most.clone(), uses, split }
    }

    /// Settles jobs whose other numbers of copies would cost more than the gap.
    fn settle_copies(&mut self, bound: f64, limits: &mut Limits) {
        let Self { form, relaxation, .. } = self;
        let gap = bound - self.best_value;
        for l in form.jobs.numbers().filter(|&l| form.jobs[l].is_gang()) {
            let worth = relaxation.multipliers.worth(form, limits, l);
            // A cast from a float saturates: a worth of 0 allows everything.
            let steps = (gap / worth.abs()) as u32;
            if worth > 0.0 {
                limits.fewest[l] = limits.fewest[l].max(limits.most[l].saturating_sub(steps));
            } else {
                limits.most[l] = limits.most[l].min(limits.fewest[l].saturating_add(steps));
            }
        }
    }
}
