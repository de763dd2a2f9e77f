//! The numbers that the generator is made from.
//!
//! Measured on rows of Alibaba v2018: the vectors, the shares of jobs and tasks of the first fourteen, the
//! instances of the first eight, the rate of jobs, the hours. Fitted by hand, so that the whole comes near
//! what was measured: durations of the first eight (some above their measured quantiles), the tables of
//! tasks, [`STICKY`], the memory of the rate, the variation and the odd instances. Guessed: durations and
//! instances of the vectors after the eighth, the weights of the last four. No row of the trace is here.

/// A request vector: what an instance asks for, and what its tasks are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Type {
    /// Hundredths of a core.
    pub(super) cpu: f64,
    /// Hundredths of a machine's memory.
    pub(super) memory: f64,
    /// The share of jobs whose tasks all ask for this.
    pub(super) alone: f64,
    /// How often a task of the other jobs asks for it, as a weight.
    pub(super) mixed: f64,
    /// The median and the 90th percentile of the duration, in seconds.
    pub(super) duration: (f64, f64),
    /// The same of the number of instances.
    pub(super) instances: (f64, f64),
}

const fn typed(
    (cpu, memory): (f64, f64),
    (alone, mixed): (f64, f64),
    duration: (f64, f64),
    instances: (f64, f64),
) -> Type {
    Type { cpu, memory, alone, mixed, duration, instances }
}

/// The request vectors. The first eight are 90 % of all tasks.
pub(super) const TYPES: [Type; 18] = [
    typed((50.0, 0.2), (0.211, 0.280), (4.0, 90.0), (1.0, 3.0)),
    typed((100.0, 0.3), (0.002, 0.662), (4.0, 25.0), (1.0, 40.0)),
    typed((100.0, 0.39), (0.013, 0.504), (4.0, 33.0), (1.0, 6.0)),
    typed((100.0, 0.49), (0.001, 0.362), (9.0, 85.0), (2.0, 65.0)),
    typed((50.0, 0.39), (0.076, 0.288), (62.0, 520.0), (13.0, 275.0)),
    typed((50.0, 0.3), (0.023, 0.150), (30.0, 330.0), (1.0, 34.0)),
    typed((100.0, 0.59), (0.003, 0.142), (18.0, 110.0), (9.0, 179.0)),
    typed((100.0, 0.2), (0.078, 0.004), (4.0, 24.0), (1.0, 351.0)),
    typed((50.0, 0.59), (0.012, 0.067), (70.0, 480.0), (8.0, 200.0)),
    typed((50.0, 0.49), (0.0, 0.051), (70.0, 480.0), (8.0, 200.0)),
    typed((100.0, 0.25), (0.002, 0.044), (8.0, 60.0), (1.0, 40.0)),
    typed((5.0, 0.03), (0.0, 0.040), (15.0, 100.0), (1.0, 2.0)),
    typed((30.0, 0.05), (0.0, 0.040), (15.0, 100.0), (1.0, 2.0)),
    typed((10.0, 0.05), (0.0, 0.040), (15.0, 100.0), (1.0, 2.0)),
    typed((100.0, 0.35), (0.004, 0.024), (10.0, 90.0), (2.0, 60.0)),
    typed((50.0, 0.15), (0.004, 0.024), (10.0, 90.0), (2.0, 60.0)),
    typed((200.0, 0.59), (0.004, 0.024), (40.0, 300.0), (4.0, 90.0)),
    typed((100.0, 0.69), (0.004, 0.023), (40.0, 300.0), (4.0, 90.0)),
];

/// How many tasks a job of one request has, as quantiles: those of the first type, and of the others.
pub(super) const TASKS_FIRST: &[(f64, f64)] =
    &[(0.0, 1.0), (0.3, 1.0), (0.5, 3.0), (0.8, 5.0), (0.95, 12.0), (0.99, 28.0), (1.0, 91.0)];
/// See [`TASKS_FIRST`].
pub(super) const TASKS_OTHER: &[(f64, f64)] = &[(0.0, 1.0), (0.8, 1.0), (0.95, 2.0), (1.0, 6.0)];
/// How many tasks a job of several requests has.
pub(super) const TASKS_MIXED: &[(f64, f64)] =
    &[(0.0, 2.0), (0.2, 2.0), (0.5, 3.0), (0.75, 5.0), (0.9, 9.0), (0.95, 12.0), (0.99, 25.0), (1.0, 91.0)];
/// The probability that a task of such a job asks for what the one before it asks for.
pub(super) const STICKY: f64 = 0.55;

/// Jobs a second, over a day.
pub(super) const JOBS_PER_SECOND: f64 = 275.0 / 60.0;
/// The variance of the rate as a multiple of its squared mean: gives a variance over mean of 4.4 at one
/// second.
pub(super) const RATE_VARIANCE: f64 = 3.4 / JOBS_PER_SECOND;
/// How long the rate remembers, in seconds: gives a variance over mean of about 74 at sixty.
pub(super) const RATE_MEMORY: f64 = 19.0;
/// The hour of the day at which a trace starts: one with an average rate.
pub(super) const START_HOUR: u64 = 9;
/// The load by the hour of the day, relative to its mean: that of the cluster's processors over eight days.
pub(super) const HOURS: [f64; 24] = [
    1.09, 1.31, 1.2, 1.11, 1.13, 1.13, 1.25, 1.1, 1.08, 1.04, 0.95, 0.92, 0.93, 0.88, 0.88, 0.86, 0.9, 0.82,
    0.77, 0.84, 0.91, 0.87, 0.97, 1.02,
];

/// The coefficient of variation within a task, median and 90th percentile, before those that are quick or
/// slow.
pub(super) const VARIATION: (f64, f64) = (0.115, 0.29);
/// The share of tasks that have quick and slow instances.
pub(super) const ODD_TASKS: f64 = 0.2;
/// Of their instances: a cumulative share, and the range of what the duration is multiplied by.
pub(super) const ODD: [(f64, (f64, f64)); 2] = [(0.08, (0.2, 0.55)), (0.14, (1.6, 2.8))];

/// The cores of a machine; its memory is 100.
pub(super) const CORES: f64 = 96.0;
/// How many failure domains there are.
pub(super) const DOMAINS: u64 = 21;
