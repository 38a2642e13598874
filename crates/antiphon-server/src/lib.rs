//! The library over HTTP: for the page, for programs, and for other machines.
//!
//! A thin layer: every answer is a value that the library or a view already gives. The server adds
//! transport, access and liveness, and nothing that the command line could not say.
//!
//! A request passes `access`, which knows who asks; the table in `routes` says who may; the
//! route works on a blocking thread, on sessions that `opened` holds, and writes into `answer`.

mod access;
mod answer;
mod app;
mod body;
mod call;
pub mod export;
mod library;
mod listen;
mod live;
mod metrics;
pub mod openapi;
mod opened;
pub mod otlp;
mod problem;
mod query;
mod redacted;
mod routes;
#[cfg(unix)]
mod socket;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use antiphon_library::Store;
use antiphon_model::Zone;
use antiphon_redact::Redactor;
use antiphon_views::Prices;
use serde::Serialize;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub use access::tokens::{ListedToken, Scope, TokenError, Tokens};
pub use listen::{Listen, PORT};
#[cfg(unix)]
pub use socket::ask_for_code;

use access::{Access, Codes, Hosts};
use app::{App, Parts};
use library::Library;

/// How a server is to be.
#[derive(Debug)]
pub struct ServeOptions {
    pub store: Store,
    /// Serve only the session in this file.
    pub file: Option<PathBuf>,
    pub listen: Listen,
    pub is_read_only: bool,
    /// Names beyond loopback under which it answers.
    pub allowed_hosts: Vec<String>,
    /// A certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    pub is_behind_proxy: bool,
    /// When to end if nobody asks.
    pub idle: Option<Duration>,
    /// The address of the page to which the first code leads.
    pub page: String,
    /// The user's own prices, if there are any.
    pub prices: Option<Prices>,
    pub redactor: Redactor,
    pub zone: Zone,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Address {
    /// The address of the page, with a code that is good once.
    pub url: String,
    /// The address at which it listens.
    pub address: String,
    /// Its process.
    pub pid: u32,
}

#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen at {at}")]
    Listen { at: String, source: io::Error },
    #[error("listening beyond this machine needs {0}")]
    Exposed(&'static str),
    #[error("TLS cannot be used")]
    Tls(#[source] io::Error),
    #[error("the server cannot be started")]
    Start(#[source] io::Error),
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// What a thread left behind when it failed is still what it was.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves until a signal comes, or nobody has asked for a while. `announce` is told where.
pub fn serve(
    options: ServeOptions,
    announce: impl FnOnce(&Address) -> io::Result<()>,
) -> Result<(), ServeError> {
    let tokens = Tokens::at(options.store.root());
    check_exposure(&options, &tokens)?;
    let tls = options.tls.as_ref().map(|(certificate, key)| listen::acceptor(certificate, key));
    let tls = tls.transpose().map_err(ServeError::Tls)?;
    let at = match options.listen {
        Listen::At(address) => address.to_string(),
        Listen::Usual | Listen::Free => format!("127.0.0.1:{PORT}"),
        Listen::Inherited => "the inherited socket".to_owned(),
    };
    let unbound = |source| ServeError::Listen { at: at.clone(), source };
    let sockets = listen::bind(options.listen).map_err(unbound)?;
    let first = sockets.first().ok_or_else(|| io::Error::other("no socket")).map_err(unbound)?;
    let address = first.local_addr().map_err(unbound)?;
    let names = &options.allowed_hosts;
    let hosts = Hosts::new(address.port(), names, tls.is_some(), options.is_behind_proxy);
    let access = Access { hosts, tokens, codes: Codes::default() };
    let url = access.code_address(&options.page)?;
    access::tokens::make_private_folder(options.store.root()).map_err(ServeError::Start)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let said = Address { url, address: address.to_string(), pid: std::process::id() };
    let done = runtime.block_on(run(options, access, sockets, tls, &said, announce));
    // Whoever still computes is not waited for.
    runtime.shutdown_background();
    done.map_err(ServeError::Start)
}

/// Beyond loopback anybody may ask, so a secret, a name and a cover are needed.
fn check_exposure(options: &ServeOptions, tokens: &Tokens) -> Result<(), ServeError> {
    let Listen::At(address) = options.listen else { return Ok(()) };
    if address.ip().is_loopback() {
        return Ok(());
    }
    if tokens.list()?.is_empty() {
        return Err(ServeError::Exposed("a token: `antiphon token create --scope read`"));
    }
    if options.allowed_hosts.is_empty() {
        return Err(ServeError::Exposed("the name of this machine: `--allowed-host NAME`"));
    }
    if options.tls.is_none() && !options.is_behind_proxy {
        return Err(ServeError::Exposed("`--tls-cert` and `--tls-key`, or `--behind-proxy`"));
    }
    Ok(())
}

async fn run(
    options: ServeOptions,
    access: Access,
    sockets: Vec<std::net::TcpListener>,
    tls: Option<tokio_rustls::TlsAcceptor>,
    said: &Address,
    announce: impl FnOnce(&Address) -> io::Result<()>,
) -> io::Result<()> {
    let (end, is_ending) = watch::channel(false);
    let root = options.store.root().to_owned();
    let is_alone = options.file.is_some();
    let library = match options.file {
        Some(path) => Library::File(path),
        None => Library::kept(options.store),
    };
    let own_prices = options.prices.is_some();
    let prices = options.prices.unwrap_or_else(Prices::bundled);
    let (redactor, zone) = (options.redactor, options.zone);
    let is_read_only = options.is_read_only;
    let ending = is_ending.clone();
    let parts = Parts {
        library,
        access,
        prices,
        own_prices,
        redactor,
        zone,
        is_read_only,
        is_ending: ending,
    };
    let app = Arc::new(App::new(parts));
    let router = routes::router(&app);
    for socket in sockets {
        let listener = TcpListener::from_std(socket)?;
        tokio::spawn(listen::accept(listener, router.clone(), tls.clone(), is_ending.clone()));
    }
    #[cfg(unix)]
    let socket = if is_alone { None } else { socket::Socket::open(&root).ok().flatten() };
    #[cfg(unix)]
    let socket = socket.map(Arc::new);
    #[cfg(unix)]
    if let Some(socket) = &socket {
        let (socket, router, ending) = (Arc::clone(socket), router.clone(), is_ending.clone());
        tokio::spawn(async move { socket.accept(router, ending).await });
    }
    let settler = Arc::clone(&app);
    std::thread::spawn(move || settle(&settler));
    announce(said)?;
    tracing::info!(address = %said.address, "serving");
    let idle = async {
        match options.idle {
            Some(most) => wait_until_idle(&app, most).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = ended_by_signal() => {}
        () = idle => {}
    }
    // Streams end, and have a moment to say so.
    let _ = end.send(true);
    tokio::time::sleep(Duration::from_millis(50)).await;
    #[cfg(unix)]
    drop(socket);
    #[cfg(unix)]
    let _ = std::fs::remove_file(root.join("server.sock")).is_ok();
    Ok(())
}

/// Copies spans into the archive as they come, for as long as the process lives.
fn settle(app: &App) {
    let Ok(store) = app.library.store() else { return };
    if !app.is_read_only {
        app.spool.look_again();
    }
    while !*app.is_ending.borrow() {
        app.spool.settle(store);
        std::thread::sleep(Duration::from_secs(1));
    }
}

async fn wait_until_idle(app: &App, most: Duration) {
    let most = i64::try_from(most.as_millis()).unwrap_or(i64::MAX);
    loop {
        let rest = most - app.idle_ms();
        match u64::try_from(rest) {
            Ok(rest @ 1..) => tokio::time::sleep(Duration::from_millis(rest)).await,
            Ok(0) | Err(_) => return,
        }
    }
}

/// Ctrl-C, or the word of whoever manages the process.
async fn ended_by_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}
