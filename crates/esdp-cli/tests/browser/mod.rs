//! A headless Chromium, driven through its DevTools protocol.

#![allow(dead_code, reason = "each test uses a part of it")]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// How long the browser may take to start and to answer.
const PATIENCE: Duration = Duration::from_secs(60);

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

const MISSING: &str = "the browser test needs Chromium and did not find it: install it with `apt install \
                       chromium` \
                       (`cargo xtask test` does so by itself when it runs as root on Debian)";

/// A running browser with one open page.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    page: String,
    next: u64,
    events: VecDeque<Value>,
    /// Addresses that the page may ask.
    home: Option<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser with a fresh profile. Panics with what to install where there is none.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with more arguments.
    pub fn start_with(args: &[&str]) -> Self {
        let profile = TempDir::new().expect("a place for the profile");
        let process = NAMES.iter().find_map(|name| start(name, profile.path(), args)).expect(MISSING);
        // Held from here on, so that a failure below ends the process too.
        let mut guard = Guard(Some(process));
        let (port, path) = address(profile.path(), guard.0.as_mut().expect("just put there"));
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the browser listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        let (socket, _) =
            tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream).expect("a web socket");
        let process = guard.0.take().expect("still there");
        let mut browser = Self {
            process,
            socket,
            page: String::new(),
            next: 0,
            events: VecDeque::new(),
            home: None,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let session =
            browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.page = session["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method and returns its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut request = json!({"id": id, "method": method, "params": parameters});
        if !self.page.is_empty() {
            request["sessionId"] = json!(self.page);
        }
        self.socket.send(Message::text(request.to_string())).expect("the browser listens");
        loop {
            let answer = self.receive();
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    fn receive(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().expect("the browser answers in time") {
                return serde_json::from_str(&text).expect("the browser speaks JSON");
            }
        }
    }

    /// Opens a file as a window of some width, light or dark, and waits until it is loaded.
    pub fn open(&mut self, file: &Path, width: u32, dark: bool) {
        self.home = None;
        self.show(&format!("file://{}", file.display()), width, dark);
    }

    /// Opens the page of a service, which may ask that service and nobody else.
    pub fn visit(&mut self, url: &str, width: u32, dark: bool) {
        self.home = Some(format!("{url}/"));
        self.show(url, width, dark);
    }

    fn show(&mut self, url: &str, width: u32, dark: bool) {
        let phone = width < 600;
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": phone});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        self.media("", scheme);
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        let start = Instant::now();
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            assert!(start.elapsed() < PATIENCE, "the page does not load");
            let event = self.receive();
            self.events.push_back(event);
        }
        self.frame();
    }

    /// Emulates a medium (`print`, or the screen for an empty text) and a colour scheme.
    pub fn media(&mut self, medium: &str, scheme: &str) {
        let feature = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": medium, "features": feature}));
    }

    /// Evaluates an expression in the page.
    pub fn ask(&mut self, expression: &str) -> Value {
        let question = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", question);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until the page has drawn what it was told to.
    pub fn frame(&mut self) {
        self.ask(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
        );
    }

    /// Moves, presses or releases the mouse.
    pub fn mouse(&mut self, kind: &str, x: f64, y: f64) {
        let pressed = u8::from(kind != "mouseMoved" && kind != "mouseReleased");
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event =
            json!({"type": kind, "x": x, "y": y, "button": button, "buttons": pressed, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Draws with the mouse from one place to another.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from.0, from.1);
        self.mouse("mousePressed", from.0, from.1);
        for step in 1..=4 {
            let share = f64::from(step) / 4.0;
            let place = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            let event =
                json!({"type": "mouseMoved", "x": place.0, "y": place.1, "button": "left", "buttons": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
        self.mouse("mouseReleased", to.0, to.1);
        self.frame();
    }

    /// Waits until an expression is true in the page; panics with what it was for.
    pub fn until(&mut self, what: &str, expression: &str) {
        let start = Instant::now();
        while self.ask(expression) != true {
            assert!(start.elapsed() < PATIENCE * 3, "{what} does not come: {expression}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        // Buttons and dialogs go by the number of a key, and Enter by its text.
        let (number, text) = match key {
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            _ => (0, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number, "text": text});
            self.call("Input.dispatchKeyEvent", event);
        }
        self.frame();
    }

    /// A picture of what is seen, or of the whole page.
    pub fn screenshot(&mut self, file: &Path, whole: bool) {
        self.capture(file, json!({"captureBeyondViewport": whole}));
    }

    /// A picture of the top of the page, this many pixels wide and high.
    pub fn screenshot_top(&mut self, file: &Path, width: u32, height: u32) {
        self.capture(file, json!({"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}));
    }

    fn capture(&mut self, file: &Path, parameters: Value) {
        let picture = self.call("Page.captureScreenshot", parameters);
        let bytes = data_encoding::BASE64.decode(picture["data"].as_str().expect("a picture").as_bytes());
        std::fs::write(file, bytes.expect("base64")).expect("the picture can be written");
    }

    /// What went wrong since the page was opened: errors and warnings of the console, and
    /// requests that leave the file.
    pub fn complaints(&mut self) -> Vec<String> {
        // An answer flushes the events before it.
        self.ask("1");
        let home = self.home.as_deref();
        self.events.iter().filter_map(|event| complaint(event, home)).collect()
    }
}

fn complaint(event: &Value, home: Option<&str>) -> Option<String> {
    let parameters = &event["params"];
    let bad = match event["method"].as_str()? {
        "Runtime.exceptionThrown" => true,
        "Runtime.consoleAPICalled" => {
            matches!(parameters["type"].as_str(), Some("error" | "warning" | "assert"))
        }
        "Log.entryAdded" => matches!(parameters["entry"]["level"].as_str(), Some("error" | "warning")),
        "Network.requestWillBeSent" => {
            let address = parameters["request"]["url"].as_str().unwrap_or_default();
            let inside = ["file:", "data:", "blob:"].into_iter().chain(home);
            !inside.into_iter().any(|inside| address.starts_with(inside))
        }
        _ => false,
    };
    bad.then(|| event.to_string())
}

fn start(name: &str, profile: &Path, args: &[&str]) -> Option<Child> {
    let mut command = Command::new(name);
    command.args(["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]);
    // The sandbox cannot start as root or in most containers, and the page is our own.
    command.args(["--no-sandbox", "--disable-dev-shm-usage"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg("--remote-debugging-port=0").arg(format!("--user-data-dir={}", profile.display()));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

/// The port and path the browser writes into its profile once it listens.
fn address(profile: &Path, process: &mut Child) -> (u16, String) {
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(profile.join("DevToolsActivePort")).unwrap_or_default();
        if let Some((port, path)) = text.split_once('\n')
            && let Ok(port) = port.trim().parse()
        {
            return (port, path.trim().to_owned());
        }
        if let Ok(Some(status)) = process.try_wait() {
            panic!(
                "Chromium ended at once with {status}: try `chromium --headless --no-sandbox about:blank`"
            );
        }
        assert!(start.elapsed() < PATIENCE, "Chromium started and does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Ends the browser when the test fails before it has one.
struct Guard(Option<Child>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(process) = &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({"id": self.next + 1, "method": "Browser.close"}).to_string();
        // Asked to close, it ends its helpers as well; killed, it is gone in any case.
        let asked = self.socket.send(Message::text(close)).is_ok();
        let start = Instant::now();
        while asked && start.elapsed() < Duration::from_secs(5) && matches!(self.process.try_wait(), Ok(None))
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
