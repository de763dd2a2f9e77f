//! Which held jobs may be decided on, in Slurm's own order.
//!
//! The core maximises what is done, and would let small jobs pass a large one for ever. Slurm does not: the
//! first job in its order that does not fit gets a reservation, and later ones may only use what it leaves
//! (backfill). The same is done here. Jobs are taken in order; one that fits into what is free is admitted;
//! the first that does not fit keeps its nodes, those on which it fits already and then those that become
//! free first; jobs after it are admitted if they fit beside it.
//!
//! Which nodes an admitted job gets is up to the core; here they are only counted.

use std::collections::HashSet;

/// What a job requests of each of the nodes on which it may run: the node, and amounts in the order of
/// devices.
pub type NodeRequests = std::rc::Rc<Vec<(usize, Vec<u64>)>>;

/// A job that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Its port; jobs of a port are alike.
    pub port: usize,
    /// Its number of nodes.
    pub nodes: usize,
    /// What it requests, and where.
    pub on: NodeRequests,
}

/// What may be decided on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Admitted {
    /// The jobs, by their place in the list.
    pub jobs: Vec<usize>,
    /// The job that has a reservation.
    pub first_blocked: Option<usize>,
}

/// Goes through jobs in order. `free` has the free amounts of each node; what is reserved is taken off.
/// `until` says when a node becomes free.
pub fn admit(wanted: &[Wanted], free: &mut [Vec<u64>], until: &[u64]) -> Admitted {
    let mut left: Vec<Vec<u64>> = free.to_vec();
    let mut admitted = Admitted::default();
    // What is free only shrinks: where a job did not fit, another of its port does not fit either.
    let mut blocked: HashSet<usize> = HashSet::new();
    for (index, job) in wanted.iter().enumerate() {
        if blocked.contains(&job.port) {
            continue;
        }
        let fits = |left: &[Vec<u64>], (node, request): &(usize, Vec<u64>)| {
            request.iter().zip(&left[*node]).all(|(request, left)| request <= left)
        };
        let now: Vec<&(usize, Vec<u64>)> =
            job.on.iter().filter(|one| fits(&left, one)).take(job.nodes).collect();
        if now.len() == job.nodes {
            take(&mut left, &now);
            admitted.jobs.push(index);
            continue;
        }
        blocked.insert(job.port);
        if admitted.first_blocked.is_none() && job.on.len() >= job.nodes {
            admitted.first_blocked = Some(index);
            let mut later: Vec<&(usize, Vec<u64>)> = job.on.iter().filter(|one| !fits(&left, one)).collect();
            later.sort_by_key(|(node, _)| (until[*node], *node));
            later.truncate(job.nodes - now.len());
            take(&mut left, &now);
            take(free, &now);
            for (node, _) in later {
                // What was counted for jobs before it stays theirs.
                let rest = std::mem::take(&mut left[*node]);
                free[*node].iter_mut().zip(&rest).for_each(|(free, rest)| *free -= rest);
                left[*node] = vec![0; rest.len()];
            }
        }
    }
    admitted
}

fn take(free: &mut [Vec<u64>], chosen: &[&(usize, Vec<u64>)]) {
    for (node, request) in chosen {
        free[*node].iter_mut().zip(request).for_each(|(free, request)| *free = free.saturating_sub(*request));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(port: usize, nodes: usize, cpus: u64, of: usize) -> Wanted {
        Wanted { port, nodes, on: std::rc::Rc::new((0..of).map(|node| (node, vec![cpus])).collect()) }
    }

    #[test]
    fn jobs_that_fit_are_admitted_in_order() {
        let mut free = vec![vec![4], vec![4]];
        let admitted = admit(&[job(0, 2, 2, 2), job(1, 1, 2, 2), job(0, 2, 2, 2)], &mut free, &[0, 0]);
        assert_eq!((admitted.jobs, admitted.first_blocked), (vec![0, 1], Some(2)));
    }

    #[test]
    fn a_large_job_is_not_passed_for_ever() {
        // Three of four nodes are free; the first job needs all, so nothing is left for small ones.
        let mut free = vec![vec![4], vec![0], vec![4], vec![4]];
        let admitted = admit(&[job(0, 4, 4, 4), job(1, 1, 1, 4)], &mut free, &[0, 100, 0, 0]);
        assert_eq!((admitted.jobs, admitted.first_blocked), (vec![], Some(0)));
        assert_eq!(free, [[0], [0], [0], [0]]);
    }

    #[test]
    fn small_jobs_use_what_the_reservation_leaves() {
        // The first job waits for two nodes: one is free, node 1 becomes free before node 2. Node 3 is left
        // to others.
        let mut free = vec![vec![4], vec![2], vec![2], vec![3]];
        let admitted =
            admit(&[job(0, 2, 4, 4), job(1, 1, 3, 4), job(2, 1, 2, 4)], &mut free, &[0, 50, 90, 95]);
        assert_eq!((admitted.jobs, admitted.first_blocked), (vec![1, 2], Some(0)));
        assert_eq!(free, [[0], [0], [2], [3]]);
    }

    #[test]
    fn a_reservation_leaves_what_was_counted_for_jobs_before_it() {
        let mut free = vec![vec![2], vec![2]];
        let admitted = admit(&[job(0, 2, 1, 2), job(0, 2, 1, 2), job(0, 2, 1, 2)], &mut free, &[0, 0]);
        assert_eq!((admitted.jobs, admitted.first_blocked), (vec![0, 1], Some(2)));
        assert_eq!(free, [[2], [2]]);
    }

    #[test]
    fn a_job_that_can_never_run_reserves_nothing() {
        let mut free = vec![vec![1]];
        let admitted = admit(&[job(0, 2, 1, 1), job(1, 1, 1, 1)], &mut free, &[0]);
        assert_eq!((admitted.jobs, admitted.first_blocked), (vec![1], None));
    }
}
