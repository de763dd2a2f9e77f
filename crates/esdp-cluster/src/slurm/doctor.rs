//! What a cluster needs for each command, with the lines to change and the way back.

use super::cluster::Slurm;
use super::node::SlurmNode;

/// How a cluster stands in one respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoctorVerdict {
    /// As it should be.
    Fine,
    /// Good to know.
    Note,
    /// To be changed for the command that is named.
    Change,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How it stands.
    pub verdict: DoctorVerdict,
    /// What was found.
    pub found: String,
    /// What to do, line by line.
    pub change: Vec<String>,
    /// How to go back.
    pub back: Option<String>,
}

impl Finding {
    fn fine(found: impl Into<String>) -> Self {
        Self { verdict: DoctorVerdict::Fine, found: found.into(), change: Vec::new(), back: None }
    }

    fn note(found: impl Into<String>) -> Self {
        Self { verdict: DoctorVerdict::Note, ..Self::fine(found) }
    }

    fn change(found: impl Into<String>, change: &[&str], back: &str) -> Self {
        let change = change.iter().map(|&line| line.to_owned()).collect();
        Self { verdict: DoctorVerdict::Change, found: found.into(), change, back: Some(back.to_owned()) }
    }
}

/// What is known of a cluster.
#[derive(Debug, Clone, Default)]
pub struct Examined {
    /// Values of `scontrol show config`.
    pub setting: std::collections::BTreeMap<&'static str, String>,
    /// The nodes of the partition.
    pub nodes: Vec<SlurmNode>,
    /// The text of `job_submit.lua` beside `slurm.conf`; none if there is none.
    pub lua: Option<String>,
    /// The user who asks.
    pub user: u32,
    /// Jobs of the partition that are held for us.
    pub held: usize,
    /// Why the REST interface is not used, if the version has one that places jobs.
    pub without_rest: Option<String>,
}

const SETTINGS: [&str; 6] =
    ["JobSubmitPlugins", "JobRequeue", "MinJobAge", "PriorityType", "SlurmUser", "SelectTypeParameters"];

impl Examined {
    /// Looks at a cluster.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn of(slurm: &Slurm, partition: &str, user: u32) -> Result<Self, super::client::CallError> {
        let conf = std::path::PathBuf::from(slurm.setting("SLURM_CONF"));
        let lua = std::fs::read_to_string(conf.with_file_name("job_submit.lua")).ok();
        let within = |names: &[String]| names.iter().any(|name| name == partition);
        let jobs = slurm.jobs()?;
        Ok(Self {
            setting: SETTINGS.into_iter().map(|key| (key, slurm.setting(key).to_owned())).collect(),
            nodes: slurm.nodes()?.into_iter().filter(|node| within(&node.partitions)).collect(),
            lua,
            user,
            held: jobs
                .iter()
                .filter(|job| within(&job.partitions) && job.is_held() && super::is_marked(job))
                .count(),
            without_rest: slurm.without_rest().map(str::to_owned),
        })
    }

    fn setting(&self, key: &str) -> &str {
        self.setting.get(key).map_or("", String::as_str)
    }

    /// What was found, in the order in which one would change it.
    pub fn findings(&self, partition: &str) -> Vec<Finding> {
        let mut findings = vec![
            self.nodes_found(partition),
            self.rights(),
            self.age(),
            self.requeue(),
            self.holds(partition),
            self.order(),
            self.waiting(partition),
        ];
        findings.extend(self.waking(partition));
        findings.extend(self.rest());
        findings
    }

    fn nodes_found(&self, partition: &str) -> Finding {
        let closed = self.nodes.iter().filter(|node| node.closed.is_some()).count();
        match self.nodes.len() {
            0 => Finding::change(
                format!("partition `{partition}` has no nodes"),
                &["give the name of a partition with --partition; `sinfo` lists them"],
                "nothing was changed",
            ),
            all => Finding::fine(format!("partition `{partition}`: {all} nodes, {closed} of them closed")),
        }
    }

    fn rights(&self) -> Finding {
        let owner = format!("({})", self.setting("SlurmUser").split(['(', ')']).nth(1).unwrap_or("0"));
        match self.user == 0 || owner == format!("({})", self.user) {
            true => Finding::fine("you may place jobs and change weights"),
            false => Finding::change(
                "you are neither root nor SlurmUser: `watch` works, `weights --apply` and `run` need an \
                 operator",
                &["sacctmgr modify user $USER set adminlevel=operator"],
                "sacctmgr modify user $USER set adminlevel=none",
            ),
        }
    }

    fn age(&self) -> Finding {
        let seconds =
            self.setting("MinJobAge").split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        match seconds {
            Some(seconds) if seconds < 60 => Finding::change(
                format!(
                    "finished jobs are forgotten after {seconds} s (MinJobAge), perhaps before they are \
                     learned from"
                ),
                &["in slurm.conf: MinJobAge=300", "scontrol reconfigure"],
                "the old value of MinJobAge",
            ),
            _ => Finding::fine(format!(
                "finished jobs are shown for {} (MinJobAge)",
                self.setting("MinJobAge")
            )),
        }
    }

    fn requeue(&self) -> Finding {
        match self.setting("JobRequeue") {
            "0" => Finding::fine("jobs of a lost node are not requeued (JobRequeue=0)"),
            _ => Finding::change(
                "jobs of a lost node come back pinned to it (JobRequeue=1); needed for `run` only",
                &["in slurm.conf: JobRequeue=0", "scontrol reconfigure"],
                "in slurm.conf: JobRequeue=1",
            ),
        }
    }

    fn holds(&self, partition: &str) -> Finding {
        let plugin = self.setting("JobSubmitPlugins").split(',').any(|name| name.trim().ends_with("lua"));
        let ours = self.lua.as_ref().is_some_and(|text| {
            text.contains("esdp slurm doctor") && text.contains(&format!("[\"{partition}\"]"))
        });
        match (plugin, ours) {
            (true, true) => Finding::fine(format!("job_submit.lua holds the jobs of `{partition}`")),
            (plugin, _) => {
                let print = format!("esdp slurm doctor --partition {partition} --print-lua > job_submit.lua");
                let mut change =
                    vec![print.as_str(), "put it beside slurm.conf; merge it by hand if there is one"];
                if !plugin {
                    change.push("in slurm.conf: JobSubmitPlugins=lua");
                }
                change.push("start slurmctld with an absolute path of slurm.conf, and restart it");
                let back = "take lua out of JobSubmitPlugins, restart slurmctld, release what is held (the \
                            script says how)";
                Finding::change(
                    format!("the jobs of `{partition}` are not held; needed for `run` only"),
                    &change,
                    back,
                )
            }
        }
    }

    /// Whether the script wakes the driver, where it holds jobs.
    fn waking(&self, partition: &str) -> Option<Finding> {
        let lua = self.lua.as_ref().filter(|text| text.contains("esdp slurm doctor"))?;
        if !lua.contains("local wake = nil") {
            return Some(Finding::fine("job_submit.lua wakes `run --wake FILE` for each job it holds"));
        }
        let file = "/var/lib/esdp-slurm/wake";
        let print =
            format!("esdp slurm doctor --partition {partition} --print-lua --wake {file} > job_submit.lua");
        let mut finding =
            Finding::note("a held job waits for the next slot of `run`; it can be decided at once");
        finding.change =
            vec![print, "scontrol reconfigure".to_owned(), format!("esdp slurm run ... --wake {file}")];
        Some(finding)
    }

    fn rest(&self) -> Option<Finding> {
        let why = self.without_rest.as_ref()?;
        let mut finding =
            Finding::note(format!("Slurm's REST interface is not used, which is quicker: {why}"));
        finding.change = [
            "apt install slurmrestd slurm-wlm-jwt-plugin",
            "head -c 64 /dev/urandom > /etc/slurm/jwt.key, readable by SlurmUser alone",
            "in slurm.conf: AuthAltTypes=auth/jwt",
            "in slurm.conf: AuthAltParameters=jwt_key=/etc/slurm/jwt.key",
            "restart slurmctld, start slurmrestd with `-a rest_auth/jwt` as a user that is neither root nor \
             SlurmUser",
        ]
        .map(str::to_owned)
        .to_vec();
        Some(finding)
    }

    fn order(&self) -> Finding {
        match self.setting("PriorityType").ends_with("basic") {
            true => Finding::fine(
                "jobs are taken in the order of their submission, as Slurm does (priority/basic)",
            ),
            false => Finding::note(
                "Slurm computes no priority for held jobs: `run` takes them by the function `priority` in \
                 job_submit.lua, \
                 which knows an operator's priority and nice values, then by submission; write your own \
                 order there",
            ),
        }
    }

    fn waiting(&self, partition: &str) -> Finding {
        match self.held {
            0 => Finding::fine(format!("no job of `{partition}` waits for `run`")),
            held => {
                Finding::note(format!("{held} jobs of `{partition}` are held and wait for `esdp slurm run`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined(settings: &[(&'static str, &str)]) -> Examined {
        Examined {
            setting: settings.iter().map(|&(key, value)| (key, value.to_owned())).collect(),
            ..Examined::default()
        }
    }

    #[test]
    fn what_is_missing_is_said_with_its_lines() {
        let bare = examined(&[
            ("MinJobAge", "30 sec"),
            ("JobRequeue", "1"),
            ("PriorityType", "priority/multifactor"),
        ]);
        let found = Examined { user: 1000, ..bare }.findings("main");
        let changes: Vec<String> = found.iter().flat_map(|finding| finding.change.clone()).collect();
        for line in
            ["MinJobAge=300", "JobRequeue=0", "JobSubmitPlugins=lua", "adminlevel=operator", "--print-lua"]
        {
            assert!(changes.iter().any(|change| change.contains(line)), "{line}: {changes:?}");
        }
        assert!(found.iter().all(|finding| finding.change.is_empty() || finding.back.is_some()));
    }

    #[test]
    fn a_cluster_that_is_ready_needs_nothing() {
        let settings = [
            ("MinJobAge", "300 sec"),
            ("JobRequeue", "0"),
            ("PriorityType", "priority/basic"),
            ("JobSubmitPlugins", "lua"),
            ("SlurmUser", "slurm(64030)"),
        ];
        let wake = std::path::Path::new("/wake");
        let lua = Some(super::super::lua::script(&["main".to_owned()], Some(wake)));
        let ready = Examined { nodes: vec![SlurmNode::default()], lua, user: 64030, ..examined(&settings) };
        assert!(
            ready.findings("main").iter().all(|finding| finding.verdict == DoctorVerdict::Fine),
            "{ready:?}"
        );
        // What it could do better is told, and is no change that is needed.
        let script = super::super::lua::script(&["main".to_owned()], None);
        let slower =
            Examined { lua: Some(script), without_rest: Some("there is no socket".to_owned()), ..ready };
        let notes: Vec<Finding> = slower
            .findings("main")
            .into_iter()
            .filter(|finding| finding.verdict == DoctorVerdict::Note)
            .collect();
        assert_eq!(notes.len(), 2);
        assert!(
            notes[0].change[0].contains("--wake") && notes[1].change[2].contains("AuthAltTypes=auth/jwt")
        );
    }
}
