//! Readers and the thread that decides: while it stands still, everything that can be read is read all the
//! same, so nothing of it is made there.

use esdp::policy::PolicySpec;
use esdp_serve::actor::Actor;
use esdp_serve::engine::{Command, Directions, Engine, EngineSettings, Handle, JournalReplayError};
use esdp_serve::feed::Feed;
use esdp_serve::http::{self, App, Door, Hosts, Limits, LongTexts, RequestIds, Rules};
use esdp_serve::metrics::Metrics;
use esdp_serve::settings::Access;
use esdp_serve::storage::{
    AuditPage, AuditQuery, Batch, Frame, SlotRow, SnapshotInfo, SnapshotRow, Sqlite, Storage, StorageError,
};
use esdp_serve::tokens::Tokens;
use esdp_serve::wire::{ClusterWire, Code, OneOrMany, SlotWire};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::watch;

fn caller() -> Actor {
    Actor::driver("test")
}

const CLUSTER: &str = r#"{"devices":["gpu"],"servers":[{"name":"a","capacity":{"gpu":4}},
    {"name":"b","capacity":{"gpu":4}}],"ports":[{"name":"train","request":{"gpu":1}}]}"#;

/// What a disk does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Disk {
    Works,
    /// A commit does not return.
    Stands,
    /// A commit is standing now.
    Standing,
    /// Nothing is written, nothing of the journal is read.
    Broken,
}

/// A storage on such a disk.
struct OnDisk {
    under: Sqlite,
    disk: Arc<(Mutex<Disk>, Condvar)>,
}

impl OnDisk {
    fn is_broken(&self) -> bool {
        *self.disk.0.lock().unwrap() == Disk::Broken
    }
}

impl Storage for OnDisk {
    fn commit(&mut self, batch: &Batch) -> Result<(), StorageError> {
        let mut disk = self.disk.0.lock().unwrap();
        if *disk == Disk::Broken {
            return Err(StorageError::Unavailable("no room".to_owned()));
        }
        if *disk == Disk::Stands {
            *disk = Disk::Standing;
            self.disk.1.notify_all();
            disk = self.disk.1.wait_while(disk, |disk| *disk == Disk::Standing).unwrap();
        }
        drop(disk);
        self.under.commit(batch)
    }

    fn frames(
        &mut self,
        from: u64,
        sink: &mut dyn FnMut(Frame) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        match self.is_broken() {
            true => Err(StorageError::Damaged("a hole".to_owned())),
            false => self.under.frames(from, sink),
        }
    }

    fn probe(&mut self) -> Result<(), StorageError> {
        self.under.probe()
    }

    fn last_sequence(&mut self) -> Result<u64, StorageError> {
        self.under.last_sequence()
    }

    fn snapshot(&mut self, at_most: u64) -> Result<Option<SnapshotRow>, StorageError> {
        self.under.snapshot(at_most)
    }

    fn save_snapshot(&mut self, snapshot: &SnapshotRow) -> Result<(), StorageError> {
        self.under.save_snapshot(snapshot)
    }

    fn check(&mut self) -> Result<Vec<String>, StorageError> {
        self.under.check()
    }

    fn checkpoint(&mut self) -> Result<(), StorageError> {
        self.under.checkpoint()
    }

    fn first_sequence(&mut self) -> Result<Option<u64>, StorageError> {
        self.under.first_sequence()
    }

    fn snapshots(&mut self) -> Result<Vec<SnapshotInfo>, StorageError> {
        self.under.snapshots()
    }

    fn drop_snapshot(&mut self, sequence: u64) -> Result<(), StorageError> {
        self.under.drop_snapshot(sequence)
    }

    fn slot_by_key(&mut self, key: &str) -> Result<Option<SlotRow>, StorageError> {
        self.under.slot_by_key(key)
    }

    fn slot(&mut self, slot: u64) -> Result<Option<SlotRow>, StorageError> {
        self.under.slot(slot)
    }

    fn last_slots(&mut self, limit: u32) -> Result<Vec<SlotRow>, StorageError> {
        self.under.last_slots(limit)
    }

    fn compact(&mut self, keep_from: u64, most: u32) -> Result<bool, StorageError> {
        self.under.compact(keep_from, most)
    }

    fn audit(&mut self, query: &AuditQuery) -> Result<AuditPage, StorageError> {
        self.under.audit(query)
    }

    fn note(&mut self, name: &str) -> Result<Option<String>, StorageError> {
        self.under.note(name)
    }

    fn save_note(&mut self, name: &str, value: &str) -> Result<(), StorageError> {
        self.under.save_note(name, value)
    }

    fn reader(&self) -> Result<Box<dyn Storage>, StorageError> {
        self.under.reader()
    }

    fn size(&mut self) -> Result<u64, StorageError> {
        self.under.size()
    }
}

/// A service on such a disk.
struct Bench {
    engine: Handle,
    thread: JoinHandle<Result<(), JournalReplayError>>,
    metrics: Arc<Metrics>,
    feed: Arc<Feed>,
    disk: Arc<(Mutex<Disk>, Condvar)>,
    runtime: Runtime,
}

impl Bench {
    fn new(data: &Path) -> Self {
        let disk = Arc::new((Mutex::new(Disk::Works), Condvar::new()));
        let storage = OnDisk { under: Sqlite::open(data).unwrap(), disk: Arc::clone(&disk) };
        let policy = esdp_serve::policy_maker(&"esdp".parse::<PolicySpec>().unwrap(), 0).unwrap();
        let settings = EngineSettings {
            directions: Directions::default(),
            snapshot_events: 1000,
            kept_slots: 100,
            accept_divergence: false,
        };
        let (metrics, feed) = (Arc::new(Metrics::default()), Arc::new(Feed::default()));
        let (engine, thread) =
            Engine::start(Box::new(storage), policy, settings, Arc::clone(&metrics), Arc::clone(&feed))
                .unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build();
        let bench = Self { engine, thread, metrics, feed, disk, runtime: runtime.unwrap() };
        let cluster: ClusterWire = serde_json::from_str(CLUSTER).unwrap();
        bench.ask(Command::Cluster(cluster.describe().unwrap())).unwrap();
        bench
    }

    fn ask(&self, command: Command) -> esdp_serve::engine::Reply {
        self.runtime.block_on(self.engine.ask(caller(), command))
    }

    fn set(&self, disk: Disk) {
        *self.disk.0.lock().unwrap() = disk;
        self.disk.1.notify_all();
    }

    /// Waits until a commit stands.
    fn standing(&self) {
        let disk = self.disk.0.lock().unwrap();
        let (disk, _) = self
            .disk
            .1
            .wait_timeout_while(disk, Duration::from_secs(60), |disk| *disk != Disk::Standing)
            .unwrap();
        assert_eq!(*disk, Disk::Standing, "no commit has come");
    }

    /// Serves over HTTP.
    fn serve(&self, data: &Path) -> (SocketAddr, watch::Sender<bool>) {
        let (stop, stopped) = watch::channel(false);
        let app = App {
            engine: self.engine.clone(),
            feed: Arc::clone(&self.feed),
            texts: LongTexts::default(),
            metrics: Arc::clone(&self.metrics),
            tokens: Tokens::new(data),
            access: Access::Open,
            local: true,
            data: data.to_owned(),
            rules: RwLock::new(Rules {
                hosts: Hosts { local: true, allowed: Vec::new() },
                ..Rules::default()
            }),
            requests: RequestIds::default(),
            limits: Limits::default(),
            stop: stopped.clone(),
            started: Instant::now(),
            version: "test".to_owned(),
        };
        let listener = self.runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        self.runtime.spawn(http::serve(vec![Door::Tcp(listener)], Arc::new(app), stopped));
        (address, stop)
    }
}

fn slot(key: &str, job: &str) -> Command {
    let text = format!(r#"{{"key":"{key}","jobs":[{{"id":"{job}","port":"train"}}]}}"#);
    let slot: SlotWire = serde_json::from_str(&text).unwrap();
    Command::Slots(OneOrMany { list: vec![slot], single: true })
}

/// The status of an answer, and its body.
fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// All paths that are read, but for news, which never end, and the one that asks whether the engine answers.
fn paths() -> Vec<String> {
    let document = http::document();
    let paths = document["paths"].as_object().unwrap().iter();
    let read = paths.filter(|(path, methods)| {
        methods.get("get").is_some() && !["/v1/events", "/readyz"].contains(&path.as_str())
    });
    read.map(|(path, _)| path.replace("{slot}", "1").replace("{job}", "j1")).collect()
}

/// What an answer says of the state, without what changes by itself.
fn of_state(path: &str, body: &str) -> String {
    match path {
        "/v1/status" => {
            let mut status: serde_json::Value = serde_json::from_str(body).unwrap();
            for key in ["uptime_seconds", "memory_bytes", "database_bytes"] {
                status[key] = 0.into();
            }
            status.to_string()
        }
        "/metrics" => {
            let own = ["process_", "esdp_http_", "esdp_database_", "esdp_journal_queue"];
            body.lines().filter(|line| !own.iter().any(|own| line.starts_with(own))).collect()
        }
        _ => body.to_owned(),
    }
}

#[test]
fn what_can_be_read_is_read_while_the_engine_stands_still() {
    let data = tempfile::tempdir().unwrap();
    let bench = Bench::new(data.path());
    bench.ask(slot("first", "j1")).unwrap();
    let (address, stop) = bench.serve(data.path());
    let read = || -> Vec<String> {
        let one = |path: String| {
            let (status, body) = send(address, "GET", &path, "");
            assert_eq!(status, 200, "{path}: {body}");
            of_state(&path, &body)
        };
        paths().into_iter().map(one).collect()
    };
    assert!(paths().len() > 10, "{:?}", paths());
    let before = read();
    bench.set(Disk::Stands);
    let answer = {
        let engine = bench.engine.clone();
        bench.runtime.spawn(async move { engine.ask(caller(), slot("second", "j2")).await })
    };
    bench.standing();
    for (path, (now, before)) in paths().iter().zip(read().into_iter().zip(&before)) {
        assert_eq!(now, *before, "{path}: nothing is shown before it is kept");
    }
    let scores = send(address, "POST", "/v1/prioritize", r#"{"NodeNames":["a"]}"#);
    assert_eq!(scores, (200, r#"[{"Host":"a","Score":5}]"#.to_owned()));
    let preview = CLUSTER.replace("\"b\"", "\"c\"");
    let (status, body) = send(address, "PUT", "/v1/cluster?dry_run=true", &preview);
    let removed = r#""removed":{"devices":[],"servers":["b"],"ports":[]}"#;
    assert!(status == 200 && body.contains(removed), "{status} {body}");
    assert_eq!(send(address, "GET", "/readyz", "").0, 503, "only the engine can say that it is ready");
    assert!(!answer.is_finished(), "all of this came first");
    bench.set(Disk::Works);
    bench.runtime.block_on(answer).unwrap().unwrap();
    let (_, status) = send(address, "GET", "/v1/status", "");
    assert!(status.contains("\"slot\":2,"), "what was answered is shown: {status}");
    assert_eq!(send(address, "GET", "/v1/slots/2", "").0, 200);
    stop.send(true).unwrap();
    let Bench { engine, thread, runtime, .. } = bench;
    runtime.shutdown_timeout(Duration::from_secs(60));
    drop(engine);
    thread.join().unwrap().unwrap();
}

/// The state in memory is ahead of the disk, and what is on the disk cannot be read: whoever runs the engine
/// is told, and decides what becomes of the process.
#[test]
fn an_engine_that_cannot_go_back_ends_with_an_error() {
    let data = tempfile::tempdir().unwrap();
    let bench = Bench::new(data.path());
    bench.set(Disk::Broken);
    let refused = bench.ask(slot("first", "j1")).unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    let ended = bench.thread.join().unwrap().unwrap_err();
    assert!(ended.to_string().contains("a hole"), "{ended}");
    let asked = bench.runtime.block_on(bench.engine.ask(caller(), Command::Ready)).unwrap_err();
    assert!(asked.message.contains("stopping"), "{asked}");
    let read = bench.runtime.block_on(bench.engine.follower().ask(|followed| followed.slot()));
    assert!(read.unwrap_err().message.contains("stopping"), "readers are not left waiting");
}
