//! What clients know of a service: what they sent, what they were told, and what follows from both by the
//! words of `docs/service.md` alone. It shares no line with the core and reads nothing but JSON.
//!
//! Words of its own: a *site* has *machines* with amounts of *goods*; jobs of a *kind* consist of *crews*; a
//! job is queued, then busy, then gone. Whatever contradicts the ledger is an error with both sides of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Amounts of goods.
pub type Amounts = BTreeMap<String, u64>;

/// What is wrong.
pub type Checked = Result<(), String>;

/// Everything that clients know.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// The site, as it was sent last.
    pub site: Value,
    /// Jobs that wait, with their kinds.
    pub queued: BTreeMap<String, String>,
    pub busy: BTreeMap<String, Busy>,
    pub gone: BTreeSet<String>,
    pub slips: BTreeMap<String, Slip>,
    /// Machines that take nothing new.
    pub barred: BTreeSet<String>,
    /// Requests for turns and their answers, by key.
    pub answers: BTreeMap<String, (Value, Value)>,
    pub turn: u64,
    /// Outcomes that were said to be learned; none if an answer was lost.
    pub learned: Option<u64>,
    /// Names of reports that were taken.
    pub reports: BTreeSet<String>,
}

/// A job that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    pub kind: String,
    pub slips: Vec<String>,
    /// What it holds, by machine.
    pub holds: BTreeMap<String, Amounts>,
}

/// Tasks of a crew on a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slip {
    pub job: String,
    pub machine: String,
    pub tasks: u64,
    /// Whether somebody has reported of it.
    pub reported: bool,
}

/// The tasks of a kind that are alike.
struct Crew {
    needs: Amounts,
    most: u64,
    least: u64,
}

/// What a job of a kind consists of.
struct Shape {
    crews: BTreeMap<String, Crew>,
    /// The fewest tasks of all crews together.
    least: u64,
    /// Any number of machines, each once.
    parts: bool,
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn amounts(value: &Value) -> Amounts {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(good, amount)| (good.clone(), amount.as_u64().unwrap_or(0))).collect()
}

fn add(sum: &mut BTreeMap<String, Amounts>, more: &BTreeMap<String, Amounts>) {
    for (machine, amounts) in more {
        let sum = sum.entry(machine.clone()).or_default();
        amounts.iter().for_each(|(good, amount)| *sum.entry(good.clone()).or_default() += amount);
    }
}

fn named<'a>(all: &'a Value, name: &str) -> Option<&'a Value> {
    list(all).iter().find(|one| one["name"] == name)
}

fn shape(kind: &Value) -> Shape {
    let crew = |needs: &Value, most: u64, least: u64| Crew { needs: amounts(needs), most, least };
    if kind["parts"] == true {
        let crews = [(String::new(), crew(&kind["request"], 1, 0))].into();
        return Shape { crews, least: 1, parts: true };
    }
    let Some(groups) = kind["groups"].as_array() else {
        let most = kind["tasks"].as_u64().unwrap_or(1);
        let least = kind["min"].as_u64().unwrap_or(most);
        return Shape {
            crews: [("worker".to_owned(), crew(&kind["request"], most, 0))].into(),
            least,
            parts: false,
        };
    };
    let group = |group: &Value| {
        let most = group["count"].as_u64().unwrap_or(1);
        let least = group["min"].as_u64().unwrap_or(most);
        (text(&group["name"]), crew(&group["request"], most, least))
    };
    let crews: BTreeMap<String, Crew> = groups.iter().map(group).collect();
    let least = kind["min"].as_u64().unwrap_or(crews.values().map(|crew| crew.least).sum()).max(1);
    Shape { crews, least, parts: false }
}

/// Whether a kind may use a machine.
fn allowed(kind: &Value, machine: &Value) -> bool {
    let names = kind["servers"].as_array().is_none_or(|names| names.contains(&machine["name"]));
    let labels = list(&kind["labels"]).iter().all(|label| list(&machine["labels"]).contains(label));
    names && labels
}

impl Ledger {
    /// What busy jobs hold, by machine.
    pub fn used(&self) -> BTreeMap<String, Amounts> {
        let mut sum = BTreeMap::new();
        self.busy.values().for_each(|busy| add(&mut sum, &busy.holds));
        sum
    }

    pub fn machines(&self) -> Vec<String> {
        list(&self.site["servers"]).iter().map(|machine| text(&machine["name"])).collect()
    }

    pub fn kinds(&self) -> Vec<String> {
        list(&self.site["ports"]).iter().map(|kind| text(&kind["name"])).collect()
    }

    pub fn goods(&self) -> Vec<String> {
        list(&self.site["devices"]).iter().map(text).collect()
    }

    /// Whether a job of a kind finds room on the empty site, if its crews are put there one after the other.
    pub fn could_start(&self, kind: &str) -> bool {
        let Some(described) = named(&self.site["ports"], kind) else { return false };
        let shape = shape(described);
        let mut site = amounts(&self.site["capacity"]);
        let servers = list(&self.site["servers"]).iter().filter(|machine| allowed(described, machine));
        let mut left: Vec<Option<Amounts>> =
            servers.map(|one| one["capacity"].is_object().then(|| amounts(&one["capacity"]))).collect();
        let (mut tasks, mut whole) = (0, true);
        for crew in shape.crews.values() {
            let mut put = 0;
            for machine in &mut left {
                let fits = |left: &Amounts| {
                    crew.needs.iter().all(|(good, needs)| left.get(good).is_none_or(|left| left >= needs))
                };
                let has = |left: &Amounts| {
                    crew.needs.iter().all(|(good, &needs)| needs == 0 || left.contains_key(good))
                };
                while put < crew.most
                    && fits(&site)
                    && machine.as_ref().is_none_or(|machine| fits(machine) && has(machine))
                {
                    put += 1;
                    for (good, needs) in &crew.needs {
                        let own = machine.as_mut().and_then(|machine| machine.get_mut(good));
                        own.into_iter().chain(site.get_mut(good)).for_each(|left| *left -= needs);
                    }
                    if shape.parts {
                        break;
                    }
                }
            }
            (tasks, whole) = (tasks + put, whole && put >= crew.least);
        }
        whole && tasks >= shape.least
    }

    /// The answer to `POST /v1/slots` with one request.
    pub fn turn(&mut self, request: &Value, answer: &Value) -> Checked {
        let key = text(&request["key"]);
        if let Some((_, before)) = self.answers.get(&key) {
            return match before == answer {
                true => Ok(()),
                false => Err(format!("key `{key}` was answered by {before}")),
            };
        }
        self.turn += 1;
        if answer["slot"] != self.turn {
            return Err(format!("slot {} follows {}", answer["slot"], self.turn - 1));
        }
        let mut ignored: Vec<String> = Vec::new();
        for job in list(&request["ended"]).iter().map(text) {
            if !self.end(&job) {
                ignored.push(job);
            }
        }
        for job in list(&request["jobs"]) {
            let id = text(&job["id"]);
            if self.gone.contains(&id) {
                ignored.push(id);
            } else if !self.busy.contains_key(&id) {
                self.queued.entry(id).or_insert_with(|| text(&job["port"]));
            }
        }
        let mut told: Vec<String> = list(&answer["ignored"]).iter().map(|one| text(&one["job"])).collect();
        told.sort_unstable();
        ignored.sort_unstable();
        if told != ignored {
            return Err(format!("{ignored:?} should be ignored"));
        }
        self.start(request, answer)?;
        self.check_held(request, answer)?;
        self.answers.insert(key, (request.clone(), answer.clone()));
        Ok(())
    }

    /// Books what an answer starts: whole jobs, each once, where they may run and fit.
    fn start(&mut self, request: &Value, answer: &Value) -> Checked {
        let mut by_job: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for place in list(&answer["placements"]) {
            by_job.entry(text(&place["job"])).or_default().push(place);
        }
        let mut fresh = BTreeMap::new();
        for (job, places) in by_job {
            if self.busy.contains_key(&job) {
                return Err(format!("`{job}` is started twice"));
            }
            let kind = self.queued.remove(&job).ok_or_else(|| format!("`{job}` does not wait"))?;
            let busy = self.gather(&job, &kind, &places, request)?;
            add(&mut fresh, &busy.holds);
            self.busy.insert(job, busy);
        }
        self.check_room(&fresh, &request["free"])
    }

    /// A job as it was placed.
    fn gather(&mut self, job: &str, kind: &str, places: &[&Value], request: &Value) -> Result<Busy, String> {
        let wrong = |why: &str| Err(format!("`{job}` of `{kind}`: {why}"));
        let Some(described) = named(&self.site["ports"], kind).cloned() else { return wrong("kind is gone") };
        let shape = shape(&described);
        let (mut slips, mut holds, mut tasks) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for place in places {
            let (machine, slip) = (text(&place["server"]), text(&place["ticket"]));
            let count = place["count"].as_u64().unwrap_or(0);
            let Some(found) = named(&self.site["servers"], &machine) else { return wrong("no such machine") };
            let closed = list(&request["closed"]).iter().any(|closed| *closed == machine);
            if !allowed(&described, found) || closed || self.barred.contains(&machine) {
                return wrong(&format!("machine `{machine}` is not open to it"));
            }
            let crew = match shape.parts {
                true => shape.crews.get(""),
                false => shape.crews.get(&text(&place["group"])),
            };
            let Some(crew) = crew else { return wrong("no such crew") };
            if count == 0 || (shape.parts && (count > 1 || holds.contains_key(&machine))) {
                return wrong("a wrong number of tasks");
            }
            *tasks.entry(text(&place["group"])).or_insert(0) += count;
            let needs = crew.needs.iter().map(|(good, amount)| (good.clone(), amount * count)).collect();
            add(&mut holds, &[(machine.clone(), needs)].into());
            let note = Slip { job: job.to_owned(), machine, tasks: count, reported: false };
            if self.slips.insert(slip.clone(), note).is_some() {
                return wrong(&format!("ticket `{slip}` was given before"));
            }
            slips.push(slip);
        }
        let fits = |(name, crew): (&String, &Crew)| {
            let count = tasks.get(name).copied().unwrap_or(0);
            (crew.least..=crew.most).contains(&count)
        };
        let whole = shape.parts || shape.crews.iter().all(fits);
        if !whole || tasks.values().sum::<u64>() < shape.least {
            return wrong(&format!("half of a job: {tasks:?}"));
        }
        Ok(Busy { kind: kind.to_owned(), slips, holds })
    }

    /// Nothing new is where there is no room: neither on a machine, nor in the site, nor in what others
    /// leave.
    fn check_room(&self, fresh: &BTreeMap<String, Amounts>, free: &Value) -> Checked {
        let used = self.used();
        let (mut all, mut new): (Amounts, Amounts) = Default::default();
        for (machine, amounts_used) in &used {
            let capacity = &named(&self.site["servers"], machine).unwrap_or(&Value::Null)["capacity"];
            let (capacity, limited) = (amounts(capacity), capacity.is_object());
            for (good, &amount) in amounts_used {
                let fresh = fresh.get(machine).and_then(|fresh| fresh.get(good)).copied().unwrap_or(0);
                let most = capacity.get(good).copied().unwrap_or(0);
                if limited && fresh > 0 && amount > most {
                    return Err(format!("{amount} of `{good}` on `{machine}`, which has {most}"));
                }
                if free[machine][good].as_u64().is_some_and(|free| fresh > free) {
                    return Err(format!("{fresh} of `{good}` on `{machine}`, more than others leave"));
                }
                *all.entry(good.clone()).or_default() += amount;
                *new.entry(good.clone()).or_default() += fresh;
            }
        }
        for (good, most) in amounts(&self.site["capacity"]) {
            let (all, new) = (all.get(&good).copied().unwrap_or(0), new.get(&good).copied().unwrap_or(0));
            if new > 0 && all > most {
                return Err(format!("{all} of `{good}` in the site, which has {most}"));
            }
        }
        Ok(())
    }

    /// All who wait are counted, and those that were sent are named.
    fn check_held(&self, request: &Value, answer: &Value) -> Checked {
        let held: Vec<String> = list(&answer["held"]).iter().map(|held| text(&held["job"])).collect();
        let names: BTreeSet<&String> = held.iter().collect();
        let count = held.len() as u64 + answer["held_more"].as_u64().unwrap_or(0);
        if names.len() != held.len() || count != self.queued.len() as u64 {
            return Err(format!("{count} wait, expected {:?}", self.queued.keys()));
        }
        if let Some(other) = held.iter().find(|job| !self.queued.contains_key(*job)) {
            return Err(format!("`{other}` does not wait"));
        }
        let mut sent = list(&request["jobs"]).iter().map(|job| text(&job["id"]));
        match sent.find(|job| self.queued.contains_key(job) && !names.contains(job)) {
            Some(job) => Err(format!("`{job}` was sent, and is neither placed nor held")),
            None => Ok(()),
        }
    }

    /// A job is over; whether anybody knew it.
    pub fn end(&mut self, job: &str) -> bool {
        let known = self.state(job).is_some();
        self.busy.remove(job);
        self.queued.remove(job);
        if known {
            self.gone.insert(job.to_owned());
        }
        known
    }

    /// What a job does, in the words of `DELETE /v1/jobs`.
    pub fn state(&self, job: &str) -> Option<&'static str> {
        match job {
            job if self.busy.contains_key(job) => Some("running"),
            job if self.queued.contains_key(job) => Some("waiting"),
            job => self.gone.contains(job).then_some("over"),
        }
    }

    /// A start is taken back. Whether it was one: then its job waits again, or is gone if its kind is.
    pub fn revoke(&mut self, slip: &str) -> bool {
        let Some(job) = self.slips.get(slip).map(|slip| slip.job.clone()) else { return false };
        if !self.busy.get(&job).is_some_and(|busy| busy.slips.iter().any(|own| own == slip)) {
            return false;
        }
        let kind = self.busy.remove(&job).expect("it is busy").kind;
        match self.kinds().contains(&kind) {
            true => drop(self.queued.insert(job, kind)),
            false => drop(self.gone.insert(job)),
        }
        true
    }

    /// The answer to `PUT /v1/cluster`. Jobs on machines that left are lost, and those that wait for a kind
    /// that left; `again` if an earlier answer did not arrive.
    pub fn change(&mut self, site: &Value, answer: &Value, again: bool) -> Checked {
        self.site = site.clone();
        let (machines, kinds, goods) = (self.machines(), self.kinds(), self.goods());
        let left = |busy: &Busy| busy.holds.keys().any(|machine| !machines.contains(machine));
        let busy = self.busy.iter().filter(|(_, busy)| left(busy)).map(|(job, _)| job.clone());
        let queued = self.queued.iter().filter(|(_, kind)| !kinds.contains(kind)).map(|(job, _)| job.clone());
        let mut lost: Vec<String> = busy.chain(queued).collect();
        lost.sort_unstable();
        let mut told: Vec<String> = list(&answer["lost"]).iter().map(|lost| text(&lost["job"])).collect();
        told.sort_unstable();
        for job in &lost {
            self.end(job);
        }
        for holds in self.busy.values_mut().flat_map(|busy| busy.holds.values_mut()) {
            holds.retain(|good, _| goods.contains(good));
        }
        match told == lost || (again && answer["changed"] == false) {
            true => Ok(()),
            false => Err(format!("{lost:?} should be lost")),
        }
    }

    /// `GET /v1/servers`, `GET /v1/status`: what is free, who waits, who runs.
    pub fn check(&self, servers: &Value, status: &Value) -> Checked {
        let used = self.used();
        let described = list(&self.site["servers"]);
        if list(&servers["servers"]).len() != described.len() {
            return Err(format!("{} machines, not {}", list(&servers["servers"]).len(), described.len()));
        }
        for (told, machine) in list(&servers["servers"]).iter().zip(described) {
            let name = text(&machine["name"]);
            if told["name"] != machine["name"] || told["drained"] != self.barred.contains(&name) {
                return Err(format!("{told} is not `{name}`, or its bar is wrong"));
            }
            for (good, capacity) in amounts(&machine["capacity"]) {
                let used = used.get(&name).and_then(|used| used.get(&good)).copied().unwrap_or(0);
                let free = capacity.saturating_sub(used);
                if told["free"][&good] != free {
                    return Err(format!("`{name}` has {free} of `{good}` free, not {}", told["free"][&good]));
                }
            }
        }
        let waiting: u64 =
            status["waiting"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
        let counts = [
            ("slot", &status["slot"], self.turn),
            ("running", &status["running"], self.busy.len() as u64),
            ("waiting", &waiting.into(), self.queued.len() as u64),
        ];
        for (what, told, expected) in counts {
            if *told != expected {
                return Err(format!("`{what}` is {told}, expected {expected}"));
            }
        }
        let names = list(&status["waiting_jobs"]).iter().map(|job| text(&job["job"]));
        let names: BTreeSet<String> = names.collect();
        if waiting < 1000 && !names.iter().eq(self.queued.keys()) {
            return Err(format!("{names:?} wait, expected {:?}", self.queued.keys()));
        }
        match self.learned.filter(|learned| status["events"]["learned"] != *learned) {
            Some(learned) => Err(format!("{} learned, expected {learned}", status["events"]["learned"])),
            None => Ok(()),
        }
    }
}
