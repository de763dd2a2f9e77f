//! Changes of the cluster: whole, of one server, and what a change would do.

use super::answer::{reply, value};
use super::reading::{present, tagged};
use super::{App, Name, body, named, query};
use crate::actor::Actor;
use crate::engine::{Command, Followed};
use crate::wire::{ApiError, ClusterPreview, ClusterWire, Code, Precondition, ServerPatch, Tags};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, Request, Uri, header};
use axum::response::Response;
use esdp::model::ClusterDescription;
use serde_json::json;
use std::sync::Arc;

type Shared = State<Arc<App>>;
type Answered = Result<Response, ApiError>;

/// How often a change of one server is tried again while others change the cluster.
const MOST_TRIES: usize = 16;

pub(super) fn precondition(headers: &HeaderMap) -> Result<Precondition, ApiError> {
    let tags = |name: HeaderName, shown: &str| {
        let all: Vec<&str> =
            headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).collect();
        (!all.is_empty()).then(|| Tags::parse(shown, &all.join(", "))).transpose()
    };
    Ok(Precondition {
        matches: tags(header::IF_MATCH, "If-Match")?,
        matches_none: tags(header::IF_NONE_MATCH, "If-None-Match")?,
    })
}

pub(super) fn is_dry(uri: &Uri) -> Result<bool, ApiError> {
    match query(uri, "dry_run").as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(ApiError::value("dry_run", "the value was rejected", "`true` or `false`")),
    }
}

/// `PUT /v1/cluster`.
pub(super) async fn put_cluster(State(app): Shared, actor: Actor, request: Request<Body>) -> Answered {
    let (dry, holds) = (is_dry(request.uri())?, precondition(request.headers())?);
    let bytes = body::read(&app, request, app.limits.large_body).await?;
    let described = body::understand(bytes, |bytes| {
        let wire: ClusterWire = body::parse(bytes).map_err(|error| match error.field.as_deref() {
            // What a cost is made of is the core's business.
            Some(field) if field.starts_with("costs") => ApiError { code: Code::Conflict, ..error },
            _ => error,
        })?;
        wire.describe()
    });
    let described = described.await?;
    match dry {
        true => preview(&app, described, holds).await,
        false => change(&app, actor, described, holds).await,
    }
}

/// Makes a cluster the present one, if the precondition holds.
async fn change(app: &App, actor: Actor, described: ClusterDescription, holds: Precondition) -> Answered {
    // Of what is shown from now on, which may be written in another way than what was sent.
    let tag = ClusterWire::of(&described).tag();
    let command = match holds.is_nothing() {
        true => Command::Cluster(described),
        false => Command::ClusterIf(described, holds),
    };
    let changed = app.engine.ask(actor, command).await?;
    Ok(tagged(reply(Ok(changed)), &tag))
}

/// What a change would do. The tag is that of the present cluster, with which it can be asked for.
async fn preview(app: &App, described: ClusterDescription, holds: Precondition) -> Answered {
    let look = move |followed: &mut Followed| {
        let live = followed.live().ok();
        let (present, next) =
            (live.map(|live| ClusterWire::of(live.described())), ClusterWire::of(&described));
        let tag = present.as_ref().map(ClusterWire::tag);
        let mut preview = ClusterPreview::of(present.as_ref(), &next);
        if preview.changed {
            holds.check("the cluster", tag.as_deref())?;
        }
        if let Some(live) = live {
            let lost = live.would_lose(&described);
            let lost =
                lost.map_err(|why| ApiError::clash("", why.to_string(), "a cluster that fits together"))?;
            preview.lost = lost.into_iter().map(|(job, why)| json!({ "job": job, "why": why })).collect();
        }
        Ok::<_, ApiError>((preview, tag))
    };
    let (preview, tag) = app.engine.follower().ask(look).await??;
    let answer = value(&preview);
    Ok(tag.map_or_else(|| value(&preview), |tag| tagged(answer, &tag)))
}

/// `PATCH /v1/servers/{server}`: the same as sending the whole cluster with this server changed.
pub(super) async fn patch_server(
    State(app): Shared,
    actor: Actor,
    server: Name,
    request: Request<Body>,
) -> Answered {
    let server = named("server", server)?;
    let holds = precondition(request.headers())?;
    let bytes = body::read(&app, request, app.limits.body).await?;
    let patch: ServerPatch = body::parse(&bytes)?;
    let mut tries = 0;
    loop {
        let present = present(&app).await?.ok_or_else(ApiError::no_cluster)?;
        let tag = present.tag();
        let (next, place) = present.clone().patched(&server, &patch)?;
        if next != present {
            holds.check("the cluster", Some(&tag))?;
        }
        // A large cluster takes a while to check.
        let described = tokio::task::spawn_blocking(move || next.describe()).await;
        let described = described.map_err(|error| ApiError::new(Code::Internal, error.to_string()))?;
        let described = described.map_err(|error| in_patch(error, place))?;
        match change(&app, actor.clone(), described, Precondition::exactly(&tag)).await {
            // Somebody else was faster: what they did is kept, and the patch goes on top of it.
            Err(error) if error.code == Code::PreconditionFailed && tries < MOST_TRIES => tries += 1,
            answer => return answer,
        }
    }
}

/// The place of an error in the patch, given where it is in the whole cluster.
fn in_patch(error: ApiError, place: usize) -> ApiError {
    let prefix = format!("servers[{place}].");
    let field = error.field.as_ref().and_then(|field| field.strip_prefix(&prefix)).map(ToOwned::to_owned);
    ApiError { field: field.or(error.field), ..error }
}

/// `DELETE /v1/departed/{server}`.
pub(super) async fn forget(State(app): Shared, actor: Actor, server: Name) -> Answered {
    Ok(reply(app.engine.ask(actor, Command::Forget(named("server", server)?)).await))
}
