//! No problem makes a solver allocate without measure, or work beyond its budget: counted in bytes and in
//! units of work, never in time.

// A counting allocator cannot be written without `unsafe`; it forwards to the system's.
#![allow(unsafe_code)]

#[path = "giants/instances.rs"]
mod instances;

use esdp::solver::{Exact, Exhaustive, Greedy, Instance, Paper, Problem, Solver};
use instances::{Fleet, channels, duplicates, nothing_to_run, vast_jobs};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What a solver may hold at once, in bytes.
const MOST_BYTES: i64 = 500_000_000;

struct Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call is forwarded unchanged; the counters are plain thread-local cells that
// need no allocation themselves.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while one is copied to the other.
        count(size as i64);
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that were held at once while something ran.
fn peak<T>(run: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.get();
    PEAK.set(before);
    let answer = run();
    (answer, PEAK.get() - before)
}

/// The budget that `Exact` documents for a problem.
fn documented_budget(problem: &Problem<'_>) -> u64 {
    let n = problem.len() as u64;
    if problem.gangs().is_none() && problem.servers().is_none() {
        return (200 * n).max(32_000_000);
    }
    (30_000 * n).min(120_000_000 + 6_000 * n).max(40_000_000)
}

/// Solves with every solver; those that refuse must do so before they allocate much.
fn check(name: &str, instance: &Instance) {
    let problem = instance.problem().unwrap();
    let budget = documented_budget(&problem);
    let mut solvers: [Box<dyn Solver>; 4] = [
        Box::new(Exact::default()),
        Box::new(Greedy::default()),
        Box::new(Exhaustive::default()),
        Box::new(Paper::default()),
    ];
    for solver in &mut solvers {
        let (answer, bytes) = peak(|| solver.solve(&problem));
        let who = format!("{name}, {}: {bytes} bytes", solver.name());
        assert!(bytes <= MOST_BYTES, "{who}");
        let Ok(answer) = answer else { continue };
        assert!(problem.is_feasible(&answer.chosen) && answer.value <= answer.bound, "{who}");
        if solver.name() != "paper" {
            assert!(answer.work <= 2 * budget, "{who}, work {} of {budget}", answer.work);
        }
    }
}

#[test]
fn the_counter_counts() {
    let (_, bytes) = peak(|| drop(std::hint::black_box(vec![1u8; 1_000])));
    assert_eq!(bytes, 1_000);
    let (_, bytes) = peak(|| ());
    assert_eq!(bytes, 0);
}

#[test]
fn many_channels() {
    check("channels", &channels(1_000_000, 3));
}

#[test]
fn many_devices() {
    check("50 devices", &channels(20_000, 50));
    check("200 devices", &channels(5_000, 200));
    check("5,000 devices", &channels(200, 5_000));
}

#[test]
fn many_duplicates() {
    check("duplicates", &duplicates(250_000));
}

#[test]
fn many_servers() {
    check(
        "servers",
        &Fleet { servers: 100_000, capacity: 4, jobs: 100_000, tasks: 1, copies: 1, reach: 1 }.instance(),
    );
    check(
        "sparse",
        &Fleet { servers: 20_000, capacity: 4, jobs: 1_000, tasks: 8, copies: 1, reach: 50 }.instance(),
    );
}

#[test]
fn many_jobs_on_few_servers() {
    check(
        "one server",
        &Fleet { servers: 1, capacity: 40, jobs: 2_000, tasks: 2, copies: 1, reach: 1 }.instance(),
    );
    check(
        "two servers",
        &Fleet { servers: 2, capacity: 40, jobs: 8_000, tasks: 2, copies: 1, reach: 2 }.instance(),
    );
}

#[test]
fn many_tasks() {
    check("one job", &vast_jobs(1, 1 << 26, 1, 0));
    check("jobs", &vast_jobs(16, 1 << 22, 1, 1));
    check("copies", &vast_jobs(4, 2, 1 << 15, 1));
}

#[test]
fn nothing_but_unusable_channels() {
    check("no copies", &nothing_to_run(1_000_000));
}
