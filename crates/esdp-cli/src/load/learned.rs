//! What the service has learned, beside the truth that only the simulation knows.

use anyhow::Context;
use esdp::model::{ChannelId, ChannelKey, Slot};
use esdp::sim::Setting;
use esdp_report::table::{TextTable, percent};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

/// How many channels people are shown.
const SHOWN: usize = 8;

/// A channel that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Compared {
    port: String,
    group: String,
    server: String,
    /// The true mean of the net utility.
    truth: f64,
    /// Its estimate.
    learned: f64,
    outcomes: f64,
    /// Whether the interval holds the truth; none if speeds have a unit.
    held: Option<bool>,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Learned {
    channels: usize,
    tried: usize,
    outcomes: f64,
    /// The mean distance of estimate and truth, weighted by outcomes.
    mean_error: Option<f64>,
    /// The share of intervals that hold the truth.
    held: Option<f64>,
    list: Vec<Compared>,
}

/// Compares the answer of `GET /v1/channels` with the truth of a slot.
///
/// # Errors
/// When the answer is of another cluster.
pub(crate) fn compare(setting: &Setting, slot: u64, answer: &Value) -> anyhow::Result<Learned> {
    let cluster = setting.cluster();
    let mut truth = setting.truth();
    let means = truth.means(Slot(slot.max(1)));
    let at: HashMap<ChannelKey, ChannelId> =
        (0..means.len()).map(ChannelId::at).map(|channel| (cluster.channel_key(channel), channel)).collect();
    let mut list = Vec::new();
    let rows = answer["channels"].as_array().context("an answer without channels")?;
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        let key = ChannelKey { port: text("port"), group: text("group"), server: text("server") };
        let channel =
            *at.get(&key).with_context(|| format!("{} on {} is not simulated", key.port, key.server))?;
        let (mean, outcomes) = (means[channel.index()], number(&row["count"]));
        if outcomes <= 0.0 {
            continue;
        }
        let speed = (mean + cluster.cost(channel)).max(0.0);
        let holds = |interval: &Vec<Value>| number(&interval[0]) <= speed && speed <= number(&interval[1]);
        let held = row["interval"].as_array().filter(|_| row["unit"] == "utility").map(holds);
        let ChannelKey { port, group, server } = key;
        list.push(Compared {
            port,
            group,
            server,
            truth: mean,
            learned: number(&row["estimate"]),
            outcomes,
            held,
        });
    }
    list.sort_by(|a, b| b.outcomes.total_cmp(&a.outcomes));
    let outcomes: f64 = list.iter().map(|one| one.outcomes).sum();
    let errors: f64 = list.iter().map(|one| one.outcomes * (one.learned - one.truth).abs()).sum();
    let known: Vec<bool> = list.iter().filter_map(|one| one.held).collect();
    let share = known.iter().filter(|&&held| held).count() as f64 / known.len() as f64;
    Ok(Learned {
        channels: rows.len(),
        tried: list.len(),
        outcomes,
        mean_error: (outcomes > 0.0).then(|| errors / outcomes),
        held: (!known.is_empty()).then_some(share),
        list,
    })
}

impl Learned {
    /// For people.
    pub(crate) fn render(&self) -> String {
        let mut text = format!(
            "learned: {} of {} channels tried, {:.0} outcomes",
            self.tried, self.channels, self.outcomes
        );
        if let Some(error) = self.mean_error {
            text += &format!("; estimates are {error:.3} off on average, weighted by outcomes");
        }
        if let Some(held) = self.held {
            text += &format!("; {} of the intervals hold the true speed", percent(held));
        }
        text += "\n\n";
        let mut table = TextTable::new(&["channel", "true", "learned", "outcomes"]);
        for one in self.list.iter().take(SHOWN) {
            let name = format!("{} on {}", one.port, one.server);
            let figures =
                [format!("{:.3}", one.truth), format!("{:.3}", one.learned), format!("{:.0}", one.outcomes)];
            table.row([name].into_iter().chain(figures));
        }
        text + &table.render()
    }
}
