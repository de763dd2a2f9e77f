//! Branch and bound on the copies of jobs, then on the uses of channels.
//!
//! Depth first. Every node tightens its limits, goes down its own dual from its parent's prices,
//! fixes what would cost more than the gap, and is left when its bound is no better than the
//! best decision. What is not visited when the work is spent is bounded by its parent's bound. Where that
//! bound is far above the decision, and so much of the tree is done that its end is in sight, the search by
//! default goes on.

use crate::solver::gang::Decomposition;
use crate::solver::gang::dual::descent::Stop;
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ChannelNo, JobNo};
use crate::solver::gang::search::branching::{Doubtful, most_doubtful};
use crate::solver::gang::tuning::search::CANDIDATE;
use crate::solver::gang::tuning::tree::{HOPEFUL, MORE, NODES_PER_DECISION, STEPS};

/// What is kept of a node while its children are searched.
#[derive(Debug, Clone, Default)]
struct Node {
    limits: Limits,
    prices: Vec<f64>,
    bound: f64,
    /// The second child's change, until it is taken.
    other: Option<Change>,
}

/// One side of a branching.
#[derive(Debug, Clone, Copy)]
enum Change {
    MostCopies(JobNo, u32),
    FewestCopies(JobNo, u32),
    MostUses(ChannelNo, u32),
    FewestUses(ChannelNo, u32),
}

impl Change {
    fn apply(self, limits: &mut Limits) {
        match self {
            Self::MostCopies(job, most) => limits.most[job] = most,
            Self::FewestCopies(job, fewest) => limits.fewest[job] = fewest,
            Self::MostUses(e, high) => limits.high[e] = high,
            Self::FewestUses(e, low) => limits.low[e] = low,
        }
    }
}

/// The open nodes on the current path; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Tree {
    path: Vec<Node>,
    spare: Vec<Node>,
    /// The share of the tree that is done with, if the sides of a node are equals.
    done: f64,
}

impl Tree {
    /// A node below the path's end is done with.
    fn close(&mut self) {
        self.done += libm::exp2(-(self.path.len() as f64));
    }
}

impl Decomposition {
    /// Searches from the root, whose descent is done; returns what is proved: no decision is
    /// better than this, in scaled units.
    pub(in crate::solver::gang) fn branch(&mut self, budget: u64) -> f64 {
        let mut tree = std::mem::take(&mut self.tree);
        let proved = self.walk(&mut tree, budget);
        tree.spare.append(&mut tree.path);
        self.tree = tree;
        proved
    }

    fn walk(&mut self, tree: &mut Tree, budget: u64) -> f64 {
        let mut bound = self.descent.best.value;
        tree.done = 0.0;
        let begin = self.pricing.work;
        let mut end = budget;
        loop {
            // The node's own descent is done; `bound` is its bound.
            if self.pricing.work > end {
                let open = tree.path.iter().filter(|node| node.other.is_some()).map(|node| node.bound);
                let bound = open.fold(bound, f64::max);
                let whole = (self.pricing.work - begin) as f64 / tree.done;
                let is_hopeful = whole <= HOPEFUL as f64 * budget as f64 && self.form.has_small_servers();
                if end > budget || !self.goes_on(bound) || !is_hopeful {
                    return bound;
                }
                end = budget.saturating_mul(MORE);
            }
            if self.nodes.is_multiple_of(NODES_PER_DECISION) {
                self.candidate(budget / CANDIDATE);
            }
            self.nodes += 1;
            let change = if self.beats(bound) { self.choose() } else { None };
            if let Some((first, other)) = change {
                let mut node = tree.spare.pop().unwrap_or_default();
                node.limits.clone_from(&self.limits);
                node.prices.clone_from(&self.descent.best.prices);
                node.bound = bound;
                node.other = Some(other);
                tree.path.push(node);
                first.apply(&mut self.limits);
            } else {
                tree.close();
                if !self.back(tree) {
                    return self.best_value;
                }
            }
            loop {
                if let Some(own) = self.enter(tree, end) {
                    bound = own;
                    break;
                }
                tree.close();
                if !self.back(tree) {
                    return self.best_value;
                }
            }
        }
    }

    /// Goes to the next open node; false when there is none.
    fn back(&mut self, tree: &mut Tree) -> bool {
        while let Some(node) = tree.path.last_mut() {
            if let Some(change) = node.other.take() {
                if node.bound > self.best_value + self.tolerance() {
                    self.limits.clone_from(&node.limits);
                    change.apply(&mut self.limits);
                    return true;
                }
                tree.close();
            }
            tree.spare.extend(tree.path.pop());
        }
        false
    }

    /// Propagates and descends at a node that was just made; `None` when nothing better is in it.
    fn enter(&mut self, tree: &Tree, budget: u64) -> Option<f64> {
        let parent = tree.path.last()?;
        self.pricing.work += self.form.len() as u64;
        if !self.is_open() {
            return None;
        }
        self.descent.start(&self.form, &self.limits, &mut self.pricing, &parent.prices);
        let target = self.best_value;
        let stop = Stop { steps: STEPS, work: budget, target };
        self.descent.run(&self.form, &self.limits, &mut self.pricing, stop);
        let bound = self.descent.best.value.min(parent.bound);
        if !self.beats(bound) || (self.fix() && !self.is_open()) {
            return None;
        }
        Some(bound)
    }

    /// Propagates the limits; whether they leave anything to decide. The only decision that they
    /// leave, if so, is taken note of.
    pub(in crate::solver::gang) fn is_open(&mut self) -> bool {
        if !self.limits.propagate(&self.form) {
            return false;
        }
        if !self.limits.is_decided() {
            return true;
        }
        let mut sums = (0.0, 0.0);
        for (e, &uses) in self.limits.low.numbered() {
            sums.0 += self.form.v[e] * f64::from(uses);
            sums.1 += self.form.w[e] * f64::from(uses);
        }
        let value = crate::solver::gang::problem::form::Form::value(sums.0, sums.1);
        if value > self.best_value {
            self.best_value = value;
            self.best.clone_from(&self.limits.low);
            self.best_copies.clone_from(&self.limits.fewest);
        }
        false
    }

    /// The variable to branch on and the two sides, the likelier one first.
    fn choose(&self) -> Option<(Change, Change)> {
        let limits = &self.limits;
        let jobs = most_doubtful(&limits.fewest, &limits.most, &self.descent.copies);
        if let Some(Doubtful { number: l, floor, up, .. }) = jobs {
            return Some(sides(Change::MostCopies(l, floor), Change::FewestCopies(l, floor + 1), up));
        }
        let uses = most_doubtful(&limits.low, &limits.high, &self.descent.uses);
        let Doubtful { number: e, floor, up, .. } = uses?;
        Some(sides(Change::MostUses(e, floor), Change::FewestUses(e, floor + 1), up))
    }
}

fn sides(less: Change, more: Change, up: bool) -> (Change, Change) {
    if up { (more, less) } else { (less, more) }
}
