//! From the text of a cast to its values, with the place of what is wrong.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Cast, Interval, Limits, Member, Server, Trigger, TriggerKind, Watch, Watcher};

/// What is wrong, and where in the text.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) message: String,
    span: Range<usize>,
}

impl Wrong {
    /// Line and column, each from 1.
    pub(super) fn place(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

type Value<'i> = Spanned<DeValue<'i>>;

pub(super) fn read(text: &str) -> Result<Cast, Wrong> {
    let whole = DeTable::parse(text).map_err(|error| Wrong {
        message: error.message().to_owned(),
        span: error.span().unwrap_or_default(),
    })?;
    let mut table = Table::of("the cast", whole.get_ref(), 0..0);
    let cast = Cast {
        title: table.text("title")?,
        model: table.model("model")?,
        prompt: table.text("prompt")?,
        root: match table.table("root")? {
            Some(root) => member(root, Some("Root"))?,
            None => Member::default(),
        },
        agents: table.tables("agent", |agent| member(agent, None))?,
        hooks: table.tables("hook", hook)?,
        triggers: table.tables("trigger", trigger)?,
        mcp: table.tables("mcp", server)?,
        limits: match table.table("limits")? {
            Some(table) => limits(table)?,
            None => Limits::default(),
        },
    };
    table.end()?;
    check_names(&cast, whole.get_ref())?;
    Ok(cast)
}

fn member(mut table: Table<'_, '_>, fallback: Option<&str>) -> Result<Member, Wrong> {
    let name = match (table.name()?, fallback) {
        (Some(name), _) => name,
        (None, Some(name)) => name.to_owned(),
        (None, None) => return Err(table.missing("name")),
    };
    let system = table.text("system")?;
    let (model, tools) = (table.model("model")?, table.list("tools")?);
    table.end()?;
    Ok(Member { name, system, model, tools })
}

fn hook(mut table: Table<'_, '_>) -> Result<Watcher, Wrong> {
    let name = table.name()?.ok_or_else(|| table.missing("name"))?;
    let (system, model) = (table.text("system")?, table.model("model")?);
    let watch = Watch {
        before: table.list("before")?.unwrap_or_default(),
        of: table.list("of")?,
        after: table.list("after")?.unwrap_or_default(),
    };
    table.end()?;
    if watch.before.is_empty() && watch.after.is_empty() {
        return Err(table.wrong(format!("the hook `{name}` needs `before` or `after`")));
    }
    Ok(Watcher { name, system, model, watch })
}

fn trigger(mut table: Table<'_, '_>) -> Result<Trigger, Wrong> {
    let to = table.text("to")?.ok_or_else(|| table.missing("to"))?;
    let file = table.text("file")?.map(|path| TriggerKind::File(PathBuf::from(path)));
    let every = table.interval("every")?.map(TriggerKind::Every);
    table.end()?;
    match (file, every) {
        (Some(what), None) | (None, Some(what)) => Ok(Trigger { what, to }),
        _ => Err(table.wrong("a trigger needs either `file` or `every`".to_owned())),
    }
}

fn server(mut table: Table<'_, '_>) -> Result<Server, Wrong> {
    let name = table.name()?.ok_or_else(|| table.missing("name"))?;
    let command = table.list("command")?.filter(|command| !command.is_empty());
    let command = command.ok_or_else(|| table.missing("command"))?;
    table.end()?;
    Ok(Server { name, command })
}

fn limits(mut table: Table<'_, '_>) -> Result<Limits, Wrong> {
    let default = Limits::default();
    let limits = Limits {
        agents: table.count("agents")?.unwrap_or(default.agents),
        depth: table.count("depth")?.unwrap_or(default.depth),
        turns: table.count("turns")?.unwrap_or(default.turns),
        cost_usd: table.dollars("cost_usd")?.unwrap_or(default.cost_usd),
        idle: table.interval("idle")?,
    };
    table.end()?;
    Ok(limits)
}

/// Whoever the root makes has a name of its own, and what names somebody names one of them.
fn check_names(cast: &Cast, whole: &DeTable<'_>) -> Result<(), Wrong> {
    let span = |key: &str, at: usize| {
        let value = whole.get(key).map(Spanned::get_ref).and_then(|value| value.as_array());
        value.and_then(|list| list.get(at)).map(Spanned::span).unwrap_or_default()
    };
    let mut taken = BTreeSet::new();
    let agents = cast.agents.iter().enumerate().map(|(at, it)| ("agent", at, &it.name));
    let hooks = cast.hooks.iter().enumerate().map(|(at, it)| ("hook", at, &it.name));
    for (key, at, name) in agents.chain(hooks) {
        if !taken.insert(name) {
            let message = format!("the name `{name}` is given twice");
            return Err(Wrong { message, span: span(key, at) });
        }
    }
    let known: Vec<&str> = cast.agents.iter().map(|agent| &*agent.name).collect();
    for (at, trigger) in cast.triggers.iter().enumerate() {
        if trigger.to != cast.root.name && !known.contains(&&*trigger.to) {
            let names: Vec<&str> = known.iter().copied().chain([&*cast.root.name]).collect();
            let hint = nearest(&trigger.to, &names);
            let message = format!("there is no agent `{}`{hint}", trigger.to);
            return Err(Wrong { message, span: span("trigger", at) });
        }
    }
    Ok(())
}

/// A table whose keys are taken one by one; what nobody takes is wrong.
struct Table<'t, 'i> {
    what: &'static str,
    table: &'t DeTable<'i>,
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl<'t, 'i> Table<'t, 'i> {
    fn of(what: &'static str, table: &'t DeTable<'i>, span: Range<usize>) -> Self {
        Self { what, table, span, known: Vec::new() }
    }

    fn get(&mut self, key: &'static str) -> Option<&'t Value<'i>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// The value of a key, if it is there and what it should be.
    fn take<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&DeValue<'i>) -> Option<T>,
    ) -> Result<Option<T>, Wrong> {
        let Some(value) = self.get(key) else { return Ok(None) };
        read(value.get_ref()).map(Some).ok_or_else(|| {
            let kind = value.get_ref().type_str();
            let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
            let message = format!("`{key}` must be {wanted}, not {article} {kind}");
            Wrong { message, span: value.span() }
        })
    }

    fn text(&mut self, key: &'static str) -> Result<Option<String>, Wrong> {
        self.take(key, "text in quotes", |value| value.as_str().map(str::to_owned))
    }

    fn model(&mut self, key: &'static str) -> Result<Option<String>, Wrong> {
        let Some(model) = self.text(key)? else { return Ok(None) };
        match crate::ModelName::parse(&model) {
            Ok(_) => Ok(Some(model)),
            Err(error) => {
                let span = self.table.get(key).map(Spanned::span).unwrap_or_default();
                Err(Wrong { message: error.to_string(), span })
            }
        }
    }

    /// A name that can be written between brackets and on one line.
    fn name(&mut self) -> Result<Option<String>, Wrong> {
        let wanted = "a name on one line, in quotes";
        self.take("name", wanted, |value| {
            value.as_str().filter(|name| crate::is_name(name)).map(str::to_owned)
        })
    }

    fn list(&mut self, key: &'static str) -> Result<Option<Vec<String>>, Wrong> {
        self.take(key, "a list of texts in quotes", |value| {
            let list = value.as_array()?.iter();
            list.map(|word| word.get_ref().as_str().map(str::to_owned)).collect()
        })
    }

    fn count(&mut self, key: &'static str) -> Result<Option<usize>, Wrong> {
        self.take(key, "a whole number of at least 0", |value| {
            value.as_integer()?.as_str().parse().ok()
        })
    }

    fn dollars(&mut self, key: &'static str) -> Result<Option<f64>, Wrong> {
        self.take(key, "an amount of at least 0", |value| {
            let text = match value {
                DeValue::Integer(number) => number.as_str(),
                DeValue::Float(number) => number.as_str(),
                DeValue::String(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_)
                | DeValue::Array(_)
                | DeValue::Table(_) => return None,
            };
            text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        })
    }

    fn interval(&mut self, key: &'static str) -> Result<Option<Interval>, Wrong> {
        self.take(key, "a time such as \"30s\", \"10m\" or \"2h\"", |value| {
            Interval::try_from(value.as_str()?.to_owned()).ok()
        })
    }

    fn table(&mut self, key: &'static str) -> Result<Option<Self>, Wrong> {
        let span = self.table.get(key).map(Spanned::span).unwrap_or_default();
        let value = self.get(key);
        match value.map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::Table(table)) => Ok(Some(Self::of(key, table, span))),
            Some(_) => Err(Wrong { message: format!("`{key}` must be a table: [{key}]"), span }),
        }
    }

    fn tables<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(Self) -> Result<T, Wrong>,
    ) -> Result<Vec<T>, Wrong> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let wrong = |span| Wrong { message: format!("write [[{key}]] for each"), span };
        let Some(list) = value.get_ref().as_array() else { return Err(wrong(value.span())) };
        let mut read_all = Vec::new();
        for element in list {
            let DeValue::Table(table) = element.get_ref() else {
                return Err(wrong(element.span()));
            };
            read_all.push(read(Self::of(key, table, element.span()))?);
        }
        Ok(read_all)
    }

    /// Complains of the first key that nobody took.
    fn end(&self) -> Result<(), Wrong> {
        let unknown = self.table.iter().map(|(key, _)| key);
        let unknown = unknown.filter(|key| !self.known.contains(&&**key.get_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let hint = nearest(key.get_ref(), &self.known);
        let message = format!("unknown key `{}` in {}{hint}", key.get_ref(), self.place());
        Err(Wrong { message, span: key.span() })
    }

    fn place(&self) -> String {
        if self.what == "the cast" { self.what.to_owned() } else { format!("`{}`", self.what) }
    }

    fn missing(&self, key: &str) -> Wrong {
        self.wrong(format!("{} needs `{key}`", self.place()))
    }

    fn wrong(&self, message: String) -> Wrong {
        Wrong { message, span: self.span.clone() }
    }
}

/// The word that was probably meant.
fn nearest(wrong: &str, right: &[&str]) -> String {
    let distance = |word: &&&str| strsim::damerau_levenshtein(wrong, word);
    match right.iter().min_by_key(distance) {
        Some(word) if distance(&word) <= 1 + word.chars().count() / 3 => {
            format!("; did you mean `{word}`?")
        }
        _ if right.is_empty() => String::new(),
        _ => {
            let words: Vec<String> = right.iter().map(|word| format!("`{word}`")).collect();
            format!("; known are {}", words.join(", "))
        }
    }
}
