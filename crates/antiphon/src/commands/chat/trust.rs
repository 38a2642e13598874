//! A log is data, never a program: what it names is started or read only if somebody says so again,
//! with an option, or at a terminal after seeing it.

use antiphon_agents::{Cast, ModelName, TriggerKind, cast_of_line};

use crate::opened::Opened;
use crate::shell::quoted;
use crate::terminal::{Page, Style};

/// The cast that a session's log names.
pub(super) fn recorded_cast(opened: &Opened) -> Option<Cast> {
    let session = &opened.session;
    let started = session.info().started_by.map(|event| session.entry(event))?;
    let line = opened.reading().line(started).ok()?;
    cast_of_line(&line)
}

/// What a cast would start, watch or read, in words.
fn named(cast: &Cast) -> Vec<String> {
    let mut named = Vec::new();
    for server in &cast.mcp {
        let command = quoted(&server.command);
        named.push(format!("start the MCP server {}: {command}", server.name));
    }
    for trigger in &cast.triggers {
        named.push(match &trigger.what {
            TriggerKind::File(path) => format!("watch the file {}", path.display()),
            TriggerKind::Every(interval) => {
                format!("wake {} every {}", trigger.to, interval.as_str())
            }
        });
    }
    let mut models: Vec<&str> = cast.models().collect();
    models.sort_unstable();
    models.dedup();
    let leads_to_a_file =
        |model: &&str| ModelName::parse(model).is_ok_and(|name| !name.is_harmless());
    named.extend(models.into_iter().filter(leads_to_a_file).map(|it| format!("read {it}")));
    named
}

/// Shows a person what a log names, and asks whether that is wanted.
pub(super) fn confirm(cast: Cast) -> anyhow::Result<Option<Cast>> {
    let named = named(&cast);
    if named.is_empty() {
        return Ok(None);
    }
    let mut page = Page::live();
    page.add(Style::Head, "The log names what it was made with:").end()?;
    for what in named {
        page.plain("  ").plain(&what).end()?;
    }
    page.plain("Use it now? [y/N] ");
    page.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let is_wanted = matches!(answer.trim(), "y" | "Y" | "yes");
    Ok(is_wanted.then_some(cast))
}
