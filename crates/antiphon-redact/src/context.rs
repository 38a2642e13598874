//! Contexts: places where a value is secret, whatever its form.

use crate::bytes::{Set, is_basic};
use crate::rule::{Verdict, Window};
use crate::value::{Left, VALUE_BYTES_MAX, Value, Written, after_name, is_prose, literal};
use crate::{name, placeholder};

/// `password = "…"`, in the forms of JSON, YAML, shells, headers, XML, options and code.
pub(crate) fn assigned(window: &Window<'_>) -> Verdict {
    // Some keywords include what follows the name, so that fewer words match them.
    let keyword = window.keyword.trim_end_matches([':', '=', '"', ' ']);
    let rest = window.after.get(keyword.len()..).unwrap_or_default();
    let suffix = Set::Dashed.run(rest);
    if suffix.len() > 32 || !suffix.is_empty() && !name::is_suffix(suffix) {
        return Verdict::No;
    }
    let rest = rest.get(suffix.len()..).unwrap_or_default();
    if is_prose(rest) {
        return Verdict::No;
    }
    let before = Set::Dashed.run_back(window.before);
    let left = Left { before: window.before, name: [before, keyword, suffix] };
    let Some(value) = after_name(rest, &left) else { return Verdict::No };
    let secret = name::secret(&left.name.concat());
    match secret.is_some_and(|secret| is_secret(value.text, secret, value.written)) {
        true => window.secret(value.text),
        false => Verdict::No,
    }
}

/// Whether a value under such a name is a secret.
pub(crate) fn is_secret(value: &str, name: name::Secret, written: Written) -> bool {
    (name.least_length..=VALUE_BYTES_MAX).contains(&value.len())
        && !value.contains(char::is_whitespace)
        && (name.may_be_uuid || !placeholder::is_uuid(value))
        && (placeholder::is_random(value, written)
            || name.is_password && placeholder::is_chosen(value, written))
        && !placeholder::is_value(value, written)
}

/// `scheme://user:password@host`.
pub(crate) fn url_password(window: &Window<'_>) -> Verdict {
    let rest = window.rest();
    let ends = |c: char| c.is_whitespace() || "/?#\"'`<>\\,;(){}|".contains(c);
    let authority = rest.get(..rest.find(ends).unwrap_or(rest.len())).unwrap_or_default();
    let Some((user_info, _)) = authority.rsplit_once('@') else { return Verdict::No };
    let Some((_, password)) = user_info.split_once(':') else { return Verdict::No };
    let is_scheme = window.before.ends_with(|c: char| c.is_ascii_alphanumeric());
    if !is_scheme || password.len() < 4 || placeholder::is_value(password, Written::AsValue) {
        return Verdict::No;
    }
    window.secret(password)
}

/// `Bearer …`, `Basic …`, and other values of `Authorization`.
pub(crate) fn authorization(window: &Window<'_>) -> Verdict {
    let is_header = window.keyword.eq_ignore_ascii_case("uthorization");
    if !is_header {
        return match window.begins_word() {
            true => scheme(window, window.after),
            false => Verdict::No,
        };
    }
    let rest = window.rest().trim_start_matches(|c: char| " \t\\\"'`:=,]".contains(c));
    let verdict = scheme(window, rest);
    if verdict != Verdict::No {
        return verdict;
    }
    // `token …`, `ApiKey …`, or the key itself.
    let word = Set::Alnum.run(rest);
    let behind = rest.get(word.len()..).and_then(|rest| rest.strip_prefix(' '));
    credentials(window, behind.unwrap_or(rest))
}

fn scheme(window: &Window<'_>, text: &str) -> Verdict {
    let Some((scheme, rest)) = text.split_once(' ') else { return Verdict::No };
    let rest = rest.trim_start();
    if scheme.eq_ignore_ascii_case("bearer") {
        return credentials(window, rest);
    }
    let run = Set::Base64.run(rest);
    match scheme.eq_ignore_ascii_case("basic") && run.len() >= 8 && is_basic(run) {
        true => window.secret(run),
        false => Verdict::No,
    }
}

fn credentials(window: &Window<'_>, text: &str) -> Verdict {
    let of_token = |byte: u8| Set::Dotted.has(byte) || Set::Base64.has(byte) || byte == b'~';
    let end = text.bytes().position(|byte| !of_token(byte)).unwrap_or(text.len());
    let run = text.get(..end).unwrap_or_default();
    if run.len() < 16
        || placeholder::is_value(run, Written::AsValue)
        || !placeholder::is_random(run, Written::AsValue)
    {
        return Verdict::No;
    }
    window.secret(run)
}

/// `"auth": "…"` in Docker's configuration: `user:password` in base64.
pub(crate) fn docker_auth(window: &Window<'_>) -> Verdict {
    match after_name(window.rest(), &Left { before: "x", name: [""; 3] }) {
        Some(value) if value.text.len() >= 12 && is_basic(value.text) => window.secret(value.text),
        _ => Verdict::No,
    }
}

/// `login … password …` in `.netrc`, on one line or on lines of their own.
pub(crate) fn netrc(window: &Window<'_>) -> Verdict {
    let line = window.before.rsplit('\n').next().unwrap_or_default();
    let has_login = line.contains("login ");
    if !has_login && !line.trim().is_empty() {
        return Verdict::No;
    }
    let rest = window.rest().trim_end();
    let word = rest.split_whitespace().next().unwrap_or_default();
    let is_alone = word.len() == rest.len();
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_given = has_login || is_alone && !is_plain;
    if !is_given || word.len() < 6 || placeholder::is_value(word, Written::AsValue) {
        return Verdict::No;
    }
    window.secret(word)
}

/// `AccountKey=…` in connection strings.
pub(crate) fn azure_key(window: &Window<'_>) -> Verdict {
    let run = Set::Base64.run(window.rest());
    if run.len() < 40 || placeholder::is_token(run) {
        return Verdict::No;
    }
    window.secret(run)
}

/// Forty characters after the name of AWS's secret key.
pub(crate) fn aws_secret(window: &Window<'_>) -> Verdict {
    // In `aws configure set aws_secret_access_key …` only a space is between the two.
    let spaced = || window.rest().strip_prefix(' ').and_then(literal);
    let Some(value) =
        after_name(window.rest(), &Left { before: "x", name: [""; 3] }).or_else(spaced)
    else {
        return Verdict::No;
    };
    let run = Set::Base64.run(value.text);
    if run.len() != value.text.len()
        || !(38..=44).contains(&run.len())
        || placeholder::is_token(run)
    {
        return Verdict::No;
    }
    window.secret(run)
}

/// `key…` shortly after Airtable's name.
pub(crate) fn airtable(window: &Window<'_>) -> Verdict {
    let is_key = |run: &&str| {
        let id = run.strip_prefix("key").unwrap_or_default();
        id.len() == 14 && Set::Alnum.run(id).len() == 14 && !placeholder::is_token(run)
    };
    nearby(window, Set::Dotted).find(is_key).map_or(Verdict::No, |run| window.secret(run))
}

/// `1/1200000000000000:…`, and the older `0/…`, shortly after Asana's name.
pub(crate) fn asana(window: &Window<'_>) -> Verdict {
    let of_token = |c: char| c.is_ascii_hexdigit() || matches!(c, '/' | ':');
    let rest = window.rest();
    let near = rest.get(..rest.floor_char_boundary(rest.len().min(160))).unwrap_or_default();
    let is_token = |run: &&str| {
        let is_numbered =
            run.len() > 2 && matches!(run.as_bytes().get(..2), Some(b"0/" | b"1/" | b"2/"));
        let secret = run.rsplit([':', '/']).next().unwrap_or_default();
        is_numbered && secret.len() == 32 && Set::Hex.run(secret).len() == 32
    };
    near.split(|c| !of_token(c)).find(is_token).map_or(Verdict::No, |run| window.secret(run))
}

/// The signature of a shared access: `…&sig=…`, escaped or not.
pub(crate) fn azure_signature(window: &Window<'_>) -> Verdict {
    let is_parameter = window.before.ends_with(['?', '&', ';']) || window.before.ends_with("u0026");
    let of_signature = |byte: u8| Set::Base64.has(byte) || matches!(byte, b'%' | b'-' | b'_');
    let rest = window.rest();
    let end = rest.bytes().position(|byte| !of_signature(byte)).unwrap_or(rest.len());
    let run = rest.get(..end).unwrap_or_default();
    match is_parameter && run.len() >= 40 && !placeholder::is_token(run) {
        true => window.secret(run),
        false => Verdict::No,
    }
}

/// The key of an Azure function: `….azurewebsites.net/api/name?code=…`.
pub(crate) fn azure_function(window: &Window<'_>) -> Verdict {
    let ends = |c: char| c.is_whitespace() || "\"'`<>\\".contains(c);
    let rest = window.rest();
    let address = rest.get(..rest.find(ends).unwrap_or(rest.len())).unwrap_or_default();
    let at = ["?code=", "&code="].iter().find_map(|name| Some(address.find(name)? + name.len()));
    let code = at.and_then(|at| address.get(at..)).unwrap_or_default();
    let code = code.split('&').next().unwrap_or_default();
    match code.len() >= 40 && !placeholder::is_token(code) {
        true => window.secret(code),
        false => Verdict::No,
    }
}

/// A line of PostgreSQL's password file: `host:port:database:user:password`.
pub(crate) fn pgpass(window: &Window<'_>) -> Verdict {
    let host = window.before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let has_host = window.keyword.starts_with('*') || !host.is_empty() && !host.contains('/');
    let rest = window.rest().split(char::is_whitespace).next().unwrap_or_default();
    let rest = rest.split(['"', '\'', '`', '\\']).next().unwrap_or_default();
    let mut fields = rest.splitn(3, ':');
    let (database, user, password) = match window.keyword.starts_with('*') {
        // `*:*:*:` may replace any of the three.
        true => (Some("*"), fields.next(), fields.next()),
        false => (fields.next(), fields.next(), fields.next()),
    };
    let is_named = |field: Option<&str>| field.is_some_and(|field| !field.is_empty());
    let password = password.unwrap_or_default();
    let is_secret = password.len() >= 6 && !placeholder::is_value(password, Written::AsValue);
    match has_host && is_named(database) && is_named(user) && is_secret {
        true => window.secret(password),
        false => Verdict::No,
    }
}

/// `smtp.login("name", "password")`.
pub(crate) fn login_call(window: &Window<'_>) -> Verdict {
    let quoted = |text| literal(text).filter(Value::is_quoted);
    let second = quoted(window.rest()).and_then(|user| {
        let behind = window.rest().split_once(user.text)?.1.get(1..)?;
        quoted(behind.trim_start().strip_prefix(',')?.trim_start())
    });
    match second {
        Some(password) if is_password(password.text) => window.secret(password.text),
        _ => Verdict::No,
    }
}

/// Whether a text may be a password, given that only a password can be there.
pub(crate) fn is_password(text: &str) -> bool {
    text.len() >= 8
        && !placeholder::is_value(text, Written::AsValue)
        && placeholder::is_random(text, Written::AsValue)
}

/// A UUID that is assigned to a name that contains Heroku's.
pub(crate) fn heroku(window: &Window<'_>) -> Verdict {
    let Some((_, assigned)) = window.rest().split_once(['=', ':']) else { return Verdict::No };
    let uuid = Set::Dashed.run(assigned.trim_start_matches([' ', '"', '\'']));
    match placeholder::is_uuid(uuid) {
        true => window.secret(uuid),
        false => Verdict::No,
    }
}

/// A key of the known lengths shortly after Cloudflare's name.
pub(crate) fn cloudflare(window: &Window<'_>) -> Verdict {
    let is_key = |run: &&str| {
        let is_length = matches!(run.len(), 37 | 40 | 45) && !placeholder::is_token(run);
        is_length && placeholder::is_random(run, Written::Bare)
    };
    nearby(window, Set::Dashed).find(is_key).map_or(Verdict::No, |run| window.secret(run))
}

/// The runs of characters shortly after a keyword.
fn nearby<'t>(window: &Window<'t>, set: Set) -> impl Iterator<Item = &'t str> {
    const NEAR: usize = 100;
    let rest = window.rest();
    let rest = rest.get(..rest.floor_char_boundary(rest.len().min(NEAR))).unwrap_or_default();
    rest.split(move |c: char| !c.is_ascii() || !set.has(c as u8)).filter(|run| !run.is_empty())
}

/// `curl -u user:password`.
pub(crate) fn curl_user(window: &Window<'_>) -> Verdict {
    let Some(given) = literal(window.rest().trim_start()) else { return Verdict::No };
    let Some((user, password)) = given.text.split_once(':') else { return Verdict::No };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if user.is_empty()
        || user.contains('=')
        || password.len() < 6
        || is_number(password)
        || password.contains('/')
    {
        return Verdict::No;
    }
    if placeholder::is_value(password, Written::AsValue) || !window.before.contains("curl") {
        return Verdict::No;
    }
    window.secret(password)
}

/// The path of a webhook, which is all that is needed to post to it.
pub(crate) fn webhook(window: &Window<'_>) -> Verdict {
    let of_path = |byte: u8| Set::Dashed.has(byte) || byte == b'/';
    let rest = window.rest();
    let end = rest.bytes().position(|byte| !of_path(byte)).unwrap_or(rest.len());
    let path = rest.get(..end).unwrap_or_default();
    let secret = path.rsplit('/').next().unwrap_or_default();
    if secret.len() < 16 || placeholder::is_token(secret) {
        return Verdict::No;
    }
    window.secret(path)
}

/// A webhook of Teams: ids, joined by `@` and slashes.
pub(crate) fn teams_webhook(window: &Window<'_>) -> Verdict {
    let of_path = |byte: u8| Set::Dashed.has(byte) || matches!(byte, b'/' | b'@');
    let rest = window.rest();
    let end = rest.bytes().position(|byte| !of_path(byte)).unwrap_or(rest.len());
    let path = rest.get(..end).unwrap_or_default();
    match path.len() >= 64 && !placeholder::is_token(path) {
        true => window.secret(path),
        false => Verdict::No,
    }
}

/// A webhook of Zapier or Make: a number, and a few characters.
pub(crate) fn zapier_webhook(window: &Window<'_>) -> Verdict {
    let of_path = |byte: u8| Set::Alnum.has(byte) || byte == b'/';
    let rest = window.rest();
    let end = rest.bytes().position(|byte| !of_path(byte)).unwrap_or(rest.len());
    let path = rest.get(..end).unwrap_or_default().trim_end_matches('/');
    let has_digit = path.bytes().any(|byte| byte.is_ascii_digit());
    match path.len() >= 12 && has_digit && !placeholder::is_token(path) {
        true => window.secret(path),
        false => Verdict::No,
    }
}
