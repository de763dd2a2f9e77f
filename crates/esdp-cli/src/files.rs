//! Result files: whole or not at all.

use anyhow::Context;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes a directory for results, with its parents.
///
/// # Errors
/// With the directory and what the system says.
pub(crate) fn directory(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("{}: the directory cannot be made", path.display()))
}

/// Writes a file beside its place and then renames it, so that nobody ever sees half of it.
///
/// # Errors
/// With the file and what the system says.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let beside = beside(path);
    let mut file = fs::File::create(&beside).with_context(|| cannot(path))?;
    let written = file.write_all(contents.as_ref()).and_then(|()| file.sync_all());
    drop(file);
    written.and_then(|()| fs::rename(&beside, path)).with_context(|| cannot(path)).inspect_err(|_| {
        // The error tells enough; the rest is tidiness.
        let _ = fs::remove_file(&beside);
    })
}

/// Where a file grows before it is renamed. The process is in the name: two of them may share a directory.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
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
