//! The hooks of an agent: commands that it runs while a session goes on, and where they are set.
//!
//! All of it is data, so that an agent with hooks is added here alone: `install` edits the settings
//! as this says, and `hook` reads what the agent gives to the command.

/// How an agent is told to run a command, and what it tells that command.
#[derive(Debug)]
pub struct Hooks {
    /// The file of settings, below the agent's folder.
    pub settings: &'static str,
    /// Members of the settings without which the agent ignores them.
    pub required: &'static [(&'static str, HookValue)],
    /// The member of the settings that holds the hooks: an object with a list for each event.
    pub member: &'static str,
    /// The member that holds a list of hooks, where an event's list is one of groups.
    pub group: Option<&'static str>,
    /// A hook, member by member.
    pub hook: &'static [(&'static str, HookValue)],
    /// After each of these events a session may have grown.
    pub events: &'static [&'static str],
    /// The one after which a session ends; the agent may still write, and runs no other hook.
    pub end: &'static str,
    /// What the command is told.
    pub input: HookInput,
    /// Whether the command names the agent. The first that had hooks is not named, and those
    /// that were set then go on.
    pub is_named: bool,
}

/// What stands in settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookValue {
    /// The command that is run.
    Command,
    Text(&'static str),
    Number(u32),
}

/// Which members of the JSON that a command is given say what.
#[derive(Debug)]
pub struct HookInput {
    pub session: &'static str,
    /// The absolute path of the session's main file.
    pub file: &'static str,
    pub event: &'static str,
}

impl Hooks {
    /// The member of a hook that holds its command.
    pub fn command(&self) -> &'static str {
        let command = self.hook.iter().find(|(_, value)| *value == HookValue::Command);
        command.map_or("", |(name, _)| name)
    }
}
