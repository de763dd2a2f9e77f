//! Sites and requests by chance: tame ones, as a well-behaved client sends them, and wild ones.

use super::ledger::{Ledger, list, text};
use crate::service::Dice;
use serde_json::{Map, Value, json};

/// Names that break what does not quote them.
const HOSTILE: [&str; 24] = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\u{202e}evil",
    "naïve",
    "日本",
    "a\"b\\c",
    "{{7*7}}",
    "%2e%2e",
    "a b",
    "..",
    "/",
    "ns/job",
    "?q=1#f",
    "\u{200b}",
    "e\u{301}",
    "é",
    "😀😀😀😀",
    "'; DROP TABLE jobs;--",
    "null",
    "-0",
    "\u{feff}",
    "t1.0",
    "%00",
    "+&=",
];

/// Weights and speeds at the ends of what is a number.
pub const EXTREME: [f64; 6] = [1e-300, 5e-324, 1e300, 1.7e308, 2.0, 0.5];

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Draw {
    pub dice: Dice,
    /// Hostile names, extreme numbers, sites that hardly hold anything.
    pub wild: bool,
    /// Kinds in the base form only: jobs of one task, or of parts.
    pub base: bool,
    /// Whether known keys are sent with other requests. The first version did not notice.
    pub clashes: bool,
    pub made: u64,
}

impl Draw {
    pub fn new(seed: u64, wild: bool) -> Self {
        Self { dice: Dice::new(seed), wild, base: false, clashes: true, made: 0 }
    }

    /// Goes on after names that another one has made.
    pub fn after(seed: u64, made: u64) -> Self {
        Self { made, ..Self::new(seed, false) }
    }

    pub fn roll(&mut self, below: u64) -> u64 {
        self.dice.roll(below)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.dice.roll(100) < percent
    }

    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.dice.roll(of.len() as u64) as usize]
    }

    pub fn some<T: Clone>(&mut self, of: &[T], most: u64) -> Vec<T> {
        let count = self.roll(most + 1);
        let mut left = of.to_vec();
        let mut drawn = Vec::new();
        while !left.is_empty() && (drawn.len() as u64) < count {
            drawn.push(left.swap_remove(self.dice.roll(left.len() as u64) as usize));
        }
        drawn
    }

    /// A name that was never used.
    pub fn name(&mut self, start: &str) -> String {
        self.made += 1;
        let start = match self.wild && self.chance(15) {
            true => HOSTILE[self.roll(HOSTILE.len() as u64) as usize],
            false => start,
        };
        format!("{start}{}", self.made)
    }

    fn needs(&mut self, goods: &[Value]) -> Value {
        let mut needs = Map::new();
        for good in goods.iter().map(text) {
            if self.chance(if self.wild { 90 } else { 70 }) {
                let amount = if self.wild { *self.one(&[0, 1, 1, 2, 3, 5]) } else { 1 + self.roll(4) };
                needs.insert(good, json!(amount));
            }
        }
        Value::Object(needs)
    }

    fn capacity(&mut self, goods: &[Value]) -> Value {
        let mut capacity = Map::new();
        for good in goods.iter().map(text) {
            let amount = match self.wild {
                true => *self.one(&[0, 1, 2, 4, 8, 16, 40, 1 << 40]),
                false => 8 + self.roll(25),
            };
            if !self.wild || self.chance(95) {
                capacity.insert(good, json!(amount));
            }
        }
        Value::Object(capacity)
    }

    fn kind(&mut self, goods: &[Value], machines: &[Value]) -> Value {
        let mut kind = Map::new();
        kind.insert("name".to_owned(), json!(self.name("kind")));
        match self.roll(10) {
            form if form < 3 || (self.base && form < 7) => {
                let tasks = if self.base { 1 } else { 1 + self.roll(5) };
                let min = 1 + self.roll(tasks);
                let needs = self.needs(goods);
                kind.extend([
                    ("request".into(), needs),
                    ("tasks".into(), tasks.into()),
                    ("min".into(), min.into()),
                ]);
            }
            3..8 if !self.base => {
                let crews = 1 + self.roll(3);
                let crew = |index: u64| {
                    let count = 1 + self.roll(4);
                    let mut crew =
                        json!({"name": format!("g{index}"), "request": self.needs(goods), "count": count});
                    if self.chance(50) {
                        crew["min"] = json!(self.roll(count + 1));
                    }
                    crew
                };
                let crews: Vec<Value> = (0..crews).map(crew).collect();
                kind.insert("groups".to_owned(), json!(crews));
            }
            _ => {
                let needs = self.needs(goods);
                kind.extend([("parts".into(), json!(true)), ("request".into(), needs)]);
            }
        }
        if self.chance(30) {
            let names: Vec<Value> = machines.iter().map(|machine| machine["name"].clone()).collect();
            let names = self.some(&names, names.len() as u64);
            if !names.is_empty() {
                kind.insert("servers".to_owned(), json!(names));
            }
        }
        if self.wild && self.chance(20) {
            kind.insert("weight".to_owned(), json!(self.one(&EXTREME)));
        }
        if self.wild && self.chance(20) {
            kind.insert("reference_speed".to_owned(), json!(self.one(&[1e-300, 1e300, 2.0, 0.5])));
        }
        Value::Object(kind)
    }

    /// Another site: some machines and kinds stay, some shrink or leave, some are new.
    pub fn site(&mut self, before: &Value) -> Value {
        let mut goods = list(&before["devices"]).to_vec();
        let renewed = goods.is_empty() || (self.wild && self.chance(20));
        if renewed {
            let count = if self.wild { 1 + self.roll(3) } else { 3 };
            goods = (0..count).map(|_| json!(self.name("good"))).collect();
        }
        let mut machines = Vec::new();
        for machine in list(&before["servers"]) {
            if self.chance(85) {
                let mut machine = machine.clone();
                if renewed || self.chance(30) {
                    machine["capacity"] = self.capacity(&goods);
                }
                machines.push(machine);
            }
        }
        let fresh = if self.wild { self.roll(4) } else { 8_u64.saturating_sub(machines.len() as u64) };
        for _ in 0..fresh.max(u64::from(machines.is_empty())) {
            let capacity = self.capacity(&goods);
            machines.push(json!({"name": self.name("machine"), "capacity": capacity}));
        }
        let mut kinds = Vec::new();
        for kind in list(&before["ports"]) {
            if !renewed && self.chance(85) {
                let mut kind = kind.clone();
                let there = |name: &&Value| machines.iter().any(|machine| machine["name"] == **name);
                let names: Vec<Value> = list(&kind["servers"]).iter().filter(there).cloned().collect();
                match (names.is_empty(), kind.as_object_mut()) {
                    (true, Some(kind)) => drop(kind.remove("servers")),
                    (_, Some(kind)) => drop(kind.insert("servers".to_owned(), json!(names))),
                    _ => {}
                }
                kinds.push(kind);
            }
        }
        let fresh = if self.wild { self.roll(3) } else { 5_u64.saturating_sub(kinds.len() as u64) };
        for _ in 0..fresh.max(u64::from(kinds.is_empty())) {
            kinds.push(self.kind(&goods, &machines));
        }
        let mut site = json!({"devices": goods, "servers": machines, "ports": kinds});
        if self.chance(15) {
            let goods = list(&site["devices"]).iter().map(text);
            let limit: Map<String, Value> = goods.map(|good| (good, json!(self.roll(60)))).collect();
            site["capacity"] = Value::Object(limit);
        }
        site
    }

    /// A request for a turn.
    pub fn turn(&mut self, ledger: &Ledger) -> Value {
        let (kinds, machines) = (ledger.kinds(), ledger.machines());
        let mut jobs = Vec::new();
        for _ in 0..*self.one(&[0, 1, 1, 2, 5, if self.wild { 20 } else { 3 }]) {
            let id = match self.wild && self.chance(20) {
                true => self.known(ledger),
                false => self.name("job"),
            };
            let mut job = json!({"id": id, "port": self.one(&kinds)});
            if self.chance(10) {
                job["weight"] = json!(if self.wild { *self.one(&EXTREME) } else { 3.0 });
            }
            jobs.push(job);
        }
        let mut request = json!({"key": self.name("key"), "jobs": jobs});
        if self.chance(40) {
            let busy: Vec<String> = ledger.busy.keys().cloned().collect();
            let mut ended = self.some(&busy, 6);
            if self.chance(5) {
                ended.push(self.name("nobody"));
            }
            request["ended"] = json!(ended);
        }
        if self.chance(15) {
            let mut free = Map::new();
            for machine in self.some(&machines, machines.len() as u64) {
                let goods = self.some(&ledger.goods(), 3).into_iter();
                let goods = goods.map(|good| (good, json!(self.one(&[0, 1, 2, 50, 1_u64 << 40]))));
                free.insert(machine, Value::Object(goods.collect()));
            }
            request["free"] = Value::Object(free);
        }
        if self.chance(10) {
            request["closed"] = json!(self.some(&machines, machines.len() as u64));
        }
        if self.chance(10) {
            request["work"] = json!(self.one(&[0, 1, 100, 1_u64 << 20]));
        }
        request
    }

    /// A job that was sent before, if there is one, whatever became of it.
    fn known(&mut self, ledger: &Ledger) -> String {
        let sets: [Vec<&String>; 3] =
            [ledger.busy.keys().collect(), ledger.queued.keys().collect(), ledger.gone.iter().collect()];
        match &self.one(&sets)[..] {
            [] => self.name("job"),
            names => (*self.one(names)).clone(),
        }
    }

    /// How a task went; what cannot be among it.
    pub fn outcome(&mut self) -> Value {
        if !self.wild || self.chance(60) {
            return json!({"rate": 0.1 + self.roll(3000) as f64 / 1000.0});
        }
        let outcomes = [
            json!({"rate": 0}),
            json!({"rate": 5e-324}),
            json!({"rate": 1e-300}),
            json!({"rate": 1.7e308}),
            json!({"work": 7.5, "seconds": 1e-9}),
            json!({"work": 3, "seconds": 1e300}),
            json!({"utility": 0.5}),
            json!({"utility": -0.0}),
            json!({"outcome": "lost"}),
            json!({"rate": -1}),
            json!({"utility": 2}),
            json!({"work": 1e308, "seconds": 1e-308}),
        ];
        self.one(&outcomes).clone()
    }
}
