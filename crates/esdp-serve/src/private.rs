//! Files that are for the service's user alone: what is in a data directory tells of jobs, users and tokens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The files that a service, its driver and SQLite make in a data directory.
const FILES: [&str; 9] = [
    "esdp.db",
    "esdp.db-wal",
    "esdp.db-shm",
    "watermark",
    "tokens.json",
    "tokens.lock",
    "tokens.used",
    "lock",
    "ledger.csv",
];
/// Where jobs of other users leave their reports, by default.
const REPORTS: &str = "reports";

/// Options that make a file which only its owner reads and writes.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a directory for its owner alone; one that is there stays as it is.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Root makes files for a service that runs as somebody else, who must be able to read them: the owner of the
/// directory.
pub(crate) fn give_to_owner(file: &File, directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Ok(owner) = fs::metadata(directory) {
        use std::os::unix::fs::{MetadataExt, fchown};
        if file.metadata()?.uid() != owner.uid() {
            fchown(file, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(())
}

/// Writes a file whole, for its owner alone: a reader finds the old one or the new one, also after a power
/// cut. A link in its place is replaced and not followed.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::other("it is not the path of a file"))?;
    let part = directory.join(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    // One that is left over, or that somebody has put there, is not written through.
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut to = options().create_new(true).open(&part)?;
    to.write_all(text)?;
    give_to_owner(&to, directory)?;
    to.sync_all()?;
    fs::rename(part, path)?;
    // The new name is on the disk as well when this returns.
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}

/// Takes the rights of others from a data directory and what is in it, also if it was made by an earlier
/// build or by hand. What is not ours stays as it is, and a directory with something else in it, too: a
/// service that was started on a shared directory must not close it.
///
/// # Errors
/// When the rights of a file cannot be changed.
pub(crate) fn close(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        // The database is made here: SQLite gives its log the rights of the database.
        let made = options().create_new(true).open(directory.join(FILES[0]));
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        let set = |path: &Path, mode: u32| -> io::Result<()> {
            let found = fs::symlink_metadata(path)?;
            match found.mode() & 0o777 & !mode == 0 || found.is_symlink() {
                true => Ok(()),
                false => fs::set_permissions(path, fs::Permissions::from_mode(found.mode() & mode)),
            }
        };
        let (mut ours, mut reports) = (true, false);
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            match name.to_str() {
                Some(name) if FILES.contains(&name) => set(&entry.path(), 0o600)?,
                Some(REPORTS) => reports = true,
                Some(name) if name.ends_with(".part") => {}
                _ => ours = false,
            }
        }
        if ours {
            // Who reports from a job passes through it, and sees nothing of it.
            set(directory, if reports { 0o711 } else { 0o700 })?;
        } else if fs::metadata(directory)?.mode() & 0o077 != 0 {
            let directory = directory.display().to_string();
            tracing::warn!(directory, "others may look into the data directory: there are other files in it");
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_was_open_is_closed_and_what_is_not_ours_stays() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir(&data).unwrap();
        set(&data, 0o755);
        for name in &FILES[1..] {
            fs::write(data.join(name), "x").unwrap();
            set(&data.join(name), 0o666);
        }
        close(&data).unwrap();
        assert!(FILES.iter().all(|name| mode(&data.join(name)) == 0o600));
        assert_eq!(mode(&data), 0o700);
        fs::create_dir(data.join(REPORTS)).unwrap();
        set(&data.join(REPORTS), 0o1777);
        set(&data, 0o755);
        close(&data).unwrap();
        assert_eq!((mode(&data), mode(&data.join(REPORTS))), (0o711, 0o777));
        fs::write(data.join("notes.txt"), "mine").unwrap();
        set(&data.join("notes.txt"), 0o644);
        set(&data, 0o755);
        close(&data).unwrap();
        assert_eq!((mode(&data), mode(&data.join("notes.txt"))), (0o755, 0o644));
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, path) = (dir.path().join("victim"), dir.path().join("token"));
        fs::write(&victim, "precious").unwrap();
        let part = dir.path().join(format!(".token.{}.part", std::process::id()));
        for link in [&path, &part] {
            std::os::unix::fs::symlink(&victim, link).unwrap();
        }
        replace(&path, b"secret").unwrap();
        assert_eq!(
            (fs::read(&victim).unwrap(), fs::read(&path).unwrap()),
            (b"precious".into(), b"secret".into())
        );
        assert_eq!(mode(&path), 0o600);
    }
}
