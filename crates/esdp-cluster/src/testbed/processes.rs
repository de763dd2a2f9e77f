//! The processes of jobs, which are not our children: slurmd detaches every step from itself.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Kills each `slurmstepd` that writes to a log that `ours` recognises, and all its descendants, and waits
/// until they are gone.
///
/// A step does not say in its arguments or its environment to which node it belongs, but it keeps the log of
/// its slurmd open.
pub(super) fn kill_steps(ours: impl Fn(&Path) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut doomed: Vec<i32> = Vec::new();
    // Again and again, for what was being started meanwhile.
    while Instant::now() < deadline {
        let table = Table::read();
        let writes = |pid: &i32| {
            let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| ours(&target))
        };
        let steps: Vec<i32> = table.named("slurmstepd").filter(writes).collect();
        // A child that has lost its parent is not found as a descendant any more.
        doomed.retain(|pid| table.0.contains_key(pid));
        doomed.extend(table.with_descendants(&steps));
        if doomed.is_empty() {
            return;
        }
        for pid in doomed.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Every process that has not ended: its name and its parent.
struct Table(BTreeMap<i32, (String, i32)>);

impl Table {
    fn read() -> Self {
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        Self(
            pids.filter_map(|pid| {
                Some((pid, parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
            })
            .collect(),
        )
    }

    fn named(&self, name: &str) -> impl Iterator<Item = i32> {
        self.0.iter().filter(move |(_, (known, _))| known == name).map(|(pid, _)| *pid)
    }

    fn with_descendants(&self, roots: &[i32]) -> Vec<i32> {
        let mut found = roots.to_vec();
        let mut next = 0;
        while next < found.len() {
            let parent = found[next];
            let children = self.0.iter().filter(|(pid, (_, above))| *above == parent && !found.contains(pid));
            let children: Vec<i32> = children.map(|(pid, _)| *pid).collect();
            found.extend(children);
            next += 1;
        }
        found
    }
}

/// Name and parent from a line of `/proc/PID/stat`, where the name may hold blanks and parentheses; nothing
/// for one that has ended and waits for its parent to notice.
fn parse(stat: &str) -> Option<(String, i32)> {
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    let mut fields = stat.get(end + 1..)?.split_whitespace();
    let alive = !matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    alive.then_some((stat.get(start + 1..end)?.to_owned(), parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(parse("12 (a (b) c) S 7 12 12 0"), Some(("a (b) c".to_owned(), 7)));
        assert_eq!(parse("12 (ended) Z 7 12 12 0"), None);
        assert_eq!(parse("12 (cut"), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth() {
        let process = |name: &str, parent| (name.to_owned(), parent);
        let table = Table(BTreeMap::from([
            (2, process("slurmstepd", 1)),
            (3, process("bash", 2)),
            (4, process("sleep", 3)),
            (5, process("bash", 1)),
        ]));
        assert_eq!(table.named("slurmstepd").collect::<Vec<_>>(), [2]);
        assert_eq!(table.with_descendants(&[2]), [2, 3, 4]);
    }
}
