//! The folder that becomes the tarball: the binary and all that belongs beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Plan, commit_time, copy, make_folder, output, write};
use crate::Failure;
use crate::cargo::{answers, run, workspace_root};

/// What is in the tarball as it is in the repository.
const COPIED: [&str; 8] = [
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "deploy/esdp.service",
    "deploy/serve.toml",
    "deploy/prometheus",
];

/// The names under which shells look for completions.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "esdp.bash"), ("zsh", "_esdp"), ("fish", "esdp.fish")];

/// Fills the folder and says where it is.
pub(super) fn stage(plan: &Plan, binary: &Path) -> Result<PathBuf, Failure> {
    let stage = plan.folder.join(plan.name());
    let own = stage.join(format!("esdp{}", std::env::consts::EXE_SUFFIX));
    copy(binary, &own)?;
    // Before the symbols go: they are what a stripped program must do without.
    strip(&own)?;
    for name in COPIED {
        copy(&workspace_root().join(name), &stage.join(name))?;
    }
    copy(&workspace_root().join("deploy/grafana"), &stage.join("deploy/grafana"))?;
    let man = stage.join("man").join("man1");
    make_folder(&man)?;
    output(Command::new(&own).arg("man").arg(&man))?;
    for (shell, name) in COMPLETIONS {
        let script = output(Command::new(&own).args(["completions", shell]))?;
        write(&stage.join("completions").join(name), &(script + "\n"))?;
    }
    Ok(stage)
}

fn strip(binary: &Path) -> Result<(), Failure> {
    if !answers("strip") && !cfg!(target_os = "macos") {
        return Err(Failure::Check("`strip` is not installed: `apt install binutils` has it".to_owned()));
    }
    let mut strip = Command::new("strip");
    run({
        strip.arg(binary);
        strip
    })
}

/// Packs the folder; the same files give the same bytes.
pub(super) fn tarball(plan: &Plan) -> Result<PathBuf, Failure> {
    let (name, folder) = (plan.name(), &plan.folder);
    let mut tar = Command::new("tar");
    tar.current_dir(folder);
    if cfg!(target_os = "linux") {
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg(format!("--mtime=@{}", commit_time()));
    }
    tar.arg("-cf").arg(format!("{name}.tar")).arg(&name);
    run(tar)?;
    let mut gzip = Command::new("gzip");
    gzip.current_dir(folder).args(["-n", if plan.dev { "-1" } else { "-9" }]);
    run({
        gzip.arg(format!("{name}.tar"));
        gzip
    })?;
    Ok(folder.join(format!("{name}.tar.gz")))
}
