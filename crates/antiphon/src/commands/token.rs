//! `antiphon token`: who else may ask the server.

use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{Environment, Store};
use antiphon_model::{Zone, parse_moment};
use antiphon_server::{Scope, TokenError, Tokens};
use clap::{Args, Subcommand, ValueEnum};

use crate::failure::{Outcome, UserError};
use crate::terminal::{self, Page, Style};

#[derive(Debug, Args)]
#[command(after_help = "\
A token is printed once, when it is created; only its hash is kept. Programs send it as
`Authorization: Bearer TOKEN`. It counts at once, on servers that run already, too.

Examples:
  antiphon token create --scope read --name dashboard
  antiphon token create --scope write --name build-server --expires 30d
  antiphon token revoke dashboard")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a token and print it
    Create(CreateArgs),
    /// List the tokens
    Ls(LsArgs),
    /// Make a token worthless
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What it allows
    #[arg(long, value_enum)]
    scope: ScopeWord,
    /// What to call it
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How long it counts: 12h, 30d …
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
}

#[derive(Debug, Default, Args)]
struct LsArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct RevokeArgs {
    /// The token's name
    name: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScopeWord {
    /// To read everything
    Read,
    /// To add sessions, events of these sessions, and spans; to read nothing
    Write,
    /// Everything
    Admin,
}

pub(crate) fn run(args: &TokenArgs) -> anyhow::Result<Outcome> {
    let store = Store::open_default(&Environment::of_process())?;
    let tokens = Tokens::at(store.root());
    match &args.action {
        Some(Action::Create(args)) => create(&tokens, args),
        Some(Action::Revoke(args)) => match tokens.revoke(&args.name) {
            Err(unknown @ TokenError::Unknown(_)) => {
                let error = UserError::not_found(unknown.to_string());
                Err(error.hint("`antiphon token ls` lists the names").into())
            }
            done => Ok(done.map(|()| Outcome::Done)?),
        },
        Some(Action::Ls(args)) => list(&tokens, args),
        None => list(&tokens, &LsArgs::default()),
    }
}

fn create(tokens: &Tokens, args: &CreateArgs) -> anyhow::Result<Outcome> {
    let scope = match args.scope {
        ScopeWord::Read => Scope::Read,
        ScopeWord::Write => Scope::Write,
        ScopeWord::Admin => Scope::Admin,
    };
    let lives_ms = args.expires.as_deref().map(milliseconds).transpose()?;
    let token = tokens.create(args.name.as_deref(), scope, lives_ms);
    let token = match token {
        Err(taken @ TokenError::Taken(_)) => return Err(UserError::usage(taken.to_string()).into()),
        made => made?,
    };
    terminal::lines(&token)?;
    Ok(Outcome::Done)
}

/// `1s`, `12h`, `30d`, as times are written elsewhere.
fn milliseconds(text: &str) -> anyhow::Result<i64> {
    let seconds = text.strip_suffix('s').and_then(|number| number.parse::<i64>().ok());
    if let Some(millis) = seconds.and_then(|seconds| seconds.checked_mul(1000)) {
        return Ok(millis);
    }
    let now = SystemClock.now();
    let before = parse_moment(text, now, &Zone::utc()).ok();
    let is_span = text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains('-');
    match before.filter(|_| is_span).map(|before| now.since(before)) {
        Some(millis) if millis > 0 => Ok(millis),
        _ => {
            let error = UserError::usage(format!("`{text}` is not a length of time"));
            Err(error.hint("for example 12h or 30d").into())
        }
    }
}

fn list(tokens: &Tokens, args: &LsArgs) -> anyhow::Result<Outcome> {
    let rows = tokens.list()?;
    if args.json {
        terminal::json(&rows)?;
        return Ok(Outcome::Done);
    }
    let mut page = Page::new();
    if rows.is_empty() {
        page.plain("No tokens; `antiphon token create` makes one.").end()?;
    }
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    for row in &rows {
        page.add(Style::Name, &terminal::pad(&row.name, width));
        page.plain(&format!("  {:<5}", row.scope));
        let until = row.expires_at.map(|at| format!("  until {at}"));
        page.faint(&until.unwrap_or_default()).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
