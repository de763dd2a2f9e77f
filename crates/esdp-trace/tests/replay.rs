//! A replay keeps what the trace says: jobs and their ids, durations, machines, speeds.

use esdp::model::{PortId, ServerId};
use esdp::scenario::LabelledPolicy;
use esdp_trace::replay::{
    MachineSource, Noise, Played, RelativeSpeeds, Replay, ReplayError, ReplayPlan, in_words,
};
use esdp_trace::summary::TraceSummary;
use esdp_trace::{Import, Ledger, Source};

/// Tasks of half a core and of two, some without an end; the last one beyond the window.
const TASKS: &str = "\
M1,1,j_1,1,Terminated,100,120,50,0.2
M1,3,j_2,1,Terminated,101,141,200,0.4
M1,1,j_3,1,Terminated,111,121,50,0.2
M1,1,j_4,1,Running,112,0,50,0.2
M1,1,j_5,1,Terminated,120,125,50,0.2
M1,1,j_6,1,Terminated,900,905,50,0.2
";
const NODES: &str = "\
sn,cpu_milli,memory_mib,gpu,model
n-0,8000,262144,2,V100M16
n-1,8000,262144,2,P100
n-2,4000,262144,0,
";
const SPEEDS: &str = "\
worker,job,sf,thr
k80,A,1,1.0
p100,A,1,2.0
v100,A,1,4.0
k80,B,1,3.0
p100,B,1,6.0
v100,B,1,3.0
v100,B,2,9.0
v100_unconsolidated,A,1,9.0
";
/// Two users on two nodes, one partition each; job 4 uses two nodes, 5 waits, 6 runs, 7 failed.
const WEEK: &str = "\
JobID|User|JobName|Partition|Submit|Start|Elapsed|State|NodeList|ReqTRES
1|u|train|gpu|2024-01-01T00:00:00|2024-01-01T00:01:00|00:10:00|COMPLETED|g1|cpu=8,mem=32G,gres/gpu=1
2|u|train|gpu|2024-01-01T00:00:30|2024-01-01T00:01:00|00:20:00|COMPLETED|g2|cpu=8,mem=32G,gres/gpu=1
3|v|prep|cpu|2024-01-01T00:02:00|2024-01-01T00:02:00|00:05:00|COMPLETED|c1|cpu=4,mem=8G
4|v|wide|cpu|2024-01-01T00:03:00|2024-01-01T00:07:00|00:10:00|COMPLETED|c[1-2]|cpu=16,mem=32G,node=2
5|v|prep|cpu|2024-01-01T00:04:00|Unknown|00:00:00|PENDING|None assigned|cpu=4,mem=8G
6|v|prep|cpu|2024-01-01T00:04:00|2024-01-01T00:05:00|00:03:00|RUNNING|c2|cpu=4,mem=8G
7|v|prep|cpu|2024-01-01T00:05:00|2024-01-01T00:05:00|00:01:00|FAILED|c1|cpu=4,mem=8G
";
const SINFO: &str = "\
NODELIST|CPUS|MEMORY|GRES|STATE
g1|16|131072|gpu:a100:2|idle
g2|16|131072|gpu:v100:2|idle
c[1-2]|16|65536|(null)|mixed
";

fn build(files: &[&str], plan: ReplayPlan) -> Result<Played, ReplayError> {
    let mut summary = TraceSummary::default();
    let read = |sink: &mut dyn esdp_trace::Sink| {
        for file in files {
            Import::open(file.as_bytes(), None).unwrap().stream(&mut Ledger::new(false), sink).unwrap();
        }
    };
    read(&mut summary);
    let mut replay = Replay::new(plan, &summary)?;
    read(&mut replay);
    replay.finish()
}

fn plan() -> ReplayPlan {
    ReplayPlan { slot: Some(10.0), slots: Some(10), ..ReplayPlan::default() }
}

fn scenario(played: &Played, means: &RelativeSpeeds) -> esdp::scenario::Scenario {
    played.scenario(means, &Noise::None, vec![LabelledPolicy::named("esdp").unwrap()]).unwrap()
}

#[test]
fn the_table_is_used_whole_and_jobs_keep_what_they_are() {
    let played = build(&[TASKS, NODES, SPEEDS], plan()).unwrap();
    assert_eq!((played.tasks, played.jobs.len()), (4, 4), "one has no end, one comes too late");
    assert_eq!(in_words(&played.servers), "3 servers: 1 x CPU, 1 x P100, 1 x V100M16");
    assert_eq!(
        played.jobs.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(),
        ["j_1.M1", "j_2.M1", "j_3.M1", "j_5.M1"]
    );
    // Shares of memory are no GiB: they cannot be held against these machines, which is said.
    assert_eq!(played.devices, ["cpu"]);
    assert!(played.notes.iter().any(|note| note.contains("mem-share")), "{:?}", played.notes);
    let words: Vec<&str> = played.types.iter().map(|kind| kind.words.as_str()).collect();
    assert_eq!(words, ["3 x (cpu 2)", "cpu 0.5"], "what runs longest comes first");
    let (means, mapping) = played.table.clone().unwrap();
    assert!(mapping.dealt, "no row names a job type");
    assert_eq!(mapping.unmeasured, ["n-2"]);
    let scenario = scenario(&played, &means);
    let setting = scenario.setting(0).unwrap();
    let cluster = setting.cluster();
    let capacity = |server| cluster.capacity().server(ServerId(server)).unwrap().to_vec();
    // In halves of a core.
    assert_eq!([capacity(0), capacity(1), capacity(2)], [[16], [16], [8]]);
    assert_eq!(cluster.minimum(PortId(0)), 3, "the task of three instances starts whole");
    let value: toml::Table = toml::from_str(&scenario.to_toml()).unwrap();
    let rows = value["arrivals"]["jobs"].clone().try_into::<Vec<Vec<u32>>>().unwrap();
    assert_eq!(rows[..3], [vec![1, 1], vec![0, 1], vec![0, 1]]);
    // Type 0 has row A: a v100 is twice as fast as a p100; what was not measured has the mean of the row,
    // 7/3.
    let means = value["speeds"]["table"][0].clone().try_into::<Vec<f64>>().unwrap();
    for (found, expected) in means[..3].iter().zip([0.6, 0.3, 0.6 * 7.0 / 3.0 / 4.0]) {
        assert!((found - expected).abs() < 1e-9, "{means:?}");
    }
    // A job of 40 s in slots of 10 s, at the mean speed of its servers.
    let work = value["jobs"]["list"].clone().try_into::<Vec<Vec<f64>>>().unwrap();
    let average = means[..3].iter().sum::<f64>() / 3.0;
    assert!((work[0][0] - 4.0 * average).abs() < 1e-5, "{work:?}");
}

#[test]
fn accounting_tells_partitions_nodes_waiting_and_states() {
    let played = build(&[WEEK, SINFO], ReplayPlan::default()).unwrap();
    assert_eq!(in_words(&played.servers), "4 servers: 1 x a100, 1 x v100, 2 x CPU");
    assert_eq!(played.machines, MachineSource::Table);
    let ids: Vec<&str> = played.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "7"], "5 waits, 6 is of unknown length");
    assert!(
        played.notes.iter().any(|note| note.starts_with("1 jobs of unknown length")),
        "{:?}",
        played.notes
    );
    assert!(played.notes.iter().any(|note| note.starts_with("1 jobs failed")), "{:?}", played.notes);
    let of = |words: &str| {
        played.types.iter().find(|kind| kind.words == words).unwrap_or_else(|| panic!("{words}"))
    };
    // Where jobs of a partition ran is where its jobs may run.
    assert_eq!(of("cpu 8, mem 32, gpu 1 in gpu").servers, [0, 1]);
    assert_eq!(of("cpu 4, mem 8 in cpu").servers, [2, 3]);
    assert_eq!((of("2 x (cpu 8, mem 16) in cpu").tasks, of("2 x (cpu 8, mem 16) in cpu").jobs), (2, 1));
    let wide = &played.jobs[3].logged.clone().unwrap();
    assert_eq!((wide.start, wide.servers.as_slice()), (420.0, &[2, 3][..]));
    let today = played.today().unwrap();
    assert_eq!((today.jobs, today.median_wait, today.mean_wait), (5, 30.0, 66.0));
    // The same job took twice as long on g2: with speeds 1 and 1/2 it is the same work.
    let scenario = scenario(&played, &RelativeSpeeds::of_servers(&played, &[1.0, 0.5, 1.0, 1.0]));
    let value: toml::Table = toml::from_str(&scenario.to_toml()).unwrap();
    let work = value["jobs"]["list"].clone().try_into::<Vec<Vec<f64>>>().unwrap();
    let train = played.types.iter().position(|kind| kind.words.contains("gpu")).unwrap();
    assert!((work[train][0] - work[train][1]).abs() < 1e-5, "{work:?}");
}

#[test]
fn without_a_table_the_named_nodes_are_the_machines() {
    let played = build(&[WEEK], ReplayPlan::default()).unwrap();
    assert_eq!(played.machines, MachineSource::Named);
    let names: Vec<&str> = played.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["g1", "g2", "c1", "c2"]);
    // Jobs 3 and 7 were together on c1, before job 4 came.
    let c1 = &played.servers[2];
    assert_eq!((c1.amount("cpu"), c1.amount("mem")), (Some(8.0), Some(16.0)));
}

#[test]
fn a_speed_of_nothing_is_not_measured_and_the_others_of_its_row_count() {
    let speeds = "worker,job,sf,thr\nv100,*,1,4.0\np100,*,1,0.0\n";
    let (means, mapping) = build(&[TASKS, NODES, speeds], plan()).unwrap().table.unwrap();
    assert_eq!((mapping.dropped, mapping.dealt), (1, false));
    assert!(means.0.iter().flatten().all(|speed| *speed == 4.0), "{means:?}");
}

#[test]
fn slot_and_window_come_from_the_trace() {
    let line =
        |at: u32| format!("M1,1,j_{at},1,Terminated,{},{},50,0.2\n", 100 + 600 * at, 100 + 600 * at + 3600);
    let tasks: String = (0..500).map(line).collect();
    let played = build(&[&tasks, NODES], ReplayPlan::default()).unwrap();
    // A twentieth of an hour is 180 s; 500 jobs every 600 s.
    assert_eq!((played.window.slot, played.window.slots), (180.0, 1664));
    assert_eq!(played.jobs.len(), 500);
}

#[test]
fn load_is_reached_by_leaving_jobs_out() {
    let line = |at: u32| format!("M1,1,j_{at},1,Terminated,{},{},50,0.2\n", 100 + at / 4, 130 + at / 4);
    let tasks: String = (0..4000).map(line).collect();
    let half = ReplayPlan { slots: Some(100), load: Some(0.5), ..plan() };
    let played = build(&[&tasks, NODES], half.clone()).unwrap();
    assert!(
        (played.load - 0.5).abs() < 0.1 && played.jobs.len() < played.tasks,
        "{} {}",
        played.load,
        played.tasks
    );
    assert_eq!(played.jobs, build(&[&tasks, NODES], half).unwrap().jobs);
    assert_eq!(build(&[&tasks, NODES], ReplayPlan { slots: Some(100), ..plan() }).unwrap().jobs.len(), 4000);
}

#[test]
fn a_whole_system_is_cut_where_asked() {
    let swf = "; MaxProcs: 64\n1 0 5 100 48 -1 -1 48 -1 -1 1 1 1 -1 -1 -1 -1 -1\n2 9 0 100 4 -1 -1 4 -1 -1 \
               1 1 1 -1 -1 -1 -1 -1\n";
    assert!(matches!(build(&[swf], ReplayPlan::default()), Err(ReplayError::OneMachine { .. })));
    let played = build(&[swf], ReplayPlan { servers: Some(4), ..ReplayPlan::default() }).unwrap();
    assert_eq!((played.servers.len(), played.servers[0].amount("cpu")), (4, Some(16.0)));
    let words: Vec<&str> = played.types.iter().map(|kind| kind.words.as_str()).collect();
    assert!(words.contains(&"3 x (cpu 16)") && words.contains(&"cpu 4"), "{words:?}");
    assert_eq!(played.today().unwrap().mean_wait, 2.5);
}

#[test]
fn what_cannot_be_played_is_told_with_what_would() {
    let refused = |files: &[&str], plan| build(files, plan).unwrap_err().to_string();
    assert!(refused(&[NODES], plan()).contains("no tasks"));
    assert!(refused(&[TASKS], plan()).contains("do not say which machines there are"));
    let empty = refused(&[TASKS, NODES], ReplayPlan { start: Some(300.0), slots: Some(3), ..plan() });
    assert!(empty.contains("between 5 min and 5.5 min") && empty.contains("try --start 0"), "{empty}");
    assert!(refused(&[TASKS, NODES], ReplayPlan { slot: Some(-1.0), ..plan() }).contains("`slot` is -1"));
    assert!(
        refused(&[TASKS, NODES], ReplayPlan { load: Some(f64::NAN), ..plan() }).contains("`load` is NaN")
    );
    assert!(refused(&[TASKS, NODES], ReplayPlan { servers: Some(9), ..plan() }).contains("at most the 3"));
    // NodeList without Start: where jobs ran, but not when.
    let without = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        [&cells[..5], &cells[6..]].concat().join("|") + "\n"
    };
    let no_start: String = WEEK.lines().map(without).collect();
    let told = refused(&[&no_start], ReplayPlan::default());
    assert!(told.contains("not when they started") && told.contains("column Start"), "{told}");
    assert_eq!(build(&[&no_start, SINFO], ReplayPlan::default()).unwrap().servers.len(), 4);
    let small = "sn,cpu_milli,memory_mib,gpu,model\nn-0,100,262144,2,V100\nn-1,100,262144,2,V100\n";
    assert!(refused(&[TASKS, small], plan()).contains("no server has room"));
}
