//! A client that draws requests, sends them until they are answered, and holds each answer against a ledger.

use super::draw::Draw;
use super::ledger::{Checked, Ledger, list, text};
use crate::service::{Answer, Client};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So many may wait before they are ended all together, or queues would only grow.
const MOST_QUEUED: usize = 60;
/// Older answers are not asked for again.
const RECENT: u64 = 500;

/// What a request is about.
#[derive(Debug, Clone)]
enum About {
    Site(Value),
    Turns(Vec<Value>),
    /// A known key with another body.
    Clash(String),
    /// Something that has to be refused, by a status.
    Wrong(&'static [u16]),
    End(String),
    Start(String, bool),
    Reports(Vec<Value>),
    Bar(String, bool),
    Forget,
    Merge,
}

/// A request that may be sent twice.
#[derive(Debug, Clone)]
struct Request {
    about: About,
    method: &'static str,
    path: String,
    body: String,
}

/// A client with all it knows.
pub struct Player {
    pub ledger: Ledger,
    pub draw: Draw,
    /// The answers of how many turns may be asked for again.
    pub recent: u64,
    /// Sent, and not answered.
    open: Option<Request>,
    /// How many requests of each sort were answered, by status, so that a run can say what it was worth.
    pub tally: BTreeMap<String, u64>,
}

/// A name as a part of a path.
fn quoted(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let quote = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(quote).collect()
}

impl Player {
    pub fn new(ledger: Ledger, draw: Draw) -> Self {
        Self { ledger, draw, recent: RECENT, open: None, tally: BTreeMap::new() }
    }

    /// Sends a request and takes note of the answer; false if the connection broke. What was not answered is
    /// sent again by the next call.
    ///
    /// # Errors
    /// With the request, the answer, and what is wrong with it.
    pub fn act(&mut self, client: &mut Client) -> Result<bool, String> {
        let again = self.open.is_some();
        let request = self.open.take().unwrap_or_else(|| self.request());
        let body = (!request.body.is_empty()).then_some(request.body.as_str());
        let Ok(answer) = client.try_send(request.method, &request.path, body) else {
            self.open = Some(request);
            return Ok(false);
        };
        let sort = format!("{:?}", request.about);
        let sort = sort.split(['(', ' ']).next().unwrap_or_default();
        *self.tally.entry(format!("{sort} {}", answer.status)).or_default() += 1;
        let noted = self.check_form(&answer).and_then(|()| self.note(&request.about, &answer, again));
        noted
            .map(|()| true)
            .map_err(|why| format!("{why}\n{} {} {}\n{answer:?}", request.method, request.path, request.body))
    }

    /// Whether everything is as the ledger has it.
    ///
    /// # Errors
    /// With what is not.
    pub fn check(&self, client: &mut Client) -> Checked {
        // Before the first site, or while it is not known whether it was taken.
        if self.ledger.site.is_null() {
            return Ok(());
        }
        self.ledger.check(&client.get("/v1/servers"), &client.get("/v1/status"))
    }

    /// Whether the last answers come again as they were.
    ///
    /// # Errors
    /// With what comes instead.
    pub fn check_answers(&mut self, client: &mut Client, most: u64) -> Checked {
        let first = self.ledger.turn.saturating_sub(most.min(self.recent));
        let recent = self.ledger.answers.values().filter(|(_, answer)| answer["slot"].as_u64() > Some(first));
        for (request, answer) in recent {
            let told = client.post("/v1/slots", request);
            if told != *answer {
                return Err(format!("{request} was answered by {answer}, and now by {told}"));
            }
        }
        Ok(())
    }

    /// Errors are as they are documented.
    fn check_form(&self, answer: &Answer) -> Checked {
        if answer.status == 200 {
            return Ok(());
        }
        let body = answer.json();
        let status: &[u16] = match body["code"].as_str().unwrap_or_default() {
            "invalid_json" => &[400],
            "not_found" => &[404],
            "conflict" => &[409],
            "invalid_value" | "key_reused" => &[422],
            _ => &[],
        };
        match status.contains(&answer.status) && body["message"].as_str().is_some_and(|text| !text.is_empty())
        {
            true => Ok(()),
            false => Err("an error that is not documented".to_owned()),
        }
    }

    fn note(&mut self, about: &About, answer: &Answer, again: bool) -> Checked {
        let (fine, ledger) = (answer.status == 200, &mut self.ledger);
        let must = |right: bool, why: &str| if right { Ok(()) } else { Err(why.to_owned()) };
        match about {
            // The core may refuse a site that contradicts itself; then nothing has changed.
            About::Site(site) if fine => ledger.change(site, &answer.json(), again),
            About::Site(_) => must(answer.status == 409, "a site is taken or contradicts itself"),
            About::Turns(requests) => {
                if let Some(kind) = never_starts(requests, answer) {
                    return must(!ledger.could_start(&kind), "a job of this kind could start");
                }
                must(fine, "it should be decided")?;
                let answer = answer.json();
                let answers = match &requests[..] {
                    [_] => std::slice::from_ref(&answer),
                    _ => list(&answer["slots"]),
                };
                must(answers.len() == requests.len(), "an answer to each")?;
                requests.iter().zip(answers).try_for_each(|(request, answer)| ledger.turn(request, answer))
            }
            About::Clash(field) => {
                let body = answer.json();
                if body["message"].as_str().is_some_and(|text| text.contains("can never start")) {
                    return must(answer.status == 409, "what can never start is a conflict");
                }
                must(body["code"] == "key_reused" && body["field"] == *field, "the key was used before")
            }
            About::Wrong(statuses) => must(statuses.contains(&answer.status), "it should be refused"),
            About::End(job) => match ledger.state(job) {
                None => must(answer.status == 404, "nobody knows the job"),
                Some(state) => {
                    ledger.end(job);
                    let was = &answer.json()["was"];
                    must(fine && (*was == state || (again && *was == "over")), &format!("it was {state}"))
                }
            },
            About::Start(slip, true) => {
                let known = ledger.slips.get(slip).is_some_and(|slip| ledger.busy.contains_key(&slip.job));
                must(!fine || answer.json()["changed"] == false || !known, "it was accepted before")
            }
            About::Start(slip, false) => {
                let (revoked, changed) = (ledger.revoke(slip), fine && answer.json()["changed"] == true);
                must(revoked == changed || (again && revoked), "a start that runs is revoked, and no other")
            }
            About::Reports(reports) => {
                must(fine, "a list is taken, and what is wrong in it is listed")?;
                Self::reported(ledger, reports, &answer.json(), again)
            }
            About::Bar(machine, barred) => {
                match barred {
                    true => ledger.barred.insert(machine.clone()),
                    false => ledger.barred.remove(machine),
                };
                must(fine && answer.json()["drained"] == *barred, "it should be taken")
            }
            About::Forget | About::Merge => must(fine, "it should be taken"),
        }
    }

    /// No outcome counts twice.
    fn reported(ledger: &mut Ledger, reports: &[Value], answer: &Value, again: bool) -> Checked {
        let refused: Vec<u64> =
            list(&answer["refused"]).iter().filter_map(|one| one["index"].as_u64()).collect();
        let (accepted, learned) = (answer["accepted"].as_u64(), answer["learned"].as_u64().unwrap_or(0));
        if accepted != Some((reports.len() - refused.len()) as u64) {
            return Err(format!("{accepted:?} accepted and {} refused", refused.len()));
        }
        // Outcomes belong to a turn: before the first one, the reports of others begin it.
        let others = |report: &Value| report["ticket"].is_null() && !report["port"].is_null();
        ledger.turn = ledger.turn.max(u64::from(reports.iter().any(others)));
        let mut most = 0;
        for (index, report) in reports.iter().enumerate() {
            if refused.contains(&(index as u64)) {
                continue;
            }
            let (slip, job, machine) =
                (text(&report["ticket"]), text(&report["job"]), text(&report["server"]));
            let start = slip.split('.').next().unwrap_or_default().to_owned();
            let meant = |name: &String, own: &super::ledger::Slip| match (&slip, &job) {
                (slip, _) if !slip.is_empty() => {
                    name == slip || (!slip.contains('.') && name.split('.').next() == Some(&start))
                }
                (_, job) => own.job == *job && own.machine == machine,
            };
            for (_, own) in ledger.slips.iter_mut().filter(|(name, own)| meant(name, own)) {
                most += if own.reported { 0 } else { own.tasks };
                own.reported = true;
            }
            if !text(&report["id"]).is_empty() {
                most += u64::from(ledger.reports.insert(text(&report["id"])));
            }
        }
        // What was told before and not answered is known the second time.
        ledger.learned = if again { None } else { ledger.learned.map(|sum| sum + learned) };
        match learned > most {
            true => Err(format!("{learned} learned, at most {most} are new")),
            false => Ok(()),
        }
    }

    /// What was learned is not known after an answer that did not arrive; it is read again.
    pub fn count_learned(&mut self, client: &mut Client) {
        if self.ledger.learned.is_none() {
            self.ledger.learned = client.get("/v1/status")["events"]["learned"].as_u64();
        }
    }

    fn request(&mut self) -> Request {
        let post = |path: &str, body: Value, about| Request {
            about,
            method: "POST",
            path: path.to_owned(),
            body: body.to_string(),
        };
        if self.ledger.site.is_null() || self.draw.chance(3) {
            let site = self.draw.site(&self.ledger.site);
            let body = site.to_string();
            return Request { about: About::Site(site), method: "PUT", path: "/v1/cluster".to_owned(), body };
        }
        if self.ledger.queued.len() > MOST_QUEUED {
            let all: Vec<&String> =
                self.ledger.queued.keys().chain(self.ledger.busy.keys().take(20)).collect();
            let turn = json!({"key": self.draw.name("clear"), "ended": all});
            return post("/v1/slots", turn.clone(), About::Turns(vec![turn]));
        }
        match self.draw.roll(100) {
            0..50 => {
                let count = if self.draw.chance(20) { 2 + self.draw.roll(5) } else { 1 };
                let mut turns: Vec<Value> = (0..count).map(|_| self.draw.turn(&self.ledger)).collect();
                if self.draw.chance(10)
                    && let Some((request, _)) = self.recent()
                {
                    // A request that was answered before gets the same answer.
                    turns[0] = request;
                }
                let body = if turns.len() == 1 { turns[0].clone() } else { json!(turns) };
                post("/v1/slots", body, About::Turns(turns))
            }
            50..53 if self.draw.clashes => self.clash(),
            50..56 => self.wrong(),
            56..64 => {
                let names = self.ledger.busy.keys().chain(self.ledger.queued.keys());
                let names: Vec<String> = names.chain(self.ledger.gone.iter().take(3)).cloned().collect();
                let job = match names.is_empty() || self.draw.chance(5) {
                    true => self.draw.name("nobody"),
                    false => self.draw.one(&names).clone(),
                };
                let path = format!("/v1/jobs/{}", quoted(&job));
                Request { about: About::End(job), method: "DELETE", path, body: String::new() }
            }
            64..72 => {
                let slips = self.slips();
                let slip =
                    if slips.is_empty() { "t999999".to_owned() } else { self.draw.one(&slips).clone() };
                let accepted = self.draw.chance(30);
                let body = json!({"ticket": slip, "accepted": accepted, "why": self.draw.name("why")});
                post("/v1/starts", body, About::Start(slip, accepted))
            }
            72..92 => {
                let count = 1 + self.draw.roll(6);
                let reports: Vec<Value> = (0..count).map(|_| self.report()).collect();
                post("/v1/observations", json!(reports), About::Reports(reports))
            }
            92..97 => {
                let machines = self.ledger.machines();
                let (machine, barred) = (self.draw.one(&machines).clone(), self.draw.chance(40));
                let path =
                    format!("/v1/servers/{}/{}", quoted(&machine), if barred { "drain" } else { "undrain" });
                post(&path, json!({}), About::Bar(machine, barred))
            }
            97..99 => {
                let machines = self.ledger.machines();
                let machine: &String = self.draw.one(&machines);
                let path = format!("/v1/servers/{}/reset", quoted(machine));
                post(&path, json!({}), About::Forget)
            }
            _ => self.wrong(),
        }
    }

    /// A recent request with its answer.
    fn recent(&mut self) -> Option<(Value, Value)> {
        let first = self.ledger.turn.saturating_sub(self.recent);
        let answers = self.ledger.answers.values();
        let recent: Vec<_> = answers.filter(|(_, answer)| answer["slot"].as_u64() > Some(first)).collect();
        (!recent.is_empty()).then(|| (*self.draw.one(&recent)).clone())
    }

    /// The names of the last tickets, those that are over among them.
    fn slips(&self) -> Vec<String> {
        let number = |slip: &&String| slip[1..].split('.').next().and_then(|n| n.parse::<u64>().ok());
        let mut slips: Vec<&String> = self.ledger.slips.keys().collect();
        slips.sort_by_key(number);
        slips.into_iter().rev().take(60).cloned().collect()
    }

    /// A key that was used before, for another request.
    fn clash(&mut self) -> Request {
        let Some((mut request, _)) = self.recent() else { return self.wrong() };
        let kinds = self.ledger.kinds();
        let job = json!({"id": self.draw.name("other"), "port": self.draw.one(&kinds)});
        request["jobs"] = json!([job]);
        let (field, body) = match self.draw.chance(50) {
            true => ("key", request),
            false => ("[1].key", json!([self.draw.turn(&self.ledger), request])),
        };
        let about = About::Clash(field.to_owned());
        Request { about, method: "POST", path: "/v1/slots".to_owned(), body: body.to_string() }
    }

    /// A request that makes no sense.
    fn wrong(&mut self) -> Request {
        let key = self.draw.name("wrong");
        let jobs = |jobs: Value| json!({"key": key, "jobs": jobs}).to_string();
        let good = self.ledger.goods()[0].clone();
        let machine = self.ledger.machines()[0].clone();
        let kind = self.ledger.kinds()[0].clone();
        let job = self.draw.name("job");
        let (slots, cluster) = (("POST", "/v1/slots"), ("PUT", "/v1/cluster"));
        let mut twice = self.ledger.site.clone();
        twice["servers"].as_array_mut().expect("a list").push(json!({"name": machine}));
        let cases: [((&'static str, &str), String, &'static [u16]); 12] = [
            (slots, jobs(json!([{"id": job, "port": "no such kind"}])), &[409]),
            (slots, jobs(json!([{"id": "", "port": kind}])), &[422]),
            (slots, jobs(json!([{"id": "x".repeat(254), "port": kind}])), &[422]),
            (slots, jobs(json!([{"id": job, "port": kind, "weight": 0}])), &[422]),
            (slots, jobs(json!([{"id": job, "port": kind, "wieght": 1}])), &[422]),
            (slots, json!({"key": "a\nb"}).to_string(), &[422]),
            (slots, json!({"key": key, "free": {"no such machine": {}}}).to_string(), &[409]),
            (
                slots,
                format!(
                    r#"{{"key":{},"free":{{{}:{{{}:1e308}}}}}}"#,
                    json!(key),
                    json!(machine),
                    json!(good)
                ),
                &[422],
            ),
            (slots, format!(r#"{{"key":{},"jobs":["#, json!(key)), &[400]),
            (cluster, twice.to_string(), &[409]),
            (cluster, r#"{"devices":["a"],"servers":[],"ports":[],"capacity":{"b":1}}"#.to_owned(), &[409]),
            (
                cluster,
                r#"{"devices":["a"],"servers":[{"name":"s","capacity":{"a":-1}}],"ports":[]}"#.to_owned(),
                &[422],
            ),
        ];
        let ((method, path), body, statuses) = self.draw.one(&cases).clone();
        Request { about: About::Wrong(statuses), method, path: path.to_owned(), body }
    }

    fn report(&mut self) -> Value {
        let slips = self.slips();
        let mut report = self.draw.outcome();
        match self.draw.roll(10) {
            0..7 if !slips.is_empty() => {
                let odd = ["t0", "t999999999", "t1.99999", "", "x", "t18446744073709551615.4294967295"];
                let slip: &String = self.draw.one(&slips);
                report["ticket"] = match self.draw.wild && self.draw.chance(3) {
                    true => json!(self.draw.one(&odd)),
                    false => json!(slip),
                };
            }
            7 if !self.ledger.busy.is_empty() => {
                let busy: Vec<&String> = self.ledger.busy.keys().collect();
                let job = (*self.draw.one(&busy)).clone();
                let machines: Vec<&String> = self.ledger.busy[&job].holds.keys().collect();
                report["server"] = json!(self.draw.one(&machines));
                report["job"] = json!(job);
            }
            _ => {
                let kinds = list(&self.ledger.site["ports"]).to_vec();
                let (kind, machines) = (self.draw.one(&kinds), self.ledger.machines());
                let known: Vec<String> = self.ledger.reports.iter().take(5).cloned().collect();
                report["port"] = kind["name"].clone();
                report["server"] = json!(self.draw.one(&machines));
                report["id"] = match known.is_empty() || self.draw.chance(80) {
                    true => json!(self.draw.name("report")),
                    false => json!(self.draw.one(&known)),
                };
                if let Some(group) = list(&kind["groups"]).first() {
                    report["group"] = group["name"].clone();
                }
            }
        }
        report
    }

    /// Learns what another service with the same site has learned: here, its own state once more.
    pub fn merge(&mut self, client: &mut Client) -> Checked {
        let state = client.send("GET", "/v1/state", "").body;
        let answer = client.send("PUT", "/v1/state?share=0.5", &state);
        *self.tally.entry(format!("Merge {}", answer.status)).or_default() += 1;
        self.note(&About::Merge, &answer, false)
    }
}

/// The kind of a job for which turns were refused because it can never start.
fn never_starts(requests: &[Value], answer: &Answer) -> Option<String> {
    let body = answer.json();
    let message =
        body["message"].as_str().filter(|text| answer.status == 409 && text.contains("never start"))?;
    let sent = requests.iter().flat_map(|request| list(&request["jobs"]));
    let kinds =
        sent.map(|job| text(&job["port"])).filter(|kind| message.contains(&format!("of port `{kind}`")));
    kinds.max_by_key(String::len)
}
