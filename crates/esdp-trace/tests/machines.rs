//! Machines as clusters tell them: `sinfo`, `scontrol show node`, `kubectl get nodes -o json`, a plain table.

use esdp_trace::{Format, Import, Ledger, Machine, Reason, Sink, Source};

#[derive(Default)]
struct Told(Vec<String>);

impl Sink for Told {
    fn machine(&mut self, m: &Machine<'_>) {
        let amounts: Vec<String> =
            m.capacity.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
        self.0.push(format!("{}: {} {}|{}", m.name, amounts.join(", "), m.domain, m.kind));
    }
}

fn read(text: &str, expected: Format) -> (Vec<String>, Ledger) {
    let (mut told, mut ledger) = (Told::default(), Ledger::new(false));
    let mut import =
        Import::open(text.as_bytes(), None).unwrap_or_else(|error| panic!("{expected}: {error}"));
    assert_eq!(import.format(), expected);
    import.stream(&mut ledger, &mut told).unwrap();
    (told.0, ledger)
}

#[test]
fn sinfo_with_bars_and_with_blanks() {
    let text = "NODELIST|CPUS|MEMORY|GRES|STATE\n\
                gpu[01-02]|64|524288|gpu:a100:4(S:0-1)|mixed\n\
                cpu1|32|131072|(null)|idle\ncpu2|32|131072|(null)|drained*\ncpu3|many|1|(null)|idle\n";
    let (told, ledger) = read(text, Format::Sinfo);
    assert_eq!(
        told,
        [
            "gpu01: cpu 64, mem 512, gpu 4 |a100",
            "gpu02: cpu 64, mem 512, gpu 4 |a100",
            "cpu1: cpu 32, mem 128, gpu 0 |"
        ]
    );
    assert_eq!((ledger.count(Reason::OutOfService), ledger.count(Reason::NoCapacity)), (1, 1));
    // `sinfo -Nl`: a date above the header, blanks between the columns, no generic resources.
    let long = "Tue Nov 17 10:00:00 2026\n\
                NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON\n\
                c1             1    debug*        idle 8       2:2:2  16384        0      1   (null) none\n";
    assert_eq!(read(long, Format::Sinfo).0, ["c1: cpu 8, mem 16 |"]);
}

#[test]
fn scontrol_in_blocks_and_in_lines() {
    let blocks = "NodeName=gpu1 Arch=x86_64 CoresPerSocket=16\n   CPUAlloc=3 CPUTot=64 CPULoad=1.0\n   \
                  Gres=gpu:v100:2\n   \
                  RealMemory=262144 AllocMem=0\n   State=MIXED ThreadsPerCore=2\n\n\
                  NodeName=c1 CPUTot=8\n   Gres=(null)\n   RealMemory=16384\n   State=DOWN*\n\n\
                  NodeName=c2 CPUTot=8 Gres=(null) RealMemory=16384 State=IDLE\n";
    let (told, ledger) = read(blocks, Format::Scontrol);
    assert_eq!(told, ["gpu1: cpu 64, mem 256, gpu 2 |v100", "c2: cpu 8, mem 16, gpu 0 |"]);
    assert_eq!((ledger.rows(), ledger.count(Reason::OutOfService)), (3, 1));
}

#[test]
fn kubernetes_hands_out_what_is_allocatable() {
    let text = r#"{ "apiVersion": "v1", "items": [
        {"metadata": {"name": "n1", "labels": {"nvidia.com/gpu.product": "NVIDIA-A100",
                                                "topology.kubernetes.io/zone": "z1"}},
         "status": {"allocatable": {"cpu": "63500m", "memory": "1073741824Ki",
                                    "nvidia.com/gpu": "8", "pods": "110"}}},
        {"metadata": {"name": "n2", "labels": {"node.kubernetes.io/instance-type": "m5.large"}},
         "status": {"allocatable": {"cpu": "2", "memory": "8Gi"}}},
        {"metadata": {"name": "n3"}, "spec": {"unschedulable": true},
         "status": {"allocatable": {"cpu": "2", "memory": "8Gi"}}},
        {"metadata": {"name": "n4"}, "status": {"allocatable": {"memory": "8Gi"}}},
        {"metadata": {"name": "n5"}, "status": {"conditions": []}}, {"metadata": {"name": "n6"}}
    ], "kind": "List" }"#;
    let (told, ledger) = read(text, Format::Kubernetes);
    assert_eq!(told, ["n1: cpu 63.5, mem 1024, gpu 8 z1|NVIDIA-A100", "n2: cpu 2, mem 8, gpu 0 |m5.large"]);
    assert_eq!((ledger.count(Reason::OutOfService), ledger.count(Reason::NoCapacity)), (1, 3));
}

#[test]
fn a_plain_table_has_what_it_has() {
    let (told, _) =
        read("name,kind,cpu,mem,gpu,labels\na,A100,64,256,4,\nb,,32,128,0,old\n", Format::NodeTable);
    assert_eq!(told, ["a: cpu 64, mem 256, gpu 4 |A100", "b: cpu 32, mem 128, gpu 0 |old"]);
    // Without a column nothing is known of it, which is not the same as none.
    assert_eq!(read("name,cpu\na,64\n", Format::NodeTable).0, ["a: cpu 64 |"]);
}
