//! Result files: whole or not at all.

mod earlier;
mod growing;

pub(crate) use earlier::{keep_earlier, keep_unless_same};
pub(crate) use growing::{Growing, is_stdout};

use anyhow::Context;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes a directory for results, with its parents, and removes what killed processes have left in it.
///
/// # Errors
/// With the directory and what the system says.
pub(crate) fn directory(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("{}: the directory cannot be made", path.display()))?;
    growing::tidy(path);
    Ok(())
}

/// A directory beside a place, for what will be one file there; its lock keeps it from being taken for a
/// leftover.
///
/// # Errors
/// With the directory and what the system says.
pub(crate) fn directory_beside(path: &Path) -> anyhow::Result<(PathBuf, fs::File)> {
    // Not the name under which the one file will grow.
    let mut parts = path.as_os_str().to_owned();
    parts.push(".parts");
    let directory = growing::beside(Path::new(&parts));
    let lock = growing::directory_locked(&directory);
    let lock = lock.with_context(|| format!("{}: the directory cannot be made", directory.display()))?;
    Ok((directory, lock))
}

/// Writes a file, whole or not at all; see [`Growing`] for what is not a regular file.
///
/// # Errors
/// With the file and what the system says.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let write = || {
        let mut growing = Growing::create(path)?;
        let written = growing.write_all(contents.as_ref());
        growing.finish(written)
    };
    write().with_context(|| cannot(path))
}

/// The sentence for a file that cannot be written.
pub(crate) fn cannot(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let error = write(&dir.path().join("none/a.csv"), "x").unwrap_err();
        assert!(format!("{error:#}").contains("a.csv: cannot be written"));
    }
}
