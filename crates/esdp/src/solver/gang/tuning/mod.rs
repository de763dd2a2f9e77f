//! Every tuned number of the solver, by the file that uses it.
//!
//! They were chosen on drawn problems (`esdp bench --families`), on other seeds than those that are reported.
//! A number that follows from the problem or from arithmetic stays where it is used.

mod relaxation;

pub(super) use self::relaxation::{choose, cuts, hull, interior, job, relax, saddle, step};

pub(super) mod search {
    /// A decision's work by default: so much for each channel, up to so much in all, and a little for each
    /// channel beyond.
    pub const WORK_PER_CHANNEL: u64 = 30_000;
    pub const WORK: u64 = 120_000_000;
    pub const MORE_WORK_PER_CHANNEL: u64 = 6_000;
    /// No decision gets more by default: some seconds.
    pub const MOST_BY_DEFAULT: u64 = 1_200_000_000;
    /// No decision gets less: what proves nearly all problems of 8 jobs and 40 servers.
    pub const LEAST_WORK: u64 = 40_000_000;
    /// The same where the linear relaxation guides it, and the tenths of all work that it needs, ...
    pub const LEAST_WORK_RELAXED: u64 = 15_000_000;
    pub const RELAXED_NEEDS: u64 = 6;
    /// ... of a large problem, where it is solved several times, ...
    pub const LARGE_NEEDS: u64 = 7;
    /// ... and where servers are small, so that it says less.
    pub const SMALL_SERVERS_NEED: u64 = 8;
    /// Budgets that are little, but enough for more than the first decision.
    pub const LITTLE_WORK: std::ops::Range<u64> = 50_000..1_000_000;
    /// The tenths of the work that the relaxation has before a tree that may prove the optimum.
    pub const RELAXED_TENTHS: u64 = 8;
    /// Where servers' knapsacks bound worse than the relaxation by this factor, a tree on them proves little.
    pub const WEAK: f64 = 1.02;
    /// The units of work that a visit of a server's knapsack or table takes.
    pub const WORK_PER_VISIT: u64 = 5;
    /// At least so many knapsacks of each server are within the budget.
    pub const SCORES: u64 = 8;
    /// Visits of one server's knapsack before its bound is taken instead.
    pub const SERVER_VISITS: u64 = 4_000;
    /// Decisions closer to the bound than this are not worth a dive; closer than that, they are improved with
    /// less than all the work that is left, in proportion.
    pub const CLOSE: f64 = 1e-4;
    pub const WIDE: f64 = 0.01;
    /// The part of the visits that scores for a decision may take, and how many for each channel they take
    /// in any case.
    pub const CANDIDATE: u64 = 8;
    pub const SCORED: u64 = 200;
    /// Rounds of dual steps at the root, each followed by a decision.
    pub const ROUNDS: usize = 8;
    /// Before a tree, a round that lowers the bound by less than this share of the gap is the last one.
    pub const SLOWEST: f64 = 0.2;
    /// Dual steps in a round; problems of more channels than this get fewer decisions meanwhile.
    pub const STEPS: usize = 35;
    pub const LARGE: usize = 20_000;
    /// Visits for each channel below which branching is not worth a try, but for problems of at most this
    /// many channels.
    pub const TREE: u64 = 20_000;
    pub const SMALL: usize = 50;
}

pub(super) mod form {
    /// So many amounts are looked at in the time that a unit of work stands for.
    pub const FEW_AMOUNTS: usize = 24;
}

pub(super) mod fill {
    /// A number smaller than this share of the largest makes a problem uneven.
    pub const LEAST_EVEN: f64 = 1e-6;
    /// Makes a sum of up to millions of numbers no smaller than it is.
    pub const ROUNDED_UP: f64 = 1.0 + 1e-9;
}

pub(super) mod descent {
    /// A step's share of a new subgradient lies between a tenth of this and this.
    pub const LARGEST_SHARE: f64 = 0.2;
}

pub(super) mod prices {
    /// `ln lambda` stays within this of 0; beyond, the scaled problem has no information.
    pub const WIDEST: f64 = 60.0;
}

pub(super) mod knapsack {
    /// The weight of a device without a price, as a share of all prices together.
    pub const EVEN: f64 = 0.01;
}

pub(super) mod start {
    /// The multiplier of the variances and what is chosen at it are found in turn, this many times.
    pub const TURNS: usize = 3;
}

pub(super) mod gibbs {
    /// Uses that fall short of the best ones by more than this many temperatures are left out.
    pub const CUT: f64 = 18.0;
    /// What all sums are multiplied by, which doubles the range that a double has for small ones.
    pub const UNIT: f64 = 1e290;
    /// Below this, sums are too inexact.
    pub const LEAST: f64 = 1e-290;
}

pub(super) mod offers {
    /// Channels worth less than this many temperatures below nothing are not offered.
    pub const CUT: f64 = 20.0;
}

pub(super) mod grid {
    /// The most cells of a server's grid, counted from the negative of its room on.
    pub const CELLS: u64 = 4_096;
}

pub(super) mod newton {
    /// The temperatures, of an objective whose terms are at most about 1.
    pub const FIRST: f64 = 0.04;
    pub const FACTOR: f64 = 0.35;
    pub const LAST: f64 = 0.001;
    /// Steps at the first temperature, and at each of the others.
    pub const FIRST_STEPS: usize = 12;
    pub const STEPS: usize = 6;
    /// A temperature is done when a step promises less than this many times itself for each price.
    pub const ENOUGH: f64 = 0.1;
    /// The most that a price moves when the temperature falls, for each unit of it.
    pub const FASTEST: f64 = 10.0;
    /// No price starts below this.
    pub const LEAST: f64 = 1e-4;
    /// The least share of a price that a step leaves.
    pub const LEFT: f64 = 0.1;
    /// The most that the logarithm of the variances' multiplier moves in a step.
    pub const FARTHEST: f64 = 1.0;
    /// About how often the smoothed dual is evaluated, in all.
    pub const EVALUATIONS: u64 = 20;
    /// Trials of a step, each shorter than the one before by this factor.
    pub const TRIALS: usize = 8;
    pub const SHORTER: f64 = 0.3;
}

pub(super) mod baseline {
    /// Dual steps for the bound, in rounds of [`STEPS`].
    pub const ROUNDS: usize = 6;
}

pub(super) mod build {
    /// Uses that fall short of a server's best ones by more than this, in the scaled objective, are only
    /// taken to bring a job to its minimum, or where room is left in the end.
    pub const DEAREST: f64 = 0.05;
    /// Copies of a job that are tried one by one, before more of them are tried at once.
    pub const ONE_BY_ONE: u64 = 8;
}

pub(super) mod by_server {
    /// Copies above this, in the relaxation, are worth the trouble of moving other tasks for.
    pub const LIKELY: f64 = 0.2;
    /// A channel looked at while tasks are moved, in units of work.
    pub const WORK_OF_A_MOVE: u64 = 20;
    /// The most channels looked at while tasks are moved for a decision: so many, and so many for each
    /// channel.
    pub const MOVES: u64 = 100_000;
    pub const MOVES_PER_CHANNEL: u64 = 50;
}

pub(super) mod dive {
    /// The temperature at which the relaxation is solved again: warm enough that ties stay open.
    pub const TEMPERATURE: f64 = 0.006;
    /// Newton steps after each bit.
    pub const STEPS: usize = 4;
    /// The most bits.
    pub const ROUNDS: usize = 40;
    /// Averages this close to a whole number are decided at once.
    pub const SURE: f64 = 0.05;
    /// The share of the open copies, and of the open tasks, that is decided in a bit at least.
    pub const COPIES: f64 = 0.5;
    pub const TASKS: f64 = 0.2;
    /// Where less work is left than for so many solutions as the last one, all copies are decided at once.
    pub const FEW_LEFT: u64 = 3;
    /// The share of the tasks on the linear relaxation, whose uses are nearly whole.
    pub const RELAXED_TASKS: f64 = 0.05;
    /// The same where it is solved by small steps, and its uses are less whole.
    pub const TASKS_BY_STEPS: f64 = 0.1;
    /// Fewer uses than this, on average, are not worth a look.
    pub const FEWEST: f64 = 0.02;
}

pub(super) mod eject {
    /// The channels of a group that are tried for a task, best first.
    pub const CHANNELS: usize = 16;
    /// The most tasks that move for one.
    pub const MOVED: u32 = 4;
    /// The jobs that are tried to go for a short one, at most.
    pub const EVICTED: usize = 16;
}

pub(super) mod polish {
    /// What a task that its job cannot do without is worth, in the scaled objective.
    pub const NEEDED: f64 = 4.0;
}

pub(super) mod ruin {
    /// The most jobs taken out in a turn.
    pub const MOST_RUINED: u64 = 5;
    /// Jobs that do not run and are tried in a turn.
    pub const OUTSIDERS: usize = 6;
    /// The share of the objective that a turn may lose before its servers are polished.
    pub const POLISHED: f64 = 0.04;
    /// The share of the objective that a turn may lose at first and still be kept.
    pub const WORSE: f64 = 0.01;
}

pub(super) mod region {
    /// Running jobs taken out in a turn, at most.
    pub const RUNNING: usize = 8;
    /// Jobs that do not run and are offered in a turn, at most.
    pub const WAITING: usize = 4;
    /// The jobs of a region, at first.
    pub const JOBS: usize = 1 + RUNNING + WAITING;
    /// Jobs that run to less than this share in the relaxation are seldom offered.
    pub const LIKELY: f64 = 1e-3;
    /// Turns without a gain after which one more job is taken out.
    pub const WIDER: usize = 20;
    /// The most jobs by which regions grow, before they are small again.
    pub const WIDEST: usize = 16;
    /// Turns without a gain that end the search.
    pub const PATIENCE: usize = 1_000;
    /// The most work of a turn.
    pub const WORK: u64 = 1_000_000;
}

pub(super) mod part {
    /// Better by less than this share is no better.
    pub const LEAST_GAIN: f64 = 1e-9;
}

pub(super) mod relaxed {
    /// Channels whose reduced value is below this, in the scaled objective, stay out of dives and regions.
    pub const WANTED: f64 = -0.12;
    /// The part of the work for a better bound by servers' knapsacks, where they bound better than the
    /// relaxation.
    pub const DESCENT_PART: u64 = 20;
    /// Below this gap, trees and regions take less than all of their work, in proportion.
    pub const WORTH_ALL: f64 = 0.005;
    /// Where decisions are farther off than this, ruin and recreate has so much of what is left for each unit
    /// of the gap, up to this share, and these turns for each job. Nearer, it spoils what regions improve.
    pub const RUIN_FROM: f64 = 0.02;
    pub const RUIN_PER_GAP: f64 = 3.0;
    pub const RUIN_SHARE: f64 = 0.4;
    pub const RUIN_TURNS: usize = 1_000;
    /// The tenths of what is left that a tree over copies has, and the nodes for which they must suffice.
    pub const TREE_TENTHS: u64 = 8;
    pub const LEAST_NODES: u64 = 5;
    /// One more node for so many jobs: where a few nodes are lost among many jobs, the work is better spent
    /// on regions.
    pub const JOBS_PER_NODE: u64 = 6;
    /// The search by default goes on while the gap is wider than this, ...
    pub const GOAL: f64 = 0.02;
    /// ... up to so many budgets where a server holds at most so many tasks on average, ...
    pub const MOST_TIMES: u64 = 10;
    pub const FEW_TASKS: f64 = 4.0;
    /// ... up to so many where it holds more, and so much work in all.
    pub const MOST_TIMES_REAL: u64 = 5;
    pub const MOST_WORK: u64 = 230_000_000;
}

pub(super) mod large {
    /// The part of the work that the relaxation has, and the most work by default.
    pub const RELAXED_PART: u64 = 2;
    pub const MOST_WORK: u64 = 900_000_000;
}

pub(super) mod copies {
    /// Copies this close to a whole number are whole.
    pub const WHOLE: f64 = 1e-3;
}

pub(super) mod tree {
    /// Dual steps at a node.
    pub const STEPS: usize = 15;
    /// A decision is built at every so many nodes.
    pub const NODES_PER_DECISION: u64 = 10;
    /// The search by default goes on where the gap is wide and the tree seems to take no more than so many
    /// budgets, which is often too many at first; and takes at most so many.
    pub const HOPEFUL: u64 = 15;
    pub const MORE: u64 = 4;
}

pub(super) mod doubt {
    /// A decision is in doubt when rounding makes up more than this share of it.
    pub const DOUBTFUL: f64 = 1e-9;
    /// Numbers of at least this, scaled, are vast beside a decision in doubt.
    pub const VAST: f64 = 0.01;
}
