//! Arbitrary bytes, mutated files and truncations: never a panic, and errors say where.

use esdp_trace::generate::{Generator, TaskWriter};
use esdp_trace::hostile::hold;
use esdp_trace::{FORMATS, Format, Ledger, Source};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::io::Write;

/// A valid file of every format.
fn valid(format: Format) -> Vec<u8> {
    let text = match format {
        Format::AlibabaMachines => "m_1,0,219,17,96,100,USING\nm_2,9,,,96,100,USING\n",
        Format::AlibabaTasks => "M1,2,j_1,1,Terminated,100,160,50,0.2\nM1,1,j_2,1,Running,100,0,100,0.3\n",
        Format::AlibabaInstances => "ins_1,M1,j_1,1,Terminated,50,60,m_1,1,1,20,30,.1,.2\n",
        Format::HourTasks => {
            let mut bytes = Vec::new();
            let mut writer = TaskWriter::new(&mut bytes);
            Generator { seconds: 20, ..Generator::new(1) }
                .stream(&mut Ledger::new(true), &mut writer)
                .unwrap();
            writer.finish().unwrap();
            return bytes;
        }
        Format::HourInstances => "0,j_1,J24,ins_1,52,74.0,0.1\n0,j_1,J24,ins_2,0,95.0,0.11\n",
        Format::Gpu2020Machines => "7399a7,P100,64,512,2\n75c536,CPU,96,512,0\n",
        Format::Gpu2020Minibatch => ",worker,gpu,time,batch_time_norm\n0,0,25,1,500\n1,1,25,1,400\n",
        Format::Gpu2023Nodes => "sn,cpu_milli,memory_mib,gpu,model\nnode-0,32000,262144,0,\n",
        Format::Gpu2023Pods => {
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
             deletion_time,scheduled_time\n\
             pod-0,12000,16384,1,460,,LS,Running,0,100,0\npod-1,6000,12288,2,1000,T4|P100,LS,Pending,10,10,\n"
        }
        Format::Swf => "; MaxProcs: 128\n1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n",
        Format::Batsim => {
            "{\"nb_res\": 8, \"jobs\": [{\"id\": 0, \"profile\": \"a\", \"res\": 8, \"subtime\": 57.5}], \
             \"profiles\": {\"a\": {\"type\": \"delay\", \"delay\": 12.5}}}"
        }
        Format::Sacct => {
            "JobID|Submit|Elapsed|ReqTRES\n\
             1|2024-01-02T03:04:05|1-02:03:04|cpu=4,mem=16G,gres/gpu=2\n1.batch|||\n"
        }
        Format::Sinfo => {
            "NODELIST|CPUS|MEMORY|GRES|STATE\n\
             gpu[01-02]|64|515000|gpu:a100:4(S:0-1)|idle\nc1|8|9|(null)|down*\n"
        }
        Format::Scontrol => {
            "NodeName=n1 Arch=x86_64\n   CPUTot=64 Gres=gpu:v100:2\n   RealMemory=257000 State=IDLE\n\n"
        }
        Format::Kubernetes => {
            "{\"apiVersion\": \"v1\", \"items\": [{\"metadata\": {\"name\": \"n1\", \"labels\": {\"a\": \
             \"b\"}}, \"spec\": {}, \
             \"status\": {\"allocatable\": {\"cpu\": \"63900m\", \"memory\": \"263856392Ki\", \
             \"nvidia.com/gpu\": \"8\"}}}]}"
        }
        Format::NodeTable => "name,cpu,mem,gpu,kind,labels\na,64,256,4,A100,fast\nb,64,256,,,\n",
        Format::GavelIsolated => "worker,job,sf,thr\nk80,ResNet-18 (batch size 16),1,4.795\n",
        Format::GavelColocated => "worker,job1,sf1,job2,sf2,t1,t2\nk80,A,1,B,1,2.5,3.0\n",
        Format::AzureNoise => {
            "test,sku,value,runtime,starttime,VM_id\nredis,B8ms,440.5,30,2023-05-29 06:00:46.920,0\n"
        }
        Format::SpeedTable => "job,server,speed\nbert,a100,2.5\n",
        Format::Philly => "timestamp,duration,num_gpus,gpu_time,cluster\n100,60,8,480,6214e9\n",
    };
    text.as_bytes().to_vec()
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// Replaces, removes or doubles bytes at some places.
fn mutate(mut bytes: Vec<u8>, changes: &[(u16, u8, u8)]) -> Vec<u8> {
    for &(place, kind, byte) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = place as usize % bytes.len();
        match kind % 4 {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, byte),
            _ => {
                // What breaks parsers: separators, quotes, signs, huge numbers.
                const NASTY: [&[u8]; 10] = [
                    b",",
                    b"\"",
                    b"-",
                    b"\n",
                    b"|",
                    b"99999999999999999999",
                    b"1e308",
                    b"nan",
                    b"\0",
                    b"\xff",
                ];
                let nasty = NASTY[byte as usize % NASTY.len()];
                bytes.splice(at..at, nasty.iter().copied());
            }
        }
    }
    bytes
}

fn any_format() -> impl Strategy<Value = Option<Format>> {
    prop_oneof![Just(None), (0..FORMATS.len()).prop_map(|at| Some(FORMATS[at]))]
}

proptest! {
    // What failed once is tried first ever after: commit the file that a failure leaves beside this one.
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn arbitrary_bytes(format in any_format(), bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        hold(format, &bytes);
    }

    #[test]
    fn arbitrary_rows(
        format in any_format(),
        text in "([a-z0-9.,|;:{}\"\\-]{0,12}[,| ]){0,40}\n?([0-9,.\\-]{0,30}\n){0,6}",
    ) {
        hold(format, text.as_bytes());
    }

    #[test]
    fn mutated_files(
        at in 0..FORMATS.len(),
        told in any::<bool>(),
        changes in proptest::collection::vec((any::<u16>(), any::<u8>(), any::<u8>()), 1..12),
    ) {
        let bytes = mutate(valid(FORMATS[at]), &changes);
        hold(told.then_some(FORMATS[at]), &bytes);
        hold(told.then_some(FORMATS[at]), &mutate(pack(&bytes), &changes[1..]));
    }

    #[test]
    fn numbers_of_every_size(at in 0..FORMATS.len(), value in prop_oneof![
        any::<f64>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
    ], which in any::<u16>()) {
        // One run of digits becomes another number.
        let text = String::from_utf8(valid(FORMATS[at])).unwrap();
        let digits = text.char_indices().filter(|(_, c)| c.is_ascii_digit());
        let starts: Vec<usize> = digits.map(|(at, _)| at).collect();
        let start = starts[which as usize % starts.len()];
        let length = text[start..].find(|c: char| !c.is_ascii_digit());
        let end = length.map_or(text.len(), |length| start + length);
        hold(Some(FORMATS[at]), format!("{}{value}{}", &text[..start], &text[end..]).as_bytes());
    }
}

#[test]
fn every_truncation_of_every_format() {
    for format in FORMATS {
        let bytes = valid(format);
        // The generated one is long: every byte of its start, then some.
        for end in (0..bytes.len()).filter(|end| *end < 300 || end % 97 == 0) {
            hold(Some(format), &bytes[..end]);
            hold(None, &bytes[..end]);
        }
        let packed = pack(&bytes);
        for end in (0..packed.len()).filter(|end| *end < 300 || end % 97 == 0) {
            hold(Some(format), &packed[..end]);
        }
        hold(None, &packed);
    }
}
