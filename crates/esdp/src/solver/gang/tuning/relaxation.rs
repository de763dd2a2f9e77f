//! The numbers of `relax/`.

pub mod relax {
    /// The gap, relative to the value, at which the relaxation of a whole problem counts as solved, ...
    pub const ROOT_TOLERANCE: f64 = 5e-4;
    /// ... and with rounded rows, ...
    pub const ROUNDED_TOLERANCE: f64 = 1e-3;
    /// ... and that of a part of it.
    pub const TOLERANCE: f64 = 2e-3;
    /// Rounds of rounded rows, and the least share of the bound that a round must gain for another one.
    pub const CUT_ROUNDS: usize = 4;
    pub const LEAST_GAIN: f64 = 3e-4;
    /// The same where rounds are dear.
    pub const LEAST_GAIN_OF_LARGE: f64 = 2e-3;
    /// With the default budget, rounds that gain this share of the bound do not count: the decision and all
    /// that follows are the better for them.
    pub const MUCH: f64 = 5e-3;
    /// Where the jobs' own matrices take more multiplications than this in a step, there is no relaxation at
    /// usual budgets.
    pub const DEAREST: u64 = 1_000_000_000;
}

pub mod choose {
    /// Problems of more channels than this are solved with some of them at first, ...
    pub const LARGE: usize = 10_000;
    /// ... so many for each group and as many again as it has tasks, by each of two rankings, and for each
    /// server, ...
    pub const FEW: usize = 6;
    /// ... and then with about so many, ...
    pub const MOST: usize = 10_000;
    /// ... as long as bounds exceed the value with them by more than this share.
    pub const MISSING: f64 = 2e-3;
    /// Where a large problem misses this much, its next round comes before all else; ...
    pub const MISSING_MUCH: f64 = 1e-2;
    /// ... but where its value changed by less than this share, more channels are of no use.
    pub const SETTLED: f64 = 2e-3;
    /// The rounds of a large problem that are not charged take at most this part of its relaxation's work.
    pub const LARGE_PART: u64 = 2;
    /// The gap at which the first solution of a large problem is good enough to choose by.
    pub const COARSE: f64 = 4e-3;
    /// Channels that a solution uses less than this are not kept for its sake.
    pub const LEAST_USED: f64 = 0.01;
    /// Channels whose reduced value is below this, in the scaled objective, are far from use.
    pub const APART: f64 = -0.3;
    /// Fewer of them than this share, in a problem that is not large, are not worth leaving out: the bound
    /// would count them, and be the worse for it.
    pub const LEAST_APART: f64 = 0.5;
}

pub mod cuts {
    /// A row must be broken by this much, of its capacity, to be kept.
    pub const BROKEN: f64 = 0.01;
    /// Rows kept for a server in a round.
    pub const KEPT: usize = 3;
    /// Other devices, of those that are nearly full, that a device is weighed together with, at most.
    pub const PAIRED: usize = 4;
    /// Weights tried for each device, at most.
    pub const WEIGHTS: usize = 15;
    /// Rooms of at most this many are tried with these weights, ...
    pub const SMALL: crate::model::Amount = 64;
    /// ... if they are used to this share.
    pub const FULL: f64 = 0.8;
}

pub mod hull {
    /// Servers whose rooms have at most so many cells, and whose channels are of at most so many kinds, have
    /// rows of their hull.
    pub const CELLS: u64 = 1_000;
    pub const KINDS: usize = 32;
    /// Patterns that one search adds, at most.
    pub const PATTERNS: usize = 100;
    /// What kinds count that are not used: of rows that are broken alike, one with larger entries is sharper.
    pub const UNUSED: f64 = 1e-4;
}

pub mod saddle {
    /// Steps in the first round, which is on all channels, and in each of the others; rounds, at most.
    pub const FIRST_STEPS: usize = 50;
    pub const STEPS: usize = 100;
    pub const ROUNDS: usize = 8;
    /// Two rounds that lower the bound by less than this share are the last ones.
    pub const LEAST_GAIN: f64 = 1e-3;
    /// How long the first steps of uses are beside those of prices, of an objective whose terms are at most
    /// about 1.
    pub const FIRST_WEIGHT: f64 = 0.2;
    /// Channels are nearly in use that cost at most this share more than they are worth, or are used so much.
    pub const NEAR: f64 = 0.1;
    pub const LEAST_USED: f64 = 0.01;
    /// The same in a dive, the steps there, and what makes channels differ that are equally good.
    pub const NEAR_IN_A_DIVE: f64 = 0.05;
    pub const STEPS_IN_A_DIVE: usize = 20;
    pub const NOISE: f64 = 0.02;
}

pub mod job {
    /// Jobs with more groups than this that matter are tied loosely: their minimum is left out of the
    /// relaxation.
    pub const MOST_GROUPS: usize = 24;
    /// Of a group that a job needs whole, a little less is asked for here: the method wants room on all
    /// sides.
    pub const NEARLY_WHOLE: f64 = 0.98;
    /// What a task of a job that is decided to run is worth beyond its value, in the scaled objective.
    pub const URGENCY: f64 = 0.5;
}

pub mod interior {
    /// The most steps.
    pub const STEPS: usize = 40;
    /// The share of the way to the nearest boundary that a step goes.
    pub const SHORT_OF: f64 = 0.995;
    /// The first product of slack and price, of an objective whose terms are at most about 1.
    pub const FIRST: f64 = 0.05;
    /// Where products are so many times the first ones, there is nothing to be found.
    pub const DIVERGED: f64 = 1e6;
    /// Where channels have more uses than this, on average, the first product grows with them.
    pub const MANY: f64 = 4.0;
    /// A job starts anew where its tasks are more than this, and more than so many times the uses of its
    /// channels.
    pub const MANY_TASKS: f64 = 1_000.0;
    pub const FAR: f64 = 10.0;
    /// Steps that only centre, at first.
    pub const CENTRING: usize = 2;
    /// The most times that a step is corrected for products that it leaves far from the others (Gondzio).
    pub const CORRECTORS: usize = 3;
    /// Products beyond this factor from the others are far.
    pub const FARTHEST: f64 = 10.0;
    /// Steps shorter than this, near the end, are not worth their price.
    pub const SHORTEST: f64 = 0.05;
    /// A gap of this share of the value is nearly there.
    pub const NEAR: f64 = 0.1;
    /// The gap at which a point is half-way: the next relaxation of the same problem starts there.
    pub const HALF_WAY: f64 = 0.7;
    /// Where it does, slacks of copies and uses are at least this share of what they may be, ...
    pub const MARGIN: f64 = 0.002;
    /// ... servers and cluster that would be fuller are filled to this share, ...
    pub const FULL: f64 = 0.98;
    /// ... and products beyond this factor from the mean are brought back to it.
    pub const FAR_OFF: f64 = 100.0;
}

pub mod step {
    /// A channel whose curvature is less than this share of its group's or server's adds nothing to pairs.
    pub const LEAST_SHARE: f64 = 1e-9;
}
