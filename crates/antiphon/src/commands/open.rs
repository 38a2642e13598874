//! `antiphon open`: the sessions in a browser.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use antiphon_library::{Environment, Found, Store};
use antiphon_server::{Address, Listen, ServeOptions, ask_for_code};
use clap::Args;

use super::serve::{options, say, start};
use crate::failure::{Outcome, UserError};
use crate::opened::Opened;

#[derive(Debug, Args)]
#[command(after_help = "\
Serves the kept sessions to this machine alone, at port 7462 or another free one, and opens the
browser. It ends with Ctrl-C, or if nobody asks for an hour. A server that runs already is used.")]
pub(crate) struct OpenArgs {
    /// The session to show; if it is a file, only that file is served
    session: Option<PathBuf>,
    /// Print the address, and open no browser
    #[arg(long)]
    no_browser: bool,
    /// Print `{url, address, pid}` on one line
    #[arg(long)]
    json: bool,
}

/// A server that nobody asks ends after this time.
const IDLE: Duration = Duration::from_secs(3600);

pub(crate) fn run(args: &OpenArgs) -> anyhow::Result<Outcome> {
    let mut options = ServeOptions { idle: Some(IDLE), ..options(Listen::Free)? };
    match &args.session {
        Some(path) if path.is_file() => {
            // What cannot be read is said now, and not on the page.
            let opened = Opened::read(path)?;
            options.page = page_of(&opened.id());
            options.file = Some(std::path::absolute(path)?);
        }
        Some(named) => {
            let store = Store::open_default(&Environment::of_process())?;
            options.page = page_of(&kept(&store, named)?);
        }
        None => {}
    }
    if options.file.is_none()
        && let Some(url) = ask_for_code(options.store.root(), &options.page)
    {
        return running(&url, args);
    }
    let folder = options.store.root().to_owned();
    if args.no_browser {
        return start(options, args.json);
    }
    let json = args.json;
    let served = antiphon_server::serve(options, |address| {
        say(address, json)?;
        browse(&folder, &address.url);
        Ok(())
    });
    served?;
    Ok(Outcome::Done)
}

/// A server runs already.
fn running(url: &str, args: &OpenArgs) -> anyhow::Result<Outcome> {
    let address = url.split("://").nth(1).and_then(|it| it.split('/').next()).unwrap_or_default();
    let said =
        Address { url: url.to_owned(), address: address.to_owned(), pid: std::process::id() };
    say(&said, args.json)?;
    if !args.no_browser {
        let store = Store::open_default(&Environment::of_process())?;
        browse(store.root(), url);
    }
    Ok(Outcome::Done)
}

fn kept(store: &Store, named: &Path) -> anyhow::Result<String> {
    let word = named.to_string_lossy();
    match store.find(&word) {
        Found::One(session) => Ok(session.session_id.clone()),
        Found::Several(sessions) => {
            Err(UserError::usage(format!("`{word}` matches {} sessions", sessions.len()))
                .hint("type more characters of the id")
                .into())
        }
        Found::Nothing => Err(UserError::failed(format!("there is no file or session `{word}`"))
            .hint("`antiphon ls` lists the sessions")
            .into()),
    }
}

/// The page of a session.
fn page_of(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let coded: String = id
        .bytes()
        .map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    format!("/s/{coded}")
}

/// Opens the browser, where there is one. The address has a code, which must not stand in an
/// argument that other users see: the browser gets a file that leads there.
fn browse(folder: &Path, url: &str) {
    let has_screen = cfg!(target_os = "macos")
        || std::env::var_os("DISPLAY").is_some()
        || std::env::var_os("WAYLAND_DISPLAY").is_some();
    if !has_screen {
        return;
    }
    let file = folder.join("open.html");
    if write_private(&file, url).is_err() {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
    // By then the code is spent or over.
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(60));
        let _ = std::fs::remove_file(file);
    });
}

fn write_private(path: &Path, url: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // The address is of our own making: letters, digits and the marks of an address.
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Antiphon</title>\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\"><a href=\"{url}\">Antiphon</a>\n"
    );
    options.open(path)?.write_all(text.as_bytes())
}
