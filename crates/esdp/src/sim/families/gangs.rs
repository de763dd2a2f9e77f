//! Builds an instance job by job: the order of its channels is that of the JSON of `esdp solve`.

use crate::model::Amount;
use crate::solver::{Gang, Group, Instance};

/// Adds a job of which `minimum` tasks run together; its groups follow.
pub(super) fn add_job(instance: &mut Instance, minimum: u32, copies: u32) {
    instance.jobs.push(Gang { minimum, copies });
}

/// Adds a group of identical tasks to the last job, with a channel to each of the servers.
pub(super) fn add_group(
    instance: &mut Instance,
    count: u32,
    request: &[Amount],
    channels: impl IntoIterator<Item = (u32, (f64, f64))>,
) {
    let job = instance.jobs.len() as u32 - 1;
    let group = instance.groups.len() as u32;
    instance.groups.push(Group { job, count, minimum: 0 });
    for (server, (mean, width)) in channels {
        instance.push(request, mean, width);
        instance.server.push(server);
        instance.group.push(group);
    }
}

/// A share of tasks, rounded up, at least 1.
pub(super) fn minimum(tasks: u32, share: f64) -> u32 {
    (libm::ceil(f64::from(tasks) * share) as u32).clamp(1, tasks)
}
