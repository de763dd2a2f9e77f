//! Pages of other sites, forms, and names of other sites that lead here, in a real browser; and the link
//! that opens the page.

use crate::browser::Browser;
use crate::service::{self, Service, cluster, output};
use serde_json::json;

/// A page of somebody else, at a port of this machine.
fn foreign_page() -> u16 {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let page = "<!doctype html><title>cats</title><link rel=icon href='data:,'>";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length:";
            let _ = write!(stream, "{head} {}\r\n\r\n{page}", page.len());
        }
    });
    port
}

/// Whatever a page of another site makes a browser send, it changes nothing and reads nothing, also where no
/// token is needed.
#[test]
fn other_sites_cannot_use_a_browser() {
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    client.post("/v1/slots", &json!({"key": "k", "jobs": [{"id": "victim", "port": "train"}]}));
    let port = service.address.port();
    let before = client.get("/v1/status")["sequence"].clone();
    let refused = |client: &mut service::Client| -> f64 {
        let page = client.send("GET", "/metrics", "").body;
        let line = page.lines().find(|line| line.contains("status=\"4xx\"")).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let names = "MAP 127.evil.example 127.0.0.1, MAP 127.0.0.1.nip.io 127.0.0.1, MAP evil.example 127.0.0.1";
    let mut browser = Browser::start_with(&[&format!("--host-resolver-rules={names}")]);

    // A name of somebody else that leads here: the page of the service itself is not even shown.
    for name in ["127.evil.example", "127.0.0.1.nip.io", "evil.example"] {
        browser.visit(&format!("http://{name}:{port}"), 800, false);
        assert_eq!(browser.ask("location.hostname"), name);
        let asked = browser.ask(
            "Promise.all([['/v1/status', {}], ['/v1/servers/n0/drain', {method: 'POST'}],
               ['/v1/jobs/victim', {method: 'DELETE'}],
               ['/v1/cluster', {method: 'PUT', body: '{}', headers: {'content-type': 'application/json'}}]]
             .map(async ([path, how]) => (await fetch(path, how)).status))",
        );
        assert_eq!(asked, json!([403, 403, 403, 403]), "{name}");
    }

    // A page of another site, as it is.
    browser.visit(&format!("http://evil.example:{}", foreign_page()), 800, false);
    assert_eq!(browser.ask("document.title"), "cats");
    let home = json!(format!("http://127.0.0.1:{port}"));
    let count = refused(&mut client);
    let sent = browser.ask(&format!(
        "Promise.all([['/v1/servers/n0/drain', {{method: 'POST', mode: 'no-cors'}}],
           ['/v1/slots', {{method: 'POST', mode: 'no-cors', body: '{{\"key\":\"csrf\"}}'}}],
           ['/v1/status', {{mode: 'no-cors'}}], ['/v1/status', {{}}],
           ['/v1/jobs/victim', {{method: 'DELETE'}}]]
         .map(([path, how]) => fetch({home} + path, how).then((answer) => answer.type, () => 'failed')))"
    ));
    // What can be sent without asking comes here, and is refused; a page never sees what it was answered.
    assert!(!sent.as_array().unwrap().iter().any(|kind| kind == "basic" || kind == "cors"), "{sent}");
    browser.ask(&format!("navigator.sendBeacon({home} + '/v1/slots', new Blob(['{{\"key\":\"csrf\"}}']))"));
    for kind in ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"] {
        browser.ask(&format!(
            "(() => {{ const frame = document.createElement('iframe'); frame.name = 'f';
               document.body.append(frame);
               const form = document.createElement('form'); form.method = 'post'; form.target = 'f';
               form.action = {home} + '/v1/servers/n1/drain'; form.enctype = '{kind}';
               document.body.append(form); form.submit(); }})()"
        ));
        browser.frame();
    }
    let due = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while refused(&mut client) < count + 4.0 && std::time::Instant::now() < due {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(refused(&mut client) >= count + 4.0, "they came, and were refused");
    assert_eq!(client.get("/v1/status")["sequence"], before, "nothing has changed");

    // A page of our own may do all of it.
    browser.visit(&format!("http://127.0.0.1:{port}"), 800, false);
    let drained =
        browser.ask("fetch('/v1/servers/n0/drain', {method: 'POST'}).then((answer) => answer.status)");
    assert_eq!(drained, 200);
}

/// The link of the first start opens the page, and its token does not stay in the address.
#[test]
fn the_link_of_the_first_start_opens_the_page() {
    let data = tempfile::tempdir().unwrap();
    let token = output(&["token", "create", "first", "--role", "operator"], data.path()).trim().to_owned();
    let service = Service::start(data.path(), &[]);
    let mut client = service.client();
    client.token = Some(token.clone());
    client.ok("PUT", "/v1/cluster", &cluster(2).to_string());
    let mut browser = Browser::start();
    browser.visit(&format!("http://{}/?token={token}", service.address), 1280, false);
    browser.until("the board", "!document.getElementById('board').hidden");
    assert_eq!(browser.ask("location.href"), format!("http://{}/", service.address));
    assert_eq!(
        browser.ask("history.length > 0 && !document.documentElement.outerHTML.includes('esdp_')"),
        true
    );
    // It is kept for the tab.
    browser.visit(&format!("http://{}", service.address), 1280, false);
    browser.until("the board", "!document.getElementById('board').hidden");
}
