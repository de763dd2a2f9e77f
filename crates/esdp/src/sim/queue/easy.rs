//! EASY backfill (Lifka 1995): the first job that does not fit has the earliest reservation there is; a later
//! one may start now if it ends before that, or leaves what is reserved alone.

use super::room::Room;
use super::{Start, View};

pub(super) fn starts(view: &View<'_>, mut room: Room) -> Vec<Start> {
    let View { cluster, now, waiting, running } = view;
    let mut starts: Vec<Start> = Vec::new();
    let mut ends: Vec<(u64, usize)> = Vec::new();
    let mut queue = waiting.iter();
    let mut head = None;
    for job in queue.by_ref() {
        match room.place(cluster, job.port) {
            Some(channels) => {
                room.take(cluster, &channels);
                ends.push((now + job.slots, starts.len()));
                starts.push((job.job, job.port, channels));
            }
            None => {
                head = Some(job);
                break;
            }
        }
    }
    let Some(head) = head else { return starts };
    // When there is room for the first that waits, and what is left beside it then.
    let mut later = room.clone();
    let running = running.iter().map(|ending| (ending.end, ending.channels));
    let started = ends.iter().map(|(end, start)| (*end, starts[*start].2.as_slice()));
    let mut releases: Vec<(u64, &[crate::model::ChannelId])> = running.chain(started).collect();
    releases.sort_by_key(|(end, _)| *end);
    let mut reserved = None;
    for (at, (end, channels)) in releases.iter().enumerate() {
        later.give(cluster, channels);
        // All that ends with it is free then too.
        if releases.get(at + 1).is_some_and(|(next, _)| next == end) {
            continue;
        }
        if let Some(place) = later.place(cluster, head.port) {
            later.take(cluster, &place);
            reserved = Some(*end);
            break;
        }
    }
    // What a job may take that goes on after the reservation has begun; made anew only when a job starts.
    let mut both = room.clone();
    both.least(&later);
    for job in queue {
        let harmless = reserved.is_none_or(|end| now + job.slots <= end);
        let free = if harmless { &mut room } else { &mut both };
        if let Some(channels) = free.place(cluster, job.port) {
            room.take(cluster, &channels);
            if !harmless {
                later.take(cluster, &channels);
            }
            both.clone_from(&room);
            both.least(&later);
            starts.push((job.job, job.port, channels));
        }
    }
    starts
}
