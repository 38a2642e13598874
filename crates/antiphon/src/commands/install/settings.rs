//! An agent's settings with our hooks and without, changed as text.
//!
//! Everything that is not ours stays byte for byte: order, spaces, unknown keys. So the text is
//! looked at through slices of itself, and a change is a piece put in or taken out between them.
//! How hooks stand in them, the agent's layout says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use antiphon_formats::{Format, HookValue, Hooks};
use antiphon_model::json;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Why a text is left alone.
#[derive(Debug)]
pub(super) struct NotSettings(String);

impl NotSettings {
    pub(super) fn new(why: String) -> Self {
        Self(why)
    }

    pub(super) fn text() -> Self {
        Self("it is not UTF-8 text".to_owned())
    }
}

impl fmt::Display for NotSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The settings of one agent.
#[derive(Debug)]
pub(super) struct Settings {
    hooks: &'static Hooks,
    /// What our hooks run, after the name of the program.
    arguments: String,
    own: Own,
}

/// What stays in the settings when our hooks go, even if it is then empty: it was there before.
#[derive(Debug, Default)]
struct Own {
    hooks: bool,
    events: BTreeSet<String>,
}

impl Settings {
    /// By what was there before our hooks came, if that is known.
    pub(super) fn new(agent: &Format, hooks: &'static Hooks, before: Option<&str>) -> Self {
        let arguments = match hooks.is_named {
            true => format!("hook {}", agent.name),
            false => "hook".to_owned(),
        };
        Self { hooks, arguments, own: Own::of(before, hooks.member) }
    }

    /// What the hook runs, as a shell reads it.
    pub(super) fn command(&self, program: &str) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
        match program.chars().all(is_plain) {
            true => format!("{program} {}", self.arguments),
            false => format!("'{}' {}", program.replace('\'', "'\\''"), self.arguments),
        }
    }

    /// Whether a command is one that [`Self::command`] makes, wherever the program lies.
    fn is_ours(&self, command: &str) -> bool {
        let program = command.strip_suffix(&self.arguments).and_then(|it| it.strip_suffix(' '));
        let Some(program) = program else { return false };
        let quoted = program.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let plain = quoted.map_or_else(|| program.to_owned(), |inner| inner.replace("'\\''", "'"));
        let name = plain.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_program = plain != name && matches!(name, "antiphon" | "antiphon.exe");
        is_program && self.command(&plain) == command
    }

    /// The text with one hook for each event that runs `command`, and none of ours besides.
    pub(super) fn with_hooks(&self, text: &str, command: &str) -> Result<String, NotSettings> {
        let Hooks { member, events, required, .. } = self.hooks;
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let mut ours: Vec<(String, String)> =
            self.found(text)?.into_iter().map(Hook::name).collect();
        ours.sort_unstable();
        let mut wanted: Vec<(String, String)> =
            events.iter().map(|&event| (event.to_owned(), command.to_owned())).collect();
        wanted.sort_unstable();
        if ours == wanted {
            return Ok(text.to_owned());
        }
        let mut text = self.without_hooks(text)?;
        let style = Style::of(&text);
        for (name, value) in *required {
            if json::member(body(&text), name).is_none() {
                let value = style.write(&Written(*value, command));
                text = appended(&text, body(&text), 0, &style, |_| format!("\"{name}\": {value}"));
            }
        }
        if json::member(body(&text), member).is_none() {
            text = appended(&text, body(&text), 0, &style, |_| format!("\"{member}\": {{}}"));
        }
        for event in *events {
            let hooks = json::member(body(&text), member).unwrap_or_default();
            if json::member(hooks, event).is_none() {
                text = appended(&text, hooks, 1, &style, |_| format!("\"{event}\": []"));
            }
            let hooks = json::member(body(&text), member).unwrap_or_default();
            let list = json::member(hooks, event).unwrap_or_default();
            let new = New { hooks: self.hooks, command };
            text = appended(&text, list, 2, &style, |style| match self.hooks.group {
                Some(group) => style.write(&BTreeMap::from([(group, [&new])])),
                None => style.write(&new),
            });
        }
        Ok(text)
    }

    /// The text without our hooks, and without what held nothing else and is not the user's own.
    pub(super) fn without_hooks(&self, text: &str) -> Result<String, NotSettings> {
        let mut text = text.to_owned();
        if text.trim().is_empty() {
            return Ok(text);
        }
        while let Some(hook) = self.found(&text)?.first() {
            let range = hook.range.clone();
            text.replace_range(range, "");
        }
        Ok(text)
    }

    /// Our hooks, in order.
    fn found(&self, text: &str) -> Result<Vec<Hook>, NotSettings> {
        let Self { hooks: Hooks { member, .. }, own, .. } = self;
        let body = body(text);
        json::check(body).map_err(|error| {
            NotSettings(format!("{}:{}: {}", error.line, error.column, error.reason))
        })?;
        let root =
            Container::object(body).ok_or_else(|| NotSettings("it is not a JSON object".into()))?;
        let Some((at, hooks)) = root.last(member) else { return Ok(Vec::new()) };
        let hooks = Container::object(hooks)
            .ok_or_else(|| NotSettings(format!("`{member}` is not a JSON object")))?;
        let mut ours = Vec::new();
        for (event_at, (event, list)) in hooks.items.iter().enumerate() {
            let wrong = || NotSettings(format!("the `{event}` hooks are not a list"));
            let list = Container::array(list).ok_or_else(wrong)?;
            for (item_at, (_, item)) in list.items.iter().enumerate() {
                let Some(group) = self.group(item) else { continue };
                for (entry_at, (_, entry)) in group.items.iter().enumerate() {
                    let command = json::member(entry, self.hooks.command()).and_then(json::text);
                    let Some(command) = command.filter(|it| self.is_ours(it)) else { continue };
                    // With the last that a thing holds, the thing goes.
                    let (container, index) = match (group.items.as_slice(), list.items.as_slice()) {
                        ([_], [_]) if own.events.contains(event) => (&list, item_at),
                        ([_], [_]) if hooks.items.len() == 1 && !own.hooks => (&root, at),
                        ([_], [_]) => (&hooks, event_at),
                        ([_], _) => (&list, item_at),
                        _ => (&group, entry_at),
                    };
                    let range = container.range_of(text, index);
                    ours.push(Hook { event: event.clone(), command: command.into_owned(), range });
                }
            }
        }
        Ok(ours)
    }

    /// The hooks that an item of an event's list holds. Where there are no groups, it is one.
    fn group<'t>(&self, item: &'t str) -> Option<Container<'t>> {
        match self.hooks.group {
            Some(group) => json::member(item, group).and_then(Container::array),
            None => Some(Container { raw: item, items: vec![(String::new(), item)] }),
        }
    }
}

impl Own {
    /// What was there in settings without our hooks.
    fn of(before: Option<&str>, member: &str) -> Self {
        let root = before.and_then(|text| Container::object(body(text)));
        let hooks = root.as_ref().and_then(|root| root.last(member));
        let Some(hooks) = hooks.and_then(|(_, hooks)| Container::object(hooks)) else {
            return Self::default();
        };
        let events = hooks.items.into_iter().map(|(event, _)| event).collect();
        Self { hooks: true, events }
    }
}

/// A hook as it is written.
struct New<'a> {
    hooks: &'a Hooks,
    command: &'a str,
}

impl Serialize for New<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.hooks.hook.len()))?;
        for (name, value) in self.hooks.hook {
            map.serialize_entry(name, &Written(*value, self.command))?;
        }
        map.end()
    }
}

/// A value as it is written, where this is the command.
struct Written<'a>(HookValue, &'a str);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            HookValue::Command => serializer.serialize_str(self.1),
            HookValue::Text(text) => serializer.serialize_str(text),
            HookValue::Number(number) => serializer.serialize_u32(number),
        }
    }
}

/// A hook of ours, and what must go from the text with it.
struct Hook {
    event: String,
    command: String,
    range: Range<usize>,
}

impl Hook {
    fn name(self) -> (String, String) {
        (self.event, self.command)
    }
}

/// An object or a list, as it stands in the text.
struct Container<'t> {
    raw: &'t str,
    items: Vec<(String, &'t str)>,
}

impl<'t> Container<'t> {
    fn object(raw: &'t str) -> Option<Self> {
        let mut items = Vec::new();
        json::members(raw, |name, value| items.push((name.to_owned(), value))).ok()?;
        Some(Self { raw, items })
    }

    fn array(raw: &'t str) -> Option<Self> {
        let mut items = Vec::new();
        json::elements(raw, |value| items.push((String::new(), value))).ok()?;
        Some(Self { raw, items })
    }

    /// The member of that name; of several the last counts.
    fn last(&self, name: &str) -> Option<(usize, &'t str)> {
        let at = self.items.iter().rposition(|(known, _)| known == name)?;
        Some((at, self.items.get(at)?.1))
    }

    /// What goes from the text with an item: the comma too, and the space before it.
    fn range_of(&self, text: &str, index: usize) -> Range<usize> {
        let end_of = |index: usize| self.items.get(index).map(|(_, value)| end(text, value));
        let (inside, close) = (start(text, self.raw) + 1, end(text, self.raw) - 1);
        let item_end = end_of(index).unwrap_or(close);
        match index.checked_sub(1).and_then(end_of) {
            Some(before) => before..item_end,
            None if self.items.len() == 1 => inside..close,
            None => {
                let comma = text.get(item_end..).and_then(|rest| rest.find(','));
                inside..comma.map_or(close, |comma| item_end + comma + 1)
            }
        }
    }
}

/// The text with another item at the end of a container, which stands `depth` deep. What holds
/// something on one line goes on on that line.
fn appended(
    text: &str,
    container: &str,
    depth: usize,
    style: &Style,
    item: impl Fn(&Style) -> String,
) -> String {
    let close = end(text, container) - 1;
    let inside = start(text, container) + 1;
    let within = text.get(inside..close).unwrap_or_default();
    let is_empty = within.trim_ascii().is_empty();
    let is_one_line = !is_empty && !within.contains('\n');
    let style = if is_one_line { &Style { newline: "", unit: String::new() } } else { style };
    let item = format!("{}{}", style.line(depth + 1), style.indented(&item(style), depth + 1));
    let mut out = text.to_owned();
    match is_empty {
        true => out.replace_range(inside..close, &format!("{item}{}", style.line(depth))),
        false => {
            let space = if within.contains(", ") && is_one_line { " " } else { "" };
            let at = inside + within.trim_ascii_end().len();
            out.insert_str(at, &format!(",{space}{item}"));
        }
    }
    out
}

/// How a text is laid out.
struct Style {
    /// What begins a line; nothing, where all stands on one.
    newline: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let is_one_line = body(text) != "{}" && !body(text).contains('\n');
        let newline = match (is_one_line, text.contains("\r\n")) {
            (true, _) => "",
            (false, true) => "\r\n",
            (false, false) => "\n",
        };
        let indents = text.lines().skip(1).filter_map(|line| {
            let unit = line.get(..line.len() - line.trim_start().len())?;
            (!unit.is_empty() && !line.trim().is_empty()).then_some(unit)
        });
        let unit = indents.min_by_key(|unit| unit.len()).unwrap_or("  ");
        Self { newline, unit: unit.to_owned() }
    }

    /// A new line at that depth.
    fn line(&self, depth: usize) -> String {
        match self.newline {
            "" => String::new(),
            newline => format!("{newline}{}", self.unit.repeat(depth)),
        }
    }

    /// A value as text, as deep as the left margin.
    fn write(&self, value: &impl Serialize) -> String {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut pretty = serde_json::Serializer::with_formatter(&mut out, formatter);
        let written = match self.newline {
            "" => serde_json::to_writer(&mut out, value),
            _ => value.serialize(&mut pretty),
        };
        // Words and numbers can always be written.
        let _ = written;
        String::from_utf8(out).unwrap_or_default()
    }

    fn indented(&self, item: &str, depth: usize) -> String {
        item.replace('\n', &self.line(depth))
    }
}

/// The text of the object, without what may stand around it.
fn body(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim_ascii()
}

/// Where a slice of the text begins in it.
fn start(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

fn end(text: &str, part: &str) -> usize {
    start(text, part) + part.len()
}

#[cfg(test)]
mod tests;
