//! Every format and its traps, on small files written for the purpose.

use esdp_trace::{
    Format, Import, Ledger, Machine, Reason, Sink, Source, Speed, Task, TaskInstance, TraceError,
};

/// Events as short texts.
#[derive(Default)]
struct Heard(Vec<String>);

fn amounts(list: &[(&str, f64)]) -> String {
    list.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(" ")
}

impl Sink for Heard {
    fn machine(&mut self, m: &Machine<'_>) {
        self.0.push(format!("machine {} [{}] {}|{}", m.name, amounts(m.capacity), m.domain, m.kind));
    }
    fn task(&mut self, t: &Task<'_>) {
        let (job, name, arrival, count) = (t.job, t.name, t.arrival, t.count);
        self.0.push(format!(
            "task {job}/{name} @{arrival} {:?} x{count} [{}] {}",
            t.duration,
            amounts(t.request),
            t.kind
        ));
    }
    fn instance(&mut self, i: &TaskInstance<'_>) {
        self.0
            .push(format!("instance {}/{} @{} {:?} on {}", i.job, i.task, i.arrival, i.duration, i.machine));
    }
    fn speed(&mut self, s: &Speed<'_>) {
        let (job, server, kind, devices, beside) = (s.job, s.server, s.kind, s.devices, s.beside);
        self.0.push(format!(
            "speed {job} x{devices} on {server} ({kind}) beside [{beside}] @{:?} {:.3}",
            s.at, s.value
        ));
    }
}

/// What a text holds, read in the format that it is sniffed as.
fn read(text: &str, expected: Format) -> (Vec<String>, Ledger) {
    let (mut told, mut ledger) = (Heard::default(), Ledger::new(false));
    let mut import =
        Import::open(text.as_bytes(), None).unwrap_or_else(|error| panic!("{expected}: {error}"));
    assert_eq!(import.format(), expected);
    import.stream(&mut ledger, &mut told).unwrap();
    // Naming the format gives the same.
    let (mut again, mut other) = (Heard::default(), Ledger::new(false));
    Import::open(text.as_bytes(), Some(expected)).unwrap().stream(&mut other, &mut again).unwrap();
    assert_eq!((&told.0, &ledger), (&again.0, &other));
    (told.0, ledger)
}

fn strict(text: &str, format: Format) -> String {
    let error = Import::open(text.as_bytes(), Some(format))
        .unwrap()
        .stream(&mut Ledger::new(true), &mut Heard::default());
    error.unwrap_err().to_string()
}

fn counts(ledger: &Ledger) -> [u64; 4] {
    [ledger.clean, ledger.repaired, ledger.skipped, ledger.aside]
}

const TASKS: &str = "\
M1,2,j_1,1,Terminated,100,160,50,0.2
M1,1,j_2,1,Terminated,90,90,100,0.39
M1,1,j_3,1,Running,100,0,100,0.3
R2,,j_4,1,Waiting,0,0,,
M1,,j_5,1,Terminated,100,110,100,0.3
M1,1,j_6,1,Failed,100,70,100,0.3
M1,1,j_7,1,Terminated,abc,70,100,0.3
M1,1,j_8
";

#[test]
fn alibaba_tasks() {
    let (told, ledger) = read(TASKS, Format::AlibabaTasks);
    assert_eq!(
        told,
        [
            "task j_1/M1 @100 Some(60.0) x2 [cpu=0.5 mem-share=0.2] ",
            "task j_2/M1 @90 Some(0.5) x1 [cpu=1 mem-share=0.39] ",
            "task j_3/M1 @100 None x1 [cpu=1 mem-share=0.3] ",
            "task j_5/M1 @100 Some(10.0) x1 [cpu=1 mem-share=0.3] ",
            "task j_6/M1 @100 None x1 [cpu=1 mem-share=0.3] ",
        ]
    );
    assert_eq!(counts(&ledger), [1, 4, 3, 0]);
    let expected = [
        (Reason::ZeroDuration, 1),
        (Reason::NoEnd, 2),
        (Reason::NegativeDuration, 2),
        (Reason::NoCount, 2),
        (Reason::NoRequest, 1),
        (Reason::NoNumber, 1),
        (Reason::FewColumns, 1),
        (Reason::Unsorted, 1),
    ];
    for (reason, count) in expected {
        assert_eq!(ledger.count(reason), count, "{reason:?}");
    }
    assert_eq!(ledger.reasons().count(), expected.len());
    let (_, first) = ledger.reasons().find(|(reason, _)| *reason == Reason::NoNumber).unwrap();
    assert_eq!(first.first.as_ref().unwrap().to_string(), "line 7, column 23: `abc`");
    assert_eq!(
        strict(TASKS, Format::AlibabaTasks),
        "line 2, column 26: `90`: it ends when it starts, expected an end after the start"
    );
}

#[test]
fn a_header_may_be_there_and_may_change_the_order() {
    let columns = "task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu,plan_mem\n";
    let (plain, _) = read(TASKS, Format::AlibabaTasks);
    let (told, ledger) =
        read(&format!("\u{feff}{columns}{}", TASKS.replace('\n', "\r\n")), Format::AlibabaTasks);
    assert_eq!((told, ledger.rows()), (plain, 8));
    let swapped = "job_name,task_name,status,plan_cpu,plan_mem,task_type,instance_num,end_time,\
                   start_time,extra\n\
                   j_1,M1,Terminated,50,0.2,1,2,160,100,x\n";
    let (told, _) = read(swapped, Format::AlibabaTasks);
    assert_eq!(told, ["task j_1/M1 @100 Some(60.0) x2 [cpu=0.5 mem-share=0.2] "]);
    let missing = "task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu\n";
    let outcome = Import::open(missing.as_bytes(), None)
        .unwrap()
        .stream(&mut Ledger::new(false), &mut Heard::default());
    let error = outcome.unwrap_err();
    assert!(matches!(error, TraceError::Header { missing: "plan_mem", .. }), "{error}");
    assert!(
        error.to_string().starts_with("line 1, column 78: the header has no column `plan_mem`, expected"),
        "{error}"
    );
}

#[test]
fn alibaba_machines_and_instances() {
    let text = "m_1,0,219,17,96,100,USING\nm_1,9,,,96,100,USING\nm_2,0,1,2,,100,IMPORT\n";
    let (told, ledger) = read(text, Format::AlibabaMachines);
    assert_eq!(told, ["machine m_1 [cpu=96 mem-share=100] 17|", "machine m_1 [cpu=96 mem-share=100] |"]);
    assert_eq!((counts(&ledger), ledger.count(Reason::NoDomain)), ([2, 0, 1, 0], 1));
    let text = "ins_1,M1,j_1,1,Terminated,50,60,m_1,1,1,20,30,.1,.2\n\
                ins_2,M1,j_1,1,Terminated,40,30,m_2,1,1,,,,\n\
                ins_3,M1,j_1,1,Waiting,0,0,,1,1,,,,\n";
    let (told, ledger) = read(text, Format::AlibabaInstances);
    assert_eq!(told, ["instance j_1/M1 @50 Some(10.0) on m_1", "instance j_1/M1 @40 None on m_2"]);
    assert_eq!((counts(&ledger), ledger.count(Reason::NoArrival)), ([1, 1, 1, 0], 1));
}

#[test]
fn the_hour_sample() {
    let text =
        "0,j_1,R23_22,268,50.0,0.3,9\n5,j_2,M1,0,100.0,0.2,1\n4,j_3,M1,7,100.0,0.2,\n6,j_4,M1,7,,0.2,1\n";
    let (told, ledger) = read(text, Format::HourTasks);
    assert_eq!(told.len(), 3);
    assert_eq!(told[1], "task j_2/M1 @5 Some(0.5) x1 [cpu=1 mem-share=0.2] ");
    assert_eq!((counts(&ledger), ledger.count(Reason::OutOfOrder)), ([1, 2, 1, 0], 1));
    let text = "0,j_1,J24,ins_1,52,74.0,0.1\n0,j_1,J24,ins_2,0,95.0,0.11\n0,j_1,J24,ins_3,-4,95.0,0.11\n";
    let (told, ledger) = read(text, Format::HourInstances);
    assert_eq!(told[0], "instance j_1/J24 @0 Some(52.0) on ");
    assert_eq!((counts(&ledger), ledger.count(Reason::NegativeDuration)), ([1, 2, 0, 0], 1));
}

#[test]
fn gpu_traces() {
    let (told, _) = read("7399a7,P100,64,512,2\n75c536,CPU,96,512,0\n", Format::Gpu2020Machines);
    assert_eq!(told[0], "machine 7399a7 [cpu=64 mem=512 gpu=2] |P100");
    let text = "sn,cpu_milli,memory_mib,gpu,model\n\
                node-0,32000,262144,0,\nnode-1,64000,524288,2,P100\nnode-2,,1,1,T4\n";
    let (told, ledger) = read(text, Format::Gpu2023Nodes);
    assert_eq!(
        told,
        ["machine node-0 [cpu=32 mem=256 gpu=0] |", "machine node-1 [cpu=64 mem=512 gpu=2] |P100"]
    );
    assert_eq!(counts(&ledger), [2, 0, 1, 0]);
    let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
                creation_time,deletion_time,scheduled_time\n\
                pod-0,12000,16384,1,460,,LS,Running,0,100,0\n\
                pod-1,6000,12288,2,1000,V100M16|V100M32,LS,Pending,10,10,\n";
    let (told, ledger) = read(text, Format::Gpu2023Pods);
    assert_eq!(told[0], "task pod-0/ @0 Some(100.0) x1 [cpu=12 mem=16 gpu=0.46] ");
    assert_eq!(told[1], "task pod-1/ @10 Some(0.5) x1 [cpu=6 mem=12 gpu=2] V100M16|V100M32");
    assert_eq!(counts(&ledger), [1, 1, 0, 0]);
    let (told, _) =
        read(",worker,gpu,time,batch_time_norm\n0,0,25,1,500\n1,1,25,1,400\n", Format::Gpu2020Minibatch);
    assert_eq!(told[1], "speed mini-batch x25 on 1 (worker) beside [] @Some(1.0) 2.500");
}

#[test]
fn standard_workload_format() {
    let text = "; Version: 2.2\n; MaxNodes: 64\n; MaxProcs: 128\n;\n\
        1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n\
        2 1460 -1 0 32 -1 2048 64 -1 -1 -1 1 1 -1 -1 3 -1 -1\n\
        3 1400 -1 -1 1 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n\
        4 1500 -1 9 -1 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n\
        5 1500 -1 9\n";
    let (told, ledger) = read(text, Format::Swf);
    assert_eq!(
        told,
        [
            "machine system [cpu=128] |",
            "task 1/ @0 Some(1451.0) x1 [cpu=128] ",
            "task 2/ @1460 Some(0.5) x1 [cpu=64 mem=0.125] 3",
            "task 3/ @1400 None x1 [cpu=1] ",
        ]
    );
    assert_eq!(counts(&ledger), [1, 2, 2, 0]);
    assert_eq!((ledger.count(Reason::OutOfOrder), ledger.count(Reason::NoEnd)), (1, 1));
    assert_eq!(read("; only a comment\n;\n", Format::Swf).1.rows(), 0);
}

#[test]
fn batsim() {
    let text = r#"{"nb_res": 128, "jobs": [
        {"id": 0, "profile": "a", "res": 8, "subtime": 57.5, "walltime": 300},
        {"id": "x!1", "profile": "b", "res": 4, "subtime": 50},
        {"id": 2, "profile": "nowhere", "res": 1, "subtime": 60},
        {"id": 3, "profile": "a", "subtime": 60}],
        "profiles": {"a": {"type": "delay", "delay": 12.5},
                     "b": {"type": "parallel", "cpu": [1e9], "com": []}}}"#;
    let (told, ledger) = read(text, Format::Batsim);
    assert_eq!(told[..2], ["machine platform [host=128] |", "task 0/ @57.5 Some(12.5) x1 [host=8] "]);
    assert_eq!((told.len(), counts(&ledger)), (4, [1, 2, 1, 0]));
    assert_eq!((ledger.count(Reason::NoProfile), ledger.count(Reason::OutOfOrder)), (2, 1));
    let refused = |text: &str| {
        let outcome = Import::open(text.as_bytes(), None)
            .unwrap()
            .stream(&mut Ledger::new(false), &mut Heard::default());
        outcome.unwrap_err().to_string()
    };
    assert_eq!(refused("{\"jobs\": [\n{]"), "line 2, column 2: key must be a string");
    assert!(refused("{\"nb_res\": 1}").contains("the key `jobs` is missing"));
    assert!(refused("{\"jobs\": 7}").contains("invalid type: integer `7`, expected a list of jobs"));
    assert!(refused(&format!("{{\"x\": {}", "[".repeat(100_000))).contains("EOF while parsing"));
}

#[test]
fn batsim_after_a_byte_order_mark() {
    let text = "\u{feff}{\"nb_res\": 4, \"jobs\": [{\"id\": 1, \"profile\": \"a\", \"res\": 2, \"subtime\": \
                3}], \
                \"profiles\": {\"a\": {\"type\": \"delay\", \"delay\": 5}}}";
    let (events, ledger) = read(text, Format::Batsim);
    assert_eq!((events.len(), counts(&ledger)[0]), (2, 1), "{events:?}");
}

#[test]
fn slurm_accounting() {
    let text = "JobID|Submit|Elapsed|State|ReqTRES|AllocTRES|Partition\n\
        100|2024-01-02T03:04:05|1-02:03:04|COMPLETED|\
        billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=1||gpu\n\
        100.batch|2024-01-02T03:04:05|1-02:03:04|COMPLETED||cpu=4,mem=16G,node=1|\n\
        100.0|2024-01-02T03:04:05|00:00:04|COMPLETED||cpu=4|\n\
        101_7|2024-01-02T03:04:06|00:00:00|CANCELLED||cpu=2,mem=512M|cpu\n\
        102|Unknown|00:01:00|PENDING|cpu=1||cpu\n\
        103|2024-01-02T03:04:06|00:01:00|FAILED|||cpu\n\
        104|2024-01-02T03:04:06|INVALID|FAILED|cpu=1||cpu\n";
    let (told, ledger) = read(text, Format::Sacct);
    assert_eq!(told, ["task 100/ @1704164645 Some(93784.0) x1 [cpu=4 mem=16 gpu=2] gpu",]);
    assert_eq!(
        (counts(&ledger), ledger.count(Reason::JobStep), ledger.count(Reason::NeverRan)),
        ([1, 0, 2, 4], 2, 2)
    );
    let text = "JobID|Submit|Start|End|ReqCPUS\n\
                1|2024-01-02T00:00:00|2024-01-02T00:00:05|2024-01-02T00:01:05|8\n\
                2|2024-01-02T00:00:01|2024-01-02T00:00:05|Unknown|8\n";
    let (told, ledger) = read(text, Format::Sacct);
    assert_eq!(told[0], "task 1/ @1704153600 Some(60.0) x1 [cpu=8 mem=0 gpu=0] ");
    assert_eq!((counts(&ledger), ledger.count(Reason::NoEnd)), ([1, 1, 0, 0], 1));
}

#[test]
fn slurm_states_and_requests() {
    let text = "JobID|Submit|Start|End|Elapsed|State|ReqTRES|AllocTRES\n\
        1|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T01:00:10|01:00:00|COMPLETED|\
        cpu=4,mem=16G|cpu=4,mem=16G\n\
        2|2024-01-01T00:00:01|Unknown|Unknown|00:00:00|PENDING|cpu=64,mem=256G,node=4,gres/gpu=8|\n\
        3|2024-01-01T00:00:02|2024-01-01T00:00:10|Unknown|00:00:30|RUNNING|cpu=8,mem=8G|cpu=8,mem=8G\n\
        4|2024-01-01T00:00:03|None|2024-01-01T00:05:00|00:00:00|CANCELLED by 0|cpu=1,mem=1G|\n\
        5|2024-01-01T00:00:04|2024-01-01T00:00:10|2024-01-01T00:10:10|00:10:00|TIMEOUT|\
        cpu=8,gres/gpu:a100=4,gres/gpu:v100=1|\n\
        6|2024-01-01T00:00:05|2024-01-01T00:00:10|2024-01-01T00:10:10|00:10:00|COMPLETED|\
        cpu=8|billing=8,cpu=9,gres/gpu=2,mem=2G\n\
        7_[1-1000]|2024-01-01T00:00:06|Unknown|Unknown|00:00:00|PENDING|cpu=1,mem=1G|\n\
        8|2024-02-31T00:00:00|2024-01-01T00:00:10|2024-01-01T00:10:10|00:10:00|COMPLETED|cpu=8|cpu=8\n\
        9|2024-01-01T00:00:07|2024-01-01T00:00:10|2024-01-01T00:00:20|00:00:10|CANCELLED by 7|cpu=1|\n";
    let (told, ledger) = read(text, Format::Sacct);
    assert_eq!(
        told,
        [
            "task 1/ @1704067200 Some(3600.0) x1 [cpu=4 mem=16 gpu=0] ",
            "task 3/ @1704067202 None x1 [cpu=8 mem=8 gpu=0] ",
            "task 5/ @1704067204 Some(600.0) x1 [cpu=8 mem=0 gpu=5] ",
            "task 6/ @1704067205 Some(600.0) x1 [cpu=8 mem=2 gpu=2] ",
            "task 9/ @1704067207 Some(10.0) x1 [cpu=1 mem=0 gpu=0] ",
        ]
    );
    assert_eq!(counts(&ledger), [4, 1, 1, 3]);
    let count = |reason| ledger.count(reason);
    assert_eq!((count(Reason::NeverRan), count(Reason::NotCompleted), count(Reason::NoArrival)), (3, 2, 1));
}

#[test]
fn published_layouts_with_fewer_columns() {
    let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\npod-0,12000,16384,1,460\n";
    let (told, ledger) = read(text, Format::Gpu2023Pods);
    assert_eq!(told, ["task pod-0/ @0 None x1 [cpu=12 mem=16 gpu=0.46] "]);
    assert_eq!((counts(&ledger), ledger.count(Reason::NoTimes)), ([0, 1, 0, 0], 1));
    let text = "value,runtime,starttime,VM_id\n440.5,30,2023-05-29 06:00:46.920,3\n";
    let (told, _) = read(text, Format::AzureNoise);
    assert_eq!(told, ["speed benchmark x1 on vm/3 (vm) beside [] @Some(1685340046.92) 440.500"]);
    let text = "timestamp,duration,num_gpus,gpu_time,cluster\n100,60,8,480,6214e9\n2017-10-07 \
                01:12:09,0,1,0,6214e9\n\
                200,60,0,0,ee9e8c\n";
    let (told, ledger) = read(text, Format::Philly);
    assert_eq!(told[0], "task 1/ @100 Some(60.0) x1 [gpu=8] 6214e9");
    assert_eq!(told[1], "task 2/ @1507338729 Some(0.5) x1 [gpu=1] 6214e9");
    assert_eq!((counts(&ledger), ledger.count(Reason::NoRequest)), ([1, 1, 1, 0], 1));
}

#[test]
fn the_processors_of_a_header_count_and_not_its_nodes() {
    let job = "1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1\n";
    for header in ["; MaxProcs: 1024\n; MaxNodes: 64\n", "; MaxNodes: 64\n; MaxProcs: 1024\n"] {
        assert_eq!(read(&format!("{header}{job}"), Format::Swf).0[0], "machine system [cpu=1024] |");
    }
    assert_eq!(read(&format!("; MaxNodes: 64\n{job}"), Format::Swf).0[0], "machine system [cpu=64] |");
}

#[test]
fn speeds() {
    let text = "worker,job,sf,thr\nk80,ResNet-18 (batch size 16),1,4.795\nv100,LM,2,0.0\n";
    let (told, _) = read(text, Format::GavelIsolated);
    assert_eq!(told[0], "speed ResNet-18 (batch size 16) x1 on k80 (k80) beside [] @None 4.795");
    assert_eq!(told[1], "speed LM x2 on v100 (v100) beside [] @None 0.000");
    let (told, _) = read("worker,job1,sf1,job2,sf2,t1,t2\nk80,A,1,B,1,2.5,3.0\n", Format::GavelColocated);
    assert_eq!(
        told,
        ["speed A x1 on k80 (k80) beside [B] @None 2.500", "speed B x1 on k80 (k80) beside [A] @None 3.000"]
    );
    let text = "test,sku,value,runtime,starttime,VM_id\nredis,B8ms,440.5,30,2023-05-29 06:00:46.920,0\n\
                redis,B8ms,-1,30,2023-05-29 06:00:46.920,0\nredis,B8ms,1,30,yesterday,0\n";
    let (told, ledger) = read(text, Format::AzureNoise);
    assert_eq!(told, ["speed redis x1 on B8ms/0 (B8ms) beside [] @Some(1685340046.92) 440.500"]);
    assert_eq!((counts(&ledger), ledger.count(Reason::NoArrival)), ([1, 0, 2, 0], 1));
    let text = "job,server,speed\n\"train, large\",a100,2.5\n\"say \"\"x\"\"\",a100,1\nbert,cpu,0\n";
    let (told, ledger) = read(text, Format::SpeedTable);
    assert_eq!(told, ["speed train, large x1 on a100 (a100) beside [] @None 2.500"]);
    assert_eq!((counts(&ledger), ledger.count(Reason::NoText)), ([1, 0, 2, 0], 1));
}

#[test]
fn what_is_no_trace_is_refused() {
    let refused = |text: &[u8]| match Import::open(text, None) {
        Ok(import) => panic!("taken for {}", import.format()),
        Err(error) => error.to_string(),
    };
    assert_eq!(refused(b""), "line 1, column 1: it is empty, expected a trace");
    assert_eq!(refused(b"\n \n"), "line 1, column 1: it is empty, expected a trace");
    let error = refused(b"Dear all,\nplease find attached\n");
    assert!(error.starts_with(
        "line 1, column 1: the format is not recognised (it starts with `Dear all,`), name one of: alibaba-"
    ));
    // Columns that nobody knows are not guessed by their number.
    for header in [
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,374,44\n",
        "cpu_util_percent,mem_util_percent,net_in,net_out,disk_io_percent\n35.6,87.1,40.0,33.0,5.1\n",
        "model,kind,placement,local_bsz,step_time,sync_time,num_nodes,num_replicas\nbert,a,1,4,0.1,0.0,1,1\n",
        "job,host,speed of it\nbert,n1,3\n",
    ] {
        let error = refused(header.as_bytes());
        let columns = header.lines().next().unwrap();
        assert!(error.starts_with("line 1, column 1: no known format has the columns `"), "{error}");
        assert!(error.contains(&columns[..40.min(columns.len())]), "{error}");
    }
    assert!(refused(b"1.5,2,3,4,5\n2.5,3,4,5,6\n").contains("not recognised"), "five numbers are nothing");
    assert_eq!(
        refused(
            b"       JobID    JobName  Partition    Account\n------------ ---------- ---------- ----------\n"
        ),
        "line 1, column 1: this looks like `sacct` without --parsable2, which cuts fields off: add -P"
    );
    // The usage of machines has nine columns too, and is no list of tasks.
    assert!(refused(b"m_1932,386640,41,92,,,43.04,33.08,5\n").contains("not recognised"));
}

#[test]
fn a_long_line_is_skipped_and_the_next_one_read() {
    let text = format!(
        "M1,2,j_1,1,Terminated,100,160,50,0.2\n{}\nM1,1,j_2,1,Terminated,100,160,50,0.2\n",
        "x".repeat(70_000)
    );
    let (told, ledger) = read(&text, Format::AlibabaTasks);
    assert_eq!((told.len(), ledger.count(Reason::LongLine), ledger.rows()), (2, 1, 3));
}
