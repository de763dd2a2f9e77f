//! The Debian package: binary, unit, settings, man pages and completions, from the folder of the tarball.
//!
//! Made by `dpkg-deb` alone, so that any machine with dpkg can make it. The unit has a user of its own while
//! it runs (`DynamicUser`), so none is added. It is not enabled: who installs a scheduler decides when it
//! starts.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Plan, copy, files, output, read, remove, write};
use crate::Failure;
use crate::cargo::run;

/// Where things of the tarball go.
const PLACES: [(&str, &str); 7] = [
    ("esdp", "usr/bin/esdp"),
    ("deploy/serve.toml", "etc/esdp/serve.toml"),
    ("completions/esdp.bash", "usr/share/bash-completion/completions/esdp"),
    ("completions/_esdp", "usr/share/zsh/vendor-completions/_esdp"),
    ("completions/esdp.fish", "usr/share/fish/vendor_completions.d/esdp.fish"),
    ("README.md", "usr/share/doc/esdp/README.md"),
    ("CITATION.cff", "usr/share/doc/esdp/CITATION.cff"),
];

/// What an administrator may change, and an upgrade keeps.
pub(super) const CONFFILE: &str = "/etc/esdp/serve.toml";

const UNIT: &str = "usr/lib/systemd/system/esdp.service";

/// Below another root there is no systemd to talk to.
const POSTINST: &str = "#!/bin/sh
set -e
if [ \"$1\" = configure ] && [ -z \"$DPKG_ROOT\" ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload
    # An upgrade: what runs goes on as the new version.
    if [ -n \"$2\" ]; then systemctl try-restart esdp.service; fi
fi
";

const PRERM: &str = "#!/bin/sh
set -e
if [ \"$1\" = remove ] && [ -z \"$DPKG_ROOT\" ] && [ -d /run/systemd/system ]; then
    systemctl disable --now esdp.service
fi
";

/// Makes the package and says where it is.
pub(super) fn make(plan: &Plan, stage: &Path) -> Result<PathBuf, Failure> {
    let root = plan.folder.join("deb");
    for (from, to) in PLACES {
        copy(&stage.join(from), &root.join(to))?;
    }
    let unit = read(&stage.join("deploy/esdp.service"))?;
    let own = unit.replace("=/usr/local/bin/esdp ", "=/usr/bin/esdp ");
    if own == unit {
        return Err(Failure::Check("deploy/esdp.service starts another program than expected".to_owned()));
    }
    write(&root.join(UNIT), &own)?;
    write(&root.join("usr/share/doc/esdp/copyright"), &copyright(stage)?)?;
    let man = root.join("usr/share/man/man1");
    copy(&stage.join("man/man1"), &man)?;
    let changes = root.join("usr/share/doc/esdp/changelog");
    copy(&stage.join("CHANGELOG.md"), &changes)?;
    let mut gzip = Command::new("gzip");
    gzip.args(["-n", "-9"]).args(files(&man)?.into_iter().map(|(name, _)| man.join(name))).arg(&changes);
    run(gzip)?;
    write(&root.join("DEBIAN/control"), &control(plan, &root)?)?;
    write(&root.join("DEBIAN/conffiles"), &format!("{CONFFILE}\n"))?;
    for (name, script) in [("postinst", POSTINST), ("prerm", PRERM)] {
        write(&root.join("DEBIAN").join(name), script)?;
    }
    // Whatever the user's mask is.
    run(shell(&root, "chmod -R u=rwX,go=rX . && chmod 755 usr/bin/esdp DEBIAN/postinst DEBIAN/prerm"))?;
    let sums = "find etc usr -type f | sort | xargs md5sum > DEBIAN/md5sums";
    run(shell(&root, sums))?;
    let deb = plan.folder.join(format!("esdp_{}_{}.deb", plan.version, architecture(plan)?));
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", super::commit_time());
    build.arg("--root-owner-group").args(if plan.dev { ["-Zgzip", "-z1"] } else { ["-Zxz", "-z6"] });
    build.arg("--build").arg(&root).arg(&deb);
    run(build)?;
    remove(&root)?;
    Ok(deb)
}

fn shell(folder: &Path, script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]).current_dir(folder);
    shell
}

fn control(plan: &Plan, root: &Path) -> Result<String, Failure> {
    let libraries = match newest_glibc(&root.join("usr/bin/esdp"))? {
        Some(version) => format!("libc6 (>= 2.{version}), libgcc-s1"),
        None => return Err(Failure::Check("the binary asks for no version of glibc".to_owned())),
    };
    let size = output(Command::new("du").args(["-sk", "--apparent-size"]).arg(root))?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    Ok(format!(
        "\
Package: esdp
Version: {}
Architecture: {}
Maintainer: The esdp authors <esdp@users.noreply.github.com>
Installed-Size: {size}
Depends: {libraries}
Section: admin
Priority: optional
Homepage: {}
Description: scheduler that learns how fast machines are
 esdp decides, slot after slot, which jobs run on which servers, and learns from
 how fast they ran. It watches a Slurm cluster, serves an HTTP API with a
 dashboard, and simulates and compares scheduling policies.
",
        plan.version,
        architecture(plan)?,
        env!("CARGO_PKG_REPOSITORY"),
    ))
}

/// Debian's name of the architecture.
fn architecture(plan: &Plan) -> Result<&'static str, Failure> {
    match plan.target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => Err(Failure::Check(format!("Debian's name for {} is not known here", plan.target))),
    }
}

/// The newest `GLIBC_2.N` whose symbols a program uses.
fn newest_glibc(binary: &Path) -> Result<Option<u32>, Failure> {
    let bytes = std::fs::read(binary).map_err(|error| super::cannot(binary, error))?;
    Ok(newest(&bytes))
}

fn newest(bytes: &[u8]) -> Option<u32> {
    let mark = b"GLIBC_2.";
    let at = bytes.windows(mark.len()).enumerate().filter(|(_, window)| window == mark).map(|(at, _)| at);
    let number = |at: usize| {
        let rest = &bytes[at + mark.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    };
    at.filter_map(number).max()
}

/// In the form that Debian's tools read.
fn copyright(stage: &Path) -> Result<String, Failure> {
    let mit = read(&stage.join("LICENSE-MIT"))?;
    let (holder, licence) = mit
        .lines()
        .position(|line| line.starts_with("Copyright"))
        .map(|at| {
            let mut lines = mit.lines().skip(at);
            (lines.next().unwrap_or_default().to_owned(), lines.collect::<Vec<_>>())
        })
        .ok_or_else(|| Failure::Check("LICENSE-MIT names no holder".to_owned()))?;
    let text: String = licence
        .into_iter()
        .skip_while(|line| line.is_empty())
        .map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
        .collect();
    Ok(format!(
        "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: esdp
Source: {}
Comment: The binary contains Rust crates, which the release's bill of materials
 lists with their licences, uPlot (MIT) and the font Arimo (SIL OFL 1.1).

Files: *
Copyright: {}
License: Expat or Apache-2.0

License: Expat
{text}
License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
",
        env!("CARGO_PKG_REPOSITORY"),
        holder.trim_start_matches("Copyright (c) "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_glibc_counts() {
        assert_eq!(newest(b"..GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0GLIBC_2.x"), Some(34));
        assert_eq!(newest(b"static"), None);
    }
}
