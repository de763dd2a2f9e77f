//! Reads the reports of jobs, which come from a directory that every user may write to.
//!
//! Nothing there is trusted. A file counts if it is a regular file of the job's own user (or of root), has
//! no second name, and is not larger than [`LARGEST`]. Links are not followed, and nothing that blocks is
//! waited for. A thread of its own reads, so that a file system that hangs stops no turn. Files are removed
//! once they were read, or are old.

use super::job::SlurmJob;
use super::reports::{self, NodeReport};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant, SystemTime};

/// The largest file that is read, in bytes.
pub const LARGEST: u64 = 4096;
/// By how many seconds the clocks of nodes may differ.
const SKEW: f64 = 30.0;
/// How long a turn waits for the thread.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many files the thread may be asked for at a time.
const MOST_ASKED: usize = 4096;
/// After how many seconds a file is removed although nobody has asked for it.
const OLD: Duration = Duration::from_secs(7 * 24 * 3600);
/// How often old files are looked for, and how many files are looked at.
const HOUSE: Duration = Duration::from_secs(600);
const MOST_LISTED: usize = 100_000;

/// A file, by the job's number and the node.
type Place = (u64, String);

/// What the thread is asked for.
#[derive(Debug)]
enum Ask {
    Read { place: Place, owner: Option<u32>, submitted: u64 },
    Remove(Place),
}

/// What is known of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// The thread has not looked yet.
    Unread,
    /// There is none yet, or none that is complete.
    Nothing,
    /// It is not a file of the job, and why.
    Refused(String),
    /// What it says.
    Report(NodeReport),
}

/// The directory of reports, and the thread that reads it.
#[derive(Debug)]
pub struct Spool {
    asks: SyncSender<Ask>,
    answers: Receiver<(Place, Found)>,
    /// What was answered since the turn began.
    found: HashMap<Place, Found>,
    asked: HashSet<Place>,
}

impl Spool {
    /// Starts the thread, which ends with the spool.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(directory: &Path) -> std::io::Result<Self> {
        let (asks, asked) = mpsc::sync_channel(2 * MOST_ASKED);
        let (answer, answers) = mpsc::channel();
        let directory = directory.to_owned();
        let read = move || {
            let mut cleaned = None::<Instant>;
            while let Ok(ask) = asked.recv() {
                match ask {
                    Ask::Read { place, owner, submitted } => {
                        let found = look(&directory, &place, owner, submitted);
                        if answer.send((place, found)).is_err() {
                            return;
                        }
                    }
                    Ask::Remove(place) => remove(&path(&directory, &place)),
                }
                if cleaned.is_none_or(|last| last.elapsed() >= HOUSE) {
                    remove_old(&directory, SystemTime::now());
                    cleaned = Some(Instant::now());
                }
            }
        };
        // It is not waited for at the end: what hangs there must not hang us.
        std::thread::Builder::new().name("reports".to_owned()).spawn(read)?;
        Ok(Self { asks, answers, found: HashMap::new(), asked: HashSet::new() })
    }

    /// Asks for the files of these jobs, and waits for a moment. What is not read by then may be asked again.
    pub fn read<'a>(&mut self, jobs: impl Iterator<Item = &'a SlurmJob>) {
        self.found.clear();
        let due = Instant::now() + PATIENCE;
        for job in jobs {
            for node in &job.nodes {
                let place = (job.number, node.clone());
                while self.asked.len() >= MOST_ASKED {
                    if !self.takes_answer(due) {
                        return;
                    }
                }
                if !self.asked.insert(place.clone()) {
                    continue;
                }
                let ask = Ask::Read { place: place.clone(), owner: job.uid, submitted: job.submitted };
                if self.asks.try_send(ask).is_err() {
                    self.asked.remove(&place);
                }
            }
        }
        while !self.asked.is_empty() && self.takes_answer(due) {}
    }

    /// Takes one answer of the thread; false if none has come when time is over.
    fn takes_answer(&mut self, due: Instant) -> bool {
        let answer = self.answers.recv_timeout(due.saturating_duration_since(Instant::now()));
        let Ok((place, found)) = answer else { return false };
        self.asked.remove(&place);
        self.found.insert(place, found);
        true
    }

    /// What was found of a job's node in this turn.
    pub fn found(&self, job: &SlurmJob, node: &str) -> Found {
        self.found.get(&(job.number, node.to_owned())).cloned().unwrap_or(Found::Unread)
    }

    /// Removes the files of a job that is over and learned, whatever they are.
    pub fn remove(&mut self, job: &SlurmJob) {
        for node in &job.nodes {
            // If the thread hangs, they are old one day.
            let _ = self.asks.try_send(Ask::Remove((job.number, node.clone())));
        }
    }
}

fn path(directory: &Path, (number, node): &Place) -> PathBuf {
    reports::file(directory, &number.to_string(), node)
}

/// Looks at a file without following, without waiting, and without reading more than it may have.
fn look(directory: &Path, place: &Place, owner: Option<u32>, submitted: u64) -> Found {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let refused = |why: &str| Found::Refused(why.to_owned());
    if place.1.contains('/') {
        return refused("the node's name has a slash");
    }
    let file = match open(path(directory, place), flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT) => return Found::Nothing,
        Err(rustix::io::Errno::LOOP) => return refused("it is a link"),
        Err(error) => return Found::Refused(error.to_string()),
    };
    let state = match fstat(&file) {
        Ok(state) => state,
        Err(error) => return Found::Refused(error.to_string()),
    };
    if FileType::from_raw_mode(state.st_mode) != FileType::RegularFile {
        return refused("it is not a regular file");
    }
    if state.st_uid != 0 && Some(state.st_uid) != owner {
        return Found::Refused(format!("it belongs to uid {}, not to the job's user", state.st_uid));
    }
    // Another name may be one that somebody else has given to it.
    if state.st_nlink != 1 {
        return refused("it has more than one name");
    }
    if state.st_size as u64 > LARGEST {
        return Found::Refused(format!("it has {} bytes, at most {LARGEST} are read", state.st_size));
    }
    let mut text = String::new();
    match File::from(file).take(LARGEST).read_to_string(&mut text) {
        Err(error) => Found::Refused(error.to_string()),
        // What began before the job was submitted is from another job of the same number.
        Ok(_) => match reports::parse(&text).filter(|report| report.started + SKEW >= submitted as f64) {
            Some(report) => Found::Report(report),
            None => Found::Nothing,
        },
    }
}

/// Removes whatever has the name of a report, a directory only if it is empty.
fn remove(path: &Path) {
    if std::fs::remove_file(path).is_err() {
        let _ = std::fs::remove_dir(path);
    }
}

/// Removes reports that nobody has asked for in a week, by the time of their last change, which their owner
/// cannot set.
fn remove_old(directory: &Path, now: SystemTime) {
    let Ok(list) = std::fs::read_dir(directory) else { return };
    for entry in list.take(MOST_LISTED).flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.ends_with(".report"));
        // Of a link itself, not of where it leads.
        let changed = entry.metadata().map(|state| SystemTime::UNIX_EPOCH + seconds(state.ctime()));
        let old = changed.is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age > OLD));
        if ours && old {
            remove(&entry.path());
        }
    }
}

fn seconds(time: i64) -> Duration {
    Duration::from_secs(time.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_behind_thousands_of_jobs_without_one_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let job = |number| SlurmJob { number, nodes: vec!["n0".to_owned()], ..SlurmJob::default() };
        let jobs: Vec<SlurmJob> = (0..3 * MOST_ASKED as u64).map(job).collect();
        let last = &jobs[jobs.len() - 1];
        let text = format!("start {0}\nend {0}5 7\n", 10);
        std::fs::write(path(directory.path(), &(last.number, "n0".to_owned())), text).unwrap();
        let mut spool = Spool::start(directory.path()).unwrap();
        let owner = rustix::process::geteuid().as_raw();
        let owned = |job: &SlurmJob| SlurmJob { uid: Some(owner), ..job.clone() };
        let owned: Vec<SlurmJob> = jobs.iter().map(owned).collect();
        let found = (0..100).any(|_| {
            spool.read(owned.iter());
            matches!(spool.found(last, "n0"), Found::Report(report) if report.work == 7.0)
        });
        assert!(found, "{:?}", spool.found(last, "n0"));
        assert_eq!(spool.found(&jobs[0], "n0"), Found::Nothing);
    }

    #[test]
    fn old_reports_are_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::write(directory.path().join(name), "start 1\n").unwrap();
        ["1.n0.report", "2.n0.report", "notes"].into_iter().for_each(make);
        std::fs::create_dir(directory.path().join("3.n0.report")).unwrap();
        // Its owner says that it is new, and will be for years.
        let file = File::options().write(true).open(directory.path().join("2.n0.report")).unwrap();
        file.set_modified(SystemTime::now() + 1000 * OLD).unwrap();
        let reports = |at| {
            remove_old(directory.path(), at);
            ["1", "2", "3"].map(|job| directory.path().join(format!("{job}.n0.report")).exists())
        };
        assert_eq!(reports(SystemTime::now()), [true; 3]);
        assert_eq!(reports(SystemTime::now() + 2 * OLD), [false; 3]);
        assert!(directory.path().join("notes").exists());
    }
}
