//! Several connections to a service, and a count of what went over them.

use super::client::{Client, Target};
use super::tally::{Kind, Tally};
use anyhow::{Context, bail};
use rayon::prelude::*;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often something that failed is sent again. Sending twice is harmless.
const TRIES: usize = 20;
/// The pause before it.
const PAUSE: Duration = Duration::from_millis(100);

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: Option<String>,
}

/// A connection for each of some threads.
#[derive(Debug)]
pub(super) struct Connections {
    clients: Vec<Mutex<Client>>,
    pool: rayon::ThreadPool,
    /// What was sent and how long it took.
    pub(super) tally: Tally,
}

impl Connections {
    pub(super) fn new(target: &Target, count: usize) -> anyhow::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().context("threads")?;
        let clients = (0..count).map(|_| Mutex::new(Client::new(target))).collect();
        Ok(Self { clients, pool, tally: Tally::default() })
    }

    /// The first connection, for requests that are not counted.
    pub(super) fn first(&self) -> MutexGuard<'_, Client> {
        self.client(0)
    }

    fn client(&self, at: usize) -> MutexGuard<'_, Client> {
        self.clients[at].lock().expect("nobody panics with a client in hand")
    }

    /// Sends requests over all connections at once, again and again those that fail. Answers come in the same order.
    pub(super) fn send_all(&mut self, requests: &[Request]) -> anyhow::Result<Vec<Value>> {
        let tally = Mutex::new(std::mem::take(&mut self.tally));
        let send = |request: &Request| self.send(request, &tally);
        let answers = match requests {
            // Not worth waking another thread.
            [one] => send(one).map(|answer| vec![answer]),
            _ => self.pool.install(|| requests.par_iter().map(send).collect()),
        };
        self.tally = tally.into_inner().expect("nobody panics while counting");
        answers
    }

    fn send(&self, request: &Request, tally: &Mutex<Tally>) -> anyhow::Result<Value> {
        let mut client = self.client(rayon::current_thread_index().unwrap_or(0));
        let count = |result: Result<Duration, String>| {
            tally.lock().expect("nobody panics while counting").count(request.kind, result);
        };
        let mut last = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let started = Instant::now();
            last = match client.send(request.method, &request.path, request.body.as_deref()) {
                Ok(answer) if answer.status == 200 => {
                    count(Ok(started.elapsed()));
                    return answer.json();
                }
                // Only a service that is overloaded or gone may think otherwise later.
                Ok(answer) if answer.status < 500 => {
                    count(Err(answer.complaint()));
                    bail!("{} {}: {}", request.method, request.path, answer.complaint());
                }
                Ok(answer) => answer.complaint(),
                Err(error) => error.to_string(),
            };
            count(Err(last.clone()));
        }
        bail!("{} {}: {last}, {TRIES} times", request.method, request.path)
    }
}
