//! Conservative backfill: every job, in the order of arrival, gets the earliest reservation that delays none
//! before it; those whose reservation is now start.
//!
//! Reservations are made anew in every slot, for the first [`DEPTH`] jobs that cannot start now, as real
//! schedulers limit it too; the others stay behind them. Cost: for each job the times at which something
//! ends, times the servers.

use super::room::Room;
use super::{Start, View};

/// How many jobs get a reservation for later.
const DEPTH: usize = 64;

pub(super) fn starts(view: &View<'_>, room: Room) -> Vec<Start> {
    let View { cluster, now, waiting, running } = view;
    // What is free from each time to the next.
    let mut ends: Vec<(u64, usize)> =
        running.iter().enumerate().map(|(at, ending)| (ending.end, at)).collect();
    ends.sort_unstable();
    let mut profile: Vec<(u64, Room)> = vec![(*now, room)];
    for (end, at) in ends {
        let (last, room) = profile.last().expect("it starts with now");
        let (last, mut room) = (*last, room.clone());
        room.give(cluster, running[at].channels);
        if last == end {
            profile.last_mut().expect("it starts with now").1 = room;
        } else {
            profile.push((end, room));
        }
    }
    let (mut starts, mut later) = (Vec::new(), 0);
    for job in *waiting {
        if later == DEPTH {
            break;
        }
        let Some((at, channels)) = earliest(&mut profile, view, job.port, job.slots) else {
            later += 1;
            continue;
        };
        let (from, until) = (profile[at].0, profile[at].0 + job.slots);
        let end = profile.partition_point(|(time, _)| *time < until);
        if profile.get(end).is_none_or(|(time, _)| *time != until) {
            let room = profile[end - 1].1.clone();
            profile.insert(end, (until, room));
        }
        profile[at..end].iter_mut().for_each(|(_, room)| room.take(cluster, &channels));
        if from == *now {
            starts.push((job.job, job.port, channels));
        } else {
            later += 1;
        }
    }
    starts
}

/// The first time from which a job has room until its end, and where.
fn earliest(
    profile: &mut [(u64, Room)],
    view: &View<'_>,
    port: crate::model::PortId,
    slots: u64,
) -> Option<(usize, Vec<crate::model::ChannelId>)> {
    for at in 0..profile.len() {
        // Most times have no room at their start already.
        let Some(first) = profile[at].1.place(view.cluster, port) else { continue };
        let until = profile[at].0 + slots;
        let end = at + 1 + profile[at + 1..].partition_point(|(time, _)| *time < until);
        if profile[at + 1..end].iter_mut().all(|(_, room)| room.fits(view.cluster, &first)) {
            return Some((at, first));
        }
        let mut least = profile[at].1.clone();
        profile[at + 1..end].iter().for_each(|(_, room)| least.least(room));
        if let Some(channels) = least.place(view.cluster, port) {
            return Some((at, channels));
        }
    }
    None
}
