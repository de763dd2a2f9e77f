//! Scores for kube-scheduler: learned speeds of the pod's port, from 0 to 10. Fails open: whoever is not
//! known, or if anything is wrong, all nodes get the same score and the stock scheduler decides by its own
//! rules.

use super::{App, body};
use crate::engine::{ChannelRow, Followed, WhichChannels, channel_rows};
use crate::wire::{ExtenderArgs, HostPriority, MOST_PRIORITY};
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The score of nodes of which nothing is known: in the middle, so that they are tried now and then.
const NEUTRAL: i64 = 5;

/// `POST /v1/prioritize`.
pub(super) async fn prioritize(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    let args = match body::read(&app, request, app.limits.large_body).await {
        Ok(bytes) => body::understand(bytes, body::parse::<ExtenderArgs>).await.unwrap_or_default(),
        Err(_) => ExtenderArgs::default(),
    };
    let port = args.port().map(ToOwned::to_owned);
    let rows = app.engine.follower().ask(move |followed| rows(followed, port));
    let rows = tokio::time::timeout(Duration::from_millis(500), rows).await;
    super::answer::value(&scores(&args, &rows.ok().and_then(Result::ok).unwrap_or_default()))
}

/// What is known of a port, or of the only one.
fn rows(followed: &Followed, port: Option<String>) -> Vec<ChannelRow> {
    let Ok(live) = followed.live() else { return Vec::new() };
    let only = match live.scheduler().cluster().ports() {
        [only] => Some(only.clone()),
        _ => None,
    };
    match port.or(only) {
        Some(port) => channel_rows(live, &WhichChannels { port: Some(port), server: None, tried: true }),
        None => Vec::new(),
    }
}

fn scores(args: &ExtenderArgs, rows: &[ChannelRow]) -> Vec<HostPriority> {
    let mut speeds: HashMap<&str, (f64, f64)> = HashMap::new();
    for row in rows {
        let (sum, count) = speeds.entry(&row.server).or_default();
        *sum += row.count * row.mean;
        *count += row.count;
    }
    let speed = |host: &str| speeds.get(host).map(|(sum, count)| sum / count);
    let hosts = args.hosts();
    let best = hosts.iter().filter_map(|host| speed(host)).fold(0.0, f64::max);
    let score = |host: &str| match speed(host) {
        Some(speed) if best > 0.0 => (MOST_PRIORITY * speed / best).round() as i64,
        _ => NEUTRAL,
    };
    hosts.iter().map(|host| HostPriority { host: host.clone(), score: score(host) }).collect()
}
