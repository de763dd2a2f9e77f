//! Connections: how many, how long, how slow, and how they end.

use super::App;
use crate::actor::Peer;
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// How much is taken from a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest body of most requests, in bytes.
    pub body: usize,
    /// The largest body of a cluster or a state, in bytes.
    pub large_body: usize,
    /// The time in which a body must arrive.
    pub body_time: Duration,
    /// The time in which a request's head must arrive, and the time that a connection may be idle.
    pub head_time: Duration,
    /// The most connections at a time.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            large_body: 64 << 20,
            body_time: Duration::from_secs(10),
            head_time: Duration::from_secs(30),
            connections: 4096,
        }
    }
}

/// How long open requests may take once the service stops.
const LAST_ORDERS: Duration = Duration::from_secs(10);

/// Says when to stop.
pub type Stop = watch::Receiver<bool>;

/// Serves until told to stop; requests that are under way are answered first.
///
/// # Errors
/// When the address cannot be listened on.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    tls: Option<TlsAcceptor>,
    mut stop: Stop,
) -> io::Result<()> {
    let router = super::router(Arc::clone(&app));
    let places = Arc::new(Semaphore::new(app.limits.connections));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = told(&mut stop) => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, mostly: the next moment may be better.
                tracing::warn!(%error, "no connection was accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tracing::warn!("too many connections; one was closed");
            continue;
        };
        let _ = stream.set_nodelay(true);
        let peer = Peer { address: address.ip().to_canonical().to_string(), uid: None };
        let (app, router, tls, stop) = (Arc::clone(&app), router.clone(), tls.clone(), stop.clone());
        tokio::spawn(async move {
            app.metrics.connections.fetch_add(1, Relaxed);
            match tls {
                None => connection(stream, peer, router, &app, stop).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) =
                        tokio::time::timeout(app.limits.head_time, tls.accept(stream)).await
                    {
                        connection(stream, peer, router, &app, stop).await;
                    }
                }
            }
            app.metrics.connections.fetch_sub(1, Relaxed);
            drop(place);
        });
    }
    drop(listener);
    let all = u32::try_from(app.limits.connections).unwrap_or(u32::MAX);
    // Those who only watch are not waited for.
    let _ = tokio::time::timeout(LAST_ORDERS, places.acquire_many(all)).await;
    Ok(())
}

/// Waits until it is time to stop.
pub(super) async fn told(stop: &mut Stop) {
    drop(stop.wait_for(|stop| *stop).await);
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: Peer,
    router: Router,
    app: &App,
    mut stop: Stop,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(app.limits.head_time).max_buf_size(64 << 10);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        TowerToHyperService::new(router.clone()).call(request)
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(LAST_ORDERS, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}
