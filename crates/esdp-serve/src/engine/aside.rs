//! Outcomes that were set aside: how they are listed, and what an operator makes of them.

use super::manage::{ok, taken};
use super::{Engine, Reply};
use crate::feed::News;
use crate::wire::{ApiError, check_name};
use esdp::live::{Doubt, Event, Live, SetAside};
use serde::Serialize;
use serde_json::json;

/// An outcome that was set aside. Its keys are in the order of the alphabet, in which they go over the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AsideRow {
    /// The speed that was believed of its channel then, in the port's unit; none if nothing was known.
    pub believed: Option<f64>,
    /// Why it is doubted, for people.
    pub detail: String,
    /// The group of tasks.
    pub group: String,
    /// Its number, to accept or drop it by.
    pub id: u64,
    /// Whether other outcomes may still confirm it.
    pub open: bool,
    /// The port.
    pub port: String,
    /// Why it is doubted, for programs.
    pub reason: Doubt,
    /// The ticket, or the name of the report.
    pub report: String,
    /// The server.
    pub server: String,
    /// The slot to which it belongs.
    pub slot: u64,
    /// Who has reported it; empty if everybody may report.
    pub source: String,
    /// The speed that was reported, in the port's unit.
    pub speed: f64,
    /// How often its source has said such a thing of the channel; the last one is shown.
    pub times: u64,
}

impl From<&SetAside> for AsideRow {
    fn from(aside: &SetAside) -> Self {
        Self {
            believed: aside.believed,
            detail: detail(aside),
            group: aside.channel.group.clone(),
            id: aside.id,
            open: aside.open,
            port: aside.channel.port.clone(),
            reason: aside.why,
            report: aside.report.clone(),
            server: aside.channel.server.clone(),
            slot: aside.slot.0,
            source: aside.source.clone(),
            speed: aside.speed,
            times: aside.times,
        }
    }
}

fn detail(aside: &SetAside) -> String {
    let times = aside.believed.filter(|&believed| believed > 0.0).map(|believed| aside.speed / believed);
    let compared =
        times.map_or_else(String::new, |times| format!(" ({} times what is believed)", short(times)));
    match aside.why {
        Doubt::TooFast => format!("far faster than anything this port has shown{compared}"),
        Doubt::NoTicket => format!("contradicts the jobs that ran here{compared}, and has no ticket"),
        Doubt::Enough => {
            "this source has reported as much of this server as others who have tickets".to_owned()
        }
        Doubt::Alone => "among the first of its port, and far from all others".to_owned(),
    }
}

/// Three digits, or a power of ten where there are many.
fn short(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        number if (0.01..1000.0).contains(&number) => format!("{number:.2}"),
        number => format!("{number:.1e}"),
    }
}

/// What was set aside, of all ports or of one, the oldest first within a port.
pub fn aside_rows(live: &Live, port: Option<&str>) -> Vec<AsideRow> {
    let wanted = |aside: &&SetAside| port.is_none_or(|port| aside.channel.port == port);
    live.set_aside().filter(wanted).map(AsideRow::from).collect()
}

impl Engine {
    /// `POST /v1/outcomes/aside/{id}/accept` and `drop`.
    pub(super) fn settle(&mut self, id: u64, accept: bool) -> Reply {
        let known = self.core.live()?.set_aside().find(|aside| aside.id == id).map(AsideRow::from);
        let row = known.ok_or_else(|| ApiError::missing("outcome that was set aside", &id.to_string()))?;
        taken(&self.core.apply(Event::Settled { aside: id, accept })?)?;
        self.tally.learned += u64::from(accept);
        let text = json!({ "id": id, "accepted": accept, "port": row.port, "server": row.server });
        self.news.push(News::new("aside", self.core.sequence(), &text.to_string()));
        ok(&text)
    }

    /// `POST /v1/sources/{source}/forget`.
    pub(super) fn forget_source(&mut self, source: String) -> Reply {
        check_name(|| "source".to_owned(), &source)?;
        if !self.core.live()?.has_source(&source) {
            return Err(ApiError::missing("remembered source", &source));
        }
        let before = self.core.live()?.set_aside().count();
        taken(&self.core.apply(Event::SourceForgotten { source: source.clone() })?)?;
        let dropped = before - self.core.live()?.set_aside().count();
        let text = json!({ "source": source, "set_aside": dropped });
        self.news.push(News::new("reset", self.core.sequence(), &text.to_string()));
        ok(&text)
    }
}
