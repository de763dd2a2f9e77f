//! Which uses make a job, where a job runs at the speed of its slowest task: those that are alike in speed,
//! and on the same server.
//!
//! The uses of every task group are sorted, the fastest first and those of a server together, and dealt job
//! after job. Exchanges between two jobs then make them faster, or let them run on fewer servers as fast.

use crate::model::{ChannelId, Cluster, FewestJobs, PortId};

/// Deals uses of a port's channels to the fewest jobs that can hold them, the fastest first. `value` is how
/// fast a task runs on a channel.
pub fn deal(
    cluster: &Cluster,
    port: PortId,
    uses: &[ChannelId],
    value: impl Fn(ChannelId) -> f64,
) -> Vec<Vec<ChannelId>> {
    let key = |&channel: &ChannelId| (cluster.task_group(channel), channel);
    let mut uses: Vec<ChannelId> = uses.to_vec();
    uses.sort_unstable_by(|a, b| {
        let ((of_a, _), (of_b, _)) = (key(a), key(b));
        of_a.cmp(&of_b).then(value(*b).total_cmp(&value(*a))).then(a.cmp(b))
    });
    let groups: Vec<&[ChannelId]> =
        uses.chunk_by(|a, b| cluster.task_group(*a) == cluster.task_group(*b)).collect();
    let mut fewest = FewestJobs::NONE;
    groups.iter().for_each(|group| fewest.add(group.len() as u64, of(cluster, group[0]).0));
    let count = fewest.jobs as usize;
    let mut jobs = vec![Vec::new(); count];
    let full = quotas(cluster, port, &groups, count);
    for (group, quotas) in groups.iter().zip(full) {
        let mut next = group.iter().copied();
        jobs.iter_mut().zip(quotas).for_each(|(job, quota)| job.extend(next.by_ref().take(quota)));
    }
    exchange(cluster, port, &mut jobs, &value);
    jobs.iter_mut().for_each(|job| job.sort_unstable_by_key(key));
    jobs
}

/// How many tasks of its group a job has, and how many it needs.
fn of(cluster: &Cluster, channel: ChannelId) -> (u32, u32) {
    let group = cluster.task_groups()[cluster.task_group(channel)];
    (group.count, group.minimum)
}

/// By group and job, how many tasks it gets: the first jobs as many as they have, as long as those after them
/// reach their minimum; else all of them the same but for one.
fn quotas(cluster: &Cluster, port: PortId, groups: &[&[ChannelId]], jobs: usize) -> Vec<Vec<usize>> {
    let one = |group: &&[ChannelId]| {
        let (count, minimum) = of(cluster, group[0]);
        let least = if groups.len() == 1 { minimum.max(cluster.minimum(port)) } else { minimum };
        let mut left = group.len();
        let quota = |job: usize| {
            let for_others = (jobs - job - 1) * least as usize;
            let quota = left.saturating_sub(for_others).min(count as usize);
            left -= quota;
            quota
        };
        (0..jobs).map(quota).collect::<Vec<usize>>()
    };
    let full: Vec<Vec<usize>> = groups.iter().map(one).collect();
    let reaches = |job| full.iter().map(|group| group[job]).sum::<usize>() >= cluster.minimum(port) as usize;
    let is_dealt = full.iter().zip(groups).all(|(quotas, group)| quotas.iter().sum::<usize>() == group.len());
    if is_dealt && (0..jobs).all(reaches) {
        return full;
    }
    // In turn, group after group without starting over: every job reaches what it needs.
    let mut turn = 0;
    let in_turn = |group: &&[ChannelId]| {
        let mut quotas = vec![0; jobs];
        for _ in 0..group.len() {
            quotas[turn % jobs] += 1;
            turn += 1;
        }
        quotas
    };
    groups.iter().map(in_turn).collect()
}

/// The most tasks of which pairs are looked at.
const MOST_TASKS: usize = 256;

/// Exchanges tasks of a group between two jobs as long as both together do more, or as much on fewer servers.
fn exchange(cluster: &Cluster, port: PortId, jobs: &mut [Vec<ChannelId>], value: &impl Fn(ChannelId) -> f64) {
    if jobs.iter().map(Vec::len).sum::<usize>() > MOST_TASKS {
        return;
    }
    let worth =
        |job: &[ChannelId]| (cluster.progress(port, job, |task| value(job[task])), cluster.nodes(job));
    let mut worths: Vec<(f64, usize)> = jobs.iter().map(|job| worth(job)).collect();
    for a in 0..jobs.len() {
        for b in a + 1..jobs.len() {
            for i in 0..jobs[a].len() {
                for j in 0..jobs[b].len() {
                    let (from, to) = (jobs[a][i], jobs[b][j]);
                    if from == to || cluster.task_group(from) != cluster.task_group(to) {
                        continue;
                    }
                    (jobs[a][i], jobs[b][j]) = (to, from);
                    let after = (worth(&jobs[a]), worth(&jobs[b]));
                    let (was, is) = (worths[a].0 + worths[b].0, after.0.0 + after.1.0);
                    let fewer = after.0.1 + after.1.1 < worths[a].1 + worths[b].1;
                    let near = 1e-12 * was.abs();
                    if is > was + near || (fewer && is >= was - near) {
                        (worths[a], worths[b]) = after;
                    } else {
                        (jobs[a][i], jobs[b][j]) = (from, to);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Capacity, ChannelSpec, ClusterSpec, GangSpec, Pace};

    fn cluster(gang: GangSpec, servers: u32, groups: u32) -> Cluster {
        let channel = |task: u32, server| ChannelSpec { task, ..ChannelSpec::new(0, server, vec![1]) };
        Cluster::new(ClusterSpec {
            devices: vec!["gpu".into()],
            servers: (0..servers).map(|server| format!("n{server}")).collect(),
            ports: vec!["train".into()],
            channels: (0..groups)
                .flat_map(|task| (0..servers).map(move |server| channel(task, server)))
                .collect(),
            capacity: Capacity::per_server(vec![vec![8]; servers as usize]),
            gangs: vec![GangSpec { pace: Pace::Slowest { crossing: 0.8 }, ..gang }],
            ..ClusterSpec::default()
        })
        .unwrap()
    }

    fn dealt(cluster: &Cluster, uses: &[u32], values: &[f64]) -> Vec<Vec<u32>> {
        let uses: Vec<ChannelId> = uses.iter().copied().map(ChannelId).collect();
        let jobs = deal(cluster, PortId(0), &uses, |channel| values[channel.index()]);
        jobs.into_iter().map(|job| job.into_iter().map(|channel| channel.0).collect()).collect()
    }

    #[test]
    fn the_fastest_go_together() {
        let cluster = cluster(GangSpec::new(0, 4, &[4]), 2, 1);
        assert_eq!(dealt(&cluster, &[0, 0, 0, 0, 1, 1, 1, 1], &[0.3, 0.9]), [[1; 4], [0; 4]]);
    }

    #[test]
    fn every_job_reaches_its_minimum() {
        let three_of_four = cluster(GangSpec::new(0, 3, &[4]), 3, 1);
        let jobs = dealt(&three_of_four, &[0, 0, 1, 1, 2, 2], &[0.9, 0.9, 0.9]);
        assert!(jobs.iter().all(|job| job.len() == 3), "{jobs:?}");
        // One of a group needs one of the other.
        let mut gang = GangSpec::new(0, 2, &[1, 4]);
        gang.tasks[1].minimum = 1;
        let jobs = dealt(&cluster(gang, 2, 2), &[0, 1, 2, 2, 2, 2, 3], &[0.9, 0.5, 0.9, 0.5]);
        assert_eq!(jobs, [vec![0, 2, 2, 2, 2], vec![1, 3]]);
    }

    #[test]
    fn jobs_stay_on_few_servers_at_equal_speed() {
        // Sorted, the first job would get two servers and a part of the second's.
        let cluster = cluster(GangSpec::new(0, 3, &[3]), 3, 1);
        let mut jobs = dealt(&cluster, &[0, 1, 1, 1, 2, 2], &[0.5; 3]);
        jobs.sort_unstable();
        assert_eq!(jobs, [vec![0, 2, 2], vec![1, 1, 1]]);
    }
}
