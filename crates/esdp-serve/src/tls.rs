//! Certificates: of a service, and those that its clients trust.

mod validity;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fmt::Display;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

fn wrong(path: &Path, why: &dyn Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()))
}

fn chain(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    chain.map_err(|error| wrong(path, &error))
}

/// A certificate with which connections are accepted.
#[derive(Clone)]
pub struct Certified {
    /// Accepts connections.
    pub(crate) acceptor: TlsAcceptor,
    /// When the first of the chain ends, in seconds since 1970.
    pub(crate) ends: i64,
}

impl std::fmt::Debug for Certified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certified").field("ends", &self.ends).finish_non_exhaustive()
    }
}

/// Reads a chain of certificates and its key, both PEM.
///
/// # Errors
/// With the file that is wrong.
pub fn certified(certificate: &Path, key: &Path) -> io::Result<Certified> {
    let chain = chain(certificate)?;
    let ends = chain.iter().map(|found| validity::end(found)).collect::<Option<Vec<i64>>>();
    let ends = ends.and_then(|ends| ends.into_iter().min());
    let ends = ends.ok_or_else(|| wrong(certificate, &"no certificate with an end was found in it"))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| wrong(certificate, &error))?.with_no_client_auth();
    let mut config = config.with_single_cert(chain, private).map_err(|error| wrong(certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Certified { acceptor: TlsAcceptor::from(Arc::new(config)), ends })
}

/// The certificates that a client trusts.
#[derive(Debug, Clone)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// Trusts the certificates in a PEM file and no others.
    ///
    /// # Errors
    /// With the file that is wrong.
    pub fn read(certificate: &Path) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for found in chain(certificate)? {
            roots.add(found).map_err(|error| wrong(certificate, &error))?;
        }
        if roots.is_empty() {
            return Err(wrong(certificate, &"no certificate in it, expected PEM"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| wrong(certificate, &error))?;
        Ok(Self(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
    }

    /// Speaks TLS over a connection to a host.
    ///
    /// # Errors
    /// When the host's name cannot be one.
    pub fn secure(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let refused =
            |error: &dyn Display| io::Error::new(io::ErrorKind::InvalidInput, format!("{host}: {error}"));
        let name = ServerName::try_from(host.to_owned()).map_err(|error| refused(&error))?;
        let connection = ClientConnection::new(Arc::clone(&self.0), name).map_err(|error| refused(&error))?;
        Ok(StreamOwned::new(connection, stream))
    }
}
