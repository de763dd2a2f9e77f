//! A service with a certificate: over TLS, and over nothing else. The key in `fixtures/tls` is for this test
//! alone.

use esdp_serve::settings::SettingsFile;
use esdp_serve::tokens::{self, Role};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// Sends a request and reads the head of the answer.
fn answer(mut stream: impl Read + Write, token: &str) -> String {
    let request = format!(
        "GET /v1/status HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: \
         close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tls(address: SocketAddr, trust: bool) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    if trust {
        roots.add(CertificateDer::from_pem_file(fixture("cert.pem")).unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connection =
        ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    StreamOwned::new(connection, TcpStream::connect(address).unwrap())
}

#[test]
fn a_certificate_is_used_and_checked() {
    let data = tempfile::tempdir().unwrap();
    let token = tokens::create(data.path(), "ops", Role::Operator).unwrap();
    let settings = SettingsFile {
        data: Some(data.path().to_owned()),
        // An address that others can reach: it needs both, and has both.
        listen: "0.0.0.0:0".parse().ok(),
        tls_certificate: Some(fixture("cert.pem")),
        tls_key: Some(fixture("key.pem")),
        ..SettingsFile::default()
    };
    let settings = settings.settle().unwrap();
    let (ready, address) = mpsc::channel();
    std::thread::spawn(move || {
        esdp_serve::run(&settings, |started| ready.send(started.address.unwrap().port()).unwrap())
    });
    let port = address.recv().expect("it starts");
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    assert!(answer(tls(address, true), &token).starts_with("HTTP/1.1 200"));
    assert!(answer(tls(address, true), "esdp_wrong").starts_with("HTTP/1.1 401"));
    let plain = answer(TcpStream::connect(address).unwrap(), &token);
    assert!(!plain.contains("HTTP/1.1 200"), "{plain}");
    let mut stranger = tls(address, false);
    assert!(
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").and_then(|()| stranger.flush()).is_err(),
        "it is not trusted"
    );
}

#[test]
fn a_file_that_is_not_a_certificate_is_named() {
    let wrong = fixture("../tls").join("nothing.pem");
    let error = esdp_serve::tls::certified(&wrong, &fixture("key.pem")).err().unwrap().to_string();
    assert!(error.contains("nothing.pem"), "{error}");
}
