//! Connections: how many, how long, how slow, and how they end.

use super::App;
use super::gate::{self, Gate, Seat};
use crate::actor::Peer;
use axum::Router;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;

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

/// Where connections come from.
#[derive(Debug)]
pub enum Door {
    /// An address.
    Tcp(TcpListener),
    /// A socket of this machine.
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
}

/// A connection that was accepted.
enum Came {
    Tcp(tokio::net::TcpStream),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

impl Door {
    async fn accept(&self) -> io::Result<(Came, Peer, String)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                let address = address.ip().to_canonical();
                let peer = Peer { address: address.to_string(), uid: None };
                Ok((Came::Tcp(stream), peer, gate::household(address)))
            }
            #[cfg(unix)]
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let uid = stream.peer_cred()?.uid();
                let peer = Peer { address: String::new(), uid: Some(uid) };
                Ok((Came::Unix(stream), peer, format!("uid:{uid}")))
            }
        }
    }
}

/// Serves until told to stop; requests that are under way are answered first.
pub async fn serve(doors: Vec<Door>, app: Arc<App>, stop: Stop) {
    let gate = Gate::new(app.limits.connections);
    let router = super::router(Arc::clone(&app));
    let all = doors.into_iter().map(|door| {
        tokio::spawn(accept(door, Arc::clone(&app), router.clone(), Arc::clone(&gate), stop.clone()))
    });
    for door in all.collect::<Vec<_>>() {
        let _ = door.await;
    }
    // Those who only watch are not waited for.
    let _ = tokio::time::timeout(LAST_ORDERS, gate.emptied()).await;
}

async fn accept(door: Door, app: Arc<App>, router: Router, gate: Arc<Gate>, mut stop: Stop) {
    loop {
        let accepted = tokio::select! {
            accepted = door.accept() => accepted,
            () = told(&mut stop) => break,
        };
        let (came, peer, counted) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, mostly: the next moment may be better.
                tracing::warn!(%error, "no connection was accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(seat) = gate.enter(counted) else {
            tracing::warn!("too many connections; one was closed");
            continue;
        };
        let (app, router, stop) = (Arc::clone(&app), router.clone(), stop.clone());
        tokio::spawn(async move {
            app.metrics.connections.fetch_add(1, Relaxed);
            tokio::select! {
                () = converse(came, peer, router, &app, &seat, stop) => {}
                () = seat.leave() => {}
            }
            app.metrics.connections.fetch_sub(1, Relaxed);
        });
    }
}

async fn converse(came: Came, peer: Peer, router: Router, app: &App, seat: &Arc<Seat>, stop: Stop) {
    let seat = Arc::clone(seat);
    match (came, app.tls()) {
        #[cfg(unix)]
        (Came::Unix(stream), _) => connection(stream, peer, router, app, seat, stop).await,
        (Came::Tcp(stream), None) => connection(stream, peer, router, app, seat, stop).await,
        (Came::Tcp(stream), Some(tls)) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(app.limits.head_time, tls.accept(stream)).await {
                connection(stream, peer, router, app, seat, stop).await;
            }
        }
    }
}

/// A body that is on its way. A connection works once all of it is there.
struct Arriving {
    body: Incoming,
    seat: Arc<Seat>,
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if self.body.is_end_stream() || matches!(frame, Poll::Ready(None)) {
            self.seat.work();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

/// An answer that leaves. A connection waits again after it.
struct Leaving {
    body: axum::body::Body,
    seat: Arc<Seat>,
}

impl Body for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.seat.wait();
    }
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
    seat: Arc<Seat>,
    mut stop: Stop,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(app.limits.head_time).max_buf_size(64 << 10);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        if request.body().is_end_stream() {
            seat.work();
        }
        let arriving = Arc::clone(&seat);
        let answer = TowerToHyperService::new(router.clone())
            .call(request.map(|body| Arriving { body, seat: arriving }));
        let seat = Arc::clone(&seat);
        async move {
            let answer = answer.await?;
            Ok::<_, std::convert::Infallible>(answer.map(|body| Leaving { body, seat }))
        }
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
