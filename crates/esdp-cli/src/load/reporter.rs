//! Outcomes of jobs that others have placed, as many trainers would report them.

use super::client::Client;
use super::tally::{Kind, Tally};
use anyhow::{Context, bail};
use esdp::model::{ChannelId, Slot};
use esdp::sim::Setting;
use esdp_engine::Cancel;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How many outcomes are in a request.
const LIST: u64 = 100;

/// Reports outcomes at a rate.
pub(super) struct Reporter {
    client: Client,
    name: String,
    /// Port, task group, server and mean utility of every channel.
    channels: Vec<(String, String, String, f64)>,
    pub(super) tally: Tally,
}

impl Reporter {
    pub(super) fn new(setting: &Setting, client: Client, name: &str) -> Self {
        let cluster = setting.cluster();
        let mut truth = setting.truth();
        let means = truth.means(Slot::FIRST);
        let channel = |(index, mean): (usize, &f64)| {
            let key = cluster.channel_key(ChannelId::at(index));
            (key.port, key.group, key.server, mean.clamp(0.0, 1.0))
        };
        let channels = means.iter().enumerate().map(channel).collect();
        Self { client, name: name.to_owned(), channels, tally: Tally::default() }
    }

    /// Reports until the time is over.
    ///
    /// # Errors
    /// When the service refuses a report or does not answer.
    pub(super) fn report(
        &mut self,
        rate: f64,
        started: Instant,
        duration: f64,
        cancel: &Cancel,
    ) -> anyhow::Result<()> {
        for list in 0.. {
            let due = (list * LIST) as f64 / rate;
            if due >= duration || started.elapsed().as_secs_f64() >= duration || cancel.is_set() {
                break;
            }
            std::thread::sleep(Duration::from_secs_f64(due).saturating_sub(started.elapsed()));
            let outcomes: Vec<Value> =
                (list * LIST..(list + 1) * LIST).map(|number| self.outcome(number)).collect();
            let body = Value::Array(outcomes).to_string();
            let sent = Instant::now();
            let answer =
                self.client.send("POST", "/v1/observations", Some(&body)).context("POST /v1/observations")?;
            let accepted = answer.json().ok().and_then(|answer| answer["accepted"].as_u64());
            if answer.status != 200 || accepted != Some(LIST) {
                self.tally.count(Kind::Outcomes, Err(answer.complaint()));
                bail!("POST /v1/observations: {}", answer.complaint());
            }
            self.tally.count(Kind::Outcomes, Ok(sent.elapsed()));
            self.tally.outcomes += LIST;
        }
        Ok(())
    }

    fn outcome(&self, number: u64) -> Value {
        let (port, group, server, mean) = &self.channels[number as usize % self.channels.len()];
        let id = format!("{}{number}", self.name);
        json!({"port": port, "group": group, "server": server, "utility": mean, "id": id})
    }
}
