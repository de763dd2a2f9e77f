//! A small HTTP client: one connection, opened again when it is gone, with TLS or without.

use anyhow::{Context, bail};
use esdp_serve::answer::HttpAnswer;
use esdp_serve::tls::Trust;
use serde_json::Value;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a service is, and who asks.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Host and port.
    host: String,
    token: Option<String>,
    tls: Option<Trust>,
}

impl Target {
    /// Reads `http://host:port` or `https://host:port`; for the latter, a certificate that is trusted.
    ///
    /// # Errors
    /// When it is anything else.
    pub(crate) fn parse(
        url: &str,
        token: Option<String>,
        certificate: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let expected = "expected http://HOST:PORT or https://HOST:PORT";
        let (secure, host) = match url.split_once("://") {
            Some(("http", host)) => (false, host),
            Some(("https", host)) => (true, host),
            Some((scheme, _)) => bail!("--target {url}: `{scheme}` is not spoken here, {expected}"),
            None => (false, url),
        };
        let host = host.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', ' ']) {
            bail!("--target {url}: {expected}");
        }
        let port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let host = if port { host.to_owned() } else { format!("{host}:{}", if secure { 443 } else { 80 }) };
        if let Some(token) = token.as_ref().filter(|token| !token.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            bail!("a token of {} characters has some that no token has", token.chars().count());
        }
        let tls = match (secure, certificate) {
            (false, None) => None,
            (true, Some(certificate)) => Some(Trust::read(certificate)?),
            (true, None) => bail!("--target {url}: https needs --tls-certificate, the certificate to trust"),
            (false, Some(_)) => bail!("--target {url}: --tls-certificate needs https"),
        };
        Ok(Self { host, token, tls })
    }
}

/// A connection, with TLS or without.
trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_str(&self.body).context("the service does not answer in JSON")
    }

    /// What the service says is wrong.
    pub(crate) fn complaint(&self) -> String {
        let message = self.json().ok().and_then(|value| value["message"].as_str().map(str::to_owned));
        format!(
            "status {}: {}",
            self.status,
            message.unwrap_or_else(|| self.body.chars().take(200).collect())
        )
    }
}

/// One connection.
pub(crate) struct Client {
    target: Target,
    stream: Option<BufReader<Box<dyn Stream>>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("host", &self.target.host).finish_non_exhaustive()
    }
}

impl Client {
    pub(crate) fn new(target: &Target) -> Self {
        Self { target: target.clone(), stream: None }
    }

    /// A request and its answer. A connection that the service has closed meanwhile is opened again once.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        let reused = self.stream.is_some();
        let answer = self.exchange(method, path, body);
        if answer.is_ok() {
            return answer;
        }
        self.stream = None;
        if reused { self.exchange(method, path, body).inspect_err(|_| self.stream = None) } else { answer }
    }

    /// A request that must be answered with 200.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Option<&str>) -> anyhow::Result<Value> {
        let answer = self.send(method, path, body).with_context(|| format!("{}{path}", self.target.host))?;
        if answer.status != 200 {
            bail!("{method} {}{path}: {}", self.target.host, answer.complaint());
        }
        answer.json()
    }

    fn connect(&self) -> io::Result<BufReader<Box<dyn Stream>>> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in self.target.host.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    let host = self.target.host.rsplit_once(':').map_or("", |(host, _)| host);
                    return Ok(BufReader::new(match &self.target.tls {
                        None => Box::new(stream),
                        Some(trust) => Box::new(trust.secure(host.trim_matches(['[', ']']), stream)?),
                    }));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn exchange(&mut self, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        if self.stream.is_none() {
            self.stream = Some(self.connect()?);
        }
        let stream = self.stream.as_mut().expect("it was opened");
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.target.host);
        if let Some(token) = &self.target.token {
            request += &format!("authorization: Bearer {token}\r\n");
        }
        if let Some(body) = body {
            request += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        }
        request += "\r\n";
        request += body.unwrap_or_default();
        stream.get_mut().write_all(request.as_bytes())?;
        stream.get_mut().flush()?;
        let HttpAnswer { status, body, is_last } = HttpAnswer::read(stream)?;
        if is_last {
            self.stream = None;
        }
        let body = String::from_utf8(body).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        Ok(Answer { status, body })
    }
}

/// A name as a part of a path.
pub(crate) fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                text.push(char::from(byte))
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_hosts_with_a_port() {
        let host = |url: &str| {
            Target::parse(url, None, None).map(|target| target.host).map_err(|error| error.to_string())
        };
        assert_eq!(host("http://127.0.0.1:7070/").as_deref(), Ok("127.0.0.1:7070"));
        assert_eq!(host("localhost:7070").as_deref(), Ok("localhost:7070"));
        assert_eq!(host("http://node").as_deref(), Ok("node:80"));
        assert!(host("ftp://node:1").unwrap_err().contains("`ftp` is not spoken here"));
        assert!(host("https://node:1").unwrap_err().contains("--tls-certificate"));
        for url in ["", "http://", "http://a:1/v1", "http://a b"] {
            assert!(host(url).is_err(), "{url}");
        }
        assert!(Target::parse("a:1", Some("a\r\nb".to_owned()), None).is_err());
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("ns/a#1 ü"), "ns/a%231%20%C3%BC");
    }
}
