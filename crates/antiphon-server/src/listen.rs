//! Connections: how they come in, and how long they may take.

mod tls;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

pub(crate) use tls::acceptor;

/// A client has so long for the head of a request, and for its part of TLS.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The head of a request is no longer than this.
const HEAD_BYTES: usize = 48 << 10;
/// So many connections are open at once; others wait.
const CONNECTIONS: usize = 4096;

/// Where a server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// At loopback, at the usual port.
    Usual,
    /// The same, or any other port if that is taken.
    Free,
    At(SocketAddr),
    /// At the socket that is the standard input, as systemd passes it.
    Inherited,
}

/// The usual port.
pub const PORT: u16 = 7462;

/// Opens the sockets; the first is the one that is told.
pub(crate) fn bind(listen: Listen) -> io::Result<Vec<std::net::TcpListener>> {
    let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let sockets = match listen {
        Listen::At(address) => vec![open(address)?],
        Listen::Usual => with_v6(open(loopback(PORT))?)?,
        Listen::Free => match open(loopback(PORT)).and_then(with_v6) {
            Ok(sockets) => sockets,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => vec![open(loopback(0))?],
            Err(error) => return Err(error),
        },
        Listen::Inherited => vec![inherited()?],
    };
    sockets.iter().try_for_each(|socket| socket.set_nonblocking(true))?;
    Ok(sockets)
}

fn open(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    std::net::TcpListener::bind(address)
}

/// The same port at `::1`, if the machine has that.
fn with_v6(socket: std::net::TcpListener) -> io::Result<Vec<std::net::TcpListener>> {
    let port = socket.local_addr()?.port();
    match open(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
        Ok(other) => Ok(vec![socket, other]),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(_) => Ok(vec![socket]),
    }
}

#[cfg(unix)]
fn inherited() -> io::Result<std::net::TcpListener> {
    use std::os::fd::AsFd as _;
    let socket = std::net::TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.local_addr()?;
    Ok(socket)
}

#[cfg(not(unix))]
fn inherited() -> io::Result<std::net::TcpListener> {
    Err(io::Error::other("this system passes no sockets"))
}

/// Accepts connections until the server ends.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    mut is_ending: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = is_ending.changed() => return,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files: there will be fewer.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (router, tls) = (router.clone(), tls.clone());
        tokio::spawn(async move {
            let _permit = permit;
            match tls {
                None => serve(stream, router).await,
                Some(tls) => {
                    let greeting = tokio::time::timeout(HEAD_TIME, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = greeting {
                        serve(stream, router).await;
                    }
                }
            }
        });
    }
}

/// Answers the requests of one connection.
pub(crate) async fn serve<S>(stream: S, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    let service = TowerToHyperService::new(router);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(is_timeout = error.is_timeout(), "a connection broke off");
    }
}
