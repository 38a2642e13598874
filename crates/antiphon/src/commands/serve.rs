//! `antiphon serve`: the library over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use antiphon_library::{Environment, Store};
use antiphon_server::{Address, Listen, ServeError, ServeOptions, serve};
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::range::local_zone;
use crate::redaction::redactor;
use crate::{price_table, terminal};

#[derive(Debug, Args)]
#[command(after_help = "\
The first line printed is the address of the page, with a code that is good once and for a minute.
Programs use a token: see `antiphon token`. To listen beyond this machine needs a token,
--allowed-host, and TLS or a proxy that has it.

Examples:
  antiphon serve
  antiphon serve --listen 0.0.0.0:7462 --allowed-host box.example --tls-cert c.pem --tls-key k.pem")]
pub(crate) struct ServeArgs {
    /// Where to listen; `-` is the socket on standard input, as systemd passes it (default:
    /// 127.0.0.1 and ::1, port 7462)
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Refuse everything that writes
    #[arg(long)]
    read_only: bool,
    /// A name of this machine under which to answer; may be repeated
    #[arg(long, value_name = "NAME")]
    allowed_host: Vec<String>,
    /// The certificate for TLS, with those above it (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A proxy in front has TLS
    #[arg(long)]
    behind_proxy: bool,
    /// Print `{url, address, pid}` on one line
    #[arg(long)]
    json: bool,
}

/// A server that systemd starts on demand ends after this time without a request.
const IDLE: Duration = Duration::from_secs(3600);

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<Outcome> {
    let listen = match args.listen.as_deref() {
        None => Listen::Usual,
        Some("-") => Listen::Inherited,
        Some(text) => Listen::At(text.parse::<SocketAddr>().map_err(|_| {
            let what = format!("`{text}` is not an address");
            UserError::usage(what).hint("for example 127.0.0.1:7462 or [::1]:0")
        })?),
    };
    let options = ServeOptions {
        is_read_only: args.read_only,
        allowed_hosts: args.allowed_host.clone(),
        tls: args.tls_cert.clone().zip(args.tls_key.clone()),
        is_behind_proxy: args.behind_proxy,
        idle: (listen == Listen::Inherited).then_some(IDLE),
        ..options(listen)?
    };
    start(options, args.json)
}

/// A server of the user's store, for this machine alone.
pub(super) fn options(listen: Listen) -> anyhow::Result<ServeOptions> {
    Ok(ServeOptions {
        store: Store::open_default(&Environment::of_process())?,
        file: None,
        listen,
        is_read_only: false,
        allowed_hosts: Vec::new(),
        tls: None,
        is_behind_proxy: false,
        idle: None,
        page: "/".to_owned(),
        prices: price_table::own(None)?,
        redactor: redactor(),
        zone: local_zone(),
    })
}

pub(super) fn start(options: ServeOptions, json: bool) -> anyhow::Result<Outcome> {
    let served = serve(options, |address| say(address, json));
    match served {
        Ok(()) => Ok(Outcome::Done),
        Err(error @ ServeError::Exposed(_)) => Err(UserError::usage(error.to_string()).into()),
        Err(error) => Err(error.into()),
    }
}

/// Prints where the server is: one line, at once.
pub(super) fn say(address: &Address, json: bool) -> std::io::Result<()> {
    let said = match json {
        true => terminal::json(address),
        false => terminal::lines(&address.url),
    };
    said.map_err(std::io::Error::other)
}
