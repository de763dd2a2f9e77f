//! A replay keeps what the trace says: order, durations, machines, speeds.

use esdp::model::{PortId, ServerId};
use esdp_trace::plan::Window;
use esdp_trace::replay::{BuiltReplay, Replay, ReplayError, ReplayPlan};
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

fn noise() -> String {
    let line = |at: u32| format!("bench,B8ms,{},30.0,2023-05-29 06:{:02}:00.000,0\n", 100 + at % 3, at);
    "test,sku,value,runtime,starttime,VM_id\n".to_owned() + &(0..40).map(line).collect::<String>()
}

fn build(files: &[&str], plan: ReplayPlan) -> Result<BuiltReplay, ReplayError> {
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
    let window = Window { ports: 2, servers: 4, slot: 10.0, slots: 10, ..Window::default() };
    ReplayPlan { window, load: 100.0, block: 4, ..ReplayPlan::default() }
}

fn within(window: Window) -> ReplayPlan {
    ReplayPlan { window, ..plan() }
}

#[test]
fn order_durations_machines_and_speeds_are_those_of_the_files() {
    let built = build(&[TASKS, NODES, SPEEDS, &noise()], plan()).unwrap();
    assert_eq!((built.tasks, built.jobs), (4, 4), "one has no end, one comes too late");
    assert_eq!(built.devices, ["cpu", "gpu"]);
    let text = built.scenario.to_toml();
    let value: toml::Table = toml::from_str(&text).unwrap();
    // Half a core is the unit; port 0 is the most frequent vector, port 1 asks for two cores.
    let rows = value["arrivals"]["jobs"].clone().try_into::<Vec<Vec<u32>>>().unwrap();
    assert_eq!(rows[..3], [vec![1, 1], vec![1, 0], vec![1, 0]]);
    let setting = built.scenario.setting(0).unwrap();
    let cluster = setting.cluster();
    let request = |port| cluster.request(cluster.channels_of(PortId(port))[0]).to_vec();
    assert_eq!((request(0), request(1)), (vec![1, 1], vec![4, 1]));
    // Only the two nodes with GPUs are drawn, each twice: 16 halves of a core and 2 GPUs.
    for server in (0..4).map(ServerId) {
        assert_eq!(cluster.capacity().server(server), Some(&[16, 2][..]));
        assert!(["p100", "v100"].contains(&cluster.labels(server)[0].as_str()));
    }
    // Job type A is four times as fast on a v100 as on a k80, B fastest on a p100.
    let means = value["speeds"]["table"][0].clone().try_into::<Vec<f64>>().unwrap();
    for (position, channel) in cluster.channels().iter().enumerate() {
        let kind = cluster.labels(channel.server)[0].as_str();
        let expected = match (channel.port.0, kind) {
            (0, "v100") | (1, "p100") => 0.6,
            _ => 0.3,
        };
        assert!((means[position] - expected).abs() < 1e-9, "{position}: {}", means[position]);
    }
    // A job of 20 s in slots of 10 s, at the mean speed of its port.
    let work = value["jobs"]["list"].clone().try_into::<Vec<Vec<f64>>>().unwrap();
    let average = means[..4].iter().sum::<f64>() / 4.0;
    assert!((work[0][0] - 2.0 * average).abs() < 1e-5, "{work:?}");
    assert_eq!(value["speeds"]["measured"]["series"].as_array().unwrap().len(), 1);
    assert_eq!(cluster.minimum(PortId(1)), 3, "the task of three instances starts whole");
}

#[test]
fn what_a_trace_lacks_is_built_in() {
    let built = build(&[TASKS], plan()).unwrap();
    assert!(built.origin.contains("fleet-real"), "{}", built.origin);
    assert_eq!(built.devices, ["cpu", "mem-share", "gpu"]);
    assert!(built.scenario.setting(3).is_ok());
}

#[test]
fn load_is_reached_by_thinning() {
    let line = |at: u32| format!("M1,1,j_{at},1,Terminated,{},{},50,0.2\n", 100 + at / 4, 130 + at / 4);
    let tasks: String = (0..4000).map(line).collect();
    let window = Window { servers: 2, slots: 100, ..plan().window };
    let plan = ReplayPlan { window, load: 0.5, ..plan() };
    let built = build(&[&tasks, NODES, SPEEDS], plan.clone()).unwrap();
    assert!((built.load - 0.5).abs() < 0.1 && built.jobs < built.tasks, "{} of {}", built.jobs, built.tasks);
    let again = build(&[&tasks, NODES, SPEEDS], plan).unwrap();
    assert_eq!(built.scenario, again.scenario);
}

#[test]
fn what_cannot_be_played_is_told() {
    let refused = |files: &[&str], plan| build(files, plan).unwrap_err().to_string();
    assert!(refused(&[NODES], plan()).contains("no tasks"));
    assert!(
        refused(&[TASKS], within(Window { start: 300.0, slots: 3, ..plan().window }))
            .contains("no task between 300 s and 330 s")
    );
    assert!(refused(&[TASKS], within(Window { slot: -1.0, ..plan().window })).contains("`slot` is -1"));
    assert!(refused(&[TASKS], ReplayPlan { load: f64::NAN, ..plan() }).contains("`load` is NaN"));
    let small = "sn,cpu_milli,memory_mib,gpu,model\nn-0,1000,262144,2,V100\n";
    assert!(refused(&[TASKS, small], plan()).contains("has room for a task of port 1"));
}
