//! Where an agent is told which servers of the Model Context Protocol to start.
//!
//! All of it is data, like the [hooks](crate::Hooks): `install` edits the settings as described
//! here.

/// How an agent is told to start a server.
#[derive(Debug)]
pub struct Servers {
    pub folder: SettingsFolder,
    /// The names of the settings file; the first that exists counts, and else the first is created.
    pub files: &'static [&'static str],
    pub syntax: Syntax,
    /// The member of the settings that contains the servers by name.
    pub member: &'static str,
    /// A server, member by member.
    pub server: &'static [(&'static str, ServerValue)],
}

/// The folder of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFolder {
    /// The agent's folder.
    Agent,
    /// The user's home; the agent's folder if a variable names that.
    Home,
    /// A folder of that name among the user's configurations.
    Configuration(&'static str),
}

/// How a settings file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON; comments, where the agent allows them, stay.
    Json,
    Toml,
}

/// A value in the description of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerValue {
    /// The program.
    Program,
    /// What the program is given, as a list.
    Arguments,
    /// The program and what it is given, as one list.
    CommandLine,
    Text(&'static str),
    Texts(&'static [&'static str]),
    True,
}

impl Servers {
    /// `{"mcpServers": {"name": {"command": …, "args": […]}}}`, as most agents read it.
    pub(crate) const USUAL: Self = Self {
        folder: SettingsFolder::Agent,
        files: &[],
        syntax: Syntax::Json,
        member: "mcpServers",
        server: &[("command", ServerValue::Program), ("args", ServerValue::Arguments)],
    };
}
