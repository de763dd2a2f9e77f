//! The real files: counts of good and bad rows, and the facts that were measured on them.
//!
//! They may not be shipped, so they lie outside the checkout: in `ESDP_DATA`, or in `../shared/data` from the
//! project's root. Where the variable is set or `../shared` is there, a file that is missing is a failure.
//! Elsewhere these tests have nothing to read, and `cargo xtask test` says so in its last lines; the fixtures
//! of `formats.rs` cover every trap.

use esdp_trace::plan::Window;
use esdp_trace::scenario::{Draft, Plan};
use esdp_trace::summary::{TraceDescription, TraceSummary};
use esdp_trace::{Format, Import, Ledger, Reason, Sink, Source, Speed};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The folder of real files, if this machine is one that must have it.
fn data() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = root.join("../shared");
    let folder = match std::env::var_os("ESDP_DATA") {
        Some(folder) => root.join(folder),
        None if shared.is_dir() => shared.join("data"),
        None => return None,
    };
    assert!(folder.is_dir(), "{}: no such folder of real traces", folder.display());
    Some(folder)
}

fn open(folder: &Path, file: &str) -> Import<'static> {
    let path = folder.join(file);
    let input = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Import::open(BufReader::new(input), None).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn read(folder: &Path, files: &[(&str, Format)]) -> (TraceSummary, TraceDescription, Vec<Ledger>) {
    let mut summary = TraceSummary::default();
    let mut ledgers = Vec::new();
    for (file, format) in files {
        let mut ledger = Ledger::new(false);
        let mut import = open(folder, file);
        assert_eq!(import.format(), *format, "{file}");
        import.stream(&mut ledger, &mut summary).unwrap_or_else(|error| panic!("{file}: {error}"));
        ledgers.push(ledger);
    }
    let told = summary.finish();
    (summary, told, ledgers)
}

fn within(what: &str, value: f64, from: f64, to: f64) {
    assert!((from..=to).contains(&value), "{what} is {value}, expected {from} to {to}");
}

#[test]
fn alibaba_machines() {
    let Some(folder) = data() else { return };
    let (_, told, ledgers) = read(&folder, &[("alibaba2018/machine_meta.csv.gz", Format::AlibabaMachines)]);
    let machines = told.machines.unwrap();
    assert_eq!(
        (machines.records, machines.count, machines.distinct_shapes, machines.domains),
        (17_592, 4_034, 1, 20)
    );
    assert_eq!(machines.shapes[0].capacity, [96.0, 100.0]);
    assert_eq!((ledgers[0].clean, ledgers[0].count(Reason::NoDomain)), (17_592, 34));
}

#[test]
fn alibaba_tasks_and_their_traps() {
    let Some(folder) = data() else { return };
    let (_, told, ledgers) =
        read(&folder, &[("alibaba2018/batch_task_selected_dags.csv.gz", Format::AlibabaTasks)]);
    let ledger = &ledgers[0];
    assert_eq!(ledger.rows(), 55_874);
    let expected = [
        (Reason::NoEnd, 248),
        (Reason::NegativeDuration, 56),
        (Reason::NoCount, 192),
        (Reason::NoRequest, 354),
        (Reason::ZeroDuration, 650),
    ];
    for (reason, count) in expected {
        assert_eq!(ledger.count(reason), count, "{reason:?}");
    }
    let tasks = told.tasks.unwrap();
    assert_eq!((tasks.count, ledger.skipped), (55_874 - 354, 354));
    // Some jobs have no task that is kept.
    within("jobs (2,120)", tasks.jobs.count as f64, 2_100.0, 2_120.0);
}

#[test]
fn the_hour_sample() {
    let Some(folder) = data() else { return };
    let files = [
        ("alibaba2018/hour_tasks_min00_30.csv.gz", Format::HourTasks),
        ("alibaba2018/hour_instances_min00_08.csv.gz", Format::HourInstances),
    ];
    let (mut summary, told, ledgers) = read(&folder, &files);
    assert_eq!(
        (ledgers[0].rows(), ledgers[0].count(Reason::ZeroDuration), ledgers[0].skipped),
        (28_435, 1_364, 0)
    );
    assert_eq!((ledgers[1].rows(), ledgers[1].count(Reason::ZeroDuration)), (401_548, 5_361));
    let tasks = told.tasks.unwrap();
    assert_eq!((tasks.count, tasks.jobs.count, tasks.distinct_requests), (28_435, 7_320, 77));
    within("coverage of eight vectors", tasks.requests[7].coverage, 0.898, 0.899);
    let (second, minute) = (tasks.jobs.per_second.unwrap(), tasks.jobs.per_minute.unwrap());
    assert_eq!((minute.mean, minute.min, minute.max), (244.0, 105, 540));
    within("dispersion at 1 s", second.variance_over_mean, 4.207, 4.209);
    within("dispersion at 60 s", minute.variance_over_mean, 45.0, 45.2);
    let (durations, instances) = (tasks.durations.unwrap(), tasks.jobs.instances.unwrap());
    assert_eq!((durations.p50, durations.p75, durations.max), (8.0, 32.0, 21_713.0));
    within("durations, p90", durations.p90, 187.0, 191.0);
    assert_eq!((instances.p50, instances.max), (7.0, 27_616.0));
    within("instances a job, p90", instances.p90, 390.0, 406.0);
    let told = told.instances.unwrap();
    let (variation, speed) = (told.variation.unwrap(), told.relative_speed.unwrap());
    within("variation, p50 (0.13)", variation.p50, 0.12, 0.14);
    within("variation, p90 (0.36)", variation.p90, 0.33, 0.37);
    within("variation, p95 (0.45)", variation.p95, 0.43, 0.47);
    for (found, measured) in [(speed.p5, 0.69), (speed.p25, 0.91), (speed.p50, 1.0), (speed.p75, 1.10)] {
        within(&format!("relative speed {measured}"), found, measured * 0.85, measured * 1.15);
    }
    // 3.0 over all instances; the first 64 of each task leave out most of the largest tasks.
    within("relative speed, p99", speed.p99, 2.1, 3.2);
    // The paper's way: which of the eight ports has a job in a slot of one second.
    let mut draft = Draft::new(
        Plan { window: Window { slots: 1800, ..Window::default() }, ..Plan::default() },
        &mut summary,
    )
    .unwrap();
    open(&folder, files[0].0).stream(&mut Ledger::new(false), &mut draft).unwrap();
    let busy = draft.finish().unwrap().busy;
    let exact = [0.6472, 0.5922, 0.6106, 0.4583, 0.4183, 0.2711, 0.2561, 0.2667];
    for (found, exact) in busy.iter().zip(exact) {
        within("P(an arrival in 1 s)", *found, exact - 1e-4, exact + 1e-4);
    }
}

#[test]
fn gpu_clusters() {
    let Some(folder) = data() else { return };
    let (_, told, ledgers) = read(&folder, &[("gpu2020/pai_machine_spec.csv.gz", Format::Gpu2020Machines)]);
    let machines = told.machines.unwrap();
    assert_eq!((machines.count, machines.distinct_shapes, ledgers[0].clean), (1_897, 7, 1_897));
    let files = [
        ("gpu2023/openb_node_list_all_node.csv.gz", Format::Gpu2023Nodes),
        ("gpu2023/openb_pod_list_default.csv.gz", Format::Gpu2023Pods),
    ];
    let (_, told, ledgers) = read(&folder, &files);
    let (machines, tasks) = (told.machines.unwrap(), told.tasks.unwrap());
    assert_eq!((machines.count, machines.distinct_shapes, machines.total[2]), (1_523, 27, 6_212.0));
    assert_eq!((tasks.count, ledgers[1].count(Reason::ZeroDuration), ledgers[1].skipped), (8_152, 1, 0));
}

#[test]
fn workloads_of_other_simulators() {
    let Some(folder) = data() else { return };
    let (_, told, ledgers) = read(&folder, &[("swf/NASA-iPSC-1993-3.1-cln.swf.gz", Format::Swf)]);
    let tasks = told.tasks.unwrap();
    assert_eq!((tasks.count, tasks.distinct_requests, told.machines.unwrap().total[0]), (18_239, 8, 128.0));
    assert_eq!((ledgers[0].count(Reason::ZeroDuration), ledgers[0].repaired), (173, 173));
    let (_, told, ledgers) =
        read(&folder, &[("batsim/example_workload_hpc_seed1_jobs250.json", Format::Batsim)]);
    assert_eq!((told.tasks.unwrap().count, ledgers[0].clean), (250, 250));
}

#[test]
fn measured_speeds() {
    let Some(folder) = data() else { return };
    let files = [
        ("gavel/isolated.csv.gz", Format::GavelIsolated),
        ("gavel/colocated.csv.gz", Format::GavelColocated),
    ];
    let (_, told, ledgers) = read(&folder, &files);
    assert_eq!((ledgers[0].clean, ledgers[1].clean), (492, 10_338));
    let speeds = told.speeds.unwrap();
    let v100 = speeds.kinds.iter().find(|ratio| ratio.kind == "v100").unwrap();
    assert_eq!((v100.than.as_str(), v100.jobs), ("k80", 26));
    within("v100 over k80, least (0.66)", v100.min, 0.66, 0.665);
    within("v100 over k80, median (4.05)", v100.median, 4.05, 4.06);
    within("v100 over k80, most (11.6)", v100.max, 11.6, 11.7);
    let p100 = speeds.sharing.iter().find(|sharing| sharing.kind == "p100").unwrap();
    within("sharing a p100, p5 (0.37)", p100.share.p5, 0.36, 0.38);
    within("sharing a p100, p95 (0.83)", p100.share.p95, 0.82, 0.84);
    within("over partners (0.21)", p100.over_partners.unwrap(), 0.19, 0.22);
    let (_, told, ledgers) = read(&folder, &[("azure_noise/long_westus2.csv.gz", Format::AzureNoise)]);
    assert_eq!((ledgers[0].clean, told.speeds.unwrap().by_job.len()), (225_117, 14));
    let short = samples(&folder, "azure_noise/short_westus2.csv.gz");
    assert_eq!(short.values().sum::<usize>(), 59_744);
    for job in ["1", "2"] {
        let workers = samples(&folder, &format!("gpu2020/minibatch_job_{job}_norm.csv.gz"));
        assert_eq!(workers.len(), 10);
    }
}

/// How many speeds a file tells of each job on each server.
fn samples(folder: &Path, file: &str) -> BTreeMap<(String, String), usize> {
    #[derive(Default)]
    struct Samples(BTreeMap<(String, String), usize>);
    impl Sink for Samples {
        fn speed(&mut self, speed: &Speed<'_>) {
            *self.0.entry((speed.job.to_owned(), speed.server.to_owned())).or_default() += 1;
        }
    }
    let mut samples = Samples::default();
    open(folder, file)
        .stream(&mut Ledger::new(true), &mut samples)
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    samples.0
}
