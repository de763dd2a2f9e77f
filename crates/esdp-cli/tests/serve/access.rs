//! Who may do what: roles, tokens, addresses, pages of other sites.

use crate::api::started;
use crate::service::{self, Service, cluster, output};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

#[test]
fn roles_allow_what_they_should_and_tokens_are_never_shown() {
    let data = tempfile::tempdir().unwrap();
    let token = |name: &str, role: &str| {
        output(&["token", "create", name, "--role", role], data.path()).trim().to_owned()
    };
    let (reader, reporter, operator) = (token("r", "reader"), token("p", "reporter"), token("o", "operator"));
    let observer = token("w", "observer");
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    let put = cluster(2).to_string();
    assert_eq!(client.send("GET", "/healthz", "").status, 200);
    let mut status = |token: &str, method: &str, path: &str, body: &str| {
        client.token = (!token.is_empty()).then(|| token.to_owned());
        client.send(method, path, body).status
    };
    assert_eq!(status("", "GET", "/v1/servers", ""), 401);
    assert_eq!(status("esdp_wrong", "GET", "/v1/servers", ""), 401);
    assert_eq!(status(&reader, "PUT", "/v1/cluster", &put), 403);
    assert_eq!(status(&reporter, "PUT", "/v1/cluster", &put), 403);
    assert_eq!(status(&operator, "PUT", "/v1/cluster", &put), 200);
    assert_eq!(status(&reader, "GET", "/v1/servers", ""), 200);
    let report = r#"{"port":"train","server":"n0","rate":1,"id":"a"}"#;
    assert_eq!(status(&reader, "POST", "/v1/observations", report), 403);
    assert_eq!(status(&reporter, "POST", "/v1/observations", report), 403, "nothing shows that it ran there");
    assert_eq!(status(&observer, "POST", "/v1/observations", report), 200);
    assert_eq!(status(&observer, "POST", "/v1/outcomes/aside/1/accept", ""), 403);
    let slot = r#"{"key":"k","jobs":[{"id":"j","port":"train"}]}"#;
    assert_eq!(status(&operator, "POST", "/v1/slots", slot), 200);
    let own = r#"{"job":"j","rate":1}"#;
    assert_eq!(status(&reporter, "POST", "/v1/observations", own), 200);
    let other = r#"{"job":"j","rate":1,"source":"slurm:alice"}"#;
    assert_eq!(status(&reporter, "POST", "/v1/observations", other), 403, "in the name of another");
    let list = output(&["token", "list"], data.path());
    assert!(list.contains("reporter") && !list.contains(&reporter[5..]));
    let entries =
        std::fs::read_dir(data.path()).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    for bytes in entries {
        assert!(!String::from_utf8_lossy(&bytes).contains(&operator[5..]), "a token is kept as a hash only");
    }
}

#[test]
fn other_addresses_need_a_token_and_tls() {
    let data = tempfile::tempdir().unwrap();
    let refused = |args: &[&str]| {
        let mut command = service::esdp();
        command.args(["serve", "--listen", "0.0.0.0:0"]).arg("--data").arg(data.path()).args(args);
        Service::spawn(command).err().unwrap_or_default()
    };
    assert!(refused(&[]).contains("certificate"));
    assert!(refused(&["--insecure", "--no-token"]).contains("others can reach"));
    assert!(!data.path().join("tokens.json").exists(), "no token is made that nobody has seen");
    assert_eq!(refused(&["--insecure"]), "", "it starts");
    assert!(data.path().join("tokens.json").exists());
}

/// The lines that a service prints.
fn printed(data: &std::path::Path, args: &[&str]) -> (std::process::Child, Vec<String>) {
    let mut command = service::esdp();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(args);
    let command = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let address = {
        let mut out = BufReader::new(child.stdout.as_mut().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let mut lines = vec![line];
        // What is printed at the start comes at once.
        lines.extend(String::from_utf8_lossy(out.buffer()).lines().map(str::to_owned));
        lines
    };
    (child, address)
}

#[test]
fn the_first_start_makes_a_token_and_prints_a_link_or_writes_a_file() {
    let data = tempfile::tempdir().unwrap();
    let asked = |lines: &[String], token: Option<&str>| {
        let address = lines[0].trim().strip_prefix("listening on http://").unwrap();
        let mut client = service::Client::new(address.parse().unwrap());
        client.token = token.map(str::to_owned);
        client.send("GET", "/v1/status", "").status
    };
    let (mut child, lines) = printed(data.path(), &[]);
    let url = lines[0].trim().strip_prefix("listening on ").unwrap();
    let token = lines[1].strip_prefix(&format!("open {url}/?token=")).expect("a link").to_owned();
    assert_eq!((asked(&lines, Some(&token)), asked(&lines, None)), (200, 401));
    child.kill().unwrap();
    child.wait().unwrap();
    // It is shown once, and stays.
    for args in [&[][..], &["--no-token"], &["--token-file", "nowhere"]] {
        let (mut child, lines) = printed(data.path(), args);
        assert_eq!(
            (lines.len(), asked(&lines, Some(&token)), asked(&lines, None)),
            (1, 200, 401),
            "{lines:?}"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let other = tempfile::tempdir().unwrap();
    let file = other.path().join("token");
    let (mut child, lines) = printed(&other.path().join("data"), &["--token-file", file.to_str().unwrap()]);
    let token = std::fs::read_to_string(&file).unwrap();
    assert_eq!((lines.len(), asked(&lines, Some(token.trim())), asked(&lines, None)), (1, 200, 401));
    child.kill().unwrap();
    child.wait().unwrap();
    // A file that cannot be written leaves no token behind that nobody knows.
    let third = tempfile::tempdir().unwrap();
    let (mut child, lines) = printed(third.path(), &["--token-file", "/proc/no/token"]);
    assert_eq!((lines[0].as_str(), child.wait().unwrap().code()), ("", Some(2)));
    assert!(!third.path().join("tokens.json").exists());
}

#[test]
fn pages_of_other_sites_cannot_use_a_browser() {
    let data = tempfile::tempdir().unwrap();
    let (service, _) = started(data.path(), &[]);
    let status = |headers: &str| {
        let mut stream = TcpStream::connect(service.address).unwrap();
        write!(stream, "POST /v1/slots HTTP/1.1\r\n{headers}content-length: 9\r\n\r\n{{\"key\":1}}").unwrap();
        service::read_answer(&mut BufReader::new(stream), "POST").unwrap().status
    };
    assert_eq!(status("host: localhost\r\norigin: http://evil.example\r\n"), 403);
    assert_eq!(status("host: evil.example\r\n"), 403, "a name that leads here");
    assert_eq!(status("host: localhost\r\ncontent-type: text/plain\r\n"), 415);
    assert_eq!(status("host: localhost\r\norigin: http://localhost\r\n"), 422);
}
