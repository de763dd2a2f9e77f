//! Opens what a service listens at.

use crate::http::Door;
use crate::settings::Listen;
use crate::{ServeError, io_error};
use std::net::SocketAddr;
use std::path::Path;
use tokio::net::TcpListener;

/// What was opened.
pub(super) struct Listening {
    pub(super) doors: Vec<Door>,
    /// The address, with the port that the system has chosen.
    pub(super) address: Option<SocketAddr>,
}

/// Opens all of it; `others` says whether users other than our own may come to the socket.
pub(super) async fn open(listen: &Listen, others: bool) -> Result<Listening, ServeError> {
    let mut listening = Listening { doors: Vec::new(), address: None };
    if let Some(address) = listen.tcp {
        let failed = || io_error(address.to_string());
        let listener = TcpListener::bind(address).await.map_err(failed())?;
        listening.address = Some(listener.local_addr().map_err(failed())?);
        listening.doors.push(Door::Tcp(listener));
    }
    #[cfg(unix)]
    if let Some(path) = &listen.unix {
        let listener = socket(path, others).map_err(io_error(path.display().to_string()))?;
        listening.doors.push(Door::Unix(listener));
    }
    #[cfg(not(unix))]
    if let Some(path) = &listen.unix {
        let unsupported = std::io::Error::from(std::io::ErrorKind::Unsupported);
        return Err(io_error(path.display().to_string())(unsupported));
    }
    Ok(listening)
}

/// Makes a socket in the place of one that nobody listens at any more.
#[cfg(unix)]
fn socket(path: &Path, others: bool) -> std::io::Result<tokio::net::UnixListener> {
    use std::io::{Error, ErrorKind};
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(Error::new(ErrorKind::AlreadyExists, "it is there and not a socket"));
        }
        Ok(_) => match std::os::unix::net::UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
            Err(error) => return Err(error),
            Ok(_) => return Err(Error::new(ErrorKind::AddrInUse, "another process listens there")),
        },
    }
    let listener = tokio::net::UnixListener::bind(path)?;
    // Whoever comes is known by the system. Others need not even come if none of them may do anything.
    let mode = if others { 0o666 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    Ok(listener)
}

/// Takes the socket away after the end.
pub(super) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
