//! Jobs whose tasks run together or not at all, as a part of a [`Problem`](super::Problem).
//!
//! A decision gives every channel a whole number of uses, one per task. Of each job some *y* of its
//! copies run; then
//!
//! ```text
//! sum over the channels of group g  n_e  <=  count_g y     each task on one server
//! sum over the channels of job l    n_e  >=  minimum_l y   all or nothing
//! sum over the channels of group g  n_e  >=  minimum_g y   for groups that have a minimum of their own
//! y <= copies_l
//! ```
//!
//! Jobs that are alike are copies of one: telling them apart would only multiply equal answers
//! ([`FewestJobs`] shows that nothing is lost).

use super::{ProblemError, Use, Uses};
use crate::model::FewestJobs;

/// The jobs and task groups behind a problem's channels.
#[derive(Debug, Clone, Copy)]
pub struct Gangs<'a> {
    /// The task group of each channel.
    pub group: &'a [u32],
    /// The task groups.
    pub groups: &'a [Group],
    /// The jobs.
    pub jobs: &'a [Gang],
}

/// A group of identical tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The job, by its position.
    pub job: u32,
    /// How many of these tasks the job has, *Q_lg*.
    pub count: u32,
    /// How many of these tasks the job needs to run; 0 if its own minimum is enough.
    pub minimum: u32,
}

/// A job, and how many of its kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gang {
    /// The least number of tasks it runs with, *m_l*.
    pub minimum: u32,
    /// How many such jobs may run.
    pub copies: u32,
}

impl Gangs<'_> {
    /// The most tasks of a problem, all copies counted.
    pub const MOST_TASKS: u64 = 1 << 26;

    /// How many tasks could use a channel, whether they fit or not.
    pub fn most(&self, channel: usize) -> u64 {
        let group = self.groups[self.group[channel] as usize];
        u64::from(group.count) * u64::from(self.jobs[group.job as usize].copies)
    }

    /// Whether the uses make up whole jobs.
    pub fn are_whole(&self, uses: &Uses) -> bool {
        let mut of_group = vec![0u64; self.groups.len()];
        for Use { channel, count } in uses.iter() {
            of_group[self.group[channel as usize] as usize] += u64::from(count);
        }
        let mut fewest = vec![FewestJobs::NONE; self.jobs.len()];
        for (group, &uses) in self.groups.iter().zip(&of_group) {
            fewest[group.job as usize].add(uses, group.count);
        }
        let whole = |(fewest, job): (&FewestJobs, &Gang)| {
            fewest.jobs <= u64::from(job.copies) && fewest.reaches(job.minimum)
        };
        let reaches = |(group, &uses): (&Group, &u64)| {
            uses >= fewest[group.job as usize].jobs.saturating_mul(u64::from(group.minimum))
        };
        fewest.iter().zip(self.jobs).all(whole) && self.groups.iter().zip(&of_group).all(reaches)
    }

    /// Whether a group has a minimum of its own.
    pub fn have_group_minima(&self) -> bool {
        self.groups.iter().any(|group| group.minimum > 0)
    }

    /// Checks the positions and the sizes.
    pub(super) fn check(&self, channels: usize) -> Result<(), ProblemError> {
        if self.group.len() != channels {
            return Err(ProblemError::Length { list: "group", found: self.group.len(), expected: channels });
        }
        let unknown = |list, values: &mut dyn Iterator<Item = u32>, limit: usize| match values
            .enumerate()
            .find(|&(_, value)| value as usize >= limit)
        {
            Some((position, value)) => Err(ProblemError::Unknown { list, position, value, limit }),
            None => Ok(()),
        };
        unknown("group", &mut self.group.iter().copied(), self.groups.len())?;
        unknown("groups", &mut self.groups.iter().map(|group| group.job), self.jobs.len())?;
        let tasks =
            |group: &Group| u128::from(group.count) * u128::from(self.jobs[group.job as usize].copies);
        let found = self.groups.iter().map(tasks).sum();
        if found > u128::from(Self::MOST_TASKS) {
            return Err(ProblemError::TooManyTasks { found });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Instance;

    #[test]
    fn jobs_are_whole_or_absent() {
        // Two copies of a job with 2 tasks and 1 task, of which it needs 2.
        let groups = [Group { job: 0, count: 2, minimum: 0 }, Group { job: 0, count: 1, minimum: 0 }];
        let jobs = [Gang { minimum: 2, copies: 2 }];
        let gangs = Gangs { group: &[0, 0, 1], groups: &groups, jobs: &jobs };
        for (chosen, whole) in [
            (&[][..], true),
            (&[0], false),
            (&[0, 1], true),
            (&[0, 0, 1], false), // two jobs are needed for three tasks of the first group, but not four tasks
            (&[0, 0, 1, 2], true),
            (&[0, 0, 1, 1, 2, 2], true),
            (&[0, 0, 0, 1, 1], false), // three jobs
            (&[2, 2], false),
        ] {
            assert_eq!(gangs.are_whole(&chosen.iter().copied().collect()), whole, "{chosen:?}");
        }
    }

    #[test]
    fn a_job_needs_its_parameter_server() {
        // One parameter server of one, two workers of four; two copies.
        let groups = [Group { job: 0, count: 1, minimum: 1 }, Group { job: 0, count: 4, minimum: 2 }];
        let jobs = [Gang { minimum: 1, copies: 2 }];
        let gangs = Gangs { group: &[0, 1], groups: &groups, jobs: &jobs };
        for (chosen, whole) in [
            (&[][..], true),
            (&[1, 1, 1, 1], false),
            (&[0], false),
            (&[0, 1], false),
            (&[0, 1, 1], true),
            (&[0, 1, 1, 1, 1], true),
            (&[0, 1, 1, 1, 1, 1], false), // five workers are two jobs
            (&[0, 0, 1, 1, 1], false),
            (&[0, 0, 1, 1, 1, 1], true),
        ] {
            assert_eq!(gangs.are_whole(&chosen.iter().copied().collect()), whole, "{chosen:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |change: fn(&mut Instance)| {
            let mut instance = Instance::new(vec![1]);
            instance.push(&[1], 0.5, 0.0);
            instance.group = vec![0];
            instance.groups = vec![Group { job: 0, count: 1, minimum: 0 }];
            instance.jobs = vec![Gang { minimum: 1, copies: 1 }];
            assert!(instance.problem().is_ok());
            change(&mut instance);
            instance.problem().unwrap_err().to_string()
        };
        assert_eq!(refused(|i| i.group.clear()), "`group` has length 0, expected 1");
        assert_eq!(refused(|i| i.group[0] = 1), "`group` entry 0 is 1, expected less than 1");
        assert_eq!(refused(|i| i.groups[0].job = 7), "`groups` entry 0 is 7, expected less than 1");
        assert!(refused(|i| i.jobs[0].copies = 1 << 27).contains("134217728 tasks in all"));
        // One use is finite, ten are not.
        assert!(refused(|i| (i.mean[0], i.groups[0].count) = (f64::MAX, 10)).contains("not a finite number"));
    }
}
