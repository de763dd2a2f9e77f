//! Which path does what.

use super::answer::{reply, value};
use super::{App, body, guard, openapi, prioritize, sse};
use crate::engine::Command;
use crate::wire::{ApiError, ClusterWire, Code, SlotWire, StartWire, check_name};
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{Request, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

type Shared = State<Arc<App>>;
type Name = Result<Path<String>, PathRejection>;
type Answered = Result<Response, ApiError>;

/// The most starts in a request, and the most observations.
const MOST_STARTS: usize = 10_000;
const MOST_OBSERVATIONS: usize = 10_000;
/// The most slots that a request decides.
const MOST_DECISIONS: usize = 1_000;
/// The most slots that are listed.
const MOST_SLOTS: u32 = 500;

/// The dashboard's script, of files with one subject each.
const SCRIPT: &str = concat!(
    include_str!("../dashboard/util.js"),
    include_str!("../dashboard/api.js"),
    include_str!("../dashboard/window.js"),
    include_str!("../dashboard/servers.js"),
    include_str!("../dashboard/heat.js"),
    include_str!("../dashboard/overview.js"),
    include_str!("../dashboard/decisions.js"),
    include_str!("../dashboard/detail.js"),
    include_str!("../dashboard/main.js"),
);

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(|| page("text/html; charset=utf-8", include_str!("../dashboard/index.html"))))
        .route("/dashboard.js", get(|| page("text/javascript; charset=utf-8", SCRIPT)))
        .route(
            "/dashboard.css",
            get(|| page("text/css; charset=utf-8", include_str!("../dashboard/dashboard.css"))),
        )
        .route("/healthz", get(|| async { value(&json!({ "status": "ok" })) }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(|| async { value(&openapi::document()) }))
        .route("/v1/cluster", get(cluster).put(put_cluster))
        .route("/v1/slots", get(last_slots).post(decide))
        .route("/v1/slots/{slot}", get(slot))
        .route("/v1/starts", post(starts))
        .route("/v1/observations", post(observe))
        // Kubernetes names have a slash in them, `namespace/name`.
        .route("/v1/trainer-status/{*job}", post(trainer))
        .route("/v1/jobs/{*job}", delete(end_job))
        .route("/v1/channels", get(channels))
        .route("/v1/channels/{port}/{server}/reset", post(reset_channel))
        .route("/v1/servers", get(servers))
        .route("/v1/servers/{server}/reset", post(reset_server))
        .route("/v1/servers/{server}/drain", post(|app: Shared, name: Name| drain(app, name, true)))
        .route("/v1/servers/{server}/undrain", post(|app: Shared, name: Name| drain(app, name, false)))
        .route("/v1/state", get(state).put(put_state))
        .route("/v1/status", get(status))
        .route("/v1/prioritize", post(prioritize::prioritize))
        .route("/v1/events", get(sse::events))
        .fallback(|uri: Uri| async move { ApiError::missing("path", uri.path()) })
        .method_not_allowed_fallback(|| async {
            ApiError::new(
                Code::MethodNotAllowed,
                "the path exists, but not with this method; see the header Allow",
            )
        })
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), guard::guard))
        .with_state(app)
}

async fn page(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn named(what: &str, name: Name) -> Result<String, ApiError> {
    let Path(name) = name.map_err(|_| ApiError::new(Code::NotFound, format!("the {what} is not a name")))?;
    check_name(|| what.to_owned(), &name)?;
    Ok(name)
}

/// A value of the query, decoded.
fn query(uri: &Uri, key: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let (_, text) = pairs.into_iter().find(|(name, _)| *name == key)?;
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

async fn ready(State(app): Shared) -> Answered {
    let view = tokio::time::timeout(Duration::from_secs(2), app.engine.view()).await;
    let view = view.map_err(|_| ApiError::new(Code::Overloaded, "the engine does not answer in time"))??;
    match &view.degraded {
        None => {
            Ok(value(&json!({ "status": "ready", "cluster": view.cluster.is_some(), "slot": view.slot })))
        }
        Some(cause) => Err(ApiError::new(Code::Unavailable, cause.clone())),
    }
}

async fn metrics(State(app): Shared) -> Response {
    let view = tokio::time::timeout(Duration::from_secs(1), app.engine.view()).await;
    // An engine that is busy does not keep figures from being read.
    let view = view.ok().and_then(Result::ok).or_else(|| app.feed.latest());
    let text = app.metrics.page(view.as_deref());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

async fn cluster(State(app): Shared) -> Answered {
    let view = app.engine.view().await?;
    let cluster = view.cluster.as_ref();
    Ok(value(cluster.ok_or_else(|| ApiError::new(Code::NotFound, "no cluster has been described yet"))?))
}

async fn put_cluster(State(app): Shared, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.large_body).await?;
    let wire: ClusterWire = body::parse(&bytes).map_err(|error| match error.field.as_deref() {
        // What a cost is made of is the core's business.
        Some(field) if field.starts_with("costs") => ApiError { code: Code::Conflict, ..error },
        _ => error,
    })?;
    let described = wire.describe()?;
    Ok(reply(app.engine.ask(Command::Cluster(described)).await))
}

async fn decide(State(app): Shared, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.body).await?;
    let slots = body::one_or_many::<SlotWire>(&bytes, "slots", MOST_DECISIONS)?;
    for (index, slot) in slots.list.iter().enumerate() {
        slot.check().map_err(|error| slots.at(index, error))?;
    }
    Ok(reply(app.engine.ask(Command::Slots(slots)).await))
}

async fn slot(State(app): Shared, slot: Name) -> Answered {
    let slot = named("slot", slot)?;
    let number = slot.parse().map_err(|_| ApiError::missing("slot", &slot))?;
    Ok(reply(app.engine.ask(Command::SlotRow(number)).await))
}

async fn last_slots(State(app): Shared, uri: Uri) -> Answered {
    let limit = query(&uri, "limit").map_or(Ok(20), |limit| {
        limit.parse::<u32>().ok().filter(|n| (1..=MOST_SLOTS).contains(n)).ok_or(limit)
    });
    let accepted = format!("a whole number from 1 to {MOST_SLOTS}");
    let limit = limit.map_err(|_| ApiError::value("limit", "the limit was rejected", accepted))?;
    Ok(reply(app.engine.ask(Command::LastSlots(limit)).await))
}

async fn starts(State(app): Shared, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.body).await?;
    let starts = body::one_or_many::<StartWire>(&bytes, "starts", MOST_STARTS)?;
    Ok(reply(app.engine.ask(Command::Starts(starts)).await))
}

async fn observe(State(app): Shared, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.body).await?;
    let observations = body::one_or_many(&bytes, "observations", MOST_OBSERVATIONS)?;
    Ok(reply(app.engine.ask(Command::Observe(observations)).await))
}

async fn trainer(State(app): Shared, job: Name, request: Request<Body>) -> Answered {
    let job = named("job", job)?;
    let bytes = body::read(&app, request, app.limits.body).await?;
    let status = body::parse(&bytes)?;
    Ok(reply(app.engine.ask(Command::Trainer { job, status }).await))
}

async fn end_job(State(app): Shared, job: Name) -> Answered {
    Ok(reply(app.engine.ask(Command::EndJob(named("job", job)?)).await))
}

async fn channels(State(app): Shared, uri: Uri) -> Answered {
    let view = app.engine.view().await?;
    let (port, server) = (query(&uri, "port"), query(&uri, "server"));
    let wanted = |row: &&crate::engine::ChannelRow| {
        port.as_ref().is_none_or(|port| row.port == *port)
            && server.as_ref().is_none_or(|server| row.server == *server)
    };
    let rows: Vec<_> = view.channels.iter().filter(wanted).collect();
    Ok(value(&json!({ "slot": view.slot, "channels": rows })))
}

async fn servers(State(app): Shared) -> Answered {
    let view = app.engine.view().await?;
    Ok(value(&json!({ "slot": view.slot, "servers": view.servers })))
}

async fn reset_channel(State(app): Shared, path: Result<Path<(String, String)>, PathRejection>) -> Answered {
    let Path((port, server)) =
        path.map_err(|_| ApiError::new(Code::NotFound, "the channel is not a pair of names"))?;
    Ok(reply(app.engine.ask(Command::Reset { port: Some(port), server: Some(server) }).await))
}

async fn reset_server(State(app): Shared, server: Name) -> Answered {
    let server = Some(named("server", server)?);
    Ok(reply(app.engine.ask(Command::Reset { port: None, server }).await))
}

async fn drain(State(app): Shared, server: Name, drained: bool) -> Answered {
    let server = named("server", server)?;
    Ok(reply(app.engine.ask(Command::Drain { server, drained }).await))
}

async fn state(State(app): Shared) -> Answered {
    Ok(reply(app.engine.ask(Command::State).await))
}

async fn put_state(State(app): Shared, request: Request<Body>) -> Answered {
    let share = query(request.uri(), "share").map_or(Ok(1.0), |share| share.parse::<f64>());
    let share = share.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    let share = share
        .ok_or_else(|| ApiError::value("share", "the share was rejected", "a number above 0, at most 1"))?;
    let bytes = body::read(&app, request, app.limits.large_body).await?;
    let state = body::parse(&bytes).map_err(|error| match error.code {
        // What a state is made of is the core's business and not part of the API.
        Code::InvalidValue => ApiError { code: Code::Conflict, ..error },
        _ => error,
    });
    let state = Box::new(state?);
    Ok(reply(app.engine.ask(Command::Merge { state, share }).await))
}

async fn status(State(app): Shared) -> Answered {
    let view = app.engine.view().await?;
    let mut status =
        serde_json::to_value(&*view).map_err(|error| ApiError::new(Code::Internal, error.to_string()))?;
    if let Some(status) = status.as_object_mut() {
        status.insert("decisions".to_owned(), json!(app.metrics.decisions()));
        status.insert("estimated_regret".to_owned(), json!(app.metrics.regret()));
        status.insert("uptime_seconds".to_owned(), json!(app.started.elapsed().as_secs()));
        status.insert("memory_bytes".to_owned(), json!(crate::metrics::memory()));
        status.insert("version".to_owned(), json!(app.version));
    }
    Ok(value(&status))
}
