//! `GET /v1/audit`: who changed what, when and from where.

use super::answer::value;
use super::{App, query};
use crate::clock;
use crate::engine::{Followed, audit as read};
use crate::storage::AuditQuery;
use crate::wire::ApiError;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use std::sync::Arc;

/// The most changes of an answer.
const MOST: usize = 1000;

fn asked(uri: &Uri) -> Result<AuditQuery, ApiError> {
    let time = |key: &str, otherwise: u64| match query(uri, key) {
        None => Ok(otherwise),
        Some(text) => clock::parse(&text).ok_or_else(|| {
            let accepted = "a time such as 2026-11-19T14:00:00Z, or a number of seconds since 1970";
            ApiError::value(key, "the time was rejected", accepted)
        }),
    };
    let limit = query(uri, "limit").map_or(Some(100), |limit| limit.parse().ok());
    let limit = limit.filter(|limit| (1..=MOST).contains(limit)).ok_or_else(|| {
        ApiError::value("limit", "the limit was rejected", format!("a whole number from 1 to {MOST}"))
    })?;
    let cursor = |text: String| {
        let (at, event) = text.split_once('.')?;
        Some((at.parse().ok()?, event.parse().ok()?))
    };
    let after = query(uri, "cursor").map(|text| {
        cursor(text).ok_or_else(|| {
            ApiError::value("cursor", "the cursor was rejected", "`next` of the answer before, as it is")
        })
    });
    Ok(AuditQuery {
        since: time("since", 0)?,
        until: time("until", u64::MAX)?,
        server: query(uri, "server"),
        actor: query(uri, "actor"),
        limit,
        after: after.transpose()?,
    })
}

/// `GET /v1/audit`.
pub(super) async fn audit(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let asked = asked(&uri)?;
    let answer = app.engine.follower().ask(move |followed: &mut Followed| read(followed, &asked)).await??;
    Ok(value(&answer))
}
