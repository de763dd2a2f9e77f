//! What another user of the same machine tries: at the address, at the socket, at the files. They need a
//! second user, so they run as root; `nobody` is the stranger.

use crate::service::{Service, cluster, esdp, output};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

const NOBODY: u32 = 65534;

/// Whether there are two users to try with; who looks at the output is told if not.
#[allow(clippy::print_stderr, reason = "a test that cannot run must not look like one that has")]
fn has_two_users() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !root {
        eprintln!("NOT TRIED: hostile acts of another user; run this test as root");
    }
    root
}

/// A place that everybody can come to, so that it is the service that keeps them out.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    place
}

/// Runs a program as the stranger.
fn stranger(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Output {
    let mut command = Command::new("setpriv");
    let id = NOBODY.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--no-new-privs"]);
    command.arg(program).args(args).current_dir("/").output().expect("setpriv is installed (util-linux)")
}

/// What a request of the stranger is answered with; 0 if they cannot even connect.
fn asks(args: &[&str]) -> (u16, String) {
    let fixed = ["-sS", "--max-time", "20", "-w", "\n%{http_code}"];
    let output = stranger("curl", &[&fixed, args].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (body, status) = text.rsplit_once('\n').unwrap_or_else(|| panic!("curl is installed: {output:?}"));
    (status.parse().unwrap(), body.to_owned())
}

#[test]
fn a_stranger_on_the_machine_is_let_in_nowhere() {
    if !has_two_users() {
        return;
    }
    let place = place();
    let at = |name: &str| place.path().join(name);
    let shown = |name: &str| at(name).display().to_string();
    let (data, log) = (at("data"), at("log"));
    // The directory was made by hand, and everybody looks into it.
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(data.join("esdp.db"), "").unwrap();
    fs::set_permissions(data.join("esdp.db"), fs::Permissions::from_mode(0o666)).unwrap();
    // Where the token goes, the stranger has put a link to what they want overwritten.
    fs::create_dir(at("shared")).unwrap();
    fs::set_permissions(at("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(at("victim"), "precious").unwrap();
    assert!(stranger("ln", &["-s", &shown("victim"), &shown("shared/token")]).status.success());
    let socket = format!("unix:{}", shown("socket"));
    let service = Service::start_logged(
        &data,
        &log,
        &["--listen", &socket, "--token-file", &shown("shared/token"), "--allow-uid", "65533"],
    );
    let token = fs::read_to_string(at("shared/token")).unwrap().trim().to_owned();
    assert!(token.starts_with("esdp_") && fs::read(at("victim")).unwrap() == b"precious");
    let kept = fs::symlink_metadata(at("shared/token")).unwrap();
    assert_eq!((kept.mode() & 0o7777, kept.uid(), kept.is_file()), (0o600, 0, true));
    let mut client = service.client();
    client.token = Some(token.clone());
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    let job = r#"{"key":"k","jobs":[{"id":"j","port":"train"}]}"#;
    client.ok("POST", "/v1/slots", job);
    let before = client.get("/v1/status")["sequence"].clone();

    let url = format!("http://{}", service.address);
    let path = |path: &str| format!("{url}{path}");
    let json = ["-H", "content-type: application/json"];
    let report = r#"{"port":"train","server":"n0","rate":1e300,"id":"x"}"#;
    let put = cluster(1).to_string();
    let requests: [(&str, Vec<&str>, u16); 16] = [
        ("reads", vec!["/v1/status"], 401),
        ("reads who changed what", vec!["/v1/audit"], 401),
        ("reads what was learned", vec!["/v1/state"], 401),
        ("drains a server", vec!["/v1/servers/n0/drain", "-X", "POST"], 401),
        ("ends a job", vec!["/v1/jobs/j", "-X", "DELETE"], 401),
        ("reports", vec!["/v1/observations", json[0], json[1], "-d", report], 401),
        ("describes another cluster", vec!["/v1/cluster", "-X", "PUT", json[0], json[1], "-d", &put], 401),
        ("guesses a token", vec!["/v1/status", "-H", "authorization: Bearer esdp_guess"], 401),
        ("says to be root", vec!["/v1/status", "-H", "x-forwarded-user: root", "-H", "x-real-ip: ::1"], 401),
        ("claims another method", vec!["/healthz", "-X", "POST", "-H", "x-http-method-override: GET"], 401),
        ("goes around", vec!["--path-as-is", "/healthz/../v1/status"], 401),
        ("sends a form", vec!["/v1/servers/n0/drain", "-d", "a=b"], 415),
        ("sends a text", vec!["/v1/slots", "-H", "content-type: text/plain", "-d", job], 415),
        ("says to be another host", vec!["/v1/status", "-H", "host: 127.0.0.1.nip.io"], 403),
        ("says to be another page", vec!["/v1/status", "-H", "origin: http://evil.example"], 403),
        ("comes from another page", vec!["/v1/status", "-H", "sec-fetch-site: cross-site"], 403),
    ];
    for (act, args, expected) in requests {
        let args: Vec<String> =
            args.iter().map(|arg| if arg.starts_with('/') { path(arg) } else { (*arg).to_owned() }).collect();
        let (status, body) = asks(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(status, expected, "{act}: {body}");
    }
    // The link of the first start is for the page, not for the API.
    assert_eq!(asks(&[&path(&format!("/v1/status?token={token}"))]).0, 401);
    let (status, body) = asks(&["--unix-socket", &shown("socket"), "http://localhost/v1/status"]);
    assert!(
        status == 403 && body.contains("--allow-uid"),
        "a socket that others may come to: {status} {body}"
    );

    let copy = at("esdp");
    fs::copy(esdp().get_program(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let copy = copy.display().to_string();
    assert!(stranger(&copy, &["-V"]).status.success(), "they have the program");
    let id = service.id().to_string();
    let environment = format!("/proc/{id}/environ");
    let link = shown("data/link");
    let data_path = shown("data");
    let files: [(&str, &str, Vec<&str>); 12] = [
        ("lists the data", "ls", vec![&data_path]),
        ("reads the journal", "cat", vec!["data/esdp.db"]),
        ("reads the log of the journal", "cat", vec!["data/esdp.db-wal"]),
        ("reads the hashes", "cat", vec!["data/tokens.json"]),
        ("reads the token", "cat", vec!["shared/token"]),
        ("removes the token", "rm", vec!["-f", "shared/token"]),
        ("writes a file", "touch", vec!["data/tokens.json"]),
        ("plants a link", "ln", vec!["-s", "/etc/passwd", &link]),
        ("makes a token", &copy, vec!["token", "create", "me", "--role", "operator", "--data", &data_path]),
        ("reads the journal by the program", &copy, vec!["journal", "export", "--data", &data_path]),
        ("looks at the environment", "cat", vec![&environment]),
        ("stops the service", "kill", vec!["-HUP", &id]),
    ];
    for (act, program, args) in files {
        let args: Vec<String> = args
            .iter()
            .map(|arg| {
                if arg.starts_with("data/") || *arg == "shared/token" {
                    shown(arg)
                } else {
                    (*arg).to_owned()
                }
            })
            .collect();
        let output = stranger(program, &args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!output.status.success() && output.stdout.is_empty(), "{act}: {output:?}");
    }
    for name in ["esdp.db", "esdp.db-wal", "esdp.db-shm", "tokens.json", "tokens.lock", "lock", "watermark"] {
        assert_eq!(fs::metadata(data.join(name)).unwrap().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o700);
    let command_line = fs::read(format!("/proc/{id}/cmdline")).unwrap();
    assert!(!String::from_utf8_lossy(&command_line).contains(&token));

    assert_eq!(client.get("/v1/status")["sequence"], before, "nothing has changed");
    let changes = client.get("/v1/audit")["changes"].as_array().unwrap().clone();
    assert!(changes.iter().all(|change| change["actor"] != "anyone"), "{changes:?}");
    drop(service);
    let log = fs::read_to_string(log).unwrap();
    assert!(
        !log.contains(&token) && log.contains("shared/token"),
        "the path is logged, not the token: {log}"
    );
}

/// Half requests keep nobody out, not even others at the same address.
#[test]
fn half_requests_keep_nobody_out() {
    let data = tempfile::tempdir().unwrap();
    let config = data.path().join("serve.toml");
    fs::write(&config, "max_connections = 64").unwrap();
    let service = Service::start(&data.path().join("data"), &["--config", config.to_str().unwrap()]);
    let half = |head: &str| {
        let mut stream = TcpStream::connect(service.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let body = "POST /v1/slots HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{";
    let held: Vec<TcpStream> =
        (0..300).map(|number| half(if number % 2 == 0 { "GET / HT" } else { body })).collect();
    for _ in 0..20 {
        assert_eq!(service.client().get("/healthz")["status"], "ok");
    }
    // Who watches has a request under way, and stays.
    let mut watcher = half("GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    watcher.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let mut until = |part: &str| {
        let (mut heard, mut bytes) = (String::new(), [0; 4096]);
        while !heard.contains(part) {
            let count = std::io::Read::read(&mut watcher, &mut bytes).unwrap();
            assert!(count > 0, "it was closed: {heard}");
            heard += &String::from_utf8_lossy(&bytes[..count]);
        }
    };
    until("retry: 1000");
    let more: Vec<TcpStream> = (0..100).map(|_| half("GET / HT")).collect();
    service.client().ok("PUT", "/v1/cluster", &cluster(1).to_string());
    until("event: cluster");
    drop((held, more));
}

/// A path that somebody else has taken is not a socket of ours.
#[test]
fn a_socket_takes_no_place_of_something_else() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("socket");
    let listen = format!("unix:{}", path.display());
    let start = || {
        let mut command = esdp();
        command.args(["serve", "--listen", &listen, "--no-token", "--data"]).arg(place.path().join("data"));
        command
    };
    fs::write(&path, "mine").unwrap();
    let refused = start().output().unwrap();
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && why.contains("not a socket"), "{why}");
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    fs::remove_file(&path).unwrap();
    // One that nobody listens at any more is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let mut child = start().stdout(std::process::Stdio::piped()).spawn().unwrap();
    let status = || {
        let url = "http://localhost/readyz";
        let curl = Command::new("curl").args(["-s", "--unix-socket"]).arg(&path).arg(url).output().unwrap();
        serde_json::from_slice::<Value>(&curl.stdout).ok()
    };
    let ready = (0..400).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        status()
    });
    let ready = ready.expect("it listens");
    assert!(ready["warnings"][0].as_str().unwrap().contains("no token is needed"), "{ready}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!path.exists(), "it is taken away");
}

/// Root makes tokens for a service that runs as somebody else.
#[test]
fn tokens_that_root_makes_are_read_and_others_are_reported() {
    if !has_two_users() {
        return;
    }
    let place = place();
    let data = place.path().join("data");
    let copy: PathBuf = place.path().join("esdp");
    fs::copy(esdp().get_program(), &copy).unwrap();
    fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    let token = output(&["token", "create", "ops", "--role", "operator"], &data).trim().to_owned();
    let mut command = Command::new("setpriv");
    let id = NOBODY.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(&copy);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data).current_dir("/");
    let service = Service::spawn(command).unwrap();
    let mut client = service.client();
    client.token = Some(token);
    client.get("/v1/status");
    // Something else has made the file anew, for itself.
    let path = data.join("tokens.json");
    let text = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, &text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let refused = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        Some(client.send("GET", "/v1/status", "")).filter(|answer| answer.status == 401)
    });
    let refused = refused.expect("it is noticed").body;
    assert!(refused.contains("cannot read its tokens"), "{refused}");
    let ready = client.send("GET", "/readyz", "");
    assert!(ready.status == 503 && ready.body.contains("cannot read its tokens"), "{}", ready.body);
    std::os::unix::fs::chown(&path, Some(NOBODY), None).unwrap();
    let well = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        client.send("GET", "/v1/status", "").status == 200
    });
    assert!(well, "it is read as soon as it can be");
}

/// Processes that make and revoke tokens at once, and a service that looks on.
#[test]
fn tokens_of_many_processes_are_kept_and_gone() {
    let data = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = esdp();
        command.args(args).arg("--data").arg(data.path()).stdout(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let create = |name: &str| run(&["token", "create", name, "--role", "reader"]);
    let token = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let tokens = esdp_serve::tokens::Tokens::new(data.path());
    let (mut kept, mut last) = (Vec::new(), token(create("old-0")));
    for round in 0..200 {
        let (next, other) = (format!("old-{}", round + 1), format!("kept-{round}"));
        let revoked = format!("old-{round}");
        let children = [create(&next), run(&["token", "revoke", &revoked]), create(&other)];
        let [next, revoke, other] = children;
        let (next, other) = (token(next), token(other));
        assert!(revoke.wait_with_output().unwrap().status.success());
        tokens.reload();
        assert!(tokens.find(&last).is_err(), "round {round}: it was revoked");
        kept.push(other);
        last = next;
    }
    assert!(kept.iter().chain([&last]).all(|token| tokens.find(token).is_ok()), "none is lost");
    assert_eq!(tokens.valid(), kept.len() + 1);
}
