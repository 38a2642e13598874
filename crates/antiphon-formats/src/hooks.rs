//! The hooks of an agent: commands that it runs during a session, and where they are configured.
//!
//! All of it is data, so that an agent with hooks is added here alone: `install` edits the settings
//! as described here, and `hook` reads the input that the agent gives to the command.

/// How an agent is configured to run a command, and what input it gives to the command.
#[derive(Debug)]
pub struct Hooks {
    /// The path of the settings file, below the agent's folder.
    pub settings: &'static str,
    /// Members of the settings without which the agent ignores its hooks.
    pub required: &'static [(&'static str, HookValue)],
    /// The member of the settings that contains the hooks: an object with a list for each event.
    pub member: &'static str,
    /// The member of a group that contains its list of hooks, if an event's list consists of
    /// groups.
    pub group: Option<&'static str>,
    /// A hook, member by member.
    pub hook: &'static [(&'static str, HookValue)],
    /// The events after which a session may have grown.
    pub events: &'static [&'static str],
    /// The event that ends a session. The agent may still write after it, and runs no other hook.
    pub end: &'static str,
    /// The input that the agent gives to the command.
    pub input: HookInput,
    /// Whether the command names the agent. The first agent with hooks is not named, so that hooks
    /// which were installed then still work.
    pub is_named: bool,
}

/// A value in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookValue {
    /// The command to run.
    Command,
    Text(&'static str),
    Number(u32),
}

/// The names of the members of a hook's JSON input.
#[derive(Debug)]
pub struct HookInput {
    pub session: &'static str,
    /// The member with the absolute path of the session's main file.
    pub file: &'static str,
    pub event: &'static str,
}

impl Hooks {
    /// The member of a hook that contains its command.
    pub fn command(&self) -> &'static str {
        let command = self.hook.iter().find(|(_, value)| *value == HookValue::Command);
        command.map_or("", |(name, _)| name)
    }
}
