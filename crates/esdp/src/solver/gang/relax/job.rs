//! A job's own part of a Newton step.
//!
//! A job ties its channels by the tasks `T_g` of its groups and its running copies `y`:
//!
//! ```text
//! T_g <= count_g y - low_g     sum_g (low_g + T_g) >= minimum y     fewest <= y <= most
//! T_g >= minimum_g y - low_g   for groups with a minimum of their own
//! ```
//!
//! Given the prices `p_g` that the channels pay for tasks, a step moves `T` by `N dp + n`: the inverse of a
//! tiny matrix. Where a job runs whole or not at all, `T_g = count_g y - low_g` and only `y` moves.

use crate::solver::gang::problem::form::{Form, GroupForm};
use crate::solver::gang::problem::limits::Limits;
use crate::solver::gang::problem::number::{ByGroup, GroupNo, JobNo};
use crate::solver::gang::tuning::job::{MOST_GROUPS, NEARLY_WHOLE, URGENCY};

/// The copies that the lower limits need at least.
fn groups_low(form: &Form, limits: &Limits, l: JobNo) -> f64 {
    let needed = |g: GroupNo| limits.group_low[g] as f64 / f64::from(form.groups[g].count).max(1.0);
    form.groups_of_job(l).map(needed).fold(0.0, f64::max)
}

/// What a group has a copy of its job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tasks {
    pub count: f64,
    /// What a copy needs of them, a little less where that is all.
    pub minimum: f64,
    /// Those that the lower limits take, of all copies.
    pub low: f64,
}

impl Tasks {
    pub fn of(group: &GroupForm, low: u64) -> Self {
        let (count, minimum) = (f64::from(group.count), f64::from(group.minimum));
        Self { count, minimum: minimum.min(NEARLY_WHOLE * count), low: low as f64 }
    }

    /// The tasks beyond the lower limits that so many copies have at most, and how many fewer they may have.
    pub fn range(&self, copies: f64) -> (f64, f64) {
        let most = self.count * copies - self.low;
        (most, most.min((self.count - self.minimum) * copies))
    }
}

/// A job, or one group of a job whose groups do not depend on each other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Job {
    /// The job in the form.
    pub id: JobNo,
    /// Its open groups.
    pub first: usize,
    pub end: usize,
    /// What its copies may be; `None` when they are settled.
    pub copies: Option<(f64, f64)>,
    /// The settled copies.
    pub settled: f64,
    /// Whether all tasks run or none.
    pub tied: bool,
    /// What the minimum asks for each copy, and the tasks that count towards it already; 0 when it asks for
    /// nothing.
    pub minimum: f64,
    pub counted: f64,
    /// What a copy is worth beyond its tasks.
    pub bonus: f64,
    /// Where its unknowns, its rows and their entries begin, and how many rows it has.
    pub unknown: usize,
    pub row: usize,
    pub row_count: usize,
    pub entry: usize,
}

/// A factor, a solution for each group, and the rows that make the matrix.
pub(super) fn own_cost(unknowns: usize, groups: usize) -> u64 {
    let (unknowns, groups) = (unknowns as u64, groups as u64);
    unknowns * unknowns * (unknowns / 6 + 2 * groups)
}

impl Job {
    /// Opens a job's groups that matter: all at once, or one at a time when they do not depend on each other.
    pub fn open(
        form: &Form,
        limits: &Limits,
        (l, elastic): (JobNo, bool),
        needs: &ByGroup<f64>,
        mut each: impl FnMut(Self, &[GroupNo]),
    ) {
        let job = &form.jobs[l];
        let (fewest, most) = (f64::from(limits.fewest[l]), f64::from(limits.most[l]));
        let groups: Vec<GroupNo> = form.groups_of_job(l).filter(|&g| needs[g] > 0.0).collect();
        if groups.is_empty() {
            return;
        }
        let low = |g: GroupNo| limits.group_low[g] as f64;
        let count = |g: GroupNo| f64::from(form.groups[g].count);
        let counted: f64 = form.groups_of_job(l).map(|g| limits.group_low[g] as f64).sum();
        let minimum = f64::from(job.minimum);
        // Where copies are decided they are only urged, as long as that may turn out not to fit.
        let least = groups_low(form, limits, l);
        let (fewest, bonus) = match elastic {
            true if job.is_gang() && least < fewest => (least, URGENCY * minimum),
            _ => (fewest, 0.0),
        };
        let is_settled = fewest >= most;
        let base = Self { id: l, settled: most, bonus, ..Self::default() };
        let is_short = minimum * most > counted
            || groups.iter().any(|&g| f64::from(form.groups[g].minimum) * most > low(g));
        let asks = job.is_gang() && (!is_settled || is_short) && groups.len() <= MOST_GROUPS;
        if !asks && (is_settled || !job.is_gang()) {
            // Only what each group has left.
            for &g in &groups {
                if needs[g] > count(g) * most - low(g) {
                    each(base, &[g]);
                }
            }
            return;
        }
        let all: f64 = form.groups_of_job(l).map(|g| f64::from(form.groups[g].count)).sum();
        let open: f64 = groups.iter().map(|&g| count(g) * most - low(g)).sum();
        let tied = minimum >= all || (is_settled && minimum * most - counted >= open);
        let copies = (!is_settled).then_some((fewest, most));
        let minimum = if asks { minimum } else { 0.0 };
        each(Self { copies, tied, minimum, counted, ..base }, &groups);
    }

    /// About what its own matrix costs in a step, in multiplications.
    pub fn cost(&self) -> u64 {
        own_cost(self.unknowns(), self.groups().len())
    }

    pub fn groups(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }

    /// Its rows among those of all jobs.
    pub fn own_rows(&self) -> std::ops::Range<usize> {
        self.row..self.row + self.row_count
    }

    /// How many fewer tasks than all so many copies may have.
    pub fn margin(&self, tasks: &[Tasks], copies: f64) -> f64 {
        let all: f64 = tasks[self.groups()].iter().map(|group| group.range(copies).0).sum();
        if self.minimum > 0.0 { all + self.counted - self.minimum * copies } else { all }
    }

    /// The number of unknowns: the tasks unless tied, then the copies unless settled.
    pub fn unknowns(&self) -> usize {
        (if self.tied { 0 } else { self.groups().len() }) + usize::from(self.copies.is_some())
    }

    /// Where the copies are among the unknowns, if they are open.
    pub fn copies_at(&self) -> Option<usize> {
        self.copies.is_some().then_some(if self.tied { 0 } else { self.groups().len() })
    }

    /// Appends the job's rows, dense over its unknowns, and their constants: a slack is a constant and the
    /// entries times the unknowns.
    pub fn rows(&self, tasks: &[Tasks], entries: &mut Vec<f64>, constants: &mut Vec<f64>) {
        let (unknowns, groups, copies) = (self.unknowns(), tasks.len(), self.copies_at());
        let mut push = |constant: f64, set: &dyn Fn(&mut [f64])| {
            let from = entries.len();
            entries.resize(from + unknowns, 0.0);
            set(&mut entries[from..]);
            constants.push(constant);
        };
        if !self.tied {
            // What settled copies ask for is a constant.
            let settled = if copies.is_some() { 0.0 } else { self.settled };
            for (place, group) in tasks.iter().enumerate() {
                push(group.count * settled - group.low, &|row| {
                    row[place] = -1.0;
                    if let Some(at) = copies {
                        row[at] = group.count;
                    }
                });
                if self.minimum > 0.0 && group.minimum > 0.0 {
                    push(group.low - group.minimum * settled, &|row| {
                        row[place] = 1.0;
                        if let Some(at) = copies {
                            row[at] = -group.minimum;
                        }
                    });
                }
            }
            if self.minimum > 0.0 {
                push(self.counted - self.minimum * settled, &|row| {
                    row[..groups].fill(1.0);
                    if let Some(at) = copies {
                        row[at] = -self.minimum;
                    }
                });
            }
        }
        if let (Some(at), Some((fewest, most))) = (copies, self.copies) {
            push(most, &|row| row[at] = -1.0);
            push(-fewest, &|row| row[at] = 1.0);
        }
    }
}
