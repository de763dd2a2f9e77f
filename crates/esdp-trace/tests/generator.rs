//! The trace of our own, held against the facts that were measured on the real one.
//!
//! Two seeds of two hours each; the ranges are the measured value and what an hour may be off by.

use esdp::scenario::Scenario;
use esdp_trace::generate::{Generator, InstanceWriter, MachineWriter, TaskWriter};
use esdp_trace::plan::Window;
use esdp_trace::scenario::{Draft, Plan};
use esdp_trace::summary::{TraceDescription, TraceSummary};
use esdp_trace::{Import, Ledger, Sink, Source};

fn told(mut generator: Generator) -> (TraceSummary, TraceDescription) {
    let mut summary = TraceSummary::default();
    generator.stream(&mut Ledger::new(true), &mut summary).unwrap();
    let told = summary.finish();
    (summary, told)
}

fn within(what: &str, value: f64, from: f64, to: f64) {
    assert!((from..=to).contains(&value), "{what} is {value}, expected {from} to {to}");
}

#[test]
fn arrivals_and_jobs_are_as_measured() {
    for seed in [1, 2] {
        let (_, told) = told(Generator { seconds: 7200, ..Generator::new(seed) });
        let tasks = told.tasks.unwrap();
        let (second, minute) = (tasks.jobs.per_second.unwrap(), tasks.jobs.per_minute.unwrap());
        within("jobs a minute", minute.mean, 275.0 * 0.85, 275.0 * 1.15);
        within("the calmest minute", f64::from(minute.min), 50.0, 160.0);
        within("the busiest minute", f64::from(minute.max), 500.0, 1300.0);
        within("dispersion at 1 s (4.4)", second.variance_over_mean, 3.4, 5.4);
        within("dispersion at 60 s (74)", minute.variance_over_mean, 45.0, 110.0);
        let (per_job, instances) = (tasks.jobs.tasks.unwrap(), tasks.jobs.instances.unwrap());
        within("tasks a job, p50 (3)", per_job.p50, 2.0, 3.0);
        within("tasks a job, p90 (8)", per_job.p90, 6.0, 10.0);
        within("tasks a job, p99 (23)", per_job.p99, 16.0, 30.0);
        within("instances a job, p50 (7)", instances.p50, 5.0, 10.0);
        within("instances a job, p90 (395)", instances.p90, 250.0, 550.0);
        within("instances a job, most (27,620)", instances.max, 5_000.0, 60_000.0);
        let durations = tasks.durations.unwrap();
        within("durations, p50 (8)", durations.p50, 6.0, 10.0);
        within("durations, p90 (189)", durations.p90, 110.0, 230.0);
        within("durations, p99 (748)", durations.p99, 500.0, 1_400.0);
        within("durations, mean (67)", durations.mean, 45.0, 110.0);
    }
}

#[test]
fn the_day_has_its_shape() {
    // Hours 9 and 18 of the day: a load of 1.04 and 0.77.
    let (_, told) = told(Generator { seconds: 24 * 3600, ..Generator::new(5) });
    let curve = told.tasks.unwrap().jobs.curve;
    let mean = |from: f64, to: f64| {
        let points: Vec<f64> = curve
            .iter()
            .filter(|(at, _)| (from * 3600.0..to * 3600.0).contains(at))
            .map(|(_, y)| *y)
            .collect();
        points.iter().sum::<f64>() / points.len() as f64
    };
    let (evening, night) = (mean(7.0, 12.0), mean(15.0, 22.0));
    within("jobs a minute by day", mean(0.0, 24.0), 260.0, 290.0);
    // 0.84 in hours 16 to 20, 1.18 in hours 0 to 6.
    within("night over evening", night / evening, 1.25, 1.6);
}

#[test]
fn request_vectors_are_as_measured() {
    let (mut summary, told) = told(Generator { seconds: 3600, ..Generator::new(3) });
    let tasks = told.tasks.unwrap();
    within("coverage of eight vectors (0.904)", tasks.requests[7].coverage, 0.87, 0.94);
    let shares = [
        ([0.5, 0.2], 0.290),
        ([1.0, 0.3], 0.170),
        ([1.0, 0.39], 0.134),
        ([1.0, 0.49], 0.093),
        ([0.5, 0.39], 0.101),
        ([0.5, 0.3], 0.047),
        ([1.0, 0.59], 0.038),
        ([1.0, 0.2], 0.024),
    ];
    for (request, share) in shares {
        let found = tasks.requests.iter().find(|vector| vector.request == request).unwrap();
        within(&format!("the share of {request:?} ({share})"), found.share, share * 0.75, share * 1.25);
    }
    let small = tasks.requests.iter().filter(|vector| [0.5, 1.0].contains(&vector.request[0]));
    within("half a core or one (0.969)", small.map(|vector| vector.share).sum(), 0.94, 0.985);
    // The probability of at least one arrival in a second, by vector.
    let plan = Plan { window: Window { slots: 3600, ..Window::default() }, ..Plan::default() };
    let mut draft = Draft::new(plan, &mut summary).unwrap();
    Generator { seconds: 3600, ..Generator::new(3) }.stream(&mut Ledger::new(true), &mut draft).unwrap();
    let built = draft.finish().unwrap();
    assert_eq!(Scenario::from_toml(&built.toml).unwrap(), built.scenario, "the file is the scenario");
    let mut busy = built.busy;
    busy.sort_by(|a, b| b.total_cmp(a));
    let measured = [0.68, 0.67, 0.67, 0.50, 0.48, 0.33, 0.31, 0.28];
    for (found, measured) in busy.iter().zip(measured) {
        within(&format!("P(an arrival in 1 s), {measured}"), *found, measured - 0.1, measured + 0.1);
    }
}

#[test]
fn instances_differ_as_measured() {
    let (_, told) = told(Generator { seconds: 1800, instances: 64, ..Generator::new(4) });
    let instances = told.instances.unwrap();
    let (variation, speed) = (instances.variation.unwrap(), instances.relative_speed.unwrap());
    within("variation, p50 (0.13)", variation.p50, 0.11, 0.15);
    within("variation, p90 (0.36)", variation.p90, 0.28, 0.42);
    within("variation, p95 (0.45)", variation.p95, 0.36, 0.54);
    for (found, measured) in [
        (speed.p1, 0.48),
        (speed.p5, 0.69),
        (speed.p25, 0.91),
        (speed.p50, 1.0),
        (speed.p75, 1.10),
        (speed.p95, 1.56),
        (speed.p99, 3.0),
    ] {
        within(&format!("relative speed {measured}"), found, measured * 0.8, measured * 1.2);
    }
}

#[test]
fn a_longer_trace_starts_with_a_shorter_one_and_seeds_differ() {
    let text = |seed: u64, seconds: u64, instances: u64| {
        let mut bytes = Vec::new();
        let mut writer = TaskWriter::new(&mut bytes);
        Generator { seed, seconds, instances, machines: 3 }
            .stream(&mut Ledger::new(true), &mut writer)
            .unwrap();
        writer.finish().unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let short = text(7, 60, 0);
    assert!(text(7, 120, 0).starts_with(&short) && short.len() > 1000);
    assert!(text(7, 60, 9) == short, "instances change nothing else");
    assert!(text(8, 60, 0) != short, "seeds differ");
    // Saved results name seeds only.
    assert_eq!(short.lines().next(), Some(include_str!("fixtures/generated-first-line.txt").trim_end()));
}

#[test]
fn what_is_written_reads_back_the_same() {
    let mut generator = Generator { seconds: 300, instances: 8, ..Generator::new(11) };
    let (_, expected) = told(generator);
    let mut files = [Vec::new(), Vec::new(), Vec::new()];
    let [machines, tasks, instances] = &mut files;
    let mut writers = (MachineWriter::new(machines), TaskWriter::new(tasks), InstanceWriter::new(instances));
    let sinks: [&mut dyn Sink; 3] = [&mut writers.0, &mut writers.1, &mut writers.2];
    for sink in sinks {
        generator.stream(&mut Ledger::new(true), sink).unwrap();
    }
    writers.0.finish().unwrap();
    writers.1.finish().unwrap();
    writers.2.finish().unwrap();
    let mut summary = TraceSummary::default();
    for file in &files {
        Import::open(file.as_slice(), None).unwrap().stream(&mut Ledger::new(true), &mut summary).unwrap();
    }
    assert_eq!(summary.finish(), expected);
}
