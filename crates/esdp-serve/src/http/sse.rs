//! `GET /v1/events`: news as server-sent events. Who comes back with `Last-Event-ID` gets what was missed; if
//! some of it is no longer there, an event `reset` says that everything should be read anew.

use super::App;
use crate::feed::News;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// How often a line is sent to those who hear nothing else, so that nobody takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long one who does not read is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// `GET /v1/events`.
pub(super) async fn events(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let last = headers.get(HeaderName::from_static("last-event-id"));
    let last = last.and_then(|last| last.to_str().ok()).and_then(|last| last.trim().parse().ok());
    let (missed, gap, watch) = app.feed.watch(last);
    let (sender, channel) = Channel::<Bytes, Infallible>::new(16);
    let stop = app.stop.clone();
    tokio::spawn(async move {
        let mut stop = stop;
        tokio::select! {
            () = tell(sender, missed, gap, watch, last.unwrap_or(0)) => {}
            // Who watches comes back by itself.
            () = super::server::told(&mut stop) => {}
        }
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::new(channel)).into_response()
}

fn shown(news: &News) -> Bytes {
    Bytes::from(format!("id: {}\nevent: {}\ndata: {}\n\n", news.id, news.kind, news.data))
}

async fn tell(
    mut sender: Sender<Bytes, Infallible>,
    missed: Vec<News>,
    gap: bool,
    mut watch: Receiver<News>,
    mut last: u64,
) {
    let mut first = String::from("retry: 1000\n\n");
    if gap {
        first.push_str("event: reset\ndata: {}\n\n");
    }
    let mut lines = vec![Bytes::from(first)];
    for news in &missed {
        last = last.max(news.id);
        lines.push(shown(news));
    }
    loop {
        for line in lines.drain(..) {
            match tokio::time::timeout(PATIENCE, sender.send_data(line)).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
        match tokio::time::timeout(HEARTBEAT, watch.recv()).await {
            Err(_) => lines.push(Bytes::from_static(b": still here\n\n")),
            Ok(Ok(news)) if news.id > last => {
                last = news.id;
                lines.push(shown(&news));
            }
            Ok(Ok(_)) => {}
            Ok(Err(RecvError::Lagged(_))) => lines.push(Bytes::from_static(b"event: reset\ndata: {}\n\n")),
            Ok(Err(RecvError::Closed)) => return,
        }
    }
}
