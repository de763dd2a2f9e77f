//! `GET`s: from the follower's copy, never from the engine.
//!
//! What is short is answered by the follower itself. What is long, all channels or the whole state, is taken
//! from it as it is and written out in a thread for such things, one text at a time; who asks for the same
//! while it is written shares the text, so that many who poll cost what one costs.

use super::answer::value;
use super::{App, Name, named, query};
use crate::actor::Actor;
use crate::engine::{ChannelRow, Followed, Overview, ServerRow, WhichChannels, channel_rows, server_rows};
use crate::engine::{aside_rows, last_slots as slots, slot_row};
use crate::wire::{ApiError, ClusterWire, Code};
use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::{Mutex, Semaphore};

type Shared = State<Arc<App>>;
type Answered = Result<Response, ApiError>;

/// The most slots or jobs that are listed at a time.
const MOST_LISTED: u32 = 500;

/// Long texts.
#[derive(Debug)]
pub struct LongTexts {
    channels: LongText,
    servers: LongText,
    state: LongText,
    metrics: LongText,
    /// How many are written at a time.
    places: Semaphore,
}

impl Default for LongTexts {
    fn default() -> Self {
        let (channels, servers, state, metrics) = Default::default();
        Self { channels, servers, state, metrics, places: Semaphore::new(1) }
    }
}

/// A text that is shared by those who ask for it at the same time.
#[derive(Debug, Default)]
struct LongText {
    /// The last one, with its version, as long as anybody waits.
    last: Mutex<Option<(u64, Bytes)>>,
    waiting: AtomicUsize,
}

/// One who waits for a text; with the last one it is forgotten.
struct Waiter<'a>(&'a LongText);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Relaxed) == 1
            && let Ok(mut last) = self.0.last.try_lock()
        {
            *last = None;
        }
    }
}

impl LongText {
    /// The text, as new as the moment of the question or newer.
    async fn get<T: Send + 'static>(
        &self,
        app: &App,
        take: impl FnOnce(&mut Followed) -> T + Send + 'static,
        write: impl FnOnce(T) -> Result<Vec<u8>, ApiError> + Send + 'static,
    ) -> Result<Bytes, ApiError> {
        let follower = app.engine.follower();
        let needed = follower.version();
        self.waiting.fetch_add(1, Relaxed);
        let _waiter = Waiter(self);
        let mut last = self.last.lock().await;
        if let Some((version, text)) = &*last
            && *version >= needed
        {
            return Ok(text.clone());
        }
        *last = None;
        let stopping = |_| ApiError::new(Code::Unavailable, "the service is stopping; try again");
        let place = app.texts.places.acquire().await.map_err(|_| stopping(()))?;
        let (version, taken) = follower.ask(move |followed| (followed.version(), take(followed))).await?;
        let text = tokio::task::spawn_blocking(move || write(taken)).await;
        drop(place);
        let text = Bytes::from(text.map_err(|error| ApiError::new(Code::Internal, error.to_string()))??);
        *last = Some((version, text.clone()));
        Ok(text)
    }
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>, ApiError> {
    serde_json::to_vec(value).map_err(|error| ApiError::new(Code::Internal, error.to_string()))
}

fn json_text(text: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Rows under their name, with the slot behind it: keys are in the order of the alphabet.
#[derive(Serialize)]
struct ChannelsBody {
    channels: Vec<ChannelRow>,
    slot: u64,
}

#[derive(Serialize)]
struct ServersBody {
    servers: Vec<ServerRow>,
    slot: u64,
}

/// `GET /v1/channels`.
pub(super) async fn channels(State(app): Shared, uri: Uri) -> Answered {
    let which = WhichChannels { port: query(&uri, "port"), server: query(&uri, "server"), tried: false };
    let all = which == WhichChannels::default();
    let take = move |followed: &mut Followed| ChannelsBody {
        channels: followed.live().map_or_else(|_| Vec::new(), |live| channel_rows(live, &which)),
        slot: followed.slot(),
    };
    match all {
        true => Ok(json_text(app.texts.channels.get(&app, take, |body| written(&body)).await?)),
        false => Ok(value(&app.engine.follower().ask(take).await?)),
    }
}

/// `GET /v1/servers`.
pub(super) async fn servers(State(app): Shared) -> Answered {
    let take = |followed: &mut Followed| ServersBody {
        servers: followed.live().map_or_else(|_| Vec::new(), server_rows),
        slot: followed.slot(),
    };
    Ok(json_text(app.texts.servers.get(&app, take, |body| written(&body)).await?))
}

/// `GET /v1/outcomes/aside`.
pub(super) async fn aside(State(app): Shared, uri: Uri) -> Answered {
    let port = query(&uri, "port");
    let take = move |followed: &mut Followed| {
        let rows = followed.live().map_or_else(|_| Vec::new(), |live| aside_rows(live, port.as_deref()));
        let total = followed.live().map_or(0, |live| live.set_aside_count());
        json!({ "outcomes": rows, "slot": followed.slot(), "total": total })
    };
    Ok(value(&app.engine.follower().ask(take).await?))
}

/// `GET /v1/state`.
pub(super) async fn state(State(app): Shared) -> Answered {
    let take = |followed: &mut Followed| followed.live().map(|live| live.scheduler().checkpoint());
    Ok(json_text(app.texts.state.get(&app, take, |state| written(&state?)).await?))
}

/// `GET /metrics`.
pub(super) async fn metrics(State(app): Shared) -> Response {
    let take = |followed: &mut Followed| {
        let live = followed.live().ok();
        let tried = WhichChannels { tried: true, ..WhichChannels::default() };
        let channels = live.map_or_else(Vec::new, |live| channel_rows(live, &tried));
        (Overview::of(followed), channels, live.map_or_else(Vec::new, server_rows))
    };
    let write = |(overview, channels, servers): (Overview, Vec<_>, Vec<_>)| {
        Ok(crate::metrics::state(&overview, &channels, &servers).into_bytes())
    };
    // A service that is about to stop still tells its counters.
    let state = app.texts.metrics.get(&app, take, write).await.unwrap_or_default();
    let text = [app.metrics.page(app.certificate_days()).as_bytes(), &state].concat();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// `GET /v1/status`.
pub(super) async fn status(State(app): Shared) -> Answered {
    let overview = app.engine.follower().ask(|followed| Overview::of(followed)).await?;
    let mut status =
        serde_json::to_value(&overview).map_err(|error| ApiError::new(Code::Internal, error.to_string()))?;
    if let Some(status) = status.as_object_mut() {
        status.insert("decisions".to_owned(), json!(app.metrics.decisions()));
        status.insert("estimated_regret".to_owned(), json!(app.metrics.regret()));
        status.insert("uptime_seconds".to_owned(), json!(app.started.elapsed().as_secs()));
        status.insert("memory_bytes".to_owned(), json!(crate::metrics::memory()));
        status.insert("version".to_owned(), json!(app.version));
    }
    Ok(value(&status))
}

/// `GET /v1/cluster`, with the tag of this version.
pub(super) async fn cluster(State(app): Shared) -> Answered {
    let cluster = present(&app).await?;
    let cluster =
        cluster.ok_or_else(|| ApiError::new(Code::NotFound, "no cluster has been described yet"))?;
    Ok(tagged(value(&cluster), &cluster.tag()))
}

/// The cluster; none before the first.
pub(super) async fn present(app: &App) -> Result<Option<ClusterWire>, ApiError> {
    let of = |followed: &mut Followed| followed.live().ok().map(|live| ClusterWire::of(live.described()));
    app.engine.follower().ask(of).await
}

/// An answer with the tag of the cluster.
pub(super) fn tagged(mut response: Response, tag: &str) -> Response {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// `GET /v1/departed`: servers that have left the cluster and of which something is kept.
pub(super) async fn departed(State(app): Shared) -> Answered {
    Ok(value(&app.engine.follower().ask(|followed| departed_servers(followed)).await?))
}

fn departed_servers(followed: &Followed) -> Value {
    let mut servers: BTreeMap<&str, (u64, f64, bool)> = BTreeMap::new();
    if let Ok(live) = followed.live() {
        for (key, record) in live.scheduler().departed() {
            let (channels, outcomes, _) = servers.entry(&key.server).or_default();
            *channels += 1;
            *outcomes += record.count;
        }
        live.drained().for_each(|server| servers.entry(server).or_default().2 = true);
        // A channel may also have left with its port.
        for name in live.scheduler().cluster().servers() {
            servers.remove(name.as_str());
        }
    }
    let row = |(name, known): (&str, (u64, f64, bool))| {
        let (channels, outcomes, drained) = known;
        json!({ "name": name, "channels": channels, "outcomes": outcomes, "drained": drained })
    };
    json!({ "slot": followed.slot(), "servers": servers.into_iter().map(row).collect::<Vec<Value>>() })
}

/// `GET /v1/slots/{slot}`.
pub(super) async fn slot(State(app): Shared, slot: Name) -> Answered {
    let slot = named("slot", slot)?;
    let number = slot.parse().map_err(|_| ApiError::missing("slot", &slot))?;
    Ok(value(&app.engine.follower().ask(move |followed| slot_row(followed, number)).await??))
}

/// How many are listed at most.
pub(super) fn limit(uri: &Uri, default: u32) -> Result<u32, ApiError> {
    let Some(limit) = query(uri, "limit") else { return Ok(default) };
    let accepted = format!("a whole number from 1 to {MOST_LISTED}");
    let limit = limit.parse().ok().filter(|limit| (1..=MOST_LISTED).contains(limit));
    limit.ok_or_else(|| ApiError::value("limit", "the limit was rejected", accepted))
}

/// `GET /v1/slots`.
pub(super) async fn last_slots(State(app): Shared, uri: Uri) -> Answered {
    let limit = limit(&uri, 20)?;
    Ok(value(&app.engine.follower().ask(move |followed| slots(followed, limit)).await??))
}

/// `GET /readyz`: the one question that only the engine can answer.
pub(super) async fn ready(State(app): Shared, actor: Actor) -> Answered {
    if let Some(why) = app.tokens.unreadable() {
        let message = format!("no token can be accepted: the service cannot read its tokens ({why})");
        return Err(ApiError::new(Code::Unavailable, message));
    }
    let ready = app.engine.ask(actor, crate::engine::Command::Ready);
    let ready = tokio::time::timeout(std::time::Duration::from_secs(2), ready).await;
    let ready =
        ready.map_err(|_| ApiError::new(Code::Overloaded, "the engine does not answer in time"))??;
    let mut ready: Value = serde_json::from_str(&ready.text).unwrap_or_default();
    let warnings = app.warnings();
    if !warnings.is_empty() {
        ready["warnings"] = json!(warnings);
    }
    Ok(value(&ready))
}
