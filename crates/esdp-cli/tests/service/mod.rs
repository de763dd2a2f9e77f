//! A real service, the real binary on a free port, and a client that sees every byte.

#![allow(dead_code, reason = "each test uses a part of it")]

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Numbers that look random, the same in every run: an own xorshift, so that the tests need no more crates.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_add(1).wrapping_mul(0x2545_f491_4f6c_dd1d) | 1)
    }

    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low digits of neighbouring seeds are alike at first.
        (self.0 >> 11) % below
    }
}

/// A running service.
pub struct Service {
    child: Child,
    pub address: SocketAddr,
}

/// The binary.
pub fn esdp() -> Command {
    Command::new(env!("CARGO_BIN_EXE_esdp"))
}

impl Service {
    /// Starts a service on a data directory.
    pub fn start(data: &Path, args: &[&str]) -> Self {
        Self::try_start(data, args).unwrap_or_else(|error| panic!("the service does not start: {error}"))
    }

    /// Starts a service, or says why it does not start.
    pub fn try_start(data: &Path, args: &[&str]) -> Result<Self, String> {
        let mut command = esdp();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--no-token"])
            .arg("--data")
            .arg(data)
            .args(args);
        Self::spawn(command)
    }

    /// Starts a service by a command of one's own.
    pub fn spawn(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        // A test that serves is announced by its harness first.
        let mut lines = out.by_ref().lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("://")).unwrap_or_default();
        let address = line.trim().rsplit_once("://").and_then(|(_, address)| address.parse().ok());
        let Some(address) = address else {
            let mut why = String::new();
            let _ = child.stderr.take().expect("it is piped").read_to_string(&mut why);
            let _ = child.wait();
            return Err(why);
        };
        // Nobody reads the rest; the pipe must not fill up.
        let errors = child.stderr.take().expect("it is piped");
        std::thread::spawn(move || io::copy(&mut BufReader::new(errors), &mut io::sink()));
        std::thread::spawn(move || io::copy(&mut out, &mut io::sink()));
        Ok(Self { child, address })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was killed");
    }

    /// SIGTERM, and the exit code.
    pub fn stop(self) -> Option<i32> {
        let id = self.child.id();
        self.stop_by(id)
    }

    /// SIGTERM to the process with whose end it ends.
    pub fn stop_by(mut self, id: u32) -> Option<i32> {
        let sent = Command::new("kill").arg(id.to_string()).status().expect("kill is there");
        assert!(sent.success());
        self.child.wait().expect("it ends").code()
    }

    pub fn client(&self) -> Client {
        Client::new(self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection, opened again when it is gone.
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
    pub token: Option<String>,
    /// More headers of every request.
    pub headers: Vec<(String, String)>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None, token: None, headers: Vec::new() }
    }

    /// A request, with the error of a connection that broke.
    pub fn try_send(&mut self, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        let answer = self.exchange(method, path, body);
        if answer.as_ref().map_or(true, |answer| answer.header("connection") == Some("close")) {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(30)))?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().expect("it was opened");
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        if let Some(token) = &self.token {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            head += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        }
        head += "\r\n";
        head += body.unwrap_or_default();
        stream.get_mut().write_all(head.as_bytes())?;
        read_answer(stream, method)
    }

    pub fn send(&mut self, method: &str, path: &str, body: &str) -> Answer {
        let body = (!body.is_empty()).then_some(body);
        self.try_send(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// A request that must work; its JSON.
    pub fn ok(&mut self, method: &str, path: &str, body: &str) -> Value {
        let answer = self.send(method, path, body);
        assert_eq!(answer.status, 200, "{method} {path} {body}: {}", answer.body);
        answer.json()
    }

    pub fn get(&mut self, path: &str) -> Value {
        self.ok("GET", path, "")
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Value {
        self.ok("POST", path, &body.to_string())
    }
}

/// Reads one answer.
pub fn read_answer(stream: &mut BufReader<TcpStream>, method: &str) -> io::Result<Answer> {
    let broken = |what: &str| io::Error::new(io::ErrorKind::UnexpectedEof, what.to_owned());
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(broken("the connection is gone"));
    }
    let status =
        line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| broken("no status"))?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(broken("half of a head"));
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut answer = Answer { status, headers, body: String::new() };
    let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if method != "HEAD" {
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes)?;
        answer.body = String::from_utf8(bytes).map_err(|_| broken("not UTF-8"))?;
    }
    Ok(answer)
}

/// The output of a command that must work.
pub fn output(args: &[&str], data: &Path) -> String {
    let Output { status, stdout, stderr } =
        esdp().args(args).arg("--data").arg(data).output().expect("it runs");
    assert!(status.success(), "{args:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("it is UTF-8")
}

/// Two ports on some servers with GPUs.
pub fn cluster(servers: usize) -> Value {
    let server = |index: usize| {
        let name = format!("n{index}");
        serde_json::json!({"name": name, "capacity": {"cpu": 64, "gpu": 8}, "labels": ["a100"]})
    };
    serde_json::json!({
        "devices": ["cpu", "gpu"],
        "servers": (0..servers).map(server).collect::<Vec<_>>(),
        "ports": [
            {"name": "train", "request": {"cpu": 8, "gpu": 2}, "tasks": 4, "min": 2, "weight": 1.0,
                "reference_speed": 120.0},
            {"name": "serve", "groups": [{"name": "ps", "request": {"cpu": 1}, "count": 1, "min": 1},
                                          {"name": "worker", "request": {"gpu": 1}, "count": 2, "min": 1}]},
        ],
    })
}
