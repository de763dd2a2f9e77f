//! Which path does what.

use super::answer::{reply, value};
use super::{App, Name, audit, body, cluster, guard, jobs, named, openapi, prioritize, query, reading, sse};
use crate::actor::Actor;
use crate::engine::Command;
use crate::wire::{ApiError, Code, SlotWire, StartWire};
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{Request, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, patch, post};
use serde_json::json;
use std::sync::Arc;

type Shared = State<Arc<App>>;
type Answered = Result<Response, ApiError>;

/// The most starts in a request, and the most observations.
const MOST_STARTS: usize = 10_000;
const MOST_OBSERVATIONS: usize = 10_000;
/// The most slots that a request decides.
const MOST_DECISIONS: usize = 1_000;

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
        .route("/readyz", get(reading::ready))
        .route("/metrics", get(reading::metrics))
        .route("/openapi.json", get(|| async { value(&openapi::document()) }))
        .route("/v1/cluster", get(reading::cluster).put(cluster::put_cluster))
        .route("/v1/slots", get(reading::last_slots).post(decide))
        .route("/v1/slots/{slot}", get(reading::slot))
        .route("/v1/starts", post(starts))
        .route("/v1/observations", post(observe))
        // Kubernetes names have a slash in them, `namespace/name`.
        .route("/v1/trainer-status/{*job}", post(trainer))
        .route("/v1/jobs", get(jobs::list))
        .route("/v1/jobs/{*job}", get(jobs::one).patch(jobs::amend).delete(jobs::end))
        .route("/v1/channels", get(reading::channels))
        .route("/v1/channels/{port}/{server}/reset", post(reset_channel))
        .route("/v1/servers", get(reading::servers))
        .route("/v1/servers/{server}", patch(cluster::patch_server))
        .route("/v1/servers/{server}/reset", post(reset_server))
        .route("/v1/ports/{port}/reset", post(reset_port))
        .route("/v1/sources/{source}/forget", post(forget_source))
        .route("/v1/outcomes/aside", get(reading::aside))
        .route(
            "/v1/outcomes/aside/{id}/accept",
            post(|app: Shared, actor: Actor, id: Name| settle(app, actor, id, true)),
        )
        .route(
            "/v1/outcomes/aside/{id}/drop",
            post(|app: Shared, actor: Actor, id: Name| settle(app, actor, id, false)),
        )
        .route(
            "/v1/servers/{server}/drain",
            post(|app: Shared, actor: Actor, name: Name| drain(app, actor, name, true)),
        )
        .route(
            "/v1/servers/{server}/undrain",
            post(|app: Shared, actor: Actor, name: Name| drain(app, actor, name, false)),
        )
        .route("/v1/departed", get(reading::departed))
        .route("/v1/departed/{server}", delete(cluster::forget))
        .route("/v1/state", get(reading::state).put(put_state))
        .route("/v1/audit", get(audit::audit))
        .route("/v1/status", get(reading::status))
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

async fn decide(State(app): Shared, actor: Actor, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.body).await?;
    let slots = body::understand(bytes, |bytes| {
        let slots = body::one_or_many::<SlotWire>(bytes, "slots", MOST_DECISIONS)?;
        for (index, slot) in slots.list.iter().enumerate() {
            slot.check().map_err(|error| slots.at(index, error))?;
        }
        Ok(slots)
    });
    let slots = slots.await?;
    Ok(reply(app.engine.ask(actor, Command::Slots(slots)).await))
}

async fn starts(State(app): Shared, actor: Actor, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.body).await?;
    let starts = |bytes: &[u8]| body::one_or_many::<StartWire>(bytes, "starts", MOST_STARTS);
    let starts = body::understand(bytes, starts).await?;
    Ok(reply(app.engine.ask(actor, Command::Starts(starts)).await))
}

async fn observe(State(app): Shared, actor: Actor, request: Request<Body>) -> Answered {
    let bytes = body::read(&app, request, app.limits.body).await?;
    let observations = |bytes: &[u8]| body::one_or_many(bytes, "observations", MOST_OBSERVATIONS);
    let observations = body::understand(bytes, observations).await?;
    Ok(reply(app.engine.ask(actor, Command::Observe(observations)).await))
}

async fn trainer(State(app): Shared, actor: Actor, job: Name, request: Request<Body>) -> Answered {
    let job = named("job", job)?;
    let bytes = body::read(&app, request, app.limits.body).await?;
    let status = body::parse(&bytes)?;
    Ok(reply(app.engine.ask(actor, Command::Trainer { job, status }).await))
}

async fn reset_channel(
    State(app): Shared,
    actor: Actor,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Answered {
    let Path((port, server)) =
        path.map_err(|_| ApiError::new(Code::NotFound, "the channel is not a pair of names"))?;
    Ok(reply(app.engine.ask(actor, Command::Reset { port: Some(port), server: Some(server) }).await))
}

async fn reset_port(State(app): Shared, actor: Actor, port: Name) -> Answered {
    let port = Some(named("port", port)?);
    Ok(reply(app.engine.ask(actor, Command::Reset { port, server: None }).await))
}

async fn forget_source(State(app): Shared, actor: Actor, source: Name) -> Answered {
    let source = named("source", source)?;
    Ok(reply(app.engine.ask(actor, Command::ForgetSource(source)).await))
}

async fn settle(State(app): Shared, actor: Actor, id: Name, accept: bool) -> Answered {
    let id = named("number", id)?;
    let id = id.parse().map_err(|_| ApiError::missing("outcome that was set aside", &id))?;
    Ok(reply(app.engine.ask(actor, Command::Settle { id, accept }).await))
}

async fn reset_server(State(app): Shared, actor: Actor, server: Name) -> Answered {
    let server = Some(named("server", server)?);
    Ok(reply(app.engine.ask(actor, Command::Reset { port: None, server }).await))
}

async fn drain(State(app): Shared, actor: Actor, server: Name, drained: bool) -> Answered {
    let server = named("server", server)?;
    Ok(reply(app.engine.ask(actor, Command::Drain { server, drained }).await))
}

async fn put_state(State(app): Shared, actor: Actor, request: Request<Body>) -> Answered {
    let share = query(request.uri(), "share").map_or(Ok(1.0), |share| share.parse::<f64>());
    let share = share.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    let share = share
        .ok_or_else(|| ApiError::value("share", "the share was rejected", "a number above 0, at most 1"))?;
    let bytes = body::read(&app, request, app.limits.large_body).await?;
    let state = body::understand(bytes, body::parse).await.map_err(|error| match error.code {
        // What a state is made of is the core's business and not part of the API.
        Code::InvalidValue => ApiError { code: Code::Conflict, ..error },
        _ => error,
    });
    let state = Box::new(state?);
    Ok(reply(app.engine.ask(actor, Command::Merge { state, share }).await))
}
