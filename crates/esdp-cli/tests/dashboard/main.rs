//! The dashboard in a real browser, on a real service: with the demonstration's cluster behind it, with a
//! token, after a crash.
//!
//! Pictures of it are left in the `tmp` folder of the target directory, to be looked at.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../service/mod.rs"]
mod service;
mod sites;

use browser::Browser;
use serde_json::{Value, json};
use service::{Service, cluster, esdp, output};
use std::path::{Path, PathBuf};

/// Where axe-core is; `cargo xtask test` installs it and says so.
fn axe() -> String {
    let script = std::env::var_os("ESDP_AXE").map(PathBuf::from).or_else(installed);
    let missing = "the test of the dashboard needs axe-core: `cargo xtask test test` installs it, or name \
                   an axe.min.js in \
                   ESDP_AXE";
    std::fs::read_to_string(script.expect(missing)).expect(missing)
}

/// What an earlier `cargo xtask test` has left in `target/tools`.
fn installed() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let scripts = std::fs::read_dir(tools).ok()?.flatten().map(|entry| entry.path());
    scripts.map(|home| home.join("node_modules/axe-core/axe.min.js")).find(|script| script.is_file())
}

fn assert_accessible(browser: &mut Browser, axe: &str, what: &str) {
    browser.ask(&format!("{axe};true"));
    let found = browser.ask(
        "axe.run().then((found) => ({ passed: found.passes.length,
           violations: found.violations.map((rule) => [rule.id,
               rule.nodes.map((node) => node.failureSummary + node.html)]) }))",
    );
    assert!(found["passed"].as_u64().unwrap() > 10, "axe has looked at nothing: {found}");
    assert_eq!(found["violations"], json!([]), "{what}");
}

fn assert_no_complaints(browser: &mut Browser) {
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

fn text(browser: &mut Browser, selector: &str) -> String {
    let text = browser.ask(&format!("document.querySelector({}).textContent", json!(selector)));
    text.as_str().unwrap_or_else(|| panic!("{selector} has no text")).to_owned()
}

fn press(browser: &mut Browser, selector: &str) {
    browser.ask(&format!("document.querySelector({}).click()", json!(selector)));
}

const ROWS: &str = "[...document.querySelectorAll('#servers tbody tr:not(.gap)')]";

#[test]
fn an_operator_sees_a_service_at_work() {
    let axe = axe();
    let temporary = tempfile::tempdir().unwrap();
    let mut command = esdp();
    command.args(["demo", "--no-open", "--pace", "8"]).env("TMPDIR", temporary.path());
    let service = Service::spawn(command).unwrap();
    let url = format!("http://{}", service.address);
    let mut browser = Browser::start();
    browser.visit(&url, 1280, false);
    browser.until("the board", "!document.getElementById('board').hidden");
    a_decision_arrives(&mut browser, &service);
    // A hidden row of the table is never the first: it is sorted, and only rows in sight are there.
    browser.until(
        "the slow server",
        &format!(
            "{ROWS}[0]?.textContent.startsWith('a100-3') && {ROWS}[0].cells[1].textContent.includes('Slow')"
        ),
    );
    assert!(text(&mut browser, "#tile-slow").contains("a100-3 0."));
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    browser.screenshot(&pictures.join("dashboard-light.png"), true);
    // What a reader of the README sees: `cargo xtask picture` copies it to `docs/figures`.
    browser.screenshot_top(&pictures.join("dashboard-readme.png"), 1280, 772);
    reads_why(&mut browser);
    filters_and_sorts(&mut browser);
    assert_accessible(&mut browser, &axe, "light");
    uses_the_keyboard(&mut browser, &axe);
    assert_no_complaints(&mut browser);

    for (width, dark, name) in [(1280, true, "dark"), (400, false, "narrow"), (400, true, "narrow-dark")] {
        browser.visit(&url, width, dark);
        browser.until(
            "the board",
            "!document.getElementById('board').hidden && document.querySelector('.reason') !== null",
        );
        assert_eq!(
            browser.ask("document.documentElement.scrollWidth"),
            width,
            "{name}: the page is too wide"
        );
        let ground = browser.ask("getComputedStyle(document.documentElement).backgroundColor");
        assert_eq!(ground == "rgb(18, 21, 27)", dark, "{name}: {ground}");
        assert_accessible(&mut browser, &axe, name);
        browser.screenshot(&pictures.join(format!("dashboard-{name}.png")), true);
        assert_no_complaints(&mut browser);
    }
    assert_eq!(service.stop(), Some(0));
    assert_eq!(
        std::fs::read_dir(temporary.path()).unwrap().count(),
        0,
        "the demonstration leaves nothing behind"
    );
}

/// A job of our own, decided while the page is open, shows up in it.
fn a_decision_arrives(browser: &mut Browser, service: &Service) {
    browser.until("the events", "document.getElementById('link-text').textContent === 'Live'");
    browser.ask(
        "(() => { window.seen = new Set(); const body = document.querySelector('#decisions tbody');
           new MutationObserver(() => { for (const row of body.rows) window.seen.add(row.dataset.key); })
             .observe(body, { childList: true }); })()",
    );
    let job = json!({"key": "browser", "jobs": [{"id": "browser", "port": "etl"}]});
    let slot = service.client().post("/v1/slots", &job)["slot"].as_u64().unwrap();
    browser.until("the decision", &format!("window.seen.has('{slot}')"));
}

fn reads_why(browser: &mut Browser) {
    let started = "[...document.querySelectorAll('#decisions tbody tr')].find((row) => \
                   row.cells[2].textContent !== 'nothing')";
    browser.until("a decision that starts something", &format!("Boolean({started})"));
    let slot = browser.ask(&format!(
        "(() => {{ const row = {started}; row.querySelector('button').click(); return \
         row.cells[0].textContent; }})()"
    ));
    let slot = slot.as_str().unwrap();
    browser.until(
        "the reasons",
        &format!("document.getElementById('why-title').textContent.endsWith('slot {slot}')"),
    );
    let why = text(browser, "#why-body .reason");
    for part in [" on ", "Expected0.", "Bonus for doubt", "Cost0.000", "Outcomes", "Next best"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

fn filters_and_sorts(browser: &mut Browser) {
    let names = format!("{ROWS}.map((row) => row.cells[0].textContent)");
    browser.ask(
        "(() => { const search = document.getElementById('search'); search.value = 'no-gpu';
           search.dispatchEvent(new Event('input')); })()",
    );
    browser.until("the filter", &format!("{ROWS}.length === 4"));
    press(browser, "[data-sort=name]");
    press(browser, "[data-sort=name]");
    browser.frame();
    assert_eq!(browser.ask(&names), json!(["cpu-3", "cpu-2", "cpu-1", "cpu-0"]));
    assert_eq!(text(browser, "#shown"), "4 of 18 servers");
    assert_eq!(text(browser, "#servers th[aria-sort=descending]"), "Server");
    let heat =
        "[...document.querySelectorAll('#heat tbody tr:not(.gap)')].map((row) => row.cells[0].textContent)";
    assert_eq!(
        browser.ask(heat),
        json!(["cpu-3", "cpu-2", "cpu-1", "cpu-0"]),
        "the heat map has the same servers"
    );
    browser.ask(
        "(() => { const search = document.getElementById('search'); search.value = '';
           search.dispatchEvent(new Event('input')); })()",
    );
    press(browser, "[data-sort=verdict]");
    browser.until("all servers", "document.getElementById('servers').getAttribute('aria-rowcount') === '19'");
}

/// Opens the slow server, drains it, closes it.
fn uses_the_keyboard(browser: &mut Browser, axe: &str) {
    let dialog = "document.getElementById('detail').open";
    browser.ask(
        "[...document.querySelectorAll('#servers .name')].find((name) => name.textContent === \
              'a100-3').focus()",
    );
    browser.key("Enter");
    browser.until("the server", dialog);
    assert!(text(browser, "#detail-text").starts_with("Slow: 0."));
    assert_accessible(browser, axe, "a server");
    press(browser, "#detail-drain");
    browser.until("the drain", "document.getElementById('detail-drain').textContent === 'Undrain'");
    press(browser, "#detail-drain");
    browser.until("its end", "document.getElementById('detail-drain').textContent === 'Drain'");
    browser.key("Escape");
    browser.until("the end of the dialog", &format!("!{dialog}"));
    assert_eq!(browser.ask("document.activeElement.textContent"), "a100-3", "the focus is back where it was");
}

#[test]
fn it_asks_for_a_token_and_comes_back_after_a_crash() {
    let data = tempfile::tempdir().unwrap();
    let token = output(&["token", "create", "someone", "--role", "operator"], data.path());
    let service = Service::start(data.path(), &[]);
    let address = service.address;
    let mut client = service.client();
    client.token = Some(token.trim().to_owned());
    client.ok("PUT", "/v1/cluster", &cluster(2000).to_string());
    for round in 0..20 {
        let report = |server: usize| {
            let work = if server == 1234 { 40 } else { 90 + (server + 7 * round) % 20 };
            json!({"port": "train", "server": format!("n{server}"), "work": work, "seconds": 1,
                "id": format!("{round}-{server}")})
        };
        client.post("/v1/observations", &(0..2000).map(report).collect());
    }
    let axe = axe();
    let mut browser = Browser::start();
    browser.visit(&format!("http://{address}"), 1280, true);
    browser.until("the question", "!document.getElementById('token-part').hidden");
    assert_accessible(&mut browser, &axe, "the token");
    browser.ask(&format!(
        "(() => {{ document.getElementById('token').value = {}; \
         document.getElementById('token-form').requestSubmit(); }})()",
        Value::from(token.trim())
    ));
    browser.until("the board", "!document.getElementById('board').hidden");
    browser.until("the events", "document.getElementById('link-text').textContent === 'Live'");

    // Thousands of servers: the page holds those in sight.
    assert_eq!(browser.ask("document.getElementById('servers').getAttribute('aria-rowcount')"), "2001");
    browser.until("the slow one of 2,000", &format!("{ROWS}[0].textContent.startsWith('n1234')"));
    browser.screenshot(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard-2000.png"), true);
    let rows = browser.ask(&format!("{ROWS}.length")).as_u64().unwrap();
    assert!((5..100).contains(&rows), "{rows} rows");
    browser.ask("document.getElementById('servers-region').scrollTop = 1e9");
    browser.until("the last server", &format!("{ROWS}.at(-1).ariaRowIndex === '2001'"));

    service.kill();
    browser.until("the loss", "document.getElementById('link-text').textContent === 'Reconnecting'");
    let mut command = esdp();
    command
        .args(["serve", "--listen", &address.to_string(), "--log-level", "warn"])
        .arg("--data")
        .arg(data.path());
    let service = Service::spawn(command).unwrap();
    browser.until("the service", "document.getElementById('link-text').textContent === 'Live'");
    let mut client = service.client();
    client.token = Some(token.trim().to_owned());
    let slot = client.post("/v1/slots", &json!({"key": "after", "jobs": [{"id": "after", "port": "train"}]}));
    browser.until(
        "a decision after the crash",
        &format!("document.querySelector('#decisions tr[data-key=\"{}\"]') !== null", slot["slot"]),
    );
}

#[test]
fn doubted_outcomes_are_shown_and_settled() {
    let directory = tempfile::tempdir().unwrap();
    let service = Service::start(directory.path(), &[]);
    let mut client = service.client();
    let servers: Vec<Value> =
        (0..3).map(|at| json!({"name": format!("n{at}"), "capacity": {"cpu": 1}})).collect();
    let described =
        json!({"devices": ["cpu"], "servers": servers, "ports": [{"name": "p", "request": {"cpu": 1}}]});
    client.ok("PUT", "/v1/cluster", &described.to_string());
    for slot in 0..12 {
        let jobs: Vec<Value> =
            (0..3).map(|job| json!({"id": format!("j{slot}.{job}"), "port": "p"})).collect();
        let decided = client.post("/v1/slots", &json!({"key": format!("k{slot}"), "jobs": jobs}));
        for place in decided["placements"].as_array().unwrap() {
            client.post("/v1/observations", &json!({"ticket": place["ticket"], "rate": 10.0}));
            client.ok("DELETE", &format!("/v1/jobs/{}", place["job"].as_str().unwrap()), "");
        }
    }
    for (id, rate) in [("evil", 1e30), ("zero", 0.0)] {
        let said = json!({"port": "p", "server": "n1", "id": id, "rate": rate});
        assert_eq!(client.post("/v1/observations", &said)["set_aside"], 1);
    }
    let mut browser = Browser::start();
    browser.visit(&format!("http://{}", service.address), 1280, false);
    let rows = "document.querySelectorAll('#aside tbody tr').length";
    // Reports without a ticket that contradict a server: one line for their source, with the last of them.
    browser.until(
        "the doubted outcomes",
        &format!("!document.getElementById('aside-part').hidden && {rows} === 1"),
    );
    let row = text(&mut browser, "#aside tbody tr");
    for part in ["p", "n1", "anyone", "contradicts the jobs that ran here", "said 2 times"] {
        assert!(row.contains(part), "{part}: {row}");
    }
    browser.screenshot(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard-doubted.png"), true);
    assert_accessible(&mut browser, &axe(), "with doubted outcomes");
    press(&mut browser, "#aside tbody tr button:last-of-type");
    browser.until("an empty list", "document.getElementById('aside-part').hidden");
    assert_eq!(client.get("/v1/outcomes/aside")["outcomes"], json!([]));
    assert_eq!(client.get("/v1/outcomes/aside")["total"], 2);
    assert_no_complaints(&mut browser);
}

const JOBS: &str = "[...document.querySelectorAll('#jobs tbody tr')]";

fn choose(browser: &mut Browser, id: &str, value: &str, event: &str) {
    browser.ask(&format!(
        "(() => {{ const input = document.getElementById('{id}'); input.value = {};
           input.dispatchEvent(new Event('{event}')); }})()",
        json!(value)
    ));
}

#[test]
fn a_job_is_found_among_ten_thousand_and_made_more_urgent() {
    let axe = axe();
    let data = tempfile::tempdir().unwrap();
    let service = Service::start(data.path(), &["--policy", "first-fit"]);
    let mut client = service.client();
    let port = |name: &str| json!({"name": name, "request": {"gpu": 1}});
    let described = json!({"devices": ["gpu"], "servers": [{"name": "n0", "capacity": {"gpu": 4}}],
        "ports": [port("train"), port("eval")]});
    client.ok("PUT", "/v1/cluster", &described.to_string());
    let ports = ["train", "eval"];
    let job = |number: usize| {
        let hostile = if number == 9_990 { "<img src=x onerror=alert(1)>" } else { "" };
        json!({"id": format!("job-{number}{hostile}"), "port": ports[number % 2], "tenant": "lab"})
    };
    client.post("/v1/slots", &json!({"key": "k", "jobs": (0..10_000).map(job).collect::<Vec<_>>()}));
    let mut browser = Browser::start();
    browser.visit(&format!("http://{}", service.address), 1280, false);
    browser.until("the jobs", &format!("{JOBS}.length === 100"));
    browser.until(
        "why they wait",
        "document.getElementById('jobs-summary').textContent.startsWith('9,996 jobs')",
    );
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    browser.screenshot(&pictures.join("dashboard-jobs.png"), true);
    assert_accessible(&mut browser, &axe, "jobs");

    // The queue of a type, in its order; by the keyboard to its second page and back.
    choose(&mut browser, "job-port", "eval", "change");
    let first = |job: &str| {
        format!("{JOBS}[4]?.cells[1].textContent === 'eval' && {JOBS}[0].cells[3].textContent === '{job}'")
    };
    browser.until("its queue", &first("1"));
    browser.ask("document.getElementById('jobs-next').focus()");
    browser.key("Enter");
    browser.until("the second page", &first("101"));
    assert_eq!(text(&mut browser, "#jobs-page"), "page 2");
    press(&mut browser, "#jobs-back");
    browser.until("the first page", &first("1"));
    assert_eq!(browser.ask("document.getElementById('jobs-back').ariaDisabled"), "true");
    choose(&mut browser, "job-port", "", "change");

    choose(&mut browser, "job-state", "running", "change");
    choose(&mut browser, "job-server", "n0", "input");
    browser.until("those that run", &format!("{JOBS}.length === 4"));
    assert!(browser.ask(&format!("{JOBS}[0].cells[6].textContent")).as_str().unwrap().ends_with("on n0"));
    choose(&mut browser, "job-server", "", "input");
    choose(&mut browser, "job-state", "waiting", "change");
    choose(&mut browser, "job-name", "JOB-9990", "input");
    browser.until("the one", &format!("{JOBS}.length === 1"));
    browser.ask(&format!("{JOBS}[0].querySelector('button').focus()"));
    browser.key("Enter");
    browser.until("its page", "document.querySelectorAll('#job-facts dt').length > 6");
    let facts = text(&mut browser, "#job-facts");
    for fact in ["Statewaits", "Typetrain", "Tenantlab", "Position4,992 of 4,996", "Whyno room: gpu: 0 free"]
    {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    assert_accessible(&mut browser, &axe, "a job");
    browser.screenshot(&pictures.join("dashboard-job.png"), false);
    browser.ask("(() => { document.getElementById('job-weight').value = '2.5'; })()");
    browser.ask("document.getElementById('job-weight').focus()");
    browser.key("Enter");
    browser.until("the change", "document.getElementById('job-said').textContent.startsWith('Done')");
    assert_eq!(text(&mut browser, "#job-said"), "Done: position 1 of 4,996.");
    browser.key("Escape");
    browser.until("the end of the dialog", "!document.getElementById('job').open");
    let first = client.get("/v1/jobs?state=waiting&port=train&limit=1");
    assert_eq!((&first["jobs"][0]["weight"], &first["jobs"][0]["position"]), (&json!(2.5), &json!(1)));
    choose(&mut browser, "job-name", "nobody", "input");
    browser.until("nothing", "document.getElementById('jobs-summary').textContent.startsWith('No such job')");
    assert_no_complaints(&mut browser);

    browser.visit(&format!("http://{}", service.address), 400, true);
    browser.until("the jobs", &format!("{JOBS}.length === 100"));
    assert_eq!(browser.ask("document.documentElement.scrollWidth"), 400, "the page is too wide");
    assert_accessible(&mut browser, &axe, "narrow");
    browser.screenshot(&pictures.join("dashboard-jobs-narrow.png"), true);
    assert_eq!(service.stop(), Some(0));
}
