//! `cargo xtask dist`: what a release consists of, in `target/dist`, each part tried as its users would.
//!
//! | file | subject |
//! |---|---|
//! | `stage` | the folder that becomes the tarball |
//! | `deb` | the Debian package |
//! | `sbom` | the bill of materials |
//! | `tried` | the tarball unpacked, the package installed below a folder, and `esdp` run from both |

mod deb;
mod sbom;
mod stage;
mod tried;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::cargo::{answers, cargo, command, run, workspace_root};

/// The package of the binary.
const PACKAGE: &str = "esdp";
/// Packages that stay in the project.
const UNPUBLISHED: [&str; 3] = ["xtask", "esdp-fuzz", "own-policy"];

const USAGE: &str = "usage: cargo xtask dist [--dev] [--target TRIPLE]";

/// What is made, and where.
pub(crate) struct Plan {
    version: String,
    /// The target's triple.
    target: String,
    /// Whether the triple was named, so that cargo builds into a folder of its name.
    named: bool,
    /// Unoptimised, and packed quickly: for the test command.
    dev: bool,
    folder: PathBuf,
}

/// Runs `cargo xtask dist` with the arguments that follow its name.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (dev, target) = match words[..] {
        [] => (false, None),
        ["--dev"] => (true, None),
        ["--target", target] => (false, Some(target)),
        ["--dev", "--target", target] => (true, Some(target)),
        _ => return Err(Failure::Usage(USAGE.to_owned())),
    };
    let left_out = make(&Plan::new(dev, target)?)?;
    left_out.iter().for_each(|what| println!("Not made: {what}."));
    Ok(())
}

/// The step of the test command: all of it from the binary that the tests have built; what was left out.
pub(crate) fn test() -> Result<Option<String>, Failure> {
    let left_out = make(&Plan::new(true, None)?)?;
    Ok((!left_out.is_empty()).then(|| left_out.join("; ")))
}

impl Plan {
    fn new(dev: bool, target: Option<&str>) -> Result<Self, Failure> {
        let host = || -> Result<String, Failure> {
            let told = output(Command::new("rustc").arg("-vV"))?;
            let host = told.lines().find_map(|line| line.strip_prefix("host: "));
            host.map(str::to_owned).ok_or_else(|| Failure::Check("rustc names no host".to_owned()))
        };
        let folder = workspace_root().join("target").join(if dev { "dist-dev" } else { "dist" });
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.map_or_else(host, |target| Ok(target.to_owned()))?,
            named: target.is_some(),
            dev,
            folder,
        })
    }

    /// The name of the tarball and of its one folder.
    fn name(&self) -> String {
        format!("esdp-{}-{}", self.version, self.target)
    }

    fn profile(&self) -> &'static str {
        if self.dev { "dev" } else { "release" }
    }

    /// Builds the binary and says where it is.
    fn build(&self) -> Result<PathBuf, Failure> {
        let mut build = cargo();
        build.args(["build", "--locked", "--package", PACKAGE, "--bin", "esdp", "--profile", self.profile()]);
        let mut folder = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace_root().join("target"), PathBuf::from);
        if self.named {
            build.args(["--target", &self.target]);
            folder.push(&self.target);
        }
        run(build)?;
        let folder = folder.join(if self.dev { "debug" } else { "release" });
        Ok(folder.join(format!("esdp{}", std::env::consts::EXE_SUFFIX)))
    }
}

/// Makes everything and tries it; what could not be made on this machine.
fn make(plan: &Plan) -> Result<Vec<String>, Failure> {
    let mut left_out = Vec::new();
    let binary = plan.build()?;
    // What another version has left must not be shipped with this one.
    let _ = fs::remove_dir_all(&plan.folder);
    make_folder(&plan.folder)?;
    let stage = stage::stage(plan, &binary)?;
    let tarball = stage::tarball(plan)?;
    tried::tarball(plan, &tarball)?;
    if !plan.target.ends_with("linux-gnu") {
        left_out.push("the deb, which is of Linux with glibc only".to_owned());
    } else if !answers("dpkg-deb") {
        left_out.push("the deb, as dpkg is not installed".to_owned());
    } else {
        let deb = deb::make(plan, &stage)?;
        tried::deb(plan, &deb)?;
    }
    remove(&stage)?;
    write(&plan.folder.join(format!("{}.cdx.json", plan.name())), &sbom::make(plan)?)?;
    packages(plan)?;
    sums(plan)?;
    println!("In {}:", plan.folder.display());
    for (name, size) in files(&plan.folder)? {
        println!("  {name:52} {:>9.1} kB", size as f64 / 1000.0);
    }
    Ok(left_out)
}

/// The crates, as they would be published.
fn packages(plan: &Plan) -> Result<(), Failure> {
    let target = plan.folder.join("crates");
    let mut package = cargo();
    // Without the lock file no registry is asked for the crates of the workspace, which may not be in one; a
    // build is what the tests have done.
    package.args(["package", "--workspace", "--no-verify", "--exclude-lockfile", "--allow-dirty", "--quiet"]);
    UNPUBLISHED.iter().for_each(|name| {
        package.args(["--exclude", name]);
    });
    run({
        package.arg("--target-dir").arg(&target);
        package
    })?;
    for (name, _) in files(&target.join("package"))? {
        rename(&target.join("package").join(&name), &plan.folder.join(&name))?;
    }
    remove(&target)
}

/// Writes the checksums of all files and compares them once.
fn sums(plan: &Plan) -> Result<(), Failure> {
    let names: Vec<String> = files(&plan.folder)?.into_iter().map(|(name, _)| name).collect();
    let mut program = match answers("sha256sum") {
        true => Command::new("sha256sum"),
        // macOS has another one, which prints the same.
        false => Command::new("shasum"),
    };
    if program.get_program() == "shasum" {
        program.args(["--algorithm", "256"]);
    }
    let text = output(program.args(&names).current_dir(&plan.folder))?;
    write(&plan.folder.join("SHA256SUMS"), &(text + "\n"))?;
    let mut check = Command::new(program.get_program());
    check.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&plan.folder);
    run(check)
}

/// The files of a folder and their sizes, by name.
fn files(folder: &Path) -> Result<Vec<(String, u64)>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| cannot(folder, error))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| cannot(folder, error))?;
        let about = entry.metadata().map_err(|error| cannot(folder, error))?;
        if about.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), about.len()));
        }
    }
    files.sort();
    Ok(files)
}

/// The date of the commit in seconds since 1970, so that the same commit gives the same archives.
fn commit_time() -> String {
    let mut log = command("git");
    log.args(["log", "-1", "--format=%ct"]);
    output(&mut log).unwrap_or_else(|_| "0".to_owned())
}

/// What a program prints; a failure with what it says if it fails.
fn output(command: &mut Command) -> Result<String, Failure> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| Failure::Check(format!("{shown}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::Check(format!("{shown} ended with {}: {said}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

fn cannot(path: &Path, error: std::io::Error) -> Failure {
    Failure::Check(format!("{}: {error}", path.display()))
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| cannot(path, error))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    fs::remove_dir_all(folder).map_err(|error| cannot(folder, error))
}

fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::rename(from, to).map_err(|error| cannot(from, error))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| cannot(path, error))
}

/// Writes a file that all may read, with the folders above it.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    path.parent().map_or(Ok(()), make_folder)?;
    fs::write(path, text).map_err(|error| cannot(path, error))
}

/// Copies a file or a folder with all below it.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    if !from.is_dir() {
        to.parent().map_or(Ok(()), make_folder)?;
        return fs::copy(from, to).map(drop).map_err(|error| cannot(from, error));
    }
    for entry in fs::read_dir(from).map_err(|error| cannot(from, error))? {
        let entry = entry.map_err(|error| cannot(from, error))?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_told() {
        for args in [&["--fast"][..], &["--target"], &["--target", "x", "--dev"]] {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            assert!(matches!(main(&args), Err(Failure::Usage(said)) if said == USAGE), "{args:?}");
        }
    }

    #[test]
    fn packages_that_stay_here_are_marked_so() {
        for name in UNPUBLISHED {
            let folder = if name == "own-policy" { "examples" } else { "crates" };
            let manifest = read(&workspace_root().join(folder).join(name).join("Cargo.toml")).unwrap();
            assert!(manifest.contains("\npublish = false\n"));
        }
    }
}
