//! Answers recorded from real clusters of several versions are read alike.
//!
//! `squeue-VERSION.json` and `sinfo-VERSION.json` (`nodes-VERSION.json` where `scontrol show nodes --json` is
//! what is read) are what the clients of that version have answered, unchanged but for paths;
//! `jobs-VERSION-rest.json` and `nodes-VERSION-rest.json` are what `slurmrestd` has.

use esdp::model::Amounts;
use esdp_cluster::slurm::job::{self, End, SlurmJob, State};
use esdp_cluster::slurm::node::{self, SlurmNode};

fn recorded(name: &str) -> String {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn jobs(name: &str) -> Vec<SlurmJob> {
    job::read(&recorded(name), false).unwrap()
}

fn find<'a>(jobs: &'a [SlurmJob], id: &str) -> &'a SlurmJob {
    jobs.iter().find(|job| job.id == id).unwrap_or_else(|| panic!("no job {id}"))
}

fn amounts(list: &[(&str, u64)]) -> Amounts {
    list.iter().map(|&(device, amount)| (device.to_owned(), amount)).collect()
}

#[test]
fn jobs_of_22_05() {
    let jobs = jobs("squeue-22.05.json");
    let running = find(&jobs, "1");
    assert_eq!((running.state, running.node_count), (State::Running, 2));
    assert_eq!(
        (&running.nodes[..], &running.required[..]),
        (&["n1".to_owned(), "n2".to_owned()][..], &running.nodes[..])
    );
    assert_eq!(running.request, amounts(&[("cpu", 2), ("gpu", 1)]));
    let task = find(&jobs, "2_1");
    assert_eq!((task.number, task.state, task.key()), (8, State::Running, "2_1@1794887227".to_owned()));
    for id in ["2_0", "2_2", "2_3"] {
        assert!(find(&jobs, id).is_held(), "{id}");
    }
    let exclusive = find(&jobs, "3");
    assert!(exclusive.exclusive && exclusive.features == "fast" && exclusive.comment == "work=5");
    assert_eq!(exclusive.request, amounts(&[("cpu", 4), ("gpu", 2)]));
    let bad = find(&jobs, "5");
    assert!(bad.is_held() && bad.reason == "BadConstraints" && bad.excluded == ["n0"]);
    assert!(find(&jobs, "6").heterogeneous && find(&jobs, "7").heterogeneous);
}

#[test]
fn jobs_of_24_11() {
    let jobs = jobs("squeue-24.11.json");
    let held = find(&jobs, "1");
    assert!(held.is_held() && held.required == ["n0", "n1"] && held.admin_comment == "esdp-left");
    assert_eq!((held.node_count, &held.request), (2, &amounts(&[("cpu", 2), ("gpu", 1)])));
    assert_eq!((find(&jobs, "2_1").state, find(&jobs, "2_1").number), (State::Running, 5));
    assert!(find(&jobs, "2_3").is_held());
    assert!(find(&jobs, "3").exclusive && find(&jobs, "3").has_started());
    let ended = find(&jobs, "4");
    assert_eq!((ended.state, &ended.nodes[..]), (State::Ended(End::Completed), &["n1".to_owned()][..]));
    assert!(ended.ends.is_some() && ended.started > 0);
}

#[test]
fn rest_of_24_11() {
    let jobs = jobs("jobs-24.11-rest.json");
    let held = find(&jobs, "4");
    assert!(held.is_held() && held.admin_comment == "esdp 4294901760" && held.comment == "esdp-seconds=30");
    assert_eq!((held.node_count, &held.request, held.user.as_str()), (2, &amounts(&[("cpu", 2)]), "root"));
    for task in 0..4 {
        assert!(find(&jobs, &format!("5_{task}")).is_held(), "{task}");
    }
    let running = find(&jobs, "6");
    assert_eq!(
        (running.state, &running.nodes[..]),
        (State::Running, &["n0".to_owned(), "n1".to_owned()][..])
    );
    assert!(running.exclusive);
    assert_eq!(find(&jobs, "7").state, State::Ended(End::Failed));
    let nodes = node::read(&recorded("nodes-24.11-rest.json")).unwrap();
    let free: Vec<u64> = nodes.iter().map(|node| node.free["cpu"]).collect();
    assert_eq!(free, [0, 0, 8, 8]);
    assert_eq!(nodes.iter().filter_map(|node| node.closed.as_deref()).collect::<Vec<_>>(), ["DRAIN"]);
}

#[test]
fn memory_counts_where_slurm_gives_it_out() {
    let jobs = job::read(&recorded("squeue-24.11.json"), true).unwrap();
    assert_eq!(find(&jobs, "2_0").request, amounts(&[("cpu", 3), ("mem", 100)]));
    assert_eq!(find(&jobs, "1").request["mem"], 4096, "in whole GiB");
}

#[test]
fn nodes_of_all_versions() {
    let old = node::read(&recorded("sinfo-22.05.json")).unwrap();
    assert_eq!(old.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["n0", "n1", "n2", "n3"]);
    assert!(old.iter().all(|node| node.closed.is_none() && node.features == ["fast"] && node.weight == 1));
    assert_eq!(old[0].capacity, amounts(&[("cpu", 8), ("gpu", 2), ("gpu:a100", 2), ("mem", 4000)]));
    let find =
        |nodes: &[SlurmNode], name: &str| nodes.iter().find(|node| node.name == name).cloned().unwrap();
    // Both ways of asking tell the same.
    let (new, grouped) = (recorded("nodes-24.11.json"), recorded("sinfo-24.11.json"));
    let (new, grouped) = (node::read(&new).unwrap(), node::read(&grouped).unwrap());
    for name in ["n0", "n1"] {
        assert_eq!(find(&new, name), find(&grouped, name));
    }
    assert_eq!((find(&new, "n0").free["cpu"], find(&new, "n0").free["gpu"]), (0, 0), "a job has all of it");
    assert_eq!(find(&new, "n1").free["cpu"], 5);
}

#[test]
fn a_client_whose_controller_is_away_does_not_tell_of_an_empty_cluster() {
    let refused = job::read(&recorded("squeue-22.05-away.json"), false).unwrap_err();
    assert!(refused.contains("error"), "{refused}");
}
