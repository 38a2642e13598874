//! Passwords in the arguments of commands: `mysql -p…`, `sshpass -p …`, `redis-cli -a …`.

use crate::placeholder;
use crate::rule::{Verdict, Window};
use crate::value::{Value, Written, literal};

/// How far after the command its password may be.
const COMMAND_BYTES_MAX: usize = 400;

/// How a command takes its password.
struct Taken {
    option: &'static str,
    /// As `-psecret`.
    is_glued: bool,
    /// As `-p secret`.
    is_apart: bool,
}

fn taken(keyword: &str) -> Taken {
    let (option, is_glued, is_apart) = match keyword {
        "mysql" | "mariadb" => (" -p", true, false),
        "sshpass" => (" -p", true, true),
        "redis-cli" => (" -a", false, true),
        "ldapsearch" => (" -w", false, true),
        // A line of a server's settings.
        "requirepass" | "masterauth" | "bindpw" | "rootpw" | "rcon_password" => ("", false, true),
        _ => (" -p", false, true),
    };
    Taken { option, is_glued, is_apart }
}

/// The password in the arguments of a command.
pub(crate) fn command_password(window: &Window<'_>) -> Verdict {
    let Taken { option, is_glued, is_apart } = taken(window.keyword);
    let rest = window.rest();
    let near = rest.floor_char_boundary(rest.len().min(COMMAND_BYTES_MAX));
    let command = rest.get(..near).unwrap_or_default();
    // Another command may follow, with options of its own.
    let command = command.split(['|', ';', '\n']).next().unwrap_or_default();
    let mut from = 0;
    while let Some(at) = command.get(from..).and_then(|rest| rest.find(option)) {
        let behind = from + at + option.len();
        from = behind.max(from + at + 1);
        let text = rest.get(behind..).unwrap_or_default();
        let value = match text.strip_prefix(' ') {
            Some(apart) if is_apart => literal(apart.trim_start()),
            None if is_glued => literal(text),
            Some(_) | None => None,
        };
        match value {
            Some(value) if is_password(&value) => return window.secret(value.text),
            _ if option.is_empty() => return Verdict::No,
            _ => {}
        }
    }
    Verdict::No
}

/// Rejects ports, and the end of a longer option (`-port`).
fn is_password(value: &Value<'_>) -> bool {
    let is_number = value.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    value.text.len() >= 6
        && !is_number
        && !placeholder::is_value(value.text, Written::AsValue)
        && placeholder::is_random(value.text, Written::AsValue)
}
