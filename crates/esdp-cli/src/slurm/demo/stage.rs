//! What a job of the demo does on each of its nodes: it sleeps for as long as the work takes at the node's
//! hidden speed, reports to `esdp`, and keeps a record of its own, by which the arms are compared.

use super::workload::{NODES, TYPES, Workload};
use anyhow::Context;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// `exec`: otherwise a job whose step failed would end well.
const JOB: &str = "#!/bin/bash\nexec srun --quiet \"$1/task.sh\" \"$@\"\n";

/// Arguments: the directory, the type, the work in milliseconds. The speed is in thousandths.
const TASK: &str = r#"#!/bin/bash
read -r speed < "$1/speeds/$2.$SLURMD_NODENAME"
(( microseconds = $3 * 1000 * 1000 / speed ))
printf -v seconds '%d.%06d' $(( microseconds / 1000000 )) $(( microseconds % 1000000 ))
printf -v work '%d.%03d' $(( $3 / 1000 )) $(( $3 % 1000 ))
began=$EPOCHREALTIME
"$1/esdp" report --strict start --dir "$1/reports" || exit 1
sleep "$seconds"
"$1/esdp" report end --work "$work" --dir "$1/reports" || exit 1
echo "$began $EPOCHREALTIME" >> "$1/records/$SLURM_JOB_ID.$SLURMD_NODENAME"
"#;

/// Prepares a cluster's directory. Jobs run as other users, who cannot reach every place `esdp` may be in, so
/// it is linked or copied.
pub(super) fn prepare(dir: &Path, workload: &Workload) -> anyhow::Result<()> {
    let esdp = std::env::current_exe().context("the path of esdp is not known")?;
    if fs::hard_link(&esdp, dir.join("esdp")).is_err() {
        fs::copy(&esdp, dir.join("esdp")).with_context(|| format!("cannot copy {}", esdp.display()))?;
        allow(&dir.join("esdp"), 0o755)?;
    }
    for (name, text) in [("job.sh", JOB), ("task.sh", TASK)] {
        fs::write(dir.join(name), text).with_context(|| format!("cannot write {name}"))?;
        allow(&dir.join(name), 0o755)?;
    }
    for name in ["speeds", "records", "reports"] {
        fs::create_dir_all(dir.join(name)).with_context(|| format!("cannot create {name}"))?;
    }
    // Every user writes here.
    allow(&dir.join("records"), 0o777)?;
    allow(&dir.join("reports"), 0o777)?;
    for (kind, speeds) in TYPES.iter().zip(&workload.speeds) {
        for (node, speed) in (0..NODES).zip(speeds) {
            fs::write(dir.join(format!("speeds/{}.n{node}", kind.name)), format!("{speed}\n"))?;
        }
    }
    Ok(())
}

fn allow(path: &Path, mode: u32) -> anyhow::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot change the permissions of {}", path.display()))
}
