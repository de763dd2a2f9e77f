//! Jobs: a page of them, one, what changes of one that waits, the end of one.

use super::answer::{reply, value};
use super::cluster::{is_dry, precondition};
use super::reading::{limit, tagged};
use super::{App, Name, body, named, query};
use crate::actor::Actor;
use crate::engine::{Command, Followed, amendment};
use crate::wire::{ApiError, JobPatch, JobView, JobsWire, cursor, tag, wrong_cursor};
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Uri};
use axum::response::Response;
use esdp::live::{JobPage, JobState, WhichJobs};
use serde_json::json;
use std::sync::Arc;

type Shared = State<Arc<App>>;
type Answered = Result<Response, ApiError>;

/// `GET /v1/jobs`.
pub(super) async fn list(State(app): Shared, uri: Uri) -> Answered {
    let given = |key: &str| query(&uri, key).filter(|value| !value.is_empty());
    let state = given("state").map(|state| match state.as_str() {
        "waiting" => Ok(JobState::Waiting),
        "running" => Ok(JobState::Running),
        "over" => Ok(JobState::Over),
        _ => Err(ApiError::value("state", "the state was rejected", "`waiting`, `running` or `over`")),
    });
    let which = WhichJobs {
        state: state.transpose()?,
        port: given("port"),
        server: given("server"),
        name: given("name"),
    };
    let after = given("cursor").map(|text| cursor(&text)).transpose()?;
    if after.is_some_and(|after| !which.has_order_of(after)) {
        return Err(wrong_cursor());
    }
    let limit = limit(&uri, 100)? as usize;
    let look = move |followed: &mut Followed| {
        let page =
            followed.live().map_or_else(|_| JobPage::default(), |live| live.jobs_page(&which, after, limit));
        JobsWire::of(page, followed.slot())
    };
    Ok(value(&app.engine.follower().ask(look).await?))
}

/// `GET /v1/jobs/{job}`, with the tag of what can be changed.
pub(super) async fn one(State(app): Shared, job: Name) -> Answered {
    let job = named("job", job)?;
    let look = move |followed: &mut Followed| {
        let found = followed.live()?.job(&job).ok_or_else(|| ApiError::missing("job", &job))?;
        Ok::<_, ApiError>((tag(&found), JobView::of(found, followed.slot())))
    };
    let (tag, job) = app.engine.follower().ask(look).await??;
    Ok(tagged(value(&job), &tag))
}

/// `PATCH /v1/jobs/{job}`.
pub(super) async fn amend(State(app): Shared, actor: Actor, job: Name, request: Request<Body>) -> Answered {
    let job = named("job", job)?;
    let (dry, holds) = (is_dry(request.uri())?, precondition(request.headers())?);
    let bytes = body::read(&app, request, app.limits.body).await?;
    let patch: JobPatch = body::parse(&bytes)?;
    if !dry {
        return Ok(reply(app.engine.ask(actor, Command::AmendJob(job, patch, holds)).await));
    }
    let look = move |followed: &mut Followed| {
        let (next, event) = amendment(followed.live()?, &job, &patch, &holds)?;
        let job = JobView::of(next, followed.slot());
        Ok::<_, ApiError>(json!({ "changed": event.is_some(), "dry_run": true, "job": job }))
    };
    Ok(value(&app.engine.follower().ask(look).await??))
}

/// `DELETE /v1/jobs/{job}`.
pub(super) async fn end(State(app): Shared, actor: Actor, job: Name) -> Answered {
    Ok(reply(app.engine.ask(actor, Command::EndJob(named("job", job)?)).await))
}
