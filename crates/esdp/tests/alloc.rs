//! Deciding and observing allocate nothing once the buffers have grown.

// A counting allocator cannot be written without `unsafe`; it forwards to the system's.
#![allow(unsafe_code)]

use esdp::model::{Arrivals, Observation, Outcome, Slot};
use esdp::policy::PolicySpec;
use esdp::scheduler::Scheduler;
use esdp::sim::{Environment, RandomCluster, Setting, Workload};
use esdp::solver::{Problem, Solution, SolveError, Solver};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded unchanged; the counter is a plain thread-local cell that
// needs no allocation itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes the first channel only: tells the policies' own allocations from a solver's.
struct First;

impl Solver for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        solution.chosen.clear();
        solution
            .chosen
            .extend((0..problem.len() as u32).find(|&channel| problem.fits_alone(channel as usize)));
        Ok(())
    }
}

/// The allocations of a life that was lived before: the second time, every buffer is as large as
/// its hardest slot needs, so whatever is still allocated is allocated slot after slot.
fn steady_allocations(policy: &str, solver: Option<Box<dyn Solver>>, slots: u64) -> u64 {
    let setting = Setting::new(&RandomCluster::default(), 0.9, 1).unwrap();
    let mut scheduler = setting.scheduler_with(&policy.parse().unwrap(), solver).unwrap();
    let birth = scheduler.checkpoint();
    live(&setting, &mut scheduler, slots);
    scheduler.restore(birth).unwrap();
    live(&setting, &mut scheduler, slots)
}

/// Runs some slots and counts the allocations of deciding and observing.
fn live(setting: &Setting, scheduler: &mut Scheduler, slots: u64) -> u64 {
    let (mut workload, mut environment) = (setting.workload(), setting.environment());
    let mut arrivals = Arrivals::everywhere(setting.cluster().ports().len());
    let (mut chosen, mut utilities) = (Vec::new(), Vec::new());
    let mut counted = 0;
    for slot in (1..=slots).map(Slot) {
        workload.arrivals(slot, &mut arrivals);
        let before = ALLOCATIONS.get();
        let decision = scheduler.decide(&arrivals, None).unwrap();
        counted += ALLOCATIONS.get() - before;
        chosen.clear();
        chosen.extend_from_slice(decision.channels());
        utilities.clear();
        environment.run(slot, &chosen, &mut utilities);
        let before = ALLOCATIONS.get();
        for (&channel, &utility) in chosen.iter().zip(&utilities) {
            scheduler.observe(&Observation { slot, channel, outcome: Outcome::Ran(utility) }).unwrap();
        }
        counted += ALLOCATIONS.get() - before;
    }
    counted
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert!(ALLOCATIONS.get() > before);
}

#[test]
fn policies_allocate_nothing() {
    for policy in PolicySpec::all() {
        let name = policy.name();
        assert_eq!(steady_allocations(name, Some(Box::new(First)), 500), 0, "{name}");
    }
}

#[test]
fn policies_and_their_solvers_allocate_nothing() {
    for policy in ["esdp", "esdp-index", "esdp-pooled", "esdp-drift", "cts", "cucb", "oracle"] {
        assert_eq!(steady_allocations(policy, None, 1500), 0, "{policy}");
    }
}
